#include <stdlib.h>

#include "api/pg_members.h"
#include "common/str.h"
#include "controllers/asked.h"
#include "controllers/queue/pass.h"
#include "controllers/unit.h"

bool queue_job_is_invalid(const struct kar_queuejob *job)
{
	return kar_condition_is_true(&job->status.conditions, KAR_QJ_INVALID) && !job->status.replicas;
}

const char *queue_job_state(const struct kar_queuejob *job)
{
	enum kar_qj_phase phase = job->status.phase;
	bool forms = phase == KAR_QJ_PHASE_STARTING || phase == KAR_QJ_PHASE_RESTARTING;

	return forms && job->status.reason[0] ? job->status.reason : kar_qj_phase_name(phase);
}

/* The group of a job has the name of the job. A group of another name is not the job's, even if the job controls it. */
static bool is_of_job(const struct kar_podgroup *g)
{
	return g->owner_uid && g->owner_is_queuejob && kar_streq(g->o.name, g->owner_name);
}

const struct kar_queuejob *queue_job_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *o =
		is_of_job(g) ? kar_store_get(stores->queuejobs, g->o.ns, g->o.name) : NULL;

	return o && kar_streq(o->uid, g->owner_uid) ? kar_as_queuejob(o) : NULL;
}

/*
 * The work of a QueueJob's group is over when the job has ended, not when the group is Finished: a job whose quorum is below the sum
 * of its replicas continues. For a group of any other owner the phase of the group decides.
 */
static enum queue_claim claim_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_queuejob *job = queue_job_of(stores, g);

	if (g->deletion)
		return QUEUE_CLAIM_NONE;
	if (!is_of_job(g))
		return g->status.phase == KAR_PG_PHASE_FINISHED ? QUEUE_CLAIM_FINISHED : QUEUE_CLAIM_ALIVE;
	if (!job || job->deletion)
		return QUEUE_CLAIM_NONE;
	if (kar_queuejob_has_ended(&job->status))
		return QUEUE_CLAIM_FINISHED;
	if (job->spec.suspend)
		return QUEUE_CLAIM_SUSPENDED;
	return queue_job_is_invalid(job) ? QUEUE_CLAIM_INVALID : QUEUE_CLAIM_ALIVE;
}

/*
 * A group that no QueueJob controls may never get members, so it yields after some time without any. Then groups that wait may take
 * its room, so the pass needs to know when that will be. An orphan also yields while it waits.
 */
static bool yields(struct queue_pass *p, const struct kar_podgroup *g, bool admitted)
{
	kar_time left;
	char key[KAR_KEY_LEN];

	if (is_of_job(g) || !(admitted || g->status.waiting_since || g->orphan))
		return false;
	left = queue_empty_for_too_long_in(g,
		kar_store_index_count(p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&g->o, key)),
		p->s->now);
	if (!admitted && !g->orphan)
		return left != KAR_NEVER; /* it has yielded, and still has no members */
	if (left > 0 && left < p->yields_in)
		p->yields_in = left;
	return left <= 0;
}

static bool is_unreadable(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *o =
		g->owner_name ? kar_store_get(stores->queuejobs, g->o.ns, g->owner_name) : NULL;

	return g->o.unreadable || (o && o->unreadable && kar_streq(o->uid, g->owner_uid));
}

/* Its status has so many conditions of others that no admission can be written. */
static bool has_no_room_for_ours(const struct kar_podgroup *g)
{
	return g->status.conditions.n >= KAR_MAX_CONDITIONS &&
		!kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
}

/*
 * A group of others that names none has the highest of its pods where that is @compared: it waits for its admission or for places, or may
 * be evicted. Otherwise a group that runs may have many pods for nothing.
 */
static int32_t priority_of(const struct queue_pass *p, const struct kar_podgroup *g, bool compared)
{
	const struct kar_podgroup_spec *spec = &g->spec;
	const struct kar_priorityclass *class;

	if (spec->has_priority)
		return spec->priority;
	class = kar_stores_priorityclass(p->stores, spec->priority_class_name);
	if (class)
		return class->value;
	return compared && kar_pg_of_others(g) ? queue_highest_priority(p, g) : p->default_priority;
}

static bool never_preempts(const struct queue_pass *p, const struct kar_podgroup_spec *spec)
{
	const struct kar_priorityclass *class =
		kar_stores_priorityclass(p->stores, spec->priority_class_name);

	return class && class->never_preempts;
}

/* The queue whose admission the group has; NULL: it has none, or one that does not name its queue. */
static const char *admitting_queue(const struct kar_podgroup *g)
{
	bool admitted = kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED);

	return admitted && kar_has_text(g->status.admitted_queue) ? g->status.admitted_queue : NULL;
}

/* @g is admitted and has a claim, so its job exists. */
static const char *state_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	if (is_of_job(g))
		return queue_job_state(kar_as_queuejob(kar_store_get(stores->queuejobs, g->o.ns, g->o.name)));
	if (kar_condition_is_true(&g->status.conditions, KAR_PG_UNSCHEDULABLE))
		return KAR_PG_UNSCHEDULABLE;
	return kar_pg_phase_name(g->status.phase);
}

static const struct queue_gang *observe_gang(struct queue_pass *p, const struct kar_podgroup *g,
	enum queue_claim claim, bool admitted)
{
	const struct kar_queuejob *job = queue_job_of(p->stores, g);

	if (claim != QUEUE_CLAIM_ALIVE)
		return NULL;
	if (job)
		return queue_observe_gang(p, g, job, admitted);
	return kar_pg_of_others(g) ? queue_observe_members(p, g, admitted) : NULL;
}

static struct queue_group observe_group(struct queue_pass *p, const struct kar_podgroup *g,
	enum queue_claim claim)
{
	const struct kar_asked which = kar_asked_queue(p->stores, g);
	const char *queue = which.queue;
	const struct kar_object *o = kar_store_get(p->stores->queues, NULL, queue);
	bool recorded = kar_podgroup_admitted_by(g, queue);
	const struct queue_gang *gang = observe_gang(p, g, claim, recorded && !queue_waits_for_places(g));
	bool admitted = recorded && !queue_waits_for_places(g) && !queue_has_new_gang(g, gang);
	struct queue_used used = { 0 };
	struct kar_unit unit = { 0 };
	int32_t asked;

	if (claim == QUEUE_CLAIM_ALIVE && o && kar_as_queue(o)->spec.preempts)
		used = queue_observe_used(p, g, admitted);
	asked = priority_of(p, g, !admitted || gang || used.seats);
	if (claim == QUEUE_CLAIM_ALIVE && !admitted)
		unit = kar_unit_of(p->stores, g, &p->s->arena);
	if (!admitted && (is_unreadable(p->stores, g) || has_no_room_for_ours(g)))
		claim = QUEUE_CLAIM_NONE; /* nothing is done for it, so it must not take room */
	return (struct queue_group){
		.group = g,
		.queue = queue,
		.label = which.label,
		.not_allowed = o && !kar_asked_admits(p->stores, kar_as_queue(o), g),
		.priority = kar_queue_priority(o ? kar_as_queue(o) : NULL, asked),
		.asked = asked,
		.admitted = admitted,
		.still_in = recorded ? NULL : admitting_queue(g),
		.used = used.seats,
		.n_used = used.n,
		.started = used.started,
		.never_preempts = never_preempts(p, &g->spec),
		.unit = unit.groups,
		.n_unit = unit.n,
		.missing = unit.missing,
		.yields = yields(p, g, admitted),
		.claim = claim,
		.gang = claim == QUEUE_CLAIM_ALIVE ? gang : NULL,
		.state = admitted && claim == QUEUE_CLAIM_ALIVE ? state_of(p->stores, g) : NULL,
	};
}

static void observe_groups(struct queue_pass *p)
{
	const struct kar_store *store = p->stores->podgroups;
	struct queue_group *groups = kar_arena_alloc(&p->s->arena, kar_store_count(store), sizeof(*groups));
	const struct kar_object *o;
	size_t n = kar_store_count(store), live = 0, finished = n;

	/* Finished groups are only counted, and may be ten times as many as the others: they are put at the end, unsorted. */
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);) {
		const struct kar_podgroup *g = kar_as_podgroup(o);
		enum queue_claim claim = claim_of(p->stores, g);

		if (claim == QUEUE_CLAIM_FINISHED) {
			finished--;
			groups[finished] = (struct queue_group){ .group = g,
				.queue = kar_podgroup_queue(g),
				.claim = claim };
			continue;
		}
		groups[live++] = observe_group(p, g, claim);
	}
	/* The writes of a namespace are sent in this order, so that when requests are scarce its first group is admitted first. */
	qsort(groups, live, sizeof(*groups), queue_group_compare);
	p->snapshot.groups = groups;
	p->snapshot.n_groups = n;
}

static void observe_queues(struct queue_pass *p)
{
	const struct kar_store *store = p->stores->queues;
	const struct kar_object *o;

	p->snapshot.queues =
		kar_arena_alloc(&p->s->arena, kar_store_count(store), sizeof(struct kar_queue *));
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);)
		p->snapshot.queues[p->snapshot.n_queues++] = kar_as_queue(o);
}

void queue_observe(struct queue_pass *p)
{
	p->default_priority = kar_stores_default_priority(p->stores);
	p->yields_in = KAR_NEVER;
	p->retry_in = KAR_NEVER;
	p->snapshot.sched = p->nodes ? kar_snapshot_sched(p->nodes) : NULL;
	observe_queues(p);
	observe_groups(p);
}
