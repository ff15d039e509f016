/* credential: expiry and refusal of what a plug-in gave, its failures, and who waits for what. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/loop/clock.h"
#include "credential_fixture.h"
#include "tmpdir.h"

enum { OLD = 60 }; /* seconds: a settled file */

/* Each run of the plug-in appends a line to `runs` and then does what its script says. */
struct plug {
	struct tmpdir dir;
	struct kar_loop *loop;
	struct kar_exec_config exec;
	struct kar_kubeconfig config;
	struct kar_credential *c;
};

#define V1 "client.authentication.k8s.io/v1"
/* The token counts the runs: t1, t2 ... */
#define GIVE_TOKEN \
	"printf '{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t%s\"" \
	"%s}}' $(wc -l <runs) \"$(cat expiry)\"\n"

static void plug_set_script(struct plug *p, const char *script)
{
	char *text = kar_xasprintf("#!/bin/sh\ncd '%s'\necho run >>runs\n%s", p->dir.path, script);
	char *path = tmpdir_join(&p->dir, "plugin.new"), *final = tmpdir_join(&p->dir, "plugin");

	tmpdir_write(&p->dir, "plugin.new", text, OLD);
	chmod(path, 0700);
	rename(path, final);
	free(text);
	free(path);
	free(final);
}

/* The next results expire @ms from now; 0: never. */
static void plug_set_expiry(struct plug *p, kar_time ms)
{
	char when[KAR_TIME_LEN], *text;

	kar_time_format_micro(kar_clock_wall() + ms, when);
	text = kar_xasprintf(",\"expirationTimestamp\":\"%s\"", when);
	tmpdir_write(&p->dir, "expiry", ms ? text : "", OLD);
	free(text);
}

static int plug_runs(const struct plug *p)
{
	struct kar_arena arena = { 0 };
	char *path = tmpdir_join(&p->dir, "runs");
	size_t n = 0;

	kar_read_file(&arena, path, 1 << 16, false, &n, NULL);
	kar_arena_release(&arena);
	free(path);
	return (int)(n / strlen("run\n"));
}

static void plug_init(struct plug *p, const char *script, const struct kar_credential_options *o)
{
	struct kar_err err;

	memset(p, 0, sizeof(*p));
	tmpdir_init(&p->dir);
	plug_set_script(p, script);
	plug_set_expiry(p, 0);
	p->exec.api_version = V1;
	p->exec.command = tmpdir_join(&p->dir, "plugin");
	p->config.exec = &p->exec;
	p->loop = kar_loop_new();
	p->c = kar_credential_new_with(p->loop, &p->config, o, &err);
	if (!p->c)
		fail_msg("%s", err.msg);
}

static void plug_release(struct plug *p)
{
	kar_credential_free(p->c);
	kar_loop_free(p->loop);
	kar_cleanup_free(&p->exec.command);
	tmpdir_release(&p->dir);
}

/* Lets the loop turn until the plug-in has been run @n times and an acquire is answered with token t@n. */
static struct answer wait_for_token(struct plug *p, int n)
{
	kar_time deadline = kar_clock_mono() + GUARD_MS;
	char want[32];
	struct answer a;

	snprintf(want, sizeof(want), "Bearer t%d", n);
	do {
		run_for(p->loop, 1);
		a = acquire(p->c, p->loop);
		if (kar_clock_mono() > deadline)
			fail_msg("no %s, but %s %s", want, a.authorization, a.err.msg);
	} while (strcmp(a.authorization, want) != 0);
	return a;
}

static const struct kar_credential_options usual = { .token_period = 0 };

static void plugin_runs_once_and_its_token_is_kept(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer a;

	plug_init(&p, GIVE_TOKEN, &usual);
	assert_int_equal(plug_runs(&p), 0); /* only when needed */
	a = acquire(p.c, p.loop);
	assert_string_equal(a.authorization, "Bearer t1");
	assert_int_equal(kar_credential_expiry(p.c), KAR_NEVER);
	for (int i = 0; i < 3; i++)
		assert_string_equal(acquire_at_once(p.c, p.loop).authorization, "Bearer t1");
	assert_int_equal(plug_runs(&p), 1);
	plug_release(&p);
}

static void expired_token_is_replaced_before_use(void **state KAR_UNUSED)
{
	enum { LIFE_MS = 800 };
	struct plug p;
	struct answer a;
	kar_time end;

	plug_init(&p, GIVE_TOKEN, &usual);
	plug_set_expiry(&p, LIFE_MS);
	end = kar_clock_wall() + LIFE_MS;
	a = acquire(p.c, p.loop);
	assert_string_equal(a.authorization, "Bearer t1");
	assert_true(kar_credential_expiry(p.c) <= end + 1 && kar_credential_expiry(p.c) > end - GUARD_MS);
	plug_set_expiry(&p, KAR_MINUTE);
	while (kar_clock_wall() <= end)
		run_for(p.loop, 20);
	a = acquire(p.c, p.loop);
	assert_string_equal(a.authorization, "Bearer t2");
	assert_int_equal(plug_runs(&p), 2);
	plug_release(&p);
}

static void refresh_before_the_expiry_makes_nobody_wait(void **state KAR_UNUSED)
{
	struct plug p;

	plug_init(&p, GIVE_TOKEN, &(struct kar_credential_options){ .exec_margin = 60 * KAR_MINUTE });
	plug_set_expiry(&p, KAR_MINUTE);
	assert_string_equal(acquire(p.c, p.loop).authorization, "Bearer t1");
	plug_set_expiry(&p, 0);
	assert_string_equal(acquire_at_once(p.c, p.loop).authorization, "Bearer t1"); /* and starts a run */
	assert_int_equal(wait_for_token(&p, 2).generation, 3); /* 1: nothing yet, 2: t1 */
	assert_int_equal(plug_runs(&p), 2);
	plug_release(&p);
}

static void failed_refresh_keeps_the_token_and_tells(void **state KAR_UNUSED)
{
	kar_time deadline = kar_clock_mono() + GUARD_MS;
	struct plug p;
	struct answer a;

	plug_init(&p, GIVE_TOKEN, &(struct kar_credential_options){ .exec_margin = 60 * KAR_MINUTE });
	plug_set_expiry(&p, KAR_MINUTE);
	assert_string_equal(acquire(p.c, p.loop).problem, "");
	plug_set_script(&p, "echo 'token server is down' >&2\nexit 1\n");
	do {
		a = acquire_at_once(p.c, p.loop);
		assert_string_equal(a.authorization, "Bearer t1");
		run_for(p.loop, 1);
	} while (!*a.problem && kar_clock_mono() < deadline);
	assert_non_null(strstr(a.problem, ": ended with exit code 1: token server is down"));
	assert_int_equal(plug_runs(&p), 2); /* back-off: not once per acquire */
	plug_release(&p);
}

struct failing_row {
	const char *name, *script, *contains;
	kar_time timeout; /* ms; 0: the default */
};

static const struct failing_row failing_rows[] = {
	{ "exit_1", "echo oops >&2\nexit 1\n", "ended with exit code 1: oops" },
	{ "hang", "sleep 60\n", "did not end within 0.2 s and was killed", 200 },
	{ "2_mb", "head -c 2000000 /dev/zero\n", "printed more than 1024 KiB" },
	{ "bad_json", "echo s3cret\n", "did not print an ExecCredential" },
	{ "wrong_version", "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v0\"}'\n",
		"answered with apiVersion \"v0\"" },
};

static void failing_plugin_is_an_error_with_back_off_then_heals(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(failing_rows); i++) {
		const struct failing_row *r = &failing_rows[i];
		struct kar_credential_options o = { .exec_timeout = r->timeout, .retry_base = 50 };
		struct plug p;
		struct answer a, b = { 0 };

		plug_init(&p, r->script, &o);
		b.loop = p.loop;
		kar_credential_acquire(p.c, on_ready, &b); /* waits for the same run */
		a = acquire(p.c, p.loop);
		if (a.ok || !strstr(a.err.msg, r->contains) || strstr(a.err.msg, "s3cret"))
			fail_msg("%s: %s", r->name, a.err.msg);
		if (b.calls != 1 || strcmp(b.err.msg, a.err.msg) != 0)
			fail_msg("%s: the other waiter got %d answers: %s", r->name, b.calls, b.err.msg);
		a = acquire_at_once(p.c, p.loop);
		if (a.ok || plug_runs(&p) != 1)
			fail_msg("%s: run %d times without a pause", r->name, plug_runs(&p));
		plug_set_script(&p, GIVE_TOKEN);
		wait_for_token(&p, 2);
		plug_release(&p);
	}
}

static void refused_token_is_replaced_once(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer a;

	plug_init(&p, GIVE_TOKEN, &usual);
	a = acquire(p.c, p.loop);
	kar_credential_rejected(p.c, a.generation);
	kar_credential_rejected(p.c, a.generation); /* by several requests at once */
	a = acquire(p.c, p.loop);
	assert_string_equal(a.authorization, "Bearer t2");
	kar_credential_rejected(p.c, a.generation - 1); /* a late one: t1 is history */
	assert_string_equal(acquire_at_once(p.c, p.loop).authorization, "Bearer t2");
	kar_credential_rejected(p.c, a.generation); /* the server refuses everybody: not once per request */
	assert_string_equal(acquire_at_once(p.c, p.loop).authorization, "Bearer t2");
	assert_int_equal(plug_runs(&p), 2);
	plug_release(&p);
}

static void refused_again_after_the_gap_then_runs_again(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer a;

	plug_init(&p, GIVE_TOKEN, &(struct kar_credential_options){ .forced_gap = 1 });
	a = acquire(p.c, p.loop);
	for (int i = 2; i < 5; i++) {
		run_for(p.loop, 5);
		kar_credential_rejected(p.c, a.generation);
		a = acquire(p.c, p.loop);
		assert_int_equal(plug_runs(&p), i);
	}
	plug_release(&p);
}

static void same_answer_again_then_same_generation(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer a, b;

	plug_init(&p,
		"echo '{\"apiVersion\":\"" V1
		"\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n",
		&usual);
	a = acquire(p.c, p.loop);
	kar_credential_rejected(p.c, a.generation);
	b = acquire(p.c, p.loop);
	assert_int_equal(plug_runs(&p), 2);
	assert_int_equal(a.generation, b.generation);
	plug_release(&p);
}

static void abandoned_acquire_is_not_answered(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer gone, inside, stays;

	plug_init(&p, GIVE_TOKEN, &usual);
	gone = inside = stays = (struct answer){ .loop = p.loop };
	stays.abandon = &inside; /* it comes before it in the queue */
	stays.abandon_in = p.c;
	kar_credential_acquire(p.c, on_ready, &gone);
	kar_credential_acquire(p.c, on_ready, &stays);
	kar_credential_acquire(p.c, on_ready, &inside);
	kar_credential_abandon(p.c, &gone);
	run_for(p.loop, GUARD_MS);
	assert_int_equal(gone.calls, 0);
	assert_int_equal(stays.calls, 1);
	assert_int_equal(inside.calls, 0);
	plug_release(&p);
}

static void refused_while_others_wait_then_they_get_the_next(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer one, two;

	plug_init(&p, GIVE_TOKEN, &usual);
	one = two = (struct answer){ .loop = p.loop };
	one.reject = p.c;
	kar_credential_acquire(p.c, on_ready, &one);
	kar_credential_acquire(p.c, on_ready, &two);
	run_for(p.loop, GUARD_MS);
	if (!two.calls)
		run_for(p.loop, GUARD_MS);
	assert_string_equal(one.authorization, "Bearer t1");
	assert_string_equal(two.authorization, "Bearer t2");
	assert_int_equal(two.calls, 1);
	plug_release(&p);
}

static void freed_while_the_plugin_runs_then_silent(void **state KAR_UNUSED)
{
	struct plug p;
	struct answer a;

	plug_init(&p, "sleep 60\n", &usual);
	a = (struct answer){ .loop = p.loop };
	kar_credential_acquire(p.c, on_ready, &a);
	assert_int_equal(a.calls, 0);
	plug_release(&p);
	assert_int_equal(a.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plugin_runs_once_and_its_token_is_kept),
		cmocka_unit_test(expired_token_is_replaced_before_use),
		cmocka_unit_test(refresh_before_the_expiry_makes_nobody_wait),
		cmocka_unit_test(failed_refresh_keeps_the_token_and_tells),
		cmocka_unit_test(failing_plugin_is_an_error_with_back_off_then_heals),
		cmocka_unit_test(refused_token_is_replaced_once),
		cmocka_unit_test(refused_again_after_the_gap_then_runs_again),
		cmocka_unit_test(same_answer_again_then_same_generation),
		cmocka_unit_test(abandoned_acquire_is_not_answered),
		cmocka_unit_test(refused_while_others_wait_then_they_get_the_next),
		cmocka_unit_test(freed_while_the_plugin_runs_then_silent),
	};

	signal(SIGPIPE, SIG_IGN); /* as the manager */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
