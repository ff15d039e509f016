/* What queues admit, and whose admission a group has. */
#include <string.h>

#include "api/names.h"
#include "common/str.h"
#include "sim/wire.h"
#include "test/sim/rules.h"

/* Whoever is to be placed again holds nothing, also as long as its status does not say that it is not admitted. */
static bool waits_for_places(const struct model *l, const struct model_job *j)
{
	enum kar_pg_state s = model_placement(model_group(l, j));

	return s == KAR_PG_STATE_WAITING || s == KAR_PG_STATE_DEACTIVATED;
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

static void check_max_jobs(const struct rule *r, const struct write *w)
{
	int queue = model_queue(model_group_queue(w->c->new)), n = 1, most;
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

void rules_check_admission_at_rest(struct model *l, const struct sim_value *group)
{
	/* Nothing is done for a group that cannot be read. */
	bool unreadable = sim_get(group, "metadata", "annotations", SIM_GARBLE) != NULL;

	if (is_true(group) && !unreadable && !is_over(l, group) && !model_is_admitted(group))
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
	bool unsure; /* a group of it cannot be read, or is of a job that the model does not know */
};

static void count_group(void *arg, const struct sim_value *group)
{
	static const char *const uncounted[] = { "Finished", "Suspended", "JobInvalid" };
	const struct sim_value *admitted = model_condition(group, "Admitted");
	const char *reason = sim_text_or(sim_member(admitted, "reason"), "");
	struct tally *t = arg;

	if (!kar_streq(model_group_queue(group), t->queue))
		return;
	t->unsure |= !admitted || model_is_hostile(sim_get_text(group, "metadata", "namespace")) ||
		sim_get(group, "metadata", "annotations", SIM_GARBLE);
	for (size_t i = 0; i < KAR_LEN(uncounted); i++) {
		if (strcmp(reason, uncounted[i]) == 0)
			return;
	}
	if (is_over(t->l, group))
		return;
	if (is_true(group) || strcmp(reason, "Reserving") == 0)
		t->live++;
	else
		t->waiting++;
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
}
