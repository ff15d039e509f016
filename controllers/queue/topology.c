/* Where the pods of a gang are to be together: what it asks for, and inside which domain it is. */
#include "controllers/queue/pass.h"

#include "api/core/topology_wish.h"
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/lookups.h"
#include "controllers/cluster/topologies.h"

const struct kar_schedulingspec *queue_spec_beside(const struct queue_pass *p, const struct kar_podgroup *g)
{
	bool drops = g->pruned || !g->status.has_position; /* before the first status nobody knows */

	return drops && g->made_of_spec && g->owner_uid
		? kar_spec_of_group(p->stores, g->o.ns, g->o.name, g->owner_uid)
		: NULL;
}

/* A CRD of another project drops the field of the group: who has made that says it too. */
static const struct kar_topology_ask *own_ask(const struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_podgroup *g = qg->group;
	const struct kar_schedulingspec *s = queue_spec_beside(p, g);

	if (qg->workload)
		return qg->workload->topology;
	return s ? &s->spec.topology : &g->spec.topology;
}

/* Where nobody has made a Topology, annotations that are for other programs mean nothing: gangs with them run as before. */
struct kar_topology_ask queue_topology_asked(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_topology_wishes *of_pods)
{
	const struct kar_topology_ask *own = own_ask(p, qg);

	if (kar_topology_asks(own))
		return *own;
	if (!kar_topology_exists(p->stores))
		return (struct kar_topology_ask){ 0 };
	return kar_topology_wishes_ask(of_pods, p->arena);
}

/* Of the ask with this number; 0: of roles that ask for nothing of their own. */
static struct kar_topology_ask asked_by(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_topology_wishes *of_pods, uint32_t ask)
{
	for (size_t i = 0; ask && i < qg->roles->n; i++) {
		if (qg->roles->items[i].ask == ask && qg->roles->items[i].asks_for)
			return *qg->roles->items[i].asks_for;
	}
	return queue_topology_asked(p, qg, of_pods);
}

/* How many asks there are beside that number 0. */
static uint32_t count_asks(const struct queue_group *qg)
{
	uint32_t n = 0;

	for (size_t i = 0; qg->roles && i < qg->roles->n; i++)
		n = qg->roles->items[i].ask > n ? qg->roles->items[i].ask : n;
	return n;
}

static struct kar_topology_wish find_wish(struct queue_pass *p, uint32_t i,
	const struct kar_topology_ask *ask, struct queue_gang *out)
{
	const struct kar_topology_found found = kar_topology_find(p->stores, ask, p->arena);
	struct kar_queue_group *in = &p->in[i];

	out->in_order |= found.wish.n_labels > 0;
	/* Its pods would be anywhere when new nodes come. */
	in->no_provisioning |= found.wish.required > 0 || found.wish.slice_depth > 0;
	if (found.problem && !p->groups[i].admitted)
		queue_refuse(in, found.ambiguous ? KAR_QR_TOPOLOGY_AMBIGUOUS : KAR_QR_TOPOLOGY_NOT_FOUND,
			found.problem);
	return found.wish;
}

void queue_ask_topology(struct queue_pass *p, uint32_t i, const struct kar_topology_wishes *of_pods,
	struct queue_gang *out)
{
	uint32_t n = count_asks(&p->groups[i]);
	struct kar_topology_wish *asks = n ? kar_arena_alloc(p->arena, n, sizeof(*asks)) : NULL;

	for (uint32_t k = 0; k <= n; k++) {
		const struct kar_topology_ask ask = asked_by(p, &p->groups[i], of_pods, k);

		*(k ? &asks[k - 1] : &p->in[i].topology) = find_wish(p, i, &ask, out);
	}
	p->in[i].wishes = asks;
	p->in[i].n_wishes = n;
}

static const char *why_not_together(const struct queue_pass *p, uint32_t i,
	const struct kar_topology_ask *ask, const char *who)
{
	const struct kar_topology_slice *slices = kar_topology_slices(ask);

	if (!ask->required && !slices)
		return NULL;
	if (!p->nodes)
		who = "a manager of one namespace places no pods";
	else if (!kar_pg_keeps_placement(p->groups[i].group))
		who = "the CRD of PodGroups keeps no placement";
	if (!ask->required)
		return kar_arena_printf(p->arena, "each %d of its pods must be in one %s, and %s",
			(int)slices->size, slices->required, who);
	return kar_arena_printf(p->arena, "it must be in one %s, and %s", ask->required, who);
}

const char *queue_why_not_together(const struct queue_pass *p, uint32_t i,
	const struct kar_topology_wishes *of_pods, const char *who)
{
	const char *why = NULL;

	for (uint32_t k = 0; k <= count_asks(&p->groups[i]) && !why; k++) {
		const struct kar_topology_ask ask = asked_by(p, &p->groups[i], of_pods, k);

		why = why_not_together(p, i, &ask, who);
	}
	return why;
}

struct kar_array queue_domain(const struct kar_podgroup *g, const char *role, bool admitted, bool has_pods,
	struct kar_arena *a)
{
	const struct kar_pg_placement *pl = &g->status.placement;
	bool runs = pl->state == KAR_PG_STATE_PLACED || pl->state == KAR_PG_STATE_UNPLACED ||
		pl->state == KAR_PG_STATE_SATISFIED;

	if ((admitted && runs) || has_pods)
		return kar_pg_required_domain(pl, role, a);
	return (struct kar_array){ 0 };
}

struct domains {
	struct kar_pg_domain *items;
	size_t n;
};

/* The value that all nodes of @places have that are of the ask; NULL: they have not one, or there is none. */
static const char *common_value(const struct queue_pass *p, uint32_t group, uint32_t ask,
	const struct kar_placement *places, const char *label)
{
	const struct kar_sched *s = kar_snapshot_sched(p->stores->snapshot);
	const struct kar_queue_group *in = &p->in[group];
	const char *value = NULL;
	bool any = false;

	for (uint32_t i = 0; i < places->n_places; i++) {
		const struct kar_place *x = &places->places[i];
		const char *own;

		if (in->n_wishes && in->runs[x->role].ask != ask)
			continue;
		own = kar_sched_label_of(s, x->node, label);
		if (!own || (any && !kar_streq(own, value)))
			return NULL;
		value = own;
		any = true;
	}
	return value;
}

/* Adds the levels of the domain of one ask. */
static void add_domain(const struct queue_pass *p, uint32_t group, uint32_t ask, const char *role,
	const struct kar_placement *places, struct domains *to)
{
	const struct kar_queue_group *in = &p->in[group];
	const struct kar_topology_wish *w = ask ? &in->wishes[ask - 1] : &in->topology;
	uint32_t depth = w->required > w->preferred ? w->required : w->preferred;

	for (uint32_t i = 0; i < depth; i++) {
		const char *value = common_value(p, group, ask, places, w->labels[i]);

		if (!value)
			break;
		to->items = kar_arena_grow(p->arena, to->items, to->n, sizeof(*to->items));
		to->items[to->n++] = (struct kar_pg_domain){ .label = w->labels[i],
			.value = kar_arena_printf(p->arena, "%s", value),
			.role = role,
			.required = i < w->required };
	}
}

size_t queue_domains_of(const struct queue_pass *p, uint32_t i, const struct kar_placement *places,
	struct kar_pg_domain **out)
{
	const struct kar_roles *roles = p->groups[i].roles;
	struct domains all = { 0 };

	if (!p->in[i].n_wishes)
		add_domain(p, i, 0, "", places, &all);
	for (size_t k = 0; p->in[i].n_wishes && k < roles->n; k++)
		add_domain(p, i, roles->items[k].ask, roles->items[k].name, places, &all);
	*out = all.items;
	return all.n;
}
