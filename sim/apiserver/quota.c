/*
 * The quota controller: keeps status.hard and status.used of every ResourceQuota. Usage is counted once, when a
 * quota appears or changes, and then follows the writes; what admission charged too much is put right at the next
 * recount.
 */
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "sim/apiserver/quota_usage.h"
#include "sim/apiserver/store.h"
#include "sim/apiserver/strategy.h"

enum { SHORTEST_DELAY = 5, LONGEST_DELAY = 50 }; /* ms from a write to the status */
#define RESYNC_PERIOD (5 * KAR_MINUTE)

struct quota {
	TAILQ_ENTRY(quota) link;
	char *ns, *name;
	struct sim_value *value; /* as last seen; NULL: never */
	struct kar_amounts used; /* all that its objects count for */
	bool dirty, recount;
	bool overdue; /* at the last recount a pod was past its time and did not count: what it gives back is not known */
};
TAILQ_HEAD(quotas, quota);

struct sim_quota {
	struct sim_apiserver *s;
	struct quotas all;
	struct sim_alarm *soon, *resync;
	struct sim_random random;
};

/* ---- what is used ---- */

/* As if no pod were past its time: whether one is, only a recount asks (see `overdue`). */
enum { NO_TIME = 0 };

static void take_part(struct quota *of, const char *group, const char *plural, const struct sim_value *object,
	bool leaves, kar_time now)
{
	struct kar_amounts usage KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	if (!object || !sim_quota_in_scope(of->value, group, plural, object))
		return;
	sim_quota_usage(group, plural, object, now, &usage);
	for (size_t i = 0; i < usage.n; i++) {
		if (leaves)
			kar_amounts_sub(&of->used, usage.items[i].name, &usage.items[i].q);
		else
			kar_amounts_add(&of->used, usage.items[i].name, &usage.items[i].q);
	}
}

static bool is_overdue(const char *group, const char *plural, const struct sim_value *object, kar_time now)
{
	struct kar_amounts is KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
			      was KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	if (!sim_get(object, "metadata", "deletionTimestamp"))
		return false;
	sim_quota_usage(group, plural, object, now, &is);
	sim_quota_usage(group, plural, object, NO_TIME, &was);
	return is.n < was.n;
}

static bool counts_for(const struct quota *of, const char *group, const char *plural)
{
	const struct sim_value *hard = sim_get(of->value, "spec", "hard");

	for (struct sim_member m = sim_first(hard); m.value; m = sim_next(m)) {
		if (sim_quota_covers(group, plural, m.key))
			return true;
	}
	return false;
}

static void count_resource(struct sim_quota *q, struct quota *of, const struct sim_resource *r)
{
	struct sim_version *v = sim_collection_next(r->objects, of->ns, NULL, NULL);
	kar_time now = sim_timeline_wall(sim_apiserver_timeline(q->s));

	while (v) {
		const char *name = sim_text_or(sim_get(v->value, "metadata", "name"), "");

		take_part(of, r->group, r->plural, v->value, false, now);
		of->overdue |= is_overdue(r->group, r->plural, v->value, now);
		v = sim_collection_next(r->objects, of->ns, of->ns, name);
	}
}

static void recount(struct sim_quota *q, struct quota *of)
{
	const struct sim_resource *r;

	kar_amounts_release(&of->used);
	of->overdue = false;
	for (size_t i = 0; (r = sim_resource_at(q->s, i)); i++) {
		if (r->namespaced && r->objects && !r->stored_as && counts_for(of, r->group, r->plural))
			count_resource(q, of, r);
	}
	of->recount = false;
}

/* ---- the status ---- */

static struct sim_value *status_of(const struct quota *of)
{
	struct sim_value *status = sim_object(), *used = sim_object(),
			 *hard = sim_get(of->value, "spec", "hard");

	for (struct sim_member m = sim_first(hard); m.value; m = sim_next(m)) {
		const struct kar_quantity *found = kar_amounts_find(&of->used, m.key);
		struct kar_quantity amount = found ? *found : (struct kar_quantity){ 0 };

		sim_set(&used, sim_quantity_string(&amount), m.key);
	}
	if (sim_count(hard) > 0) {
		sim_set(&status, sim_ref(hard), "hard");
		sim_set(&status, used, "used");
	} else {
		sim_unref(used);
	}
	return status;
}

static void sync_quota(struct sim_quota *q, struct quota *of)
{
	struct sim_value *status, *new;

	of->dirty = false;
	if (of->recount)
		recount(q, of);
	status = status_of(of);
	if (sim_equal(status, sim_member(of->value, "status"))) {
		sim_unref(status);
		return;
	}
	new = sim_ref(of->value);
	sim_set(&new, status, "status");
	sim_apiserver_do(q->s,
		(struct sim_request){ .verb = KAR_UPDATE,
			.group = "",
			.version = "v1",
			.resource = "resourcequotas",
			.ns = of->ns,
			.name = of->name,
			.subresource = "status",
			.object = new,
			.user = "system:serviceaccount:kube-system:resourcequota-controller" });
	sim_unref(new);
}

static void sync_all(void *arg)
{
	struct sim_quota *q = arg;
	struct quota *of;

	/* A status write comes back to the listener, which may mark other quotas. */
	TAILQ_FOREACH(of, &q->all, link) {
		if (of->dirty)
			sync_quota(q, of);
	}
}

static void mark(struct sim_quota *q, struct quota *of)
{
	of->dirty = true;
	if (!sim_alarm_running(q->soon))
		sim_alarm_start(q->soon, sim_random_between(&q->random, SHORTEST_DELAY, LONGEST_DELAY));
}

static void resync(void *arg)
{
	struct sim_quota *q = arg;
	struct quota *of;

	TAILQ_FOREACH(of, &q->all, link) {
		of->recount = true;
		mark(q, of);
	}
	if (!TAILQ_EMPTY(&q->all))
		sim_alarm_start(q->resync, RESYNC_PERIOD);
}

/* ---- what happens in the store ---- */

static struct quota *find(struct sim_quota *q, const char *ns, const char *name)
{
	struct quota *of;

	TAILQ_FOREACH(of, &q->all, link) {
		if (!strcmp(of->ns, ns) && !strcmp(of->name, name))
			return of;
	}
	return NULL;
}

static void forget(struct sim_quota *q, struct quota *of)
{
	TAILQ_REMOVE(&q->all, of, link);
	kar_amounts_release(&of->used);
	sim_unref(of->value);
	free(of->ns);
	free(of->name);
	free(of);
}

static struct quota *learn(struct sim_quota *q, const char *ns, const char *name)
{
	struct quota *of = kar_xcalloc(1, sizeof(*of));

	of->ns = kar_xstrdup(ns);
	of->name = kar_xstrdup(name);
	TAILQ_INSERT_TAIL(&q->all, of, link);
	if (!sim_alarm_running(q->resync))
		sim_alarm_start(q->resync, RESYNC_PERIOD);
	return of;
}

static void quota_changed(struct sim_quota *q, const struct sim_change *c)
{
	struct quota *of = find(q, c->ns, c->name);

	if (!c->new) {
		if (of)
			forget(q, of);
		return;
	}
	if (!of)
		of = learn(q, c->ns, c->name);
	if (sim_member(of->value, "spec") != sim_member(c->new, "spec")) {
		of->recount = true;
		mark(q, of);
	}
	sim_unref(of->value);
	of->value = sim_ref(c->new);
}

static bool same_member(const struct sim_value *a, const struct sim_value *b, const char *key)
{
	return sim_member(a, key) == sim_member(b, key);
}

/* Most updates change nothing that is counted: subtrees that are shared are equal. */
static bool may_change_usage(const struct sim_change *c)
{
	static const char *const counted[] = { "containers", "initContainers", "activeDeadlineSeconds",
		"priorityClassName" };
	const struct sim_value *old = sim_member(c->old, "spec"), *new = sim_member(c->new, "spec");
	bool same = true;

	if (!c->old || !c->new ||
		!sim_equal(sim_get(c->old, "status", "phase"), sim_get(c->new, "status", "phase")))
		return true;
	if (old == new)
		return false;
	for (size_t i = 0; i < KAR_LEN(counted); i++)
		same &= same_member(old, new, counted[i]);
	return !same || *c->group || strcmp(c->resource, "pods") != 0;
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct sim_quota *q = arg;
	bool is_quota = !*c->group && !strcmp(c->resource, "resourcequotas");
	struct quota *of;

	if (is_quota)
		quota_changed(q, c);
	if (!c->ns || TAILQ_EMPTY(&q->all) || !may_change_usage(c))
		return;
	TAILQ_FOREACH(of, &q->all, link) {
		if (strcmp(of->ns, c->ns) != 0 || !counts_for(of, c->group, c->resource))
			continue;
		/* What a pod counts for that is being deleted depends on the clock. */
		of->recount |= sim_get(c->old, "metadata", "deletionTimestamp") != NULL;
		of->recount |= of->overdue;
		if (!of->recount) {
			take_part(of, c->group, c->resource, c->old, true, NO_TIME);
			take_part(of, c->group, c->resource, c->new, false, NO_TIME);
		}
		/* What appears was charged by admission. */
		if (c->old || is_quota)
			mark(q, of);
	}
}

struct sim_quota *sim_quota_new(struct sim_apiserver *s)
{
	struct sim_quota *q = kar_xcalloc(1, sizeof(*q));

	q->s = s;
	TAILQ_INIT(&q->all);
	q->random = sim_random_of(sim_random_next(sim_apiserver_random(s)), "quota controller");
	q->soon = sim_alarm_new(sim_apiserver_timeline(s), sync_all, q);
	q->resync = sim_alarm_new(sim_apiserver_timeline(s), resync, q);
	sim_apiserver_listen(s, on_change, q);
	return q;
}

void sim_quota_free(struct sim_quota *q)
{
	if (!q)
		return;
	while (!TAILQ_EMPTY(&q->all))
		forget(q, TAILQ_FIRST(&q->all));
	sim_alarm_free(q->soon);
	sim_alarm_free(q->resync);
	free(q);
}
