#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/nodes/internal.h"

/*
 * The queue: by priority, then by the time of queueing. A pod that fits nowhere waits for news that may help it, at least
 * its back-off (1 s doubling up to 10 s) and at most 5 minutes.
 */
enum {
	FIRST_BACKOFF = 1000, /* ms */
	MOST_BACKOFF = 10 * 1000,
	MOST_WAIT = 300 * 1000,
};

static int by_rank(const struct sim_pod *a, const struct sim_pod *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->queued.since != b->queued.since)
		return a->queued.since < b->queued.since ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_ready(const struct sim_pod *a, const struct sim_pod *b)
{
	if (a->queued.ready != b->queued.ready)
		return a->queued.ready < b->queued.ready ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

RB_GENERATE_INTERNAL(sim_active, sim_pod, queued.link, by_rank, KAR_UNUSED static)
RB_GENERATE_INTERNAL(sim_backing_off, sim_pod, queued.link, by_ready, KAR_UNUSED static)

static kar_time mono(const struct sim_nodes *n)
{
	return sim_timeline_mono(n->timeline);
}

/* ---- places ---- */

static void take_out(struct sim_pod *p)
{
	struct sim_scheduler *s = &p->nodes->scheduler;

	if (p->queued.where == SIM_ACTIVE)
		RB_REMOVE(sim_active, &s->active, p);
	else if (p->queued.where == SIM_BACKING_OFF)
		RB_REMOVE(sim_backing_off, &s->backing_off, p);
	else if (p->queued.where == SIM_UNSCHEDULABLE)
		TAILQ_REMOVE(&s->unschedulable, p, queued.waits);
	p->queued.where = SIM_OUT;
}

/* Rings when a back-off ends, or when a pod has waited for news long enough. */
static void set_wake(struct sim_nodes *n)
{
	const struct sim_pod *first = RB_MIN(sim_backing_off, &n->scheduler.backing_off);
	const struct sim_pod *oldest = TAILQ_FIRST(&n->scheduler.unschedulable);
	kar_time at = first ? first->queued.ready : KAR_NEVER;

	if (oldest && oldest->queued.since + MOST_WAIT < at)
		at = oldest->queued.since + MOST_WAIT;
	if (at == KAR_NEVER)
		sim_alarm_stop(n->scheduler.wake);
	else
		sim_alarm_start(n->scheduler.wake, at > mono(n) ? at - mono(n) : 0);
}

static void activate(struct sim_pod *p)
{
	struct sim_scheduler *s = &p->nodes->scheduler;

	take_out(p);
	p->queued.where = SIM_ACTIVE;
	RB_INSERT(sim_active, &s->active, p);
	if (!sim_alarm_running(s->next))
		sim_alarm_start(s->next, p->nodes->options.decision);
}

/* Another try, as soon as the back-off is over. */
static void retry(struct sim_pod *p)
{
	struct sim_nodes *n = p->nodes;

	if (p->queued.where == SIM_ACTIVE || p->queued.where == SIM_BACKING_OFF)
		return;
	if (p->queued.ready <= mono(n)) {
		activate(p);
		return;
	}
	take_out(p);
	p->queued.where = SIM_BACKING_OFF;
	RB_INSERT(sim_backing_off, &n->scheduler.backing_off, p);
	set_wake(n);
}

static kar_time backoff(unsigned attempts)
{
	kar_time wait = FIRST_BACKOFF;

	for (unsigned i = 1; i < attempts && wait < MOST_BACKOFF; i++)
		wait *= 2;
	return wait < MOST_BACKOFF ? wait : MOST_BACKOFF;
}

static void give_up_for_now(struct sim_pod *p)
{
	struct sim_nodes *n = p->nodes;

	p->queued.attempts++;
	p->queued.since = mono(n);
	p->queued.ready = mono(n) + backoff(p->queued.attempts);
	p->queued.where = SIM_UNSCHEDULABLE;
	TAILQ_INSERT_TAIL(&n->scheduler.unschedulable, p, queued.waits);
	set_wake(n);
}

/* ---- alarms ---- */

static void decide_next(void *arg)
{
	struct sim_nodes *n = arg;
	struct sim_pod *p = RB_MIN(sim_active, &n->scheduler.active);

	if (!p)
		return;
	take_out(p);
	n->scheduler.heard = 0;
	if (!sim_scheduler_try(p)) {
		give_up_for_now(p);
		if (!p->queued.needs ||
			p->queued.needs &
				n->scheduler.heard) /* a failed call; news came while it was tried */
			retry(p);
	}
	if (!RB_EMPTY(&n->scheduler.active))
		sim_alarm_start(n->scheduler.next, n->options.decision);
}

static void wake_up(void *arg)
{
	struct sim_nodes *n = arg;
	struct sim_pod *p;

	while ((p = RB_MIN(sim_backing_off, &n->scheduler.backing_off)) != NULL && p->queued.ready <= mono(n))
		activate(p);
	while ((p = TAILQ_FIRST(&n->scheduler.unschedulable)) != NULL &&
		p->queued.since + MOST_WAIT <= mono(n))
		activate(p);
	set_wake(n);
}

/* ---- what is heard ---- */

void sim_scheduler_init(struct sim_nodes *n)
{
	RB_INIT(&n->scheduler.active);
	RB_INIT(&n->scheduler.backing_off);
	TAILQ_INIT(&n->scheduler.unschedulable);
	n->scheduler.next = sim_alarm_new(n->timeline, decide_next, n);
	n->scheduler.wake = sim_alarm_new(n->timeline, wake_up, n);
}

void sim_scheduler_release(struct sim_nodes *n)
{
	sim_alarm_free(n->scheduler.next);
	sim_alarm_free(n->scheduler.wake);
	free(n->scheduler.failed_message);
}

static bool is_mine(const struct sim_pod *p)
{
	const struct sim_value *spec = sim_member(p->value, "spec");

	return !p->nodes->options.no_scheduler && !p->node && !p->deleting && !p->terminal &&
		strcmp(sim_text_or(sim_member(spec, "schedulerName"), "default-scheduler"),
			"default-scheduler") == 0 &&
		sim_count(sim_member(spec, "schedulingGates")) == 0;
}

void sim_scheduler_see_pod(struct sim_pod *p, bool changed)
{
	if (!is_mine(p)) {
		take_out(p);
		return;
	}
	if (!changed)
		return;
	p->queued.shape = 0;
	if (p->queued.where != SIM_OUT) {
		retry(p);
		return;
	}
	p->queued.since = mono(p->nodes);
	activate(p);
}

void sim_scheduler_forget(struct sim_pod *p)
{
	take_out(p);
	sim_scheduler_nominate(p, NULL);
}

void sim_scheduler_news(struct sim_nodes *n, unsigned needs)
{
	struct sim_pod *p, *next;

	n->scheduler.heard |= needs;
	TAILQ_FOREACH_SAFE(p, &n->scheduler.unschedulable, queued.waits, next) {
		if (p->queued.needs & needs)
			retry(p);
	}
}

void sim_scheduler_nominate(struct sim_pod *p, struct sim_node *node)
{
	if (p->queued.nominated == node)
		return;
	if (p->queued.nominated)
		TAILQ_REMOVE(&p->queued.nominated->nominees, p, queued.nominees);
	p->queued.nominated = node;
	if (node)
		TAILQ_INSERT_TAIL(&node->nominees, p, queued.nominees);
	p->nodes->version++;
}
