/* Rights of queues that cannot be kept: more than there is, more than the parent has, of what no node has. The spec stays valid. */
#include <assert.h>
#include <string.h>

#include "controllers/queue/pass.h"

#include "common/sched/amounts.h"

enum { GUARANTEE, DESERVED, RIGHTS };

/* What the children of a queue have a right to, together. */
struct sums {
	struct kar_sched_amount *items[RIGHTS];
	uint32_t n[RIGHTS];
};

struct queue_rights {
	struct sums *of; /* by queue; the last: of those without a parent */
};

static const struct kar_queue_amounts *right_of(const struct kar_queue_in *q, int right)
{
	return right == GUARANTEE ? &q->guarantee : &q->deserved;
}

static void add(struct sums *s, int right, const struct kar_sched_amount *x, struct kar_arena *a)
{
	uint32_t i = 0;

	while (i < s->n[right] && strcmp(s->items[right][i].resource, x->resource) != 0)
		i++;
	if (i == s->n[right]) {
		s->items[right] = kar_arena_grow(a, s->items[right], i, sizeof(*x));
		s->items[right][s->n[right]++] = (struct kar_sched_amount){ .resource = x->resource };
	}
	if (__builtin_add_overflow(s->items[right][i].amount, x->amount, &s->items[right][i].amount))
		s->items[right][i].amount = INT64_MAX;
}

struct queue_rights *queue_sum_rights(struct queue_pass *p)
{
	struct kar_arena *a = p->arena;
	struct queue_rights *r = kar_arena_alloc(a, 1, sizeof(*r));

	r->of = kar_arena_alloc(a, (size_t)p->n_queues + 1, sizeof(*r->of));
	for (uint32_t i = 0; i < p->n_queues; i++) {
		const struct kar_queue_status_out *out = &p->result.queues[i];
		uint32_t parent = out->parent == KAR_QUEUE_NONE ? p->n_queues : out->parent;

		assert(parent <= p->n_queues && parent != i);
		for (int right = 0; right < RIGHTS && out->in_force; right++) {
			const struct kar_queue_amounts *list = right_of(&p->snapshot.queues[i], right);

			for (uint32_t k = 0; k < list->n; k++)
				add(&r->of[parent], right, &list->items[k], a);
		}
	}
	return r;
}

static int64_t offered(const struct queue_pass *p, const char *resource)
{
	return kar_sched_offered(p->snapshot.sched, resource);
}

/* The text grows by one warning. */
static const char *also(const struct queue_pass *p, const char *text, const char *more)
{
	return text ? kar_arena_printf(p->arena, "%s; %s", text, more) : more;
}

static const char *compare(const struct queue_pass *p, const char *text, const char *what,
	const struct kar_sched_amount *x, const char *whole, int64_t limit)
{
	char asked[KAR_AMOUNT_TEXT], has[KAR_AMOUNT_TEXT];

	if (x->amount <= limit)
		return text;
	return also(p, text,
		kar_arena_printf(p->arena, "%s %s %s, %s %s", what,
			kar_amount_text(x->resource, x->amount, true, asked), x->resource, whole,
			kar_amount_text(x->resource, limit, false, has)));
}

/* What is guaranteed is kept free, so it has to exist. */
static const char *compare_with_nodes(const struct queue_pass *p, uint32_t i, const char *text)
{
	const struct kar_queue_in *q = &p->snapshot.queues[i];
	const struct sums *all = &p->rights->of[p->n_queues];
	bool top = p->result.queues[i].parent == KAR_QUEUE_NONE;

	for (uint32_t k = 0; k < q->guarantee.n; k++) {
		const struct kar_sched_amount *x = &q->guarantee.items[k];
		const char *before = text;

		text = compare(p, text, "its guarantee is", x, "all nodes have", offered(p, x->resource));
		for (uint32_t n = 0; top && x->amount > 0 && text == before && n < all->n[GUARANTEE]; n++) {
			if (strcmp(all->items[GUARANTEE][n].resource, x->resource) == 0)
				text = compare(p, text, "the guarantees of all queues are together",
					&all->items[GUARANTEE][n], "all nodes have", offered(p, x->resource));
		}
	}
	if (queue_flavor_warning(p, i))
		text = also(p, text, queue_flavor_warning(p, i));
	for (uint32_t k = 0; k < q->capability.n; k++) {
		const struct kar_sched_amount *x = &q->capability.items[k];

		if (x->amount > 0 && !offered(p, x->resource))
			text = also(p, text,
				kar_arena_printf(p->arena, "its capability names %s, which no node has",
					x->resource));
	}
	return text;
}

/* NULL: @list does not name it. */
static const int64_t *named(const struct kar_queue_amounts *list, const char *resource)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].resource, resource) == 0)
			return &list->items[i].amount;
	}
	return NULL;
}

/* With its own right, which is not above its capability, or else with that. */
static const char *compare_with_children(const struct queue_pass *p, uint32_t i, const char *text)
{
	static const char *const what[RIGHTS] = { "the guarantees of its child queues are together",
		"what its child queues deserve is together" };
	static const char *const whole[RIGHTS] = { "its own is", "it deserves" };
	const struct kar_queue_in *q = &p->snapshot.queues[i];
	const struct sums *s = &p->rights->of[i];

	for (int right = 0; right < RIGHTS; right++) {
		for (uint32_t n = 0; n < s->n[right]; n++) {
			const struct kar_sched_amount *x = &s->items[right][n];
			const int64_t *own = named(right_of(q, right), x->resource),
				      *most = own ? own : named(&q->capability, x->resource);

			if (most)
				text = compare(p, text, what[right], x,
					own ? whole[right] : "its capability is", *most);
		}
	}
	return text;
}

const char *queue_warnings(const struct queue_pass *p, uint32_t i)
{
	const char *text = compare_with_children(p, i, NULL);

	/* A cluster that grows may have no node yet. */
	if (p->snapshot.sched && !p->snapshot.no_nodes && offered(p, "pods") > 0)
		text = compare_with_nodes(p, i, text);
	return text;
}
