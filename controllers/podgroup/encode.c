/*
 * Patches of pods of other controllers, which the API server refuses if the uid or resourceVersion in them does not match, and groups that
 * are made for such pods.
 */
#include "controllers/podgroup/release.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/names.h"
#include "api/new_object.h"
#include "api/pod/pod_pin.h"
#include "common/codec/json.h"
#include "controllers/podset/podset.h"

/* kar_pod_gang() */
struct gang {
	int32_t min_member;
	struct kar_str annotations;
};
static const struct kar_field gang_fields[] = {
	KAR_FIELD(struct gang, min_member, "minMember", KAR_F_INT32),
	KAR_FIELD(struct gang, annotations, "annotations", KAR_F_RAW),
};
static const struct kar_desc gang_desc = KAR_DESC("gang", struct gang, gang_fields);

/* @annotation: to be set to "true"; NULL: none. */
static void begin(struct kar_json_writer *w, const struct kar_action *a, const char *annotation)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	kar_jw_begin_object(w);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", a->uid);
	kar_jw_kv_string(w, "resourceVersion", version);
	if (annotation) {
		kar_jw_key(w, "annotations");
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, annotation, "true");
		kar_jw_end_object(w);
	}
	kar_jw_end_object(w);
}

/* Removes only our gate, which is identified by its name, says so, and adds the node to each term of the affinity. */
static int write_release(struct kar_json_writer *w, const struct kar_action *a, struct kar_arena *arena,
	struct kar_err *err)
{
	const struct podgroup_pod_patch *p = a->payload;
	const struct kar_pair *labels = p->domain.items, *more = p->flavor.labels.items;
	struct kar_template_affinity own = { 0 };
	int rc = 0;

	if (p->terms)
		own.node.required.terms = (struct kar_str){ p->terms, strlen(p->terms) };
	begin(w, a, KAR_ANNOTATION_RELEASED);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_key(w, "schedulingGates");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "$patch", "delete");
	kar_jw_kv_string(w, "name", KAR_GATE);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
	if (p->domain.n || p->flavor.labels.n) {
		kar_jw_key(w, "nodeSelector");
		kar_jw_begin_object(w);
		for (size_t i = 0; i < p->domain.n; i++) {
			if (!kar_pairs_get(&p->flavor.labels, labels[i].key))
				kar_jw_kv_string(w, labels[i].key, labels[i].value);
		}
		for (size_t i = 0; i < p->flavor.labels.n; i++)
			kar_jw_kv_string(w, more[i].key, more[i].value);
		kar_jw_end_object(w);
	}
	if (p->node[0])
		rc = kar_pin_write(w, &own, p->node, arena, err);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	return rc;
}

static int write_disrupt(struct kar_json_writer *w, const struct kar_action *a,
	struct kar_arena *arena KAR_UNUSED, struct kar_err *err KAR_UNUSED)
{
	begin(w, a, NULL);
	podset_write_disruption(w, a->payload);
	kar_jw_end_object(w);
	return 0;
}

static int write_made(struct kar_json_writer *w, const struct kar_action *a, struct kar_arena *arena,
	struct kar_err *err)
{
	const char *text = a->payload;
	struct gang gang = { 0 };

	if (kar_json_decode(arena, &gang_desc, NULL, text, strlen(text), &gang, err))
		return -1;
	kar_jw_begin_object(w);
	kar_new_object_begin(w, &kar_podgroup_type.res, a->ns, a->name);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_MADE, "true");
	kar_jw_end_object(w);
	kar_jw_key(w, "annotations");
	kar_jw_raw(w, gang.annotations);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minMember", gang.min_member);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	return 0;
}

/* As kube-scheduler does; refused if another pod has the name by now. */
static int write_binding(struct kar_json_writer *w, const struct kar_action *a,
	struct kar_arena *arena KAR_UNUSED, struct kar_err *err KAR_UNUSED)
{
	const struct podgroup_pod_patch *p = a->payload;

	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "apiVersion", "v1");
	kar_jw_kv_string(w, "kind", "Binding");
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", a->name);
	kar_jw_kv_string(w, "namespace", a->ns ? a->ns : "");
	kar_jw_kv_string(w, "uid", a->uid);
	kar_jw_end_object(w);
	kar_jw_key(w, "target");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "apiVersion", "v1");
	kar_jw_kv_string(w, "kind", "Node");
	kar_jw_kv_string(w, "name", p->node);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	return 0;
}

int podgroup_encode(const struct kar_action *a, struct kar_arena *arena, struct kar_buf *out,
	struct kar_err *err)
{
	int (*const write)(struct kar_json_writer * w, const struct kar_action *a, struct kar_arena *arena,
		struct kar_err *err) = a->what == PODGROUP_RELEASE ? write_release
		: a->what == PODGROUP_BIND                         ? write_binding
		: a->what == PODGROUP_MAKE                         ? write_made
								   : write_disrupt;
	struct kar_json_writer w;
	int rc;

	kar_json_writer_init(&w, out);
	rc = write(&w, a, arena, err);
	kar_json_writer_release(&w);
	return rc;
}
