#include "sim/apiserver/core.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { FIRST_ROOM = 16 };

static int compare(const struct sim_slot *a, const struct sim_slot *b)
{
	return strcmp(a->key, b->key);
}

RB_GENERATE_INTERNAL(sim_slots, sim_slot, link, compare, KAR_UNUSED static)

/* ---- objects ---- */

struct sim_collection *sim_collection_new(void)
{
	struct sim_collection *c = kar_xcalloc(1, sizeof(*c));

	RB_INIT(&c->slots);
	TAILQ_INIT(&c->watches);
	return c;
}

static void remove_slot(struct sim_collection *c, struct sim_slot *slot)
{
	RB_REMOVE(sim_slots, &c->slots, slot);
	sim_version_unref(slot->version);
	free(slot);
	c->count--;
}

void sim_collection_free(struct sim_collection *c)
{
	struct sim_slot *slot;

	if (!c)
		return;
	assert(TAILQ_EMPTY(&c->watches));
	for (slot = RB_ROOT(&c->slots); slot; slot = RB_ROOT(&c->slots))
		remove_slot(c, slot);
	sim_collection_compact(c, 0);
	free(c->ring);
	free(c);
}

size_t sim_collection_count(const struct sim_collection *c)
{
	return c->count;
}

bool sim_key_make(char out[SIM_KEY_MAX], const char *ns, const char *name)
{
	size_t at = 0, n = strlen(name);

	if (ns && *ns) {
		at = strlen(ns) + 1;
		if (at >= SIM_KEY_MAX)
			return false;
		memcpy(out, ns, at - 1);
		out[at - 1] = '/';
	}
	if (at + n >= SIM_KEY_MAX)
		return false;
	memcpy(out + at, name, n + 1);
	return true;
}

static struct sim_slot *find(const struct sim_collection *c, const char *key)
{
	struct sim_slot *slot = RB_ROOT(&c->slots);

	while (slot) {
		int order = strcmp(key, slot->key);

		if (order == 0)
			break;
		slot = order < 0 ? RB_LEFT(slot, link) : RB_RIGHT(slot, link);
	}
	return slot;
}

struct sim_slot *sim_slot_from(const struct sim_collection *c, const char *key)
{
	struct sim_slot *slot = RB_ROOT(&c->slots), *found = NULL;

	while (slot) {
		if (strcmp(slot->key, key) < 0) {
			slot = RB_RIGHT(slot, link);
		} else {
			found = slot;
			slot = RB_LEFT(slot, link);
		}
	}
	return found;
}

struct sim_slot *sim_slot_after(struct sim_slot *slot)
{
	return RB_NEXT(sim_slots, NULL, slot);
}

struct sim_version *sim_collection_get(const struct sim_collection *c, const char *ns, const char *name)
{
	char key[SIM_KEY_MAX];
	struct sim_slot *slot = sim_key_make(key, ns, name) ? find(c, key) : NULL;

	return slot ? slot->version : NULL;
}

struct sim_version *sim_collection_next(const struct sim_collection *c, const char *ns, const char *after_ns,
	const char *after_name)
{
	char key[SIM_KEY_MAX + 1] = "";
	size_t n = ns && *ns ? strlen(ns) : 0;
	struct sim_slot *slot;

	if (after_name) {
		if (!sim_key_make(key, after_ns, after_name))
			return NULL;
	} else if (n > 0 && !sim_key_make(key, ns, "")) {
		return NULL;
	}
	slot = sim_slot_from(c, key);
	if (slot && after_name && !strcmp(slot->key, key))
		slot = sim_slot_after(slot);
	if (slot && n > 0 && (strncmp(slot->key, ns, n) || slot->key[n] != '/'))
		return NULL;
	return slot ? slot->version : NULL;
}

/* ---- history ---- */

struct sim_event *sim_event_at(const struct sim_collection *c, uint64_t number)
{
	return &c->ring[number & (c->room - 1)];
}

static void forget_first(struct sim_collection *c)
{
	struct sim_event *e = sim_event_at(c, c->first++);

	c->forgotten = e->new->rv;
	sim_version_unref(e->old);
	sim_version_unref(e->new);
}

void sim_collection_compact(struct sim_collection *c, int64_t rv)
{
	while (c->first < c->end)
		forget_first(c);
	c->forgotten = rv;
}

static void grow(struct sim_collection *c)
{
	size_t room = c->room ? 2 * c->room : FIRST_ROOM;
	struct sim_event *ring = kar_xcalloc(room, sizeof(*ring));

	for (uint64_t i = c->first; i < c->end; i++)
		ring[i & (room - 1)] = *sim_event_at(c, i);
	free(c->ring);
	c->ring = ring;
	c->room = room;
}

static void remember(struct sim_collection *c, struct sim_version *old, struct sim_version *new, bool removed)
{
	if (c->end - c->first >= c->limit)
		forget_first(c);
	if (c->end - c->first == c->room)
		grow(c);
	*sim_event_at(c, c->end++) =
		(struct sim_event){ old ? sim_version_ref(old) : NULL, sim_version_ref(new), removed };
}

uint64_t sim_event_after(const struct sim_collection *c, int64_t rv)
{
	uint64_t low = c->first, high = c->end;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (sim_event_at(c, middle)->new->rv > rv)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* ---- writes ---- */

static struct sim_slot *add_slot(struct sim_collection *c, const char *key)
{
	size_t size = strlen(key) + 1;
	struct sim_slot *slot = kar_xmalloc(sizeof(*slot) + size);

	slot->version = NULL;
	memcpy(slot->key, key, size);
	RB_INSERT(sim_slots, &c->slots, slot);
	c->count++;
	return slot;
}

static void tell_listeners(struct sim_apiserver *s, const struct sim_resource *r,
	const struct sim_request *rq, const struct sim_change *change)
{
	for (size_t i = 0; i < s->n_listeners; i++)
		s->listeners[i].fn(s->listeners[i].arg, change);
	if (r->strategy && r->strategy->committed)
		r->strategy->committed(s, r, change->old, change->new);
	(void)rq;
}

struct sim_version *sim_store_commit(struct sim_apiserver *s, struct sim_resource *r,
	const struct sim_request *rq, const char *ns, const char *name, struct sim_value *consumed)
{
	struct sim_resource *stored = r->stored_as ? r->stored_as : r;
	struct sim_collection *c = stored->objects;
	char key[SIM_KEY_MAX], rv[24],
		told[SIM_KEY_MAX]; /* a listener may free what the writer named it by */
	bool known = sim_key_make(key, ns, name);
	char *slash;
	struct sim_slot *slot = known ? find(c, key) : NULL;
	struct sim_version *old = slot ? slot->version : NULL, *new;

	assert(known && (slot || consumed));
	snprintf(rv, sizeof(rv), "%lld", (long long)++s->rv);
	struct sim_value *value = consumed ? consumed : sim_ref(old->value);

	sim_set_text(&value, rv, "metadata", "resourceVersion");
	new = sim_version_new(value, s->rv, old);
	remember(c, old, new, !consumed);
	if (!consumed) {
		remove_slot(c, slot);
	} else {
		slot = slot ? slot : add_slot(c, key);
		sim_version_unref(slot->version);
		slot->version = sim_version_ref(new);
	}
	sim_version_unref(new); /* the history holds it */
	struct sim_event *e = sim_event_at(c, c->end - 1);

	memcpy(told, key, sizeof(told));
	slash = strchr(told, '/');
	if (slash)
		*slash = '\0';
	sim_watches_tell(c, c->end - 1);
	tell_listeners(s, stored, rq,
		&(struct sim_change){ .group = stored->group,
			.resource = stored->plural,
			.ns = slash ? told : NULL,
			.name = slash ? slash + 1 : told,
			.old = e->old ? e->old->value : NULL,
			.new = consumed ? new->value : NULL,
			.rv = s->rv,
			.user = rq->user ? rq->user : "kubernetes-admin",
			.verb = rq->verb,
			.subresource = rq->subresource });
	return new;
}
