/* Columns of custom resources: simple JSONPaths, and how what they find is printed. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "sim/apiserver/table.h"

enum { NAME_MAX_LEN = 256 };

/* One step of a path. */
struct step {
	enum { STEP_MEMBER, STEP_INDEX, STEP_ALL, STEP_FILTER } kind;
	char name[NAME_MAX_LEN];  /* member; of a filter: the path inside the element */
	char value[NAME_MAX_LEN]; /* of a filter */
	bool unequal;
	long index;
};

static bool put(char *name, size_t *n, char c)
{
	if (*n + 1 >= NAME_MAX_LEN)
		return false;
	name[(*n)++] = c;
	name[*n] = '\0';
	return true;
}

/* ".name", with a backslash before what would end it. NULL: too long, or empty. */
static const char *read_name(const char *p, struct step *s)
{
	size_t n = 0;

	s->kind = STEP_MEMBER;
	for (; *p && *p != '.' && *p != '['; p++) {
		if (*p == '\\' && p[1])
			p++;
		if (!put(s->name, &n, *p))
			return NULL;
	}
	return n ? p : NULL;
}

/* 'text' or "text" up to its closing quote. */
static const char *read_quoted(const char *p, char *out)
{
	char quote = *p++;
	size_t n = 0;

	out[0] = '\0';
	for (; *p && *p != quote; p++) {
		if (!put(out, &n, *p))
			return NULL;
	}
	return *p ? p + 1 : NULL;
}

/* "?(@.type=="Ready")]" */
static const char *read_filter(const char *p, struct step *s)
{
	size_t n = 0;

	if (strncmp(p, "?(@", 3) != 0)
		return NULL;
	s->kind = STEP_FILTER;
	for (p += 3; *p && *p != '=' && *p != '!' && *p != ' '; p++) {
		if (!put(s->name, &n, *p))
			return NULL;
	}
	p += strspn(p, " ");
	s->unequal = *p == '!';
	if ((*p != '=' && *p != '!') || p[1] != '=')
		return NULL;
	p += 2;
	p += strspn(p, " ");
	if (*p != '"' && *p != '\'')
		return NULL;
	p = read_quoted(p, s->value);
	if (!p)
		return NULL;
	p += strspn(p, " ");
	return p[0] == ')' && p[1] == ']' ? p + 2 : NULL;
}

static const char *read_bracket(const char *p, struct step *s)
{
	char *end;

	if (*p == '?')
		return read_filter(p, s);
	if (*p == '*') {
		s->kind = STEP_ALL;
		return p[1] == ']' ? p + 2 : NULL;
	}
	if (*p == '\'' || *p == '"') {
		s->kind = STEP_MEMBER;
		p = read_quoted(p, s->name);
		return p && *p == ']' ? p + 1 : NULL;
	}
	if (!isdigit((unsigned char)*p))
		return NULL;
	s->kind = STEP_INDEX;
	s->index = strtol(p, &end, 10);
	return *end == ']' ? end + 1 : NULL;
}

/* NULL: not a step that is understood. */
static const char *read_step(const char *p, struct step *s)
{
	s->name[0] = s->value[0] = '\0';
	s->unequal = false;
	if (*p == '.' && p[1] == '[')
		p++;
	if (*p == '[')
		return read_bracket(p + 1, s);
	return *p == '.' ? read_name(p + 1, s) : NULL;
}

static const struct sim_value *find(const struct sim_value *v, const char *path, int depth);

static bool passes(const struct sim_value *item, const struct step *s, int depth)
{
	const char *text = sim_text(find(item, s->name, depth));

	return text && (strcmp(text, s->value) != 0) == s->unequal;
}

static const struct sim_value *find_in_items(const struct sim_value *v, const struct step *s,
	const char *rest, int depth)
{
	for (size_t i = 0; i < sim_count(v); i++) {
		const struct sim_value *item = sim_item(v, i), *found = NULL;

		if (s->kind == STEP_ALL || passes(item, s, depth))
			found = find(item, rest, depth);
		if (found)
			return found;
	}
	return NULL;
}

static const struct sim_value *find(const struct sim_value *v, const char *path, int depth)
{
	struct step s;

	if (!v || !*path)
		return v;
	if (depth == 0)
		return NULL;
	path = read_step(path, &s);
	if (!path)
		return NULL;
	switch (s.kind) {
	case STEP_MEMBER:
		return find(sim_member(v, s.name), path, depth - 1);
	case STEP_INDEX:
		return find(sim_kind(v) == SIM_ARRAY ? sim_item(v, (size_t)s.index) : NULL, path, depth - 1);
	default:
		return sim_kind(v) == SIM_ARRAY ? find_in_items(v, &s, path, depth - 1) : NULL;
	}
}

const struct sim_value *sim_jsonpath(const struct sim_value *v, const char *path)
{
	enum { MAX_STEPS = 32 };

	return find(v, path, MAX_STEPS);
}

static struct sim_value *as_string(const struct sim_value *v)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (sim_text(v))
		return sim_ref(v);
	sim_print(v, &text);
	return sim_string(kar_buf_cstr(&text));
}

static struct sim_value *as_date(const char *time, kar_time now)
{
	char text[32];

	return time ? sim_string(sim_since(now, time, text)) : sim_null();
}

/* Towards zero; what does not fit is no integer. */
static struct sim_value *as_integer(const struct sim_value *v)
{
	const double limit = 9e18;
	double d = sim_number_of(v, 0);

	if (sim_kind(v) == SIM_INT)
		return sim_ref(v);
	return d > -limit && d < limit ? sim_int((int64_t)d) : sim_null();
}

struct sim_value *sim_custom_cell(const struct sim_value *object, const char *path, const char *type,
	kar_time now)
{
	const struct sim_value *v = sim_jsonpath(object, path);
	enum sim_kind kind = sim_kind(v);
	bool number = kind == SIM_INT || kind == SIM_REAL;

	if (kind == SIM_ABSENT || kind == SIM_NULL)
		return sim_null();
	if (!strcmp(type, "string"))
		return as_string(v);
	if (!strcmp(type, "date"))
		return as_date(sim_text(v), now);
	if (!strcmp(type, "integer"))
		return number ? as_integer(v) : sim_null();
	if (!strcmp(type, "number"))
		return number ? sim_ref(v) : sim_null();
	return kind == SIM_BOOL && !strcmp(type, "boolean") ? sim_ref(v) : sim_null();
}
