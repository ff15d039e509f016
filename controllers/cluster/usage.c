#include "controllers/cluster/usage.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"

struct count {
	RB_ENTRY(count) link;
	const char *ns; /* interned */
	const struct kar_pod_counted *charge;
	int64_t n;
};
RB_HEAD(counts, count);

struct kar_usage {
	struct counts counts;
};

/* By namespace, then by the address of the charge; the lowest is NULL. */
static int compare(const struct count *a, const struct count *b)
{
	int d = strcmp(a->ns, b->ns);

	if (d)
		return d;
	return (uintptr_t)a->charge < (uintptr_t)b->charge ? -1 : (uintptr_t)a->charge > (uintptr_t)b->charge;
}

RB_GENERATE_INTERNAL(counts, count, link, compare, KAR_UNUSED static)

struct kar_usage *kar_usage_new(void)
{
	struct kar_usage *u = kar_xcalloc(1, sizeof(*u));

	RB_INIT(&u->counts);
	return u;
}

void kar_usage_free(struct kar_usage *u)
{
	struct count *c;

	while (u && (c = RB_ROOT(&u->counts))) {
		RB_REMOVE(counts, &u->counts, c);
		free(c);
	}
	free(u);
}

static bool counts(const struct kar_pod *p)
{
	return p && p->o.ns && p->charge && kar_pod_alive(p);
}

static void add(struct kar_usage *u, const struct kar_pod *p, int64_t n)
{
	struct count key = { .ns = p->o.ns, .charge = p->charge }, *c = RB_FIND(counts, &u->counts, &key);

	if (!c) {
		c = kar_xcalloc(1, sizeof(*c));
		*c = key;
		RB_INSERT(counts, &u->counts, c);
	}
	c->n += n;
	if (c->n)
		return;
	RB_REMOVE(counts, &u->counts, c);
	free(c);
}

/* The new one first, so that a count that stays keeps its place. */
void kar_usage_pod(struct kar_usage *u, const struct kar_pod *old, const struct kar_pod *new)
{
	if (counts(old) && counts(new) && old->charge == new->charge)
		return;
	if (counts(new))
		add(u, new, 1);
	if (counts(old))
		add(u, old, -1);
}

void kar_usage_each(const struct kar_usage *u, const char *ns, kar_usage_fn *fn, void *arg)
{
	struct counts *all = (struct counts *)(uintptr_t)&u->counts;
	struct count key = { .ns = ns };

	for (const struct count *c = RB_NFIND(counts, all, &key); c && strcmp(c->ns, ns) == 0;
		c = RB_NEXT(counts, all, (struct count *)(uintptr_t)c))
		fn(arg, c->charge, c->n);
}
