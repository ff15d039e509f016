#include "controllers/queue/quota.h"

#include <assert.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

/* A namespace that was asked for. */
struct space {
	RB_ENTRY(space) link;
	const char *ns;
	struct queue_account *account; /* NULL: no quota of it limits pods */
};
RB_HEAD(spaces, space);

struct queue_quota {
	const struct kar_stores *stores;
	struct queue_ledger ledger;
	struct spaces spaces;
	const char *default_class;               /* interned or of its object; NULL: there is none */
	struct queue_reservation **reservations; /* in their order */
	size_t n_reservations;
};

static int compare(const struct space *a, const struct space *b)
{
	return strcmp(a->ns, b->ns);
}

RB_GENERATE_INTERNAL(spaces, space, link, compare, KAR_UNUSED static)

struct queue_quota *queue_quota_begin(const struct kar_stores *stores, struct kar_arena *arena)
{
	struct queue_quota *q = kar_arena_alloc(arena, 1, sizeof(*q));
	const struct kar_priorityclass *class = kar_stores_default_class(stores);

	*q = (struct queue_quota){ .stores = stores,
		.ledger = { .arena = arena },
		.default_class = class ? class->o.name : NULL };
	RB_INIT(&q->spaces);
	return q;
}

/* --- namespaces ------------------------------------------------------------------------------------------ */

/* Objects of one kind in @ns, in the arena. */
static const struct kar_object **objects_of(const struct kar_store *store, const char *ns,
	struct kar_arena *a, size_t *n)
{
	size_t most = kar_store_index_count(store, 0, ns);
	const struct kar_object **all = kar_arena_alloc(a, most + 1, sizeof(*all)), *o;

	*n = 0;
	for (struct kar_iter it = kar_store_by_index(store, 0, ns); kar_iter_next(&it, &o);)
		all[(*n)++] = o;
	return all;
}

static void add_live(void *arg, const struct kar_pod_counted *charge, int64_t n)
{
	queue_account_live(arg, charge, n);
}

static struct queue_account *open_account(struct queue_quota *q, const char *ns)
{
	struct kar_arena *a = q->ledger.arena;
	struct queue_quotas all = { 0 };
	struct queue_account *account;

	if (!kar_store_index_count(q->stores->resourcequotas, KAR_RESOURCEQUOTA_BY_NAMESPACE, ns))
		return NULL;
	/* Each begins with its struct kar_object. */
	all.quotas =
		(const struct kar_resourcequota *const *)(const void *)objects_of(q->stores->resourcequotas,
			ns, a, &all.n_quotas);
	all.ranges = (const struct kar_limitrange *const *)(const void *)objects_of(q->stores->limitranges,
		ns, a, &all.n_ranges);
	account = queue_ledger_open(&q->ledger, ns, &all);
	if (account)
		kar_usage_each(q->stores->usage, ns, add_live, account);
	return account;
}

static struct queue_account *account_of(struct queue_quota *q, const char *ns)
{
	struct space key = { .ns = ns }, *s = RB_FIND(spaces, &q->spaces, &key);

	if (s)
		return s->account;
	s = kar_arena_alloc(q->ledger.arena, 1, sizeof(*s));
	*s = (struct space){ .ns = ns, .account = open_account(q, ns) };
	RB_INSERT(spaces, &q->spaces, s);
	return s->account;
}

/* --- charges --------------------------------------------------------------------------------------------- */

const struct queue_charges *queue_quota_of_role(struct queue_quota *q, const char *ns,
	const struct kar_workload_role *role)
{
	struct queue_account *a = role->charge && ns ? account_of(q, ns) : NULL;
	const char *class = role->charged_class ? role->charged_class : q->default_class;

	return a ? queue_charge_template(a, role->charge, class) : NULL;
}

const struct queue_charges *queue_quota_of_pod(struct queue_quota *q, const struct kar_pod *pod)
{
	struct queue_account *a = pod->charge && pod->o.ns ? account_of(q, pod->o.ns) : NULL;

	return a ? queue_charge_pod(a, pod->charge) : NULL;
}

/* --- what is ours ---------------------------------------------------------------------------------------- */

void queue_quota_owns(struct queue_quota *q, const struct kar_pod *pod)
{
	struct queue_account *a =
		pod->charge && pod->o.ns && kar_pod_alive(pod) ? account_of(q, pod->o.ns) : NULL;

	if (a)
		queue_account_managed(a, pod->charge);
}

/* At most @most of those that leave: the rest is replaced by what it keeps. */
static void keep_leaving(struct queue_account *a, const struct kar_queue_group *g, int64_t most)
{
	for (uint32_t i = 0; i < g->n_leaving && most > 0; i++) {
		const struct kar_queue_leaving *l = &g->leaving[i];
		int64_t n = l->n < most ? l->n : most;

		queue_account_kept(a, l->charges, l->n_charges, n);
		most -= n;
	}
}

static int64_t pods_of(const struct kar_queue_group *g)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < g->n_leaving; i++)
		n += g->leaving[i].n;
	for (uint32_t i = 0; i < g->n_runs; i++) {
		for (uint32_t k = 0; k < g->runs[i].n_seats; k++)
			n += g->runs[i].seats[k].bound ? g->runs[i].seats[k].n : 0;
	}
	return n;
}

void queue_quota_hold(struct queue_quota *q, const struct kar_podgroup *group, struct kar_queue_group *g)
{
	struct queue_account *a = g->hold.n && !group->spec.total_resources.n ? account_of(q, g->ns) : NULL;
	const struct queue_charges *c = a ? queue_charge_hold(a, &g->hold) : NULL;

	g->hold_charges = c ? c->items : NULL;
	g->n_hold_charges = c ? c->n : 0;
}

void queue_quota_group(struct queue_quota *q, const struct kar_queue_group *g)
{
	struct queue_account *a = account_of(q, g->ns);
	int32_t left = g->standing == KAR_QUEUE_ADMITTED ? g->desired : 0;
	int64_t leaving = a ? pods_of(g) - left : 0;

	if (!a)
		return;
	for (uint32_t i = 0; i < g->n_runs && left > 0; i++) {
		const struct kar_queue_run *run = &g->runs[i];
		int32_t n = run->n < left ? run->n : left;

		queue_account_kept(a, run->charges, run->n_charges, n);
		left -= n;
	}
	keep_leaving(a, g, leaving);
}

/* --- reservations ---------------------------------------------------------------------------------------- */

/* Of members that exist and have not ended; one that stops is charged until it is gone. */
static const struct queue_charges **charges_of_members(struct queue_quota *q, const struct kar_podgroup *g,
	kar_time now, size_t *n)
{
	char key[KAR_KEY_LEN];
	size_t most = kar_store_index_count(q->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&g->o, key));
	const struct queue_charges **all = kar_arena_alloc(q->ledger.arena, most + 1, sizeof(*all));
	const struct kar_object *o;

	*n = 0;
	for (struct kar_iter it = kar_store_by_index(q->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);
		const struct queue_charges *c = kar_pod_finished(pod) || kar_pod_overdue_in(pod, now) <= 0
			? NULL
			: queue_quota_of_pod(q, pod);

		if (c)
			all[(*n)++] = c;
	}
	return all;
}

const struct queue_reservation *queue_quota_reserve(struct queue_quota *q, const struct kar_podgroup *g,
	kar_time now)
{
	struct queue_reservation *r;
	size_t n;

	if (!g->spec.total_resources.n || !kar_pg_of_others(g))
		return NULL;
	r = kar_arena_alloc(q->ledger.arena, 1, sizeof(*r));
	r->held = kar_condition_is_true(&g->status.conditions, KAR_PG_QUOTA_RESERVED);
	r->account = account_of(q, g->o.ns);
	if (r->account) {
		const struct queue_charges **members = charges_of_members(q, g, now, &n);

		queue_reservation_rest(r, &g->spec.total_resources, members, n);
	}
	q->reservations =
		kar_arena_grow(q->ledger.arena, q->reservations, q->n_reservations, sizeof(*q->reservations));
	q->reservations[q->n_reservations++] = r;
	return r;
}

const char *queue_quota_describe(const struct queue_quota *q, const struct queue_reservation *r)
{
	const struct kar_queue_quota_row *row = &q->ledger.rows[r->lacks];
	struct kar_arena *a = q->ledger.arena;
	char has[KAR_AMOUNT_TEXT], used[KAR_AMOUNT_TEXT];
	int64_t wanted = 0;

	assert(!r->granted && r->lacks < q->ledger.n_rows);
	for (uint32_t i = 0; i < r->n_rest; i++)
		wanted = r->rest[i].row == r->lacks ? r->rest[i].amount : wanted;
	return kar_arena_printf(a, "%s, quota %s has %s, used %s",
		kar_queue_short_text(a, row->resource, wanted, r->room, row->limit), row->quota,
		kar_amount_text(row->resource, row->limit, false, has),
		kar_amount_text(row->resource, row->limit - r->room, true, used));
}

void queue_quota_end(struct queue_quota *q, struct kar_queue_snapshot *snapshot, struct queue_said *said,
	kar_time mono, kar_time *again_in)
{
	if (said)
		queue_ledger_believe(&q->ledger, said, mono, again_in);
	queue_reservations_decide(q->reservations, q->n_reservations);
	queue_ledger_close(&q->ledger);
	snapshot->rows = q->ledger.rows;
	snapshot->n_rows = q->ledger.n_rows;
}
