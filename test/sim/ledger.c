#include "test/sim/ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "api/names.h"
#include "common/mem.h"
#include "test/sim/ledger_impl.h"
#include "test/sim/rules.h"

int ledger_compare_jobs(const struct ledger_job *a, const struct ledger_job *b)
{
	return strcmp(a->uid, b->uid);
}

int ledger_compare_pods(const struct ledger_pod *a, const struct ledger_pod *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->ns, b->ns);
}

RB_GENERATE(ledger_jobs, ledger_job, by_uid, ledger_compare_jobs)
RB_GENERATE(ledger_pods, ledger_pod, by_name, ledger_compare_pods)

/* --- reading objects ------------------------------------------------------------------------------------------ */

static bool is_phase(const struct sim_value *pod, const char *phase)
{
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), phase) == 0;
}

/* --- the ledger ---------------------------------------------------------------------------------------- */

kar_time ledger_now(const struct ledger *l)
{
	return sim_timeline_mono(l->timeline);
}

kar_time ledger_horizon(const struct ledger *l)
{
	kar_time now = ledger_now(l);

	return now > l->staleness ? now - l->staleness : 0;
}

void ledger_break(struct ledger *l, const char *rule, const char *fmt, ...)
{
	va_list ap;

	if (l->broken)
		return;
	l->broken = rule;
	va_start(ap, fmt);
	vsnprintf(l->story, sizeof(l->story), fmt, ap);
	va_end(ap);
}

struct ledger_job *ledger_find_job(const struct ledger *l, const char *uid)
{
	struct ledger_job key;

	strlcpy(key.uid, uid, sizeof(key.uid));
	return RB_FIND(ledger_jobs, (struct ledger_jobs *)(void *)(uintptr_t)&l->jobs, &key);
}

struct ledger_pod *ledger_find_pod(const struct ledger *l, const char *ns, const char *name)
{
	struct ledger_pod key;

	strlcpy(key.ns, ns, sizeof(key.ns));
	strlcpy(key.name, name, sizeof(key.name));
	return RB_FIND(ledger_pods, (struct ledger_pods *)(void *)(uintptr_t)&l->pods, &key);
}

struct ledger_task *ledger_find_task(struct ledger_job *j, const char *name)
{
	for (int i = 0; i < j->n_known; i++) {
		if (strcmp(j->tasks[i].name, name) == 0)
			return &j->tasks[i];
	}
	return NULL;
}

/* --- groups -------------------------------------------------------------------------------------------- */

/* @group: NULL: it is gone, and the limit with it. */
static int limit_of(const struct sim_value *group)
{
	if (!group || is_deleting(group))
		return LEDGER_NO_LIMIT;
	return (int)sim_get_int(group, LEDGER_NO_LIMIT, "status", "desired");
}

static void on_group(struct ledger *l, const struct sim_change *c)
{
	const char *uid = ledger_owner(c->new ? c->new : c->old);
	struct write w = { .l = l,
		.c = c,
		.job = uid ? ledger_find_job(l, uid) : NULL,
		.by_manager = ledger_is_manager(c->user) };
	bool admitted = c->new &&ledger_is_admitted(c->new);

	rules_check(&w, RULE_GROUP_CHANGED);
	if (!w.job)
		return;
	ledger_set(&w.job->limit, limit_of(c->new), ledger_now(l));
	if (w.job->admitted && !admitted)
		w.job->was_admitted = ledger_now(l);
	w.job->admitted = since(admitted, w.job->admitted, ledger_now(l));
	ledger_note_run(l, w.job);
}

static void on_queue(struct ledger *l, const struct sim_change *c)
{
	if (c->new)
		ledger_set(&l->max_jobs[ledger_queue(c->name)],
			(int)sim_get_int(c->new, INT32_MAX, "spec", "maxJobs"), ledger_now(l));
}

/* --- pods ---------------------------------------------------------------------------------------------- */

static bool is_live(const struct ledger_pod *p)
{
	return !p->deleting && !p->succeeded && !p->failed;
}

static void note_success(struct ledger_pod *p)
{
	struct ledger_task *t = p->job ? ledger_find_task(p->job, p->task) : NULL;

	if (t && p->index >= 0 && p->index < LEDGER_INDEXES) {
		t->succeeded[p->index] = true;
		t->done_in[p->index] = p->incarnation;
	}
}

/*
 * A manager takes it away for the queue, or because it was scaled away. Where requests are late, or two managers work at once, it may
 * be wanted again by then: that looks like somebody else's deletion.
 */
static bool is_shed_late(const struct ledger *l, const struct ledger_pod *p)
{
	const struct ledger_task *t = ledger_find_task(p->job, p->task);
	kar_time then = ledger_horizon(l);
	bool limited = setting_min(&p->job->limit, then) < LEDGER_NO_LIMIT;
	bool scaled_away = t && setting_min(&t->replicas, then) <= p->index && p->index < t->replicas.now;

	return !l->faultless && (limited || scaled_away);
}

static void lose(const struct ledger *l, struct ledger_pod *p)
{
	p->job->losses++;
	p->job->lost_at = ledger_now(l);
	p->lost = true;
}

static void note_loss(struct ledger *l, struct ledger_pod *p, const struct sim_change *c, bool deleting)
{
	bool by_other = deleting && !p->deleting && !ledger_is_manager(c->user);
	/* What ends because a manager stops it is neither. */
	bool failed = is_phase(c->new, "Failed") && !p->failed && !p->stopped;

	if (!p->job)
		return;
	if (failed && !ledger_is_disrupted(c->new))
		p->job->failures++;
	if ((failed || by_other || (!c->new && !p->deleting)) && !p->lost)
		lose(l, p);
	if (deleting && !p->deleting && !by_other && !p->lost && is_shed_late(l, p)) {
		p->job->losses++;
		p->shed_late = true;
		if (p->incarnation > p->job->last_gang_loss)
			p->job->last_gang_loss = p->incarnation;
	}
	if ((p->lost || p->tampered || p->shed_late) && p->incarnation > p->job->last_loss)
		p->job->last_loss = p->incarnation;
}

void ledger_note_gang(struct ledger_job *j, int incarnation)
{
	const struct ledger_pod *p;
	int up = 0;

	if (incarnation < j->up_incarnation)
		return;
	if (incarnation > j->up_incarnation)
		j->most_up = 0;
	j->up_incarnation = incarnation;
	TAILQ_FOREACH(p, &j->pods, of_job)
		up += p->incarnation == incarnation && p->running && !p->deleting;
	for (int i = 0; i < j->n_tasks; i++) {
		for (int k = 0; k < j->tasks[i].replicas.now && k < LEDGER_INDEXES; k++)
			up += j->tasks[i].succeeded[k];
	}
	if (up > j->most_up)
		j->most_up = up;
}

static void note_pod(struct ledger *l, struct ledger_pod *p, const struct sim_change *c)
{
	bool was_live = is_live(p);

	ledger_note_end(l, p, c);
	note_loss(l, p, c, !c->new || is_deleting(c->new));
	ledger_note_policy(l, p, c);
	p->deleting = since(is_deleting(c->new), p->deleting, ledger_now(l));
	p->running = is_phase(c->new, "Running");
	p->failed = is_phase(c->new, "Failed");
	if (!p->succeeded && (!p->stopped || p->shed_late) && is_phase(c->new, "Succeeded"))
		note_success(p);
	p->succeeded = is_phase(c->new, "Succeeded");
	if (!p->job)
		return;
	p->job->live += is_live(p) - was_live;
	if (was_live && !is_live(p))
		p->job->fewer = ledger_now(l);
	ledger_note_gang(p->job, p->incarnation);
	if (p->job->ordered)
		ledger_note_order(l, p->job);
}

static struct ledger_pod *add_pod(struct ledger *l, const struct sim_change *c, struct ledger_job *job)
{
	struct ledger_pod *p = kar_xcalloc(1, sizeof(*p));
	const struct sim_value *labels = sim_get(c->new, "metadata", "labels");

	p->job = job;
	p->created = ledger_now(l);
	strlcpy(p->uid, sim_text_or(sim_get(c->new, "metadata", "uid"), ""), sizeof(p->uid));
	strlcpy(p->ns, c->ns, sizeof(p->ns));
	strlcpy(p->name, c->name, sizeof(p->name));
	strlcpy(p->task, sim_text_or(sim_member(labels, KAR_LABEL_TASK), ""), sizeof(p->task));
	p->index = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INDEX), "-1"));
	p->incarnation = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INCARNATION), "0"));
	RB_INSERT(ledger_pods, &l->pods, p);
	if (job) {
		TAILQ_INSERT_TAIL(&job->pods, p, of_job);
		job->live++;
		ledger_note_template(l, job, c->new);
	}
	return p;
}

static void leave_job(struct ledger_pod *p)
{
	TAILQ_REMOVE(&p->job->pods, p, of_job);
	p->job->live -= is_live(p);
	p->job = NULL;
}

static void note_free(const struct ledger *l, struct ledger_pod *p)
{
	struct ledger_task *t = p->job ? ledger_find_task(p->job, p->task) : NULL;

	if (t && p->index >= 0 && p->index < LEDGER_INDEXES)
		t->freed_at[p->index] = ledger_now(l);
}

static void remove_pod(struct ledger *l, struct ledger_pod *p)
{
	note_free(l, p);
	if (!p->job || p->job->gone) /* whose successor may wait for the name */
		l->freed = ledger_now(l);
	if (p->job)
		leave_job(p);
	RB_REMOVE(ledger_pods, &l->pods, p);
	free(p);
}

static bool is_person(const char *user)
{
	return user && strcmp(user, "alice") == 0;
}

static void on_pod(struct ledger *l, const struct sim_change *c)
{
	const char *uid = c->new ? ledger_owner(c->new) : NULL;
	struct write w = { .l = l, .c = c, .by_manager = ledger_is_manager(c->user) };

	w.pod = c->old ? ledger_find_pod(l, c->ns, c->name) : NULL;
	w.job = w.pod ? w.pod->job : uid ? ledger_find_job(l, uid) : NULL;
	rules_check(&w, w.pod ? RULE_POD_CHANGED : RULE_POD_CREATED);
	if (!w.pod) {
		if (c->new)
			note_pod(l, add_pod(l, c, w.job), c);
		return;
	}
	/* A deletion is no edit. */
	if (is_person(c->user) && c->new && c->verb != KAR_DELETE && !c->subresource) {
		w.pod->tampered = true;
		ledger_note_edit(w.pod, c);
		if (w.job)
			w.job->pods_edited = true;
	}
	if (c->new) {
		note_pod(l, w.pod, c);
		if (w.job && (!uid || strcmp(uid, w.job->uid) != 0)) {
			if (is_live(w.pod) && !w.pod->lost)
				lose(l, w.pod); /* for the job, what somebody takes from it is gone */
			leave_job(w.pod);
		}
	} else {
		note_loss(l, w.pod, c, true);
		ledger_note_policy(l, w.pod, c);
		remove_pod(l, w.pod);
	}
	if (w.job)
		ledger_note_part(l, w.job);
}

/* --- life ---------------------------------------------------------------------------------------------- */

static void on_event(struct ledger *l, const struct sim_change *c)
{
	const char *uid = sim_text_or(sim_get(c->new, "involvedObject", "uid"), "");
	struct write w = { .l = l,
		.c = c,
		.job = ledger_find_job(l, uid),
		.by_manager = ledger_is_manager(c->user) };

	if (c->new &&w.job)
		rules_check(&w, RULE_EVENT_WRITTEN);
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct ledger *l = arg;

	l->writes++;
	l->last_write = ledger_now(l);
	if (is_person(c->user))
		l->last_edit = ledger_now(l);
	if (ledger_is_manager(c->user) && strcmp(c->resource, "events") != 0) {
		l->manager_writes++;
		l->last_manager_write = ledger_now(l);
	}
	if (strcmp(c->resource, "pods") == 0)
		on_pod(l, c);
	else if (strcmp(c->resource, "queuejobs") == 0)
		ledger_note_job(l, c);
	else if (strcmp(c->resource, "podgroups") == 0)
		on_group(l, c);
	else if (strcmp(c->resource, "queues") == 0)
		on_queue(l, c);
	else if (strcmp(c->resource, "services") == 0)
		ledger_note_service(l, c);
	else if (strcmp(c->resource, "events") == 0)
		on_event(l, c);
}

struct ledger *ledger_new(struct sim_apiserver *s, kar_time staleness)
{
	struct ledger *l = kar_xcalloc(1, sizeof(*l));

	l->server = s;
	l->timeline = sim_apiserver_timeline(s);
	l->staleness = staleness;
	for (size_t i = 0; i < LEDGER_QUEUES; i++)
		l->max_jobs[i].now = INT32_MAX;
	RB_INIT(&l->jobs);
	TAILQ_INIT(&l->present);
	RB_INIT(&l->pods);
	sim_apiserver_listen(s, on_change, l);
	return l;
}

void ledger_free(struct ledger *l)
{
	struct ledger_pod *p;
	struct ledger_job *j;

	if (!l)
		return;
	while ((p = RB_MIN(ledger_pods, &l->pods)) != NULL)
		remove_pod(l, p);
	while ((j = RB_MIN(ledger_jobs, &l->jobs)) != NULL) {
		RB_REMOVE(ledger_jobs, &l->jobs, j);
		free(j);
	}
	free(l);
}
