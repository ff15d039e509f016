/* who: for whom a group was evicted, and whom it has evicted: from statuses, which say the last time, and from events, which say more. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

struct about {
	const char *kind, *ns, *name;
};
struct event {
	struct about about;
	const char *message;
	kar_time first, last, time;
};
static const struct kar_field about_fields[] = {
	KAR_FIELD(struct about, kind, "kind", KAR_F_STRING),
	KAR_FIELD(struct about, ns, "namespace", KAR_F_STRING),
	KAR_FIELD(struct about, name, "name", KAR_F_STRING),
};
static const struct kar_desc about_desc = KAR_DESC("object", struct about, about_fields);
static const struct kar_field event_fields[] = {
	KAR_FIELD_SUB(struct event, about, "involvedObject", KAR_F_OBJECT, &about_desc),
	KAR_FIELD(struct event, message, "message", KAR_F_STRING),
	KAR_FIELD_TIME(struct event, first, "firstTimestamp", 0),
	KAR_FIELD_TIME(struct event, last, "lastTimestamp", 0),
	KAR_FIELD_TIME(struct event, time, "eventTime", 0),
};
static const struct kar_desc event_desc = KAR_DESC("Event", struct event, event_fields);
static const struct kar_resource events = { "", "v1", "events", "Event", true };

struct eviction {
	const char *kind, *victim, *taker; /* "PodGroup", "ns/name"; .taker "": nobody */
	const char *rule, *why;
	kar_time at;
};

/* How much of a kind the user may list. */
enum sight { ALL, OWN /* of the namespace of the job */, NOTHING };

struct who {
	struct qj *q;
	const char *me; /* "ns/name" */
	struct eviction *found;
	size_t n;
	enum sight groups, events;
};

static const char *key(struct who *w, const char *ns, const char *name)
{
	return kar_arena_printf(&w->q->arena, "%s/%s", ns ? ns : "", name ? name : "");
}

static const char *rule_of(const char *reason)
{
	return kar_streq(reason, "InQueue")    ? "priority"
		: kar_streq(reason, "Reclaim") ? "right of its queue"
		: kar_streq(reason, "Drain")   ? "queue is drained"
		: kar_has_text(reason)         ? reason
					       : "";
}

/* An event has words only: "evicted for n/j: priority 9 over 1", "evicted: queue o reclaims its deserved share for n/j". */
static const char *rule_said(const char *message)
{
	return strstr(message, "reclaims")    ? "right of its queue"
		: strstr(message, "drained")  ? "queue is drained"
		: strstr(message, "priority") ? "priority"
					      : "";
}

static void add(struct who *w, struct eviction e)
{
	/* The status of a group, and its event, say the same. */
	for (size_t i = 0; i < w->n; i++) {
		const struct eviction *f = &w->found[i];
		kar_time apart = f->at > e.at ? f->at - e.at : e.at - f->at;

		if (kar_streq(f->kind, e.kind) && kar_streq(f->victim, e.victim) &&
			kar_streq(f->why, e.why) && apart < KAR_MINUTE)
			return;
	}
	w->found = kar_arena_grow(&w->q->arena, w->found, w->n, sizeof(*w->found));
	w->found[w->n++] = e;
}

static int look_at_groups(void *arg, const struct kar_array *items)
{
	const struct qj_group *g = items->items;
	struct who *w = arg;

	for (size_t i = 0; i < items->n; i++) {
		const struct qj_eviction *last = &g[i].status.last_eviction;
		const struct qj_condition *c = qj_condition_of(&g[i].status.conditions, "Preempted");
		const char *victim = key(w, g[i].meta.ns, g[i].meta.name);

		if (!last->time || !(kar_streq(last->by, w->me) || kar_streq(victim, w->me)))
			continue;
		add(w,
			(struct eviction){ .kind = "PodGroup",
				.victim = victim,
				.taker = last->by ? last->by : "",
				.rule = rule_of(last->reason),
				.why = c && c->message ? c->message : "",
				.at = last->time });
	}
	return 0;
}

/* Whom the message names behind "for ": up to a space, a comma or a colon; "": nobody. */
static const char *taker_said(struct who *w, const char *message)
{
	for (const char *at = strstr(message, "for "); at; at = strstr(at + 1, "for ")) {
		const char *name = at + strlen("for ");
		size_t n = strcspn(name, " ,:;");

		if (memchr(name, '/', n))
			return kar_arena_strndup(&w->q->arena, name, n);
	}
	return "";
}

static int look_at_events(void *arg, const struct kar_array *items)
{
	const struct event *e = items->items;
	struct who *w = arg;

	for (size_t i = 0; i < items->n; i++) {
		const char *victim = key(w, e[i].about.ns, e[i].about.name), *taker;

		/* A QueueJob gets the same event as its group. */
		if (!e[i].message || !e[i].about.kind || kar_streq(e[i].about.kind, "QueueJob"))
			continue;
		taker = taker_said(w, e[i].message);
		if (!kar_streq(taker, w->me) &&
			!(kar_streq(victim, w->me) && kar_streq(e[i].about.kind, "PodGroup")))
			continue;
		add(w,
			(struct eviction){ .kind = e[i].about.kind,
				.victim = victim,
				.taker = taker,
				.rule = rule_said(e[i].message),
				.why = e[i].message,
				.at = e[i].time     ? e[i].time
					: e[i].last ? e[i].last
						    : e[i].first });
	}
	return 0;
}

/* In all namespaces; in that of the job, if the user may not. -1: nobody knows; .err says why. */
static int look(struct who *w, const struct qj_query *everywhere, qj_page_fn *page, enum sight *seen)
{
	struct qj_query query = *everywhere;

	for (*seen = ALL; *seen != NOTHING; (*seen)++, query.ns = w->q->ns) {
		if (qj_list(w->q, &query, page, w) == 0)
			return 0;
		if (w->q->err.what != KAR_DENIED)
			return -1;
	}
	return 0;
}

static int look_at_all(struct who *w)
{
	const struct qj_query all_groups = { &qj_groups, &qj_group_desc, "", NULL, NULL };
	const struct qj_query all_events = { &events, &event_desc, "", NULL, "reason=Preempted" };

	if (look(w, &all_groups, look_at_groups, &w->groups) ||
		look(w, &all_events, look_at_events, &w->events))
		return -1;
	return w->groups == NOTHING && w->events == NOTHING ? -1 : 0;
}

static const char *kinds_of(bool of_groups, bool of_events)
{
	return !of_groups ? "events" : !of_events ? "groups" : "groups and events";
}

static void print_limits(const struct who *w)
{
	bool own_groups = w->groups != NOTHING, own_events = w->events != NOTHING;

	if (!w->n && own_groups && own_events)
		fprintf(stderr, "Nobody was evicted for %s, and it was not evicted\n", w->me);
	else if (!w->n)
		fprintf(stderr, "What you may list has no eviction for %s, and none of it\n", w->me);
	if (!own_groups || !own_events)
		fprintf(stderr, "Evictions in namespace %s may be missing: you may not list its %s\n",
			w->q->ns, kinds_of(!own_groups, !own_events));
	if (w->groups != ALL || w->events != ALL)
		fprintf(stderr, "Evictions in other namespaces are not shown: you may not list their %s\n",
			kinds_of(w->groups != ALL, w->events != ALL));
}

static int by_time(const void *a, const void *b)
{
	const struct eviction *x = a, *y = b;

	if (x->at != y->at)
		return x->at > y->at ? -1 : 1;
	return strcmp(x->victim, y->victim);
}

static void print(const struct who *w)
{
	static const char *const heads[] = { "AGE", "EVICTED", "FOR", "RULE", "WHY", NULL };
	struct qj_table t = qj_table_begin(w->q, heads);

	for (size_t i = 0; i < w->n; i++) {
		const struct eviction *e = &w->found[i];

		qj_cell(&t, "%s", qj_age(w->q, w->q->now - e->at));
		qj_cell(&t, "%s%s", kar_streq(e->kind, "Pod") ? "pod/" : "", e->victim);
		qj_cell(&t, "%s", e->taker);
		qj_cell(&t, "%s", e->rule);
		qj_cell(&t, "%s", e->why);
	}
	qj_table_flush(&t);
}

int qj_cmd_who(struct qj *q)
{
	struct who w = { .q = q };
	struct qj_group g = { 0 };

	if (q->o.n_args != 1 || q->o.all)
		return qj_misused(q);
	if (qj_get(q, &qj_groups, q->ns, q->o.args[0], &qj_group_desc, &g) &&
		(q->err.what != KAR_NOTFOUND ||
			qj_get(q, &qj_jobs, q->ns, q->o.args[0], &qj_job_desc, &(struct qj_job){ 0 })))
		return qj_fail(q);
	w.me = key(&w, q->ns, q->o.args[0]);
	if (look_at_all(&w))
		return qj_fail(q);
	if (w.n)
		qsort(w.found, w.n, sizeof(*w.found), by_time);
	print(&w);
	print_limits(&w);
	return 0;
}
