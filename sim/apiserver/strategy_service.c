/* Services: an address of their own, and nothing behind it. */
#include <string.h>

#include "sim/apiserver/strategy.h"

static void default_text(struct sim_value **service, const char *key, const char *text)
{
	if (!*sim_text_or(sim_get(*service, "spec", key), ""))
		sim_set_text(service, text, "spec", key);
}

static void default_list(struct sim_value **service, const char *key, const char *text)
{
	struct sim_value *list;

	if (sim_get(*service, "spec", key))
		return;
	list = sim_array();
	sim_append(&list, sim_string(text));
	sim_set(service, list, "spec", key);
}

static void default_ports(struct sim_value **service)
{
	struct sim_value *ports = sim_get(*service, "spec", "ports");

	if (sim_kind(ports) != SIM_ARRAY)
		return;
	ports = sim_ref(ports);
	for (size_t i = 0; i < sim_count(ports); i++) {
		struct sim_value *port = sim_ref(sim_item(ports, i));
		const struct sim_value *target = sim_member(port, "targetPort"),
				       *number = sim_member(port, "port");

		if (!*sim_text_or(sim_member(port, "protocol"), ""))
			sim_set_text(&port, "TCP", "protocol");
		if (number && !*sim_text_or(target, "") && sim_int_of(target, 0) == 0)
			sim_set(&port, sim_ref(number), "targetPort");
		sim_replace(&ports, i, port);
	}
	sim_set(service, ports, "spec", "ports");
}

/*
 * From the range of test clusters, derived from the object, so that it needs no book-keeping: nothing is routed
 * there.
 */
static void give_address(struct sim_value **service)
{
	uint64_t hash = sim_hash(sim_get(*service, "metadata", "uid"));
	struct sim_value *address;

	if (*sim_text_or(sim_get(*service, "spec", "clusterIP"), ""))
		return;
	address = sim_printf("10.96.%u.%u", (unsigned)(hash >> 8 & 255), (unsigned)(hash % 253 + 1));
	sim_set(service, address, "spec", "clusterIP");
}

static void default_(struct sim_write *w)
{
	bool external;

	default_text(w->new, "type", "ClusterIP");
	default_text(w->new, "sessionAffinity", "None");
	default_ports(w->new);
	external = !strcmp(sim_text_or(sim_get(*w->new, "spec", "type"), ""), "ExternalName");
	if (external)
		return;
	give_address(w->new);
	default_list(w->new, "clusterIPs", sim_text_or(sim_get(*w->new, "spec", "clusterIP"), ""));
	default_list(w->new, "ipFamilies", "IPv4");
	default_text(w->new, "ipFamilyPolicy", "SingleStack");
	default_text(w->new, "internalTrafficPolicy", "Cluster");
}

/* A replacement that does not name the address keeps it. */
static void prepare(struct sim_write *w)
{
	static const char *const given[] = { "clusterIP", "clusterIPs" };

	if (!w->old) {
		sim_clear_status(w);
		return;
	}
	sim_keep_old(w, "status");
	for (size_t i = 0; i < KAR_LEN(given); i++) {
		const struct sim_value *old = sim_get(w->old, "spec", given[i]);

		if (old && !sim_get(*w->new, "spec", given[i]))
			sim_set(w->new, sim_ref(old), "spec", given[i]);
	}
}

static void prepare_status(struct sim_write *w)
{
	sim_keep_old(w, "spec");
}

static void validate(struct sim_write *w)
{
	static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL };
	const char *type = sim_text_or(sim_get(*w->new, "spec", "type"), "");
	const struct sim_at *at = SIM_AT(NULL, "spec");
	bool headless = !strcmp(sim_text_or(sim_get(*w->new, "spec", "clusterIP"), ""), "None");

	if (sim_count(sim_get(*w->new, "spec", "ports")) == 0 && !headless &&
		strcmp(type, "ExternalName") != 0)
		sim_cause_required(&w->causes, SIM_AT(at, "ports"));
	sim_check_choice(&w->causes, SIM_AT(at, "type"), sim_get(*w->new, "spec", "type"), types);
}

static const char *field(const struct sim_value *service, const char *name)
{
	if (!strcmp(name, "spec.clusterIP"))
		return sim_text_or(sim_get(service, "spec", "clusterIP"), "");
	return strcmp(name, "spec.type") == 0 ? sim_text_or(sim_get(service, "spec", "type"), "") : NULL;
}

const struct sim_strategy sim_strategy_service = {
	.prepare = prepare,
	.prepare_status = prepare_status,
	.default_ = default_,
	.validate = validate,
	.field = field,
};
