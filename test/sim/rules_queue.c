/* What queues admit, and whose admission a group has. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "sim/wire.h"
#include "test/sim/rules.h"

/* Whoever is to be placed again holds nothing, also as long as its status does not say that it is not admitted. */
static bool waits_for_places(const struct model *l, const struct model_job *j)
{
	enum kar_pg_state s = model_placement(model_group(l, j));

	return s == KAR_PG_STATE_WAITING || s == KAR_PG_STATE_DEACTIVATED || s == KAR_PG_STATE_RESERVING ||
		s == KAR_PG_STATE_SUSPENDED;
}

/* A job that surely holds a place in the queue of @group. */
static bool holds_place(const struct write *w, const struct model_job *j, int queue)
{
	kar_time then = model_horizon(w->l);

	return j != w->job && j->queue == queue && j->admitted && j->admitted < then && j->resumed < then &&
		!j->gone && !j->deleting && !j->suspended && !j->finished && j->invalid < then &&
		!waits_for_places(w->l, j);
}

/* Who puts the queue of a group back that somebody changed gives it nothing: it never lost its admission. */
static bool gives_admission(const struct write *w)
{
	const struct sim_value *old = sim_get(w->c->old, "status"), *new = sim_get(w->c->new, "status");

	return w->by_manager && w->c->new &&model_is_admitted(w->c->new) && !model_is_admitted(w->c->old) &&
		!(old && sim_equal(old, new));
}

/* Its pods run already, and no queue has seen it: somebody has deleted its PodGroup. It goes on, whatever others were admitted meanwhile. */
static bool is_adopted(const struct write *w)
{
	const char *uid = model_owner(w->c->new);
	const struct model_job *j = uid ? model_find_job(w->l, uid) : NULL;

	return j && !TAILQ_EMPTY(&j->pods) && !model_condition(w->c->old, "Admitted");
}

/* The queue that gave it the place counts: somebody may have written another one into the group just before. */
static void check_max_jobs(const struct rule *r, const struct write *w)
{
	int queue = model_queue(sim_text_or(sim_get(w->c->new, "status", "admittedQueue"), "default")), n = 1,
	    most;
	struct model_job *j;

	if (!gives_admission(w) || w->l->overlaps || is_adopted(w))
		return;
	TAILQ_FOREACH(j, &w->l->present, in_present)
		n += holds_place(w, j, queue);
	most = setting_max(&w->l->max_jobs[queue], model_horizon(w->l));
	if (n > most)
		model_break(w->l, r->name, "%s/%s is admitted as number %d, but maxJobs of its queue is %d",
			w->c->ns, w->c->name, n, most);
}

static bool is_true(const struct sim_value *group)
{
	return strcmp(sim_text_or(sim_member(model_condition(group, "Admitted"), "status"), ""), "True") == 0;
}

static const char *admitted_queue(const struct sim_value *group)
{
	return sim_text_or(sim_get(group, "status", "admittedQueue"), "");
}

/* Somebody may have changed its queue since; then it is not admitted until that has said so. */
static void check_admission(const struct rule *r, const struct write *w)
{
	bool newly = w->by_manager && is_true(w->c->new) &&
		(!is_true(w->c->old) || strcmp(admitted_queue(w->c->old), admitted_queue(w->c->new)) != 0);

	if (newly && !model_is_admitted(w->c->new))
		model_break(w->l, r->name, "%s/%s asks for queue %s, and is admitted by queue %s", w->c->ns,
			w->c->name, model_group_queue(w->c->new), admitted_queue(w->c->new));
}

const struct rule rules_of_queue[] = {
	{ RULE_GROUP_CHANGED, "max-jobs", "no queue admits more jobs than its maxJobs", check_max_jobs },
	{ RULE_GROUP_CHANGED, "admitted-by-its-queue",
		"no group is Admitted that its present queue has not admitted", check_admission },
};
const size_t n_rules_of_queue = KAR_LEN(rules_of_queue);

/* Of what is over the last word has been said. */
static bool is_over(const struct model *l, const struct sim_value *group)
{
	const char *uid = model_owner(group);
	const struct model_job *j = uid ? model_find_job(l, uid) : NULL;

	return uid ? !j || j->finished || j->deleting
		   : strcmp(sim_text_or(sim_get(group, "status", "phase"), ""), "Finished") == 0;
}

struct bound {
	const char *ns, *group; /* NULL: of any */
	bool any, stops;        /* there is one; and it is being deleted */
};

static void find_bound(void *arg, const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	struct bound *b = arg;

	if (!sim_get(pod, "spec", "nodeName") || strcmp(phase, "Succeeded") == 0 ||
		strcmp(phase, "Failed") == 0)
		return;
	if (b->group &&
		!(kar_streq(sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP), b->group) &&
			kar_streq(sim_get_text(pod, "metadata", "namespace"), b->ns)))
		return;
	b->any = true;
	b->stops |= sim_get(pod, "metadata", "deletionTimestamp") != NULL;
}

/* The queue in whose account it is: as long as one of its pods has a node, the one that has admitted it. */
static const char *account_of(const struct model *l, const struct sim_value *group)
{
	struct bound b = { .ns = sim_get_text(group, "metadata", "namespace"),
		.group = sim_get_text(group, "metadata", "name") };

	if (!is_true(group) || !admitted_queue(group)[0] || model_is_admitted(group))
		return model_group_queue(group);
	sim_apiserver_each(l->server, "", "pods", find_bound, &b);
	return b.any ? admitted_queue(group) : model_group_queue(group);
}

/* Capacity is held for it as long as pods stop, and none does. */
static void check_claim_at_rest(struct model *l, const struct sim_value *group)
{
	const char *reason = sim_text_or(sim_member(model_condition(group, "Admitted"), "reason"), "");
	struct bound b = { 0 };

	/* With .bounds late members of others, which all start when the limits go in the end, may take what is held. */
	if (strcmp(reason, "Reserving") != 0 || l->bounds)
		return;
	sim_apiserver_each(l->server, "", "pods", find_bound, &b);
	if (!b.stops)
		model_break(l, "claims-end", "%s/%s is Reserving, and no pod is being deleted",
			sim_text_or(sim_get(group, "metadata", "namespace"), ""),
			sim_text_or(sim_get(group, "metadata", "name"), ""));
}

void rules_check_admission_at_rest(struct model *l, const struct sim_value *group)
{
	/* Nothing is done for a group that cannot be read. */
	bool unreadable = sim_get(group, "metadata", "annotations", SIM_GARBLE) != NULL;

	if (!unreadable && !is_over(l, group))
		check_claim_at_rest(l, group);
	if (is_true(group) && !unreadable && !is_over(l, group) &&
		!kar_streq(account_of(l, group), admitted_queue(group)))
		model_break(l, "admitted-by-its-queue",
			"%s/%s asks for queue %s, and is still admitted by queue %s",
			sim_text_or(sim_get(group, "metadata", "namespace"), ""),
			sim_text_or(sim_get(group, "metadata", "name"), ""), model_group_queue(group),
			admitted_queue(group));
}

/* --- the counts of a queue ------------------------------------------------------------------------------ */

struct tally {
	const struct model *l;
	const char *queue;
	int live, waiting;
	int64_t pods, cpu; /* of those that live; cpu in thousandths */
	bool unsure;       /* a group of it cannot be read, or is of a job that the model does not know */
	bool incomplete; /* a task of it waits for another one, perhaps for ever: its pods are counted, and not there */
};

struct member_tally {
	struct tally *of_queue;
	const char *ns, *group;
	bool of_others; /* what their controllers make beyond the minimum counts once it is on a node */
	int n;
};

int64_t rules_thousandths(const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	assert(!*end || strcmp(end, "m") == 0);
	return *end ? n : n * 1000;
}

int64_t rules_requested_cpu(const struct sim_value *pod)
{
	const struct sim_value *containers = sim_get(pod, "spec", "containers");
	int64_t sum = 0;

	for (size_t i = 0; i < sim_count(containers); i++)
		sum += rules_thousandths(
			sim_text_or(sim_get(sim_item(containers, i), "resources", "requests", "cpu"), "0"));
	return sum;
}

static void add_member(void *arg, const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	struct member_tally *t = arg;

	if (!kar_streq(sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP), t->group) ||
		!kar_streq(sim_get_text(pod, "metadata", "namespace"), t->ns) ||
		strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0 ||
		(t->of_others && !sim_get(pod, "spec", "nodeName") && model_is_gated(pod)))
		return;
	t->n++;
	t->of_queue->pods++;
	t->of_queue->cpu += rules_requested_cpu(pod);
}

static bool has_order(const struct model *l, const struct sim_value *group)
{
	const char *uid = model_owner(group);
	const struct model_job *j = uid ? model_find_job(l, uid) : NULL;

	return j && j->ordered;
}

/* It, or its job, may be unreadable. */
static bool is_unsure(const struct sim_value *group)
{
	return model_is_hostile(sim_get_text(group, "metadata", "namespace")) ||
		sim_get(group, "metadata", "annotations", SIM_GARBLE);
}

static void count_group(void *arg, const struct sim_value *group)
{
	static const char *const uncounted[] = { "Finished", "Suspended", "JobInvalid" };
	const struct sim_value *admitted = model_condition(group, "Admitted");
	const char *reason = sim_text_or(sim_member(admitted, "reason"), "");
	struct tally *t = arg;

	if (is_unsure(group) && kar_streq(admitted_queue(group), t->queue))
		t->unsure = true; /* nothing is done for it, so it stays where it was admitted */
	if (!kar_streq(account_of(t->l, group), t->queue))
		return;
	t->unsure |= !admitted || is_unsure(group);
	for (size_t i = 0; i < KAR_LEN(uncounted); i++) {
		if (strcmp(reason, uncounted[i]) == 0)
			return;
	}
	if (is_over(t->l, group))
		return;
	if (is_true(group) || strcmp(reason, "Reserving") == 0) {
		struct member_tally members = { .of_queue = t,
			.ns = sim_get_text(group, "metadata", "namespace"),
			.group = sim_get_text(group, "metadata", "name"),
			.of_others = model_is_of_others(sim_get_text(group, "metadata", "namespace")) };

		t->live++;
		t->incomplete |= has_order(t->l, group);
		sim_apiserver_each(t->l->server, "", "pods", add_member, &members);
		t->incomplete |=
			members.of_others && members.n < (int)sim_get_int(group, 1, "spec", "minMember");
	} else
		t->waiting++;
}

static void check_usage(struct model *l, const struct sim_value *queue, const struct tally *t)
{
	const struct sim_value *said = sim_get(queue, "status", "allocated");
	int64_t pods = rules_thousandths(sim_text_or(sim_member(said, "pods"), "0")) / 1000;
	int64_t cpu = rules_thousandths(sim_text_or(sim_member(said, "cpu"), "0"));

	if (!t->unsure && !t->incomplete && !l->squatted && (pods != t->pods || cpu != t->cpu))
		model_break(l, "queue-usage",
			"queue %s says that its groups have %lld pods and %lld m of cpu; they have %lld and %lld m",
			t->queue, (long long)pods, (long long)cpu, (long long)t->pods, (long long)t->cpu);
}

void rules_check_queue_at_rest(struct model *l, const struct sim_value *queue)
{
	struct tally t = { .l = l, .queue = sim_text_or(sim_get(queue, "metadata", "name"), "") };
	int said = (int)(sim_get_int(queue, 0, "status", "inqueue") +
		sim_get_int(queue, 0, "status", "running") + sim_get_int(queue, 0, "status", "unknown"));
	int pending = (int)sim_get_int(queue, 0, "status", "pending");

	sim_apiserver_each(l->server, KAR_PODGROUP_GROUP, "podgroups", count_group, &t);
	if (!t.unsure && (said != t.live || pending != t.waiting))
		model_break(l, "queue-counts",
			"queue %s says that %d groups are admitted and %d wait; there are %d and %d", t.queue,
			said, pending, t.live, t.waiting);
	check_usage(l, queue, &t);
}
