/*
 * The plug-in ResourceQuota: an object that would exceed a quota of its namespace is refused, others are charged at
 * once.
 */
#include <string.h>

#include "sim/apiserver/quota_usage.h"
#include "sim/apiserver/store.h"
#include "sim/apiserver/strategy.h"

/* The write, and what it adds. */
struct charge {
	struct sim_write *w;
	const char *group, *plural, *ns;
	kar_time now;
	struct kar_amounts usage, before; /* of the new object, and of the old one */
};

/* ---- which quotas a write touches ---- */

static bool is_terminating(const struct sim_value *pod)
{
	return sim_get_int(pod, -1, "spec", "activeDeadlineSeconds") >= 0;
}

/* Only what can change the usage is looked at. */
static bool handles(const struct sim_write *w)
{
	const struct sim_resource *r = w->resource;

	if (w->rq->subresource || !r->namespaced)
		return false;
	if (!w->old)
		return true;
	if (*r->group)
		return false;
	if (!strcmp(r->plural, "pods"))
		return is_terminating(w->old) != is_terminating(*w->new);
	return !strcmp(r->plural, "services") || !strcmp(r->plural, "persistentvolumeclaims");
}

static bool touches(const struct charge *c, const struct sim_value *quota)
{
	const struct sim_value *hard = sim_get(quota, "status", "hard");

	for (struct sim_member m = sim_first(hard); m.value; m = sim_next(m)) {
		if (sim_quota_covers(c->group, c->plural, m.key))
			return sim_quota_in_scope(quota, c->group, c->plural, *c->w->new);
	}
	return false;
}

/* ---- may it? ---- */

static bool is_pod(const struct charge *c)
{
	return !*c->group && !strcmp(c->plural, "pods");
}

static bool refuse(const struct charge *c, struct sim_response *out, const char *text)
{
	return sim_refuse_forbidden(out, c->w->resource,
		sim_text_or(sim_get(*c->w->new, "metadata", "name"), ""), "%s", text);
}

/* The quota's usage must have been counted once before anything is held against it. */
static bool check_counted(const struct charge *c, const struct sim_value *quota, struct sim_response *out)
{
	const struct sim_value *hard = sim_get(quota, "status", "hard"),
			       *used = sim_get(quota, "status", "used");
	struct kar_amounts covered KAR_CLEANUP(kar_amounts_cleanup) = { 0 }; /* for the order of names */
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	bool known = true;

	for (struct sim_member m = sim_first(hard); m.value; m = sim_next(m)) {
		if (!sim_quota_covers(c->group, c->plural, m.key))
			continue;
		kar_amounts_at(&covered, m.key);
		known &= sim_member(used, m.key) != NULL;
	}
	if (known)
		return true;
	kar_buf_printf(&text, "status unknown for quota: %s, resources: ",
		sim_text_or(sim_get(quota, "metadata", "name"), ""));
	for (size_t i = 0; i < covered.n; i++)
		kar_buf_printf(&text, "%s%s", i ? "," : "", covered.items[i].name);
	return refuse(c, out, kar_buf_cstr(&text));
}

static bool check_specified(const struct charge *c, const struct sim_value *quota, struct sim_response *out)
{
	struct kar_buf missing KAR_CLEANUP(kar_cleanup_buf) = { 0 },
			       text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (!is_pod(c) || sim_quota_is_specified(sim_get(quota, "status", "hard"), *c->w->new, &missing))
		return true;
	kar_buf_printf(&text, "failed quota: %s: must specify %s",
		sim_text_or(sim_get(quota, "metadata", "name"), ""), kar_buf_cstr(&missing));
	return refuse(c, out, kar_buf_cstr(&text));
}

/* What the write adds to @quota, without what is 0. */
static void count_added(const struct charge *c, const struct sim_value *quota, struct kar_amounts *added)
{
	const struct sim_value *hard = sim_get(quota, "status", "hard");
	bool counted = c->w->old && sim_quota_in_scope(quota, c->group, c->plural, c->w->old);

	for (size_t i = 0; i < c->usage.n; i++) {
		const struct kar_amount *a = &c->usage.items[i];
		struct kar_quantity q = a->q;
		const struct kar_quantity *before = counted ? kar_amounts_find(&c->before, a->name) : NULL;

		if (before)
			kar_quantity_sub(&q, before);
		if (q.nano > 0 && sim_member(hard, a->name))
			kar_amounts_add(added, a->name, &q);
	}
}

static void print_amount(struct kar_buf *out, const char *name, const struct kar_quantity *q)
{
	char text[KAR_QUANTITY_LEN];

	kar_buf_printf(out, "%s%s=%s", out->n ? "," : "", name, kar_quantity_text(q, text));
}

/* Whether used + added stays within hard. */
static bool check_room(const struct charge *c, const struct sim_value *quota, const struct kar_amounts *added,
	struct sim_response *out)
{
	struct kar_buf requested KAR_CLEANUP(kar_cleanup_buf) = { 0 },
				 used KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_buf limited KAR_CLEANUP(kar_cleanup_buf) = { 0 },
			       text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < added->n; i++) {
		const struct kar_amount *a = &added->items[i];
		struct kar_quantity now = sim_quantity_of(sim_get(quota, "status", "used", a->name)),
				    then = now;
		struct kar_quantity most = sim_quantity_of(sim_get(quota, "status", "hard", a->name));

		kar_quantity_add(&then, &a->q);
		if (kar_quantity_cmp(&then, &most) <= 0)
			continue;
		print_amount(&requested, a->name, &a->q);
		print_amount(&used, a->name, &now);
		print_amount(&limited, a->name, &most);
	}
	if (requested.n == 0)
		return true;
	kar_buf_printf(&text, "exceeded quota: %s, requested: %s, used: %s, limited: %s",
		sim_text_or(sim_get(quota, "metadata", "name"), ""), kar_buf_cstr(&requested),
		kar_buf_cstr(&used), kar_buf_cstr(&limited));
	return refuse(c, out, kar_buf_cstr(&text));
}

static void charge_quota(const struct charge *c, struct sim_resource *quotas, const struct sim_value *quota,
	const struct kar_amounts *added)
{
	const struct sim_request rq = { .verb = KAR_UPDATE,
		.group = "",
		.version = "v1",
		.resource = "resourcequotas",
		.ns = c->ns,
		.name = sim_text_or(sim_get(quota, "metadata", "name"), ""),
		.subresource = "status",
		.user = "system:apiserver" };
	struct sim_value *new = sim_ref(quota);

	for (size_t i = 0; i < added->n; i++) {
		struct kar_quantity used =
			sim_quantity_of(sim_get(new, "status", "used", added->items[i].name));

		kar_quantity_add(&used, &added->items[i].q);
		sim_set(&new, sim_quantity_string(&used), "status", "used", added->items[i].name);
	}
	sim_store_commit(c->w->s, quotas, &rq, c->ns, rq.name, new);
}

/* ---- in two rounds: all quotas are asked before the first is charged ---- */

enum round { CHECK_RULES, CHECK_ROOM, CHARGE };

static bool visit(const struct charge *c, struct sim_resource *quotas, const struct sim_value *quota,
	enum round round, struct sim_response *out)
{
	struct kar_amounts added KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	if (!touches(c, quota))
		return true;
	if (round == CHECK_RULES)
		return check_specified(c, quota, out) && check_counted(c, quota, out);
	count_added(c, quota, &added);
	if (round == CHECK_ROOM)
		return check_room(c, quota, &added, out);
	if (added.n > 0)
		charge_quota(c, quotas, quota, &added);
	return true;
}

static bool each_quota(const struct charge *c, struct sim_resource *quotas, enum round round,
	struct sim_response *out)
{
	struct sim_version *v = sim_collection_next(quotas->objects, c->ns, NULL, NULL);
	bool ok = true;

	while (v && ok) {
		struct sim_value *quota KAR_CLEANUP(sim_cleanup_value) =
			sim_ref(v->value); /* charging replaces the version */

		ok = visit(c, quotas, quota, round, out);
		v = sim_collection_next(quotas->objects, c->ns, c->ns,
			sim_text_or(sim_get(quota, "metadata", "name"), ""));
	}
	return ok;
}

bool sim_quota_admit(struct sim_write *w, struct sim_response *out)
{
	struct sim_resource *quotas = sim_resource_find(w->s, "", "v1", "resourcequotas");
	struct charge c = { .w = w, .group = w->resource->group, .plural = w->resource->plural };
	bool ok;

	if (!handles(w) || sim_collection_count(quotas->objects) == 0)
		return true;
	c.ns = sim_text_or(sim_get(*w->new, "metadata", "namespace"), "");
	if (!sim_collection_next(quotas->objects, c.ns, NULL, NULL))
		return true;
	c.now = sim_timeline_wall(sim_apiserver_timeline(w->s));
	sim_quota_usage(c.group, c.plural, *w->new, c.now, &c.usage);
	if (w->old)
		sim_quota_usage(c.group, c.plural, w->old, c.now, &c.before);
	ok = each_quota(&c, quotas, CHECK_RULES, out) && each_quota(&c, quotas, CHECK_ROOM, out);
	if (ok && !w->rq->dry_run)
		each_quota(&c, quotas, CHARGE, out);
	kar_amounts_release(&c.usage);
	kar_amounts_release(&c.before);
	return ok;
}
