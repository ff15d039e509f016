#include "api/core/disruptionbudget.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/mem.h"
#include "common/base/str.h"

struct wire_spec {
	const struct kar_selector *selector;
	struct kar_str max_unavailable, min_available; /* JSON: 2 or "20%" */
};

struct wire_status {
	int32_t allowed;
	int64_t observed_generation;
};

struct wire_budget {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, selector, "selector", KAR_F_OBJECT_PTR, &kar_selector_desc),
	KAR_FIELD(struct wire_spec, max_unavailable, "maxUnavailable", KAR_F_RAW),
	KAR_FIELD(struct wire_spec, min_available, "minAvailable", KAR_F_RAW),
};
static const struct kar_desc spec_desc = KAR_DESC("PodDisruptionBudgetSpec", struct wire_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, allowed, "disruptionsAllowed", KAR_F_INT32),
	KAR_FIELD(struct wire_status, observed_generation, "observedGeneration", KAR_F_INT64),
};
static const struct kar_desc status_desc =
	KAR_DESC("PodDisruptionBudgetStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_budget),
	KAR_FIELD_SUB(struct wire_budget, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_budget, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("PodDisruptionBudget", struct wire_budget, fields);

static bool asks_for_index(const struct kar_selector *s)
{
	const struct kar_selector_requirement *r = s->expressions.items;
	bool asks = kar_pairs_get(&s->labels, KAR_LABEL_INDEX) != NULL;

	for (size_t i = 0; i < s->expressions.n; i++)
		asks |= kar_streq(r[i].key, KAR_LABEL_INDEX);
	return asks;
}

/* 2 or "20%". What is neither counts as 0, or as all: nothing may be missing. */
static void read_number(const struct kar_str *json, int64_t *number, int64_t *percent)
{
	char text[32] = "";
	const char *digits = text;

	*number = *percent = -1;
	if (!json->n)
		return;
	memcpy(text, json->p, json->n < sizeof(text) ? json->n : sizeof(text) - 1);
	digits += *digits == '"';
	*(strchr(text, '%') ? percent : number) = kar_clamp(strtoll(digits, NULL, 10), 0, INT32_MAX);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_budget *w = wire;
	const struct kar_selector *selector = w->spec.selector;
	struct kar_disruptionbudget *b = kar_xcalloc(1, sizeof(*b));

	kar_object_init(&b->o, &kar_disruptionbudget_type, &w->head,
		kar_copy_text(&b->mem, w->head.meta.name), kar_copy_text(&b->mem, w->head.meta.uid), strings);
	b->selects_none = !selector;
	b->selects_all = selector && (kar_selector_problem(selector, &b->mem) || asks_for_index(selector));
	b->generation = w->head.meta.generation;
	read_number(&w->spec.max_unavailable, &b->max_unavailable, &b->max_unavailable_percent);
	read_number(&w->spec.min_available, &b->min_available, &b->min_available_percent);
	if (selector && !b->selects_all)
		b->selector = kar_selector_copy(selector, &b->mem);
	if (w->status.observed_generation >= w->head.meta.generation && w->status.allowed > 0)
		b->allowed = w->status.allowed;
	return &b->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_disruptionbudget *b = kar_container_of(o, struct kar_disruptionbudget, o);

	kar_arena_release(&b->mem);
	free(b);
}

const struct kar_type kar_disruptionbudget_type = {
	.res = { .group = "policy",
		.version = "v1",
		.plural = "poddisruptionbudgets",
		.kind = "PodDisruptionBudget",
		.namespaced = true },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = kar_object_by_namespace,
	.n_index = 1,
};

/* Rounded up, as its own controller does. */
static int64_t part_of(int64_t n, int64_t percent)
{
	return (n * percent + 99) / 100;
}

int64_t kar_disruptionbudget_allows_of(const struct kar_disruptionbudget *b, int64_t n)
{
	int64_t allowed = n - 1; /* neither is set: one of them must be there */

	if (b->max_unavailable >= 0 || b->max_unavailable_percent >= 0)
		allowed =
			b->max_unavailable >= 0 ? b->max_unavailable : part_of(n, b->max_unavailable_percent);
	else if (b->min_available >= 0 || b->min_available_percent >= 0)
		allowed =
			n - (b->min_available >= 0 ? b->min_available : part_of(n, b->min_available_percent));
	return kar_clamp(allowed, 0, n);
}

bool kar_disruptionbudget_allows_more(const struct kar_disruptionbudget *old,
	const struct kar_disruptionbudget *now)
{
	if (!old || !now)
		return !now;
	return !kar_object_same(&old->o, &now->o) || old->generation != now->generation ||
		old->allowed < now->allowed;
}

bool kar_disruptionbudget_selects(const struct kar_disruptionbudget *b, const struct kar_array *labels)
{
	return b->selects_all || (!b->selects_none && kar_selector_selects(&b->selector, labels));
}
