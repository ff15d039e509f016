/*
 * Whether the pods of a job that waits can be created: whether the API server takes them (templates.h), and whether their names are free.
 * Who cannot have pods gets no room, and takes none (decision 071).
 */
#include <string.h>

#include "api/names.h"
#include "api/status/intervals.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/queue/making.h"
#include "controllers/queue/next.h"

static void check_class(struct making *m, const char *name)
{
	if (kar_has_text(name) && !kar_stores_priorityclass(m->p->stores, name))
		queue_refuse(m->in, KAR_QR_PRIORITY_CLASS_NOT_FOUND,
			kar_arena_printf(m->arena, KAR_NOT_QUEUED_CLASS, name));
}

/*
 * Nobody looks at the volumes of pods that are created bound, or at what running pods demand of them, and a kubelet admits one without its
 * devices. What the template itself asks for has been looked at.
 */
static void check_bound(struct making *m, size_t role, const struct kar_pod_needs *needs)
{
	const struct kar_workload_role *r = &m->roles.items[role];
	const char *what = kar_volumes_by_scheduler(m->p->stores, m->owner->ns, needs);

	if (needs->n_claims)
		queue_refuse(m->in, KAR_QR_UNSUPPORTED,
			kar_arena_printf(m->arena,
				"only kube-scheduler allocates devices (resource claim %s of task %s): use " KAR_DEFAULT_SCHEDULER,
				needs->claims[0].name, r->name));
	if (!what)
		what = kar_sched_needs(kar_snapshot_sched(m->p->stores->snapshot), m->classes[role])
			       ->unverified;
	if (what && m->in->ineligible != KAR_QR_UNSUPPORTED)
		queue_refuse(m->in, KAR_QR_UNSUPPORTED,
			kar_arena_printf(m->arena,
				"%s does not place %s (task %s): use " KAR_DEFAULT_SCHEDULER, r->scheduler,
				what, r->name));
}

/* Its pods get no node before their volumes have one, or can have one, and before it is known what devices they ask for. */
static void check_objects(struct making *m, size_t role)
{
	const struct kar_pod_needs *stored =
		m->kind->needs(m->owner, role, m->p->stores->templates, m->p->mono).stored;
	const struct kar_pod_needs *needs = stored ? stored : m->roles.items[role].needs;
	struct kar_needs_pending pending;

	if (!needs)
		return;
	pending = kar_needs_pending(m->p->stores, m->owner->ns, needs, m->arena);
	if (pending.why)
		queue_refuse(m->in, pending.devices ? KAR_QR_DEVICES_UNKNOWN : KAR_QR_VOLUME_PENDING,
			pending.why);
	else if (m->kind->is_direct(m->owner, m->p->served))
		check_bound(m, role, needs);
}

/* @ran: pods of these templates have existed; @proven: it needs no question. */
static void check_role(struct making *m, size_t role, bool ran, bool proven)
{
	const struct kar_workload_role *r = &m->roles.items[role];
	const struct kar_template *t = m->kind->template(m->owner, role, m->p->stores->templates, m->p->mono);
	enum kar_template_verdict verdict = t ? t->verdict : KAR_TEMPLATE_UNKNOWN;

	check_class(m, r->template_class);
	if (verdict == KAR_TEMPLATE_INVALID || verdict == KAR_TEMPLATE_FORBIDDEN)
		queue_refuse(m->in,
			verdict == KAR_TEMPLATE_INVALID ? KAR_QR_INVALID_TEMPLATE : KAR_QR_FORBIDDEN,
			kar_arena_printf(m->arena, "task %s: %s", r->name,
				m->kind->why_refused(m->owner, role, t, m->arena)));
	if (t && t->gate) /* it may change while the pass runs */
		m->in->gate = kar_arena_strndup(m->arena, t->gate, strlen(t->gate));
	m->in->takes_nothing |= m->in->gate != NULL;
	m->in->unchecked |= verdict == KAR_TEMPLATE_UNKNOWN && !ran && !proven;
	m->in->asks |= !proven && kar_template_is_old(t, m->p->mono);
	m->in->guesses |=
		!proven && !m->kind->needs(m->owner, role, m->p->stores->templates, m->p->mono).known;
}

/* @n of them count. */
static struct kar_intervals indexes(const struct making *m, const char *text, int32_t n)
{
	struct kar_intervals set = { 0 };

	if (n)
		kar_intervals_parse(text, m->arena, &set);
	return set;
}

/* The first pod of another owner that has the name of one that is to be created; NULL: none has. */
static const struct kar_pod *name_taken(const struct making *m)
{
	enum { NAMES = 100000 }; /* of a role that are looked up */
	char name[KAR_POD_NAME_LEN];

	for (size_t i = 0; i < m->roles.n; i++) {
		const struct kar_workload_role *r = &m->roles.items[i];
		struct kar_intervals done = indexes(m, r->done, r->n_done);
		struct kar_intervals failed = indexes(m, r->failed, r->n_failed);

		for (int32_t k = 0; k < r->replicas && k < NAMES; k++) {
			const struct kar_object *o;

			if (kar_intervals_has(&done, k) || kar_intervals_has(&failed, k))
				continue; /* it gets no pod any more */
			m->kind->pod_name(m->owner, i, k, name);
			o = kar_store_get(m->p->stores->pods, m->owner->ns, name);
			if (o && !kar_streq(kar_as_pod(o)->owner_uid, m->owner->uid))
				return kar_as_pod(o);
		}
	}
	return NULL;
}

/*
 * Another object has a name that the job needs. Each attempt would fail, and the pauses between attempts grow: so none begins before the
 * name is free. Names of pods are looked up only after an attempt has failed, because a job may have thousands.
 */
static void check_names(struct making *m)
{
	enum { LOOK_AGAIN = 5000 }; /* ms */
	const struct kar_pod *pod;

	if (m->qg->workload->conflict) {
		queue_refuse(m->in, KAR_QR_BACK_OFF, m->qg->workload->conflict);
		return;
	}
	pod = m->group->status.placement.failures > 0 ? name_taken(m) : NULL;
	if (!pod)
		return;
	queue_come_again(m->p, LOOK_AGAIN);
	queue_refuse(m->in, KAR_QR_BACK_OFF,
		kar_arena_printf(m->arena, "pod %s exists already and %s%s; waiting for the name",
			pod->o.name, pod->owner_name ? "belongs to " : "has no owner",
			pod->owner_name ? pod->owner_name : ""));
}

void queue_check_accepted(struct making *m)
{
	/* A claim is only given to a job whose templates were accepted. */
	bool ran = m->qg->workload->ran, proven = queue_holds_claim(m->group);

	check_names(m);
	check_class(m, m->qg->workload->priority_class);
	for (size_t i = 0; i < m->roles.n; i++) {
		if (m->roles.items[i].replicas > 0)
			check_role(m, i, ran, proven);
	}
	for (size_t i = 0; i < m->roles.n; i++) {
		if (m->roles.items[i].replicas > 0)
			check_objects(m, i);
	}
	m->in->takes_nothing |= m->in->unchecked;
}

bool queue_is_refused_at_its_start(const struct making *m)
{
	if (!m->qg->workload->starts || m->live)
		return false;
	for (size_t i = 0; i < m->roles.n; i++) {
		const struct kar_template *t =
			m->kind->template(m->owner, i, m->p->stores->templates, m->p->mono);

		if (m->roles.items[i].replicas > 0 && t &&
			(t->verdict == KAR_TEMPLATE_INVALID || t->verdict == KAR_TEMPLATE_FORBIDDEN))
			return true;
	}
	return false;
}

/* A pod of another namespace that claims to be of the job is none of it, and none for the job either. */
static bool has_pods(const struct making *m)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(m->p->stores->pods, KAR_POD_BY_OWNER, m->owner->uid);
		kar_iter_next(&it, &o);) {
		if (kar_streq(o->ns, m->owner->ns))
			return true;
	}
	return false;
}

bool queue_is_edited_at_its_start(const struct making *m)
{
	const struct kar_workload *w = m->qg->workload;

	return w->waits && kar_podgroup_admission_is_old(m->group, w->generation) && !has_pods(m);
}

static void want_verdicts(struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_workload_kind *kind = kar_owner_kind(qg->owner);

	for (size_t i = 0; i < qg->roles->n; i++) {
		const struct kar_template *t = kind->template(qg->owner, i, p->stores->templates, p->mono);

		if (qg->roles->items[i].replicas > 0 &&
			(!t || t->verdict == KAR_TEMPLATE_UNKNOWN || kar_template_is_old(t, p->mono)))
			kind->want_template(qg->owner, i, p->stores->templates, p->mono);
	}
}

static void want_needs(struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_workload_kind *kind = kar_owner_kind(qg->owner);

	for (size_t i = 0; i < qg->roles->n; i++) {
		if (qg->roles->items[i].replicas > 0 &&
			!kind->needs(qg->owner, i, p->stores->templates, p->mono).known)
			kind->want_needs(qg->owner, i, p->stores->templates, p->mono);
	}
}

/* ms for which an answer for the workload of group number @i is awaited. */
static kar_time awaited_by(const struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	const struct kar_workload_kind *kind = kar_owner_kind(qg->owner);
	kar_time longest = 0;

	for (size_t k = 0; k < qg->roles->n; k++) {
		kar_time since = kind->needs(qg->owner, k, p->stores->templates, p->mono).awaited;

		longest = since > longest ? since : longest;
	}
	return longest;
}

void queue_want_verdicts(struct queue_pass *p)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct kar_queue_decision *d = &p->result.groups[i];
		bool waits = !p->in[i].ineligible && !queue_is_admitted(d);

		if (waits && p->in[i].guesses)
			want_needs(p, &p->groups[i]);
		else if (waits && ((d->asks && p->in[i].asks) || p->in[i].unchecked))
			want_verdicts(p, &p->groups[i]);
		if (waits && d->asks) { /* the answer may be lost */
			kar_time awaited = p->in[i].guesses || p->in[i].asks ? awaited_by(p, i) : 0;

			queue_come_again(p, KAR_TEMPLATES_ANSWER - awaited);
			p->awaited = awaited > p->awaited ? awaited : p->awaited;
		}
	}
}

bool queue_question_is_checked(struct queue_pass *p, const struct queue_group *qg)
{
	if (qg->question->ineligible)
		return true;
	if (qg->question->guesses)
		want_needs(p, qg);
	else if (qg->question->unchecked || qg->question->asks)
		want_verdicts(p,
			qg); /* with a verdict that is old nobody would go for it: the answer would say so for ever */
	return !qg->question->guesses && !qg->question->unchecked && !qg->question->asks;
}

kar_time queue_awaits_verdict(const struct queue_pass *p, uint32_t i)
{
	return p->in[i].unchecked ? awaited_by(p, i) : p->awaited;
}

/* --- devices --------------------------------------------------------------------------------------- */

/* kube-scheduler alone allocates devices: a kubelet would admit a pod that was created bound without them. */
static void check_devices_of(const struct queue_pass *p, struct kar_queue_group *in, const char *resource,
	bool waits)
{
	const struct kar_deviceclass *c = kar_devices_class(p->stores->devices, resource);

	if (!c)
		return;
	kar_devices_ask(p->stores->devices, resource);
	if (waits && in->created_bound)
		queue_refuse(in, KAR_QR_UNSUPPORTED,
			kar_arena_printf(p->arena,
				"only kube-scheduler allocates devices (%s of DeviceClass %s): use " KAR_DEFAULT_SCHEDULER,
				resource, c->o.name));
	else if (waits && !kar_sched_offered(kar_snapshot_sched(p->stores->snapshot), resource))
		queue_refuse(in, KAR_QR_DEVICES_UNKNOWN,
			kar_arena_printf(p->arena,
				"no node offers %s: no complete pool of ResourceSlices has a device of DeviceClass %s without a taint",
				resource, c->o.name));
}

void queue_check_devices(const struct queue_pass *p, struct kar_queue_group *in, bool waits)
{
	const struct kar_sched *sched = kar_snapshot_sched(p->stores->snapshot);

	for (uint32_t i = 0; i < in->n_runs; i++) {
		const struct kar_pod_needs *needs = kar_sched_needs(sched, in->runs[i].class);

		for (uint32_t k = 0; k < needs->n_amounts; k++) {
			if (strchr(needs->amounts[k].resource, '/'))
				check_devices_of(p, in, needs->amounts[k].resource, waits);
		}
	}
}
