/*
 * Containers that fail and are restarted in place by the kubelet (restartPolicy OnFailure), and containers that have ended for good
 * beside others that run. No pod is lost by that, so losses.c does not see it. Everything is derived from the pods, and nothing is
 * recorded.
 */
#include "controllers/queuejob/reconcile.h"

/*
 * A container that has run for so long without a failure no longer crashes; the kubelet forgets its back-off then too. Before
 * that, a crash loop that runs for a moment between two failures must not appear and vanish in the status each time.
 */
static const kar_time RUNS_WELL = 10 * KAR_MINUTE;

/* The containers of a pod often end one after the other. A container that has ended for so long beside another one is said. */
static const kar_time ENDS_TOGETHER = 2 * KAR_SECOND;

/* A pod, and its container that crashes or has ended. */
struct crash {
	const struct kar_pod *pod; /* NULL: there is none; then .of is NULL too */
	const struct kar_pod_trouble *of;
};

struct crashes {
	struct crash first; /* in the order of indexes, that has not run well since */
	struct crash last;  /* the latest failure, however long ago */
	int32_t n;          /* pods that crash */
	int64_t restarts;   /* that count against backoffLimit */
	kar_time quiet_in;  /* ms until one of them has run well; KAR_NEVER: it depends on the kubelet */
};

static void add_crash(const struct queuejob_reconcile *r, struct crashes *c, struct crash crash)
{
	kar_time left = crash.of->since ? crash.of->since + RUNS_WELL - r->f->now : KAR_NEVER;

	if (!c->last.of || crash.of->ended > c->last.of->ended)
		c->last = crash;
	if (left <= 0)
		return;
	if (!c->n++)
		c->first = crash;
	c->quiet_in = left < c->quiet_in ? left : c->quiet_in;
}

static void add(const struct queuejob_reconcile *r, struct crashes *c, const struct kar_pod *pod)
{
	struct crash crash = { .pod = pod, .of = kar_pod_crashes(pod) };

	c->restarts += kar_pod_loss_of(pod)->restarts;
	if (crash.of)
		add_crash(r, c, crash);
}

static struct crashes count(const struct queuejob_reconcile *r)
{
	struct crashes c = { .quiet_in = KAR_NEVER };

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			const struct podset_slot *slot = &task->slots[k];

			if (slot->state == PODSET_PENDING || slot->state == PODSET_RUNNING)
				add(r, &c, slot->pod);
		}
	}
	return c;
}

/*
 * "container main of j-w-0 on node n1: exit code 1 (Error)". @words: its last ones, which may differ from crash to crash; NULL: they
 * are left out.
 */
static const char *describe(const struct queuejob_reconcile *r, const struct crash *c, const char *words)
{
	return kar_arena_printf(r->arena, "container %s of %s%s%s: %s",
		c->of->container ? c->of->container : "?", c->pod->o.name, c->pod->node ? " on node " : "",
		c->pod->node ? c->pod->node : "",
		queuejob_describe_exit(r, c->of->code, c->of->reason, words));
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

bool queuejob_over_restart_limit(struct queuejob_reconcile *r)
{
	int64_t restarts = count(r).restarts;
	int32_t limit = r->f->job->spec.backoff_limit;

	return !r->f->job->spec.per_index && restarts > 0 && restarts >= limit;
}

void queuejob_fail_restarts(struct queuejob_reconcile *r)
{
	struct crashes c = count(r);

	queuejob_fail(r, kar_reason_BackoffLimitExceeded,
		kar_arena_printf(r->arena, "%lld container restart%s, backoffLimit is %d%s%s",
			(long long)c.restarts, plural(c.restarts), (int)r->f->job->spec.backoff_limit,
			c.last.of ? "; last: " : "",
			c.last.of ? describe(r, &c.last, c.last.of->message) : ""));
}

void queuejob_report_crashes(struct queuejob_reconcile *r)
{
	struct crashes c = count(r);

	if (!c.first.of)
		return;
	if (c.quiet_in != KAR_NEVER)
		kar_plan_requeue(r->p, c.quiet_in);

	queuejob_report(r, kar_reason_ContainerWaiting, "%d of %s crash%s: %s, %d restart%s", (int)c.n,
		queuejob_count_pods(r, queuejob_desired(r)), c.n == 1 ? "es" : "",
		describe(r, &c.first, NULL), (int)c.first.of->restarts, plural(c.first.of->restarts));
}

/* --- containers that have ended beside others ------------------------------------------------------- */

/* Pods that run on without one of their containers. */
struct half_ended {
	struct crash first; /* in the order of indexes */
	int32_t n;
};

static void add_half_ended(struct queuejob_reconcile *r, struct half_ended *h, const struct kar_pod *pod)
{
	const struct kar_pod_trouble *ended = kar_pod_half_ended(pod);
	kar_time left = ended ? ended->ended + ENDS_TOGETHER - r->f->now : 0;

	if (!ended)
		return;
	if (left > 0 && left <= ENDS_TOGETHER) {
		kar_plan_requeue(r->p, left);
		return;
	}
	if (!h->n++)
		h->first = (struct crash){ .pod = pod, .of = ended };
}

void queuejob_report_half_ended(struct queuejob_reconcile *r)
{
	struct half_ended h = { 0 };

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			if (task->slots[k].state == PODSET_RUNNING)
				add_half_ended(r, &h, task->slots[k].pod);
		}
	}
	if (!h.n)
		return;
	queuejob_report(r, kar_reason_ContainerEnded,
		"%d of %s run%s on without a container that has ended: %s, while container %s runs", (int)h.n,
		queuejob_count_pods(r, queuejob_desired(r)), h.n == 1 ? "s" : "",
		describe(r, &h.first, h.first.of->message), h.first.of->beside);
	queuejob_warn_once(r, kar_reason_ContainerEnded, "RunPods");
}
