#include "common/kube/event_filter.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "common/base/mem.h"

enum { BURST = 25, MAX_KEYS = 1024 };
#define REFILL (5 * KAR_MINUTE) /* per token */

struct bucket {
	RB_ENTRY(bucket) by_key;
	TAILQ_ENTRY(bucket) by_use; // kar_event_filter.used, least recently used first
	kar_time full_at;           /* when it will be full again: one number holds both level and time */
	char key[];
};

static int compare(const struct bucket *a, const struct bucket *b)
{
	return strcmp(a->key, b->key);
}

RB_HEAD(bucket_tree, bucket);
RB_GENERATE_INTERNAL(bucket_tree, bucket, by_key, compare, KAR_UNUSED static)
TAILQ_HEAD(bucket_line, bucket);

struct kar_event_filter {
	struct bucket_tree buckets;
	struct bucket_line used;
	size_t n;
};

struct kar_event_filter *kar_event_filter_new(void)
{
	struct kar_event_filter *f = kar_xcalloc(1, sizeof(*f));

	RB_INIT(&f->buckets);
	TAILQ_INIT(&f->used);
	return f;
}

static void forget(struct kar_event_filter *f, struct bucket *b)
{
	RB_REMOVE(bucket_tree, &f->buckets, b);
	TAILQ_REMOVE(&f->used, b, by_use);
	free(b);
	f->n--;
}

void kar_event_filter_free(struct kar_event_filter *f)
{
	if (!f)
		return;
	while (!TAILQ_EMPTY(&f->used))
		forget(f, TAILQ_FIRST(&f->used));
	free(f);
}

/* The bucket of @key, now the most recently used. */
static struct bucket *touch(struct kar_event_filter *f, const char *key, kar_time now)
{
	size_t n = strlen(key) + 1;
	struct bucket *b = kar_xcalloc(1, sizeof(*b) + n);

	b->full_at = now;
	memcpy(b->key, key, n);

	struct bucket *known = RB_INSERT(bucket_tree, &f->buckets, b);

	if (known) {
		free(b);
		TAILQ_REMOVE(&f->used, known, by_use);
		b = known;
	} else {
		f->n++;
	}
	TAILQ_INSERT_TAIL(&f->used, b, by_use);
	if (f->n > MAX_KEYS)
		forget(f, TAILQ_FIRST(&f->used));
	return b;
}

bool kar_event_filter_admit(struct kar_event_filter *f, const char *key, kar_time now)
{
	struct bucket *b = touch(f, key, now);
	kar_time full_at = (b->full_at > now ? b->full_at : now) + REFILL;

	if (full_at - now > BURST * REFILL)
		return false;
	b->full_at = full_at;
	return true;
}
