#include "controllers/manager.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "api/names.h"
#include "api/types.h"
#include "common/kube/event.h"
#include "common/kube/reflector.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/timefmt.h"
#include "controllers/failure.h"
#include "controllers/node_line.h"
#include "controllers/quota_line.h"
#include "controllers/refusal.h"

enum {
	SLICE_KEYS = 64,      /* keys per turn of the loop */
	STOP_TIMEOUT = 10000, /* ms a graceful stop waits for answers */
	STOP_POLL = 20,       /* ms between two looks at it */
	BACKOFF_CAP = 60000,  /* ms between two tries of a key that fails */
	CONFLICT_RETRY = 50,  /* ms until a key that met a Conflict is decided anew */
	SLOW_TURN = 100,      /* ms of loop lag worth a line */
};

enum {
	PODS,
	QUEUEJOBS,
	PODGROUPS,
	SCHEDULINGSPECS,
	QUEUES,
	PRIORITYCLASSES,
	SERVICES,
	RESOURCEQUOTAS,
	N_TYPES
};
static const struct kar_type *const types[N_TYPES] = {
	[PODS] = &kar_pod_type,
	[QUEUEJOBS] = &kar_queuejob_type,
	[PODGROUPS] = &kar_podgroup_type,
	[SCHEDULINGSPECS] = &kar_schedulingspec_type,
	[QUEUES] = &kar_queue_type,
	[PRIORITYCLASSES] = &kar_priorityclass_type,
	[SERVICES] = &kar_service_type,
	[RESOURCEQUOTAS] = &kar_resourcequota_type,
};

static void (*const controllers[])(struct kar_controller *) = {
	kar_queuejob_controller,
	kar_podgroup_controller,
	kar_queue_controller,
};
enum { N_CONTROLLERS = KAR_LEN(controllers) };

/* What is remembered of one key of one controller. */
struct remembered {
	RB_ENTRY(remembered) link;
	const struct kar_controller *controller;
	struct kar_key_state state;
	char key[];
};
RB_HEAD(memory, remembered);

struct kar_manager {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_manager_options options;
	struct kar_intern *strings;
	struct kar_store *store[N_TYPES];
	struct kar_reflector *reflector[N_TYPES];
	struct kar_stores stores;
	struct kar_recorder *recorder;
	struct kar_executor *executor;
	struct kar_controller controller[N_CONTROLLERS];
	struct memory memory;
	struct kar_timer *work;
	kar_time started;
	size_t synced;
	size_t turn; /* the controller whose turn it is */
	bool stopping;
	struct kar_timer *stop_timer;
	kar_time stop_deadline;
	void (*stopped)(void *arg, bool clean);
	void *stopped_arg;
};

static int compare_remembered(const struct remembered *a, const struct remembered *b)
{
	if (a->controller != b->controller)
		return a->controller < b->controller ? -1 : 1;
	return strcmp(a->key, b->key);
}

RB_GENERATE_INTERNAL(memory, remembered, link, compare_remembered, KAR_UNUSED static)

static struct remembered *new_remembered(const struct kar_controller *c, const char *key)
{
	size_t n = strlen(key) + 1;
	struct remembered *r = kar_xcalloc(1, sizeof(*r) + n);

	r->controller = c;
	memcpy(r->key, key, n);
	return r;
}

static struct kar_key_state *remember(struct kar_manager *m, const struct kar_controller *c, const char *key)
{
	struct remembered *r = new_remembered(c, key);
	struct remembered *known = RB_INSERT(memory, &m->memory, r);

	if (!known)
		return &r->state;
	free(r);
	return &known->state;
}

static void forget(struct kar_manager *m, struct kar_controller *c, struct kar_key_state *state,
	const char *key)
{
	struct remembered *r = kar_container_of(state, struct remembered, state);

	kar_barrier_forget(c->barrier, key);
	kar_workqueue_forget(c->queue, key);
	kar_workqueue_rest(c->queue, key, 0);
	kar_refusal_forget(state);
	if (c->forget)
		c->forget(state);
	RB_REMOVE(memory, &m->memory, r);
	free(r);
}

/* Makes sure that work() runs in the next turn. */
static void poke(struct kar_manager *m)
{
	if (m->synced == N_TYPES && !m->stopping)
		kar_timer_start(m->work, 0);
}

static void on_store_change(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	(void)old;
	(void)new;
	poke(arg);
}

static void free_sync(struct kar_sync *s)
{
	kar_object_unref(s->object);
	kar_arena_release(&s->arena);
	free(s);
}

static void log_plan(const struct kar_sync *s)
{
	struct kar_buf text = { .cap = 16384 };

	if (!kar_log_enabled(4))
		return;
	kar_plan_print(&s->plan, &text);
	kar_info(4, KAR_MSG("Plan"), KAR_S("controller", s->controller->name), KAR_S("key", s->key),
		KAR_S("plan", kar_buf_cstr(&text)));
	kar_buf_release(&text);
}

/* Executor's report: the one place where an outcome becomes "when again". */
static void on_applied(void *arg, struct kar_sync *s, const struct kar_outcome *o)
{
	struct kar_manager *m = arg;
	struct kar_controller *c = s->controller;
	kar_time now = kar_loop_mono(m->loop);

	if (o->what == KAR_OK) {
		if (!s->state->refusal) /* else the failure lasts; its creates are only held back */
			kar_failure_is_over(s->state);
		kar_workqueue_forget(c->queue, s->key);
	} else if (o->what == KAR_CONFLICT) { /* no failure: the winner's version arrives in a moment */
		kar_failure_tell(m->recorder, s, o);
		kar_workqueue_add_at(c->queue, s->key, now + CONFLICT_RETRY);
	} else {
		kar_failure_tell(m->recorder, s, o);
		kar_workqueue_add_rate_limited(c->queue, s->key, now + o->err.retry_after);
	}
	/* "At once" was meant for the case that all goes well. */
	if (o->requeue_after != KAR_NEVER && (o->requeue_after || o->what == KAR_OK))
		kar_workqueue_add_at(c->queue, s->key, now + o->requeue_after);
	kar_workqueue_done(c->queue, s->key);
	free_sync(s);
	poke(m);
}

static void skip(struct kar_manager *m, struct kar_sync *s)
{
	struct kar_controller *c = s->controller;

	if (s->plan.requeue_after == KAR_NEVER)
		forget(m, c, s->state, s->key);
	else
		kar_workqueue_add_at(c->queue, s->key, s->mono + s->plan.requeue_after);
	kar_workqueue_done(c->queue, s->key);
	free_sync(s);
}

/* False: nothing was decided. */
static bool look(struct kar_sync *s)
{
	struct kar_rest *rest = &s->state->rest;
	kar_time left = kar_rest_left(rest, s->mono);

	if (left) {
		kar_plan_requeue(&s->plan, left);
		return false;
	}
	if (!s->controller->sync(s->controller, s))
		return false;
	kar_workqueue_rest(s->controller->queue, s->key, kar_rest_after(rest, s->objects, s->mono));
	return true;
}

static void sync_key(struct kar_manager *m, struct kar_controller *c, const char *key)
{
	struct kar_sync *s = kar_xcalloc(1, sizeof(*s));

	s->controller = c;
	s->key = key;
	s->now = kar_loop_wall(m->loop);
	s->mono = kar_loop_mono(m->loop);
	s->state = remember(m, c, key);
	/* The first write waits like any other that is not urgent: most objects are further by then. */
	if (!s->state->status_written)
		s->state->status_written = s->mono;
	kar_plan_init(&s->plan, &s->arena);
	if (!look(s)) {
		skip(m, s);
		return;
	}
	kar_refusal_hold_creates(s);
	log_plan(s);
	kar_executor_start(m->executor, s);
}

/* One key of the next controller that has one. */
static bool sync_one(struct kar_manager *m, kar_time now)
{
	for (size_t i = 0; i < N_CONTROLLERS; i++) {
		struct kar_controller *c = &m->controller[(m->turn + i) % N_CONTROLLERS];
		const char *key = kar_workqueue_take(c->queue, now);

		if (!key)
			continue;
		m->turn = (m->turn + i + 1) % N_CONTROLLERS;
		sync_key(m, c, key);
		return true;
	}
	return false;
}

static void arm(struct kar_manager *m, kar_time now)
{
	kar_time next = KAR_NEVER;

	for (size_t i = 0; i < N_CONTROLLERS; i++) {
		kar_time t = kar_workqueue_next(m->controller[i].queue, now);

		if (t < next)
			next = t;
	}
	if (next == KAR_NEVER)
		return;
	if (next > now)
		kar_timer_start_slack(m->work, next - now);
	else
		kar_timer_start(m->work, 0);
}

static void work(void *arg)
{
	struct kar_manager *m = arg;
	kar_time now = kar_loop_mono(m->loop);
	kar_time lag = kar_loop_take_lag(m->loop);
	int keys = 0;

	if (m->stopping)
		return;
	if (lag >= SLOW_TURN)
		kar_info(2, KAR_MSG("Slow turn of the loop"), KAR_I("lag_ms", lag));
	while (keys < SLICE_KEYS && sync_one(m, now))
		keys++;
	arm(m, now);
}

static void on_synced(void *arg)
{
	struct kar_manager *m = arg;
	char took[KAR_TIME_LEN];

	if (++m->synced < N_TYPES)
		return;
	kar_duration_format(kar_loop_mono(m->loop) - m->started, took);
	kar_info(0, KAR_MSG("Caches synced, starting the controllers"), KAR_S("duration", took),
		KAR_I("pods", (int64_t)kar_store_count(m->stores.pods)),
		KAR_I("queuejobs", (int64_t)kar_store_count(m->stores.queuejobs)));
	poke(m);
}

/* What a person can do about a list that fails. */
static const char *remedy(const struct kar_resource *res, const struct kar_err *err)
{
	if (err->what == KAR_NOTFOUND && strcmp(res->group, "scheduling.k8s.io"))
		return "the CustomResourceDefinition is not installed: kubectl apply -f manifests/crds/; waiting for it";
	if (err->what == KAR_DENIED)
		return "grant get, list and watch on this resource: kubectl apply -f manifests/rbac.yaml; waiting for it";
	if (err->what == KAR_UNAUTHORIZED)
		return "the credentials are not accepted: check the token or certificate in the kubeconfig; trying again";
	return "trying again";
}

static void on_trouble(void *arg, const struct kar_reflector *r, const struct kar_err *err)
{
	const struct kar_resource *res = &kar_store_type(kar_reflector_store(r))->res;

	(void)arg;
	if (!err)
		kar_info(0, KAR_MSG("Resource is readable again"), KAR_S("resource", res->plural),
			KAR_S("group", res->group));
	else
		kar_error(KAR_MSG("Cannot list or watch a resource"), KAR_S("resource", res->plural),
			KAR_S("group", res->group), KAR_S("err", err->msg),
			KAR_S("remedy", remedy(res, err)));
}

static void new_caches(struct kar_manager *m)
{
	m->strings = kar_intern_new();
	for (size_t i = 0; i < N_TYPES; i++) {
		const struct kar_reflector_options o = {
			.ns = types[i]->res.namespaced ? m->options.ns : NULL,
			.label_selector =
				i == SERVICES ? KAR_LABEL_QUEUEJOB : NULL, /* ours only: there may be many */
			.seed = m->options.settings.seed + i,
			.on_synced = on_synced,
			.on_trouble = on_trouble,
			.arg = m,
		};

		m->store[i] = kar_store_new(types[i], m->strings);
		m->reflector[i] = kar_reflector_new(m->loop, m->client, m->store[i], &o);
	}
	m->stores = (struct kar_stores){
		.pods = m->store[PODS],
		.queuejobs = m->store[QUEUEJOBS],
		.podgroups = m->store[PODGROUPS],
		.schedulingspecs = m->store[SCHEDULINGSPECS],
		.queues = m->store[QUEUES],
		.priorityclasses = m->store[PRIORITYCLASSES],
		.services = m->store[SERVICES],
		.resourcequotas = m->store[RESOURCEQUOTAS],
	};
}

static void new_controllers(struct kar_manager *m)
{
	const struct kar_workqueue_options o = { .backoff_cap = BACKOFF_CAP,
		.seed = m->options.settings.seed };

	for (size_t i = 0; i < N_CONTROLLERS; i++) {
		struct kar_controller *c = &m->controller[i];

		c->stores = &m->stores;
		c->settings = &m->options.settings;
		c->queue = kar_workqueue_new(&o);
		c->barrier = kar_barrier_new();
		c->line = kar_quota_line_new(c->queue);
		c->nodes = kar_node_line_new(c->queue);
		controllers[i](c);
		c->start(c);
	}
	/* Last, so that the keys of a change are in the queues when it is heard here. */
	for (size_t i = 0; i < N_TYPES; i++)
		kar_store_listen(m->store[i], on_store_change, m);
}

struct kar_manager *kar_manager_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_manager_options *o)
{
	struct kar_manager *m = kar_xcalloc(1, sizeof(*m));

	m->loop = l;
	m->client = client;
	m->options = *o;
	RB_INIT(&m->memory);
	m->work = kar_timer_new(l, work, m);
	new_caches(m);
	m->recorder = kar_recorder_new(l, client, "kar-controllers", o->instance, o->settings.seed);
	m->executor = kar_executor_new(l, client, m->recorder, &o->executor, on_applied, m);
	new_controllers(m);
	return m;
}

void kar_manager_start(struct kar_manager *m)
{
	m->started = kar_loop_mono(m->loop);
	for (size_t i = 0; i < N_TYPES; i++)
		kar_reflector_start(m->reflector[i]);
}

static void check_stopped(void *arg)
{
	struct kar_manager *m = arg;
	size_t open = kar_executor_in_flight(m->executor) + kar_recorder_pending(m->recorder);

	if (open && kar_loop_mono(m->loop) < m->stop_deadline) {
		kar_timer_start(m->stop_timer, STOP_POLL);
		return;
	}
	if (open)
		kar_warn(KAR_MSG("Stopping although writes were not answered"), KAR_I("open", (int64_t)open));
	m->stopped(m->stopped_arg, open == 0);
}

void kar_manager_stop(struct kar_manager *m, void (*stopped)(void *arg, bool clean), void *arg)
{
	if (m->stopping)
		return;
	m->stopping = true;
	m->stopped = stopped;
	m->stopped_arg = arg;
	m->stop_deadline = kar_loop_mono(m->loop) + STOP_TIMEOUT;
	m->stop_timer = kar_timer_new(m->loop, check_stopped, m);
	kar_executor_drain(m->executor);
	kar_timer_start(m->stop_timer, 0);
}

static void free_memory(struct kar_manager *m)
{
	struct remembered *r;

	while ((r = RB_MIN(memory, &m->memory)) != NULL) {
		kar_refusal_forget(&r->state);
		if (r->controller->forget)
			r->controller->forget(&r->state);
		RB_REMOVE(memory, &m->memory, r);
		free(r);
	}
}

void kar_manager_free(struct kar_manager *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < N_TYPES; i++)
		kar_reflector_free(m->reflector[i]);
	kar_recorder_free(m->recorder);
	kar_executor_free(m->executor);
	free_memory(m);
	for (size_t i = 0; i < N_CONTROLLERS; i++) {
		kar_quota_line_free(m->controller[i].line);
		kar_node_line_free(m->controller[i].nodes);
		kar_workqueue_free(m->controller[i].queue);
		kar_barrier_free(m->controller[i].barrier);
	}
	for (size_t i = 0; i < N_TYPES; i++)
		kar_store_free(m->store[i]);
	kar_intern_free(m->strings);
	kar_timer_free(m->work);
	kar_timer_free(m->stop_timer);
	free(m);
}
