#include "api/podgroup/podgroup.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/podgroup/pg_kept.h"
#include "api/queuejob/queuejob.h"
#include "common/codec/json.h"
#include "common/base/timefmt.h"

struct wire_placement {
	struct kar_pg_placement s;
	const char *state;
	struct kar_array plan, domains; /* struct kar_pg_planned, struct kar_pg_domain */
};

struct wire_status {
	struct kar_podgroup_status s;
	const char *phase;
	struct wire_placement placement;
	struct kar_what_if_wire what_if;
	const char *backend;
	const char *scaling_limit;
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_podgroup {
	struct kar_wire_object head;
	struct kar_podgroup_spec spec;
	struct wire_status status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct kar_podgroup_spec, min_member, "minMember", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_podgroup_spec, succeeded_members, has_succeeded_members, "succeededMembers",
		KAR_F_INT32),
	KAR_FIELD(struct kar_podgroup_spec, queue, "queue", KAR_F_STRING),
	KAR_FIELD(struct kar_podgroup_spec, priority_class_name, "priorityClassName", KAR_F_STRING),
	KAR_FIELD_OPT(struct kar_podgroup_spec, priority, has_priority, "priority", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_podgroup_spec, schedule_timeout_seconds, has_schedule_timeout,
		"scheduleTimeoutSeconds", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_podgroup_spec, min_resources, has_min_resources, "minResources", KAR_F_MAP),
	KAR_FIELD(struct kar_podgroup_spec, total_resources, "totalResources", KAR_F_MAP),
	KAR_FIELD_SUB(struct kar_podgroup_spec, topology, "topology", KAR_F_OBJECT, &kar_topology_ask_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("PodGroupSpec", struct kar_podgroup_spec, spec_fields);

static const char *const phase_names[] = { "", "Pending", "Scheduling", "Scheduled", "Running", "Unknown",
	"Failed", "Finished", NULL };

const char *kar_pg_phase_name(enum kar_pg_phase p)
{
	return phase_names[p];
}

enum kar_pg_phase kar_pg_phase_parse(const char *name)
{
	return (enum kar_pg_phase)kar_status_name_parse(phase_names, name);
}

static const struct kar_field record_fields[] = {
	KAR_STATUS(BOOL, struct kar_pg_record, quorum_lost, "quorumLost", KAR_SF_INTERNAL | KAR_SF_OMIT_ZERO,
		"quorumLost"),
};
static const struct kar_desc record_table = KAR_DESC("PodGroupRecord", struct kar_pg_record, record_fields);

#define PLACEMENT struct wire_placement
#define PLANNED struct kar_pg_planned
static const struct kar_field planned_fields[] = {
	KAR_STATUS_TEXT(PLANNED, role, "role", KAR_COPY_NAME, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(PLANNED, nodes, "nodes", KAR_PG_PLAN_BYTES, KAR_SF_STORY | KAR_SF_WHOLE, "plan"),
};
static const struct kar_desc planned_table = KAR_DESC("Plan", PLANNED, planned_fields);

#define DOMAIN struct kar_pg_domain
static const struct kar_field domain_fields[] = {
	KAR_STATUS_TEXT(DOMAIN, label, "label", KAR_COPY_KEY, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(DOMAIN, value, "value", KAR_COPY_VALUE, KAR_SF_STORY, "domain"),
	KAR_STATUS_TEXT(DOMAIN, role, "role", KAR_COPY_NAME, KAR_SF_STORY, NULL),
	KAR_STATUS(BOOL, DOMAIN, required, "required", KAR_SF_STORY | KAR_SF_OMIT_ZERO, NULL),
};
static const struct kar_desc domain_table = KAR_DESC("Domain", DOMAIN, domain_fields);

static const char *const state_names[] = { "", "Waiting", "Placed", "Unplaced", "Satisfied", "RollingBack",
	"Deactivated", "Reserving", "Suspended", NULL };

int32_t kar_pg_failures(const struct kar_pg_placement *p, kar_time now)
{
	bool clean = p->state == KAR_PG_STATE_SATISFIED && now - p->time >= 10 * KAR_MINUTE;

	return clean ? 0 : p->failures;
}

static bool is_of_role(const struct kar_pg_domain *d, const char *role)
{
	return !kar_has_text(d->role) || kar_streq(d->role, role);
}

struct kar_array kar_pg_required_domain(const struct kar_pg_placement *p, const char *role,
	struct kar_arena *a)
{
	struct kar_pair *pairs;
	size_t n = 0;

	if (!p->n_domains)
		return (struct kar_array){ 0 };
	pairs = kar_arena_alloc(a, p->n_domains, sizeof(*pairs));
	for (size_t i = 0; i < p->n_domains; i++) {
		if (p->domains[i].required && kar_has_text(p->domains[i].label) &&
			is_of_role(&p->domains[i], role))
			pairs[n++] = (struct kar_pair){ kar_copy_text(a, p->domains[i].label),
				kar_copy_text(a, p->domains[i].value) };
	}
	return (struct kar_array){ pairs, n };
}

const char *kar_pg_domain_text(const struct kar_pg_placement *p, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < p->n_domains && !kar_has_text(p->domains[i].role); i++)
		text = kar_arena_printf(a, "%s%s%s", text, i ? "/" : "", p->domains[i].value);
	return text;
}

const char *kar_pg_state_name(enum kar_pg_state s)
{
	return state_names[s];
}

static const struct kar_field placement_fields[] = {
	KAR_STATUS_ENUM(PLACEMENT, state, s.state, "state", state_names, KAR_SF_STORY, "placement"),
	KAR_STATUS(INT32, PLACEMENT, s.attempt, "attempt", KAR_SF_STORY | KAR_SF_OMIT_ZERO, "attempt"),
	KAR_STATUS(INT32, PLACEMENT, s.failures, "failures", KAR_SF_STORY | KAR_SF_OMIT_ZERO, "failures"),
	KAR_STATUS(INT32, PLACEMENT, s.repairs, "repairs", KAR_SF_STORY | KAR_SF_OMIT_ZERO, "repairs"),
	KAR_STATUS(INT32, PLACEMENT, s.satisfied_member, "satisfiedMember", KAR_SF_STORY | KAR_SF_OMIT_ZERO,
		NULL),
	KAR_STATUS(TIME, PLACEMENT, s.time, "time", KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, PLACEMENT, s.deadline, "deadline", KAR_SF_STORY, NULL),
	KAR_STATUS(INT64, PLACEMENT, s.generation, "generation", KAR_SF_STORY | KAR_SF_OMIT_ZERO, NULL),
	KAR_STATUS(TIME, PLACEMENT, s.retry_after, "retryAfter", KAR_SF_STORY, "retryAfter"),
	KAR_STATUS_TEXT(PLACEMENT, s.evicted_by, "evictedBy", KAR_COPY_KEY, KAR_SF_STORY, "evictedBy"),
	KAR_STATUS_TEXT(PLACEMENT, s.hold_ended_for, "holdEndedFor", KAR_COPY_KEY, KAR_SF_STORY,
		"holdEndedFor"),
	KAR_STATUS_TEXT(PLACEMENT, s.requests, "requests", KAR_PG_REQUESTS_BYTES, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(PLACEMENT, s.cause, "cause", KAR_MAX_MESSAGE_BYTES, KAR_SF_STORY, NULL),
	KAR_STATUS_STRUCTS(PLACEMENT, plan, s.plan, s.n_plan, PLANNED, "plan", &planned_table, KAR_SF_STORY,
		"plan"),
	KAR_STATUS_STRUCTS(PLACEMENT, domains, s.domains, s.n_domains, DOMAIN, "domains", &domain_table,
		KAR_SF_STORY, "domains"),
};
static const struct kar_desc placement_table = KAR_DESC("Placement", PLACEMENT, placement_fields);

static const char *const backend_names[] = { "", "Gates", "Native", "Direct", "Labels", NULL };

const char *kar_pg_backend_name(enum kar_pg_backend b)
{
	return backend_names[b];
}

static const char *const limit_names[] = { "", "Starting", "QueueClosed", "FreezingWindow", "MaxLoad",
	"QuotaExceeded", "NamespaceLimit", "QueueCapability", "FairShare", "HeadReserved",
	"GuaranteeReserved", "InsufficientCapacity", "NoFit", "WaitingForTermination", NULL };

const char *kar_pg_limit_name(enum kar_pg_limit l)
{
	return limit_names[l];
}

enum {
	NEWS = KAR_SF_STORY | KAR_SF_PRINT_ALWAYS,
	COUNTER = KAR_SF_COUNTER | KAR_SF_PRINT_ALWAYS,
	SHOWN = KAR_PG_IN_STATUS,
	PLACED = KAR_PG_IN_PLACEMENT,
	KEPT = KAR_PG_IN_QUEUE_STATUS,
};

static const struct kar_field status_fields[] = {
	KAR_STATUS_ENUM(struct wire_status, phase, s.phase, "phase", phase_names, NEWS | SHOWN, "phase"),
	KAR_STATUS_TEXT(struct wire_status, s.occupied_by, "occupiedBy", KAR_PG_OCCUPIED_BY_BYTES,
		KAR_SF_STORY | SHOWN, NULL),
	KAR_STATUS(INT32, struct wire_status, s.members, "members", COUNTER | KEPT, "members"),
	KAR_STATUS(INT32, struct wire_status, s.scheduled, "scheduled", COUNTER | KEPT, "scheduled"),
	KAR_STATUS(INT32, struct wire_status, s.running, "running", COUNTER | SHOWN, "running"),
	KAR_STATUS(INT32, struct wire_status, s.succeeded, "succeeded", COUNTER | SHOWN, "succeeded"),
	KAR_STATUS(INT32, struct wire_status, s.failed, "failed", COUNTER | SHOWN, "failed"),
	KAR_STATUS(TIME, struct wire_status, s.schedule_start_time, "scheduleStartTime", KAR_SF_STORY | SHOWN,
		NULL),
	KAR_STATUS_OPT(INT32, struct wire_status, s.desired, s.has_desired, "desired", KAR_PG_QUEUE | KEPT,
		"desired"),
	KAR_STATUS(INT32, struct wire_status, s.desired_of, "desiredOf",
		KAR_PG_QUEUE | KAR_SF_OMIT_ZERO | KEPT, NULL),
	KAR_STATUS(TIME, struct wire_status, s.last_scale_time, "lastScaleTime", KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS_ENUM(struct wire_status, scaling_limit, s.scaling_limit, "scalingLimit", limit_names,
		KAR_PG_QUEUE | KEPT, "scalingLimit"),
	KAR_STATUS_TEXT(struct wire_status, s.scaling_limit_message, "scalingLimitMessage",
		KAR_MAX_MESSAGE_BYTES, KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS_OPT(INT32, struct wire_status, s.position, s.has_position, "position", KAR_PG_QUEUE | KEPT,
		NULL),
	KAR_STATUS_TEXT(struct wire_status, s.admitted_queue, "admittedQueue", KAR_COPY_VALUE,
		KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS_TEXT(struct wire_status, s.flavor, "flavor", KAR_COPY_NAME, KAR_PG_QUEUE | KEPT, "flavor"),
	KAR_STATUS(INT64, struct wire_status, s.admitted_generation, "admittedGeneration",
		KAR_PG_QUEUE | KAR_SF_OMIT_ZERO | KEPT, NULL),
	KAR_STATUS(INT64, struct wire_status, s.run_seconds, "runSeconds",
		KAR_PG_QUEUE | KAR_SF_OMIT_ZERO | KEPT, NULL),
	KAR_STATUS(TIME, struct wire_status, s.waiting_since, "waitingSince", KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS(INT64, struct wire_status, s.waited_seconds, "waitedSeconds",
		KAR_PG_QUEUE | KAR_SF_OMIT_ZERO | KEPT, NULL),
	KAR_STATUS(TIME, struct wire_status, s.estimated_start, "estimatedStart", KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS(INT32, struct wire_status, s.evictions, "evictions",
		KAR_PG_QUEUE | KAR_SF_OMIT_ZERO | KEPT, "evictions"),
	KAR_STATUS_STRUCT(struct wire_status, s.last_eviction, s.last_eviction, "lastEviction",
		&kar_eviction_table, KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS_STRUCT(struct wire_status, what_if, s.what_if, "whatIf", &kar_what_if_table,
		KAR_PG_QUEUE | KEPT, NULL),
	KAR_STATUS_STRUCT(struct wire_status, s.record, s.record, "record", &record_table,
		KAR_SF_INTERNAL | KEPT, "record"),
	KAR_STATUS_STRUCT(struct wire_status, placement, s.placement, "placement", &placement_table,
		KAR_SF_STORY | KAR_PG_QUEUE | PLACED, "placement"),
	KAR_STATUS_ENUM(struct wire_status, backend, s.backend, "backend", backend_names,
		KAR_SF_STORY | KAR_PG_QUEUE | PLACED, "backend"),
	KAR_STATUS_CONDITIONS(struct wire_status, conditions, s.conditions, "conditions",
		NEWS | KAR_SF_PRINT_REASON | KAR_PG_QUEUE | KEPT, "conditions"),
};
const struct kar_desc kar_podgroup_status_table =
	KAR_DESC("PodGroupStatus", struct wire_status, status_fields);

static const struct kar_field podgroup_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_podgroup),
	KAR_FIELD_SUB(struct wire_podgroup, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_podgroup, status, "status", KAR_F_OBJECT, &kar_podgroup_status_table),
};
static const struct kar_desc podgroup_desc = KAR_WIRE_DESC("PodGroup", struct wire_podgroup, podgroup_fields);

static struct kar_podgroup_spec keep_spec(struct kar_arena *a, const struct kar_podgroup_spec *from)
{
	struct kar_podgroup_spec spec = *from;

	spec.queue = kar_copy_fit(a, from->queue, KAR_COPY_NAME);
	spec.priority_class_name = kar_copy_fit(a, from->priority_class_name, KAR_COPY_NAME);
	spec.min_resources = kar_copy_pairs(a, &from->min_resources);
	spec.topology = kar_topology_ask_copy(&from->topology, a);
	spec.total_resources = kar_copy_pairs(a, &from->total_resources);
	return spec;
}

struct kept_for {
	const char *uid;
};

static const struct kar_field kept_fields[] = {
	KAR_FIELD(struct kept_for, uid, KAR_PG_KEPT_UID, KAR_F_STRING),
};
static const struct kar_desc kept_desc = KAR_DESC("PodGroupStatusKept", struct kept_for, kept_fields);

/* What the annotation @key has; one that cannot be read, one of another group of which this is a copy, and none, are an empty one. */
static struct wire_status kept_in(const struct kar_wire_meta *m, const char *key, struct kar_arena *a)
{
	const char *text = kar_pairs_get(&m->annotations, key);
	struct wire_status w = { 0 };
	struct kept_for kept = { 0 };
	struct kar_err ignored = { 0 };

	if (!text || kar_json_decode(a, &kept_desc, NULL, text, strlen(text), &kept, &ignored) ||
		!kar_streq(kept.uid, m->uid) ||
		kar_json_decode(a, &kar_podgroup_status_table, NULL, text, strlen(text), &w, &ignored))
		return (struct wire_status){ 0 };
	return w;
}

/* All of a status of which the CRD has kept only @shown. */
static struct wire_status put_together(const struct kar_wire_meta *m, const struct wire_status *shown,
	struct kar_arena *a)
{
	struct wire_status all = kept_in(m, KAR_ANNOTATION_QUEUE_STATUS, a),
			   placed = kept_in(m, KAR_ANNOTATION_PLACEMENT, a);

	all.placement = placed.placement;
	all.backend = placed.backend;
	all.phase = shown->phase;
	all.s.occupied_by = shown->s.occupied_by;
	all.s.running = shown->s.running;
	all.s.succeeded = shown->s.succeeded;
	all.s.failed = shown->s.failed;
	all.s.schedule_start_time = shown->s.schedule_start_time;
	return all;
}

/* Each of our two writers writes one of these beside the phase. */
static bool is_pruned(const struct wire_status *s)
{
	return kar_has_text(s->phase) && !s->s.has_position && !s->conditions.n && !s->placement.state;
}

static void read_status(const struct wire_podgroup *w, struct kar_podgroup *g)
{
	struct kar_arena scratch = { 0 };
	struct wire_status status = w->status;

	g->pruned = is_pruned(&status);
	if (g->pruned)
		status = put_together(&w->head.meta, &w->status, &scratch);
	kar_status_read(&kar_podgroup_status_table, &status, &g->status, &g->mem);
	kar_arena_release(&scratch);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_podgroup *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	const struct kar_wire_owner *owner = kar_wire_controller(m);
	struct kar_podgroup *g = kar_xcalloc(1, sizeof(*g));
	struct kar_arena *mem = &g->mem;
	char key[KAR_KEY_LEN];

	kar_object_init(&g->o, &kar_podgroup_type, &w->head, kar_copy(mem, m->name), kar_copy(mem, m->uid),
		strings);
	g->generation = m->generation;
	g->creation = m->creation;
	g->deletion = m->deletion;
	if (owner) {
		g->owner_uid = kar_intern_fit(strings, owner->uid, KAR_COPY_UID);
		g->owner_is_queuejob = kar_queuejob_is_owner(owner);
		g->owner_name = kar_copy_fit(mem, owner->name, KAR_COPY_NAME);
		g->owner = kar_owner_text(m, mem);
	}
	g->orphan = kar_queuejob_orphan(m);
	g->made = !owner && kar_pairs_get(&m->labels, KAR_LABEL_MADE);
	g->made_for_workload = owner && !g->owner_is_queuejob &&
		kar_streq(kar_pairs_get(&m->labels, KAR_LABEL_MADE), KAR_MADE_FOR_WORKLOAD);
	g->made_of_spec = owner && !g->owner_is_queuejob && !g->made_for_workload &&
		kar_pairs_get(&m->labels, KAR_LABEL_MADE);
	if (!g->owner_is_queuejob)
		g->queue_label =
			kar_copy_fit(mem, kar_pairs_get(&m->labels, KAR_LABEL_QUEUE), KAR_COPY_VALUE);
	g->spec = keep_spec(mem, &w->spec);
	g->options = kar_pg_options_read(&m->annotations, kar_object_key(&g->o, key), mem);
	read_status(w, g);
	return &g->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_podgroup *g = kar_container_of(o, struct kar_podgroup, o);

	kar_intern_put(strings, g->owner_uid);
	kar_arena_release(&g->mem);
	free(g);
}

static const char *index_key(const struct kar_object *o, int i KAR_UNUSED)
{
	return kar_as_podgroup(o)->owner_uid;
}

const struct kar_type kar_podgroup_type = {
	.res = {
		.group = KAR_PODGROUP_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "podgroups",
		.kind = "PodGroup",
		.namespaced = true,
	},
	.wire = &podgroup_desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};

/* NULL or "": none. */
static const char *named_queue(const struct kar_podgroup *g)
{
	return kar_has_text(g->spec.queue) ? g->spec.queue : g->queue_label;
}

const char *kar_podgroup_queue(const struct kar_podgroup *g)
{
	const char *queue = named_queue(g);

	return kar_has_text(queue) ? queue : NULL;
}

kar_time kar_podgroup_timeout(const struct kar_podgroup *g, kar_time otherwise)
{
	const struct kar_podgroup_spec *s = &g->spec;

	if (s->has_schedule_timeout && s->schedule_timeout_seconds > 0)
		return s->schedule_timeout_seconds * KAR_SECOND;
	if (g->options.waiting_time)
		return g->options.waiting_time;
	return otherwise > 0 ? otherwise : KAR_MINUTE;
}

const char *kar_pg_failed_attempt(const struct kar_pg_placement *p, struct kar_arena *a)
{
	return kar_arena_printf(a, "attempt %d to start the gang failed: %s", (int)p->attempt, p->cause);
}

const char *kar_pg_next_try(const struct kar_pg_placement *p, struct kar_arena *a)
{
	char text[KAR_TIME_LEN];

	return kar_arena_printf(a, "%s; next try at %s", kar_pg_failed_attempt(p, a),
		kar_time_format(p->retry_after, text));
}

const char *kar_pg_failed_attempts(const struct kar_podgroup *g, const struct kar_pg_placement *p,
	struct kar_arena *a)
{
	return kar_arena_printf(a, "%d attempts to start the gang failed, the last: %s; to try again, %s",
		(int)p->failures, p->cause,
		g->owner_uid && g->owner_is_queuejob ? "change the spec of the job, or suspend and resume it"
						     : "change the spec of the PodGroup");
}

bool kar_podgroup_has_let_in(const struct kar_podgroup *g, int64_t generation)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_TEMPLATES_ADMITTED);

	if (!g->status.has_position) /* its queue writes both: the CRD drops it, or the queue has not looked at the group yet */
		return kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED) != NULL;
	return c && c->status == KAR_COND_TRUE && c->observed_generation == generation;
}

bool kar_podgroup_admission_is_old(const struct kar_podgroup *g, int64_t generation)
{
	return g->status.admitted_generation && g->status.admitted_generation != generation;
}

bool kar_podgroup_admitted_by(const struct kar_podgroup *g, const char *queue)
{
	const char *by = kar_has_text(g->status.admitted_queue) ? g->status.admitted_queue : named_queue(g);

	return kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED) &&
		(!kar_has_text(by) || kar_streq(by, queue));
}

static void write_pairs(struct kar_json_writer *w, const char *key, const struct kar_array *pairs)
{
	const struct kar_pair *items = pairs->items;

	if (!pairs->n)
		return;
	kar_jw_key(w, key);
	kar_jw_begin_object(w);
	for (size_t i = 0; i < pairs->n; i++)
		kar_jw_kv_string(w, items[i].key, items[i].value);
	kar_jw_end_object(w);
}

void kar_podgroup_spec_write(struct kar_json_writer *w, const struct kar_podgroup_spec *s)
{
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minMember", s->min_member);
	if (s->has_succeeded_members)
		kar_jw_kv_int(w, "succeededMembers", s->succeeded_members);
	if (s->queue)
		kar_jw_kv_string(w, "queue", s->queue);
	if (s->priority_class_name)
		kar_jw_kv_string(w, "priorityClassName", s->priority_class_name);
	if (s->has_priority)
		kar_jw_kv_int(w, "priority", s->priority);
	if (s->has_schedule_timeout)
		kar_jw_kv_int(w, "scheduleTimeoutSeconds", s->schedule_timeout_seconds);
	write_pairs(w, "minResources", &s->min_resources);
	write_pairs(w, "totalResources", &s->total_resources);
	kar_topology_ask_write(w, &s->topology);
	kar_jw_end_object(w);
}

/* An optional number that is absent has no value to compare. */
static bool same_number(bool has_a, int32_t a, bool has_b, int32_t b)
{
	return has_a == has_b && (!has_a || a == b);
}

bool kar_podgroup_spec_equal(const struct kar_podgroup_spec *a, const struct kar_podgroup_spec *b)
{
	return a->min_member == b->min_member && a->succeeded_members == b->succeeded_members &&
		kar_streq(a->queue, b->queue) && kar_streq(a->priority_class_name, b->priority_class_name) &&
		same_number(a->has_priority, a->priority, b->has_priority, b->priority) &&
		same_number(a->has_schedule_timeout, a->schedule_timeout_seconds, b->has_schedule_timeout,
			b->schedule_timeout_seconds) &&
		a->has_min_resources == b->has_min_resources &&
		kar_pairs_equal(&a->min_resources, &b->min_resources) &&
		kar_topology_ask_equal(&a->topology, &b->topology) &&
		kar_pairs_equal(&a->total_resources, &b->total_resources);
}

bool kar_podgroup_same_content(const struct kar_podgroup *a, const struct kar_podgroup *b)
{
	return kar_object_same(&a->o, &b->o) && a->generation == b->generation &&
		a->creation == b->creation && a->deletion == b->deletion &&
		kar_streq(a->owner_uid, b->owner_uid) && kar_streq(a->owner_name, b->owner_name) &&
		a->owner_is_queuejob == b->owner_is_queuejob && a->orphan == b->orphan &&
		a->made == b->made && a->made_of_spec == b->made_of_spec &&
		a->made_for_workload == b->made_for_workload && a->pruned == b->pruned &&
		kar_streq(a->queue_label, b->queue_label) && kar_podgroup_spec_equal(&a->spec, &b->spec) &&
		kar_pg_options_equal(&a->options, &b->options) &&
		kar_status_equal(&kar_podgroup_status_table, &a->status, &b->status, KAR_SF_ALL);
}

int32_t kar_podgroup_allows(const struct kar_podgroup *g, int64_t pods, int64_t left)
{
	const struct kar_podgroup_status *st = &g->status;
	int64_t known = st->desired_of && st->desired_of < pods ? left - (pods - st->desired_of) : left;

	return (int32_t)kar_clamp(st->desired < known ? st->desired : known, 0, INT32_MAX);
}
