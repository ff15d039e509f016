/*
 * The headless Service: while spec.network asks for it, the job has one under its name, created before the first pod.
 *
 * The cache holds only Services with our label. One that has lost the label is not seen, so its name counts as taken. A Service
 * without owner is adopted only if it is headless and selects the pods of this job: a user may have set our label on his own one.
 */
#include "controllers/queuejob/reconcile.h"

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"

static void put_service(struct queuejob_reconcile *r, enum kar_verb verb, int what, const char *uid)
{
	struct kar_service_spec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, verb, &kar_service_type, what, uid);

	*payload = (struct kar_service_spec){
		.job = kar_copy_text(r->arena, r->f->job->o.name),
		.publish_not_ready = r->f->job->spec.publish_not_ready,
	};
	a->payload = payload;
	a->seen_by = KAR_LABEL_QUEUEJOB;
}

static void delete_service(struct queuejob_reconcile *r)
{
	queuejob_child_action(r, KAR_DELETE, &kar_service_type, QUEUEJOB_DELETE_SERVICE,
		r->f->v->service->o.uid);
}

/* ms after which a Service that was created, and has not been seen, is created once more: it may have lost its label before the watch showed it. */
enum { SEEN_AFTER = 30000 };

static void create_service(struct queuejob_reconcile *r)
{
	queuejob_report_refusal(r);
	/* A new manager, or an edit, forgets the refusal until the next answer; keep the reported conflict until then. */
	if (kar_streq(r->f->seen->reason, kar_reason_NameConflict))
		queuejob_report(r, kar_reason_NameConflict, "%s", r->f->seen->message);
	put_service(r, KAR_CREATE, QUEUEJOB_CREATE_SERVICE, NULL);
	kar_plan_requeue(r->p, SEEN_AFTER);
}

static bool has_own(const struct queuejob_reconcile *r)
{
	const struct kar_service *s = r->f->v->service;

	return s && !s->deletion && kar_streq(s->owner_uid, r->f->job->o.uid);
}

/* Headless, and for the pods of this job only. */
static bool is_like_ours(const struct queuejob_reconcile *r, const struct kar_service *s)
{
	return s->headless && kar_streq(s->spec.job, r->f->job->o.name);
}

bool queuejob_awaits_service(const struct queuejob_reconcile *r)
{
	return r->f->job->spec.dns_hostnames && r->f->template_changed &&
		queuejob_has_gang(r->f->seen->phase) && !(has_own(r) && r->f->v->service->headless);
}

void queuejob_drop_service(struct queuejob_reconcile *r)
{
	if (!r->f->job->spec.dns_hostnames && has_own(r))
		delete_service(r);
}

bool queuejob_keep_service(struct queuejob_reconcile *r)
{
	const struct kar_service *s = r->f->v->service;
	const struct kar_service_spec want = { r->f->job->o.name, r->f->job->spec.publish_not_ready };

	if (!r->f->job->spec.dns_hostnames) {
		if (!r->f->unchecked) /* otherwise a running gang may still use it */
			queuejob_drop_service(r);
		return true;
	}
	if (!s) {
		create_service(r);
		return false;
	}

	const struct queuejob_child child = {
		.o = &s->o,
		.owner_uid = s->owner_uid,
		.owner = s->owner,
		.orphan = s->orphan && is_like_ours(r, s),
		.deletion = s->deletion,
	};

	if (!queuejob_claim_child(r, &child))
		return false;
	if (!s->headless) { /* a cluster IP cannot be removed */
		delete_service(r);
		queuejob_report(r, kar_reason_ServiceChanged, "service %s is not headless; recreating it",
			s->o.name);
		return false;
	}
	if (!kar_service_spec_equal(&s->spec, &want))
		put_service(r, KAR_PATCH, QUEUEJOB_PATCH_SERVICE, s->o.uid);
	return true;
}
