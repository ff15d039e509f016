/*
 * What a plan alone determines of its end. A job is judged only where no timing can matter: whether all its pods succeed, some
 * always fail, or all run for ever, and nobody does anything to it whose effect depends on the moment.
 */
#include <string.h>

#include "api/names.h"
#include "test/sim/world.h"

enum verdict { OPEN, GONE, COMPLETED, FAILED, RUNNING };

/* The last job of a name, and what is done to it after it was submitted. */
struct fate {
	const struct plan *p;
	const struct plan_job *job; /* NULL: none was submitted */
	bool open;                  /* timing may matter */
	bool deleted, suspended, scaled, edited;
	bool replicas_zero;
};

static void submit(struct fate *f, const struct plan_action *a)
{
	bool open = f->open || (f->job && !f->deleted); /* the name may be taken, or not any more */

	*f = (struct fate){ .p = f->p,
		.job = &f->p->jobs[a->job],
		.open = open,
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
		f->open |= f->suspended; /* it may have ended before */
		break;
	case PLAN_SCALE:
		f->scaled = true;
		f->replicas_zero |= a->value == 0;
		break;
	case PLAN_QUORUM:
	case PLAN_TEMPLATE:
	case PLAN_LIMITS:
	case PLAN_TTL:
		f->edited = true;
		break;
	case PLAN_CLEAR: /* what was counted, or had succeeded, is lost */
	case PLAN_DISOWN_POD:
	case PLAN_BLOCK_POD:
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
		/* Containers that die with their node fail, and that may be counted. */
		f.open |= a->verb == PLAN_NODE_GONE || (a->verb == PLAN_NODE_LOST && a->task == 1);
	}
	return f;
}

/* --- capacity ------------------------------------------------------------------------------------------ */

/* Can all pods that anybody may want run at once, with room to spare? */
static bool is_ample(const struct plan *p)
{
	enum { SCALED = 7, ROOM = 3 };
	int64_t wanted = 0;

	if (p->other_user)
		return false;
	for (size_t i = 0; i < p->n_jobs; i++) {
		for (int t = 0; t < p->jobs[i].n_tasks; t++) {
			const struct plan_task *task = &p->jobs[i].tasks[t];

			wanted += (int64_t)task->cpu * (task->replicas > SCALED ? task->replicas : SCALED);
		}
	}
	return wanted * ROOM < (int64_t)p->nodes * p->node_cpu * 1000;
}

/* --- the verdict --------------------------------------------------------------------------------------- */

static bool all(const struct plan_job *j, enum plan_outcome a, enum plan_outcome b)
{
	for (int i = 0; i < j->n_tasks; i++) {
		if (j->tasks[i].replicas && j->tasks[i].outcome != a && j->tasks[i].outcome != b)
			return false;
	}
	return true;
}

static int total(const struct plan_job *j)
{
	int n = 0;

	for (int i = 0; i < j->n_tasks; i++)
		n += j->tasks[i].replicas;
	return n;
}

static enum verdict judge_alive(const struct fate *f)
{
	const struct plan_job *j = f->job;
	bool plain = j->min_succeeded == PLAN_UNSET && !j->success_first_task && !f->scaled && !f->edited;

	if (f->suspended)
		return OPEN;
	if (all(j, PLAN_SUCCEED, PLAN_CRASH_ONCE))
		return COMPLETED;
	if (plain && all(j, PLAN_FAIL, PLAN_OOM))
		return FAILED;
	if (plain && all(j, PLAN_RUN, PLAN_RUN))
		return RUNNING;
	return OPEN;
}

static enum verdict judge(const struct fate *f)
{
	enum verdict v;

	if (!f->job || f->open)
		return OPEN;
	if (f->deleted)
		return GONE;
	if (f->job->deadline != PLAN_UNSET || f->replicas_zero || total(f->job) == 0 ||
		(f->job->success_first_task && f->job->tasks[0].replicas == 0))
		return OPEN; /* who asks for nothing waits */
	v = judge_alive(f);
	if (v != OPEN && !is_ample(f->p))
		return OPEN;
	if ((v == COMPLETED || v == FAILED) && (f->job->ttl != PLAN_UNSET || f->edited))
		return f->edited ? OPEN : GONE;
	return v;
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

	return job ? kar_qj_phase_name(ledger_phase(job)) : "gone";
}

/* With a lower bar a job may end with more than it needs. */
static bool counts_all(const struct plan_job *j)
{
	return j->min_succeeded == PLAN_UNSET && !j->success_first_task;
}

static int count_succeeded(const struct world *w, const struct plan_job *j)
{
	char name[PLAN_NAME];

	return (int)sim_get_int(sim_apiserver_peek(w->server, KAR_GROUP, "queuejobs", plan_ns_name(j->ns),
					plan_job_name(j, name)),
		0, "status", "succeeded");
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

		if (v == OPEN)
			continue;
		kar_buf_printf(out, "j%d %s", number, observed(w, f.job));
		if (v == COMPLETED && counts_all(f.job) && !f.scaled)
			kar_buf_printf(out, " %d", count_succeeded(w, f.job));
		kar_buf_puts(out, "\n");
	}
}

bool world_foretell(const struct world *w)
{
	for (int number = 0; number <= last_number(w->plan); number++) {
		struct fate f = fate_of(w->plan, number);
		enum verdict v = judge(&f);

		if (v != OPEN && strcmp(observed(w, f.job), name_of(v)) != 0)
			ledger_break(w->ledger, "outcome", "job %s/j%d ends %s; by the plan it must end %s",
				plan_ns_name(f.job->ns), number, observed(w, f.job), name_of(v));
	}
	return !w->ledger->broken;
}
