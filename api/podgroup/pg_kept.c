#include "api/podgroup/pg_kept.h"

#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"

const char *const kar_pg_kept_keys[KAR_PG_KEPT] = {
	KAR_ANNOTATION_PLACEMENT,
	KAR_ANNOTATION_QUEUE_STATUS,
	KAR_ANNOTATION_MESSAGE,
};

static const char *empty = "{}";

/* @json, an object, with each of its members and conditions on a line of its own: kubectl describe cuts lines. */
static const char *in_lines(const struct kar_buf *json, struct kar_arena *a)
{
	char *out = kar_arena_alloc(a, json->n + json->n + 1, 1), *to = out;
	bool in_text = false;
	int depth = 0;

	for (size_t i = 0; i < json->n; i++) {
		char c = json->p[i];

		*to++ = c;
		if (in_text && c == '\\') {
			*to++ = json->p[++i];
			continue;
		}
		if (c == '"')
			in_text = !in_text;
		if (in_text)
			continue;
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (c == ',' && (depth == 1 || (depth == 2 && to[-2] == '}')))
			*to++ = '\n';
	}
	*to = '\0';
	return out;
}

static const char *rows(const struct kar_podgroup *g, const struct kar_podgroup_status *s, unsigned mask,
	struct kar_arena *a)
{
	struct kar_buf out = { 0 };
	struct kar_json_writer w;
	const char *text;

	kar_json_writer_init(&w, &out);
	kar_jw_begin_object(&w);
	kar_status_write_present(&w, &kar_podgroup_status_table, s, mask);
	if (out.n > 1)
		kar_jw_kv_string(&w, KAR_PG_KEPT_UID, g->o.uid);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	text = in_lines(&out, a);
	kar_buf_release(&out);
	return kar_streq(text, empty) ? "" : text;
}

static const char *message(const struct kar_podgroup_status *s, struct kar_arena *a)
{
	const struct kar_condition *c = kar_condition_find(&s->conditions, KAR_PG_SCHEDULED);

	if (!c)
		c = kar_condition_find(&s->conditions, KAR_PG_ADMITTED);
	return c ? kar_arena_printf(a, "%s: %s", c->reason, c->message) : "";
}

struct kar_pg_kept kar_pg_kept(const struct kar_podgroup *g, const struct kar_podgroup_status *s,
	struct kar_arena *a)
{
	return (struct kar_pg_kept){ { rows(g, s, KAR_PG_IN_PLACEMENT, a),
		rows(g, s, KAR_PG_IN_QUEUE_STATUS, a), message(s, a) } };
}

bool kar_pg_kept_differs(const struct kar_podgroup *g, const struct kar_podgroup_status *s,
	struct kar_arena *a)
{
	struct kar_pg_kept old = kar_pg_kept(g, &g->status, a), new = kar_pg_kept(g, s, a);
	bool differs = false;

	for (int i = 0; i < KAR_PG_KEPT; i++)
		differs |= !kar_streq(old.texts[i], new.texts[i]);
	return differs;
}
