#include "controllers/podgroup/tell.h"

#include <string.h>

#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"

enum { PODS_TOLD = 3 }; /* members with our gate whose events say it too (decision 070) */

/* Reasons of condition Scheduled; all of these but the last are for somebody to act upon. */
static const struct kind {
	const char *reason;
	kar_time after; /* ms for which it lasts before it is told: shorter ones end by themselves */
	bool of_jobs;   /* also of the group of a workload, whose own events do not say it */
} kinds[] = {
	{ kar_reason_WaitingForMembers, 10 * KAR_SECOND, false },
	{ kar_reason_NotEnoughMembers, 10 * KAR_SECOND, false },
	{ kar_reason_QuorumLost, 10 * KAR_SECOND, true }, { kar_reason_MixedSchedulers, 0, false },
	{ kar_reason_NoScheduler, 0, false }, { kar_reason_ForeignGate, 10 * KAR_SECOND, false },
	{ kar_reason_Unsupported, 0, false }, { kar_reason_BackendUnavailable, 0, false },
	{ kar_reason_QueueNotFound, 0, false }, { kar_reason_QueueInvalid, 0, false },
	{ kar_reason_QueueNotLeaf, 0, false }, { kar_reason_QueueClosed, 0, false },
	{ kar_reason_NamespaceNotAllowed, 0, false }, { kar_reason_RunTimeTooLong, 0, false },
	{ kar_reason_PriorityClassNotFound, 0, false },
	{ kar_reason_Waiting, 10 * KAR_SECOND,
		false }, /* any other reason of condition Admitted: it waits in its queue */
};
enum { WAITING = KAR_LEN(kinds) };

/* The manager began a moment ago: what has lasted for longer was told by another one. */
static const kar_time told_before = 5 * KAR_SECOND;

/* Condition Scheduled of a group that waits; NULL: it does not, or nobody has looked yet. */
static const struct kar_condition *wait_of_group(const struct podgroup_view *v)
{
	const struct kar_condition *c = kar_condition_find(&v->group->status.conditions, KAR_PG_SCHEDULED);

	return c && c->status == KAR_COND_FALSE && v->owner != PODGROUP_OWNER_TERMINAL ? c : NULL;
}

/* It runs, and its queue does not let in all of its members: what it says of that, as such a condition. */
static bool is_wait_of_late(const struct podgroup_view *v, struct kar_condition *out)
{
	const struct kar_podgroup_status *st = &v->group->status;

	*out = (struct kar_condition){ .type = KAR_PG_SCHEDULED,
		.reason = kar_pg_limit_name(st->scaling_limit),
		.message = st->scaling_limit_message };
	return v->bounded && st->scaling_limit && kar_has_text(st->scaling_limit_message);
}

static bool is_of_queue(const struct podgroup_view *v, const struct kar_condition *wait)
{
	const struct kar_condition *c = kar_condition_find(&v->group->status.conditions, KAR_PG_ADMITTED);

	return c && c->status == KAR_COND_FALSE && kar_streq(c->reason, wait->reason);
}

static uint8_t kind_of(const struct podgroup_view *v, const struct kar_condition *wait)
{
	for (uint8_t i = 0; wait && i < KAR_LEN(kinds); i++) {
		if (kar_streq(kinds[i].reason, wait->reason))
			return kinds[i].of_jobs || v->of_others ? (uint8_t)(i + 1) : 0;
	}
	return wait && v->of_others && is_of_queue(v, wait) ? WAITING : 0;
}

/* The gated members that are first by name. */
static size_t first_gated(const struct podgroup_view *v, const struct kar_pod *first[PODS_TOLD])
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];
		size_t at = n;

		if (!kar_pg_is_gated(pod) || !kar_pod_alive(pod))
			continue;
		while (at > 0 && strcmp(first[at - 1]->o.name, pod->o.name) > 0)
			at--;
		if (at == PODS_TOLD)
			continue;
		n += n < PODS_TOLD;
		memmove(&first[at + 1], &first[at], (n - 1 - at) * sizeof(first[0]));
		first[at] = pod;
	}
	return n;
}

static void add_events(const struct podgroup_view *v, const struct kar_condition *wait, uint8_t kind,
	struct kar_plan *p)
{
	const char *reason = kinds[kind - 1].reason;
	const struct kar_pod *pods[PODS_TOLD];
	size_t n = first_gated(v, pods);

	kar_plan_event(p, kind != WAITING, reason, "Schedule", "%s", wait->message);
	for (size_t i = 0; i < n; i++) {
		kar_plan_event(p, kind != WAITING, reason, "Schedule", "PodGroup %s: %s: %s",
			v->group->o.name, wait->reason, wait->message);
		kar_plan_event_about(p, &pods[i]->o);
	}
	p->events_alone = true;
}

static struct podgroup_told begin(const struct podgroup_view *v, uint8_t kind,
	const struct kar_condition *wait, kar_time now)
{
	struct podgroup_told t = { .known = true, .kind = kind, .since = now };

	if (kind && wait && !v->told.known) {
		t.since = wait->last_transition ? wait->last_transition : now;
		t.told = now - t.since > kinds[kind - 1].after + told_before;
	}
	return t;
}

struct podgroup_told podgroup_tell(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	const struct kar_condition *wait = wait_of_group(v);
	struct kar_condition late;
	uint8_t kind = kind_of(v, wait);

	if (!wait && is_wait_of_late(v, &late)) {
		wait = &late;
		kind = WAITING;
	}

	struct podgroup_told t = v->told.known && v->told.kind == kind ? v->told : begin(v, kind, wait, now);

	if (!wait || !kind || t.told || p->status)
		return t;
	if (t.since + kinds[kind - 1].after > now) {
		kar_plan_requeue(p, t.since + kinds[kind - 1].after - now);
		return t;
	}
	add_events(v, wait, kind, p);
	t.told = true;
	return t;
}
