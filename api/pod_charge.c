#include "api/pod_charge.h"

#include <stdlib.h>
#include <string.h>

#include "api/amounts_wire.h"
#include "api/copy.h"
#include "api/pod_wire.h"
#include "common/buf.h"
#include "common/json.h"
#include "common/sched/requests.h"
#include "common/str.h"

/* --- the text -------------------------------------------------------------------------------------------- */

static void write_amounts(struct kar_json_writer *w, const char *key, const struct kar_amounts *all)
{
	char text[KAR_QUANTITY_LEN];

	if (!all->n)
		return;
	kar_jw_key(w, key);
	kar_jw_begin_object(w);
	for (size_t i = 0; i < all->n; i++)
		kar_jw_kv_string(w, all->items[i].name, kar_quantity_text(&all->items[i].q, text));
	kar_jw_end_object(w);
}

static void write_resources(struct kar_json_writer *w, const struct kar_amounts *limits,
	const struct kar_amounts *requests)
{
	if (!limits->n && !requests->n)
		return;
	kar_jw_key(w, "resources");
	kar_jw_begin_object(w);
	write_amounts(w, "limits", limits);
	write_amounts(w, "requests", requests);
	kar_jw_end_object(w);
}

/* Sorted, and as canonical texts, so that equal lists are equal texts. */
static void copy_resources(struct kar_json_writer *w, const struct pod_wire_resources *from)
{
	struct kar_amounts limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				  requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_amounts_read(&from->limits, &limits);
	kar_amounts_read(&from->requests, &requests);
	write_resources(w, &limits, &requests);
}

static void write_containers(struct kar_json_writer *w, const char *key, const struct kar_array *all)
{
	const struct pod_wire_asking *c = all->items;

	if (!all->n)
		return;
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	for (size_t i = 0; i < all->n; i++) {
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "name", c[i].name ? c[i].name : "");
		copy_resources(w, &c[i].resources);
		if (kar_streq(c[i].restart_policy, "Always"))
			kar_jw_kv_string(w, "restartPolicy", "Always");
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}

static void write_each(struct kar_json_writer *w, const struct pod_wire_spec *spec)
{
	write_containers(w, "containers", &spec->containers);
	write_containers(w, "initContainers", &spec->init_containers);
	copy_resources(w, &spec->resources);
}

static void write_whole(struct kar_json_writer *w, const struct pod_wire_spec *spec,
	const struct pod_wire_status *status)
{
	struct kar_amounts limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				  requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				  overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	pod_wire_limits(spec, &limits);
	pod_wire_requests(spec, status, &requests);
	kar_amounts_read(&spec->overhead, &overhead);
	for (size_t i = 0; i < overhead.n; i++) {
		if (kar_amounts_find(&requests, overhead.items[i].name))
			kar_amounts_sub(&requests, overhead.items[i].name, &overhead.items[i].q);
	}
	kar_jw_key(w, "containers");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	write_resources(w, &limits, &requests);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

enum how { EACH, WHOLE, NEITHER };

/* Returns whether the text is short enough. */
static bool write(const struct pod_wire_spec *spec, const struct pod_wire_status *status, enum how how,
	struct kar_buf *out)
{
	struct kar_json_writer w;
	struct kar_amounts overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_buf_clear(out);
	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	if (how == EACH)
		write_each(&w, spec);
	else if (how == WHOLE)
		write_whole(&w, spec, status);
	if (how != NEITHER)
		kar_amounts_read(&spec->overhead, &overhead);
	write_amounts(&w, "overhead", &overhead);
	if (kar_has_text(spec->priority_class) && strlen(spec->priority_class) < KAR_COPY_NAME)
		kar_jw_kv_string(&w, "priorityClassName", spec->priority_class);
	if (spec->has_deadline && spec->deadline >= 0)
		kar_jw_kv_int(&w, "activeDeadlineSeconds", 0); /* how long does not matter */
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return out->n < KAR_POD_CHARGE_BYTES;
}

static void write_first_that_fits(const struct pod_wire_spec *spec, const struct pod_wire_status *status,
	enum how how, struct kar_buf *out)
{
	while (!write(spec, status, how, out) && how != NEITHER)
		how++;
}

void pod_charge_read(const struct pod_wire *w, struct kar_pod *p, struct kar_intern *strings)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	write_first_that_fits(&w->spec, &w->status, WHOLE, &text);
	p->charge = kar_intern_get(strings, kar_buf_cstr(&text));
}

const char *kar_template_charge(struct kar_str raw, struct kar_arena *a)
{
	struct kar_arena scratch = { 0 };
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	const struct pod_wire_spec *spec = raw.n ? pod_wire_template(raw, &scratch, NULL) : NULL;

	if (spec)
		write_first_that_fits(spec, NULL, EACH, &text);
	kar_arena_release(&scratch);
	return spec ? kar_arena_strndup(a, kar_buf_cstr(&text), text.n) : NULL;
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
	const struct pod_wire_spec *spec;
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
static void read_container(const struct reading *r, const struct pod_wire_resources *asked,
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

	items[all->n++] = (struct kar_charged_container){ .name = name ? kar_copy(r->a, name) : "",
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
	const struct pod_wire_asking *c = from->items;
	struct both b = { .requests = kar_xcalloc(from->n + 1, sizeof(*b.requests)),
		.limits = kar_xcalloc(from->n + 1, sizeof(*b.limits)),
		.n = from->n };

	for (size_t i = 0; i < from->n; i++) {
		read_container(r, &c[i].resources, &b.requests[i].amounts, &b.limits[i].amounts);
		b.requests[i].sidecar = b.limits[i].sidecar = kar_streq(c[i].restart_policy, "Always");
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

	kar_amounts_read(&r->spec->resources.limits, &all);
	keep_of_whole_pod(&all, &own_limits);
	kar_amounts_release(&all);
	kar_amounts_read(&r->spec->resources.requests, &all);
	keep_of_whole_pod(&all, &own_requests);
	if (asks_for_work(&own_limits) || asks_for_work(&own_requests))
		r->out->best_effort = false;
	default_requests(&own_limits, requests, &own_requests);
	kar_amounts_set_all(limits, &own_limits);
	kar_amounts_set_all(requests, &own_requests);
}

static void add_overhead(const struct pod_wire_spec *spec, struct kar_amounts *requests,
	struct kar_amounts *limits)
{
	struct kar_amounts overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_amounts_read(&spec->overhead, &overhead);
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
	struct both main = read_containers(r, &r->spec->containers),
		    init = read_containers(r, &r->spec->init_containers);
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
	add_overhead(r->spec, &requests, &limits);
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

void kar_pod_charge(const char *text, const struct kar_limitrange *const *ranges, size_t n_ranges,
	struct kar_arena *a, struct kar_pod_charge *out)
{
	struct kar_arena scratch = { 0 };
	struct pod_wire_spec spec = { 0 };
	struct reading r = { .spec = &spec, .ranges = ranges, .n_ranges = n_ranges, .a = a, .out = out };

	*out = (struct kar_pod_charge){ .best_effort = true };
	if (kar_json_decode(&scratch, &pod_wire_spec_desc, NULL, text, strlen(text), &spec, NULL) == 0) {
		r.whole =
			names_whole_pod(&spec.resources.requests) || names_whole_pod(&spec.resources.limits);
		out->terminating = spec.has_deadline;
		out->priority_class = kar_copy(a, spec.priority_class);
		read_amounts(&r);
	}
	kar_arena_release(&scratch);
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
