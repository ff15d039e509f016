#include "controllers/schedulingspec/schedulingspec.h"

#include <string.h>

#include "api/copy.h"
#include "api/pod/pod_direct.h"
#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"

bool schedulingspec_concerns(const struct kar_pod *pod, const char *served)
{
	return pod->owner_uid && kar_pod_alive(pod) && kar_pg_pod_of_others(pod) &&
		kar_scheduler_is_served(pod->scheduler, served);
}

bool schedulingspec_names_another(const struct kar_pod *pod, const struct kar_schedulingspec *spec)
{
	const char *slash = pod->group ? strchr(pod->group, '/') : NULL;

	return slash && !(spec && kar_streq(slash + 1, spec->o.name));
}

static void miss(const struct schedulingspec_view *v, kar_time now, struct kar_plan *p)
{
	kar_time due = v->pod->creation + SCHEDULINGSPEC_MISSED;

	if (!v->first || v->pod->node)
		return;
	if (now < due) {
		kar_plan_requeue(p, due - now);
		return;
	}
	p->events_alone = true;
	kar_plan_event(p, true, kar_reason_SchedulingSpecNotFound, "Schedule",
		"no SchedulingSpec has %s %s as its controller (ownerReferences, controller: true), and the pod names no PodGroup: it is not scheduled until there is one of them",
		v->pod->owner_kind, v->pod->owner_name);
}

static void make_group(const struct schedulingspec_view *v, struct kar_plan *p)
{
	struct kar_action *a;

	if (!v->first)
		return;
	a = kar_plan_add(p, KAR_CREATE, &kar_podgroup_type, kar_copy(p->arena, v->spec->o.ns),
		kar_copy_text(p->arena, v->spec->o.name));
	a->what = SCHEDULINGSPEC_MAKE;
	a->payload = v->spec;
	a->note = kar_arena_printf(p->arena, "for %s", v->spec->owner);
}

int32_t schedulingspec_minimum(const struct kar_schedulingspec *spec)
{
	return spec->spec.has_min_available && spec->spec.min_available > 0 ? spec->spec.min_available : 1;
}

/* A CRD of another project keeps no priority. */
static bool same_priority(const struct kar_schedulingspec *s, const struct kar_podgroup *g)
{
	return g->pruned ||
		(s->spec.has_priority == g->spec.has_priority &&
			(!s->spec.has_priority || s->spec.priority == g->spec.priority) &&
			kar_streq(kar_has_text(s->spec.priority_class_name) ? s->spec.priority_class_name
									    : NULL,
				kar_has_text(g->spec.priority_class_name) ? g->spec.priority_class_name
									  : NULL));
}

bool schedulingspec_differs(const struct kar_schedulingspec *spec, const struct kar_podgroup *g)
{
	return g->made_of_spec && !g->deletion && kar_streq(g->owner_uid, spec->owner_uid) &&
		(schedulingspec_minimum(spec) != g->spec.min_member || !same_priority(spec, g));
}

static void follow(const struct schedulingspec_view *v, struct kar_plan *p)
{
	struct kar_action *a;

	if (!v->first || !schedulingspec_differs(v->spec, v->group))
		return;
	a = kar_plan_add(p, KAR_PATCH, &kar_podgroup_type, kar_copy(p->arena, v->group->o.ns),
		kar_copy_text(p->arena, v->group->o.name));
	a->patch_type = KAR_PATCH_MERGE;
	a->uid = kar_copy(p->arena, v->group->o.uid);
	a->rv = v->group->o.rv;
	a->what = SCHEDULINGSPEC_FOLLOW;
	a->payload = v->spec;
	a->note = kar_arena_printf(p->arena, "minMember=%d", (int)schedulingspec_minimum(v->spec));
}

static void label_pod(const struct schedulingspec_view *v, struct kar_plan *p)
{
	struct kar_action *a = kar_plan_add(p, KAR_PATCH, &kar_pod_type, kar_copy(p->arena, v->pod->o.ns),
		kar_copy_text(p->arena, v->pod->o.name));

	a->patch_type = KAR_PATCH_MERGE;
	a->uid = kar_copy(p->arena, v->pod->o.uid);
	a->rv = v->pod->o.rv;
	a->what = SCHEDULINGSPEC_LABEL;
	a->payload = v->spec;
	a->note = kar_arena_printf(p->arena, "group=%s", v->spec->o.name);
}

static void tell(const struct schedulingspec_view *v, const char *reason, const char *text,
	struct kar_plan *p)
{
	if (!v->first || v->pod->group)
		return;
	p->events_alone = !p->n_actions;
	kar_plan_event(p, true, reason, "Schedule", "%s", text);
}

void schedulingspec_decide(const struct schedulingspec_view *v, kar_time now, struct kar_plan *p)
{
	const struct kar_schedulingspec *s = v->spec;

	if (schedulingspec_names_another(v->pod, s))
		return;
	if (!s) {
		miss(v, now, p);
		return;
	}
	if (s->deletion || s->o.unreadable)
		return; /* its controller is being deleted, too */
	if (!v->group) {
		make_group(v, p);
		return;
	}
	if (!kar_streq(v->group->owner_uid, s->owner_uid)) {
		tell(v, kar_reason_NameConflict,
			kar_arena_printf(p->arena, "PodGroup %s is not of %s: rename the SchedulingSpec",
				s->o.name, s->owner),
			p);
		return;
	}
	follow(v, p);
	if (!v->group->deletion && !v->pod->group) {
		if (v->other)
			tell(v, kar_reason_NameConflict,
				kar_arena_printf(p->arena,
					"%s has more than one SchedulingSpec: the oldest, %s, counts, and not %s",
					s->owner, s->o.name, v->other->o.name),
				p);
		label_pod(v, p);
	}
}
