#include "controllers/runtime/plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/base/timefmt.h"

void kar_plan_init(struct kar_plan *p, struct kar_arena *arena)
{
	*p = (struct kar_plan){ .arena = arena, .requeue_after = KAR_NEVER };
}

struct kar_action *kar_plan_add(struct kar_plan *p, enum kar_verb verb, const struct kar_type *type,
	const char *ns, const char *name)
{
	struct kar_action *a;

	p->actions = kar_arena_grow(p->arena, p->actions, p->n_actions, sizeof(*p->actions));
	a = &p->actions[p->n_actions++];
	*a = (struct kar_action){ .verb = verb, .type = type, .ns = ns, .name = name };
	return a;
}

void kar_plan_event(struct kar_plan *p, bool warning, const char *reason, const char *action, const char *fmt,
	...)
{
	char note[1024]; /* the API's own bound on an event's note */
	va_list ap;

	va_start(ap, fmt);
	kar_text_vprintf(note, sizeof(note), fmt, ap);
	va_end(ap);
	p->events = kar_arena_grow(p->arena, p->events, p->n_events, sizeof(*p->events));
	p->events[p->n_events++] = (struct kar_plan_event){
		.warning = warning,
		.reason = reason,
		.action = action,
		.note = kar_arena_strndup(p->arena, note, strlen(note)),
	};
}

void kar_plan_event_about(struct kar_plan *p, const struct kar_object *o)
{
	struct kar_object *about = kar_arena_alloc(p->arena, 1, sizeof(*about));

	assert(p->n_events);
	about->type = o->type;
	about->ns = kar_arena_strndup(p->arena, o->ns, strlen(o->ns));
	about->name = kar_arena_strndup(p->arena, o->name, strlen(o->name));
	about->uid = kar_arena_strndup(p->arena, o->uid, strlen(o->uid));
	p->events[p->n_events - 1].about = about;
}

bool kar_plan_has(const struct kar_plan *p, int what)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].what == what)
			return true;
	}
	return false;
}

void kar_plan_requeue(struct kar_plan *p, kar_time ms)
{
	if (ms < p->requeue_after)
		p->requeue_after = ms;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* An action that is being sorted. */
struct turn {
	struct kar_action action;
	size_t index; /* in the plan as it was */
	size_t round; /* number of actions of its namespace and tier before it */
};

static int compare_tiers(const struct turn *x, const struct turn *y)
{
	int order = compare(x->action.rank.tier, y->action.rank.tier);

	return order ? order : compare(y->action.firm, x->action.firm);
}

static int compare_namespaces(const struct turn *x, const struct turn *y)
{
	const char *a = x->action.ns, *b = y->action.ns;
	int order = compare_tiers(x, y);

	return order ? order : strcmp(a ? a : "", b ? b : "");
}

static int by_namespace(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int order = compare_namespaces(x, y);

	return order ? order : compare((int64_t)x->index, (int64_t)y->index);
}

static int by_round(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int order = compare_tiers(x, y);

	if (!order)
		order = compare((int64_t)x->round, (int64_t)y->round);
	return order ? order : compare((int64_t)x->index, (int64_t)y->index);
}

void kar_plan_take_turns(struct kar_plan *p)
{
	struct turn *turns = kar_arena_alloc(p->arena, p->n_actions, sizeof(*turns));

	if (p->n_actions < 2)
		return;
	for (size_t i = 0; i < p->n_actions; i++)
		turns[i] = (struct turn){ .action = p->actions[i], .index = i };
	qsort(turns, p->n_actions, sizeof(*turns), by_namespace);
	for (size_t i = 1; i < p->n_actions; i++) {
		if (compare_namespaces(&turns[i - 1], &turns[i]) == 0)
			turns[i].round = turns[i - 1].round + 1;
	}
	qsort(turns, p->n_actions, sizeof(*turns), by_round);
	for (size_t i = 0; i < p->n_actions; i++)
		p->actions[i] = turns[i].action;
}

static void separate(struct kar_buf *out, size_t start)
{
	if (out->n > start)
		kar_buf_puts(out, "; ");
}

static void print_action(const struct kar_action *a, struct kar_buf *out)
{
	char key[KAR_KEY_LEN];

	kar_buf_printf(out, "%s%s %s%s%s %s", a->dry_run ? "dry-run " : "", kar_verb_name(a->verb),
		a->type->res.plural, a->subresource ? "/" : "", a->subresource ? a->subresource : "",
		kar_key(a->ns, a->name, key));
	if (a->note)
		kar_buf_printf(out, " (%s)", a->note);
}

void kar_plan_print(const struct kar_plan *p, struct kar_buf *out)
{
	size_t start = out->n;

	if (p->status)
		kar_buf_printf(out, "status %s", p->status_text ? p->status_text : "");
	for (size_t i = 0; i < p->n_events; i++) {
		separate(out, start);
		kar_buf_printf(out, "event %s %s%s%s: %s", p->events[i].warning ? "Warning" : "Normal",
			p->events[i].reason, p->events[i].about ? " of " : "",
			p->events[i].about ? p->events[i].about->name : "", p->events[i].note);
	}
	for (size_t i = 0; i < p->n_actions; i++) {
		separate(out, start);
		print_action(&p->actions[i], out);
	}
	if (p->note) {
		separate(out, start);
		kar_buf_puts(out, p->note);
	}
	if (p->requeue_after != KAR_NEVER) {
		char text[KAR_TIME_LEN];

		separate(out, start);
		kar_buf_printf(out, "requeue %s", kar_duration_format(p->requeue_after, text));
	}
}

int kar_rank_compare(const struct kar_rank *a, const char *key_a, const struct kar_rank *b, const char *key_b)
{
	int order = compare(a->tier, b->tier);

	if (order || a->tier == KAR_TIER_BACKGROUND)
		return order;
	if (a->tier == KAR_TIER_CONTROL)
		return compare(b->priority, a->priority);
	if (a->tier == KAR_TIER_EXTRA)
		order = compare(a->seq, b->seq);
	if (!order)
		order = compare(b->priority, a->priority);
	if (!order)
		order = compare(a->age, b->age);
	if (!order)
		order = strcmp(key_a, key_b);
	return order ? order : compare(a->seq, b->seq);
}
