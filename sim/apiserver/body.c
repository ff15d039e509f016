#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <string.h>

#include "sim/apiserver/schema.h"
#include "sim/apiserver/syntax.h"
#include "sim/apiserver/types.h"

enum { SHOWN_MAX = 30 }; /* bytes of a body that error texts repeat */

/* "(<empty>)", the first bytes as they are if it may be JSON, else in hexadecimal: how Go shows what it cannot read. */
static void show_body(const struct kar_str *body, struct kar_buf *out)
{
	bool json = body->n > 0 && body->p[0] == '{';
	size_t shown = body->n < SHOWN_MAX ? body->n : SHOWN_MAX;

	if (body->n == 0)
		kar_buf_puts(out, "<empty>");
	else if (json)
		kar_buf_append(out, body->p, shown);
	for (size_t i = 0; !json && i < shown; i++)
		kar_buf_printf(out, "%02x", (unsigned char)body->p[i]);
	if (body->n > SHOWN_MAX)
		kar_buf_puts(out, " ...");
}

/* DeleteOptions are decoded by a codec that says less. */
static void refuse_json(struct sim_call *c, const struct kar_str *body, const char *why)
{
	struct kar_buf shown KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	show_body(body, &shown);
	if (c->rq->verb == KAR_DELETE || c->rq->verb == KAR_DELETECOLLECTION)
		sim_refuse_bad_request(c->out, "couldn't get version/kind; json parse error: %s", why);
	else
		sim_refuse_bad_request(c->out,
			"the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %s (%s)",
			c->r->kind, why, kar_buf_cstr(&shown));
}

/* Go names of JSON values. */
const char *sim_body_kind_name(const struct sim_value *v)
{
	static const char *const names[] = {
		[SIM_ABSENT] = "null",
		[SIM_NULL] = "null",
		[SIM_BOOL] = "bool",
		[SIM_INT] = "number",
		[SIM_REAL] = "number",
		[SIM_STRING] = "string",
		[SIM_ARRAY] = "array",
		[SIM_OBJECT] = "object",
	};

	return names[sim_kind(v)];
}

/* Of every object kind and apiVersion are looked at first; @why is what Go says if that fails. */
static bool has_type(const struct sim_value *v, char *why, size_t size)
{
	static const char *const members[] = { "apiVersion", "kind" };

	if (sim_kind(v) != SIM_OBJECT && sim_kind(v) != SIM_NULL) {
		snprintf(why, size,
			"json: cannot unmarshal %s into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
			"Kind string \"json:\\\"kind,omitempty\\\"\" }",
			sim_body_kind_name(v));
		return false;
	}
	for (size_t i = 0; i < KAR_LEN(members); i++) {
		const struct sim_value *member = sim_member(v, members[i]);

		if (sim_kind(member) <= SIM_NULL || sim_kind(member) == SIM_STRING)
			continue;
		snprintf(why, size, "json: cannot unmarshal %s into Go struct field .%s of type string",
			sim_body_kind_name(member), members[i]);
		return false;
	}
	return true;
}

struct sim_value *sim_body_json(struct sim_call *c)
{
	struct kar_str body = c->rq->body.p ? c->rq->body : (struct kar_str){ "", 0 };
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_err err = { 0 };
	struct sim_value *v;
	char why[256];

	v = c->rq->object ? sim_ref(c->rq->object) : sim_parse(body.p, body.n, &err);
	if (!v) {
		refuse_json(c, &body, err.msg);
		return NULL;
	}
	if (has_type(v, why, sizeof(why)))
		return v;
	if (c->rq->object) {
		sim_print(v, &text);
		body = (struct kar_str){ kar_buf_cstr(&text), text.n };
	}
	refuse_json(c, &body, why);
	sim_unref(v);
	return NULL;
}

static const char *api_version(const struct sim_resource *r, char out[SIM_RESOURCE_NAME_MAX])
{
	snprintf(out, SIM_RESOURCE_NAME_MAX, "%s%s%s", r->group, *r->group ? "/" : "", r->version);
	return out;
}

/* The body as it was sent, and its beginning. */
static void show_source(struct sim_call *c, const struct sim_value *v, struct kar_buf *text,
	struct kar_buf *shown)
{
	if (c->rq->object)
		sim_print(v, text);
	else
		kar_buf_append(text, c->rq->body.p, c->rq->body.n);
	show_body(&(struct kar_str){ kar_buf_cstr(text), text->n }, shown);
}

/* Custom resources must name both; of built-in ones the path tells. */
static bool check_custom_type(struct sim_call *c, const struct sim_value *v, const char *kind,
	const char *version)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 }, shown KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	char expected[SIM_RESOURCE_NAME_MAX];

	api_version(c->r, expected);
	if (!*kind) {
		show_source(c, v, &text, &shown);
		if (c->rq->field_validation &&
			!strcmp(c->rq->field_validation, "Ignore")) /* read by another decoder */
			return sim_refuse_bad_request(c->out,
				"%s in version \"%s\" cannot be handled as a %s: Object 'Kind' is missing in '%s'",
				c->r->kind, c->r->version, c->r->kind, kar_buf_cstr(&text));
		return sim_refuse_bad_request(c->out,
			"the object provided is unrecognized (must be of type %s): Object 'Kind' is missing in '%s' (%s)",
			c->r->kind, kar_buf_cstr(&text), kar_buf_cstr(&shown));
	}
	if (strcmp(version, expected) != 0)
		return sim_refuse_bad_request(c->out,
			"the API version in the data (%s) does not match the expected API version (%s)",
			version, expected);
	return true;
}

static bool type_is_built_in(struct sim_call *c, const char *kind, const char *version)
{
	char expected[SIM_RESOURCE_NAME_MAX];

	api_version(c->r, expected);
	return (!*kind || !strcmp(kind, c->r->kind)) && (!*version || !strcmp(version, expected));
}

/* Another kind that exists is decoded, but cannot be converted; Go names the packages of both. */
static void explain_type(struct sim_call *c, const char *kind, const char *version, struct kar_buf *out)
{
	const char *slash = strrchr(version, '/'), *package = *c->r->group ? c->r->group : "core";
	char expected[SIM_RESOURCE_NAME_MAX];

	api_version(c->r, expected);
	if (*kind && (!*version || !strcmp(version, expected)) &&
		sim_types_find(c->s->types, c->r->group, kind))
		kar_buf_printf(out, "converting (%s.%s) to (%.*s.%s): unknown conversion", c->r->version,
			kind, (int)strcspn(package, "."), package, c->r->kind);
	else
		kar_buf_printf(out, "no kind \"%s\" is registered for version \"%s\"",
			*kind ? kind : c->r->kind,
			*version        ? version
				: slash ? slash + 1
					: expected);
}

static bool check_built_in_type(struct sim_call *c, const char *kind, const char *version)
{
	struct kar_buf why KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	const char *slash = strrchr(version, '/');

	if (type_is_built_in(c, kind, version))
		return true;
	explain_type(c, kind, version, &why);
	return sim_refuse_bad_request(c->out, "%s in version \"%s\" cannot be handled as a %s: %s",
		*kind ? kind : c->r->kind, slash ? slash + 1 : version, c->r->kind, kar_buf_cstr(&why));
}

void sim_body_order(struct sim_call *c, struct sim_value **object)
{
	/* A custom resource keeps a wrong kind until validation finds it. */
	const char *kind = c->r->custom ? sim_text_or(sim_member(*object, "kind"), "") : c->stored->kind;
	char version[SIM_RESOURCE_NAME_MAX];
	struct sim_member first = sim_first(*object);
	struct sim_member second = first.value ? sim_next(first) : first;
	struct sim_value *ordered;

	api_version(c->stored, version);
	if (second.value && !strcmp(first.key, "kind") && !strcmp(second.key, "apiVersion") &&
		!strcmp(sim_text_or(first.value, ""), kind) &&
		!strcmp(sim_text_or(second.value, ""), version))
		return;
	ordered = sim_form_typed(kind, version);
	for (struct sim_member m = first; m.value; m = sim_next(m)) {
		if (strcmp(m.key, "kind") != 0 && strcmp(m.key, "apiVersion") != 0)
			sim_set(&ordered, sim_ref(m.value), m.key);
	}
	sim_unref(*object);
	*object = ordered;
}

/* Everything that follows edits metadata, so it must be an object first. */
static bool check_metadata(struct sim_call *c, const struct sim_value *v)
{
	const struct sim_value *meta = sim_member(v, "metadata");

	if (sim_kind(meta) == SIM_OBJECT || sim_kind(meta) <= SIM_NULL)
		return true;
	if (c->r->custom)
		return sim_refuse_bad_request(c->out,
			"%s in version \"%s\" cannot be handled as a %s: json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
			c->r->kind, c->r->version, c->r->kind, sim_body_kind_name(meta));
	return sim_refuse_bad_request(c->out,
		"%s in version \"%s\" cannot be handled as a %s: json: cannot unmarshal %s into Go struct field %s.metadata of type "
		"v1.ObjectMeta",
		c->r->kind, c->r->version, c->r->kind, sim_body_kind_name(meta), c->r->kind);
}

/* GROUP/VERSION has at most one slash. */
static bool check_version(struct sim_call *c, const struct sim_value *v, const char *version)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 }, shown KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (strchr(version, '/') == strrchr(version, '/'))
		return true;
	show_source(c, v, &text, &shown);
	return sim_refuse_bad_request(c->out,
		"the object provided is unrecognized (must be of type %s): unexpected GroupVersion string: %s (%s)",
		c->r->kind, version, kar_buf_cstr(&shown));
}

static bool type_is_right(struct sim_call *c, const struct sim_value *v)
{
	const char *kind = sim_text_or(sim_member(v, "kind"), ""),
		   *version = sim_text_or(sim_member(v, "apiVersion"), "");

	if (!check_metadata(c, v) || !check_version(c, v, version))
		return false;
	return c->r->custom ? check_custom_type(c, v, kind, version) : check_built_in_type(c, kind, version);
}

/* ---- decoding ---- */

/* 422: what a patch made of an object cannot be read. */
static bool refuse_patched(struct sim_call *c, const struct sim_value *object, const char *why)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 }, quoted KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_causes causes = { 0 };

	sim_print(object, &json);
	sim_quote(kar_buf_cstr(&json), &quoted);
	sim_cause_add(&causes, "FieldValueInvalid", "patch", "Invalid value: %s: %s", kar_buf_cstr(&quoted),
		why);
	sim_refuse_invalid_kind(c->out, "", "", "", &causes);
	sim_causes_release(&causes);
	return false;
}

static bool refuse_decoded(struct sim_call *c, const struct sim_value *object, enum sim_origin origin,
	const char *why)
{
	if (origin == SIM_FROM_PATCH)
		return refuse_patched(c, object, why);
	return sim_refuse_bad_request(c->out, "%s in version \"%s\" cannot be handled as a %s: %s",
		c->r->kind, c->r->version, c->r->kind, why);
}

bool sim_body_check_patched_type(struct sim_call *c, const struct sim_value *object)
{
	const char *kind = sim_text_or(sim_member(object, "kind"), ""),
		   *version = sim_text_or(sim_member(object, "apiVersion"), "");
	struct kar_buf why KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (c->r->custom || type_is_built_in(c, kind, version))
		return true;
	explain_type(c, kind, version, &why);
	return refuse_patched(c, object, kar_buf_cstr(&why));
}

static void print_unknown(const struct sim_value *removed, struct kar_buf *out)
{
	for (size_t i = 0; i < sim_count(removed); i++) {
		kar_buf_puts(out, i ? ", unknown field " : "unknown field ");
		sim_quote(sim_text_or(sim_item(removed, i), ""), out);
	}
}

static bool refuse_unknown(struct sim_call *c, const struct sim_value *removed,
	const struct sim_value *object, enum sim_origin origin)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_buf_puts(&text, "strict decoding error: ");
	print_unknown(removed, &text);
	return refuse_decoded(c, object, origin, kar_buf_cstr(&text));
}

static void warn_unknown(struct sim_call *c, const struct sim_value *removed)
{
	for (size_t i = 0; i < sim_count(removed); i++) {
		kar_buf_puts(&c->warnings, c->warnings.n ? "\nunknown field " : "unknown field ");
		sim_quote(sim_text_or(sim_item(removed, i), ""), &c->warnings);
	}
}

bool sim_body_decode(struct sim_call *c, struct sim_value **object, const struct sim_value *old,
	enum sim_origin origin)
{
	const char *how = c->rq->field_validation ? c->rq->field_validation : "Ignore";
	struct sim_value *removed KAR_CLEANUP(sim_cleanup_value) = sim_array();
	struct sim_value *before KAR_CLEANUP(sim_cleanup_value) = sim_ref(*object);
	struct kar_err err = { 0 };

	if (c->r->custom && sim_meta_canonical(object, &removed, &err))
		return refuse_decoded(c, before, origin, err.msg);
	if (c->r->custom && c->r->schema)
		sim_schema_prune(c->r->schema, object, &removed);
	else if (c->stored->type && strcmp(how, "Ignore") != 0)
		sim_types_prune(c->stored->type, object, &removed);
	if (c->stored->type && sim_types_decode(c->stored->type, object, old, &err))
		return refuse_decoded(c, before, origin, err.msg);
	if (sim_count(removed) == 0 || !strcmp(how, "Ignore"))
		return true;
	/* What says that it is of another kind is not compared with this schema. */
	if (c->r->custom && strcmp(sim_text_or(sim_member(*object, "kind"), ""), c->r->kind) != 0)
		return true;
	if (!strcmp(how, "Strict"))
		return refuse_unknown(c, removed, before, origin);
	warn_unknown(c, removed);
	return true;
}

/* ---- the body as an object ---- */

/* What the update is going to replace; NULL: nothing. */
static const struct sim_value *there(const struct sim_call *c)
{
	const struct sim_version *v = NULL;

	if (c->rq->verb == KAR_UPDATE && c->rq->name)
		v = sim_collection_get(c->stored->objects, c->stored->namespaced ? c->rq->ns : NULL,
			c->rq->name);
	return v ? v->value : NULL;
}

struct sim_value *sim_body_object(struct sim_call *c)
{
	struct sim_value *v = sim_body_json(c);
	bool ok;

	if (!v)
		return NULL;
	ok = type_is_right(c, v);
	if (ok && sim_kind(v) == SIM_NULL) /* an object of this type without members */
		v = sim_object();
	if (ok && c->r->to_stored)
		c->r->to_stored(&v);
	if (ok) {
		sim_body_order(c, &v);
		ok = sim_body_decode(c, &v, there(c), SIM_FROM_BODY);
	}
	if (ok)
		return v;
	sim_unref(v);
	return NULL;
}
