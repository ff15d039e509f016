#include "controllers/queuejob/quota_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/tree.h>

#include "common/kube/object.h"
#include "common/mem.h"

enum {
	LOOK_AHEAD = 64, /* places at which a wake-up looks; further ones try when their time has come */
};

struct kar_quota_place {
	RB_ENTRY(kar_quota_place) link;
	struct ns_line *line;
	struct kar_rank rank;
	char requested[KAR_QUOTA_LACKS_LEN]; /* "pods,requests.cpu": what it lacks; "": it may be anything */
	char quota[KAR_QUOTA_NAME_LEN];      /* "": not known */
	bool scoped;                         /* the quota */
	uint64_t seen;                       /* wake-ups of the namespace when it tried last */
	bool told;                           /* of one since, so that it knows when it will try */
	char key[KAR_KEY_LEN];
};
RB_HEAD(places, kar_quota_place);

/* Of one namespace; there is one only while somebody waits. */
struct ns_line {
	RB_ENTRY(ns_line) link;
	struct kar_quota_line *all;
	struct places places;
	uint64_t wakes;
	const char *ns; /* .text */
	char text[];
};
RB_HEAD(ns_lines, ns_line);

struct kar_quota_line {
	struct kar_workqueue *queue;
	struct ns_lines lines;
};

static int compare_places(const struct kar_quota_place *a, const struct kar_quota_place *b)
{
	return kar_rank_compare(&a->rank, a->key, &b->rank, b->key);
}

static int compare_lines(const struct ns_line *a, const struct ns_line *b)
{
	return strcmp(a->ns, b->ns);
}

RB_GENERATE_INTERNAL(places, kar_quota_place, link, compare_places, KAR_UNUSED static)
RB_GENERATE_INTERNAL(ns_lines, ns_line, link, compare_lines, KAR_UNUSED static)

/* --- what is lacked ------------------------------------------------------------------------------ */

/* What stands in @text behind @before and up to @after; "" if that is not there, or is longer than @size allows. */
static void read_between(const char *text, const char *before, const char *after, char *out, size_t size)
{
	const char *start = strstr(text, before);
	const char *end = start ? strstr(start, after) : NULL;
	size_t n = end ? (size_t)(end - start) - strlen(before) : 0;

	out[0] = '\0';
	if (n && n < size)
		strlcpy(out, start + strlen(before), n + 1);
}

/* `exceeded quota: q, requested: pods=1,requests.cpu=2, used: ...`; the amounts change with each pod that is tried. */
void kar_quota_read_requested(const char *text, char out[KAR_QUOTA_LACKS_LEN])
{
	char *end = out;

	read_between(text, "requested: ", ", used: ", out, KAR_QUOTA_LACKS_LEN);
	for (const char *at = out; *at;) {
		size_t n = strcspn(at, "=,");

		memmove(end, at, n);
		end += n;
		at += strcspn(at, ",");
		if (*at)
			*end++ = *at++;
	}
	*end = '\0';
}

void kar_quota_read_name(const char *text, char out[KAR_QUOTA_NAME_LEN])
{
	read_between(text, "exceeded quota: ", ", requested: ", out, KAR_QUOTA_NAME_LEN);
}

/* Is the resource @name, of length @n, among those of @requested? */
static bool names(const char *requested, const char *name, size_t n)
{
	for (const char *at = requested; *at; at += *at == ',') {
		if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n]))
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
		if (names(b, at, strcspn(at, ",")))
			return true;
		at += strcspn(at, ",");
	}
	return false;
}

/* Whoever lacks a resource of @a lacks one of @b as well. */
static bool covers(const char *b, const char *a)
{
	if (!*b)
		return true;
	for (const char *at = a; *at; at += *at == ',') {
		if (!names(b, at, strcspn(at, ",")))
			return false;
		at += strcspn(at, ",");
	}
	return *a != '\0';
}

/* Does @p, which comes after @other, wait for it? Others than those who were refused by a quota with scopes need none of it. */
static bool waits_for(const struct kar_quota_place *p, const struct kar_quota_place *other)
{
	return overlap(other->requested, p->requested) &&
		!(other->scoped && strcmp(other->quota, p->quota) != 0);
}

bool kar_quota_place_is_head(const struct kar_quota_place *p)
{
	struct kar_quota_place *other;

	RB_FOREACH(other, places, &p->line->places) {
		if (other == p)
			return true;
		if (waits_for(p, other))
			return false;
	}
	return true;
}

/* Does @p lack anything that the pods of @arg may need? */
static bool lacks_what(const struct kar_quota_place *p, kar_may_need_fn *may_need, const void *arg)
{
	char resource[KAR_QUOTA_LACKS_LEN];

	if (!p->requested[0])
		return may_need(arg, p->quota, "");
	for (const char *at = p->requested; *at; at += *at == ',') {
		strlcpy(resource, at, strcspn(at, ",") + 1);
		if (may_need(arg, p->quota, resource))
			return true;
		at += strcspn(at, ",");
	}
	return false;
}

/* --- waking up ----------------------------------------------------------------------------------- */

bool kar_quota_place_is_woken(const struct kar_quota_place *p)
{
	return p->seen != p->line->wakes;
}

void kar_quota_place_try(struct kar_quota_place *p)
{
	p->seen = p->line->wakes;
	p->told = false;
}

/* @anew: others are heads than before. @but: a key that is not concerned, or NULL. */
static void wake(struct ns_line *line, bool anew, const char *but)
{
	struct kar_quota_place *p;
	int looked = 0;

	RB_FOREACH(p, places, &line->places) {
		if (++looked > LOOK_AHEAD)
			break;
		if ((p->told && !anew) || (but && strcmp(p->key, but) == 0) || !kar_quota_place_is_head(p))
			continue;
		p->told = true;
		kar_workqueue_add(line->all->queue, p->key);
	}
	line->wakes++;
}

static struct ns_line *find_line(struct kar_quota_line *l, const char *ns)
{
	struct ns_line key = { .ns = ns };

	return RB_FIND(ns_lines, &l->lines, &key);
}

void kar_quota_line_wake(struct kar_quota_line *l, const char *ns)
{
	struct ns_line *line = find_line(l, ns);

	if (line)
		wake(line, false, NULL);
}

void kar_quota_line_wake_others(struct kar_quota_line *l, const char *ns, const char *key)
{
	struct ns_line *line = find_line(l, ns);
	struct kar_quota_place *p;
	int looked = 0;

	if (!line)
		return;
	wake(line, false, key);
	RB_FOREACH(p, places, &line->places) {
		if (++looked > LOOK_AHEAD)
			return; /* a try too many, if it is a head there, is cheaper than a walk for every pod */
		if (strcmp(p->key, key) == 0) {
			p->seen++; /* as far behind as before */
			return;
		}
	}
}

/* --- coming and going ---------------------------------------------------------------------------- */

static struct ns_line *need_line(struct kar_quota_line *l, const char *ns)
{
	struct ns_line *line = find_line(l, ns);
	size_t n = strlen(ns) + 1;

	if (line)
		return line;
	line = kar_xcalloc(1, sizeof(*line) + n);
	line->all = l;
	RB_INIT(&line->places);
	memcpy(line->text, ns, n);
	line->ns = line->text;
	RB_INSERT(ns_lines, &l->lines, line);
	return line;
}

/* The place of @key, @old or a new one, out of its line. */
static struct kar_quota_place *take_out(struct kar_quota_place *old, struct ns_line *line, const char *key)
{
	struct kar_quota_place *p = old;

	if (old) {
		RB_REMOVE(places, &old->line->places, old);
		return old;
	}
	p = kar_xcalloc(1, sizeof(*p));
	p->line = line;
	strlcpy(p->key, key, sizeof(p->key));
	kar_quota_place_try(p);
	return p;
}

/* Returns whether it may be in the way of less than before. */
static bool set_lack(struct kar_quota_place *p, const char *requested, const char *quota, bool scoped)
{
	bool same = covers(requested, p->requested) && strcmp(p->quota, quota) == 0 && p->scoped == scoped;

	strlcpy(p->requested, requested, sizeof(p->requested));
	strlcpy(p->quota, quota, sizeof(p->quota));
	p->scoped = scoped;
	return !same;
}

struct kar_quota_place *kar_quota_line_join(struct kar_quota_line *l, struct kar_quota_place *old,
	const char *ns, const char *key, const struct kar_rank *rank, const char *text, bool scoped)
{
	struct kar_quota_place *p = take_out(old, old ? old->line : need_line(l, ns), key);
	char requested[KAR_QUOTA_LACKS_LEN], quota[KAR_QUOTA_NAME_LEN];
	bool gives_way;

	p->rank = *rank;
	kar_quota_read_requested(text, requested);
	kar_quota_read_name(text, quota);
	gives_way = set_lack(p, requested, quota, scoped);
	RB_INSERT(places, &p->line->places, p);
	if (old && gives_way) {
		wake(p->line, true, key);
		p->seen++; /* to itself that is no news */
	}
	return p;
}

const struct kar_quota_place *kar_quota_line_ahead(struct kar_quota_line *l, const char *ns, const char *key,
	const struct kar_rank *rank, kar_may_need_fn *may_need, const void *arg)
{
	struct ns_line *line = find_line(l, ns);
	struct kar_quota_place *p;
	int looked = 0;

	if (!line)
		return NULL;
	RB_FOREACH(p, places, &line->places) {
		if (++looked > LOOK_AHEAD || kar_rank_compare(&p->rank, p->key, rank, key) >= 0)
			return NULL;
		if (strcmp(p->key, key) != 0 && lacks_what(p, may_need, arg))
			return p;
	}
	return NULL;
}

struct kar_quota_place *kar_quota_line_stand_behind(const struct kar_quota_place *ahead,
	struct kar_quota_place *old, const char *key, const struct kar_rank *rank)
{
	struct kar_quota_place *p = take_out(old, ahead->line, key);

	p->rank = *rank;
	(void)set_lack(p, ahead->requested, ahead->quota, ahead->scoped);
	RB_INSERT(places, &p->line->places, p);
	return p;
}

/* For the others in the line: among its own creates the key goes by their order. */
static bool stands_alike(const struct kar_rank *a, const struct kar_rank *b)
{
	return a->tier == b->tier && a->priority == b->priority && a->age == b->age &&
		(a->tier != KAR_TIER_EXTRA || a->seq == b->seq);
}

void kar_quota_place_move(struct kar_quota_place *p, const struct kar_rank *rank)
{
	struct ns_line *line = p->line;

	if (stands_alike(&p->rank, rank))
		return;
	RB_REMOVE(places, &line->places, p);
	p->rank = *rank;
	RB_INSERT(places, &line->places, p);
	wake(line, true, p->key);
}

const char *kar_quota_place_key(const struct kar_quota_place *p)
{
	return p->key;
}

const char *kar_quota_place_requested(const struct kar_quota_place *p)
{
	return p->requested;
}

const char *kar_quota_place_quota(const struct kar_quota_place *p)
{
	return p->quota;
}

void kar_quota_line_leave(struct kar_quota_place *p)
{
	struct ns_line *line;

	if (!p)
		return;
	line = p->line;
	RB_REMOVE(places, &line->places, p);
	free(p);
	if (RB_EMPTY(&line->places)) {
		RB_REMOVE(ns_lines, &line->all->lines, line);
		free(line);
	} else {
		wake(line, true, NULL);
	}
}

struct kar_quota_line *kar_quota_line_new(struct kar_workqueue *q)
{
	struct kar_quota_line *l = kar_xcalloc(1, sizeof(*l));

	l->queue = q;
	RB_INIT(&l->lines);
	return l;
}

void kar_quota_line_free(struct kar_quota_line *l)
{
	assert(!l || RB_EMPTY(&l->lines));
	free(l);
}
