/*
 * The placement engine against exhaustive search and against itself, on random small clusters. The seed is printed; KAR_SEED sets it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/sched/impl.h"
#include "test/unit/sched_words.h"

enum { SCENES = 4000, EVENTS = 4000, MAX_PODS_TRIED = 9 };

/* xorshift64* of Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" (2016). */
static uint64_t random_state;

static uint32_t draw(uint32_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

static uint64_t seed_of(const char *test)
{
	const char *given = getenv("KAR_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 20261125;

	print_message("%s: KAR_SEED=%" PRIu64 "\n", test, seed);
	random_state = seed | 1;
	return seed;
}

/* --- a random cluster and gang --------------------------------------------------------------------- */

static char *draw_node(struct kar_arena *a, uint32_t number)
{
	return kar_arena_printf(a, "n%u cpu=%u memory=%u%s%s%s @rack=r%u @host", (unsigned)number,
		(unsigned)(3 + draw(10)), (unsigned)(3 + draw(10)), draw(3) ? "" : " gpu=2",
		draw(8) ? "" : " !infra",
		draw(10)          ? ""
			: draw(2) ? " cordoned"
				  : " notready",
		(unsigned)draw(3));
}

static char *draw_needs(struct kar_arena *a)
{
	static const char *const rules[] = { "", "", "", "", "", " anti=x/host", " anti=x/rack" };

	return kar_arena_printf(a, "cpu=%u memory=%u%s%s%s%s%s%s", (unsigned)draw(5), (unsigned)draw(5),
		draw(8) ? "" : " gpu=1", draw(4) ? "" : " ~infra", draw(8) ? "" : " port=80",
		draw(8) ? "" : " on=rack=r1", draw(4) ? "" : " in=x", rules[draw(KAR_LEN(rules))]);
}

static char *draw_gang(struct kar_arena *a)
{
	uint32_t n_roles = 1 + draw(3);
	char *text = kar_arena_strndup(a, "", 0);

	for (uint32_t i = 0; i < n_roles; i++)
		text = kar_arena_printf(a, "%s%sr%u %ux%s", text, i ? "; " : "", (unsigned)i,
			(unsigned)(1 +
				draw(n_roles == 1              ? 8
						: n_roles == 2 ? 7
							       : 3)),
			draw_needs(a));
	return draw(4) ? text : kar_arena_printf(a, "%s | topology rack required", text);
}

static void draw_cluster(struct kar_sched *s, struct kar_arena *a)
{
	uint32_t n = 1 + draw(4);

	for (uint32_t i = 0; i < n; i++) {
		words_nodes(s, a, draw_node(a, i));
		if (!draw(2))
			words_taken(s, a, kar_arena_printf(a, "n%u 1x%s", (unsigned)i, draw_needs(a)));
	}
}

/* --- exhaustive search, by the definition ---------------------------------------------------------- */

struct exhaustive {
	struct kar_sched *s;
	const struct kar_gang *gang;
	const char *domain; /* value of the topology label; NULL: anywhere */
};

/* By the definition, pod class by pod class: is there one that is not to be where the other is? */
static bool pods_object(const struct kar_sched *s, uint32_t node, const struct sched_class *c)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct sched_node *n = &s->nodes[i];

		for (uint32_t t = 0; t < n->n_tallies; t++) {
			const struct sched_tally *tally = &n->tallies[t];

			for (uint32_t k = 0; k < c->needs->n_rules && !tally->spot; k++) {
				if (tally->set == c->rules[k].set &&
					sched_label(n, c->rules[k].spot->key) ==
						sched_label(&s->nodes[node], c->rules[k].spot->key))
					return true;
			}
			for (uint32_t k = 0; k < c->needs->n_sets && tally->spot; k++) {
				if (tally->set == c->sets[k] &&
					sched_label(n, tally->spot->key) ==
						sched_label(&s->nodes[node], tally->spot->key))
					return true;
			}
		}
	}
	return false;
}

static bool may_take(const struct exhaustive *x, uint32_t node, uint32_t class)
{
	const struct sched_node *n = &x->s->nodes[node];
	const struct sched_class *c = &x->s->classes[class];

	if (!n->known || kar_sched_match(&n->offer, c->needs, NULL) != KAR_FITS)
		return false;
	for (uint32_t i = 0; x->domain && i < n->offer.n_labels; i++) {
		if (strcmp(n->offer.labels[i].key, x->gang->topology.labels[0]) == 0 &&
			strcmp(n->offer.labels[i].value, x->domain) != 0)
			return false;
	}
	for (uint32_t i = 0; i < c->n_shares; i++) {
		if (sched_free(x->s, node, c->shares[i].resource) < c->shares[i].amount)
			return false;
	}
	if (pods_object(x->s, node, c))
		return false;
	for (uint32_t i = 0; i < n->n_ports; i++) {
		for (uint32_t k = 0; k < c->needs->n_ports; k++) {
			if (n->ports[i].n > 0 && kar_sched_ports_meet(&n->ports[i].port, &c->needs->ports[k]))
				return false;
		}
	}
	return true;
}

static bool try_all(const struct exhaustive *x, uint32_t role, int32_t pod, uint32_t from)
{
	if (role == x->gang->n_roles)
		return true;
	if (pod == x->gang->roles[role].need)
		return try_all(x, role + 1, 0, 0);
	for (uint32_t i = from; i < x->s->n_nodes; i++) {
		bool fits;

		if (!may_take(x, i, x->gang->roles[role].class))
			continue;
		sched_take(x->s, i, x->gang->roles[role].class, 1);
		fits = try_all(x, role, pod + 1, i);
		sched_take(x->s, i, x->gang->roles[role].class, -1);
		if (fits)
			return true;
	}
	return false;
}

static bool fits_at_all(struct kar_sched *s, const struct kar_gang *gang)
{
	static const char *const racks[] = { "r0", "r1", "r2" };
	struct exhaustive x = { s, gang, NULL };
	bool fits = false;

	if (!gang->topology.n_labels)
		return try_all(&x, 0, 0, 0);
	for (size_t i = 0; i < KAR_LEN(racks) && !fits; i++) {
		x.domain = racks[i];
		fits = try_all(&x, 0, 0, 0);
	}
	return fits;
}

/* --- checks ---------------------------------------------------------------------------------------- */

/* Room, ports, constraints and domain of each place; all pods that are needed. */
static bool is_right(struct kar_sched *s, const struct kar_gang *gang, const struct kar_placement *p)
{
	struct exhaustive x = { s, gang, p->domain };
	int32_t got[8] = { 0 };
	bool right = true;

	for (uint32_t i = 0; i < p->n_places; i++) {
		uint32_t node = sched_find_node(s, p->places[i].node),
			 class = gang->roles[p->places[i].role].class;

		for (int32_t k = 0; k < p->places[i].n; k++) {
			right &= may_take(&x, node, class);
			sched_take(s, node, class, 1);
		}
		got[p->places[i].role] += p->places[i].n;
	}
	for (uint32_t i = 0; i < gang->n_roles; i++)
		right &= got[i] == gang->roles[i].need;
	return right;
}

/* The same words make the same cluster; what was placed there is not. */
static void placement_is_as_exhaustive_search_says(void **state)
{
	uint64_t seed = seed_of("placement_is_as_exhaustive_search_says");
	uint32_t missed = 0, fitting = 0;

	(void)state;
	for (uint32_t i = 0; i < SCENES; i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct words_gang g;
		struct kar_placement p;
		bool expected, fits;
		char *gang;
		size_t mark;

		draw_cluster(s, &a);
		gang = draw_gang(&a);
		words_gang(s, &a, gang, &g);
		expected = fits_at_all(s, &g.gang);
		mark = kar_sched_mark(s);
		fits = kar_sched_place(s, &g.gang, &a, &p);
		kar_sched_undo(s, mark);
		fitting += expected;
		missed += expected && !fits;
		if ((fits && !expected) || (!fits && p.proved && expected) ||
			(fits && !kar_sched_feasible(s, &g.gang)) ||
			(kar_sched_feasible(s, &g.gang) &&
				!kar_sched_explain_empty(s, &g.gang, g.names, &a).fits) ||
			(fits && !is_right(s, &g.gang, &p)))
			fail_msg("seed %" PRIu64 ", scene %" PRIu32 ": %s: fits %d, expected %d, proved %d",
				seed, i, gang, fits, expected, p.proved);
		words_gang_put(s, &g);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
	print_message("%" PRIu32 " of %d scenes fit, %" PRIu32 " of them were missed\n", fitting, SCENES,
		missed);
	assert_true(fitting > SCENES / 10 && fitting < SCENES * 9 / 10); /* else the scenes are of no use */
	assert_true(missed * 100 <= fitting);
}

/* --- the snapshot is kept by events as it would be made anew ----------------------------------------- */

static void check_counts(struct kar_sched *s, uint64_t seed, uint32_t event)
{
	for (uint32_t i = 0; i < s->n_hot; i++) {
		const struct sched_class *c = &s->classes[s->hot[i]];
		int64_t total = 0;

		for (uint32_t n = 0; n < s->n_nodes; n++) {
			bool fits = s->nodes[n].known &&
				kar_sched_match(&s->nodes[n].offer, c->needs, NULL) == KAR_FITS;
			int32_t copies = fits ? sched_copies(s, c, n, false) : 0;

			if (copies != c->hot->copies[n])
				fail_msg("seed %" PRIu64 ", event %" PRIu32 ": node %s, class %" PRIu32
					 ": %" PRId32 " copies, counted %" PRId32,
					seed, event, s->nodes[n].name ? s->nodes[n].name : "-", s->hot[i],
					copies, c->hot->copies[n]);
			assert_int_equal(c->hot->bucket[n] != SCHED_NO_BUCKET, fits);
			total += copies;
		}
		assert_int_equal(total, c->hot->total);
	}
}

/* Which domains have no pods, and in which group of buckets their nodes are. */
static void check_whole(const struct kar_sched *s)
{
	const struct sched_key *k = &s->keys[s->whole];

	for (uint32_t d = 0; d < k->n; d++) {
		uint32_t nodes = 0, busy = 0;

		for (uint32_t n = k->first[d]; n != SCHED_NONE; n = k->next[n]) {
			nodes++;
			busy += s->nodes[n].n_taken > s->nodes[n].n_own;
		}
		if (!nodes)
			continue;
		assert_int_equal(k->state[d].nodes, nodes);
		assert_int_equal(k->state[d].busy, busy);
		assert_int_equal(k->state[d].whole, !busy);
		for (uint32_t n = k->first[d]; n != SCHED_NONE; n = k->next[n]) {
			for (uint32_t i = 0; i < s->n_hot; i++) {
				uint8_t b = s->classes[s->hot[i]].hot->bucket[n];

				assert_true(b == SCHED_NO_BUCKET || b / SCHED_COPIES % 2 == !busy);
			}
		}
	}
}

static void check_sums(struct kar_sched *s)
{
	for (uint32_t r = 0; r < s->n_resources; r++) {
		int64_t spare = 0, offered = 0;

		for (uint32_t n = 0; n < s->n_nodes; n++) {
			int64_t room = s->nodes[n].known ? sched_free(s, n, r) : 0;

			spare += room > 0 ? room : 0;
			offered += s->nodes[n].known ? sched_allocatable(s, n, r) : 0;
		}
		assert_int_equal(spare, s->resources[r].spare);
		assert_int_equal(offered, kar_sched_offered(s, s->resources[r].name));
	}
	for (uint32_t k = 0; k < s->n_keys; k++) {
		for (uint32_t d = 0; d < s->keys[k].n; d++)
			assert_int_equal(s->keys[k].first[d] != SCHED_NONE, s->keys[k].values[d] != NULL);
		for (uint32_t i = 0; i < s->n_hot; i++) {
			const struct sched_hot *h = s->classes[s->hot[i]].hot;

			for (uint32_t d = 0; d < s->keys[k].n; d++) {
				int64_t total = 0;

				for (uint32_t n = s->keys[k].first[d]; n != SCHED_NONE;
					n = s->keys[k].next[n])
					total += h->copies[n];
				assert_int_equal(total, h->domain_total[k][d]);
			}
		}
	}
}

struct taken {
	uint32_t node;
	kar_class class;
};

static void some_event(struct kar_sched *s, struct kar_arena *a, struct taken *taken, uint32_t *n_taken)
{
	uint32_t node = draw(12);
	struct words_gang g;
	struct kar_placement p;
	int32_t want = 0;
	size_t mark;

	switch (draw(6)) {
	case 0:
		words_nodes(s, a, draw_node(a, node));
		break;
	case 1:
		if (!draw(4))
			kar_sched_node_gone(s, kar_arena_printf(a, "n%u", (unsigned)node));
		break;
	case 2:
	case 3:
		if (*n_taken == 64)
			break;
		taken[*n_taken] = (struct taken){ node, words_class(s, a, draw_needs(a), &want) };
		kar_sched_take(s, kar_arena_printf(a, "n%u", (unsigned)node), taken[*n_taken].class, 1);
		kar_sched_class_put(s, taken[(*n_taken)++].class);
		break;
	case 4:
		if (!*n_taken)
			break;
		node = draw(*n_taken);
		kar_sched_take(s, kar_arena_printf(a, "n%u", (unsigned)taken[node].node), taken[node].class,
			-1);
		taken[node] = taken[--*n_taken];
		break;
	default:
		words_gang(s, a, draw_gang(a), &g);
		mark = kar_sched_mark(s);
		kar_sched_place(s, &g.gang, a, &p);
		kar_sched_undo(s, mark);
		words_gang_put(s, &g);
	}
}

static void counts_are_as_recounted(void **state)
{
	uint64_t seed = seed_of("counts_are_as_recounted");
	struct kar_sched *s = kar_sched_new(NULL);
	struct taken taken[64];
	uint32_t n_taken = 0;
	struct kar_arena a = { 0 };
	int32_t want = 0;
	kar_class asked[8];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(asked); i++)
		asked[i] = words_class(s, &a, draw_needs(&a), &want);
	kar_sched_keep_whole(s, (const char *const[]){ "rack" }, 1);
	for (uint32_t i = 0; i < EVENTS; i++) {
		kar_sched_copies(s, asked[draw(KAR_LEN(asked))]);
		some_event(s, &a, taken, &n_taken);
		check_counts(s, seed, i);
		check_sums(s);
		check_whole(s);
		kar_arena_reset(&a);
	}
	for (size_t i = 0; i < KAR_LEN(asked); i++)
		kar_sched_class_put(s, asked[i]);
	kar_arena_release(&a);
	kar_sched_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(placement_is_as_exhaustive_search_says),
		cmocka_unit_test(counts_are_as_recounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
