#include "controllers/snapshot.h"

#include <stdlib.h>

#include "api/pod_needs.h"
#include "common/sched/table.h"

enum { IDLE_MAX = 256 }; /* texts without a pod; when there are more, all of them are forgotten */

/* One text of needs. */
struct entry {
	const char *text; /* interned; NULL: the entry is unused */
	kar_class class;  /* referenced; 0: nobody has asked for it */
	uint32_t pods;    /* in the cache that have this text */
	uint32_t next;    /* of an unused entry: the next one */
};

static const uint32_t none = UINT32_MAX;

struct kar_snapshot {
	struct kar_intern *strings;
	struct kar_sched *sched;
	struct entry *entries;
	uint32_t n_entries, room; /* n_entries: with unused ones among them */
	uint32_t unused;          /* the first; none: there is none */
	uint32_t n_idle;          /* texts without a pod */
	struct kar_table by_text;
};

struct kar_snapshot *kar_snapshot_new(struct kar_intern *strings)
{
	struct kar_snapshot *s = kar_xcalloc(1, sizeof(*s));

	s->strings = strings;
	s->unused = none;
	s->sched = kar_sched_new();
	return s;
}

struct kar_sched *kar_snapshot_sched(const struct kar_snapshot *s)
{
	return s->sched;
}

/* --- texts and classes ----------------------------------------------------------------------------- */

static uint32_t new_entry(struct kar_snapshot *s)
{
	uint32_t i = s->unused;

	if (i != none) {
		s->unused = s->entries[i].next;
		return i;
	}
	if (s->n_entries == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->entries = kar_xrealloc(s->entries, s->room, sizeof(*s->entries));
	}
	return s->n_entries++;
}

/* Made if there is none; then it is idle. */
static struct entry *entry_of(struct kar_snapshot *s, const char *text)
{
	const uint32_t *known = kar_table_find(&s->by_text, text);
	struct entry *e;
	uint32_t i;

	if (known)
		return &s->entries[*known];
	i = new_entry(s);
	e = &s->entries[i];
	*e = (struct entry){ .text = kar_intern_get(s->strings, text) };
	kar_table_add(&s->by_text, e->text, i);
	s->n_idle++;
	return e;
}

static void forget(struct kar_snapshot *s, struct entry *e)
{
	if (e->class)
		kar_sched_class_put(s->sched, e->class);
	kar_table_remove(&s->by_text, e->text);
	kar_intern_put(s->strings, e->text);
	*e = (struct entry){ .next = s->unused };
	s->unused = (uint32_t)(e - s->entries);
}

static void forget_idle(struct kar_snapshot *s)
{
	for (uint32_t i = 0; i < s->n_entries; i++) {
		if (s->entries[i].text && !s->entries[i].pods)
			forget(s, &s->entries[i]);
	}
	s->n_idle = 0;
}

static void count_pod(struct kar_snapshot *s, const char *text)
{
	struct entry *e = entry_of(s, text);

	if (!e->pods)
		s->n_idle--;
	e->pods++;
}

static void uncount_pod(struct kar_snapshot *s, const char *text)
{
	struct entry *e = entry_of(s, text);

	assert(e->pods);
	e->pods--;
	if (!e->pods)
		s->n_idle++;
}

kar_class kar_snapshot_class_of(struct kar_snapshot *s, const char *needs)
{
	struct entry *e = entry_of(s, needs);
	struct kar_arena a = { 0 };
	struct kar_pod_needs parsed = { 0 };

	if (e->class)
		return e->class;
	/* The text is our own. If it is none all the same, its pods are taken to need nothing that can be counted. */
	if (kar_pod_needs_parse(needs, &a, &parsed, NULL))
		parsed = (struct kar_pod_needs){ .unverified = "unreadable" };
	e->class = kar_sched_class(s->sched, &parsed);
	kar_arena_release(&a);
	return e->class;
}

size_t kar_snapshot_texts(const struct kar_snapshot *s)
{
	return s->by_text.n;
}

/* --- changes --------------------------------------------------------------------------------------- */

void kar_snapshot_node(struct kar_snapshot *s, const struct kar_node *old, const struct kar_node *new)
{
	if (!new &&old)
		kar_sched_node_gone(s->sched, old->offer.name);
	else if (new && !(old && kar_node_same_offer(old, new)))
		kar_sched_node(s->sched, &new->offer);
}

static void take(struct kar_snapshot *s, const struct kar_pod *p, int32_t n)
{
	const char *node = p && p->needs ? kar_pod_room(p) : NULL;

	if (node)
		kar_sched_take(s->sched, node, kar_snapshot_class_of(s, p->needs), n);
}

void kar_snapshot_pod(struct kar_snapshot *s, const struct kar_pod *old, const struct kar_pod *new)
{
	const char *needed = old ? old->needs : NULL, *needs = new ? new->needs : NULL;

	if (old && new &&needed == needs && kar_pod_room(old) == kar_pod_room(new))
		return;
	/* First, so that a text that stays is not idle in between. */
	if (needs)
		count_pod(s, needs);
	take(s, old, -1);
	take(s, new, 1);
	if (needed)
		uncount_pod(s, needed);
	if (s->n_idle > IDLE_MAX)
		forget_idle(s);
}

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	kar_snapshot_node(arg, old ? kar_as_node(old) : NULL, new ? kar_as_node(new) : NULL);
}

static void on_pod(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	kar_snapshot_pod(arg, old ? kar_as_pod(old) : NULL, new ? kar_as_pod(new) : NULL);
}

void kar_snapshot_listen(struct kar_snapshot *s, struct kar_store *nodes, struct kar_store *pods)
{
	assert(!kar_store_count(nodes) && !kar_store_count(pods));
	kar_store_listen(nodes, on_node, s);
	kar_store_listen(pods, on_pod, s);
}

void kar_snapshot_free(struct kar_snapshot *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_entries; i++) {
		if (s->entries[i].text)
			forget(s, &s->entries[i]);
	}
	kar_table_release(&s->by_text);
	kar_sched_free(s->sched);
	free(s->entries);
	free(s);
}
