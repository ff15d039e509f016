#include "api/pod_needs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/placement_words.h"
#include "api/pod_wire.h"
#include "common/buf.h"
#include "common/str.h"

static const char too_long[] = "a long list of constraints";

/* The text in the making. */
struct writing {
	struct kar_buf out, unverified;
	struct kar_arena mem; /* of lists */
	const char *pin;      /* NULL: none */
	bool overflow;        /* a list is longer than any that fits */
};

/* --- JSON ------------------------------------------------------------------------------------------ */

static void put_text(struct kar_buf *b, const char *s)
{
	kar_buf_puts(b, "\"");
	while (*s) {
		size_t n = 0;

		while ((unsigned char)s[n] >= ' ' && s[n] != '"' && s[n] != '\\')
			n++;
		kar_buf_append(b, s, n);
		s += n;
		if (*s)
			kar_buf_printf(b, "\\u%04x", (unsigned)(unsigned char)*s++);
	}
	kar_buf_puts(b, "\"");
}

static void put_key(struct kar_buf *b, const char *key)
{
	kar_buf_puts(b, b->n && b->p[b->n - 1] != '{' ? "," : "");
	put_text(b, key);
	kar_buf_puts(b, ":");
}

static void put_member(struct kar_buf *b, const char *key, const char *value)
{
	put_key(b, key);
	put_text(b, value);
}

/* Elements of a list, or members of a map, whose order means nothing. */
struct list {
	const char **items; /* in the arena */
	size_t n;
};

/* Adds the text in @one and empties it. */
static void add(struct writing *w, struct list *l, struct kar_buf *one)
{
	enum { MOST = KAR_POD_NEEDS_BYTES / 4 }; /* the least that one takes: "" and a comma */

	if (l->n < MOST) {
		l->items = kar_arena_grow(&w->mem, l->items, l->n, sizeof(*l->items));
		l->items[l->n++] = kar_arena_strndup(&w->mem, kar_buf_cstr(one), one->n);
	}
	w->overflow |= l->n == MOST;
	kar_buf_clear(one);
}

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Sorted, each once, between @brackets. */
static void put_list(struct kar_buf *b, struct list *l, const char brackets[2])
{
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), by_text);
	kar_buf_append(b, &brackets[0], 1);
	for (size_t i = 0; i < l->n; i++) {
		if (i && strcmp(l->items[i], l->items[i - 1]) == 0)
			continue;
		kar_buf_puts(b, i ? "," : "");
		kar_buf_puts(b, l->items[i]);
	}
	kar_buf_append(b, &brackets[1], 1);
}

static void put_list_if_any(struct writing *w, const char *key, struct list *l, const char brackets[2])
{
	if (!l->n)
		return;
	put_key(&w->out, key);
	put_list(&w->out, l, brackets);
}

static void note_unverified(struct writing *w, const char *what)
{
	if (!strstr(kar_buf_cstr(&w->unverified), what))
		kar_buf_printf(&w->unverified, "%s%s", w->unverified.n ? ", " : "", what);
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

static void add_requirement(struct writing *w, const struct pod_wire_requirement *r, bool field,
	struct list *all)
{
	struct kar_buf one KAR_CLEANUP(kar_cleanup_buf) = { 0 }, value KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	const char *const *values = r->values.items;
	struct list list = { 0 };
	enum kar_operator op;

	if (!kar_operator_read(r->op, &op) || (field && !is_name(r))) {
		note_unverified(w, "node affinity");
		return;
	}
	kar_buf_puts(&one, field ? "{\"field\":true" : "{");
	if (!field)
		put_member(&one, "key", r->key ? r->key : "");
	put_member(&one, "op", kar_operator_name(op));
	for (size_t i = 0; i < r->values.n && !w->overflow; i++) {
		put_text(&value, values[i] ? values[i] : "");
		add(w, &list, &value);
	}
	if (list.n) {
		put_key(&one, "values");
		put_list(&one, &list, "[]");
	}
	kar_buf_puts(&one, "}");
	add(w, all, &one);
}

/* Whether the term has requirements but for the pin, and those that are not known. */
static bool add_term(struct writing *w, const struct pod_wire_term *t, struct list *terms)
{
	const struct pod_wire_requirement *labels = t->labels.items, *fields = t->fields.items;
	struct kar_buf one KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct list all = { 0 };

	for (size_t i = 0; i < t->labels.n && !w->overflow; i++)
		add_requirement(w, &labels[i], false, &all);
	for (size_t i = 0; i < t->fields.n && !w->overflow; i++) {
		if (!w->pin || !node_of(&fields[i]))
			add_requirement(w, &fields[i], true, &all);
	}
	kar_buf_puts(&one, "{");
	put_key(&one, "all");
	put_list(&one, &all, "[]");
	kar_buf_puts(&one, "}");
	add(w, terms, &one);
	return all.n;
}

/* A term without requirements holds for no node. One that has lost them all holds for each, and so does the whole. */
static void put_affinity(struct writing *w, const struct pod_wire_node_terms *required)
{
	const struct pod_wire_term *t = required->terms.items;
	struct list terms = { 0 };
	bool always = false;

	w->pin = find_pin(&required->terms);
	for (size_t i = 0; i < required->terms.n && !w->overflow; i++)
		always |= !is_empty(&t[i]) && !add_term(w, &t[i], &terms);
	if (always)
		return;
	put_key(&w->out, "affinity");
	put_list(&w->out, &terms, "[]");
}

/* --- the other parts ------------------------------------------------------------------------------- */

static void add_ports(struct writing *w, const struct pod_wire_spec *spec, const struct pod_wire_asking *c,
	struct list *list)
{
	const struct pod_wire_port *p = c->ports.items;
	struct kar_buf one KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < c->ports.n && !w->overflow; i++) {
		/* As the API server sets it in a pod. */
		int32_t port = p[i].host || !spec->host_network ? p[i].host : p[i].container;

		if (port <= 0)
			continue;
		kar_buf_puts(&one, "{");
		if (kar_has_text(p[i].ip) && strcmp(p[i].ip, "0.0.0.0") != 0)
			put_member(&one, "ip", p[i].ip);
		put_key(&one, "port");
		kar_buf_printf(&one, "%" PRId32, port);
		if (kar_has_text(p[i].protocol) && strcmp(p[i].protocol, "TCP") != 0)
			put_member(&one, "protocol", p[i].protocol);
		kar_buf_puts(&one, "}");
		add(w, list, &one);
	}
}

/* Init containers that end before the containers start may use what these use. */
static void put_ports(struct writing *w, const struct pod_wire_spec *spec)
{
	const struct pod_wire_asking *c = spec->containers.items, *init = spec->init_containers.items;
	struct list list = { 0 };

	for (size_t i = 0; i < spec->containers.n; i++)
		add_ports(w, spec, &c[i], &list);
	for (size_t i = 0; i < spec->init_containers.n; i++) {
		if (kar_streq(init[i].restart_policy, "Always"))
			add_ports(w, spec, &init[i], &list);
	}
	put_list_if_any(w, "ports", &list, "[]");
}

/* False: there is no room for it. */
static bool add_amount(struct kar_buf *b, const struct kar_sched_amount *a)
{
	struct kar_buf one KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	put_text(&one, a->resource);
	kar_buf_printf(&one, ":%" PRId64, a->amount);
	if (b->n + one.n > KAR_POD_NEEDS_BYTES / 2)
		return false;
	kar_buf_puts(b, b->n > 1 ? "," : "");
	kar_buf_append(b, one.p, one.n);
	return true;
}

/* Those of Kubernetes itself come first, so that others cannot displace them. False: not all have room. */
static bool write_requests(const struct kar_amounts *all, struct kar_buf *b)
{
	size_t n = 0;
	bool whole = true;

	kar_buf_puts(b, "{");
	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < all->n; i++) {
			struct kar_sched_amount a = kar_amount_rounded(all->items[i].name, &all->items[i].q);

			if (!a.amount || (strchr(a.resource, '/') != NULL) != others)
				continue;
			if (n < KAR_POD_NEEDS_REQUESTS && add_amount(b, &a))
				n++;
			else
				whole = false;
		}
	}
	kar_buf_puts(b, "}");
	return whole;
}

static void put_selector(struct writing *w, const struct kar_array *selector)
{
	const struct kar_pair *p = selector->items;
	struct kar_buf one KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct list list = { 0 };

	for (size_t i = 0; i < selector->n && !w->overflow; i++) {
		put_member(&one, p[i].key, p[i].value);
		add(w, &list, &one);
	}
	put_list_if_any(w, "selector", &list, "{}");
}

/* False: the scheduler knows it, and we do not. One that is about no taint that keeps pods away is left out. */
static bool add_toleration(struct writing *w, const struct pod_wire_toleration *t, struct list *list)
{
	struct kar_buf one KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	bool exists = kar_streq(t->op, "Exists");
	enum kar_effect effect = KAR_NO_EFFECT;

	if (!exists && kar_has_text(t->op) && strcmp(t->op, "Equal") != 0)
		return false;
	if (kar_has_text(t->effect) && !kar_effect_read(t->effect, &effect))
		return false;
	if (effect == KAR_PREFER_NO_SCHEDULE || (!exists && !kar_has_text(t->key)))
		return true;
	kar_buf_puts(&one, "{");
	if (effect != KAR_NO_EFFECT)
		put_member(&one, "effect", kar_effect_name(effect));
	if (kar_has_text(t->key))
		put_member(&one, "key", t->key);
	if (!exists)
		put_member(&one, "value", t->value ? t->value : "");
	kar_buf_puts(&one, "}");
	add(w, list, &one);
	return true;
}

static void put_tolerations(struct writing *w, const struct kar_array *tolerations)
{
	const struct pod_wire_toleration *t = tolerations->items;
	struct list list = { 0 };

	for (size_t i = 0; i < tolerations->n && !w->overflow; i++) {
		if (!add_toleration(w, &t[i], &list))
			note_unverified(w, "tolerations");
	}
	put_list_if_any(w, "tolerations", &list, "[]");
}

static bool spread_is_required(const struct kar_array *constraints)
{
	const struct pod_wire_spread *c = constraints->items;

	for (size_t i = 0; i < constraints->n; i++) {
		if (!kar_streq(c[i].otherwise, "ScheduleAnyway"))
			return true;
	}
	return false;
}

static bool volumes_are_checked(const struct kar_array *volumes)
{
	const struct pod_wire_volume *v = volumes->items;

	for (size_t i = 0; i < volumes->n; i++) {
		if (v[i].claim || v[i].ephemeral || v[i].gce || v[i].aws || v[i].iscsi || v[i].rbd)
			return true;
	}
	return false;
}

static void note_what_is_not_modelled(struct writing *w, const struct pod_wire_spec *spec)
{
	const struct {
		const char *name;
		bool asked;
	} rules[] = {
		{ "pod affinity", spec->affinity.pod.required.n > 0 },
		{ "pod anti-affinity", spec->affinity.anti.required.n > 0 },
		{ "topology spread", spread_is_required(&spec->spread) },
		{ "resource claims", spec->claims.n > 0 },
		{ "volumes", volumes_are_checked(&spec->volumes) },
	};

	for (size_t i = 0; i < KAR_LEN(rules); i++) {
		if (rules[i].asked)
			note_unverified(w, rules[i].name);
	}
}

/* --- the text -------------------------------------------------------------------------------------- */

static void put_requests(struct writing *w, const struct kar_buf *requests)
{
	if (requests->n <= strlen("{}"))
		return;
	put_key(&w->out, "requests");
	kar_buf_append(&w->out, requests->p, requests->n);
}

static void put_unverified(struct writing *w, const char *what)
{
	if (what[0])
		put_member(&w->out, "unverified", what);
	kar_buf_puts(&w->out, "}");
}

/* @bound: where the pod runs is decided, only its room counts. */
static void write_all(struct writing *w, const struct pod_wire_spec *spec, bool bound,
	const struct kar_buf *requests)
{
	const char *node = !bound && kar_has_text(spec->node) ? spec->node : NULL;
	bool free = !bound && !node;

	kar_buf_puts(&w->out, "{");
	if (free)
		note_what_is_not_modelled(w, spec);
	if (free && spec->affinity.node.required)
		put_affinity(w, spec->affinity.node.required);
	if (node)
		put_member(&w->out, "node", node);
	put_ports(w, spec);
	put_requests(w, requests);
	if (free) {
		put_selector(w, &spec->selector);
		put_tolerations(w, &spec->tolerations);
	}
	put_unverified(w, kar_buf_cstr(&w->unverified));
}

/* The text is in w->out. */
static void write_needs(struct writing *w, const struct pod_wire_spec *spec,
	const struct pod_wire_status *status, bool bound)
{
	struct kar_amounts total KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct kar_buf requests KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	bool all_read = pod_wire_requests(spec, status, &total);
	bool whole = write_requests(&total, &requests) && all_read;

	write_all(w, spec, bound, &requests);
	if (whole && !w->overflow && !w->out.overflow && w->out.n < KAR_POD_NEEDS_BYTES)
		return;
	kar_buf_clear(&w->out);
	w->out.overflow = false;
	kar_buf_puts(&w->out, "{");
	put_requests(w, &requests);
	put_unverified(w, too_long);
}

static void release(struct writing *w)
{
	kar_buf_release(&w->out);
	kar_buf_release(&w->unverified);
	kar_arena_release(&w->mem);
}

void pod_needs_read(const struct pod_wire *w, struct kar_pod *p, struct kar_intern *strings)
{
	struct writing writing = { 0 };

	write_needs(&writing, &w->spec, &w->status, kar_has_text(w->spec.node));
	p->needs = kar_intern_get(strings, writing.out.p);
	p->pin = pod_wire_name(strings, writing.pin);
	release(&writing);
}

const char *pod_needs_text(const struct pod_wire_spec *spec, struct kar_arena *a)
{
	struct writing w = { 0 };
	const char *text;

	write_needs(&w, spec, NULL, false);
	text = kar_arena_strndup(a, w.out.p, w.out.n);
	release(&w);
	return text;
}

const char *kar_template_needs(struct kar_str raw, struct kar_arena *a, const char **pin, struct kar_err *err)
{
	struct kar_arena scratch = { 0 };
	const struct pod_wire_spec *spec = pod_wire_template(raw, &scratch, err);
	struct writing w = { 0 };
	const char *text = NULL;

	if (spec) {
		write_needs(&w, spec, NULL, false);
		text = kar_arena_strndup(a, w.out.p, w.out.n);
	}
	if (pin)
		*pin = w.pin ? kar_arena_strndup(a, w.pin, strlen(w.pin)) : NULL;
	release(&w);
	kar_arena_release(&scratch);
	return text;
}
