#include "api/template_amounts.h"

#include <stdio.h>
#include <string.h>

#include "api/copy.h"
#include "api/pod_wire.h"
#include "common/mem.h"

static void append(struct kar_array *out, const char *prefix, const struct kar_amount *a,
	struct kar_arena *mem)
{
	struct kar_quota_amount *items;

	if (out->n == KAR_MAX_AMOUNTS || strlen(a->name) >= KAR_COPY_KEY)
		return;
	items = kar_arena_grow(mem, out->items, out->n, sizeof(*items));
	items[out->n++] = (struct kar_quota_amount){
		.resource = kar_arena_printf(mem, "%s%s", prefix, a->name),
		.q = a->q,
	};
	out->items = items;
}

static void add_all(const struct kar_amounts *total, const char *prefix, struct kar_array *out,
	struct kar_arena *mem)
{
	for (size_t i = 0; i < total->n; i++)
		append(out, prefix, &total->items[i], mem);
}

struct kar_array kar_template_amounts(struct kar_str raw, struct kar_arena *mem)
{
	struct kar_amounts requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				    limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct kar_arena scratch = { 0 };
	const struct pod_wire_spec *spec = pod_wire_template(raw, &scratch, NULL);
	struct kar_array out = { 0 };

	if (spec && !spec->resources.requests.n && !spec->resources.limits.n) {
		pod_wire_requests(spec, NULL, &requests);
		pod_wire_limits(spec, &limits);
		add_all(&requests, "requests.", &out, mem);
		add_all(&limits, "limits.", &out, mem);
	}
	kar_arena_release(&scratch);
	return out;
}

const struct kar_quantity *kar_template_amount(const struct kar_array *amounts, const char *resource)
{
	static const char requests[] = "requests.", limits[] = "limits.";
	const struct kar_quota_amount *a = amounts->items;
	char name[KAR_COPY_KEY + sizeof(requests)];
	bool prefixed = !strncmp(resource, requests, sizeof(requests) - 1) ||
		!strncmp(resource, limits, sizeof(limits) - 1);

	snprintf(name, sizeof(name), "%s%s", prefixed ? "" : requests, resource);
	for (size_t i = 0; i < amounts->n; i++) {
		if (!strcmp(a[i].resource, name))
			return &a[i].q;
	}
	return NULL;
}
