/* A status as one line of text. */
#include "controllers/queuejob/round.h"

#include <inttypes.h>

#include "api/keep.h"

struct line {
	struct kar_buf text;
};

static void put_number(struct line *l, const char *name, int32_t old, int32_t new)
{
	if (old != new)
		kar_buf_printf(&l->text, " %s=%" PRId32, name, new);
}

static void put_string(struct line *l, const char *name, const char *old, const char *new)
{
	if (!kar_same(old, new))
		kar_buf_printf(&l->text, " %s=%s", name, new &&new[0] ? new : "-");
}

static void put_time(struct line *l, const char *name, kar_time old, kar_time new)
{
	if (old != new)
		kar_buf_printf(&l->text, " %s%s", name, new ? "" : "=-");
}

static const char *old_indexes(const struct kar_queuejob_status *seen, size_t i)
{
	return i < seen->n_tasks ? seen->tasks[i].succeeded_indexes : "";
}

static void put_done(struct line *l, const struct kar_queuejob_status *seen,
	const struct kar_queuejob_status *st)
{
	for (size_t i = 0; i < st->n_tasks; i++) {
		if (!kar_same(old_indexes(seen, i), st->tasks[i].succeeded_indexes))
			kar_buf_printf(&l->text, " done[%s]=%s", st->tasks[i].name,
				st->tasks[i].succeeded_indexes[0] ? st->tasks[i].succeeded_indexes : "-");
	}
}

static void put_conditions(struct line *l, const struct kar_conditions *old, const struct kar_conditions *new)
{
	for (size_t i = 0; i < new->n; i++) {
		const struct kar_condition *c = &new->items[i];
		const struct kar_condition *was = kar_condition_find(old, c->type);

		if (!was || was->status != c->status)
			kar_buf_printf(&l->text, " %s=%s", c->type, kar_condition_status_name(c->status));
	}
}

const char *queuejob_status_text(const struct kar_queuejob_status *seen, const struct kar_queuejob_status *st,
	struct kar_arena *arena)
{
	struct line l = { 0 };

	kar_buf_printf(&l.text, "phase=%s", kar_qj_phase_name(st->phase));
	put_string(&l, "reason", seen->reason, st->reason);
	put_number(&l, "incarnation", seen->incarnation, st->incarnation);
	put_number(&l, "formed", seen->formed_min_available, st->formed_min_available);
	put_number(&l, "restarts", seen->restarts, st->restarts);
	put_number(&l, "podFailures", seen->pod_failures, st->pod_failures);
	put_number(&l, "disruptions", seen->disruptions, st->disruptions);
	put_number(&l, "backoffSteps", seen->backoff_steps, st->backoff_steps);
	put_number(&l, "counted", (int32_t)seen->counted_pods.n, (int32_t)st->counted_pods.n);
	put_number(&l, "desired", seen->desired, st->desired);
	put_number(&l, "min", seen->min_available, st->min_available);
	put_number(&l, "pending", seen->pending, st->pending);
	put_number(&l, "running", seen->running, st->running);
	put_number(&l, "succeeded", seen->succeeded, st->succeeded);
	put_number(&l, "failed", seen->failed, st->failed);
	put_number(&l, "terminating", seen->terminating, st->terminating);
	put_number(&l, "position", seen->position, st->position);
	put_done(&l, seen, st);
	put_time(&l, "startTime", seen->start_time, st->start_time);
	put_time(&l, "completionTime", seen->completion_time, st->completion_time);
	put_conditions(&l, &seen->conditions, &st->conditions);

	const char *text = kar_arena_strndup(arena, kar_buf_cstr(&l.text), l.text.n);

	kar_buf_release(&l.text);
	return text;
}
