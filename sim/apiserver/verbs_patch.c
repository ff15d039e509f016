#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <string.h>

#include "common/codec/yaml.h"
#include "sim/apiserver/apply.h"
#include "sim/apiserver/patch.h"

static bool refuse_media_type(struct sim_call *c)
{
	return sim_refuse(c->out, 415, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
		"application/merge-patch+json, %sapplication/apply-patch+yaml",
		c->r->custom ? "" : "application/strategic-merge-patch+json, ");
}

static bool check_options(struct sim_call *c)
{
	bool apply = c->rq->patch_type == KAR_PATCH_APPLY;
	struct sim_causes causes = { 0 };

	if (apply && (!c->rq->field_manager || !*c->rq->field_manager))
		sim_cause_add(&causes, "FieldValueRequired", "fieldManager",
			"Required value: is required for apply patch");
	if (!apply && c->rq->force)
		sim_cause_add(&causes, "FieldValueForbidden", "force",
			"Forbidden: may not be specified for non-apply patch");
	if (!causes.n)
		return true;
	sim_refuse_invalid_kind(c->out, "meta.k8s.io", "PatchOptions", "", &causes);
	sim_causes_release(&causes);
	return false;
}

/* ---- the body ---- */

static struct sim_value *parse_yaml(const struct kar_str *body, struct kar_err *err)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (kar_yaml_to_json(body->p, body->n, 0, &json, err) <= 0)
		return NULL;
	return sim_parse(kar_buf_cstr(&json), json.n, err);
}

static struct sim_value *read_patch(struct sim_call *c)
{
	struct kar_str body = c->rq->body.p ? c->rq->body : (struct kar_str){ "", 0 };
	struct kar_err err = { 0 };
	struct sim_value *v;

	if (c->rq->object)
		return sim_ref(c->rq->object);
	v = sim_parse(body.p, body.n, &err);
	if (!v && c->rq->patch_type == KAR_PATCH_APPLY)
		v = parse_yaml(&body, &err);
	if (c->rq->patch_type == KAR_PATCH_APPLY && (!body.n || sim_kind(v) == SIM_NULL)) {
		sim_unref(v);
		return sim_object(); /* in YAML nothing is a document as well */
	}
	if (!v && c->rq->patch_type == KAR_PATCH_APPLY)
		sim_refuse_bad_request(c->out, "error decoding YAML: %s", err.msg);
	else if (!v)
		sim_refuse_bad_request(c->out, "invalid JSON patch");
	return v;
}

static const char *shape(const struct sim_value *v)
{
	switch (sim_kind(v)) {
	case SIM_ARRAY:
		return "array";
	case SIM_STRING:
		return "string";
	case SIM_BOOL:
		return "bool";
	case SIM_INT:
	case SIM_REAL:
		return "number";
	default:
		return "object";
	}
}

static bool check_shape(struct sim_call *c, const struct sim_value *patch)
{
	bool json = c->rq->patch_type == KAR_PATCH_JSON;

	if (sim_kind(patch) == (json ? SIM_ARRAY : SIM_OBJECT))
		return true;
	return sim_refuse_bad_request(c->out, "%s%sjson: cannot unmarshal %s into Go value of type %s",
		c->rq->patch_type == KAR_PATCH_STRATEGIC ? "" : "error decoding patch: ",
		c->rq->patch_type == KAR_PATCH_APPLY ? "error unmarshaling JSON: while decoding JSON: " : "",
		shape(patch), json ? "[]handlers.jsonPatchOp" : "map[string]interface {}");
}

/* ---- application ---- */

static bool refuse_patch(struct sim_call *c, const struct kar_err *err, const struct sim_causes *conflicts)
{
	if (err->what == KAR_CONFLICT && conflicts) {
		struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

		sim_apply_conflict_text(conflicts, &text);
		sim_refuse(c->out, 409, "Conflict", "%s", kar_buf_cstr(&text));
		sim_status_add_causes(c->out, conflicts);
		return false;
	}
	if (err->http == 422) {
		sim_refuse(c->out, 422, "Invalid",
			"the server rejected our request due to an error in our request");
		sim_status_add_causes(c->out, NULL);
		return false;
	}
	if (err->http == 413)
		return sim_refuse(c->out, 413, "RequestEntityTooLarge", "Request entity too large: %s",
			err->msg);
	if (err->http >= 500)
		return sim_refuse(c->out, err->http, "", "%s", err->msg);
	return sim_refuse_bad_request(c->out, "%s", err->msg);
}

static bool check_applied_type(struct sim_call *c, const struct sim_value *config, const char *expected)
{
	const char *kind = sim_text_or(sim_member(config, "kind"), ""),
		   *version = sim_text_or(sim_member(config, "apiVersion"), "");

	if (!*kind || !*version || (!c->r->custom && strcmp(kind, c->r->kind) != 0)) {
		const char *slash = strchr(version, '/');

		return sim_refuse_bad_request(c->out, "invalid object type: %s%s, Kind=%s", slash ? "" : "/",
			version, kind);
	}
	if (strcmp(version, expected) != 0)
		return sim_refuse_bad_request(c->out,
			"Incorrect version specified in apply patch. Specified patch version: %s, expected: %s",
			version, expected);
	return true;
}

static bool apply(struct sim_call *c, struct sim_value **object, const struct sim_value *config)
{
	struct sim_causes conflicts = { 0 };
	char version[SIM_RESOURCE_NAME_MAX];
	struct kar_err err = { 0 };
	struct sim_apply a = { .manager = c->rq->field_manager,
		.api_version = version,
		.force = c->rq->force,
		.subresource = sim_call_is_status(c) ? "status" : NULL,
		.now = sim_timeline_wall(c->s->timeline),
		.type = c->stored->type,
		.schema = c->r->schema,
		.status_is_plain = !c->stored->has_status,
		.conflicts = &conflicts };
	bool ok;

	snprintf(version, sizeof(version), "%s%s%s", c->r->group, *c->r->group ? "/" : "", c->r->version);
	if (!check_applied_type(c, config, version))
		return false;
	ok = sim_apply(object, config, &a, &err) == 0 || refuse_patch(c, &err, &conflicts);
	sim_causes_release(&conflicts);
	return ok;
}

static bool patch_object(struct sim_call *c, struct sim_value **object, const struct sim_value *patch)
{
	struct kar_err err = { 0 };
	int rc = 0;

	switch (c->rq->patch_type) {
	case KAR_PATCH_APPLY:
		return apply(c, object, patch);
	case KAR_PATCH_MERGE:
		sim_patch_merge(object, patch);
		break;
	case KAR_PATCH_JSON:
		rc = sim_patch_json(object, patch, &err);
		break;
	case KAR_PATCH_STRATEGIC:
		rc = sim_patch_strategic(object, patch, c->stored->type, &err);
		break;
	}
	return rc == 0 || refuse_patch(c, &err, NULL);
}

/* What the patch made must still be an object of this type. */
static bool check_result(struct sim_call *c, struct sim_value **object, const struct sim_value *old)
{
	enum sim_origin origin = c->rq->patch_type == KAR_PATCH_APPLY ? SIM_FROM_APPLY : SIM_FROM_PATCH;

	if (sim_kind(*object) != SIM_OBJECT)
		return sim_refuse_bad_request(c->out, "the patched document is not an object");
	if (!sim_body_check_patched_type(c, *object))
		return false;
	if (c->r->to_stored)
		c->r->to_stored(object);
	sim_body_order(c, object);
	return sim_body_decode(c, object, old, origin) && sim_meta_check_place(c, object) &&
		sim_meta_check_name(c, *object);
}

static void patch_existing(struct sim_call *c, struct sim_version *old, const struct sim_value *patch)
{
	struct sim_value *object = sim_form_of(c->s, c->r, SIM_FORM_OBJECT, NULL, old->value);

	if (patch_object(c, &object, patch) && check_result(c, &object, old->value))
		sim_update_object(c, old, object,
			c->rq->patch_type == KAR_PATCH_APPLY ? SIM_FROM_APPLY : SIM_FROM_PATCH);
	else
		sim_unref(object);
}

/* Only apply creates, and only through the main resource. */
static void patch_missing(struct sim_call *c, const struct sim_value *patch)
{
	struct sim_value *object = NULL;
	const char *uid;

	if (c->rq->patch_type != KAR_PATCH_APPLY || c->rq->subresource) {
		sim_refuse_not_found(c->out, c->r, c->rq->name);
		return;
	}
	if (!patch_object(c, &object, patch))
		return;
	uid = sim_text_or(sim_get(object, "metadata", "uid"), "");
	if (*uid) {
		char why[SIM_KEY_MAX];

		snprintf(why, sizeof(why),
			"uid mismatch: the provided object specified uid %s, and no existing object was found",
			uid);
		sim_refuse_conflict(c->out, c->r, c->rq->name, why);
	} else if (check_result(c, &object, NULL)) {
		sim_meta_wipe(&object);
		sim_remove(&object, "metadata", "resourceVersion");
		sim_create_object(c, object, SIM_FROM_APPLY);
		return;
	}
	sim_unref(object);
}

void sim_verb_patch(struct sim_call *c)
{
	struct sim_version *old;
	struct sim_value *patch;

	if (c->rq->patch_type == KAR_PATCH_STRATEGIC && c->r->custom) {
		refuse_media_type(c);
		return;
	}
	if (!check_options(c))
		return;
	patch = read_patch(c);
	if (!patch)
		return;
	old = sim_collection_get(c->stored->objects, c->r->namespaced ? c->rq->ns : NULL, c->rq->name);
	if (check_shape(c, patch)) {
		if (old)
			patch_existing(c, old, patch);
		else
			patch_missing(c, patch);
	}
	sim_unref(patch);
}
