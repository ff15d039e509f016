/* The columns of workloads, services, storage and policies. */
#include <string.h>

#include "common/timefmt.h"
#include "sim/apiserver/table.h"

#define COLUMN_CONTAINERS \
	{ \
		"Containers", "string", "Names of the containers in the template.", 1, NULL \
	}
#define COLUMN_IMAGES \
	{ \
		"Images", "string", "Images of the containers in the template.", 1, NULL \
	}
#define COLUMN_SELECTOR \
	{ \
		"Selector", "string", "Which pods belong to it.", 1, NULL \
	}

static void int_cell(struct sim_row *row, const char *section, const char *member)
{
	sim_cell_int(row, sim_int_of(sim_get(row->object, section, member), 0));
}

/* Names and images of the template's containers. */
static void container_cells(struct sim_row *row, const struct sim_value *template)
{
	const struct sim_value *containers = sim_get(template, "spec", "containers");

	sim_cell(row, sim_joined(containers, "name"));
	sim_cell(row, sim_joined(containers, "image"));
}

static void ready_cell(struct sim_row *row)
{
	sim_cell(row,
		sim_printf("%lld/%lld", (long long)sim_get_int(row->object, 0, "status", "readyReplicas"),
			(long long)sim_get_int(row->object, 0, "spec", "replicas")));
}

static void selector_cell(struct sim_row *row, const char *empty)
{
	sim_cell(row, sim_selector_text(sim_get(row->object, "spec", "selector"), empty));
}

/* ---- apps ---- */

static const struct sim_column deployment_columns[] = {
	SIM_COLUMN_NAME,
	{ "Ready", "string", "Pods that are ready, of those wanted.", 0, NULL },
	{ "Up-to-date", "string", "Pods of the newest template.", 0, NULL },
	{ "Available", "string", "Pods that have been ready long enough.", 0, NULL },
	SIM_COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
	{ 0 },
};

static void print_deployment(struct sim_row *row)
{
	sim_cell_name(row);
	ready_cell(row);
	int_cell(row, "status", "updatedReplicas");
	int_cell(row, "status", "availableReplicas");
	sim_cell_age(row);
	container_cells(row, sim_get(row->object, "spec", "template"));
	selector_cell(row, "");
}

static const struct sim_column replicaset_columns[] = {
	SIM_COLUMN_NAME,
	{ "Desired", "integer", "Pods that are wanted.", 0, NULL },
	{ "Current", "integer", "Pods that exist.", 0, NULL },
	{ "Ready", "integer", "Pods that are ready.", 0, NULL },
	SIM_COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
	{ 0 },
};

static void print_replicaset(struct sim_row *row)
{
	sim_cell_name(row);
	int_cell(row, "spec", "replicas");
	int_cell(row, "status", "replicas");
	int_cell(row, "status", "readyReplicas");
	sim_cell_age(row);
	container_cells(row, sim_get(row->object, "spec", "template"));
	selector_cell(row, "<none>");
}

static const struct sim_column statefulset_columns[] = {
	SIM_COLUMN_NAME,
	{ "Ready", "string", "Pods that are ready, of those wanted.", 0, NULL },
	SIM_COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	{ 0 },
};

static void print_statefulset(struct sim_row *row)
{
	sim_cell_name(row);
	ready_cell(row);
	sim_cell_age(row);
	container_cells(row, sim_get(row->object, "spec", "template"));
}

static const struct sim_column daemonset_columns[] = {
	SIM_COLUMN_NAME,
	{ "Desired", "integer", "Nodes that should have a pod.", 0, NULL },
	{ "Current", "integer", "Nodes that have a pod.", 0, NULL },
	{ "Ready", "integer", "Nodes whose pod is ready.", 0, NULL },
	{ "Up-to-date", "integer", "Nodes whose pod has the newest template.", 0, NULL },
	{ "Available", "integer", "Nodes whose pod has been ready long enough.", 0, NULL },
	{ "Node Selector", "string", "Which nodes get a pod.", 0, NULL },
	SIM_COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
	{ 0 },
};

static void print_daemonset(struct sim_row *row)
{
	static const char *const counts[] = { "desiredNumberScheduled", "currentNumberScheduled",
		"numberReady", "updatedNumberScheduled", "numberAvailable" };

	sim_cell_name(row);
	for (size_t i = 0; i < KAR_LEN(counts); i++)
		int_cell(row, "status", counts[i]);
	sim_cell(row, sim_labels_text(sim_get(row->object, "spec", "template", "spec", "nodeSelector")));
	sim_cell_age(row);
	container_cells(row, sim_get(row->object, "spec", "template"));
	selector_cell(row, "<none>");
}

/* ---- batch ---- */

static const struct sim_column job_columns[] = {
	SIM_COLUMN_NAME,
	{ "Status", "string", "How far the job is.", 0, NULL },
	{ "Completions", "string", "Pods that have succeeded, of those needed.", 0, NULL },
	{ "Duration", "string", "Time it took, or has taken so far.", 0, NULL },
	SIM_COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
	{ 0 },
};

static bool is_true(const struct sim_value *object, const char *condition)
{
	return !strcmp(sim_text_or(sim_get(sim_condition(object, condition), "status"), ""), "True");
}

static const char *job_status(const struct sim_value *job)
{
	static const char *const later[] = { "Suspended", "FailureTarget", "SuccessCriteriaMet" };

	if (is_true(job, "Complete"))
		return "Complete";
	if (is_true(job, "Failed"))
		return "Failed";
	if (sim_get_text(job, "metadata", "deletionTimestamp"))
		return "Terminating";
	for (size_t i = 0; i < KAR_LEN(later); i++) {
		if (is_true(job, later[i]))
			return later[i];
	}
	return "Running";
}

static struct sim_value *job_completions(const struct sim_value *job)
{
	long long succeeded = (long long)sim_get_int(job, 0, "status", "succeeded");
	const struct sim_value *completions = sim_get(job, "spec", "completions");
	long long parallelism = (long long)sim_get_int(job, 0, "spec", "parallelism");

	if (completions)
		return sim_printf("%lld/%lld", succeeded, (long long)sim_int_of(completions, 0));
	if (parallelism > 1)
		return sim_printf("%lld/1 of %lld", succeeded, parallelism);
	return sim_printf("%lld/1", succeeded);
}

static const char *job_duration(const struct sim_value *job, kar_time now, char out[32])
{
	const char *start = sim_get_text(job, "status", "startTime"),
		   *end = sim_get_text(job, "status", "completionTime");
	kar_time from, to = now;

	if (!start || kar_time_parse(start, &from) || (end && kar_time_parse(end, &to)))
		return "";
	return sim_human_duration(to - from, out);
}

static void print_job(struct sim_row *row)
{
	char duration[32];

	sim_cell_name(row);
	sim_cell_text(row, job_status(row->object));
	sim_cell(row, job_completions(row->object));
	sim_cell_text(row, job_duration(row->object, row->now, duration));
	sim_cell_age(row);
	container_cells(row, sim_get(row->object, "spec", "template"));
	selector_cell(row, "<none>");
}

static const struct sim_column cronjob_columns[] = {
	SIM_COLUMN_NAME,
	{ "Schedule", "string", "When it starts jobs.", 0, NULL },
	{ "Timezone", "string", "Time zone of the schedule.", 0, NULL },
	{ "Suspend", "boolean", "Whether it starts no jobs.", 0, NULL },
	{ "Active", "integer", "Jobs that run.", 0, NULL },
	{ "Last Schedule", "string", "Time since it last started a job.", 0, NULL },
	SIM_COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
	{ 0 },
};

static void print_cronjob(struct sim_row *row)
{
	const char *last = sim_get_text(row->object, "status", "lastScheduleTime");
	const struct sim_value *job = sim_get(row->object, "spec", "jobTemplate", "spec");
	char text[32];

	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(row->object, "spec", "schedule"));
	sim_cell_text(row, sim_text_or(sim_get(row->object, "spec", "timeZone"), "<none>"));
	sim_cell_text(row, sim_bool_of(sim_get(row->object, "spec", "suspend"), false) ? "True" : "False");
	sim_cell_int(row, (int64_t)sim_count(sim_get(row->object, "status", "active")));
	sim_cell_text(row, last ? sim_since(row->now, last, text) : "<none>");
	sim_cell_age(row);
	container_cells(row, sim_get(job, "template"));
	sim_cell(row, sim_selector_text(sim_get(job, "selector"), "<none>"));
}

/* ---- services and endpoints ---- */

static const struct sim_column service_columns[] = {
	SIM_COLUMN_NAME,
	{ "Type", "string", "How the service is reached.", 0, NULL },
	{ "Cluster-IP", "string", "Address inside the cluster.", 0, NULL },
	{ "External-IP", "string", "Addresses outside the cluster.", 0, NULL },
	{ "Port(s)", "string", "Ports of the service.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "Selector", "string", "Which pods stand behind it.", 1, NULL },
	{ 0 },
};

static struct sim_value *texts_joined(const struct sim_value *texts)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < sim_count(texts); i++)
		kar_buf_printf(&out, "%s%s", i ? "," : "", sim_text_or(sim_item(texts, i), ""));
	return sim_string(kar_buf_cstr(&out));
}

static struct sim_value *service_external(const struct sim_value *service)
{
	const char *type = sim_text_or(sim_get(service, "spec", "type"), "");
	const struct sim_value *ips = sim_get(service, "spec", "externalIPs");

	if (!strcmp(type, "ExternalName"))
		return sim_string(sim_text_or(sim_get(service, "spec", "externalName"), ""));
	if (sim_count(ips))
		return texts_joined(ips);
	return sim_string(strcmp(type, "LoadBalancer") ? "<none>" : "<pending>"); /* nobody balances here */
}

static struct sim_value *service_ports(const struct sim_value *ports)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < sim_count(ports); i++) {
		const struct sim_value *p = sim_item(ports, i);
		long long node = (long long)sim_get_int(p, 0, "nodePort");

		kar_buf_printf(&out, "%s%lld", i ? "," : "", (long long)sim_get_int(p, 0, "port"));
		if (node > 0)
			kar_buf_printf(&out, ":%lld", node);
		kar_buf_printf(&out, "/%s", sim_text_or(sim_get(p, "protocol"), ""));
	}
	return sim_string(out.n ? kar_buf_cstr(&out) : "<none>");
}

static void print_service(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(row->object, "spec", "type"));
	sim_cell_text(row, sim_text_or(sim_item(sim_get(row->object, "spec", "clusterIPs"), 0), "<none>"));
	sim_cell(row, service_external(row->object));
	sim_cell(row, service_ports(sim_get(row->object, "spec", "ports")));
	sim_cell_age(row);
	sim_cell(row, sim_labels_text(sim_get(row->object, "spec", "selector")));
}

static const struct sim_column endpoints_columns[] = {
	SIM_COLUMN_NAME,
	{ "Endpoints", "string", "Addresses behind the service.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void print_endpoints(struct sim_row *row)
{
	const struct sim_value *subset = sim_item(sim_get(row->object, "subsets"), 0);
	const struct sim_value *addresses = sim_get(subset, "addresses");

	sim_cell_name(row);
	if (sim_count(addresses))
		sim_cell(row, sim_joined(addresses, "ip"));
	else
		sim_cell_text(row, "<none>");
	sim_cell_age(row);
}

/* ---- policies ---- */

static const struct sim_column budget_columns[] = {
	SIM_COLUMN_NAME,
	{ "Min Available", "string", "Pods that must stay.", 0, NULL },
	{ "Max Unavailable", "string", "Pods that may be missing.", 0, NULL },
	{ "Allowed Disruptions", "integer", "Pods that may be evicted now.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void int_or_string_cell(struct sim_row *row, const struct sim_value *v)
{
	if (sim_kind(v) == SIM_INT)
		sim_cell(row, sim_printf("%lld", (long long)sim_int_of(v, 0)));
	else
		sim_cell_text(row, sim_text_or(v, "N/A"));
}

static void print_budget(struct sim_row *row)
{
	sim_cell_name(row);
	int_or_string_cell(row, sim_get(row->object, "spec", "minAvailable"));
	int_or_string_cell(row, sim_get(row->object, "spec", "maxUnavailable"));
	int_cell(row, "status", "disruptionsAllowed");
	sim_cell_age(row);
}

static const struct sim_column network_policy_columns[] = {
	SIM_COLUMN_NAME,
	{ "Pod-Selector", "string", "Which pods it is about.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

static void print_network_policy(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell(row, sim_selector_text(sim_get(row->object, "spec", "podSelector"), "<none>"));
	sim_cell_age(row);
}

const struct sim_printer sim_printers_workload[] = {
	{ "apps", "deployments", deployment_columns, print_deployment },
	{ "apps", "replicasets", replicaset_columns, print_replicaset },
	{ "apps", "statefulsets", statefulset_columns, print_statefulset },
	{ "apps", "daemonsets", daemonset_columns, print_daemonset },
	{ "batch", "jobs", job_columns, print_job },
	{ "batch", "cronjobs", cronjob_columns, print_cronjob },
	{ "", "services", service_columns, print_service },
	{ "", "endpoints", endpoints_columns, print_endpoints },
	{ "policy", "poddisruptionbudgets", budget_columns, print_budget },
	{ "networking.k8s.io", "networkpolicies", network_policy_columns, print_network_policy },
	{ 0 },
};
