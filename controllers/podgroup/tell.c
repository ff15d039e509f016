#include "controllers/podgroup/tell.h"

#include "common/str.h"

/* Reasons of condition Scheduled that somebody has to do something about. */
static const struct kind {
	const char *reason;
	kar_time after; /* ms for which it lasts before it is told: shorter ones end by themselves */
	bool of_jobs;   /* also of the group of a QueueJob, whose own events do not say it */
} kinds[] = {
	{ "WaitingForMembers", 10 * KAR_SECOND, false },
	{ "NotEnoughMembers", 10 * KAR_SECOND, false },
	{ "QuorumLost", 10 * KAR_SECOND, true },
	{ "MixedSchedulers", 0, false },
	{ "NoScheduler", 0, false },
	{ "ForeignGate", 10 * KAR_SECOND, false },
	{ "Unsupported", 0, false },
	{ "BackendUnavailable", 0, false },
	{ "QueueNotFound", 0, false },
	{ "QueueInvalid", 0, false },
	{ "QueueNotLeaf", 0, false },
	{ "QueueClosed", 0, false },
	{ "NamespaceNotAllowed", 0, false },
	{ "PriorityClassNotFound", 0, false },
};

/* The manager began a moment ago: what has lasted for longer was told by another one. */
static const kar_time told_before = 5 * KAR_SECOND;

/* Condition Scheduled of a group that waits; NULL: it does not, or nobody has looked yet. */
static const struct kar_condition *wait_of(const struct podgroup_view *v)
{
	const struct kar_condition *c = kar_condition_find(&v->group->status.conditions, KAR_PG_SCHEDULED);

	return c && c->status == KAR_COND_FALSE && v->owner != PODGROUP_OWNER_TERMINAL ? c : NULL;
}

static uint8_t kind_of(const struct podgroup_view *v, const struct kar_condition *wait)
{
	for (uint8_t i = 0; wait && i < KAR_LEN(kinds); i++) {
		if (kar_streq(kinds[i].reason, wait->reason))
			return kinds[i].of_jobs || v->of_others ? (uint8_t)(i + 1) : 0;
	}
	return 0;
}

static struct podgroup_told begin(const struct podgroup_view *v, uint8_t kind,
	const struct kar_condition *wait, kar_time now)
{
	struct podgroup_told t = { .known = true, .kind = kind, .since = now };

	if (kind && wait && !v->told.known) {
		t.since = wait->last_transition;
		t.told = now - t.since > kinds[kind - 1].after + told_before;
	}
	return t;
}

struct podgroup_told podgroup_tell(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	const struct kar_condition *wait = wait_of(v);
	uint8_t kind = kind_of(v, wait);
	struct podgroup_told t = v->told.known && v->told.kind == kind ? v->told : begin(v, kind, wait, now);

	if (!wait || !kind || t.told || p->status)
		return t;
	if (t.since + kinds[kind - 1].after > now) {
		kar_plan_requeue(p, t.since + kinds[kind - 1].after - now);
		return t;
	}
	kar_plan_event(p, true, kinds[kind - 1].reason, "Schedule", "%s", wait->message);
	p->events_alone = true;
	t.told = true;
	return t;
}
