#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/workqueue.h"

/*
 * A story per row. "+a" add, "_a" add low, "?a" add lazily, "a@5" add at 5 ms, "a~5" rest until 5 ms, "t" take at the
 * current time, "/a" done, "5." the time is now 5 ms. What take answers, "-" for nothing, must equal @taken.
 */
struct story {
	const char *name, *steps, *taken;
};

static const struct story stories[] = {
	{ "empty_then_nothing", "t", "-" },
	{ "added_then_taken_once", "+a t t", "a-" },
	{ "added_twice_then_taken_once", "+a +a t t /a t", "a--" },
	{ "order_of_adds", "+b +a +c t t t", "bac" },
	{ "added_while_processing_then_not_taken_at_once", "+a t +a t", "a-" },
	{ "added_while_processing_then_taken_again_after_done", "+a t +a +a /a t /a t", "aa-" },
	{ "others_go_on_while_one_is_processed", "+a t +a +b t", "ab" },
	{ "again_after_done_goes_to_the_end", "+a t +a +b /a t t", "aba" },
	{ "low_goes_last", "_a +b t t", "ba" },
	{ "low_keys_keep_their_order", "_b _a +c t t t", "cba" },
	{ "ordinary_add_overtakes_low", "_a _b +b t t t", "ba-" },
	{ "low_add_does_not_demote", "+a _a _b t t t", "ab-" },
	{ "low_while_processing_then_low_after_done", "+a t _a +b /a t t", "aba" },
	{ "low_then_ordinary_while_processing", "+a t _a +a _c /a t t", "aac" },
	{ "delayed_then_not_before_its_time", "a@5 t 4. t 5. t t", "--a-" },
	{ "delayed_twice_then_the_earlier_time", "a@5 a@9 5. t /a 9. t", "a-" },
	{ "delayed_earlier_later_on", "a@9 a@5 5. t /a 9. t", "a-" },
	{ "delayed_survives_an_ordinary_sync", "a@5 +a t /a 5. t", "aa" },
	{ "delayed_in_order_of_time", "c@3 a@1 b@2 3. t t t", "abc" },
	{ "equal_times_in_order_of_adds", "c@3 a@3 b@3 3. t t t", "cab" },
	{ "due_while_processing_then_after_done", "+a t a@2 2. t /a t", "a-a" },
	{ "due_while_ready_then_once", "+a a@2 2. t /a t", "a-" },
	{ "ready_before_due", "b@1 +a 1. t t", "ab" },
	{ "due_promotes_low", "_a b@1 _c c@1 1. t t t", "bca" },
	{ "without_rest_lazy_is_at_once", "?a +b t t", "ab" },
	{ "lazy_waits_for_the_end_of_the_rest", "a~5 ?a 4. t 5. t t", "-a-" },
	{ "rest_is_for_one_key", "a~5 ?a ?b t t", "b-" },
	{ "many_lazy_adds_are_one", "a~5 ?a ?a ?a 5. t /a t", "a-" },
	{ "rest_does_not_stop_an_ordinary_add", "a~5 +a t", "a" },
	{ "ordinary_add_overtakes_a_lazy_one", "a~5 ?a +a t /a t", "a-" },
	{ "rest_set_while_processing_holds_for_what_comes_then", "+a t a~5 ?a /a t 5. t", "a-a" },
	{ "a_later_rest_holds_for_later_lazy_adds", "a~5 a~9 ?a 5. t 9. t", "-a" },
	{ "rest_outlives_being_idle", "a~5 +a t /a ?a t", "a-" },
	{ "no_rest_any_more", "a~5 a~0 ?a t", "a" },
};

static void play(struct kar_workqueue *q, const char *steps, struct kar_buf *taken)
{
	kar_time now = 0;
	char key[2] = "";

	for (const char *p = steps; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		key[0] = *p == '+' || *p == '_' || *p == '?' || *p == '/' ? p[1] : p[0];
		if (*p == '+') {
			kar_workqueue_add(q, key);
		} else if (*p == '_') {
			kar_workqueue_add_low(q, key);
		} else if (*p == '?') {
			kar_workqueue_add_lazy(q, key);
		} else if (p[1] == '~') {
			kar_workqueue_cool_down(q, key, atoi(p + 2));
		} else if (*p == '/') {
			kar_workqueue_done(q, key);
		} else if (p[1] == '@') {
			kar_workqueue_add_at(q, key, atoi(p + 2));
		} else if (p[1] == '.') {
			now = atoi(p);
		} else {
			const char *got = kar_workqueue_take(q, now);

			kar_buf_puts(taken, got ? got : "-");
		}
	}
}

static void told_as_stories(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stories); i++) {
		struct kar_workqueue *q = kar_workqueue_new(&(struct kar_workqueue_options){ .seed = 1 });
		struct kar_buf taken = { 0 };

		play(q, stories[i].steps, &taken);
		if (strcmp(kar_buf_cstr(&taken), stories[i].taken))
			fail_msg("%s: %s, want %s", stories[i].name, kar_buf_cstr(&taken), stories[i].taken);
		kar_buf_release(&taken);
		kar_workqueue_free(q);
	}
}

struct clock {
	kar_time now, waited, worked; /* of the last key */
};

static kar_time clock_mono(void *arg)
{
	return ((const struct clock *)arg)->now;
}

static void on_waited(void *arg, kar_time ms)
{
	((struct clock *)arg)->waited = ms;
}

static void on_worked(void *arg, kar_time ms)
{
	((struct clock *)arg)->worked = ms;
}

static void expect_stats(struct kar_workqueue *q, uint64_t adds, uint64_t retries, kar_time unfinished,
	kar_time longest)
{
	struct kar_workqueue_stats s = kar_workqueue_stats(q);

	assert_int_equal(s.adds, adds);
	assert_int_equal(s.retries, retries);
	assert_int_equal(s.unfinished, unfinished);
	assert_int_equal(s.longest, longest);
}

static void waiting_and_work_are_measured(void **state)
{
	struct clock c = { .now = 1000 };
	const struct kar_workqueue_options o = { .mono = clock_mono,
		.waited = on_waited,
		.worked = on_worked,
		.arg = &c };
	struct kar_workqueue *q = kar_workqueue_new(&o);

	(void)state;
	kar_workqueue_add_low(q, "a");
	c.now = 1030;
	kar_workqueue_add(q, "a"); /* it overtakes, and has waited since its first add */
	kar_workqueue_add(q, "b");
	expect_stats(q, 2, 0, 0, 0);
	c.now = 1100;
	assert_string_equal(kar_workqueue_take(q, c.now), "a");
	assert_int_equal(c.waited, 100);
	assert_string_equal(kar_workqueue_take(q, c.now), "b");
	assert_int_equal(c.waited, 70);
	kar_workqueue_add(q, "a"); /* dirty: it waits from now on */
	kar_workqueue_add(q, "a");
	c.now = 1150;
	kar_workqueue_done(q, "b");
	assert_int_equal(c.worked, 50);
	c.now = 1200;
	expect_stats(q, 3, 0, 100, 100);
	kar_workqueue_done(q, "a");
	assert_int_equal(c.worked, 100);
	c.now = 1300;
	assert_string_equal(kar_workqueue_take(q, c.now), "a");
	assert_int_equal(c.waited, 200);
	kar_workqueue_add_rate_limited(q, "a", c.now);
	kar_workqueue_add_at(q, "b", 2000);
	expect_stats(q, 3, 2, 0, 0);
	kar_workqueue_done(q, "a");
	kar_workqueue_free(q);
}

static kar_time retry_delay(struct kar_workqueue *q, kar_time now)
{
	kar_workqueue_add_rate_limited(q, "k", now);

	kar_time next = kar_workqueue_next(q, now);

	assert_null(kar_workqueue_take(q, next - 1));
	assert_string_equal(kar_workqueue_take(q, next), "k");
	kar_workqueue_done(q, "k");
	return next - now;
}

static void failures_back_off_up_to_the_cap(void **state)
{
	static const kar_time want[] = { 100, 200, 400, 800, 1000, 1000 };
	struct kar_workqueue_options o = { .backoff_base = 100, .backoff_cap = 1000, .seed = 42 };
	struct kar_workqueue *q = kar_workqueue_new(&o);

	(void)state;
	for (unsigned i = 0; i < KAR_LEN(want); i++) {
		assert_int_equal(kar_workqueue_failures(q, "k"), i);

		kar_time got = retry_delay(q, 5000);

		if (got < want[i] - want[i] / 10 || got > want[i] + want[i] / 10)
			fail_msg("failure %u: %jd ms, want %jd +-10 %%", i, (intmax_t)got, (intmax_t)want[i]);
	}
	for (int i = 0; i < 100; i++) /* far beyond 64 doublings */
		assert_in_range(retry_delay(q, 0), 900, 1100);
	kar_workqueue_forget(q, "k");
	assert_int_equal(kar_workqueue_failures(q, "k"), 0);
	assert_in_range(retry_delay(q, 0), 90, 110);
	kar_workqueue_free(q);
}

static void jitter_spreads_and_repeats_with_its_seed(void **state)
{
	struct kar_workqueue_options o = { .backoff_base = 1000, .backoff_cap = 1000, .seed = 7 };
	kar_time first[50], least = KAR_NEVER, most = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct kar_workqueue *q = kar_workqueue_new(&o);

		for (size_t i = 0; i < KAR_LEN(first); i++) {
			kar_time got = retry_delay(q, 0);

			if (round)
				assert_int_equal(got, first[i]);
			first[i] = got;
			least = got < least ? got : least;
			most = got > most ? got : most;
		}
		kar_workqueue_free(q);
	}
	assert_in_range(least, 900, 930);
	assert_in_range(most, 1070, 1100);
}

static void defaults_apply(void **state)
{
	struct kar_workqueue *q = kar_workqueue_new(NULL);

	(void)state;
	assert_int_equal(retry_delay(q, 0), 5);
	for (int i = 0; i < 20; i++)
		retry_delay(q, 0);
	assert_in_range(retry_delay(q, 0), 54000, 66000);
	kar_workqueue_free(q);
}

static void next_tells_when_to_wake_up(void **state)
{
	struct kar_workqueue *q = kar_workqueue_new(NULL);

	(void)state;
	assert_int_equal(kar_workqueue_next(q, 10), KAR_NEVER);
	kar_workqueue_add_at(q, "never", KAR_NEVER);
	assert_int_equal(kar_workqueue_next(q, 10), KAR_NEVER);
	kar_workqueue_add_at(q, "a", 30);
	kar_workqueue_add_at(q, "b", 20);
	assert_int_equal(kar_workqueue_next(q, 10), 20);
	kar_workqueue_add_low(q, "c");
	assert_int_equal(kar_workqueue_next(q, 10), 10);
	assert_int_equal(kar_workqueue_ready(q), 1);
	assert_string_equal(kar_workqueue_take(q, 10), "c");
	assert_int_equal(kar_workqueue_ready(q), 0);
	assert_int_equal(kar_workqueue_processing(q), 1);
	kar_workqueue_done(q, "c");
	assert_int_equal(kar_workqueue_processing(q), 0);
	kar_workqueue_free(q);
}

/* The naive model: one flag per key and structure, and plain searches. */

enum { KEYS = 8, SEEDS = 300, STEPS = 300 };

struct model {
	bool ready[KEYS], low[KEYS], processing[KEYS], dirty[KEYS];
	unsigned place[KEYS]; /* order within its line */
	unsigned failures[KEYS];
	kar_time at[KEYS]; /* KAR_NEVER: not delayed */
	unsigned order[KEYS];
	unsigned clock;
};

static void model_line_up(struct model *m, int k)
{
	m->ready[k] = true;
	m->place[k] = m->clock++;
}

static void model_add(struct model *m, int k, bool low)
{
	if (m->processing[k]) {
		m->low[k] = m->dirty[k] ? m->low[k] && low : low;
		m->dirty[k] = true;
	} else if (!m->ready[k] || (m->low[k] && !low)) {
		m->low[k] = low;
		model_line_up(m, k);
	}
}

static void model_add_at(struct model *m, int k, kar_time at)
{
	if (at >= m->at[k])
		return;
	m->at[k] = at;
	m->order[k] = m->clock++;
}

static int model_due(const struct model *m, kar_time now)
{
	int best = -1;

	for (int k = 0; k < KEYS; k++) {
		if (m->at[k] > now)
			continue;
		if (best < 0 || m->at[k] < m->at[best] ||
			(m->at[k] == m->at[best] && m->order[k] < m->order[best]))
			best = k;
	}
	return best;
}

static int model_take(struct model *m, kar_time now)
{
	int best = -1;

	for (int k = model_due(m, now); k >= 0; k = model_due(m, now)) {
		m->at[k] = KAR_NEVER;
		model_add(m, k, false);
	}
	for (int k = 0; k < KEYS; k++) {
		if (!m->ready[k])
			continue;
		if (best < 0 || m->low[k] < m->low[best] ||
			(m->low[k] == m->low[best] && m->place[k] < m->place[best]))
			best = k;
	}
	if (best >= 0) {
		m->ready[best] = false;
		m->processing[best] = true;
	}
	return best;
}

static void model_done(struct model *m, int k)
{
	m->processing[k] = false;
	if (!m->dirty[k])
		return;
	m->dirty[k] = false;
	model_line_up(m, k);
}

static unsigned pick(uint64_t *random, unsigned n)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*random >> 33) % n;
}

static void compare_take(struct kar_workqueue *q, struct model *m, kar_time now, unsigned seed)
{
	const char *got = kar_workqueue_take(q, now);
	int want = model_take(m, now);

	if ((got ? atoi(got) : -1) != want)
		fail_msg("seed %u at %jd: took %s, want %d", seed, (intmax_t)now, got ? got : "nothing",
			want);
}

static void compare_counts(struct kar_workqueue *q, const struct model *m, kar_time now, unsigned seed)
{
	size_t ready = 0, processing = 0;
	kar_time next = KAR_NEVER;

	for (int k = 0; k < KEYS; k++) {
		ready += m->ready[k];
		processing += m->processing[k];
		next = m->at[k] < next ? m->at[k] : next;
	}
	for (int k = 0; k < KEYS; k++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", k);
		if (kar_workqueue_is_dirty(q, key) != m->dirty[k])
			fail_msg("seed %u at %jd: key %d is %sdirty", seed, (intmax_t)now, k,
				m->dirty[k] ? "not " : "");
	}
	next = ready ? now : next;
	if (kar_workqueue_ready(q) != ready || kar_workqueue_processing(q) != processing ||
		kar_workqueue_next(q, now) != next)
		fail_msg("seed %u at %jd: ready %zu want %zu, processing %zu want %zu, next %jd want %jd",
			seed, (intmax_t)now, kar_workqueue_ready(q), ready, kar_workqueue_processing(q),
			processing, (intmax_t)kar_workqueue_next(q, now), (intmax_t)next);
}

static void random_step(struct kar_workqueue *q, struct model *m, kar_time now, uint64_t *random)
{
	int k = (int)pick(random, KEYS);
	char key[16];
	kar_time at = now + pick(random, 20);

	snprintf(key, sizeof(key), "%d", k);
	switch (pick(random, 7)) {
	case 0:
		kar_workqueue_add(q, key);
		model_add(m, k, false);
		break;
	case 1:
		kar_workqueue_add_low(q, key);
		model_add(m, k, true);
		break;
	case 2:
		kar_workqueue_add_at(q, key, at);
		model_add_at(m, k, at);
		break;
	case 3: /* without jitter at this base: 1 ms times 2^n, at most 8 ms */
		kar_workqueue_add_rate_limited(q, key, now);
		model_add_at(m, k, now + (m->failures[k] < 3 ? 1 << m->failures[k] : 8));
		m->failures[k]++;
		break;
	case 4:
		kar_workqueue_forget(q, key);
		m->failures[k] = 0;
		break;
	default:
		if (!m->processing[k])
			break;
		kar_workqueue_done(q, key);
		model_done(m, k);
	}
}

static void queue_equals_naive_model(void **state)
{
	(void)state;
	print_message("seeds 1 to %d\n", SEEDS);
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct kar_workqueue_options o = { .backoff_base = 1, .backoff_cap = 8, .seed = seed };
		struct kar_workqueue *q = kar_workqueue_new(&o);
		struct model m = { 0 };
		uint64_t random = seed;
		kar_time now = 0;

		for (int k = 0; k < KEYS; k++)
			m.at[k] = KAR_NEVER;
		for (int i = 0; i < STEPS; i++) {
			random_step(q, &m, now, &random);
			if (pick(&random, 3) == 0)
				compare_take(q, &m, now, seed);
			compare_counts(q, &m, now, seed);
			now += pick(&random, 3);
		}
		kar_workqueue_free(q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_as_stories),
		cmocka_unit_test(waiting_and_work_are_measured),
		cmocka_unit_test(failures_back_off_up_to_the_cap),
		cmocka_unit_test(jitter_spreads_and_repeats_with_its_seed),
		cmocka_unit_test(defaults_apply),
		cmocka_unit_test(next_tells_when_to_wake_up),
		cmocka_unit_test(queue_equals_naive_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
