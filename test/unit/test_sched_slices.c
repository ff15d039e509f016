/*
 * Slices, balance and the order of places: rows on eight racks of 18 nodes, and random small clusters against all ways to deal out slices. The
 * seed is printed; KAR_SEED sets it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/sched/impl.h"
#include "test/unit/sched_words.h"

/* --- rows ------------------------------------------------------------------------------------------ */

#define HOST "/h" /* each node is a domain by itself */

/* Each node has room for one pod; of each rack two are busy. "r1+2": two more nodes in the rack; "r4-2": two busy ones more. */
static const struct {
	const char *name, *racks, *gang, *expected; /* in the order of ranks, by role */
} rows[] = {
	{ "slice_per_rack", "", "w 128xcpu=1 | topology rack" HOST " slice:1=16",
		"w r1*16 r2*16 r3*16 r4*16 r5*16 r6*16 r7*16 r8*16" },
	{ "odd_racks_give_whole_slices_only", "r1+2 r2+5 r3-2",
		"w 96xcpu=1 | topology rack" HOST " slice:1=16", "w r1*16 r2*16 r4*16 r5*16 r6*16 r7*16" },
	{ "two_slices_in_a_rack", "", "w 64xcpu=1 | topology rack" HOST " slice:1=8",
		"w r1*16 r2*16 r3*16 r4*16" },
	{ "last_slice_is_smaller", "r1-8", "w 24xcpu=1 | topology rack" HOST " slice:1=16", "w r2*16 r1*8" },
	{ "last_slice_behind_another_on_its_rack", "r2+4", "w 132xcpu=1 | topology rack" HOST " slice:1=16",
		"w r1*16 r2*16 r3*16 r4*16 r5*16 r6*16 r7*16 r8*16 r2*4" },
	{ "no_room_for_the_ninth", "", "w 144xcpu=1 | topology rack" HOST " slice:1=16",
		"128/144 pods placed: each 16 in one rack: 144 nodes lack cpu (short 16)" },
	{ "room_that_is_broken_does_not_count", "r1-1", "w 128xcpu=1 | topology rack" HOST " slice:1=16",
		"112/128 pods placed: each 16 in one rack: 129 nodes lack cpu (short 16)" },
	{ "slices_of_each_role", "", "l 1xcpu=1; w 32xcpu=1 | topology rack" HOST " slice:1=16",
		"l r1*1 w r2*16 r3*16" },
	{ "slices_of_pods_that_stay_apart", "r1-1",
		"w 32xcpu=1 in=x anti=x/host | topology rack" HOST " slice:1=16", "w r2*16 r3*16" },
	{ "preferred_packs", "", "w 24xcpu=1 | topology rack" HOST " preferred:1", "w r1*16 r2*8" },
	{ "preferred_and_balance", "", "w 24xcpu=1 | topology rack" HOST " preferred:1 balance",
		"w r1*12 r2*12" },
	{ "balance_of_full_racks", "r3+2 r4-2", "w 32xcpu=1 | topology rack" HOST " preferred:1 balance",
		"w r1*16 r3*16" },
	{ "balance_differs_by_one", "", "w 34xcpu=1 | topology rack" HOST " preferred:1 balance",
		"w r1*12 r2*11 r3*11" },
	{ "balance_that_one_domain_more_makes_possible", "r1+9 r2-14 r3-14 r4-14 r5-14 r6-14 r7-14 r8-14",
		"w 26xcpu=1 | topology rack" HOST " preferred:1 balance", "w r1*25 r2*1" },
	{ "balance_where_one_rack_holds_all", "", "w 12xcpu=1 | topology rack" HOST " preferred:1 balance",
		"w r1*12" },
	{ "balance_of_slices", "", "w 24xcpu=1 | topology rack" HOST " slice:1=4 balance", "w r1*12 r2*12" },
	{ "balance_below_what_is_required", "", "w 6xcpu=1 | topology rack" HOST " required:1 balance",
		"w r1*6" },
};

static int in_rack(const char *racks, int rack, char sign)
{
	char word[8];
	const char *at;

	snprintf(word, sizeof(word), "r%d%c", rack, sign);
	at = strstr(racks, word);
	return at ? atoi(at + strlen(word)) : 0;
}

static void build(struct kar_sched *s, struct kar_arena *a, const char *racks)
{
	for (int rack = 1; rack <= 8; rack++) {
		int nodes = 18 + in_rack(racks, rack, '+'), busy = 2 + in_rack(racks, rack, '-');

		for (int i = 0; i < nodes; i++) {
			const char *name = kar_arena_printf(a, "n%02d-r%d", i, rack);

			words_nodes(s, a,
				kar_arena_printf(a, "%s cpu=1 @host @h=%s @rack=r%d", name, name, rack));
			if (i < busy)
				words_taken(s, a, kar_arena_printf(a, "%s 1xcpu=1", name));
		}
	}
}

/* "w r1*16 r2*8": the racks in the order of ranks. */
static void put_racks(struct kar_sched *s, const struct words_gang *g, const struct kar_placement *p,
	struct kar_buf *out)
{
	const char *last = "";
	uint32_t role = UINT32_MAX;
	int n = 0;

	for (uint32_t i = 0; i <= p->n_places; i++) {
		const struct kar_place *x = i < p->n_places ? &p->places[i] : NULL;
		const char *rack = x ? kar_sched_label_of(s, x->node, "rack") : "";

		if (n && (!x || x->role != role || strcmp(rack, last) != 0)) {
			kar_buf_printf(out, " %s*%d", last, n);
			n = 0;
		}
		if (!x)
			break;
		if (x->role != role)
			kar_buf_printf(out, "%s%s", role == UINT32_MAX ? "" : " ", g->names[x->role]);
		role = x->role;
		last = rack;
		n += x->n;
	}
}

static void racks_are_filled_in_the_order_of_ranks(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct kar_buf got = { 0 };
		struct words_gang g;
		struct kar_placement p;

		build(s, &a, rows[i].racks);
		words_gang(s, &a, rows[i].gang, &g);
		if (kar_sched_place(s, &g.gang, &a, &p)) {
			put_racks(s, &g, &p, &got);
		} else {
			const struct kar_sched_why why = kar_sched_explain(s, &g.gang, g.names, &a);

			kar_buf_printf(&got, "%d/%d pods placed: %s", (int)why.placed, (int)g.roles[0].need,
				why.text);
		}
		if (strcmp(kar_buf_cstr(&got), rows[i].expected) != 0) {
			print_error("%s:\n  want %s\n  got  %s\n", rows[i].name, rows[i].expected,
				kar_buf_cstr(&got));
			failed++;
		}
		words_gang_put(s, &g);
		kar_buf_release(&got);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
	assert_int_equal(failed, 0);
}

/* Not even on empty nodes: a rack has 18. */
static void slices_that_no_rack_holds_are_infeasible(void **state)
{
	static const struct {
		const char *gang, *says;
	} cases[] = {
		{ "w 144xcpu=1 | topology rack" HOST " slice:1=18", NULL },
		{ "w 144xcpu=1 | topology rack" HOST " slice:1=16",
			"128 of 144: each 16 in one rack: 144 nodes lack cpu (short 16)" },
		{ "w 19xcpu=1 | topology rack" HOST " slice:1=19",
			"0 of 19: each 19 in one rack: 144 nodes lack cpu (short 19)" },
		{ "w 19xcpu=1 | topology rack" HOST " required:1",
			"18 of 19: largest rack holds 18 of 19 pods on empty nodes (r1)" },
		{ "w 3xcpu=1 | topology rack" HOST " required:1 slice:2=2",
			"0 of 3: largest rack holds 0 of 3 pods, each 2 in one h, on empty nodes (r1)" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(cases); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct words_gang g;

		build(s, &a, "");
		words_gang(s, &a, cases[i].gang, &g);
		assert_int_equal(kar_sched_feasible(s, &g.gang), !cases[i].says);
		if (cases[i].says) {
			const struct kar_sched_why why = kar_sched_explain_empty(s, &g.gang, g.names, &a);

			assert_string_equal(kar_arena_printf(&a, "%d of %d: %s", (int)why.placed,
						    (int)g.roles[0].need, why.text),
				cases[i].says);
		}
		words_gang_put(s, &g);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
}

/* --- random clusters of at most six nodes ----------------------------------------------------------- */

enum { WORLDS = 100000, NODES = 6, DEPTHS = 3 };

/* xorshift64* of Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" (2016). */
static uint64_t random_state;

static int draw(int n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (int)(((random_state * 0x2545f4914f6cdd1dULL) >> 33) % (uint32_t)n);
}

struct small_world {
	int n, block[NODES], rack[NODES], free[NODES], all[NODES];
	int need, size, slice_depth, required, balance;
};

/* Number of the domain of the depth; 0: everywhere. */
static int domain_of(const struct small_world *w, int node, int depth)
{
	if (depth <= 1)
		return depth ? w->block[node] : 0;
	return depth == 2 ? w->block[node] * NODES + w->rack[node] : node;
}

/* All ways to deal out the slices that are left, each to a domain, which has @room for so many pods. */
static bool deal(const struct small_world *w, int *room, int left, int first)
{
	int size = left < w->size ? left : w->size;

	if (!left)
		return true;
	for (int d = size == w->size ? first : 0; d < NODES * NODES; d++) {
		bool fits;

		if (room[d] < size)
			continue;
		room[d] -= size;
		fits = deal(w, room, left - size, d);
		room[d] += size;
		if (fits)
			return true;
	}
	return false;
}

/* Inside one domain of the required level. */
static bool fits_by_definition(const struct small_world *w, const int *copies)
{
	int depth = w->slice_depth > w->required ? w->slice_depth : w->required;

	for (int inside = 0; inside < NODES * NODES; inside++) {
		int room[NODES * NODES] = { 0 };

		for (int i = 0; i < w->n; i++) {
			if (domain_of(w, i, w->required) == inside)
				room[domain_of(w, i, depth)] += copies[i];
		}
		if (deal(w, room, w->need, 0))
			return true;
	}
	return false;
}

/* Ranks of one slice are in one domain, all are in one of the required level, and no node has more than it has room for. */
static void assert_lawful(const struct small_world *w, const struct kar_placement *p)
{
	int rank = 0, used[NODES] = { 0 }, inside = -1, slice = -1;

	for (uint32_t i = 0; i < p->n_places; i++) {
		int node = atoi(p->places[i].node + 1);

		assert_true(inside < 0 || domain_of(w, node, w->required) == inside);
		inside = domain_of(w, node, w->required);
		used[node] += p->places[i].n;
		assert_true(used[node] <= w->free[node]);
		for (int k = 0; k < p->places[i].n; k++, rank++) {
			assert_true(rank % w->size == 0 || domain_of(w, node, w->slice_depth) == slice);
			slice = domain_of(w, node, w->slice_depth);
		}
	}
	assert_int_equal(rank, w->need);
}

/* The fewest domains of the scope that can have equally many slices to one; 0: none can. */
static int fewest_equal(const int *room, int units)
{
	for (int k = 1; k <= units; k++) {
		int more = 0, some = 0;

		for (int d = 0; d < NODES * NODES; d++) {
			more += room[d] >= units / k + 1;
			some += room[d] >= units / k;
		}
		if (some >= k && more >= units % k)
			return k;
	}
	return 0;
}

static void assert_balanced(const struct small_world *w, const struct kar_placement *p)
{
	int room[NODES * NODES] = { 0 }, got[NODES * NODES] = { 0 }, most = 0, n = 0, fewest;

	for (int i = 0; i < w->n; i++)
		room[domain_of(w, i, w->slice_depth)] += w->free[i];
	for (int d = 0; d < NODES * NODES; d++)
		room[d] /= w->size;
	for (uint32_t i = 0; i < p->n_places; i++)
		got[domain_of(w, atoi(p->places[i].node + 1), w->slice_depth)] += p->places[i].n;
	for (int d = 0; d < NODES * NODES; d++) {
		n += got[d] > 0;
		most = got[d] > most ? got[d] : most;
	}
	fewest = fewest_equal(room, w->need / w->size);
	if (!fewest)
		return;
	assert_int_equal(n, fewest);
	for (int d = 0; d < NODES * NODES; d++)
		assert_true(!got[d] || most - got[d] <= w->size);
}

static struct small_world draw_world(void)
{
	struct small_world w = { .n = 1 + draw(NODES),
		.need = 1 + draw(12),
		.size = 1 + draw(4),
		.slice_depth = 1 + draw(DEPTHS),
		.required = draw(DEPTHS),
		.balance = !draw(3) };

	for (int i = 0; i < w.n; i++) {
		w.block[i] = draw(2);
		w.rack[i] = draw(2);
		w.all[i] = 1 + draw(5);
		w.free[i] = draw(w.all[i] + 1);
	}
	if (w.balance) {
		w.required = 0;
		w.need -= w.need % w.size;
	}
	w.need = w.need ? w.need : w.size;
	return w;
}

static bool try_world(const struct small_world *w)
{
	struct kar_sched *s = kar_sched_new(NULL);
	struct kar_arena a = { 0 };
	struct words_gang g;
	struct kar_placement p;
	bool fits;

	for (int i = 0; i < w->n; i++) {
		words_nodes(s, &a,
			kar_arena_printf(&a, "n%d cpu=%d @h=%d @block=b%d @rack=r%d", i, w->all[i], i,
				w->block[i], w->rack[i]));
		if (w->free[i] < w->all[i])
			words_taken(s, &a, kar_arena_printf(&a, "n%d %dxcpu=1", i, w->all[i] - w->free[i]));
	}
	words_gang(s, &a,
		kar_arena_printf(&a, "w %dxcpu=1 | topology block/rack" HOST " %s:%d slice:%d=%d%s", w->need,
			w->required ? "required" : "preferred", w->required, w->slice_depth, w->size,
			w->balance ? " balance" : ""),
		&g);
	fits = kar_sched_place(s, &g.gang, &a, &p);
	assert_int_equal(fits, fits_by_definition(w, w->free));
	assert_int_equal(kar_sched_feasible(s, &g.gang), fits_by_definition(w, w->all));
	if (fits)
		assert_lawful(w, &p);
	if (fits && w->balance)
		assert_balanced(w, &p);
	words_gang_put(s, &g);
	kar_arena_release(&a);
	kar_sched_free(s);
	return fits;
}

static void slices_are_as_exhaustive_search_says(void **state)
{
	const char *given = getenv("KAR_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 20261130;
	int fitted = 0;

	(void)state;
	print_message("KAR_SEED=%" PRIu64 "\n", seed);
	random_state = seed | 1;
	for (int i = 0; i < WORLDS; i++) {
		const struct small_world w = draw_world();

		fitted += try_world(&w);
	}
	print_message("%d of %d worlds fit\n", fitted, (int)WORLDS);
	assert_true(fitted > WORLDS / 5 && fitted < WORLDS * 4 / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(racks_are_filled_in_the_order_of_ranks),
		cmocka_unit_test(slices_that_no_rack_holds_are_infeasible),
		cmocka_unit_test(slices_are_as_exhaustive_search_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
