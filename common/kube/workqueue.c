#include "common/kube/workqueue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "common/base/backoff.h"
#include "common/base/mem.h"

enum {
	BACKOFF_BASE_MS = 5,
	BACKOFF_CAP_MS = 60 * 1000,
	JITTER_PER_MILLE = 100,
	NOT_DELAYED = -1,
};

/* What is known about one key; it exists while any of this is not its zero value. */
struct item {
	RB_ENTRY(item) by_key;     // kar_workqueue.items
	TAILQ_ENTRY(item) in_line; // kar_workqueue.ready or .low, if ready
	bool ready, processing;
	bool dirty; /* added while processing */
	bool low;   /* which of the two lines it is or will be in */
	unsigned failures;
	ptrdiff_t slot;    /* in the heap of delayed items, or NOT_DELAYED */
	kar_time at;       /* if delayed */
	kar_time rest;     /* lazy adds wait until then; 0: they do not */
	uint64_t sequence; /* ties of `at` keep the order of their adds */
	kar_time since;    /* ready or dirty */
	kar_time taken;    /* processing */
	char key[];
};

static int compare(const struct item *a, const struct item *b)
{
	return strcmp(a->key, b->key);
}

RB_HEAD(item_tree, item);
RB_GENERATE_INTERNAL(item_tree, item, by_key, compare, KAR_UNUSED static)
TAILQ_HEAD(item_line, item);

struct kar_workqueue {
	struct item_tree items;
	struct item_line ready, low;
	size_t n_ready, n_processing;
	struct item **heap; /* earliest first: heap[i] is not after heap[2i+1] and heap[2i+2] */
	size_t n_heap, room;
	kar_time base, cap;
	uint64_t random, sequence;
	uint64_t adds, retries;
	struct kar_workqueue_options options;
};

struct kar_workqueue *kar_workqueue_new(const struct kar_workqueue_options *o)
{
	struct kar_workqueue *q = kar_xcalloc(1, sizeof(*q));

	RB_INIT(&q->items);
	TAILQ_INIT(&q->ready);
	TAILQ_INIT(&q->low);
	q->base = o && o->backoff_base ? o->backoff_base : BACKOFF_BASE_MS;
	q->cap = o && o->backoff_cap ? o->backoff_cap : BACKOFF_CAP_MS;
	q->random = o ? o->seed : 0;
	if (o)
		q->options = *o;
	return q;
}

void kar_workqueue_free(struct kar_workqueue *q)
{
	if (!q)
		return;
	while (!RB_EMPTY(&q->items)) {
		struct item *i = RB_ROOT(&q->items);

		RB_REMOVE(item_tree, &q->items, i);
		free(i);
	}
	free(q->heap);
	free(q);
}

static kar_time mono(const struct kar_workqueue *q)
{
	return q->options.mono ? q->options.mono(q->options.arg) : 0;
}

static struct item *find(const struct kar_workqueue *q, const char *key)
{
	struct item *i = RB_ROOT(&q->items);

	while (i) {
		int order = strcmp(key, i->key);

		if (!order)
			return i;
		i = order < 0 ? RB_LEFT(i, by_key) : RB_RIGHT(i, by_key);
	}
	return NULL;
}

static struct item *find_or_make(struct kar_workqueue *q, const char *key)
{
	struct item *i = find(q, key);

	if (i)
		return i;

	size_t n = strlen(key) + 1;

	i = kar_xcalloc(1, sizeof(*i) + n);
	i->slot = NOT_DELAYED;
	memcpy(i->key, key, n);
	RB_INSERT(item_tree, &q->items, i);
	return i;
}

static void drop_if_idle(struct kar_workqueue *q, struct item *i)
{
	if (i->ready || i->processing || i->failures || i->rest || i->slot != NOT_DELAYED)
		return;
	RB_REMOVE(item_tree, &q->items, i);
	free(i);
}

/* The heap. */

static bool before(const struct item *a, const struct item *b)
{
	return a->at != b->at ? a->at < b->at : a->sequence < b->sequence;
}

static void put(struct kar_workqueue *q, size_t slot, struct item *i)
{
	q->heap[slot] = i;
	i->slot = (ptrdiff_t)slot;
}

static void sift_up(struct kar_workqueue *q, struct item *i)
{
	size_t at = (size_t)i->slot;

	while (at > 0 && before(i, q->heap[(at - 1) / 2])) {
		put(q, at, q->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(q, at, i);
}

static void sift_down(struct kar_workqueue *q, struct item *i)
{
	size_t at = (size_t)i->slot;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < q->n_heap && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (child >= q->n_heap || !before(q->heap[child], i))
			break;
		put(q, at, q->heap[child]);
		at = child;
	}
	put(q, at, i);
}

static struct item *pop_earliest(struct kar_workqueue *q)
{
	struct item *first = q->heap[0];
	struct item *last = q->heap[--q->n_heap];

	first->slot = NOT_DELAYED;
	if (last != first) {
		put(q, 0, last);
		sift_down(q, last);
	}
	return first;
}

static void push_delayed(struct kar_workqueue *q, struct item *i)
{
	if (q->n_heap == q->room) {
		q->room = q->room ? 2 * q->room : 16;
		q->heap = kar_xrealloc(q->heap, q->room, sizeof(*q->heap));
	}
	put(q, q->n_heap++, i);
	sift_up(q, i);
}

/* The lines. */

static struct item_line *line_of(struct kar_workqueue *q, const struct item *i)
{
	return i->low ? &q->low : &q->ready;
}

static void enter_line(struct kar_workqueue *q, struct item *i)
{
	i->ready = true;
	q->n_ready++;
	TAILQ_INSERT_TAIL(line_of(q, i), i, in_line);
}

static void leave_line(struct kar_workqueue *q, struct item *i)
{
	TAILQ_REMOVE(line_of(q, i), i, in_line);
	i->ready = false;
	q->n_ready--;
}

/* An ordinary add overtakes an earlier low one of the same key, never the other way round. */
static void mark(struct kar_workqueue *q, struct item *i, bool low)
{
	bool known = i->ready || i->dirty;

	if (known && (low || !i->low))
		return;
	if (i->ready)
		leave_line(q, i);
	if (!known) {
		i->since = mono(q);
		q->adds++;
	}
	i->low = low;
	if (i->processing)
		i->dirty = true;
	else
		enter_line(q, i);
}

void kar_workqueue_add(struct kar_workqueue *q, const char *key)
{
	mark(q, find_or_make(q, key), false);
}

void kar_workqueue_add_low(struct kar_workqueue *q, const char *key)
{
	mark(q, find_or_make(q, key), true);
}

void kar_workqueue_add_at(struct kar_workqueue *q, const char *key, kar_time at)
{
	if (at == KAR_NEVER)
		return;
	q->retries++;

	struct item *i = find_or_make(q, key);

	if (i->slot != NOT_DELAYED && i->at <= at)
		return;
	i->at = at;
	i->sequence = q->sequence++;
	if (i->slot == NOT_DELAYED)
		push_delayed(q, i);
	else
		sift_up(q, i);
}

void kar_workqueue_add_lazy(struct kar_workqueue *q, const char *key)
{
	const struct item *i = find(q, key);

	if (i && i->rest)
		kar_workqueue_add_at(q, key, i->rest);
	else
		kar_workqueue_add(q, key);
}

void kar_workqueue_cool_down(struct kar_workqueue *q, const char *key, kar_time until)
{
	struct item *i = until ? find_or_make(q, key) : find(q, key);

	if (!i)
		return;
	i->rest = until;
	drop_if_idle(q, i);
}

/* splitmix64: enough to spread retries. */
static uint64_t next_random(struct kar_workqueue *q)
{
	uint64_t z = q->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static kar_time jittered(struct kar_workqueue *q, kar_time delay)
{
	kar_time spread = delay * JITTER_PER_MILLE / 1000;

	return delay - spread + (kar_time)(next_random(q) % (uint64_t)(2 * spread + 1));
}

void kar_workqueue_add_rate_limited(struct kar_workqueue *q, const char *key, kar_time now)
{
	struct item *i = find_or_make(q, key);
	kar_time delay = jittered(q, kar_backoff_delay(i->failures, q->base, q->cap));

	if (i->failures < UINT32_MAX)
		i->failures++;
	kar_workqueue_add_at(q, key, now + delay);
}

void kar_workqueue_forget(struct kar_workqueue *q, const char *key)
{
	struct item *i = find(q, key);

	if (!i)
		return;
	i->failures = 0;
	drop_if_idle(q, i);
}

unsigned kar_workqueue_failures(const struct kar_workqueue *q, const char *key)
{
	const struct item *i = find(q, key);

	return i ? i->failures : 0;
}

const char *kar_workqueue_take(struct kar_workqueue *q, kar_time now)
{
	while (q->n_heap && q->heap[0]->at <= now)
		mark(q, pop_earliest(q), false);

	struct item *i = TAILQ_EMPTY(&q->ready) ? TAILQ_FIRST(&q->low) : TAILQ_FIRST(&q->ready);

	if (!i)
		return NULL;
	leave_line(q, i);
	i->processing = true;
	i->taken = mono(q);
	if (q->options.waited)
		q->options.waited(q->options.arg, i->taken - i->since);
	q->n_processing++;
	return i->key;
}

void kar_workqueue_done(struct kar_workqueue *q, const char *key)
{
	struct item *i = find(q, key);

	assert(i && i->processing);
	i->processing = false;
	if (q->options.worked)
		q->options.worked(q->options.arg, mono(q) - i->taken);
	q->n_processing--;
	if (i->dirty) {
		i->dirty = false;
		enter_line(q, i);
	}
	drop_if_idle(q, i);
}

kar_time kar_workqueue_next(const struct kar_workqueue *q, kar_time now)
{
	if (q->n_ready)
		return now;
	return q->n_heap ? q->heap[0]->at : KAR_NEVER;
}

bool kar_workqueue_is_dirty(const struct kar_workqueue *q, const char *key)
{
	const struct item *i = find(q, key);

	return i && i->dirty;
}

size_t kar_workqueue_ready(const struct kar_workqueue *q)
{
	return q->n_ready;
}

size_t kar_workqueue_processing(const struct kar_workqueue *q)
{
	return q->n_processing;
}

struct kar_workqueue_stats kar_workqueue_stats(struct kar_workqueue *q)
{
	struct kar_workqueue_stats stats = { .adds = q->adds, .retries = q->retries };
	kar_time now = mono(q);
	struct item *i;

	if (!q->n_processing)
		return stats;
	RB_FOREACH(i, item_tree, &q->items) {
		kar_time lasts = i->processing ? now - i->taken : 0;

		stats.unfinished += lasts;
		if (lasts > stats.longest)
			stats.longest = lasts;
	}
	return stats;
}
