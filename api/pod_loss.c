/* What is kept of a pod that is lost, or stuck; and the texts of it. */
#include "api/pod_wire.h"

#include <string.h>

#include "api/keep.h"
#include "common/text.h"

static const char *intern_bounded(struct kar_intern *strings, const char *s, size_t size)
{
	char kept[KAR_POD_REASON_BYTES];

	if (!s || strlen(s) < size)
		return kar_intern_get(strings, s);
	kar_text_printf(kept, size, "%s", s);
	return kar_intern_get(strings, kept);
}

const char *pod_wire_name(struct kar_intern *strings, const char *name)
{
	return intern_bounded(strings, name, KAR_POD_OTHER_NAME_BYTES);
}

const char *pod_wire_reason(struct kar_intern *strings, const char *reason)
{
	return intern_bounded(strings, reason, KAR_POD_REASON_BYTES);
}

enum kar_pod_phase pod_wire_phase(const char *name)
{
	if (kar_same(name, "Running"))
		return KAR_POD_RUNNING;
	if (kar_same(name, "Succeeded"))
		return KAR_POD_SUCCEEDED;
	if (kar_same(name, "Failed"))
		return KAR_POD_FAILED;
	if (kar_same(name, "Unknown"))
		return KAR_POD_UNKNOWN;
	return KAR_POD_PENDING;
}

static const struct pod_wire_terminated *earlier_failure(const struct kar_array *containers,
	const struct pod_wire_terminated *first)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const struct pod_wire_terminated *t = c[i].state.terminated;

		if (t && t->exit_code != 0 && (!first || t->finished < first->finished))
			first = t;
	}
	return first;
}

/* The one that failed first is the cause; the others were killed because of it. */
static const struct pod_wire_terminated *first_failure(const struct pod_wire_status *s)
{
	return earlier_failure(&s->containers, earlier_failure(&s->init_containers, NULL));
}

static bool is_lost(const struct pod_wire *w)
{
	enum kar_pod_phase phase = pod_wire_phase(w->status.phase);

	return phase == KAR_POD_FAILED || (w->head.meta.deletion && phase != KAR_POD_SUCCEEDED);
}

/* When the deletion was asked for. Containers that end from then on are stopped by it, which tells nothing of them. */
static kar_time asked_to_go(const struct kar_wire_meta *m)
{
	if (!m->deletion)
		return KAR_NEVER;
	return m->deletion - kar_clamp(m->deletion_grace, 0, INT32_MAX) * KAR_SECOND;
}

/* A kubelet that does not find a container any more when it stops the pod gives an exit code, but no time. */
static bool failed_by_itself(const struct pod_wire_terminated *t, kar_time before)
{
	return t && t->exit_code != 0 && (before == KAR_NEVER || (t->finished && t->finished < before));
}

/* Appends to @out, or only counts if that is NULL; returns how many there are then. */
static size_t list_exits(const struct kar_array *containers, kar_time before, struct kar_pod_exit *out,
	size_t n, struct kar_intern *strings)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n && n < KAR_POD_EXITS_MAX; i++) {
		const struct pod_wire_terminated *t = c[i].state.terminated;

		if (!failed_by_itself(t, before))
			continue;
		if (out)
			out[n] = (struct kar_pod_exit){ .container = kar_intern_get(strings, c[i].name),
				.reason = pod_wire_reason(strings, t->reason),
				.code = t->exit_code };
		n++;
	}
	return n;
}

static size_t list_all_exits(const struct pod_wire *w, struct kar_pod_exit *out, struct kar_intern *strings)
{
	kar_time before = asked_to_go(&w->head.meta);
	size_t n = list_exits(&w->status.init_containers, before, out, 0, strings);

	return list_exits(&w->status.containers, before, out, n, strings);
}

static void list_conditions(const struct kar_array *conditions, struct kar_pod_condition *out, size_t n,
	struct kar_intern *strings)
{
	const struct pod_wire_condition *c = conditions->items;

	for (size_t i = 0; i < n; i++)
		out[i] = (struct kar_pod_condition){ .type = kar_intern_get(strings, c[i].type),
			.status = kar_intern_get(strings, c[i].status) };
}

static const char *disruption_reason(const struct kar_array *conditions)
{
	const struct pod_wire_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_same(c[i].type, "DisruptionTarget") && kar_same(c[i].status, "True"))
			return c[i].reason;
	}
	return NULL;
}

/* NULL: every container starts, or is about to. */
static const char *first_waiting(const struct kar_array *containers)
{
	const struct pod_wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const char *reason = c[i].state.waiting ? c[i].state.waiting->reason : NULL;

		if (reason && !kar_same(reason, "ContainerCreating") && !kar_same(reason, "PodInitializing"))
			return reason;
	}
	return NULL;
}

/* The kubelet's two words for an image that it cannot pull come by turns; that is no news. */
static const char *why_waiting(const struct pod_wire_status *s)
{
	const char *reason = first_waiting(&s->init_containers);

	if (pod_wire_phase(s->phase) != KAR_POD_PENDING)
		return NULL;
	if (!reason)
		reason = first_waiting(&s->containers);
	return kar_same(reason, "ErrImagePull") ? "ImagePullBackOff" : reason;
}

struct pod_loss_block pod_loss_measure(const struct pod_wire *w, struct kar_intern *strings)
{
	size_t n = w->status.conditions.n;
	struct pod_loss_block b = { 0 };

	if (!is_lost(w) && !why_waiting(&w->status))
		return b;
	b.n_exits = list_all_exits(w, NULL, strings);
	b.n_conditions = n < KAR_POD_CONDITIONS_MAX ? n : KAR_POD_CONDITIONS_MAX;
	b.size = sizeof(struct kar_pod_loss) + b.n_exits * sizeof(struct kar_pod_exit) +
		b.n_conditions * sizeof(struct kar_pod_condition);
	return b;
}

static void read_failure(const struct pod_wire_status *s, struct kar_pod_loss *loss,
	struct kar_intern *strings)
{
	const struct pod_wire_terminated *failure = first_failure(s);
	const char *reason = s->reason;

	if (pod_wire_phase(s->phase) != KAR_POD_FAILED)
		return;
	if (failure)
		loss->exit_code = failure->exit_code;
	if (!kar_has_text(reason) && failure)
		reason = failure->reason;
	loss->reason = pod_wire_reason(strings, reason);
}

const struct kar_pod_loss *pod_loss_read(const struct pod_wire *w, const struct pod_loss_block *b, char *at,
	struct kar_intern *strings)
{
	struct kar_pod_loss *loss = (void *)at;
	struct kar_pod_exit *exits = (void *)(at + sizeof(*loss));
	struct kar_pod_condition *conditions = (void *)(exits + b->n_exits);

	*loss = (struct kar_pod_loss){ .n_exits = b->n_exits,
		.n_conditions = b->n_conditions,
		.exits = exits,
		.conditions = conditions };
	list_all_exits(w, exits, strings);
	list_conditions(&w->status.conditions, conditions, b->n_conditions, strings);
	loss->pod_reason = pod_wire_reason(strings, w->status.reason);
	loss->disruption = pod_wire_reason(strings, disruption_reason(&w->status.conditions));
	loss->waiting = pod_wire_reason(strings, why_waiting(&w->status));
	read_failure(&w->status, loss, strings);
	return loss;
}

void pod_loss_forget(const struct kar_pod_loss *loss, struct kar_intern *strings)
{
	kar_intern_put(strings, loss->reason);
	kar_intern_put(strings, loss->pod_reason);
	kar_intern_put(strings, loss->disruption);
	kar_intern_put(strings, loss->waiting);
	for (size_t i = 0; i < loss->n_exits; i++) {
		kar_intern_put(strings, loss->exits[i].container);
		kar_intern_put(strings, loss->exits[i].reason);
	}
	for (size_t i = 0; i < loss->n_conditions; i++) {
		kar_intern_put(strings, loss->conditions[i].type);
		kar_intern_put(strings, loss->conditions[i].status);
	}
}
