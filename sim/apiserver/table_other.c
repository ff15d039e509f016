/* The columns of storage and ingresses. */
#include <string.h>

#include "sim/apiserver/table.h"

static struct sim_value *text_or(const struct sim_value *v, const char *otherwise)
{
	return sim_string(sim_text_or(v, otherwise));
}

/* "RWO,ROX" */
static struct sim_value *access_modes(const struct sim_value *modes)
{
	static const char *const known[][2] = {
		{ "ReadWriteOnce", "RWO" },
		{ "ReadOnlyMany", "ROX" },
		{ "ReadWriteMany", "RWX" },
		{ "ReadWriteOncePod", "RWOP" },
	};
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t k = 0; k < KAR_LEN(known); k++) {
		for (size_t i = 0; i < sim_count(modes); i++) {
			if (!strcmp(sim_text_or(sim_item(modes, i), ""), known[k][0]))
				kar_buf_printf(&out, "%s%s", out.n ? "," : "", known[k][1]);
		}
	}
	return sim_string(kar_buf_cstr(&out));
}

static const char *phase_of(const struct sim_value *object)
{
	if (sim_get_text(object, "metadata", "deletionTimestamp"))
		return "Terminating";
	return sim_text_or(sim_get(object, "status", "phase"), "");
}

static const struct sim_column claim_columns[] = {
	SIM_COLUMN_NAME,
	{ "Status", "string", "Whether it has a volume.", 0, NULL },
	{ "Volume", "string", "The volume it has.", 0, NULL },
	{ "Capacity", "string", "Size of the volume.", 0, NULL },
	{ "Access Modes", "string", "How the volume can be mounted.", 0, NULL },
	{ "StorageClass", "string", "Class of the claim.", 0, NULL },
	{ "VolumeAttributesClass", "string", "Class of the volume's attributes.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "VolumeMode", "string", "Filesystem or Block.", 1, NULL },
	{ 0 },
};

static void print_claim(struct sim_row *row)
{
	const struct sim_value *spec = sim_get(row->object, "spec"), *status = sim_get(row->object, "status");
	const char *volume = sim_text_or(sim_get(spec, "volumeName"), "");

	sim_cell_name(row);
	sim_cell_text(row, phase_of(row->object));
	sim_cell_text(row, volume);
	sim_cell_text(row, *volume ? sim_get_text(status, "capacity", "storage") : "");
	sim_cell(row, access_modes(*volume ? sim_get(status, "accessModes") : NULL));
	sim_cell(row, text_or(sim_get(spec, "storageClassName"), ""));
	sim_cell(row, text_or(sim_get(spec, "volumeAttributesClassName"), "<unset>"));
	sim_cell_age(row);
	sim_cell(row, text_or(sim_get(spec, "volumeMode"), "<unset>"));
}

static const struct sim_column volume_columns[] = {
	SIM_COLUMN_NAME,
	{ "Capacity", "string", "Size of the volume.", 0, NULL },
	{ "Access Modes", "string", "How it can be mounted.", 0, NULL },
	{ "Reclaim Policy", "string", "What becomes of it after use.", 0, NULL },
	{ "Status", "string", "Whether it is in use.", 0, NULL },
	{ "Claim", "string", "Who uses it.", 0, NULL },
	{ "StorageClass", "string", "Class of the volume.", 0, NULL },
	{ "VolumeAttributesClass", "string", "Class of its attributes.", 0, NULL },
	{ "Reason", "string", "Why it is in this state.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "VolumeMode", "string", "Filesystem or Block.", 1, NULL },
	{ 0 },
};

static void print_volume(struct sim_row *row)
{
	const struct sim_value *spec = sim_get(row->object, "spec"), *claim = sim_get(spec, "claimRef");

	sim_cell_name(row);
	sim_cell(row, text_or(sim_get(spec, "capacity", "storage"), "0"));
	sim_cell(row, access_modes(sim_get(spec, "accessModes")));
	sim_cell(row, text_or(sim_get(spec, "persistentVolumeReclaimPolicy"), ""));
	sim_cell_text(row, phase_of(row->object));
	if (claim)
		sim_cell(row,
			sim_printf("%s/%s", sim_text_or(sim_get(claim, "namespace"), ""),
				sim_text_or(sim_get(claim, "name"), "")));
	else
		sim_cell_text(row, "");
	sim_cell(row, text_or(sim_get(spec, "storageClassName"), ""));
	sim_cell(row, text_or(sim_get(spec, "volumeAttributesClassName"), "<unset>"));
	sim_cell(row, text_or(sim_get(row->object, "status", "reason"), ""));
	sim_cell_age(row);
	sim_cell(row, text_or(sim_get(spec, "volumeMode"), "<unset>"));
}

static const struct sim_column ingress_columns[] = {
	SIM_COLUMN_NAME,
	{ "Class", "string", "Who serves it.", 0, NULL },
	{ "Hosts", "string", "Host names it is for.", 0, NULL },
	{ "Address", "string", "Where it is reached.", 0, NULL },
	{ "Ports", "string", "Ports it opens.", 0, NULL },
	SIM_COLUMN_AGE,
	{ 0 },
};

/* Up to three, and how many rules come after them. */
static struct sim_value *ingress_hosts(const struct sim_value *rules)
{
	enum { SHOWN = 3 };
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	size_t hosts = 0, i;

	for (i = 0; i < sim_count(rules) && hosts < SHOWN; i++) {
		const char *host = sim_text_or(sim_get(sim_item(rules, i), "host"), "");

		if (*host)
			kar_buf_printf(&out, "%s%s", hosts++ ? "," : "", host);
	}
	if (!hosts)
		return sim_string("*");
	if (i < sim_count(rules))
		kar_buf_printf(&out, " + %zu more...", sim_count(rules) - SHOWN);
	return sim_string(kar_buf_cstr(&out));
}

static void print_ingress(struct sim_row *row)
{
	const struct sim_value *spec = sim_get(row->object, "spec");

	sim_cell_name(row);
	sim_cell(row, text_or(sim_get(spec, "ingressClassName"), "<none>"));
	sim_cell(row, ingress_hosts(sim_get(spec, "rules")));
	sim_cell(row, sim_joined(sim_get(row->object, "status", "loadBalancer", "ingress"), "ip"));
	sim_cell_text(row, sim_count(sim_get(spec, "tls")) ? "80, 443" : "80");
	sim_cell_age(row);
}

const struct sim_printer sim_printers_other[] = {
	{ "", "persistentvolumeclaims", claim_columns, print_claim },
	{ "", "persistentvolumes", volume_columns, print_volume },
	{ "networking.k8s.io", "ingresses", ingress_columns, print_ingress },
	{ 0 },
};
