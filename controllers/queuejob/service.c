/*
 * The headless Service: while spec.network asks for it, one under the name of the job, there before the first pod.
 *
 * It is read by our label only. One of ours that has lost the label is found when it is created again.
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

static void put_service(struct queuejob_round *r, enum kar_verb verb, int what, const char *uid)
{
	struct kar_service_spec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, verb, &kar_service_type, what, uid);

	*payload = (struct kar_service_spec){
		.job = kar_keep_text(r->arena, r->job->o.name),
		.publish_not_ready = r->job->spec.publish_not_ready,
	};
	a->payload = payload;
}

static void label_service(struct queuejob_round *r)
{
	struct kar_action *a = queuejob_child_action(r, KAR_PATCH, &kar_service_type, QUEUEJOB_LABEL_SERVICE,
		r->v->hidden_service);

	a->patch_type = KAR_PATCH_MERGE;
	a->note = "label";
	kar_plan_requeue(r->p, 0); /* if it is gone meanwhile, no event tells of that either */
}

static void delete_service(struct queuejob_round *r)
{
	queuejob_child_action(r, KAR_DELETE, &kar_service_type, QUEUEJOB_DELETE_SERVICE,
		r->v->service->o.uid);
}

static void create_service(struct queuejob_round *r)
{
	if (r->v->hidden_service) {
		label_service(r);
		return;
	}
	queuejob_tell_refusal(r);
	put_service(r, KAR_CREATE, QUEUEJOB_CREATE_SERVICE, NULL);
}

static bool has_own(const struct queuejob_round *r)
{
	const struct kar_service *s = r->v->service;

	return s && !s->deletion && kar_same(s->owner_uid, r->job->o.uid);
}

bool queuejob_awaits_service(const struct queuejob_round *r)
{
	return r->job->spec.dns_hostnames && r->template_changed && queuejob_has_gang(r->seen->phase) &&
		!(has_own(r) && r->v->service->headless);
}

void queuejob_drop_service(struct queuejob_round *r)
{
	if (!r->job->spec.dns_hostnames && has_own(r))
		delete_service(r);
}

bool queuejob_keep_service(struct queuejob_round *r)
{
	const struct kar_service *s = r->v->service;
	const struct kar_service_spec want = { r->job->o.name, r->job->spec.publish_not_ready };

	if (!r->job->spec.dns_hostnames) {
		if (!r->unchecked) /* else a gang may go on that was made with it */
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
		.orphan = s->orphan,
		.deletion = s->deletion,
	};

	if (!queuejob_claim_child(r, &child))
		return false;
	if (!s->headless) { /* an address cannot be taken back */
		delete_service(r);
		queuejob_say(r, kar_reason_ServiceChanged, "service %s has got an address; it is made anew",
			s->o.name);
		return false;
	}
	if (!kar_service_spec_equal(&s->spec, &want))
		put_service(r, KAR_PATCH, QUEUEJOB_PATCH_SERVICE, s->o.uid);
	return true;
}
