/*
 * When new positions and numbers in texts are written (docs/design/queue.md, 9): the first groups of a line see each change within a few
 * seconds, the others only one that matters where they stand. So a line that moves costs a bounded number of writes, however long it is.
 */
#include "controllers/queue/pace.h"

#include <assert.h>
#include <bsd/string.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

enum {
	FIRST = 10, /* of a line: they are told of each change */
	PART = 10,  /* others when their place, or the line, has moved by one in so many */
};

/* --- lines ------------------------------------------------------------------------------------------ */

struct line {
	char queue[64]; /* a name that does not fit is cut, and equals none */
	int32_t length;
};

void queue_forget_lines(struct queue_lines *lines)
{
	free(lines->items);
	*lines = (struct queue_lines){ 0 };
}

static bool has_moved(int32_t before, int32_t now)
{
	int64_t by = (int64_t)now - before;

	return by && (before <= 0 || now <= 0 || (by < 0 ? -by : by) * PART >= before);
}

static void measure_lines(struct queue_pass *p)
{
	p->lengths = kar_arena_alloc(p->arena, p->n_queues + 1, sizeof(*p->lengths));
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->in[i].queue != KAR_QUEUE_NONE && p->result.groups[i].line > 0)
			p->lengths[p->in[i].queue] = p->result.groups[i].line;
	}
}

void queue_compare_lines(struct queue_pass *p, const struct queue_lines *told)
{
	uint32_t at = 0;

	measure_lines(p);
	p->line_moved = kar_arena_alloc(p->arena, p->n_queues + 1, sizeof(*p->line_moved));
	for (uint32_t i = 0; i < p->n_queues; i++) {
		const char *name = p->queues[i]->o.name;

		assert(!i || strcmp(p->queues[i - 1]->o.name, name) < 0); /* so are those that were told */
		while (at < told->n && strcmp(told->items[at].queue, name) < 0)
			at++;
		p->line_moved[i] = !(at < told->n && strcmp(told->items[at].queue, name) == 0) ||
			has_moved(told->items[at].length, p->lengths[i]);
		if (!p->line_moved[i])
			p->lengths[i] = told->items[at].length; /* slow moves add up */
	}
}

void queue_note_lines(const struct queue_pass *p, struct queue_lines *told)
{
	struct queue_lines now = { .n = p->n_queues };

	assert(p->lengths); /* they are measured */
	now.items = kar_xcalloc(now.n + 1, sizeof(*now.items));
	for (uint32_t i = 0; i < p->n_queues; i++) {
		strlcpy(now.items[i].queue, p->queues[i]->o.name, sizeof(now.items[i].queue));
		now.items[i].length = p->lengths[i];
	}
	queue_forget_lines(told);
	*told = now;
}

/* --- texts ------------------------------------------------------------------------------------------ */

/* "3", "1.5", "2Gi,", a time: but no name, unless it is that of a namespace which begins with a digit. */
static bool are_numbers(const char *a, const char *b)
{
	return isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
}

bool queue_says_the_same(const char *recorded, const char *text)
{
	const char *a = recorded, *b = text;

	for (bool begins = true; *b; begins = *a == ' ' || *a == '(', a++, b++) {
		if (begins && are_numbers(a, b)) {
			a += strcspn(a, " ;");
			b += strcspn(b, " ;");
			if (!*b)
				break;
		}
		if (*a != *b)
			return false;
	}
	return !*a || *a == ';'; /* behind it there may be the position */
}

/* --- what is written when --------------------------------------------------------------------------- */

/* Behind the first of its line: who goes first, and what is free, is another with each job that starts. */
static enum queue_pace pace_in_line(const struct queue_pass *p, uint32_t i)
{
	int32_t before = p->groups[i].group->status.position, now = p->result.groups[i].position;

	assert(p->in[i].queue < p->n_queues);
	return has_moved(before, now) || p->line_moved[p->in[i].queue] ? QUEUE_LATER : QUEUE_NEVER;
}

enum queue_pace queue_pace_of(const struct queue_pass *p, uint32_t i, const char *message)
{
	const struct kar_queue_decision *d = &p->result.groups[i];
	const struct kar_podgroup *g = p->groups[i].group;
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	bool moved = d->position != g->status.position;

	if (!message || !c)
		return moved ? QUEUE_SOON : QUEUE_NEVER;
	if (!moved && kar_streq(c->message, message))
		return QUEUE_NEVER;
	if ((d->position && d->position <= FIRST) || p->in[i].queue == KAR_QUEUE_NONE ||
		!kar_streq(c->reason, kar_queue_reason_name(d->reason)))
		return QUEUE_SOON;
	if (d->reason >= KAR_QR_RESERVING)
		return pace_in_line(p, i);
	return queue_says_the_same(c->message, d->text ? d->text : message) ? QUEUE_LATER : QUEUE_SOON;
}
