/* Pods of no queue that may be evicted (decision 092): what the pass is to know of them, and the evictions that it asks for. */
#include "api/copy.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/cluster/lookups.h"
#include "controllers/queue/preemptible.h"
#include "controllers/queue/backoffs.h"

/* ms before a pod that stops must be gone in which pods of gangs may be created for its room: less than a gang has to start. */
static const kar_time SOON = 30 * KAR_SECOND;
/* ms for which a pod counts as one that was made in the stead of another: scheduling it may take a while. */
static const kar_time YOUNG = KAR_MINUTE;

static bool is_on_usable_node(const struct queue_pass *p, const struct kar_pod *pod)
{
	return kar_capacity_use(p->stores->capacity, pod) == KAR_CAPACITY_ON_NODE;
}

static const char *refusal_of(struct queue_pass *p, const struct kar_pod *pod)
{
	kar_time in = KAR_NEVER;
	const char *why = p->shared ? queue_backoffs_of(p->shared->backoffs, pod->o.uid, p->mono, &in) : NULL;

	queue_come_again(p, in);
	return why ? kar_copy(p->arena, why) : NULL;
}

static void observe_pod(struct queue_pass *p, const struct kar_pod *pod, struct kar_queue_preemptible *out)
{
	*out = (struct kar_queue_preemptible){ .ns = pod->o.ns,
		.name = pod->o.name,
		.class = kar_needs_class_of_pod(p->stores, pod),
		.node = pod->node,
		.priority = pod->priority,
		.leaving = pod->deletion != 0,
		.young = !pod->deletion && p->now - pod->creation < YOUNG,
		.soon = pod->deletion && pod->deletion - p->now <= SOON,
		.kept = pod->deletion ? NULL : refusal_of(p, pod) };
	if (out->leaving && !out->soon)
		queue_come_again(p, pod->deletion - SOON - p->now);
}

void queue_observe_preemptible(struct queue_pass *p)
{
	const struct kar_pod **pods;
	uint32_t n = p->nodes ? kar_preemptible_list(p->stores->preemptible, p->arena, &pods) : 0, k = 0;

	p->preemptible = kar_arena_alloc(p->arena, n + 1, sizeof(*p->preemptible));
	p->preemptible_pods = kar_arena_alloc(p->arena, n + 1, sizeof(struct kar_pod *));
	if (p->shared)
		queue_backoffs_sweep(p->shared->backoffs, p->mono);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_on_usable_node(p, pods[i]) || (pods[i]->deletion && queue_is_overdue(p, pods[i])))
			continue;
		p->preemptible_pods[k] = pods[i];
		observe_pod(p, pods[i], &p->preemptible[k++]);
	}
	p->snapshot.preemptible = p->preemptible;
	p->snapshot.n_preemptible = k;
}

/* --- evictions ---------------------------------------------------------------------------------------- */

/* Those that budgets protect go first, the others when the API server has let these go: if it does not, nobody goes. */
static bool goes_now(const struct queue_pass *p, uint32_t i)
{
	if (p->preemptible[i].n_budgets)
		return true;
	for (uint32_t k = 0; k < p->snapshot.n_preemptible; k++) {
		if (p->result.takers[k] == p->result.takers[i] && p->preemptible[k].n_budgets)
			return false;
	}
	return true;
}

static const struct kar_plan_event *eviction_event(const struct queue_pass *p, uint32_t i)
{
	const struct kar_object *taker = &p->groups[p->result.takers[i]].group->o;
	struct kar_plan_event *e = kar_arena_alloc(p->arena, 1, sizeof(*e));

	*e = (struct kar_plan_event){ .warning = true,
		.reason = kar_reason_Preempted,
		.action = "Evict",
		.note = kar_arena_printf(p->arena, "evicted for %s/%s: priority %d over %d", taker->ns,
			taker->name, (int)p->in[p->result.takers[i]].base, (int)p->preemptible[i].priority) };
	return e;
}

void queue_evict_preemptible(struct queue_pass *p, int what)
{
	for (uint32_t i = 0; p->result.takers && i < p->snapshot.n_preemptible; i++) {
		const struct kar_pod *pod = p->preemptible_pods[i];
		struct kar_action *a;

		if (p->result.takers[i] == KAR_QUEUE_NONE || !goes_now(p, i))
			continue;
		a = kar_plan_add(p->plan, KAR_CREATE, &kar_pod_type, kar_copy(p->arena, pod->o.ns),
			kar_copy(p->arena, pod->o.name));
		a->subresource = "eviction";
		a->uid = kar_copy(p->arena, pod->o.uid);
		a->what = what;
		a->may_refuse = true;
		a->firm = true;
		a->rank.priority = p->groups[p->result.takers[i]].priority;
		a->event = eviction_event(p, i);
		a->note = a->event->note;
	}
}

const char *queue_name_evicted(const struct queue_pass *p, uint32_t group)
{
	enum { NAMED = 3 };
	const char *names = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; p->result.takers && i < p->snapshot.n_preemptible; i++) {
		const struct kar_queue_preemptible *e = &p->preemptible[i];

		if (p->result.takers[i] == group && n++ < NAMED)
			names = kar_arena_printf(p->arena, "%s%s%s/%s", names ? names : "", names ? ", " : "",
				e->ns, e->name);
	}
	if (n > NAMED)
		names = kar_arena_printf(p->arena, "%s and %d more", names, (int)(n - NAMED));
	return names
		? kar_arena_printf(p->arena, "evicts pod%s %s of no queue for it", n == 1 ? "" : "s", names)
		: NULL;
}
