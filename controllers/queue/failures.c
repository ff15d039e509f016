#include "controllers/queue/failures.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

struct failure {
	RB_ENTRY(failure) link;
	char *group, *node;
	int32_t pods;
};
RB_HEAD(failure_tree, failure);

struct queue_failures {
	struct failure_tree all;
	size_t n;
};

static int compare(const struct failure *a, const struct failure *b)
{
	int order = strcmp(a->group, b->group);

	return order ? order : strcmp(a->node, b->node);
}

RB_GENERATE_INTERNAL(failure_tree, failure, link, compare, KAR_UNUSED static)

struct queue_failures *queue_failures_new(void)
{
	struct queue_failures *f = kar_xcalloc(1, sizeof(*f));

	RB_INIT(&f->all);
	return f;
}

static void forget(struct queue_failures *f, struct failure *one)
{
	RB_REMOVE(failure_tree, &f->all, one);
	f->n--;
	free(one->group);
	free(one->node);
	free(one);
}

void queue_failures_free(struct queue_failures *f)
{
	while (f && RB_ROOT(&f->all))
		forget(f, RB_ROOT(&f->all));
	free(f);
}

void queue_failures_note(struct queue_failures *f, const char *group, const char *node)
{
	struct failure key = { .group = (char *)(uintptr_t)group, .node = (char *)(uintptr_t)node };
	struct failure *one = RB_FIND(failure_tree, &f->all, &key);

	if (!one && f->n >= QUEUE_FAILURES_MAX)
		return;
	if (!one) {
		one = kar_xcalloc(1, sizeof(*one));
		one->group = kar_xstrdup(group);
		one->node = kar_xstrdup(node);
		RB_INSERT(failure_tree, &f->all, one);
		f->n++;
	}
	one->pods += one->pods < INT32_MAX;
}

/* The first of the group by name; NULL: there is none. */
static struct failure *first_of(struct queue_failures *f, const char *group)
{
	struct failure key = { .group = (char *)(uintptr_t)group, .node = (char *)(uintptr_t) "" };
	struct failure *one = RB_NFIND(failure_tree, &f->all, &key);

	return one && strcmp(one->group, group) == 0 ? one : NULL;
}

uint32_t queue_failures_of(struct queue_failures *f, const char *group, struct kar_arena *a,
	const char *const **nodes)
{
	const char **list = NULL;
	uint32_t n = 0;

	for (struct failure *one = first_of(f, group);
		one && strcmp(one->group, group) == 0 && n < QUEUE_FAILURES_NODES;
		one = RB_NEXT(failure_tree, &f->all, one)) {
		if (one->pods < QUEUE_FAILURES_TWICE)
			continue;
		list = kar_arena_grow(a, list, n, sizeof(*list));
		list[n++] = kar_arena_strndup(a, one->node, strlen(one->node));
	}
	*nodes = list;
	return n;
}

void queue_failures_forget(struct queue_failures *f, const char *group)
{
	for (struct failure *one; (one = first_of(f, group)) != NULL;)
		forget(f, one);
}

static bool has_failed(const struct kar_pod *pod)
{
	return pod && pod->phase == KAR_POD_FAILED && pod->group && pod->node && !pod->disrupted &&
		!pod->deletion;
}

void queue_failures_pod(struct queue_failures *f, const struct kar_pod *old, const struct kar_pod *new)
{
	if (has_failed(new) && !has_failed(old))
		queue_failures_note(f, new->group, new->node);
}
