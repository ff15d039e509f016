#include "controllers/cluster/lookups.h"

#include <string.h>

#include "api/types.h"
#include "common/base/str.h"

#include "controllers/cluster/claims.h"
#include "controllers/cluster/stores.h"
#include "controllers/cluster/volumes.h"

enum { TERMS = 16 }; /* of a pod and its volumes together; more are left to the scheduler */

static struct kar_node_term both(const struct kar_node_term *x, const struct kar_node_term *y,
	struct kar_arena *a)
{
	struct kar_requirement *all = kar_arena_alloc(a, x->n + y->n + 1, sizeof(*all));

	if (x->n)
		memcpy(all, x->requirements, x->n * sizeof(*all));
	if (y->n)
		memcpy(all + x->n, y->requirements, y->n * sizeof(*all));
	/* A term without requirements never holds. */
	return (struct kar_node_term){ .requirements = all, .n = x->n && y->n ? x->n + y->n : 0 };
}

/* Each label of @selector (struct kar_pair) with its value. */
static struct kar_node_term term_of(const struct kar_array *selector, struct kar_arena *a)
{
	const struct kar_pair *pairs = selector->items;
	struct kar_requirement *all = kar_arena_alloc(a, selector->n, sizeof(*all));

	for (size_t i = 0; i < selector->n; i++) {
		const char **values = kar_arena_alloc(a, 1, sizeof(*values));

		values[0] = pairs[i].value;
		all[i] = (struct kar_requirement){ .key = pairs[i].key,
			.op = KAR_OP_IN,
			.values = values,
			.n_values = 1 };
	}
	return (struct kar_node_term){ .requirements = all, .n = (uint32_t)selector->n };
}

bool kar_needs_add_terms(struct kar_pod_needs *needs, const struct kar_pod_needs *more, struct kar_arena *a)
{
	struct kar_node_term *terms;
	uint32_t n = 0;

	if (!needs->has_terms) {
		needs->has_terms = true;
		needs->terms = more->terms;
		needs->n_terms = more->n_terms;
		return true;
	}
	if ((uint64_t)needs->n_terms * more->n_terms > TERMS)
		return false;
	terms = kar_arena_alloc(a, TERMS, sizeof(*terms));
	for (uint32_t i = 0; i < needs->n_terms; i++) {
		for (uint32_t k = 0; k < more->n_terms; k++)
			terms[n++] = both(&needs->terms[i], &more->terms[k], a);
	}
	needs->terms = terms;
	needs->n_terms = n;
	return true;
}

const struct kar_pod_needs *kar_needs_looked_up(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a)
{
	return kar_claims_add(s, ns, kar_volumes_add(s, ns, needs, a), a);
}

const struct kar_schedulingspec *kar_spec_of_group(const struct kar_stores *s, const char *ns,
	const char *name, const char *owner_uid)
{
	const struct kar_object *o = kar_store_get(s->schedulingspecs, ns, name);
	const struct kar_schedulingspec *spec = o ? kar_as_schedulingspec(o) : NULL;

	return spec && spec->owner_kind && kar_streq(spec->owner_uid, owner_uid) ? spec : NULL;
}

/* With the nodeSelector of the SchedulingSpec by which the pod of another controller is in its group (decision 100). */
static const struct kar_pod_needs *with_selector(const struct kar_stores *s, const struct kar_pod *pod,
	const struct kar_pod_needs *needs, struct kar_arena *a)
{
	const char *slash = pod->group && pod->owner_uid ? strchr(pod->group, '/') : NULL;
	const struct kar_schedulingspec *spec =
		slash ? kar_spec_of_group(s, pod->o.ns, slash + 1, pod->owner_uid) : NULL;
	struct kar_pod_needs *own, only = { 0 };
	struct kar_node_term *term;

	if (!spec || !spec->spec.node_selector.n)
		return needs;
	term = kar_arena_alloc(a, 1, sizeof(*term));
	*term = term_of(&spec->spec.node_selector, a);
	only.terms = term;
	only.n_terms = 1;
	own = kar_arena_alloc(a, 1, sizeof(*own));
	*own = *needs;
	return kar_needs_add_terms(own, &only, a) ? own : needs;
}

kar_class kar_needs_class_of_pod(const struct kar_stores *s, const struct kar_pod *pod)
{
	struct kar_arena scratch = { 0 };
	const struct kar_pod_needs *needs = pod->needs ? pod->needs : &kar_no_needs;
	kar_class class;

	if (pod->node && needs->n_claims)
		needs = kar_claims_of_bound(s, pod, &scratch);
	needs = with_selector(s, pod, needs, &scratch);
	class = kar_snapshot_class_of_pod(s->snapshot, pod,
		kar_needs_looked_up(s, pod->o.ns, needs, &scratch));

	kar_arena_release(&scratch);
	return class;
}

kar_class kar_needs_class_within(const struct kar_stores *s, const struct kar_pod *pod,
	const struct kar_array *labels)
{
	const struct kar_pair *pairs = labels->items;
	struct kar_arena scratch = { 0 };
	const struct kar_pod_needs *own =
		with_selector(s, pod, pod->needs ? pod->needs : &kar_no_needs, &scratch);
	struct kar_pod_needs needs = *kar_needs_looked_up(s, pod->o.ns, own, &scratch);
	struct kar_sched_label *all =
		kar_arena_alloc(&scratch, needs.n_selector + labels->n + 1, sizeof(*all));
	kar_class class;

	for (uint32_t i = 0; i < needs.n_selector; i++)
		all[i] = needs.selector[i];
	for (size_t i = 0; i < labels->n; i++)
		all[needs.n_selector++] = (struct kar_sched_label){ pairs[i].key, pairs[i].value };
	needs.selector = all;
	class = kar_snapshot_class_of_pod(s->snapshot, pod, &needs);
	kar_arena_release(&scratch);
	return class;
}

kar_class kar_needs_class_to_come(const struct kar_stores *s, const struct kar_pod_needs *needs,
	const char *ns, const struct kar_array *labels)
{
	struct kar_arena scratch = { 0 };
	kar_class class = kar_snapshot_class_to_come(s->snapshot, kar_needs_looked_up(s, ns, needs, &scratch),
		ns, labels);

	kar_arena_release(&scratch);
	return class;
}

struct kar_needs_pending kar_needs_pending(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a)
{
	const char *why = kar_volumes_pending(s, ns, needs, a);

	if (why)
		return (struct kar_needs_pending){ .why = why };
	why = kar_claims_pending(s, ns, needs, a);
	return (struct kar_needs_pending){ .why = why, .devices = why != NULL };
}
