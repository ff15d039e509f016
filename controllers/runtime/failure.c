#include "controllers/runtime/failure.h"

#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/kube/event.h"
#include "controllers/runtime/executor_wire.h"

/* Of one key, one after the other: some 5 s, and the lists and watches know an outage earlier. */
enum { LOST_WRITES = 10 };

/* An object that is being deleted is often gone before the cache shows it, so NotFound is an error only if it repeats. */
static bool was_gone(const struct kar_sync *s, const struct kar_outcome *o)
{
	return o->what == KAR_NOTFOUND && !kar_workqueue_failures(s->controller->queue, s->key);
}

/* A few lost connections are nothing unusual, and an outage, or a lease that is not held, has a line for all keys. */
static bool is_lost_connection(const struct kar_sync *s, const struct kar_outcome *o, bool outage)
{
	if (o->err.cause == KAR_CAUSE_FENCE)
		return true;
	return o->err.cause == KAR_CAUSE_CONNECTION &&
		(outage || kar_workqueue_failures(s->controller->queue, s->key) < LOST_WRITES);
}

/*
 * What only the user of the object can correct: a part of it that is invalid, or against a limit or a policy; a name that is taken.
 * The reconciler shows it in the object's status.
 */
static bool is_for_the_user(const struct kar_sync *s, const struct kar_outcome *o)
{
	bool refused = o->what == KAR_DENIED || o->what == KAR_INVALID || o->what == KAR_EXISTS ||
		o->what == KAR_NOTFOUND;

	return refused && o->err.cause != KAR_CAUSE_RBAC && s->object && o->failed &&
		kar_action_creates(o->failed);
}

/* A refused create is shown in the status and in an event by a reconciler that wants to know of it. */
static bool is_reported(const struct kar_sync *s, const struct kar_action *a)
{
	return a && kar_action_creates(a) && s->controller->refused;
}

/* An event about a refused write, for the object of the key or else for the object of the action. */
static void report_refusal(struct kar_recorder *recorder, const struct kar_sync *s,
	const struct kar_outcome *o)
{
	const struct kar_action *a = o->failed;
	struct kar_object about = { 0 };
	char api_version[KAR_EXECUTOR_API_VERSION], note[sizeof(o->err.msg) + sizeof("cannot ")];

	if ((o->what != KAR_DENIED && o->what != KAR_INVALID) || is_reported(s, a))
		return;
	if (s->object)
		about = *s->object;
	else if (a && a->uid)
		about = (struct kar_object){ .type = a->type, .ns = a->ns, .name = a->name, .uid = a->uid };
	else
		return;
	const struct kar_object_ref ref = kar_executor_about(&about, api_version);

	snprintf(note, sizeof(note), "cannot %s", o->err.msg);
	kar_recorder_event(recorder, &ref, KAR_WARNING, "FailedSync", "Sync", note);
}

/* The hash of @text without @name. */
static uint64_t hash_without(uint64_t seed, const char *text, const char *name)
{
	size_t n = name ? strlen(name) : 0;
	const char *at;

	for (; n && (at = strstr(text, name)); text = at + n)
		seed = kar_hash(seed, text, (size_t)(at - text));
	return kar_hash_str(seed, text);
}

/* It is chance which of several writes fails first and is named, so the same refusal for another object is the same kind. */
static uint64_t kind_of(const struct kar_outcome *o)
{
	return hash_without(1 + (uint64_t)o->what, o->err.msg, o->failed ? o->failed->name : NULL);
}

/* False: the kind is new, and is remembered. */
static bool was_reported(struct kar_key_state *state, uint64_t kind)
{
	for (size_t i = 0; i < KAR_LEN(state->reported); i++) {
		if (state->reported[i] == kind)
			return true;
	}
	memmove(&state->reported[1], &state->reported[0],
		sizeof(state->reported) - sizeof(state->reported[0]));
	state->reported[0] = kind;
	return false;
}

void kar_failure_report(struct kar_recorder *recorder, const struct kar_sync *s, const struct kar_outcome *o,
	bool outage)
{
	const struct kar_controller *c = s->controller;

	if (o->what == KAR_CONFLICT) { /* another client wrote first, which is normal */
		kar_info(4, KAR_MSG("Conflict, will try again"), KAR_S("controller", c->name),
			KAR_S("key", s->key), KAR_S("err", o->err.msg));
		return;
	}
	if (is_lost_connection(s, o, outage)) {
		kar_info(4, KAR_MSG("No answer, will try again"), KAR_S("controller", c->name),
			KAR_S("key", s->key), KAR_S("err", o->err.msg));
		return;
	}
	if (was_gone(s, o) || was_reported(s->state, kind_of(o))) {
		kar_info(4, KAR_MSG("Sync failed again, will try again"), KAR_S("controller", c->name),
			KAR_S("key", s->key), KAR_S("err", o->err.msg));
		return;
	}
	if (is_for_the_user(s, o)) {
		kar_info(2, KAR_MSG("Create refused, as the object says; will try again"),
			KAR_S("controller", c->name), KAR_S("key", s->key), KAR_S("err", o->err.msg));
	} else {
		kar_error(KAR_MSG("Sync failed, will try again"), KAR_S("controller", c->name),
			KAR_S("key", s->key), KAR_S("class", kar_err_class_name(o->what)),
			KAR_S("err", o->err.msg));
	}
	report_refusal(recorder, s, o);
}

void kar_failure_is_over(struct kar_key_state *state)
{
	memset(state->reported, 0, sizeof(state->reported));
}

void kar_failure_unreadable(struct kar_recorder *recorder, const struct kar_object *o, const char *problem)
{
	char key[KAR_KEY_LEN], api_version[KAR_EXECUTOR_API_VERSION], note[KAR_ERR_MSG_BYTES];
	const struct kar_object_ref about = kar_executor_about(o, api_version);

	kar_warn(KAR_MSG("Cannot read an object: nothing is done for it until it has been corrected"),
		KAR_S("kind", o->type->res.kind), KAR_S("object", kar_object_key(o, key)),
		KAR_S("err", problem));
	kar_text_printf(note, sizeof(note),
		"kar-controllers cannot read this object and does nothing for it until it has been corrected: %s",
		problem);
	kar_recorder_event(recorder, &about, KAR_WARNING, "Unreadable", "Read", note);
}
