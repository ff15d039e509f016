/* Why a gang does not fit, with the arithmetic. */
#include "common/sched/impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/sched/amounts.h"

enum { MAX_REASONS = 64 };

/* Nodes that have the same obstacle. */
struct reason {
	enum kar_obstacle obstacle;
	const char *what; /* key of the taint, name of the resource; NULL: neither */
	int64_t n;        /* nodes */
	int64_t missing;  /* of the resource: the least that a node lacks */
	/* Of KAR_UNLIKED_THERE: where the first pod is looked for that keeps others away; .differ: there are more such places. */
	const struct sched_spot *spot;
	uint32_t node;
	bool differ;
};

struct reasons {
	struct reason all[MAX_REASONS];
	uint32_t n;
};

/* Who is looked at in the place of the pods that are missing. */
struct looking {
	const struct kar_sched *s;
	const struct sched_class *c;
	const struct sched_spread *spread; /* NULL: none */
	bool empty;                        /* as if the nodes were */
	struct kar_arena *a;
};

/* NULL: it has no room any more. */
static struct reason *add_reason(struct reasons *r, enum kar_obstacle o, const char *what, int64_t missing)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct reason *x = &r->all[i];

		if (x->obstacle != o || (what && (!x->what || strcmp(x->what, what) != 0)))
			continue;
		x->n++;
		if (missing < x->missing)
			x->missing = missing;
		return x;
	}
	if (r->n == MAX_REASONS) /* the text ends long before */
		return NULL;
	r->all[r->n] = (struct reason){ .obstacle = o, .what = what, .n = 1, .missing = missing };
	return &r->all[r->n++];
}

/* A pod there, or in the domain of the node, keeps others away. */
static void note_place(const struct kar_sched *s, struct reason *x, const struct sched_spot *spot,
	uint32_t node)
{
	if (!x || !spot)
		return;
	if (!x->spot) {
		x->spot = spot;
		x->node = node;
	}
	x->differ |= x->spot != spot ||
		sched_label(&s->nodes[x->node], spot->key) != sched_label(&s->nodes[node], spot->key);
}

/* What one more pod finds on the node; @empty: beside as many of its class as have room there, and no others. */
static int64_t room_on(const struct kar_sched *s, const struct sched_class *c, uint32_t node,
	const struct sched_share *x, bool empty)
{
	int64_t room = empty
		? sched_allocatable(s, node, x->resource) - x->amount * sched_copies(s, c, node, true)
		: sched_free(s, node, x->resource);

	return room > 0 ? room : 0;
}

/* The resource of which the largest part of the request is missing; SCHED_NONE: none is. */
static uint32_t shortest(const struct kar_sched *s, const struct sched_class *c, uint32_t node, bool empty,
	int64_t *missing)
{
	uint32_t found = SCHED_NONE;
	double worst = 0;

	for (uint32_t i = 0; i < c->n_shares; i++) {
		int64_t room = room_on(s, c, node, &c->shares[i], empty), lacks;

		lacks = c->shares[i].amount - room;
		if (lacks <= 0 || (double)lacks / (double)c->shares[i].amount <= worst)
			continue;
		worst = (double)lacks / (double)c->shares[i].amount;
		found = c->shares[i].resource;
		*missing = lacks;
	}
	return found;
}

/* "node" of kubernetes.io/hostname, else the label. */
static const char *domain_name(const char *key)
{
	return strcmp(key, KAR_HOSTNAME_LABEL) == 0 ? "node" : key;
}

/* What other pods have against one more of the class on the node. */
static enum kar_obstacle examine_rules(const struct looking *l, uint32_t node, const char **what,
	const struct sched_spot **there)
{
	const struct sched_class *c = l->c;
	const struct sched_rule *rule = NULL, *spread;
	const struct sched_spot *spot = NULL;
	enum kar_obstacle o = sched_rule_obstacle(l->s, c, node, &rule, &spot);

	if (o == KAR_UNLIKED_THERE)
		*there = spot;
	else if (o != KAR_FITS)
		*what = domain_name(rule->spot->key);
	if (o != KAR_FITS || !l->spread)
		return o;
	spread = sched_spread_obstacle(l->spread, node);
	*what = spread ? domain_name(spread->spot->key) : NULL;
	return spread ? KAR_SPREAD_TOO_FAR : KAR_FITS;
}

/* Were the nodes empty: the rule by which the copies on all of them are few. */
static enum kar_obstacle examine_own_rules(const struct sched_class *c, const char **what)
{
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind != KAR_ANTI_AFFINITY || !c->rules[i].self)
			continue;
		*what = domain_name(c->rules[i].spot->key);
		return KAR_TAKEN;
	}
	return KAR_FITS;
}

static void examine(const struct looking *l, uint32_t node, struct reasons *r)
{
	const struct kar_sched *s = l->s;
	const struct sched_class *c = l->c;
	bool empty = l->empty;
	const struct kar_node_offer *offer = &s->nodes[node].offer;
	const char *what = NULL;
	enum kar_obstacle o = empty ? kar_sched_match_at_best(offer, c->needs, &what)
				    : kar_sched_match(offer, c->needs, &what);
	const struct sched_spot *spot = NULL;
	int64_t missing = 0;
	uint32_t resource;

	if (o != KAR_FITS) {
		add_reason(r, o, what, 0);
		return;
	}
	resource = empty && sched_copies(s, c, node, true) > 0 && examine_own_rules(c, &what) != KAR_FITS
		? SCHED_NONE
		: shortest(s, c, node, empty, &missing);
	if (c->unknown)
		add_reason(r, KAR_LACKS_ROOM, c->unknown->resource, c->unknown->amount);
	else if (resource != SCHED_NONE)
		add_reason(r, KAR_LACKS_ROOM, s->resources[resource].name, missing);
	else if (what)
		add_reason(r, KAR_TAKEN, what, 0);
	else if (empty || sched_copies(s, c, node, false) <= 0)
		add_reason(r, KAR_PORT_IN_USE, NULL, 0);
	else if ((o = examine_rules(l, node, &what, &spot)) != KAR_FITS)
		note_place(s, add_reason(r, o, what, 0), spot, node);
}

static int most_nodes_first(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	if (x->obstacle != y->obstacle)
		return x->obstacle > y->obstacle ? -1 : 1; /* room first: it is what changes */
	return x->what && y->what ? strcmp(x->what, y->what) : 0;
}

/* "37 lack cpu (short 3)"; what stands first says that these are nodes. */
static void put_lack(const struct reason *x, int64_t pods, bool first, struct kar_buf *out)
{
	const char *nodes = !first ? "" : x->n == 1 ? " node" : " nodes";
	char text[KAR_AMOUNT_TEXT];
	int64_t all;

	if (__builtin_mul_overflow(x->missing, pods, &all))
		all = INT64_MAX;
	kar_buf_printf(out, "%" PRId64 "%s %s %s (short %s)", x->n, nodes, x->n == 1 ? "lacks" : "lack",
		x->what, kar_amount_text(x->what, all, true, text));
}

/* A pod whose anti-affinity keeps those of the class away from the first place of the reason: its name, or NULL. */
static const char *name_carrier(const struct kar_sched *s, const struct sched_class *c,
	const struct reason *x, struct kar_arena *a)
{
	for (uint32_t i = 0; s->who && x->spot && i < c->needs->n_sets; i++) {
		for (const struct sched_spot *y = c->sets[i]->spots; y; y = y->next) {
			if (y == x->spot)
				return s->who(s->who_arg, c->sets[i]->of, y->key,
					sched_label(&s->nodes[x->node], y->key), a);
		}
	}
	return NULL;
}

/* Because of other pods. */
static void put_company(const struct looking *l, const struct reason *x, struct kar_buf *out)
{
	const char *pod = x->obstacle == KAR_UNLIKED_THERE ? name_carrier(l->s, l->c, x, l->a) : NULL;

	kar_buf_printf(out, "%" PRId64 " ", x->n);
	if (x->obstacle == KAR_TAKEN)
		kar_buf_printf(out, "taken (one copy per %s)", x->what);
	else if (x->obstacle == KAR_UNLIKED)
		kar_buf_puts(out, "excluded by its anti-affinity");
	else if (x->obstacle == KAR_LACKS_COMPANY)
		kar_buf_puts(out, "without a pod that its affinity asks for");
	else if (x->obstacle == KAR_SPREAD_TOO_FAR)
		kar_buf_printf(out, "with more copies than its topology spread allows (per %s)", x->what);
	else
		kar_buf_printf(out, "excluded by anti-affinity of %s%s", pod ? pod : "other pods",
			pod && x->differ ? " and others" : "");
}

static void put_reason(const struct looking *l, const struct reason *x, int64_t pods, bool first,
	struct kar_buf *out)
{
	static const char *const texts[KAR_N_OBSTACLES] = { [KAR_OTHER_NODE] = "other than spec.nodeName",
		[KAR_NOT_READY] = "not ready",
		[KAR_CORDONED] = "cordoned",
		[KAR_EXCLUDED] = "excluded by nodeSelector or affinity" };

	if (x->obstacle == KAR_LACKS_ROOM)
		put_lack(x, pods, first, out);
	else if (x->obstacle == KAR_TAINTED)
		kar_buf_printf(out, "%" PRId64 " tainted (%s)", x->n, x->what);
	else if (x->obstacle == KAR_PORT_IN_USE)
		kar_buf_printf(out, "%" PRId64 " with host port %" PRId32 " in use", x->n,
			l->c->needs->ports[0].port);
	else if (x->obstacle >= KAR_TAKEN)
		put_company(l, x, out);
	else
		kar_buf_printf(out, "%" PRId64 " %s", x->n, texts[x->obstacle]);
}

static bool in_scope(const struct sched_try *t, uint32_t node)
{
	const struct sched_node *n = &t->s->nodes[node];

	return n->known && (t->domain == SCHED_NONE || t->s->keys[t->key].domain[node] == t->domain);
}

static int64_t asked_of(const struct sched_class *c, const char *resource)
{
	for (uint32_t i = 0; i < c->needs->n_amounts; i++) {
		if (strcmp(c->needs->amounts[i].resource, resource) == 0)
			return c->needs->amounts[i].amount;
	}
	return 1; /* pods, of which each asks for one */
}

/* What most nodes lack, and whether there is another obstacle than that. */
static void sum_up(const struct reasons *r, const struct sched_class *c, struct kar_sched_why *why)
{
	why->only_room = true;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct reason *x = &r->all[i];

		why->only_room &= x->obstacle == KAR_LACKS_ROOM;
		if (x->obstacle != KAR_LACKS_ROOM || why->resource)
			continue;
		why->resource = x->what;
		why->asked = asked_of(c, x->what);
		why->free = why->asked - x->missing;
	}
}

/* What stands in the way of @pods more pods of the role, where the others have been placed. */
static void put_obstacles(struct sched_try *t, uint32_t role, int64_t pods, bool empty,
	struct kar_sched_why *why, struct kar_buf *out)
{
	const struct sched_class *c = &t->s->classes[t->gang->roles[role].class];
	struct reasons *r = kar_arena_alloc(t->a, 1, sizeof(*r));
	const struct looking l = { .s = t->s,
		.c = c,
		.spread = empty ? NULL : sched_spread(t->s, c, t->a),
		.empty = empty,
		.a = t->a };

	for (uint32_t i = 0; i < t->s->n_nodes; i++) {
		if (in_scope(t, i))
			examine(&l, i, r);
	}
	qsort(r->all, r->n, sizeof(r->all[0]), most_nodes_first);
	for (uint32_t i = 0; i < r->n; i++) {
		kar_buf_puts(out, i ? ", " : "");
		put_reason(&l, &r->all[i], pods, !i, out);
	}
	sum_up(r, c, why);
}

/* "role w (cpu 4, memory 1Gi): " */
static void put_role(struct sched_try *t, uint32_t role, const char *const *names, struct kar_buf *out)
{
	const struct kar_pod_needs *needs = t->s->classes[t->gang->roles[role].class].needs;
	char text[KAR_AMOUNT_TEXT];

	if (t->gang->n_roles < 2 || !names)
		return;
	kar_buf_printf(out, "role %s (", names[role]);
	for (uint32_t i = 0; i < needs->n_amounts; i++)
		kar_buf_printf(out, "%s%s %s", i ? ", " : "", needs->amounts[i].resource,
			kar_amount_text(needs->amounts[i].resource, needs->amounts[i].amount, true, text));
	kar_buf_puts(out, needs->n_amounts ? "): " : "no requests): ");
}

/* Places as many as fit, in the order of size. Returns how many; *@role becomes the one with most pods missing, *@missing how many. */
static int64_t place_some(struct sched_try *t, uint32_t *role, int64_t *missing)
{
	const uint32_t *order = sched_order_by_size(t);
	int64_t placed = 0;

	*missing = 0;
	sched_seed_largest(t);
	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		int32_t need = t->gang->roles[order[i]].need, n = sched_fill(t, order[i], need);

		placed += n;
		if (need - n <= *missing)
			continue;
		*missing = need - n;
		*role = order[i];
	}
	t->seed_key = NULL;
	return placed;
}

static bool goes_before(const struct sched_try *t, uint32_t a, uint32_t b)
{
	const struct sched_key *k = &t->s->keys[t->key];

	return strcmp(k->values[a], k->values[b]) < 0;
}

/* The domain in which most pods find a place, of several the first by name; SCHED_NONE: there is none. */
static uint32_t best_domain(struct sched_try *t)
{
	uint32_t best = SCHED_NONE, role = 0, n = t->s->keys[t->key].n;
	int64_t most = -1, missing;

	for (t->domain = 0; t->domain < n; t->domain++) {
		size_t mark = kar_sched_mark(t->s);
		int64_t placed;

		if (t->s->keys[t->key].first[t->domain] == SCHED_NONE) {
			kar_sched_keep(t->s, mark);
			continue; /* no node is in it any more */
		}
		placed = place_some(t, &role, &missing);

		kar_sched_undo(t->s, mark);
		if (placed > most || (placed == most && goes_before(t, t->domain, best))) {
			most = placed;
			best = t->domain;
		}
	}
	return best;
}

/* The pods fit, the room that they hold for others does not. */
static void put_hold(struct sched_try *t, struct kar_buf *out)
{
	char text[KAR_AMOUNT_TEXT];

	kar_buf_puts(out, "no room for what the gang holds for later pods:");
	for (uint32_t i = 0; i < t->gang->n_hold; i++)
		kar_buf_printf(out, "%s %s %s", i ? "," : "", t->gang->hold[i].resource,
			kar_amount_text(t->gang->hold[i].resource, t->gang->hold[i].amount, true, text));
}

/* The label of the required level. */
static const char *narrowest(const struct kar_gang *gang)
{
	return gang->topology.labels[gang->topology.required - 1];
}

static bool is_bounded(const struct kar_gang *gang)
{
	return gang->topology.n_labels && gang->topology.required;
}

/* "each 16 in one example.com/rack: " */
static void put_slices(const struct sched_try *t, struct kar_buf *out)
{
	if (!sched_is_sliced(t))
		return;
	sched_put_slices(&t->gang->topology, out);
	kar_buf_puts(out, ": ");
}

#define ONE_ORDER "topology spreads and affinities between the pods would hold in one order only"

static void explain(struct sched_try *t, const char *const *names, struct kar_sched_why *why,
	struct kar_buf *out)
{
	size_t mark = kar_sched_mark(t->s);
	uint32_t role = 0;
	int64_t missing;

	why->placed = place_some(t, &role, &missing);
	if (t->domain != SCHED_NONE)
		kar_buf_printf(out, "domain %s=%s: ", narrowest(t->gang),
			t->s->keys[t->key].values[t->domain]);
	why->fits = !missing && !t->gang->n_hold && sched_rules_hold(t);
	if (missing) {
		put_role(t, role, names, out);
		put_slices(t, out);
		put_obstacles(t, role, missing, false, why, out);
	} else if (t->gang->n_hold) {
		put_hold(t, out);
	} else {
		kar_buf_puts(out,
			why->fits
				? "it fits"
				: "topology spreads and affinities between the pods would hold in one order only");
	}
	kar_sched_undo(t->s, mark);
}

static bool has_nodes(const struct kar_sched *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n_nodes && !any; i++)
		any = s->nodes[i].known;
	return any;
}

static const char *bound(struct kar_buf *text, struct kar_arena *a)
{
	char bounded[SCHED_WHY_BYTES];

	kar_text_printf(bounded, sizeof(bounded), "%s", kar_buf_cstr(text));
	kar_buf_release(text);
	return kar_arena_printf(a, "%s", bounded);
}

struct kar_sched_why sched_explain(struct kar_sched *s, const struct kar_gang *gang, const char *const *names,
	struct kar_arena *a)
{
	struct kar_arena own = { 0 };
	struct kar_buf text = { 0 };
	struct sched_try t = { .s = s, .gang = gang, .a = &own, .key = SCHED_NONE, .domain = SCHED_NONE };
	struct kar_sched_why why = { 0 };

	if (is_bounded(gang)) {
		t.depth = gang->topology.required;
		t.key = sched_key(s, gang->topology.labels, t.depth);
		t.domain = best_domain(&t);
	}
	if (!has_nodes(s))
		kar_buf_puts(&text, "the cluster has no nodes");
	else if (is_bounded(gang) && t.domain == SCHED_NONE)
		sched_explain_no_domain(s, gang, &text);
	else
		explain(&t, names, &why, &text);
	why.text = bound(&text, a);
	kar_arena_release(&own);
	return why;
}

struct kar_sched_why sched_explain_empty(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a)
{
	struct kar_arena own = { 0 };
	struct kar_buf text = { 0 };
	struct sched_try t = { .s = s, .gang = gang, .a = &own, .key = SCHED_NONE, .domain = SCHED_NONE };
	struct kar_sched_why why = { 0 };
	int64_t most = 0;
	uint32_t role = 0;

	if (is_bounded(gang))
		return sched_explain_largest(s, gang, a);
	for (uint32_t i = 0; i < gang->n_roles; i++) {
		int64_t missing = sched_missing_on_empty(s, gang, &gang->roles[i]);

		why.placed += gang->roles[i].need - missing;
		role = missing > most ? i : role;
		most = missing > most ? missing : most;
	}
	if (!has_nodes(s))
		kar_buf_puts(&text, "the cluster has no nodes");
	else if (most > 0) {
		put_role(&t, role, names, &text);
		put_slices(&t, &text);
		put_obstacles(&t, role, most, true, &why, &text);
	}
	why.fits = !most;
	why.text = bound(&text, a);
	kar_arena_release(&own);
	return why;
}
