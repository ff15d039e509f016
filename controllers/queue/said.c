#include "controllers/queue/said.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"

struct said {
	RB_ENTRY(said) link;
	char *ns, *quota, *resource;
	int64_t used, others; /* when it was last believed */
	int64_t last;         /* .used of the pass before */
	kar_time rose;        /* since when there seem to be more others than .others; 0: there do not */
	kar_time seen;
};
RB_HEAD(saids, said);

struct queue_said {
	struct saids all;
};

static int compare(const struct said *a, const struct said *b)
{
	int d = strcmp(a->ns, b->ns);

	if (!d)
		d = strcmp(a->quota, b->quota);
	return d ? d : strcmp(a->resource, b->resource);
}

RB_GENERATE_INTERNAL(saids, said, link, compare, KAR_UNUSED static)

struct queue_said *queue_said_new(void)
{
	struct queue_said *s = kar_xcalloc(1, sizeof(*s));

	RB_INIT(&s->all);
	return s;
}

static void forget(struct queue_said *s, struct said *one)
{
	RB_REMOVE(saids, &s->all, one);
	free(one->ns);
	free(one->quota);
	free(one->resource);
	free(one);
}

void queue_said_free(struct queue_said *s)
{
	struct said *one;

	while (s && (one = RB_ROOT(&s->all)))
		forget(s, one);
	free(s);
}

void queue_said_sweep(struct queue_said *s, kar_time now)
{
	struct said *next;

	for (struct said *one = RB_MIN(saids, &s->all); one; one = next) {
		next = RB_NEXT(saids, &s->all, one);
		if (one->seen != now)
			forget(s, one);
	}
}

static struct said *find(struct queue_said *s, const struct kar_queue_quota_row *row, int64_t used,
	int64_t others)
{
	struct said key = { .ns = (char *)(uintptr_t)row->ns,
		.quota = (char *)(uintptr_t)row->quota,
		.resource = (char *)(uintptr_t)row->resource };
	struct said *one = RB_FIND(saids, &s->all, &key);

	if (one)
		return one;
	one = kar_xcalloc(1, sizeof(*one));
	*one = (struct said){ .ns = kar_xstrdup(row->ns),
		.quota = kar_xstrdup(row->quota),
		.resource = kar_xstrdup(row->resource),
		.used = used,
		.others = others,
		.last = used };
	RB_INSERT(saids, &s->all, one);
	return one;
}

int64_t queue_said_of(struct queue_said *s, const struct kar_queue_quota_row *row, int64_t used,
	int64_t others, kar_time now, kar_time *again_in)
{
	struct said *one = find(s, row, used, others);
	bool rises = others > one->others && used <= one->used;
	bool counted = used < one->last; /* the quota is being brought up to date */
	kar_time left;

	one->seen = now;
	one->last = used;
	one->rose = rises ? (one->rose && !counted ? one->rose : now) : 0;
	left = one->rose + QUEUE_SAID_LASTS - now;
	if (rises && left > 0) {
		*again_in = left < *again_in ? left : *again_in;
		return one->others;
	}
	*one = (struct said){ .link = one->link,
		.ns = one->ns,
		.quota = one->quota,
		.resource = one->resource,
		.used = used,
		.others = others,
		.last = used,
		.seen = now };
	return others;
}
