#include "api/suspendable/suspendable.h"

#include <stdlib.h>

#include "api/core/topology_wish.h"
#include "api/copy.h"
#include "api/names.h"
#include "api/queuejob/queuejob.h"
#include "api/status/condition.h"
#include "common/base/intern.h"
#include "common/codec/json.h"

/* --- the JSON of a template --------------------------------------------------------------------------- */

struct wire_gate {
	const char *name;
};

struct wire_pod_spec {
	const char *priority_class, *scheduler;
	struct kar_array gates; /* struct wire_gate */
};

struct wire_template {
	struct kar_wire_meta meta;
	bool has_meta;
	struct wire_pod_spec spec;
};

static const struct kar_field gate_fields[] = {
	KAR_FIELD(struct wire_gate, name, "name", KAR_F_STRING),
};
static const struct kar_desc gate_desc = KAR_DESC("PodSchedulingGate", struct wire_gate, gate_fields);

static const struct kar_field pod_spec_fields[] = {
	KAR_FIELD(struct wire_pod_spec, priority_class, "priorityClassName", KAR_F_STRING),
	KAR_FIELD(struct wire_pod_spec, scheduler, "schedulerName", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_pod_spec, gates, "schedulingGates", KAR_F_ARRAY, &gate_desc),
};
static const struct kar_desc pod_spec_desc = KAR_DESC("PodSpec", struct wire_pod_spec, pod_spec_fields);

static const struct kar_field template_fields[] = {
	{ .name = "metadata",
		.type = KAR_F_OBJECT,
		.offset = offsetof(struct wire_template, meta),
		.has = offsetof(struct wire_template, has_meta),
		.sub = &kar_wire_meta_desc },
	KAR_FIELD_SUB(struct wire_template, spec, "spec", KAR_F_OBJECT, &pod_spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct wire_template, template_fields);

/* --- the object --------------------------------------------------------------------------------------- */

bool kar_is_suspendable(const struct kar_type *type)
{
	return type->destroy == kar_suspendable_destroy;
}

static int32_t sum(const struct kar_suspendable *s, size_t member)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->n_sets; i++)
		n += *(const int32_t *)(const void *)((const char *)&s->sets[i] + member);
	return (int32_t)kar_clamp(n, 0, INT32_MAX);
}

int32_t kar_suspendable_count(const struct kar_suspendable *s)
{
	return sum(s, offsetof(struct kar_suspendable_set, count));
}

int32_t kar_suspendable_most(const struct kar_suspendable *s)
{
	return sum(s, offsetof(struct kar_suspendable_set, most));
}

int32_t kar_suspendable_ever(const struct kar_suspendable *s)
{
	return sum(s, offsetof(struct kar_suspendable_set, ever));
}

bool kar_suspendable_is_known(const struct kar_suspendable *s)
{
	for (size_t i = 0; i < s->n_sets; i++) {
		if (!s->sets[i].needs)
			return false;
	}
	return s->n_sets > 0;
}

bool kar_suspendable_set_is_ready(const struct kar_suspendable *s, const struct kar_suspendable_set *set)
{
	return kar_streq(set->group, s->o.name) && set->gated;
}

bool kar_suspendable_is_ready(const struct kar_suspendable *s)
{
	for (size_t i = 0; i < s->n_sets; i++) {
		if (!kar_suspendable_set_is_ready(s, &s->sets[i]))
			return false;
	}
	return s->n_sets > 0;
}

static bool same_sets(const struct kar_suspendable *a, const struct kar_suspendable *b)
{
	for (size_t i = 0; a->n_sets == b->n_sets && i < a->n_sets; i++) {
		const struct kar_suspendable_set *x = &a->sets[i], *y = &b->sets[i];

		if (x->count != y->count || x->needs != y->needs || x->charge != y->charge ||
			!kar_streq(x->scheduler, y->scheduler) || !kar_streq(x->topology, y->topology))
			return false;
	}
	return a->n_sets == b->n_sets;
}

bool kar_suspendable_same(const struct kar_suspendable *a, const struct kar_suspendable *b)
{
	return kar_streq(a->o.uid, b->o.uid) && a->suspended == b->suspended && a->by_queue == b->by_queue &&
		a->resumed == b->resumed && a->ended == b->ended && !a->deletion == !b->deletion &&
		a->run_seconds == b->run_seconds && a->started_at == b->started_at &&
		kar_streq(a->queue, b->queue) && same_sets(a, b);
}

/* A CronJob makes a job and leaves it to itself. Any other controller decides when its job runs, and is in a queue instead of it. */
static const char *controller_of(const struct kar_wire_meta *m, struct kar_arena *mem)
{
	const struct kar_wire_owner *owner = kar_wire_controller(m);

	return owner && !kar_streq(owner->kind, "CronJob") ? kar_owner_text(m, mem) : NULL;
}

struct kar_suspendable *kar_suspendable_new(const struct kar_type *type, const struct kar_wire_object *head,
	struct kar_intern *strings)
{
	struct kar_suspendable *s = kar_xcalloc(1, sizeof(*s));
	const struct kar_wire_meta *m = &head->meta;
	struct kar_arena *mem = &s->mem;

	kar_object_init(&s->o, type, head, kar_copy_text(mem, m->name), kar_copy_text(mem, m->uid), strings);
	s->generation = m->generation;
	s->creation = m->creation;
	s->deletion = m->deletion;
	s->queue = kar_copy_fit(mem, kar_pairs_get(&m->labels, KAR_LABEL_QUEUE), KAR_COPY_VALUE);
	s->by_queue = kar_streq(kar_pairs_get(&m->annotations, KAR_ANNOTATION_SUSPENDED_BY), KAR_BY_QUEUE);
	s->resumed = kar_streq(kar_pairs_get(&m->annotations, KAR_ANNOTATION_RESUMED_BY), KAR_BY_QUEUE);
	s->controlled_by = controller_of(m, mem);
	return s;
}

static struct kar_array copy_gates(struct kar_suspendable_set *set, const struct kar_array *wire,
	struct kar_arena *mem)
{
	const struct wire_gate *g = wire->items;
	const char **names = kar_arena_alloc(mem, wire->n + 1, sizeof(*names));

	for (size_t i = 0; i < wire->n; i++) {
		names[i] = kar_copy_text(mem, g[i].name);
		set->gated |= kar_streq(g[i].name, KAR_GATE);
	}
	return (struct kar_array){ .items = names, .n = wire->n };
}

static void read_template(struct kar_suspendable *s, struct kar_suspendable_set *set, struct kar_str raw)
{
	char text[KAR_TOPOLOGY_WISH_BYTES];
	struct kar_arena scratch = { 0 };
	struct wire_template w = { 0 };
	const struct kar_pod_needs *needs;
	const char *pin = NULL;

	if (raw.n && kar_json_decode(&scratch, &template_desc, NULL, raw.p, raw.n, &w, NULL) == 0) {
		needs = kar_template_needs(raw, &scratch, &pin, NULL);
		set->needs = kar_share_get(s->o.strings, &kar_needs_shape, pin ? NULL : needs);
		set->charge =
			kar_share_get(s->o.strings, &kar_counted_shape, kar_template_charge(raw, &scratch));
		set->priority_class = kar_copy_fit(&s->mem, w.spec.priority_class, KAR_COPY_NAME);
		if (kar_has_text(w.spec.scheduler))
			set->scheduler = kar_copy_fit(&s->mem, w.spec.scheduler, KAR_COPY_NAME);
		set->topology = kar_copy(&s->mem, kar_topology_wish_read(&w.meta.annotations, text));
		set->has_metadata = w.has_meta;
		set->has_labels = w.meta.labels.n > 0;
		set->group = kar_copy_fit(&s->mem, kar_pairs_get(&w.meta.labels, KAR_LABEL_POD_GROUP),
			KAR_COPY_NAME);
		set->gates = copy_gates(set, &w.spec.gates, &s->mem);
	}
	kar_arena_release(&scratch);
}

struct kar_suspendable_set *kar_suspendable_add(struct kar_suspendable *s, const char *name, const char *at,
	int64_t count, struct kar_str raw)
{
	int32_t n = (int32_t)kar_clamp(count, 0, INT32_MAX);
	struct kar_suspendable_set *set;

	if (s->n_sets == KAR_SUSPENDABLE_SETS) {
		s->unsupported = "it has pods of more than 64 templates";
		return NULL;
	}
	s->sets = kar_arena_grow(&s->mem, s->sets, s->n_sets, sizeof(*s->sets));
	set = &s->sets[s->n_sets++];
	*set = (struct kar_suspendable_set){ .name = kar_copy_text(&s->mem, name),
		.at = kar_copy_text(&s->mem, at),
		.count = n,
		.most = n,
		.ever = n,
		.scheduler = KAR_DEFAULT_SCHEDULER };
	read_template(s, set, raw);
	return set;
}

bool kar_suspendable_is_so(const struct kar_array *conditions, const char *type)
{
	const struct kar_wire_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_streq(c[i].status, "True") && kar_streq(c[i].type, type))
			return true;
	}
	return false;
}

const char *kar_suspendable_manager(struct kar_suspendable *s, const char *named, const char *itself)
{
	return kar_has_text(named) && !kar_streq(named, itself) ? kar_copy_fit(&s->mem, named, KAR_COPY_NAME)
								: NULL;
}

void kar_suspendable_destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_suspendable *s = kar_container_of(o, struct kar_suspendable, o);

	for (size_t i = 0; i < s->n_sets; i++) {
		kar_share_put(strings, s->sets[i].needs);
		kar_share_put(strings, s->sets[i].charge);
	}
	kar_arena_release(&s->mem);
	free(s);
}
