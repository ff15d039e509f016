#include "controllers/runtime/manager.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/kube/event.h"
#include "common/kube/probe.h"
#include "common/kube/reflector.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "controllers/runtime/failure.h"
#include "controllers/runtime/measure.h"
#include "controllers/runtime/create_backoff.h"
#include "controllers/runtime/trouble.h"

enum {
	SLICE_KEYS = 64,     /* keys per turn of the loop */
	STOP_TIMEOUT = 3000, /* ms a graceful stop waits for answers, */
	STOP_EVENTS = 1000,  /* and for events: a successor waits meanwhile */
	STOP_POLL = 20,      /* ms between two checks whether all are there */
	BACKOFF_CAP = 60000, /* ms between two tries of a key that fails */
	CONFLICT_RETRY = 50, /* ms until a key that met a Conflict is synced again */
	SLOW_TURN = 100,     /* ms of loop lag worth a line */
};

/* The memory about one key of one controller. */
struct remembered {
	RB_ENTRY(remembered) link;
	struct kar_controller *controller;
	struct kar_key_state state;
	char key[];
};
RB_HEAD(memory, remembered);

struct kar_manager {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_manager_options options;
	struct kar_reflector *reflector[KAR_MANAGER_CACHES];
	struct kar_trouble *trouble;
	struct kar_probe *probe;
	struct kar_recorder *recorder;
	struct kar_executor *executor;
	struct kar_controller controller[KAR_MANAGER_CONTROLLERS];
	struct kar_measure measure[KAR_MANAGER_CONTROLLERS];
	struct memory memory;
	struct kar_timer *work;
	kar_time started;
	bool absent[KAR_MANAGER_CACHES]; /* it is optional, and its first list was refused */
	bool synced;                     /* the first list of each cache is in, or it is absent */
	size_t turn;                     /* the controller whose turn it is */
	bool leading;                    /* false only while it is a candidate */
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

static struct remembered *new_remembered(struct kar_controller *c, const char *key)
{
	size_t n = strlen(key) + 1;
	struct remembered *r = kar_xcalloc(1, sizeof(*r) + n);

	r->controller = c;
	memcpy(r->key, key, n);
	return r;
}

static void free_remembered(struct remembered *r)
{
	kar_create_backoff_forget(r->controller, &r->state);
	if (r->controller->forget && r->state.memory)
		r->controller->forget(r->state.memory);
	free(r->state.memory);
	free(r);
}

static struct kar_key_state *remember(struct kar_manager *m, struct kar_controller *c, const char *key)
{
	struct remembered *r = new_remembered(c, key);
	struct remembered *known = RB_INSERT(memory, &m->memory, r);

	if (known) {
		free(r);
		return &known->state;
	}
	if (c->memory_size)
		r->state.memory = kar_xcalloc(1, c->memory_size);
	return &r->state;
}

static void forget(struct kar_manager *m, struct kar_controller *c, struct kar_key_state *state,
	const char *key)
{
	struct remembered *r = kar_container_of(state, struct remembered, state);

	kar_barrier_forget(c->barrier, key);
	kar_workqueue_forget(c->queue, key);
	kar_workqueue_cool_down(c->queue, key, 0);
	RB_REMOVE(memory, &m->memory, r);
	free_remembered(r);
}

/* Makes sure that work() runs in the next turn. */
static void poke(struct kar_manager *m)
{
	if (m->synced && m->leading && !m->stopping)
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

static const struct kar_measure *measure_of(const struct kar_manager *m, const struct kar_controller *c)
{
	return &m->measure[c - m->controller];
}

/* Called by the executor: the only place where an outcome decides when the key is synced again. */
static void on_applied(void *arg, struct kar_sync *s, const struct kar_outcome *o)
{
	struct kar_manager *m = arg;
	struct kar_controller *c = s->controller;
	kar_time now = kar_loop_mono(m->loop);

	if (o->what == KAR_OK) {
		/* A write that is held back may still fail again. */
		if (!s->state->backoff && !o->status_waits)
			kar_failure_is_over(s->state);
		if (!o->status_waits)
			kar_workqueue_forget(c->queue, s->key);
	} else if (o->what == KAR_CONFLICT) { /* no failure: the newer version arrives in a moment */
		kar_failure_report(m->recorder, s, o, kar_trouble_is_outage(m->trouble));
		kar_workqueue_add_at(c->queue, s->key, now + CONFLICT_RETRY);
	} else {
		kar_failure_report(m->recorder, s, o, kar_trouble_is_outage(m->trouble));
		kar_workqueue_add_rate_limited(c->queue, s->key, now + o->err.retry_after);
	}
	kar_measure_sync(measure_of(m, c), s->mono, o, false);
	/* 0 asks for another sync at once, but only after a success. */
	if (o->requeue_after != KAR_NEVER && (o->requeue_after || o->what == KAR_OK))
		kar_workqueue_add_at(c->queue, s->key, now + o->requeue_after);
	kar_workqueue_done(c->queue, s->key);
	free_sync(s);
	poke(m);
}

static void skip(struct kar_manager *m, struct kar_sync *s)
{
	struct kar_controller *c = s->controller;

	kar_measure_sync(measure_of(m, c), s->mono, NULL, s->plan.requeue_after != KAR_NEVER);
	if (s->plan.requeue_after == KAR_NEVER)
		forget(m, c, s->state, s->key);
	else
		kar_workqueue_add_at(c->queue, s->key, s->mono + s->plan.requeue_after);
	kar_workqueue_done(c->queue, s->key);
	free_sync(s);
}

/* False: nothing was decided. */
static bool decide(struct kar_sync *s)
{
	struct kar_cooldown *cooldown = &s->state->cooldown;
	kar_time left = kar_cooldown_left(cooldown, s->mono);

	if (left) {
		kar_plan_requeue(&s->plan, left);
		return false;
	}
	if (!s->controller->sync(s->controller, s))
		return false;
	kar_workqueue_cool_down(s->controller->queue, s->key,
		kar_cooldown_after(cooldown, s->objects, s->mono));
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
	/* The first write waits like any other that is not urgent: most objects have moved on by then. */
	if (!s->state->status_written)
		s->state->status_written = s->mono;
	kar_plan_init(&s->plan, &s->arena);
	if (!decide(s)) {
		skip(m, s);
		return;
	}
	kar_create_backoff_hold_creates(s);
	log_plan(s);
	kar_executor_start(m->executor, s);
}

/* One key of the next controller that has one. */
static bool sync_one(struct kar_manager *m, kar_time now)
{
	for (size_t i = 0; i < m->options.n_controllers; i++) {
		struct kar_controller *c = &m->controller[(m->turn + i) % m->options.n_controllers];
		const char *key = kar_workqueue_take(c->queue, now);

		if (!key)
			continue;
		m->turn = (m->turn + i + 1) % m->options.n_controllers;
		sync_key(m, c, key);
		return true;
	}
	return false;
}

static void arm(struct kar_manager *m, kar_time now)
{
	kar_time next = KAR_NEVER;

	for (size_t i = 0; i < m->options.n_controllers; i++) {
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
	kar_metric_observe(m->options.metrics, &kar_m_kar_loop_lag_seconds, (double)lag / KAR_SECOND, NULL);
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
	size_t objects = 0;

	for (size_t i = 0; i < m->options.n_caches; i++) {
		if (!kar_reflector_synced(m->reflector[i]) && !m->absent[i])
			return;
		objects += kar_store_count(m->options.caches[i].store);
	}
	if (m->synced) /* what was absent is there now */
		return;
	m->synced = true;
	kar_duration_format(kar_loop_mono(m->loop) - m->started, took);
	kar_info(0, KAR_MSG("Caches synced"), KAR_S("duration", took), KAR_I("objects", (int64_t)objects));
	if (m->options.ready)
		m->options.ready(m->options.arg);
	poke(m);
}

static size_t number_of(const struct kar_manager *m, const struct kar_reflector *r)
{
	size_t i = 0;

	while (m->reflector[i] != r)
		i++;
	return i;
}

/* The reflector goes on asking now and then: the cluster may be upgraded. */
static void skip_optional(struct kar_manager *m, size_t i, const struct kar_err *err)
{
	const struct kar_resource *res = &kar_store_type(m->options.caches[i].store)->res;

	if (m->absent[i])
		return;
	m->absent[i] = true;
	kar_info(m->options.caches[i].rare ? 1 : 0, KAR_MSG("Going on without a resource"),
		KAR_S("resource", res->plural), KAR_S("group", res->group), KAR_S("err", err->msg),
		KAR_S_IF("consequence", m->options.caches[i].if_missing));
	on_synced(m);
}

static void on_trouble(void *arg, const struct kar_reflector *r, const struct kar_err *err)
{
	struct kar_manager *m = arg;
	bool refused = err && (err->what == KAR_NOTFOUND || err->what == KAR_DENIED);

	if (refused && m->options.caches[number_of(m, r)].optional) {
		/* It has answered: a cache that stays away may not keep the log from saying that the API server is back. */
		kar_trouble_over(m->trouble, number_of(m, r), kar_loop_mono(m->loop));
		skip_optional(m, number_of(m, r), err);
		return;
	}
	if (err)
		kar_trouble_failed(m->trouble, number_of(m, r), err, kar_loop_mono(m->loop));
	else
		kar_trouble_over(m->trouble, number_of(m, r), kar_loop_mono(m->loop));
	if (kar_trouble_is_unreachable(m->trouble))
		kar_probe_start(m->probe);
}

static void on_answer(void *arg, const struct kar_reflector *r)
{
	struct kar_manager *m = arg;

	kar_trouble_answered(m->trouble, number_of(m, r), kar_loop_mono(m->loop));
}

/* A cache that the server has answered with a refusal while it started waits as well: the probe runs until the server is ready. */
static void on_ready(void *arg)
{
	struct kar_manager *m = arg;

	for (size_t i = 0; i < m->options.n_caches; i++)
		kar_reflector_retry(m->reflector[i]);
	if (!kar_trouble_is_unreachable(m->trouble))
		kar_probe_stop(m->probe);
}

static void on_unreadable(void *arg, const struct kar_object *o, const char *problem)
{
	kar_failure_unreadable(((const struct kar_manager *)arg)->recorder, o, problem);
}

static void new_reflectors(struct kar_manager *m)
{
	char *own = m->options.ns ? kar_xasprintf("metadata.name=%s", m->options.ns) : NULL;

	for (size_t i = 0; i < m->options.n_caches; i++) {
		struct kar_store *store = m->options.caches[i].store;
		const struct kar_reflector_options o = {
			.ns = kar_store_type(store)->res.namespaced ? m->options.ns : NULL,
			.label_selector = m->options.caches[i].label_selector,
			.field_selector = m->options.caches[i].of_own_namespace ? own : NULL,
			.seed = m->options.seed + i,
			.on_synced = on_synced,
			.on_trouble = on_trouble,
			.on_answer = on_answer,
			.on_unreadable = on_unreadable,
			.arg = m,
		};

		m->reflector[i] = kar_reflector_new(m->loop, m->client, store, &o);
	}
	free(own);
}

static void new_controllers(struct kar_manager *m)
{
	struct kar_workqueue_options o = { .backoff_cap = BACKOFF_CAP, .seed = m->options.seed };

	for (size_t i = 0; i < m->options.n_controllers; i++) {
		struct kar_controller *c = &m->controller[i];

		m->measure[i] = (struct kar_measure){ .loop = m->loop, .metrics = m->options.metrics };
		kar_measure_queue(&o, &m->measure[i]);
		c->metrics = m->options.metrics;
		c->stores = m->options.stores;
		c->settings = m->options.settings;
		c->queue = kar_workqueue_new(&o);
		c->barrier = kar_barrier_new();
		m->options.controllers[i](c);
		m->measure[i].name = c->name;
		c->start(c);
	}
	/* Last, so that the keys of a change are in the queues when on_store_change() is called. */
	for (size_t i = 0; i < m->options.n_caches; i++)
		kar_store_listen(m->options.caches[i].store, on_store_change, m);
}

struct kar_manager *kar_manager_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_manager_options *o)
{
	struct kar_manager *m = kar_xcalloc(1, sizeof(*m));

	m->loop = l;
	m->client = client;
	assert(o->n_caches <= KAR_MANAGER_CACHES && o->n_controllers <= KAR_MANAGER_CONTROLLERS);
	m->options = *o;
	m->leading = !o->candidate;
	RB_INIT(&m->memory);
	m->work = kar_timer_new(l, work, m);
	m->trouble = kar_trouble_new(&m->options);
	m->probe = kar_probe_new(l, client, o->seed, on_ready, m);
	new_reflectors(m);
	m->recorder = kar_recorder_new(l, client, "kar-controllers", o->instance, o->seed);
	m->executor = kar_executor_new(l, client, m->recorder, &o->executor, on_applied, m);
	new_controllers(m);
	return m;
}

static void start_reflectors(struct kar_manager *m)
{
	for (size_t i = 0; i < m->options.n_caches; i++) {
		m->absent[i] = m->options.ns && m->options.caches[i].optional;
		if (!m->absent[i])
			kar_reflector_start(m->reflector[i]);
	}
}

void kar_manager_start(struct kar_manager *m)
{
	m->started = kar_loop_mono(m->loop);
	start_reflectors(m);
}

void kar_manager_lead(struct kar_manager *m)
{
	m->leading = true;
	poke(m);
}

/* Events only tell what the objects show as well: those that are left do not make the end a failure. */
static void check_stopped(void *arg)
{
	struct kar_manager *m = arg;
	size_t open = kar_executor_in_flight(m->executor), events = kar_recorder_pending(m->recorder);
	kar_time left = m->stop_deadline - kar_loop_mono(m->loop);

	if ((open && left > 0) || (events && left > STOP_TIMEOUT - STOP_EVENTS)) {
		kar_timer_start(m->stop_timer, STOP_POLL);
		return;
	}
	if (open)
		kar_warn(KAR_MSG("Stopping although writes were not answered"), KAR_I("open", (int64_t)open));
	if (events)
		kar_info(0, KAR_MSG("Stopping without the last events"), KAR_I("events", (int64_t)events));
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
		RB_REMOVE(memory, &m->memory, r);
		free_remembered(r);
	}
}

static void free_controllers(struct kar_manager *m)
{
	free_memory(m);
	for (size_t i = 0; i < m->options.n_controllers; i++) {
		struct kar_controller *c = &m->controller[i];

		if (c->stop)
			c->stop(c);
		kar_workqueue_free(c->queue);
		kar_barrier_free(c->barrier);
	}
}

void kar_manager_free(struct kar_manager *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->options.n_caches; i++)
		kar_reflector_free(m->reflector[i]);
	kar_trouble_free(m->trouble);
	kar_probe_free(m->probe);
	kar_recorder_free(m->recorder);
	kar_executor_free(m->executor);
	free_controllers(m);
	kar_timer_free(m->work);
	kar_timer_free(m->stop_timer);
	if (m->options.release)
		m->options.release(m->options.arg);
	free(m);
}

struct kar_manager_parts kar_manager_parts(const struct kar_manager *m)
{
	return (struct kar_manager_parts){ .loop = m->loop,
		.options = &m->options,
		.reflectors = m->reflector,
		.trouble = m->trouble,
		.executor = m->executor,
		.controllers = m->controller,
		.measures = m->measure,
		.synced = m->synced };
}
