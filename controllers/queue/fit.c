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

/* What is held stays taken until the end of the pass; it is worked out again in the next one. */
static void forget_held(struct queue_fit *f, const struct kar_placement *p)
{
	for (uint32_t i = 0; i < p->n_held; i++)
		kar_sched_class_put(f->sched, p->held[i].class);
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
	if (!kar_sched_place(f->sched, &wanted, f->arena, &p) && wanted.n_hold) {
		wanted.n_hold = 0; /* somebody took of what was held: its pods come first */
		kar_sched_place(f->sched, &wanted, f->arena, &p);
	}
	forget_held(f, &p);
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
		if (!holds(groups[i]) || !(groups[i]->gang->gang.n_roles || groups[i]->gang->gang.n_hold))
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
		forget_held(f, p);
		*out = p;
		return QUEUE_ADMITTED;
	}
	a = answer_of(f, g);
	infeasible = a ? a->infeasible : !kar_sched_feasible(f->sched, &g->gang);
	return infeasible ? QUEUE_INFEASIBLE : QUEUE_NO_FIT;
}

static void take_used(struct queue_fit *f, const struct queue_group *const *groups, size_t n, int32_t sign)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < groups[i]->n_used; k++) {
			const struct queue_seat *u = &groups[i]->used[k];

			kar_sched_take(f->sched, u->node, u->class, sign * u->n);
		}
	}
}

bool queue_fit_after(struct queue_fit *f, const struct queue_gang *g,
	const struct queue_group *const *leaving, size_t n, bool hold)
{
	struct kar_placement p;
	size_t mark = kar_sched_mark(f->sched);
	bool fits;

	take_used(f, leaving, n, -1);
	fits = kar_sched_place(f->sched, &g->gang, f->arena, &p);
	if (fits)
		forget_held(f, &p);
	if (fits && hold) {
		take_used(f, leaving, n, 1);
		kar_sched_keep(f->sched, mark);
	} else {
		kar_sched_undo(f->sched, mark);
	}
	return fits;
}

size_t queue_fit_mark(struct queue_fit *f)
{
	return f->sched ? kar_sched_mark(f->sched) : 0;
}

void queue_fit_undo(struct queue_fit *f, size_t mark)
{
	if (f->sched)
		kar_sched_undo(f->sched, mark);
}

void queue_fit_keep(struct queue_fit *f, size_t mark)
{
	if (f->sched)
		kar_sched_keep(f->sched, mark);
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
