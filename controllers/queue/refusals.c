#include "controllers/queue/refusals.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

struct refusal {
	RB_ENTRY(refusal) link;
	char *uid, *why;
	kar_time last, pause;
};
RB_HEAD(refusal_tree, refusal);

struct queue_refusals {
	struct refusal_tree all;
};

static int compare(const struct refusal *a, const struct refusal *b)
{
	return strcmp(a->uid, b->uid);
}

RB_GENERATE_INTERNAL(refusal_tree, refusal, link, compare, KAR_UNUSED static)

struct queue_refusals *queue_refusals_new(void)
{
	struct queue_refusals *r = kar_xcalloc(1, sizeof(*r));

	RB_INIT(&r->all);
	return r;
}

static void forget(struct queue_refusals *r, struct refusal *one)
{
	RB_REMOVE(refusal_tree, &r->all, one);
	free(one->uid);
	free(one->why);
	free(one);
}

void queue_refusals_free(struct queue_refusals *r)
{
	while (r && RB_ROOT(&r->all))
		forget(r, RB_ROOT(&r->all));
	free(r);
}

static struct refusal *find(struct queue_refusals *r, const char *uid)
{
	struct refusal key = { .uid = (char *)(uintptr_t)uid };

	return RB_FIND(refusal_tree, &r->all, &key);
}

void queue_refusals_note(struct queue_refusals *r, const char *uid, const char *why, kar_time mono)
{
	struct refusal *one = find(r, uid);
	kar_time next = one ? 2 * one->pause : 10 * KAR_SECOND;

	if (!one) {
		one = kar_xcalloc(1, sizeof(*one));
		one->uid = kar_xstrdup(uid);
		RB_INSERT(refusal_tree, &r->all, one);
	}
	free(one->why);
	one->why = kar_xstrdup(why);
	one->last = mono;
	one->pause = next < 10 * KAR_MINUTE ? next : 10 * KAR_MINUTE;
}

const char *queue_refusals_of(struct queue_refusals *r, const char *uid, kar_time mono, kar_time *in)
{
	const struct refusal *one = find(r, uid);

	if (!one || one->last + one->pause <= mono)
		return NULL;
	*in = one->last + one->pause - mono;
	return one->why;
}

void queue_refusals_sweep(struct queue_refusals *r, kar_time mono)
{
	struct refusal *next;

	for (struct refusal *one = RB_MIN(refusal_tree, &r->all); one; one = next) {
		next = RB_NEXT(refusal_tree, &r->all, one);
		if (one->last + 60 * KAR_MINUTE <= mono)
			forget(r, one);
	}
}
