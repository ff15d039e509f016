/*
 * The shell of the Queue reconciler. One key for the pass over all queues and all groups: admission compares them
 * with each other. Every write is an action, its body encoded while the objects are at hand.
 */
#include <assert.h>
#include <stdlib.h>

#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/controllers.h"
#include "controllers/kar_metrics.h"
#include "controllers/queue/failures.h"
#include "controllers/queue/next.h"
#include "controllers/queue/pace.h"
#include "controllers/queue/refusals.h"
#include "controllers/queue/shell.h"

#define ALL "all"
/* Its sync only asks for a pass, at most once a second: for changes that affect nothing but counts of queues. */
#define COUNTS "counts"
/* Its sync writes changed positions. They have a plan of their own, because they may wait for long and admissions must not. */
#define POSITIONS "positions"

enum {
	FOREIGN_INTERVAL = 5 *
		KAR_SECOND, /* so often room is looked for while somebody waits: pods of nobody's queue may use less, or need some */
	PASS_INTERVAL = 50, /* ms between two passes, at least, */
	/* and one ms more per so many groups, so that passes take a third of a core at most while something changes all the time */
	PASS_GROUPS = 100,
	PASS_FINISHED = 1000, /* likewise: those are only counted */
	COUNTS_INTERVAL =
		1000, /* ms between two passes that write statuses of queues for their counts alone */
	POSITION_INTERVAL = 5000, /* ms between two passes that write positions */
	OTHERS_INTERVAL = 60000,  /* ms between two that write those of others than the first of a line */
	CACHE_WAIT = 50,          /* ms between two checks whether the caches have our own writes */
};

/* kar_key_state.memory of this reconciler. */
struct memory {
	kar_time last_pass; /* mono; 0: never */
	kar_time interval;  /* ms until the next may be made */
	kar_time
		last_others; /* mono, when positions of others than the first of a line were last written; 0: never */
};

static struct memory *memory_of(const struct kar_sync *s)
{
	return s->state->memory;
}

/* ---- when to pass ---- */

static void on_change(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;

	kar_workqueue_add(c->queue, ALL);
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
	kar_workqueue_add(c->queue, same ? COUNTS : ALL);
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
		kar_workqueue_add(c->queue, shared->waits_for_room ? ALL : COUNTS);
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
		kar_workqueue_add(c->queue, is ? COUNTS : ALL);
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
		kar_workqueue_add(c->queue, ALL);
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
		kar_workqueue_add(c->queue, ALL);
	if (may_be_stuck(o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL))
		kar_workqueue_add(c->queue, ALL);
	on_direct_pod(c, o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL);
	on_charge(c, o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL);
	if (shared->waits_for_room &&
		(frees_room(o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL) ||
			kar_preemptible_news(c->stores->preemptible, o ? kar_as_pod(o) : NULL,
				n ? kar_as_pod(n) : NULL) ||
			was_expected(o ? kar_as_pod(o) : NULL, n ? kar_as_pod(n) : NULL)))
		kar_workqueue_add(c->queue, ALL);
}

static void on_node(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	/* What queues are entitled to changes also while nobody waits. */
	if (!(n && o && kar_node_same_offer(kar_as_node(o), kar_as_node(n))))
		kar_workqueue_add(c->queue, shared->waits_for_room ? ALL : COUNTS);
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

static void on_quota(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	if (shared->waits_for_room &&
		!(old && new &&kar_resourcequota_same(kar_as_resourcequota(old), kar_as_resourcequota(new))))
		kar_workqueue_add(c->queue, ALL);
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
		kar_workqueue_add(c->queue, ALL);
}

static void on_budget(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	bool edited = !old || !new ||
		kar_as_disruptionbudget(old)->generation != kar_as_disruptionbudget(new)->generation;

	if (edited)
		kar_workqueue_add(c->queue, COUNTS); /* who is protected by it gets no more from others */
	if (shared->waits_for_room &&
		kar_disruptionbudget_allows_more(old ? kar_as_disruptionbudget(old) : NULL,
			new ? kar_as_disruptionbudget(new) : NULL))
		kar_workqueue_add(c->queue, ALL);
}

static void on_claim(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	bool same = old && new && !old->unreadable &&
		!new->unreadable &&kar_volumeclaim_same(kar_as_volumeclaim(old), kar_as_volumeclaim(new));

	if (!same && shared->waits_for_room)
		kar_workqueue_add(c->queue, ALL);
}

/* Those that somebody has made himself may be waited for. */
static void on_device_claim(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;
	const struct kar_object *o = new ? new : old;

	if (shared->waits_for_room && (o->unreadable || !kar_as_resourceclaim(o)->pod_uid))
		kar_workqueue_add(c->queue, ALL);
}

/* Of a volume, or of how volumes are made, or of how claims of devices are. */
static void on_storage(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;
	const struct queue_shared *shared = c->shared;

	if (shared->waits_for_room)
		kar_workqueue_add(c->queue, ALL);
}

/* Of the API server about a template, or of drivers about devices. */
static void on_verdict(void *arg)
{
	on_change(arg, NULL, NULL);
}

static void stop(struct kar_controller *c)
{
	struct queue_shared *shared = c->shared;

	queue_forget_lines(&shared->lines);
	queue_said_free(shared->said);
	queue_refusals_free(shared->refusals);
	queue_failures_free(shared->failures);
	free(shared);
	c->shared = NULL;
}

static void start(struct kar_controller *c)
{
	struct queue_shared *shared = kar_xcalloc(1, sizeof(*shared));

	shared->said = queue_said_new();
	shared->refusals = queue_refusals_new();
	shared->failures = queue_failures_new();
	c->shared = shared;
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
	kar_store_listen(c->stores->resourceclaims, on_device_claim, c);
	kar_templates_listen(c->stores->templates, NULL, on_verdict, c);
	kar_devices_listen(c->stores->devices, on_verdict, c);
	kar_workqueue_add(c->queue, ALL); /* queues of which nothing changes may lack a status */
}

/* ---- the pass ---- */

/* ms until @interval has gone by since @last (0: never); <= 0: it has. */
static kar_time due_in(kar_time last, kar_time interval, kar_time mono)
{
	return last ? last + interval - mono : 0;
}

static bool caught_up(const struct kar_controller *c, const char *key)
{
	bool groups = kar_barrier_passed(c->barrier, key, c->stores->podgroups);
	bool queues = kar_barrier_passed(c->barrier, key, c->stores->queues);

	return groups && queues;
}

/* Pods of it that are created bound, or are stuck on their nodes, have no place. */
static bool lacks_places(const struct queue_pass *p, uint32_t i)
{
	return p->in[i].replaces;
}

/* Its number of pods may grow. */
static bool may_grow(const struct queue_pass *p, uint32_t i)
{
	return p->in[i].elastic && p->groups[i].admitted;
}

static void note_waits_for_room(const struct queue_pass *p)
{
	struct queue_shared *shared = p->shared;

	shared->may_grow = shared->waits_for_room = false;
	for (uint32_t i = 0; i < p->n_groups; i++) {
		shared->may_grow |= may_grow(p, i);
		shared->waits_for_room |= p->result.groups[i].reason >= KAR_QR_QUOTA_INVALID_TEMPLATE ||
			p->result.groups[i].reason == KAR_QR_CHECKING_TEMPLATE ||
			p->result.groups[i].reason == KAR_QR_VOLUME_PENDING ||
			p->result.groups[i].reason == KAR_QR_DEVICES_UNKNOWN ||
			p->result.groups[i].reason == KAR_QR_UNSUPPORTED || lacks_places(p, i) ||
			may_grow(p, i) || p->groups[i].reservation || p->groups[i].waits_for_pods ||
			queue_who_is_late(p, &p->groups[i], &p->result.groups[i]);
	}
}

/* A group waits, or may grow: only for those do ages and windows end. */
static bool time_matters(const struct queue_pass *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_groups; i++)
		any |= may_grow(p, i) ||
			(p->groups[i].claim == QUEUE_CLAIM_ALIVE &&
				p->result.groups[i].standing != KAR_QUEUE_ADMITTED);
	return any;
}

/* Templates may have rules about other pods that nobody had before: then all pods are looked at again. */
static void observe(struct queue_pass *p)
{
	const struct queue_pass begin = *p;

	kar_snapshot_settle_rules(p->stores->snapshot);
	queue_observe(p);
	if (!kar_snapshot_settle_rules(p->stores->snapshot))
		return;
	*p = begin;
	queue_observe(p);
}

static void decide(struct queue_pass *p)
{
	const struct queue_shared *shared = p->shared;

	observe(p);
	kar_queue_plan(&p->snapshot, p->now, p->arena, &p->result);
	assert(p->snapshot.n_groups == p->n_groups && p->snapshot.n_queues == p->n_queues);
	if (p->result.again_at != KAR_NEVER && time_matters(p))
		queue_come_again(p, p->result.again_at - p->now);
	note_waits_for_room(p);
	queue_want_verdicts(p);
	if (shared->waits_for_room)
		queue_come_again(p, FOREIGN_INTERVAL);
	queue_compare_lines(p, &shared->lines);
}

/* Groups that keep an admission, or want none, are not tried. */
void queue_count_pass(const struct queue_pass *p, struct kar_metrics *m)
{
	int admitted = 0, inadmissible = 0;

	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct queue_group *g = &p->groups[i];
		bool is = p->result.groups[i].standing == KAR_QUEUE_ADMITTED;

		admitted += !g->admitted && is;
		inadmissible += !g->admitted && !is && g->claim == QUEUE_CLAIM_ALIVE;
	}
	kar_metric_add(m, &kar_m_kar_admission_attempts_total, admitted, KAR_LABELS("admitted"));
	kar_metric_add(m, &kar_m_kar_admission_attempts_total, inadmissible, KAR_LABELS("inadmissible"));
	kar_metric_add(m, &kar_m_kar_queue_passes_unsettled_total, p->result.unsettled, NULL);
}

static void pass(struct queue_pass *p, struct kar_metrics *m)
{
	decide(p);
	queue_count_pass(p, m);
	kar_plan_requeue(p->plan, p->yields_in);
	kar_plan_requeue(p->plan, p->retry_in);
	if (!p->queues_are_read_only)
		queue_make_default(p);
	queue_write_groups(p);
	if (!p->queues_are_read_only)
		queue_write_queues(p);
}

static struct queue_pass new_pass(const struct kar_controller *c, struct kar_sync *s)
{
	/* A manager of one namespace does not see the pods of the others, so it does not know what room there is. */
	return (struct queue_pass){ .stores = c->stores,
		.arena = &s->arena,
		.plan = &s->plan,
		.shared = c->shared,
		.now = s->now,
		.mono = s->mono,
		.nodes = c->settings->one_namespace ? NULL : c->stores->snapshot,
		.served = kar_settings_served(c->settings),
		.settings = c->settings,
		.queues_are_read_only = c->settings->one_namespace };
}

static bool sync_positions(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(memory_of(s)->last_pass, POSITION_INTERVAL, s->mono);
	struct queue_pass p = new_pass(c, s);

	if (wait <= 0 && !caught_up(c, POSITIONS))
		wait = CACHE_WAIT;
	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	memory_of(s)->last_pass = s->mono;
	p.for_positions = true;
	p.others_in = due_in(memory_of(s)->last_others, OTHERS_INTERVAL, s->mono);
	decide(&p);
	queue_write_groups(&p);
	if (p.others_in <= 0)
		queue_note_lines(&p, &((struct queue_shared *)c->shared)->lines);
	if (p.others_written)
		memory_of(s)->last_others = s->mono;
	if (p.others_wait)
		kar_plan_requeue(&s->plan, p.others_in);
	return true;
}

static bool ask_for_pass(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(memory_of(s)->last_pass, COUNTS_INTERVAL, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	memory_of(s)->last_pass = s->mono;
	kar_workqueue_add(c->queue, ALL);
	return true;
}

static bool sync_all(struct kar_controller *c, struct kar_sync *s)
{
	struct kar_key_state *state = s->state;
	kar_time wait = due_in(memory_of(s)->last_pass, memory_of(s)->interval, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	if (!caught_up(c, ALL)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}

	struct queue_pass p = new_pass(c, s);

	p.counts_in = due_in(state->status_written, COUNTS_INTERVAL, s->mono);
	memory_of(s)->last_pass = s->mono;
	pass(&p, c->metrics);
	memory_of(s)->interval =
		PASS_INTERVAL + (kar_time)p.n_groups / PASS_GROUPS + (kar_time)p.n_finished / PASS_FINISHED;
	if (p.moved)
		kar_workqueue_add(c->queue, POSITIONS);
	if (p.counts_written)
		state->status_written = s->mono;
	return true;
}

/* The API server has said whether it has PodGroups of its own, or nobody has asked. */
static bool knows_backends(const struct kar_settings *s)
{
	return s->gang_backend == KAR_GANGS_BY_GATES || s->native.known;
}

static bool sync(struct kar_controller *c, struct kar_sync *s)
{
	if (!knows_backends(c->settings)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	if (kar_streq(s->key, COUNTS))
		return ask_for_pass(c, s);
	return kar_streq(s->key, POSITIONS) ? sync_positions(c, s) : sync_all(c, s);
}

void kar_queue_controller(struct kar_controller *c)
{
	c->name = "queue";
	c->memory_size = sizeof(struct memory);
	c->start = start;
	c->stop = stop;
	c->sync = sync;
	c->encode = queue_encode;
	c->still_wanted = queue_still_wanted;
	c->refused = queue_refused;
	c->wrote = queue_wrote;
}
