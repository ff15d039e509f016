#include "controllers/kar_metrics.h"

#include "api/core/amounts_wire.h"
#include "api/types.h"
#include "common/base/str.h"
#include "common/codec/quantity.h"
#include "common/kube/kube_metrics.h"
#include "common/loop/process.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/stores.h"
#include "controllers/queue/queue.h"
#include "controllers/runtime/manager_state.h"
#include "controllers/runtime/runtime_metrics.h"

#define OTHER "other" /* queues that do not exist, which users name as they like */

const struct kar_buckets kar_buckets_wait = { 12,
	{ 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 43200, 86400, 604800 } };

KAR_METRIC_LIST(kar_metrics_list, KAR_METRICS)

struct kar_metrics *kar_all_metrics_new(void)
{
	struct kar_metrics *m = kar_metrics_new();

	kar_metrics_declare(m, kar_metrics_list);
	kar_metrics_declare(m, kar_runtime_metrics);
	kar_metrics_declare(m, kar_kube_metrics);
	kar_metric_set(m, &kar_m_kar_build_info, 1, KAR_LABELS(KAR_VERSION, __VERSION__));
	/* They exist before they count, so that a rate sees the first one. */
	for (int k = KAR_QJ_RESTART_FAILURE; k <= KAR_QJ_RESTART_NODES; k++)
		kar_metric_add(m, &kar_m_kar_gang_restarts_total, 0,
			KAR_LABELS(kar_qj_restart_name((enum kar_qj_restart_kind)k)));
	kar_metric_add(m, &kar_m_kar_admission_attempts_total, 0, KAR_LABELS("admitted"));
	kar_metric_add(m, &kar_m_kar_admission_attempts_total, 0, KAR_LABELS("inadmissible"));
	return m;
}

void kar_count_write(const struct kar_sync *s, const struct kar_action *a)
{
	struct kar_metrics *m = s->controller->metrics;

	if (!a || a->type != &kar_pod_type)
		return;
	if (kar_action_creates(a))
		kar_metric_add(m, &kar_m_kar_pods_created_total, 1, NULL);
	else if (a->verb == KAR_DELETE)
		kar_metric_add(m, &kar_m_kar_pods_deleted_total, 1, NULL);
}

static void collect_process(struct kar_metrics *m)
{
	const struct kar_process_use u = kar_process_use();

	kar_metric_set(m, &kar_m_process_cpu_seconds_total, u.cpu_seconds, NULL);
	kar_metric_set(m, &kar_m_process_start_time_seconds, u.start_time, NULL);
	kar_metric_set(m, &kar_m_process_resident_memory_bytes, (double)u.rss, NULL);
	kar_metric_set(m, &kar_m_process_virtual_memory_bytes, (double)u.virtual, NULL);
	kar_metric_set(m, &kar_m_process_open_fds, (double)u.fds, NULL);
	kar_metric_set(m, &kar_m_process_max_fds, (double)u.max_fds, NULL);
}

static void collect_jobs(struct kar_metrics *m, const struct kar_store *jobs)
{
	int n[KAR_QJ_PHASE_FAILED + 1] = { 0 };
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(jobs); kar_iter_next(&it, &o);)
		n[kar_as_queuejob(o)->status.phase]++;
	n[KAR_QJ_PHASE_PENDING] += n[KAR_QJ_PHASE_NONE];
	for (int p = KAR_QJ_PHASE_PENDING; p <= KAR_QJ_PHASE_FAILED; p++)
		kar_metric_set(m, &kar_m_kar_queuejobs, n[p],
			KAR_LABELS(kar_qj_phase_name((enum kar_qj_phase)p)));
}

static void collect_gangs(struct kar_metrics *m, const struct kar_store *groups)
{
	int n[KAR_PG_STATES] = { 0 };
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(groups); kar_iter_next(&it, &o);)
		n[kar_as_podgroup(o)->status.placement.state]++;
	for (int s = KAR_PG_STATE_NONE + 1; s < KAR_PG_STATES; s++)
		kar_metric_set(m, &kar_m_kar_gangs, n[s],
			KAR_LABELS(kar_pg_state_name((enum kar_pg_state)s)));
}

static void collect_queue(struct kar_metrics *m, const struct kar_queue *q)
{
	const struct kar_queue_status *s = &q->status;
	const struct {
		const char *state;
		int32_t n;
	} states[] = { { "pending", s->pending }, { "inqueue", s->inqueue }, { "running", s->running },
		{ "completed", s->completed }, { "unknown", s->unknown } };

	for (size_t i = 0; i < KAR_LEN(states); i++)
		kar_metric_add(m, &kar_m_kar_queue_groups, states[i].n,
			KAR_LABELS(q->o.name, states[i].state));
}

/*
 * 0 of what it has nothing of. Resources that neither a node offers nor a queue names are left out: users can name as many as they
 * like.
 */
static void collect_usage(struct kar_metrics *m, const struct kar_queue *q)
{
	const struct kar_pair *known = q->status.entitled.items;

	for (size_t i = 0; i < q->status.entitled.n; i++) {
		const char *used = kar_pairs_get(&q->status.allocated, known[i].key);
		struct kar_quantity amount = { 0 };

		if (!used || kar_quantity_parse(used, &amount, NULL) == 0)
			kar_metric_add(m, &kar_m_kar_queue_usage, (double)amount.nano / 1e9,
				KAR_LABELS(q->o.name, known[i].key));
	}
}

/*
 * Such a series only rises: a status that is written a moment after a pod has ended takes back what was counted since, and a
 * fall would look like a start from 0. A resource is left out as above, unless it was used.
 */
static void raise_usage(struct kar_metrics *m, const struct kar_metric *of, const char *const *labels,
	const struct kar_quantity *q)
{
	kar_metric_raise(m, of, (double)q->nano / 1e9, labels);
}

static void collect_seconds(struct kar_metrics *m, const struct kar_queue *q, kar_time now)
{
	const struct kar_queue_status *s = &q->status;
	kar_time ms = s->usage.time ? now - s->usage.time : 0;
	KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts all = { 0 };

	kar_amounts_read(&s->usage.seconds, &all);
	kar_usage_add(&all, &s->allocated, ms);
	for (size_t i = 0; i < all.n; i++)
		raise_usage(m, &kar_m_kar_queue_usage_seconds_total, KAR_LABELS(q->o.name, all.items[i].name),
			&all.items[i].q);
	for (size_t i = 0; i < s->usage.n_flavors; i++) {
		const struct kar_queue_flavor_usage *f = &s->usage.flavors[i];
		KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts of_flavor = { 0 };

		kar_amounts_read(&f->seconds, &of_flavor);
		for (size_t k = 0; k < s->n_flavors; k++) {
			if (kar_streq(s->flavors[k].name, f->name))
				kar_usage_add(&of_flavor, &s->flavors[k].allocated, ms);
		}
		for (size_t k = 0; k < of_flavor.n; k++)
			raise_usage(m, &kar_m_kar_queue_flavor_usage_seconds_total,
				KAR_LABELS(q->o.name, f->name, of_flavor.items[k].name),
				&of_flavor.items[k].q);
	}
}

static void collect_over_capability(struct kar_metrics *m, const struct kar_queue *q)
{
	bool over = kar_condition_is_true(&q->status.conditions, "OverCapability");

	kar_metric_add(m, &kar_m_kar_queue_over_capability, over ? 1 : 0, KAR_LABELS(q->o.name));
}

/* One of the reasons of the queue reconciler; @reason comes from a status. */
static const char *known_reason(const char *reason)
{
	for (int r = KAR_QR_ADMITTED; r < KAR_N_QUEUE_REASONS; r++) {
		const char *name = kar_queue_reason_name((enum kar_queue_reason)r);

		if (kar_streq(reason, name))
			return name;
	}
	return OTHER;
}

const char *kar_pending_reason(const struct kar_podgroup *g)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);

	if (g->deletion || g->status.phase == KAR_PG_PHASE_FINISHED ||
		g->status.placement.state == KAR_PG_STATE_SUSPENDED || (c && c->status == KAR_COND_TRUE))
		return NULL;
	return c ? known_reason(c->reason) : "WaitingForAdmission";
}

static void collect_group(struct kar_metrics *m, const struct kar_stores *stores,
	const struct kar_podgroup *g, kar_time now)
{
	const char *reason = kar_pending_reason(g), *queue;
	kar_time since = g->status.waiting_since ? g->status.waiting_since : g->creation;
	double waits = now > since ? (double)(now - since) / KAR_SECOND : 0;
	const char *const *labels;

	if (!reason)
		return;
	queue = kar_asked_queue(stores, g).queue;
	labels = KAR_LABELS(kar_store_get(stores->queues, NULL, queue) ? queue : OTHER, reason);
	kar_metric_add(m, &kar_m_kar_pending_groups, 1, labels);
	kar_metric_raise(m, &kar_m_kar_pending_longest_seconds, waits, labels);
}

void kar_collect_objects(struct kar_metrics *m, const struct kar_stores *stores, kar_time now)
{
	const struct kar_object *o;

	collect_jobs(m, stores->queuejobs);
	collect_gangs(m, stores->podgroups);
	kar_metric_clear(m, &kar_m_kar_queue_groups);
	kar_metric_clear(m, &kar_m_kar_queue_usage);
	kar_metric_clear(m, &kar_m_kar_queue_over_capability);
	for (struct kar_iter it = kar_store_all(stores->queues); kar_iter_next(&it, &o);) {
		collect_queue(m, kar_as_queue(o));
		collect_usage(m, kar_as_queue(o));
		collect_seconds(m, kar_as_queue(o), now);
		collect_over_capability(m, kar_as_queue(o));
	}
	kar_metric_drop_unset(m, &kar_m_kar_queue_usage_seconds_total); /* of queues that are gone */
	kar_metric_drop_unset(m, &kar_m_kar_queue_flavor_usage_seconds_total);
	kar_metric_clear(m, &kar_m_kar_pending_groups);
	kar_metric_clear(m, &kar_m_kar_pending_longest_seconds);
	for (struct kar_iter it = kar_store_all(stores->podgroups); kar_iter_next(&it, &o);)
		collect_group(m, stores, kar_as_podgroup(o), now);
}

void kar_collect(struct kar_metrics *m, const struct kar_manager *manager, kar_time now)
{
	collect_process(m);
	if (!manager)
		return;
	kar_manager_collect(manager);
	kar_collect_objects(m, kar_manager_parts(manager).options->stores, now);
}
