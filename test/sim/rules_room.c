/* Plans name room that is there, and who waits for room does not find it by itself. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_plan.h"
#include "api/status/reasons.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "sim/nodes/requests.h"
#include "test/sim/rules.h"

/* --- the room of all nodes ----------------------------------------------------------------------------- */

struct room_node {
	const struct sim_value *node;
	const char *name;
	struct sim_resources all, used;
	int64_t most_pods, pods;
	bool planned;               /* the plan that is asked about names it */
	struct sim_resources asked; /* by that plan, of this node */
};

struct room {
	const struct model *l;
	struct kar_arena arena;
	struct sim_resource_names names;
	struct room_node *nodes;
	size_t n;
	kar_time until; /* wall ms; what was bound later does not count */
	/* While plans are added: the group that is asked about, and whether somebody lacks pods. */
	const struct sim_value *asked;
	bool lacks;
};

static void add_node(void *arg, const struct sim_value *node)
{
	struct room *m = arg;
	struct room_node *n;

	m->nodes = kar_xrealloc(m->nodes, m->n + 1, sizeof(*m->nodes));
	n = &m->nodes[m->n++];
	*n = (struct room_node){ .node = node, .name = sim_text_or(sim_get(node, "metadata", "name"), "") };
	sim_resources_read(&n->all, &m->names, sim_get(node, "status", "allocatable"));
	n->most_pods = atoll(sim_text_or(sim_get(node, "status", "allocatable", "pods"), "110"));
}

static struct room_node *find_node(const struct room *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->nodes[i].name, name) == 0)
			return &m->nodes[i];
	}
	return NULL;
}

/* @asks: for the plan that is asked about. */
static void take(struct room *m, struct room_node *node, const struct sim_value *spec, int64_t n, bool asks)
{
	struct sim_requests q = { 0 };

	sim_requests_read(&q, &m->names, spec);
	for (size_t i = 0; i < q.n; i++) {
		sim_resources_add(&node->used, q.items[i].resource, q.items[i].amount * n);
		if (asks)
			sim_resources_add(&node->asked, q.items[i].resource, q.items[i].amount * n);
	}
	node->pods += n;
	node->planned |= asks;
	sim_requests_release(&q);
}

static bool has_ended(const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

/* Wall ms; 0: nobody knows. A pod that was created bound has no condition at first. */
static kar_time bound_at(const struct sim_value *pod)
{
	const char *text = sim_text(sim_member(model_condition(pod, "PodScheduled"), "lastTransitionTime"));
	kar_time at;

	if (!text)
		text = sim_get_text(pod, "metadata", "creationTimestamp");
	return text && kar_time_parse(text, &at) == 0 ? at : 0;
}

static void add_pod(void *arg, const struct sim_value *pod)
{
	struct room *m = arg;
	const char *name = sim_get_text(pod, "spec", "nodeName");
	struct room_node *node = name ? find_node(m, name) : NULL;

	if (node && !has_ended(pod) && bound_at(pod) < m->until)
		take(m, node, sim_get(pod, "spec"), 1, false);
}

static void room_init(struct room *m, const struct model *l, kar_time until)
{
	*m = (struct room){ .l = l, .until = until };
	sim_resource_names_init(&m->names);
	sim_apiserver_each(l->server, "", "nodes", add_node, m);
	sim_apiserver_each(l->server, "", "pods", add_pod, m);
}

static void room_release(struct room *m)
{
	for (size_t i = 0; i < m->n; i++) {
		sim_resources_release(&m->nodes[i].all);
		sim_resources_release(&m->nodes[i].used);
		sim_resources_release(&m->nodes[i].asked);
	}
	free(m->nodes);
	sim_resource_names_release(&m->names);
	kar_arena_release(&m->arena);
}

/* The resource of which the plan asks for more than there is; NULL: none. What it does not ask for may be overdrawn by others. */
static const char *overdrawn(const struct room *m, const struct room_node *node)
{
	for (size_t i = 0; i < m->names.n; i++) {
		if (sim_resources_get(&node->asked, i) &&
			sim_resources_get(&node->used, i) > sim_resources_get(&node->all, i))
			return m->names.names[i];
	}
	return node->pods > node->most_pods ? "pods" : NULL;
}

/* --- plans --------------------------------------------------------------------------------------------- */

static const struct sim_value *job_of(const struct model *l, const struct sim_value *group)
{
	return sim_apiserver_peek(l->server, KAR_GROUP, "queuejobs",
		sim_text_or(sim_get(group, "metadata", "namespace"), ""),
		sim_text_or(sim_get(group, "metadata", "name"), ""));
}

static const struct sim_value *find_task(const struct sim_value *job, const char *name)
{
	const struct sim_value *list = sim_get(job, "spec", "taskSpecs");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (kar_streq(sim_text(sim_member(sim_item(list, i), "name")), name))
			return sim_item(list, i);
	}
	return NULL;
}

struct kar_pg_seats rules_seats_of(const struct sim_value *group, const char *role, struct kar_arena *a)
{
	const struct sim_value *plan = sim_get(group, "status", "placement", "plan");
	struct kar_pg_planned planned;
	const struct kar_pg_placement p = { .plan = &planned, .n_plan = 1 };

	for (size_t i = 0; i < sim_count(plan); i++) {
		planned.role = sim_text_or(sim_member(sim_item(plan, i), "role"), "");
		planned.nodes = sim_text_or(sim_member(sim_item(plan, i), "nodes"), "");
		if (strcmp(planned.role, role) == 0)
			return kar_pg_plan_seats(&p, role, a);
	}
	return (struct kar_pg_seats){ 0 };
}

bool rules_is_stuck(const struct sim_value *pod)
{
	const struct sim_value *scheduled = model_condition(pod, "PodScheduled");

	return !sim_get(pod, "spec", "nodeName") && rules_pin_of(pod) &&
		kar_streq(sim_text(sim_member(scheduled, "reason")), "Unschedulable");
}

struct bound {
	const struct sim_value *job;
	const char *task;
	struct kar_pg_seats *seats;
	int64_t n; /* pods of the task that need no place of the plan */
};

/* A pod that is bound holds its node, and not a place of the plan; one that does not fit where it is to go holds nothing. */
static void take_seat(void *arg, const struct sim_value *pod)
{
	struct bound *b = arg;
	const char *owner = model_owner(pod), *node = sim_get_text(pod, "spec", "nodeName");

	if (rules_is_stuck(pod))
		node = rules_pin_of(pod);

	if (node && owner && kar_streq(owner, sim_get_text(b->job, "metadata", "uid")) &&
		kar_streq(sim_get_text(pod, "metadata", "labels", KAR_LABEL_TASK), b->task)) {
		kar_pg_seats_take(b->seats, node);
		b->n += !has_ended(pod);
	}
}

/* What a plan holds for pods that have no node yet; @is_whole: that is all of it, since the attempt begins. */
static void take_plan(struct room *m, const struct sim_value *group, const struct sim_value *job, bool is_new,
	bool is_whole)
{
	const struct sim_value *plan = sim_get(group, "status", "placement", "plan");

	for (size_t i = 0; i < sim_count(plan); i++) {
		const char *role = sim_text_or(sim_member(sim_item(plan, i), "role"), "");
		const struct sim_value *task = find_task(job, role);
		struct kar_pg_seats seats = rules_seats_of(group, role, &m->arena);
		struct bound b = { job, role, &seats, 0 };
		int64_t left;

		if (!is_whole)
			sim_apiserver_each(m->l->server, "", "pods", take_seat, &b);
		left = sim_get_int(task, 1, "replicas") - b.n;
		for (size_t k = 0; task && k < seats.n && left > 0; k++) {
			struct room_node *node = find_node(m, seats.items[k].node);
			int64_t n = seats.items[k].n < left ? seats.items[k].n : left;

			if (!node || !n)
				continue;
			left -= n;
			take(m, node, sim_get(task, "template", "spec"), n, is_new);
		}
	}
}

/* The same of a group of another controller, whose pods are there: a pod that has a node holds no place. */
static void take_members(struct room *m, const struct sim_value *group, bool is_new)
{
	const struct sim_value *plan = sim_get(group, "status", "placement", "plan");

	for (size_t i = 0; i < sim_count(plan); i++) {
		const struct sim_value *p = sim_item(plan, i), *pod;
		struct room_node *node = find_node(m, sim_text_or(sim_member(p, "nodes"), ""));

		pod = sim_apiserver_peek(m->l->server, "", "pods",
			sim_text_or(sim_get(group, "metadata", "namespace"), ""),
			sim_text_or(sim_member(p, "role"), ""));
		if (!node || !pod || has_ended(pod) || sim_get(pod, "spec", "nodeName") ||
			sim_get(pod, "metadata", "deletionTimestamp") ||
			(rules_is_stuck(pod) && kar_streq(rules_pin_of(pod), node->name)))
			continue;
		take(m, node, sim_get(pod, "spec"), 1, is_new);
	}
}

static bool is_of_others(const struct sim_value *group)
{
	return model_is_of_others(sim_get_text(group, "metadata", "namespace"));
}

/* What was planned for a job whose pods go to another scheduler now is not held. */
static bool has_our_scheduler(const struct sim_value *job)
{
	return rules_is_direct(job) ||
		strcmp(sim_text_or(sim_get(job, "spec", "schedulerName"), "default-scheduler"),
			"default-scheduler") == 0;
}

/* No pod can be created from its templates, and none is there: it has no claim to its places. */
static bool claims_nothing(const struct sim_value *job)
{
	return model_is_invalid(job) && !sim_get_int(job, 0, "status", "replicas");
}

static bool is_at_work(const struct room *m, const struct sim_value *group, const struct sim_value *job)
{
	const char *uid = sim_get_text(job, "metadata", "uid");
	const struct model_job *j = uid ? model_find_job(m->l, uid) : NULL;

	return j && kar_streq(model_owner(group), uid) && j->spec_edited <= j->placed &&
		model_is_admitted(group) && has_our_scheduler(job) && !claims_nothing(job) &&
		!sim_get(job, "metadata", "deletionTimestamp") &&
		!sim_bool_of(sim_get(job, "spec", "suspend"), false) &&
		!kar_qj_phase_terminal(model_phase(job));
}

static void add_plan(void *arg, const struct sim_value *group)
{
	struct room *m = arg;
	const struct sim_value *job = job_of(m->l, group);
	bool is_asked =
		kar_streq(sim_get_text(group, "metadata", "uid"), sim_get_text(m->asked, "metadata", "uid"));

	if (is_asked || model_placement(group) != KAR_PG_STATE_PLACED)
		return;
	if (is_of_others(group) && model_is_admitted(group))
		take_members(m, group, false);
	else if (is_at_work(m, group, job))
		take_plan(m, group, job, false, false);
}

static bool is_usable(const struct sim_value *node)
{
	bool ready = kar_streq(sim_text(sim_member(model_condition(node, "Ready"), "status")), "True");

	return ready && !sim_bool_of(sim_get(node, "spec", "unschedulable"), false) &&
		!sim_count(sim_get(node, "spec", "taints"));
}

/* The first trouble with what the plan takes of a node; NULL: none. */
static const char *trouble_with(const struct room *m, const struct room_node *n)
{
	if (!n->planned)
		return NULL;
	if (m->l->nodes_changed < model_horizon(m->l) && !is_usable(n->node))
		return "takes no pods";
	return overdrawn(m, n) ? "has no room for it" : NULL;
}

/* Of a gang that starts again: for pods that have succeeded none is needed. */
static bool has_too_many_places(struct room *m, const struct write *w, const struct sim_value *job)
{
	const struct sim_value *list = sim_get(job, "spec", "taskSpecs");
	enum kar_pg_state was = model_placement(w->c->old);
	bool too_many = false;

	for (size_t i = 0; i < sim_count(list); i++) {
		const char *task = sim_text_or(sim_member(sim_item(list, i), "name"), "");
		struct kar_pg_seats seats = rules_seats_of(w->c->new, task, &m->arena);
		int64_t n = 0;

		for (size_t k = 0; k < seats.n; k++)
			n += seats.items[k].n;
		too_many |= n + sim_int_of(sim_member(rules_task_status(job, task), "succeeded"), 0) >
			sim_int_of(sim_member(sim_item(list, i), "replicas"), 1);
	}
	bool again = was == KAR_PG_STATE_RESERVING &&
		sim_get_int(w->c->old, 0, "status", "placement", "attempt") > 0;

	return too_many && (was == KAR_PG_STATE_WAITING || again) &&
		(model_phase(job) != KAR_QJ_PHASE_RESTARTING || model_gave_back(job));
}

/* Caches may be behind by a moment, and times in objects are whole seconds. */
static const kar_time MOMENT = 2 * KAR_SECOND;

/* A repair looks for new places only. One of a pod to come, which others have taken since, is repaired when that is stuck there. */
static bool has_new_place(struct room *m, const struct sim_change *c, const char *node)
{
	const struct sim_value *plan = sim_get(c->new, "status", "placement", "plan");
	int64_t more = 0;

	for (size_t i = 0; i < sim_count(plan) && more <= 0; i++) {
		const char *role = sim_text_or(sim_member(sim_item(plan, i), "role"), "");
		struct kar_pg_seats new = rules_seats_of(c->new, role, &m->arena),
				    old = rules_seats_of(c->old, role, &m->arena);

		more = 0;
		for (size_t k = 0; k < new.n; k++)
			more += kar_streq(new.items[k].node, node) ? new.items[k].n : 0;
		for (size_t k = 0; k < old.n; k++)
			more -= kar_streq(old.items[k].node, node) ? old.items[k].n : 0;
	}
	return more > 0;
}

static void check_plan_fits(const struct rule *r, const struct write *w)
{
	const struct sim_value *job = w->job ? model_stored(w->l, w->job) : NULL;
	struct room m;

	if (!w->l->faultless || !w->by_manager || !(rules_begins_attempt(w->c) || rules_changes_plan(w->c)) ||
		!(job ? w->job->spec_edited < model_horizon(w->l) : is_of_others(w->c->new)))
		return;
	room_init(&m, w->l, sim_timeline_wall(w->l->timeline) - MOMENT);
	m.asked = w->c->new;
	sim_apiserver_each(w->l->server, KAR_PODGROUP_GROUP, "podgroups", add_plan, &m);
	if (job)
		take_plan(&m, w->c->new, job, true, rules_begins_attempt(w->c));
	else
		take_members(&m, w->c->new, true);
	for (size_t i = 0; i < m.n; i++) {
		const char *trouble = trouble_with(&m, &m.nodes[i]);

		if (trouble && (rules_begins_attempt(w->c) || has_new_place(&m, w->c, m.nodes[i].name)))
			model_break(w->l, r->name, "group %s/%s is placed on %s, which %s", w->c->ns,
				w->c->name, m.nodes[i].name, trouble);
	}
	if (job && has_too_many_places(&m, w, job))
		model_break(w->l, r->name, "group %s/%s has places for more pods than it lacks", w->c->ns,
			w->c->name);
	room_release(&m);
}

/* --- at rest ------------------------------------------------------------------------------------------- */

/* So many more pods of @spec as fit. */
static int count_fitting(struct room *m, const struct sim_value *spec, int most)
{
	int n = 0;

	for (size_t i = 0; i < m->n; i++) {
		while (n < most && is_usable(m->nodes[i].node)) {
			take(m, &m->nodes[i], spec, 1, true);
			if (overdrawn(m, &m->nodes[i]))
				break;
			n++;
		}
	}
	return n;
}

bool rules_is_for_room(const char *reason)
{
	static const char *const reasons[] = { kar_reason_NoFit, kar_reason_Infeasible,
		kar_reason_InsufficientCapacity };

	return kar_streq_any(reason, reasons, KAR_LEN(reasons));
}

/*
 * An admitted gang that lacks pods has room kept for them; a job has, whoever places its pods, and also for a stage that waits for another
 * one (docs/design/queue.md, 1).
 */
static void note_lacking(void *arg, const struct sim_value *group)
{
	struct room *m = arg;
	const char *scheduled = sim_text(sim_member(model_condition(group, KAR_PG_SCHEDULED), "status"));
	const struct sim_value *status = sim_get(group, "status");
	int64_t alive = sim_get_int(status, 0, "members") - sim_get_int(status, 0, "succeeded") -
		sim_get_int(status, 0, "failed");

	m->lacks |= model_is_admitted(group) &&
		(model_placement(group) != KAR_PG_STATE_NONE || !is_of_others(group)) &&
		(!kar_streq(scheduled, "True") || sim_get_int(status, 0, "desired") > alive);
}

bool rules_have_room(const struct model *l, const struct sim_value *spec, int pods)
{
	struct room m;
	bool have;

	room_init(&m, l, KAR_NEVER);
	sim_apiserver_each(l->server, KAR_PODGROUP_GROUP, "podgroups", note_lacking, &m);
	have = !m.lacks && count_fitting(&m, spec, pods) >= pods;
	room_release(&m);
	return have;
}

/* One task, whose pods go anywhere. */
static const struct sim_value *plain_task(const struct sim_value *job)
{
	const struct sim_value *list = sim_get(job, "spec", "taskSpecs");

	if (sim_count(list) != 1 || sim_get(job, "spec", "schedSpec", "nodeSelector") || rules_together(job))
		return NULL;
	return sim_get(sim_item(list, 0), "template", "spec");
}

bool rules_waits_for_places(const struct model *l, const struct model_job *j)
{
	const struct sim_value *group = model_group(l, j), *c = model_condition(group, KAR_PG_ADMITTED);
	const char *reason = sim_text_or(sim_member(c, "reason"), "");

	if (strcmp(reason, kar_reason_BackOff) == 0)
		return sim_timeline_wall(l->timeline) < rules_retry_after(group) + 2 * l->worst_clock;
	/* HeadReserved: jobs that never end may be in the way of the head for ever (docs/design/queue.md, 6). */
	return rules_is_for_room(reason) || strcmp(reason, kar_reason_HeadReserved) == 0 ||
		strcmp(reason, kar_reason_Deactivated) == 0 || strcmp(reason, kar_reason_Unsupported) == 0;
}

void rules_check_room_at_rest(struct model *l, const struct model_job *j, const struct sim_value *job)
{
	const struct sim_value *c = model_condition(model_group(l, j), KAR_PG_ADMITTED),
			       *spec = plain_task(job);
	const char *reason = sim_text_or(sim_member(c, "reason"), "");
	/* A restart begins with nothing, and shows what had succeeded before until it does. */
	bool anew = model_phase(job) == KAR_QJ_PHASE_RESTARTING && !model_gave_back(job);
	int need = rules_quorum(j, job) - (anew ? 0 : rules_done(j, job));

	if (!rules_is_for_room(reason) || !spec)
		return;
	if (rules_have_room(l, spec, need))
		model_break(l, "nodes-wait", "job %s/%s waits with reason %s, and its %d pods fit", j->ns,
			j->name, reason, need);
}

bool rules_waits_with_extras(struct model *l, const struct model_job *j, const struct sim_value *job)
{
	const char *reason = sim_text_or(sim_get(job, "status", "reason"), "");
	const struct sim_value *spec = plain_task(job);
	struct room m;

	if (rules_is_direct(job) && strcmp(reason, kar_reason_Unsupported) == 0)
		return true;
	if (!rules_is_direct(job) || strcmp(reason, kar_reason_NoFit) != 0)
		return false;
	room_init(&m, l, KAR_NEVER);
	sim_apiserver_each(l->server, KAR_PODGROUP_GROUP, "podgroups", note_lacking, &m);
	if (spec && !m.lacks && count_fitting(&m, spec, 1))
		model_break(l, "nodes-wait", "job %s/%s waits for room, and one more of its pods fits", j->ns,
			j->name);
	room_release(&m);
	return true;
}

const struct rule rules_of_room[] = {
	{ RULE_GROUP_CHANGED, "nodes-fit",
		"on each node of a new plan there is room for it, beside what is bound and what other plans hold",
		check_plan_fits },
};
const size_t n_rules_of_room = KAR_LEN(rules_of_room);
