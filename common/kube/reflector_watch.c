#include "common/kube/reflector_impl.h"

static kar_time watch_deadline(const struct kar_reflector *r)
{
	const struct attempt *a = &r->attempt;
	kar_time hard = a->started + a->length + r->times->grace;
	kar_time idle = r->bookmarks ? a->last_byte + r->times->idle : KAR_NEVER;

	return hard < idle ? hard : idle;
}

/* Only a watch that the server has answered counts as stable, however long the request has been open. */
static kar_time settled_at(const struct kar_reflector *r)
{
	kar_time begun = r->attempt.begun;

	return begun == KAR_NEVER ? KAR_NEVER : begun + r->times->settle;
}

static void arm(struct kar_reflector *r)
{
	kar_time now = kar_loop_mono(r->loop);
	kar_time at = watch_deadline(r);

	if (r->in_trouble && settled_at(r) < at)
		at = settled_at(r);
	kar_timer_start(r->timer, at > now ? at - now : 0);
}

/* Bookmarks and events. A version that does not move forward (a replay) is no progress. */
static int move(struct kar_reflector *r, const char *version, struct kar_err *err)
{
	kar_rv to = kar_rv_parse(version), from = kar_rv_parse(r->position);

	if (to && from && to <= from)
		return 0;
	if (kar_reflector_keep_version(r->position, version, err))
		return -1;
	r->attempt.moved = true;
	return 0;
}

static int on_bookmark(struct kar_reflector *r, const struct kar_wire_object *w, struct kar_err *err)
{
	const char *version = w->meta.resource_version;

	if (!version || !version[0])
		return kar_fail(err, KAR_INVALID, "bookmark without metadata.resourceVersion");
	r->stats.bookmarks++;
	if (move(r, version, err))
		return -1;
	kar_store_bookmark(r->store, kar_rv_parse(version));
	if (!r->bookmarks) {
		r->bookmarks = true;
		arm(r);
	}
	return 0;
}

static int on_deleted(struct kar_reflector *r, const struct kar_wire_object *w, struct kar_err *err)
{
	const struct kar_wire_meta *m = &w->meta;

	if (kar_wire_check(w, err))
		return -1;
	kar_store_delete(r->store, m->ns, m->name, m->uid, kar_rv_parse(m->resource_version));
	return move(r, m->resource_version, err);
}

static int on_changed(struct kar_reflector *r, const struct kar_wire_object *w, struct kar_err *err)
{
	struct kar_object *o = kar_reflector_make(r, w, err);

	if (!o)
		return -1;
	kar_store_apply(r->store, o);
	return move(r, w->meta.resource_version, err);
}

static int on_error_event(struct kar_reflector *r, const struct kar_watch_root *root, struct kar_err *err)
{
	kar_event_error(root, &r->attempt.err);
	r->attempt.in_stream = true;
	*err = r->attempt.err;
	return -1;
}

static int on_event(void *arg, const void *elem, struct kar_err *err)
{
	struct kar_reflector *r = arg;
	const struct kar_watch_root *root = elem;
	enum kar_event_kind kind = kar_event_kind(root);

	if (kind == KAR_EVENT_ERROR)
		return on_error_event(r, root, err);
	if (!root->type || !root->object)
		return kar_fail(err, KAR_INVALID, "watch event without type or object");
	kar_reflector_leave_trouble(r);
	if (kind == KAR_EVENT_OTHER) { /* of a newer server: not ours to judge, and the next event moves on */
		r->stats.parse_errors++;
		return 0;
	}
	if (kind == KAR_EVENT_BOOKMARK)
		return on_bookmark(r, root->object, err);
	r->stats.events++;
	r->stats.last_event = kar_loop_mono(r->loop);
	return kind == KAR_EVENT_DELETED ? on_deleted(r, root->object, err)
					 : on_changed(r, root->object, err);
}

static void watch_ended(struct kar_reflector *r, const struct kar_err *err)
{
	const struct attempt *a = &r->attempt;
	struct kar_err why = err ? *err : (struct kar_err){ 0 };
	struct kar_watch_end end = {
		.err = err ? &why : NULL,
		.in_stream = a->in_stream,
		.broken = a->broken,
		.begun = a->begun != KAR_NEVER,
		.bytes = a->bytes,
		.moved = a->moved,
		.lived = kar_loop_mono(r->loop) - a->started,
	};

	r->list_trouble = false;
	kar_reflector_follow(r, kar_reflector_after_watch(&r->policy, &end), end.err);
}

static void watch_begun(void *arg)
{
	struct kar_reflector *r = arg;

	r->attempt.begun = kar_loop_mono(r->loop);
	kar_reflector_answered(r);
	arm(r);
}

static void watch_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct kar_reflector *r = arg;

	(void)answer;
	r->call = NULL;
	if (r->attempt.bytes)
		kar_reflector_finish_stream(
			r); /* a connection lost inside an event leaves a part of it behind */
	watch_ended(r, kar_reflector_reason(r, err));
}

void kar_reflector_check_watch(struct kar_reflector *r)
{
	kar_time now = kar_loop_mono(r->loop);
	struct kar_err err = { .what = KAR_RETRY };

	if (r->in_trouble && now >= settled_at(r))
		kar_reflector_leave_trouble(r);
	if (now < watch_deadline(r)) {
		arm(r);
		return;
	}
	kar_fail(&err, KAR_RETRY, "the watch of %s has been silent for %jd s",
		kar_store_type(r->store)->res.plural, (intmax_t)((now - r->attempt.last_byte) / KAR_SECOND));
	kar_client_cancel(r->client, r->call);
	r->call = NULL;
	watch_ended(r, &err);
}

/* Random, so that the watches of a restarted server do not end together for ever. */
static kar_time watch_length(struct kar_reflector *r)
{
	return kar_reflector_moment(r, r->times->watch_min, r->times->watch_max);
}

void kar_reflector_watch(struct kar_reflector *r)
{
	const struct kar_type *type = kar_store_type(r->store);
	struct kar_request q = kar_reflector_request(r, kar_client_watch(&type->res, r->ns, r->position));
	kar_time now = kar_loop_mono(r->loop);

	r->attempt = (struct attempt){ .started = now,
		.last_byte = now,
		.begun = KAR_NEVER,
		.length = watch_length(r) };
	q.bookmarks = true;
	q.timeout_seconds = (int)((r->attempt.length + KAR_SECOND - 1) / KAR_SECOND);
	q.on_begun = watch_begun;
	q.on_data = kar_reflector_on_data;
	q.on_done = watch_done;
	q.arg = r;
	r->stats.watches++;
	r->phase = WATCHING;
	r->stream = kar_reflector_stream_watch(&r->tables, on_event, r);
	r->call = kar_client_start(r->client, &q);
	arm(r);
}
