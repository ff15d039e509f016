#include "controllers/queue/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/str.h"

__extension__ typedef __int128 wide; /* sums of int64_t do not overflow it */

/* What a row is used by. */
struct use {
	wide live, managed, kept, reserved, used;
	wide stale; /* of .used: that of pods which are gone */
};

/* Charges that are known already: pods of which the same is counted are charged alike. */
struct known {
	RB_ENTRY(known) link;
	const struct kar_pod_counted *of; /* compared as a pointer, as the next one */
	const char *class;                /* interned, or NULL */
	bool template;
	struct queue_charges charges;
};
RB_HEAD(knowns, known);

struct queue_account {
	struct queue_account *next;
	struct queue_ledger *ledger;
	const struct kar_resourcequota **quotas; /* by name */
	const struct kar_limitrange **ranges;    /* by name */
	size_t n_quotas, n_ranges;
	uint32_t first, n; /* its rows: for each quota, those of its limits */
	struct use *uses;  /* by row, from .first */
	struct knowns knowns;
};

static int compare_pointers(const void *a, const void *b)
{
	return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

static int compare_knowns(const struct known *a, const struct known *b)
{
	int d = compare_pointers(a->of, b->of);

	if (!d)
		d = compare_pointers(a->class, b->class);
	return d ? d : (int)a->template - (int)b->template;
}

RB_GENERATE_INTERNAL(knowns, known, link, compare_knowns, KAR_UNUSED static)

/* --- rows ------------------------------------------------------------------------------------------------ */

static int quotas_by_name(const void *a, const void *b)
{
	const struct kar_resourcequota *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

static int ranges_by_name(const void *a, const void *b)
{
	const struct kar_limitrange *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

/* The API server enforces the lower one at once, and the higher one as soon as its controller has seen it. */
static struct kar_queue_quota_row row_of(const char *ns, const struct kar_resourcequota *q,
	const struct kar_quota_limit *l)
{
	int64_t spec = l->spec < 0 ? l->hard : l->spec, hard = l->hard < 0 ? l->spec : l->hard;

	return (struct kar_queue_quota_row){ .ns = ns,
		.quota = q->o.name,
		.resource = l->resource,
		.limit = spec < hard ? spec : hard,
		.hard = spec,
		.unknown = l->hard < 0 || l->used < 0 };
}

/* For whom a quota with other scopes holds is not known, so it has no rows. */
static void add_rows(struct queue_account *a, const char *ns)
{
	struct queue_ledger *l = a->ledger;

	a->first = l->n_rows;
	for (size_t i = 0; i < a->n_quotas; i++) {
		const struct kar_resourcequota *q = a->quotas[i];
		const struct kar_quota_limit *limits = q->limits.items;

		for (size_t k = 0; !q->other_scopes && k < q->limits.n; k++) {
			if (limits[k].spec < 0 && limits[k].hard < 0)
				continue; /* it is only said to be used */
			l->rows = kar_arena_grow(l->arena, l->rows, l->n_rows, sizeof(*l->rows));
			l->rows[l->n_rows++] = row_of(ns, q, &limits[k]);
			a->uses = kar_arena_grow(l->arena, a->uses, a->n, sizeof(*a->uses));
			a->uses[a->n++] = (struct use){ .used = limits[k].used > 0 ? limits[k].used : 0 };
		}
	}
}

struct queue_account *queue_ledger_open(struct queue_ledger *l, const char *ns, const struct queue_quotas *q)
{
	struct queue_account *a = kar_arena_alloc(l->arena, 1, sizeof(*a));

	*a = (struct queue_account){ .ledger = l,
		.quotas = kar_arena_alloc(l->arena, q->n_quotas, sizeof(*a->quotas)),
		.n_quotas = q->n_quotas,
		.ranges = kar_arena_alloc(l->arena, q->n_ranges, sizeof(*a->ranges)),
		.n_ranges = q->n_ranges };
	RB_INIT(&a->knowns);
	for (size_t i = 0; i < q->n_quotas; i++)
		a->quotas[i] = q->quotas[i];
	for (size_t i = 0; i < q->n_ranges; i++)
		a->ranges[i] = q->ranges[i];
	if (a->n_quotas)
		qsort(a->quotas, a->n_quotas, sizeof(*a->quotas), quotas_by_name);
	if (a->n_ranges)
		qsort(a->ranges, a->n_ranges, sizeof(*a->ranges), ranges_by_name);
	add_rows(a, ns);
	if (!a->n)
		return NULL;
	a->next = l->accounts;
	l->accounts = a;
	return a;
}

/* --- charges --------------------------------------------------------------------------------------------- */

static const struct kar_charged_container *sets_none(const struct kar_pod_charge *c, const char *resource)
{
	unsigned demand = kar_charge_demand(resource);
	const struct kar_charged_container *all = c->containers.items;

	for (size_t i = 0; demand && i < c->containers.n; i++) {
		if (!(all[i].sets & demand))
			return &all[i];
	}
	return NULL;
}

/* As the API server does, by what its controller has seen of the quota. */
static void check_demand(const struct kar_queue_quota_row *row, const struct kar_pod_charge *c,
	struct queue_charges *out)
{
	const struct kar_charged_container *container =
		out->refused_by || row->unknown ? NULL : sets_none(c, row->resource);

	if (!container)
		return;
	out->refused_by = row->quota;
	out->demands = row->resource;
	out->container = container->name;
}

static void add_charge(struct queue_account *a, uint32_t row, int64_t amount, struct queue_charges *out)
{
	struct kar_queue_charge *items = (void *)(uintptr_t)out->items;

	if (amount <= 0)
		return;
	items = kar_arena_grow(a->ledger->arena, items, out->n, sizeof(*items));
	items[out->n++] = (struct kar_queue_charge){ .row = row, .amount = amount };
	out->items = items;
}

static void charge(struct queue_account *a, const struct kar_pod_charge *c, bool template,
	struct queue_charges *out)
{
	const char *quota = NULL; /* that of the row, once it is found */
	bool matches = false;

	for (uint32_t i = 0, next = 0; i < a->n; i++) {
		const struct kar_queue_quota_row *row = &a->ledger->rows[a->first + i];

		while (quota != row->quota) {
			const struct kar_resourcequota *q = a->quotas[next++];

			quota = q->o.name;
			matches = kar_quota_matches(q, c);
		}
		if (!matches)
			continue;
		add_charge(a, a->first + i, kar_pod_charge_of(c, row->resource), out);
		if (template && row->unknown && !out->unknown && kar_pod_charge_of(c, row->resource) > 0)
			out->unknown = row->quota;
		if (template)
			check_demand(row, c, out);
	}
}

static const struct queue_charges *find_or_make(struct queue_account *a, const struct kar_pod_counted *of,
	const char *class, bool template)
{
	struct known key = { .of = of, .class = class, .template = template },
		     *k = RB_FIND(knowns, &a->knowns, &key);
	struct kar_pod_charge c;

	if (k)
		return &k->charges;
	k = kar_arena_alloc(a->ledger->arena, 1, sizeof(*k));
	*k = key;
	kar_pod_charge(of, (const struct kar_limitrange *const *)a->ranges, template ? a->n_ranges : 0,
		a->ledger->arena, &c);
	if (!c.priority_class)
		c.priority_class = class;
	charge(a, &c, template, &k->charges);
	RB_INSERT(knowns, &a->knowns, k);
	return &k->charges;
}

const struct queue_charges *queue_charge_template(struct queue_account *a, const struct kar_pod_counted *of,
	const char *class)
{
	return find_or_make(a, of, class, true);
}

const struct queue_charges *queue_charge_pod(struct queue_account *a, const struct kar_pod_counted *of)
{
	return find_or_make(a, of, NULL, false);
}

const char *queue_charges_problem(const struct queue_charges *c, const char *task, struct kar_arena *arena)
{
	if (!c->refused_by)
		return NULL;
	return kar_arena_printf(arena, "quota %s needs %s, %s%s of task %s sets none", c->refused_by,
		c->demands, c->container[0] ? "container " : "a container", c->container, task);
}

/* --- use ------------------------------------------------------------------------------------------------- */

static void add_to(struct queue_account *a, const struct queue_charges *c, int64_t pods, size_t member)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct use *u = &a->uses[c->items[i].row - a->first];

		*(wide *)(void *)((char *)u + member) += (wide)c->items[i].amount * pods;
	}
}

void queue_account_live(struct queue_account *a, const struct kar_pod_counted *of, int64_t n)
{
	add_to(a, queue_charge_pod(a, of), n, offsetof(struct use, live));
}

void queue_account_managed(struct queue_account *a, const struct kar_pod_counted *of)
{
	add_to(a, queue_charge_pod(a, of), 1, offsetof(struct use, managed));
}

void queue_account_kept(struct queue_account *a, const struct kar_queue_charge *charges, uint32_t n,
	int64_t pods)
{
	const struct queue_charges c = { .items = charges, .n = n };

	add_to(a, &c, pods, offsetof(struct use, kept));
}

static wide others_of(const struct use *u)
{
	wide known = u->live - u->managed, said = u->used - u->kept - u->stale;

	return known > said ? (known > 0 ? known : 0) : said > 0 ? said : 0;
}

static int64_t foreign_of(const struct use *u)
{
	wide n = others_of(u) + u->reserved;

	assert(u->reserved >= 0); /* only what was taken is given back */
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static int64_t narrow(wide n)
{
	return n < 0 ? 0 : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

void queue_ledger_believe(struct queue_ledger *l, struct queue_said *said, kar_time now, kar_time *again_in)
{
	for (const struct queue_account *a = l->accounts; a; a = a->next) {
		for (uint32_t i = 0; i < a->n; i++) {
			struct use *u = &a->uses[i];
			int64_t others = narrow(u->used - u->kept);

			u->stale = others -
				queue_said_of(said, &l->rows[a->first + i], narrow(u->used), others, now,
					again_in);
		}
	}
	queue_said_sweep(said, now);
}

void queue_ledger_close(struct queue_ledger *l)
{
	for (const struct queue_account *a = l->accounts; a; a = a->next) {
		assert(a->n && a->first + a->n <= l->n_rows);
		for (uint32_t i = 0; i < a->n; i++)
			l->rows[a->first + i].foreign = foreign_of(&a->uses[i]);
	}
}

/* --- reservations ---------------------------------------------------------------------------------------- */

static const struct kar_resourcequota *quota_of(const struct queue_account *a, uint32_t row)
{
	size_t i = 0;

	while (i < a->n_quotas && a->quotas[i]->o.name != a->ledger->rows[row].quota)
		i++;
	assert(i < a->n_quotas); /* each row is of a quota of its account */
	return a->quotas[i];
}

/* The resource of pods that a row for @resource is about; NULL: their limits, or how many there are. */
static const char *requested(const char *resource)
{
	static const char requests[] = "requests.", limits[] = "limits.";

	if (strncmp(resource, limits, sizeof(limits) - 1) == 0)
		return NULL;
	return strncmp(resource, requests, sizeof(requests) - 1) == 0 ? resource + sizeof(requests) - 1
								      : resource;
}

/* What @totals have of what the row for @resource is charged with. */
static int64_t total_of(const struct kar_array *totals, const char *resource)
{
	static const char requests[] = "requests.", limits[] = "limits.";
	const char *name = kar_streq(resource, "count/pods")             ? "pods"
		: strncmp(resource, requests, sizeof(requests) - 1) == 0 ? resource + sizeof(requests) - 1
									 : resource;
	const char *text =
		strncmp(resource, limits, sizeof(limits) - 1) == 0 ? NULL : kar_pairs_get(totals, name);
	struct kar_quantity q;

	return text && kar_quantity_parse(text, &q, NULL) == 0 ? kar_quota_amount(resource, &q, true) : 0;
}

const struct queue_charges *queue_charge_hold(struct queue_account *a, const struct kar_queue_amounts *hold)
{
	struct queue_charges *out = kar_arena_alloc(a->ledger->arena, 1, sizeof(*out));

	for (uint32_t row = a->first; row < a->first + a->n; row++) {
		const char *name = requested(a->ledger->rows[row].resource);

		for (uint32_t i = 0; i < hold->n && !quota_of(a, row)->scopes.n; i++) {
			if (kar_streq(hold->items[i].resource, name))
				add_charge(a, row, hold->items[i].amount, out);
		}
	}
	return out;
}

static wide charged_by(const struct queue_charges *const *members, size_t n, uint32_t row)
{
	wide sum = 0;

	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < members[i]->n; k++)
			sum += members[i]->items[k].row == row ? members[i]->items[k].amount : 0;
	}
	return sum;
}

void queue_reservation_rest(struct queue_reservation *r, const struct kar_array *totals,
	const struct queue_charges *const *members, size_t n)
{
	struct queue_account *a = r->account;

	for (uint32_t row = a->first; row < a->first + a->n; row++) {
		wide rest = total_of(totals, a->ledger->rows[row].resource) - charged_by(members, n, row);

		if (rest <= 0 || quota_of(a, row)->scopes.n)
			continue;
		r->rest = kar_arena_grow(a->ledger->arena, r->rest, r->n_rest, sizeof(*r->rest));
		r->rest[r->n_rest++] = (struct kar_queue_charge){ .row = row, .amount = (int64_t)rest };
	}
}

static wide room_of(const struct queue_account *a, uint32_t row)
{
	const struct use *u = &a->uses[row - a->first];

	assert(row >= a->first && row - a->first < a->n);
	return (wide)a->ledger->rows[row].limit - others_of(u) - u->reserved - u->kept;
}

static void take(const struct queue_reservation *r, int sign)
{
	for (uint32_t i = 0; i < r->n_rest; i++)
		r->account->uses[r->rest[i].row - r->account->first].reserved +=
			(wide)sign * r->rest[i].amount;
}

/* Is there as much room as @r wants, or (@taken) is none of its rows used beyond its limit? */
static bool has_room(struct queue_reservation *r, bool taken)
{
	for (uint32_t i = 0; i < r->n_rest; i++) {
		wide room = room_of(r->account, r->rest[i].row);

		if (room >= (taken ? 0 : r->rest[i].amount))
			continue;
		room += taken ? r->rest[i].amount : 0;
		r->lacks = r->rest[i].row;
		r->room = room > 0 ? (int64_t)room : 0;
		return false;
	}
	return true;
}

void queue_reservations_decide(struct queue_reservation *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		all[i]->granted = all[i]->held;
		if (all[i]->held)
			take(all[i], 1);
	}
	for (size_t i = n; i-- > 0;) {
		if (all[i]->granted && !has_room(all[i], true)) {
			take(all[i], -1);
			all[i]->granted = false;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (all[i]->granted || !has_room(all[i], false))
			continue;
		take(all[i], 1);
		all[i]->granted = true;
	}
}
