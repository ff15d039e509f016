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

void queue_ask_topology(struct queue_pass *p, uint32_t i, const struct kar_topology_wishes *of_pods,
	struct queue_gang *out)
{
	const struct kar_topology_ask ask = queue_topology_asked(p, &p->groups[i], of_pods);
	const struct kar_topology_found found = kar_topology_find(p->stores, &ask, p->arena);
	struct kar_queue_group *in = &p->in[i];

	in->topology = found.wish;
	out->in_order = found.wish.n_labels > 0;
	/* Its pods would be anywhere when new nodes come. */
	in->no_provisioning |= found.wish.required > 0 || found.wish.slice_depth > 0;
	if (found.problem && !p->groups[i].admitted)
		queue_refuse(in, found.ambiguous ? KAR_QR_TOPOLOGY_AMBIGUOUS : KAR_QR_TOPOLOGY_NOT_FOUND,
			found.problem);
}

const char *queue_why_not_together(const struct queue_pass *p, uint32_t i,
	const struct kar_topology_wishes *of_pods, const char *who)
{
	const struct kar_topology_ask ask = queue_topology_asked(p, &p->groups[i], of_pods);

	const struct kar_topology_slice *slices = kar_topology_slices(&ask);

	if (!ask.required && !slices)
		return NULL;
	if (!p->nodes)
		who = "a manager of one namespace places no pods";
	else if (!kar_pg_keeps_placement(p->groups[i].group))
		who = "the CRD of PodGroups keeps no placement";
	if (!ask.required)
		return kar_arena_printf(p->arena, "each %d of its pods must be in one %s, and %s",
			(int)slices->size, slices->required, who);
	return kar_arena_printf(p->arena, "it must be in one %s, and %s", ask.required, who);
}

struct kar_array queue_domain(const struct kar_podgroup *g, bool admitted, bool has_pods, struct kar_arena *a)
{
	const struct kar_pg_placement *pl = &g->status.placement;
	bool runs = pl->state == KAR_PG_STATE_PLACED || pl->state == KAR_PG_STATE_UNPLACED ||
		pl->state == KAR_PG_STATE_SATISFIED;

	if ((admitted && runs) || has_pods)
		return kar_pg_required_domain(pl, a);
	return (struct kar_array){ 0 };
}

/* The value that all nodes of @places have; NULL: they have not one. */
static const char *common_value(const struct kar_sched *s, const struct kar_placement *places,
	const char *label)
{
	const char *value = places->n_places ? kar_sched_label_of(s, places->places[0].node, label) : NULL;

	for (uint32_t i = 1; i < places->n_places && value; i++) {
		if (!kar_streq(kar_sched_label_of(s, places->places[i].node, label), value))
			value = NULL;
	}
	return value;
}

size_t queue_domains_of(const struct queue_pass *p, uint32_t i, const struct kar_placement *places,
	struct kar_pg_domain **out)
{
	const struct kar_topology_wish *w = &p->in[i].topology;
	const struct kar_sched *s = kar_snapshot_sched(p->stores->snapshot);
	uint32_t depth = w->required > w->preferred ? w->required : w->preferred;
	size_t n = 0;

	*out = kar_arena_alloc(p->arena, depth + 1, sizeof(**out));
	while (n < depth) {
		const char *value = common_value(s, places, w->labels[n]);

		if (!value)
			break;
		(*out)[n] = (struct kar_pg_domain){ .label = w->labels[n],
			.value = kar_arena_printf(p->arena, "%s", value),
			.required = n < w->required };
		n++;
	}
	return n;
}
