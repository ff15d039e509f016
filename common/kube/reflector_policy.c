#include "common/kube/reflector_policy.h"

enum { HTTP_GATEWAY_TIMEOUT = 504, HTTP_SERVER_ERROR = 500 };

const struct kar_reflector_times kar_reflector_default_times = {
	.backoff_base = 800,
	.backoff_cap = 30 * KAR_SECOND,
	.watch_min = 5 * KAR_MINUTE,
	.watch_max = 10 * KAR_MINUTE,
	.grace = 30 * KAR_SECOND,
	.idle = 150 * KAR_SECOND, /* two bookmarks missed (one about every 60 s) and a half */
	.settle = 15 * KAR_SECOND,
	.brief = KAR_SECOND,
	.healthy = 20 * KAR_SECOND,
	.refused = 30 * KAR_SECOND,
	.soon = KAR_SECOND / 2,
	.hurry = 5 * KAR_SECOND,
	.list = 75 * KAR_SECOND, /* the server gives up after 60 s and says so */
};

static struct kar_reflector_plan list(enum kar_list_from from)
{
	return (struct kar_reflector_plan){ .from = from };
}

static struct kar_reflector_plan watch(void)
{
	return (struct kar_reflector_plan){ .watch = true };
}

/* What only a person can change: RBAC, a missing CRD. */
static bool is_refusal(const struct kar_err *err)
{
	return err->what == KAR_DENIED || err->what == KAR_NOTFOUND;
}

/* Never 0. @err NULL: the server ended a watch at once. */
static int kind_of(const struct kar_err *err)
{
	enum { CLOSED = 1, GONE, REFUSED, UNAUTHORIZED, NO_ANSWER, BUSY, NOT_UNDERSTOOD };

	if (!err)
		return CLOSED;
	if (err->what == KAR_GONE)
		return GONE;
	if (is_refusal(err))
		return REFUSED;
	if (err->what == KAR_UNAUTHORIZED)
		return UNAUTHORIZED;
	if (err->what == KAR_RETRY || err->what == KAR_UNKNOWN)
		return err->http ? BUSY : NO_ANSWER;
	return NOT_UNDERSTOOD;
}

static struct kar_reflector_plan after_wait(struct kar_reflector_policy *p, struct kar_reflector_plan plan,
	const struct kar_err *err)
{
	int kind = kind_of(err);

	p->failures++;
	plan.wait = true;
	plan.reset = p->kind && p->kind != kind;
	p->kind = kind;
	return plan;
}

static struct kar_reflector_plan bounded(struct kar_reflector_policy *p, struct kar_reflector_plan plan,
	const struct kar_err *err)
{
	bool first = p->kind != kind_of(err);

	plan.at_least = err->retry_after;
	plan.at_most = is_refusal(err) ? p->times->refused : 0;
	plan.within = first && err->retry_after ? p->times->soon : 0;
	return after_wait(p, plan, err);
}

struct kar_reflector_plan kar_reflector_after_list(struct kar_reflector_policy *p,
	const struct kar_list_end *end)
{
	struct kar_reflector_plan plan;

	if (!end->err)
		return watch();
	if (end->err->what == KAR_GONE && end->continued)
		return list(KAR_LIST_LATEST);
	if (end->err->what == KAR_GONE && end->from == KAR_LIST_POSITION)
		return list(KAR_LIST_LATEST_PAGED);
	plan = bounded(p, list(end->err->what == KAR_GONE ? KAR_LIST_LATEST_PAGED : end->from), end->err);
	plan.trouble = true;
	return plan;
}

/*
 * Ended in order. Closed at once without an event: some servers say "gone" like that (kubernetes#104171). Closed after
 * events, however soon: an API server under load drops watchers that it cannot serve fast enough, and who waits
 * before resuming falls behind further; a watch that moves on is no tight loop.
 */
static struct kar_reflector_plan after_clean_end(struct kar_reflector_policy *p,
	const struct kar_watch_end *end)
{
	if (end->moved || end->lived >= p->times->brief)
		return watch();
	return after_wait(p, list(KAR_LIST_POSITION), NULL);
}

/* The partial event is dropped and comes again; if it breaks again at the same place, resuming does not help. */
static struct kar_reflector_plan after_broken(struct kar_reflector_policy *p, const struct kar_watch_end *end)
{
	p->broken++;
	if (p->broken > 1)
		return after_wait(p, list(KAR_LIST_POSITION), end->err);
	return end->lived < p->times->brief ? after_wait(p, watch(), end->err) : watch();
}

static struct kar_reflector_plan after_lost(struct kar_reflector_policy *p, const struct kar_watch_end *end)
{
	bool worked = end->bytes && end->lived >= p->times->brief;

	return worked ? watch() : bounded(p, watch(), end->err);
}

/* 504: this server is behind our position; it may catch up, or have lost it (KEP-2340). */
static struct kar_reflector_plan after_gone(struct kar_reflector_policy *p, const struct kar_err *err)
{
	bool first = p->kind != kind_of(err);
	struct kar_reflector_plan plan = bounded(p,
		list(err->http == HTTP_GATEWAY_TIMEOUT ? KAR_LIST_LATEST_PAGED : KAR_LIST_POSITION), err);

	if (first)
		plan.within = p->times->soon;
	return plan;
}

static struct kar_reflector_plan after_error(struct kar_reflector_policy *p, const struct kar_watch_end *end)
{
	const struct kar_err *err = end->err;

	switch (err->what) {
	case KAR_GONE:
		return after_gone(p, err);
	case KAR_RETRY:
	case KAR_UNKNOWN:
		if (!err->http)
			return after_lost(p, end);
		if (end->in_stream && err->http >= HTTP_SERVER_ERROR)
			return bounded(p, list(KAR_LIST_POSITION), err);
		return bounded(p, watch(), err);
	case KAR_UNAUTHORIZED:
		return bounded(p, watch(), err);
	default:
		return bounded(p, list(KAR_LIST_POSITION), err);
	}
}

/*
 * An answer that came late, such as a 504, or never is no sign of health; an answer that began, stood and then broke is.
 */
static bool is_healthy(const struct kar_reflector_policy *p, const struct kar_watch_end *end)
{
	bool stood = !end->err || (end->begun && !end->err->http);

	if (end->lived < p->times->brief)
		return false;
	return end->moved || (stood && end->lived >= p->times->healthy);
}

struct kar_reflector_plan kar_reflector_after_watch(struct kar_reflector_policy *p,
	const struct kar_watch_end *end)
{
	struct kar_reflector_plan plan;
	bool healthy = is_healthy(p, end);

	if (healthy) {
		p->failures = 0;
		p->kind = 0;
	}
	if (end->moved || !end->broken)
		p->broken = 0;
	if (!end->err)
		plan = after_clean_end(p, end);
	else
		plan = end->broken ? after_broken(p, end) : after_error(p, end);
	plan.reset |= healthy;
	/* One hiccup is daily life: a restarted server, a version that expired. Two in a row are not. */
	plan.trouble = plan.wait && (p->failures > 1 || (end->err && is_refusal(end->err)));
	return plan;
}
