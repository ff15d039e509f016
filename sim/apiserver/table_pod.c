/* The columns of pods. READY and STATUS follow printPod of Kubernetes 1.37: containers speak before the phase. */
#include <stdio.h>
#include <string.h>

#include "sim/apiserver/table.h"

enum { REASON_MAX = 256 };

struct summary {
	const struct sim_value *pod;
	char reason[REASON_MAX]; /* the STATUS */
	int64_t restarts, sidecar_restarts;
	const char *last_restart, *last_sidecar_restart; /* RFC 3339, borrowed; NULL: none */
	int64_t ready, total;
	bool initializing;
};

static void set_reason(struct summary *s, const char *prefix, const char *reason)
{
	snprintf(s->reason, sizeof(s->reason), "%s%s", prefix, reason);
}

/* "Error", else by signal or exit code. */
static void set_ended(struct summary *s, const char *prefix, const struct sim_value *terminated)
{
	const char *reason = sim_text_or(sim_get(terminated, "reason"), "");
	int64_t signum = sim_get_int(terminated, 0, "signal");

	if (*reason)
		set_reason(s, prefix, reason);
	else if (signum)
		snprintf(s->reason, sizeof(s->reason), "%sSignal:%lld", prefix, (long long)signum);
	else
		snprintf(s->reason, sizeof(s->reason), "%sExitCode:%lld", prefix,
			(long long)sim_get_int(terminated, 0, "exitCode"));
}

/* Times of one format compare as texts. */
static void later(const char **last, const struct sim_value *status)
{
	const char *at = sim_get_text(status, "lastState", "terminated", "finishedAt");

	if (at && (!*last || strcmp(at, *last) > 0))
		*last = at;
}

static bool is_sidecar(const struct sim_value *pod, const char *name)
{
	const struct sim_value *containers = sim_get(pod, "spec", "initContainers");

	for (size_t i = 0; i < sim_count(containers); i++) {
		const struct sim_value *c = sim_item(containers, i);

		if (!strcmp(sim_text_or(sim_get(c, "name"), ""), name))
			return !strcmp(sim_text_or(sim_get(c, "restartPolicy"), ""), "Always");
	}
	return false;
}

static void count_containers(struct summary *s)
{
	const struct sim_value *init = sim_get(s->pod, "spec", "initContainers");

	s->total = (int64_t)sim_count(sim_get(s->pod, "spec", "containers"));
	for (size_t i = 0; i < sim_count(init); i++)
		s->total += is_sidecar(s->pod, sim_text_or(sim_get(sim_item(init, i), "name"), ""));
}

/* False: initialisation has not come past this container. */
static bool init_is_done(struct summary *s, const struct sim_value *status, bool sidecar, size_t i)
{
	const struct sim_value *terminated = sim_get(status, "state", "terminated");
	const char *waiting = sim_text_or(sim_get(status, "state", "waiting", "reason"), "");

	if (terminated && sim_get_int(terminated, 0, "exitCode") == 0)
		return true;
	if (sidecar && sim_bool_of(sim_get(status, "started"), false)) {
		s->ready += sim_bool_of(sim_get(status, "ready"), false);
		return true;
	}
	if (terminated)
		set_ended(s, "Init:", terminated);
	else if (*waiting && strcmp(waiting, "PodInitializing") != 0)
		set_reason(s, "Init:", waiting);
	else
		snprintf(s->reason, sizeof(s->reason), "Init:%zu/%zu", i,
			sim_count(sim_get(s->pod, "spec", "initContainers")));
	return false;
}

static void look_at_init_containers(struct summary *s)
{
	const struct sim_value *statuses = sim_get(s->pod, "status", "initContainerStatuses");

	for (size_t i = 0; i < sim_count(statuses) && !s->initializing; i++) {
		const struct sim_value *status = sim_item(statuses, i);
		bool sidecar = is_sidecar(s->pod, sim_text_or(sim_get(status, "name"), ""));
		int64_t restarts = sim_get_int(status, 0, "restartCount");

		s->restarts += restarts;
		later(&s->last_restart, status);
		if (sidecar) {
			s->sidecar_restarts += restarts;
			later(&s->last_sidecar_restart, status);
		}
		s->initializing = !init_is_done(s, status, sidecar, i);
	}
}

/* What one container says about the pod; true if it runs and is ready. */
static bool look_at_container(struct summary *s, const struct sim_value *status, char *error)
{
	const char *waiting = sim_text_or(sim_get(status, "state", "waiting", "reason"), "");
	const struct sim_value *terminated = sim_get(status, "state", "terminated");

	if (*waiting) {
		set_reason(s, "", waiting);
	} else if (terminated) {
		set_ended(s, "", terminated);
		if (sim_get_int(terminated, 0, "exitCode") != 0)
			snprintf(error, REASON_MAX, "%s", s->reason);
	} else {
		return sim_bool_of(sim_get(status, "ready"), false) && sim_get(status, "state", "running");
	}
	return false;
}

static bool has_true(const struct sim_value *pod, const char *condition)
{
	return !strcmp(sim_text_or(sim_get(sim_condition(pod, condition), "status"), ""), "True");
}

static void look_at_containers(struct summary *s)
{
	const struct sim_value *statuses = sim_get(s->pod, "status", "containerStatuses");
	char error[REASON_MAX] = "";
	int64_t running = 0;

	s->restarts = s->sidecar_restarts;
	s->last_restart = s->last_sidecar_restart;
	for (size_t i = sim_count(statuses); i-- > 0;) { /* the first one has the last word */
		s->restarts += sim_get_int(sim_item(statuses, i), 0, "restartCount");
		later(&s->last_restart, sim_item(statuses, i));
		running += look_at_container(s, sim_item(statuses, i), error);
	}
	s->ready += running;
	if (strcmp(s->reason, "Completed") != 0)
		return;
	if (running && has_true(s->pod, "Ready"))
		set_reason(s, "", "Running");
	else if (*error)
		set_reason(s, "", error);
	else if (running)
		set_reason(s, "", "NotReady");
}

static void begin_with_phase(struct summary *s)
{
	const char *reason = sim_text_or(sim_get(s->pod, "status", "reason"), "");
	const char *scheduled = sim_text_or(sim_get(sim_condition(s->pod, "PodScheduled"), "reason"), "");

	set_reason(s, "", *reason ? reason : sim_text_or(sim_get(s->pod, "status", "phase"), ""));
	if (!strcmp(scheduled, "SchedulingGated"))
		set_reason(s, "", scheduled);
}

static void end_with_deletion(struct summary *s)
{
	const char *phase = sim_text_or(sim_get(s->pod, "status", "phase"), "");

	if (!sim_get_text(s->pod, "metadata", "deletionTimestamp"))
		return;
	if (!strcmp(sim_text_or(sim_get(s->pod, "status", "reason"), ""), "NodeLost"))
		set_reason(s, "", "Unknown");
	else if (strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0)
		set_reason(s, "", "Terminating");
}

static void summarize(struct summary *s)
{
	begin_with_phase(s);
	count_containers(s);
	look_at_init_containers(s);
	if (!s->initializing || has_true(s->pod, "Initialized"))
		look_at_containers(s);
	end_with_deletion(s);
}

/* ---- cells ---- */

static void print_restarts(struct sim_row *row, const struct summary *s)
{
	char since[32];

	if (s->restarts && s->last_restart)
		sim_cell(row,
			sim_printf("%lld (%s ago)", (long long)s->restarts,
				sim_since(row->now, s->last_restart, since)));
	else
		sim_cell(row, sim_printf("%lld", (long long)s->restarts));
}

static void text_or_none(struct sim_row *row, const char *text)
{
	sim_cell_text(row, text && *text ? text : "<none>");
}

static void print_gates(struct sim_row *row)
{
	const struct sim_value *gates = sim_get(row->object, "spec", "readinessGates");
	size_t open = 0;

	for (size_t i = 0; i < sim_count(gates); i++)
		open += has_true(row->object, sim_text_or(sim_get(sim_item(gates, i), "conditionType"), ""));
	if (sim_count(gates))
		sim_cell(row, sim_printf("%zu/%zu", open, sim_count(gates)));
	else
		sim_cell_text(row, "<none>");
}

/* Told as a condition of the row, by which kubectl leaves out what is over. */
static void add_completion(struct sim_row *row)
{
	const char *phase = sim_text_or(sim_get(row->object, "status", "phase"), "");
	bool succeeded = !strcmp(phase, "Succeeded");
	struct sim_value *c;

	if (!succeeded && strcmp(phase, "Failed") != 0)
		return;
	c = sim_object();
	sim_set_text(&c, "Completed", "type");
	sim_set_text(&c, "True", "status");
	sim_set_text(&c, phase, "reason");
	sim_set_text(&c, succeeded ? "The pod has completed successfully." : "The pod failed.", "message");
	row->conditions = sim_array();
	sim_append(&row->conditions, c);
}

static void print_pod(struct sim_row *row)
{
	struct summary s = { .pod = row->object };

	summarize(&s);
	add_completion(row);
	sim_cell_name(row);
	sim_cell(row, sim_printf("%lld/%lld", (long long)s.ready, (long long)s.total));
	sim_cell_text(row, s.reason);
	print_restarts(row, &s);
	sim_cell_age(row);
	text_or_none(row, sim_get_text(sim_item(sim_get(row->object, "status", "podIPs"), 0), "ip"));
	text_or_none(row, sim_get_text(row->object, "spec", "nodeName"));
	text_or_none(row, sim_get_text(row->object, "status", "nominatedNodeName"));
	print_gates(row);
}

static const struct sim_column columns[] = {
	SIM_COLUMN_NAME,
	{ "Ready", "string", "Containers that are ready, of all.", 0, NULL },
	{ "Status", "string", "The phase of the pod, or what its containers say.", 0, NULL },
	{ "Restarts", "string", "How often containers were restarted, and when last.", 0, NULL },
	SIM_COLUMN_AGE,
	{ "IP", "string", "Address of the pod.", 1, NULL },
	{ "Node", "string", "Node on which the pod runs.", 1, NULL },
	{ "Nominated Node", "string", "Node on which others are preempted for the pod.", 1, NULL },
	{ "Readiness Gates", "string", "Readiness gates that are open, of all.", 1, NULL },
	{ 0 },
};

const struct sim_printer sim_printer_pod = { "", "pods", columns, print_pod };
