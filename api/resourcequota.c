#include "api/resourcequota.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/str.h"
#include "common/mem.h"

struct wire_spec {
	struct kar_array hard;   /* struct kar_pair */
	struct kar_array scopes; /* const char * */
	struct kar_str selector;
};

struct wire_status {
	struct kar_array hard; /* struct kar_pair */
};

struct wire_quota {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, hard, "hard", KAR_F_MAP),
	KAR_FIELD(struct wire_spec, scopes, "scopes", KAR_F_ARRAY),
	KAR_FIELD(struct wire_spec, selector, "scopeSelector", KAR_F_RAW),
};
static const struct kar_desc spec_desc = KAR_DESC("ResourceQuotaSpec", struct wire_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, hard, "hard", KAR_F_MAP),
};
static const struct kar_desc status_desc = KAR_DESC("ResourceQuotaStatus", struct wire_status, status_fields);

static const struct kar_field quota_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_quota),
	KAR_FIELD_SUB(struct wire_quota, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_quota, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc quota_desc = KAR_WIRE_DESC("ResourceQuota", struct wire_quota, quota_fields);

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* requests.storage is used by claims, not by pods. */
static bool is_of_pods(const char *resource)
{
	static const char *const names[] = { "pods", "count/pods", "cpu", "memory", "ephemeral-storage" };

	return kar_streq_any(resource, names, KAR_LEN(names)) || begins(resource, "limits.") ||
		begins(resource, "hugepages-") ||
		(begins(resource, "requests.") && !kar_streq(resource, "requests.storage"));
}

/* A whole number as the API server writes it: 2000 is "2k". -1: any other text. */
static int64_t parse_number(const char *text)
{
	enum { THOUSAND = 1000, DIGITS = 9, DECIMAL = 10 };
	size_t n = strspn(text, "0123456789");
	const char *suffix = text + n;
	int64_t factor = kar_streq(suffix, "M") ? THOUSAND * THOUSAND : kar_streq(suffix, "k") ? THOUSAND : 1;

	if (!n || n > DIGITS || (factor == 1 && suffix[0]))
		return -1;
	return strtoll(text, NULL, DECIMAL) * factor;
}

/* -1: there is no limit, or it is no whole number. */
static int64_t number_of(const struct kar_array *hard, const char *resource)
{
	const char *text = kar_pairs_get(hard, resource);

	return text ? parse_number(text) : -1;
}

static int64_t pods_of(const struct wire_spec *s)
{
	int64_t pods = number_of(&s->hard, "pods"), count = number_of(&s->hard, "count/pods");

	return pods < 0 || (count >= 0 && count < pods) ? count : pods;
}

static uint64_t hash_amounts(const struct kar_array *amounts)
{
	struct kar_arena arena = { 0 };
	struct kar_array sorted = kar_copy_pairs(&arena, amounts);
	const struct kar_pair *p = sorted.items;
	uint64_t h = 1;

	for (size_t i = 0; i < sorted.n; i++)
		h = kar_hash_str(kar_hash_str(h, p[i].key), p[i].value);
	kar_arena_release(&arena);
	return h;
}

static bool counts_pods(const char *resource)
{
	return kar_streq(resource, "pods") || kar_streq(resource, "count/pods");
}

/* What cannot be read, or is too long, is left to the API server alone. */
static struct kar_array read_amounts(const struct kar_array *wire, struct kar_arena *mem)
{
	const struct kar_pair *hard = wire->items;
	struct kar_array out = { 0 };

	for (size_t i = 0; i < wire->n && out.n < KAR_MAX_AMOUNTS; i++) {
		struct kar_quota_amount *items;
		struct kar_quantity q;

		if (!is_of_pods(hard[i].key) || counts_pods(hard[i].key) ||
			strlen(hard[i].key) >= KAR_COPY_KEY || kar_quantity_parse(hard[i].value, &q, NULL))
			continue;
		items = kar_arena_grow(mem, out.items, out.n, sizeof(*items));
		items[out.n++] =
			(struct kar_quota_amount){ .resource = kar_copy_text(mem, hard[i].key), .q = q };
		out.items = items;
	}
	return out;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_quota *w = wire;
	const struct kar_pair *hard = w->spec.hard.items;
	struct kar_resourcequota *q = kar_xcalloc(1, sizeof(*q));

	q->enforced = hash_amounts(&w->status.hard);
	q->specified = hash_amounts(&w->spec.hard);
	q->scoped = w->spec.scopes.n || w->spec.selector.n;
	q->pods = q->scoped ? -1 : pods_of(&w->spec);
	kar_object_init(&q->o, &kar_resourcequota_type, &w->head, kar_copy_text(&q->mem, w->head.meta.name),
		kar_copy_text(&q->mem, w->head.meta.uid), strings);
	q->counts_objects = kar_pairs_get(&w->spec.hard, "count/pods") != NULL;
	for (size_t i = 0; i < w->spec.hard.n; i++)
		q->limits_pods |= is_of_pods(hard[i].key);
	if (!q->scoped)
		q->amounts = read_amounts(&w->spec.hard, &q->mem);
	return &q->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_resourcequota *q = kar_container_of(o, struct kar_resourcequota, o);

	kar_arena_release(&q->mem);
	free(q);
}

static const char *index_key(const struct kar_object *o, int i KAR_UNUSED)
{
	return o->ns;
}

const struct kar_type kar_resourcequota_type = {
	.res = {
		.group = "",
		.version = "v1",
		.plural = "resourcequotas",
		.kind = "ResourceQuota",
		.namespaced = true,
	},
	.wire = &quota_desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};
