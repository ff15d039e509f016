/* What a group asks of its queue, by its owner and its phase. */
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/queue/pass.h"

/*
 * Its workload is gone, or will be, and pods of it run that nobody deletes: kubectl delete --cascade=orphan leaves them, and the group will
 * have no owner when the garbage collector has removed that from it.
 */
static bool is_left_behind(const struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_workload *w)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	if (w)
		return w->orphans;
	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		if (kar_pod_alive(kar_as_pod(o)))
			return true;
	}
	return false;
}

/*
 * The work of a workload's group is over when the workload has ended, not when the group is Finished: one whose quorum is below the sum
 * of its replicas continues. For a group of any other owner the phase of the group decides.
 */
enum queue_claim queue_claim_of(const struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_workload *w, const struct kar_suspendable *s)
{
	if (g->deletion)
		return QUEUE_CLAIM_NONE;
	if (s)
		return s->ended                        ? QUEUE_CLAIM_FINISHED
			: s->deletion                  ? QUEUE_CLAIM_NONE
			: s->suspended && !s->by_queue ? QUEUE_CLAIM_SUSPENDED
						       : QUEUE_CLAIM_ALIVE;
	if (!queue_is_owned(g))
		return g->status.phase == KAR_PG_PHASE_FINISHED ? QUEUE_CLAIM_FINISHED : QUEUE_CLAIM_ALIVE;
	if ((!w || w->deleting) && !is_left_behind(p, g, w))
		return QUEUE_CLAIM_NONE;
	if (!w)
		return QUEUE_CLAIM_ALIVE;
	if (w->ended)
		return QUEUE_CLAIM_FINISHED;
	if (w->suspended)
		return w->asks ? QUEUE_CLAIM_ASKS : QUEUE_CLAIM_SUSPENDED;
	return w->invalid ? QUEUE_CLAIM_INVALID : QUEUE_CLAIM_ALIVE;
}

enum kar_queue_reason queue_reason_of_claim(enum queue_claim claim)
{
	switch (claim) {
	case QUEUE_CLAIM_ASKS:
	case QUEUE_CLAIM_SUSPENDED:
		return KAR_QR_SUSPENDED;
	case QUEUE_CLAIM_INVALID:
		return KAR_QR_JOB_INVALID;
	case QUEUE_CLAIM_ALIVE:
		return KAR_QR_ADMITTED;
	default:
		return KAR_QR_FINISHED;
	}
}

const char *queue_why_of_claim(enum queue_claim claim)
{
	return claim == QUEUE_CLAIM_SUSPENDED  ? "the job is suspended"
		: claim == QUEUE_CLAIM_INVALID ? KAR_NOT_QUEUED_INVALID
					       : "";
}
