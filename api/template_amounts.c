#include "api/template_amounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/sched/requests.h"
#include "common/str.h"

struct wire_resources {
	struct kar_array requests, limits; /* struct kar_pair */
};

struct wire_container {
	struct wire_resources resources;
	const char *restart_policy;
};

struct wire_spec {
	struct kar_array containers, init_containers; /* struct wire_container */
	struct kar_str resources;
};

struct wire_template {
	struct wire_spec spec;
};

static const struct kar_field resources_fields[] = {
	KAR_FIELD(struct wire_resources, requests, "requests", KAR_F_MAP),
	KAR_FIELD(struct wire_resources, limits, "limits", KAR_F_MAP),
};
static const struct kar_desc resources_desc =
	KAR_DESC("ResourceRequirements", struct wire_resources, resources_fields);

static const struct kar_field container_fields[] = {
	KAR_FIELD_SUB(struct wire_container, resources, "resources", KAR_F_OBJECT, &resources_desc),
	KAR_FIELD(struct wire_container, restart_policy, "restartPolicy", KAR_F_STRING),
};
static const struct kar_desc container_desc = KAR_DESC("Container", struct wire_container, container_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, containers, "containers", KAR_F_ARRAY, &container_desc),
	KAR_FIELD_SUB(struct wire_spec, init_containers, "initContainers", KAR_F_ARRAY, &container_desc),
	KAR_FIELD(struct wire_spec, resources, "resources", KAR_F_RAW),
};
static const struct kar_desc spec_desc = KAR_DESC("PodSpec", struct wire_spec, spec_fields);

static const struct kar_field template_fields[] = {
	KAR_FIELD_SUB(struct wire_template, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct wire_template, template_fields);

static void add_list(struct kar_amounts *out, const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++) {
		struct kar_quantity q;

		if (!kar_quantity_parse(p[i].value, &q, NULL))
			*kar_amounts_at(out, p[i].key) = q;
	}
}

/* One element per container; free with release(). */
static struct kar_container_requests *read_containers(const struct kar_array *wire, bool limits)
{
	const struct wire_container *w = wire->items;
	struct kar_container_requests *list = kar_xcalloc(wire->n + 1, sizeof(*list));

	for (size_t i = 0; i < wire->n; i++) {
		add_list(&list[i].amounts, &w[i].resources.limits);
		if (!limits) /* a request replaces the limit that stands in for it */
			add_list(&list[i].amounts, &w[i].resources.requests);
		list[i].sidecar = kar_streq(w[i].restart_policy, "Always");
	}
	return list;
}

static void release(struct kar_container_requests *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kar_amounts_release(&list[i].amounts);
	free(list);
}

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

static void add_total(const struct wire_spec *w, bool limits, struct kar_array *out, struct kar_arena *mem)
{
	struct kar_container_requests *containers = read_containers(&w->containers, limits),
				      *init = read_containers(&w->init_containers, limits);
	struct kar_amounts total KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_pod_requests_total(&(struct kar_pod_requests){ .containers = containers,
				       .n_containers = w->containers.n,
				       .init_containers = init,
				       .n_init_containers = w->init_containers.n },
		&total);
	for (size_t i = 0; i < total.n; i++)
		append(out, limits ? "limits." : "requests.", &total.items[i], mem);
	release(containers, w->containers.n);
	release(init, w->init_containers.n);
}

struct kar_array kar_template_amounts(struct kar_str raw, struct kar_arena *mem)
{
	struct kar_arena scratch = { 0 };
	struct wire_template w = { 0 };
	struct kar_array out = { 0 };

	if (raw.n && !kar_json_decode(&scratch, &template_desc, NULL, raw.p, raw.n, &w, NULL) &&
		!w.spec.resources.n) {
		add_total(&w.spec, false, &out, mem);
		add_total(&w.spec, true, &out, mem);
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
