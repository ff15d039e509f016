/* The shell of the reconcilers of workloads that can be suspended. */
#include "controllers/suspend/suspend.h"

#include <string.h>

#include "common/base/intern.h"
#include "common/base/str.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/caches.h"
#include "controllers/controllers.h"
#include "controllers/kar_metrics.h"

enum { CACHE_WAIT = 100 }; /* ms between two checks whether the cache has our own write */

struct memory {
	kar_time contested
		[SUSPEND_CONTESTED]; /* mono, when somebody else resumed it, the latest first; 0: never */
	uint64_t told; /* hash of the reason for which it waits, as an event has said it; 0: none */
};

static void on_object(void *arg, const struct kar_object *old KAR_UNUSED, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	if (new)
		kar_enqueue(c, c->stores->podgroups, kar_object_key(new, key));
}

/* Only those that an object of @store has the name of. */
static void on_group(struct kar_controller *c, const struct kar_store *store, const struct kar_object *old,
	const struct kar_object *new)
{
	const struct kar_object *o = new ? new : old;
	char key[KAR_KEY_LEN];

	if (kar_store_get(store, o->ns, o->name))
		kar_enqueue(c, c->stores->podgroups, kar_object_key(o, key));
}

/* How often it was contested within SUSPEND_WITHIN, if it is so now; remembers that. */
static int32_t count_contested(struct memory *m, const struct suspend_view *v, kar_time mono)
{
	int32_t n = 1;

	if (!suspend_is_contested(v))
		return 0;
	for (int i = 0; i < SUSPEND_CONTESTED; i++)
		n += m->contested[i] && mono - m->contested[i] < SUSPEND_WITHIN;
	return n;
}

static void remember_contested(struct memory *m, kar_time mono)
{
	memmove(m->contested + 1, m->contested, sizeof(m->contested) - sizeof(m->contested[0]));
	m->contested[0] = mono ? mono : 1;
}

static int32_t count_succeeded(const struct kar_stores *stores, const char *key)
{
	const struct kar_object *o;
	int32_t n = 0;

	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);)
		n += kar_as_pod(o)->phase == KAR_POD_SUCCEEDED;
	return n;
}

static bool waits_anew(struct memory *m, const struct suspend_view *v)
{
	const struct kar_condition *c =
		v->group ? kar_condition_find(&v->group->status.conditions, KAR_PG_ADMITTED) : NULL;
	bool waits = v->s->suspended && v->s->by_queue && !v->admitted && c && c->status == KAR_COND_FALSE;
	uint64_t reason = waits ? kar_hash_str(1, c->reason ? c->reason : "") | 1 : 0;
	bool anew = reason && reason != m->told;

	m->told = reason;
	return anew;
}

static bool sync_object(struct kar_controller *c, struct kar_sync *s, const struct kar_store *store)
{
	const struct kar_stores *stores = c->stores;
	struct suspend_view *v = kar_arena_alloc(&s->arena, 1, sizeof(*v));
	struct memory *m = s->state->memory;
	const struct kar_object *o, *group;
	const char *ns, *name;
	char buf[KAR_KEY_LEN];

	kar_key_split(s->key, buf, &ns, &name);
	o = kar_store_get(store, ns, name);
	if (!o || !suspend_is_ours(kar_as_suspendable(o)))
		return false;
	if (!kar_barrier_passed(c->barrier, s->key, store) ||
		!kar_barrier_passed(c->barrier, s->key, stores->podgroups)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	s->object = kar_object_ref(o);
	s->objects = 1;
	group = kar_store_get(stores->podgroups, ns, name);
	v->s = kar_as_suspendable(o);
	v->group = group ? kar_as_podgroup(group) : NULL;
	v->admitted = group && kar_streq(v->group->owner_uid, o->uid) &&
		kar_podgroup_admitted_by(v->group, kar_asked_queue(stores, v->group).queue);
	v->succeeded = v->s->suspended ? count_succeeded(stores, s->key) : 0;
	v->resources = suspend_resources(v->s, &s->arena);
	v->contested = count_contested(m, v, s->mono);
	v->waits_anew = waits_anew(m, v);
	suspend_decide(v, &s->plan);
	return true;
}

static int encode(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err KAR_UNUSED)
{
	return suspend_encode(a, out);
}

static void wrote(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_answer *answer KAR_UNUSED)
{
	kar_count_write(s, a);
	if (a && a->what == SUSPEND_SUSPEND && suspend_is_contested(a->payload))
		remember_contested(s->state->memory, s->mono);
}

/* One reconciler for each kind, which differ in their cache. */
#define RECONCILER(type_, cache_) \
	static void on_group_of_##cache_(void *arg, const struct kar_object *old, \
		const struct kar_object *new) \
	{ \
		struct kar_controller *c = arg; \
\
		on_group(c, c->stores->cache_, old, new); \
	} \
	static void start_##cache_(struct kar_controller *c) \
	{ \
		kar_store_listen(c->stores->cache_, on_object, c); \
		kar_store_listen(c->stores->podgroups, on_group_of_##cache_, c); \
	} \
	static bool sync_##cache_(struct kar_controller *c, struct kar_sync *s) \
	{ \
		return sync_object(c, s, c->stores->cache_); \
	} \
	void kar_suspend_##cache_##_controller(struct kar_controller *c) \
	{ \
		c->name = "suspend-" #cache_; \
		c->start = start_##cache_; \
		c->sync = sync_##cache_; \
		c->encode = encode; \
		c->wrote = wrote; \
		c->memory_size = sizeof(struct memory); \
	}
KAR_SUSPENDABLES(RECONCILER)
