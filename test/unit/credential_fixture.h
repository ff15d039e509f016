/* Credentials as requests see them: acquiring, and what came of it. */
#ifndef KAR_TEST_CREDENTIAL_FIXTURE_H
#define KAR_TEST_CREDENTIAL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/credential.h"

enum { GUARD_MS = 20000 };

struct answer {
	struct kar_loop *loop;
	int calls;
	bool ok;
	char authorization[512];
	char problem[512];
	uint64_t generation;
	struct kar_err err;
	/* What to do from inside the answer. */
	struct kar_credential *reject, *abandon_in;
	struct answer *abandon;
};

static inline void on_ready(void *arg, const struct kar_auth *auth, const struct kar_err *err)
{
	struct answer *a = arg;

	a->calls++;
	a->ok = auth != NULL;
	assert_true((auth == NULL) != (err == NULL));
	if (auth) {
		snprintf(a->authorization, sizeof(a->authorization), "%s",
			auth->authorization ? auth->authorization : "none");
		snprintf(a->problem, sizeof(a->problem), "%s", auth->problem);
		a->generation = auth->generation;
	} else {
		a->err = *err;
	}
	if (a->reject)
		kar_credential_rejected(a->reject, a->generation);
	if (a->abandon)
		kar_credential_abandon(a->abandon_in, a->abandon);
	kar_loop_stop(a->loop);
}

static inline void on_timer(void *arg)
{
	kar_loop_stop(arg);
}

/* Runs the loop until someone stops it or @ms have passed. */
static inline void run_for(struct kar_loop *loop, kar_time ms)
{
	struct kar_timer *timer = kar_timer_new(loop, on_timer, loop);

	kar_timer_start(timer, ms);
	kar_loop_run(loop);
	kar_timer_free(timer);
}

static inline struct answer acquire(struct kar_credential *c, struct kar_loop *loop)
{
	struct answer a = { .loop = loop };

	kar_credential_acquire(c, on_ready, &a);
	if (!a.calls)
		run_for(loop, GUARD_MS);
	if (a.calls != 1)
		fail_msg("answered %d times", a.calls);
	return a;
}

/* As acquire(), and the answer must come from inside the call. */
static inline struct answer acquire_at_once(struct kar_credential *c, struct kar_loop *loop)
{
	struct answer a = { .loop = loop };

	kar_credential_acquire(c, on_ready, &a);
	if (a.calls != 1)
		fail_msg("answered %d times from inside the call", a.calls);
	return a;
}

#endif
