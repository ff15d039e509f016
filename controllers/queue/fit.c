#include "controllers/queue/fit.h"

/* Many waiting jobs ask for the same, so the last questions are remembered. */
enum { REMEMBERED = 64 };

struct answer {
	kar_class class; /* 0: none yet */
	int32_t need;
	bool infeasible;
	const char *text; /* NULL: not asked yet */
};

struct queue_fit {
	struct kar_sched *sched; /* NULL: no group has a gang */
	struct kar_arena *arena;
	size_t mark;
	const struct kar_placement **renewed; /* per group */
	struct answer answers[REMEMBERED];
};

static void take_held(struct kar_sched *s, const struct queue_gang *g)
{
	for (size_t i = 0; i < g->n_held; i++)
		kar_sched_take(s, g->held[i].node, g->held[i].class, g->held[i].n);
}

/* As many as there is room for: the rest waits for room that only its own pods can make. */
static void take_missing(struct queue_fit *f, const struct queue_gang *g)
{
	struct kar_role *roles = kar_arena_alloc(f->arena, g->gang.n_roles + 1, sizeof(*roles));
	struct kar_gang wanted = g->gang;
	struct kar_placement p;

	for (uint32_t i = 0; i < g->gang.n_roles; i++)
		roles[i] =
			(struct kar_role){ .class = g->gang.roles[i].class, .want = g->gang.roles[i].need };
	wanted.roles = roles;
	kar_sched_place(f->sched, &wanted, f->arena, &p);
}

/* NULL: its need does not fit, or nothing of what it wants. */
static const struct kar_placement *renew(struct queue_fit *f, const struct queue_gang *g)
{
	struct kar_placement *p = kar_arena_alloc(f->arena, 1, sizeof(*p));

	if (kar_sched_place(f->sched, &g->gang, f->arena, p))
		return p->n_places ? p : NULL;
	take_missing(f, g);
	return NULL;
}

static bool holds(const struct queue_group *g)
{
	return g->gang && g->admitted && g->claim == QUEUE_CLAIM_ALIVE;
}

struct queue_fit *queue_fit_begin(const struct queue_snapshot *s, const struct queue_group *const *groups,
	size_t n, struct kar_arena *a)
{
	struct queue_fit *f = kar_arena_alloc(a, 1, sizeof(*f));

	f->sched = s->sched;
	f->arena = a;
	if (!f->sched)
		return f;
	f->renewed = kar_arena_alloc(a, n + 1, sizeof(*f->renewed));
	f->mark = kar_sched_mark(f->sched);
	for (size_t i = 0; i < n; i++) {
		if (holds(groups[i]))
			take_held(f->sched, groups[i]->gang);
	}
	for (size_t i = 0; i < n; i++) {
		if (!holds(groups[i]) || !groups[i]->gang->gang.n_roles)
			continue;
		if (groups[i]->gang->renews)
			f->renewed[i] = renew(f, groups[i]->gang);
		else
			take_missing(f, groups[i]->gang);
	}
	return f;
}

const struct kar_placement *queue_fit_renewed(const struct queue_fit *f, size_t at)
{
	return f->renewed ? f->renewed[at] : NULL;
}

void queue_fit_end(struct queue_fit *f)
{
	if (f->sched)
		kar_sched_undo(f->sched, f->mark);
}

/* The remembered answer for a gang of one role; NULL: it has several. */
static struct answer *answer_of(struct queue_fit *f, const struct queue_gang *g)
{
	const struct kar_role *r = g->gang.roles;
	struct answer *a;

	if (g->gang.n_roles != 1 || g->gang.topology || g->gang.n_hold)
		return NULL;
	a = &f->answers[(r->class * 31 + (uint32_t)r->need) % REMEMBERED];
	if (a->class != r->class || a->need != r->need)
		*a = (struct answer){ .class = r->class,
			.need = r->need,
			.infeasible = !kar_sched_feasible(f->sched, &g->gang) };
	return a;
}

enum queue_reason queue_fit_place(struct queue_fit *f, const struct queue_gang *g,
	const struct kar_placement **out)
{
	struct kar_placement *p = kar_arena_alloc(f->arena, 1, sizeof(*p));
	const struct answer *a;
	bool infeasible;

	if (kar_sched_place(f->sched, &g->gang, f->arena, p)) {
		*out = p;
		return QUEUE_ADMITTED;
	}
	a = answer_of(f, g);
	infeasible = a ? a->infeasible : !kar_sched_feasible(f->sched, &g->gang);
	return infeasible ? QUEUE_INFEASIBLE : QUEUE_NO_FIT;
}

const char *queue_fit_explain(struct queue_fit *f, const struct queue_gang *g, enum queue_reason reason)
{
	struct answer *a = answer_of(f, g);
	struct kar_buf text = { 0 };
	const char *out;

	if (a && a->text)
		return a->text;
	kar_sched_explain(f->sched, &g->gang, g->names, &text);
	out = kar_arena_printf(f->arena, "%s%s",
		reason == QUEUE_INFEASIBLE ? "does not fit on empty nodes either; " : "",
		kar_buf_cstr(&text));
	kar_buf_release(&text);
	if (a)
		a->text = out;
	return out;
}
