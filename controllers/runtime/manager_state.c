#include "controllers/runtime/manager_state.h"

#include "common/kube/reflector.h"
#include "controllers/runtime/measure.h"
#include "controllers/runtime/trouble.h"

/* A readiness probe must not fail for a lost connection, which is found and repaired within seconds. */
static const kar_time FAILING_MAX = KAR_MINUTE;

static const char *kind_of(const struct kar_manager_parts *p, size_t i)
{
	return kar_store_type(p->options->caches[i].store)->res.kind;
}

static kar_time failing(const struct kar_manager_parts *p, size_t i)
{
	return kar_trouble_lasts(p->trouble, i, kar_loop_mono(p->loop));
}

static size_t count_unreadable(const struct kar_store *store)
{
	const struct kar_object *o;
	size_t n = 0;

	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);)
		n += o->unreadable;
	return n;
}

static void collect_cache(const struct kar_manager_parts *p, size_t i)
{
	struct kar_metrics *m = p->options->metrics;
	const struct kar_reflector_stats s = kar_reflector_stats(p->reflectors[i]);
	const char *const *labels = KAR_LABELS(kind_of(p, i));

	kar_metric_set(m, &kar_m_kar_informer_objects, (double)kar_store_count(p->options->caches[i].store),
		labels);
	kar_metric_set(m, &kar_m_kar_informer_relists_total, s.lists ? (double)(s.lists - 1) : 0, labels);
	kar_metric_set(m, &kar_m_kar_informer_undecodable_total, (double)(s.unreadable + s.parse_errors),
		labels);
	kar_metric_set(m, &kar_m_kar_informer_unreadable_objects,
		(double)count_unreadable(p->options->caches[i].store), labels);
	kar_metric_set(m, &kar_m_kar_informer_failing_seconds, (double)failing(p, i) / KAR_SECOND, labels);
}

void kar_manager_collect(const struct kar_manager *m)
{
	const struct kar_manager_parts p = kar_manager_parts(m);

	for (size_t i = 0; i < p.options->n_caches; i++)
		collect_cache(&p, i);
	for (size_t i = 0; i < p.options->n_controllers; i++)
		kar_measure_collect(&p.measures[i], p.controllers[i].queue);
	kar_metric_set(p.options->metrics, &kar_m_kar_caches_synced, p.synced, NULL);
	kar_metric_set(p.options->metrics, &kar_m_kar_writes_in_flight,
		(double)kar_executor_in_flight(p.executor), NULL);
}

bool kar_manager_synced(const struct kar_manager *m)
{
	return kar_manager_parts(m).synced;
}

bool kar_manager_informed(const struct kar_manager *m)
{
	const struct kar_manager_parts p = kar_manager_parts(m);

	for (size_t i = 0; i < p.options->n_caches; i++) {
		if (failing(&p, i) > FAILING_MAX)
			return false;
	}
	return true;
}

static void print_controller(const struct kar_controller *c, struct kar_json_writer *w)
{
	const struct kar_workqueue_stats s = kar_workqueue_stats(c->queue);

	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", c->name);
	kar_jw_kv_int(w, "ready", (int64_t)kar_workqueue_ready(c->queue));
	kar_jw_kv_int(w, "syncing", (int64_t)kar_workqueue_processing(c->queue));
	kar_jw_kv_int(w, "adds", (int64_t)s.adds);
	kar_jw_kv_int(w, "retries", (int64_t)s.retries);
	kar_jw_kv_int(w, "longestMs", s.longest);
	kar_jw_end_object(w);
}

static void print_cache(const struct kar_manager_parts *p, size_t i, struct kar_json_writer *w)
{
	const struct kar_store *store = p->options->caches[i].store;
	const struct kar_reflector_stats s = kar_reflector_stats(p->reflectors[i]);
	const struct kar_err *trouble = kar_reflector_trouble(p->reflectors[i]);

	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "kind", kind_of(p, i));
	kar_jw_kv_bool(w, "synced", kar_store_synced(store));
	kar_jw_kv_int(w, "objects", (int64_t)kar_store_count(store));
	kar_jw_kv_int(w, "lists", (int64_t)s.lists);
	kar_jw_kv_int(w, "watches", (int64_t)s.watches);
	kar_jw_kv_int(w, "events", (int64_t)s.events);
	kar_jw_kv_int(w, "undecodable", (int64_t)(s.unreadable + s.parse_errors));
	if (trouble)
		kar_jw_kv_string(w, "trouble", trouble->msg);
	kar_jw_kv_int(w, "failingMs", failing(p, i));
	kar_jw_end_object(w);
}

void kar_manager_print(const struct kar_manager *m, struct kar_json_writer *w)
{
	const struct kar_manager_parts p = kar_manager_parts(m);

	kar_jw_key(w, "controllers");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < p.options->n_controllers; i++)
		print_controller(&p.controllers[i], w);
	kar_jw_end_array(w);
	kar_jw_key(w, "caches");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < p.options->n_caches; i++)
		print_cache(&p, i, w);
	kar_jw_end_array(w);
	kar_jw_kv_int(w, "writesInFlight", (int64_t)kar_executor_in_flight(p.executor));
}
