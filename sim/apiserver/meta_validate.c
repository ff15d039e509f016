/* The rules of ObjectMeta. Texts are those of k8s.io/apimachinery/pkg/api/validation; clients and tests compare them. */
#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/mem.h"
#include "sim/apiserver/syntax.h"

enum { ANNOTATIONS_MAX = 256 << 10 };

static void invalid(struct sim_causes *c, const char *field, const char *value, const char *why)
{
	struct kar_buf quoted KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	sim_quote(value, &quoted);
	sim_cause_add(c, "FieldValueInvalid", field, "Invalid value: %s: %s", kar_buf_cstr(&quoted), why);
}

static void invalid_json(struct sim_causes *c, const char *field, const struct sim_value *value,
	const char *why)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	sim_print(value, &json);
	sim_cause_add(c, "FieldValueInvalid", field, "Invalid value: %s: %s", kar_buf_cstr(&json), why);
}

static void complain(struct sim_causes *c, const char *field, const char *value,
	const struct sim_complaints *all)
{
	for (size_t i = 0; i < all->n; i++)
		invalid(c, field, value, all->text[i]);
}

/* ---- names ---- */

static struct sim_complaints check_path(const char *name, bool prefix)
{
	struct sim_complaints c = { 0 };

	if (!prefix && !strcmp(name, "."))
		c.text[c.n++] = "may not be '.'";
	if (!prefix && !strcmp(name, ".."))
		c.text[c.n++] = "may not be '..'";
	if (strchr(name, '/'))
		c.text[c.n++] = "may not contain '/'";
	if (strchr(name, '%'))
		c.text[c.n++] = "may not contain '%'";
	return c;
}

/* @prefix: something will be appended, so a last '-' is no fault. */
static struct sim_complaints check_name(enum sim_names rule, const char *name, bool prefix)
{
	char masked[SIM_KEY_MAX];
	size_t n = strlcpy(masked, name, sizeof(masked));

	if (prefix && n > 1 && n < sizeof(masked) && masked[n - 1] == '-' && rule != SIM_NAMES_PATH)
		strlcpy(masked + n - 2, "a", 2);
	switch (rule) {
	case SIM_NAMES_LABEL:
		return sim_check_dns_label(masked);
	case SIM_NAMES_LABEL_1035:
		return sim_check_dns_label_1035(masked);
	case SIM_NAMES_PATH:
		return check_path(name, prefix);
	case SIM_NAMES_SUBDOMAIN:
		break;
	}
	return sim_check_dns_subdomain(masked);
}

static void validate_names(const struct sim_write *w, const struct sim_value *meta, struct sim_causes *c)
{
	const char *prefix = sim_text_or(sim_member(meta, "generateName"), ""),
		   *name = sim_text_or(sim_member(meta, "name"), "");
	struct sim_complaints found;

	if (*prefix && !w->resource->custom) {
		found = check_name(w->resource->names, prefix, true);
		complain(c, "metadata.generateName", prefix, &found);
	}
	if (!*name) {
		sim_cause_add(c, "FieldValueRequired", "metadata.name",
			"Required value: name or generateName is required");
		return;
	}
	found = check_name(w->resource->names, name, false);
	complain(c, "metadata.name", name, &found);
}

static void validate_namespace(const struct sim_write *w, const struct sim_value *meta, struct sim_causes *c)
{
	const char *ns = sim_text_or(sim_member(meta, "namespace"), "");
	struct sim_complaints found;

	if (!w->resource->namespaced) {
		if (*ns)
			sim_cause_add(c, "FieldValueForbidden", "metadata.namespace",
				"Forbidden: not allowed on this type");
		return;
	}
	if (!*ns) {
		sim_cause_add(c, "FieldValueRequired", "metadata.namespace", "Required value");
		return;
	}
	found = sim_check_dns_label(ns);
	complain(c, "metadata.namespace", ns, &found);
}

/* ---- labels and annotations ---- */

static void validate_labels(const struct sim_value *labels, struct sim_causes *c)
{
	for (struct sim_member m = sim_first(labels); m.value; m = sim_next(m)) {
		struct sim_complaints key = sim_check_label_key(m.key),
				      value = sim_check_label_value(sim_text_or(m.value, ""));

		complain(c, "metadata.labels", m.key, &key);
		complain(c, "metadata.labels", sim_text_or(m.value, ""), &value);
	}
}

static void validate_annotations(const struct sim_value *annotations, struct sim_causes *c)
{
	size_t total = 0;

	for (struct sim_member m = sim_first(annotations); m.value; m = sim_next(m)) {
		char lower[SIM_KEY_MAX];
		struct sim_complaints key;

		total += strlen(m.key) + strlen(sim_text_or(m.value, ""));
		strlcpy(lower, m.key, sizeof(lower)); /* what is cut off would be too long anyway */
		for (char *p = lower; *p; p++)
			*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
		key = sim_check_label_key(lower);
		complain(c, "metadata.annotations", m.key, &key);
	}
	if (total > ANNOTATIONS_MAX)
		sim_cause_add(c, "FieldValueTooLong", "metadata.annotations",
			"Too long: may not be more than %d bytes", ANNOTATIONS_MAX);
}

/* ---- owners ---- */

static void require(const struct sim_value *owner, size_t i, const char *member, struct sim_causes *c)
{
	char field[64];

	snprintf(field, sizeof(field), "metadata.ownerReferences[%zu].%s", i, member);
	if (!*sim_text_or(sim_member(owner, member), ""))
		sim_cause_add(c, "FieldValueRequired", field, "Required value: must not be empty");
}

static void validate_owner(const struct sim_value *owner, size_t i, struct sim_causes *c)
{
	const char *version = sim_text_or(sim_member(owner, "apiVersion"), ""), *slash = strchr(version, '/');
	char field[64];

	snprintf(field, sizeof(field), "metadata.ownerReferences[%zu].apiVersion", i);
	if (*version && slash && (strchr(slash + 1, '/') || !slash[1]))
		invalid(c, field, version, "must be <group>/<version> or <version>");
	else
		require(owner, i, "apiVersion", c);
	require(owner, i, "kind", c);
	require(owner, i, "name", c);
	require(owner, i, "uid", c);
	snprintf(field, sizeof(field), "metadata.ownerReferences[%zu]", i);
	if (!strcmp(version, "v1") && !strcmp(sim_text_or(sim_member(owner, "kind"), ""), "Event"))
		invalid_json(c, field, owner, "/v1, Kind=Event is disallowed from being an owner");
}

static void validate_owners(const struct sim_value *owners, struct sim_causes *c)
{
	const struct sim_value *controller = NULL;

	for (size_t i = 0; i < sim_count(owners); i++) {
		const struct sim_value *owner = sim_item(owners, i);
		struct kar_buf why KAR_CLEANUP(kar_cleanup_buf) = { 0 };

		validate_owner(owner, i, c);
		if (!sim_bool_of(sim_member(owner, "controller"), false))
			continue;
		if (!controller) {
			controller = owner;
			continue;
		}
		kar_buf_printf(&why,
			"Only one reference can have Controller set to true. Found \"true\" in references for %s/%s and %s/%s",
			sim_text_or(sim_member(controller, "kind"), ""),
			sim_text_or(sim_member(controller, "name"), ""),
			sim_text_or(sim_member(owner, "kind"), ""),
			sim_text_or(sim_member(owner, "name"), ""));
		invalid_json(c, "metadata.ownerReferences", owners, kar_buf_cstr(&why));
	}
}

/* ---- finalizers ---- */

/* Built-in types: a name without a domain must be one that Kubernetes itself uses. */
static bool is_standard(const char *name)
{
	return !strcmp(name, "kubernetes") || !strcmp(name, "orphan") || !strcmp(name, "foregroundDeletion");
}

/* Rules of the core group that most others have taken over. */
static bool must_be_known(const struct sim_resource *r)
{
	return !r->custom && strcmp(r->group, "coordination.k8s.io") != 0 && strcmp(r->group, "policy") != 0;
}

static void validate_finalizers(const struct sim_value *finalizers, struct sim_causes *c)
{
	bool orphan = false, foreground = false;

	for (size_t i = 0; i < sim_count(finalizers); i++) {
		const char *name = sim_text_or(sim_item(finalizers, i), "");
		struct sim_complaints found = sim_check_label_key(name);

		complain(c, "metadata.finalizers", name, &found);
		orphan |= !strcmp(name, "orphan");
		foreground |= !strcmp(name, "foregroundDeletion");
	}
	if (orphan && foreground)
		invalid_json(c, "metadata.finalizers", finalizers,
			"finalizer orphan and foregroundDeletion cannot be both set");
}

/* The core group's own check, which comes last. */
static void validate_known_finalizers(const struct sim_resource *r, const struct sim_value *finalizers,
	struct sim_causes *c)
{
	for (size_t i = 0; must_be_known(r) && i < sim_count(finalizers); i++) {
		const char *name = sim_text_or(sim_item(finalizers, i), "");
		char field[64];

		snprintf(field, sizeof(field), "metadata.finalizers[%zu]", i);
		if (!strchr(name, '/') && !is_standard(name))
			invalid(c, field, name,
				"name is neither a standard finalizer name nor is it fully qualified");
	}
}

/* ---- updates ---- */

static bool has_text(const struct sim_value *list, const char *text)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), text))
			return true;
	}
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* While an object is being deleted nobody may delay that further. */
static void validate_no_new_finalizers(const struct sim_value *old, const struct sim_value *new,
	struct sim_causes *c)
{
	struct kar_buf added KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	const char **names = kar_xcalloc(sim_count(new) + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < sim_count(new); i++) {
		const char *name = sim_text_or(sim_item(new, i), "");

		if (!has_text(old, name))
			names[n++] = name;
	}
	qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n; i++) {
		kar_buf_puts(&added, i ? ", " : "");
		sim_quote(names[i], &added);
	}
	free(names);
	if (n > 0)
		sim_cause_add(c, "FieldValueForbidden", "metadata.finalizers",
			"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{%s}",
			kar_buf_cstr(&added));
}

static void validate_immutable(const struct sim_value *old, const struct sim_value *new, struct sim_causes *c)
{
	static const char *const members[] = { "name", "namespace", "uid", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds" };

	for (size_t i = 0; i < KAR_LEN(members); i++) {
		const struct sim_value *v = sim_member(new, members[i]);
		char field[64];

		if (sim_equal(v, sim_member(old, members[i])))
			continue;
		snprintf(field, sizeof(field), "metadata.%s", members[i]);
		if (v)
			invalid_json(c, field, v, "field is immutable");
		else
			sim_cause_add(c, "FieldValueInvalid", field,
				"Invalid value: null: field is immutable");
	}
}

static void validate_update(const struct sim_value *old, const struct sim_value *new, struct sim_causes *c)
{
	if (sim_member(old, "deletionTimestamp"))
		validate_no_new_finalizers(sim_member(old, "finalizers"), sim_member(new, "finalizers"), c);
	validate_immutable(old, new, c);
}

void sim_meta_validate(struct sim_write *w)
{
	const struct sim_value *meta = sim_member(*w->new, "metadata"), *old = sim_member(w->old, "metadata");
	struct sim_causes *c = &w->causes;

	if (meta == old)
		return; /* was in order when it was stored */
	if (!w->old)
		validate_names(w, meta, c);
	validate_namespace(w, meta, c);
	if (sim_member(meta, "labels") != sim_member(old, "labels") || !old)
		validate_labels(sim_member(meta, "labels"), c);
	if (sim_member(meta, "annotations") != sim_member(old, "annotations") || !old)
		validate_annotations(sim_member(meta, "annotations"), c);
	validate_owners(sim_member(meta, "ownerReferences"), c);
	validate_finalizers(sim_member(meta, "finalizers"), c);
	if (w->old)
		validate_update(old, meta, c);
	if (w->old && w->resource->custom)
		validate_update(old, meta, c); /* the API server looks twice and says so in `causes` */
	validate_known_finalizers(w->resource, sim_member(meta, "finalizers"), c);
}
