/* How the QueueJob of a TrainingJob is, in the words of TrainingJobs. */
#include "controllers/trainingjob/trainingjob.h"

#include <string.h>

#include "api/copy.h"
#include "api/status/reasons.h"
#include "api/trainingjob/trainingjob_queuejob.h"
#include "common/base/str.h"

static bool is_of(const struct trainingjob_view *v)
{
	return v->job && kar_streq(v->job->owner_uid, v->t->o.uid);
}

/* --- its parts --------------------------------------------------------------------------------------- */

static const struct kar_task_status *task_of(const struct kar_queuejob *job, const char *name)
{
	for (size_t i = 0; i < job->status.n_tasks; i++) {
		if (kar_streq(job->status.tasks[i].name, name))
			return &job->status.tasks[i];
	}
	return NULL;
}

static const char *state_of(const struct kar_task_status *t, enum kar_training_phase phase)
{
	if (phase == KAR_TRAINING_SUCCEEDED)
		return "succeeded";
	if (phase == KAR_TRAINING_FAILED)
		return t->failed ? "failed" : "succeeded";
	return t->desired && t->running + t->succeeded >= t->desired ? "running" : "starting";
}

static void add_part(struct kar_trainingjob_status *st, const struct kar_queuejob *job, const char *name)
{
	const struct kar_task_status *t = task_of(job, name);

	if (!t)
		return;
	st->replicas[st->n_replicas++] = (struct kar_training_replicas){ .type = name,
		.state = state_of(t, st->phase),
		.states = { t->pending, t->running, t->succeeded, t->failed } };
}

static void add_parts(struct kar_trainingjob_status *st, const struct kar_queuejob *job,
	struct kar_arena *arena)
{
	static const char *const parts[] = { KAR_TRAINING_MASTER, KAR_TRAINING_PSERVER,
		KAR_TRAINING_TRAINER };

	st->replicas = kar_arena_alloc(arena, KAR_LEN(parts), sizeof(*st->replicas));
	st->n_replicas = 0;
	for (size_t i = 0; i < KAR_LEN(parts); i++)
		add_part(st, job, parts[i]);
}

/* --- its phase --------------------------------------------------------------------------------------- */

static enum kar_training_phase phase_of(const struct kar_queuejob *job)
{
	const struct kar_task_status *t = task_of(job, KAR_TRAINING_TRAINER);

	switch (job->status.phase) {
	case KAR_QJ_PHASE_RUNNING:
		return t && t->running + t->succeeded != t->desired ? KAR_TRAINING_SCALING
								    : KAR_TRAINING_RUNNING;
	case KAR_QJ_PHASE_COMPLETED:
		return KAR_TRAINING_SUCCEEDED;
	case KAR_QJ_PHASE_FAILED:
		return KAR_TRAINING_FAILED;
	default:
		return KAR_TRAINING_CREATING;
	}
}

static const char *reason_of(const struct kar_queuejob *job, struct kar_arena *arena)
{
	const struct kar_queuejob_status *st = &job->status;

	if (!kar_has_text(st->reason))
		return "";
	return kar_has_text(st->message) ? kar_arena_printf(arena, "%s: %s", st->reason, st->message)
					 : kar_copy_text(arena, st->reason);
}

static bool runs(enum kar_training_phase p)
{
	return p == KAR_TRAINING_RUNNING || p == KAR_TRAINING_SCALING;
}

/* Its queue gave it trainers, or took some. */
static void record_scale(struct kar_trainingjob_status *st, const struct kar_trainingjob_status *seen,
	kar_time now, struct kar_arena *arena)
{
	int32_t more = st->trainers - seen->trainers;
	size_t from = seen->scales.n >= KAR_TRAINING_SCALES ? seen->scales.n - KAR_TRAINING_SCALES + 1 : 0;
	struct kar_training_scale *all;

	if (!more || !runs(seen->phase) || !runs(st->phase))
		return;
	all = kar_arena_alloc(arena, KAR_TRAINING_SCALES + 1, sizeof(*all));
	st->scales.items = all;
	st->scales.n = seen->scales.n - from;
	if (st->scales.n)
		memcpy(all, seen->scales.items + from, st->scales.n * sizeof(*all));
	all[st->scales.n++] = (struct kar_training_scale){ .time = now,
		.additional = more,
		.status = "True",
		.reason = kar_arena_printf(arena, "%d %s trainer%s", (int)(more > 0 ? more : -more),
			more > 0 ? "more" : "fewer", more == 1 || more == -1 ? "" : "s") };
}

static void mirror(const struct kar_queuejob *job, const struct kar_trainingjob_status *seen, kar_time now,
	struct kar_arena *arena, struct kar_trainingjob_status *st)
{
	const struct kar_task_status *t = task_of(job, KAR_TRAINING_TRAINER);

	st->phase = phase_of(job);
	st->reason = reason_of(job, arena);
	st->trainers = t ? t->desired : 0;
	st->running = t ? t->running : 0;
	st->start_time = job->status.start_time;
	st->completion_time = kar_queuejob_has_ended(&job->status) ? job->status.completion_time : 0;
	add_parts(st, job, arena);
	record_scale(st, seen, now, arena);
}

/* --- conditions -------------------------------------------------------------------------------------- */

static void set(struct kar_trainingjob_status *st, const struct kar_trainingjob *t, const char *type,
	const char *reason, const char *message, kar_time now, struct kar_arena *arena)
{
	const struct kar_condition c = { .type = type,
		.status = message ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = t->generation,
		.reason = message ? reason : kar_reason_Valid,
		.message = message ? message : "" };

	if (message || kar_condition_find(&st->conditions, type))
		kar_condition_set(&st->conditions, &c, now, arena);
}

static void set_conditions(struct kar_trainingjob_status *st, const struct kar_trainingjob *t, kar_time now,
	struct kar_arena *arena)
{
	const struct kar_training_part *p = &t->spec.pserver;

	st->conditions = kar_conditions_copy(&st->conditions, arena);
	set(st, t, KAR_TRAINING_RENAMED, kar_reason_ValidWithWarnings, t->renamed, now, arena);
	set(st, t, KAR_TRAINING_FIXED_PSERVERS, kar_reason_Ignored,
		p->given && p->max > p->min
			? kar_arena_printf(arena,
				  "pservers are not scaled: there are min-instance, %d, and max-instance, %d, is ignored",
				  (int)p->min, (int)p->max)
			: NULL,
		now, arena);
}

/* --- all of it --------------------------------------------------------------------------------------- */

static const char *conflict(const struct trainingjob_view *v, struct kar_arena *arena)
{
	return kar_arena_printf(arena,
		"NameConflict: QueueJob %s exists and %s%s; delete it, or rename the TrainingJob",
		v->t->o.name, v->job->owner ? "belongs to " : "has no owner",
		v->job->owner ? v->job->owner : "");
}

struct kar_trainingjob_status trainingjob_status(const struct trainingjob_view *v, kar_time now,
	struct kar_arena *arena)
{
	const struct kar_trainingjob *t = v->t;
	const struct kar_trainingjob_status *seen = &t->status;
	struct kar_trainingjob_status st = *seen;
	bool ended = seen->completion_time != 0;

	if (is_of(v)) {
		mirror(v->job, seen, now, arena, &st);
		if (t->problem && !st.completion_time)
			st.reason = kar_arena_printf(arena, "Invalid: %s; what has started goes on as it was",
				t->problem);
		else if (v->refused && !st.completion_time)
			st.reason = kar_arena_printf(arena, "%s: %s", v->refused_for, v->refused);
	} else if (!ended) {
		st.phase = t->problem ? KAR_TRAINING_FAILED : KAR_TRAINING_CREATING;
		st.trainers = 0;
		st.running = 0;
		st.n_replicas = 0;
		st.reason = t->problem ? kar_arena_printf(arena, "Invalid: %s", t->problem)
			: v->job       ? conflict(v, arena)
			: v->refused   ? kar_arena_printf(arena, "%s: %s", v->refused_for, v->refused)
				       : "";
	}
	st.observed_generation = t->generation;
	set_conditions(&st, t, now, arena);
	return st;
}
