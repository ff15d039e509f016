#include "api/core/amounts_wire.h"

#include <assert.h>
#include <string.h>

#include "common/base/str.h"

struct wire_quantity {
	const char *text;
};
struct wire_amount {
	const char *name;
	struct wire_quantity quantity;
};
static_assert(sizeof(struct wire_amount) == sizeof(struct kar_pair), "read as one");

static const struct kar_field quantity_fields[] = {
	KAR_FIELD_PB(struct wire_quantity, text, "string", 1, KAR_F_STRING),
};
static const struct kar_desc quantity_desc = KAR_DESC("Quantity", struct wire_quantity, quantity_fields);

static const struct kar_field amount_fields[] = {
	KAR_FIELD_PB(struct wire_amount, name, "key", 1, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct wire_amount, quantity, "value", 2, KAR_F_OBJECT, &quantity_desc),
};
const struct kar_desc kar_amount_wire_desc = KAR_DESC("amount", struct wire_amount, amount_fields);

void kar_amounts_read(const struct kar_array *pairs, struct kar_amounts *out)
{
	const struct kar_pair *p = pairs->items;
	struct kar_quantity q;

	for (size_t i = 0; i < pairs->n; i++) {
		if (kar_quantity_parse(p[i].value, &q, NULL) == 0)
			*kar_amounts_at(out, p[i].key) = q;
	}
}

int kar_resource_order(const char *a, const char *b)
{
	bool a_is_plain = !strchr(a, '/'), b_is_plain = !strchr(b, '/');

	return a_is_plain == b_is_plain ? strcmp(a, b) : a_is_plain ? -1 : 1;
}

bool kar_counts_bytes(const char *resource)
{
	return kar_streq(resource, "memory") || kar_streq(resource, "ephemeral-storage") ||
		strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
}

struct kar_quantity kar_amount_exact(const struct kar_sched_amount *x)
{
	bool cpu = kar_streq(x->resource, "cpu");

	return (struct kar_quantity){ .nano = (kar_nano)x->amount * (cpu ? 1000000 : 1000000000),
		.format = kar_counts_bytes(x->resource) ? KAR_BINARY_SI : KAR_DECIMAL_SI };
}

const char *kar_amount_quantity(const struct kar_sched_amount *x, struct kar_arena *a)
{
	const struct kar_quantity q = kar_amount_exact(x);
	char text[KAR_QUANTITY_LEN];

	return kar_arena_printf(a, "%s", kar_quantity_text(&q, text));
}
