/* What is written of a workload that can be suspended, and of its PodGroup. */
#include "controllers/suspend/suspend.h"

#include "api/names.h"
#include "api/new_object.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "controllers/runtime/controller.h"

static void write_group(struct kar_json_writer *w, const struct suspend_view *v)
{
	const struct kar_suspendable *s = v->s;
	const struct kar_podgroup_spec spec = {
		.min_member = suspend_minimum(v),
		.priority_class_name = s->set.priority_class,
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

static void write_gate(struct kar_json_writer *w, const char *name)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_end_object(w);
}

/* A merge patch replaces lists, so the gates of its user are in it as well. */
static void write_template(struct kar_json_writer *w, const struct kar_suspendable *s)
{
	const char *const *gates = s->set.gates.items;

	kar_jw_key(w, "template");
	kar_jw_begin_object(w);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_POD_GROUP, s->o.name);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	if (!s->set.gated) {
		kar_jw_key(w, "spec");
		kar_jw_begin_object(w);
		kar_jw_key(w, "schedulingGates");
		kar_jw_begin_array(w);
		for (size_t i = 0; i < s->set.gates.n; i++)
			write_gate(w, gates[i]);
		write_gate(w, KAR_GATE);
		kar_jw_end_array(w);
		kar_jw_end_object(w);
	}
	kar_jw_end_object(w);
}

static void write_suspend(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_suspendable *s, bool suspends)
{
	bool ready = kar_streq(s->set.group, s->o.name) && s->set.gated;

	write_marks(w, a, suspends, !suspends);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_kv_bool(w, "suspend", suspends);
	if (!suspends && !ready)
		write_template(w, s);
	kar_jw_end_object(w);
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

int suspend_encode(const struct kar_action *a, struct kar_buf *out)
{
	const struct suspend_view *v = a->payload;
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	if (a->what == SUSPEND_MAKE)
		write_group(&w, v);
	else if (a->what == SUSPEND_FOLLOW)
		write_edit(&w, v);
	else if (a->what == SUSPEND_RESET)
		write_reset(&w, &v->s->o);
	else if (a->what == SUSPEND_FORGET)
		write_marks(&w, a, false, false);
	else
		write_suspend(&w, a, v->s, a->what == SUSPEND_SUSPEND);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return 0;
}
