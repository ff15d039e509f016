#include "common/kube/barrier.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"

struct written {
	RB_ENTRY(written) link; // kar_barrier.all
	const struct kar_type *type;
	kar_rv rv;
	char key[];
};

/* By key, then by type, so that all of one key stand together. */
static int compare(const struct written *a, const struct written *b)
{
	int order = strcmp(a->key, b->key);

	if (order)
		return order;
	return ((uintptr_t)a->type > (uintptr_t)b->type) - ((uintptr_t)a->type < (uintptr_t)b->type);
}

RB_HEAD(written_tree, written);
RB_GENERATE_INTERNAL(written_tree, written, link, compare, KAR_UNUSED static)

struct kar_barrier {
	struct written_tree all;
};

struct kar_barrier *kar_barrier_new(void)
{
	struct kar_barrier *b = kar_xcalloc(1, sizeof(*b));

	RB_INIT(&b->all);
	return b;
}

static void forget(struct kar_barrier *b, struct written *w)
{
	RB_REMOVE(written_tree, &b->all, w);
	free(w);
}

void kar_barrier_free(struct kar_barrier *b)
{
	if (!b)
		return;
	while (!RB_EMPTY(&b->all))
		forget(b, RB_ROOT(&b->all));
	free(b);
}

static struct written *make(const char *key, const struct kar_type *type, kar_rv rv)
{
	size_t n = strlen(key) + 1;
	struct written *w = kar_xmalloc(sizeof(*w) + n);

	w->type = type;
	w->rv = rv;
	memcpy(w->key, key, n);
	return w;
}

/* The first entry of @key whose type is not before @type, or NULL. */
static struct written *first_from(struct kar_barrier *b, const char *key, const struct kar_type *type)
{
	struct written *probe = make(key, type, 0);
	struct written *w = RB_NFIND(written_tree, &b->all, probe);

	free(probe);
	return w && strcmp(w->key, key) == 0 ? w : NULL;
}

void kar_barrier_wrote(struct kar_barrier *b, const char *key, const struct kar_type *type, kar_rv rv)
{
	if (!rv)
		return;

	struct written *new = make(key, type, rv);
	struct written *known = RB_INSERT(written_tree, &b->all, new);

	if (!known)
		return;
	if (known->rv < rv)
		known->rv = rv;
	free(new);
}

bool kar_barrier_passed(struct kar_barrier *b, const char *key, const struct kar_store *store)
{
	const struct kar_type *type = kar_store_type(store);
	struct written *w = first_from(b, key, type);

	if (!w || w->type != type)
		return true;

	kar_rv reached = kar_store_rv(store);
	bool comparable = reached || !kar_store_synced(store);

	if (comparable && reached < w->rv)
		return false;
	forget(b, w);
	return true;
}

void kar_barrier_forget(struct kar_barrier *b, const char *key)
{
	for (struct written *w = first_from(b, key, NULL); w; w = first_from(b, key, NULL))
		forget(b, w);
}
