/* The probe: which answers mean that the API server is back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kube/probe.h"
#include "test/fixture/fake_client.h"

struct bench {
	struct kar_loop *loop;
	struct fake_client *fake;
	struct kar_probe *probe;
	struct kar_timer *answer;
	const int *codes; /* one after the other; 0: no connection; -1: the end */
	size_t at;        /* the next one */
	size_t ready_at;  /* number of answers before the first "ready"; 0: none */
};

static void on_ready(void *arg)
{
	struct bench *b = arg;

	if (!b->ready_at)
		b->ready_at = b->at;
}

static void answer_next(void *arg)
{
	struct bench *b = arg;
	int open = fake_find(b->fake, "list readyz ");
	struct kar_err err = { .what = KAR_RETRY };

	if (b->codes[b->at] == -1) {
		kar_loop_stop(b->loop);
		return;
	}
	kar_timer_start(b->answer, 1);
	if (open < 0)
		return;
	err.http = b->codes[b->at++];
	err.what = err.http == 403 ? KAR_DENIED : err.http == 401 ? KAR_UNAUTHORIZED : KAR_RETRY;
	if (err.http == 200) {
		fake_answer(b->fake, open, "ok", 0);
		return;
	}
	b->fake->requests[open].open = false;
	b->fake->requests[open].on_done(b->fake->requests[open].arg, NULL, &err);
}

static void ready_is_an_answer_of_a_server_that_works(void **state)
{
	static const struct {
		const char *name;
		int codes[12];
		size_t want;
	} rows[] = {
		{ "ready", { 200, -1 }, 1 },
		{ "nobody_is_there", { 0, 0, 0, -1 }, 0 },
		{ "there_at_last", { 0, 0, 200, -1 }, 3 },
		{ "not_ready_yet", { 500, 503, 429, -1 }, 0 },
		{ "behind_a_proxy_that_does_not_know_the_path", { 0, 404, -1 }, 2 },
		{ "refused_while_it_starts", { 403, 403, 401, 500, 200, -1 }, 5 },
		{ "refused_for_long", { 403, 403, 403, 403, 403, 403, 403, 403, -1 }, 8 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct bench b = { .loop = kar_loop_new(),
			.fake = fake_client_new(),
			.codes = rows[i].codes };

		b.probe = kar_probe_new(b.loop, &b.fake->client, i, on_ready, &b);
		b.answer = kar_timer_new(b.loop, answer_next, &b);
		kar_probe_start(b.probe);
		kar_probe_start(b.probe); /* no second request beside the first */
		kar_timer_start(b.answer, 1);
		kar_loop_run(b.loop);
		if (b.ready_at != rows[i].want)
			fail_msg("%s: ready after %zu answers, want %zu", rows[i].name, b.ready_at,
				rows[i].want);
		kar_probe_free(b.probe);
		kar_timer_free(b.answer);
		kar_client_free(&b.fake->client);
		kar_loop_free(b.loop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(ready_is_an_answer_of_a_server_that_works) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
