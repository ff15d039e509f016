/*
 * When a job would start that asks so: the pass is made once more, as if the job had been submitted now. Nothing of that pass is written but the
 * answer. The engine is afterwards as it was before (kar_queue_plan()).
 */
#include <string.h>

#include "common/base/str.h"
#include "controllers/queue/next.h"
#include "controllers/queue/pass.h"

enum {
	OPEN_QUESTIONS = 10, /* of one namespace that are answered */
	NEXT_QUESTION = 200, /* ms until the next is answered: each costs a pass */
};

/* As many of its namespace were there before it. */
static bool is_one_too_many(const struct queue_pass *p, uint32_t i)
{
	const struct kar_podgroup *g = p->groups[i].group;
	int older = 0;

	for (uint32_t k = 0; k < p->n_groups; k++) {
		const struct kar_podgroup *other = p->groups[k].group;

		older += p->groups[k].question && k != i && kar_streq(other->o.ns, g->o.ns) &&
			(other->creation < g->creation ||
				(other->creation == g->creation && strcmp(other->o.name, g->o.name) < 0));
	}
	return older >= OPEN_QUESTIONS;
}

/* --- who would go ----------------------------------------------------------------------------------- */

static void add_eviction(struct queue_pass *p, struct kar_what_if *out, const char *queue, int32_t pods)
{
	size_t i = 0;

	while (i < out->n_evicts && !kar_streq(out->evicts[i].queue, queue))
		i++;
	if (i == out->n_evicts) {
		out->evicts = kar_arena_grow(p->arena, out->evicts, out->n_evicts, sizeof(*out->evicts));
		out->evicts[out->n_evicts++] = (struct kar_what_if_eviction){ .queue = queue };
	}
	out->evicts[i].pods += pods;
}

/* Beside what goes without it, too. */
static void list_evictions(struct queue_pass *p, uint32_t asks, const struct kar_queue_result *r,
	struct kar_what_if *out)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct kar_queue_decision *with = &r->groups[i], *without = &p->result.groups[i];
		int32_t fewer = without->desired - with->desired;

		if (i == asks || !p->groups[i].admitted || fewer <= 0)
			continue;
		add_eviction(p, out, p->groups[i].queue, fewer);
	}
}

/* --- the answer ------------------------------------------------------------------------------------- */

/* What only an edit of the job, of its queue or of the cluster cures. */
static bool is_never(enum kar_queue_reason r)
{
	switch (r) {
	case KAR_QR_JOB_INVALID:
	case KAR_QR_QUEUE_NOT_FOUND:
	case KAR_QR_QUEUE_INVALID:
	case KAR_QR_QUEUE_NOT_LEAF:
	case KAR_QR_NAMESPACE_NOT_ALLOWED:
	case KAR_QR_RUN_TIME_TOO_LONG:
	case KAR_QR_INVALID_TEMPLATE:
	case KAR_QR_FORBIDDEN:
	case KAR_QR_UNSUPPORTED:
	case KAR_QR_QUOTA_INVALID_TEMPLATE:
	case KAR_QR_INFEASIBLE:
	case KAR_QR_QUOTA_INFEASIBLE:
		return true;
	default:
		return false;
	}
}

static enum kar_what_if_answer answer_of(const struct kar_queue_decision *d)
{
	if (queue_is_admitted(d) && !d->provisions)
		return KAR_WHAT_IF_FITS_NOW;
	return is_never(d->reason) ? KAR_WHAT_IF_NEVER : KAR_WHAT_IF_WAITS;
}

static void ask(struct queue_pass *p, uint32_t i, struct kar_what_if *out)
{
	struct kar_queue_group *groups = kar_arena_alloc(p->arena, p->n_groups + 1, sizeof(*groups));
	struct kar_queue_snapshot s = p->snapshot;
	const struct kar_queue_decision *d;
	struct kar_queue_result r;

	memcpy(groups, p->in, p->n_groups * sizeof(*groups));
	groups[i] = *p->groups[i].question;
	s.groups = groups;
	kar_queue_plan(&s, p->now, p->arena, &r);
	d = &r.groups[i];
	out->answer = answer_of(d);
	list_evictions(p, i, &r, out);
	out->position = d->position;
	out->expected = d->estimated_start - d->estimated_start % KAR_SECOND;
	out->basis = out->expected && d->basis ? d->basis : "";
	if (out->answer == KAR_WHAT_IF_FITS_NOW)
		return;
	out->reason = kar_queue_reason_name(d->provisions ? d->provisions : d->reason);
	out->message = d->text ? d->text : "";
	if (d->reason == KAR_QR_RESERVING) /* nothing is held for a question, and nobody stops */
		out->message = "it would start when the pods that would be stopped for it are gone";
}

static void answer(struct queue_pass *p, uint32_t i, bool too_many)
{
	struct kar_what_if *out = kar_arena_alloc(p->arena, 1, sizeof(*out));

	out->time = p->now - p->now % KAR_SECOND;
	out->reason = out->message = out->basis = "";
	if (too_many) {
		out->answer = KAR_WHAT_IF_REFUSED;
		out->message = kar_arena_printf(p->arena, "%d jobs of namespace %s ask already",
			OPEN_QUESTIONS, p->groups[i].group->o.ns);
	} else {
		ask(p, i, out);
	}
	p->groups[i].answer = out;
}

void queue_answer_questions(struct queue_pass *p)
{
	bool asked = false;

	for (uint32_t i = 0; i < p->n_groups; i++) {
		struct queue_group *qg = &p->groups[i];
		bool too_many;

		if (!qg->question || qg->group->status.what_if.answer)
			continue;
		if (qg->question->queue == KAR_QUEUE_NONE && queue_comes_by_itself(p, qg->queue))
			continue; /* the next pass answers */
		too_many = is_one_too_many(p, i);
		if (!too_many && !queue_question_is_checked(p, qg))
			continue;
		if (asked && !too_many) {
			queue_come_again(p, NEXT_QUESTION);
			continue;
		}
		asked |= !too_many;
		answer(p, i, too_many);
	}
}
