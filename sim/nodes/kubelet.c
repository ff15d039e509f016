#include <stdio.h>
#include <string.h>

#include "common/base/intern.h"
#include "sim/nodes/internal.h"

enum {
	LEAST_GRACE = 1000,      /* ms; kubelet never kills without any */
	FIRST_RESTART = 1000,    /* ms until the first restart, which has no back-off */
	PULL_TIME = 1000,        /* ms from ErrImagePull to ImagePullBackOff */
	RUNS_WELL = 600 * 1000,  /* ms a run must last to forget the back-off */
	MAX_ADDRESS = 254 * 256, /* pod addresses per node; then they begin again */
};

static const char never_ran[] = "The container could not be located when the pod was terminated";

static kar_time mono(const struct sim_pod *p)
{
	return sim_timeline_mono(p->nodes->timeline);
}

static bool alive(const struct sim_node *node)
{
	return node->value && !node->silent;
}

static void arm(struct sim_pod *p)
{
	kar_time due = p->run.due < p->run.deadline ? p->run.due : p->run.deadline;

	if (due == KAR_NEVER || !alive(p->node))
		sim_alarm_stop(p->run.alarm);
	else
		sim_alarm_start(p->run.alarm, due > mono(p) ? due - mono(p) : 0);
}

static void wait_for(struct sim_pod *p, enum sim_run state, kar_time after)
{
	p->run.state = state;
	p->run.due = after >= KAR_NEVER - mono(p) ? KAR_NEVER : mono(p) + after;
	arm(p);
}

static void report(struct sim_pod *p, const struct sim_report *r)
{
	char user[SIM_NAME_MAX + 16];

	sim_put_pod_status(p, sim_node_user(p->node, user), sim_kubelet_status(p, r));
}

static const char *image_of(const struct sim_pod *p)
{
	return sim_text_or(sim_get(sim_item(sim_get(p->value, "spec", "containers"), 0), "image"), "");
}

static void tell(struct sim_pod *p, const char *type, const char *reason, const char *what)
{
	const struct sim_value *containers = sim_get(p->value, "spec", "containers");

	for (size_t i = 0; p->nodes->options.events && i < sim_count(containers); i++)
		sim_nodes_event(p->nodes, "Pod", p->value, "kubelet", type, reason, "%s container %s", what,
			sim_text_or(sim_get(sim_item(containers, i), "name"), ""));
}

/* ---- admission ---- */

static void reject(struct sim_pod *p, const char *what, int64_t requested, int64_t used, int64_t all)
{
	struct sim_value *status = sim_ref(sim_member(p->value, "status"));
	char user[SIM_NAME_MAX + 16];

	if (!status)
		status = sim_object();
	sim_set_text(&status, "Failed", "phase");
	sim_set(&status, sim_printf("OutOf%s", what), "reason");
	sim_set(&status,
		sim_printf(
			"Pod was rejected: Node didn't have enough resource: %s, requested: %lld, used: %lld, capacity: %lld",
			what, (long long)requested, (long long)used, (long long)all),
		"message");
	sim_set(&status, sim_now(p->nodes), "startTime");
	p->run.deadline = KAR_NEVER;
	wait_for(p, SIM_RUN_ENDED, KAR_NEVER);
	sim_put_pod_status(p, sim_node_user(p->node, user), status);
}

static int64_t requested(const struct sim_pod *p, size_t resource)
{
	for (size_t i = 0; i < p->requests.n; i++) {
		if (p->requests.items[i].resource == resource)
			return p->requests.items[i].amount;
	}
	return 0;
}

/* What the pods take that the kubelet has admitted. */
static int64_t admitted(const struct sim_node *node, size_t resource)
{
	const struct sim_pod *p;
	int64_t sum = 0;

	TAILQ_FOREACH(p, &node->pods, on_node) {
		if (p->run.admitted && p->counted)
			sum += requested(p, resource);
	}
	return sum;
}

static int64_t admitted_pods(const struct sim_node *node)
{
	const struct sim_pod *p;
	int64_t sum = 0;

	TAILQ_FOREACH(p, &node->pods, on_node)
		sum += p->run.admitted && p->counted;
	return sum;
}

/* The scheduler sees to it that there is room; whoever binds pods past it may be wrong. */
static bool admit(struct sim_pod *p)
{
	const struct sim_node *node = p->node;

	if ((int64_t)node->n_pods > node->most_pods && admitted_pods(node) >= node->most_pods) {
		reject(p, "pods", 1, admitted_pods(node), node->most_pods);
		return false;
	}
	for (size_t i = 0; i < p->requests.n; i++) {
		const struct sim_amount *want = &p->requests.items[i];
		int64_t all = sim_resources_get(&node->allocatable, want->resource), used;

		if (sim_resources_get(&node->used, want->resource) <= all) /* of all that are bound */
			continue;
		used = admitted(node, want->resource);
		if (want->amount > all - used) {
			reject(p, p->nodes->names.names[want->resource], want->amount, used, all);
			return false;
		}
	}
	p->run.admitted = true;
	return true;
}

/* ---- starting ---- */

static void report_waiting(struct sim_pod *p, const char *reason, const char *message)
{
	report(p,
		&(struct sim_report){ .phase = "Pending",
			.state = SIM_STATE_WAITING,
			.state_reason = reason,
			.state_message = message });
}

static void pull(struct sim_pod *p)
{
	bool again = p->run.address != 0;
	char message[512];

	if (!again)
		p->run.address = p->node->addresses = p->node->addresses % MAX_ADDRESS + 1;
	snprintf(message, sizeof(message),
		again ? "Back-off pulling image \"%s\"" : "failed to pull image \"%s\": not found",
		image_of(p));
	wait_for(p, SIM_RUN_WAITING, again ? KAR_NEVER : PULL_TIME);
	sim_nodes_event(p->nodes, "Pod", p->value, "kubelet", "Warning", again ? "BackOff" : "Failed", "%s",
		message);
	report_waiting(p, again ? "ImagePullBackOff" : "ErrImagePull", message);
}

static void run(struct sim_pod *p)
{
	if (!p->run.address)
		p->run.address = p->node->addresses = p->node->addresses % MAX_ADDRESS + 1;
	p->run.started = sim_timeline_wall(p->nodes->timeline);
	p->run.end = sim_behaviour_end(&p->run.behaviour, p->run.restarts);
	wait_for(p, SIM_RUN_RUNNING, p->run.end.after);
	tell(p, "Normal", "Started", "Started");
	report(p, &(struct sim_report){ .phase = "Running", .state = SIM_STATE_RUNNING });
}

static void start(struct sim_pod *p)
{
	bool slow = p->run.behaviour.start > 0 || p->run.behaviour.outcome == SIM_OUTCOME_PENDING;

	if (!p->run.admitted && !admit(p))
		return;
	if (slow && !p->run.reported) {
		p->run.reported = true;
		wait_for(p, SIM_RUN_STARTING, p->run.behaviour.start);
		report_waiting(p, "ContainerCreating", NULL);
		return;
	}
	switch (p->run.behaviour.outcome) {
	case SIM_OUTCOME_PENDING:
		wait_for(p, SIM_RUN_WAITING, KAR_NEVER);
		break;
	case SIM_OUTCOME_PULL_ERROR:
		pull(p);
		break;
	default:
		run(p);
	}
}

/* ---- ending ---- */

/* The last status: nothing of the pod runs any more. */
static void finish(struct sim_pod *p)
{
	bool failed = p->run.reason || p->run.end.exit_code != 0;
	struct sim_report r = {
		.phase = failed ? "Failed" : "Succeeded",
		.reason = p->run.reason,
		.message = p->run.message,
		.state = SIM_STATE_TERMINATED,
		.evicted = p->run.end.evicted,
	};

	if (!p->run.started) {
		r.state_reason = "ContainerStatusUnknown";
		r.state_message = never_ran;
	}
	p->run.deadline = KAR_NEVER;
	wait_for(p, SIM_RUN_ENDED, KAR_NEVER);
	report(p, &r);
}

void sim_kubelet_evict(struct sim_pod *p)
{
	p->run.end = (struct sim_end){ .exit_code = SIM_EXIT_KILLED, .reason = "Error", .evicted = true };
	p->run.reason = "Evicted";
	p->run.message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. ";
	sim_nodes_event(p->nodes, "Pod", p->value, "kubelet", "Warning", "Evicted", "%s", p->run.message);
	finish(p);
}

static void crash(struct sim_pod *p)
{
	kar_time ran = sim_timeline_wall(p->nodes->timeline) - p->run.started, wait;
	struct sim_report r = { .phase = "Running", .state = SIM_STATE_TERMINATED };
	char message[3 * SIM_NAME_MAX];

	if (ran >= RUNS_WELL)
		p->run.backoff = 0;
	wait = sim_behaviour_backoff(++p->run.backoff);
	if (wait) {
		snprintf(message, sizeof(message),
			"back-off %llds restarting failed container=%s pod=%s_%s(%s)",
			(long long)(wait / KAR_SECOND),
			sim_text_or(sim_get(sim_item(sim_get(p->value, "spec", "containers"), 0), "name"),
				""),
			p->name, p->ns, p->uid);
		r.state = SIM_STATE_WAITING;
		r.state_reason = "CrashLoopBackOff";
		r.state_message = message;
		r.was_terminated = true;
	}
	wait_for(p, SIM_RUN_CRASHED, wait ? wait : FIRST_RESTART);
	tell(p, "Warning", "BackOff", "Back-off restarting failed");
	report(p, &r);
}

static const char *restart_policy(const struct sim_pod *p)
{
	return sim_text_or(sim_get(p->value, "spec", "restartPolicy"), "Always");
}

static void end_run(struct sim_pod *p)
{
	const char *policy = restart_policy(p);

	if (p->run.end.evicted)
		sim_kubelet_evict(p);
	else if (strcmp(policy, "Always") == 0 ||
		(strcmp(policy, "OnFailure") == 0 && p->run.end.exit_code != 0))
		crash(p);
	else
		finish(p);
}

/* @grace: ms from now. A second call can only shorten what is left. */
static void stop(struct sim_pod *p, kar_time grace)
{
	kar_time done = p->run.state == SIM_RUN_STOPPING ? mono(p) - p->run.stopping_since : 0;
	struct sim_end end = sim_behaviour_stop(&p->run.behaviour, done + grace);
	kar_time due = mono(p) + (end.after > done ? end.after - done : 0);

	if (p->run.state == SIM_RUN_STOPPING && due >= p->run.due)
		return;
	if (p->run.state == SIM_RUN_RUNNING || p->run.state == SIM_RUN_STOPPING) {
		p->run.end = end;
		tell(p, "Normal", "Killing", "Stopping");
	} else {
		due = mono(p); /* nothing runs */
	}
	if (!p->run.started)
		p->run.end = (struct sim_end){ .exit_code = SIM_EXIT_KILLED };
	if (p->run.state != SIM_RUN_STOPPING)
		p->run.stopping_since = mono(p);
	p->run.deadline = KAR_NEVER;
	wait_for(p, SIM_RUN_STOPPING, due - mono(p));
}

static void exceed_deadline(struct sim_pod *p)
{
	p->run.reason = "DeadlineExceeded";
	p->run.message = "Pod was active on the node longer than the specified deadline";
	sim_nodes_event(p->nodes, "Pod", p->value, "kubelet", "Normal", p->run.reason, "%s", p->run.message);
	stop(p, sim_seconds(sim_get_int(p->value, 30, "spec", "terminationGracePeriodSeconds")));
}

static void step(void *arg)
{
	struct sim_pod *p = arg;
	char user[SIM_NAME_MAX + 16];

	if (p->run.deadline <= mono(p)) {
		exceed_deadline(p);
		return;
	}
	switch (p->run.state) {
	case SIM_RUN_STARTING:
		start(p);
		break;
	case SIM_RUN_WAITING:
		pull(p);
		break;
	case SIM_RUN_RUNNING:
		end_run(p);
		break;
	case SIM_RUN_CRASHED:
		p->run.restarts++;
		run(p);
		break;
	case SIM_RUN_STOPPING:
		finish(p);
		break;
	default:
		p->run.due = KAR_NEVER;
		sim_call_delete(p, sim_node_user(p->node, user), 0); /* frees p, unless finalizers are left */
	}
}

/* ---- what the API server says ---- */

void sim_kubelet_init(struct sim_pod *p)
{
	p->run.alarm = sim_alarm_new(p->nodes->timeline, step, p);
	p->run.due = p->run.deadline = KAR_NEVER;
}

void sim_kubelet_release(struct sim_pod *p)
{
	sim_unref(p->run.annotations);
	sim_alarm_free(p->run.alarm);
}

static void read_behaviour(struct sim_pod *p)
{
	/* Drawn by the pod's own identity, so that what happens to it does not depend on what happens to others. */
	struct sim_random r = sim_random_of(kar_hash_str(p->nodes->options.seed, p->uid), "kubelet");
	const struct sim_value *annotations = sim_get(p->value, "metadata", "annotations");
	struct sim_nodes_options o = p->nodes->options;

	if (strcmp(restart_policy(p), "Always") == 0) /* a service: nobody expects it to end */
		o.run = (struct sim_range){ 0 };
	p->run.behaviour = sim_behaviour_of(annotations, &o, &r);
	sim_unref(p->run.annotations);
	p->run.annotations = annotations ? sim_ref(annotations) : NULL;
}

/* Somebody annotates a pod that is there already: what it shall do counts from now. */
static void see_annotations(struct sim_pod *p)
{
	const struct sim_value *annotations = sim_get(p->value, "metadata", "annotations");

	if (annotations == p->run.annotations || sim_equal(annotations, p->run.annotations))
		return;
	read_behaviour(p);
	if (p->run.state == SIM_RUN_RUNNING) {
		p->run.end = sim_behaviour_end(&p->run.behaviour, p->run.restarts);
		wait_for(p, SIM_RUN_RUNNING, p->run.end.after);
	} else if (p->run.state == SIM_RUN_WAITING) {
		wait_for(p, SIM_RUN_STARTING, 0);
	}
}

static void notice(struct sim_pod *p)
{
	int64_t deadline = sim_get_int(p->value, 0, "spec", "activeDeadlineSeconds");

	read_behaviour(p);
	if (deadline > 0)
		p->run.deadline = mono(p) + sim_seconds(deadline);
	wait_for(p, p->terminal ? SIM_RUN_ENDED : SIM_RUN_STARTING, p->terminal ? KAR_NEVER : 0);
}

static void see_deletion(struct sim_pod *p)
{
	kar_time grace = sim_seconds(sim_get_int(p->value, 0, "metadata", "deletionGracePeriodSeconds"));

	if (p->run.state != SIM_RUN_ENDED)
		stop(p, grace > LEAST_GRACE ? grace : LEAST_GRACE);
	else if (grace > 0) /* at 0 all is said: only finalizers keep it */
		wait_for(p, SIM_RUN_ENDED, 0);
}

void sim_kubelet_see_pod(struct sim_pod *p)
{
	if (!p->node || !alive(p->node))
		return;
	if (p->run.state == SIM_RUN_NONE)
		notice(p);
	else
		see_annotations(p);
	if (p->terminal && p->run.state != SIM_RUN_ENDED) { /* somebody else wrote that; it is final */
		p->run.deadline = KAR_NEVER;
		wait_for(p, SIM_RUN_ENDED, KAR_NEVER);
	}
	if (p->deleting)
		see_deletion(p);
}

void sim_kubelet_pause(struct sim_node *node)
{
	struct sim_pod *p;

	TAILQ_FOREACH(p, &node->pods, on_node)
		arm(p);
}

void sim_kubelet_resume(struct sim_node *node)
{
	struct sim_pod *p;

	TAILQ_FOREACH(p, &node->pods, on_node) {
		if (node->powerless &&
			(p->run.state == SIM_RUN_RUNNING || p->run.state == SIM_RUN_STOPPING)) {
			p->run.end = (struct sim_end){ .exit_code = SIM_EXIT_LOST, .reason = "Unknown" };
			p->run.due = mono(p);
		}
		arm(p);
		sim_kubelet_see_pod(p);
	}
}
