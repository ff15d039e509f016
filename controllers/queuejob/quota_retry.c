#include "controllers/queuejob/quota_retry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/tree.h>

#include "common/kube/object.h"
#include "common/mem.h"
#include "controllers/queuejob/memory.h"

struct quota_retry_entry {
	RB_ENTRY(quota_retry_entry) link;
	struct space *space;
	struct kar_rank rank;
	uint64_t seen; /* wake-ups of the namespace when it tried last */
	bool told;     /* of one since, so that it knows when it will try */
	char key[KAR_KEY_LEN];
};
RB_HEAD(entries, quota_retry_entry);

/* A namespace; there is one only while it has entries. */
struct space {
	RB_ENTRY(space) link;
	struct quota_retry *all;
	struct entries entries;
	uint64_t wakes;
	const char *ns; /* .text, or borrowed in a key for a search */
	char text[];
};
RB_HEAD(spaces, space);

struct quota_retry {
	struct kar_workqueue *queue;
	struct spaces spaces;
};

static int compare_entries(const struct quota_retry_entry *a, const struct quota_retry_entry *b)
{
	return kar_rank_compare(&a->rank, a->key, &b->rank, b->key);
}

static int compare_spaces(const struct space *a, const struct space *b)
{
	return strcmp(a->ns, b->ns);
}

RB_GENERATE_INTERNAL(entries, quota_retry_entry, link, compare_entries, KAR_UNUSED static)
RB_GENERATE_INTERNAL(spaces, space, link, compare_spaces, KAR_UNUSED static)

bool quota_retry_is_first(const struct quota_retry_entry *e)
{
	return RB_MIN(entries, &e->space->entries) == e;
}

bool quota_retry_is_woken(const struct quota_retry_entry *e)
{
	return e->seen != e->space->wakes;
}

/* --- waking up ----------------------------------------------------------------------------------- */

static void wake(struct space *s)
{
	struct quota_retry_entry *first = RB_MIN(entries, &s->entries);

	s->wakes++;
	if (!first || first->told)
		return;
	first->told = true;
	kar_workqueue_add(s->all->queue, first->key);
}

static struct space *find_space(struct quota_retry *r, const char *ns)
{
	struct space key = { .ns = ns };

	return RB_FIND(spaces, &r->spaces, &key);
}

void quota_retry_wake(struct quota_retry *r, const char *ns)
{
	struct space *s = find_space(r, ns);

	if (s)
		wake(s);
}

/* The first would only collide with itself; one that is not first is not held by what it has rolled back. */
void quota_retry_wake_others(struct quota_retry *r, const char *ns, const char *key)
{
	struct space *s = find_space(r, ns);
	const struct quota_retry_entry *first = s ? RB_MIN(entries, &s->entries) : NULL;

	if (first && strcmp(first->key, key) != 0)
		wake(s);
}

/* --- coming and going ---------------------------------------------------------------------------- */

static struct space *need_space(struct quota_retry *r, const char *ns)
{
	struct space *s = find_space(r, ns);
	size_t n = strlen(ns) + 1;

	if (s)
		return s;
	s = kar_xcalloc(1, sizeof(*s) + n);
	s->all = r;
	RB_INIT(&s->entries);
	memcpy(s->text, ns, n);
	s->ns = s->text;
	RB_INSERT(spaces, &r->spaces, s);
	return s;
}

/* Whoever becomes the first is told, because it was held for the @former one; NULL: there was none, or it does not matter. */
static void insert(struct quota_retry_entry *e, struct quota_retry_entry *former)
{
	struct space *s = e->space;
	const struct quota_retry_entry *first;

	RB_INSERT(entries, &s->entries, e);
	first = RB_MIN(entries, &s->entries);
	if (!former || first == former)
		return;
	former->told = false;
	if (first != e)
		wake(s);
}

/* Among the creates of one key the position in their order says nothing to others; that of an extra is the round, which does. */
static bool is_alike(const struct kar_rank *a, const struct kar_rank *b)
{
	return a->tier == b->tier && a->priority == b->priority && a->age == b->age &&
		(a->tier != KAR_TIER_EXTRA || a->seq == b->seq);
}

static void set_rank(struct quota_retry_entry *e, const struct kar_rank *rank)
{
	struct quota_retry_entry *former = RB_MIN(entries, &e->space->entries);

	if (is_alike(&e->rank, rank))
		return;
	RB_REMOVE(entries, &e->space->entries, e);
	e->rank = *rank;
	insert(e, former);
}

static void try_now(void *entry)
{
	struct quota_retry_entry *e = entry;

	e->seen = e->space->wakes;
	e->told = false;
}

static void leave(void *entry)
{
	struct quota_retry_entry *e = entry;
	struct space *s = e->space;
	bool first = quota_retry_is_first(e);

	RB_REMOVE(entries, &s->entries, e);
	free(e);
	if (RB_EMPTY(&s->entries)) {
		RB_REMOVE(spaces, &s->all->spaces, s);
		free(s);
	} else if (first) {
		wake(s);
	}
}

/* Only a refusal by a quota has an entry: it ends when pods of others end. Other refusals wait for their back-off alone. */
static void *refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	void *old)
{
	struct quota_retry_entry *e = old;

	if (err->cause != KAR_CAUSE_QUOTA) {
		if (old)
			leave(old);
		return NULL;
	}
	if (old) {
		set_rank(e, &a->rank);
		return e;
	}
	e = kar_xcalloc(1, sizeof(*e));
	e->space = need_space(queuejob_shared(s->controller)->quotas, a->ns);
	e->rank = a->rank;
	strlcpy(e->key, s->key, sizeof(e->key));
	try_now(e);
	insert(e, RB_MIN(entries, &e->space->entries));
	return e;
}

static enum kar_gate_state state(const void *entry)
{
	if (!quota_retry_is_first(entry))
		return KAR_GATE_LATE;
	return quota_retry_is_woken(entry) ? KAR_GATE_EARLY : KAR_GATE_MAY_TRY;
}

static void move(void *entry, const struct kar_rank *rank)
{
	set_rank(entry, rank);
}

const struct kar_create_gate quota_retry_gate = {
	.refused = refused,
	.state = state,
	.try = try_now,
	.move = move,
	.leave = leave,
};

struct quota_retry *quota_retry_new(struct kar_workqueue *q)
{
	struct quota_retry *r = kar_xcalloc(1, sizeof(*r));

	r->queue = q;
	RB_INIT(&r->spaces);
	return r;
}

void quota_retry_free(struct quota_retry *r)
{
	assert(!r || RB_EMPTY(&r->spaces));
	free(r);
}
