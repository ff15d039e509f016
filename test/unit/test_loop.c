#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/loop/clock.h"
#include "common/loop/loop_impl.h"
#include "test/fixture/wait.h"

enum { TURNS_MAX = 5 }; /* more than this in one wait is a busy loop */

struct record {
	struct kar_loop *loop;
	struct kar_timer *timer;
	struct kar_io *io;
	struct kar_child *child;
	struct kar_signal *signal;
	int calls, value, fd;
	kar_time at;
};

static void note_time(void *arg)
{
	struct record *r = arg;

	r->calls++;
	r->at = kar_clock_mono();
	kar_loop_stop(r->loop);
}

static void when_delay_is_below_a_second_then_it_is_kept_and_the_loop_sleeps(void **state KAR_UNUSED)
{
	static const kar_time delays[] = { 1, 20, 50, 120 };

	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		struct record r = { .loop = kar_loop_new() };
		struct kar_timer *t = kar_timer_new(r.loop, note_time, &r);
		unsigned before = wait_turns;
		kar_time start = kar_clock_mono();

		kar_timer_start(t, delays[i]);
		assert_true(kar_timer_running(t));
		kar_loop_run(r.loop);
		assert_int_equal(r.calls, 1);
		assert_false(kar_timer_running(t));
		assert_in_range(r.at - start, delays[i], delays[i] + 1000);
		assert_in_range(wait_turns - before, 1, TURNS_MAX);
		kar_timer_free(t);
		kar_loop_free(r.loop);
	}
}

static void block_then_arm(void *arg)
{
	struct record *r = arg;
	kar_time start = kar_clock_mono();

	while (kar_clock_mono() < start + 30)
		;
	r->value = (int)(kar_clock_mono() & 0x7fffffff);
	r->at = kar_clock_mono();
	kar_timer_start(r->timer, 50);
}

static void when_armed_after_a_long_callback_then_delay_counts_from_now(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() }, fired = { .loop = r.loop };
	struct kar_timer *first = kar_timer_new(r.loop, block_then_arm, &r);

	r.timer = kar_timer_new(r.loop, note_time, &fired);
	kar_timer_start(first, 0);
	kar_loop_run(r.loop);
	assert_in_range(fired.at - r.at, 50, 1000);
	assert_in_range(kar_loop_take_lag(r.loop), 29, 1000);
	assert_int_equal(kar_loop_take_lag(r.loop), 0);
	kar_timer_free(first);
	kar_timer_free(r.timer);
	kar_loop_free(r.loop);
}

static void never(void *arg)
{
	((struct record *)arg)->calls++;
}

static void when_timer_is_stopped_or_restarted_then_only_the_last_start_counts(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() }, last = { .loop = r.loop };
	struct kar_timer *stopped = kar_timer_new(r.loop, never, &r);
	struct kar_timer *again = kar_timer_new(r.loop, note_time, &last);

	kar_timer_start(stopped, 5);
	kar_timer_stop(stopped);
	kar_timer_start(again, 1);
	kar_timer_start(again, 20);
	kar_loop_run(r.loop);
	assert_int_equal(r.calls, 0);
	assert_int_equal(last.calls, 1);
	kar_timer_free(stopped);
	kar_timer_free(again);
	kar_timer_free(NULL);
	kar_loop_free(r.loop);
}

static void free_itself(void *arg)
{
	struct record *r = arg;

	kar_timer_free(r->timer);
	kar_loop_stop(r->loop);
}

static void when_callback_frees_its_own_timer_then_nothing_breaks(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };

	r.timer = kar_timer_new(r.loop, free_itself, &r);
	kar_timer_start(r.timer, 0);
	kar_loop_run(r.loop);
	kar_loop_free(r.loop);
}

static void read_once(void *arg, int fd, int events)
{
	struct record *r = arg;
	char c;

	assert_true(events & KAR_IO_READ);
	assert_int_equal(read(fd, &c, 1), 1);
	r->calls++;
	r->value = c;
	kar_io_free(r->io);
	r->io = NULL;
	kar_loop_stop(r->loop);
}

static void when_descriptor_is_readable_then_it_is_told_and_may_be_freed(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	r.io = kar_io_new(r.loop, fds[0], read_once, &r);
	kar_io_set(r.io, KAR_IO_READ);
	assert_int_equal(write(fds[1], "xy", 2), 2);
	kar_loop_run(r.loop);
	assert_int_equal(r.value, 'x');
	assert_in_range(wait_for_ms(r.loop, 10), 1, TURNS_MAX); /* "y" is pending, but nobody waits for it */
	assert_int_equal(r.calls, 1);
	close(fds[0]);
	close(fds[1]);
	kar_loop_free(r.loop);
}

static void on_events(void *arg, int fd KAR_UNUSED, int events)
{
	struct record *r = arg;

	r->value |= events;
	r->calls++;
	kar_io_set(r->io, 0);
}

static void when_interest_changes_then_only_the_new_events_come(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	r.io = kar_io_new(r.loop, fds[1], on_events, &r);
	kar_io_set(r.io, KAR_IO_WRITE);
	kar_io_set(r.io, 0);
	wait_for_ms(r.loop, 5);
	assert_int_equal(r.calls, 0);
	kar_io_set(r.io, KAR_IO_WRITE);
	wait_for_ms(r.loop, 5);
	assert_int_equal(r.calls, 1);
	assert_int_equal(r.value, KAR_IO_WRITE);
	kar_io_free(r.io);
	close(fds[0]);
	close(fds[1]);
	kar_loop_free(r.loop);
}

static void on_signal(void *arg, int signum)
{
	struct record *r = arg;

	r->value = signum;
	kar_loop_stop(r->loop);
}

static void when_a_signal_comes_then_it_is_told_from_the_loop(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };

	r.signal = kar_signal_new(r.loop, SIGUSR1, on_signal, &r);
	raise(SIGUSR1);
	assert_int_equal(r.value, 0);
	kar_loop_run(r.loop);
	assert_int_equal(r.value, SIGUSR1);
	kar_signal_free(r.signal);
	kar_loop_free(r.loop);
}

static void on_child(void *arg, int status)
{
	struct record *r = arg;

	r->calls++;
	r->value = status;
	kar_child_free(r->child);
	kar_loop_stop(r->loop);
}

static pid_t child_that_exits(int code)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(code);
	return pid;
}

static void when_a_child_ends_then_its_status_is_told_and_other_children_are_left_alone(
	void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };
	pid_t other = child_that_exits(4);
	int status;

	r.child = kar_child_new(r.loop, child_that_exits(3), on_child, &r);
	kar_loop_run(r.loop);
	assert_int_equal(r.calls, 1);
	assert_true(WIFEXITED(r.value));
	assert_int_equal(WEXITSTATUS(r.value), 3);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WEXITSTATUS(status), 4);
	kar_loop_free(r.loop);
}

enum { ROUNDS = 20 };

/* Its own answer is there at once, as under load one is always. */
static void read_and_answer(void *arg, int fd, int events KAR_UNUSED)
{
	struct record *r = arg;
	char c;

	assert_int_equal(read(fd, &c, 1), 1);
	if (++r->calls < ROUNDS)
		assert_int_equal(write(r->fd, &c, 1), 1);
	else
		kar_loop_stop(r->loop);
}

/* No upper bound: how late it is on a busy machine says nothing. */
static void when_turns_follow_each_other_closely_then_they_begin_4_ms_apart(void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };
	int fds[2];
	kar_time start;

	assert_int_equal(pipe(fds), 0);
	r.fd = fds[1];
	r.io = kar_io_new(r.loop, fds[0], read_and_answer, &r);
	kar_io_set(r.io, KAR_IO_READ);
	assert_int_equal(write(fds[1], "x", 1), 1);
	start = kar_clock_mono();
	kar_loop_run(r.loop);
	assert_int_equal(r.calls, ROUNDS);
	assert_true(kar_clock_mono() - start >= 3 * ROUNDS);
	kar_io_free(r.io);
	close(fds[0]);
	close(fds[1]);
	kar_loop_free(r.loop);
}

/* For longer than turns are to begin apart; then a timer, as libcurl starts one at each turn's end. */
static void be_busy_and_answer(void *arg, int fd, int events)
{
	enum { BUSY_MS = 10 };
	struct record *r = arg;
	kar_time start = kar_clock_mono();

	while (kar_clock_mono() < start + BUSY_MS)
		;
	kar_timer_start(r->timer, KAR_SECOND);
	read_and_answer(r, fd, events);
}

static void when_callbacks_take_longer_than_turns_are_apart_then_the_next_begins_at_once(
	void **state KAR_UNUSED)
{
	struct record r = { .loop = kar_loop_new() };
	int64_t before = wait_gathered_us;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	r.fd = fds[1];
	r.io = kar_io_new(r.loop, fds[0], be_busy_and_answer, &r);
	r.timer = kar_timer_new(r.loop, never, &r);
	kar_io_set(r.io, KAR_IO_READ);
	assert_int_equal(write(fds[1], "x", 1), 1);
	kar_loop_run(r.loop);
	assert_int_equal(wait_gathered_us, before);
	kar_timer_free(r.timer);
	kar_io_free(r.io);
	close(fds[0]);
	close(fds[1]);
	kar_loop_free(r.loop);
}

static void write_one(void *arg)
{
	struct record *r = arg;

	assert_int_equal(write(r->fd, "x", 1), 1);
	wait_gathered_us = 0;
}

/* By load, which must be forgotten. */
static void when_something_comes_after_quiet_then_it_is_told_at_once(void **state KAR_UNUSED)
{
	enum { QUIET_MS = 100 };
	struct record r = { .loop = kar_loop_new() };
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	r.fd = fds[1];
	r.io = kar_io_new(r.loop, fds[0], read_and_answer, &r);
	kar_io_set(r.io, KAR_IO_READ);
	assert_int_equal(write(fds[1], "x", 1), 1);
	kar_loop_run(r.loop);
	assert_true(wait_gathered_us > 0);
	r.calls = ROUNDS - 1;
	r.timer = kar_timer_new(r.loop, write_one, &r);
	kar_timer_start(r.timer, QUIET_MS);
	kar_loop_run(r.loop);
	assert_int_equal(r.calls, ROUNDS);
	assert_int_equal(wait_gathered_us, 0);
	kar_timer_free(r.timer);
	kar_io_free(r.io);
	close(fds[0]);
	close(fds[1]);
	kar_loop_free(r.loop);
}

static void when_nothing_happens_then_the_loop_sleeps(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();

	assert_in_range(wait_for_ms(l, 100), 1, TURNS_MAX);
	assert_in_range(kar_loop_wall(l) - kar_clock_wall() + 1000, 0, 2000);
	kar_loop_free(l);
}

static void rows_of_gathering(void **state KAR_UNUSED)
{
	static const struct {
		const char *name;
		int before_us;
		int64_t before_rate; /* thousand bytes per second */
		int turns;           /* of these: */
		kar_time between, busy;
		size_t took; /* thousand bytes */
		int after_us;
	} rows[] = {
		{ "when_all_was_quiet_then_nothing_is_held_up", 0, 0, 1, 10000, 0, 9, 0 },
		{ "when_two_turns_follow_closely_then_they_begin_4_ms_apart", 0, 0, 1, 20, 0, 9, 4000 },
		{ "when_it_goes_on_then_a_little_more_gathers", 4000, 2000, 1, 6, 0, 12, 4096 },
		{ "when_it_goes_on_for_1_s_then_20_ms_gather", 4000, 2000, 100, 10, 0, 20, 20000 },
		{ "when_it_goes_on_for_6_s_then_100_ms_gather", 4000, 2000, 1000, 6, 0, 12, 100000 },
		{ "when_timers_of_0_ms_make_turns_then_they_do_not_count", 4000, 2000, 1000, 0, 0, 0, 4000 },
		{ "when_it_goes_on_for_ever_then_no_more_gathers", 100000, 2000, 20, 101, 0, 200, 100000 },
		{ "when_gathering_alone_kept_turns_apart_then_it_is_not_quiet", 100000, 2000, 20, 120, 0, 200,
			100000 },
		{ "when_nothing_came_after_gathering_then_it_is_quiet", 100000, 2000, 1, 121, 0, 200, 0 },
		{ "when_callbacks_were_busy_then_it_is_not_quiet", 4000, 2000, 1, 60, 59, 200, 4960 },
		{ "when_nothing_came_after_busy_callbacks_then_it_is_quiet", 4000, 2000, 1, 60, 35, 200, 0 },
		{ "when_little_comes_then_little_gathers", 4000, 0, 1000, 10, 0, 1, 9527 },
		{ "when_less_comes_than_before_then_less_gathers", 100000, 2000, 500, 20, 0, 2, 9541 },
		{ "when_hardly_anything_comes_then_it_is_the_least", 100000, 2000, 1000, 20, 0, 0, 4000 },
		{ "when_a_list_comes_then_the_peer_does_not_wait_for_its_window", 100000, 2000, 8, 60, 30,
			2500, 29981 },
		{ "when_a_list_goes_on_then_it_stays_so", 4000, 50000, 1000, 20, 15, 1000, 10485 },
	};
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_gather g = { rows[i].before_us, rows[i].before_rate * 1000 };

		for (int n = 0; n < rows[i].turns; n++)
			g = kar_loop_gather(g, rows[i].between, rows[i].busy, rows[i].took * 1000);

		if (g.us == rows[i].after_us)
			continue;
		print_error("%s: %d us, %" PRId64 " bytes/s\n", rows[i].name, g.us, g.rate);
		failed++;
	}
	assert_int_equal(failed, 0);
}

static void rows_of_slack(void **state KAR_UNUSED)
{
	static const struct {
		const char *name;
		kar_time after, since;
		int gather_us;
		kar_time delay;
	} rows[] = {
		{ "when_turns_do_not_gather_then_there_is_no_slack", 20, 3, 0, 20 },
		{ "when_turns_gather_then_it_fires_when_the_next_begins", 20, 3, 50000, 47 },
		{ "when_it_is_due_with_a_turn_then_it_is_not_late", 20, 30, 50000, 20 },
		{ "when_it_is_due_after_the_next_turn_then_with_the_one_after_that", 50, 3, 50000, 97 },
		{ "when_this_turn_is_long_then_turns_still_count_from_its_start", 1, 120, 50000, 30 },
		{ "when_turns_begin_a_fraction_of_a_ms_later_then_it_comes_before_that", 3, 0, 4092, 4 },
	};
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_time got = kar_loop_slack(rows[i].after, rows[i].since, rows[i].gather_us);

		if (got == rows[i].delay)
			continue;
		print_error("%s: %" PRId64 " ms\n", rows[i].name, got);
		failed++;
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_delay_is_below_a_second_then_it_is_kept_and_the_loop_sleeps),
		cmocka_unit_test(when_armed_after_a_long_callback_then_delay_counts_from_now),
		cmocka_unit_test(when_timer_is_stopped_or_restarted_then_only_the_last_start_counts),
		cmocka_unit_test(when_callback_frees_its_own_timer_then_nothing_breaks),
		cmocka_unit_test(when_descriptor_is_readable_then_it_is_told_and_may_be_freed),
		cmocka_unit_test(when_interest_changes_then_only_the_new_events_come),
		cmocka_unit_test(when_a_signal_comes_then_it_is_told_from_the_loop),
		cmocka_unit_test(when_a_child_ends_then_its_status_is_told_and_other_children_are_left_alone),
		cmocka_unit_test(when_turns_follow_each_other_closely_then_they_begin_4_ms_apart),
		cmocka_unit_test(
			when_callbacks_take_longer_than_turns_are_apart_then_the_next_begins_at_once),
		cmocka_unit_test(when_something_comes_after_quiet_then_it_is_told_at_once),
		cmocka_unit_test(rows_of_gathering),
		cmocka_unit_test(rows_of_slack),
		cmocka_unit_test(when_nothing_happens_then_the_loop_sleeps),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
