#include "api/status/condition.h"

#include <string.h>

#include "api/copy.h"
#include "common/base/text.h"
#include "common/codec/json.h"

static const struct kar_field fields[] = {
	KAR_FIELD(struct kar_wire_condition, type, "type", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_condition, status, "status", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_condition, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_condition, message, "message", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_condition, observed_generation, "observedGeneration", KAR_F_INT64),
	KAR_FIELD_TIME(struct kar_wire_condition, last_transition, "lastTransitionTime", 0),
};
const struct kar_desc kar_wire_condition_desc = KAR_DESC("Condition", struct kar_wire_condition, fields);

const char *kar_condition_status_name(enum kar_condition_status s)
{
	switch (s) {
	case KAR_COND_TRUE:
		return "True";
	case KAR_COND_FALSE:
		return "False";
	default:
		return "Unknown";
	}
}

static enum kar_condition_status status_of(const char *name)
{
	if (name && strcmp(name, "True") == 0)
		return KAR_COND_TRUE;
	if (name && strcmp(name, "False") == 0)
		return KAR_COND_FALSE;
	return KAR_COND_UNKNOWN;
}

static const char *keep(const char *s, size_t size, struct kar_arena *arena)
{
	return s ? kar_copy_fit(arena, s, size) : "";
}

static struct kar_condition *find(const struct kar_conditions *list, const char *type)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].type, type) == 0)
			return &list->items[i];
	}
	return NULL;
}

struct kar_conditions kar_conditions_from_wire(const struct kar_array *wire, struct kar_arena *arena)
{
	const struct kar_wire_condition *w = wire->items;
	size_t n = wire->n < KAR_MAX_CONDITIONS ? wire->n : KAR_MAX_CONDITIONS;
	struct kar_conditions list = { .items = n ? kar_arena_alloc(arena, n, sizeof(*list.items)) : NULL };

	for (size_t i = 0; i < n; i++) {
		if (!w[i].type || !w[i].type[0] || find(&list, w[i].type))
			continue;
		list.items[list.n++] = (struct kar_condition){
			.type = keep(w[i].type, KAR_COPY_KEY, arena),
			.status = status_of(w[i].status),
			.observed_generation = w[i].observed_generation,
			.last_transition = w[i].last_transition,
			.reason = keep(w[i].reason, KAR_COPY_REASON, arena),
			.message = keep(w[i].message, KAR_MAX_MESSAGE_BYTES, arena),
		};
	}
	return list;
}

struct kar_conditions kar_conditions_copy(const struct kar_conditions *from, struct kar_arena *arena)
{
	struct kar_conditions list = { 0 };

	for (size_t i = 0; i < from->n; i++) {
		list.items = kar_arena_grow(arena, list.items, list.n, sizeof(*list.items));
		list.items[list.n++] = from->items[i];
	}
	return list;
}

const struct kar_condition *kar_condition_find(const struct kar_conditions *list, const char *type)
{
	return find(list, type);
}

bool kar_condition_is_true(const struct kar_conditions *list, const char *type)
{
	const struct kar_condition *c = find(list, type);

	return c && c->status == KAR_COND_TRUE;
}

void kar_condition_set(struct kar_conditions *list, const struct kar_condition *c, kar_time now,
	struct kar_arena *arena)
{
	struct kar_condition *known = find(list, c->type);
	/* The API keeps whole seconds. */
	kar_time since =
		known && known->status == c->status ? known->last_transition : now - now % KAR_SECOND;

	if (!known) {
		/* Lists of other origin have exactly n elements, so growing in place is not safe. */
		*list = kar_conditions_copy(list, arena);
		list->items = kar_arena_grow(arena, list->items, list->n, sizeof(*list->items));
		known = &list->items[list->n++];
	}
	*known = *c;
	known->last_transition = since;
	known->message = kar_text_fit(arena, c->message, KAR_MAX_MESSAGE_BYTES);
}

static bool equal(const struct kar_condition *a, const struct kar_condition *b)
{
	return strcmp(a->type, b->type) == 0 && a->status == b->status &&
		a->observed_generation == b->observed_generation &&
		a->last_transition == b->last_transition && strcmp(a->reason, b->reason) == 0 &&
		strcmp(a->message, b->message) == 0;
}

bool kar_conditions_equal(const struct kar_conditions *a, const struct kar_conditions *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!equal(&a->items[i], &b->items[i]))
			return false;
	}
	return true;
}

bool kar_condition_is_news(const struct kar_conditions *recorded, const struct kar_conditions *wanted,
	const char *type)
{
	const struct kar_condition *old = find(recorded, type), *new = find(wanted, type);

	if (!old || !new)
		return old != new;
	return old->status != new->status || strcmp(old->reason, new->reason) != 0;
}

void kar_conditions_write(struct kar_json_writer *w, const struct kar_conditions *list)
{
	kar_jw_begin_array(w);
	for (size_t i = 0; i < list->n; i++) {
		const struct kar_condition *c = &list->items[i];

		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "type", c->type);
		kar_jw_kv_string(w, "status", kar_condition_status_name(c->status));
		kar_jw_kv_int(w, "observedGeneration", c->observed_generation);
		kar_jw_kv_time(w, "lastTransitionTime", c->last_transition);
		kar_jw_kv_string(w, "reason", c->reason);
		kar_jw_kv_string(w, "message", c->message);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}
