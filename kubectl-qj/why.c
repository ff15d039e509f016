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
	const char *pod;       /* that was asked for; NULL: none */
	bool group_alone;      /* no job was asked for */
	struct qj_job job;     /* only with .has_job */
	struct qj_group group; /* only with .has_group */
	struct qj_queue queue; /* only with .has_queue: who may not read queues sees less */
	bool has_job, has_group, has_queue;
	struct kar_err no_group, no_queue; /* why they are not there */
	const char *queue_name;
	/* Of the same queue. */
	struct qj_group **ahead, **holders;
	size_t n_ahead, n_holders;
	struct kar_err unseen; /* why those of other namespaces are not shown; .what KAR_OK: they are */
	bool sees_none;        /* with .unseen: nor are those of this namespace */
};

/* --- what it is about ------------------------------------------------------------------------------- */

/* "pod/x", "pods/x": x; NULL: @word is of no such kind. @kinds ends with NULL. */
static const char *name_of_kind(const char *word, const char *const *kinds)
{
	const char *slash = strchr(word, '/');

	for (; slash && *kinds; kinds++) {
		if (strlen(*kinds) == (size_t)(slash - word) && strncmp(word, *kinds, strlen(*kinds)) == 0)
			return slash + 1;
	}
	return NULL;
}

/* The job or the group of a pod. */
static int follow_pod(struct why *w)
{
	struct qj_pod pod = { 0 };

	if (qj_get(w->q, &qj_pods, w->q->ns, w->pod, &qj_pod_desc, &pod))
		return qj_fail(w->q);
	w->name = qj_pod_of(&pod);
	if (!w->name) {
		fprintf(stderr, "error: pod %s is of no QueueJob and names no PodGroup\n", w->pod);
		return 1;
	}
	return 0;
}

static int read_word(struct why *w, const char *word)
{
	static const char *const pods[] = { "pod", "pods", "po", NULL },
				 *const groups[] = { "podgroup", "podgroups", "pg", "pgs",
					 "podgroup.scheduling.x-k8s.io", "podgroups.scheduling.x-k8s.io",
					 NULL };

	w->pod = name_of_kind(word, pods);
	w->name = name_of_kind(word, groups);
	w->group_alone = w->name;
	if (w->pod)
		return follow_pod(w);
	if (!w->name && strchr(word, '/')) {
		fprintf(stderr, "error: why knows JOB, podgroup/NAME and pod/NAME, not %s\n", word);
		return 1;
	}
	if (!w->name)
		w->name = word;
	return 0;
}

static int fail_without(const struct why *w)
{
	const char *name = qj_clean(w->q, w->name);

	if (w->no_group.what != KAR_NOTFOUND) {
		w->q->err = w->no_group;
		return qj_fail(w->q);
	}
	if (w->pod)
		fprintf(stderr, "error: pod %s names PodGroup %s, which there is not in namespace %s\n",
			w->pod, name, w->q->ns);
	else
		fprintf(stderr, "error: no %sPodGroup is called %s in namespace %s\n",
			w->group_alone ? "" : "QueueJob and no ", name, w->q->ns);
	return 1;
}

static int find(struct why *w)
{
	struct qj *q = w->q;

	w->has_job = !w->group_alone && qj_get(q, &qj_jobs, q->ns, w->name, &qj_job_desc, &w->job) == 0;
	if (!w->has_job && !w->group_alone && q->err.what != KAR_NOTFOUND)
		return qj_fail(q);
	w->has_group = qj_get(q, &qj_groups, q->ns, w->name, &qj_group_desc, &w->group) == 0;
	w->no_group = q->err;
	if (!w->has_group && !w->has_job)
		return fail_without(w);
	w->queue_name = w->has_job ? qj_job_queue(&w->job) : qj_group_queue(&w->group);
	w->has_queue = qj_get(q, &qj_queues, "", w->queue_name, &qj_queue_desc, &w->queue) == 0;
	w->no_queue = q->err;
	return 0;
}

/* --- others of its queue ---------------------------------------------------------------------------- */

/* Who may not read the group has the place of the job. */
static int32_t position_of(const struct why *w)
{
	return w->group.status.position ? w->group.status.position : w->job.status.position;
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
	int32_t mine = position_of(w);

	for (size_t i = 0; i < items->n; i++) {
		bool me = kar_streq(g[i].meta.name, w->name) && kar_streq(g[i].meta.ns, w->q->ns);

		if (me || !kar_streq(qj_group_queue(&g[i]), w->queue_name))
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

	if (qj_list(q, &(struct qj_query){ &qj_groups, &qj_group_desc, "", NULL, NULL }, sort_groups, w) == 0)
		return;
	w->unseen = q->err;
	w->n_ahead = w->n_holders = 0;
	w->sees_none = qj_list(q, &(struct qj_query){ &qj_groups, &qj_group_desc, q->ns, NULL, NULL },
			       sort_groups, w) != 0;
	if (w->sees_none)
		w->n_ahead = w->n_holders = 0;
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
	int32_t position = position_of(w);
	const struct kar_wire_meta *meta = w->has_job ? &w->job.meta : &w->group.meta;
	const char *phase = w->has_job ? w->job.status.phase : w->group.status.phase;
	kar_time since = w->group.status.waiting_since ? w->group.status.waiting_since : meta->creation;

	qj_print(w->q, "%s %s/%s is %s in queue %s", w->has_job ? "QueueJob" : "PodGroup", meta->ns,
		meta->name, kar_has_text(phase) ? phase : "Pending", w->queue_name);
	if (position && w->has_queue)
		qj_print(w->q, ", %s of %d that wait", nth(q, position), (int)w->queue.status.pending);
	else if (position)
		qj_print(w->q, ", %s that waits", nth(q, position));
	if (position)
		qj_print(w->q, ", for %s", qj_age(q, q->now - since));
	else if (w->has_job)
		qj_print(w->q, ": %d of %lld pods run", (int)w->job.status.running,
			(long long)qj_job_replicas(&w->job));
	qj_print(w->q, "\n");
}

/* It says itself that it goes on. */
static bool goes_on(const struct why *w)
{
	static const char *const phases[] = { "Running", "Completed", "Failed", "Finished", "Scheduled" };
	const char *phase = w->has_job ? w->job.status.phase : w->group.status.phase;

	for (size_t i = 0; i < KAR_LEN(phases); i++) {
		if (kar_streq(phase, phases[i]))
			return true;
	}
	return is_admitted(&w->group) || w->job.status.completion;
}

/* The job copies the words of its group; what concerns only the group is said by that. */
static void print_reason(const struct why *w)
{
	static const char *const types[] = { "Admitted", "Scheduled", "Invalid", "FitUnverified",
		"Preempted" };
	const struct kar_array *conditions =
		w->has_group ? &w->group.status.conditions : &w->job.status.conditions;
	const char *words = kar_pairs_get(&w->group.meta.annotations, KAR_ANNOTATION_MESSAGE);
	bool said = false;

	if (w->has_job && kar_has_text(w->job.status.reason)) {
		qj_print(w->q, "\n  %s: %s\n", w->job.status.reason,
			w->job.status.message ? w->job.status.message : "");
		said = true;
	}
	for (size_t i = 0; i < KAR_LEN(types); i++) {
		const struct qj_condition *c = qj_condition_of(conditions, types[i]);
		bool bad = c && kar_streq(c->status, i < 2 ? "False" : "True");

		if (!bad || !kar_has_text(c->message) || (said && i < 2))
			continue;
		qj_print(w->q, "\n  %s: %s\n", c->reason ? c->reason : c->type, c->message);
		said |= i < 2;
	}
	if (said)
		return;
	if (kar_has_text(words)) /* the CRD is of another project, and drops conditions */
		qj_print(w->q, "\n  %s\n", words);
	else
		qj_print(w->q, "\n  %s\n",
			goes_on(w) ? "nothing keeps it waiting" : "nobody has said yet why it waits");
}

static void print_groups(const struct why *w, const char *title, struct qj_group *const *groups, size_t n)
{
	struct qj *q = w->q;

	if (!n)
		return;
	qj_print(w->q, "\n%s:\n", title);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		const struct qj_group *g = groups[i];

		qj_print(w->q, "  %s/%s", g->meta.ns, g->meta.name);
		if (g->status.position)
			qj_print(w->q, "  %s, waits %s", nth(q, g->status.position),
				qj_age(q,
					q->now -
						(g->status.waiting_since ? g->status.waiting_since
									 : g->meta.creation)));
		else
			qj_print(w->q, "  %d pods, %d run", (int)g->status.members, (int)g->status.running);
		qj_print(w->q, "\n");
	}
	if (n > SHOWN)
		qj_print(w->q, "  and %zu more\n", n - SHOWN);
}

/* Why @what is not shown. */
static const char *excuse(const struct kar_err *err, const char *what)
{
	return err->what == KAR_NOTFOUND ? "there is none" : err->what == KAR_DENIED ? what : err->msg;
}

static void print_queue(const struct why *w)
{
	const struct qj_queue *queue = &w->queue;
	const struct kar_array names = qj_queue_resources(w->q, queue);
	const char *const *name = names.items;

	if (!w->has_queue) {
		qj_print(w->q, "\nQueue %s: %s\n", w->queue_name,
			excuse(&w->no_queue, "you may not read it"));
		return;
	}
	qj_print(w->q, "\nQueue %s is %s: %d wait, %d run\n", w->queue_name,
		queue->status.state ? queue->status.state : "new", (int)queue->status.pending,
		(int)(queue->status.running + queue->status.inqueue));
	if (queue->spec.max_jobs)
		qj_print(w->q, "  jobs: %d of at most %d\n",
			(int)(queue->status.running + queue->status.inqueue), (int)queue->spec.max_jobs);
	for (size_t i = 0; i < names.n; i++) {
		const char *used = kar_pairs_get(&queue->status.allocated, name[i]),
			   *right = kar_pairs_get(&queue->spec.deserved, name[i]),
			   *share = kar_pairs_get(&queue->status.entitled, name[i]),
			   *most = kar_pairs_get(&queue->spec.capability, name[i]);

		qj_print(w->q, "  %s: uses %s%s%s%s%s%s%s\n", name[i], used ? used : "0",
			right ? ", has a right to " : "", right ? right : "", share ? ", a share of " : "",
			share ? share : "", most ? ", may have " : "", most ? most : "");
	}
}

static void print_start(const struct why *w)
{
	kar_time at = w->group.status.estimated_start;

	if (at > w->q->now)
		qj_print(w->q, "\nIt may start in %s, if those ahead end when their deadlines say.\n",
			qj_age(w->q, at - w->q->now));
}

int qj_cmd_why(struct qj *q)
{
	struct why w = { .q = q };

	if (q->o.n_args != 1 || q->o.all)
		return qj_misused(q);
	if (read_word(&w, q->o.args[0]) || find(&w))
		return 1;
	print_head(&w);
	print_reason(&w);
	print_start(&w);
	print_queue(&w);
	if (w.has_job && !w.has_group && w.no_group.what != KAR_NOTFOUND)
		qj_print(q, "\nIts PodGroup is not shown: %s\n", excuse(&w.no_group, "you may not read it"));
	if (position_of(&w)) {
		look_at_others(&w);
		if (w.n_ahead)
			qsort(w.ahead, w.n_ahead, sizeof(struct qj_group *), by_position);
		if (w.n_holders)
			qsort(w.holders, w.n_holders, sizeof(struct qj_group *), by_members);
		print_groups(&w, "Ahead of it", w.ahead, w.n_ahead);
		print_groups(&w, "What the queue has admitted", w.holders, w.n_holders);
		if (w.unseen.what)
			qj_print(q, "\n%s are not shown: %s\n",
				w.sees_none ? "Other groups" : "Groups of other namespaces",
				excuse(&w.unseen, "you may not list them."));
	}
	return 0;
}
