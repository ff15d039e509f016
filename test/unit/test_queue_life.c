/*
 * Lives of random small clusters, pass by pass: jobs arrive, run for a while and end, and the next ones take their names. Nobody waits for
 * ever (I14 of docs/design/queue.md) where no queue has a right: what needs more than its right can be taken back at any time. And where
 * they have rights, no two groups evict each other in turns.
 *
 * KAR_SEED=N runs that life alone.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/unit/queue_world.h"

/* Seconds. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
enum { LIVES = 10 }; /* each is ten times as slow */
#else
enum { LIVES = 60 };
#endif
#else
enum { LIVES = 60 };
#endif
enum { TICK = 20, HOURS = 4, GROUPS = 14, LONGEST = 400, AGE = 600, STARVE = 300, RUNTIME = 60 };

struct job {
	bool here, first;       /* .first: it has not been admitted yet */
	int32_t run;            /* seconds that it runs */
	int64_t arrived, ahead; /* who waited when it came */
	int evicts[GROUPS];
	kar_time
		start; /* when it can start at the latest, as was said first; 0: nothing was said since it came */
};

struct life {
	struct world w;
	struct job jobs[GROUPS];
	uint64_t state;
	uint64_t seed;
	int64_t longest_wait;
	bool rights; /* of queues; without them nobody is evicted */
	int evictions;
	bool limits;             /* most jobs say when they end */
	int promises, backfills; /* of .start, and others that started while somebody had one */
};

static uint32_t below(struct life *l, uint32_t n)
{
	l->state = l->state * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(l->state >> 33) % n;
}

/* Priorities below Production, and one gang that needs the whole cluster. */
static void begin(struct life *l, uint64_t seed, bool limits)
{
	static const int32_t bases[] = { 0, 10, 100, 1000 };
	struct kar_buf text = { 0 };
	uint32_t nodes, cpu, queues, highest;

	*l = (struct life){ .seed = seed, .state = seed, .limits = limits };
	nodes = 1 + below(l, 3);
	cpu = 4 + below(l, 8);
	queues = 1 + below(l, 3);
	l->rights = below(l, 2);
	highest = below(l, 2) ? 1 : KAR_LEN(bases); /* or all are alike */
	if (limits) {                               /* nobody has a right to the room of the head */
		l->rights = false;
		highest = 1;
	}
	for (uint32_t i = 0; i < nodes; i++)
		kar_buf_printf(&text, "node n%u cpu=%u; ", i, cpu);
	for (uint32_t i = 0; i < queues; i++)
		kar_buf_printf(&text, "queue q%u w=%u n=cpu:%u%s; ", i, 1 + below(l, 3),
			l->rights ? nodes * cpu / queues : 0, l->rights && !below(l, 3) ? " preempt" : "");
	for (uint32_t i = 0; i < GROUPS; i++) {
		uint32_t min = i ? 1 + below(l, cpu) : nodes * cpu,
			 most = min + (i && !limits ? below(l, 3) : 0);

		kar_buf_printf(&text, "group j%u q%u %u..%u cpu=1 p=%d; ", i, below(l, queues), min, most,
			(int)bases[below(l, highest)]);
	}
	kar_buf_printf(&text, "flags runtime=%d window=0 starve=%d age=%d", below(l, 2) ? (int)RUNTIME : 0,
		STARVE, limits ? 0 : AGE);
	world_begin(&l->w, kar_buf_cstr(&text));
	kar_buf_release(&text);
	for (uint32_t i = 0; i < GROUPS; i++) {
		l->w.groups[i].ineligible = KAR_QR_FINISHED;
		l->w.groups[i].why = "";
	}
}

static bool waits(const struct life *l, uint32_t i)
{
	return l->jobs[i].here && l->w.groups[i].standing != KAR_QUEUE_ADMITTED;
}

static void arrive(struct life *l, uint32_t i)
{
	struct kar_queue_group *g = &l->w.groups[i];
	struct job *j = &l->jobs[i];

	*j = (struct job){ .here = true,
		.first = true,
		.run = TICK + (int32_t)below(l, LONGEST - TICK),
		.arrived = l->w.now };
	for (uint32_t k = 0; k < GROUPS; k++) {
		j->ahead += k != i && waits(l, k);
		l->jobs[k].evicts[i] = 0;
	}
	g->ineligible = KAR_QR_ADMITTED;
	g->creation = g->waiting_since = l->w.now;
	g->waited_seconds = 0;
	g->runs_for = l->limits && below(l, 8) ? (j->run + TICK) * KAR_SECOND : 0;
	g->evicted_by = KAR_QUEUE_NONE;
}

/* Its pods end and are gone. */
static void leave(struct life *l, uint32_t i)
{
	struct kar_queue_group *g = &l->w.groups[i];
	struct kar_queue_run *r = (struct kar_queue_run *)(uintptr_t)g->runs;

	for (uint32_t k = 0; k < r->n_seats; k++)
		kar_sched_take(l->w.sched, r->seats[k].node, r->class, -r->seats[k].n);
	r->n_seats = 0;
	g->standing = KAR_QUEUE_WAITING;
	g->desired = 0;
	g->released = false;
	g->formed_at = g->admitted_at = 0;
	g->ineligible = KAR_QR_FINISHED;
	l->jobs[i].here = false;
}

static void note_decisions(struct life *l)
{
	for (uint32_t i = 0; i < l->w.s.n_queues; i++) {
		if (l->w.r.queues[i].keeps_reservation)
			continue;
		l->w.queues[i].reserved_for = l->w.r.queues[i].reserved_for;
		l->w.queues[i].reserved_since = l->w.r.queues[i].reserved_since;
		l->w.queues[i].reserved_until = l->w.r.queues[i].reserved_until;
		l->w.queues[i].reserved_pods = l->w.r.queues[i].reserved_pods;
		l->w.queues[i].reserved_start = l->w.r.queues[i].reserved_start;
	}
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct kar_queue_group *g = &l->w.groups[i];
		const struct kar_queue_decision *d = &l->w.r.groups[i];
		uint32_t taker = d->evicted_for;

		if (d->cause && taker != KAR_QUEUE_NONE) {
			l->evictions++;
			l->jobs[taker].evicts[i]++;
			if (l->jobs[taker].evicts[i] > 1 && l->jobs[i].evicts[taker] > 1)
				fail_msg("KAR_SEED=%" PRIu64 ": j%u and j%u evict each other in turns",
					l->seed, i, taker);
		}
		if (d->standing == KAR_QUEUE_ADMITTED && g->standing != KAR_QUEUE_ADMITTED) {
			g->waited_seconds += (l->w.now - g->waiting_since) / KAR_SECOND;
			l->jobs[i].first = false;
		}
	}
}

/* What I14 says of: it asks for no more than its queue is due, and nobody has a higher priority. */
static bool is_promised(const struct life *l, uint32_t i)
{
	const struct kar_queue_group *g = &l->w.groups[i];
	const struct kar_queue_amounts *due = &l->w.r.queues[g->queue].entitled;
	bool promised = true;

	for (uint32_t k = 0; k < due->n; k++)
		promised &= strcmp(due->items[k].resource, "cpu") != 0 ||
			due->items[k].amount >= 1000 * (int64_t)g->min;
	for (uint32_t k = 0; k < GROUPS; k++)
		promised &= l->w.groups[k].base <= g->base;
	return promised;
}

/* I14: max(steps to Normal * T_age, T_starve) + (k + 1) * R, and a pass for each. */
static void check_waits(struct life *l)
{
	const int64_t longest = LONGEST + RUNTIME + 2 * TICK;

	for (uint32_t i = 0; i < GROUPS; i++) {
		int64_t waited = (l->w.now - l->jobs[i].arrived) / KAR_SECOND,
			most = 3 * AGE + (l->jobs[i].ahead + 1) * longest;

		if (l->rights || !waits(l, i) || !l->jobs[i].first || !is_promised(l, i))
			continue;
		l->longest_wait = waited > l->longest_wait ? waited : l->longest_wait;
		if (waited > most)
			fail_msg("KAR_SEED=%" PRIu64 ": j%u waits for %d s, at most %d", l->seed, i,
				(int)waited, (int)most);
	}
}

static bool is_promised_a_start(const struct life *l, uint32_t i)
{
	for (uint32_t q = 0; q < l->w.s.n_queues; q++) {
		if (l->w.r.queues[q].reserved_for == i && l->w.r.queues[q].reserved_start)
			return true;
	}
	return false;
}

/* B1: the head of the cluster starts when the jobs that it waits for must have ended, whoever uses its room meanwhile. */
static void check_promises(struct life *l)
{
	bool any = false;

	for (uint32_t q = 0; q < l->w.s.n_queues; q++) {
		const struct kar_queue_status_out *o = &l->w.r.queues[q];
		struct job *head = o->reserved_for == KAR_QUEUE_NONE ? NULL : &l->jobs[o->reserved_for];

		if (!head || !o->reserved_start)
			continue;
		any = true;
		l->promises += !head->start;
		head->start = head->start ? head->start : o->reserved_start;
	}
	for (uint32_t i = 0; i < GROUPS; i++) {
		bool starts = l->w.r.groups[i].standing == KAR_QUEUE_ADMITTED &&
			l->w.groups[i].standing != KAR_QUEUE_ADMITTED;

		l->backfills += starts && any;
		if (waits(l, i) && !starts && is_promised_a_start(l, i) && l->jobs[i].start &&
			l->w.now > l->jobs[i].start + TICK * KAR_SECOND)
			fail_msg("KAR_SEED=%" PRIu64 ": j%u should have started at %d, and waits at %d",
				l->seed, i, (int)(l->jobs[i].start / KAR_SECOND),
				(int)(l->w.now / KAR_SECOND));
	}
}

static void forget_empty_seats(struct life *l)
{
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct kar_queue_run *r = (struct kar_queue_run *)(uintptr_t)l->w.groups[i].runs;
		struct kar_queue_seat *seats = (struct kar_queue_seat *)(uintptr_t)r->seats;
		uint32_t n = 0;

		for (uint32_t k = 0; k < r->n_seats; k++) {
			if (seats[k].n)
				seats[n++] = seats[k];
		}
		r->n_seats = n;
	}
}

static void live(struct life *l)
{
	for (int tick = 0; tick < HOURS * 3600 / TICK; tick++, l->w.now += TICK * KAR_SECOND) {
		for (uint32_t i = 0; i < GROUPS; i++) {
			const struct kar_queue_group *g = &l->w.groups[i];

			if (g->standing == KAR_QUEUE_ADMITTED && g->released &&
				l->w.now >= g->formed_at + l->jobs[i].run * KAR_SECOND)
				leave(l, i);
			else if (!l->jobs[i].here && !below(l, i ? 4 : 40))
				arrive(l, i);
		}
		world_plan(&l->w);
		assert_false(l->w.r.unsettled);
		check_promises(l);
		note_decisions(l);
		world_apply(&l->w);
		check_waits(l);
		world_settle(&l->w);
		forget_empty_seats(l);
		for (uint32_t i = 0; i < GROUPS; i++) {
			if (l->w.groups[i].standing == KAR_QUEUE_ADMITTED)
				l->w.groups[i].evicted_by = KAR_QUEUE_NONE;
		}
	}
	world_end(&l->w);
}

static void nobody_waits_for_ever(void **state KAR_UNUSED)
{
	const char *given = getenv("KAR_SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : 20261126;
	int64_t longest = 0;
	int evictions = 0;

	for (uint64_t seed = first; seed < first + (given ? 1 : LIVES); seed++) {
		struct life *l = test_malloc(sizeof(*l));

		begin(l, seed, false);
		live(l);
		longest = l->longest_wait > longest ? l->longest_wait : longest;
		evictions += l->evictions;
		test_free(l);
	}
	print_message("the longest wait was %d s; %d evictions\n", (int)longest, evictions);
	/* They are full enough for that. */
	assert_true(given || (longest > STARVE + LONGEST && evictions));
}

static void head_starts_when_it_was_said_first(void **state KAR_UNUSED)
{
	const char *given = getenv("KAR_SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : 20261201;
	int promises = 0, backfills = 0;

	for (uint64_t seed = first; seed < first + (given ? 1 : LIVES); seed++) {
		struct life *l = test_malloc(sizeof(*l));

		begin(l, seed, true);
		live(l);
		promises += l->promises;
		backfills += l->backfills;
		test_free(l);
	}
	print_message("%d heads knew their start; %d jobs started before them\n", promises, backfills);
	assert_true(given || (promises > LIVES && backfills > LIVES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_ever),
		cmocka_unit_test(head_starts_when_it_was_said_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
