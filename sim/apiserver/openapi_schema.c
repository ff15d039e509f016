/* Built-in messages as OpenAPI schemas. */
#include <string.h>

#include "sim/apiserver/openapi.h"

#define QUANTITY "io.k8s.apimachinery.pkg.api.resource.Quantity"
#define INT_OR_STRING "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
#define TIME "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
#define MICRO_TIME "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"

struct sim_value *sim_openapi_ref(const char *component, const char *text)
{
	struct sim_value *v = sim_object(), *ref = sim_object(), *all = sim_array();

	sim_set(&ref, sim_printf("#/components/schemas/%s", component), "$ref");
	sim_append(&all, ref);
	sim_set(&v, all, "allOf");
	if (text)
		sim_set_text(&v, text, "description");
	return v;
}

static struct sim_value *plain(const char *type, const char *format)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, type, "type");
	if (format)
		sim_set_text(&v, format, "format");
	return v;
}

static struct sim_value *value_schema(const struct sim_field *f)
{
	switch (f->kind) {
	case SIM_FIELD_MESSAGE:
		return sim_openapi_ref(f->type->openapi_name, NULL);
	case SIM_FIELD_BOOL:
		return plain("boolean", NULL);
	case SIM_FIELD_INT:
		return plain("integer", NULL);
	case SIM_FIELD_NUMBER:
		return plain("number", "double");
	case SIM_FIELD_BYTES:
		return plain("string", "byte");
	case SIM_FIELD_TIME:
		return sim_openapi_ref(TIME, NULL);
	case SIM_FIELD_MICROTIME:
		return sim_openapi_ref(MICRO_TIME, NULL);
	case SIM_FIELD_QUANTITY:
		return sim_openapi_ref(QUANTITY, NULL);
	case SIM_FIELD_INT_OR_STRING:
		return sim_openapi_ref(INT_OR_STRING, NULL);
	case SIM_FIELD_RAW:
		return plain("object", NULL);
	default:
		return plain("string", NULL);
	}
}

static struct sim_value *list_of(const struct sim_field *f)
{
	struct sim_value *v = plain("array", NULL);

	sim_set(&v, value_schema(f), "items");
	if (f->merge_key)
		sim_set_text(&v, f->retain_keys ? "merge,retainKeys" : "merge",
			"x-kubernetes-patch-strategy");
	if (f->merge_key && *f->merge_key)
		sim_set_text(&v, f->merge_key, "x-kubernetes-patch-merge-key");
	return v;
}

/* Values of maps are referred to without allOf: kubectl explain would not find their type. */
static struct sim_value *bare(struct sim_value *consumed)
{
	struct sim_value *all = sim_get(consumed, "allOf"), *v = sim_ref(all ? sim_item(all, 0) : consumed);

	sim_unref(consumed);
	return v;
}

static struct sim_value *field_schema(const struct sim_type *t, const struct sim_field *f)
{
	const char *text = sim_openapi_text(t->name, f->name);
	struct sim_value *v = f->list ? list_of(f) : value_schema(f), *map;

	if (f->map) {
		map = plain("object", NULL);
		sim_set(&map, bare(v), "additionalProperties");
		v = map;
	}
	if (f->retain_keys && !f->list)
		sim_set_text(&v, "retainKeys", "x-kubernetes-patch-strategy");
	if (text)
		sim_set_text(&v, text, "description");
	return v;
}

static void add_fields(const struct sim_type *t, struct sim_value **properties, struct sim_value **required)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct sim_field *f = &t->fields[i];

		if (f->inlined) {
			add_fields(f->type, properties, required);
			continue;
		}
		sim_set(properties, field_schema(t, f), f->name);
		if (f->always && !f->pointer)
			sim_append(required, sim_string(f->name));
	}
}

static struct sim_value *message_schema(const struct sim_type *t)
{
	struct sim_value *v = plain("object", NULL), *properties = sim_object(), *required = sim_array();
	const char *text = sim_openapi_text(t->name, NULL);

	add_fields(t, &properties, &required);
	if (text)
		sim_set_text(&v, text, "description");
	else
		sim_set(&v,
			sim_printf(
				"%s of the Kubernetes API; see https://kubernetes.io/docs/reference/kubernetes-api/",
				t->name),
			"description");
	sim_set(&v, properties, "properties");
	if (sim_count(required))
		sim_set(&v, sim_ref(required), "required");
	sim_unref(required);
	return v;
}

static void add_referred(struct sim_value **schemas, const struct sim_type *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->fields[i].inlined)
			add_referred(schemas, t->fields[i].type);
		else if (t->fields[i].type)
			sim_openapi_add_type(schemas, t->fields[i].type);
	}
}

void sim_openapi_add_type(struct sim_value **schemas, const struct sim_type *t)
{
	if (sim_member(*schemas, t->openapi_name))
		return;
	sim_set(schemas, message_schema(t), t->openapi_name);
	add_referred(schemas, t);
}

/* {"oneOf":[{"type":...},{"type":...}]}: kubectl shows the name of such a component instead of a type. */
static struct sim_value *either(const char *a, const char *b, const char *format)
{
	struct sim_value *v = sim_object(), *kinds = sim_array();

	sim_append(&kinds, plain(a, NULL));
	sim_append(&kinds, plain(b, NULL));
	sim_set(&v, kinds, "oneOf");
	if (format)
		sim_set_text(&v, format, "format");
	return v;
}

static void add_scalar(struct sim_value **schemas, const char *name, struct sim_value *consumed,
	const char *text)
{
	sim_set_text(&consumed, text, "description");
	sim_set(schemas, consumed, name);
}

void sim_openapi_add_scalars(struct sim_value **schemas)
{
	add_scalar(schemas, TIME, plain("string", "date-time"), "A moment, as in 2026-11-21T13:46:27Z.");
	add_scalar(schemas, MICRO_TIME, plain("string", "date-time"),
		"A moment with microseconds, as in 2026-11-21T13:46:27.123456Z.");
	add_scalar(schemas, QUANTITY, either("string", "number", NULL),
		"A number with a unit: 500m, 2, 1.5Gi.");
	add_scalar(schemas, INT_OR_STRING, either("integer", "string", "int-or-string"),
		"A number, or a text such as 25%.");
}
