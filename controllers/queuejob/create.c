/* Which pods are missing, and in which order they come: every minimum before any extra, extras round robin over jobs. */
#include "controllers/queuejob/round.h"

#include <string.h>

#include "api/keep.h"
#include "controllers/quota_line.h"

enum {
	CREATES_MAX = 500, /* per plan; the rest follows at once in the next */
};

/* One pod to be created. */
struct wish {
	size_t task;
	int32_t index;
	bool minimum;
	uint32_t seq; /* see struct kar_rank */
};

/* What the quorum still lacks while the missing indexes are walked through. */
struct lack {
	int32_t *of_task; /* of the tasks' own minimums */
	int32_t beyond;   /* of the job's, whichever task it comes from */
	uint32_t position;
	uint32_t round;
};

struct wishes {
	struct wish *items;
	size_t n, max;
	bool more;
};

const size_t *queuejob_creation_order(const struct queuejob_round *r)
{
	size_t *order = kar_arena_alloc(r->arena, r->t.n_tasks, sizeof(*order));

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		size_t k = i;

		for (; k > 0 && r->v->task_priority[order[k - 1]] < r->v->task_priority[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	return order;
}

static int32_t covered(const struct queuejob_task_tally *t)
{
	return t->pending + t->running + t->n_done;
}

int32_t queuejob_task_lacks(const struct queuejob_round *r, size_t i)
{
	const struct kar_taskspec *spec = &r->job->spec.tasks[i];
	int32_t lacks = spec->has_min_available && r->min && r->t.tasks[i].started
		? spec->min_available - covered(&r->t.tasks[i])
		: 0;

	return lacks > 0 ? lacks : 0;
}

static struct lack measure_lack(const struct queuejob_round *r)
{
	struct lack l = { .of_task = kar_arena_alloc(r->arena, r->t.n_tasks, sizeof(*l.of_task)) };
	int32_t have = 0;

	l.beyond = r->min;
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (!r->t.tasks[i].started)
			continue;
		have += covered(&r->t.tasks[i]);
		l.of_task[i] = queuejob_task_lacks(r, i);
		l.beyond -= l.of_task[i];
	}
	l.beyond -= have;
	l.round = have > r->min ? (uint32_t)(have - r->min) : 0;
	return l;
}

int32_t queuejob_lacks(const struct queuejob_round *r)
{
	struct lack l = measure_lack(r);
	int32_t n = l.beyond > 0 ? l.beyond : 0;

	for (size_t i = 0; i < r->t.n_tasks; i++)
		n += l.of_task[i];
	return n;
}

static struct wish classify(struct lack *l, size_t task, int32_t index)
{
	struct wish w = { .task = task, .index = index, .minimum = true };

	if (l->of_task[task] > 0)
		l->of_task[task]--;
	else if (l->beyond > 0)
		l->beyond--;
	else
		w.minimum = false;
	w.seq = w.minimum ? l->position : l->round++;
	return w;
}

/* Missing indexes: the minimum, or what is beyond it. */
static void collect(const struct queuejob_round *r, const size_t *order, bool minimum, struct wishes *out)
{
	struct lack l = measure_lack(r);

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct queuejob_task_tally *task = &r->t.tasks[order[i]];

		for (int32_t k = 0; k < task->n; k++, l.position++) {
			struct wish w;

			if (task->slots[k].state != QUEUEJOB_SLOT_MISSING || task->slots[k].held ||
				!task->started || task->restart_time)
				continue;
			w = classify(&l, order[i], k);
			if (w.minimum != minimum)
				continue;
			if (out->n == out->max) {
				out->more = true;
				return;
			}
			out->items[out->n++] = w;
		}
	}
}

static void create(struct queuejob_round *r, const struct wish *w, bool gated)
{
	struct queuejob_new_pod *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	char name[KAR_POD_NAME_LEN];
	struct kar_action *a;

	kar_queuejob_pod_name(r->job, r->job->spec.tasks[w->task].name, w->index, name);
	a = kar_plan_add(r->p, KAR_CREATE, &kar_pod_type, kar_keep(r->arena, r->job->o.ns),
		kar_keep_text(r->arena, name));
	*payload = (struct queuejob_new_pod){ .task = w->task,
		.index = w->index,
		.incarnation = r->seen->incarnation,
		.gated = gated };
	a->what = QUEUEJOB_CREATE_POD;
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "%s %u%s", w->minimum ? "minimum" : "extra", (unsigned)w->seq,
		gated ? " gated" : "");
	a->rank = (struct kar_rank){
		.tier = w->minimum ? KAR_TIER_MINIMUM : KAR_TIER_EXTRA,
		.priority = r->v->priority,
		.age = r->job->creation,
		.seq = w->seq,
	};
}

/* A cache that lags, or has travelled back in time, must not start a dead job. */
void queuejob_check_owner(struct queuejob_round *r)
{
	int32_t *incarnation = kar_arena_alloc(r->arena, 1, sizeof(*incarnation));
	struct kar_action *a;

	if (kar_plan_has(r->p, QUEUEJOB_CHECK_OWNER))
		return;
	if (r->v->owner_check_in) {
		kar_plan_requeue(r->p, r->v->owner_check_in);
		return;
	}
	a = kar_plan_add(r->p, KAR_GET, &kar_queuejob_type, kar_keep(r->arena, r->job->o.ns),
		kar_keep_text(r->arena, r->job->o.name));

	*incarnation = r->seen->incarnation;
	a->payload = incarnation;
	a->what = QUEUEJOB_CHECK_OWNER;
	kar_plan_requeue(r->p, 0);
}

bool queuejob_refused_is_pod(const struct queuejob_round *r)
{
	const char *what = r->v->refused_what;

	return what && strncmp(what, "pods ", strlen("pods ")) == 0;
}

static const char *refusal_reason(const struct queuejob_round *r)
{
	const struct kar_err *err = r->v->refused;
	bool of_pod = queuejob_refused_is_pod(r);

	if (kar_quota_exceeded(err->msg))
		return kar_reason_QuotaExceeded;
	switch (err->what) {
	case KAR_DENIED:
		return kar_reason_Forbidden;
	case KAR_INVALID:
		return of_pod ? kar_reason_InvalidTemplate : kar_reason_InvalidObject;
	case KAR_EXISTS:
		return of_pod ? kar_reason_PodNameConflict : kar_reason_NameConflict;
	default:
		return kar_reason_FailedCreate;
	}
}

/* What became of the others of the minimum; "" if there were none. */
static const char *tell_taken_back(const struct queuejob_round *r)
{
	int32_t n = r->v->taken_back > r->p->taken_back ? r->v->taken_back : r->p->taken_back;

	if (!n)
		return "";
	return kar_arena_printf(r->arena, "; rolled back %d of %s%s", (int)n, queuejob_count_pods(r, r->min),
		kar_quota_exceeded(r->v->refused->msg) ? ", waits for room" : "");
}

/* One per refusal; while a job waits for a quota, one. That it lets others go first is no news. */
static bool is_worth_an_event(const struct queuejob_round *r)
{
	if (r->v->refused->what == KAR_RETRY ||
		(kar_same(r->st.reason, kar_reason_QuotaExceeded) && kar_same(r->st.reason, r->seen->reason)))
		return false;
	return !kar_same(r->st.message, r->seen->message);
}

/* Of r->v->refused, which is not NULL. */
static const char *describe_refusal(const struct queuejob_round *r)
{
	const char *words = r->v->refused->msg;

	if (strncmp(words, "create ", strlen("create ")) == 0) /* the client names its request */
		return kar_arena_printf(r->arena, "cannot %s", words);
	return kar_arena_printf(r->arena, "cannot create %s: %s",
		r->v->refused_what ? r->v->refused_what : "objects", words);
}

const char *queuejob_invalid_child(const struct queuejob_round *r)
{
	const struct kar_err *err = r->v->refused;

	return err && err->what == KAR_INVALID && !queuejob_refused_is_pod(r) ? describe_refusal(r) : NULL;
}

void queuejob_tell_refusal(struct queuejob_round *r)
{
	if (!r->v->refused || r->said)
		return;
	queuejob_say(r, refusal_reason(r), "%s%s", describe_refusal(r), tell_taken_back(r));
	if (is_worth_an_event(r))
		kar_plan_event(r->p, true, kar_reason_FailedCreate, "CreatePods", "%s", r->st.message);
}

void queuejob_tell_blocker(struct queuejob_round *r)
{
	const struct kar_pod *pod = r->t.blocker;

	if (!pod)
		return;
	if (pod->owner_name)
		queuejob_say(r, kar_reason_PodNameConflict,
			"pod %s exists already and belongs to %s %s; waiting for the name", pod->o.name,
			pod->owner_kind ? pod->owner_kind : "another object", pod->owner_name);
	else
		queuejob_say(r, kar_reason_PodNameConflict,
			"pod %s exists already and belongs to nobody; waiting for the name", pod->o.name);
}

static size_t count_leaving(const struct queuejob_round *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->t.surplus.n; i++)
		n += kar_pod_alive(r->t.surplus.items[i]);
	return n;
}

/*
 * Each live pod that is to go, because it was scaled away or the queue does not want it, has the place of one that is missing: at
 * no moment are there more than are wanted. What comes last waits until that deletion is seen; of what is of use only @together,
 * all.
 */
static void leave_room(struct queuejob_round *r, struct wishes *w, size_t leaving, bool together)
{
	bool all_wait = leaving >= w->n || (together && leaving > 0);

	r->lacks_room = leaving > 0 && w->n > 0;
	w->n -= all_wait ? w->n : leaving;
	r->p->unfinished |= w->n > 0 && (r->lacks_room || w->more);
	r->p->makes_room = r->lacks_room && !w->n;
}

void queuejob_create_pods(struct queuejob_round *r)
{
	size_t leaving = count_leaving(r), max = CREATES_MAX + leaving;
	struct wishes w = { .items = kar_arena_alloc(r->arena, max, sizeof(*w.items)), .max = max };
	bool together = queuejob_is_transaction(r), gated = together && queuejob_lacks(r) > 1;
	const size_t *order;

	if (r->t.old.n)
		return; /* create nothing until all old objects are gone */
	order = queuejob_creation_order(r);
	collect(r, order, true, &w);
	if (!together)
		collect(r, order, false, &w);
	leave_room(r, &w, leaving, together);
	if (w.n || r->lacks_room)
		queuejob_tell_refusal(r);
	queuejob_tell_blocker(r);
	if (w.n && !r->v->owner_checked) {
		queuejob_check_owner(r);
		return;
	}
	for (size_t i = 0; i < w.n; i++)
		create(r, &w.items[i], gated);
	r->p->metered = r->v->quota.limits_pods;
	if (w.more && w.n)
		kar_plan_requeue(r->p, 0);
}
