#include "api/status/usage.h"

#include "api/core/amounts_wire.h"

static const struct kar_field rows[] = {
	KAR_STATUS_PAIRS(struct kar_usage, seconds, "seconds", 0, NULL),
	KAR_STATUS_PAIRS(struct kar_usage, allocated, "allocated", 0, NULL),
	KAR_STATUS(TIME, struct kar_usage, time, "time", 0, NULL),
};
const struct kar_desc kar_usage_table = KAR_DESC("Usage", struct kar_usage, rows);

void kar_usage_add(struct kar_amounts *used, const struct kar_array *allocated, kar_time ms)
{
	KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts more = { 0 };

	kar_amounts_read(allocated, &more);
	for (size_t i = 0; i < more.n; i++)
		kar_quantity_times(&more.items[i].q, (int32_t)kar_clamp(ms / KAR_SECOND, 0, INT32_MAX));
	kar_amounts_add_all(used, &more);
}

struct kar_array kar_usage_pairs(const struct kar_amounts *amounts, struct kar_arena *a)
{
	struct kar_pair *all = kar_arena_alloc(a, amounts->n + 1, sizeof(*all));
	struct kar_array out = { .items = all };
	char text[KAR_QUANTITY_LEN];

	for (size_t i = 0; i < amounts->n; i++) {
		if (amounts->items[i].q.nano > 0)
			all[out.n++] = (struct kar_pair){ kar_arena_printf(a, "%s", amounts->items[i].name),
				kar_arena_printf(a, "%s", kar_quantity_text(&amounts->items[i].q, text)) };
	}
	return out;
}
