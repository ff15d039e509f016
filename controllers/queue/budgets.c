/* What PodDisruptionBudgets allow, and which of them protect the members of a group (docs/design/podgroup.md, 6). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_members.h"

#include "controllers/cluster/owner.h"
#include "controllers/queue/pass.h"

/* The budgets of the pass, by address, and what each allows. */
struct budgets {
	struct queue_pass *p;
	const struct kar_disruptionbudget **all;
	int32_t *allowed;
	uint32_t n;
};

static int compare(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (const struct kar_disruptionbudget *const *)a,
		  y = (uintptr_t) * (const struct kar_disruptionbudget *const *)b;

	return (x > y) - (x < y);
}

static uint32_t number_of(const struct budgets *b, const struct kar_disruptionbudget *budget)
{
	const struct kar_disruptionbudget **found =
		bsearch(&budget, b->all, b->n, sizeof(struct kar_disruptionbudget *), compare);

	return (uint32_t)(found - b->all);
}

/* Only pods that run are of use to anybody. One that stops is gone for a budget as soon as its deletion is seen. */
static bool counts(const struct kar_pod *pod)
{
	return pod->phase == KAR_POD_RUNNING && !pod->deletion;
}

static void add(struct kar_queue_group *in, uint32_t budget, struct kar_arena *a)
{
	struct kar_queue_protected *all = (void *)(uintptr_t)in->budgets;
	uint32_t i = 0;

	while (i < in->n_budgets && all[i].budget != budget)
		i++;
	if (i == in->n_budgets) {
		in->budgets = all = kar_arena_grow(a, all, in->n_budgets, sizeof(*all));
		all[in->n_budgets++] = (struct kar_queue_protected){ .budget = budget };
	}
	all[i].pods++;
}

/* Budgets that protect pods with the labels of @pod: their numbers, in the arena. */
static uint32_t *find_all(const struct budgets *b, const struct kar_pod *pod, uint32_t *n)
{
	struct kar_arena *a = b->p->arena;
	const struct kar_array labels = kar_pod_labels(pod, a);
	uint32_t *found = NULL;
	const struct kar_object *o;

	*n = 0;
	for (struct kar_iter it = kar_store_by_index(b->p->stores->disruptionbudgets,
		     KAR_DISRUPTIONBUDGET_BY_NAMESPACE, pod->o.ns);
		kar_iter_next(&it, &o);) {
		if (!kar_disruptionbudget_selects(kar_as_disruptionbudget(o), &labels))
			continue;
		found = kar_arena_grow(a, found, *n, sizeof(*found));
		found[(*n)++] = number_of(b, kar_as_disruptionbudget(o));
	}
	return found;
}

/* Pods of a task have the same labels. */
struct known {
	const char *labels, *task; /* interned; NULL: none */
	uint32_t *found, n;
	int32_t incarnation;
};

static bool is_like(const struct known *k, const struct known *other)
{
	return k->labels == other->labels && k->task == other->task && k->incarnation == other->incarnation;
}

static struct known known_of(const struct kar_pod *pod)
{
	return (struct known){ .labels = kar_pod_more_labels(pod),
		.task = pod->job ? pod->job->task : NULL,
		.incarnation = pod->job ? pod->job->incarnation : 0 };
}

enum { KNOWN = 64 }; /* sets of labels of a group that are remembered */

static void observe_members(const struct budgets *b, uint32_t i)
{
	struct kar_queue_group *in = &b->p->in[i];
	struct known known[KNOWN] = { 0 }, *k;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];
	size_t n = 0;

	kar_object_key(&b->p->groups[i].group->o, key);
	for (struct kar_iter it = kar_store_by_index(b->p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);
		const struct known like = known_of(pod);

		if (!counts(pod))
			continue;
		for (k = known; k < known + n && !is_like(k, &like);)
			k++;
		if (k == known + n) {
			k -= n == KNOWN; /* the last one is forgotten */
			n += n < KNOWN;
			*k = like;
			k->found = find_all(b, pod, &k->n);
		}
		for (uint32_t j = 0; j < k->n; j++)
			add(in, k->found[j], b->p->arena);
	}
}

/* --- what they would protect ------------------------------------------------------------------------- */

/* Pods that have the same labels. */
struct alike {
	struct kar_array labels;
	struct known of; /* of pods that exist: stands for .labels */
	int64_t pods;
};

static int64_t count_selected(const struct kar_disruptionbudget *b, const struct alike *list, size_t n)
{
	int64_t pods = 0;

	for (size_t i = 0; i < n; i++)
		pods += kar_disruptionbudget_selects(b, &list[i].labels) ? list[i].pods : 0;
	return pods;
}

/* A budget that allows less than all pods that it selects of the @min that start together; NULL: there is none. */
static const struct kar_disruptionbudget *find_strict(const struct queue_pass *p, const char *ns,
	const struct alike *list, size_t n, int64_t min)
{
	const struct kar_disruptionbudget *found = NULL;
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(p->stores->disruptionbudgets,
		     KAR_DISRUPTIONBUDGET_BY_NAMESPACE, ns);
		n && kar_iter_next(&it, &o);) {
		const struct kar_disruptionbudget *b = kar_as_disruptionbudget(o);
		int64_t selected = count_selected(b, list, n), pods = selected < min ? selected : min;

		if (pods > 0 && kar_disruptionbudget_allows_of(b, pods) < pods &&
			(!found || strcmp(b->o.name, found->o.name) < 0))
			found = b;
	}
	return found;
}

static const struct kar_disruptionbudget *strict_of_workload(const struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	const struct kar_workload_kind *kind = kar_owner_kind(qg->owner);
	struct alike *list = kar_arena_alloc(p->arena, qg->roles->n, sizeof(*list));

	for (size_t k = 0; k < qg->roles->n; k++)
		list[k] = (struct alike){ .labels = kind->labels(qg->owner, k, qg->admitted, p->arena),
			.pods = qg->roles->items[k].replicas };
	return find_strict(p, qg->group->o.ns, list, qg->roles->n, p->in[i].min);
}

static const struct kar_disruptionbudget *strict_of_members(const struct queue_pass *p, uint32_t i)
{
	const struct kar_podgroup *g = p->groups[i].group;
	struct alike list[KNOWN];
	const struct kar_object *o;
	char key[KAR_KEY_LEN];
	size_t n = 0;

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);
		const struct known like = known_of(pod);
		size_t k = 0;

		if (kar_pod_finished(pod))
			continue;
		while (k < n && !is_like(&list[k].of, &like))
			k++;
		if (k == KNOWN) /* it counts with the last ones */
			k--;
		else if (k == n)
			list[n++] = (struct alike){ kar_pod_labels(pod, p->arena), like, 0 };
		list[k].pods++;
	}
	return find_strict(p, g->o.ns, list, n, g->spec.min_member);
}

/* Whoever has a right could not have the room of such a group back. */
static void observe_strict(struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	const struct kar_disruptionbudget *b;

	if (qg->claim != QUEUE_CLAIM_ALIVE || p->in[i].not_returnable ||
		!kar_store_index_count(p->stores->disruptionbudgets, KAR_DISRUPTIONBUDGET_BY_NAMESPACE,
			qg->group->o.ns))
		return;
	b = qg->workload ? strict_of_workload(p, i) : NULL;
	if (!b &&
		(qg->workload ||
			kar_pg_of_others(qg->group))) /* pods may have got labels that no template has */
		b = strict_of_members(p, i);
	if (b)
		p->in[i].not_returnable = kar_arena_printf(p->arena,
			"PodDisruptionBudget %s allows less than all of its pods", b->o.name);
}

/* It is being evicted, and the budgets do not show that yet. */
static void take(const struct budgets *b, struct kar_queue_group *in)
{
	for (uint32_t k = 0; k < in->n_budgets; k++)
		b->allowed[in->budgets[k].budget] -= in->budgets[k].pods;
	in->n_budgets = 0;
}

/* Nobody is evicted if all have what they want. */
static bool somebody_waits(const struct queue_pass *p)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->groups[i].claim == QUEUE_CLAIM_ALIVE &&
			(p->in[i].standing != KAR_QUEUE_ADMITTED || p->in[i].replaces || !p->in[i].released))
			return true;
	}
	return false;
}

/* Pods of no queue that budgets protect. Those of one controller mostly come one after the other. */
static void observe_preemptible(const struct budgets *b)
{
	struct queue_pass *p = b->p;
	const struct kar_pod *last = NULL; /* for which was looked */
	struct known k = { 0 };
	const char **names = kar_arena_alloc(p->arena, b->n + 1, sizeof(*names));

	for (uint32_t i = 0; i < b->n; i++)
		names[i] = kar_arena_printf(p->arena, "%s/%s", b->all[i]->o.ns, b->all[i]->o.name);
	for (uint32_t i = 0; i < p->snapshot.n_preemptible; i++) {
		const struct kar_pod *pod = p->preemptible_pods[i];
		const struct known like = known_of(pod);

		if (!counts(pod))
			continue;
		if (!last || !is_like(&k, &like) || !kar_streq(last->o.ns, pod->o.ns)) {
			k = like;
			k.found = find_all(b, pod, &k.n);
			last = pod;
		}
		p->preemptible[i].budgets = k.found;
		p->preemptible[i].n_budgets = k.n;
		if (p->preemptible[i].n_budgets > 1)
			p->preemptible[i].kept =
				"it has more than one PodDisruptionBudget, and the API server evicts no such pod";
	}
	p->snapshot.budget_names = names;
}

void queue_observe_budgets(struct queue_pass *p)
{
	const struct kar_store *store = p->stores->disruptionbudgets;
	struct budgets b = { .p = p };
	size_t most = kar_store_count(store);
	const struct kar_object *o;

	for (uint32_t i = 0; i < p->n_groups && most; i++)
		observe_strict(p, i);
	if (!most || !somebody_waits(p))
		return;
	b.all = kar_arena_alloc(p->arena, most, sizeof(struct kar_disruptionbudget *));
	b.allowed = kar_arena_alloc(p->arena, most, sizeof(*b.allowed));
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);)
		b.all[b.n++] = kar_as_disruptionbudget(o);
	qsort(b.all, b.n, sizeof(struct kar_disruptionbudget *), compare);
	for (uint32_t i = 0; i < b.n; i++)
		b.allowed[i] = b.all[i]->allowed;
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct kar_podgroup *g = p->groups[i].group;
		bool evicted = queue_is_evicted(g);

		if (!(p->groups[i].admitted || evicted) ||
			!kar_store_index_count(store, KAR_DISRUPTIONBUDGET_BY_NAMESPACE, g->o.ns))
			continue;
		observe_members(&b, i);
		if (evicted)
			take(&b, &p->in[i]);
	}
	assert(b.n <= most);
	if (p->snapshot.n_preemptible)
		observe_preemptible(&b);
	p->snapshot.budgets = b.allowed;
	p->snapshot.n_budgets = b.n;
}
