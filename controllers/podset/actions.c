#include "controllers/podset/podset.h"

#include <assert.h>

#include "api/copy.h"

/* Copies the names: the pod may leave the cache before the plan is carried out. */
static struct kar_action *act(struct kar_plan *p, enum kar_verb verb, const struct kar_pod *pod,
	enum podset_action what)
{
	struct kar_action *a;

	assert(pod->o.uid[0]); /* without it the write could hit another pod of the name */
	a = kar_plan_add(p, verb, &kar_pod_type, kar_copy(p->arena, pod->o.ns),
		kar_copy_text(p->arena, pod->o.name));

	a->uid = kar_copy(p->arena, pod->o.uid);
	a->what = (int)what;
	return a;
}

static struct kar_action *patch(struct kar_plan *p, const struct kar_pod *pod, enum podset_action what,
	const char *note)
{
	struct kar_action *a = act(p, KAR_PATCH, pod, what);

	a->patch_type = KAR_PATCH_STRATEGIC;
	a->note = note;
	return a;
}

void podset_delete(struct kar_plan *p, const struct kar_pod *pod, bool as_read)
{
	act(p, KAR_DELETE, pod, PODSET_DELETE)->rv = as_read ? pod->o.rv : 0;
}

void podset_release(struct kar_plan *p, const struct kar_pod *pod)
{
	if (pod->tracked)
		patch(p, pod, PODSET_RELEASE, "release");
}

void podset_ungate(struct kar_plan *p, const struct kar_pod *pod)
{
	assert(pod->gate_ours); /* else the patch would succeed, change nothing, and be planned again */
	patch(p, pod, PODSET_UNGATE, "ungate")->rv = pod->o.rv;
}

void podset_remove(struct kar_plan *p, const struct kar_pod *pod)
{
	podset_release(p, pod);
	if (!pod->deletion)
		podset_delete(p, pod, false);
}

/* The finalizer stays until the deletion is seen, so that a success in between is not lost. */
void podset_stop(struct kar_plan *p, const struct kar_pod *pod)
{
	if (pod->deletion || kar_pod_finished(pod))
		podset_remove(p, pod);
	else
		podset_delete(p, pod, true);
}

void podset_evict(struct kar_plan *p, const struct kar_pod *pod, const char *message, kar_time now)
{
	struct podset_disruption *d;
	struct kar_action *a;

	if (!kar_pod_alive(pod) || pod->disrupted || !pod->node) {
		podset_stop(p, pod);
		return;
	}
	d = kar_arena_alloc(p->arena, 1, sizeof(*d));
	*d = (struct podset_disruption){ .reason = PODSET_EVICTED,
		.message = kar_copy_text(p->arena, message),
		.now = now };
	a = patch(p, pod, PODSET_DISRUPT, "disrupt");
	a->subresource = "status";
	a->payload = d;
}

void podset_remove_all(struct kar_plan *p, const struct podset_pods *pods)
{
	for (size_t i = 0; i < pods->n; i++)
		podset_remove(p, pods->items[i]);
}

static bool is_recorded(const struct podset_slot *slot)
{
	return (slot->state == PODSET_DONE || slot->state == PODSET_GIVEN_UP) && slot->recorded &&
		slot->pod && kar_pod_finished(slot->pod);
}

/* It has a pod that was to be stopped when its loss was seen. */
static bool is_given_up(const struct podset_slot *slot)
{
	return slot->state == PODSET_GIVEN_UP && slot->recorded && slot->pod;
}

void podset_release_done(struct kar_plan *p, const struct podset *set)
{
	for (size_t i = 0; i < set->n_tasks; i++) {
		const struct podset_task *task = &set->tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			if (is_recorded(&task->slots[k]))
				podset_release(p, task->slots[k].pod);
			else if (is_given_up(&task->slots[k]))
				podset_remove(p, task->slots[k].pod);
		}
	}
}

void podset_orphan(struct kar_plan *p, const struct kar_pod *pod)
{
	if (pod->gate_ours && kar_pod_alive(pod))
		podset_ungate(p, pod);
	else
		podset_release(p, pod);
}

void podset_release_unowned(struct kar_plan *p, const struct kar_pod *const *pods, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (pods[i]->owner_uid)
			podset_release(p, pods[i]);
		else
			podset_orphan(p, pods[i]);
	}
}

void podset_relabel(struct kar_plan *p, const struct kar_pod *pod, struct kar_array labels)
{
	struct kar_array *payload = kar_arena_alloc(p->arena, 1, sizeof(*payload));

	*payload = labels;
	patch(p, pod, PODSET_RELABEL, "repair")->payload = payload;
}
