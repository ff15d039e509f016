#include "api/pod/pod_charge.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/core/amounts_wire.h"
#include "api/pod/pod_wire.h"
#include "common/base/str.h"
#include "common/sched/requests.h"

/* --- what is counted ------------------------------------------------------------------------------------- */

static const struct kar_part pair_parts[] = {
	KAR_TEXT(struct kar_pair, key),
	KAR_TEXT(struct kar_pair, value),
};
static const struct kar_shape pair_shape = KAR_SHAPE(struct kar_pair, pair_parts);

static const struct kar_part container_parts[] = {
	KAR_TEXT(struct kar_counted_container, name),
	KAR_VALUE(struct kar_counted_container, sidecar),
	KAR_LIST(struct kar_counted_container, limits.items, limits.n, &pair_shape),
	KAR_LIST(struct kar_counted_container, requests.items, requests.n, &pair_shape),
};
static const struct kar_shape container_shape = KAR_SHAPE(struct kar_counted_container, container_parts);

static const struct kar_part counted_parts[] = {
	KAR_LIST(struct kar_pod_counted, containers.items, containers.n, &container_shape),
	KAR_LIST(struct kar_pod_counted, init_containers.items, init_containers.n, &container_shape),
	KAR_LIST(struct kar_pod_counted, limits.items, limits.n, &pair_shape),
	KAR_LIST(struct kar_pod_counted, requests.items, requests.n, &pair_shape),
	KAR_LIST(struct kar_pod_counted, overhead.items, overhead.n, &pair_shape),
	KAR_TEXT(struct kar_pod_counted, priority_class),
	KAR_VALUE(struct kar_pod_counted, terminating),
};
const struct kar_shape kar_counted_shape = KAR_SHAPE(struct kar_pod_counted, counted_parts);

static struct kar_array pairs_of(const struct kar_amounts *all, struct kar_arena *a)
{
	struct kar_pair *pairs = kar_arena_alloc(a, all->n, sizeof(*pairs));
	char text[KAR_QUANTITY_LEN];

	for (size_t i = 0; i < all->n; i++)
		pairs[i] = (struct kar_pair){ kar_copy(a, all->items[i].name),
			kar_copy(a, kar_quantity_text(&all->items[i].q, text)) };
	return (struct kar_array){ .items = pairs, .n = all->n };
}

/* Sorted, and canonical, so that equal ones are equal. */
static struct kar_array count_amounts(const struct kar_array *from, struct kar_arena *a)
{
	struct kar_amounts all KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_amounts_read(from, &all);
	return pairs_of(&all, a);
}

static struct kar_array count_containers(const struct kar_array *from, struct kar_arena *a)
{
	const struct pod_wire_asking *c = from->items;
	struct kar_counted_container *all = kar_arena_alloc(a, from->n, sizeof(*all));

	for (size_t i = 0; i < from->n; i++)
		all[i] = (struct kar_counted_container){ .name = c[i].name ? c[i].name : "",
			.sidecar = kar_streq(c[i].restart_policy, "Always"),
			.limits = count_amounts(&c[i].resources.limits, a),
			.requests = count_amounts(&c[i].resources.requests, a) };
	return (struct kar_array){ .items = all, .n = from->n };
}

static struct kar_array count_whole(const struct pod_wire_spec *spec, const struct pod_wire_status *status,
	struct kar_arena *a)
{
	struct kar_amounts limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				  requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				  overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct kar_counted_container *one = kar_arena_alloc(a, 1, sizeof(*one));

	pod_wire_limits(spec, &limits);
	pod_wire_requests(spec, status, &requests);
	kar_amounts_read(&spec->overhead, &overhead);
	for (size_t i = 0; i < overhead.n; i++) {
		if (kar_amounts_find(&requests, overhead.items[i].name))
			kar_amounts_sub(&requests, overhead.items[i].name, &overhead.items[i].q);
	}
	*one = (struct kar_counted_container){ .name = "",
		.limits = pairs_of(&limits, a),
		.requests = pairs_of(&requests, a) };
	return (struct kar_array){ .items = one, .n = 1 };
}

enum how { EACH, WHOLE, NEITHER };

static const struct kar_pod_counted *count(const struct pod_wire_spec *spec,
	const struct pod_wire_status *status, enum how how, struct kar_arena *a)
{
	struct kar_pod_counted *c = kar_arena_alloc(a, 1, sizeof(*c));

	*c = (struct kar_pod_counted){ .terminating = spec->has_deadline && spec->deadline >= 0 };
	if (kar_has_text(spec->priority_class) && strlen(spec->priority_class) < KAR_COPY_NAME)
		c->priority_class = spec->priority_class;
	if (how == NEITHER)
		return c;
	c->overhead = count_amounts(&spec->overhead, a);
	if (how == EACH) {
		c->containers = count_containers(&spec->containers, a);
		c->init_containers = count_containers(&spec->init_containers, a);
		c->limits = count_amounts(&spec->resources.limits, a);
		c->requests = count_amounts(&spec->resources.requests, a);
	} else {
		c->containers = count_whole(spec, status, a);
	}
	return kar_shape_bytes(&kar_counted_shape, c) <= KAR_POD_CHARGE_BYTES
		? c
		: count(spec, status, how + 1, a);
}

void pod_charge_read(const struct pod_wire *w, struct kar_pod *p, struct kar_intern *strings)
{
	struct kar_arena a = { 0 };

	p->charge = kar_share_get(strings, &kar_counted_shape, count(&w->spec, &w->status, WHOLE, &a));
	kar_arena_release(&a);
}

const struct kar_pod_counted *kar_template_charge(struct kar_str raw, struct kar_arena *a)
{
	const struct pod_wire_spec *spec = raw.n ? pod_wire_template(raw, a, NULL) : NULL;

	return spec ? count(spec, NULL, EACH, a) : NULL;
}

/* --- containers ------------------------------------------------------------------------------------------ */

unsigned kar_charge_demand(const char *resource)
{
	static const struct {
		const char *resource;
		enum kar_charge_demand bit;
	} all[] = {
		{ "cpu", KAR_DEMAND_REQUESTS_CPU },
		{ "requests.cpu", KAR_DEMAND_REQUESTS_CPU },
		{ "memory", KAR_DEMAND_REQUESTS_MEMORY },
		{ "requests.memory", KAR_DEMAND_REQUESTS_MEMORY },
		{ "limits.cpu", KAR_DEMAND_LIMITS_CPU },
		{ "limits.memory", KAR_DEMAND_LIMITS_MEMORY },
	};

	for (size_t i = 0; i < KAR_LEN(all); i++) {
		if (kar_streq(resource, all[i].resource))
			return all[i].bit;
	}
	return 0;
}

/* What is read of a pod. */
struct reading {
	const struct kar_pod_counted *of;
	const struct kar_limitrange *const *ranges;
	size_t n_ranges;
	struct kar_arena *a;
	struct kar_pod_charge *out;
	bool whole; /* the pod as a whole asks for something */
};

static void add_missing(const struct kar_array *pairs, struct kar_amounts *out)
{
	const struct kar_pair *p = pairs->items;
	struct kar_quantity q;

	for (size_t i = 0; i < pairs->n; i++) {
		if (!kar_amounts_find(out, p[i].key) && kar_quantity_parse(p[i].value, &q, NULL) == 0)
			*kar_amounts_at(out, p[i].key) = q;
	}
}

/* First the defaults of the pod itself, when the API server reads it, then those of admission. */
static void read_container(const struct reading *r, const struct kar_counted_container *asked,
	struct kar_amounts *requests, struct kar_amounts *limits)
{
	kar_amounts_read(&asked->limits, limits);
	kar_amounts_read(&asked->requests, requests);
	add_missing(&asked->limits, requests);
	for (size_t i = 0; i < r->n_ranges; i++) {
		add_missing(&r->ranges[i]->limits, limits);
		add_missing(&r->ranges[i]->requests, requests);
	}
}

static bool is_above_zero(const struct kar_amounts *all, const char *resource)
{
	const struct kar_quantity *q = kar_amounts_find(all, resource);

	return q && q->nano > 0;
}

static bool asks_for_work(const struct kar_amounts *all)
{
	return is_above_zero(all, "cpu") || is_above_zero(all, "memory");
}

static void note_container(struct reading *r, const char *name, const struct kar_amounts *requests,
	const struct kar_amounts *limits)
{
	struct kar_array *all = &r->out->containers;
	struct kar_charged_container *items = kar_arena_grow(r->a, all->items, all->n, sizeof(*items));

	items[all->n++] = (struct kar_charged_container){ .name = kar_copy(r->a, name),
		.sets = (kar_amounts_find(requests, "cpu") ? KAR_DEMAND_REQUESTS_CPU : 0U) |
			(kar_amounts_find(requests, "memory") ? KAR_DEMAND_REQUESTS_MEMORY : 0U) |
			(kar_amounts_find(limits, "cpu") ? KAR_DEMAND_LIMITS_CPU : 0U) |
			(kar_amounts_find(limits, "memory") ? KAR_DEMAND_LIMITS_MEMORY : 0U) };
	all->items = items;
	if (!r->whole && (asks_for_work(requests) || asks_for_work(limits)))
		r->out->best_effort = false;
}

/* Both lists of the containers @from; free with free_both(). */
struct both {
	struct kar_container_requests *requests, *limits;
	size_t n;
};

static struct both read_containers(struct reading *r, const struct kar_array *from)
{
	const struct kar_counted_container *c = from->items;
	struct both b = { .requests = kar_xcalloc(from->n + 1, sizeof(*b.requests)),
		.limits = kar_xcalloc(from->n + 1, sizeof(*b.limits)),
		.n = from->n };

	for (size_t i = 0; i < from->n; i++) {
		read_container(r, &c[i], &b.requests[i].amounts, &b.limits[i].amounts);
		b.requests[i].sidecar = b.limits[i].sidecar = c[i].sidecar;
		note_container(r, c[i].name, &b.requests[i].amounts, &b.limits[i].amounts);
	}
	return b;
}

static void free_both(struct both *b)
{
	for (size_t i = 0; i < b->n; i++) {
		kar_amounts_release(&b->requests[i].amounts);
		kar_amounts_release(&b->limits[i].amounts);
	}
	free(b->requests);
	free(b->limits);
}

/* --- the pod as a whole ---------------------------------------------------------------------------------- */

static bool is_of_whole_pod(const char *resource)
{
	return kar_streq(resource, "cpu") || kar_streq(resource, "memory") ||
		strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
}

static void keep_of_whole_pod(const struct kar_amounts *from, struct kar_amounts *out)
{
	for (size_t i = 0; i < from->n; i++) {
		if (is_of_whole_pod(from->items[i].name))
			*kar_amounts_at(out, from->items[i].name) = from->items[i].q;
	}
}

/* A pod with limits gets the requests that it does not name: those of its containers (but for huge pages), or else its limits. */
static void default_requests(const struct kar_amounts *limits, const struct kar_amounts *of_containers,
	struct kar_amounts *requests)
{
	for (size_t i = 0; i < limits->n; i++) {
		const char *name = limits->items[i].name;
		const struct kar_quantity *sum =
			strncmp(name, "hugepages-", 10) == 0 ? NULL : kar_amounts_find(of_containers, name);

		if (!kar_amounts_find(requests, name))
			*kar_amounts_at(requests, name) = sum ? *sum : limits->items[i].q;
	}
}

static void apply_whole_pod(struct reading *r, struct kar_amounts *requests, struct kar_amounts *limits)
{
	struct kar_amounts all KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
			       own_limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
			       own_requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_amounts_read(&r->of->limits, &all);
	keep_of_whole_pod(&all, &own_limits);
	kar_amounts_release(&all);
	kar_amounts_read(&r->of->requests, &all);
	keep_of_whole_pod(&all, &own_requests);
	if (asks_for_work(&own_limits) || asks_for_work(&own_requests))
		r->out->best_effort = false;
	default_requests(&own_limits, requests, &own_requests);
	kar_amounts_set_all(limits, &own_limits);
	kar_amounts_set_all(requests, &own_requests);
}

static void add_overhead(const struct kar_pod_counted *of, struct kar_amounts *requests,
	struct kar_amounts *limits)
{
	struct kar_amounts overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_amounts_read(&of->overhead, &overhead);
	kar_amounts_add_all(requests, &overhead);
	for (size_t i = 0; i < overhead.n; i++) {
		if (is_above_zero(limits, overhead.items[i].name))
			kar_amounts_add(limits, overhead.items[i].name, &overhead.items[i].q);
	}
}

static struct kar_array copy_amounts(const struct kar_amounts *from, struct kar_arena *a)
{
	struct kar_quota_amount *items = kar_arena_alloc(a, from->n, sizeof(*items));

	for (size_t i = 0; i < from->n; i++) {
		items[i].resource = kar_copy(a, from->items[i].name);
		items[i].q = from->items[i].q;
	}
	return (struct kar_array){ .items = items, .n = from->n };
}

static void read_amounts(struct reading *r)
{
	struct both main = read_containers(r, &r->of->containers),
		    init = read_containers(r, &r->of->init_containers);
	struct kar_amounts requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				    limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct kar_pod_requests of = { .containers = main.requests,
		.n_containers = main.n,
		.init_containers = init.requests,
		.n_init_containers = init.n };

	kar_pod_requests_total(&of, &requests);
	of.containers = main.limits;
	of.init_containers = init.limits;
	kar_pod_requests_total(&of, &limits);
	free_both(&main);
	free_both(&init);
	if (r->whole)
		apply_whole_pod(r, &requests, &limits);
	add_overhead(r->of, &requests, &limits);
	r->out->requests = copy_amounts(&requests, r->a);
	r->out->limits = copy_amounts(&limits, r->a);
	if (r->whole)
		r->out->containers = (struct kar_array){ 0 };
}

static bool names_whole_pod(const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++) {
		if (is_of_whole_pod(p[i].key))
			return true;
	}
	return false;
}

void kar_pod_charge(const struct kar_pod_counted *of, const struct kar_limitrange *const *ranges,
	size_t n_ranges, struct kar_arena *a, struct kar_pod_charge *out)
{
	struct reading r = { .of = of, .ranges = ranges, .n_ranges = n_ranges, .a = a, .out = out };

	*out = (struct kar_pod_charge){ .best_effort = true,
		.terminating = of->terminating,
		.priority_class = kar_copy(a, of->priority_class) };
	r.whole = names_whole_pod(&of->requests) || names_whole_pod(&of->limits);
	read_amounts(&r);
}

/* --- what a quota makes of it ---------------------------------------------------------------------------- */

static int64_t amount_in(const struct kar_array *amounts, const char *name)
{
	const struct kar_quota_amount *a = amounts->items;

	for (size_t i = 0; i < amounts->n; i++) {
		if (kar_streq(a[i].resource, name))
			return kar_quota_amount(name, &a[i].q, true);
	}
	return 0;
}

int64_t kar_pod_charge_of(const struct kar_pod_charge *c, const char *resource)
{
	static const char requests[] = "requests.", limits[] = "limits.";
	enum { N_REQUESTS = sizeof(requests) - 1, N_LIMITS = sizeof(limits) - 1 };

	if (kar_streq(resource, "pods") || kar_streq(resource, "count/pods"))
		return 1;
	if (!kar_quota_is_of_pods(resource))
		return 0;
	if (strncmp(resource, limits, N_LIMITS) == 0)
		return amount_in(&c->limits, resource + N_LIMITS);
	return amount_in(&c->requests,
		strncmp(resource, requests, N_REQUESTS) == 0 ? resource + N_REQUESTS : resource);
}

/* As a selector of labels: what has no class is in no list. */
static bool class_matches(const struct kar_quota_scope *s, const char *class)
{
	switch (s->op) {
	case KAR_SCOPE_EXISTS:
		return class != NULL;
	case KAR_SCOPE_DOES_NOT_EXIST:
		return !class;
	case KAR_SCOPE_IN:
		return class && kar_strings_have(&s->values, class);
	default:
		return !class || !kar_strings_have(&s->values, class);
	}
}

static bool scope_matches(const struct kar_quota_scope *s, const struct kar_pod_charge *c)
{
	switch (s->kind) {
	case KAR_SCOPE_TERMINATING:
		return c->terminating;
	case KAR_SCOPE_NOT_TERMINATING:
		return !c->terminating;
	case KAR_SCOPE_BEST_EFFORT:
		return c->best_effort;
	case KAR_SCOPE_NOT_BEST_EFFORT:
		return !c->best_effort;
	default:
		return class_matches(s, c->priority_class);
	}
}

bool kar_quota_matches(const struct kar_resourcequota *q, const struct kar_pod_charge *c)
{
	const struct kar_quota_scope *s = q->scopes.items;

	for (size_t i = 0; i < q->scopes.n; i++) {
		if (!scope_matches(&s[i], c))
			return false;
	}
	return !q->other_scopes;
}
