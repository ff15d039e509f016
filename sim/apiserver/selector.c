#include "sim/apiserver/selector.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/selector_impl.h"

void selector_add_value(struct requirement *r, const char *text, size_t n)
{
	r->values = kar_xrealloc(r->values, r->n + 1, sizeof(*r->values));
	r->values[r->n++] = kar_xstrndup(text, n);
}

struct requirement *selector_add(struct sim_selector *s)
{
	s->items = kar_xrealloc(s->items, s->n + 1, sizeof(*s->items));
	s->items[s->n] = (struct requirement){ 0 };
	return &s->items[s->n++];
}

void sim_selector_free(struct sim_selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = 0; j < s->items[i].n; j++)
			free(s->items[i].values[j]);
		free(s->items[i].values);
		free(s->items[i].key);
	}
	free(s->items);
	free(s);
}

bool sim_selector_is_empty(const struct sim_selector *s)
{
	return s->n == 0;
}

/* An integer as strconv.ParseInt takes it: one sign, digits, no more. */
bool selector_integer(const char *text, int64_t *out)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;

	if (!*digits || strspn(digits, "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0;
}

static bool has_value(const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!strcmp(r->values[i], value))
			return true;
	}
	return false;
}

static bool compares(const struct requirement *r, const char *value)
{
	int64_t is, than;

	if (!selector_integer(value, &is) || !selector_integer(r->values[0], &than))
		return false;
	return r->op == SELECT_GREATER ? is > than : is < than;
}

/* @value NULL: the label is absent. */
static bool meets(const struct requirement *r, const char *value)
{
	switch (r->op) {
	case SELECT_IN:
		return value && has_value(r, value);
	case SELECT_NOT_IN:
		return !value || !has_value(r, value);
	case SELECT_EXISTS:
		return value;
	case SELECT_ABSENT:
		return !value;
	default:
		return value && compares(r, value);
	}
}

bool sim_label_selector_matches(const struct sim_selector *s, const struct sim_value *labels)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!meets(&s->items[i], sim_text(sim_member(labels, s->items[i].key))))
			return false;
	}
	return true;
}

bool sim_field_selector_matches(const struct sim_selector *s,
	const char *(*value)(void *arg, const char *field), void *arg)
{
	for (size_t i = 0; i < s->n; i++) {
		const char *text = value(arg, s->items[i].key);

		if (!meets(&s->items[i], text ? text : ""))
			return false;
	}
	return true;
}

const char *sim_field_selector_at(const struct sim_selector *s, size_t i)
{
	return i < s->n ? s->items[i].key : NULL;
}

/* ---- metav1.LabelSelector ---- */

static bool one_of(const struct sim_value *values, const char *text)
{
	for (size_t i = 0; i < sim_count(values); i++) {
		if (!strcmp(sim_text_or(sim_item(values, i), ""), text))
			return true;
	}
	return false;
}

static bool meets_expression(const struct sim_value *e, const struct sim_value *labels)
{
	const char *op = sim_text_or(sim_member(e, "operator"), "");
	const char *value = sim_text(sim_member(labels, sim_text_or(sim_member(e, "key"), "")));
	const struct sim_value *values = sim_member(e, "values");

	if (!strcmp(op, "In"))
		return value && one_of(values, value);
	if (!strcmp(op, "NotIn"))
		return sim_count(values) > 0 && (!value || !one_of(values, value));
	if (!strcmp(op, "Exists"))
		return value;
	return !strcmp(op, "DoesNotExist") && !value;
}

bool sim_label_selector_object_matches(const struct sim_value *selector, const struct sim_value *labels)
{
	const struct sim_value *expressions = sim_member(selector, "matchExpressions");

	if (sim_kind(selector) != SIM_OBJECT)
		return false;
	for (struct sim_member m = sim_first(sim_member(selector, "matchLabels")); m.value; m = sim_next(m)) {
		const char *value = sim_text(sim_member(labels, m.key));

		if (!value || strcmp(value, sim_text_or(m.value, "")) != 0)
			return false;
	}
	for (size_t i = 0; i < sim_count(expressions); i++) {
		if (!meets_expression(sim_item(expressions, i), labels))
			return false;
	}
	return true;
}
