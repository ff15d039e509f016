/* Trees in the making. */
#include "kubectl-qj/doc.h"

#include <string.h>

#include "common/base/str.h"

struct qj_doc *qj_doc_new(struct kar_arena *a, enum qj_doc_kind kind, const char *text)
{
	struct qj_doc *d = kar_arena_alloc(a, 1, sizeof(*d));

	d->kind = kind;
	d->text = text;
	return d;
}

struct qj_doc *qj_doc_number(struct kar_arena *a, int64_t n)
{
	return qj_doc_new(a, QJ_DOC_PLAIN, kar_arena_printf(a, "%lld", (long long)n));
}

static struct qj_doc *append(struct qj_doc *to, struct qj_doc *d)
{
	struct qj_doc **last = &to->first;

	while (*last)
		last = &(*last)->next;
	return *last = d;
}

/* The value is shared, its place in a list or map is not. */
static struct qj_doc *copy_head(struct kar_arena *a, const struct qj_doc *value, const char *key)
{
	struct qj_doc *d = kar_arena_alloc(a, 1, sizeof(*d));

	*d = *value;
	d->key = key;
	d->next = NULL;
	return d;
}

struct qj_doc *qj_doc_append(struct kar_arena *a, struct qj_doc *list, const struct qj_doc *value)
{
	return append(list, copy_head(a, value, NULL));
}

static struct qj_doc *member(struct qj_doc *map, const char *name, size_t n)
{
	for (struct qj_doc *d = map->first; d; d = d->next) {
		if (strlen(d->key) == n && strncmp(d->key, name, n) == 0)
			return d;
	}
	return NULL;
}

struct qj_doc *qj_doc_put(struct kar_arena *a, struct qj_doc *map, const char *path,
	const struct qj_doc *value)
{
	size_t n = strcspn(path, ".");

	while (path[n]) {
		struct qj_doc *next = member(map, path, n);

		if (!next) {
			next = qj_doc_new(a, QJ_DOC_MAP, NULL);
			next->key = kar_arena_strndup(a, path, n);
			append(map, next);
		}
		map = next;
		path += n + 1;
		n = strcspn(path, ".");
	}
	if (member(map, path, n)) {
		struct qj_doc *old = member(map, path, n), *next = old->next;

		*old = *value;
		old->key = kar_arena_strndup(a, path, n);
		old->next = next;
		return old;
	}
	return append(map, copy_head(a, value, kar_arena_strndup(a, path, n)));
}
