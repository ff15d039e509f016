/* A job that starts after others (spec.after): the job joins its queue when all of them have ended as asked. */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#include "api/copy.h"
#include "common/base/str.h"

static bool is_as_asked(const struct queuejob_after *a)
{
	return a->on == KAR_AFTER_ENDED ||
		(a->phase == KAR_QJ_PHASE_COMPLETED) == (a->on == KAR_AFTER_COMPLETED);
}

static const struct queuejob_after *find_wrong_end(const struct queuejob_reconcile *r)
{
	const struct queuejob_view *v = r->f->v;

	for (size_t i = 0; i < v->n_after; i++) {
		if (v->after[i].ended && !is_as_asked(&v->after[i]))
			return &v->after[i];
	}
	return NULL;
}

bool queuejob_cannot_follow(struct queuejob_reconcile *r)
{
	return !r->f->v->joined && find_wrong_end(r) != NULL;
}

void queuejob_fail_dependency(struct queuejob_reconcile *r)
{
	const struct queuejob_after *a = find_wrong_end(r);
	bool completed = a && a->on == KAR_AFTER_COMPLETED;

	assert(a); /* queuejob_cannot_follow() holds */
	queuejob_fail(r, kar_reason_DependencyFailed,
		kar_arena_printf(r->arena,
			"job %s is %s, and this job starts only after it has %s (spec.after)", a->name,
			kar_qj_phase_name(a->phase), completed ? "completed" : "failed"));
}

bool queuejob_waits_for_jobs(struct queuejob_reconcile *r)
{
	bool all = true;

	for (size_t i = 0; i < r->f->v->n_after; i++)
		all &= r->f->v->after[i].ended;
	return !all && !r->f->v->joined;
}

/* "preprocess is Running, b does not exist and 3 more" */
static const char *describe(const struct queuejob_reconcile *r)
{
	enum { NAMED = 4 };
	const struct queuejob_view *v = r->f->v;
	const char *text = "";
	size_t n = 0;

	for (size_t i = 0; i < v->n_after; i++) {
		const struct queuejob_after *a = &v->after[i];
		const char *phase = a->phase == KAR_QJ_PHASE_NONE ? "new" : kar_qj_phase_name(a->phase);

		if (!a->ended && n++ < NAMED)
			text = kar_arena_printf(r->arena, "%s%s%s %s%s", text, *text ? ", " : "", a->name,
				a->exists ? "is " : "does not exist", a->exists ? phase : "");
	}
	return n > NAMED ? kar_arena_printf(r->arena, "%s and %d more", text, (int)(n - NAMED)) : text;
}

void queuejob_wait_for_jobs(struct queuejob_reconcile *r)
{
	r->st.phase = KAR_QJ_PHASE_PENDING;
	queuejob_resume(r);
	queuejob_drop_service(r);
	(void)queuejob_is_valid(r);
	queuejob_report(r, kar_reason_WaitingForJob, "%s", describe(r));
	queuejob_set_condition(r, KAR_QJ_ADMITTED, false, kar_reason_WaitingForJob, "%s", describe(r));
}

void queuejob_record_ends(struct queuejob_reconcile *r)
{
	const struct queuejob_view *v = r->f->v;
	struct kar_after_status *all;

	if (!v->n_after)
		return;
	all = kar_arena_alloc(r->arena, v->n_after, sizeof(*all));
	r->st.after = all;
	r->st.n_after = 0;
	for (size_t i = 0; i < v->n_after; i++) {
		if (v->after[i].ended)
			all[r->st.n_after++] = (struct kar_after_status){
				.name = kar_copy_text(r->arena, v->after[i].name),
				.phase = kar_qj_phase_name(v->after[i].phase),
			};
	}
}
