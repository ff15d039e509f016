/*
 * The shell of the Queue reconciler. One key for the pass over all queues and all groups: admission compares them
 * with each other. Every write is an action, its body encoded while the objects are at hand.
 */
#include <assert.h>
#include <stdlib.h>

#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/controllers.h"
#include "controllers/kar_metrics.h"
#include "controllers/queue/failures.h"
#include "controllers/queue/next.h"
#include "controllers/queue/pace.h"
#include "controllers/queue/backoffs.h"
#include "controllers/queue/shell.h"

enum {
	FOREIGN_INTERVAL = 5 *
		KAR_SECOND, /* so often room is looked for while somebody waits: pods of nobody's queue may use less, or need some */
	PASS_INTERVAL = 50, /* ms between two passes, at least, */
	/* and one ms more per so many groups, so that passes take a third of a core at most while something changes all the time */
	PASS_GROUPS = 100,
	PASS_FINISHED = 1000, /* likewise: those are only counted */
	COUNTS_INTERVAL =
		1000, /* ms between two passes that write statuses of queues for their counts alone */
	POSITION_INTERVAL = 5000, /* ms between two passes that write positions */
	OTHERS_INTERVAL = 60000,  /* ms between two that write those of others than the first of a line */
	CACHE_WAIT = 50,          /* ms between two checks whether the caches have our own writes */
};

/* kar_key_state.memory of this reconciler. */
struct memory {
	kar_time last_pass; /* mono; 0: never */
	kar_time interval;  /* ms until the next may be made */
	kar_time
		last_others; /* mono, when positions of others than the first of a line were last written; 0: never */
};

static struct memory *memory_of(const struct kar_sync *s)
{
	return s->state->memory;
}

static void stop(struct kar_controller *c)
{
	struct queue_shared *shared = c->shared;

	queue_forget_lines(&shared->lines);
	queue_said_free(shared->said);
	queue_backoffs_free(shared->backoffs);
	queue_failures_free(shared->failures);
	free(shared);
	c->shared = NULL;
}

static void start(struct kar_controller *c)
{
	struct queue_shared *shared = kar_xcalloc(1, sizeof(*shared));

	shared->said = queue_said_new();
	shared->backoffs = queue_backoffs_new();
	shared->failures = queue_failures_new();
	c->shared = shared;
	queue_listen(c);
	kar_workqueue_add(c->queue, QUEUE_KEY_ALL); /* queues of which nothing changes may lack a status */
}

/* ---- the pass ---- */

/* ms until @interval has gone by since @last (0: never); <= 0: it has. */
static kar_time due_in(kar_time last, kar_time interval, kar_time mono)
{
	return last ? last + interval - mono : 0;
}

static bool caught_up(const struct kar_controller *c, const char *key)
{
	bool groups = kar_barrier_passed(c->barrier, key, c->stores->podgroups);
	bool queues = kar_barrier_passed(c->barrier, key, c->stores->queues);

	return groups && queues;
}

/* Pods of it that are created bound, or are stuck on their nodes, have no place. */
static bool lacks_places(const struct queue_pass *p, uint32_t i)
{
	return p->in[i].replaces;
}

/* Its number of pods may grow. */
static bool may_grow(const struct queue_pass *p, uint32_t i)
{
	return p->in[i].elastic && p->groups[i].admitted;
}

static void note_waits_for_room(const struct queue_pass *p)
{
	struct queue_shared *shared = p->shared;

	shared->may_grow = shared->waits_for_room = false;
	for (uint32_t i = 0; i < p->n_groups; i++) {
		shared->may_grow |= may_grow(p, i);
		shared->waits_for_room |= p->result.groups[i].reason >= KAR_QR_QUOTA_INVALID_TEMPLATE ||
			p->result.groups[i].reason == KAR_QR_CHECKING_TEMPLATE ||
			p->result.groups[i].reason == KAR_QR_VOLUME_PENDING ||
			p->result.groups[i].reason == KAR_QR_DEVICES_UNKNOWN ||
			p->result.groups[i].reason == KAR_QR_UNSUPPORTED || lacks_places(p, i) ||
			may_grow(p, i) || p->groups[i].reservation || p->groups[i].waits_for_pods ||
			queue_who_is_late(p, &p->groups[i], &p->result.groups[i]);
	}
}

/* A group waits, or may grow: only for those do ages and windows end. */
static bool time_matters(const struct queue_pass *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_groups; i++)
		any |= may_grow(p, i) ||
			(p->groups[i].claim == QUEUE_CLAIM_ALIVE &&
				p->result.groups[i].standing != KAR_QUEUE_ADMITTED);
	return any;
}

/* Templates may have rules about other pods that nobody had before: then all pods are looked at again. */
static void observe(struct queue_pass *p)
{
	const struct queue_pass begin = *p;

	kar_snapshot_settle_rules(p->stores->snapshot);
	queue_observe(p);
	if (!kar_snapshot_settle_rules(p->stores->snapshot))
		return;
	*p = begin;
	queue_observe(p);
}

static void decide(struct queue_pass *p)
{
	const struct queue_shared *shared = p->shared;

	observe(p);
	kar_queue_plan(&p->snapshot, p->now, p->arena, &p->result);
	assert(p->snapshot.n_groups == p->n_groups && p->snapshot.n_queues == p->n_queues);
	if (p->result.again_at != KAR_NEVER && time_matters(p))
		queue_come_again(p, p->result.again_at - p->now);
	note_waits_for_room(p);
	queue_want_verdicts(p);
	queue_answer_questions(p);
	if (shared->waits_for_room)
		queue_come_again(p, FOREIGN_INTERVAL);
	queue_compare_lines(p, &shared->lines);
}

/* Groups that keep an admission, or want none, are not tried. */
void queue_count_pass(const struct queue_pass *p, struct kar_metrics *m)
{
	int admitted = 0, inadmissible = 0;

	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct queue_group *g = &p->groups[i];
		bool is = p->result.groups[i].standing == KAR_QUEUE_ADMITTED;

		admitted += !g->admitted && is;
		inadmissible += !g->admitted && !is && g->claim == QUEUE_CLAIM_ALIVE;
	}
	kar_metric_add(m, &kar_m_kar_admission_attempts_total, admitted, KAR_LABELS("admitted"));
	kar_metric_add(m, &kar_m_kar_admission_attempts_total, inadmissible, KAR_LABELS("inadmissible"));
	kar_metric_add(m, &kar_m_kar_queue_passes_unsettled_total, p->result.unsettled, NULL);
}

static void pass(struct queue_pass *p, struct kar_metrics *m)
{
	decide(p);
	queue_count_pass(p, m);
	kar_plan_requeue(p->plan, p->yields_in);
	kar_plan_requeue(p->plan, p->retry_in);
	if (!p->queues_are_read_only)
		queue_make_default(p);
	queue_write_groups(p);
	if (!p->queues_are_read_only)
		queue_write_queues(p);
}

static struct queue_pass new_pass(const struct kar_controller *c, struct kar_sync *s)
{
	/* A manager of one namespace does not see the pods of the others, so it does not know what room there is. */
	return (struct queue_pass){ .stores = c->stores,
		.arena = &s->arena,
		.plan = &s->plan,
		.shared = c->shared,
		.now = s->now,
		.mono = s->mono,
		.nodes = c->settings->one_namespace ? NULL : c->stores->snapshot,
		.served = kar_settings_served(c->settings),
		.settings = c->settings,
		.queues_are_read_only = c->settings->one_namespace };
}

static bool sync_positions(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(memory_of(s)->last_pass, POSITION_INTERVAL, s->mono);
	struct queue_pass p = new_pass(c, s);

	if (wait <= 0 && !caught_up(c, QUEUE_KEY_POSITIONS))
		wait = CACHE_WAIT;
	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	memory_of(s)->last_pass = s->mono;
	p.for_positions = true;
	p.others_in = due_in(memory_of(s)->last_others, OTHERS_INTERVAL, s->mono);
	decide(&p);
	queue_write_groups(&p);
	if (p.others_in <= 0)
		queue_note_lines(&p, &((struct queue_shared *)c->shared)->lines);
	if (p.others_written)
		memory_of(s)->last_others = s->mono;
	if (p.others_wait)
		kar_plan_requeue(&s->plan, p.others_in);
	return true;
}

static bool ask_for_pass(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(memory_of(s)->last_pass, COUNTS_INTERVAL, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	memory_of(s)->last_pass = s->mono;
	kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
	return true;
}

static bool sync_all(struct kar_controller *c, struct kar_sync *s)
{
	struct kar_key_state *state = s->state;
	kar_time wait = due_in(memory_of(s)->last_pass, memory_of(s)->interval, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	if (!caught_up(c, QUEUE_KEY_ALL)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}

	struct queue_pass p = new_pass(c, s);

	p.counts_in = due_in(state->status_written, COUNTS_INTERVAL, s->mono);
	memory_of(s)->last_pass = s->mono;
	pass(&p, c->metrics);
	memory_of(s)->interval =
		PASS_INTERVAL + (kar_time)p.n_groups / PASS_GROUPS + (kar_time)p.n_finished / PASS_FINISHED;
	if (p.moved)
		kar_workqueue_add(c->queue, QUEUE_KEY_POSITIONS);
	if (p.counts_written)
		state->status_written = s->mono;
	return true;
}

/* The API server has said whether it has PodGroups of its own, or nobody has asked. */
static bool knows_backends(const struct kar_settings *s)
{
	return s->gang_backend == KAR_GANGS_BY_GATES || s->native.known;
}

static bool sync(struct kar_controller *c, struct kar_sync *s)
{
	if (!knows_backends(c->settings)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	if (kar_streq(s->key, QUEUE_KEY_COUNTS))
		return ask_for_pass(c, s);
	return kar_streq(s->key, QUEUE_KEY_POSITIONS) ? sync_positions(c, s) : sync_all(c, s);
}

void kar_queue_controller(struct kar_controller *c)
{
	c->name = "queue";
	c->memory_size = sizeof(struct memory);
	c->start = start;
	c->stop = stop;
	c->sync = sync;
	c->encode = queue_encode;
	c->still_wanted = queue_still_wanted;
	c->refused = queue_refused;
	c->wrote = queue_wrote;
}
