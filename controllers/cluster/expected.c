#include "controllers/cluster/expected.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

struct entry {
	RB_ENTRY(entry) by_rank, by_age;
	const struct kar_pod *pod;
};
RB_HEAD(ranks, entry);
RB_HEAD(ages, entry);

struct kar_expected {
	struct ranks ranks;
	struct ages ages; /* without those that have a node freed for them */
};

static int compare_names(const struct kar_pod *a, const struct kar_pod *b)
{
	int order = strcmp(a->o.ns, b->o.ns);

	return order ? order : strcmp(a->o.name, b->o.name);
}

static int compare_ages(const struct entry *a, const struct entry *b)
{
	kar_time x = a->pod->creation, y = b->pod->creation;

	return x != y ? (x > y) - (x < y) : compare_names(a->pod, b->pod);
}

static int compare_ranks(const struct entry *a, const struct entry *b)
{
	int32_t x = a->pod->priority, y = b->pod->priority;

	return x != y ? (x < y) - (x > y) : compare_ages(a, b);
}

RB_GENERATE_INTERNAL(ranks, entry, by_rank, compare_ranks, KAR_UNUSED static)
RB_GENERATE_INTERNAL(ages, entry, by_age, compare_ages, KAR_UNUSED static)

struct kar_expected *kar_expected_new(void)
{
	struct kar_expected *e = kar_xcalloc(1, sizeof(*e));

	RB_INIT(&e->ranks);
	RB_INIT(&e->ages);
	return e;
}

static void remove_entry(struct kar_expected *e, struct entry *x)
{
	RB_REMOVE(ranks, &e->ranks, x);
	if (!x->pod->nominated)
		RB_REMOVE(ages, &e->ages, x);
	free(x);
}

void kar_expected_free(struct kar_expected *e)
{
	while (e && RB_ROOT(&e->ranks))
		remove_entry(e, RB_ROOT(&e->ranks));
	free(e);
}

bool kar_expected_may_be(const struct kar_pod *pod)
{
	return pod->needs && kar_pod_alive(pod) && !pod->node && !pod->gate_ours && !pod->gate_foreign &&
		kar_pod_is_alone(pod) && (!pod->unschedulable || pod->nominated);
}

static void add_entry(struct kar_expected *e, const struct kar_pod *pod)
{
	struct entry *x = kar_xcalloc(1, sizeof(*x));

	x->pod = pod;
	RB_INSERT(ranks, &e->ranks, x);
	if (!pod->nominated)
		RB_INSERT(ages, &e->ages, x);
}

void kar_expected_pod(struct kar_expected *e, const struct kar_pod *old, const struct kar_pod *new)
{
	struct entry key = { .pod = old }, *x = NULL;

	if (old && kar_expected_may_be(old))
		x = RB_FIND(ranks, &e->ranks, &key);
	if (x)
		remove_entry(e, x);
	if (new &&kar_expected_may_be(new))
		add_entry(e, new);
}

uint32_t kar_expected_list(struct kar_expected *e, kar_time now, kar_time age, struct kar_arena *a,
	const struct kar_pod ***out)
{
	uint32_t n = 0;
	struct entry *x;

	while ((x = RB_MIN(ages, &e->ages)) && x->pod->creation <= now - age)
		remove_entry(e, x);
	*out = NULL;
	RB_FOREACH(x, ranks, &e->ranks) {
		if (n == KAR_EXPECTED_MAX)
			break;
		*out = kar_arena_grow(a, *out, n, sizeof(const struct kar_pod *));
		(*out)[n++] = x->pod;
	}
	return n;
}
