/*
 * The levels of a topology: a gang goes into the domain with the least room that holds it, else into one of the next wider level, and inside a
 * domain it fills as few of the narrower ones as it can, in slices and in equal parts if it asks for these.
 */
#include "common/sched/impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/sched/amounts.h"

enum { DOMAINS_TRIED = 8 };

/* --- inside a domain -------------------------------------------------------------------------------- */

/* Of those that are left, the smallest that holds all of @left; else the largest. Of equals the first by name. */
static uint32_t choose(const struct sched_ranked *all, uint32_t n, int32_t left)
{
	uint32_t i = 0;

	while (i < n && all[i].copies < left)
		i++;
	if (i < n)
		return i;
	for (i = n - 1; i > 0 && all[i - 1].copies == all[n - 1].copies;)
		i--;
	return i;
}

int32_t sched_fill_packed(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	const struct sched_try scope = *t;
	bool sliced = sched_is_sliced(t);
	struct sched_ranked *all;
	int32_t left = n;
	uint32_t below, n_all;

	if (t->depth == w->n_labels || n <= 0)
		return sched_fill_level(t, role, n);
	below = sched_key(t->s, w->labels, t->depth + 1);
	all = sched_domains_inside(t, t->depth + 1, t->gang->roles[role].class, sliced, &n_all);
	while (left > 0 && n_all > 0) {
		uint32_t i = choose(all, n_all, left);

		t->key = below;
		t->domain = all[i].domain;
		t->depth = scope.depth + 1;
		left -= sched_fill_packed(t, role, all[i].copies < left ? (int32_t)all[i].copies : left);
		memmove(&all[i], &all[i + 1], (--n_all - i) * sizeof(*all));
	}
	t->key = scope.key;
	t->domain = scope.domain;
	t->depth = scope.depth;
	/* Nodes that have not the label of the next level. */
	return n - left + (left > 0 && !sliced ? sched_fill_level(t, role, left) : 0);
}

/* --- slices and equal parts ---------------------------------------------------------------------------------------- */

static void enter(struct sched_try *t, uint32_t depth, uint32_t domain)
{
	t->key = sched_key(t->s, t->gang->topology.labels, depth);
	t->domain = domain;
	t->depth = depth;
}

static void leave(struct sched_try *t, const struct sched_try *scope)
{
	t->key = scope->key;
	t->domain = scope->domain;
	t->depth = scope->depth;
}

/* Pods decide where others of the role go: slice by slice, where there is least room. */
static int32_t fill_ruled_slices(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	const struct sched_try scope = *t;
	int32_t left = n;
	uint32_t n_all;
	const struct sched_ranked *all =
		sched_domains_inside(t, w->slice_depth, t->gang->roles[role].class, false, &n_all);

	for (uint32_t i = 0; i < n_all && left > 0;) {
		int32_t size = left < w->slice_size ? left : w->slice_size;
		size_t mark = kar_sched_mark(t->s);
		uint32_t before = t->n_places;

		enter(t, w->slice_depth, all[i].domain);
		if (all[i].copies >= size && sched_fill_ruled(t, role, size) == size) {
			kar_sched_keep(t->s, mark);
			sched_sort_places(t, before);
			left -= size;
			continue;
		}
		kar_sched_undo(t->s, mark);
		t->n_places = before;
		i++;
	}
	leave(t, &scope);
	return n - left;
}

/* The last slice, which is smaller: where there is least room of all domains that hold it. */
static int32_t fill_rest(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct sched_try scope = *t;
	int32_t got = 0;
	uint32_t n_all, i = 0;
	const struct sched_ranked *all = sched_domains_inside(t, t->gang->topology.slice_depth,
		t->gang->roles[role].class, false, &n_all);

	while (i < n_all && all[i].copies < n)
		i++;
	if (i < n_all) {
		enter(t, t->gang->topology.slice_depth, all[i].domain);
		got = sched_fill_packed(t, role, n);
		leave(t, &scope);
	}
	return got;
}

/* The level whose domains get equally many; 0: none, or the scope is not wider. */
static uint32_t balanced_depth(const struct sched_try *t)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	uint32_t depth = w->slice_depth ? w->slice_depth : w->preferred ? w->preferred : w->required + 1;

	return w->balance && depth > t->depth && depth <= w->n_labels ? depth : 0;
}

static int most_first(const void *a, const void *b)
{
	const struct sched_ranked *x = a, *y = b;

	if (x->copies != y->copies)
		return x->copies > y->copies ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Do the first @k have room for equal parts of @n, of which some may have one more? */
static bool holds_parts(const struct sched_ranked *all, uint32_t k, int64_t n, int64_t unit)
{
	bool holds = true;

	for (uint32_t i = 0; i < k && holds; i++)
		holds = all[i].copies / unit >= n / k + (i < n % k);
	return holds;
}

/* In equal parts, over the fewest domains with which that is possible; 0: it is not. */
static int32_t fill_balanced(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct sched_try scope = *t;
	uint32_t depth = balanced_depth(t), n_all, k = 1;
	int32_t unit = sched_is_sliced(t) ? t->gang->topology.slice_size : 1, got = 0;
	struct sched_ranked *all;

	if (!depth || n <= 0)
		return 0;
	all = sched_domains_inside(t, depth, t->gang->roles[role].class, sched_is_sliced(t), &n_all);
	qsort(all, n_all, sizeof(*all), most_first);
	while (k <= n_all && !holds_parts(all, k, n / unit, unit))
		k++;
	for (uint32_t i = 0; i < k && k <= n_all; i++) {
		int32_t units = n / unit, part = units / (int32_t)k + ((int32_t)i < units % (int32_t)k);

		enter(t, depth, all[i].domain);
		got += part ? sched_fill_packed(t, role, part * unit) : 0;
	}
	leave(t, &scope);
	return got;
}

static int32_t fill_some(struct sched_try *t, uint32_t role, int32_t n)
{
	int32_t got = fill_balanced(t, role, n);

	return got ? got : sched_fill_packed(t, role, n);
}

int32_t sched_fill_by_wish(struct sched_try *t, uint32_t role, int32_t n)
{
	bool sliced = sched_is_sliced(t);
	int32_t whole = sliced ? n - n % t->gang->topology.slice_size : n, got;
	uint32_t from = t->n_places;

	if (sched_is_ruled(&t->s->classes[t->gang->roles[role].class])) {
		got = sliced ? fill_ruled_slices(t, role, n) : sched_fill_ruled(t, role, n);
		if (!sliced)
			sched_sort_places(t, from);
		return got;
	}
	got = fill_some(t, role, whole);
	sched_sort_places(t, from);
	if (got < whole || whole == n)
		return got;
	from = t->n_places;
	got += fill_rest(t, role, n - whole);
	sched_sort_places(t, from);
	return got;
}

/* --- which domain ----------------------------------------------------------------------------------- */

/* Several roles may be one class. */
static int64_t asked_of_class(const struct kar_gang *gang, kar_class class, bool later)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < gang->n_roles; i++) {
		if (gang->roles[i].class == class)
			n += (int64_t)gang->roles[i].need + (later ? gang->roles[i].later : 0);
	}
	return n;
}

/* Is the domain with this path the one that alone is looked at, or in it? */
static bool is_inside(const struct sched_try *t, const char *path)
{
	const char *only = t->gang->topology.inside;
	size_t n = only ? strlen(only) : 0;

	return !only || (strncmp(path, only, n) == 0 && (!path[n] || path[n] == '/'));
}

/* The domains with enough of each role (@later: for what may come later as well), the one with the least room first; in the arena. */
static struct sched_ranked *domains_that_may_do(struct sched_try *t, bool later, uint32_t *n)
{
	const struct sched_key *k = &t->s->keys[t->key];
	struct sched_ranked *all = kar_arena_alloc(t->a, k->n + 1, sizeof(*all));

	*n = 0;
	for (t->domain = 0; t->domain < k->n; t->domain++) {
		int64_t copies = 0;
		bool enough = k->first[t->domain] != SCHED_NONE && is_inside(t, k->values[t->domain]);

		for (uint32_t i = 0; i < t->gang->n_roles && enough; i++) {
			const struct kar_role *r = &t->gang->roles[i];
			int64_t of_role = sched_total(t, r->class);

			enough = of_role >= asked_of_class(t->gang, r->class, later) &&
				sched_may_hold(t, r->class, r->need);
			copies += of_role;
		}
		if (enough)
			all[(*n)++] = (struct sched_ranked){ t->domain, copies, k->values[t->domain] };
	}
	qsort(all, *n, sizeof(*all), sched_compare_room);
	return all;
}

static bool place_in_one_of(struct sched_try *t, uint32_t depth, bool later, struct kar_placement *out)
{
	bool proved = true;
	uint32_t n;
	const struct sched_ranked *all = domains_that_may_do(t, later, &n);

	for (uint32_t i = 0; i < n && i < DOMAINS_TRIED; i++) {
		t->domain = all[i].domain;
		if (sched_place_in_scope(t, out)) {
			out->domain = all[i].path;
			out->depth = depth;
			return true;
		}
		proved &= out->proved;
	}
	out->proved = proved && n <= DOMAINS_TRIED;
	return false;
}

static bool place_at_depth(struct sched_try *t, uint32_t depth, struct kar_placement *out)
{
	bool grows = false;

	t->depth = depth;
	t->key = sched_key(t->s, t->gang->topology.labels, depth);
	for (uint32_t i = 0; i < t->gang->n_roles; i++)
		grows |= t->gang->roles[i].later > 0;
	return (grows && place_in_one_of(t, depth, true, out)) || place_in_one_of(t, depth, false, out);
}

bool sched_place_by_wish(struct sched_try *t, struct kar_placement *out)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	uint32_t depth = w->preferred > w->required ? w->preferred : w->required;

	assert(w->n_labels <= KAR_SCHED_LEVELS && depth <= w->n_labels);
	for (; depth > 0; depth--) {
		if (place_at_depth(t, depth, out))
			return true;
		if (depth == w->required)
			return false;
	}
	t->depth = 0;
	t->key = t->domain = SCHED_NONE;
	return sched_place_in_scope(t, out);
}

/* --- on empty nodes --------------------------------------------------------------------------------- */

/* How many of the pods that the role needs have no place on the empty nodes of the domain. */
static int64_t missing_in(struct kar_sched *s, const struct kar_gang *gang, const struct kar_role *role,
	const struct sched_key *k, uint32_t domain)
{
	const struct sched_class *c = &s->classes[role->class];
	int64_t left = role->need;

	if (gang->topology.slice_depth > k->n_labels)
		return sched_missing_slices(s, gang, role, (uint32_t)(k - s->keys), domain);
	for (uint32_t i = k->first[domain]; i != SCHED_NONE && left > 0; i = k->next[i]) {
		if (sched_may_suit(&s->nodes[i].offer, c->needs))
			left -= sched_copies(s, c, i, true);
	}
	return left > 0 ? left : 0;
}

static int64_t offered_in(const struct kar_sched *s, const struct sched_key *k, uint32_t domain,
	uint32_t resource)
{
	int64_t all = 0;

	for (uint32_t i = k->first[domain]; i != SCHED_NONE; i = k->next[i])
		all += sched_allocatable(s, i, resource);
	return all;
}

/* A resource of which all roles together ask for more than the domain has; SCHED_NONE: there is none. */
static uint32_t exceeded_in(const struct kar_sched *s, const struct kar_gang *gang, const struct sched_key *k,
	uint32_t domain)
{
	for (uint32_t r = 0; gang->n_roles > 1 && r < s->n_resources; r++) {
		int64_t asked = sched_asked_in_all(s, gang, r);

		if (asked > 0 && offered_in(s, k, domain, r) < asked)
			return r;
	}
	return SCHED_NONE;
}

static int64_t count_unlabelled(const struct kar_sched *s, const struct sched_key *k)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		n += s->nodes[i].known && k->domain[i] == SCHED_NONE;
	return n;
}

struct sched_largest sched_largest_domain(struct kar_sched *s, const struct kar_gang *gang)
{
	struct sched_largest out = { .key = sched_key(s, gang->topology.labels, gang->topology.required),
		.domain = SCHED_NONE,
		.holds = -1 };
	const struct sched_key *k = &s->keys[out.key];

	for (uint32_t d = 0; d < k->n; d++) {
		int64_t holds = 0, missing = 0;

		for (uint32_t i = 0; i < gang->n_roles && k->first[d] != SCHED_NONE; i++) {
			int64_t of_role = missing_in(s, gang, &gang->roles[i], k, d);

			missing += of_role;
			holds += gang->roles[i].need - of_role;
		}
		if (k->first[d] == SCHED_NONE)
			continue;
		out.fits |= !missing && exceeded_in(s, gang, k, d) == SCHED_NONE;
		if (holds < out.holds ||
			(holds == out.holds && strcmp(k->values[d], k->values[out.domain]) > 0))
			continue;
		out.holds = holds;
		out.domain = d;
	}
	out.unlabelled = count_unlabelled(s, k);
	return out;
}

static bool could_hold(struct kar_sched *s, const struct kar_gang *gang, const struct sched_key *k,
	uint32_t domain)
{
	bool holds = k->first[domain] != SCHED_NONE;

	for (uint32_t i = 0; i < gang->n_roles && holds; i++)
		holds = !missing_in(s, gang, &gang->roles[i], k, domain);
	return holds && exceeded_in(s, gang, k, domain) == SCHED_NONE;
}

uint32_t kar_sched_domains_for(struct kar_sched *s, const struct kar_gang *gang, uint32_t most,
	struct kar_arena *a, const char **out)
{
	uint32_t key = sched_key(s, gang->topology.labels, gang->topology.required), n = 0;
	const struct sched_key *k = &s->keys[key];
	struct sched_ranked *all = kar_arena_alloc(a, k->n + 1, sizeof(*all));

	for (uint32_t d = 0; d < k->n; d++) {
		if (!could_hold(s, gang, k, d))
			continue;
		all[n] = (struct sched_ranked){ .domain = d, .path = k->values[d] };
		for (uint32_t i = 0; i < gang->n_roles; i++) {
			int64_t room = sched_hot(s, gang->roles[i].class)->domain_total[key][d];

			all[n].copies -= room < gang->roles[i].need ? room : gang->roles[i].need;
		}
		n++;
	}
	qsort(all, n, sizeof(*all), sched_compare_room); /* room was subtracted: most of it comes first */
	for (uint32_t i = 0; i < n && i < most; i++)
		out[i] = kar_arena_printf(a, "%s", all[i].path);
	return n < most ? n : most;
}

const char *kar_sched_domain_of(struct kar_sched *s, const struct kar_topology_wish *w, const char *node)
{
	const struct sched_key *k = &s->keys[sched_key(s, w->labels, w->required)];
	uint32_t i = sched_find_node(s, node);

	return i != SCHED_NONE && k->domain[i] != SCHED_NONE ? k->values[k->domain[i]] : NULL;
}

static int64_t needed(const struct kar_gang *gang)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < gang->n_roles; i++)
		n += gang->roles[i].need;
	return n;
}

/* The number of the first label of the path that the node has not; .n_labels: it has all. */
static uint32_t first_missing(const struct sched_key *k, const struct sched_node *node)
{
	uint32_t i = 0;

	while (i < k->n_labels && sched_label(node, k->labels[i]))
		i++;
	return i;
}

/* "; 3 nodes have no label a or b": each of them lacks one of these first. */
static void put_unlabelled(const struct kar_sched *s, const struct sched_key *k, int64_t n,
	struct kar_buf *out)
{
	bool lacks[KAR_SCHED_LEVELS + 1] = { false }, more = false;

	if (!n)
		return;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (s->nodes[i].known)
			lacks[first_missing(k, &s->nodes[i])] = true;
	}
	kar_buf_printf(out, "; %" PRId64 " node%s no label ", n, n == 1 ? " has" : "s have");
	for (uint32_t i = 0; i < k->n_labels; i++) {
		if (!lacks[i])
			continue;
		kar_buf_printf(out, "%s%s", more ? " or " : "", k->labels[i]);
		more = true;
	}
}

void sched_explain_no_domain(struct kar_sched *s, const struct kar_gang *gang, struct kar_buf *out)
{
	const struct sched_key *k = &s->keys[sched_key(s, gang->topology.labels, gang->topology.required)];
	uint32_t depth = 0;
	bool some = false;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		uint32_t n = s->nodes[i].known ? first_missing(k, &s->nodes[i]) : 0;

		depth = n > depth ? n : depth;
	}
	assert(depth < k->n_labels);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		some |= s->nodes[i].known && sched_label(&s->nodes[i], k->labels[depth]);
	kar_buf_printf(out, "no node%s%s has label %s", some ? " that has label " : "",
		some ? k->labels[depth - 1] : "", k->labels[depth]);
}

/* The pods of each role fit, and not all together: of the domains with too little the one that has most; of equals the first by name. */
static uint32_t most_of(const struct kar_sched *s, const struct sched_key *k, uint32_t r, int64_t asked)
{
	uint32_t best = SCHED_NONE;
	int64_t most = -1;

	for (uint32_t d = 0; d < k->n; d++) {
		int64_t has = k->first[d] == SCHED_NONE ? INT64_MAX : offered_in(s, k, d, r);

		if (has >= asked || has < most || (has == most && strcmp(k->values[d], k->values[best]) > 0))
			continue;
		most = has;
		best = d;
	}
	return best;
}

/* No domain is large enough. */
static const char *put_largest(const struct kar_sched *s, const struct kar_gang *gang,
	const struct sched_largest *l, struct kar_buf *out)
{
	const struct sched_key *k = &s->keys[l->key];
	const char *label = gang->topology.labels[gang->topology.required - 1], *path = k->values[l->domain];
	uint32_t r = l->holds == needed(gang) && !l->fits ? exceeded_in(s, gang, k, l->domain) : SCHED_NONE;

	if (r == SCHED_NONE) {
		kar_buf_printf(out, "largest %s holds %" PRId64 " of %" PRId64 " pods", label, l->holds,
			needed(gang));
		if (gang->topology.slice_depth > gang->topology.required) {
			kar_buf_puts(out, ", ");
			sched_put_slices(&gang->topology, out);
			kar_buf_puts(out, ",");
		}
		kar_buf_printf(out, " on empty nodes (%s)", path);
	} else {
		const char *resource = s->resources[r].name;
		int64_t asked = sched_asked_in_all(s, gang, r);
		uint32_t d = most_of(s, k, r, asked);
		char wants[KAR_AMOUNT_TEXT], has[KAR_AMOUNT_TEXT];

		assert(d != SCHED_NONE);
		path = k->values[d];
		kar_buf_printf(out, "all pods together ask for %s %s, %s %s has %s",
			kar_amount_text(resource, asked, true, wants), resource, label, path,
			kar_amount_text(resource, offered_in(s, k, d, r), false, has));
	}
	put_unlabelled(s, k, l->unlabelled, out);
	return path;
}

struct kar_sched_why sched_explain_largest(struct kar_sched *s, const struct kar_gang *gang,
	struct kar_arena *a)
{
	const struct sched_largest l = sched_largest_domain(s, gang);
	struct kar_sched_why why = { .placed = l.holds, .fits = l.fits, .unlabelled = l.unlabelled };
	struct kar_buf out = { 0 };
	char text[SCHED_WHY_BYTES];

	if (l.domain == SCHED_NONE) {
		why.placed = 0;
		sched_explain_no_domain(s, gang, &out);
	} else {
		why.domain = kar_arena_printf(a, "%s", put_largest(s, gang, &l, &out));
	}
	kar_text_printf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	why.text = kar_arena_printf(a, "%s", text);
	return why;
}
