/* Whether the API server takes the pods of a job that waits (templates.h): who cannot have pods gets no room, and takes none (decision 071). */
#include "api/reasons.h"
#include "common/str.h"
#include "controllers/queue/making.h"
#include "controllers/queue/next.h"

/* Pods were created from the templates as they are. */
static bool has_run(const struct kar_queuejob *job)
{
	return job->status.incarnation > 0 &&
		kar_streq(job->status.record.template_hash, job->spec_template_hash);
}

/* A claim that this manager finds was given to a job whose templates were accepted. */
static bool holds_claim(const struct making *m)
{
	const struct kar_condition *c = kar_condition_find(&m->group->status.conditions, KAR_PG_ADMITTED);

	return c && kar_streq(c->reason, kar_reason_Reserving);
}

static void check_class(struct making *m, const char *name)
{
	if (kar_has_text(name) && !kar_stores_priorityclass(m->p->stores, name))
		queue_refuse(m->in, KAR_QR_PRIORITY_CLASS_NOT_FOUND,
			kar_arena_printf(m->arena, KAR_NOT_QUEUED_CLASS, name));
}

static void check_task(struct making *m, size_t task, bool proven)
{
	const struct kar_template *t =
		kar_templates_find(m->p->stores->templates, m->job, task, m->p->s->mono);
	enum kar_template_verdict verdict = t ? t->verdict : KAR_TEMPLATE_UNKNOWN;

	check_class(m, m->job->spec.tasks[task].template_priority_class);
	if (verdict == KAR_TEMPLATE_INVALID || verdict == KAR_TEMPLATE_FORBIDDEN)
		queue_refuse(m->in,
			verdict == KAR_TEMPLATE_INVALID ? KAR_QR_INVALID_TEMPLATE : KAR_QR_FORBIDDEN,
			kar_arena_printf(m->arena, "task %s: %s", m->job->spec.tasks[task].name,
				t->message ? t->message : "refused"));
	m->in->takes_nothing |= t && t->gated;
	m->in->unchecked |= verdict == KAR_TEMPLATE_UNKNOWN && !proven;
}

void queue_check_accepted(struct making *m)
{
	bool proven = has_run(m->job) || holds_claim(m);

	if (!m->job->spec.sched.has_priority)
		check_class(m, m->job->spec.sched.priority_class_name);
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		if (m->job->spec.tasks[i].replicas > 0)
			check_task(m, i, proven);
	}
	m->in->takes_nothing |= m->in->unchecked;
}

static void want_job(struct queue_pass *p, const struct kar_queuejob *job)
{
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		const struct kar_template *t = kar_templates_find(p->stores->templates, job, i, p->s->mono);

		if (job->spec.tasks[i].replicas > 0 && (!t || t->verdict == KAR_TEMPLATE_UNKNOWN))
			kar_templates_want(p->stores->templates, job, i, p->s->mono);
	}
}

void queue_want_verdicts(struct queue_pass *p)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->in[i].unchecked && !p->in[i].ineligible && !queue_is_admitted(&p->result.groups[i]))
			want_job(p, p->groups[i].job);
	}
}

kar_time queue_awaits_verdict(const struct queue_pass *p, uint32_t i)
{
	const struct kar_queuejob *job = p->groups[i].job;
	kar_time longest = 0;

	for (size_t k = 0; p->in[i].unchecked && k < job->spec.n_tasks; k++) {
		const struct kar_template *t = kar_templates_find(p->stores->templates, job, k, p->s->mono);
		kar_time since = t && t->wanted ? p->s->mono - t->wanted : 0;

		longest = since > longest ? since : longest;
	}
	return longest;
}
