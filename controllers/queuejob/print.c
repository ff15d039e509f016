/* A status as one line of text. */
#include "controllers/queuejob/round.h"

#include <inttypes.h>

#include "api/keep.h"

static void put_number(struct kar_buf *out, const char *name, int32_t old, int32_t new)
{
	if (old != new)
		kar_buf_printf(out, " %s=%" PRId32, name, new);
}

static void put_string(struct kar_buf *out, const char *name, const char *old, const char *new)
{
	if (!kar_same(old, new))
		kar_buf_printf(out, " %s=%s", name, new &&new[0] ? new : "-");
}

static void put_time(struct kar_buf *out, const char *name, kar_time old, kar_time new)
{
	if (old != new)
		kar_buf_printf(out, " %s%s", name, new ? "" : "=-");
}

static bool had_started(const struct kar_queuejob_status *seen, size_t i)
{
	return i >= seen->n_tasks || seen->tasks[i].started;
}

static void put_started(struct kar_buf *out, const struct kar_queuejob_status *seen,
	const struct kar_queuejob_status *st)
{
	for (size_t i = 0; i < st->n_tasks; i++) {
		if (had_started(seen, i) != st->tasks[i].started)
			kar_buf_printf(out, " started[%s]%s", st->tasks[i].name,
				st->tasks[i].started ? "" : "=-");
	}
}

static const char *old_indexes(const struct kar_queuejob_status *seen, size_t i)
{
	return i < seen->n_tasks ? seen->tasks[i].succeeded_indexes : "";
}

static void put_done(struct kar_buf *out, const struct kar_queuejob_status *seen,
	const struct kar_queuejob_status *st)
{
	for (size_t i = 0; i < st->n_tasks; i++) {
		if (!kar_same(old_indexes(seen, i), st->tasks[i].succeeded_indexes))
			kar_buf_printf(out, " done[%s]=%s", st->tasks[i].name,
				st->tasks[i].succeeded_indexes[0] ? st->tasks[i].succeeded_indexes : "-");
	}
}

static void put_task_restarts(struct kar_buf *out, const struct kar_queuejob_status *seen,
	const struct kar_queuejob_status *st)
{
	for (size_t i = 0; i < st->n_tasks; i++) {
		kar_time old = i < seen->n_tasks ? seen->tasks[i].restart_time : 0;

		if (old != st->tasks[i].restart_time)
			kar_buf_printf(out, " restart[%s]%s", st->tasks[i].name,
				st->tasks[i].restart_time ? "" : "=-");
	}
}

static void put_conditions(struct kar_buf *out, const struct kar_conditions *old,
	const struct kar_conditions *new)
{
	for (size_t i = 0; i < new->n; i++) {
		const struct kar_condition *c = &new->items[i];
		const struct kar_condition *was = kar_condition_find(old, c->type);

		if (!was || was->status != c->status)
			kar_buf_printf(out, " %s=%s", c->type, kar_condition_status_name(c->status));
	}
}

const char *queuejob_status_text(const struct kar_queuejob_status *seen, const struct kar_queuejob_status *st,
	struct kar_arena *arena)
{
	struct kar_buf line = { 0 };

	kar_buf_printf(&line, "phase=%s", kar_qj_phase_name(st->phase));
	put_string(&line, "reason", seen->reason, st->reason);
	put_number(&line, "incarnation", seen->incarnation, st->incarnation);
	put_number(&line, "formed", seen->formed_min_available, st->formed_min_available);
	put_number(&line, "restarts", seen->restarts, st->restarts);
	put_number(&line, "podFailures", seen->pod_failures, st->pod_failures);
	put_number(&line, "disruptions", seen->disruptions, st->disruptions);
	put_number(&line, "backoffSteps", seen->backoff_steps, st->backoff_steps);
	put_number(&line, "scheduleTimeouts", seen->schedule_timeouts, st->schedule_timeouts);
	put_number(&line, "counted", (int32_t)seen->counted_pods.n, (int32_t)st->counted_pods.n);
	put_number(&line, "desired", seen->desired, st->desired);
	put_number(&line, "min", seen->min_available, st->min_available);
	put_number(&line, "pending", seen->pending, st->pending);
	put_number(&line, "running", seen->running, st->running);
	put_number(&line, "succeeded", seen->succeeded, st->succeeded);
	put_number(&line, "failed", seen->failed, st->failed);
	put_number(&line, "terminating", seen->terminating, st->terminating);
	put_number(&line, "position", seen->position, st->position);
	put_started(&line, seen, st);
	put_done(&line, seen, st);
	put_task_restarts(&line, seen, st);
	put_time(&line, "startTime", seen->start_time, st->start_time);
	put_time(&line, "completionTime", seen->completion_time, st->completion_time);
	put_time(&line, "lastScaleTime", seen->last_scale_time, st->last_scale_time);
	put_conditions(&line, &seen->conditions, &st->conditions);

	const char *text = kar_arena_strndup(arena, kar_buf_cstr(&line), line.n);

	kar_buf_release(&line);
	return text;
}
