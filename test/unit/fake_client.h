/*
 * fake_client - a struct kar_client that plays a script: each request must be the expected one, and gets the answer
 * that stands beside it. Answers arrive from the loop, as the contract says.
 *
 * Header only: each test program is one file. When the script is over, the next request stops the loop.
 */
#ifndef TEST_UNIT_FAKE_CLIENT_H
#define TEST_UNIT_FAKE_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/kube/client.h"
#include "common/loop/loop.h"

struct fake_step {
	const char *expect; /* path and query; NULL ends the script */
	const char *give;   /* bytes of the answer */
	struct kar_err err; /* KAR_OK: ends well */
	bool hang;          /* does not end by itself: the caller must cancel it */
	bool stop;          /* with hang: stops the loop once the bytes are given */
	bool mute;          /* with hang: the answer does not even begin */
	kar_time after;     /* ms until the answer comes */
};

struct fake_client {
	struct kar_client base;
	struct kar_loop *loop;
	const char *name; /* of the row, for messages */
	const struct fake_step *steps;
	size_t at;    /* steps used up */
	size_t chunk; /* bytes per on_data; 0: all at once */
	/* Turns what the script gives into what the server sends; NULL: it is that already. */
	void (*encode)(const struct kar_request *r, const char *give, struct kar_buf *out);
	int cancelled;
	struct kar_timer *watchdog;
};

struct kar_call {
	struct fake_client *fake;
	const struct fake_step *step; /* NULL: the script was over */
	struct kar_request request;
	struct kar_timer *timer;
};

static void fake_end_call(struct kar_call *call)
{
	kar_timer_free(call->timer);
	free(call);
}

static int fake_send(struct kar_call *call, const char *p, size_t left)
{
	size_t chunk = call->fake->chunk ? call->fake->chunk : left;

	for (; left; p += chunk, left -= chunk) {
		chunk = chunk < left ? chunk : left;

		char *copy = kar_xmalloc(chunk); /* so that the sanitizer sees a read beyond it */

		memcpy(copy, p, chunk);
		int result =
			call->request.on_data ? call->request.on_data(call->request.arg, copy, chunk) : 0;

		free(copy);
		if (result)
			return -1;
	}
	return 0;
}

static int fake_give(struct kar_call *call)
{
	const char *give = call->step->give ? call->step->give : "";
	struct kar_buf bytes = { 0 };

	if (call->fake->encode)
		call->fake->encode(&call->request, give, &bytes);
	else
		kar_buf_puts(&bytes, give);
	int rc = fake_send(call, kar_buf_cstr(&bytes), bytes.n);

	kar_buf_release(&bytes);
	return rc;
}

static void fake_answer(void *arg)
{
	struct kar_call *call = arg;
	const struct fake_step *step = call->step;
	const struct kar_request r = call->request;
	static const struct kar_err aborted = { .what = KAR_INVALID, .msg = "aborted by on_data" };
	struct kar_answer ok = { .status = 200, .uid = "" };
	bool stopped;

	if (r.on_begun && (step->give || step->hang) && !step->mute)
		r.on_begun(r.arg);
	stopped = fake_give(call) != 0;

	if (step->hang && !stopped) {
		if (step->stop)
			kar_loop_stop(call->fake->loop);
		return;
	}
	fake_end_call(call);
	if (stopped)
		r.on_done(r.arg, NULL, &aborted);
	else if (step->err.what != KAR_OK)
		r.on_done(r.arg, NULL, &step->err);
	else
		r.on_done(r.arg, &ok, NULL);
}

static void fake_expect(struct fake_client *f, const struct kar_request *r, const char *want)
{
	struct kar_buf path = { 0 };

	kar_buf_printf(&path, "%s ", kar_verb_name(r->verb));
	kar_request_path(r, &path);
	if (strcmp(kar_buf_cstr(&path), want))
		fail_msg("%s: request %zu is\n  %s\nwant\n  %s", f->name, f->at, kar_buf_cstr(&path), want);
	kar_buf_release(&path);
}

static struct kar_call *fake_start(struct kar_client *c, const struct kar_request *r)
{
	struct fake_client *f = kar_container_of(c, struct fake_client, base);
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));

	call->fake = f;
	call->request = *r;
	call->timer = kar_timer_new(f->loop, fake_answer, call);
	if (!f->steps[f->at].expect) {
		kar_loop_stop(f->loop);
		return call;
	}
	call->step = &f->steps[f->at];
	fake_expect(f, r, call->step->expect);
	f->at++;
	kar_timer_start(call->timer, call->step->after);
	return call;
}

static void fake_cancel(struct kar_client *c, struct kar_call *call)
{
	struct fake_client *f = kar_container_of(c, struct fake_client, base);

	if (call->step)
		f->cancelled++;
	fake_end_call(call);
}

static void fake_free(struct kar_client *c)
{
	(void)c;
}

static void fake_too_late(void *arg)
{
	struct fake_client *f = arg;

	fail_msg("%s: stuck after request %zu", f->name, f->at);
}

static const struct kar_client_ops fake_ops = { .start = fake_start,
	.cancel = fake_cancel,
	.free = fake_free };

static inline void fake_init(struct fake_client *f, const char *name, const struct fake_step *steps)
{
	enum { DEADLINE_MS = 3000 };

	*f = (struct fake_client){ .base = { .ops = &fake_ops },
		.loop = kar_loop_new(),
		.name = name,
		.steps = steps };
	f->watchdog = kar_timer_new(f->loop, fake_too_late, f);
	kar_timer_start(f->watchdog, DEADLINE_MS);
}

static inline void fake_release(struct fake_client *f)
{
	kar_timer_free(f->watchdog);
	kar_loop_free(f->loop);
}

#endif
