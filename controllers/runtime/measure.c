#include "controllers/runtime/measure.h"

/* As in client-go: 10 ns, and ten times more each. Ours are whole milliseconds. */
const struct kar_buckets kar_buckets_work = { 10, { 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10 } };
const struct kar_buckets kar_buckets_reconcile = { 16,
	{ 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 1, 2.5, 5, 10, 30, 60 } };
const struct kar_buckets kar_buckets_lag = { 10, { 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5 } };

KAR_METRIC_LIST(kar_runtime_metrics, KAR_RUNTIME_METRICS)

static double seconds(kar_time ms)
{
	return (double)ms / KAR_SECOND;
}

static kar_time mono(void *arg)
{
	return kar_loop_mono(((const struct kar_measure *)arg)->loop);
}

static void waited(void *arg, kar_time ms)
{
	const struct kar_measure *c = arg;

	kar_metric_observe(c->metrics, &kar_m_workqueue_queue_duration_seconds, seconds(ms),
		KAR_LABELS(c->name));
}

static void worked(void *arg, kar_time ms)
{
	const struct kar_measure *c = arg;

	kar_metric_observe(c->metrics, &kar_m_workqueue_work_duration_seconds, seconds(ms),
		KAR_LABELS(c->name));
}

void kar_measure_queue(struct kar_workqueue_options *o, struct kar_measure *c)
{
	if (!c->metrics)
		return;
	o->mono = mono;
	o->waited = waited;
	o->worked = worked;
	o->arg = c;
}

/* The words of controller-runtime. */
static const char *result_of(const struct kar_outcome *o, bool requeue)
{
	if (!o)
		return requeue ? "requeue_after" : "success";
	if (o->what == KAR_CONFLICT)
		return "requeue";
	if (o->what != KAR_OK)
		return "error";
	return o->requeue_after == KAR_NEVER ? "success" : "requeue_after";
}

void kar_measure_sync(const struct kar_measure *c, kar_time since, const struct kar_outcome *o, bool requeue)
{
	struct kar_metrics *m = c->metrics;

	kar_metric_add(m, &kar_m_controller_runtime_reconcile_total, 1,
		KAR_LABELS(c->name, result_of(o, requeue)));
	kar_metric_observe(m, &kar_m_controller_runtime_reconcile_time_seconds,
		seconds(kar_loop_mono(c->loop) - since), KAR_LABELS(c->name));
	/* The family exists before the first error, so that a rate sees it. */
	kar_metric_add(m, &kar_m_controller_runtime_reconcile_errors_total,
		o && o->what != KAR_OK && o->what != KAR_CONFLICT, KAR_LABELS(c->name));
}

void kar_measure_collect(const struct kar_measure *c, struct kar_workqueue *q)
{
	struct kar_workqueue_stats s = kar_workqueue_stats(q);
	const char *const *labels = KAR_LABELS(c->name);

	kar_metric_set(c->metrics, &kar_m_workqueue_depth, (double)kar_workqueue_ready(q), labels);
	kar_metric_set(c->metrics, &kar_m_workqueue_adds_total, (double)s.adds, labels);
	kar_metric_set(c->metrics, &kar_m_workqueue_retries_total, (double)s.retries, labels);
	kar_metric_set(c->metrics, &kar_m_workqueue_unfinished_work_seconds, seconds(s.unfinished), labels);
	kar_metric_set(c->metrics, &kar_m_workqueue_longest_running_processor_seconds, seconds(s.longest),
		labels);
}
