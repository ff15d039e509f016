#include "controllers/trainingjob/trainingjob.h"

#include <string.h>

#include "api/copy.h"
#include "api/status/reasons.h"
#include "api/trainingjob/trainingjob_queuejob.h"
#include "common/base/str.h"

enum { CONFLICT_RETRY = 30 * KAR_SECOND };

/* --- the QueueJob ------------------------------------------------------------------------------------ */

static bool has_succeeded_trainers(const struct kar_queuejob *job)
{
	for (size_t i = 0; i < job->status.n_tasks; i++) {
		if (kar_streq(job->status.tasks[i].name, KAR_TRAINING_TRAINER))
			return job->status.tasks[i].succeeded > 0;
	}
	return false;
}

/* The work comes to an end when the first trainer succeeds: those that there are finish it. */
static int32_t trainers(const struct trainingjob_view *v)
{
	const struct kar_training_part *p = &v->t->spec.trainer;
	int32_t least = p->min > 1 ? p->min : 1;

	if (!v->job || !has_succeeded_trainers(v->job) || v->used >= p->max)
		return p->max;
	return v->used > least ? v->used : least;
}

static void write_job(const struct trainingjob_view *v, struct kar_plan *p)
{
	struct trainingjob_make *make = kar_arena_alloc(p->arena, 1, sizeof(*make));
	struct kar_action *a = kar_plan_add(p, v->job ? KAR_PATCH : KAR_CREATE, &kar_queuejob_type,
		kar_copy(p->arena, v->t->o.ns), kar_copy_text(p->arena, v->t->o.name));

	make->t = v->t;
	make->trainers = trainers(v);
	make->made_of = kar_training_digest(v->t, make->trainers, p->arena);
	make->annotated = v->job && v->job->annotated;
	a->what = v->job ? TRAININGJOB_PATCH : TRAININGJOB_MAKE;
	a->payload = make;
	a->patch_type = KAR_PATCH_JSON;
	a->uid = v->job ? kar_copy(p->arena, v->job->o.uid) : NULL;
	a->note = kar_arena_printf(p->arena, "trainers=%d", (int)make->trainers);
}

/* Is there something that the QueueJob lacks, and may it be written? */
static bool must_write(const struct trainingjob_view *v, struct kar_arena *arena)
{
	const struct kar_queuejob *job = v->job;

	if (v->t->problem || v->t->status.completion_time)
		return false;
	if (!job)
		return true;
	return kar_streq(job->owner_uid, v->t->o.uid) && !job->deletion && !job->o.unreadable &&
		!kar_queuejob_has_ended(&job->status) &&
		!kar_streq(job->made_of, kar_training_digest(v->t, trainers(v), arena));
}

/* --- the status -------------------------------------------------------------------------------------- */

/* The reason of a status without its first word, which an event has beside its note. */
static const char *note_of(const char *reason, const char *word)
{
	size_t n = strlen(word);

	return strncmp(reason, word, n) == 0 && strncmp(reason + n, ": ", 2) == 0 ? reason + n + 2 : reason;
}

static void tell_phase(const struct trainingjob_view *v, const struct kar_trainingjob_status *st,
	struct kar_plan *p)
{
	const char *reason = v->job && kar_has_text(v->job->status.reason)
		? kar_copy_text(p->arena, v->job->status.reason)
		: kar_reason_Invalid;

	switch (st->phase) {
	case KAR_TRAINING_RUNNING:
		kar_plan_event(p, false, kar_reason_Running, "Train", "%d of at most %d trainers run",
			(int)st->running, (int)v->t->spec.trainer.max);
		break;
	case KAR_TRAINING_SUCCEEDED:
		kar_plan_event(p, false, kar_reason_Completed, "Train", "all trainers have succeeded");
		break;
	case KAR_TRAINING_FAILED:
		kar_plan_event(p, true, reason, "Train", "%s", note_of(st->reason, reason));
		break;
	default:
		break;
	}
}

static void tell(const struct trainingjob_view *v, const struct kar_trainingjob_status *st,
	struct kar_plan *p)
{
	const struct kar_trainingjob_status *seen = &v->t->status;
	bool foreign = v->job && !kar_streq(v->job->owner_uid, v->t->o.uid);
	bool still_runs = seen->phase == KAR_TRAINING_SCALING && st->phase == KAR_TRAINING_RUNNING;

	if (st->phase != seen->phase && !still_runs)
		tell_phase(v, st, p);
	if (st->scales.items != seen->scales.items && st->scales.n)
		kar_plan_event(p, false, kar_reason_Scaled, "Scale", "%s: %d wanted now",
			st->scales.items[st->scales.n - 1].reason, (int)st->trainers);
	if (foreign && !kar_streq(st->reason, seen->reason))
		kar_plan_event(p, true, kar_reason_NameConflict, "CreateChildren", "%s",
			note_of(st->reason, kar_reason_NameConflict));
	if (v->refused && !kar_streq(st->reason, seen->reason))
		kar_plan_event(p, true, v->refused_for, "CreateChildren", "%s", v->refused);
}

static void put_status(const struct trainingjob_view *v, kar_time now, struct kar_plan *p)
{
	const struct kar_desc *table = &kar_trainingjob_status_table;
	struct kar_trainingjob_status *st = kar_arena_alloc(p->arena, 1, sizeof(*st));

	*st = trainingjob_status(v, now, p->arena);
	if (kar_status_equal(table, st, &v->t->status, KAR_SF_STORY | KAR_SF_COUNTER))
		return;
	p->status = st;
	p->status_text = kar_status_print(table, &v->t->status, st, p->arena);
	p->urgent = !kar_status_equal(table, st, &v->t->status, KAR_SF_STORY);
	p->counters = !p->urgent;
	tell(v, st, p);
}

/* What was refused is said until it has been written, or is not wanted any more: also while it is tried again. */
void trainingjob_decide(const struct trainingjob_view *view, kar_time now, struct kar_plan *p)
{
	struct trainingjob_view copy = *view;
	const struct trainingjob_view *v = &copy;
	bool write;

	if (v->t->deletion || v->t->o.unreadable)
		return; /* the garbage collector deletes the QueueJob */
	write = must_write(v, p->arena);
	if (!write)
		copy.refused = NULL;
	put_status(v, now, p);
	if (write && (!v->refused || v->again))
		write_job(v, p);
	if (v->job && !kar_streq(v->job->owner_uid, v->t->o.uid))
		kar_plan_requeue(p, CONFLICT_RETRY);
}
