#include "controllers/cluster/preemptible.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "api/pod/pod_needs.h"
#include "common/base/str.h"

struct entry {
	RB_ENTRY(entry) by_rank;
	const struct kar_pod *pod;
};
RB_HEAD(preemptibles, entry);

struct kar_preemptible {
	struct preemptibles all;
	struct kar_preemptible_limit limit;
};

static int compare(const struct entry *a, const struct entry *b)
{
	const struct kar_pod *x = a->pod, *y = b->pod;
	int order = (x->priority > y->priority) - (x->priority < y->priority);

	if (!order)
		order = (x->creation < y->creation) - (x->creation > y->creation);
	if (!order)
		order = strcmp(x->o.ns, y->o.ns);
	return order ? order : strcmp(x->o.name, y->o.name);
}

RB_GENERATE_INTERNAL(preemptibles, entry, by_rank, compare, KAR_UNUSED static)

struct kar_preemptible *kar_preemptible_new(void)
{
	struct kar_preemptible *e = kar_xcalloc(1, sizeof(*e));

	RB_INIT(&e->all);
	return e;
}

static void remove_entry(struct kar_preemptible *e, struct entry *x)
{
	RB_REMOVE(preemptibles, &e->all, x);
	free(x);
}

void kar_preemptible_free(struct kar_preemptible *e)
{
	while (e && RB_ROOT(&e->all))
		remove_entry(e, RB_ROOT(&e->all));
	free(e);
}

void kar_preemptible_set(struct kar_preemptible *e, struct kar_preemptible_limit limit)
{
	assert(RB_EMPTY(&e->all));
	e->limit = limit;
}

/* Its controller makes it again, and not on the same node: neither a DaemonSet nor the kubelet of a static pod. */
static bool comes_again(const struct kar_pod *pod)
{
	return pod->owner_uid && !kar_streq(pod->owner_kind, "DaemonSet") &&
		!kar_streq(pod->owner_kind, "Node");
}

bool kar_preemptible_is(const struct kar_preemptible *e, const struct kar_pod *pod)
{
	return e->limit.on && pod->priority < e->limit.below && pod->needs && !kar_pod_finished(pod) &&
		pod->node && !pod->needs->n_claims && kar_pod_is_alone(pod) && comes_again(pod);
}

bool kar_preemptible_news(const struct kar_preemptible *e, const struct kar_pod *old,
	const struct kar_pod *new)
{
	return new &&kar_preemptible_is(e, new) &&
		!(old && kar_preemptible_is(e, old) && !old->deletion == !new->deletion);
}

void kar_preemptible_pod(struct kar_preemptible *e, const struct kar_pod *old, const struct kar_pod *new)
{
	struct entry key = { .pod = old }, *x = NULL;

	if (old && kar_preemptible_is(e, old))
		x = RB_FIND(preemptibles, &e->all, &key);
	if (x)
		remove_entry(e, x);
	if (new &&kar_preemptible_is(e, new)) {
		x = kar_xcalloc(1, sizeof(*x));
		x->pod = new;
		RB_INSERT(preemptibles, &e->all, x);
	}
}

uint32_t kar_preemptible_list(const struct kar_preemptible *e, struct kar_arena *a,
	const struct kar_pod ***out)
{
	uint32_t n = 0, staying = 0;
	struct entry *x;

	*out = NULL;
	RB_FOREACH(x, preemptibles, (struct preemptibles *)(uintptr_t)&e->all) {
		if (!x->pod->deletion && staying++ >= KAR_PREEMPTIBLE_MAX)
			continue;
		*out = kar_arena_grow(a, *out, n, sizeof(const struct kar_pod *));
		(*out)[n++] = x->pod;
	}
	return n;
}
