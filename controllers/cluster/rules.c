#include "controllers/cluster/rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

struct entry {
	RB_ENTRY(entry) link;
	const struct kar_pod_set *set; /* shared */
	uint32_t uses;
	bool active;
	bool becomes;  /* while the sets are .held: .active after the flip */
	bool left_out; /* there are too many */
};
RB_HEAD(entries, entry);

struct kar_rules {
	struct kar_intern *strings;
	struct entries entries; /* in use or active */
	size_t n_active, n_pending;
	bool held; /* nothing is dropped: pods are counted again */
};

static int compare(const struct entry *a, const struct entry *b)
{
	return kar_shape_compare(&kar_set_shape, a->set, b->set);
}

RB_GENERATE_INTERNAL(entries, entry, link, compare, KAR_UNUSED static)

struct kar_rules *kar_rules_new(struct kar_intern *strings)
{
	struct kar_rules *r = kar_xcalloc(1, sizeof(*r));

	r->strings = strings;
	return r;
}

static void drop(struct kar_rules *r, struct entry *e)
{
	RB_REMOVE(entries, &r->entries, e);
	kar_share_put(r->strings, e->set);
	free(e);
}

void kar_rules_free(struct kar_rules *r)
{
	struct entry *e;

	while (r && (e = RB_ROOT(&r->entries)))
		drop(r, e);
	free(r);
}

static bool is_pending(const struct entry *e)
{
	return e->active != (e->uses > 0 && !e->left_out);
}

static void use(struct kar_rules *r, const struct kar_pod_set *set, int by)
{
	struct entry key = { .set = set }, *e = RB_FIND(entries, &r->entries, &key);

	if (!e) {
		e = kar_xcalloc(1, sizeof(*e));
		e->set = kar_share_get(r->strings, &kar_set_shape, set);
		RB_INSERT(entries, &r->entries, e);
	}
	r->n_pending -= is_pending(e);
	assert(by > 0 || e->uses);
	e->uses += by > 0 ? 1 : UINT32_MAX;
	r->n_pending += is_pending(e);
	if (!e->uses && !e->active && !r->held)
		drop(r, e);
}

void kar_rules_use(struct kar_rules *r, const struct kar_pod_needs *needs, bool unsure, int by)
{
	for (uint32_t i = 0; i < needs->n_rules; i++) {
		if (needs->rules[i].of.unsure == unsure)
			use(r, &needs->rules[i].of, by);
	}
}

bool kar_rules_are_pending(const struct kar_rules *r)
{
	return r->n_pending;
}

bool kar_rules_any(const struct kar_rules *r)
{
	return r->n_active;
}

static bool has(const struct entry *e, const struct kar_rules_pod *pod)
{
	return kar_pod_set_has(e->set, pod->ns, pod->labels, pod->n_labels, pod->dying);
}

bool kar_rules_pend_for(const struct kar_rules *r, const struct kar_rules_pod *pod)
{
	struct entry *e;

	RB_FOREACH(e, entries, (struct entries *)(uintptr_t)&r->entries) {
		if (is_pending(e) && has(e, pod))
			return true;
	}
	return false;
}

void kar_rules_hold(struct kar_rules *r)
{
	struct entry *e;
	size_t n = 0;

	r->held = true;
	RB_FOREACH(e, entries, &r->entries) {
		e->becomes = e->uses > 0 && n < KAR_RULES_ACTIVE;
		e->left_out = e->uses > 0 && !e->becomes;
		n += e->becomes;
	}
}

void kar_rules_flip(struct kar_rules *r)
{
	struct entry *e;

	assert(r->held);
	r->n_active = 0;
	RB_FOREACH(e, entries, &r->entries) {
		e->active = e->becomes;
		r->n_active += e->active;
	}
}

void kar_rules_let_go(struct kar_rules *r)
{
	struct entry *e, *next;

	r->held = false;
	r->n_pending = 0;
	for (e = RB_MIN(entries, &r->entries); e; e = next) {
		next = RB_NEXT(entries, &r->entries, e);
		r->n_pending += is_pending(e);
		if (!e->uses && !e->active)
			drop(r, e);
	}
}

/* --- one pod --------------------------------------------------------------------------------------- */

/* In its own namespace means in this one. */
static const struct kar_pod_rule *resolve(const struct kar_pod_needs *needs, const char *ns,
	struct kar_arena *a)
{
	struct kar_pod_rule *rules = kar_arena_alloc(a, needs->n_rules, sizeof(*rules));
	const char **own = kar_arena_alloc(a, 1, sizeof(*own));

	*own = ns;
	memcpy(rules, needs->rules, needs->n_rules * sizeof(*rules));
	for (uint32_t i = 0; i < needs->n_rules; i++) {
		if (!rules[i].of.own)
			continue;
		rules[i].of.own = false;
		rules[i].of.namespaces = own;
		rules[i].of.n_namespaces = 1;
	}
	return rules;
}

static void add_set(struct kar_pod_needs *to, const struct kar_pod_set *set, struct kar_arena *a)
{
	struct kar_pod_set *sets = (struct kar_pod_set *)(uintptr_t)to->sets;

	sets = kar_arena_grow(a, sets, to->n_sets, sizeof(*sets));
	sets[to->n_sets++] = *set;
	to->sets = sets;
}

const struct kar_pod_needs *kar_rules_apply(const struct kar_rules *r, const struct kar_pod_needs *needs,
	const struct kar_rules_pod *pod, struct kar_arena *a)
{
	static const char others[] = "anti-affinity of other pods";
	struct kar_pod_needs *out;
	bool kept_off = false;
	struct entry *e;

	if (!needs->n_rules && !r->n_active)
		return needs;
	out = kar_arena_alloc(a, 1, sizeof(*out));
	*out = *needs;
	if (needs->n_rules)
		out->rules = resolve(needs, pod->ns, a);
	RB_FOREACH(e, entries, (struct entries *)(uintptr_t)&r->entries) {
		if (!e->active || !has(e, pod))
			continue;
		kept_off |= e->set->unsure || out->n_sets == KAR_RULES_OF_POD;
		if (!e->set->unsure && out->n_sets < KAR_RULES_OF_POD)
			add_set(out, e->set, a);
	}
	if (kept_off)
		out->unverified =
			needs->unverified ? kar_arena_printf(a, "%s, %s", needs->unverified, others) : others;
	return needs->n_rules || out->n_sets || kept_off ? out : needs;
}
