#include "controllers/process/debug.h"

#include "controllers/cluster/asked.h"
#include "controllers/cluster/stores.h"
#include "controllers/kar_metrics.h"
#include "controllers/runtime/manager_state.h"

/* It waits, or is on its way to be placed or rolled back. */
static bool is_of_interest(const struct kar_podgroup *g)
{
	enum kar_pg_state s = g->status.placement.state;

	return kar_pending_reason(g) ||
		(s != KAR_PG_STATE_NONE && s != KAR_PG_STATE_SATISFIED && s != KAR_PG_STATE_SUSPENDED);
}

static void print_plan(const struct kar_pg_placement *p, struct kar_json_writer *w)
{
	enum { ROLES = 64 };

	kar_jw_key(w, "plan");
	kar_jw_begin_object(w);
	for (size_t i = 0; i < p->n_plan && i < ROLES; i++)
		kar_jw_kv_string(w, p->plan[i].role, p->plan[i].nodes);
	kar_jw_end_object(w);
}

static void print_placement(const struct kar_pg_placement *p, struct kar_json_writer *w)
{
	kar_jw_key(w, "placement");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "state", kar_pg_state_name(p->state));
	kar_jw_kv_int(w, "attempt", p->attempt);
	kar_jw_kv_int(w, "failures", p->failures);
	if (p->deadline)
		kar_jw_kv_time(w, "deadline", p->deadline);
	if (p->retry_after)
		kar_jw_kv_time(w, "retryAfter", p->retry_after);
	if (p->cause && *p->cause)
		kar_jw_kv_string(w, "cause", p->cause);
	if (p->n_plan)
		print_plan(p, w);
	kar_jw_end_object(w);
}

static void print_group(const struct kar_stores *stores, const struct kar_podgroup *g,
	struct kar_json_writer *w)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	const char *reason = kar_pending_reason(g);
	char key[KAR_KEY_LEN];

	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "group", kar_object_key(&g->o, key));
	kar_jw_kv_string(w, "queue", kar_asked_queue(stores, g).queue);
	kar_jw_kv_string(w, "phase", kar_pg_phase_name(g->status.phase));
	kar_jw_kv_int(w, "minMember", g->spec.min_member);
	kar_jw_kv_int(w, "members", g->status.members);
	if (reason)
		kar_jw_kv_string(w, "waits", reason);
	if (reason && c && c->message)
		kar_jw_kv_string(w, "message", c->message);
	kar_jw_kv_time(w, "since", g->status.waiting_since ? g->status.waiting_since : g->creation);
	if (g->status.placement.state)
		print_placement(&g->status.placement, w);
	kar_jw_end_object(w);
}

static void print_groups(const struct kar_stores *stores, struct kar_json_writer *w)
{
	const struct kar_store *groups = stores->podgroups;
	const struct kar_object *o;
	int64_t shown = 0, left_out = 0;

	kar_jw_key(w, "groups");
	kar_jw_begin_array(w);
	for (struct kar_iter it = kar_store_all(groups); kar_iter_next(&it, &o);) {
		if (!is_of_interest(kar_as_podgroup(o)))
			continue;
		if (shown == KAR_DEBUG_GROUPS) {
			left_out++;
			continue;
		}
		print_group(stores, kar_as_podgroup(o), w);
		shown++;
	}
	kar_jw_end_array(w);
	kar_jw_kv_int(w, "groupsLeftOut", left_out);
}

static void print_lease(const struct kar_debug_lease *l, struct kar_json_writer *w)
{
	kar_jw_key(w, "lease");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "namespace", l->ns);
	kar_jw_kv_string(w, "name", l->name);
	kar_jw_kv_string(w, "identity", l->identity);
	kar_jw_kv_string(w, "holder", l->holder);
	kar_jw_kv_bool(w, "mayWrite", l->may_write);
	kar_jw_end_object(w);
}

void kar_debug_print(const struct kar_manager *m, const struct kar_debug_lease *lease, kar_time now,
	struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "version", KAR_VERSION);
	kar_jw_kv_time(&w, "now", now);
	kar_jw_kv_bool(&w, "synced", kar_manager_synced(m));
	if (lease)
		print_lease(lease, &w);
	kar_manager_print(m, &w);
	print_groups(kar_manager_parts(m).options->stores, &w);
	kar_debug_print_cluster(kar_manager_parts(m).options->stores, &w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}
