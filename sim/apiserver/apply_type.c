#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"
#include "sim/apiserver/syntax.h"

/* ---- metadata, which custom resources have too ---- */

static const struct sim_field owner_fields[] = {
	{ .name = "apiVersion", .kind = SIM_FIELD_STRING },
	{ .name = "kind", .kind = SIM_FIELD_STRING },
	{ .name = "name", .kind = SIM_FIELD_STRING },
	{ .name = "uid", .kind = SIM_FIELD_STRING },
	{ .name = "controller", .kind = SIM_FIELD_BOOL },
	{ .name = "blockOwnerDeletion", .kind = SIM_FIELD_BOOL },
};
static const struct sim_type owner_reference = { .package = "meta",
	.name = "OwnerReference",
	.fields = owner_fields,
	.n = KAR_LEN(owner_fields) };
static const struct sim_field metadata_fields[] = {
	{ .name = "name", .kind = SIM_FIELD_STRING },
	{ .name = "generateName", .kind = SIM_FIELD_STRING },
	{ .name = "namespace", .kind = SIM_FIELD_STRING },
	{ .name = "selfLink", .kind = SIM_FIELD_STRING },
	{ .name = "uid", .kind = SIM_FIELD_STRING },
	{ .name = "resourceVersion", .kind = SIM_FIELD_STRING },
	{ .name = "generation", .kind = SIM_FIELD_INT },
	{ .name = "creationTimestamp", .kind = SIM_FIELD_TIME },
	{ .name = "deletionTimestamp", .kind = SIM_FIELD_TIME },
	{ .name = "deletionGracePeriodSeconds", .kind = SIM_FIELD_INT },
	{ .name = "labels", .kind = SIM_FIELD_STRING, .map = true },
	{ .name = "annotations", .kind = SIM_FIELD_STRING, .map = true },
	{ .name = "ownerReferences",
		.kind = SIM_FIELD_MESSAGE,
		.type = &owner_reference,
		.list = true,
		.merge_key = "uid" },
	{ .name = "finalizers", .kind = SIM_FIELD_STRING, .list = true, .merge_key = "" },
	{ .name = "managedFields", .kind = SIM_FIELD_RAW, .list = true },
};
static const struct sim_type object_meta = { .package = "meta",
	.name = "ObjectMeta",
	.fields = metadata_fields,
	.n = KAR_LEN(metadata_fields) };
static const struct sim_field text_field = { .name = "apiVersion", .kind = SIM_FIELD_STRING };

/*
 * Where server-side apply divides built-in types otherwise than the merge keys of strategic patches say: the markers
 * listType, listMapKey, mapType and structType of the Go types.
 */
static const struct {
	const char *package, *message, *field; /* field "": the message itself */
	const char *as;                        /* "atomic", "set", or the keys of a map */
} exceptions[] = {
	{ "meta", "LabelSelector", "", "atomic" },
	{ "meta", "OwnerReference", "", "atomic" },
	{ "core", "ConfigMapKeySelector", "", "atomic" },
	{ "core", "Container", "ports", "containerPort,protocol" },
	{ "core", "ContainerRestartRuleOnExitCodes", "values", "set" },
	{ "core", "EndpointAddress", "", "atomic" },
	{ "core", "EndpointPort", "", "atomic" },
	{ "core", "EvictionResponder", "", "atomic" },
	{ "core", "FileKeySelector", "", "atomic" },
	{ "core", "LocalObjectReference", "", "atomic" },
	{ "core", "NodeAllocatableResourceClaimStatus", "containers", "set" },
	{ "core", "NodePodPreemptionPolicy", "disableResizePreemption", "set" },
	{ "core", "NodeSelector", "", "atomic" },
	{ "core", "NodeSelectorTerm", "", "atomic" },
	{ "core", "ObjectFieldSelector", "", "atomic" },
	{ "core", "ObjectReference", "", "atomic" },
	{ "core", "PodSpec", "nodeSelector", "atomic" },
	{ "core", "PodSpec", "topologySpreadConstraints", "topologyKey,whenUnsatisfiable" },
	{ "core", "PodStatus", "hostIPs", "atomic" },
	{ "core", "PodStatus", "volumeHealth", "name" },
	{ "core", "PodVolumeHealth", "healthConditions", "status,reason" },
	{ "core", "ResourceFieldSelector", "", "atomic" },
	{ "core", "ResourceRequirements", "claims", "name" },
	{ "core", "ResourceStatus", "resources", "resourceID" },
	{ "core", "ScopeSelector", "", "atomic" },
	{ "core", "SecretKeySelector", "", "atomic" },
	{ "core", "SecretReference", "", "atomic" },
	{ "core", "ServiceSpec", "ports", "port,protocol" },
	{ "core", "ServiceSpec", "selector", "atomic" },
	{ "core", "TypedLocalObjectReference", "", "atomic" },
	{ "core", "VolumeHealthStatus", "healthConditions", "status,reason" },
	{ "core", "VolumeMount", "bindMountOptions", "set" },
	{ "rbac", "RoleRef", "", "atomic" },
	{ "rbac", "Subject", "", "atomic" },
};

/* @field "": the message itself. NULL: the rule holds. */
static const char *exception_of(const struct sim_type *message, const char *field)
{
	for (size_t i = 0; i < KAR_LEN(exceptions); i++) {
		if (!strcmp(exceptions[i].field, field) && !strcmp(exceptions[i].message, message->name) &&
			!strcmp(exceptions[i].package, message->package))
			return exceptions[i].as;
	}
	return NULL;
}

/* Keys of list items that are there even if nobody wrote them. */
static const char *default_of_key(const struct sim_type *item, const char *key)
{
	bool port = item && (!strcmp(item->name, "ContainerPort") || !strcmp(item->name, "ServicePort"));

	return port && !strcmp(key, "protocol") ? "TCP" : NULL;
}

/* ---- what a value may be ---- */

struct apply_type apply_root(const struct sim_apply *a)
{
	return (struct apply_type){ .message = a->type,
		.node = a->schema ? a->schema->root : NULL,
		.root = true };
}

static enum apply_kind kind_of_field(const struct sim_field *f)
{
	switch (f->kind) {
	case SIM_FIELD_STRING:
	case SIM_FIELD_BYTES:
		return APPLY_TEXT;
	case SIM_FIELD_BOOL:
		return APPLY_BOOL;
	case SIM_FIELD_INT:
	case SIM_FIELD_NUMBER:
		return APPLY_NUMBER;
	default:
		return APPLY_ANY;
	}
}

static enum apply_kind kind_of_node(const struct schema_node *n)
{
	switch (n->types) {
	case TYPE_OBJECT:
		return APPLY_MAP;
	case TYPE_ARRAY:
		return APPLY_LIST;
	case TYPE_STRING:
		return n->format ? APPLY_ANY : APPLY_TEXT;
	case TYPE_INTEGER:
	case TYPE_NUMBER:
		return APPLY_NUMBER;
	case TYPE_BOOLEAN:
		return APPLY_BOOL;
	default:
		return APPLY_ANY;
	}
}

enum apply_kind apply_kind_of(struct apply_type t)
{
	if (t.field)
		return t.field->map ? APPLY_MAP : t.field->list ? APPLY_LIST : kind_of_field(t.field);
	if (t.message)
		return APPLY_MAP;
	return t.node ? kind_of_node(t.node) : APPLY_ANY;
}

/* ---- members ---- */

static struct apply_type type_of_field(const struct sim_type *owner, const struct sim_field *f)
{
	if (f->list || f->map || f->kind != SIM_FIELD_MESSAGE)
		return (struct apply_type){ .message = owner, .field = f };
	return (struct apply_type){ .message = f->type };
}

static bool common_member(const char *key, struct apply_type *out)
{
	if (!strcmp(key, "metadata"))
		*out = (struct apply_type){ .message = &object_meta };
	else if (!strcmp(key, "apiVersion") || !strcmp(key, "kind"))
		*out = (struct apply_type){ .message = &object_meta, .field = &text_field };
	else
		return false;
	return true;
}

static bool member_of_message(struct apply_type t, const char *key, struct apply_type *out)
{
	const struct sim_field *f = sim_type_field(t.message, key);

	if (f)
		*out = type_of_field(t.message, f);
	return f;
}

static bool member_of_node(struct apply_type t, const char *key, struct apply_type *out, bool *named)
{
	const struct schema_node *n = t.node, *inner = schema_property(n, key);
	bool preserves = t.preserves || n->preserves;

	*named = inner;
	*out = (struct apply_type){ .node = inner ? inner : n->additional, .preserves = preserves };
	if (inner || n->additional)
		return true;
	if (n->additional_given)
		return !n->additional_refused;
	return preserves || n->n_properties == 0;
}

/* What is in a list or map of scalars: texts are checked. */
static struct apply_type element_of(const struct sim_field *f)
{
	if (kind_of_field(f) != APPLY_TEXT)
		return (struct apply_type){ 0 };
	return (struct apply_type){ .message = &object_meta, .field = &text_field };
}

bool apply_member(struct apply_type t, const char *key, struct apply_type *out, bool *named)
{
	bool ignored;

	named = named ? named : &ignored;
	*named = true;
	*out = (struct apply_type){ 0 };
	if ((t.root || (t.node && t.node->embedded)) && common_member(key, out))
		return true;
	if (t.field && t.field->map) {
		*named = false;
		if (!t.field->list && t.field->kind == SIM_FIELD_MESSAGE)
			out->message = t.field->type;
		else if (!t.field->list)
			*out = element_of(t.field);
		return true;
	}
	if (t.message && !t.field)
		return member_of_message(t, key, out);
	if (t.node)
		return member_of_node(t, key, out, named);
	*named = false;
	return true;
}

struct apply_type apply_item(struct apply_type t)
{
	if (t.field && t.field->kind == SIM_FIELD_MESSAGE)
		return (struct apply_type){ .message = t.field->type };
	if (t.field && t.field->list)
		return element_of(t.field);
	if (t.node)
		return (struct apply_type){ .node = t.node->items,
			.preserves = t.preserves || t.node->preserves };
	return (struct apply_type){ 0 };
}

/* ---- lists ---- */

/* "atomic", "set", or the keys of a map with commas; for nodes NULL: their own keys. */
static const char *division_of(struct apply_type t)
{
	const char *as = t.field ? exception_of(t.message, t.field->name) : NULL;

	if (as)
		return as;
	if (t.field && t.field->list && t.field->merge_key)
		return *t.field->merge_key ? t.field->merge_key : "set";
	if (t.node && t.node->list == LIST_MAP)
		return NULL;
	return t.node && t.node->list == LIST_SET ? "set" : "atomic";
}

bool apply_is_atomic(struct apply_type t, const struct sim_value *v)
{
	const char *division;

	if (sim_kind(v) == SIM_ARRAY) {
		division = division_of(t);
		return division && !strcmp(division, "atomic");
	}
	if (t.field)
		return t.field->map && exception_of(t.message, t.field->name);
	if (t.message)
		return exception_of(t.message, "");
	return t.node && t.node->atomic_map;
}

/* The value of a key of @item, or its default; NULL: it has none. New reference. */
static struct sim_value *key_of(struct apply_type item_type, const struct sim_value *item, const char *key)
{
	const struct sim_value *v = sim_member(item, key);
	const struct schema_node *n = item_type.node ? schema_property(item_type.node, key) : NULL;
	const char *standard = item_type.message ? default_of_key(item_type.message, key) : NULL;

	if (v)
		return sim_ref(v);
	if (n && n->default_)
		return sim_ref(n->default_);
	return standard ? sim_string(standard) : NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum { MAX_KEYS = 16 };

/* The names of the keys, sorted, in @names; they live in @text. */
static size_t keys_of(struct apply_type t, char *text, size_t size, const char *names[MAX_KEYS])
{
	const char *division = division_of(t);
	size_t n = 0;

	if (!division) {
		for (size_t i = 0; i < sim_count(t.node->list_keys) && n < MAX_KEYS; i++)
			names[n++] = sim_text_or(sim_item(t.node->list_keys, i), "");
	} else {
		strlcpy(text, division, size);
		for (char *at = text; at && n < MAX_KEYS;)
			names[n++] = strsep(&at, ",");
	}
	qsort(names, n, sizeof(names[0]), by_text);
	return n;
}

static void say(struct kar_buf *why, const char *text)
{
	if (why)
		kar_buf_puts(why, text);
}

static char *element_of_keys(struct apply_type t, const struct sim_value *item, struct kar_buf *why)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *keys = sim_object();
	char text[128];
	const char *names[MAX_KEYS];
	size_t n = keys_of(t, text, sizeof(text), names);
	struct kar_buf out = { 0 };

	if (sim_kind(item) != SIM_OBJECT) {
		say(why,
			sim_kind(item) == SIM_NULL
				? "associative list with keys may not have a null element"
				: "associative list with keys may not have non-map elements");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		struct sim_value *v = key_of(apply_item(t), item, names[i]);

		if (v)
			sim_set(&keys, v, names[i]);
	}
	if (sim_count(keys) == 0) {
		say(why, "associative list with keys has an element that omits all key fields [");
		for (size_t i = 0; why && i < n; i++)
			kar_buf_printf(why, "%s\"%s\"", i ? " " : "", names[i]);
		say(why, "] (and doesn't have default values for any key fields)");
		return NULL;
	}
	kar_buf_puts(&out, "k:");
	sim_print(keys, &out);
	return kar_buf_detach(&out);
}

char *apply_element(struct apply_type t, const struct sim_value *item, struct kar_buf *why)
{
	const char *division = division_of(t);
	struct kar_buf out = { 0 };

	if (!division || strcmp(division, "set") != 0)
		return element_of_keys(t, item, why);
	switch (sim_kind(item)) {
	case SIM_OBJECT:
		say(why, "associative list without keys has an element that's a map type");
		return NULL;
	case SIM_ARRAY:
		say(why, "not supported: associative list with lists as elements");
		return NULL;
	case SIM_NULL:
		say(why, "associative list without keys has an element that's an explicit null");
		return NULL;
	default:
		kar_buf_puts(&out, "v:");
		sim_print(item, &out);
		return kar_buf_detach(&out);
	}
}
