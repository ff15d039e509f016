#include "sim/apiserver/types_impl.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct sim_types {
	struct kar_arena arena;
	struct sim_type *items;
	size_t n;
};

static char *word(struct kar_arena *a, const char *begin, const char *end)
{
	return kar_arena_strndup(a, begin, (size_t)(end - begin));
}

/* ---- first pass: the messages, so that fields can point at them ---- */

static void add_message(struct sim_types *t, const char *package, const char *openapi, const char *line)
{
	const char *end = strchr(line, ' ');
	struct sim_type *m;

	t->items = kar_arena_grow(&t->arena, t->items, t->n, sizeof(*t->items));
	m = &t->items[t->n++];
	memset(m, 0, sizeof(*m));
	m->package = package;
	m->name = word(&t->arena, line, end ? end : line + strlen(line));
	m->openapi_name = kar_arena_printf(&t->arena, "%s.%s", openapi, m->name);
}

static void collect(struct sim_types *t, const char *const *lines)
{
	const char *package = "", *openapi = "";

	for (; *lines; lines++) {
		if (**lines == '@') {
			const char *space = strchr(*lines, ' ');

			assert(space);
			package = word(&t->arena, *lines + 1, space);
			openapi = space + 1;
		} else if (**lines != ' ') {
			add_message(t, package, openapi, *lines);
		}
	}
}

static struct sim_type *find(const struct sim_types *t, const char *package, size_t length, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		struct sim_type *m = &t->items[i];

		/* What differs most comes first: a server is made for every simulation. */
		if (*m->name == *name && !strcmp(m->name, name) && strlen(m->package) == length &&
			!strncmp(m->package, package, length))
			return m;
	}
	return NULL;
}

/* ---- second pass: the fields ---- */

static const char *read_flags(struct kar_arena *a, const char *p, struct sim_field *f)
{
	for (; *p && *p != ' '; p++) {
		const char *key = p + 1;

		f->pointer |= *p == '*';
		f->always |= *p == '!';
		f->inlined |= *p == '^';
		f->retain_keys |= *p == '+';
		if (*p != '~')
			continue;
		while (isalnum((unsigned char)p[1]))
			p++;
		f->merge_key = word(a, key, p + 1);
	}
	return p;
}

static const char *read_shape(const char *p, struct sim_field *f)
{
	if (*p == '{') {
		f->map = true;
		p++;
	}
	if (*p == '[') {
		f->list = true;
		p += 2;
	}
	return *p == '}' ? p + 1 : p;
}

/* "Volume+~name" or "meta.ObjectMeta" or "s*". */
static const char *read_type(struct sim_types *t, const char *package, const char *p, struct sim_field *f)
{
	const char *end = p;

	while (isalnum((unsigned char)*end) || *end == '.')
		end++;
	f->kind = (enum sim_field_kind) * p;
	if (end - p > 1) {
		char *name = word(&t->arena, p, end), *dot = strchr(name, '.');

		f->kind = SIM_FIELD_MESSAGE;
		f->type = dot ? find(t, name, (size_t)(dot - name), dot + 1)
			      : find(t, package, strlen(package), name);
		assert(f->type);
	}
	return end;
}

static const char *read_field(struct sim_types *t, struct sim_type *m, const char *p)
{
	struct sim_field *fields =
		kar_arena_grow(&t->arena, (void *)(uintptr_t)m->fields, m->n, sizeof(*fields));
	struct sim_field *f = &fields[m->n++];
	const char *equals = strchr(p, '=');
	char *end;

	memset(f, 0, sizeof(*f));
	m->fields = fields;
	assert(equals);
	f->name = word(&t->arena, p, equals);
	f->number = (uint32_t)strtoul(equals + 1, &end, 10);
	assert(*end == ':');
	p = read_shape(end + 1, f);
	p = read_type(t, m->package, p, f);
	return read_flags(&t->arena, p, f);
}

static void read_fields(struct sim_types *t, const char *const *lines, size_t *next)
{
	struct sim_type *m = NULL;

	for (; *lines; lines++) {
		const char *p = *lines;

		if (*p == '@')
			continue;
		if (*p != ' ')
			m = &t->items[(*next)++];
		assert(m);
		for (p = strchr(p, ' '); p && *p == ' ';)
			p = read_field(t, m, p + 1);
	}
}

struct sim_types *sim_types_new(void)
{
	struct sim_types *t = kar_xcalloc(1, sizeof(*t));
	size_t next = 0;

	collect(t, sim_types_core);
	collect(t, sim_types_other);
	read_fields(t, sim_types_core, &next);
	read_fields(t, sim_types_other, &next);
	return t;
}

void sim_types_free(struct sim_types *t)
{
	if (!t)
		return;
	kar_arena_release(&t->arena);
	free(t);
}

const struct sim_type *sim_types_find(const struct sim_types *t, const char *group, const char *kind)
{
	if (!*group)
		group = "core";
	return find(t, group, strcspn(group, "."), kind);
}

const struct sim_field *sim_type_field(const struct sim_type *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct sim_field *f = &t->fields[i], *inner = NULL;

		if (f->inlined)
			inner = sim_type_field(f->type, name);
		else if (*f->name == *name && !strcmp(f->name, name))
			inner = f;
		if (inner)
			return inner;
	}
	return NULL;
}
