#include "api/json_split.h"

#include "common/codec/json.h"
#include "common/codec/json_events.h"

struct splitter {
	struct kar_str text;
	struct kar_arena *arena;
	struct kar_array slices; /* struct kar_str */
	size_t depth, start;
	bool wrong; /* not an array of objects */
};

static int split_begin(void *arg, bool is_array, size_t at)
{
	struct splitter *s = arg;

	s->wrong |= s->depth == 0 ? !is_array : s->depth == 1 && is_array;
	if (++s->depth == 2)
		s->start = at - 1;
	return s->wrong ? -1 : 0;
}

static int split_end(void *arg, size_t at)
{
	struct splitter *s = arg;

	if (--s->depth != 1)
		return 0;
	s->slices.items = kar_arena_grow(s->arena, s->slices.items, s->slices.n, sizeof(struct kar_str));
	((struct kar_str *)s->slices.items)[s->slices.n++] =
		(struct kar_str){ .p = s->text.p + s->start, .n = at - s->start };
	return 0;
}

static int split_text(void *arg, const char *text KAR_UNUSED, size_t n KAR_UNUSED, size_t at KAR_UNUSED)
{
	struct splitter *s = arg;

	s->wrong |= s->depth < 2;
	return s->wrong ? -1 : 0;
}

static int split_boolean(void *arg, bool value KAR_UNUSED, size_t at)
{
	return split_text(arg, NULL, 0, at);
}

static int split_null(void *arg, size_t at)
{
	return split_text(arg, NULL, 0, at);
}

static const struct kar_json_events split_events = {
	.begin = split_begin,
	.end = split_end,
	.key = split_text,
	.string = split_text,
	.number = split_text,
	.boolean = split_boolean,
	.null = split_null,
};

int kar_json_split(struct kar_str text, const char *what, struct kar_arena *arena, struct kar_array *out,
	struct kar_err *err)
{
	struct splitter s = { .text = text, .arena = arena };

	if (text.n && kar_json_read(text.p, text.n, &split_events, &s, err))
		return s.wrong ? kar_fail(err, KAR_INVALID, "%s is not an array of objects", what)
			       : kar_wrap(err, "%s", what);
	if (s.depth)
		return kar_fail(err, KAR_INVALID, "%s is truncated", what);
	*out = s.slices;
	return 0;
}
