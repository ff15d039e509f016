#include "api/podgroup/pg_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/base/buf.h"
#include "common/base/str.h"

static int by_node(const void *a, const void *b)
{
	const struct kar_pg_seat *x = a, *y = b;

	return strcmp(x->node, y->node);
}

/* Sorts, and adds up the seats on the same node. */
static void merge(struct kar_pg_seats *s)
{
	size_t n = 0;

	if (!s->n)
		return;
	qsort(s->items, s->n, sizeof(*s->items), by_node);
	for (size_t i = 1; i < s->n; i++) {
		struct kar_pg_seat *last = &s->items[n];

		if (strcmp(last->node, s->items[i].node) != 0)
			s->items[++n] = s->items[i];
		else
			last->n = (int32_t)kar_clamp((int64_t)last->n + s->items[i].n, 1, INT32_MAX);
	}
	s->n = n + 1;
}

/* "n1*4", "n1" or "*4" of @len bytes. False: it is none of these. */
static bool read_seat(const char *word, size_t len, struct kar_arena *a, struct kar_pg_seat *out)
{
	char *text = kar_arena_strndup(a, word, len), *star = strchr(text, '*');
	const char *problem = NULL;

	out->n = 1;
	if (star) {
		*star = '\0';
		out->n = (int32_t)strtonum(star + 1, 1, INT32_MAX, &problem);
	}
	out->node = text;
	return !problem && (text[0] || star);
}

static struct kar_pg_seats read_seats(const char *text, struct kar_arena *a)
{
	struct kar_pg_seats s = { 0 };

	while (*text) {
		size_t len = strcspn(text, " ");

		s.items = kar_arena_grow(a, s.items, s.n, sizeof(*s.items));
		if (!read_seat(text, len, a, &s.items[s.n++]))
			return (struct kar_pg_seats){ 0 };
		text += len;
		text += strspn(text, " ");
	}
	merge(&s);
	return s;
}

struct kar_pg_seats kar_pg_plan_seats(const struct kar_pg_placement *p, const char *role, struct kar_arena *a)
{
	for (size_t i = 0; i < p->n_plan; i++) {
		if (kar_streq(p->plan[i].role, role))
			return read_seats(p->plan[i].nodes, a);
	}
	return (struct kar_pg_seats){ 0 };
}

const char *kar_pg_planned_node(const struct kar_pg_planned *role, struct kar_arena *a)
{
	struct kar_pg_seats s = read_seats(role->nodes ? role->nodes : "", a);

	return s.n ? s.items[0].node : "";
}

bool kar_pg_seats_take(struct kar_pg_seats *s, const char *node)
{
	const struct kar_pg_seat wanted = { .node = node };
	struct kar_pg_seat *found =
		s->n ? bsearch(&wanted, s->items, s->n, sizeof(*s->items), by_node) : NULL;

	if (!found || !found->n)
		return false;
	found->n--;
	return true;
}

const char *kar_pg_plan_text(const struct kar_pg_seat *seats, size_t n, struct kar_arena *a)
{
	struct kar_pg_seats all = { .items = kar_arena_alloc(a, n + 1, sizeof(*all.items)), .n = n };
	struct kar_buf text = { 0 };
	const char *out;
	int64_t pods = 0;

	if (n)
		memcpy(all.items, seats, n * sizeof(*seats));
	merge(&all);
	for (size_t i = 0; i < all.n; i++) {
		if (!all.items[i].n)
			continue;
		kar_buf_printf(&text, "%s%s", text.n ? " " : "", all.items[i].node);
		if (all.items[i].n != 1 || !all.items[i].node[0])
			kar_buf_printf(&text, "*%" PRId32, all.items[i].n);
		pods += all.items[i].n;
	}
	out = text.n < KAR_PG_PLAN_BYTES ? kar_arena_strndup(a, kar_buf_cstr(&text), text.n)
					 : kar_arena_printf(a, "*%" PRId64, pods);
	kar_buf_release(&text);
	return out;
}
