/* The columns of the small built-in types. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/table.h"

static const struct sim_column name_age[] = { SIM_COLUMN_NAME, SIM_COLUMN_AGE, { 0 } };

static void print_name_age(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_age(row);
}

/* ---- nodes ---- */

static const struct sim_column node_columns[] = {
	SIM_COLUMN_NAME,
	{ "Status", "string", "Whether the node is ready and takes pods.", 0, NULL },
	{ "Roles", "string", "Roles of the node, from its labels.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "Version", "string", "Version of the kubelet.", 0, NULL },
	{ "Internal-IP", "string", "Address inside the cluster.", 1, NULL },
	{ "External-IP", "string", "Address outside the cluster.", 1, NULL },
	{ "OS-Image", "string", "Operating system of the node.", 1, NULL },
	{ "Kernel-Version", "string", "Kernel of the node.", 1, NULL },
	{ "Container-Runtime", "string", "Container runtime of the node.", 1, NULL },
	{ 0 },
};

static struct sim_value *node_status(const struct sim_value *node)
{
	const struct sim_value *ready = sim_condition(node, "Ready");
	const char *word = "Unknown";

	if (ready)
		word = strcmp(sim_text_or(sim_get(ready, "status"), ""), "True") ? "NotReady" : "Ready";
	return sim_printf("%s%s", word,
		sim_bool_of(sim_get(node, "spec", "unschedulable"), false) ? ",SchedulingDisabled" : "");
}

static const char *role_of(const struct sim_member *label)
{
	static const char prefix[] = "node-role.kubernetes.io/";

	if (!strncmp(label->key, prefix, sizeof(prefix) - 1))
		return label->key + sizeof(prefix) - 1;
	return strcmp(label->key, "kubernetes.io/role") ? "" : sim_text_or(label->value, "");
}

static struct sim_value *node_roles(const struct sim_value *node)
{
	struct sim_value *roles = sim_object(), *text;
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (struct sim_member m = sim_first(sim_get(node, "metadata", "labels")); m.value; m = sim_next(m)) {
		if (*role_of(&m))
			sim_set_text(&roles, "", role_of(&m));
	}
	text = sim_labels_text(roles); /* "control-plane=,worker=", sorted */
	for (const char *p = sim_text(text); *p; p++) {
		if (*p != '=')
			kar_buf_append(&out, p, 1);
	}
	sim_unref(text);
	sim_unref(roles);
	return sim_string(kar_buf_cstr(&out));
}

static const char *node_address(const struct sim_value *node, const char *type)
{
	const struct sim_value *addresses = sim_get(node, "status", "addresses");

	for (size_t i = 0; i < sim_count(addresses); i++) {
		const struct sim_value *a = sim_item(addresses, i);

		if (!strcmp(sim_text_or(sim_get(a, "type"), ""), type))
			return sim_get_text(a, "address");
	}
	return "<none>";
}

static const char *or_unknown(const char *text)
{
	return text && *text ? text : "<unknown>";
}

static void print_node(struct sim_row *row)
{
	const struct sim_value *info = sim_get(row->object, "status", "nodeInfo");
	const char *arch = sim_text_or(sim_get(info, "architecture"), "");

	sim_cell_name(row);
	sim_cell(row, node_status(row->object));
	sim_cell(row, node_roles(row->object));
	sim_cell_age(row);
	sim_cell_text(row, sim_get_text(info, "kubeletVersion"));
	sim_cell_text(row, node_address(row->object, "InternalIP"));
	sim_cell_text(row, node_address(row->object, "ExternalIP"));
	sim_cell_text(row, or_unknown(sim_get_text(info, "osImage")));
	sim_cell(row,
		sim_printf(*arch ? "%s (%s)" : "%s", or_unknown(sim_get_text(info, "kernelVersion")), arch));
	sim_cell_text(row, or_unknown(sim_get_text(info, "containerRuntimeVersion")));
}

/* ---- namespaces, config maps, secrets, leases, endpoints ---- */

static const struct sim_column namespace_columns[] = {
	SIM_COLUMN_NAME,
	{ "Status", "string", "Active or Terminating.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void print_namespace(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(row->object, "status", "phase"));
	sim_cell_age(row);
}

static const struct sim_column configmap_columns[] = {
	SIM_COLUMN_NAME,
	{ "Data", "string", "How many entries it has.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void print_configmap(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_int(row,
		(int64_t)(sim_count(sim_get(row->object, "data")) +
			sim_count(sim_get(row->object, "binaryData"))));
	sim_cell_age(row);
}

static const struct sim_column secret_columns[] = {
	SIM_COLUMN_NAME,
	{ "Type", "string", "What the entries mean.", 0, NULL },
	{ "Data", "string", "How many entries it has.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void print_secret(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(row->object, "type"));
	sim_cell_int(row, (int64_t)sim_count(sim_get(row->object, "data")));
	sim_cell_age(row);
}

static const struct sim_column lease_columns[] = {
	SIM_COLUMN_NAME,
	{ "Holder", "string", "Who holds it.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void print_lease(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(row->object, "spec", "holderIdentity"));
	sim_cell_age(row);
}

/* ---- quotas and priorities ---- */

static const struct sim_column quota_columns[] = {
	SIM_COLUMN_NAME,
	{ "Request", "string", "Used and allowed, of everything but limits.", 0, NULL },
	{ "Limit", "string", "Used and allowed, of limits.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "pods: 3/10, requests.cpu: 1/4" */
static struct sim_value *quota_usage(const struct sim_value *quota, bool limits)
{
	const struct sim_value *hard = sim_get(quota, "status", "hard"),
			       *used = sim_get(quota, "status", "used");
	const char **names = kar_xcalloc(sim_count(hard) + 1, sizeof(*names));
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	size_t n = 0;

	for (struct sim_member m = sim_first(hard); m.value; m = sim_next(m))
		names[n++] = m.key;
	qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(names[i], "limits.", 7) == limits)
			kar_buf_printf(&out, "%s%s: %s/%s", out.n ? ", " : "", names[i],
				sim_text_or(sim_member(used, names[i]), "0"),
				sim_text_or(sim_member(hard, names[i]), "0"));
	}
	free(names);
	return sim_string(kar_buf_cstr(&out));
}

static void print_quota(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell(row, quota_usage(row->object, false));
	sim_cell(row, quota_usage(row->object, true));
	sim_cell_age(row);
}

static const struct sim_column priority_columns[] = {
	SIM_COLUMN_NAME,
	{ "Value", "integer", "The priority of pods of this class.", 0, NULL },
	{ "Global-Default", "boolean", "Whether pods without a class get this one.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "PreemptionPolicy", "string", "Whether pods of this class may preempt others.", 0, NULL },
	{ 0 },
};

static void print_priority(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_int(row, sim_get_int(row->object, 0, "value"));
	sim_cell(row, sim_bool(sim_bool_of(sim_get(row->object, "globalDefault"), false)));
	sim_cell_age(row);
	sim_cell_text(row, sim_get_text(row->object, "preemptionPolicy"));
}

/* ---- events ---- */

static const struct sim_column event_columns[] = {
	{ "Last Seen", "string", "Time since it happened last.", 0, NULL },
	{ "Type", "string", "Normal or Warning.", 0, NULL },
	{ "Reason", "string", "What happened, in one word.", 0, NULL },
	{ "Object", "string", "To what it happened.", 0, NULL },
	{ "Subobject", "string", "The part of the object.", 1, NULL },
	{ "Source", "string", "Who says so.", 1, NULL },
	{ "Message", "string", "What happened.", 0, NULL },
	{ "First Seen", "string", "Time since it happened first.", 1, NULL },
	{ "Count", "string", "How often it happened.", 1, NULL },
	{ "Name", "string", "Name of the object.", 1, "name" },
	{ 0 },
};

static struct sim_value *event_object(const struct sim_value *regarding)
{
	const char *name = sim_text_or(sim_get(regarding, "name"), "");
	char *kind = kar_xstrdup(sim_text_or(sim_get(regarding, "kind"), ""));
	struct sim_value *v;

	for (char *p = kind; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	v = sim_printf(*name ? "%s/%s" : "%s", kind, name);
	free(kind);
	return v;
}

static const char *text_of(const struct sim_value *v)
{
	return sim_text_or(v, "");
}

/* The member of events.k8s.io, or what core events call it. */
static const struct sim_value *either(const struct sim_value *e, const char *core, const char *events)
{
	const struct sim_value *v = sim_member(e, core);

	return v ? v : sim_member(e, events);
}

static struct sim_value *event_source(const struct sim_value *e)
{
	const struct sim_value *source = either(e, "source", "deprecatedSource");
	const char *who = text_of(sim_get(source, "component")), *where = text_of(sim_get(source, "host"));

	if (!*who)
		who = text_of(either(e, "reportingComponent", "reportingController"));
	if (!*where)
		where = text_of(sim_get(e, "reportingInstance"));
	return sim_printf(*where ? "%s, %s" : "%s", who, where);
}

static struct sim_value *trimmed(const char *text)
{
	size_t n;

	text += strspn(text, " \t\r\n");
	n = strlen(text);
	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	return sim_string_n(text, n);
}

struct seen {
	const char *first, *last; /* RFC 3339, borrowed; NULL: unknown */
	int64_t count;
};

static struct seen seen_of(const struct sim_value *e)
{
	const struct sim_value *series = sim_get(e, "series");
	struct seen s = {
		.first = sim_text(either(e, "firstTimestamp", "deprecatedFirstTimestamp")),
		.last = sim_text(either(e, "lastTimestamp", "deprecatedLastTimestamp")),
		.count = sim_int_of(either(e, "count", "deprecatedCount"), 0),
	};

	if (!s.first)
		s.first = sim_get_text(e, "eventTime");
	if (!s.last)
		s.last = s.first;
	if (sim_kind(series) == SIM_OBJECT) {
		s.last = sim_get_text(series, "lastObservedTime");
		s.count = sim_get_int(series, 0, "count");
	} else if (!s.count) {
		s.count = 1;
	}
	return s;
}

static void print_event(struct sim_row *row)
{
	const struct sim_value *e = row->object, *about = either(e, "involvedObject", "regarding");
	struct seen seen = seen_of(e);
	char text[32];

	sim_cell_text(row, sim_since(row->now, seen.last, text));
	sim_cell_text(row, sim_get_text(e, "type"));
	sim_cell_text(row, sim_get_text(e, "reason"));
	sim_cell(row, event_object(about));
	sim_cell_text(row, sim_get_text(about, "fieldPath"));
	sim_cell(row, event_source(e));
	sim_cell(row, trimmed(text_of(either(e, "message", "note"))));
	sim_cell_text(row, sim_since(row->now, seen.first, text));
	sim_cell_int(row, seen.count);
	sim_cell_name(row);
}

/* ---- role bindings ---- */

static const struct sim_column binding_columns[] = {
	SIM_COLUMN_NAME,
	{ "Role", "string", "The role that is given.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "Users", "string", "Users to whom it is given.", 1, NULL },
	{ "Groups", "string", "Groups to whom it is given.", 1, NULL },
	{ "ServiceAccounts", "string", "Service accounts to whom it is given.", 1, NULL },
	{ 0 },
};

static struct sim_value *subjects_of(const struct sim_value *binding, const char *kind)
{
	const struct sim_value *subjects = sim_get(binding, "subjects");
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < sim_count(subjects); i++) {
		const struct sim_value *s = sim_item(subjects, i);

		if (strcmp(sim_text_or(sim_get(s, "kind"), ""), kind) != 0)
			continue;
		kar_buf_puts(&out, out.n ? ", " : "");
		if (!strcmp(kind, "ServiceAccount"))
			kar_buf_printf(&out, "%s/", sim_text_or(sim_get(s, "namespace"), ""));
		kar_buf_puts(&out, sim_text_or(sim_get(s, "name"), ""));
	}
	return sim_string(kar_buf_cstr(&out));
}

static void print_binding(struct sim_row *row)
{
	const struct sim_value *ref = sim_get(row->object, "roleRef");

	sim_cell_name(row);
	sim_cell(row,
		sim_printf("%s/%s", sim_text_or(sim_get(ref, "kind"), ""),
			sim_text_or(sim_get(ref, "name"), "")));
	sim_cell_age(row);
	sim_cell(row, subjects_of(row->object, "User"));
	sim_cell(row, subjects_of(row->object, "Group"));
	sim_cell(row, subjects_of(row->object, "ServiceAccount"));
}

const struct sim_printer sim_printers_core[] = {
	{ "", "nodes", node_columns, print_node },
	{ "", "namespaces", namespace_columns, print_namespace },
	{ "", "configmaps", configmap_columns, print_configmap },
	{ "", "secrets", secret_columns, print_secret },
	{ "", "serviceaccounts", name_age, print_name_age },
	{ "", "events", event_columns, print_event },
	{ "events.k8s.io", "events", event_columns, print_event },
	{ "", "resourcequotas", quota_columns, print_quota },
	{ "coordination.k8s.io", "leases", lease_columns, print_lease },
	{ "scheduling.k8s.io", "priorityclasses", priority_columns, print_priority },
	{ "rbac.authorization.k8s.io", "rolebindings", binding_columns, print_binding },
	{ "rbac.authorization.k8s.io", "clusterrolebindings", binding_columns, print_binding },
	{ 0 },
};
