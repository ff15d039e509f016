#include "api/trainingjob/trainingjob.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/quantity.h"

enum { PORT = 7164, NO_WINDOW = -1 };

/* --- the JSON that is read --------------------------------------------------------------------------- */

struct wire_resources {
	struct kar_array limits, requests; /* struct kar_pair */
};

/* A number in the three ways in which it is written. */
struct wire_number {
	int32_t kebab, snake, camel;
	bool has_kebab, has_snake, has_camel;
};

struct wire_text {
	const char *kebab, *snake, *camel;
};

struct wire_part {
	struct wire_number min, max;
	struct wire_resources resources;
	struct wire_text etcd_endpoint;
	const char *entrypoint, *workspace;
	int32_t passes;
	bool has_passes;
};

struct wire_flag {
	bool kebab, snake, camel;
};

struct wire_spec {
	const char *image, *priority_class;
	struct wire_number ports_num, ports_num_for_sparse;
	struct wire_flag host_network, fault_tolerant;
	struct kar_str volumes, mounts_pascal, mounts_camel, mounts_snake, pull_secrets;
	const struct wire_part *master, *pserver, *trainer;
	int32_t port, passes;
	bool has_port, has_passes, suspend;
};

struct wire_scales {
	struct kar_training_scales s; /* first */
	struct kar_array items;       /* struct kar_training_scale */
};

struct wire_status {
	struct kar_trainingjob_status s; /* first */
	const char *phase;
	struct wire_scales scales;
	struct kar_array replicas;   /* struct kar_training_replicas */
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_trainingjob {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field resources_fields[] = {
	KAR_FIELD(struct wire_resources, limits, "limits", KAR_F_MAP),
	KAR_FIELD(struct wire_resources, requests, "requests", KAR_F_MAP),
};
static const struct kar_desc resources_desc =
	KAR_DESC("ResourceRequirements", struct wire_resources, resources_fields);

static const struct kar_field part_fields[] = {
	KAR_FIELD_OPT(struct wire_part, min.kebab, min.has_kebab, "min-instance", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_part, min.snake, min.has_snake, "min_instance", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_part, min.camel, min.has_camel, "minInstance", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_part, max.kebab, max.has_kebab, "max-instance", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_part, max.snake, max.has_snake, "max_instance", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_part, max.camel, max.has_camel, "maxInstance", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_part, resources, "resources", KAR_F_OBJECT, &resources_desc),
	KAR_FIELD(struct wire_part, etcd_endpoint.kebab, "etcd-endpoint", KAR_F_STRING),
	KAR_FIELD(struct wire_part, etcd_endpoint.snake, "etcd_endpoint", KAR_F_STRING),
	KAR_FIELD(struct wire_part, etcd_endpoint.camel, "etcdEndpoint", KAR_F_STRING),
	KAR_FIELD(struct wire_part, entrypoint, "entrypoint", KAR_F_STRING),
	KAR_FIELD(struct wire_part, workspace, "workspace", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_part, passes, has_passes, "passes", KAR_F_INT32),
};
static const struct kar_desc part_desc = KAR_DESC("TrainingJobPart", struct wire_part, part_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, image, "image", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_spec, port, has_port, "port", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, ports_num.kebab, ports_num.has_kebab, "ports-num", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, ports_num.snake, ports_num.has_snake, "ports_num", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, ports_num.camel, ports_num.has_camel, "portsNum", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, ports_num_for_sparse.kebab, ports_num_for_sparse.has_kebab,
		"ports-num-for-sparse", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, ports_num_for_sparse.snake, ports_num_for_sparse.has_snake,
		"ports_num_for_sparse", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, ports_num_for_sparse.camel, ports_num_for_sparse.has_camel,
		"portsNumForSparse", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, passes, has_passes, "passes", KAR_F_INT32),
	KAR_FIELD(struct wire_spec, host_network.kebab, "host-network", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, host_network.snake, "host_network", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, host_network.camel, "hostNetwork", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, fault_tolerant.kebab, "fault-tolerant", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, fault_tolerant.snake, "fault_tolerant", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, fault_tolerant.camel, "faultTolerant", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, priority_class, "priorityClassName", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, volumes, "volumes", KAR_F_RAW),
	KAR_FIELD(struct wire_spec, mounts_pascal, "VolumeMounts", KAR_F_RAW),
	KAR_FIELD(struct wire_spec, mounts_camel, "volumeMounts", KAR_F_RAW),
	KAR_FIELD(struct wire_spec, mounts_snake, "volume_mounts", KAR_F_RAW),
	KAR_FIELD(struct wire_spec, pull_secrets, "imagePullSecrets", KAR_F_RAW),
	KAR_FIELD_SUB(struct wire_spec, master, "master", KAR_F_OBJECT_PTR, &part_desc),
	KAR_FIELD_SUB(struct wire_spec, pserver, "pserver", KAR_F_OBJECT_PTR, &part_desc),
	KAR_FIELD_SUB(struct wire_spec, trainer, "trainer", KAR_F_OBJECT_PTR, &part_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("TrainingJobSpec", struct wire_spec, spec_fields);

/* --- the status -------------------------------------------------------------------------------------- */

static const char *const phase_names[] = { "", "creating", "running", "scaling", "succeeded", "failed",
	NULL };

static const struct kar_field scale_fields[] = {
	KAR_STATUS_TEXT(struct kar_training_scale, reason, "reason", KAR_COPY_NAME, KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(struct kar_training_scale, status, "status", KAR_COPY_VALUE, KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, struct kar_training_scale, time, "scaleTimestamp", KAR_SF_STORY, NULL),
	KAR_STATUS(INT32, struct kar_training_scale, additional, "additional", KAR_SF_STORY, NULL),
};
static const struct kar_desc scale_table = KAR_DESC("TrainingScale", struct kar_training_scale, scale_fields);

static const struct kar_field scales_fields[] = {
	KAR_STATUS_STRUCTS(struct wire_scales, items, s.items, s.n, struct kar_training_scale, "ScaleRecords",
		&scale_table, KAR_SF_STORY, NULL),
};
static const struct kar_desc scales_table = KAR_DESC("TrainingScales", struct wire_scales, scales_fields);

static const struct kar_field states_fields[] = {
	KAR_STATUS(INT32, struct kar_training_states, starting, "starting", KAR_SF_COUNTER | KAR_SF_OMIT_ZERO,
		NULL),
	KAR_STATUS(INT32, struct kar_training_states, running, "running", KAR_SF_COUNTER | KAR_SF_OMIT_ZERO,
		NULL),
	KAR_STATUS(INT32, struct kar_training_states, succeeded, "succeeded",
		KAR_SF_COUNTER | KAR_SF_OMIT_ZERO, NULL),
	KAR_STATUS(INT32, struct kar_training_states, failed, "failed", KAR_SF_COUNTER | KAR_SF_OMIT_ZERO,
		NULL),
};
static const struct kar_desc states_table =
	KAR_DESC("TrainingStates", struct kar_training_states, states_fields);

static const struct kar_field replicas_fields[] = {
	KAR_STATUS_TEXT(struct kar_training_replicas, type, "training_resource_type", KAR_COPY_VALUE,
		KAR_SF_STORY, NULL),
	KAR_STATUS_TEXT(struct kar_training_replicas, state, "state", KAR_COPY_VALUE, KAR_SF_STORY, NULL),
	KAR_STATUS_STRUCT(struct kar_training_replicas, states, states, "resource_states", &states_table,
		KAR_SF_COUNTER, NULL),
};
static const struct kar_desc replicas_table =
	KAR_DESC("TrainingReplicas", struct kar_training_replicas, replicas_fields);

static const struct kar_field status_fields[] = {
	KAR_STATUS_ENUM(struct wire_status, phase, s.phase, "phase", phase_names,
		KAR_SF_STORY | KAR_SF_PRINT_ALWAYS, "phase"),
	KAR_STATUS_TEXT(struct wire_status, s.reason, "reason", KAR_MAX_MESSAGE_BYTES, KAR_SF_STORY,
		"reason"),
	KAR_STATUS(INT64, struct wire_status, s.observed_generation, "observedGeneration", KAR_SF_STORY,
		NULL),
	KAR_STATUS(INT32, struct wire_status, s.trainers, "trainers", KAR_SF_STORY, "trainers"),
	KAR_STATUS(INT32, struct wire_status, s.running, "runningTrainers", KAR_SF_COUNTER, "running"),
	KAR_STATUS(TIME, struct wire_status, s.start_time, "startTime", KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, struct wire_status, s.completion_time, "completionTime", KAR_SF_STORY, NULL),
	KAR_STATUS_STRUCT(struct wire_status, scales, s.scales, "scale_records", &scales_table, KAR_SF_STORY,
		NULL),
	KAR_STATUS_STRUCTS(struct wire_status, replicas, s.replicas, s.n_replicas,
		struct kar_training_replicas, "replica_statuses", &replicas_table,
		KAR_SF_STORY | KAR_SF_COUNTER, NULL),
	KAR_STATUS_CONDITIONS(struct wire_status, conditions, s.conditions, "conditions", KAR_SF_STORY, NULL),
};
const struct kar_desc kar_trainingjob_status_table =
	KAR_DESC("TrainingJobStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_trainingjob),
	KAR_FIELD_SUB(struct wire_trainingjob, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_trainingjob, status, "status", KAR_F_OBJECT, &kar_trainingjob_status_table),
};
static const struct kar_desc desc = KAR_WIRE_DESC("TrainingJob", struct wire_trainingjob, fields);

/* --- from the wire to the cached object -------------------------------------------------------------- */

static int32_t number(const struct wire_number *n, int32_t absent)
{
	return n->has_kebab ? n->kebab : n->has_snake ? n->snake : n->has_camel ? n->camel : absent;
}

static const char *text(const struct wire_text *t, struct kar_arena *mem)
{
	const char *s = t->kebab ? t->kebab : t->snake ? t->snake : t->camel;

	return kar_has_text(s) ? kar_copy_text(mem, s) : NULL;
}

static bool flag(const struct wire_flag *f)
{
	return f->kebab || f->snake || f->camel;
}

/* The name that Kubernetes has for it today; NULL: it is this one. */
static const char *new_name(const char *resource)
{
	return kar_streq(resource, "alpha.kubernetes.io/nvidia-gpu") ? "nvidia.com/gpu" : NULL;
}

static struct kar_array keep_resources(struct kar_trainingjob *t, const struct kar_array *wire)
{
	struct kar_array kept = kar_copy_pairs(&t->mem, wire);
	struct kar_pair *pairs = kept.items;
	size_t n = 0;

	for (size_t i = 0; i < kept.n; i++) {
		const char *name = new_name(pairs[i].key);

		if (name)
			t->renamed = kar_arena_printf(&t->mem, "%s is called %s", pairs[i].key, name);
		if (name && kar_pairs_get(wire, name))
			continue;
		pairs[n++] = (struct kar_pair){ name ? name : pairs[i].key, pairs[i].value };
	}
	kept.n = n;
	return kept;
}

static void read_part(struct kar_trainingjob *t, const struct wire_part *w, struct kar_training_part *out)
{
	if (!w)
		return;
	out->given = true;
	out->min = number(&w->min, 1);
	out->max = number(&w->max, out->min);
	out->limits = keep_resources(t, &w->resources.limits);
	out->requests = keep_resources(t, &w->resources.requests);
}

static struct kar_str raw(struct kar_arena *mem, struct kar_str a, struct kar_str b, struct kar_str c)
{
	return kar_copy_raw(mem, a.n ? a : b.n ? b : c);
}

static void read_spec(struct kar_trainingjob *t, const struct wire_spec *w)
{
	const struct kar_str none = { 0 };
	struct kar_trainingjob_spec *s = &t->spec;
	const struct wire_part *trainer = w->trainer;

	s->image = kar_has_text(w->image) ? kar_copy_text(&t->mem, w->image) : NULL;
	s->priority_class = kar_copy_fit(&t->mem, w->priority_class, KAR_COPY_NAME);
	s->port = w->has_port ? w->port : PORT;
	s->ports_num = number(&w->ports_num, 1);
	s->ports_num_for_sparse = number(&w->ports_num_for_sparse, 1);
	s->passes = trainer && trainer->has_passes ? trainer->passes : w->has_passes ? w->passes : 1;
	s->host_network = flag(&w->host_network);
	s->fault_tolerant = flag(&w->fault_tolerant);
	s->suspend = w->suspend;
	s->volumes = raw(&t->mem, w->volumes, none, none);
	s->volume_mounts = raw(&t->mem, w->mounts_pascal, w->mounts_camel, w->mounts_snake);
	s->pull_secrets = raw(&t->mem, w->pull_secrets, none, none);
	read_part(t, w->master, &s->master);
	read_part(t, w->pserver, &s->pserver);
	read_part(t, trainer, &s->trainer);
	if (trainer) {
		s->entrypoint = kar_copy(&t->mem, trainer->entrypoint);
		s->workspace = kar_copy(&t->mem, trainer->workspace);
		s->etcd_endpoint = text(&trainer->etcd_endpoint, &t->mem);
	}
	if (w->master && !s->etcd_endpoint)
		s->etcd_endpoint = text(&w->master->etcd_endpoint, &t->mem);
}

/* --- can it be run? ----------------------------------------------------------------------------------- */

static const char *part_problem(const char *name, const struct kar_training_part *p, struct kar_arena *mem)
{
	if (p->given && (p->min < 0 || p->max < 0))
		return kar_arena_printf(mem, "%s.min-instance and max-instance must not be negative", name);
	if (p->given && p->max < p->min)
		return kar_arena_printf(mem, "%s.min-instance is %d, and max-instance only %d", name,
			(int)p->min, (int)p->max);
	return NULL;
}

static const char *find_problem(const struct kar_trainingjob_spec *s, struct kar_arena *mem)
{
	enum { MOST_PORTS = 64 };
	const char *why = part_problem("trainer", &s->trainer, mem);

	if (!why)
		why = part_problem("pserver", &s->pserver, mem);
	if (!s->trainer.given)
		return "spec.trainer is missing: it says what is trained";
	if (why)
		return why;
	if (s->trainer.max < 1)
		return "trainer.max-instance must be at least 1";
	if (!s->fault_tolerant && s->trainer.min < s->trainer.max)
		return "trainer.max-instance must equal min-instance while fault_tolerant is false";
	if (s->port < 1 || s->ports_num < 0 || s->ports_num_for_sparse < 0 || s->ports_num > MOST_PORTS ||
		s->ports_num_for_sparse > MOST_PORTS ||
		s->port > 65536 - s->ports_num - s->ports_num_for_sparse)
		return "port, ports_num and ports_num_for_sparse name ports that do not exist, or more than 64";
	return NULL;
}

/* A label, or an annotation of that name. */
static const char *key_of(const struct kar_wire_meta *m, const char *key)
{
	const char *s = kar_pairs_get(&m->labels, key);

	return s ? s : kar_pairs_get(&m->annotations, key);
}

static int32_t window_of(const char *s)
{
	char *end = NULL;
	long n = kar_has_text(s) ? strtol(s, &end, 10) : -1;

	return end && !*end && n >= 0 && n <= 86400 ? (int32_t)n : NO_WINDOW;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_trainingjob *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_trainingjob *t = kar_xcalloc(1, sizeof(*t));

	kar_object_init(&t->o, &kar_trainingjob_type, &w->head, kar_copy_text(&t->mem, m->name),
		kar_copy_text(&t->mem, m->uid), strings);
	t->generation = m->generation;
	t->deletion = m->deletion;
	t->queue = kar_copy_fit(&t->mem, kar_pairs_get(&m->labels, KAR_LABEL_QUEUE), KAR_COPY_NAME);
	t->priority_level = kar_copy_fit(&t->mem, key_of(m, KAR_LABEL_PRIORITY_LEVEL), KAR_COPY_VALUE);
	t->freezing_window = window_of(key_of(m, KAR_ANNOTATION_FREEZING_WINDOW));
	read_spec(t, &w->spec);
	t->problem = find_problem(&t->spec, &t->mem);
	kar_status_read(&kar_trainingjob_status_table, &w->status, &t->status, &t->mem);
	return &t->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_trainingjob *t = kar_container_of(o, struct kar_trainingjob, o);

	kar_arena_release(&t->mem);
	free(t);
}

const struct kar_type kar_trainingjob_type = {
	.res = {
		.group = "paddlepaddle.org",
		.version = "v1",
		.plural = "trainingjobs",
		.kind = "TrainingJob",
		.namespaced = true,
	},
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};

/* --- what a pod has ------------------------------------------------------------------------------------ */

const char *kar_training_amount(const struct kar_training_part *part, const char *resource)
{
	const char *limit = kar_pairs_get(&part->limits, resource);

	return limit ? limit : kar_pairs_get(&part->requests, resource);
}

static int64_t count_gpus(const struct kar_array *pairs, const struct kar_array *but)
{
	const struct kar_pair *p = pairs->items;
	struct kar_quantity q;
	int64_t n = 0;

	for (size_t i = 0; i < pairs->n; i++) {
		if (strstr(p[i].key, "gpu") && !(but && kar_pairs_get(but, p[i].key)) &&
			kar_quantity_parse(p[i].value, &q, NULL) == 0)
			n += kar_clamp(kar_quantity_value(&q), 0, 1000);
	}
	return n;
}

int64_t kar_training_gpus(const struct kar_training_part *part)
{
	return count_gpus(&part->limits, NULL) + count_gpus(&part->requests, &part->limits);
}
