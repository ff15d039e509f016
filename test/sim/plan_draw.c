/* Drawing a plan from a seed. */
#include <stdlib.h>

#include "common/base/mem.h"
#include "test/sim/plan.h"

enum { SCALE_MAX = 7, JOBS_MAX = 50 };

static const kar_time HOUR = 60 * KAR_MINUTE;

struct draw {
	struct plan *p;
	struct sim_random r;
	int numbers; /* job names given */
	size_t room_jobs, room_actions;
};

static int between(struct draw *d, int low, int high)
{
	return (int)sim_random_between(&d->r, low, high);
}

/* @percent of a hundred. */
static bool chance(struct draw *d, int percent)
{
	return between(d, 1, 100) <= percent;
}

static int or_unset(struct draw *d, int percent, int low, int high)
{
	return chance(d, percent) ? between(d, low, high) : PLAN_UNSET;
}

/* Small values are as likely as large ones: the order of magnitude is uniform. */
static kar_time some_time(struct draw *d, kar_time low, kar_time high)
{
	kar_time cut = high;

	for (int halvings = between(d, 0, 10); halvings > 0 && cut > low * 2; halvings--)
		cut /= 2;
	return low + sim_random_between(&d->r, 0, cut - low);
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

static enum plan_outcome draw_outcome(struct draw *d)
{
	int n = between(d, 1, 100);

	if (n <= 62)
		return PLAN_SUCCEED;
	if (n <= 75)
		return PLAN_FAIL;
	if (n <= 90)
		return PLAN_RUN;
	return n <= 95 ? PLAN_CRASH_ONCE : PLAN_OOM;
}

static struct plan_task draw_task(struct draw *d)
{
	struct plan_task t = {
		.replicas = chance(d, 80) ? between(d, 1, 4) : between(d, 0, 8),
		.priority = or_unset(d, 20, 0, 1000),
		.min = PLAN_UNSET,
		.outcome = draw_outcome(d),
		.after = (int)(some_time(d, 1, 1500 * KAR_SECOND) / KAR_SECOND),
		.start = chance(d, 50) ? between(d, 0, 5) : 0,
		.stop = chance(d, 80) ? between(d, 0, 3) : between(d, 0, 40),
		.exit_code = between(d, 1, 255),
		.cpu = 50 * between(d, 1, 20),
	};

	if (chance(d, 15))
		t.min = between(d, 0, t.replicas);
	return t;
}

static void draw_success(struct draw *d, struct plan_job *j)
{
	int most = j->tasks[0].replicas;

	j->min_succeeded = PLAN_UNSET;
	j->success_first_task = j->n_tasks > 1 && chance(d, 15);
	if (!j->success_first_task)
		most = plan_total(j);
	if (most > 0 && chance(d, 15))
		j->min_succeeded = between(d, 1, most);
}

static struct plan_job draw_job(struct draw *d, int number, int ns)
{
	struct plan_job j = {
		.number = number,
		.ns = ns,
		.queue = chance(d, 60) ? 0 : between(d, 0, PLAN_QUEUES - 1),
		.class = or_unset(d, 40, 0, PLAN_CLASSES - 1),
		.n_tasks = chance(d, 60) ? 1 : between(d, 1, 3),
		.min = PLAN_UNSET,
		.impossible = PLAN_UNSET,
		.backoff = or_unset(d, 40, 0, 5),
		.deadline = or_unset(d, 8, 20, 1500),
		.ttl = or_unset(d, 15, 0, 900),
		.suspend = chance(d, 6),
	};

	for (int i = 0; i < j.n_tasks; i++)
		j.tasks[i] = draw_task(d);
	if (chance(d, 60))
		j.min = chance(d, 8) ? 0 : between(d, plan_total(&j) > 0, plan_total(&j));
	draw_success(d, &j);
	return j;
}

static void act(struct draw *d, kar_time at, enum plan_verb verb, int job, int task, int value)
{
	struct plan *p = d->p;

	if (p->n_actions == d->room_actions) {
		d->room_actions = d->room_actions ? 2 * d->room_actions : 64;
		p->actions = kar_xrealloc(p->actions, d->room_actions, sizeof(*p->actions));
	}
	p->actions[p->n_actions++] =
		(struct plan_action){ .at = at, .verb = verb, .job = job, .task = task, .value = value };
}

static int add_job(struct draw *d, struct plan_job j)
{
	struct plan *p = d->p;

	if (p->n_jobs == d->room_jobs) {
		d->room_jobs = d->room_jobs ? 2 * d->room_jobs : 64;
		p->jobs = kar_xrealloc(p->jobs, d->room_jobs, sizeof(*p->jobs));
	}
	p->jobs[p->n_jobs] = j;
	return (int)p->n_jobs++;
}

/* --- what people do to a job --------------------------------------------------------------------------- */

struct weight {
	enum plan_verb verb;
	int weight;
};

static const struct weight job_weights[] = {
	{ PLAN_DELETE, 8 },
	{ PLAN_SUSPEND, 8 },
	{ PLAN_SCALE, 14 },
	{ PLAN_QUORUM, 5 },
	{ PLAN_TEMPLATE, 7 },
	{ PLAN_LIMITS, 2 },
	{ PLAN_TTL, 2 },
	{ PLAN_STATUS, 2 },
	{ PLAN_CLEAR, 1 },
	{ PLAN_DELETE_POD, 16 },
	{ PLAN_KILL_POD, 6 },
	{ PLAN_EVICT_POD, 6 },
	{ PLAN_RELABEL_POD, 2 },
	{ PLAN_RAISE_POD, 2 },
	{ PLAN_UNTRACK_POD, 3 },
	{ PLAN_DISOWN_POD, 2 },
	{ PLAN_BLOCK_POD, 4 },
	{ PLAN_DELETE_GROUP, 3 },
	{ PLAN_EDIT_GROUP, 2 },
	{ PLAN_DELETE_SPEC, 2 },
};

static enum plan_verb pick(struct draw *d, const struct weight *weights, size_t n)
{
	int sum = 0, at;
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		sum += weights[k].weight;
	at = between(d, 1, sum);
	while (at > weights[i].weight)
		at -= weights[i++].weight;
	return weights[i].verb;
}

static void recreate(struct draw *d, int job, kar_time at)
{
	struct plan_job next = draw_job(d, d->p->jobs[job].number, d->p->jobs[job].ns);
	kar_time pause = chance(d, 40) ? 0 : some_time(d, 1, 2 * KAR_MINUTE);

	act(d, at + pause, PLAN_SUBMIT, add_job(d, next), 0, 0);
}

static void trouble(struct draw *d, int job, kar_time at)
{
	const struct plan_job *j = &d->p->jobs[job];
	enum plan_verb verb = pick(d, job_weights, KAR_LEN(job_weights));
	int task = between(d, 0, j->n_tasks - 1);
	int index = between(d, 0, j->tasks[task].replicas > 0 ? j->tasks[task].replicas - 1 : 0);

	switch (verb) {
	case PLAN_DELETE:
		act(d, at, verb, job, 0, chance(d, 80) ? between(d, 0, 1) : 2);
		if (chance(d, 70))
			recreate(d, job, at);
		break;
	case PLAN_SUSPEND:
		act(d, at, verb, job, 0, 0);
		if (chance(d, 85))
			act(d, at + some_time(d, 1, 20 * KAR_MINUTE), PLAN_RESUME, job, 0, 0);
		break;
	case PLAN_SCALE:
		act(d, at, verb, job, task, between(d, 0, SCALE_MAX));
		break;
	case PLAN_QUORUM:
	case PLAN_EDIT_GROUP:
	case PLAN_LIMITS:
		act(d, at, verb, job, 0, between(d, 0, plan_total(j)));
		break;
	case PLAN_TTL:
		act(d, at, verb, job, 0, between(d, 0, 600));
		break;
	case PLAN_BLOCK_POD:
		act(d, at, verb, job, task, index);
		act(d, at + some_time(d, KAR_SECOND, 20 * KAR_MINUTE), PLAN_UNBLOCK_POD, job, task, index);
		break;
	case PLAN_TEMPLATE:
	case PLAN_STATUS:
		act(d, at, verb, job, task, between(d, 1, 1000));
		break;
	default:
		act(d, at, verb, job, task, index);
		break;
	}
}

static void draw_job_life(struct draw *d, kar_time at, int troubles)
{
	int job = add_job(d, draw_job(d, d->numbers++, between(d, 0, PLAN_NAMESPACES - 1)));

	act(d, at, PLAN_SUBMIT, job, 0, 0);
	if (d->p->jobs[job].suspend && chance(d, 90))
		act(d, at + some_time(d, 1, 20 * KAR_MINUTE), PLAN_RESUME, job, 0, 0);
	for (int i = 0; i < troubles; i++)
		trouble(d, job, at + some_time(d, 1, d->p->length));
}

/* --- what happens to the cluster ----------------------------------------------------------------------- */

static void draw_node_trouble(struct draw *d, kar_time at)
{
	static const struct weight weights[] = { { PLAN_CORDON, 2 }, { PLAN_DRAIN, 3 }, { PLAN_NODE_LOST, 4 },
		{ PLAN_NODE_GONE, 2 }, { PLAN_NODE_ADDED, 2 }, { PLAN_PRESSURE, 2 } };
	enum plan_verb verb = pick(d, weights, KAR_LEN(weights));
	int node = between(d, 0, d->p->nodes - 1);
	kar_time later = at + some_time(d, KAR_SECOND, 30 * KAR_MINUTE);

	act(d, at, verb, 0, between(d, 0, 1),
		verb == PLAN_NODE_ADDED ? d->p->nodes + between(d, 0, 3) : node);
	if (verb == PLAN_CORDON || verb == PLAN_DRAIN)
		act(d, later, PLAN_UNCORDON, 0, 0, node);
	else if (verb == PLAN_NODE_LOST)
		act(d, later, PLAN_NODE_BACK, 0, 0, node);
	else if (verb == PLAN_NODE_GONE)
		act(d, later, PLAN_NODE_ADDED, 0, 0, node);
}

static kar_time any_time(struct draw *d)
{
	return sim_random_between(&d->r, 0, d->p->length);
}

static void draw_cluster_life(struct draw *d)
{
	int nodes = chance(d, 50) ? between(d, 1, 6) : 0;
	int quotas = chance(d, 20) ? between(d, 1, 4) : 0;
	int queues = chance(d, 30) ? between(d, 1, 4) : 0;

	for (int i = 0; i < nodes; i++)
		draw_node_trouble(d, any_time(d));
	for (int i = 0; i < quotas; i++)
		act(d, any_time(d), PLAN_QUOTA, 0, between(d, 0, PLAN_NAMESPACES - 1),
			or_unset(d, 70, 0, 20));
	for (int i = 0; i < queues; i++)
		act(d, any_time(d), PLAN_QUEUE, 0, between(d, 0, PLAN_QUEUES - 1), or_unset(d, 60, 0, 4));
}

static void draw_size(struct draw *d)
{
	struct plan *p = d->p;
	int size = between(d, 1, 100);

	p->nodes = size <= 60 ? between(d, 2, 5) : size <= 92 ? between(d, 5, 20) : between(d, 20, 100);
	p->node_cpu = 1 << between(d, 1, 6);
	p->other_user = chance(d, 25);
	p->max_in_flight = chance(d, 25) ? between(d, 1, 4) : 0;
	for (int q = 0; q < PLAN_QUEUES; q++) {
		p->max_jobs[q] = or_unset(d, q ? 40 : 20, 1, 5);
		p->strict[q] = chance(d, 25);
	}
}

static int compare_actions(const void *a, const void *b)
{
	const struct plan_action *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->verb != y->verb)
		return x->verb < y->verb ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static void sort(struct plan *p)
{
	qsort(p->actions, p->n_actions, sizeof(*p->actions), compare_actions);
	while (p->n_actions && p->actions[p->n_actions - 1].at > p->length)
		p->n_actions--;
	for (size_t i = 0; i < p->n_actions; i++)
		p->actions[i].number = (int)i;
}

static void begin(struct draw *d, struct plan *p, uint64_t seed)
{
	*p = (struct plan){ .seed = seed, .team_capability = PLAN_UNSET };
	*d = (struct draw){ .p = p, .r = sim_random_of(seed, "plan") };
	for (int q = 0; q < PLAN_QUEUES; q++)
		p->max_jobs[q] = PLAN_UNSET;
}

void plan_draw(struct plan *p, uint64_t seed, double hours, uint32_t fault_set, int version)
{
	struct draw d;
	int jobs, troubles;

	begin(&d, p, seed);
	p->length = hours > 0 ? (kar_time)(hours * (double)HOUR) : some_time(&d, 10 * KAR_MINUTE, 3 * HOUR);
	p->fault_set = fault_set;
	p->faults = sim_faults_draw(seed, fault_set);
	draw_size(&d);
	jobs = between(&d, 1, 2 + p->nodes);
	if (jobs > JOBS_MAX)
		jobs = JOBS_MAX;
	troubles = between(&d, 0, 5);
	for (int i = 0; i < jobs; i++)
		draw_job_life(&d, chance(&d, 40) ? some_time(&d, 1, p->length) : any_time(&d),
			between(&d, 0, troubles));
	draw_cluster_life(&d);
	if (version >= 2)
		plan_draw_more(p);
	if (version >= 3)
		plan_draw_order(p);
	if (version >= 4)
		plan_draw_policies(p);
	if (version >= 5)
		plan_draw_network(p);
	if (version >= 6)
		plan_draw_quotas(p);
	if (version >= 7)
		plan_draw_life(p);
	if (version >= 8)
		plan_draw_limits(p);
	if (version >= 9)
		plan_draw_specs(p);
	if (version >= 10)
		plan_draw_nodes(p);
	if (version >= 11)
		plan_draw_queues(p);
	if (version >= 12)
		plan_draw_hostile(p);
	if (version >= 13)
		plan_draw_room(p);
	if (version >= 14)
		plan_draw_direct(p);
	if (version >= 15)
		plan_draw_gangs(p);
	if (version >= 16)
		plan_draw_rights(p);
	if (version >= 17)
		plan_draw_shares(p);
	if (version >= 18)
		plan_draw_bounds(p);
	if (version >= 19)
		plan_draw_topology(p);
	if (version >= 20)
		plan_draw_teams(p);
	sort(p);
}

/* --- for measuring ------------------------------------------------------------------------------------- */

static struct plan_job steady_job(struct draw *d)
{
	struct plan_job j = draw_job(d, d->numbers++, between(d, 0, PLAN_NAMESPACES - 1));

	j.n_tasks = 1;
	j.tasks[0].replicas = between(d, 2, 8);
	j.tasks[0].min = PLAN_UNSET;
	j.tasks[0].outcome = PLAN_SUCCEED;
	j.tasks[0].after = between(d, 2, 12) * 3600 + between(d, 0, 3599);
	j.min = j.tasks[0].replicas - between(d, 0, 1);
	j.backoff = j.deadline = j.min_succeeded = PLAN_UNSET;
	j.success_first_task = j.suspend = false;
	j.ttl = 600;
	return j;
}

void plan_draw_steady(struct plan *p, uint64_t seed, double hours, int nodes, int jobs)
{
	struct draw d;

	begin(&d, p, seed);
	p->length = (kar_time)(hours * (double)HOUR);
	p->nodes = nodes;
	p->node_cpu = 16;
	for (int i = 0; i < jobs; i++) {
		/* Each place is taken by one job after the other. */
		for (kar_time at = sim_random_between(&d.r, 0, HOUR); at < p->length;) {
			int job = add_job(&d, steady_job(&d));

			act(&d, at, PLAN_SUBMIT, job, 0, 0);
			at += (kar_time)p->jobs[job].tasks[0].after * KAR_SECOND + KAR_MINUTE;
		}
	}
	sort(p);
}
