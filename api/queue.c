#include "api/queue.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/amounts_wire.h"
#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"

struct wire_status {
	struct kar_queue_status s;
	const char *state;
	struct wire_usage {
		struct kar_queue_usage s;
		struct kar_array flavors; /* struct kar_queue_flavor_usage */
	} usage;
	struct kar_array flavors;    /* struct kar_queue_flavor_status */
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_flavor {
	const char *name;
	struct kar_array deserved, capability; /* struct kar_pair */
};

struct wire_per_namespace {
	struct kar_array capability; /* struct kar_pair */
	int32_t max_jobs;
};

struct wire_fairness {
	int32_t half_life;
	bool charge_idle;
};

struct wire_spec {
	struct kar_queue_spec s;
	struct wire_fairness fairness;
	struct wire_per_namespace per_namespace;
	const char *provisioning;
	struct kar_array deserved, guarantee, capability; /* struct kar_pair */
	struct kar_selector namespaces;
	struct kar_array flavors; /* struct wire_flavor */
	const char *flavor_policy;
	const char *state, *preemption_policy;
	bool reclaimable, has_reclaimable;
};

struct wire_queue {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field flavor_fields[] = {
	KAR_FIELD(struct wire_flavor, name, "name", KAR_F_STRING),
	KAR_FIELD(struct wire_flavor, deserved, "deserved", KAR_F_MAP),
	KAR_FIELD(struct wire_flavor, capability, "capability", KAR_F_MAP),
};
static const struct kar_desc flavor_desc = KAR_DESC("QueueFlavor", struct wire_flavor, flavor_fields);

static const struct kar_field per_namespace_fields[] = {
	KAR_FIELD(struct wire_per_namespace, capability, "capability", KAR_F_MAP),
	KAR_FIELD(struct wire_per_namespace, max_jobs, "maxJobs", KAR_F_INT32),
};
static const struct kar_desc per_namespace_desc =
	KAR_DESC("QueuePerNamespace", struct wire_per_namespace, per_namespace_fields);

static const struct kar_field fairness_fields[] = {
	KAR_FIELD(struct wire_fairness, half_life, "halfLifeSeconds", KAR_F_INT32),
	KAR_FIELD(struct wire_fairness, charge_idle, "chargeIdle", KAR_F_BOOL),
};
static const struct kar_desc fairness_desc = KAR_DESC("QueueFairness", struct wire_fairness, fairness_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, s.parent, "parent", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, s.weight, "weight", KAR_F_INT32),
	KAR_FIELD(struct wire_spec, deserved, "deserved", KAR_F_MAP),
	KAR_FIELD(struct wire_spec, guarantee, "guarantee", KAR_F_MAP),
	KAR_FIELD(struct wire_spec, capability, "capability", KAR_F_MAP),
	KAR_FIELD_SUB(struct wire_spec, flavors, "flavors", KAR_F_ARRAY, &flavor_desc),
	KAR_FIELD(struct wire_spec, flavor_policy, "flavorPolicy", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_spec, s.max_jobs, s.has_max_jobs, "maxJobs", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_spec, per_namespace, "perNamespace", KAR_F_OBJECT, &per_namespace_desc),
	KAR_FIELD_SUB(struct wire_spec, fairness, "fairness", KAR_F_OBJECT, &fairness_desc),
	KAR_FIELD_OPT(struct wire_spec, s.max_priority, s.has_max_priority, "maxPriority", KAR_F_INT32),
	KAR_FIELD(struct wire_spec, s.max_run_seconds, "maxRunSeconds", KAR_F_INT32),
	KAR_FIELD(struct wire_spec, s.default_run_seconds, "defaultRunSeconds", KAR_F_INT32),
	KAR_FIELD(struct wire_spec, state, "state", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, s.drain, "drain", KAR_F_BOOL),
	KAR_FIELD_OPT(struct wire_spec, reclaimable, has_reclaimable, "reclaimable", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, provisioning, "provisioning", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, s.queueing_strategy, "queueingStrategy", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, preemption_policy, "preemptionPolicy", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, namespaces, "namespaceSelector", KAR_F_OBJECT, &kar_selector_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("QueueSpec", struct wire_spec, spec_fields);

static const char *const state_names[] = { "", "Open", "Closing", "Closed", "Unknown", NULL };

const char *kar_queue_state_name(enum kar_queue_state s)
{
	return state_names[s];
}

enum { COUNTER = KAR_SF_COUNTER | KAR_SF_PRINT_ALWAYS };

static const struct kar_field head_fields[] = {
	KAR_STATUS_TEXT(struct kar_queue_head, ns, "namespace", KAR_COPY_VALUE, KAR_SF_COUNTER, NULL),
	KAR_STATUS_TEXT(struct kar_queue_head, name, "name", KAR_COPY_NAME, KAR_SF_COUNTER, NULL),
	KAR_STATUS_TEXT(struct kar_queue_head, uid, "uid", KAR_COPY_UID, KAR_SF_COUNTER, NULL),
	KAR_STATUS(TIME, struct kar_queue_head, since, "since", KAR_SF_COUNTER, NULL),
};
static const struct kar_desc head_table = KAR_DESC("QueueHead", struct kar_queue_head, head_fields);

/* What is reserved must survive a restart, so it is written at once. */
static const struct kar_field reservation_fields[] = {
	KAR_STATUS_TEXT(struct kar_queue_reservation, job, "job", KAR_COPY_KEY, KAR_SF_STORY, "reserved"),
	KAR_STATUS_TEXT(struct kar_queue_reservation, uid, "uid", KAR_COPY_UID, KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, struct kar_queue_reservation, since, "since", KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, struct kar_queue_reservation, until, "until", KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, struct kar_queue_reservation, start, "start", KAR_SF_STORY, NULL),
	KAR_STATUS(INT32, struct kar_queue_reservation, pods, "pods", KAR_SF_STORY | KAR_SF_OMIT_ZERO, NULL),
	KAR_STATUS(INT32, struct kar_queue_reservation, gathered, "gatheredPercent",
		KAR_SF_STORY | KAR_SF_OMIT_ZERO, NULL),
	KAR_STATUS_PAIRS(struct kar_queue_reservation, resources, "resources", KAR_SF_COUNTER, NULL),
};
static const struct kar_desc reservation_table =
	KAR_DESC("QueueReservation", struct kar_queue_reservation, reservation_fields);

static const struct kar_field flavor_status_fields[] = {
	KAR_STATUS_TEXT(struct kar_queue_flavor_status, name, "name", KAR_COPY_NAME, KAR_SF_COUNTER, NULL),
	KAR_STATUS_PAIRS(struct kar_queue_flavor_status, allocated, "allocated", KAR_SF_COUNTER, NULL),
	KAR_STATUS_PAIRS(struct kar_queue_flavor_status, entitled, "entitled", KAR_SF_COUNTER, NULL),
};
static const struct kar_desc flavor_status_table =
	KAR_DESC("QueueFlavorStatus", struct kar_queue_flavor_status, flavor_status_fields);

static const struct kar_field flavor_usage_fields[] = {
	KAR_STATUS_TEXT(struct kar_queue_flavor_usage, name, "name", KAR_COPY_NAME, 0, NULL),
	KAR_STATUS_PAIRS(struct kar_queue_flavor_usage, seconds, "seconds", 0, NULL),
};
static const struct kar_desc flavor_usage_table =
	KAR_DESC("QueueFlavorUsage", struct kar_queue_flavor_usage, flavor_usage_fields);

/* It follows what is allocated, so a change of it alone is no reason to write. */
static const struct kar_field usage_fields[] = {
	KAR_STATUS(TIME, struct wire_usage, s.time, "time", 0, NULL),
	KAR_STATUS_PAIRS(struct wire_usage, s.seconds, "seconds", 0, NULL),
	KAR_STATUS_STRUCTS(struct wire_usage, flavors, s.flavors, s.n_flavors, struct kar_queue_flavor_usage,
		"flavors", &flavor_usage_table, KAR_SF_OMIT_ZERO, NULL),
};
static const struct kar_desc usage_table = KAR_DESC("QueueUsage", struct wire_usage, usage_fields);

static const struct kar_field history_fields[] = {
	KAR_STATUS(TIME, struct kar_queue_history, time, "time", 0, NULL),
	KAR_STATUS(INT64, struct kar_queue_history, value, "value", 0, NULL),
	KAR_STATUS(INT32, struct kar_queue_history, rate, "rate", KAR_SF_COUNTER, NULL),
};
static const struct kar_desc history_table =
	KAR_DESC("QueueHistory", struct kar_queue_history, history_fields);

static const struct kar_field status_fields[] = {
	KAR_STATUS_ENUM(struct wire_status, state, s.state, "state", state_names,
		KAR_SF_STORY | KAR_SF_PRINT_ALWAYS, "state"),
	KAR_STATUS(INT32, struct wire_status, s.pending, "pending", COUNTER, "pending"),
	KAR_STATUS(INT32, struct wire_status, s.inqueue, "inqueue", COUNTER, "inqueue"),
	KAR_STATUS(INT32, struct wire_status, s.running, "running", COUNTER, "running"),
	KAR_STATUS(INT32, struct wire_status, s.completed, "completed", COUNTER, "completed"),
	KAR_STATUS(INT32, struct wire_status, s.unknown, "unknown", COUNTER, "unknown"),
	KAR_STATUS_TEXT(struct wire_status, s.parent, "parent", KAR_COPY_VALUE, KAR_SF_STORY, "parent"),
	KAR_STATUS_PAIRS(struct wire_status, s.allocated, "allocated", KAR_SF_COUNTER, NULL),
	KAR_STATUS_PAIRS(struct wire_status, s.entitled, "entitled", KAR_SF_COUNTER, NULL),
	KAR_STATUS_STRUCTS(struct wire_status, flavors, s.flavors, s.n_flavors,
		struct kar_queue_flavor_status, "flavors", &flavor_status_table, KAR_SF_COUNTER, NULL),
	KAR_STATUS_STRUCT(struct wire_status, usage, s.usage, "usage", &usage_table, 0, NULL),
	KAR_STATUS_STRUCT(struct wire_status, s.history, s.history, "history", &history_table, KAR_SF_COUNTER,
		NULL),
	KAR_STATUS(INT64, struct wire_status, s.share, "share", KAR_SF_COUNTER, NULL),
	KAR_STATUS_STRUCT(struct wire_status, s.head, s.head, "head", &head_table, KAR_SF_COUNTER, NULL),
	KAR_STATUS_STRUCT(struct wire_status, s.reservation, s.reservation, "reservation", &reservation_table,
		KAR_SF_STORY | KAR_SF_COUNTER, "reservation"),
	KAR_STATUS_CONDITIONS(struct wire_status, conditions, s.conditions, "conditions", KAR_SF_STORY, NULL),
};
const struct kar_desc kar_queue_status_table = KAR_DESC("QueueStatus", struct wire_status, status_fields);

static const struct kar_field queue_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_queue),
	KAR_FIELD_SUB(struct wire_queue, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_queue, status, "status", KAR_F_OBJECT, &kar_queue_status_table),
};
static const struct kar_desc queue_desc = KAR_WIRE_DESC("Queue", struct wire_queue, queue_fields);

/* Closing and Unknown are states of a status only. */
static enum kar_queue_state read_state(const char *name)
{
	if (!name || kar_streq(name, state_names[KAR_QUEUE_STATE_OPEN]))
		return KAR_QUEUE_STATE_OPEN;
	return kar_streq(name, state_names[KAR_QUEUE_STATE_CLOSED]) ? KAR_QUEUE_STATE_CLOSED
								    : KAR_QUEUE_STATE_UNKNOWN;
}

/* Rights and limits are rounded down, requests up, so nobody gets a part of a unit too much. */
static struct kar_queue_amounts keep_amounts(const struct kar_array *wire, bool pods, struct kar_arena *mem)
{
	struct kar_array kept = kar_copy_pairs(mem, wire);
	const struct kar_pair *pairs = kept.items;
	struct kar_sched_amount *out = kar_arena_alloc(mem, kept.n + 1, sizeof(*out));
	struct kar_quantity q;
	uint32_t n = 0;

	for (size_t i = 0; i < kept.n; i++) {
		if ((pods || !kar_streq(pairs[i].key, "pods")) &&
			kar_quantity_parse(pairs[i].value, &q, NULL) == 0)
			out[n++] = kar_amount_rounded_down(pairs[i].key, &q);
	}
	return (struct kar_queue_amounts){ out, n };
}

static void keep_flavors(const struct kar_array *wire, struct kar_queue_spec *spec, struct kar_arena *mem)
{
	const struct wire_flavor *w = wire->items;
	struct kar_queue_flavor_spec *all = kar_arena_alloc(mem, KAR_QUEUE_FLAVORS_MAX, sizeof(*all));

	for (size_t i = 0; i < wire->n && spec->n_flavors < KAR_QUEUE_FLAVORS_MAX; i++) {
		bool known = !kar_has_text(w[i].name);

		for (uint32_t k = 0; k < spec->n_flavors && !known; k++)
			known = kar_streq(all[k].name, w[i].name);
		if (known)
			continue; /* the schema refuses it */
		all[spec->n_flavors++] =
			(struct kar_queue_flavor_spec){ .name = kar_copy_fit(mem, w[i].name, KAR_COPY_NAME),
				.deserved = keep_amounts(&w[i].deserved, false, mem),
				.capability = keep_amounts(&w[i].capability, true, mem) };
	}
	spec->flavors = all;
}

static struct kar_queue_spec keep_spec(const struct wire_spec *w, struct kar_arena *mem)
{
	struct kar_queue_spec spec = w->s;

	if (spec.weight < 1)
		spec.weight = 1; /* the default of the schema, which lets no other pass */
	spec.parent = kar_has_text(w->s.parent) && !kar_streq(w->s.parent, KAR_QUEUE_ROOT)
		? kar_copy_fit(mem, w->s.parent, KAR_COPY_VALUE)
		: NULL;
	spec.deserved = keep_amounts(&w->deserved, false, mem);
	spec.guarantee = keep_amounts(&w->guarantee, false, mem);
	spec.capability = keep_amounts(&w->capability, true, mem);
	spec.per_namespace = keep_amounts(&w->per_namespace.capability, true, mem);
	spec.per_namespace_jobs = w->per_namespace.max_jobs > 0 ? w->per_namespace.max_jobs : 0;
	spec.half_life = w->fairness.half_life > 0 ? w->fairness.half_life : 0;
	spec.charge_idle = w->fairness.charge_idle;
	if (w->flavors.n)
		keep_flavors(&w->flavors, &spec, mem);
	spec.flavors_in_order = kar_streq(w->flavor_policy, "InOrder");
	spec.never_reclaimed = w->has_reclaimable && !w->reclaimable;
	spec.state = read_state(w->state);
	spec.state_text = kar_copy_fit(mem, w->state, KAR_COPY_VALUE);
	spec.provisions = kar_streq(w->provisioning, "Pods");
	spec.preempts = kar_streq(w->preemption_policy, "LowerPriority");
	spec.queueing_strategy = w->s.queueing_strategy
		? kar_copy_fit(mem, w->s.queueing_strategy, KAR_COPY_VALUE)
		: "BestEffortFIFO";
	spec.namespaces_problem = kar_selector_problem(&w->namespaces, mem);
	if (!spec.namespaces_problem)
		spec.namespaces = kar_selector_copy(&w->namespaces, mem);
	return spec;
}

bool kar_queue_has_limits(const struct kar_queue_spec *s)
{
	bool has = s->capability.n > 0 || s->per_namespace.n > 0;

	for (uint32_t i = 0; i < s->n_flavors && !has; i++)
		has = s->flavors[i].capability.n > 0;
	return has;
}

bool kar_queue_may_be_called(const char *name)
{
	size_t n = strlen(name);

	return n && n <= 63 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n && name[0] != '-' &&
		name[n - 1] != '-';
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_queue *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_queue *q = kar_xcalloc(1, sizeof(*q));
	struct kar_arena *mem = &q->mem;

	kar_object_init(&q->o, &kar_queue_type, &w->head, kar_copy(mem, m->name), kar_copy(mem, m->uid),
		strings);
	q->generation = m->generation;
	q->creation = m->creation;
	q->deletion = m->deletion;
	q->finalizers = kar_copy_strings(mem, &m->finalizers);
	q->spec = keep_spec(&w->spec, mem);
	kar_status_read(&kar_queue_status_table, &w->status, &q->status, mem);
	return &q->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_queue *q = kar_container_of(o, struct kar_queue, o);

	kar_arena_release(&q->mem);
	free(q);
}

const struct kar_type kar_queue_type = {
	.res = {
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "queues",
		.kind = "Queue",
		.namespaced = false,
	},
	.wire = &queue_desc,
	.project = project,
	.destroy = destroy,
};
