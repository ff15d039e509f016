/* How pods end, and what people did to them before, as far as the rules about the life of a job want to know it. */
#include "test/sim/model.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"

static const char *incarnation_of(const struct sim_value *pod)
{
	return sim_text_or(sim_get(pod, "metadata", "labels", KAR_LABEL_INCARNATION), "");
}

void model_note_edit(struct model_pod *p, const struct sim_change *c)
{
	p->taken |= !c->old || strcmp(incarnation_of(c->old), incarnation_of(c->new)) == 0;
}

void model_note_template(const struct model *l, struct model_job *j, const struct sim_value *pod)
{
	const char *recorded =
		sim_text_or(sim_get(model_stored(l, j), "status", "record", "templateHash"), "");
	const char *is =
		sim_text_or(sim_get(pod, "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH), "");

	j->other_template |= recorded[0] && strcmp(is, recorded) != 0;
}

static bool is_phase(const struct sim_value *pod, const char *phase)
{
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), phase) == 0;
}

/* A manager has found a pod that was created very late, and put it where it belongs. */
static void note_repair(struct model_pod *p, const struct sim_change *c)
{
	int is = atoi(incarnation_of(c->new));

	if (model_is_manager(c->user) && is > p->incarnation)
		p->incarnation = is;
}

/* What is deleted as soon as it has failed may have been stopped, as far as times in seconds tell. */
static bool ended_by_itself(const struct model *l, const struct model_pod *p)
{
	return model_now(l) - p->failed_at > 2 * KAR_SECOND;
}

void model_note_end(struct model *l, struct model_pod *p, const struct sim_change *c)
{
	struct model_task *t = p->job ? model_find_task(p->job, p->task) : NULL;
	bool deleting, stopped;

	if (!c->new)
		return;
	deleting = sim_get(c->new, "metadata", "deletionTimestamp") != NULL;
	stopped = deleting && !p->deleting && p->failed && !ended_by_itself(l, p);
	if (c->old)
		note_repair(p, c);
	p->done_first |= is_phase(c->new, "Succeeded") && !deleting && !p->deleting;
	if (is_phase(c->new, "Failed") && !p->failed)
		p->failed_at = model_now(l);
	if (t && (stopped || model_is_disrupted(c->new)) && p->index >= 0 && p->index < MODEL_INDEXES)
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

static bool ran(const struct model *l, const struct model_pod *p)
{
	const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods", p->ns, p->name);

	return sim_count(sim_get(pod, "status", "containerStatuses")) > 0 && !model_is_disrupted(pod);
}

void model_note_backoff(struct model *l, struct model_job *j, const struct sim_change *c)
{
	kar_time delay = delay_of((int)sim_get_int(c->new, 0, "status", "record", "backoffSteps"));
	struct model_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		struct model_task *t = model_find_task(j, p->task);

		if (!t || p->index < 0 || p->index >= MODEL_INDEXES || !p->failed || p->deleting ||
			!ran(l, p) || model_is_counted(c->old, p->uid) || !model_is_counted(c->new, p->uid))
			continue;
		t->held_until[p->index] = model_now(l) + delay;
		t->held_in[p->index] = p->incarnation;
	}
}
