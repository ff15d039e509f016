#include "api/core/resourcequota.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "common/base/mem.h"

struct wire_requirement {
	const char *scope, *op;
	struct kar_array values; /* const char * */
};

struct wire_selector {
	struct kar_array all; /* struct wire_requirement */
};

struct wire_spec {
	struct kar_array hard;   /* struct kar_pair */
	struct kar_array scopes; /* const char * */
	const struct wire_selector *selector;
};

struct wire_status {
	struct kar_array hard, used; /* struct kar_pair */
};

struct wire_quota {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field requirement_fields[] = {
	KAR_FIELD(struct wire_requirement, scope, "scopeName", KAR_F_STRING),
	KAR_FIELD(struct wire_requirement, op, "operator", KAR_F_STRING),
	KAR_FIELD(struct wire_requirement, values, "values", KAR_F_ARRAY),
};
static const struct kar_desc requirement_desc =
	KAR_DESC("ScopedResourceSelectorRequirement", struct wire_requirement, requirement_fields);

static const struct kar_field selector_fields[] = {
	KAR_FIELD_SUB(struct wire_selector, all, "matchExpressions", KAR_F_ARRAY, &requirement_desc),
};
static const struct kar_desc selector_desc = KAR_DESC("ScopeSelector", struct wire_selector, selector_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, hard, "hard", KAR_F_MAP),
	KAR_FIELD(struct wire_spec, scopes, "scopes", KAR_F_ARRAY),
	KAR_FIELD_SUB(struct wire_spec, selector, "scopeSelector", KAR_F_OBJECT_PTR, &selector_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("ResourceQuotaSpec", struct wire_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, hard, "hard", KAR_F_MAP),
	KAR_FIELD(struct wire_status, used, "used", KAR_F_MAP),
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

/* Of a device: it has a domain, which is not that of Kubernetes itself; or it stands for a device class. */
static bool is_extended(const char *resource)
{
	return begins(resource, "deviceclass.resource.kubernetes.io/") ||
		(strchr(resource, '/') && !strstr(resource, "kubernetes.io/"));
}

/* requests.storage is used by claims, limits.<extended> by nobody. */
bool kar_quota_is_of_pods(const char *resource)
{
	static const char *const names[] = { "pods", "count/pods", "cpu", "memory", "ephemeral-storage",
		"requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu",
		"limits.memory", "limits.ephemeral-storage" };

	return kar_streq_any(resource, names, KAR_LEN(names)) || begins(resource, "hugepages-") ||
		begins(resource, "requests.hugepages-") ||
		(begins(resource, "requests.") && is_extended(resource + strlen("requests.")));
}

int64_t kar_quota_amount(const char *resource, const struct kar_quantity *q, bool round_up)
{
	static const char *const cpu[] = { "cpu", "requests.cpu", "limits.cpu" };
	const kar_nano unit = kar_streq_any(resource, cpu, KAR_LEN(cpu)) ? 1000 * 1000 : 1000 * 1000 * 1000;
	kar_nano n = q->nano <= 0 ? 0 : (q->nano + (round_up ? unit - 1 : 0)) / unit;

	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
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

/* --- rows -------------------------------------------------------------------------------------------------- */

static int by_resource(const void *a, const void *b)
{
	const struct kar_quota_limit *x = a, *y = b;

	return strcmp(x->resource, y->resource);
}

/* NULL: there are too many, or it is none of pods. */
static struct kar_quota_limit *limit_at(struct kar_resourcequota *q, const char *resource)
{
	struct kar_quota_limit *items = q->limits.items;

	for (size_t i = 0; i < q->limits.n; i++) {
		if (kar_streq(items[i].resource, resource))
			return &items[i];
	}
	if (q->limits.n == KAR_MAX_AMOUNTS || !kar_quota_is_of_pods(resource) ||
		strlen(resource) >= KAR_COPY_KEY)
		return NULL;
	q->limits.items = items = kar_arena_grow(&q->mem, items, q->limits.n, sizeof(*items));
	items[q->limits.n] = (struct kar_quota_limit){ kar_copy_text(&q->mem, resource), -1, -1, -1 };
	return &items[q->limits.n++];
}

/* What cannot be read limits nothing here: the API server lets none pass. */
static void read_limits(struct kar_resourcequota *q, const struct kar_array *wire, size_t member)
{
	const struct kar_pair *p = wire->items;
	bool used = member == offsetof(struct kar_quota_limit, used);

	for (size_t i = 0; i < wire->n; i++) {
		struct kar_quantity amount;
		struct kar_quota_limit *l;

		if (kar_quantity_parse(p[i].value, &amount, NULL))
			continue;
		l = limit_at(q, p[i].key);
		if (l)
			*(int64_t *)(void *)((char *)l + member) = kar_quota_amount(p[i].key, &amount, used);
	}
}

static bool read_kind(const char *name, enum kar_quota_scope_kind *out)
{
	static const char *const names[] = { "Terminating", "NotTerminating", "BestEffort", "NotBestEffort",
		"PriorityClass" };

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		if (kar_streq(name, names[i])) {
			*out = (enum kar_quota_scope_kind)i;
			return true;
		}
	}
	return false;
}

static bool read_op(const char *name, enum kar_quota_scope_op *out)
{
	static const char *const names[] = { "Exists", "DoesNotExist", "In", "NotIn" };

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		if (kar_streq(name, names[i])) {
			*out = (enum kar_quota_scope_op)i;
			return true;
		}
	}
	return false;
}

static void add_scope(struct kar_resourcequota *q, const struct wire_requirement *r)
{
	struct kar_quota_scope scope = { 0 }, *items = q->scopes.items;

	if (!read_kind(r->scope, &scope.kind) || !read_op(r->op, &scope.op) ||
		q->scopes.n == KAR_MAX_SCOPES || r->values.n > KAR_MAX_SCOPE_VALUES) {
		q->other_scopes = true;
		return;
	}
	scope.values = kar_copy_strings(&q->mem, &r->values);
	q->scopes.items = items = kar_arena_grow(&q->mem, items, q->scopes.n, sizeof(*items));
	items[q->scopes.n++] = scope;
}

static void read_scopes(struct kar_resourcequota *q, const struct wire_spec *s)
{
	const char *const *names = s->scopes.items;
	const struct wire_requirement *all = s->selector ? s->selector->all.items : NULL;

	for (size_t i = 0; i < s->scopes.n; i++)
		add_scope(q, &(struct wire_requirement){ .scope = names[i], .op = "Exists" });
	for (size_t i = 0; all && i < s->selector->all.n; i++)
		add_scope(q, &all[i]);
}

static void read_rows(struct kar_resourcequota *q, const struct wire_quota *w)
{
	read_limits(q, &w->spec.hard, offsetof(struct kar_quota_limit, spec));
	read_limits(q, &w->status.hard, offsetof(struct kar_quota_limit, hard));
	read_limits(q, &w->status.used, offsetof(struct kar_quota_limit, used));
	if (q->limits.n)
		qsort(q->limits.items, q->limits.n, sizeof(struct kar_quota_limit), by_resource);
	read_scopes(q, &w->spec);
}

static bool same_limits(const struct kar_array *a, const struct kar_array *b)
{
	const struct kar_quota_limit *x = a->items, *y = b->items;

	for (size_t i = 0; a->n == b->n && i < a->n; i++) {
		if (!kar_streq(x[i].resource, y[i].resource) || x[i].spec != y[i].spec ||
			x[i].hard != y[i].hard || x[i].used != y[i].used)
			return false;
	}
	return a->n == b->n;
}

/* Scopes of a quota never change. */
bool kar_resourcequota_same(const struct kar_resourcequota *a, const struct kar_resourcequota *b)
{
	return kar_object_same(&a->o, &b->o) && same_limits(&a->limits, &b->limits);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_quota *w = wire;
	const struct kar_pair *hard = w->spec.hard.items;
	struct kar_resourcequota *q = kar_xcalloc(1, sizeof(*q));

	q->enforced = hash_amounts(&w->status.hard);
	q->specified = hash_amounts(&w->spec.hard);
	kar_object_init(&q->o, &kar_resourcequota_type, &w->head, kar_copy_text(&q->mem, w->head.meta.name),
		kar_copy_text(&q->mem, w->head.meta.uid), strings);
	q->counts_objects = kar_pairs_get(&w->spec.hard, "count/pods") != NULL;
	for (size_t i = 0; i < w->spec.hard.n; i++)
		q->limits_pods |= kar_quota_is_of_pods(hard[i].key);
	read_rows(q, w);
	return &q->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_resourcequota *q = kar_container_of(o, struct kar_resourcequota, o);

	kar_arena_release(&q->mem);
	free(q);
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
	.index_key = kar_object_by_namespace,
	.n_index = 1,
};
