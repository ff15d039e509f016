/*
 * How large a pattern is when its repetitions are written out. The C library compiles it that way ("x+" as "xx*", so that each
 * level of "((x+)+)+" doubles it), and a few characters could take all memory; RE2, which the API server uses, allows no part to be
 * repeated more than a thousand times, groups included, and no repetition of a repetition without a group.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/schema_impl.h"

enum {
	REPEAT_MAX = 1000,
	DEPTH_MAX = 200,
	LOOP_COST =
		8, /* of "*" and "+" behind a group: ten levels of them around an empty one take the C library half a minute */
};

static const size_t COUNTED_MAX = (size_t)1 << 32; /* characters; more is the same */

struct walk {
	const char *p;
	int depth;
	bool too_deep; /* for the stack of who compiles it */
	struct schema_extent out;
};

struct part {
	size_t repeats; /* the most that anything in it is repeated */
	size_t characters;
	bool group;
};

/* Behind the character, escape or list in brackets at @p. */
static const char *skip_one(const char *p)
{
	const char *end;

	if (*p == '\\' && p[1])
		return p + 2;
	end = *p == '[' && p[1] ? strchr(p + (p[1] == '^' && p[2] ? 3 : 2), ']') : NULL;
	return (end ? end : p) + 1;
}

/* "{2,5}" at w->p: 5; 0 if there is none. */
static size_t read_count(struct walk *w)
{
	const char *p = w->p;
	unsigned long low, high;
	char *end;

	if (*p != '{' || p[1] < '0' || p[1] > '9')
		return 0;
	low = high = strtoul(p + 1, &end, 10);
	if (*end == ',' && end[1] >= '0' && end[1] <= '9')
		high = strtoul(end + 1, &end, 10);
	end += strcspn(end, "}");
	w->p = *end ? end + 1 : end;
	if (low > high)
		high = low;
	return high ? high : 1;
}

static void write_out(struct part *part, size_t times)
{
	part->characters = part->characters > COUNTED_MAX / times ? COUNTED_MAX : part->characters * times;
}

static void refuse(struct walk *w, const char *from, bool nested)
{
	w->out.refused = (struct kar_str){ from, (size_t)(w->p - from) };
	w->out.nested = nested;
}

/* False: there is none behind @part. */
static bool read_repetition(struct walk *w, struct part *part)
{
	const char *from = w->p;
	size_t times = read_count(w);

	if (times > REPEAT_MAX || part->repeats * times > REPEAT_MAX) {
		refuse(w, from, false);
	} else if (times) {
		part->repeats *= times;
		write_out(part, times);
	} else if (*w->p && strchr("*+?", *w->p)) {
		write_out(part, part->group && *w->p != '?' ? LOOP_COST : *w->p == '+' ? 2 : 1);
		w->p++;
	}
	return w->p > from;
}

static void read_repetitions(struct walk *w, struct part *part)
{
	const char *from = w->p;

	if (read_repetition(w, part) && !w->out.refused.n && read_repetition(w, part) && !w->out.refused.n)
		refuse(w, from, true);
}

static struct part read_group(struct walk *w);

static struct part read_one(struct walk *w)
{
	struct part part = { 1, 1, false };

	w->too_deep |= *w->p == '(' && w->depth == DEPTH_MAX;
	if (*w->p != '(' || w->too_deep) {
		w->p = skip_one(w->p);
		return part;
	}
	w->p++;
	w->depth++;
	part = read_group(w);
	w->depth--;
	w->p += *w->p == ')';
	return part;
}

/* Up to its closing parenthesis, or the end. */
static struct part read_group(struct walk *w)
{
	struct part group = { 1, 1, true };

	while (*w->p && *w->p != ')' && !w->out.refused.n) {
		struct part one = read_one(w);

		read_repetitions(w, &one);
		group.characters += one.characters;
		if (one.repeats > group.repeats)
			group.repeats = one.repeats;
	}
	return group;
}

struct schema_extent schema_pattern_extent(const char *pattern)
{
	struct walk w = { .p = pattern };

	while (*w.p && !w.out.refused.n) {
		w.out.characters += read_group(&w).characters;
		w.p += *w.p == ')'; /* closes nothing */
	}
	if (w.too_deep)
		w.out.characters = SIZE_MAX;
	return w.out;
}
