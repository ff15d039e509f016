#include "common/kube/reflector_impl.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/mem.h"

/* Trouble. */

static void enter_trouble(struct kar_reflector *r, const struct kar_err *err)
{
	r->trouble = *err;
	r->in_trouble = true;
	if (r->options.on_trouble)
		r->options.on_trouble(r->options.arg, r, err);
}

void kar_reflector_answered(struct kar_reflector *r)
{
	if (r->in_trouble && r->options.on_answer)
		r->options.on_answer(r->options.arg, r);
}

void kar_reflector_leave_trouble(struct kar_reflector *r)
{
	if (!r->in_trouble)
		return;
	r->in_trouble = false;
	if (r->options.on_trouble)
		r->options.on_trouble(r->options.arg, r, NULL);
}

/* Between two requests. */

void kar_reflector_end_attempt(struct kar_reflector *r)
{
	kar_reflector_stream_free(r->stream);
	r->stream = NULL;
	free(r->attempt.continue_token);
	r->attempt = (struct attempt){ 0 };
}

kar_time kar_reflector_moment(struct kar_reflector *r, kar_time least, kar_time most)
{
	r->random = r->random * 6364136223846793005u + 1442695040888963407u;
	return least + (most > least ? (kar_time)((r->random >> 33) % (uint64_t)(most - least)) : 0);
}

static kar_time waiting_time(struct kar_reflector *r)
{
	const struct kar_reflector_plan *plan = &r->plan;
	kar_time most = plan->at_most > plan->at_least ? plan->at_most : plan->at_least;
	kar_time wait;

	if (plan->within)
		return plan->at_least + kar_reflector_moment(r, 0, plan->within);
	wait = kar_backoff_next(&r->backoff, plan->at_least);
	return plan->at_most && wait > most ? most : wait;
}

static void wait_for(struct kar_reflector *r, kar_time ms)
{
	r->waits_since = kar_loop_mono(r->loop);
	r->waits_until = r->waits_since + ms;
	kar_timer_start(r->timer, ms);
}

void kar_reflector_follow(struct kar_reflector *r, struct kar_reflector_plan plan, const struct kar_err *err)
{
	static const struct kar_err closed = { .what = KAR_RETRY,
		.msg = "the server keeps closing the watch at once" };

	kar_reflector_end_attempt(r);
	r->plan = plan;
	if (plan.reset)
		kar_backoff_reset(&r->backoff);
	r->phase = WAITING;
	wait_for(r, plan.wait ? waiting_time(r) : 0);
	if (plan.trouble)
		enter_trouble(r, err ? err : &closed);
}

struct kar_request kar_reflector_request(const struct kar_reflector *r, struct kar_request q)
{
	q.protobuf = r->tables.protobuf;
	q.label_selector = r->label_selector;
	q.field_selector = r->field_selector;
	return q;
}

const struct kar_err *kar_reflector_reason(const struct kar_reflector *r, const struct kar_err *err)
{
	return r->attempt.err.what != KAR_OK ? &r->attempt.err : err;
}

int kar_reflector_on_data(void *arg, const char *bytes, size_t n)
{
	struct kar_reflector *r = arg;
	struct attempt *a = &r->attempt;
	struct kar_err err = { 0 };

	a->bytes = true;
	a->last_byte = kar_loop_mono(r->loop);
	if (kar_reflector_stream_feed(r->stream, bytes, n, &err) == 0)
		return 0;
	if (a->err.what == KAR_OK) {
		a->err = err;
		a->broken = true;
		r->stats.parse_errors++;
	}
	return -1;
}

static void report_unreadable(struct kar_reflector *r, const struct kar_object *o, const char *problem)
{
	const struct kar_object *known = kar_store_get(r->store, o->ns, o->name);
	bool reported = known && known->unreadable && strcmp(known->uid, o->uid) == 0;

	r->stats.unreadable++;
	if (!reported && r->options.on_unreadable)
		r->options.on_unreadable(r->options.arg, o, problem);
}

struct kar_object *kar_reflector_make(struct kar_reflector *r, const struct kar_wire_object *w,
	struct kar_err *err)
{
	struct kar_object *o = kar_wire_object_make(kar_store_type(r->store), w, r->strings, err);

	if (o && o->unreadable)
		report_unreadable(r, o, w->problem);
	return o;
}

/* The bytes have ended. libcurl may call a cut body complete: the reader's state decides, not the transport's. */
void kar_reflector_finish_stream(struct kar_reflector *r)
{
	struct attempt *a = &r->attempt;

	if (a->err.what != KAR_OK || kar_reflector_stream_finish(r->stream, &a->err) == 0)
		return;
	a->broken = true;
	r->stats.parse_errors++;
}

int kar_reflector_keep_version(char to[MAX_VERSION], const char *version, struct kar_err *err)
{
	if (strlen(version) >= MAX_VERSION)
		return kar_fail(err, KAR_INVALID, "resourceVersion of %zu bytes", strlen(version));
	strlcpy(to, version, MAX_VERSION);
	return 0;
}

/* Life. */

static void on_timer(void *arg)
{
	struct kar_reflector *r = arg;

	if (r->phase == WATCHING)
		kar_reflector_check_watch(r);
	else if (r->phase == WAITING && r->plan.watch)
		kar_reflector_watch(r);
	else if (r->phase == WAITING)
		kar_reflector_list(r);
}

static char *copy(const char *s)
{
	return s && s[0] ? kar_xstrdup(s) : NULL;
}

struct kar_reflector *kar_reflector_new(struct kar_loop *l, struct kar_client *client,
	struct kar_store *store, const struct kar_reflector_options *o)
{
	struct kar_reflector *r = kar_xcalloc(1, sizeof(*r));

	r->loop = l;
	r->client = client;
	r->store = store;
	r->strings = kar_store_strings(store);
	r->options = *o;
	r->ns = copy(o->ns);
	r->label_selector = copy(o->label_selector);
	r->field_selector = copy(o->field_selector);
	r->times = o->times ? o->times : &kar_reflector_default_times;
	r->policy.times = r->times;
	r->backoff = (struct kar_backoff){ .base = r->times->backoff_base,
		.cap = r->times->backoff_cap,
		.jitter = 1.0,
		.random = o->seed };
	r->random = o->seed;
	r->timer = kar_timer_new(l, on_timer, r);
	kar_reflector_tables_init(&r->tables, kar_store_type(store));
	return r;
}

void kar_reflector_start(struct kar_reflector *r)
{
	if (r->phase == STOPPED)
		kar_reflector_list(r);
}

void kar_reflector_retry(struct kar_reflector *r)
{
	kar_time now = kar_loop_mono(r->loop), earliest = r->waits_since + r->plan.at_least;

	if (r->phase != WAITING || !r->plan.wait || now < r->next_hurry)
		return;
	r->next_hurry = now + r->times->hurry;
	if (earliest < r->waits_until)
		kar_timer_start(r->timer, earliest > now ? earliest - now : 0);
}

void kar_reflector_free(struct kar_reflector *r)
{
	if (!r)
		return;
	kar_client_cancel(r->client, r->call);
	kar_timer_free(r->timer);
	kar_store_replace_abort(r->store);
	kar_reflector_end_attempt(r);
	kar_reflector_forget_list(r);
	free(r->ns);
	free(r->label_selector);
	free(r->field_selector);
	free(r);
}

bool kar_reflector_synced(const struct kar_reflector *r)
{
	return r->synced;
}

struct kar_store *kar_reflector_store(const struct kar_reflector *r)
{
	return r->store;
}

const struct kar_err *kar_reflector_trouble(const struct kar_reflector *r)
{
	return r->in_trouble ? &r->trouble : NULL;
}

struct kar_reflector_stats kar_reflector_stats(const struct kar_reflector *r)
{
	return r->stats;
}
