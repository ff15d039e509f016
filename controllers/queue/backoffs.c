#include "controllers/queue/backoffs.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

struct backoff {
	RB_ENTRY(backoff) link;
	char *uid, *why;
	kar_time last, pause;
};
RB_HEAD(backoff_tree, backoff);

struct queue_backoffs {
	struct backoff_tree all;
};

static int compare(const struct backoff *a, const struct backoff *b)
{
	return strcmp(a->uid, b->uid);
}

RB_GENERATE_INTERNAL(backoff_tree, backoff, link, compare, KAR_UNUSED static)

struct queue_backoffs *queue_backoffs_new(void)
{
	struct queue_backoffs *b = kar_xcalloc(1, sizeof(*b));

	RB_INIT(&b->all);
	return b;
}

static void forget(struct queue_backoffs *b, struct backoff *one)
{
	RB_REMOVE(backoff_tree, &b->all, one);
	free(one->uid);
	free(one->why);
	free(one);
}

void queue_backoffs_free(struct queue_backoffs *b)
{
	while (b && RB_ROOT(&b->all))
		forget(b, RB_ROOT(&b->all));
	free(b);
}

static struct backoff *find(struct queue_backoffs *b, const char *uid)
{
	struct backoff key = { .uid = (char *)(uintptr_t)uid };

	return RB_FIND(backoff_tree, &b->all, &key);
}

void queue_backoffs_note(struct queue_backoffs *b, const char *uid, const char *why, kar_time most,
	kar_time mono)
{
	struct backoff *one = find(b, uid);
	kar_time next = one ? 2 * one->pause : 10 * KAR_SECOND;

	if (!one) {
		one = kar_xcalloc(1, sizeof(*one));
		one->uid = kar_xstrdup(uid);
		RB_INSERT(backoff_tree, &b->all, one);
	}
	free(one->why);
	one->why = kar_xstrdup(why);
	one->last = mono;
	one->pause = next < most ? next : most;
}

const char *queue_backoffs_of(struct queue_backoffs *b, const char *uid, kar_time mono, kar_time *in)
{
	const struct backoff *one = find(b, uid);

	if (!one || one->last + one->pause <= mono)
		return NULL;
	*in = one->last + one->pause - mono;
	return one->why;
}

void queue_backoffs_sweep(struct queue_backoffs *b, kar_time mono)
{
	struct backoff *next;

	for (struct backoff *one = RB_MIN(backoff_tree, &b->all); one; one = next) {
		next = RB_NEXT(backoff_tree, &b->all, one);
		if (one->last + 60 * KAR_MINUTE <= mono)
			forget(b, one);
	}
}
