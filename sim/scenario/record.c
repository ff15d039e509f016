#include "sim/scenario/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "api/podgroup/podgroup.h"
#include "common/base/str.h"

enum { MOST_PODS = 1000000, WHAT = 128 };

static kar_time now(const struct sim_record *r)
{
	return sim_timeline_wall(r->timeline) - r->start;
}

static const char *keep(struct sim_record *r, const char *text)
{
	return kar_copy_text(&r->arena, text);
}

/* ---- jobs ---- */

static struct sim_job_record *find_job(const struct sim_record *r, const char *ns, const char *name)
{
	char key[SIM_KEY_LEN];
	size_t i = sim_lookup_get(&r->job_keys, sim_key(ns, name, key));

	return i == SIZE_MAX || r->jobs[i].deleted != KAR_NEVER ? NULL : &r->jobs[i];
}

static int64_t count_pods(const struct sim_value *job)
{
	const struct sim_value *tasks = sim_get(job, "spec", "taskSpecs");
	int64_t n = 0;

	for (size_t i = 0; i < sim_count(tasks); i++)
		n += sim_get_int(sim_item(tasks, i), 1, "replicas");
	return n;
}

/* Over the containers of a pod, or of a template. */
static struct sim_value *sum_requests(const struct sim_value *pod)
{
	const struct sim_value *containers = sim_get(pod, "spec", "containers");
	struct sim_value *sum = sim_object();

	for (size_t i = 0; i < sim_count(containers); i++) {
		const struct sim_value *requests = sim_get(sim_item(containers, i), "resources", "requests");

		for (struct sim_member m = sim_first(requests); m.value; m = sim_next(m)) {
			struct kar_quantity q = sim_quantity_of(sim_member(sum, m.key)),
					    more = sim_quantity_of(m.value);

			kar_quantity_add(&q, &more);
			sim_set(&sum, sim_quantity_string(&q), m.key);
		}
	}
	return sum;
}

static int64_t count_milli_cpu(const struct sim_value *job)
{
	const struct sim_value *tasks = sim_get(job, "spec", "taskSpecs");
	int64_t n = 0;

	for (size_t i = 0; i < sim_count(tasks); i++) {
		const struct sim_value *task = sim_item(tasks, i);
		struct sim_value *requests = sum_requests(sim_member(task, "template"));
		struct kar_quantity q = sim_quantity_of(sim_member(requests, "cpu"));

		n += sim_get_int(task, 1, "replicas") * kar_quantity_milli(&q);
		sim_unref(requests);
	}
	return n;
}

static void begin_stretch(struct sim_record *r, struct sim_stretch **list, size_t *n, const char *phase,
	const char *reason)
{
	*list = kar_arena_grow(&r->arena, *list, *n, sizeof(**list));
	(*list)[(*n)++] = (struct sim_stretch){ .phase = keep(r, phase),
		.reason = keep(r, reason),
		.from = now(r),
		.to = KAR_NEVER };
}

static void end_stretch(const struct sim_record *r, struct sim_stretch *list, size_t n)
{
	if (n && list[n - 1].to == KAR_NEVER)
		list[n - 1].to = now(r);
}

static struct sim_job_record *add_job(struct sim_record *r, const struct sim_change *c)
{
	struct sim_job_record *j;
	char key[SIM_KEY_LEN];

	r->jobs = kar_arena_grow(&r->arena, r->jobs, r->n_jobs, sizeof(*r->jobs));
	sim_lookup_put(&r->job_keys, keep(r, sim_key(c->ns, c->name, key)), r->n_jobs);
	j = &r->jobs[r->n_jobs++];
	*j = (struct sim_job_record){
		.ns = keep(r, c->ns),
		.name = keep(r, c->name),
		.queue = keep(r, sim_text_or(sim_get(c->new, "spec", "queue"), KAR_DEFAULT_QUEUE)),
		.submitted = now(r),
		.admitted = KAR_NEVER,
		.running = KAR_NEVER,
		.ended = KAR_NEVER,
		.deleted = KAR_NEVER,
		.phase = "Pending",
		.reason = "",
		.waited_for = "",
		.message = "",
		.unfit = "",
		.pods = count_pods(c->new),
		.milli_cpu = count_milli_cpu(c->new),
	};
	begin_stretch(r, &j->stretches, &j->n_stretches, "Pending", "");
	return j;
}

static bool is_terminal(const char *phase)
{
	return kar_streq(phase, "Completed") || kar_streq(phase, "Failed");
}

/* One that is over within one write of its status has run all the same. */
static bool has_run(const char *phase)
{
	return kar_streq(phase, "Running") || kar_streq(phase, "Completed");
}

/* That of its namespace, or another one that it has moved to. */
static void note_queue(struct sim_record *r, struct sim_job_record *j, const struct sim_value *status)
{
	const char *queue = sim_text_or(sim_member(status, "queue"), "");

	if (queue[0] && !kar_streq(j->queue, queue))
		j->queue = keep(r, queue);
}

static const char *reason_of(const struct sim_value *status, const char *phase)
{
	return kar_streq(phase, "Restarting") ? sim_text_or(sim_get(status, "lastRestart", "reason"), "")
					      : "";
}

static void enter_phase(struct sim_record *r, struct sim_job_record *j, const struct sim_value *status)
{
	const char *phase = sim_text_or(sim_member(status, "phase"), "Pending");

	if (kar_streq(j->phase, phase))
		return;
	j->phase = keep(r, phase);
	end_stretch(r, j->stretches, j->n_stretches);
	if (is_terminal(phase)) {
		j->ended = now(r);
		r->n_ended++;
	} else {
		begin_stretch(r, &j->stretches, &j->n_stretches, phase, reason_of(status, phase));
	}
	if (has_run(phase) && j->running == KAR_NEVER)
		j->running = now(r);
	if (j->admitted == KAR_NEVER && !kar_streq(phase, "Pending") && !kar_streq(phase, "Suspended"))
		j->admitted = now(r);
}

/* Keeps the message that stood longest. */
static void hear(struct sim_record *r, struct sim_job_record *j, const char *message)
{
	kar_time stood = now(r) - j->message_since;

	if (kar_streq(j->message, message))
		return;
	if (j->message[0] && stood > j->message_longest) {
		j->message_longest = stood;
		j->waited_for = j->message;
	}
	j->message = keep(r, message);
	j->message_since = now(r);
}

/* "" also while nothing is amiss; where the status sends the reader to the scheduler, its own words. */
static const char *cause_of_waiting(const struct sim_job_record *j, const char *message)
{
	if (j->running != KAR_NEVER || j->ended != KAR_NEVER || kar_streq(j->reason, "Starting"))
		return "";
	return kar_streq(j->reason, "Unschedulable") && j->unfit[0] ? j->unfit : message;
}

static void forget_job(struct sim_record *r, struct sim_job_record *j)
{
	hear(r, j, "");
	end_stretch(r, j->stretches, j->n_stretches);
	j->deleted = now(r);
	r->n_ended += j->ended == KAR_NEVER;
}

static void on_job(struct sim_record *r, const struct sim_change *c)
{
	struct sim_job_record *j = find_job(r, c->ns, c->name);
	const struct sim_value *status = sim_member(c->new, "status");

	if (!c->new) {
		if (j)
			forget_job(r, j);
		return;
	}
	if (!j)
		j = add_job(r, c);
	if (!kar_streq(j->reason, sim_text_or(sim_member(status, "reason"), "")))
		j->reason = keep(r, sim_text_or(sim_member(status, "reason"), ""));
	enter_phase(r, j, status);
	note_queue(r, j, status);
	hear(r, j, cause_of_waiting(j, sim_text_or(sim_member(status, "message"), "")));
	j->restarts = sim_get_int(status, 0, "restarts");
}

/* The queue has let it in. */
static void on_group(struct sim_record *r, const struct sim_change *c)
{
	const struct sim_value *owner = sim_item(sim_get(c->new, "metadata", "ownerReferences"), 0);
	const struct sim_value *conditions = sim_get(c->new, "status", "conditions");
	struct sim_job_record *j = kar_streq(sim_get_text(owner, "kind"), "QueueJob")
		? find_job(r, c->ns, sim_text_or(sim_get(owner, "name"), ""))
		: NULL;

	for (size_t i = 0; j && j->admitted == KAR_NEVER && i < sim_count(conditions); i++) {
		const struct sim_value *condition = sim_item(conditions, i);

		if (kar_streq(sim_get_text(condition, "type"), KAR_PG_ADMITTED) &&
			kar_streq(sim_get_text(condition, "status"), "True"))
			j->admitted = now(r);
	}
}

/* ---- pods ---- */

static struct sim_pod_record *find_pod(const struct sim_record *r, const char *uid)
{
	size_t i = sim_lookup_get(&r->pod_uids, uid);

	return i == SIZE_MAX || r->pods[i].ended != KAR_NEVER ? NULL : &r->pods[i];
}

static struct sim_job_record *job_of_pod(const struct sim_record *r, const struct sim_change *c)
{
	return find_job(r, c->ns, sim_text_or(sim_get(c->new, "metadata", "labels", KAR_LABEL_QUEUEJOB), ""));
}

static void add_pod(struct sim_record *r, const struct sim_change *c)
{
	const struct sim_job_record *j = job_of_pod(r, c);
	struct sim_pod_record *p;

	if (r->n_pods == MOST_PODS)
		return;
	r->pods = kar_arena_grow(&r->arena, r->pods, r->n_pods, sizeof(*r->pods));
	p = &r->pods[r->n_pods];
	*p = (struct sim_pod_record){
		.job = j ? (size_t)(j - r->jobs) : SIZE_MAX,
		.name = keep(r, c->name),
		.node = keep(r, sim_get_text(c->new, "spec", "nodeName")),
		.uid = keep(r, sim_get_text(c->new, "metadata", "uid")),
		.bound = now(r),
		.started = KAR_NEVER,
		.ended = KAR_NEVER,
		.requests = sum_requests(c->new),
	};
	sim_lookup_put(&r->pod_uids, p->uid, r->n_pods);
	p->node_number = sim_record_node(r, p->node);
	if (p->node_number != SIZE_MAX) {
		struct sim_node_record *n = &r->nodes[p->node_number];

		n->pods = kar_arena_grow(&r->arena, n->pods, n->n_pods, sizeof(*n->pods));
		n->pods[n->n_pods++] = r->n_pods;
	}
	r->n_pods++;
}

/* Remembers why @c's pod has no node. */
static void on_waiting_pod(struct sim_record *r, const struct sim_change *c)
{
	const struct sim_value *conditions = sim_get(c->new, "status", "conditions");
	struct sim_job_record *j = sim_count(conditions) ? job_of_pod(r, c) : NULL;

	for (size_t i = 0; j && i < sim_count(conditions); i++) {
		const struct sim_value *condition = sim_item(conditions, i);
		const char *message = sim_text_or(sim_member(condition, "message"), "");

		if (!kar_streq(sim_get_text(condition, "reason"), "Unschedulable") ||
			kar_streq(j->unfit, message))
			continue;
		j->unfit = keep(r, message);
		if (kar_streq(j->reason, "Unschedulable"))
			hear(r, j, cause_of_waiting(j, message));
	}
}

static void on_bound_pod(struct sim_record *r, const struct sim_change *c)
{
	const struct sim_value *pod = c->new ? c->new : c->old;
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	bool over = kar_streq(phase, "Succeeded") || kar_streq(phase, "Failed");
	bool stopped = sim_get_text(pod, "metadata", "deletionTimestamp") != NULL;
	struct sim_pod_record *p = find_pod(r, sim_text_or(sim_get(pod, "metadata", "uid"), ""));

	if (!p && c->new && !over) {
		add_pod(r, c);
		return;
	}
	if (!p)
		return;
	if (kar_streq(phase, "Running") && p->started == KAR_NEVER)
		p->started = now(r);
	p->failed = kar_streq(phase, "Failed") && !stopped;
	if (!c->new || over)
		p->ended = now(r);
}

static void on_pod(struct sim_record *r, const struct sim_change *c)
{
	if (sim_get_text(c->new ? c->new : c->old, "spec", "nodeName"))
		on_bound_pod(r, c);
	else if (c->new)
		on_waiting_pod(r, c);
}

/* ---- nodes ---- */

size_t sim_record_node(const struct sim_record *r, const char *name)
{
	return sim_lookup_get(&r->node_names, name);
}

static bool is_ready(const struct sim_value *node)
{
	const struct sim_value *conditions = sim_get(node, "status", "conditions");

	for (size_t i = 0; i < sim_count(conditions); i++) {
		if (kar_streq(sim_get_text(sim_item(conditions, i), "type"), "Ready"))
			return kar_streq(sim_get_text(sim_item(conditions, i), "status"), "True");
	}
	return true; /* not reported yet */
}

static struct sim_node_record *add_node(struct sim_record *r, const char *name)
{
	size_t i = sim_record_node(r, name);

	if (i == SIZE_MAX) {
		r->nodes = kar_arena_grow(&r->arena, r->nodes, r->n_nodes, sizeof(*r->nodes));
		i = r->n_nodes++;
		r->nodes[i] = (struct sim_node_record){ .name = keep(r, name),
			.added = now(r),
			.removed = KAR_NEVER };
		sim_lookup_put(&r->node_names, r->nodes[i].name, i);
	}
	return &r->nodes[i];
}

static void on_node(struct sim_record *r, const struct sim_change *c)
{
	struct sim_node_record *n = add_node(r, c->name);
	const struct sim_value *allocatable = sim_get(c->new, "status", "allocatable");
	const char *down = !c->new                                             ? NULL
		: !is_ready(c->new)                                            ? "NotReady"
		: sim_bool_of(sim_get(c->new, "spec", "unschedulable"), false) ? "Cordoned"
									       : NULL;
	bool was = n->n_down && n->down[n->n_down - 1].to == KAR_NEVER;

	n->removed = c->new ? KAR_NEVER : now(r);
	if (allocatable && !sim_equal(allocatable, n->allocatable)) {
		sim_unref(n->allocatable);
		n->allocatable = sim_ref(allocatable);
	}
	if (c->new && !sim_equal(sim_get(c->new, "metadata", "labels"), n->labels)) {
		sim_unref(n->labels);
		n->labels = sim_ref(sim_get(c->new, "metadata", "labels"));
	}
	if (was && down && kar_streq(n->down[n->n_down - 1].phase, down))
		return;
	end_stretch(r, n->down, n->n_down);
	if (down)
		begin_stretch(r, &n->down, &n->n_down, down, "");
}

/* What is wider than a node, and next to it, is called a rack here. */
static void on_topology(struct sim_record *r, const struct sim_value *topology)
{
	const struct sim_value *levels = sim_get(topology, "spec", "levels");

	for (size_t i = 0; i < sim_count(levels); i++) {
		const char *label = sim_get_text(sim_item(levels, i), "nodeLabel");

		if (label && !kar_streq(label, "kubernetes.io/hostname"))
			r->rack_label = keep(r, label);
	}
}

/* ---- recording ---- */

static void on_change(void *arg, const struct sim_change *c)
{
	struct sim_record *r = arg;

	if (kar_streq(c->resource, "pods") && !c->group[0])
		on_pod(r, c);
	else if (kar_streq(c->resource, "nodes") && !c->group[0])
		on_node(r, c);
	else if (kar_streq(c->resource, "queuejobs") && kar_streq(c->group, KAR_GROUP))
		on_job(r, c);
	else if (kar_streq(c->resource, "podgroups") && c->new)
		on_group(r, c);
	else if (kar_streq(c->resource, "topologies") && kar_streq(c->group, KAR_GROUP) && c->new &&
		!r->rack_label)
		on_topology(r, c->new);
}

void sim_record_request(struct sim_record *r, const struct sim_request *rq)
{
	char what[WHAT];
	size_t i = 0;

	if (rq->verb < KAR_CREATE) /* it reads */
		return;
	snprintf(what, sizeof(what), "%s %s%s%s%s", kar_verb_name(rq->verb), rq->resource,
		rq->subresource ? "/" : "", rq->subresource ? rq->subresource : "",
		rq->dry_run ? " (dry run)" : "");
	while (i < r->n_writes && !kar_streq(r->writes[i].what, what))
		i++;
	if (i == r->n_writes) {
		r->writes = kar_arena_grow(&r->arena, r->writes, r->n_writes, sizeof(*r->writes));
		r->writes[r->n_writes++] = (struct sim_write_record){ .what = keep(r, what) };
	}
	r->writes[i].n++;
}

void sim_record_start(struct sim_record *r, struct sim_apiserver *s)
{
	*r = (struct sim_record){ .timeline = sim_apiserver_timeline(s), .end = KAR_NEVER };
	r->start = sim_timeline_wall(r->timeline);
	sim_apiserver_listen(s, on_change, r);
}

void sim_record_close(struct sim_record *r)
{
	r->end = now(r);
	for (size_t i = 0; i < r->n_jobs; i++) {
		hear(r, &r->jobs[i], "");
		end_stretch(r, r->jobs[i].stretches, r->jobs[i].n_stretches);
	}
	for (size_t i = 0; i < r->n_nodes; i++)
		end_stretch(r, r->nodes[i].down, r->nodes[i].n_down);
}

void sim_record_release(struct sim_record *r)
{
	for (size_t i = 0; i < r->n_pods; i++)
		sim_unref(r->pods[i].requests);
	for (size_t i = 0; i < r->n_nodes; i++) {
		sim_unref(r->nodes[i].allocatable);
		sim_unref(r->nodes[i].labels);
	}
	sim_lookup_release(&r->job_keys);
	sim_lookup_release(&r->pod_uids);
	sim_lookup_release(&r->node_names);
	kar_arena_release(&r->arena);
	*r = (struct sim_record){ 0 };
}
