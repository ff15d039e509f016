/* What a CustomResourceDefinition may say. Texts are those of k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation. */
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "sim/apiserver/core.h"
#include "sim/apiserver/crd.h"
#include "sim/apiserver/schema.h"
#include "sim/apiserver/syntax.h"

enum { FIELD_MAX = 160 };

/* ---- causes ---- */

static bool require(struct sim_write *w, const char *field, const struct sim_value *v)
{
	if (sim_kind(v) == SIM_STRING ? *sim_text(v) != '\0' : v != NULL)
		return true;
	sim_cause_add(&w->causes, "FieldValueRequired", field, "Required value");
	return false;
}

static void invalid(struct sim_write *w, const char *field, const struct sim_value *v, const char *why)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (v)
		sim_print(v, &json);
	sim_cause_add(&w->causes, "FieldValueInvalid", field, "Invalid value: %s: %s",
		v ? kar_buf_cstr(&json) : "null", why);
}

/* One cause for all that is wrong with the text @v; @checked: what is looked at, if not @v itself. */
static void check_grammar(struct sim_write *w, const char *field, const struct sim_value *v,
	const char *checked, struct sim_complaints (*grammar)(const char *), const char *before)
{
	struct kar_buf why KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_complaints c = grammar(checked);

	if (!c.n || !*checked)
		return;
	kar_buf_puts(&why, before);
	for (size_t i = 0; i < c.n; i++)
		kar_buf_printf(&why, "%s%s", i ? "," : "", c.text[i]);
	invalid(w, field, v, kar_buf_cstr(&why));
}

static void check_label(struct sim_write *w, const char *field, const struct sim_value *v)
{
	check_grammar(w, field, v, sim_text_or(v, ""), sim_check_dns_label_1035, "");
}

/* ---- group ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void validate_group(struct sim_write *w)
{
	const struct sim_value *v = sim_get(*w->new, "spec", "group");
	const char *group = sim_text_or(v, "");

	if (!require(w, "spec.group", v))
		return;
	check_grammar(w, "spec.group", v, group, sim_check_dns_subdomain, "");
	if (!sim_check_dns_subdomain(group).n && !strchr(group, '.'))
		invalid(w, "spec.group", v, "should be a domain with at least one dot");
}

/* Groups of the Kubernetes project take only what it has approved, or what says that it is not. */
static void validate_approval(struct sim_write *w)
{
	static const char field[] = "metadata.annotations[api-approved.kubernetes.io]";
	static const char why[] =
		"protected groups must have approval annotation \"api-approved.kubernetes.io\"";
	static const char see[] = ", see https://github.com/kubernetes/enhancements/pull/1111";
	const char *group = sim_text_or(sim_get(*w->new, "spec", "group"), "");
	const struct sim_value *v = sim_get(*w->new, "metadata", "annotations", "api-approved.kubernetes.io");
	const char *text = sim_text_or(v, "");
	struct kar_buf wrong KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (strcmp(group, "k8s.io") != 0 && !ends_with(group, ".k8s.io") &&
		strcmp(group, "kubernetes.io") != 0 && !ends_with(group, ".kubernetes.io"))
		return;
	if (!*text) {
		sim_cause_add(&w->causes, "FieldValueRequired", field, "Required value: %s%s", why, see);
	} else if (strncmp(text, "unapproved", strlen("unapproved")) != 0 && !strstr(text, "://")) {
		kar_buf_printf(&wrong, "%s with either a URL or a reason starting with \"unapproved\"%s", why,
			see);
		invalid(w, field, v, kar_buf_cstr(&wrong));
	}
}

/* ---- names ---- */

static void check_kind(struct sim_write *w, const char *field, const struct sim_value *v)
{
	char lower[SIM_KEY_MAX];

	strlcpy(lower, sim_text_or(v, ""), sizeof(lower));
	for (char *p = lower; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	check_grammar(w, field, v, lower, sim_check_dns_label_1035,
		"may have mixed case, but should otherwise match: ");
}

static void check_labels(struct sim_write *w, const char *member)
{
	const struct sim_value *list = sim_get(*w->new, "spec", "names", member);
	char field[FIELD_MAX];

	for (size_t i = 0; i < sim_count(list); i++) {
		snprintf(field, sizeof(field), "spec.names.%s[%zu]", member, i);
		check_label(w, field, sim_item(list, i));
	}
}

static void validate_names(struct sim_write *w)
{
	static const struct {
		const char *name;
		void (*check)(struct sim_write *w, const char *field, const struct sim_value *v);
	} members[] = { { "plural", check_label }, { "singular", check_label }, { "kind", check_kind },
		{ "listKind", check_kind } };
	const struct sim_value *names = sim_get(*w->new, "spec", "names");
	const struct sim_value *kind = sim_member(names, "kind"), *list_kind = sim_member(names, "listKind");
	char field[FIELD_MAX];

	for (size_t i = 0; i < KAR_LEN(members); i++) {
		const struct sim_value *v = sim_member(names, members[i].name);

		snprintf(field, sizeof(field), "spec.names.%s", members[i].name);
		if (require(w, field, v))
			members[i].check(w, field, v);
	}
	check_labels(w, "shortNames");
	check_labels(w, "categories");
	if (kind && sim_equal(kind, list_kind))
		invalid(w, "spec.names.listKind", list_kind, "kind and listKind may not be the same");
}

/* ---- versions ---- */

/* @text: "FIELD: MESSAGE", as schemas are refused. */
static void add_schema_cause(struct sim_write *w, const char *text)
{
	static const struct {
		const char *begins, *reason;
	} known[] = { { "Required value", "FieldValueRequired" }, { "Forbidden", "FieldValueForbidden" },
		{ "Unsupported value", "FieldValueNotSupported" }, { "", "FieldValueInvalid" } };
	const char *message = strstr(text, ": ");
	char field[512];
	size_t i = 0;

	snprintf(field, sizeof(field), "%.*s", message ? (int)(message - text) : 0, text);
	message = message ? message + 2 : text;
	while (strncmp(message, known[i].begins, strlen(known[i].begins)) != 0)
		i++;
	sim_cause_add(&w->causes,
		strstr(message, "must be of type") ? "FieldValueTypeInvalid" : known[i].reason, field, "%s",
		message);
}

static void validate_column(struct sim_write *w, const struct sim_value *column, const char *at)
{
	static const char types[] = " boolean date integer number string ";
	static const char expected[] = "must be one of boolean,date,integer,number,string";
	const struct sim_value *type = sim_member(column, "type"), *path = sim_member(column, "jsonPath");
	char field[FIELD_MAX], word[32];

	snprintf(field, sizeof(field), "%s.name", at);
	require(w, field, sim_member(column, "name"));
	snprintf(field, sizeof(field), "%s.type", at);
	snprintf(word, sizeof(word), " %.20s ", sim_text_or(type, ""));
	if (!*sim_text_or(type, ""))
		sim_cause_add(&w->causes, "FieldValueRequired", field, "Required value: %s", expected);
	else if (!strstr(types, word))
		invalid(w, field, type, expected);
	snprintf(field, sizeof(field), "%s.JSONPath", at);
	if (require(w, field, path) && *sim_text_or(path, "") != '.')
		invalid(w, field, path, "must be a simple json path starting with .");
}

/* Columns of the only version are known as those of the whole definition. */
static void validate_columns(struct sim_write *w, const struct sim_value *columns)
{
	char at[64];

	for (size_t i = 0; i < sim_count(columns); i++) {
		snprintf(at, sizeof(at), "spec.additionalPrinterColumns[%zu]", i);
		validate_column(w, sim_item(columns, i), at);
	}
}

static void validate_version(struct sim_write *w, const struct sim_value *version)
{
	const struct sim_value *schema = sim_get(version, "schema", "openAPIV3Schema");
	const struct sim_value *name = sim_member(version, "name");
	struct kar_err err = { 0 };
	struct sim_schema *compiled;

	if (require(w, "spec.versions[0].name", name))
		check_label(w, "spec.versions[0].name", name);
	check_label(w, "spec.version", name); /* its old place */
	validate_columns(w, sim_member(version, "additionalPrinterColumns"));
	if (!require(w, "spec.versions[0].schema.openAPIV3Schema", schema))
		return;
	compiled = sim_schema_new(schema, &err);
	if (!compiled)
		add_schema_cause(w, err.msg);
	sim_schema_free(compiled);
}

/* The only rule here that kube-apiserver has not is that there is one version. */
static void validate_versions(struct sim_write *w)
{
	const struct sim_value *versions = sim_get(*w->new, "spec", "versions"),
			       *only = sim_item(versions, 0);

	if (sim_count(versions) > 1) {
		sim_cause_add(&w->causes, "FieldValueForbidden", "spec.versions",
			"Forbidden: the simulated API server serves one version of a resource; leave the others out");
		return;
	}
	if (only)
		validate_version(w, only);
	if (!sim_bool_of(sim_member(only, "storage"), false))
		invalid(w, "spec.versions", versions,
			"must have exactly one version marked as storage version");
}

/* Objects are stored in the form of the version that the definition began with. */
static void validate_stored_versions(struct sim_write *w)
{
	const struct sim_value *stored = sim_get(*w->new, "status", "storedVersions"),
			       *name = sim_item(stored, 0);
	const char *text = sim_text_or(name, "");
	struct kar_buf why KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (!name) {
		invalid(w, "status.storedVersions", NULL, "must have at least one stored version");
	} else if (!sim_equal(name, sim_member(sim_item(sim_get(*w->new, "spec", "versions"), 0), "name"))) {
		kar_buf_printf(&why,
			"missing from spec.versions; %s was previously a storage version, and must remain in spec.versions until a "
			"storage migration ensures no data remains persisted in %s and removes %s from status.storedVersions",
			text, text, text);
		invalid(w, "status.storedVersions[0]", name, kar_buf_cstr(&why));
	}
}

/* ---- the rest ---- */

static void validate_choice(struct sim_write *w, const char *field, const struct sim_value *v,
	const char *const choices[2])
{
	const char *text = sim_text_or(v, "");

	if (require(w, field, v) && strcmp(text, choices[0]) != 0 && strcmp(text, choices[1]) != 0)
		sim_cause_add(&w->causes, "FieldValueNotSupported", field,
			"Unsupported value: \"%s\": supported values: \"%s\", \"%s\"", text, choices[0],
			choices[1]);
}

static void validate_immutable(struct sim_write *w, const char *field, const struct sim_value *old,
	const struct sim_value *new)
{
	if (!sim_equal(old, new))
		invalid(w, field, new, "field is immutable");
}

static void validate_update(struct sim_write *w)
{
	const struct sim_value *old = sim_member(w->old, "spec"), *new = sim_member(*w->new, "spec");

	validate_immutable(w, "spec.group", sim_member(old, "group"), sim_member(new, "group"));
	validate_immutable(w, "spec.scope", sim_member(old, "scope"), sim_member(new, "scope"));
	validate_immutable(w, "spec.names.kind", sim_get(old, "names", "kind"),
		sim_get(new, "names", "kind"));
	validate_immutable(w, "spec.names.plural", sim_get(old, "names", "plural"),
		sim_get(new, "names", "plural"));
}

static void validate_name(struct sim_write *w)
{
	const struct sim_value *name = sim_get(*w->new, "metadata", "name");
	char expected[2 * SIM_KEY_MAX];

	snprintf(expected, sizeof(expected), "%s.%s",
		sim_text_or(sim_get(*w->new, "spec", "names", "plural"), ""),
		sim_text_or(sim_get(*w->new, "spec", "group"), ""));
	if (strcmp(sim_text_or(name, ""), expected) != 0)
		invalid(w, "metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
}

void sim_crd_validate(struct sim_write *w)
{
	static const char *const scopes[] = { "Cluster", "Namespaced" },
				 *const strategies[] = { "None", "Webhook" };
	const struct sim_value *keep = sim_get(*w->new, "spec", "preserveUnknownFields");

	if (!w->old)
		validate_name(w);
	validate_group(w);
	validate_choice(w, "spec.scope", sim_get(*w->new, "spec", "scope"), scopes);
	validate_choice(w, "spec.conversion.strategy", sim_get(*w->new, "spec", "conversion", "strategy"),
		strategies);
	validate_versions(w);
	validate_names(w);
	if (w->old)
		validate_update(w);
	validate_stored_versions(w);
	if (!w->old)
		validate_approval(w);
	if (sim_bool_of(keep, false))
		invalid(w, "spec.preserveUnknownFields", keep,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
}
