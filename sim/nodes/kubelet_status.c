#include <string.h>

#include "common/base/buf.h"
#include "sim/nodes/internal.h"

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* ---- containers ---- */

/* {"KEY": @consumed} */
static struct sim_value *wrap(const char *key, struct sim_value *consumed)
{
	struct sim_value *v = sim_object();

	sim_set(&v, consumed, key);
	return v;
}

/* What the pod's spec says, shared; "" if nothing. */
static struct sim_value *copied(const struct sim_pod *p, const struct sim_value *container, const char *key)
{
	const struct sim_value *v = sim_member(container, key);

	return v ? sim_ref(v) : sim_word(p->nodes, "");
}

static struct sim_value *container_id(const struct sim_pod *p, const char *name, unsigned restart)
{
	return sim_printf("sim://%s/%s/%u", p->uid, name, restart);
}

static struct sim_value *waiting(const struct sim_pod *p, const struct sim_report *r)
{
	struct sim_value *v = wrap("reason", sim_word(p->nodes, r->state_reason));

	if (r->state_message)
		sim_set_text(&v, r->state_message, "message");
	return wrap("waiting", v);
}

static struct sim_value *running(const struct sim_pod *p)
{
	return wrap("running", wrap("startedAt", sim_moment(p->nodes, p->run.started)));
}

/* How the present run ended; a pod that was stopped before it started has no times. */
static struct sim_value *terminated(const struct sim_pod *p, const struct sim_report *r, const char *name)
{
	struct sim_value *v = wrap("exitCode", sim_int(p->run.end.exit_code));
	const char *words =
		sim_text(sim_get(p->value, "metadata", "annotations", "test.kube-arbitrator.io/last-words"));

	sim_set(&v, sim_word(p->nodes, r->state_reason ? r->state_reason : p->run.end.reason), "reason");
	if (r->state_message)
		sim_set(&v, sim_word(p->nodes, r->state_message), "message");
	else if (words)
		sim_set_text(&v, words, "message");
	sim_set(&v, p->run.started ? sim_moment(p->nodes, p->run.started) : sim_null(), "startedAt");
	sim_set(&v, p->run.started ? sim_now(p->nodes) : sim_null(), "finishedAt");
	if (p->run.started)
		sim_set(&v, container_id(p, name, p->run.restarts), "containerID");
	return wrap("terminated", v);
}

static struct sim_value *state_of(const struct sim_pod *p, const struct sim_report *r, const char *name)
{
	switch (r->state) {
	case SIM_STATE_RUNNING:
		return running(p);
	case SIM_STATE_TERMINATED:
		return terminated(p, r, name);
	default:
		return waiting(p, r);
	}
}

/* The state before: how the run ended that was reported as the state until now, or what lastState says already. */
static struct sim_value *last_state_of(const struct sim_pod *p, const struct sim_report *r, size_t i)
{
	const struct sim_value *old = sim_item(sim_get(p->value, "status", "containerStatuses"), i);
	const char *name = sim_text_or(sim_member(old, "name"), "");

	if (r->was_terminated)
		return terminated(p, &(struct sim_report){ 0 }, name);
	if (r->state == SIM_STATE_RUNNING && sim_get(old, "state", "terminated"))
		return sim_ref(sim_member(old, "state"));
	return sim_member(old, "lastState") ? sim_ref(sim_member(old, "lastState")) : sim_object();
}

static struct sim_value *container_of(const struct sim_pod *p, const struct sim_report *r, size_t i,
	const struct sim_value *container)
{
	const char *name = sim_text_or(sim_member(container, "name"), "");
	bool runs = r->state == SIM_STATE_RUNNING;
	struct sim_value *v = wrap("name", copied(p, container, "name"));

	sim_set(&v, state_of(p, r, name), "state");
	sim_set(&v, last_state_of(p, r, i), "lastState");
	sim_set(&v, sim_bool(runs), "ready");
	sim_set(&v, sim_int(p->run.restarts), "restartCount");
	sim_set(&v, copied(p, container, "image"), "image");
	sim_set(&v, sim_word(p->nodes, ""), "imageID");
	if (p->run.started)
		sim_set(&v, container_id(p, name, p->run.restarts), "containerID");
	sim_set(&v, sim_bool(runs), "started");
	return v;
}

static struct sim_value *containers_of(const struct sim_pod *p, const struct sim_report *r)
{
	const struct sim_value *containers = sim_get(p->value, "spec", "containers");
	struct sim_value *list = sim_array();

	for (size_t i = 0; i < sim_count(containers); i++)
		sim_append(&list, container_of(p, r, i, sim_item(containers, i)));
	return list;
}

static struct sim_value *init_state(const struct sim_pod *p, bool runs)
{
	struct sim_value *v;

	if (!p->run.started)
		return waiting(p, &(struct sim_report){ .state_reason = "PodInitializing" });
	if (runs)
		return running(p);
	v = wrap("exitCode", sim_int(0));
	sim_set(&v, sim_word(p->nodes, "Completed"), "reason");
	sim_set(&v, sim_moment(p->nodes, p->run.started), "startedAt");
	sim_set(&v, sim_moment(p->nodes, p->run.started), "finishedAt");
	return wrap("terminated", v);
}

/* Init containers succeed in the moment the pod starts; sidecars run as long as the pod. */
static struct sim_value *init_container_of(const struct sim_pod *p, const struct sim_report *r,
	const struct sim_value *container)
{
	bool sidecar = is(sim_text_or(sim_member(container, "restartPolicy"), ""), "Always");
	bool runs = sidecar && r->state == SIM_STATE_RUNNING;
	struct sim_value *v = wrap("name", copied(p, container, "name"));

	sim_set(&v, init_state(p, runs), "state");
	sim_set(&v, sim_object(), "lastState");
	sim_set(&v, sim_bool(p->run.started && (runs || !sidecar)), "ready");
	sim_set(&v, sim_int(0), "restartCount");
	sim_set(&v, copied(p, container, "image"), "image");
	sim_set(&v, sim_word(p->nodes, ""), "imageID");
	sim_set(&v, sim_bool(runs), "started");
	return v;
}

static void set_init_containers(struct sim_value **status, const struct sim_pod *p,
	const struct sim_report *r)
{
	const struct sim_value *containers = sim_get(p->value, "spec", "initContainers");
	struct sim_value *list;

	if (sim_count(containers) == 0)
		return;
	list = sim_array();
	for (size_t i = 0; i < sim_count(containers); i++)
		sim_append(&list, init_container_of(p, r, sim_item(containers, i)));
	sim_set(status, list, "initContainerStatuses");
}

/* ---- conditions ---- */

/* "containers with unready status: [a b]" */
static void name_containers(struct kar_buf *out, const char *what, const struct sim_value *containers)
{
	kar_buf_printf(out, "containers with %s status: [", what);
	for (size_t i = 0; i < sim_count(containers); i++)
		kar_buf_printf(out, "%s%s", i ? " " : "",
			sim_text_or(sim_get(sim_item(containers, i), "name"), ""));
	kar_buf_puts(out, "]");
}

static void set_readiness(struct sim_value **conditions, const struct sim_pod *p, const struct sim_report *r,
	int64_t generation)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf message = { 0 };
	struct sim_condition c = { .status = "False" };

	if (r->state == SIM_STATE_RUNNING)
		c.status = "True";
	else if (is(r->phase, "Succeeded"))
		c.reason = "PodCompleted";
	else if (is(r->phase, "Failed"))
		c.reason = "PodFailed";
	else {
		name_containers(&message, "unready", sim_get(p->value, "spec", "containers"));
		c.reason = "ContainersNotReady";
		c.message = kar_buf_cstr(&message);
	}
	c.type = "Ready";
	sim_set_condition(p->nodes, conditions, &c, generation);
	c.type = "ContainersReady";
	sim_set_condition(p->nodes, conditions, &c, generation);
}

static void set_initialized(struct sim_value **conditions, const struct sim_pod *p,
	const struct sim_report *r, int64_t generation)
{
	const struct sim_value *containers = sim_get(p->value, "spec", "initContainers");
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf message = { 0 };
	struct sim_condition c = { .type = "Initialized", .status = "True" };

	if (sim_count(containers) > 0 && !p->run.started) {
		name_containers(&message, "incomplete", containers);
		c.status = "False";
		c.reason = "ContainersNotInitialized";
		c.message = kar_buf_cstr(&message);
	} else if (is(r->phase, "Succeeded"))
		c.reason = "PodCompleted";
	sim_set_condition(p->nodes, conditions, &c, generation);
}

static struct sim_value *conditions_of(const struct sim_pod *p, const struct sim_report *r,
	int64_t generation)
{
	struct sim_value *conditions = sim_ref(sim_get(p->value, "status", "conditions"));
	struct sim_condition c = { .type = "PodReadyToStartContainers",
		.status = p->run.address ? "True" : "False" };

	if (!conditions)
		conditions = sim_array();
	sim_set_condition(p->nodes, &conditions, &c, generation);
	set_initialized(&conditions, p, r, generation);
	set_readiness(&conditions, p, r, generation);
	c = (struct sim_condition){ .type = "PodScheduled", .status = "True" };
	sim_set_condition(p->nodes, &conditions, &c, generation);
	c = (struct sim_condition){ "DisruptionTarget", "True", "TerminationByKubelet", r->message };
	if (r->evicted)
		sim_set_condition(p->nodes, &conditions, &c, generation);
	return conditions;
}

/* ---- the whole ---- */

static void set_address(struct sim_value **status, const char *key, const char *list_key,
	struct sim_value *consumed)
{
	struct sim_value *item = sim_object(), *list = sim_array();

	sim_set(&item, sim_ref(consumed), "ip");
	sim_append(&list, item);
	sim_set(status, list, list_key);
	sim_set(status, consumed, key);
}

static void set_addresses(struct sim_value **status, const struct sim_pod *p)
{
	unsigned node = p->node->number;
	bool host_network = sim_bool_of(sim_get(p->value, "spec", "hostNetwork"), false);

	if (!sim_member(*status, "hostIP"))
		set_address(status, "hostIP", "hostIPs",
			sim_printf("172.16.%u.%u", node >> 8 & 255, node & 255));
	if (!p->run.address || sim_member(*status, "podIP"))
		return;
	set_address(status, "podIP", "podIPs",
		host_network ? sim_ref(sim_member(*status, "hostIP"))
			     : sim_printf("10.%u.%u.%u", node & 255, p->run.address >> 8 & 255,
				       p->run.address & 255));
}

static void set_text_if(struct sim_value **v, const char *key, const char *text)
{
	if (text)
		sim_set_text(v, text, key);
	else
		sim_remove(v, key);
}

struct sim_value *sim_kubelet_status(const struct sim_pod *p, const struct sim_report *r)
{
	struct sim_value *status = sim_ref(sim_member(p->value, "status"));
	int64_t generation = sim_get_int(p->value, 0, "metadata", "generation");

	if (!status)
		status = sim_object();
	if (generation)
		sim_set(&status, sim_int(generation), "observedGeneration");
	sim_set(&status, sim_word(p->nodes, r->phase), "phase");
	set_text_if(&status, "reason", r->reason);
	set_text_if(&status, "message", r->message);
	sim_set(&status, conditions_of(p, r, generation), "conditions");
	set_addresses(&status, p);
	if (!sim_member(status, "startTime"))
		sim_set(&status, sim_now(p->nodes), "startTime");
	set_init_containers(&status, p, r);
	sim_set(&status, containers_of(p, r), "containerStatuses");
	return status;
}
