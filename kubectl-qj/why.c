/* why: one screen about one job, group or pod: what it waits for, who is ahead, and what its queue has. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"

enum { SHOWN = 5 }; /* groups of each list */

struct why {
	struct qj *q;
	const char *name;      /* of the job and of its group */
	struct qj_job job;     /* only with .has_job */
	struct qj_group group; /* only with .has_group */
	struct qj_queue queue; /* only with .has_queue: who may not read queues sees less */
	bool has_job, has_group, has_queue;
	const char *queue_name;
	/* Of the same queue. */
	struct qj_group **ahead, **holders;
	size_t n_ahead, n_holders;
	bool all_seen; /* those of all namespaces */
};

/* --- what it is about ------------------------------------------------------------------------------- */

/* The job or the group of a pod. */
static int follow_pod(struct why *w, const char *pod_name)
{
	struct qj_pod pod = { 0 };
	const char *of;

	if (qj_get(w->q, &qj_pods, w->q->ns, pod_name, &qj_pod_desc, &pod))
		return qj_fail(w->q);
	of = kar_pairs_get(&pod.meta.labels, KAR_LABEL_QUEUEJOB);
	if (!of)
		of = kar_pairs_get(&pod.meta.labels, KAR_LABEL_POD_GROUP);
	if (!of) {
		fprintf(stderr, "error: pod %s is of no QueueJob and names no PodGroup\n", pod_name);
		return 1;
	}
	w->name = of;
	return 0;
}

static int find(struct why *w)
{
	struct qj *q = w->q;

	w->has_job = qj_get(q, &qj_jobs, q->ns, w->name, &qj_job_desc, &w->job) == 0;
	if (!w->has_job && q->err.what != KAR_NOTFOUND)
		return qj_fail(q);
	w->has_group = qj_get(q, &qj_groups, q->ns, w->name, &qj_group_desc, &w->group) == 0;
	if (!w->has_group && !w->has_job) {
		fprintf(stderr, "error: no QueueJob and no PodGroup is called %s in namespace %s\n", w->name,
			q->ns);
		return 1;
	}
	w->queue_name = w->has_job               ? qj_job_queue(&w->job)
		: w->group.status.admitted_queue ? w->group.status.admitted_queue
		: w->group.spec.queue            ? w->group.spec.queue
						 : KAR_DEFAULT_QUEUE;
	w->has_queue = qj_get(q, &qj_queues, "", w->queue_name, &qj_queue_desc, &w->queue) == 0;
	return 0;
}

/* --- others of its queue ---------------------------------------------------------------------------- */

static bool is_of_queue(const struct qj_group *g, const char *queue)
{
	const char *of = kar_has_text(g->status.admitted_queue) ? g->status.admitted_queue
		: kar_has_text(g->spec.queue)                   ? g->spec.queue
								: KAR_DEFAULT_QUEUE;

	return kar_streq(of, queue);
}

static bool is_admitted(const struct qj_group *g)
{
	const struct qj_condition *c = qj_condition_of(&g->status.conditions, "Admitted");

	return c && kar_streq(c->status, "True");
}

static void add(struct why *w, struct qj_group ***to, size_t *n, const struct qj_group *g)
{
	*to = kar_arena_grow(&w->q->arena, *to, *n, sizeof(**to));
	(*to)[*n] = kar_arena_alloc(&w->q->arena, 1, sizeof(*g));
	*(*to)[(*n)++] = *g;
}

static int sort_groups(void *arg, const struct kar_array *items)
{
	struct why *w = arg;
	const struct qj_group *g = items->items;
	int32_t mine = w->group.status.position;

	for (size_t i = 0; i < items->n; i++) {
		if (kar_streq(g[i].meta.uid, w->group.meta.uid) || !is_of_queue(&g[i], w->queue_name))
			continue;
		if (is_admitted(&g[i]) && g[i].status.members > 0)
			add(w, &w->holders, &w->n_holders, &g[i]);
		else if (g[i].status.position && g[i].status.position < mine)
			add(w, &w->ahead, &w->n_ahead, &g[i]);
	}
	return 0;
}

static void look_at_others(struct why *w)
{
	struct qj *q = w->q;

	w->all_seen = qj_list(q, &(struct qj_query){ &qj_groups, &qj_group_desc, "", NULL, NULL },
			      sort_groups, w) == 0;
	if (w->all_seen)
		return;
	w->n_ahead = w->n_holders = 0;
	(void)qj_list(q, &(struct qj_query){ &qj_groups, &qj_group_desc, q->ns, NULL, NULL }, sort_groups, w);
}

static int by_position(const void *a, const void *b)
{
	const struct qj_group *const *x = a, *const *y = b;

	return (*x)->status.position < (*y)->status.position ? -1 : 1;
}

static int by_members(const void *a, const void *b)
{
	const struct qj_group *const *x = a, *const *y = b;

	return ((*x)->status.members < (*y)->status.members) - ((*x)->status.members > (*y)->status.members);
}

/* --- what is printed -------------------------------------------------------------------------------- */

static const char *nth(struct qj *q, int32_t n)
{
	int32_t tens = n % 100, ones = n % 10;
	const char *end = tens > 10 && tens < 14 ? "th"
		: ones == 1                      ? "st"
		: ones == 2                      ? "nd"
		: ones == 3                      ? "rd"
						 : "th";

	return kar_arena_printf(&q->arena, "%d%s", (int)n, end);
}

static void print_head(const struct why *w)
{
	struct qj *q = w->q;
	int32_t position = w->has_group ? w->group.status.position : w->job.status.position;
	const struct kar_wire_meta *meta = w->has_job ? &w->job.meta : &w->group.meta;
	const char *phase = w->has_job ? w->job.status.phase : w->group.status.phase;
	kar_time since = w->group.status.waiting_since ? w->group.status.waiting_since : meta->creation;

	fprintf(w->q->out, "%s %s/%s is %s in queue %s", w->has_job ? "QueueJob" : "PodGroup", meta->ns,
		meta->name, kar_has_text(phase) ? phase : "Pending", w->queue_name);
	if (position && w->has_queue)
		fprintf(w->q->out, ", %s of %d that wait", nth(q, position), (int)w->queue.status.pending);
	else if (position)
		fprintf(w->q->out, ", %s that waits", nth(q, position));
	if (position)
		fprintf(w->q->out, ", for %s", qj_age(q, q->now - since));
	else if (w->has_job)
		fprintf(w->q->out, ": %d of %lld pods run", (int)w->job.status.running,
			(long long)qj_job_replicas(&w->job));
	fprintf(w->q->out, "\n");
}

/* The job copies the words of its group; what concerns only the group is said by that. */
static void print_reason(const struct why *w)
{
	static const char *const types[] = { "Admitted", "Scheduled", "Invalid", "FitUnverified",
		"Preempted" };
	const struct kar_array *conditions =
		w->has_group ? &w->group.status.conditions : &w->job.status.conditions;
	bool said = false;

	if (w->has_job && kar_has_text(w->job.status.reason)) {
		fprintf(w->q->out, "\n  %s: %s\n", qj_clean(w->q, w->job.status.reason),
			qj_clean(w->q, w->job.status.message ? w->job.status.message : ""));
		said = true;
	}
	for (size_t i = 0; i < KAR_LEN(types); i++) {
		const struct qj_condition *c = qj_condition_of(conditions, types[i]);
		bool bad = c && kar_streq(c->status, i < 2 ? "False" : "True");

		if (!bad || !kar_has_text(c->message) || (said && i < 2))
			continue;
		fprintf(w->q->out, "\n  %s: %s\n", qj_clean(w->q, c->reason ? c->reason : c->type),
			qj_clean(w->q, c->message));
		said |= i < 2;
	}
	if (!said)
		fprintf(w->q->out, "\n  nothing keeps it waiting\n");
}

static void print_groups(const struct why *w, const char *title, struct qj_group *const *groups, size_t n)
{
	struct qj *q = w->q;

	if (!n)
		return;
	fprintf(w->q->out, "\n%s:\n", title);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		const struct qj_group *g = groups[i];

		fprintf(w->q->out, "  %s/%s", g->meta.ns, g->meta.name);
		if (g->status.position)
			fprintf(w->q->out, "  %s, waits %s", nth(q, g->status.position),
				qj_age(q,
					q->now -
						(g->status.waiting_since ? g->status.waiting_since
									 : g->meta.creation)));
		else
			fprintf(w->q->out, "  %d pods, %d run", (int)g->status.members,
				(int)g->status.running);
		fprintf(w->q->out, "\n");
	}
	if (n > SHOWN)
		fprintf(w->q->out, "  and %zu more\n", n - SHOWN);
}

static void print_queue(const struct why *w)
{
	const struct kar_pair *used = w->queue.status.allocated.items;

	if (!w->has_queue) {
		fprintf(w->q->out, "\nQueue %s: %s\n", w->queue_name,
			w->q->err.what == KAR_NOTFOUND ? "there is none" : "you may not read it");
		return;
	}
	fprintf(w->q->out, "\nQueue %s is %s: %d wait, %d run\n", w->queue_name,
		w->queue.status.state ? w->queue.status.state : "new", (int)w->queue.status.pending,
		(int)(w->queue.status.running + w->queue.status.inqueue));
	if (w->queue.spec.max_jobs)
		fprintf(w->q->out, "  jobs: %d of at most %d\n",
			(int)(w->queue.status.running + w->queue.status.inqueue),
			(int)w->queue.spec.max_jobs);
	for (size_t i = 0; i < w->queue.status.allocated.n; i++) {
		const char *right = kar_pairs_get(&w->queue.status.entitled, used[i].key),
			   *most = kar_pairs_get(&w->queue.spec.capability, used[i].key);

		fprintf(w->q->out, "  %s: uses %s%s%s%s%s\n", qj_clean(w->q, used[i].key), used[i].value,
			right ? ", has a right to " : "", right ? right : "", most ? ", may have " : "",
			most ? most : "");
	}
}

static void print_start(const struct why *w)
{
	kar_time at = w->group.status.estimated_start;

	if (at > w->q->now)
		fprintf(w->q->out, "\nIt may start in %s, if those ahead end when their deadlines say.\n",
			qj_age(w->q, at - w->q->now));
}

int qj_cmd_why(struct qj *q)
{
	struct why w = { .q = q };
	const char *slash = q->o.n_args == 1 ? strchr(q->o.args[0], '/') : NULL;
	int status = 0;

	if (q->o.n_args != 1 || q->o.all)
		return qj_misused(q);
	w.name = slash ? slash + 1 : q->o.args[0];
	if (strncmp(q->o.args[0], "pod/", 4) == 0)
		status = follow_pod(&w, w.name);
	if (status || find(&w))
		return 1;
	print_head(&w);
	print_reason(&w);
	print_start(&w);
	print_queue(&w);
	if (w.has_group && w.group.status.position) {
		look_at_others(&w);
		if (w.n_ahead)
			qsort(w.ahead, w.n_ahead, sizeof(struct qj_group *), by_position);
		if (w.n_holders)
			qsort(w.holders, w.n_holders, sizeof(struct qj_group *), by_members);
		print_groups(&w, "Ahead of it", w.ahead, w.n_ahead);
		print_groups(&w, "What the queue has admitted", w.holders, w.n_holders);
		if (!w.all_seen)
			fprintf(q->out,
				"\nGroups of other namespaces are not shown: you may not list them.\n");
	}
	return 0;
}
