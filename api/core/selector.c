#include "api/core/selector.h"

#include "api/copy.h"
#include "common/base/str.h"

static const struct kar_field requirement_fields[] = {
	KAR_FIELD(struct kar_selector_requirement, key, "key", KAR_F_STRING),
	KAR_FIELD(struct kar_selector_requirement, op, "operator", KAR_F_STRING),
	KAR_FIELD(struct kar_selector_requirement, values, "values", KAR_F_ARRAY),
};
static const struct kar_desc requirement_desc =
	KAR_DESC("LabelSelectorRequirement", struct kar_selector_requirement, requirement_fields);

static const struct kar_field selector_fields[] = {
	KAR_FIELD(struct kar_selector, labels, "matchLabels", KAR_F_MAP),
	KAR_FIELD_SUB(struct kar_selector, expressions, "matchExpressions", KAR_F_ARRAY, &requirement_desc),
};
const struct kar_desc kar_selector_desc = KAR_DESC("LabelSelector", struct kar_selector, selector_fields);

static struct kar_array copy_values(const struct kar_array *from, struct kar_arena *arena)
{
	const char *const *in = from->items;
	const char **out = kar_arena_alloc(arena, from->n + 1, sizeof(*out));

	for (size_t i = 0; i < from->n; i++)
		out[i] = in[i] ? kar_copy_fit(arena, in[i], KAR_COPY_VALUE) : "";
	return (struct kar_array){ .items = out, .n = from->n };
}

struct kar_selector kar_selector_copy(const struct kar_selector *from, struct kar_arena *arena)
{
	const struct kar_selector_requirement *in = from->expressions.items;
	struct kar_selector_requirement *out = kar_arena_alloc(arena, from->expressions.n + 1, sizeof(*out));

	for (size_t i = 0; i < from->expressions.n; i++) {
		out[i].key = kar_copy_fit(arena, in[i].key, KAR_COPY_KEY);
		out[i].op = kar_copy_fit(arena, in[i].op, KAR_COPY_VALUE);
		out[i].values = copy_values(&in[i].values, arena);
	}
	return (struct kar_selector){ .labels = kar_copy_pairs(arena, &from->labels),
		.expressions = { .items = out, .n = from->expressions.n } };
}

static const char *problem_of(const struct kar_selector_requirement *r, struct kar_arena *arena)
{
	static const char *const lists[] = { "In", "NotIn" }, *const others[] = { "Exists", "DoesNotExist" };
	const char *key = r->key ? r->key : "", *op = r->op ? r->op : "";
	bool list = kar_streq_any(op, lists, KAR_LEN(lists));

	if (!key[0])
		return "an expression has no key";
	if (!list && !kar_streq_any(op, others, KAR_LEN(others)))
		return kar_arena_printf(arena, "operator %s of key %s is not known", op, key);
	if (list != (r->values.n > 0))
		return kar_arena_printf(arena, "operator %s of key %s %s", op, key,
			list ? "needs values" : "allows no values");
	return r->values.n > KAR_SELECTOR_MAX
		? kar_arena_printf(arena, "key %s has more than %d values", key, KAR_SELECTOR_MAX)
		: NULL;
}

const char *kar_selector_problem(const struct kar_selector *s, struct kar_arena *arena)
{
	const struct kar_selector_requirement *r = s->expressions.items;
	const char *problem = NULL;

	if (s->labels.n > KAR_SELECTOR_MAX || s->expressions.n > KAR_SELECTOR_MAX)
		return kar_arena_printf(arena, "it has more than %d labels or expressions", KAR_SELECTOR_MAX);
	for (size_t i = 0; i < s->expressions.n && !problem; i++)
		problem = problem_of(&r[i], arena);
	return problem ? kar_copy_fit(arena, problem, KAR_COPY_REASON) : NULL;
}

static bool is_met(const struct kar_selector_requirement *r, const struct kar_array *labels)
{
	const char *value = r->key ? kar_pairs_get(labels, r->key) : NULL;

	if (kar_streq(r->op, "Exists"))
		return value != NULL;
	if (kar_streq(r->op, "In"))
		return kar_strings_have(&r->values, value);
	if (!value && kar_pairs_get(labels, KAR_COPY_CUT))
		return false;
	if (kar_streq(r->op, "DoesNotExist"))
		return value == NULL;
	return kar_streq(r->op, "NotIn") && !kar_strings_have(&r->values, value);
}

bool kar_selector_selects(const struct kar_selector *s, const struct kar_array *labels)
{
	const struct kar_pair *want = s->labels.items;
	const struct kar_selector_requirement *requirements = s->expressions.items;

	for (size_t i = 0; i < s->labels.n; i++) {
		if (!kar_streq(kar_pairs_get(labels, want[i].key), want[i].value))
			return false;
	}
	for (size_t i = 0; i < s->expressions.n; i++) {
		if (!is_met(&requirements[i], labels))
			return false;
	}
	return true;
}
