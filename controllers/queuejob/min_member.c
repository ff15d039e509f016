/*
 * PodGroup.spec.minMember: how many pods a gang scheduler waits for before it lets one of them run.
 *
 * It does not see pods that have ended, so what has succeeded must be left out of that number, or a second stage, a resumed job
 * and a replacement wait for ever. Only when it matters: while a pod is to be created, or waits for a node. The successes of
 * a job whose pods just run to their end change nothing (see docs/decisions/020).
 */
#include "controllers/queuejob/round.h"

/* What a scheduler could be waiting with, and what has succeeded. */
struct need {
	int32_t done;     /* of the tasks that have started */
	int32_t recorded; /* of these: the status says so, or will when this plan is carried out */
	bool waits;       /* a pod is to be created, or has no node yet */
};

static void look(const struct queuejob_round *r, const struct queuejob_task_tally *t, struct need *n)
{
	for (int32_t i = 0; i < t->n; i++) {
		const struct queuejob_slot *s = &t->slots[i];
		bool done = s->state == QUEUEJOB_SLOT_DONE;

		n->done += done;
		n->recorded += done && (s->recorded || !s->pod || r->starts_tasks);
		n->waits |= (s->state == QUEUEJOB_SLOT_MISSING && !s->held) ||
			(s->state == QUEUEJOB_SLOT_PENDING && !s->pod->node);
	}
}

/* A CRD that is older, or of another origin, does not keep the number, but what is missing from minMember tells it. */
static int32_t left_out_before(const struct queuejob_round *r, const struct kar_podgroup_spec *have)
{
	int32_t n = have->succeeded_members;

	if (!have->has_succeeded_members && have->min_member > 0)
		n = r->min - have->min_member;
	return n > 0 ? n : 0;
}

void queuejob_put_min_member(const struct queuejob_round *r, const struct kar_podgroup_spec *have,
	struct kar_podgroup_spec *want)
{
	int32_t quorum = r->min > 1 ? r->min : 1; /* the schema's minimum */
	int32_t left = queuejob_minimum_left(r), most = quorum - (left > 1 ? left : 1);
	int32_t before = left_out_before(r, have), left_out;
	struct need n = { 0 };

	for (size_t i = 0; i < r->t.n_tasks && r->t.done; i++) {
		if (r->t.tasks[i].started)
			look(r, &r->t.tasks[i], &n);
	}
	n.waits &= r->st.phase != KAR_QJ_PHASE_SUSPENDED;
	/* The status is written once a second at most, so these are no more. */
	left_out = n.waits && before < n.recorded ? n.recorded : before;
	left_out = left_out < n.done ? left_out : n.done;
	left_out = left_out < most ? left_out : most;
	left_out = left_out > 0 ? left_out : 0;
	want->min_member = quorum - left_out;
	want->succeeded_members = left_out;
}
