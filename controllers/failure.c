#include "controllers/failure.h"

#include <stdio.h>
#include <string.h>

#include "api/reasons.h"
#include "common/kube/event.h"
#include "common/log.h"
#include "controllers/apply_wire.h"

/* What is being deleted is often gone before the cache knows; only if it stays that way is it worth an error. */
static bool was_gone(const struct kar_sync *s, const struct kar_outcome *o)
{
	return o->what == KAR_NOTFOUND && !kar_workqueue_failures(s->controller->queue, s->key);
}

/*
 * What the API server refuses to change or delete. It is told at the object of the key, else at the one that stays as it is. A
 * create that is refused is in the status, and has an event from there.
 */
static void tell_refusal(struct kar_recorder *recorder, const struct kar_sync *s, const struct kar_outcome *o)
{
	const struct kar_action *a = o->failed;
	struct kar_object about = { 0 };
	char api_version[KAR_APPLY_API_VERSION], note[sizeof(o->err.msg) + sizeof("cannot ")];

	if ((o->what != KAR_DENIED && o->what != KAR_INVALID) || (a && a->verb == KAR_CREATE))
		return;
	if (s->object)
		about = *s->object;
	else if (a && a->uid)
		about = (struct kar_object){ .type = a->type, .ns = a->ns, .name = a->name, .uid = a->uid };
	else
		return;
	const struct kar_object_ref ref = kar_apply_about(&about, api_version);

	snprintf(note, sizeof(note), "cannot %s", o->err.msg);
	kar_recorder_event(recorder, &ref, KAR_WARNING, kar_reason_FailedSync, "Sync", note);
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

/* Which of ten writes is answered first, and is named, is chance: the same refusal of another object is nothing new. */
static uint64_t kind_of(const struct kar_outcome *o)
{
	return hash_without(1 + (uint64_t)o->what, o->err.msg, o->failed ? o->failed->name : NULL);
}

/* False: it is new, and remembered from now on. */
static bool was_told(struct kar_key_state *state, uint64_t kind)
{
	for (size_t i = 0; i < KAR_LEN(state->told); i++) {
		if (state->told[i] == kind)
			return true;
	}
	memmove(&state->told[1], &state->told[0], sizeof(state->told) - sizeof(state->told[0]));
	state->told[0] = kind;
	return false;
}

void kar_failure_tell(struct kar_recorder *recorder, const struct kar_sync *s, const struct kar_outcome *o)
{
	const struct kar_controller *c = s->controller;

	if (o->what == KAR_CONFLICT) { /* somebody wrote first: part of the protocol */
		kar_info(4, KAR_MSG("Conflict, deciding anew"), KAR_S("controller", c->name),
			KAR_S("key", s->key), KAR_S("err", o->err.msg));
		return;
	}
	if (was_gone(s, o) || was_told(s->state, kind_of(o))) {
		kar_info(2, KAR_MSG("Sync failed again, will try again"), KAR_S("controller", c->name),
			KAR_S("key", s->key), KAR_S("err", o->err.msg));
		return;
	}
	kar_error(KAR_MSG("Sync failed, will try again"), KAR_S("controller", c->name), KAR_S("key", s->key),
		KAR_S("class", kar_err_class_name(o->what)), KAR_S("err", o->err.msg));
	tell_refusal(recorder, s, o);
}

void kar_failure_is_over(struct kar_key_state *state)
{
	memset(state->told, 0, sizeof(state->told));
}
