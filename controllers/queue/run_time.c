/* For how long groups may run in their queues, and when they end (decision 126). */
#include "controllers/cluster/asked.h"
#include "controllers/queue/backoffs.h"
#include "controllers/queue/pass.h"

/* Seconds after which it is ended by its own spec; 0: by none. */
static int64_t asked_by(const struct queue_group *qg)
{
	if (qg->workload)
		return qg->workload->run_seconds;
	return qg->suspendable ? qg->suspendable->run_seconds : 0;
}

static const char *time_text(struct kar_arena *a, int64_t seconds)
{
	if (seconds % 3600 == 0)
		return kar_arena_printf(a, "%lld h", (long long)(seconds / 3600));
	if (seconds % 60 == 0)
		return kar_arena_printf(a, "%lld min", (long long)(seconds / 60));
	return kar_arena_printf(a, "%lld s", (long long)seconds);
}

/* Where nobody ends it by the default of the queue, and it could name a time itself, it has to. */
void queue_check_run_time(const struct queue_pass *p, const struct queue_group *qg,
	struct kar_queue_group *in)
{
	const struct kar_run_limits limits = kar_asked_run_limits(p->stores, qg->queue);
	int64_t asked = asked_by(qg);
	bool names_none = !asked && qg->suspendable && qg->suspendable->limits_time;

	if (!limits.most || !(names_none || asked > limits.most))
		return;
	queue_refuse(in, KAR_QR_RUN_TIME_TOO_LONG,
		kar_arena_printf(p->arena, "%s asked, queue %s allows %s",
			asked ? time_text(p->arena, asked) : "no activeDeadlineSeconds", limits.most_of,
			time_text(p->arena, limits.most)));
}

int64_t queue_run_seconds(const struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_run_limits limits = kar_asked_run_limits(p->stores, qg->queue);

	if (!qg->workload)
		return 0; /* nobody would end it */
	return asked_by(qg) ? limits.most : limits.by_default;
}

void queue_observe_end(const struct queue_pass *p, const struct queue_group *qg, struct kar_queue_group *in)
{
	int64_t seconds = asked_by(qg);
	int64_t allowed = qg->admitted ? qg->group->status.run_seconds : queue_run_seconds(p, qg);

	if (!qg->workload && qg->suspendable)
		in->started_at = qg->suspendable->suspended ? 0 : qg->suspendable->started_at;
	if (qg->workload && allowed > 0 && (!seconds || allowed < seconds))
		seconds = allowed;
	in->runs_for = seconds * KAR_SECOND;
	if (in->started_at && seconds > 0)
		in->ends_at = in->started_at + seconds * KAR_SECOND;
}

kar_time queue_grows_at(const struct queue_pass *p, const struct kar_podgroup *g)
{
	kar_time in = 0;

	return p->shared && queue_backoffs_of(p->shared->backoffs, g->o.uid, p->mono, &in) ? p->now + in : 0;
}
