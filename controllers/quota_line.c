#include "controllers/quota_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/tree.h>

#include "common/kube/object.h"
#include "common/mem.h"

enum {
	LOOK_AHEAD =
		64, /* places in which a wake-up looks for heads; further ones try when their time has come */
	CLAIM_LEN = 160, /* of the names of resources; of a longer list nothing is known */
};

struct kar_quota_place {
	RB_ENTRY(kar_quota_place) link;
	struct space *space;
	struct kar_rank rank;
	char claim[CLAIM_LEN]; /* "pods=1,requests.cpu=2": what it lacks; "": it may be anything */
	uint64_t seen;         /* wake-ups of the namespace when it tried last */
	bool told;             /* of one since, so that it knows when it will try */
	char key[KAR_KEY_LEN];
};
RB_HEAD(places, kar_quota_place);

/* A namespace in which somebody waits. */
struct space {
	RB_ENTRY(space) link;
	struct kar_quota_line *line;
	struct places places;
	uint64_t wakes;
	const char *ns; /* .text */
	char text[];
};
RB_HEAD(spaces, space);

struct kar_quota_line {
	struct kar_workqueue *queue;
	struct spaces spaces;
};

static int compare_places(const struct kar_quota_place *a, const struct kar_quota_place *b)
{
	return kar_rank_compare(&a->rank, a->key, &b->rank, b->key);
}

static int compare_spaces(const struct space *a, const struct space *b)
{
	return strcmp(a->ns, b->ns);
}

RB_GENERATE_INTERNAL(places, kar_quota_place, link, compare_places, KAR_UNUSED static)
RB_GENERATE_INTERNAL(spaces, space, link, compare_spaces, KAR_UNUSED static)

/* --- what is lacked ------------------------------------------------------------------------------ */

bool kar_quota_exceeded(const char *text)
{
	return strstr(text, "exceeded quota") != NULL;
}

/* `exceeded quota: q, requested: pods=1,requests.cpu=2, used: ...` */
static void read_claim(const char *text, char claim[CLAIM_LEN])
{
	static const char before[] = "requested: ", after[] = ", used: ";
	const char *start = strstr(text, before);
	const char *end = start ? strstr(start, after) : NULL;
	size_t n = end ? (size_t)(end - start) - strlen(before) : 0;

	claim[0] = '\0';
	if (n && n < CLAIM_LEN)
		strlcpy(claim, start + strlen(before), n + 1);
}

/* Is the resource @name, of length @n, among those of @claim? */
static bool names(const char *claim, const char *name, size_t n)
{
	for (const char *at = claim; *at; at += *at == ',') {
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return true;
		at += strcspn(at, ",");
	}
	return false;
}

static bool overlap(const char *a, const char *b)
{
	if (!*a || !*b)
		return true;
	for (const char *at = a; *at; at += *at == ',') {
		if (names(b, at, strcspn(at, "=,")))
			return true;
		at += strcspn(at, ",");
	}
	return false;
}

bool kar_quota_place_is_head(const struct kar_quota_place *p)
{
	struct kar_quota_place *other;

	RB_FOREACH(other, places, &p->space->places) {
		if (other == p)
			return true;
		if (overlap(other->claim, p->claim))
			return false;
	}
	return true;
}

/* --- waking up ----------------------------------------------------------------------------------- */

bool kar_quota_place_is_woken(const struct kar_quota_place *p)
{
	return p->seen != p->space->wakes;
}

void kar_quota_place_try(struct kar_quota_place *p)
{
	p->seen = p->space->wakes;
	p->told = false;
}

/* @anew: others are heads than before. */
static void wake(struct space *space, bool anew)
{
	struct kar_quota_place *p;
	int looked = 0;

	RB_FOREACH(p, places, &space->places) {
		if (++looked > LOOK_AHEAD)
			break;
		if ((p->told && !anew) || !kar_quota_place_is_head(p))
			continue;
		p->told = true;
		kar_workqueue_add(space->line->queue, p->key);
	}
	space->wakes++;
}

static struct space *find_space(struct kar_quota_line *l, const char *ns)
{
	struct space key = { .ns = ns };

	return RB_FIND(spaces, &l->spaces, &key);
}

void kar_quota_line_wake(struct kar_quota_line *l, const char *ns)
{
	struct space *space = find_space(l, ns);

	if (space)
		wake(space, false);
}

/* --- coming and going ---------------------------------------------------------------------------- */

static struct space *need_space(struct kar_quota_line *l, const char *ns)
{
	struct space *space = find_space(l, ns);
	size_t n = strlen(ns) + 1;

	if (space)
		return space;
	space = kar_xcalloc(1, sizeof(*space) + n);
	space->line = l;
	RB_INIT(&space->places);
	memcpy(space->text, ns, n);
	space->ns = space->text;
	RB_INSERT(spaces, &l->spaces, space);
	return space;
}

struct kar_quota_place *kar_quota_line_join(struct kar_quota_line *l, struct kar_quota_place *old,
	const char *ns, const char *key, const struct kar_rank *rank, const char *text)
{
	struct kar_quota_place *p = old ? old : kar_xcalloc(1, sizeof(*p));

	if (old)
		RB_REMOVE(places, &old->space->places, old);
	else
		p->space = need_space(l, ns);
	p->rank = *rank;
	read_claim(text, p->claim);
	if (!old) {
		strlcpy(p->key, key, sizeof(p->key));
		kar_quota_place_try(p);
	}
	RB_INSERT(places, &p->space->places, p);
	return p;
}

void kar_quota_line_leave(struct kar_quota_place *p)
{
	struct space *space;

	if (!p)
		return;
	space = p->space;
	RB_REMOVE(places, &space->places, p);
	free(p);
	if (RB_EMPTY(&space->places)) {
		RB_REMOVE(spaces, &space->line->spaces, space);
		free(space);
	} else {
		wake(space, true);
	}
}

struct kar_quota_line *kar_quota_line_new(struct kar_workqueue *q)
{
	struct kar_quota_line *l = kar_xcalloc(1, sizeof(*l));

	l->queue = q;
	RB_INIT(&l->spaces);
	return l;
}

void kar_quota_line_free(struct kar_quota_line *l)
{
	assert(!l || RB_EMPTY(&l->spaces));
	free(l);
}
