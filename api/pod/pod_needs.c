#include "api/pod/pod_needs.h"

#include <string.h>

#include "api/copy.h"
#include "api/pod/pod_wire.h"
#include "api/podgroup/placement_words.h"
#include "common/base/buf.h"
#include "common/base/str.h"

static const char too_long[] = "a long list of constraints";

/* Needs in the making. Their texts are those of the spec, or in the arena. */
struct making {
	struct kar_arena *a;
	struct kar_pod_needs needs;
	struct kar_buf unverified;
	const char *pin; /* NULL: none */
	bool overflow;   /* a list is longer than any that fits */
};

/*
 * Adds a copy of @one to the list @items, whose order means nothing: it is kept sorted, and each is in it once, so that equal lists are
 * equal. Returns the list.
 */
static void *add(struct making *m, const struct kar_shape *shape, const void *items, uint32_t *n,
	const void *one)
{
	enum { MOST = KAR_POD_NEEDS_BYTES / 8 }; /* the least that one takes: a pointer */
	size_t size = shape->size, from = 0, to = *n;
	char *all = (char *)(uintptr_t)items;

	while (from < to) {
		size_t middle = (from + to) / 2;
		int d = kar_shape_compare(shape, one, all + middle * size);

		if (!d)
			return all;
		from = d > 0 ? middle + 1 : from;
		to = d > 0 ? to : middle;
	}
	m->overflow |= *n == MOST;
	if (m->overflow)
		return all;
	all = kar_arena_grow(m->a, all, *n, size);
	memmove(all + (from + 1) * size, all + from * size, (*n - from) * size);
	memcpy(all + from * size, one, size);
	++*n;
	return all;
}

static void note_unverified(struct making *m, const char *what)
{
	if (!strstr(kar_buf_cstr(&m->unverified), what))
		kar_buf_printf(&m->unverified, "%s%s", m->unverified.n ? ", " : "", what);
}

/* --- node affinity --------------------------------------------------------------------------------- */

static bool is_name(const struct pod_wire_requirement *r)
{
	return kar_streq(r->key, "metadata.name");
}

/* The one node that the requirement of a field names; NULL: it does not. */
static const char *node_of(const struct pod_wire_requirement *r)
{
	return is_name(r) && kar_streq(r->op, "In") && r->values.n == 1 ? *(const char **)r->values.items
									: NULL;
}

/* False: the fields of the term name no node, or another than *@pin (NULL: none yet). */
static bool pins(const struct pod_wire_term *t, const char **pin)
{
	const struct pod_wire_requirement *r = t->fields.items;
	bool any = false;

	for (size_t i = 0; i < t->fields.n; i++) {
		const char *node = node_of(&r[i]);

		if (!node)
			continue;
		if (*pin && strcmp(*pin, node) != 0)
			return false;
		*pin = node;
		any = true;
	}
	return any;
}

static bool is_empty(const struct pod_wire_term *t)
{
	return !t->labels.n && !t->fields.n;
}

static const char *find_pin(const struct kar_array *terms)
{
	const struct pod_wire_term *t = terms->items;
	const char *pin = NULL;

	for (size_t i = 0; i < terms->n; i++) {
		if (!is_empty(&t[i]) && !pins(&t[i], &pin))
			return NULL;
	}
	return kar_has_text(pin) ? pin : NULL;
}

static void add_requirement(struct making *m, const struct pod_wire_requirement *r, bool field,
	struct kar_node_term *term)
{
	struct kar_requirement one = { .key = r->key ? r->key : "", .field = field };
	const char *const *values = r->values.items;

	if (!kar_operator_read(r->op, &one.op) || (field && !is_name(r))) {
		note_unverified(m, "node affinity");
		return;
	}
	for (size_t i = 0; i < r->values.n && !m->overflow; i++) {
		const char *value = values[i] ? values[i] : "";

		one.values = add(m, &kar_text_shape, one.values, &one.n_values, &value);
	}
	term->requirements = add(m, &kar_requirement_shape, term->requirements, &term->n, &one);
}

/* Whether the term has requirements but for the pin, and those that are not known. */
static bool add_term(struct making *m, const struct pod_wire_term *t)
{
	const struct pod_wire_requirement *labels = t->labels.items, *fields = t->fields.items;
	struct kar_node_term one = { 0 };

	for (size_t i = 0; i < t->labels.n && !m->overflow; i++)
		add_requirement(m, &labels[i], false, &one);
	for (size_t i = 0; i < t->fields.n && !m->overflow; i++) {
		if (!m->pin || !node_of(&fields[i]))
			add_requirement(m, &fields[i], true, &one);
	}
	m->needs.terms = add(m, &kar_term_shape, m->needs.terms, &m->needs.n_terms, &one);
	return one.n;
}

/* A term without requirements holds for no node. One that has lost them all holds for each, and so does the whole. */
static void read_affinity(struct making *m, const struct pod_wire_node_terms *required)
{
	const struct pod_wire_term *t = required->terms.items;
	bool always = false;

	m->pin = find_pin(&required->terms);
	for (size_t i = 0; i < required->terms.n && !m->overflow; i++)
		always |= !is_empty(&t[i]) && !add_term(m, &t[i]);
	m->needs.has_terms = !always;
	m->needs.n_terms = always ? 0 : m->needs.n_terms;
}

bool kar_node_terms(const struct pod_wire_node_terms *required, struct kar_arena *a,
	struct kar_pod_needs *out)
{
	const struct pod_wire_term *t = required->terms.items;
	struct making m = { .a = a };
	bool always = false, known;

	for (size_t i = 0; i < required->terms.n && !m.overflow; i++)
		always |= !is_empty(&t[i]) && !add_term(&m, &t[i]);
	known = !m.overflow && !m.unverified.n;
	kar_buf_release(&m.unverified);
	*out = m.needs;
	out->has_terms = !always;
	out->n_terms = always ? 0 : out->n_terms;
	return known;
}

/* --- the other parts ------------------------------------------------------------------------------- */

static void add_ports(struct making *m, const struct pod_wire_spec *spec, const struct pod_wire_asking *c)
{
	const struct pod_wire_port *p = c->ports.items;

	for (size_t i = 0; i < c->ports.n && !m->overflow; i++) {
		/* As the API server sets it in a pod. */
		int32_t port = p[i].host || !spec->host_network ? p[i].host : p[i].container;
		const struct kar_host_port one = { .ip = kar_has_text(p[i].ip) ? p[i].ip : "0.0.0.0",
			.protocol = kar_has_text(p[i].protocol) ? p[i].protocol : "TCP",
			.port = port };

		if (port > 0)
			m->needs.ports = add(m, &kar_port_shape, m->needs.ports, &m->needs.n_ports, &one);
	}
}

/* Init containers that end before the containers start may use what these use. */
static void read_ports(struct making *m, const struct pod_wire_spec *spec)
{
	const struct pod_wire_asking *c = spec->containers.items, *init = spec->init_containers.items;

	for (size_t i = 0; i < spec->containers.n; i++)
		add_ports(m, spec, &c[i]);
	for (size_t i = 0; i < spec->init_containers.n; i++) {
		if (kar_streq(init[i].restart_policy, "Always"))
			add_ports(m, spec, &init[i]);
	}
}

/* Those of Kubernetes itself come first, so that others cannot displace them. False: not all have room. */
static bool read_requests(struct making *m, const struct kar_amounts *all)
{
	struct kar_sched_amount *amounts = NULL;
	size_t bytes = 0;
	uint32_t n = 0;
	bool whole = true;

	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < all->n; i++) {
			struct kar_sched_amount one =
				kar_amount_rounded(all->items[i].name, &all->items[i].q);
			size_t more = sizeof(one) + strlen(one.resource) + 1;

			if (!one.amount || (strchr(one.resource, '/') != NULL) != others)
				continue;
			if (n == KAR_POD_NEEDS_REQUESTS || bytes + more > KAR_POD_NEEDS_BYTES / 2) {
				whole = false;
				continue;
			}
			one.resource = kar_copy(m->a, one.resource);
			amounts = kar_arena_grow(m->a, amounts, n, sizeof(*amounts));
			amounts[n++] = one;
			bytes += more;
		}
	}
	m->needs.amounts = amounts;
	m->needs.n_amounts = n;
	return whole;
}

static void read_selector(struct making *m, const struct kar_array *selector)
{
	const struct kar_pair *p = selector->items;

	for (size_t i = 0; i < selector->n && !m->overflow; i++) {
		const struct kar_sched_label one = { p[i].key, p[i].value };

		m->needs.selector = add(m, &kar_label_shape, m->needs.selector, &m->needs.n_selector, &one);
	}
}

/* False: the scheduler knows it, and we do not. One that is about no taint that keeps pods away is left out. */
static bool add_toleration(struct making *m, const struct pod_wire_toleration *t)
{
	struct kar_toleration one = { .key = kar_has_text(t->key) ? t->key : NULL,
		.exists = kar_streq(t->op, "Exists") };

	if (!one.exists && kar_has_text(t->op) && strcmp(t->op, "Equal") != 0)
		return false;
	if (kar_has_text(t->effect) && !kar_effect_read(t->effect, &one.effect))
		return false;
	if (one.effect == KAR_PREFER_NO_SCHEDULE || (!one.exists && !one.key))
		return true;
	one.value = !one.exists && t->value ? t->value : "";
	m->needs.tolerations =
		add(m, &kar_toleration_shape, m->needs.tolerations, &m->needs.n_tolerations, &one);
	return true;
}

static void read_tolerations(struct making *m, const struct kar_array *tolerations)
{
	const struct pod_wire_toleration *t = tolerations->items;

	for (size_t i = 0; i < tolerations->n && !m->overflow; i++) {
		if (!add_toleration(m, &t[i]))
			note_unverified(m, "tolerations");
	}
}

/* Disks that only one node may use. */
static bool has_disks(const struct kar_array *volumes)
{
	const struct pod_wire_volume *v = volumes->items;

	for (size_t i = 0; i < volumes->n; i++) {
		if (v[i].gce || v[i].aws || v[i].iscsi || v[i].rbd)
			return true;
	}
	return false;
}

static void read_volumes(struct making *m, const struct kar_array *volumes)
{
	const struct pod_wire_volume *v = volumes->items;

	for (size_t i = 0; i < volumes->n && !m->overflow; i++) {
		const struct kar_volume_need one = {
			.claim = v[i].claim ? v[i].claim->name ? v[i].claim->name : "" : NULL,
			.class = v[i].ephemeral ? v[i].ephemeral->template.spec.class : NULL,
		};

		if (v[i].claim || v[i].ephemeral)
			m->needs.volumes =
				add(m, &kar_volume_shape, m->needs.volumes, &m->needs.n_volumes, &one);
	}
}

static void read_claims(struct making *m, const struct kar_array *claims)
{
	const struct pod_wire_device_claim *c = claims->items;

	for (size_t i = 0; i < claims->n && !m->overflow; i++) {
		const struct kar_claim_need one = { .name = c[i].name ? c[i].name : "",
			.claim = c[i].template ? NULL
				: c[i].claim   ? c[i].claim
					       : "",
			.template = c[i].template };

		m->needs.claims = add(m, &kar_claim_shape, m->needs.claims, &m->needs.n_claims, &one);
	}
}

static void read_rules(struct making *m, const struct pod_wire_spec *spec, bool bound)
{
	struct pod_rules rules = { 0 };

	pod_rules_read(spec, bound, m->a, &rules);
	m->needs.rules = rules.items;
	m->needs.n_rules = rules.n;
	for (uint32_t i = 0; i < rules.n_unverified; i++)
		note_unverified(m, rules.unverified[i]);
}

static bool restarts_all(const struct kar_array *containers)
{
	const struct pod_wire_asking *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const struct pod_wire_restart_rule *rules = c[i].rules.items;

		for (size_t k = 0; k < c[i].rules.n; k++) {
			if (kar_streq(rules[k].action, "RestartAllContainers"))
				return true;
		}
	}
	return false;
}

/* Only nodes can have the pod whose kubelets say in status.declaredFeatures that they know this (KEP-5328). */
static bool needs_declared_feature(const struct pod_wire_spec *spec)
{
	return (spec->host_network && spec->has_host_users && !spec->host_users) ||
		restarts_all(&spec->containers) || restarts_all(&spec->init_containers);
}

static void note_what_is_not_modelled(struct making *m, const struct pod_wire_spec *spec)
{
	const struct {
		const char *name;
		bool asked;
	} rules[] = {
		{ "features that nodes declare", needs_declared_feature(spec) },
		{ "volumes", has_disks(&spec->volumes) },
	};

	for (size_t i = 0; i < KAR_LEN(rules); i++) {
		if (rules[i].asked)
			note_unverified(m, rules[i].name);
	}
}

/* --- the whole ------------------------------------------------------------------------------------- */

/* @bound: where the pod runs is decided, only its room counts. */
static void read_constraints(struct making *m, const struct pod_wire_spec *spec, bool bound)
{
	m->needs.node = !bound && kar_has_text(spec->node) ? spec->node : NULL;
	read_ports(m, spec);
	read_claims(m, &spec->claims);
	if (!m->needs.node)
		read_rules(m, spec, bound);
	if (bound || m->needs.node)
		return;
	note_what_is_not_modelled(m, spec);
	if (spec->affinity.node.required)
		read_affinity(m, spec->affinity.node.required);
	read_volumes(m, &spec->volumes);
	read_selector(m, &spec->selector);
	read_tolerations(m, &spec->tolerations);
}

/* Of a template @status is NULL. *@pin (may be NULL) becomes the only node that the affinity allows. */
static const struct kar_pod_needs *make(const struct pod_wire_spec *spec,
	const struct pod_wire_status *status, bool bound, struct kar_arena *a, const char **pin)
{
	struct kar_amounts total KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct making m = { .a = a };
	struct kar_pod_needs *out = kar_arena_alloc(a, 1, sizeof(*out));
	bool all_read = pod_wire_requests(spec, status, &total);
	bool whole = read_requests(&m, &total) && all_read;

	read_constraints(&m, spec, bound);
	if (m.unverified.n)
		m.needs.unverified = kar_copy(a, kar_buf_cstr(&m.unverified));
	kar_buf_release(&m.unverified);
	*out = m.needs;
	if (!whole || m.overflow || kar_shape_bytes(&kar_needs_shape, out) > KAR_POD_NEEDS_BYTES)
		*out = (struct kar_pod_needs){ .amounts = m.needs.amounts,
			.n_amounts = m.needs.n_amounts,
			.unverified = too_long };
	if (pin)
		*pin = m.pin;
	return out;
}

void pod_needs_read(const struct pod_wire *w, struct kar_pod *p, struct kar_intern *strings)
{
	struct kar_arena a = { 0 };
	const char *pin;

	p->needs = kar_share_get(strings, &kar_needs_shape,
		make(&w->spec, &w->status, kar_has_text(w->spec.node), &a, &pin));
	p->pin = pod_wire_name(strings, pin);
	kar_arena_release(&a);
}

const struct kar_pod_needs *pod_needs_of(const struct pod_wire_spec *spec, struct kar_arena *a)
{
	return make(spec, NULL, false, a, NULL);
}

const struct kar_pod_needs *kar_template_needs(struct kar_str raw, struct kar_arena *a, const char **pin,
	struct kar_err *err)
{
	const struct pod_wire_spec *spec = pod_wire_template(raw, a, err);

	if (pin)
		*pin = NULL;
	return spec ? make(spec, NULL, false, a, pin) : NULL;
}
