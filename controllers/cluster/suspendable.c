#include "controllers/cluster/suspendable.h"

#include "common/base/str.h"

static const struct kar_suspendable *find(const struct kar_store *store, const struct kar_podgroup *g)
{
	const struct kar_object *o = kar_store_get(store, g->o.ns, g->owner_name);

	return o && !o->unreadable && kar_streq(o->uid, g->owner_uid) ? kar_as_suspendable(o) : NULL;
}

const struct kar_suspendable *kar_suspendable_of(const struct kar_stores *stores,
	const struct kar_podgroup *g)
{
	const struct kar_suspendable *s = NULL;

	if (!g->owner_uid || g->owner_is_queuejob || !g->owner_name)
		return NULL;
#define FIND(type_, cache_) \
	if (!s) \
		s = find(stores->cache_, g);
	KAR_SUSPENDABLES(FIND)
#undef FIND
	return s && !s->managed_by && !s->controlled_by ? s : NULL;
}

void kar_suspendable_listen(const struct kar_stores *stores, kar_store_fn *fn, void *arg)
{
#define LISTEN(type_, cache_) kar_store_listen(stores->cache_, fn, arg);
	KAR_SUSPENDABLES(LISTEN)
#undef LISTEN
}
