/* The cached part of a pod that is lost or stuck, or restarts a container, and its texts. */
#include "api/pod/pod_wire.h"

#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "common/base/text.h"

const char *pod_wire_name(struct kar_intern *strings, const char *name)
{
	return kar_intern_fit(strings, name, KAR_POD_OTHER_NAME_BYTES);
}

const char *pod_wire_reason(struct kar_intern *strings, const char *reason)
{
	return kar_intern_fit(strings, reason, KAR_POD_REASON_BYTES);
}

/* One line of what a kubelet or a container says. */
static const char *words(struct kar_intern *strings, const char *message)
{
	char text[KAR_POD_WORDS_BYTES];

	kar_text_clean(text, sizeof(text), message ? message : "");
	return kar_intern_get(strings, text);
}

enum kar_pod_phase pod_wire_phase(const char *name)
{
	if (kar_streq(name, "Running"))
		return KAR_POD_RUNNING;
	if (kar_streq(name, "Succeeded"))
		return KAR_POD_SUCCEEDED;
	if (kar_streq(name, "Failed"))
		return KAR_POD_FAILED;
	if (kar_streq(name, "Unknown"))
		return KAR_POD_UNKNOWN;
	return KAR_POD_PENDING;
}

static const struct pod_wire_asking *find_spec(const struct kar_array *containers, const char *name)
{
	const struct pod_wire_asking *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		if (kar_streq(c[i].name, name))
			return &c[i];
	}
	return NULL;
}

/*
 * A native sidecar: an init container with restartPolicy Always. The kubelet restarts it, and kills it when the work has ended, so its
 * exit code says nothing about the work. @name: of a container with a status in initContainerStatuses.
 */
static bool is_sidecar(const struct pod_wire *w, const char *name)
{
	const struct pod_wire_asking *c = find_spec(&w->spec.init_containers, name);

	return c && kar_streq(c->restart_policy, "Always");
}

static const struct pod_wire_terminated *earlier_failure(const struct pod_wire *w,
	const struct kar_array *containers, const struct pod_wire_terminated *first)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const struct pod_wire_terminated *t = c[i].state.terminated;

		if (t && t->exit_code != 0 && !is_sidecar(w, c[i].name) &&
			(!first || t->finished < first->finished))
			first = t;
	}
	return first;
}

/* The one that failed first is the cause; the others were killed because of it. */
static const struct pod_wire_terminated *first_failure(const struct pod_wire *w)
{
	return earlier_failure(w, &w->status.containers,
		earlier_failure(w, &w->status.init_containers, NULL));
}

static bool is_lost(const struct pod_wire *w)
{
	enum kar_pod_phase phase = pod_wire_phase(w->status.phase);

	return phase == KAR_POD_FAILED || (w->head.meta.deletion && phase != KAR_POD_SUCCEEDED);
}

/* When the deletion was requested. A container that ends later was stopped by the deletion, so its exit code is no failure. */
static kar_time deletion_requested(const struct kar_wire_meta *m)
{
	if (!m->deletion)
		return KAR_NEVER;
	return m->deletion - kar_clamp(m->deletion_grace, 0, INT32_MAX) * KAR_SECOND;
}

/* If the kubelet cannot find a container when it stops the pod, it reports an exit code without a time. */
static bool failed_by_itself(const struct pod_wire_terminated *t, kar_time before)
{
	return t && t->exit_code != 0 && (before == KAR_NEVER || (t->finished && t->finished < before));
}

/* Appends to @out, or only counts if @out is NULL; returns the new number. */
static size_t list_exits(const struct pod_wire *w, const struct kar_array *containers,
	struct kar_pod_exit *out, size_t n, struct kar_intern *strings)
{
	const struct pod_wire_container *c = containers->items;
	kar_time before = deletion_requested(&w->head.meta);

	for (size_t i = 0; i < containers->n && n < KAR_POD_EXITS_MAX; i++) {
		const struct pod_wire_terminated *t = c[i].state.terminated;

		if (!failed_by_itself(t, before) || is_sidecar(w, c[i].name))
			continue;
		if (out)
			out[n] = (struct kar_pod_exit){ .container = kar_intern_fit(strings, c[i].name,
								KAR_COPY_VALUE),
				.reason = pod_wire_reason(strings, t->reason),
				.code = t->exit_code };
		n++;
	}
	return n;
}

static size_t list_all_exits(const struct pod_wire *w, struct kar_pod_exit *out, struct kar_intern *strings)
{
	size_t n = list_exits(w, &w->status.init_containers, out, 0, strings);

	return list_exits(w, &w->status.containers, out, n, strings);
}

static void list_conditions(const struct kar_array *conditions, struct kar_pod_condition *out, size_t n,
	struct kar_intern *strings)
{
	const struct pod_wire_condition *c = conditions->items;

	for (size_t i = 0; i < n; i++)
		out[i] = (struct kar_pod_condition){ .type = kar_intern_fit(strings, c[i].type, KAR_COPY_KEY),
			.status = kar_intern_fit(strings, c[i].status, KAR_COPY_VALUE) };
}

static const char *disruption_reason(const struct kar_array *conditions)
{
	const struct pod_wire_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_streq(c[i].type, "DisruptionTarget") && kar_streq(c[i].status, "True"))
			return c[i].reason;
	}
	return NULL;
}

/* NULL: no container is held up. */
static const struct pod_wire_container *first_waiting(const struct kar_array *containers)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const char *reason = c[i].state.waiting ? c[i].state.waiting->reason : NULL;

		if (reason && !kar_streq(reason, "ContainerCreating") &&
			!kar_streq(reason, "PodInitializing"))
			return &c[i];
	}
	return NULL;
}

static const struct pod_wire_container *waiting(const struct pod_wire_status *s)
{
	const struct pod_wire_container *c = first_waiting(&s->init_containers);

	if (pod_wire_phase(s->phase) != KAR_POD_PENDING)
		return NULL;
	return c ? c : first_waiting(&s->containers);
}

static bool may_run(const struct pod_wire_status *s)
{
	enum kar_pod_phase phase = pod_wire_phase(s->phase);

	return phase == KAR_POD_PENDING || phase == KAR_POD_RUNNING;
}

static int64_t sum_restarts(const struct pod_wire *w, const struct kar_array *containers)
{
	const struct pod_wire_container *c = containers->items;
	int64_t n = 0;

	for (size_t i = 0; i < containers->n; i++)
		n += c[i].restarts > 0 && !is_sidecar(w, c[i].name) ? c[i].restarts : 0;
	return n;
}

/* As pastBackoffLimitOnFailure of the Kubernetes Job controller, but without sidecars. */
static int32_t count_restarts(const struct pod_wire *w)
{
	if (!may_run(&w->status) || !kar_streq(w->spec.restart_policy, "OnFailure"))
		return 0;
	return (int32_t)kar_clamp(sum_restarts(w, &w->status.init_containers) +
			sum_restarts(w, &w->status.containers),
		0, INT32_MAX);
}

/* How the container failed last, if the kubelet restarts it since then; else NULL. */
static const struct pod_wire_terminated *last_crash(const struct pod_wire_container *c)
{
	const struct pod_wire_terminated *t = c->state.terminated ? c->state.terminated : c->last.terminated;

	return c->restarts > 0 && t && t->exit_code != 0 ? t : NULL;
}

/* A container that crashes, and how it failed last. */
struct crash {
	const struct pod_wire_container *of; /* NULL: none crashes */
	const struct pod_wire_terminated *end;
};

static struct crash later_crash(const struct kar_array *containers, struct crash last)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const struct pod_wire_terminated *t = last_crash(&c[i]);

		if (t && (!last.end || t->finished > last.end->finished))
			last = (struct crash){ .of = &c[i], .end = t };
	}
	return last;
}

static struct crash crashing(const struct pod_wire_status *s)
{
	struct crash none = { 0 };

	return may_run(s) ? later_crash(&s->containers, later_crash(&s->init_containers, none)) : none;
}

/* --- containers that have ended beside others that run ------------------------------------------------- */

/* The pod keeps running because of .beside; .of is not restarted. */
struct ended {
	const struct pod_wire_container *of; /* NULL: there is none */
	const struct pod_wire_container *beside;
};

static const struct pod_wire_container *first_running(const struct kar_array *containers)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		if (c[i].state.running)
			return &c[i];
	}
	return NULL;
}

/* The kubelet does not restart the container. One that succeeded counts only if it is the first of the spec: it does the work. */
static bool ended_for_good(const struct pod_wire *w, const struct pod_wire_container *c)
{
	const struct pod_wire_terminated *t = c->state.terminated;
	const struct pod_wire_asking *spec = find_spec(&w->spec.containers, c->name);
	const char *policy =
		spec && kar_has_text(spec->restart_policy) ? spec->restart_policy : w->spec.restart_policy;

	if (!t || !spec)
		return false;
	if (t->exit_code != 0)
		return kar_streq(policy, "Never");
	return spec == w->spec.containers.items &&
		(kar_streq(policy, "Never") || kar_streq(policy, "OnFailure"));
}

/* Native sidecars end with the work, so they are not looked at. */
static struct ended half_ended(const struct pod_wire *w)
{
	const struct pod_wire_container *c = w->status.containers.items;
	struct ended e = { .beside = first_running(&w->status.containers) };

	if (pod_wire_phase(w->status.phase) != KAR_POD_RUNNING || w->head.meta.deletion || !e.beside)
		return (struct ended){ 0 };
	for (size_t i = 0; i < w->status.containers.n; i++) {
		if (ended_for_good(w, &c[i]) &&
			(!e.of || (c[i].state.terminated->exit_code && !e.of->state.terminated->exit_code)))
			e.of = &c[i];
	}
	return e;
}

struct pod_loss_block pod_loss_measure(const struct pod_wire *w, struct kar_intern *strings)
{
	size_t n = w->status.conditions.n;
	struct pod_loss_block b = { 0 };

	b.trouble = waiting(&w->status) || crashing(&w->status).of || half_ended(w).of;
	if (!is_lost(w) && !b.trouble && !count_restarts(w))
		return b;
	b.n_exits = list_all_exits(w, NULL, strings);
	b.n_conditions = n < KAR_POD_CONDITIONS_MAX ? n : KAR_POD_CONDITIONS_MAX;
	b.size = sizeof(struct kar_pod_loss) + (b.trouble ? sizeof(struct kar_pod_trouble) : 0) +
		b.n_exits * sizeof(struct kar_pod_exit) + b.n_conditions * sizeof(struct kar_pod_condition);
	return b;
}

static void read_failure(const struct pod_wire *w, struct kar_pod_loss *loss, struct kar_intern *strings)
{
	const struct pod_wire_terminated *failure = first_failure(w);
	const char *reason = w->status.reason;

	if (pod_wire_phase(w->status.phase) != KAR_POD_FAILED)
		return;
	if (failure) {
		loss->exit_code = failure->exit_code;
		loss->words = words(strings, failure->message);
	}
	if (!kar_has_text(reason) && failure)
		reason = failure->reason;
	loss->reason = pod_wire_reason(strings, reason);
}

/*
 * The kubelet alternates between two reasons for an image that it cannot pull; report one of them. Its message for the other one
 * quotes the error in the same way since Kubernetes 1.32.
 */
static void read_waiting(const struct pod_wire_container *c, struct kar_pod_trouble *t,
	struct kar_intern *strings)
{
	const char *reason = c->state.waiting->reason, *message = c->state.waiting->message;
	char text[2 * KAR_POD_WORDS_BYTES];

	if (kar_streq(reason, "ErrImagePull")) {
		reason = "ImagePullBackOff";
		kar_text_printf(text, sizeof(text), "Back-off pulling image \"%s\": ErrImagePull: %s",
			c->image ? c->image : "", message ? message : "");
		message = text;
	}
	t->container = kar_intern_fit(strings, c->name, KAR_COPY_VALUE);
	t->reason = pod_wire_reason(strings, reason);
	t->message = words(strings, message);
}

static void read_crash(const struct crash *crash, struct kar_pod_trouble *t, struct kar_intern *strings)
{
	t->container = kar_intern_fit(strings, crash->of->name, KAR_COPY_VALUE);
	t->reason = pod_wire_reason(strings, crash->end->reason);
	t->message = words(strings, crash->end->message);
	t->code = crash->end->exit_code;
	t->restarts = crash->of->restarts;
	t->ended = crash->end->finished;
	t->since = crash->of->state.running ? crash->of->state.running->started : 0;
}

static void read_ended(const struct ended *ended, struct kar_pod_trouble *t, struct kar_intern *strings)
{
	const struct pod_wire_terminated *end = ended->of->state.terminated;

	t->container = kar_intern_fit(strings, ended->of->name, KAR_COPY_VALUE);
	t->beside = kar_intern_fit(strings, ended->beside->name ? ended->beside->name : "?", KAR_COPY_VALUE);
	t->reason = pod_wire_reason(strings, end->reason);
	t->message = words(strings, end->message);
	t->code = end->exit_code;
	t->ended = end->finished;
}

static void read_trouble(const struct pod_wire *w, struct kar_pod_trouble *t, struct kar_intern *strings)
{
	const struct pod_wire_container *c = waiting(&w->status);
	struct crash crash = crashing(&w->status);
	struct ended ended = half_ended(w);

	*t = (struct kar_pod_trouble){ 0 };
	if (crash.of)
		read_crash(&crash, t, strings);
	else if (c)
		read_waiting(c, t, strings);
	else if (ended.of)
		read_ended(&ended, t, strings);
}

const struct kar_pod_loss *pod_loss_read(const struct pod_wire *w, const struct pod_loss_block *b, char *at,
	struct kar_intern *strings)
{
	struct kar_pod_loss *loss = (void *)at;
	struct kar_pod_trouble *trouble = b->trouble ? (void *)(at + sizeof(*loss)) : NULL;
	struct kar_pod_exit *exits = (void *)(at + sizeof(*loss) + (b->trouble ? sizeof(*trouble) : 0));
	struct kar_pod_condition *conditions = (void *)(exits + b->n_exits);

	*loss = (struct kar_pod_loss){ .n_exits = (uint32_t)b->n_exits,
		.n_conditions = (uint32_t)b->n_conditions,
		.trouble = trouble,
		.restarts = count_restarts(w),
		.exits = exits,
		.conditions = conditions };
	list_all_exits(w, exits, strings);
	list_conditions(&w->status.conditions, conditions, b->n_conditions, strings);
	loss->pod_reason = pod_wire_reason(strings, w->status.reason);
	loss->disruption = pod_wire_reason(strings, disruption_reason(&w->status.conditions));
	read_failure(w, loss, strings);
	if (trouble)
		read_trouble(w, trouble, strings);
	return loss;
}

void pod_loss_forget(const struct kar_pod_loss *loss, struct kar_intern *strings)
{
	kar_intern_put(strings, loss->reason);
	kar_intern_put(strings, loss->words);
	kar_intern_put(strings, loss->pod_reason);
	kar_intern_put(strings, loss->disruption);
	if (loss->trouble) {
		kar_intern_put(strings, loss->trouble->container);
		kar_intern_put(strings, loss->trouble->beside);
		kar_intern_put(strings, loss->trouble->reason);
		kar_intern_put(strings, loss->trouble->message);
	}
	for (size_t i = 0; i < loss->n_exits; i++) {
		kar_intern_put(strings, loss->exits[i].container);
		kar_intern_put(strings, loss->exits[i].reason);
	}
	for (size_t i = 0; i < loss->n_conditions; i++) {
		kar_intern_put(strings, loss->conditions[i].type);
		kar_intern_put(strings, loss->conditions[i].status);
	}
}
