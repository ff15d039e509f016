/* Creates, deletes and repairs pods. The rank of a create puts every minimum before any extra, and takes extras of all jobs in turn. */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"

/* --- creation ----------------------------------------------------------------------------------------- */

enum {
	CREATES_MAX = 500, /* per plan; the next sync follows at once with the rest */
};

/* One pod to be created. */
struct candidate {
	size_t task;
	int32_t index;
	bool minimum;
	uint32_t seq; /* see struct kar_rank */
};

/* How many pods the quorum still lacks while collect() goes through the missing indexes. */
struct lack {
	int32_t *of_task; /* per task, for its own minAvailable */
	int32_t of_job;   /* for the quorum of the job, from any task */
	uint32_t position;
	uint32_t extras;
};

struct candidates {
	struct candidate *items;
	size_t n, max;
	bool more;
};

static struct lack measure_lack(const struct queuejob_reconcile *r)
{
	struct lack l = { .of_task = kar_arena_alloc(r->arena, r->f->pods.n_tasks, sizeof(*l.of_task)) };
	int32_t have = 0;

	l.of_job = r->want.min;
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (!r->want.tasks[i].started)
			continue;
		have += queuejob_covered(&r->f->pods.tasks[i]);
		l.of_task[i] = queuejob_task_lacks(r, i);
		l.of_job -= l.of_task[i];
	}
	l.of_job -= have;
	l.extras = have > r->want.min ? (uint32_t)(have - r->want.min) : 0;
	return l;
}

static struct candidate classify(struct lack *l, size_t task, int32_t index)
{
	struct candidate w = { .task = task, .index = index, .minimum = true };

	if (l->of_task[task] > 0)
		l->of_task[task]--;
	else if (l->of_job > 0)
		l->of_job--;
	else
		w.minimum = false;
	w.seq = w.minimum ? l->position : l->extras++;
	return w;
}

static bool is_to_be_created(const struct queuejob_reconcile *r, size_t task, const struct podset_slot *slot)
{
	return slot->state == PODSET_MISSING && !queuejob_is_scaled_down(r, slot) &&
		r->want.tasks[task].started && !r->want.tasks[task].restart_time;
}

/* Collects the missing indexes: those of the minimum, or the extras. */
static void collect(const struct queuejob_reconcile *r, const size_t *order, bool minimum,
	struct candidates *out)
{
	struct lack l = measure_lack(r);

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[order[i]];

		for (int32_t k = 0; k < task->n; k++, l.position++) {
			struct candidate w;

			if (!is_to_be_created(r, order[i], &task->slots[k]))
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

/* The narrowest level tells the domains apart. */
static const char *domain_text(const struct kar_array *domain, struct kar_arena *a)
{
	const struct kar_pair *labels = domain->items;

	return domain->n
		? kar_arena_printf(a, "%s=%s", labels[domain->n - 1].key, labels[domain->n - 1].value)
		: "";
}

static void create(struct queuejob_reconcile *r, const struct candidate *w, const char *pin)
{
	struct queuejob_new_pod *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	char name[KAR_POD_NAME_LEN];
	struct kar_action *a;

	/* Only pods that exist are deleted, so no plan creates and deletes the same pod. */
	assert(!r->f->pods.tasks[w->task].slots[w->index].pod);
	kar_queuejob_pod_name(r->f->job, r->f->job->spec.tasks[w->task].name, w->index, name);
	a = kar_plan_add(r->p, KAR_CREATE, &kar_pod_type, kar_copy(r->arena, r->f->job->o.ns),
		kar_copy_text(r->arena, name));
	*payload = (struct queuejob_new_pod){ .task = w->task,
		.index = w->index,
		.incarnation = r->f->seen->incarnation,
		.pin = pin,
		.domain = queuejob_domain(r, w->task),
		.flavor = queuejob_flavor(r),
		.bound = r->f->v->direct,
		.native = queuejob_is_native(r) };
	a->what = QUEUEJOB_CREATE_POD;
	a->strict = queuejob_is_unproven(r, w->task);
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "%s %u%s%s%s%s%s", w->minimum ? "minimum" : "extra",
		(unsigned)w->seq, payload->native ? " native" : "",
		!pin[0]                  ? ""
			: payload->bound ? " bound to "
					 : " on ",
		pin, payload->domain.n ? " in " : "", domain_text(&payload->domain, r->arena));
	a->rank = (struct kar_rank){
		.tier = w->minimum ? KAR_TIER_MINIMUM : KAR_TIER_EXTRA,
		.priority = queuejob_priority(r->f->v),
		.age = r->f->job->creation,
		.seq = w->seq,
	};
}

/* A cache that lags, or was listed from an outdated API server, must not create pods for a job that is gone. */
void queuejob_check_owner(struct queuejob_reconcile *r)
{
	int32_t *incarnation = kar_arena_alloc(r->arena, 1, sizeof(*incarnation));
	struct kar_action *a;

	if (kar_plan_has(r->p, QUEUEJOB_CHECK_OWNER))
		return;
	if (r->f->v->owner_check_in) {
		kar_plan_requeue(r->p, r->f->v->owner_check_in);
		return;
	}
	a = kar_plan_add(r->p, KAR_GET, &kar_queuejob_type, kar_copy(r->arena, r->f->job->o.ns),
		kar_copy_text(r->arena, r->f->job->o.name));

	*incarnation = r->f->seen->incarnation;
	a->payload = incarnation;
	a->what = QUEUEJOB_CHECK_OWNER;
	kar_plan_requeue(r->p, 0);
}

static size_t count_live_surplus(const struct queuejob_reconcile *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->want.surplus.n; i++)
		n += kar_pod_alive(r->want.surplus.items[i]);
	return n;
}

/*
 * Never more pods exist than are wanted: for each of @surplus live pods one create waits until the pod terminates, the last ones of
 * the order first.
 */
static void wait_for_room(struct queuejob_reconcile *r, struct candidates *w, size_t surplus)
{
	r->lacks_room = surplus > 0 && w->n > 0;
	w->n -= surplus < w->n ? surplus : w->n;
	r->p->unfinished |= w->n > 0 && (r->lacks_room || w->more);
	r->p->makes_room = r->lacks_room && !w->n;
}

/*
 * Pods that are created bound wait for a place, which the queue looks for. Until they have one, the refusal of one of them stands; it is
 * over when all that have one are created.
 */
static void report_unplaced(struct queuejob_reconcile *r, size_t n, size_t created)
{
	if (!n || !r->f->v->direct)
		return;
	r->p->unfinished |= !created;
	if (r->f->v->obstacle)
		queuejob_report(r, kar_reason_Unsupported, "%s", r->f->v->obstacle);
	else
		queuejob_report(r, kar_reason_NoFit, "%s wait%s for room on a node",
			queuejob_count_pods(r, (int32_t)n), n == 1 ? "s" : "");
}

/* Returns how many. */
static size_t create_all(struct queuejob_reconcile *r, const struct candidates *w)
{
	struct pod_pins *pins = pod_pins_new(r);
	const char *pin;
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (!queuejob_next_pin(pins, w->items[i].task, w->items[i].index, w->items[i].minimum, &pin))
			continue;
		create(r, &w->items[i], pin);
		n++;
	}
	report_unplaced(r, w->n - n, n);
	return n;
}

/* The other gangs with which it starts have no plans yet: either they get them in a moment, or its own plan is dropped. */
static bool waits_for_unit(struct queuejob_reconcile *r)
{
	enum { AGAIN = 200 }; /* ms */
	const struct kar_podgroup *g = queuejob_own_group(r);

	if (!r->f->v->unit_waits || !g || g->status.placement.state != KAR_PG_STATE_PLACED)
		return false;
	kar_plan_requeue(r->p, AGAIN);
	return true;
}

void queuejob_create_pods(struct queuejob_reconcile *r)
{
	size_t surplus = count_live_surplus(r), max = CREATES_MAX + surplus;
	struct candidates w = { .items = kar_arena_alloc(r->arena, max, sizeof(*w.items)), .max = max };
	const size_t *order;
	size_t created;

	if (r->f->pods.old.n || !queuejob_has_places(r) || waits_for_unit(r))
		return; /* the pods of the older incarnation must be gone first */
	order = queuejob_creation_order(r);
	collect(r, order, true, &w);
	collect(r, order, false, &w);
	wait_for_room(r, &w, surplus);
	if ((w.n || r->lacks_room) &&
		queuejob_refused_is_pod(r)) /* the other children exist now, so their refusals are over */
		queuejob_report_refusal(r);
	queuejob_report_blocker(r);
	if (w.n && !r->f->v->owner_checked) {
		queuejob_check_owner(r);
		return;
	}
	created = create_all(r, &w);
	r->p->metered = r->f->v->quota_limits_pods;
	if (w.more && created)
		kar_plan_requeue(r->p, 0);
}

/* --- deletion ----------------------------------------------------------------------------------------- */

void queuejob_remove_live(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (!kar_pod_finished(r->f->v->pods[i]))
			podset_remove(r->p, r->f->v->pods[i]);
	}
}

void queuejob_stop_live(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (!kar_pod_finished(r->f->v->pods[i]))
			podset_stop(r->p, r->f->v->pods[i]);
	}
}

void queuejob_evict_pod(struct queuejob_reconcile *r, const struct kar_pod *pod, const char *why)
{
	if (r->f->v->mark_refused)
		podset_stop(r->p, pod);
	else
		podset_evict(r->p, pod, why, r->f->second);
}

/* What the queue takes for others is evicted; what the spec does not want any more is not. */
static void stop_surplus(struct queuejob_reconcile *r, const struct kar_pod *pod,
	const struct podset_slot *slot)
{
	if (queuejob_is_scaled_down(r, slot))
		queuejob_evict_pod(r, pod,
			kar_arena_printf(r->arena, "queue %s gives its room to others: the job may have %s",
				r->f->v->queue, queuejob_count_pods(r, r->want.pods)));
	else
		podset_stop(r->p, pod);
}

void queuejob_remove_surplus(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->want.surplus.n; i++) {
		const struct kar_pod *pod = r->want.surplus.items[i];
		const struct podset_slot *slot;

		if (!kar_pod_lost(pod) && !kar_pod_finished(pod) && !podset_is_counted(&r->f->pods, pod))
			continue;
		slot = podset_find(&r->f->pods, pod);
		if (slot) /* the index is in the spec, so a success still counts */
			stop_surplus(r, pod, slot);
		else
			podset_remove(r->p, pod);
	}
}

/* Its success is not in the recorded status yet. */
static bool is_unrecorded(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	const struct podset_slot *slot = podset_find(&r->f->pods, pod);

	return slot && slot->pod == pod && slot->state == PODSET_DONE && !slot->recorded;
}

void queuejob_release_ended(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (kar_pod_finished(r->f->v->pods[i]) && !is_unrecorded(r, r->f->v->pods[i]))
			podset_release(r->p, r->f->v->pods[i]);
	}
}

void queuejob_release_pods(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];

		if (r->f->job->has_orphan_finalizer)
			podset_orphan(r->p, pod);
		else if (!kar_pod_alive(pod))
			podset_release(r->p, pod);
	}
}

/* --- repair -------------------------------------------------------------------------------------- */

static bool is_intact(const struct queuejob_reconcile *r, const struct kar_pod *pod, size_t task,
	int32_t index, const char *group)
{
	return pod->tracked && pod->job && kar_streq(pod->job->task, r->f->job->spec.tasks[task].name) &&
		pod->job->index == index && pod->job->incarnation == r->f->seen->incarnation &&
		kar_streq(pod->group, group) && pod->labelled;
}

static void add_label(struct queuejob_reconcile *r, struct kar_array *labels, const char *key,
	const char *value)
{
	struct kar_pair *pairs = kar_arena_grow(r->arena, labels->items, labels->n, sizeof(*pairs));

	pairs[labels->n++] = (struct kar_pair){ .key = key, .value = value };
	labels->items = pairs;
}

static void repair_pod(struct queuejob_reconcile *r, const struct kar_pod *pod, size_t task, int32_t index)
{
	const char *job = kar_copy_text(r->arena, r->f->job->o.name);
	struct kar_array labels = { 0 };

	add_label(r, &labels, KAR_LABEL_QUEUEJOB, job);
	add_label(r, &labels, KAR_LABEL_TASK, kar_copy_text(r->arena, r->f->job->spec.tasks[task].name));
	add_label(r, &labels, KAR_LABEL_INDEX, kar_arena_printf(r->arena, "%d", (int)index));
	add_label(r, &labels, KAR_LABEL_INCARNATION,
		kar_arena_printf(r->arena, "%d", (int)r->f->seen->incarnation));
	add_label(r, &labels, KAR_LABEL_POD_GROUP, job);
	podset_relabel(r->p, pod, labels);
}

/* Scaled down pods are about to be deleted, so they are not repaired. */
static bool stays(const struct queuejob_reconcile *r, const struct podset_slot *slot)
{
	bool live = slot->state == PODSET_PENDING || slot->state == PODSET_RUNNING;

	return live && !(queuejob_is_scaled_down(r, slot) && podset_is_counted(&r->f->pods, slot->pod));
}

void queuejob_repair_pods(struct queuejob_reconcile *r)
{
	char key[KAR_KEY_LEN];
	const char *group = kar_object_key(&r->f->job->o, key);

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			const struct podset_slot *slot = &task->slots[k];

			if (!stays(r, slot))
				continue;
			if (!is_intact(r, slot->pod, i, k, group))
				repair_pod(r, slot->pod, i, k);
			if (slot->pod->gate_ours &&
				!queuejob_is_scaled_down(r,
					slot)) /* of the template, or of an older manager: nobody else would remove it */
				podset_ungate(r->p, slot->pod);
		}
	}
}
