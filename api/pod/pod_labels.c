/*
 * Labels of pods, for those who select pods. What a QueueJob gives to its pods is in members of the cached pod; the others are one text that all
 * pods of a task share: "key=value\n" by key. No key has a '=', and no value a line break.
 */
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "api/pod/pod_wire.h"
#include "common/base/buf.h"
#include "common/base/str.h"

static bool is_of_job(const char *key)
{
	static const char *const keys[] = { KAR_LABEL_QUEUEJOB, KAR_LABEL_TASK, KAR_LABEL_INDEX,
		KAR_LABEL_INCARNATION, KAR_LABEL_POD_GROUP };

	return kar_streq_any(key, keys, KAR_LEN(keys));
}

const char *pod_labels_read(const struct kar_array *labels, struct kar_intern *strings)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	bool of_job = kar_pairs_get(labels, KAR_LABEL_QUEUEJOB) != NULL;
	struct kar_arena scratch = { 0 };
	struct kar_array sorted = kar_copy_pairs(&scratch, labels);
	const struct kar_pair *p = sorted.items;
	const char *kept;

	for (size_t i = 0; i < sorted.n; i++) {
		if (!of_job || !is_of_job(p[i].key))
			kar_buf_printf(&text, "%s=%s\n", p[i].key, p[i].value);
	}
	kept = text.n ? kar_intern_get(strings, kar_buf_cstr(&text)) : NULL;
	kar_arena_release(&scratch);
	return kept;
}

struct list {
	struct kar_arena *arena;
	struct kar_pair *pairs;
	size_t n;
};

static void add(struct list *l, const char *key, const char *value)
{
	if (!value)
		return;
	l->pairs = kar_arena_grow(l->arena, l->pairs, l->n, sizeof(*l->pairs));
	l->pairs[l->n++] = (struct kar_pair){ .key = key, .value = value };
}

static void add_of_job(struct list *l, const struct kar_pod *p)
{
	const char *slash = p->group ? strchr(p->group, '/') : NULL;

	if (p->labelled)
		add(l, KAR_LABEL_QUEUEJOB, p->owner_name);
	add(l, KAR_LABEL_TASK, p->job->task);
	if (p->job->incarnation)
		add(l, KAR_LABEL_INCARNATION, kar_arena_printf(l->arena, "%d", (int)p->job->incarnation));
	add(l, KAR_LABEL_POD_GROUP, slash ? slash + 1 : NULL);
}

struct kar_array kar_pod_labels(const struct kar_pod *p, struct kar_arena *a)
{
	struct list l = { .arena = a };
	const char *text = kar_pod_more_labels(p);

	if (p->job)
		add_of_job(&l, p);
	for (const char *at = text ? text : ""; *at;) {
		size_t key = strcspn(at, "="), value = strcspn(at + key, "\n") - 1;

		add(&l, kar_arena_strndup(a, at, key), kar_arena_strndup(a, at + key + 1, value));
		at += key + 1 + value + 1;
	}
	return (struct kar_array){ .items = l.pairs, .n = l.n };
}
