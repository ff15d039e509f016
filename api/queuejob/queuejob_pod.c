#include "api/queuejob/queuejob.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/new_object.h"
#include "api/queuejob/queuejob_env.h"
#include "api/pod/pod_pin.h"
#include "api/json_split.h"
#include "common/codec/json.h"

/* --- the decoded part of a template ------------------------------------------------------------------ */

struct wire_template_spec {
	const char *scheduler, *restart_policy, *node, *priority_class;
	int32_t priority;
	bool has_priority;
	struct kar_str containers, init_containers, tolerations; /* arrays, as served */
	struct kar_template_affinity affinity;
};

struct wire_template {
	struct wire_template_spec spec;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_template_spec, scheduler, "schedulerName", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, restart_policy, "restartPolicy", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, node, "nodeName", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, priority_class, "priorityClassName", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_template_spec, priority, has_priority, "priority", KAR_F_INT32),
	KAR_FIELD(struct wire_template_spec, containers, "containers", KAR_F_RAW),
	KAR_FIELD(struct wire_template_spec, init_containers, "initContainers", KAR_F_RAW),
	KAR_FIELD(struct wire_template_spec, tolerations, "tolerations", KAR_F_RAW),
	KAR_FIELD_SUB(struct wire_template_spec, affinity, "affinity", KAR_F_OBJECT,
		&kar_template_affinity_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("PodSpec", struct wire_template_spec, spec_fields);

static const struct kar_field template_fields[] = {
	KAR_FIELD_SUB(struct wire_template, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct wire_template, template_fields);

struct wire_container {
	struct kar_str env;
};
static const struct kar_field container_fields[] = {
	KAR_FIELD(struct wire_container, env, "env", KAR_F_RAW),
};
static const struct kar_desc container_desc = KAR_DESC("Container", struct wire_container, container_fields);

/* --- check ------------------------------------------------------------------------------------------- */

/* A template, split into slices of its text. */
struct parts {
	struct kar_arena *arena;
	struct wire_template w;
	struct kar_array containers, init_containers; /* struct kar_str */
};

/* The env of each container must be readable, because our variables are inserted there. */
static int check_env(const struct kar_array *containers, const char *what, struct kar_arena *arena,
	struct kar_err *err)
{
	const struct kar_str *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		struct wire_container w = { 0 };
		struct kar_array env;

		if (kar_json_decode(arena, &container_desc, NULL, c[i].p, c[i].n, &w, err) ||
			kar_json_split(w.env, "env", arena, &env, err))
			return kar_wrap(err, "%s[%zu]", what, i);
	}
	return 0;
}

static int take_apart(struct kar_str raw, struct parts *p, struct kar_err *err)
{
	const struct wire_template_spec *spec = &p->w.spec;

	if (!raw.n)
		return kar_fail(err, KAR_INVALID, "is missing");
	if (kar_json_decode(p->arena, &template_desc, NULL, raw.p, raw.n, &p->w, err) ||
		kar_json_split(spec->containers, "spec.containers", p->arena, &p->containers, err) ||
		kar_json_split(spec->init_containers, "spec.initContainers", p->arena, &p->init_containers,
			err))
		return -1;
	if (!p->containers.n)
		return kar_fail(err, KAR_INVALID, "spec.containers is empty");
	if (kar_streq(spec->restart_policy, "Always"))
		return kar_fail(err, KAR_INVALID,
			"spec.restartPolicy is Always, but pods of a job must end; use Never or OnFailure");
	return 0;
}

int kar_queuejob_template_check(struct kar_str template_raw, struct kar_err *err)
{
	struct kar_arena arena = { 0 };
	struct parts p = { .arena = &arena };
	int rc = take_apart(template_raw, &p, err) ||
			check_env(&p.containers, "spec.containers", &arena, err) ||
			check_env(&p.init_containers, "spec.initContainers", &arena, err)
		? -1
		: 0;

	kar_arena_release(&arena);
	return rc;
}

/* --- the additions to the template ------------------------------------------------------------------- */

#define NUMBER_LEN 16

static const char *number(int32_t n, char out[NUMBER_LEN])
{
	snprintf(out, NUMBER_LEN, "%" PRId32, n);
	return out;
}

static const char *index_of(const struct kar_pod_params *p, char out[NUMBER_LEN])
{
	return p->marked ? KAR_POD_INDEX_MARK : number(p->index, out);
}

/* Writes the name of kar_queuejob_pod_name(), with marks if asked for. */
static void write_name(struct kar_json_writer *w, const char *key, const struct kar_pod_params *p)
{
	char name[KAR_POD_NAME_LEN], index[NUMBER_LEN];

	snprintf(name, sizeof(name), "%s-%s-%s", p->job->o.name, p->job->spec.tasks[p->task].name,
		index_of(p, index));
	kar_jw_kv_string(w, key, name);
}

static void write_metadata(struct kar_json_writer *w, const struct kar_pod_params *p)
{
	const struct kar_queuejob *job = p->job;
	const char *task = job->spec.tasks[p->task].name;
	const struct kar_pair *domain = p->domain.items;
	char text[NUMBER_LEN];

	write_name(w, "name", p);
	kar_jw_kv_string(w, "namespace", job->o.ns ? job->o.ns : "");
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, job->o.name);
	kar_jw_kv_string(w, KAR_LABEL_TASK, task);
	kar_jw_kv_string(w, KAR_LABEL_INDEX, index_of(p, text));
	kar_jw_kv_string(w, KAR_LABEL_INCARNATION, number(p->incarnation, text));
	kar_jw_kv_string(w, KAR_LABEL_POD_GROUP, job->o.name);
	if (p->domain.n)
		kar_jw_kv_string(w, KAR_LABEL_DOMAIN, domain[p->domain.n - 1].value);
	kar_jw_end_object(w);
	kar_jw_key(w, "annotations");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_ANNOTATION_TEMPLATE_HASH, p->template_hash);
	kar_jw_end_object(w);
	kar_jw_key(w, "finalizers");
	kar_jw_begin_array(w);
	kar_jw_string(w, KAR_FINALIZER_POD_TRACKING);
	kar_jw_end_array(w);
}

void kar_queuejob_write_owner(struct kar_json_writer *w, const struct kar_queuejob *job)
{
	const struct kar_wire_owner owner = { .api_version = KAR_API_VERSION,
		.kind = kar_queuejob_type.res.kind,
		.name = job->o.name,
		.uid = job->o.uid };

	kar_new_object_owner(w, &owner, true);
}

/* The container with the variables added, as a JSON text in the arena of @parts. */
static int add_env(const struct kar_pod_params *p, struct parts *parts, struct kar_str container,
	struct kar_str *out, struct kar_err *err)
{
	struct wire_container c = { 0 };
	struct kar_buf patch = { 0 }, merged = { 0 };
	struct kar_json_writer w;
	struct kar_array own = { 0 };
	int rc = -1;

	if (kar_json_decode(parts->arena, &container_desc, NULL, container.p, container.n, &c, err) ||
		kar_json_split(c.env, "env", parts->arena, &own, err))
		return -1;
	kar_json_writer_init(&w, &patch);
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "env");
	kar_queuejob_write_env(&w, p, &own);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	if (kar_json_merge(container, (struct kar_str){ patch.p, patch.n }, &merged, err) == 0) {
		*out = kar_copy_raw(parts->arena, (struct kar_str){ merged.p, merged.n });
		rc = 0;
	}
	kar_buf_release(&patch);
	kar_buf_release(&merged);
	return rc;
}

static int write_containers(struct kar_json_writer *w, const char *key, const struct kar_pod_params *p,
	struct parts *parts, const struct kar_array *containers, struct kar_err *err)
{
	const struct kar_str *items = containers->items;
	int rc = 0;

	if (!containers->n)
		return 0;
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	for (size_t i = 0; i < containers->n && !rc; i++) {
		struct kar_str container;

		rc = add_env(p, parts, items[i], &container, err);
		if (!rc)
			kar_jw_raw(w, container);
	}
	kar_jw_end_array(w);
	return rc;
}

static int write_pin(struct kar_json_writer *w, const struct kar_pod_params *p, struct parts *parts,
	struct kar_err *err)
{
	const char *node = p->marked ? KAR_POD_PIN_MARK : p->pin;

	if (!kar_has_text(p->pin) || kar_has_text(parts->w.spec.node))
		return 0;
	if (!p->bound)
		return kar_pin_write(w, &parts->w.spec.affinity, node, parts->arena, err);
	kar_jw_kv_string(w, "nodeName", node);
	return 0;
}

/* The priority of the template wins. Only the class is written: the API server adds its value and refuses any other. */
static void write_priority_class(struct kar_json_writer *w, const struct kar_pod_params *p,
	const struct wire_template_spec *own)
{
	const char *class = p->job->spec.sched.priority_class_name;

	if (kar_has_text(class) && !kar_has_text(own->priority_class) && !own->has_priority)
		kar_jw_kv_string(w, "priorityClassName", class);
}

/* Those that the lists behind do not name. */
static void write_labels(struct kar_json_writer *w, const struct kar_array *labels,
	const struct kar_array *behind, const struct kar_array *last)
{
	const struct kar_pair *pairs = labels->items;

	for (size_t i = 0; i < labels->n; i++) {
		if (!(behind && kar_pairs_get(behind, pairs[i].key)) &&
			!(last && kar_pairs_get(last, pairs[i].key)))
			kar_jw_kv_string(w, pairs[i].key, pairs[i].value);
	}
}

/* A label of the domain, or of the flavor, may be one of the job's own: its value is the same then, as else no node would have suited. */
static void write_selector(struct kar_json_writer *w, const struct kar_array *own,
	const struct kar_pod_params *p)
{
	if (!own->n && !p->domain.n && !p->flavor.labels.n)
		return;
	kar_jw_key(w, "nodeSelector");
	kar_jw_begin_object(w);
	write_labels(w, own, &p->domain, &p->flavor.labels);
	write_labels(w, &p->domain, &p->flavor.labels, NULL);
	write_labels(w, &p->flavor.labels, NULL, NULL);
	kar_jw_end_object(w);
}

/* Those of the template, and then those of the flavor. */
static int write_tolerations(struct kar_json_writer *w, const struct kar_pod_params *p, struct parts *parts,
	struct kar_err *err)
{
	const char *more = p->flavor.tolerations;
	struct kar_array own = { 0 };
	const struct kar_str *items;

	if (!kar_has_text(more))
		return 0;
	if (kar_json_split(parts->w.spec.tolerations, "spec.tolerations", parts->arena, &own, err))
		return -1;
	items = own.items;
	kar_jw_key(w, "tolerations");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < own.n; i++)
		kar_jw_raw(w, items[i]);
	kar_jw_raw(w, (struct kar_str){ more, strlen(more) });
	kar_jw_end_array(w);
	return 0;
}

static int write_spec(struct kar_json_writer *w, const struct kar_pod_params *p, struct parts *parts,
	struct kar_err *err)
{
	const struct kar_queuejob_spec *s = &p->job->spec;

	if (!kar_has_text(parts->w.spec.scheduler) && kar_has_text(s->scheduler_name))
		kar_jw_kv_string(w, "schedulerName", s->scheduler_name);
	write_priority_class(w, p, &parts->w.spec);
	if (!parts->w.spec.restart_policy)
		kar_jw_kv_string(w, "restartPolicy", "Never"); /* the API's default is Always */
	if (s->dns_hostnames) {
		write_name(w, "hostname", p);
		kar_jw_kv_string(w, "subdomain", p->job->o.name);
	}
	write_selector(w, &s->sched.node_selector, p);
	if (p->native) {
		kar_jw_key(w, "schedulingGroup");
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "podGroupName", p->job->o.name);
		kar_jw_end_object(w);
	}
	return write_tolerations(w, p, parts, err) || write_pin(w, p, parts, err) ||
			write_containers(w, "containers", p, parts, &parts->containers, err) ||
			write_containers(w, "initContainers", p, parts, &parts->init_containers, err)
		? -1
		: 0;
}

static int write_overlay(const struct kar_pod_params *p, struct parts *parts, struct kar_buf *out,
	struct kar_err *err)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "apiVersion", "v1");
	kar_jw_kv_string(&w, "kind", "Pod");
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	write_metadata(&w, p);
	kar_queuejob_write_owner(&w, p->job);
	kar_jw_end_object(&w);
	kar_jw_key(&w, "spec");
	kar_jw_begin_object(&w);
	int rc = write_spec(&w, p, parts, err);

	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return rc;
}

int kar_queuejob_pod_write(const struct kar_pod_params *p, struct kar_buf *out, struct kar_err *err)
{
	struct kar_str raw = p->job->spec.tasks[p->task].template_raw;
	struct kar_arena arena = { 0 };
	struct parts parts = { .arena = &arena };
	struct kar_buf overlay = { 0 };
	int rc = p->job->invalid ? kar_fail(err, KAR_INVALID, "%s", p->job->invalid)
				 : take_apart(raw, &parts, err);

	if (!rc)
		rc = write_overlay(p, &parts, &overlay, err);
	if (!rc)
		rc = kar_json_merge(raw, (struct kar_str){ overlay.p, overlay.n }, out, err);
	kar_buf_release(&overlay);
	kar_arena_release(&arena);
	return rc;
}
