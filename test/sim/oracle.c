/*
 * What a plan alone determines of its end. A job is judged only where no timing can matter: whether all its pods succeed, some
 * always fail, or some run for ever, and nobody does anything to it whose effect depends on the moment.
 */
#include <string.h>

#include "api/names.h"
#include "test/sim/world.h"

enum verdict { OPEN, GONE, COMPLETED, FAILED, RUNNING };

/* The last job of a name, and what is done to it after it was submitted. */
enum { DEFAULT_BACKOFF_LIMIT = 6 };

struct fate {
	const struct plan *p;
	const struct plan_job *job; /* NULL: none was submitted */
	bool open;                  /* timing may matter */
	bool deleted, suspended, scaled, expires;
	bool deadline, kept; /* the one is edited; so may the other be, when it is over */
	int limit;           /* of its active pods, by the queue; PLAN_UNSET: none */
	int backoff_limit;   /* the lowest that it had */
	bool replicas_zero;
	bool power_lost; /* somewhere: containers that die with their node fail, and that may be counted */
};

static void submit(struct fate *f, const struct plan_action *a)
{
	bool open = f->open || (f->job && !f->deleted); /* the name may be taken, or not any more */

	*f = (struct fate){ .p = f->p,
		.job = &f->p->jobs[a->job],
		.open = open,
		.expires = f->p->jobs[a->job].ttl != PLAN_UNSET,
		.power_lost = f->power_lost,
		.kept = f->kept, /* of the next of the name, if this one is gone first */
		.limit = PLAN_UNSET,
		.backoff_limit = f->p->jobs[a->job].backoff == PLAN_UNSET ? DEFAULT_BACKOFF_LIMIT
									  : f->p->jobs[a->job].backoff,
		.suspended = f->p->jobs[a->job].suspend };
}

static void apply(struct fate *f, const struct plan_action *a)
{
	switch (a->verb) {
	case PLAN_SUBMIT:
		submit(f, a);
		break;
	case PLAN_DELETE:
		f->deleted = true;
		f->open |= a->value != 0; /* how long it takes depends on the pods */
		break;
	case PLAN_SUSPEND:
	case PLAN_RESUME:
		f->suspended = a->verb == PLAN_SUSPEND;
		break;
	case PLAN_SCALE:
		f->scaled = true;
		f->replicas_zero |= a->value == 0;
		break;
	case PLAN_TTL:
		f->expires = true;
		break;
	case PLAN_KEEP: /* if it ends before all is calm */
		f->kept = true;
		break;
	case PLAN_DEADLINE:
		f->deadline = true;
		break;
	case PLAN_LIMITS:
		f->backoff_limit = a->value < f->backoff_limit ? a->value : f->backoff_limit;
		break;
	case PLAN_LIMIT: /* if the group is there just then */
		f->limit = a->value;
		break;
	case PLAN_TEMPLATE: /* of the former job of the name: its pods end otherwise, perhaps */
		f->open |= f->job && f->job != &f->p->jobs[a->job];
		break;
	case PLAN_CLEAR: /* what was counted, or had succeeded, is lost */
	case PLAN_DISOWN_POD:
	case PLAN_HURRY_POD:
	case PLAN_DROP_TASK:
	case PLAN_ORDER: /* what has started goes on */
		f->open = true;
		break;
	default:
		break;
	}
}

static struct fate fate_of(const struct plan *p, int number)
{
	struct fate f = { .p = p };

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct plan_action *a = &p->actions[i];
		bool of_cluster = a->verb >= PLAN_QUOTA;

		if (!of_cluster && p->jobs[a->job].number == number)
			apply(&f, a);
		f.power_lost |= a->verb == PLAN_NODE_GONE || (a->verb == PLAN_NODE_LOST && a->task == 1);
	}
	return f;
}

/* --- capacity ------------------------------------------------------------------------------------------ */

enum { SCALED = 7, LARGEST = 1000 };

/* What its pods ask for together, also after people have scaled them: all of them, or those that run for ever. */
static int64_t cpu_of(const struct plan_job *j, bool for_ever)
{
	int64_t sum = 0;

	for (int t = 0; t < j->n_tasks; t++) {
		const struct plan_task *task = &j->tasks[t];

		if (for_ever ? task->outcome == PLAN_RUN : task->cpu <= LARGEST)
			sum += (int64_t)task->cpu * (task->replicas > SCALED ? task->replicas : SCALED);
	}
	return sum;
}

/* One pod of each task that has larger ones. Their gangs are drawn so that they fit, alone (plan_nodes.c, plan_room.c). */
static int64_t large_cpu_of(const struct plan_job *j)
{
	int64_t sum = 0;

	for (int t = 0; t < j->n_tasks; t++)
		sum += j->tasks[t].cpu > LARGEST ? j->tasks[t].cpu : 0;
	return sum;
}

/*
 * Does every gang find its places in the end? Those that end make room; so it is enough if, with all the others where they are, the
 * largest fits beside them: while one of its pods finds no node, each node has less free than a pod takes.
 */
static bool is_ample(const struct plan *p)
{
	int64_t for_ever = plan_gangs_keep(p), largest = 0;

	for (size_t i = 0; i < p->n_jobs; i++)
		for_ever += cpu_of(&p->jobs[i], true);
	for (size_t i = 0; i < p->n_jobs; i++) {
		int64_t gang = cpu_of(&p->jobs[i], false), large = large_cpu_of(&p->jobs[i]);

		if (large && for_ever + gang + large > (int64_t)p->node_cpu * 1000)
			return false; /* so much beside it that a node may be too small */
		largest = gang > largest ? gang : largest;
	}
	return for_ever + largest <
		(int64_t)(p->zones ? p->nodes / 2 : p->nodes) * (p->node_cpu * 1000 - LARGEST);
}

/* --- the verdict --------------------------------------------------------------------------------------- */

/* Has the job pods that end like this, or may it get some? */
static bool has(const struct fate *f, enum plan_outcome a, enum plan_outcome b)
{
	const struct plan_job *j = f->job;

	for (int i = 0; i < j->n_tasks; i++) {
		if ((j->tasks[i].replicas || f->scaled) &&
			(j->tasks[i].outcome == a || j->tasks[i].outcome == b) && plan_task_starts(j, i))
			return true;
	}
	return false;
}

/* Rules that end a job may match what people do to its pods. */
static bool may_end_early(const struct plan_job *j)
{
	return plan_has_rule(j, KAR_FAILURE_FAIL_JOB) || plan_has_rule(j, KAR_FAILURE_COMPLETE_JOB);
}

static bool may_fail_for_ever(const struct plan_job *j)
{
	return plan_has_rule(j, KAR_FAILURE_IGNORE) || plan_has_rule(j, KAR_FAILURE_COMPLETE_JOB);
}

/* Pods that would not succeed, but do when somebody stops them. */
static bool may_succeed_early(const struct plan_job *j)
{
	for (int i = 0; i < j->n_tasks; i++) {
		if (j->tasks[i].stops_well)
			return true;
	}
	return false;
}

/* Do all of its pods have their turn, although not all at once? */
static bool makes_progress(const struct fate *f)
{
	return f->limit > 0 && !has(f, PLAN_RUN, PLAN_RUN) && !plan_has_order(f->job);
}

/* May so many containers restart in place that the job fails? How many pods are alive at once is a question of time. */
static bool may_crash_too_often(const struct fate *f)
{
	const struct plan_job *j = f->job;
	int n = 0;

	for (int i = 0; i < j->n_tasks; i++)
		n += j->tasks[i].outcome == PLAN_CRASH_ONCE ? j->tasks[i].replicas : 0;
	return has(f, PLAN_CRASH_ONCE, PLAN_CRASH_ONCE) && (f->scaled || n >= f->backoff_limit);
}

static enum verdict judge_alive(const struct fate *f)
{
	const struct plan_job *j = f->job;
	bool plain = j->min_succeeded == PLAN_UNSET && !j->success_first_task && !f->scaled;
	bool fails = has(f, PLAN_FAIL, PLAN_OOM), runs = has(f, PLAN_RUN, PLAN_RUN);

	if (f->suspended || (f->limit != PLAN_UNSET && !makes_progress(f)))
		return OPEN;
	if (!fails && may_crash_too_often(f))
		return OPEN;
	if (!fails && !runs)
		return f->power_lost || may_end_early(j) ? OPEN : COMPLETED;
	if (!plain || may_succeed_early(j))
		return OPEN;
	if (fails)
		return may_fail_for_ever(j) ? OPEN : FAILED; /* sooner or later */
	return f->power_lost || may_end_early(j) ? OPEN : RUNNING;
}

/* Whether it completes before its deadline is a question of time. */
static enum verdict judge_in_time(const struct fate *f)
{
	enum verdict v = judge_alive(f);

	if (f->job->deadline == PLAN_UNSET && !f->deadline)
		return v;
	if (v == RUNNING && !f->deadline)
		return FAILED;
	return v == FAILED ? FAILED : OPEN;
}

/* Pods that run for hours, in plans for measuring, have not ended when nothing has moved for half an hour. */
static bool is_long(const struct plan_job *j)
{
	enum { QUIET = 1800 }; /* s */

	for (int i = 0; i < j->n_tasks; i++) {
		if (j->tasks[i].after >= QUIET)
			return true;
	}
	return false;
}

static enum verdict judge(const struct fate *f)
{
	enum verdict v;

	if (!f->job || f->open || is_long(f->job))
		return OPEN;
	if (f->deleted)
		return GONE;
	if (f->replicas_zero || plan_total(f->job) == 0 ||
		(f->job->success_first_task && f->job->tasks[0].replicas == 0))
		return OPEN; /* who asks for nothing waits */
	v = judge_in_time(f);
	if (v != OPEN && !is_ample(f->p))
		return OPEN;
	if (v == OPEN || v == RUNNING || !f->expires)
		return v;
	return f->kept ? OPEN : GONE;
}

static const char *name_of(enum verdict v)
{
	static const char *const names[] = { "open", "gone", "Completed", "Failed", "Running" };

	return names[v];
}

static const char *observed(const struct world *w, const struct plan_job *j)
{
	char name[PLAN_NAME];
	const struct sim_value *job = sim_apiserver_peek(w->server, KAR_GROUP, "queuejobs",
		plan_ns_name(j->ns), plan_job_name(j, name));

	return job ? kar_qj_phase_name(model_phase(job)) : "gone";
}

static int count(const struct world *w, const struct plan_job *j, const char *what)
{
	char name[PLAN_NAME];

	return (int)sim_get_int(sim_apiserver_peek(w->server, KAR_GROUP, "queuejobs", plan_ns_name(j->ns),
					plan_job_name(j, name)),
		0, "status", what);
}

/*
 * Two managers whose clocks differ by more than the longest pause between two attempts have used up all attempts of its gang (decision 053):
 * nothing is foretold of it any more.
 */
static bool was_given_up(const struct world *w, const struct plan_job *j)
{
	static const kar_time LONGEST_PAUSE = 10 * KAR_MINUTE;
	char name[PLAN_NAME];
	const struct sim_value *group = sim_apiserver_peek(w->server, KAR_PODGROUP_GROUP, "podgroups",
		plan_ns_name(j->ns), plan_job_name(j, name));

	return w->model->overlaps && w->model->worst_clock > LONGEST_PAUSE && group &&
		model_placement(group) == KAR_PG_STATE_DEACTIVATED;
}

/* How many pods of the job end like this; -1: that is not determined. With a lower bar a job may end with more than it needs. */
static int foretold(const struct fate *f, enum verdict v, bool running)
{
	const struct plan_job *j = f->job;
	int n = 0;

	if ((v != COMPLETED && v != RUNNING) || f->scaled || j->min_succeeded != PLAN_UNSET ||
		j->success_first_task)
		return -1;
	for (int i = 0; i < j->n_tasks; i++)
		n += plan_task_starts(j, i) && (j->tasks[i].outcome == PLAN_RUN) == running
			? j->tasks[i].replicas
			: 0;
	return n;
}

static int last_number(const struct plan *p)
{
	int n = -1;

	for (size_t i = 0; i < p->n_jobs; i++)
		n = p->jobs[i].number > n ? p->jobs[i].number : n;
	return n;
}

void world_outcome(const struct world *w, struct kar_buf *out)
{
	for (int number = 0; number <= last_number(w->plan); number++) {
		struct fate f = fate_of(w->plan, number);
		enum verdict v = judge(&f);
		bool given_up;

		if (v == OPEN)
			continue;
		given_up = was_given_up(w, f.job); /* it counts as what it would have been */
		kar_buf_printf(out, "j%d %s", number, given_up ? name_of(v) : observed(w, f.job));
		if (foretold(&f, v, false) >= 0)
			kar_buf_printf(out, " %d %d",
				given_up ? foretold(&f, v, false) : count(w, f.job, "succeeded"),
				given_up ? foretold(&f, v, true) : count(w, f.job, "running"));
		kar_buf_puts(out, "\n");
	}
}

static void check_count(const struct world *w, const struct fate *f, const char *what, int foretold)
{
	int found = foretold >= 0 ? count(w, f->job, what) : foretold;

	if (found != foretold)
		model_break(w->model, "outcome", "job %s/j%d ends with %d pods %s; by the plan it must be %d",
			plan_ns_name(f->job->ns), f->job->number, found, what, foretold);
}

bool world_foretell(const struct world *w)
{
	for (int number = 0; number <= last_number(w->plan); number++) {
		struct fate f = fate_of(w->plan, number);
		enum verdict v = judge(&f);

		if (f.job && was_given_up(w, f.job))
			continue;
		if (v != OPEN && strcmp(observed(w, f.job), name_of(v)) != 0)
			model_break(w->model, "outcome", "job %s/j%d ends %s; by the plan it must end %s",
				plan_ns_name(f.job->ns), number, observed(w, f.job), name_of(v));
		check_count(w, &f, "succeeded", foretold(&f, v, false));
		check_count(w, &f, "running", foretold(&f, v, true));
	}
	return !w->model->broken;
}
