#include "controllers/cluster/unit.h"

#include <string.h>

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/owner.h"

static const struct kar_array *names_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *owner = kar_owner_of(stores, g);

	return owner ? kar_owner_describe(owner).gang_groups : &g->options.groups;
}

bool kar_unit_has_started(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *owner = kar_owner_of(stores, g);

	return g->status.placement.state == KAR_PG_STATE_SATISFIED ||
		g->status.phase == KAR_PG_PHASE_FINISHED ||
		(kar_pg_lasting_state(g) == KAR_PG_STATE_NONE &&
			kar_condition_is_true(&g->status.conditions, KAR_PG_SCHEDULED)) ||
		(owner && kar_owner_describe(owner).ended);
}

static const struct kar_podgroup *find(const struct kar_stores *stores, const char *key)
{
	char buf[KAR_KEY_LEN];
	const char *ns, *name;
	const struct kar_object *o;

	if (!strchr(key, '/') || strlen(key) >= sizeof(buf))
		return NULL;
	kar_key_split(key, buf, &ns, &name);
	o = kar_store_get(stores->podgroups, ns, name);
	return o ? kar_as_podgroup(o) : NULL;
}

static bool has(const struct kar_unit *u, const struct kar_podgroup *g)
{
	for (size_t i = 0; i < u->n; i++) {
		if (u->groups[i] == g)
			return true;
	}
	return false;
}

/* It may start at once, as far as it concerns itself. A group of others is admitted before it has members. */
static bool is_ready(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;

	return state == KAR_PG_STATE_PLACED || state == KAR_PG_STATE_UNPLACED ||
		(state == KAR_PG_STATE_NONE && !kar_pg_of_others(g) &&
			kar_podgroup_admitted_by(g, kar_asked_queue(stores, g).queue));
}

static bool names(const struct kar_stores *stores, const struct kar_podgroup *g,
	const struct kar_podgroup *other)
{
	const struct kar_array *list = names_of(stores, g);
	const char *const *items = list->items;
	char key[KAR_KEY_LEN];

	kar_object_key(&other->o, key);
	for (size_t i = 0; i < list->n; i++) {
		if (kar_streq(items[i], key))
			return true;
	}
	return false;
}

/* @name stands in the list of @by, a group of the unit. */
static void add(struct kar_unit *u, const struct kar_stores *stores, const struct kar_podgroup *by,
	const char *name, struct kar_arena *a)
{
	const struct kar_podgroup *g = find(stores, name);

	if (!g || g->deletion) {
		u->missing = u->missing ? u->missing : kar_arena_printf(a, "%s", name);
		u->waits = true;
		return;
	}
	if (has(u, g) || u->n == KAR_UNIT_MAX || kar_unit_has_started(stores, g))
		return;
	if (!names(stores, g, by)) {
		u->awaited = u->awaited ? u->awaited : g;
		u->waits = true;
		return;
	}
	u->groups[u->n++] = g;
	u->waits |= !is_ready(stores, g);
	if (g->status.placement.state == KAR_PG_STATE_ROLLING_BACK && !u->failing)
		u->failing = g;
}

struct kar_unit kar_unit_of(const struct kar_stores *stores, const struct kar_podgroup *g,
	struct kar_arena *a)
{
	struct kar_unit u = { 0 };

	if (!names_of(stores, g)->n)
		return u;
	u.groups = kar_arena_alloc(a, KAR_UNIT_MAX, sizeof(struct kar_podgroup *));
	u.groups[u.n++] = g;
	for (size_t i = 0; i < u.n; i++) {
		const struct kar_array *list = names_of(stores, u.groups[i]);
		const char *const *items = list->items;

		for (size_t k = 0; k < list->n; k++)
			add(&u, stores, u.groups[i], items[k], a);
	}
	return u;
}
