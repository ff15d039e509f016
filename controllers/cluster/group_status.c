#include "controllers/cluster/group_status.h"

#include "api/podgroup/pg_kept.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "controllers/runtime/controller.h"

static void write_status(struct kar_json_writer *w, const struct kar_podgroup *g,
	const struct kar_podgroup_status *next, unsigned mask)
{
	kar_write_preconditions(w, &g->o);
	kar_jw_key(w, "status");
	kar_jw_begin_object(w);
	kar_status_write(w, &kar_podgroup_status_table, next, mask);
	kar_jw_end_object(w);
}

static void write_annotations(struct kar_json_writer *w, const struct kar_podgroup *g,
	const struct kar_podgroup_status *next, struct kar_arena *a)
{
	struct kar_pg_kept old = kar_pg_kept(g, &g->status, a), new = kar_pg_kept(g, next, a);

	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_write_precondition_members(w, &g->o);
	kar_jw_key(w, "annotations");
	kar_jw_begin_object(w);
	for (int i = 0; i < KAR_PG_KEPT; i++) {
		if (kar_streq(old.texts[i], new.texts[i]))
			continue;
		kar_jw_key(w, kar_pg_kept_keys[i]);
		if (new.texts[i][0])
			kar_jw_string(w, new.texts[i]);
		else
			kar_jw_null(w);
	}
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

const char *kar_group_status_patch(const struct kar_podgroup *g, const struct kar_podgroup_status *next,
	unsigned mask, struct kar_buf *out)
{
	struct kar_arena a = { 0 };
	bool annotates = g->pruned && kar_pg_kept_differs(g, next, &a);
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	if (annotates)
		write_annotations(&w, g, next, &a);
	else
		write_status(&w, g, next,
			g->pruned ? KAR_SF_ALL : mask); /* also for a better CRD, if there is one by now */
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	kar_arena_release(&a);
	return annotates ? NULL : "status";
}
