/* What is written of a workload that can be suspended, and of its PodGroup. */
#include "controllers/suspend/suspend.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/names.h"
#include "api/new_object.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "controllers/runtime/controller.h"

/* Of the first that names one. */
static const char *priority_class(const struct kar_suspendable *s)
{
	for (size_t i = 0; i < s->n_sets; i++) {
		if (s->sets[i].priority_class)
			return s->sets[i].priority_class;
	}
	return NULL;
}

static void write_group(struct kar_json_writer *w, const struct suspend_view *v)
{
	const struct kar_suspendable *s = v->s;
	const struct kar_podgroup_spec spec = {
		.min_member = suspend_minimum(v),
		.priority_class_name = priority_class(s),
		.min_resources = v->resources,
		.has_min_resources = v->resources.n > 0,
	};
	char version[KAR_API_VERSION_LEN];
	/* The garbage collector deletes the group with it. */
	const struct kar_wire_owner owner = { .api_version = kar_api_version(&s->o.type->res, version),
		.kind = s->o.type->res.kind,
		.name = s->o.name,
		.uid = s->o.uid };

	kar_new_object_begin(w, &kar_podgroup_type.res, s->o.ns, s->o.name);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUE, s->queue);
	kar_jw_kv_string(w, KAR_LABEL_MADE, KAR_MADE_FOR_WORKLOAD);
	kar_jw_end_object(w);
	kar_new_object_owner(w, &owner, false);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_podgroup_spec_write(w, &spec);
}

/* As a merge patch of @old, in which what is not named stays. */
static void write_resources(struct kar_json_writer *w, const struct kar_array *resources,
	const struct kar_array *old)
{
	const struct kar_pair *p = resources->items, *before = old->items;

	kar_jw_key(w, "minResources");
	kar_jw_begin_object(w);
	for (size_t i = 0; i < resources->n; i++)
		kar_jw_kv_string(w, p[i].key, p[i].value);
	for (size_t i = 0; i < old->n; i++) {
		if (kar_pairs_get(resources, before[i].key))
			continue;
		kar_jw_key(w, before[i].key);
		kar_jw_null(w);
	}
	kar_jw_end_object(w);
}

static void write_edit(struct kar_json_writer *w, const struct suspend_view *v)
{
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_write_precondition_members(w, &v->group->o);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUE, v->s->queue);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minMember", suspend_minimum(v));
	if (v->resources.n)
		write_resources(w, &v->resources, &v->group->spec.min_resources);
	kar_jw_end_object(w);
}

static void write_mark(struct kar_json_writer *w, const char *key, bool set)
{
	kar_jw_key(w, key);
	if (set)
		kar_jw_string(w, KAR_BY_QUEUE);
	else
		kar_jw_null(w);
}

/* Who has suspended it, or resumed it, last: the metadata of each patch of the object. */
static void write_marks(struct kar_json_writer *w, const struct kar_action *a, bool suspended, bool resumed)
{
	const struct suspend_view *v = a->payload;

	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	if (a->rv)
		kar_write_precondition_members(w, &v->s->o);
	else
		kar_jw_kv_string(w, "uid", a->uid);
	kar_jw_key(w, "annotations");
	kar_jw_begin_object(w);
	write_mark(w, KAR_ANNOTATION_SUSPENDED_BY, suspended);
	write_mark(w, KAR_ANNOTATION_RESUMED_BY, resumed);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_suspend(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_suspendable *s, bool suspends)
{
	write_marks(w, a, suspends, !suspends);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	if (s->suspend_in) {
		kar_jw_key(w, s->suspend_in);
		kar_jw_begin_object(w);
	}
	kar_jw_kv_bool(w, "suspend", suspends);
	if (s->suspend_in)
		kar_jw_end_object(w);
	kar_jw_end_object(w);
}

/* --- a JSON patch ------------------------------------------------------------------------------------- */

/* Keys with a slash, as members of a JSON pointer. */
#define SUSPENDED_BY "/metadata/annotations/" KAR_GROUP "~1suspended-by"
#define RESUMED_BY "/metadata/annotations/" KAR_GROUP "~1resumed-by"
#define POD_GROUP "/metadata/labels/scheduling.x-k8s.io~1pod-group"

static void begin_operation(struct kar_json_writer *w, const char *op, const char *at, const char *below)
{
	struct kar_buf path = { 0 };

	kar_buf_printf(&path, "%s%s", at, below);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "op", op);
	kar_jw_kv_string(w, "path", kar_buf_cstr(&path));
	kar_buf_release(&path);
	if (!kar_streq(op, "remove"))
		kar_jw_key(w, "value");
}

static void write_operation(struct kar_json_writer *w, const char *op, const char *path, const char *value)
{
	begin_operation(w, op, path, "");
	kar_jw_string(w, value);
	kar_jw_end_object(w);
}

/* As much around the label as the template does not have. */
static void open_label(struct kar_json_writer *w, const struct kar_suspendable *s,
	const struct kar_suspendable_set *set)
{
	bool labels = set->has_metadata && set->has_labels;

	begin_operation(w, "add", set->at,
		labels                      ? POD_GROUP
			: set->has_metadata ? "/metadata/labels"
					    : "/metadata");
	if (labels) {
		kar_jw_string(w, s->o.name);
		kar_jw_end_object(w);
		return;
	}
	kar_jw_begin_object(w);
	if (!set->has_metadata) {
		kar_jw_key(w, "labels");
		kar_jw_begin_object(w);
	}
	kar_jw_kv_string(w, KAR_LABEL_POD_GROUP, s->o.name);
	if (!set->has_metadata)
		kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_gate(struct kar_json_writer *w, const char *name)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_end_object(w);
}

/* The list as a whole: it may not be there yet. */
static void open_gates(struct kar_json_writer *w, const struct kar_suspendable_set *set)
{
	const char *const *gates = set->gates.items;

	if (set->gated)
		return;
	begin_operation(w, "add", set->at, "/spec/schedulingGates");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < set->gates.n; i++)
		write_gate(w, gates[i]);
	write_gate(w, KAR_GATE);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

/* It is suspended by us, so it has annotations. A version that is not that of the object is a conflict. */
static void write_open(struct kar_json_writer *w, const struct kar_action *a, const struct kar_suspendable *s)
{
	char text[64]; /* a version, or "/spec/runPolicy" */

	snprintf(text, sizeof(text), "%" PRIu64, a->rv);
	kar_jw_begin_array(w);
	write_operation(w, "test", "/metadata/uid", s->o.uid);
	write_operation(w, "replace", "/metadata/resourceVersion", text);
	begin_operation(w, "remove", SUSPENDED_BY, "");
	kar_jw_end_object(w);
	write_operation(w, "add", RESUMED_BY, KAR_BY_QUEUE);
	for (size_t i = 0; i < s->n_sets; i++) {
		if (kar_suspendable_set_is_ready(s, &s->sets[i]))
			continue;
		open_label(w, s, &s->sets[i]);
		open_gates(w, &s->sets[i]);
	}
	snprintf(text, sizeof(text), "/spec%s%s", s->suspend_in ? "/" : "",
		s->suspend_in ? s->suspend_in : "");
	begin_operation(w, "replace", text, "/suspend");
	kar_jw_bool(w, false);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

static void write_reset(struct kar_json_writer *w, const struct kar_object *o)
{
	kar_write_preconditions(w, o);
	kar_jw_key(w, "status");
	kar_jw_begin_object(w);
	kar_jw_key(w, "startTime");
	kar_jw_null(w);
	kar_jw_end_object(w);
}

/* The members of a merge patch, or of a new object. */
static void write_members(struct kar_json_writer *w, const struct kar_action *a)
{
	const struct suspend_view *v = a->payload;

	if (a->what == SUSPEND_MAKE)
		write_group(w, v);
	else if (a->what == SUSPEND_FOLLOW)
		write_edit(w, v);
	else if (a->what == SUSPEND_RESET)
		write_reset(w, &v->s->o);
	else if (a->what == SUSPEND_FORGET)
		write_marks(w, a, false, false);
	else
		write_suspend(w, a, v->s, a->what == SUSPEND_SUSPEND);
}

int suspend_encode(const struct kar_action *a, struct kar_buf *out)
{
	const struct suspend_view *v = a->payload;
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	if (a->what == SUSPEND_OPEN) {
		write_open(&w, a, v->s);
	} else {
		kar_jw_begin_object(&w);
		write_members(&w, a);
		kar_jw_end_object(&w);
	}
	kar_json_writer_release(&w);
	return 0;
}
