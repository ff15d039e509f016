/*
 * A status that somebody else has edited is put right before anything is done by it (see docs/decisions/025).
 *
 * What a decision writes agrees with itself: phase, conditions and times tell the same story. If they do not, the story that
 * most of them tell is believed, and among equals the one by which no pod is stopped. What nothing else tells of, like the
 * number of restarts, is taken as it is, if it can be a number of them; what is counted in every round needs no mending.
 */
#include "controllers/queuejob/mend.h"

#include <string.h>

#include "api/keep.h"

/* --- tools --------------------------------------------------------------------------------------- */

/* No clock is ahead of another by more. (Two managers that disagree would put each other right for ever.) */
static const kar_time CLOCK_SKEW = 24 * 60 * KAR_MINUTE;

bool queuejob_mend_is_after(kar_time t, kar_time than)
{
	return t > than + CLOCK_SKEW;
}

bool queuejob_mend_has_live_pods(const struct mend *m)
{
	for (size_t i = 0; i < m->r->v->n_pods; i++) {
		if (kar_pod_alive(m->r->v->pods[i]))
			return true;
	}
	return false;
}

void queuejob_mend_note(struct mend *m, const char *field)
{
	m->fields = kar_arena_printf(m->r->arena, "%s%s%s", m->fields, m->fields[0] ? ", " : "", field);
}

void queuejob_mend_phase(struct mend *m, enum kar_qj_phase phase)
{
	if (m->st->phase != phase)
		queuejob_mend_note(m, "phase");
	m->st->phase = phase;
}

void queuejob_mend_number(struct mend *m, const char *field, int32_t *at, int32_t n)
{
	if (*at != n)
		queuejob_mend_note(m, field);
	*at = n;
}

void queuejob_mend_time(struct mend *m, const char *field, kar_time *at, kar_time t)
{
	if (*at != t)
		queuejob_mend_note(m, field);
	*at = t;
}

void queuejob_mend_text(struct mend *m, const char *field, const char **at, const char *text)
{
	if (!kar_same(*at, text))
		queuejob_mend_note(m, field);
	*at = text;
}

const struct kar_condition *queuejob_mend_find(const struct mend *m, const char *type)
{
	return kar_condition_find(&m->st->conditions, type);
}

bool queuejob_mend_is_true(const struct mend *m, const char *type)
{
	return kar_condition_is_true(&m->st->conditions, type);
}

void queuejob_mend_condition(struct mend *m, const char *type, bool value, const char *reason)
{
	const struct kar_condition *c = queuejob_mend_find(m, type);

	if (c && c->status == (value ? KAR_COND_TRUE : KAR_COND_FALSE))
		return;
	queuejob_mend_note(m, type);
	queuejob_set_condition(m->r, type, value, reason, "%s", "");
}

void queuejob_mend_no_condition(struct mend *m, const char *type)
{
	struct kar_conditions *list = &m->st->conditions;
	size_t n = 0;

	if (!queuejob_mend_find(m, type))
		return;
	queuejob_mend_note(m, type);
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].type, type))
			list->items[n++] = list->items[i];
	}
	list->n = n;
}

/* --- counters ------------------------------------------------------------------------------------ */

/* So that there is room to count on. What is put right is far below what is wrong: the next true count must not be wrong again. */
static int32_t mend_count(int32_t n)
{
	enum { ROOM = 1000000000 };

	return n < 0 ? 0 : n > QUEUEJOB_COUNT_MAX ? ROOM : n;
}

static void mend_counters(struct mend *m)
{
	struct kar_queuejob_status *st = m->st;
	const struct {
		const char *field;
		int32_t *at;
	} counters[] = {
		{ "restarts", &st->restarts },
		{ "podFailures", &st->pod_failures },
		{ "disruptions", &st->disruptions },
		{ "backoffSteps", &st->backoff_steps },
		{ "scheduleTimeouts", &st->schedule_timeouts },
	};

	for (size_t i = 0; i < KAR_LEN(counters); i++)
		queuejob_mend_number(m, counters[i].field, counters[i].at, mend_count(*counters[i].at));
	if (st->incarnation > QUEUEJOB_COUNT_MAX)
		queuejob_mend_number(m, "incarnation", &st->incarnation, queuejob_incarnation(m->r->v));
}

/* --- the whole ----------------------------------------------------------------------------------- */

static void write(struct mend *m)
{
	struct queuejob_round *r = m->r;
	struct kar_queuejob_status *st = kar_arena_alloc(r->arena, 1, sizeof(*st));

	if (m->st->phase == KAR_QJ_PHASE_NONE)
		m->st->phase = KAR_QJ_PHASE_PENDING;
	m->st->pods_version = r->v->pods_version;
	*st = *m->st;
	r->p->status = st;
	r->p->status_text = queuejob_status_text(r->recorded, st, r->arena);
	r->p->urgent = true;
	r->p->unfinished = true; /* what is wanted is not known yet */
	kar_plan_event(r->p, true, kar_reason_StatusRepaired, "RepairStatus",
		"status contradicted itself, as if somebody had edited it; put right: %s", m->fields);
}

bool queuejob_mend_status(struct queuejob_round *r)
{
	struct mend m = { .r = r, .st = &r->st, .fields = "" };
	const struct ending *e = queuejob_mend_ending_of(&m);

	mend_counters(&m);
	queuejob_mend_results(&m, e != NULL);
	if (e)
		queuejob_mend_end(&m, e);
	else
		queuejob_mend_life(&m);
	if (!m.fields[0])
		return false;
	write(&m);
	return true;
}
