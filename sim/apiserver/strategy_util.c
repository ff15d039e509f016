#include "sim/apiserver/strategy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/types.h"

#include "sim/apiserver/syntax.h"

void sim_keep_old(struct sim_write *w, const char *key)
{
	const struct sim_value *old = sim_member(w->old, key);

	if (sim_member(*w->new, key) == old)
		return;
	if (old)
		sim_set(w->new, sim_ref(old), key);
	else
		sim_remove(w->new, key);
}

void sim_clear_status(struct sim_write *w)
{
	const struct sim_field *f = w->resource->type ? sim_type_field(w->resource->type, "status") : NULL;
	struct sim_value *empty = sim_object();

	if (f && f->type)
		(void)sim_types_decode(f->type, &empty, NULL, NULL);
	sim_set(w->new, empty, "status");
}

bool sim_writes_status(const struct sim_write *w)
{
	return w->rq->subresource && !strcmp(w->rq->subresource, "status");
}

struct sim_value *sim_request_object(const struct sim_request *rq, struct sim_response *out)
{
	struct kar_err err = { 0 };
	struct sim_value *v =
		rq->object ? sim_ref(rq->object) : sim_parse(rq->body.p ? rq->body.p : "", rq->body.n, &err);

	if (sim_kind(v) == SIM_OBJECT)
		return v;
	sim_refuse_bad_request(out, "the request body is not a JSON object%s%s", v ? "" : ": ",
		v ? "" : err.msg);
	sim_unref(v);
	return NULL;
}

void sim_answer_success(struct sim_response *out, int code)
{
	struct sim_value *status = sim_object();

	sim_set_text(&status, "Status", "kind");
	sim_set_text(&status, "v1", "apiVersion");
	sim_set(&status, sim_object(), "metadata");
	sim_set_text(&status, "Success", "status");
	sim_set(&status, sim_int(code), "code");
	*out = (struct sim_response){ .code = code, .object = status };
}

/* ---- causes ---- */

static void print_at(const struct sim_at *at, struct kar_buf *out)
{
	if (at->up)
		print_at(at->up, out);
	if (at->name)
		kar_buf_printf(out, "%s%s", at->up ? "." : "", at->name);
	else if (at->key)
		kar_buf_printf(out, "[%s]", at->key);
	else
		kar_buf_printf(out, "[%zu]", at->index);
}

static void add(struct sim_causes *c, const struct sim_at *at, const char *reason, const char *message)
{
	struct kar_buf field KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	print_at(at, &field);
	sim_cause_add(c, reason, kar_buf_cstr(&field), "%s", message);
}

static void add_formatted(struct sim_causes *c, const struct sim_at *at, const char *reason,
	struct kar_buf *message, const char *fmt, va_list ap)
	__attribute__((nonnull(1, 2, 3, 4, 5), format(printf, 5, 0)));

static void add_formatted(struct sim_causes *c, const struct sim_at *at, const char *reason,
	struct kar_buf *message, const char *fmt, va_list ap)
{
	char detail[1024];

	vsnprintf(detail, sizeof(detail), fmt, ap);
	kar_buf_puts(message, detail);
	add(c, at, reason, kar_buf_cstr(message));
}

void sim_cause_required(struct sim_causes *c, const struct sim_at *at)
{
	add(c, at, "FieldValueRequired", "Required value");
}

void sim_cause_required_because(struct sim_causes *c, const struct sim_at *at, const char *why)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_buf_printf(&message, "Required value: %s", why);
	add(c, at, "FieldValueRequired", kar_buf_cstr(&message));
}

void sim_cause_not_found(struct sim_causes *c, const struct sim_at *at, const char *value)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_buf_puts(&message, "Not found: ");
	sim_quote(value, &message);
	add(c, at, "FieldValueNotFound", kar_buf_cstr(&message));
}

void sim_cause_forbidden(struct sim_causes *c, const struct sim_at *at, const char *fmt, ...)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	va_list ap;

	kar_buf_puts(&message, "Forbidden: ");
	va_start(ap, fmt);
	add_formatted(c, at, "FieldValueForbidden", &message, fmt, ap);
	va_end(ap);
}

static int compare_texts(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/*
 * Maps of strings are printed in the order of their keys, as Go does; whatever else comes from structs keeps its
 * order.
 */
static struct sim_value *in_order(const struct sim_value *v)
{
	size_t n = 0, count = sim_kind(v) == SIM_OBJECT ? sim_count(v) : 0;
	struct sim_value *sorted;

	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m))
		n += sim_kind(m.value) == SIM_STRING;
	if (n == 0 || n != count)
		return sim_ref(v);
	const char **keys = kar_xcalloc(n, sizeof(*keys));

	n = 0;
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m))
		keys[n++] = m.key;
	qsort(keys, n, sizeof(*keys), compare_texts);
	sorted = sim_object();
	for (size_t i = 0; i < n; i++)
		sim_set(&sorted, sim_ref(sim_member(v, keys[i])), keys[i]);
	free(keys);
	return sorted;
}

void sim_cause_invalid(struct sim_causes *c, const struct sim_at *at, const struct sim_value *value,
	const char *fmt, ...)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_value *shown = in_order(value);
	va_list ap;

	kar_buf_puts(&message, "Invalid value: ");
	if (sim_kind(value) == SIM_STRING)
		sim_quote(sim_text(value), &message);
	else if (shown)
		sim_print(shown, &message);
	else
		kar_buf_puts(&message, "null");
	sim_unref(shown);
	kar_buf_puts(&message, ": ");
	va_start(ap, fmt);
	add_formatted(c, at, "FieldValueInvalid", &message, fmt, ap);
	va_end(ap);
}

void sim_cause_duplicate(struct sim_causes *c, const struct sim_at *at, const char *value)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_buf_puts(&message, "Duplicate value: ");
	sim_quote(value, &message);
	add(c, at, "FieldValueDuplicate", kar_buf_cstr(&message));
}

void sim_cause_unsupported(struct sim_causes *c, const struct sim_at *at, const char *value,
	const char *const *supported)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_buf_puts(&message, "Unsupported value: ");
	sim_quote(value, &message);
	kar_buf_puts(&message, ": supported values: ");
	for (size_t i = 0; supported[i]; i++)
		kar_buf_printf(&message, "%s\"%s\"", i ? ", " : "", supported[i]);
	add(c, at, "FieldValueNotSupported", kar_buf_cstr(&message));
}

void sim_check_choice(struct sim_causes *c, const struct sim_at *at, const struct sim_value *value,
	const char *const *supported)
{
	const char *text = sim_text_or(value, "");

	if (!*text) {
		sim_cause_required(c, at);
		return;
	}
	for (size_t i = 0; supported[i]; i++) {
		if (!strcmp(supported[i], text))
			return;
	}
	sim_cause_unsupported(c, at, text, supported);
}

void sim_cause_grammar(struct sim_causes *c, const struct sim_at *at, const struct sim_value *value,
	struct sim_complaints (*grammar)(const char *))
{
	struct sim_complaints complaints = grammar(sim_text_or(value, ""));

	for (size_t i = 0; i < complaints.n; i++)
		sim_cause_invalid(c, at, value, "%s", complaints.text[i]);
}
