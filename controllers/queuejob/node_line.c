#include "controllers/queuejob/node_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/tree.h>

#include "common/mem.h"

/* By then the keys that there were when the manager started have all been looked at. */
static const kar_time SETTLES = 5 * KAR_SECOND;
/* The turn of the first begins anew whenever another has given back, but not for longer than that. */
static const kar_time LONGEST_DELAY = 10 * KAR_MINUTE;

struct kar_node_place {
	RB_ENTRY(kar_node_place) link;
	struct kar_node_line *line;
	struct kar_rank rank;
	int64_t base; /* turns that were counted as lost when this one came */
	int32_t lost;
	enum kar_node_wait how;
	kar_time since;  /* wall: it waits */
	kar_time sure;   /* mono: from then on the others are known */
	kar_time passed; /* mono: it has let others pass last; 0: never */
	char key[KAR_KEY_LEN];
};
RB_HEAD(node_places, kar_node_place);

struct kar_node_line {
	struct kar_workqueue *queue;
	struct node_places places;
	int64_t most;                       /* turns that any place has counted as lost so far */
	size_t n[KAR_NODES_STATES];         /* places, by .how */
	const struct kar_node_place *first; /* NULL: none that could go on */
	kar_time first_since;               /* mono: it has been the first, with rivals; 0: since just now */
	kar_time given;                     /* mono: somebody has given back last; 0: just now */
	kar_time room;                      /* mono: a job has ended last; 0: never */
};

/* It holds others up. Only who has, or had, a node does: whoever never got one may fit nowhere. */
static bool may_lead(enum kar_node_wait how)
{
	return how == KAR_NODES_TRIES || how == KAR_NODES_HOLDS || how == KAR_NODES_AWAY;
}

/* It could have nodes at once. */
static bool is_ready(enum kar_node_wait how)
{
	return may_lead(how) || how == KAR_NODES_WAITS;
}

/* It has pods on nodes. */
static bool has_nodes(enum kar_node_wait how)
{
	return how == KAR_NODES_HOLDS || how == KAR_NODES_LEAVES;
}

static int64_t turns(const struct kar_node_place *p)
{
	return p->base + p->lost;
}

/* Who may be the first comes first, then who could go on if nobody else did. */
static int class_of(enum kar_node_wait how)
{
	return may_lead(how) ? 0 : is_ready(how) ? 1 : how == KAR_NODES_RESTS ? 2 : 3;
}

static int compare_places(const struct kar_node_place *a, const struct kar_node_place *b)
{
	if (class_of(a->how) != class_of(b->how))
		return class_of(a->how) - class_of(b->how);
	if (turns(a) != turns(b))
		return turns(a) < turns(b) ? -1 : 1;
	return kar_rank_compare(&a->rank, a->key, &b->rank, b->key);
}

RB_GENERATE_INTERNAL(node_places, kar_node_place, link, compare_places, KAR_UNUSED static)

static const struct kar_node_place *first_of(struct kar_node_line *l)
{
	const struct kar_node_place *p = RB_MIN(node_places, &l->places);

	return p && may_lead(p->how) ? p : NULL;
}

/*
 * How many turns a newcomer counts as lost. As many as anybody has: whoever goes behind the others for a lost turn goes behind
 * those that are there, not behind all that come while it waits.
 */
static int64_t base_of(const struct kar_node_line *l, int32_t lost)
{
	return l->most > lost ? l->most - lost : 0;
}

static size_t count_ready(const struct kar_node_line *l)
{
	return l->n[KAR_NODES_WAITS] + l->n[KAR_NODES_TRIES] + l->n[KAR_NODES_HOLDS] + l->n[KAR_NODES_AWAY];
}

const char *kar_node_wish_text(const struct kar_node_wish *w)
{
	static const char *const texts[KAR_NODES_STATES] = {
		[KAR_NODES_WAITS] = "nodes waits",
		[KAR_NODES_TRIES] = "nodes tries",
		[KAR_NODES_HOLDS] = "nodes holds",
		[KAR_NODES_LEAVES] = "nodes leaves",
		[KAR_NODES_RESTS] = "nodes rests",
		[KAR_NODES_AWAY] = "nodes away",
	};

	return texts[w->how];
}

/* --- what is seen -------------------------------------------------------------------------------- */

/* Is the first of the line another than @old, and goes before it, or before one that would come? */
static bool goes_ahead(const struct kar_node_line *l, const struct kar_node_place *old, const char *key,
	const struct kar_rank *rank, int32_t lost)
{
	struct kar_node_place p = { .rank = *rank, .how = KAR_NODES_TRIES, .lost = lost };

	if (!l->first || l->first == old)
		return false;
	p.base = old ? old->base : base_of(l, lost);
	strlcpy(p.key, key, sizeof(p.key));
	return compare_places(l->first, &p) < 0;
}

/* Of the first of the line. What is given back late counts only for so long: others wait behind it. */
static kar_time turn_of(const struct kar_node_line *l, bool others_hold, kar_time mono)
{
	kar_time first = l->first_since ? l->first_since : mono, given = l->given ? l->given : mono;
	kar_time since = others_hold ? mono : given > first ? given : first, latest = first + LONGEST_DELAY;

	return mono - (since < latest ? since : latest);
}

void kar_node_line_begin_turn(struct kar_node_line *l, const struct kar_node_place *p, kar_time mono)
{
	if (!p || l->first != p)
		return;
	l->first_since = l->first_since ? l->first_since : mono;
	l->given = l->given ? l->given : mono;
}

struct kar_node_outlook kar_node_line_look(const struct kar_node_line *l, const struct kar_node_place *old,
	const char *key, const struct kar_rank *rank, int32_t lost, kar_time mono)
{
	size_t self = old && is_ready(old->how), own = old && has_nodes(old->how);
	bool others_hold = l->n[KAR_NODES_HOLDS] + l->n[KAR_NODES_LEAVES] > own;
	kar_time sure = old ? old->sure : mono + SETTLES;
	struct kar_node_outlook out = {
		.rivals = count_ready(l) > self,
		.awaited = l->n[KAR_NODES_AWAY] > (old && old->how == KAR_NODES_AWAY),
		.stands = old != NULL,
		.unsure = sure > mono ? sure - mono : 0,
		.room = l->room ? mono - l->room + 1 : 0,
		.passed = old && old->passed ? mono - old->passed + 1 : 0,
	};

	if (goes_ahead(l, old, key, rank, lost)) {
		out.ahead = l->first->key;
		out.ahead_since = l->first->since;
	} else if (old && l->first == old) {
		out.turn = turn_of(l, others_hold, mono);
	}
	return out;
}

/* --- what changes -------------------------------------------------------------------------------- */

static void wake(struct kar_node_line *l, const struct kar_node_place *p, const char *but)
{
	if (p && !(but && strcmp(p->key, but) == 0))
		kar_workqueue_add(l->queue, p->key);
}

/* @then: how it waits from now on. */
static void take_out(struct kar_node_line *l, struct kar_node_place *p, enum kar_node_wait then)
{
	RB_REMOVE(node_places, &l->places, p);
	l->n[p->how]--;
	if (has_nodes(p->how) && !has_nodes(then))
		l->given = 0;
}

/* After any change of the line. @alone: nobody had a rival before it. @but: a key that is not concerned, or NULL. */
static void settle(struct kar_node_line *l, bool alone, const char *but)
{
	const struct kar_node_place *before = l->first;

	l->first = first_of(l);
	if (l->first != before || alone)
		l->first_since = 0;
	if (l->first != before)
		wake(l, before, but);
	wake(l, RB_MIN(node_places, &l->places), but);
}

static struct kar_node_place *new_place(struct kar_node_line *l, const char *key, enum kar_node_wait how,
	int32_t lost, kar_time mono)
{
	struct kar_node_place *p = kar_xcalloc(1, sizeof(*p));
	bool has_pods = how == KAR_NODES_WAITS || how == KAR_NODES_TRIES || how == KAR_NODES_HOLDS;

	p->line = l;
	p->base = base_of(l, lost);
	p->sure = has_pods ? mono : mono + SETTLES; /* this manager has not seen it give back */
	strlcpy(p->key, key, sizeof(p->key));
	return p;
}

static bool is_unchanged(const struct kar_node_place *p, const struct kar_rank *rank, enum kar_node_wait how,
	int32_t lost)
{
	return p->how == how && p->lost == lost && p->rank.priority == rank->priority &&
		p->rank.age == rank->age;
}

/* It goes behind whoever is the first without it, at least. */
static void lose_turn(struct kar_node_line *l, struct kar_node_place *p)
{
	const struct kar_node_place *next = first_of(l);

	if (next && turns(p) <= turns(next))
		p->base += turns(next) + 1 - turns(p);
}

static void put(struct kar_node_line *l, struct kar_node_place *p, const struct kar_rank *rank,
	enum kar_node_wait how)
{
	p->rank = *rank;
	p->how = how;
	RB_INSERT(node_places, &l->places, p);
	l->n[how]++;
	if (turns(p) > l->most)
		l->most = turns(p);
}

struct kar_node_place *kar_node_line_move(struct kar_node_line *l, struct kar_node_place *old,
	const char *key, const struct kar_rank *rank, const struct kar_node_wish *wish, kar_time mono)
{
	struct kar_node_place *p = old;
	enum kar_node_wait how = wish->how;
	int32_t lost = wish->lost_turns;
	bool alone = count_ready(l) < 2, loses = old && lost > old->lost;

	if (wish->frees)
		l->room = mono;
	if (how == KAR_NODES_NONE) {
		kar_node_line_leave(old);
		return NULL;
	}
	if (!old)
		p = new_place(l, key, how, lost, mono);
	p->since = wish->since;
	if (old && is_unchanged(old, rank, how, lost))
		return old;
	if (old)
		take_out(l, old, how);
	p->lost = lost;
	if (loses) {
		p->passed = how == KAR_NODES_RESTS ? mono : 0;
		lose_turn(l, p);
	}
	put(l, p, rank, how);
	settle(l, alone, key);
	return p;
}

void kar_node_line_leave(struct kar_node_place *p)
{
	struct kar_node_line *l;

	if (!p)
		return;
	l = p->line;
	take_out(l, p, KAR_NODES_NONE);
	if (l->first == p)
		l->first = NULL;
	settle(l, false, NULL);
	free(p);
}

struct kar_node_line *kar_node_line_new(struct kar_workqueue *q)
{
	struct kar_node_line *l = kar_xcalloc(1, sizeof(*l));

	l->queue = q;
	RB_INIT(&l->places);
	return l;
}

void kar_node_line_free(struct kar_node_line *l)
{
	assert(!l || RB_EMPTY(&l->places));
	free(l);
}
