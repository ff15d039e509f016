/* How pods end, and what people did to them before, as far as the rules about the life of a job want to know it. */
#include "test/sim/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"

static const char *incarnation_of(const struct sim_value *pod)
{
	return sim_text_or(sim_get(pod, "metadata", "labels", KAR_LABEL_INCARNATION), "");
}

void ledger_note_edit(struct ledger_pod *p, const struct sim_change *c)
{
	p->taken |= !c->old || strcmp(incarnation_of(c->old), incarnation_of(c->new)) == 0;
}

void ledger_note_template(const struct ledger *l, struct ledger_job *j, const struct sim_value *pod)
{
	const char *recorded = sim_text_or(sim_get(ledger_stored(l, j), "status", "templateHash"), "");
	const char *is =
		sim_text_or(sim_get(pod, "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH), "");

	j->other_template |= recorded[0] && strcmp(is, recorded) != 0;
}

static bool is_phase(const struct sim_value *pod, const char *phase)
{
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), phase) == 0;
}

/* A manager has found a pod that was created very late, and put it where it belongs. */
static void note_repair(struct ledger_pod *p, const struct sim_change *c)
{
	int is = atoi(incarnation_of(c->new));

	if (ledger_is_manager(c->user) && is > p->incarnation)
		p->incarnation = is;
}

/* What is deleted as soon as it has failed may have been stopped, as far as times in seconds tell. */
static bool ended_by_itself(const struct ledger *l, const struct ledger_pod *p)
{
	return ledger_now(l) - p->failed_at > 2 * KAR_SECOND;
}

void ledger_note_end(struct ledger *l, struct ledger_pod *p, const struct sim_change *c)
{
	struct ledger_task *t = p->job ? ledger_find_task(p->job, p->task) : NULL;
	bool deleting, stopped;

	if (!c->new)
		return;
	deleting = sim_get(c->new, "metadata", "deletionTimestamp") != NULL;
	stopped = deleting && !p->deleting && p->failed && !ended_by_itself(l, p);
	if (c->old)
		note_repair(p, c);
	p->done_first |= is_phase(c->new, "Succeeded") && !deleting && !p->deleting;
	if (is_phase(c->new, "Failed") && !p->failed)
		p->failed_at = ledger_now(l);
	if (t && (stopped || ledger_is_disrupted(c->new)) && p->index >= 0 && p->index < LEDGER_INDEXES)
		t->held_until[p->index] = 0;
}

/* --- back-off -------------------------------------------------------------------------------------------- */

static kar_time delay_of(int steps)
{
	enum { FIRST = 10, LONGEST = 600 }; /* s */
	kar_time delay = FIRST * KAR_SECOND;

	if (steps < 2)
		return 0;
	for (int k = 2; k < steps && delay < LONGEST * KAR_SECOND; k++)
		delay *= 2;
	return delay < LONGEST * KAR_SECOND ? delay : LONGEST * KAR_SECOND;
}

static bool ran(const struct ledger *l, const struct ledger_pod *p)
{
	const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods", p->ns, p->name);

	return sim_count(sim_get(pod, "status", "containerStatuses")) > 0 && !ledger_is_disrupted(pod);
}

void ledger_note_backoff(struct ledger *l, struct ledger_job *j, const struct sim_change *c)
{
	kar_time delay = delay_of((int)sim_get_int(c->new, 0, "status", "backoffSteps"));
	struct ledger_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		struct ledger_task *t = ledger_find_task(j, p->task);

		if (!t || p->index < 0 || p->index >= LEDGER_INDEXES || !p->failed || p->deleting ||
			!ran(l, p) || ledger_is_counted(c->old, p->uid) || !ledger_is_counted(c->new, p->uid))
			continue;
		t->held_until[p->index] = ledger_now(l) + delay;
		t->held_in[p->index] = p->incarnation;
	}
}
