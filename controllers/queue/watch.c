/* When a pass is due: what changes in the caches. */
#include <assert.h>

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/cluster/suspendable.h"
#include "controllers/queue/failures.h"
#include "controllers/queue/shell.h"

static void on_change(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;

	kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

/* Those of workloads say what the PodGroups say, too. */
static void on_spec(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	if (kar_as_schedulingspec(new ? new : old)->owner_kind)
		on_change(arg, old, new);
}

/* Do both ask for the same? Counts of members, and admissions that we wrote, do not matter. */
static bool same_request(const struct kar_podgroup *a, const struct kar_podgroup *b)
{
	return kar_object_same(&a->o, &b->o) && a->generation == b->generation &&
		!a->deletion == !b->deletion && kar_streq(a->owner_uid, b->owner_uid) &&
		kar_streq(a->queue_label, b->queue_label) &&
		kar_pg_lasting_state(a) == kar_pg_lasting_state(b) &&
		kar_condition_is_true(&a->status.conditions, KAR_PG_SCHEDULED) ==
		kar_condition_is_true(&b->status.conditions, KAR_PG_SCHEDULED) &&
		(a->status.phase == KAR_PG_PHASE_FINISHED) == (b->status.phase == KAR_PG_PHASE_FINISHED);
}

/* From then on it may grow, and the others of its queue. */
static bool begins_to_run(const struct kar_podgroup *a, const struct kar_podgroup *b)
{
	return a->status.phase != KAR_PG_PHASE_RUNNING && b->status.phase == KAR_PG_PHASE_RUNNING;
}

static void on_group(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	char key[KAR_KEY_LEN];
	bool same;

	if (!new) {
		kar_object_key(old, key);
		queue_failures_forget(shared->failures, key);
	}

	if (old && new &&kar_podgroup_same_content(kar_as_podgroup(old), kar_as_podgroup(new)))
		return; /* only annotations, or labels that no pass reads, have changed */
	same = old && new &&same_request(kar_as_podgroup(old), kar_as_podgroup(new)) &&
		!(shared->may_grow && begins_to_run(kar_as_podgroup(old), kar_as_podgroup(new)));
	kar_workqueue_add(c->queue, same ? QUEUE_KEY_COUNTS : QUEUE_KEY_ALL);
}

/* A pass decides by only this of a workload; its status changes all the time. */
static bool same_claim(const struct kar_workload *a, const struct kar_workload *b)
{
	return a->generation == b->generation && kar_streq(a->queue_label, b->queue_label) &&
		a->deleting == b->deleting && a->invalid == b->invalid && a->unusable == b->unusable &&
		a->ended == b->ended && !a->conflict == !b->conflict;
}

/* What it asks for is less when a success is recorded, which may be later than the end of the pod. */
static void on_workload(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	struct kar_workload was, is;

	if (!old || !new || !kar_object_same(old, new)) {
		on_change(arg, old, new);
		return;
	}
	was = kar_owner_describe(old);
	is = kar_owner_describe(new);
	if (!same_claim(&was, &is))
		on_change(arg, old, new);
	else if (was.succeeded != is.succeeded)
		kar_workqueue_add(c->queue, shared->waits_for_room ? QUEUE_KEY_ALL : QUEUE_KEY_COUNTS);
}

/* The pod takes no room any more where it did. */
static bool frees_room(const struct kar_pod *old, const struct kar_pod *new)
{
	const char *room = old ? kar_pod_room(old) : NULL;

	return room && !(new &&kar_pod_room(new) == room);
}

/* It was about to be bound, and is so no more, or is bound: maybe elsewhere than the last pass has thought. */
static bool was_expected(const struct kar_pod *old, const struct kar_pod *new)
{
	return old && kar_expected_may_be(old) && !(new &&kar_expected_may_be(new));
}

/* A gang of another controller may be complete with it. */
static bool is_new_member(const struct kar_controller *c, const struct kar_pod *old,
	const struct kar_pod *new)
{
	const char *served = kar_settings_served(c->settings);

	if (new->group &&
		((!old && kar_pod_queue(new)) || (old && kar_pod_topology(old) != kar_pod_topology(new))))
		return true;
	if (new->group && kar_pg_binds(new, served) && !(old && kar_pg_binds(old, served)))
		return true;
	return new->group &&kar_pg_waits(new) && !(old && old->group == new->group &&kar_pg_waits(old));
}

/* The pods of its workload are created bound. */
static bool is_direct(const struct kar_controller *c, const struct kar_pod *pod)
{
	const struct kar_object *o = pod->job ? kar_owner_of_pod(c->stores, pod) : NULL;

	return o && kar_owner_kind(o)->is_direct(o, kar_settings_served(c->settings));
}

/* A place of such a job is used, or a pod lacks one. */
static void on_direct_pod(struct kar_controller *c, const struct kar_pod *old, const struct kar_pod *new)
{
	bool was = old && kar_pod_alive(old), is = new &&kar_pod_alive(new), gone = old && !new;
	const struct kar_pod *pod = new ? new : old;

	if ((was != is || gone) && pod && is_direct(c, pod))
		kar_workqueue_add(c->queue, is ? QUEUE_KEY_COUNTS : QUEUE_KEY_ALL);
}

/* --- what changes the ledger --- */

static bool has_quota(const struct kar_controller *c, const char *ns)
{
	return ns && kar_store_index_count(c->stores->resourcequotas, KAR_RESOURCEQUOTA_BY_NAMESPACE, ns);
}

/* It is charged no longer, or for something else. What is charged in addition gives nobody room. */
static bool frees_quota(const struct kar_pod *old, const struct kar_pod *new)
{
	const struct kar_pod_counted *was = old && kar_pod_alive(old) ? old->charge : NULL,
				     *is = new &&kar_pod_alive(new) ? new->charge : NULL;

	return (was && was != is) || (old && !new);
}

static void on_charge(struct kar_controller *c, const struct kar_pod *old, const struct kar_pod *new)
{
	const struct queue_shared *shared = c->shared;

	if (shared->waits_for_room && frees_quota(old, new) && has_quota(c, (new ? new : old)->o.ns))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

/* The scheduler says that it does not fit on the node that it was given. */
static bool may_be_stuck(const struct kar_pod *old, const struct kar_pod *new)
{
	return new &&new->group &&new->pin &&new->unschedulable && !(old && old->unschedulable);
}

static void on_pod(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	queue_failures_pod(shared->failures, o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL);
	if (n && is_new_member(c, o ? kar_as_pod(o) : NULL, kar_as_pod(n)))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
	if (may_be_stuck(o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
	on_direct_pod(c, o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL);
	on_charge(c, o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL);
	if (shared->waits_for_room &&
		(frees_room(o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL) ||
			kar_preemptible_news(c->stores->preemptible, o ? kar_as_pod(o) : NULL,
				n ? kar_as_pod(n) : NULL) ||
			was_expected(o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL)))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

static void on_node(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	/* What queues are entitled to changes also while nobody waits. */
	if (!(n && o && kar_node_same_offer(kar_as_node(o), kar_as_node(n))))
		kar_workqueue_add(c->queue, shared->waits_for_room ? QUEUE_KEY_ALL : QUEUE_KEY_COUNTS);
}

static void on_namespace(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	if (!(old && new &&kar_namespace_same(kar_as_namespace(old), kar_as_namespace(new))))
		on_change(arg, old, new);
}

static void on_topology(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	if (!(old && new &&kar_topology_same(kar_as_topology(old), kar_as_topology(new))))
		on_change(arg, old, new);
}

static void on_flavor(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	if (!(old && new &&kar_flavor_same(kar_as_flavor(old), kar_as_flavor(new))))
		on_change(arg, old, new);
}

static void on_quota(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	if (shared->waits_for_room &&
		!(old && new &&kar_resourcequota_same(kar_as_resourcequota(old), kar_as_resourcequota(new))))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

static void on_range(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	const struct kar_object *any = new ? new : old;

	if (old && new &&kar_limitrange_same(kar_as_limitrange(old), kar_as_limitrange(new)))
		return;
	kar_templates_forget_stored(c->stores->templates);
	if (shared->waits_for_room && any && has_quota(c, any->ns))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

static void on_budget(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	bool edited = !old || !new ||
		kar_as_disruptionbudget(old)->generation != kar_as_disruptionbudget(new)->generation;

	if (edited)
		kar_workqueue_add(c->queue,
			QUEUE_KEY_COUNTS); /* who is protected by it gets no more from others */
	if (shared->waits_for_room &&
		kar_disruptionbudget_allows_more(old ? kar_as_disruptionbudget(old) : NULL,
			new ? kar_as_disruptionbudget(new) : NULL))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

static void on_claim(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	bool same = old && new && !old->unreadable &&
		!new->unreadable &&kar_volumeclaim_same(kar_as_volumeclaim(old), kar_as_volumeclaim(new));

	if (!same && shared->waits_for_room)
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

/* Those that somebody has made himself may be waited for. */
static void on_device_claim(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	const struct kar_object *o = new ? new : old;

	if (shared->waits_for_room && (o->unreadable || !kar_as_resourceclaim(o)->pod_uid))
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

/* Of a volume, or of how volumes are made, or of how claims of devices are. */
static void on_storage(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	if (shared->waits_for_room)
		kar_workqueue_add(c->queue, QUEUE_KEY_ALL);
}

/* Of the API server about a template, or of drivers about devices. */
static void on_verdict(void *arg)
{
	on_change(arg, NULL, NULL);
}

/* Its pods are still to come, or come no more. */
static void on_suspendable(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	if (!(old && new &&kar_suspendable_same(kar_as_suspendable(old), kar_as_suspendable(new))))
		on_change(arg, old, new);
}

void queue_listen(struct kar_controller *c)
{
	kar_store_listen(c->stores->pods, on_pod, c);
	kar_store_listen(c->stores->nodes, on_node, c);
	kar_store_listen(c->stores->podgroups, on_group, c);
	kar_store_listen(c->stores->queues, on_change, c);
	kar_store_listen(c->stores->schedulingspecs, on_spec, c);
	kar_store_listen(c->stores->priorityclasses, on_change, c);
	kar_store_listen(c->stores->namespaces, on_namespace, c);
	kar_owner_listen(c->stores, on_workload, c);
	kar_store_listen(c->stores->resourcequotas, on_quota, c);
	kar_store_listen(c->stores->limitranges, on_range, c);
	kar_store_listen(c->stores->disruptionbudgets, on_budget, c);
	kar_store_listen(c->stores->volumeclaims, on_claim, c);
	kar_store_listen(c->stores->volumes, on_storage, c);
	kar_store_listen(c->stores->storageclasses, on_storage, c);
	kar_store_listen(c->stores->csidrivers, on_storage, c);
	kar_store_listen(c->stores->claimtemplates, on_storage, c);
	kar_store_listen(c->stores->topologies, on_topology, c);
	kar_store_listen(c->stores->flavors, on_flavor, c);
	kar_store_listen(c->stores->resourceclaims, on_device_claim, c);
	kar_templates_listen(c->stores->templates, NULL, on_verdict, c);
	kar_devices_listen(c->stores->devices, on_verdict, c);
	kar_suspendable_listen(c->stores, on_suspendable, c);
}
