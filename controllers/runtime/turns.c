#include "controllers/runtime/turns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "common/base/mem.h"

enum { IN_A_ROW = 8 }; /* control writes of a higher priority that go before a create */

RB_HEAD(turn_order, kar_turn);
RB_HEAD(priority_order, kar_turn);

/* The waiting plans of one namespace in one lane. It exists while it has one. */
struct kar_turns_tenant {
	RB_ENTRY(kar_turns_tenant) by_name;
	TAILQ_ENTRY(kar_turns_tenant) in_round;
	struct turn_order plans;
	const char
		*name; /* of the namespace; points to .own, because the keys of plans do not live as long */
	size_t n;      /* bytes of it */
	char own[];
};
RB_HEAD(tenants, kar_turns_tenant);

/* Namespaces that take turns. */
struct lane {
	struct tenants tenants;
	TAILQ_HEAD(, kar_turns_tenant) round; /* the next one first */
};

struct kar_turns {
	struct lane control, background;
	struct turn_order creates;
	struct priority_order urgency; /* the plans of .control, over all namespaces */
	bool creates_next;             /* if both wait */
	int in_a_row;                  /* control writes that have gone before a create for their priority */
};

static int compare_turns(const struct kar_turn *a, const struct kar_turn *b)
{
	int order = kar_rank_compare(a->rank, a->key, b->rank, b->key);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int compare_tenants(const struct kar_turns_tenant *a, const struct kar_turns_tenant *b)
{
	int order = memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);

	return order ? order : (a->n > b->n) - (a->n < b->n);
}

static int compare_priorities(const struct kar_turn *a, const struct kar_turn *b)
{
	int32_t x = a->rank->priority, y = b->rank->priority;

	return x != y ? (x > y ? -1 : 1) : (a->number > b->number) - (a->number < b->number);
}

RB_GENERATE_INTERNAL(turn_order, kar_turn, link, compare_turns, KAR_UNUSED static)
RB_GENERATE_INTERNAL(priority_order, kar_turn, by_priority, compare_priorities, KAR_UNUSED static)
RB_GENERATE_INTERNAL(tenants, kar_turns_tenant, by_name, compare_tenants, KAR_UNUSED static)

/* NULL: a create, which is not ordered by namespace. */
static struct lane *lane_of(struct kar_turns *t, const struct kar_turn *w)
{
	switch (w->rank->tier) {
	case KAR_TIER_CONTROL:
		return &t->control;
	case KAR_TIER_BACKGROUND:
		return &t->background;
	default:
		return NULL;
	}
}

/* A new namespace has its turn after all others. */
static struct kar_turns_tenant *tenant_of(struct lane *l, const char *key)
{
	const char *slash = strchr(key, '/');
	struct kar_turns_tenant like = { .name = key, .n = slash ? (size_t)(slash - key) : 0 };
	struct kar_turns_tenant *tenant = RB_FIND(tenants, &l->tenants, &like);

	if (tenant)
		return tenant;
	tenant = kar_xcalloc(1, sizeof(*tenant) + like.n);
	memcpy(tenant->own, key, like.n);
	tenant->name = tenant->own;
	tenant->n = like.n;
	RB_INIT(&tenant->plans);
	RB_INSERT(tenants, &l->tenants, tenant);
	TAILQ_INSERT_TAIL(&l->round, tenant, in_round);
	return tenant;
}

static void drop_if_idle(struct lane *l, struct kar_turns_tenant *tenant)
{
	if (!RB_EMPTY(&tenant->plans))
		return;
	RB_REMOVE(tenants, &l->tenants, tenant);
	TAILQ_REMOVE(&l->round, tenant, in_round);
	free(tenant);
}

void kar_turns_add(struct kar_turns *t, struct kar_turn *w, const struct kar_rank *rank)
{
	struct lane *l;

	assert(!w->waits);
	w->rank = rank;
	w->waits = true;
	l = lane_of(t, w);
	w->tenant = l ? tenant_of(l, w->key) : NULL;
	RB_INSERT(turn_order, w->tenant ? &w->tenant->plans : &t->creates, w);
	if (l == &t->control)
		RB_INSERT(priority_order, &t->urgency, w);
}

void kar_turns_remove(struct kar_turns *t, struct kar_turn *w)
{
	if (!w->waits)
		return;
	w->waits = false;
	RB_REMOVE(turn_order, w->tenant ? &w->tenant->plans : &t->creates, w);
	if (w->rank->tier == KAR_TIER_CONTROL)
		RB_REMOVE(priority_order, &t->urgency, w);
	if (w->tenant)
		drop_if_idle(lane_of(t, w), w->tenant);
}

static struct kar_turn *first_of(const struct lane *l)
{
	struct kar_turns_tenant *tenant = TAILQ_FIRST(&l->round);

	return tenant ? RB_MIN(turn_order, &tenant->plans) : NULL;
}

/* The creates of an important job wait for several control writes, one after the other: each would wait for creates of others. */
static bool is_urgent(struct kar_turns *t, const struct kar_turn *create)
{
	const struct kar_turn *control = RB_MIN(priority_order, &t->urgency);

	return t->in_a_row < IN_A_ROW && control && control->rank->priority > create->rank->priority;
}

static struct kar_turn *control_or_create(struct kar_turns *t, struct kar_turn *control,
	struct kar_turn *create)
{
	bool enough = t->in_a_row >= IN_A_ROW;

	if (is_urgent(t, create)) {
		t->in_a_row++;
		return control;
	}
	t->in_a_row = 0;
	t->creates_next = !t->creates_next && !enough;
	return t->creates_next ? control : create;
}

const struct kar_rank *kar_turns_extra(struct kar_turns *t)
{
	const struct kar_turn *create = RB_MIN(turn_order, &t->creates);

	return create && create->rank->tier == KAR_TIER_EXTRA ? create->rank : NULL;
}

static struct kar_turn *next(struct kar_turns *t, bool extras)
{
	struct kar_turn *control = first_of(&t->control);
	struct kar_turn *create = extras || !kar_turns_extra(t) ? RB_MIN(turn_order, &t->creates) : NULL;

	if (control && create)
		return control_or_create(t, control, create);
	if (create)
		return create;
	return control ? control : first_of(&t->background);
}

struct kar_turn *kar_turns_take(struct kar_turns *t, bool extras)
{
	struct kar_turn *w = next(t, extras);
	struct lane *l = w ? lane_of(t, w) : NULL;

	if (l) { /* the other namespaces come before its next turn */
		TAILQ_REMOVE(&l->round, w->tenant, in_round);
		TAILQ_INSERT_TAIL(&l->round, w->tenant, in_round);
	}
	if (w)
		kar_turns_remove(t, w);
	return w;
}

static void init(struct lane *l)
{
	RB_INIT(&l->tenants);
	TAILQ_INIT(&l->round);
}

struct kar_turns *kar_turns_new(void)
{
	struct kar_turns *t = kar_xcalloc(1, sizeof(*t));

	init(&t->control);
	init(&t->background);
	RB_INIT(&t->creates);
	RB_INIT(&t->urgency);
	return t;
}

void kar_turns_free(struct kar_turns *t)
{
	assert(!t || (!first_of(&t->control) && !first_of(&t->background) && RB_EMPTY(&t->creates)));
	free(t);
}
