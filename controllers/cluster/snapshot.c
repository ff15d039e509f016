#include "controllers/cluster/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "api/core/flavor.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/queue/queue.h"
#include "controllers/cluster/flavors.h"
#include "controllers/cluster/rules.h"

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
	struct kar_rules *rules;
	const struct kar_store *nodes, *pods, *flavors; /* NULL: nobody has said */
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
	s->rules = kar_rules_new(strings);
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
	kar_rules_use(s->rules, e->needs, false, 1);
	RB_INSERT(entries, &s->entries, e);
	s->n++;
	s->n_idle++;
	return e;
}

static void forget(struct kar_snapshot *s, struct entry *e)
{
	RB_REMOVE(entries, &s->entries, e);
	if (e->pods)
		kar_rules_use(s->rules, e->needs, true, -1);
	kar_rules_use(s->rules, e->needs, false, -1);
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

	if (!e->pods) {
		s->n_idle--;
		kar_rules_use(s->rules, e->needs, true, 1);
	}
	e->pods++;
}

static void uncount_pod(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct entry *e = entry_of(s, needs);

	assert(e->pods);
	e->pods--;
	if (e->pods)
		return;
	s->n_idle++;
	kar_rules_use(s->rules, e->needs, true, -1);
}

static kar_class class_of(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct entry *e = entry_of(s, needs);

	if (!e->class)
		e->class = kar_sched_class(s->sched, e->needs);
	return e->class;
}

kar_class kar_snapshot_class_of(struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct kar_pod_needs plain = *needs;

	if (!needs->n_rules)
		return class_of(s, needs);
	plain.rules = NULL;
	plain.n_rules = 0;
	return class_of(s, &plain);
}

bool kar_snapshot_minds_labels(const struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	return needs->n_rules || kar_rules_any(s->rules);
}

static struct kar_rules_pod describe(const char *ns, const struct kar_array *pairs, struct kar_arena *a)
{
	const struct kar_pair *p = pairs->items;
	struct kar_sched_label *labels = kar_arena_alloc(a, pairs->n + 1, sizeof(*labels));

	for (size_t i = 0; i < pairs->n; i++)
		labels[i] = (struct kar_sched_label){ p[i].key, p[i].value };
	return (struct kar_rules_pod){ .ns = ns, .labels = labels, .n_labels = (uint32_t)pairs->n };
}

static struct kar_rules_pod describe_pod(const struct kar_pod *pod, struct kar_arena *a)
{
	struct kar_array labels = kar_pod_labels(pod, a);
	struct kar_rules_pod out = describe(pod->o.ns, &labels, a);

	out.dying = pod->deletion;
	return out;
}

/* @needs of the pod with what others and its rules say about it; in @a if they are not the same. */
static const struct kar_pod_needs *needs_of(const struct kar_snapshot *s, const struct kar_pod *pod,
	const struct kar_pod_needs *needs, struct kar_arena *a)
{
	struct kar_rules_pod of;

	if (!kar_snapshot_minds_labels(s, needs))
		return needs;
	of = describe_pod(pod, a);
	return kar_rules_apply(s->rules, needs, &of, a);
}

kar_class kar_snapshot_class_of_pod(struct kar_snapshot *s, const struct kar_pod *pod,
	const struct kar_pod_needs *needs)
{
	struct kar_arena a = { 0 };
	kar_class class = class_of(s, needs_of(s, pod, needs, &a));

	kar_arena_release(&a);
	return class;
}

kar_class kar_snapshot_class_to_come(struct kar_snapshot *s, const struct kar_pod_needs *needs,
	const char *ns, const struct kar_array *labels)
{
	struct kar_arena a = { 0 };
	struct kar_rules_pod of;
	kar_class class;

	if (!kar_snapshot_minds_labels(s, needs))
		return class_of(s, needs);
	of = describe(ns, labels, &a);
	class = class_of(s, kar_rules_apply(s->rules, needs, &of, &a));
	kar_arena_release(&a);
	return class;
}

size_t kar_snapshot_needs(const struct kar_snapshot *s)
{
	return s->n;
}

/* --- changes --------------------------------------------------------------------------------------- */

/* @flavor among the labels of @from, which are sorted. */
static struct kar_sched_label *add_label(const struct kar_node_offer *from, const char *flavor,
	struct kar_arena *a)
{
	struct kar_sched_label *labels = kar_arena_alloc(a, from->n_labels + 1, sizeof(*labels));
	uint32_t at = 0;

	while (at < from->n_labels && strcmp(from->labels[at].key, KAR_QUEUE_FLAVOR_LABEL) < 0)
		at++;
	if (at)
		memcpy(labels, from->labels, at * sizeof(*labels));
	labels[at] = (struct kar_sched_label){ KAR_QUEUE_FLAVOR_LABEL, flavor };
	if (at < from->n_labels)
		memcpy(&labels[at + 1], &from->labels[at], (from->n_labels - at) * sizeof(*labels));
	return labels;
}

static void offer(struct kar_snapshot *s, const struct kar_node *node)
{
	struct kar_arena a = { 0 };
	const struct kar_flavor **all;
	struct kar_node_offer with = node->offer;
	uint32_t n = s->flavors ? kar_flavors_list(s->flavors, &a, &all) : 0;
	const struct kar_flavor *f = n ? kar_flavor_of(all, n, &node->offer, NULL) : NULL;

	if (f) {
		with.labels = add_label(&node->offer, f->o.name, &a);
		with.n_labels++;
	}
	kar_sched_node(s->sched, &with);
	kar_arena_release(&a);
}

void kar_snapshot_node(struct kar_snapshot *s, const struct kar_node *old, const struct kar_node *new)
{
	if (!new &&old)
		kar_sched_node_gone(s->sched, old->offer.name);
	else if (new && !(old && kar_node_same_offer(old, new)))
		offer(s, new);
}

/* Each node has such pods: of a DaemonSet, or static ones. */
static bool is_of_node(const struct kar_pod *p)
{
	return kar_streq(p->owner_kind, "DaemonSet") || kar_streq(p->owner_kind, "Node");
}

/* The pod takes room and is counted (@n 1), or no longer (@n -1). */
static void count(struct kar_snapshot *s, const struct kar_pod *p, int32_t n)
{
	const char *node = p && p->needs ? kar_pod_room(p) : NULL;
	struct kar_arena a = { 0 };
	const struct kar_pod_needs *needs;

	if (!p || !p->needs)
		return;
	needs = needs_of(s, p, p->needs, &a);
	if (n > 0)
		count_pod(s, needs);
	if (node && n < 0 && is_of_node(p))
		kar_sched_take_own(s->sched, node, n);
	if (node)
		kar_sched_take(s->sched, node, class_of(s, needs), n);
	if (node && n > 0 && is_of_node(p))
		kar_sched_take_own(s->sched, node, n);
	if (n < 0)
		uncount_pod(s, needs);
	kar_arena_release(&a);
}

/* Are they in the same sets? */
static bool has_same_labels(const struct kar_snapshot *s, const struct kar_pod *a, const struct kar_pod *b)
{
	if (!kar_rules_any(s->rules))
		return true;
	return kar_pod_more_labels(a) == kar_pod_more_labels(b) && !a->deletion == !b->deletion &&
		a->group == b->group && a->labelled == b->labelled && a->owner_name == b->owner_name &&
		(a->job ? a->job->task : NULL) == (b->job ? b->job->task : NULL) &&
		(a->job ? a->job->incarnation : 0) == (b->job ? b->job->incarnation : 0);
}

void kar_snapshot_pod(struct kar_snapshot *s, const struct kar_pod *old, const struct kar_pod *new)
{
	if (old && new && old->needs == new->needs && kar_pod_room(old) == kar_pod_room(new) &&
		is_of_node(old) == is_of_node(new) && has_same_labels(s, old, new))
		return;
	/* First, so that needs that stay are not idle in between. */
	count(s, new, 1);
	count(s, old, -1);
	if (s->n_idle > IDLE_MAX)
		forget_idle(s);
}

/* --- rules about other pods ------------------------------------------------------------------------ */

/* Those that are in sets that become active, or cease to be, are counted anew; all cached pods are counted now. */
static const struct kar_pod **concerned(const struct kar_snapshot *s, size_t *n, struct kar_arena *a)
{
	const struct kar_pod **all = kar_arena_alloc(a, kar_store_count(s->pods) + 1, sizeof(*all));
	const struct kar_object *o;

	*n = 0;
	for (struct kar_iter it = kar_store_all(s->pods); kar_iter_next(&it, &o);) {
		struct kar_arena scratch = { 0 };
		struct kar_rules_pod pod = describe_pod(kar_as_pod(o), &scratch);

		if (kar_rules_pend_for(s->rules, &pod))
			all[(*n)++] = kar_as_pod(o);
		kar_arena_release(&scratch);
	}
	return all;
}

bool kar_snapshot_settle_rules(struct kar_snapshot *s)
{
	struct kar_arena a = { 0 };
	const struct kar_pod **pods;
	size_t n;

	if (!s->pods || !kar_rules_are_pending(s->rules))
		return false;
	pods = concerned(s, &n, &a);
	kar_rules_hold(s->rules);
	for (size_t i = 0; i < n; i++)
		count(s, pods[i], -1);
	kar_rules_flip(s->rules);
	for (size_t i = 0; i < n; i++)
		count(s, pods[i], 1);
	kar_rules_let_go(s->rules);
	kar_arena_release(&a);
	return true;
}

static const char *label_of(const struct kar_snapshot *s, const char *node, const char *key)
{
	const struct kar_object *o = node ? kar_store_get(s->nodes, NULL, node) : NULL;
	const struct kar_node_offer *offer = o ? &kar_as_node(o)->offer : NULL;

	for (uint32_t i = 0; offer && i < offer->n_labels; i++) {
		if (strcmp(offer->labels[i].key, key) == 0)
			return offer->labels[i].value;
	}
	return NULL;
}

static bool keeps_away(const struct kar_snapshot *s, const struct kar_pod *pod, const struct kar_pod_set *of,
	const char *key, struct kar_arena *a)
{
	const struct kar_pod_needs *needs = needs_of(s, pod, pod->needs, a);

	for (uint32_t i = 0; i < needs->n_rules; i++) {
		const struct kar_pod_rule *r = &needs->rules[i];

		if (r->kind == KAR_ANTI_AFFINITY && strcmp(r->key, key) == 0 &&
			kar_shape_compare(&kar_set_shape, &r->of, of) == 0)
			return true;
	}
	return false;
}

/* The first by name. */
static const char *name_carrier(void *arg, const struct kar_pod_set *of, const char *key, const char *value,
	struct kar_arena *a)
{
	const struct kar_snapshot *s = arg;
	const char *first = NULL;
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(s->pods); kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);
		const char *name, *label;

		if (!pod->needs || !pod->needs->n_rules || !keeps_away(s, pod, of, key, a))
			continue;
		label = label_of(s, kar_pod_room(pod), key);
		if (!label || strcmp(label, value) != 0)
			continue;
		name = kar_arena_printf(a, "%s/%s", o->ns, o->name);
		first = first && strcmp(first, name) < 0 ? first : name;
	}
	return first;
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
	s->nodes = nodes;
	s->pods = pods;
	kar_sched_name_pods(s->sched, name_carrier, s);
}

static void on_flavor(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_snapshot *s = arg;
	const struct kar_object *o;

	if (old && new &&kar_flavor_same(kar_as_flavor(old), kar_as_flavor(new)))
		return;
	for (struct kar_iter it = kar_store_all(s->nodes); kar_iter_next(&it, &o);)
		offer(s, kar_as_node(o));
}

void kar_snapshot_use_flavors(struct kar_snapshot *s, struct kar_store *flavors)
{
	assert(s->nodes && !kar_store_count(flavors));
	s->flavors = flavors;
	kar_store_listen(flavors, on_flavor, s);
}

void kar_snapshot_free(struct kar_snapshot *s)
{
	struct entry *e;

	if (!s)
		return;
	while ((e = RB_ROOT(&s->entries)))
		forget(s, e);
	kar_rules_free(s->rules);
	kar_sched_free(s->sched);
	free(s);
}
