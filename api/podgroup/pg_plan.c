#include "api/podgroup/pg_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/base/buf.h"
#include "common/base/str.h"

static int by_node(const void *a, const void *b)
{
	const struct kar_pg_seat *x = *(struct kar_pg_seat *const *)a, *y = *(struct kar_pg_seat *const *)b;
	int order = strcmp(x->node, y->node);

	return order ? order : (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
	const struct kar_pg_seat *x = a, *y = b;

	return strcmp(x->node, y->node);
}

void kar_pg_seats_sort(struct kar_pg_seat *seats, size_t n)
{
	if (n)
		qsort(seats, n, sizeof(*seats), by_name);
}

/* Adds up the seats on the same node that follow each other. Returns how many are left. */
static size_t merge(struct kar_pg_seat *seats, size_t n)
{
	size_t last = 0;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(seats[last].node, seats[i].node) != 0)
			seats[++last] = seats[i];
		else
			seats[last].n = (int32_t)kar_clamp((int64_t)seats[last].n + seats[i].n, 0, INT32_MAX);
	}
	return n ? last + 1 : 0;
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
	s.n = merge(s.items, s.n);
	s.by_node = kar_arena_alloc(a, s.n + 1, sizeof(*s.by_node));
	for (size_t i = 0; i < s.n; i++)
		s.by_node[i] = &s.items[i];
	if (s.n)
		qsort(s.by_node, s.n, sizeof(*s.by_node), by_node);
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

/* The first of .by_node whose node is not before @node. */
static size_t find_node(const struct kar_pg_seats *s, const char *node)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(s->by_node[middle]->node, node) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool kar_pg_seats_take(struct kar_pg_seats *s, const char *node)
{
	size_t i = find_node(s, node);

	while (i < s->n && !s->by_node[i]->n && strcmp(s->by_node[i]->node, node) == 0)
		i++;
	if (i == s->n || strcmp(s->by_node[i]->node, node) != 0)
		return false;
	s->by_node[i]->n--;
	return true;
}

const char *kar_pg_plan_text(const struct kar_pg_seat *seats, size_t n, struct kar_arena *a)
{
	struct kar_pg_seat *all = kar_arena_alloc(a, n + 1, sizeof(*all));
	struct kar_buf text = { 0 };
	const char *out;
	int64_t pods = 0;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (seats[i].n)
			all[left++] = seats[i];
	}
	left = merge(all, left);
	for (size_t i = 0; i < left; i++) {
		kar_buf_printf(&text, "%s%s", text.n ? " " : "", all[i].node);
		if (all[i].n != 1 || !all[i].node[0])
			kar_buf_printf(&text, "*%" PRId32, all[i].n);
		pods += all[i].n;
	}
	out = text.n < KAR_PG_PLAN_BYTES ? kar_arena_strndup(a, kar_buf_cstr(&text), text.n)
					 : kar_arena_printf(a, "*%" PRId64, pods);
	kar_buf_release(&text);
	return out;
}
