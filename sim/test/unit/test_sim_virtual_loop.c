#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/loop/clock.h"
#include "sim/virtual_loop.h"

enum { WALL = 1800000000 };

/* What fired, as "name@ms after the start;". */
struct world {
	struct sim_timeline *timeline;
	struct kar_loop *loop;
	kar_time start;
	char log[256];
};

struct named {
	struct world *w;
	const char *name;
	struct kar_timer *timer, *victim;
	kar_time again;
};

static void set_up(struct world *w)
{
	*w = (struct world){ .timeline = sim_timeline_new(WALL) };
	w->loop = sim_loop_new(w->timeline);
	w->start = kar_loop_mono(w->loop);
}

static void tear_down(struct world *w)
{
	kar_loop_free(w->loop);
	sim_timeline_free(w->timeline);
}

static void fire(void *arg)
{
	struct named *n = arg;
	size_t used = strlen(n->w->log);

	snprintf(n->w->log + used, sizeof(n->w->log) - used, "%s@%d;", n->name,
		(int)(kar_loop_mono(n->w->loop) - n->w->start));
	kar_timer_free(n->victim);
	n->victim = NULL;
	if (n->again)
		kar_timer_start(n->timer, n->again);
	n->again = 0;
}

static struct named timer(struct world *w, const char *name)
{
	return (struct named){ .w = w, .name = name };
}

static void arm(struct named *n, kar_time after)
{
	if (!n->timer)
		n->timer = kar_timer_new(n->w->loop, fire, n);
	kar_timer_start(n->timer, after);
}

static void run(struct world *w, kar_time until)
{
	sim_timeline_run(w->timeline, w->start + until);
}

static void when_timers_are_due_then_they_fire_in_order_of_time_and_start(void **state KAR_UNUSED)
{
	struct world w;
	struct named a, b, c;

	set_up(&w);
	a = timer(&w, "a"), b = timer(&w, "b"), c = timer(&w, "c");
	arm(&a, 20);
	arm(&b, 10);
	arm(&c, 10);
	b.again = 15;
	assert_true(kar_timer_running(a.timer));
	run(&w, 100);
	assert_string_equal(w.log, "b@10;c@10;a@20;b@25;");
	assert_false(kar_timer_running(a.timer));
	kar_timer_free(a.timer);
	kar_timer_free(b.timer);
	kar_timer_free(c.timer);
	tear_down(&w);
}

static void when_a_timer_is_restarted_stopped_or_freed_then_its_old_time_is_void(void **state KAR_UNUSED)
{
	struct world w;
	struct named a, b, c, d;

	set_up(&w);
	a = timer(&w, "a"), b = timer(&w, "b"), c = timer(&w, "c"), d = timer(&w, "d");
	arm(&a, 10);
	arm(&a, 30);
	arm(&b, 10);
	kar_timer_stop(b.timer);
	arm(&c, 15);
	arm(&d, 10);
	d.victim = c.timer;
	run(&w, 100);
	assert_string_equal(w.log, "d@10;a@30;");
	kar_timer_free(a.timer);
	kar_timer_free(b.timer);
	kar_timer_free(d.timer);
	tear_down(&w);
}

static void when_the_process_is_frozen_then_its_timers_fire_late_and_in_order(void **state KAR_UNUSED)
{
	struct world w;
	struct named a, b, c, d;

	set_up(&w);
	a = timer(&w, "a"), b = timer(&w, "b"), c = timer(&w, "c"), d = timer(&w, "d");
	arm(&a, 30);
	arm(&b, 20);
	arm(&c, 90);
	arm(&d, 25);
	sim_loop_freeze(w.loop);
	assert_true(sim_loop_frozen(w.loop));
	run(&w, 50);
	assert_string_equal(w.log, "");
	assert_true(kar_timer_running(a.timer)); /* due, and not done */
	kar_timer_stop(d.timer);
	assert_false(kar_timer_running(d.timer));
	sim_loop_thaw(w.loop);
	run(&w, 100);
	assert_string_equal(w.log, "b@50;a@50;c@90;");
	kar_timer_free(a.timer);
	kar_timer_free(b.timer);
	kar_timer_free(c.timer);
	kar_timer_free(d.timer);
	tear_down(&w);
}

static int64_t ns_taken;

static int64_t clock_of_work(void)
{
	return ns_taken;
}

static void work(void *arg)
{
	ns_taken += 3500000;
	fire(arg);
}

static void when_callbacks_take_time_then_what_is_due_meanwhile_is_late(void **state KAR_UNUSED)
{
	struct world w;
	struct named a, b, c;

	set_up(&w);
	a = timer(&w, "a"), b = timer(&w, "b"), c = timer(&w, "c");
	kar_timer_free(a.timer);
	a.timer = kar_timer_new(w.loop, work, &a);
	kar_timer_free(b.timer);
	b.timer = kar_timer_new(w.loop, work, &b);
	sim_loop_charge(w.loop, clock_of_work);
	arm(&a, 10);
	arm(&b, 12);
	arm(&c, 12);
	run(&w, 50);
	assert_string_equal(w.log, "a@10;b@13;c@17;"); /* what is less than a millisecond adds up */
	kar_timer_free(a.timer);
	kar_timer_free(b.timer);
	kar_timer_free(c.timer);
	tear_down(&w);
}

static void when_the_wall_clock_jumps_then_only_this_process_sees_it(void **state KAR_UNUSED)
{
	struct world w;
	struct kar_loop *other;

	set_up(&w);
	other = sim_loop_new(w.timeline);
	sim_loop_jump_wall(w.loop, -KAR_MINUTE);
	sim_loop_jump_wall(w.loop, KAR_SECOND);
	run(&w, 500);
	assert_int_equal(kar_loop_wall(w.loop), WALL + 500 - KAR_MINUTE + KAR_SECOND);
	assert_int_equal(kar_loop_wall(other), WALL + 500);
	assert_int_equal(kar_loop_mono(w.loop), w.start + 500);
	assert_int_equal(kar_loop_take_lag(w.loop), 0);
	kar_loop_free(other);
	tear_down(&w);
}

static void when_a_log_line_asks_for_the_time_then_it_is_that_of_the_newest_loop(void **state KAR_UNUSED)
{
	struct world w;

	set_up(&w);
	run(&w, 1234);
	assert_int_equal(kar_clock_wall_micros(), (int64_t)(WALL + 1234) * 1000);
	tear_down(&w);
}

static void stop(void *arg)
{
	struct named *n = arg;

	fire(n);
	kar_loop_stop(n->w->loop);
}

static void when_the_loop_is_run_then_it_ends_at_stop_or_when_nothing_is_left(void **state KAR_UNUSED)
{
	struct world w;
	struct named a, b;

	set_up(&w);
	a = timer(&w, "a"), b = timer(&w, "b");
	a.timer = kar_timer_new(w.loop, stop, &a);
	arm(&a, 10);
	arm(&b, 20);
	kar_loop_run(w.loop);
	assert_string_equal(w.log, "a@10;");
	kar_loop_run(w.loop);
	assert_string_equal(w.log, "a@10;b@20;");
	kar_timer_free(a.timer);
	kar_timer_free(b.timer);
	tear_down(&w);
}

/* --- what must not be used ----------------------------------------------------------------------------- */

static void use_io(struct kar_loop *l)
{
	kar_io_free(kar_io_new(l, STDIN_FILENO, NULL, NULL));
}

static void use_signal(struct kar_loop *l)
{
	kar_signal_free(kar_signal_new(l, SIGTERM, NULL, NULL));
}

static void use_child(struct kar_loop *l)
{
	kar_child_free(kar_child_new(l, 1, NULL, NULL));
}

static const struct {
	const char *function;
	void (*use)(struct kar_loop *l);
} impossible[] = {
	{ "kar_io_new", use_io },
	{ "kar_signal_new", use_signal },
	{ "kar_child_new", use_child },
};

/* What a child process that runs @use says, and how it ends. */
static int run_in_child(void (*use)(struct kar_loop *l), char *said, size_t room)
{
	int pipes[2], status;
	ssize_t n;

	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct sim_timeline *t = sim_timeline_new(WALL);

		signal(SIGABRT, SIG_DFL);
		dup2(pipes[1], STDERR_FILENO);
		use(sim_loop_new(t));
		_exit(0);
	}
	close(pipes[1]);
	n = read(pipes[0], said, room - 1);
	said[n > 0 ? n : 0] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void when_something_else_than_a_timer_is_asked_for_then_it_aborts_and_names_it(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(impossible); i++) {
		char said[256];
		int status = run_in_child(impossible[i].use, said, sizeof(said));

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
			!strstr(said, impossible[i].function))
			fail_msg("%s: status %d, said \"%s\"", impossible[i].function, status, said);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_timers_are_due_then_they_fire_in_order_of_time_and_start),
		cmocka_unit_test(when_a_timer_is_restarted_stopped_or_freed_then_its_old_time_is_void),
		cmocka_unit_test(when_the_process_is_frozen_then_its_timers_fire_late_and_in_order),
		cmocka_unit_test(when_callbacks_take_time_then_what_is_due_meanwhile_is_late),
		cmocka_unit_test(when_the_wall_clock_jumps_then_only_this_process_sees_it),
		cmocka_unit_test(when_a_log_line_asks_for_the_time_then_it_is_that_of_the_newest_loop),
		cmocka_unit_test(when_the_loop_is_run_then_it_ends_at_stop_or_when_nothing_is_left),
		cmocka_unit_test(when_something_else_than_a_timer_is_asked_for_then_it_aborts_and_names_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
