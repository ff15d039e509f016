#include "controllers/cluster/topologies.h"

#include <string.h>

#include "common/base/str.h"
#include "controllers/cluster/stores.h"

_Static_assert((int)KAR_TOPOLOGY_LEVELS <= (int)KAR_SCHED_LEVELS, "the placement engine knows all levels");

/* The depth of a level, counted from 1; 0: there is none, or no label. */
static uint32_t depth_of(const struct kar_topology *t, const char *label)
{
	for (uint32_t i = 0; label && i < t->n; i++) {
		if (kar_streq(t->levels[i], label))
			return i + 1;
	}
	return 0;
}

/* Of the level of slices; NULL: none are asked for. */
static const char *label_of_slices(const struct kar_topology_ask *ask)
{
	const struct kar_topology_slice *slices = kar_topology_slices(ask);

	return slices ? slices->required : NULL;
}

static bool has_all(const struct kar_topology *t, const struct kar_topology_ask *ask)
{
	return (!ask->name || kar_streq(ask->name, t->o.name)) &&
		(!ask->required || depth_of(t, ask->required)) &&
		(!ask->preferred || depth_of(t, ask->preferred)) &&
		(!ask->slices.n || depth_of(t, label_of_slices(ask)));
}

static uint32_t deepest(const struct kar_topology *t, const struct kar_topology_ask *ask)
{
	uint32_t required = depth_of(t, ask->required), preferred = depth_of(t, ask->preferred);

	uint32_t slices = depth_of(t, label_of_slices(ask)),
		 most = required > preferred ? required : preferred;

	return slices > most ? slices : most;
}

/* Would both mean the same? A domain is the path to it. Each node is a domain by itself in all of them. */
static bool mean_the_same(const struct kar_topology *a, const struct kar_topology *b,
	const struct kar_topology_ask *ask)
{
	uint32_t n = deepest(a, ask);
	bool hosts = (!ask->required || kar_streq(ask->required, KAR_HOSTNAME_LABEL)) &&
		(!ask->preferred || kar_streq(ask->preferred, KAR_HOSTNAME_LABEL)) &&
		(!ask->slices.n || kar_streq(label_of_slices(ask), KAR_HOSTNAME_LABEL));

	if (hosts)
		return true;
	if (deepest(b, ask) != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!kar_streq(a->levels[i], b->levels[i]))
			return false;
	}
	return true;
}

/* Each once; returns how many. */
static size_t labels_of(const struct kar_topology_ask *ask, const char *out[3])
{
	const char *const all[] = { ask->required, ask->preferred, label_of_slices(ask) };
	size_t n = 0;

	out[0] = out[1] = out[2] = "";
	for (size_t i = 0; i < KAR_LEN(all); i++) {
		bool again = !all[i];

		for (size_t k = 0; k < n; k++)
			again |= kar_streq(out[k], all[i]);
		if (!again)
			out[n++] = all[i];
	}
	return n;
}

static struct kar_topology_found refuse(const struct kar_stores *s, const struct kar_topology_ask *ask,
	struct kar_arena *a)
{
	const char *all[3], *labels;
	size_t n = labels_of(ask, all);

	labels = n == 1  ? kar_arena_printf(a, " %s", all[0])
		: n == 2 ? kar_arena_printf(a, "s %s and %s", all[0], all[1])
			 : kar_arena_printf(a, "s %s, %s and %s", all[0], all[1], all[2]);
	if (!kar_store_synced(s->topologies))
		return (struct kar_topology_found){
			.problem =
				"Topologies cannot be read: install their CRD, and let the manager read them (ClusterRole kar-controllers)"
		};
	return (struct kar_topology_found){ .problem = ask->name
			? kar_arena_printf(a, "there is no Topology %s that has the level%s", ask->name,
				  labels)
			: kar_arena_printf(a, "no Topology has the level%s", labels) };
}

/* The first by name of those that have all that is asked for; *@other: one that means something else by it, the first by name. */
static const struct kar_topology *first_of(const struct kar_stores *s, const struct kar_topology_ask *ask,
	const struct kar_topology **other)
{
	const struct kar_topology *first = NULL;
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(s->topologies); kar_iter_next(&it, &o);) {
		if (has_all(kar_as_topology(o), ask) && (!first || strcmp(o->name, first->o.name) < 0))
			first = kar_as_topology(o);
	}
	*other = NULL;
	for (struct kar_iter it = kar_store_all(s->topologies); first && kar_iter_next(&it, &o);) {
		const struct kar_topology *t = kar_as_topology(o);

		if (has_all(t, ask) && !mean_the_same(first, t, ask) &&
			(!*other || strcmp(o->name, (*other)->o.name) < 0))
			*other = t;
	}
	return first;
}

bool kar_topology_exists(const struct kar_stores *s)
{
	const struct kar_object *o;
	struct kar_iter it = kar_store_all(s->topologies);

	return kar_iter_next(&it, &o);
}

/* How many of its levels are wider than a host. */
static uint32_t count_wide(const struct kar_topology *t)
{
	return t->n - (t->n && kar_streq(t->levels[t->n - 1], KAR_HOSTNAME_LABEL));
}

void kar_topology_keep_whole(const struct kar_stores *s)
{
	const char *labels[KAR_TOPOLOGY_LEVELS];
	const struct kar_topology *first = NULL;
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(s->topologies); kar_iter_next(&it, &o);) {
		if (count_wide(kar_as_topology(o)) && (!first || strcmp(o->name, first->o.name) < 0))
			first = kar_as_topology(o);
	}
	for (uint32_t i = 0; first && i < count_wide(first); i++)
		labels[i] = first->levels[i];
	kar_sched_keep_whole(kar_snapshot_sched(s->snapshot), labels, first ? count_wide(first) : 0);
}

struct kar_topology_found kar_topology_find(const struct kar_stores *s, const struct kar_topology_ask *ask,
	struct kar_arena *a)
{
	const struct kar_topology *t, *other;
	struct kar_topology_found out = { 0 };
	const char **labels;

	if (!kar_topology_asks(ask))
		return out;
	t = first_of(s, ask, &other);
	if (!t)
		return refuse(s, ask, a);
	if (other) {
		const char *all[3];

		labels_of(ask, all);
		out.ambiguous = true;
		out.problem = kar_arena_printf(a,
			"Topologies %s and %s both have the level %s, below different ones", t->o.name,
			other->o.name, all[0]);
		return out;
	}
	labels = kar_arena_alloc(a, t->n, sizeof(*labels));
	for (uint32_t i = 0; i < t->n; i++)
		labels[i] = kar_arena_printf(a, "%s", t->levels[i]);
	out.wish = (struct kar_topology_wish){ .labels = labels,
		.n_labels = t->n,
		.required = depth_of(t, ask->required),
		.preferred = depth_of(t, ask->preferred),
		.slice_depth = depth_of(t, label_of_slices(ask)),
		.slice_size = ask->slices.n ? kar_topology_slices(ask)->size : 0,
		.balance = ask->balance };
	return out;
}
