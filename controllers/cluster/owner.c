#include "controllers/cluster/owner.h"

#include <stdlib.h>

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/workload.h"

struct entry {
	size_t store; /* offset in struct kar_stores */
	const struct kar_workload_kind *kind;
};

#define ENTRY(store_, kind_) { offsetof(struct kar_stores, store_), &(kind_) },
static const struct entry kinds[] = { KAR_WORKLOADS(ENTRY) };
#undef ENTRY

static struct kar_store *store_of(const struct kar_stores *stores, const struct entry *e)
{
	const char *at = (const char *)stores + e->store;

	return *(struct kar_store *const *)(const void *)at;
}

static const struct entry *entry_of(const struct kar_object *o)
{
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		if (kinds[i].kind->type == o->type)
			return &kinds[i];
	}
	abort(); /* it is no workload */
}

static const struct kar_object *find(const struct kar_stores *stores, const char *ns, const char *name,
	const char *uid)
{
	for (size_t i = 0; name && uid && i < KAR_LEN(kinds); i++) {
		const struct kar_object *o = kar_store_get(store_of(stores, &kinds[i]), ns, name);

		if (o && kar_streq(o->uid, uid))
			return o;
	}
	return NULL;
}

const struct kar_object *kar_owner_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	return kar_pg_of_others(g) ? NULL : find(stores, g->o.ns, g->owner_name, g->owner_uid);
}

const struct kar_object *kar_owner_of_pod(const struct kar_stores *stores, const struct kar_pod *pod)
{
	return find(stores, pod->o.ns, pod->owner_name, pod->owner_uid);
}

const struct kar_workload_kind *kar_owner_kind(const struct kar_object *o)
{
	return entry_of(o)->kind;
}

struct kar_workload kar_owner_describe(const struct kar_object *o)
{
	struct kar_workload w = { 0 };

	if (o)
		entry_of(o)->kind->describe(o, &w);
	return w;
}

void kar_owner_listen(const struct kar_stores *stores, kar_store_fn *fn, void *arg)
{
	for (size_t i = 0; i < KAR_LEN(kinds); i++)
		kar_store_listen(store_of(stores, &kinds[i]), fn, arg);
}

const struct kar_store *kar_owner_store(const struct kar_stores *stores, const struct kar_object *o)
{
	return store_of(stores, entry_of(o));
}
