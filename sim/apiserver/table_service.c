/* The columns of services and disruption budgets. */
#include <string.h>

#include "sim/apiserver/table.h"

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
	sim_cell_int(row, sim_get_int(row->object, 0, "status", "disruptionsAllowed"));
	sim_cell_age(row);
}

const struct sim_printer sim_printers_service[] = {
	{ "", "services", service_columns, print_service },
	{ "policy", "poddisruptionbudgets", budget_columns, print_budget },
	{ 0 },
};
