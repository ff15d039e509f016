#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/syntax.h"

void schema_path(const struct schema_place *at, bool bracketed, struct kar_buf *out)
{
	if (!at)
		return;
	schema_path(at->up, bracketed, out);
	if (!at->key)
		kar_buf_printf(out, "[%zu]", at->index);
	else if (bracketed && at->in_map)
		kar_buf_printf(out, "[%s]", at->key);
	else
		kar_buf_printf(out, "%s%s", out->n ? "." : "", at->key);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct sim_member *)a)->key, ((const struct sim_member *)b)->key);
}

/* Go escapes what could be taken for HTML. */
static void print_text(const char *s, struct kar_buf *out)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *v = sim_string(s);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf plain = { 0 };

	sim_print(v, &plain);
	for (const char *p = kar_buf_cstr(&plain); *p; p++) {
		if (strchr("<>&", *p))
			kar_buf_printf(out, "\\u%04x", *p);
		else
			kar_buf_append(out, p, 1);
	}
}

static void print_json(const struct sim_value *v, struct kar_buf *out);

static void print_object(const struct sim_value *v, struct kar_buf *out)
{
	struct sim_member *members = kar_xcalloc(sim_count(v) + 1, sizeof(*members));
	size_t n = 0;

	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m))
		members[n++] = m;
	qsort(members, n, sizeof(*members), by_key);
	kar_buf_puts(out, "{");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			kar_buf_puts(out, ",");
		print_text(members[i].key, out);
		kar_buf_puts(out, ":");
		print_json(members[i].value, out);
	}
	kar_buf_puts(out, "}");
	free(members);
}

static void print_json(const struct sim_value *v, struct kar_buf *out)
{
	switch (sim_kind(v)) {
	case SIM_OBJECT:
		print_object(v, out);
		break;
	case SIM_ARRAY:
		kar_buf_puts(out, "[");
		for (size_t i = 0; i < sim_count(v); i++) {
			if (i > 0)
				kar_buf_puts(out, ",");
			print_json(sim_item(v, i), out);
		}
		kar_buf_puts(out, "]");
		break;
	case SIM_STRING:
		print_text(sim_text(v), out);
		break;
	case SIM_REAL:
		sim_print_real(sim_number_of(v, 0), out);
		break;
	default:
		sim_print(v, out);
	}
}

void schema_print_value(const struct sim_value *v, struct kar_buf *out)
{
	if (sim_kind(v) == SIM_STRING)
		sim_quote(sim_text(v), out);
	else
		print_json(v, out);
}

/* ---- causes ---- */

static void add(struct schema_result *r, const char *reason, const struct schema_place *at, bool bracketed,
	const char *message)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf field = { 0 };

	if (r->causes.n >= SCHEMA_CAUSES_MAX)
		return;
	if (r->prefix)
		kar_buf_puts(&field, r->prefix);
	schema_path(at, bracketed, &field);
	sim_cause_add(&r->causes, reason, field.n ? kar_buf_cstr(&field) : "<nil>", "%s", message);
}

void schema_refuse(struct schema_result *r, const char *reason, const struct schema_place *at, bool bracketed,
	const char *fmt, ...)
{
	KAR_CLEANUP(kar_cleanup_free) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	add(r, reason, at, bracketed, text);
}

void schema_refuse_value(struct schema_result *r, const struct schema_place *at,
	const struct sim_value *value, const char *fmt, ...)
{
	KAR_CLEANUP(kar_cleanup_free) char *text = NULL;
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf path = { 0 }, message = { 0 };
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	schema_path(at, false, &path);
	kar_buf_puts(&message, "Invalid value: ");
	schema_print_value(value, &message);
	kar_buf_printf(&message, ": %s in body %s", kar_buf_cstr(&path), text);
	add(r, "FieldValueInvalid", at, false, kar_buf_cstr(&message));
}

void schema_refuse_type(struct schema_result *r, const struct schema_place *at, const char *wanted,
	const char *is)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf path = { 0 }, quoted = { 0 }, message = { 0 };

	schema_path(at, false, &path);
	sim_quote(is, &quoted);
	kar_buf_printf(&message, "Invalid value: %s: %s in body must be of type %s: %s",
		kar_buf_cstr(&quoted), kar_buf_cstr(&path), wanted, kar_buf_cstr(&quoted));
	add(r, "FieldValueTypeInvalid", at, false, kar_buf_cstr(&message));
}

void schema_refuse_whole(struct schema_result *r, const struct schema_place *at, const char *before,
	const char *after)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf path = { 0 }, message = { 0 };

	schema_path(at, false, &path);
	kar_buf_printf(&message, "Invalid value: \"\": %s%s%s", before, kar_buf_cstr(&path), after);
	add(r, "FieldValueInvalid", NULL, false, kar_buf_cstr(&message));
}

void schema_forget(struct sim_causes *c, size_t from)
{
	while (c->n > from) {
		struct sim_cause *last = &c->items[--c->n];

		free(last->reason);
		free(last->field);
		free(last->message);
	}
}

static bool reported(const struct sim_causes *c, size_t since, const struct sim_cause *cause)
{
	for (size_t i = since; i < c->n; i++) {
		if (!strcmp(c->items[i].message, cause->message) && !strcmp(c->items[i].field, cause->field))
			return true;
	}
	return false;
}

void schema_merge(struct schema_result *to, size_t since, struct schema_result *from)
{
	for (size_t i = 0; i < from->causes.n; i++) {
		const struct sim_cause *c = &from->causes.items[i];

		if (to->causes.n < SCHEMA_CAUSES_MAX && !reported(&to->causes, since, c))
			sim_cause_add(&to->causes, c->reason, c->field, "%s", c->message);
	}
	to->matches += from->matches;
	sim_causes_release(&from->causes);
}
