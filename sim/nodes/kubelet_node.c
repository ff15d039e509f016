#include <string.h>

#include "sim/nodes/internal.h"

enum {
	RETRY = 10 * 1000,                /* ms until a kubelet contradicts who says that it is not ready */
	EVICTION_PERIOD = 10 * 1000,      /* ms between two evictions under pressure */
	PRESSURE_TRANSITION = 300 * 1000, /* ms the condition outlasts the pressure */
};

static kar_time mono(const struct sim_node *node)
{
	return sim_timeline_mono(node->nodes->timeline);
}

static bool under_pressure(const struct sim_node *node)
{
	return node->pressure_until && mono(node) < node->pressure_until + PRESSURE_TRANSITION;
}

static void set_conditions(struct sim_value **conditions, const struct sim_node *node)
{
	const struct sim_condition all[] = {
		{ "MemoryPressure", "False", "KubeletHasSufficientMemory",
			"kubelet has sufficient memory available" },
		{ "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure" },
		{ "PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available" },
		{ "Ready", "True", "KubeletReady", "kubelet is posting ready status" },
	};
	const struct sim_condition low = { "MemoryPressure", "True", "KubeletHasInsufficientMemory",
		"kubelet has insufficient memory available" };

	for (size_t i = 0; i < KAR_LEN(all); i++)
		sim_set_node_condition(node->nodes, conditions,
			i == 0 && under_pressure(node) ? &low : &all[i]);
}

static void fill(struct sim_value **list, const struct sim_value *otherwise)
{
	if (!*list)
		*list = sim_object();
	for (struct sim_member m = sim_first(otherwise); m.value; m = sim_next(m)) {
		if (!sim_member(*list, m.key))
			sim_set(list, sim_ref(m.value), m.key);
	}
}

/* What the Node was created with, and the usual amount of what it does not name. */
static void set_capacity(struct sim_value **status)
{
	struct sim_value *usual = sim_object(), *capacity = sim_ref(sim_member(*status, "capacity"));
	struct sim_value *allocatable = sim_ref(sim_member(*status, "allocatable"));

	sim_set_text(&usual, "64", "cpu");
	sim_set_text(&usual, "256Gi", "memory");
	sim_set_text(&usual, "250", "pods");
	fill(&capacity, usual);
	fill(&allocatable, capacity);
	sim_set(status, capacity, "capacity");
	sim_set(status, allocatable, "allocatable");
	sim_unref(usual);
}

static struct sim_value *address(const char *type, struct sim_value *consumed)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, type, "type");
	sim_set(&v, consumed, "address");
	return v;
}

static void set_identity(struct sim_value **status, const struct sim_node *node)
{
	static const char *const info[][2] = {
		{ "machineID", "" },
		{ "systemUUID", "" },
		{ "bootID", "" },
		{ "kernelVersion", "simulated" },
		{ "osImage", "simulated" },
		{ "containerRuntimeVersion", "sim://1" },
		{ "kubeletVersion", "v1.37.1" },
		{ "kubeProxyVersion", "" },
		{ "operatingSystem", "linux" },
		{ "architecture", "amd64" },
	};
	struct sim_value *addresses = sim_array();

	sim_append(&addresses,
		address("InternalIP",
			sim_printf("172.16.%u.%u", node->number >> 8 & 255, node->number & 255)));
	sim_append(&addresses, address("Hostname", sim_string(node->name)));
	sim_set(status, addresses, "addresses");
	for (size_t i = 0; i < KAR_LEN(info); i++)
		sim_set_text(status, info[i][1], "nodeInfo", info[i][0]);
}

static void report_status(struct sim_node *node)
{
	struct sim_value *status = sim_ref(sim_member(node->value, "status"));
	struct sim_value *conditions = sim_ref(sim_member(status, "conditions"));
	char user[SIM_NAME_MAX + 16];

	if (!status)
		status = sim_object();
	set_conditions(&conditions, node);
	sim_set(&status, conditions, "conditions");
	set_capacity(&status);
	if (!sim_member(status, "addresses"))
		set_identity(&status, node);
	sim_put_node_status(node, sim_node_user(node, user), status);
}

static bool less_important(const struct sim_pod *a, const struct sim_pod *b)
{
	if (a->priority != b->priority)
		return a->priority < b->priority;
	return a->run.started != b->run.started ? a->run.started > b->run.started : a->number > b->number;
}

static void evict_one(struct sim_node *node)
{
	struct sim_pod *p, *least = NULL;

	TAILQ_FOREACH(p, &node->pods, on_node) {
		if (p->run.state == SIM_RUN_RUNNING && (!least || less_important(p, least)))
			least = p;
	}
	if (least)
		sim_kubelet_evict(least);
}

void sim_kubelet_report_node(void *arg)
{
	struct sim_node *node = arg;

	if (!node->ready || sim_has_condition(node->value, "MemoryPressure", "True") != under_pressure(node))
		report_status(node);
	if (!node->pressure_until)
		return;
	if (mono(node) < node->pressure_until) {
		evict_one(node);
		sim_alarm_start(node->kubelet, EVICTION_PERIOD);
	} else if (under_pressure(node)) {
		sim_alarm_start(node->kubelet, node->pressure_until + PRESSURE_TRANSITION - mono(node));
	} else {
		node->pressure_until = 0;
	}
}

void sim_kubelet_see_node(struct sim_node *node)
{
	if (!node->value) { /* its kubelet is gone with it; the next node of that name is a new machine */
		node->silent = false;
		node->powerless = true;
		node->pressure_until = 0;
		sim_alarm_stop(node->kubelet);
		sim_kubelet_pause(node);
	} else if (!node->silent && !node->ready && !sim_alarm_running(node->kubelet)) {
		sim_alarm_start(node->kubelet, sim_find_condition(node->value, "Ready") ? RETRY : 0);
		sim_kubelet_resume(node);
		node->powerless = false;
	}
}
