#include "controllers/cluster/snapshot.h"

#include <stdlib.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"

enum { IDLE_MAX = 256 }; /* needs without a pod; when there are more, all of them are forgotten */

/* Needs that a pod has, or that somebody has asked for. */
struct entry {
	RB_ENTRY(entry) link;
	const struct kar_pod_needs *needs; /* shared */
	kar_class class;                   /* referenced; 0: nobody has asked for it */
	uint32_t pods;                     /* in the cache that have them */
};
RB_HEAD(entries, entry);

struct kar_snapshot {
	struct kar_intern *strings;
	struct kar_sched *sched;
	struct entries entries;
	size_t n, n_idle; /* entries, and those without a pod */
};

static int compare(const struct entry *a, const struct entry *b)
{
	return kar_shape_compare(&kar_needs_shape, a->needs, b->needs);
}

RB_GENERATE_INTERNAL(entries, entry, link, compare, KAR_UNUSED static)

struct kar_snapshot *kar_snapshot_new(struct kar_intern *strings)
{
	struct kar_snapshot *s = kar_xcalloc(1, sizeof(*s));

	s->strings = strings;
	s->sched = kar_sched_new(strings);
	return s;
}

struct kar_sched *kar_snapshot_sched(const struct kar_snapshot *s)
{
	return s->sched;
}

/* --- needs and classes ----------------------------------------------------------------------------- */

/* Made if there is none; then it is idle. Without volumes: pods that differ only by their claims take the same room. */
static struct entry *entry_of(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct kar_pod_needs room = *needs;
	struct entry key = { .needs = &room }, *e;

	room.volumes = NULL;
	room.n_volumes = 0;
	e = RB_FIND(entries, &s->entries, &key);
	if (e)
		return e;
	e = kar_xcalloc(1, sizeof(*e));
	e->needs = kar_share_get(s->strings, &kar_needs_shape, &room);
	RB_INSERT(entries, &s->entries, e);
	s->n++;
	s->n_idle++;
	return e;
}

static void forget(struct kar_snapshot *s, struct entry *e)
{
	RB_REMOVE(entries, &s->entries, e);
	s->n--;
	if (e->class)
		kar_sched_class_put(s->sched, e->class);
	kar_share_put(s->strings, e->needs);
	free(e);
}

static void forget_idle(struct kar_snapshot *s)
{
	struct entry *next;

	for (struct entry *e = RB_MIN(entries, &s->entries); e; e = next) {
		next = RB_NEXT(entries, &s->entries, e);
		if (!e->pods)
			forget(s, e);
	}
	s->n_idle = 0;
}

static void count_pod(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct entry *e = entry_of(s, needs);

	if (!e->pods)
		s->n_idle--;
	e->pods++;
}

static void uncount_pod(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct entry *e = entry_of(s, needs);

	assert(e->pods);
	e->pods--;
	if (!e->pods)
		s->n_idle++;
}

kar_class kar_snapshot_class_of(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct entry *e = entry_of(s, needs);

	if (!e->class)
		e->class = kar_sched_class(s->sched, e->needs);
	return e->class;
}

size_t kar_snapshot_needs(const struct kar_snapshot *s)
{
	return s->n;
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
	const struct kar_pod_needs *needed = old ? old->needs : NULL, *needs = new ? new->needs : NULL;

	if (old && new &&needed == needs && kar_pod_room(old) == kar_pod_room(new))
		return;
	/* First, so that needs that stay are not idle in between. */
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
	struct entry *e;

	if (!s)
		return;
	while ((e = RB_ROOT(&s->entries)))
		forget(s, e);
	kar_sched_free(s->sched);
	free(s);
}
