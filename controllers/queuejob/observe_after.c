/* Jobs that wait for each other (spec.after), as the cache shows them. */
#include "controllers/queuejob/observe.h"

#include <string.h>

#include "common/base/str.h"
#include "controllers/cluster/stores.h"

static const struct kar_queuejob *find(const struct kar_stores *stores, const char *ns, const char *name)
{
	const struct kar_object *o = kar_store_get(stores->queuejobs, ns, name);

	return o ? kar_as_queuejob(o) : NULL;
}

static const struct kar_after *entry(const struct kar_queuejob *job, size_t i)
{
	return (const struct kar_after *)job->spec.after.items + i;
}

/* How the job @name has ended, as @job has recorded it; NONE: it has recorded no end. */
static enum kar_qj_phase recorded(const struct kar_queuejob *job, const char *name)
{
	for (size_t i = 0; i < job->status.n_after && !job->status.edited; i++) {
		if (strcmp(job->status.after[i].name, name) == 0)
			return kar_streq(job->status.after[i].phase, "Completed") ? KAR_QJ_PHASE_COMPLETED
										  : KAR_QJ_PHASE_FAILED;
	}
	return KAR_QJ_PHASE_NONE;
}

static struct queuejob_after look(const struct kar_stores *stores, const struct kar_queuejob *job, size_t i)
{
	const struct kar_after *a = entry(job, i);
	const struct kar_queuejob *other = find(stores, job->o.ns, a->name);
	enum kar_qj_phase end = recorded(job, a->name);

	return (struct queuejob_after){
		.name = a->name,
		.on = a->on,
		.phase = end != KAR_QJ_PHASE_NONE ? end
			: other                   ? other->status.phase
						  : KAR_QJ_PHASE_NONE,
		.exists = other != NULL,
		.ended = end != KAR_QJ_PHASE_NONE || (other && kar_queuejob_has_ended(&other->status)),
	};
}

/* --- circles ------------------------------------------------------------------------------------------ */

enum { VISITED = 256 }; /* jobs of a chain; a longer circle is not found, and only waits */

struct visit {
	const struct kar_queuejob *job;
	size_t from; /* the visit that led to it */
};

static const char *print_path(const struct visit *all, size_t last, struct kar_arena *arena)
{
	const char *text = all[0].job->o.name; /* where it ends again */

	for (size_t i = last;; i = all[i].from) {
		text = kar_arena_printf(arena, "%s, %s", all[i].job->o.name, text);
		if (!i)
			return text;
	}
}

static bool is_visited(const struct visit *all, size_t n, const struct kar_queuejob *job)
{
	bool found = false;

	for (size_t i = 0; i < n && !found; i++)
		found = all[i].job == job;
	return found;
}

/* Breadth first, so the circle that is named is a shortest one. */
static const char *find_circle(const struct kar_stores *stores, const struct kar_queuejob *job,
	struct kar_arena *arena)
{
	struct visit *all = kar_arena_alloc(arena, VISITED, sizeof(*all));
	size_t n = 1;

	all[0] = (struct visit){ .job = job };
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < all[i].job->spec.after.n; k++) {
			const char *name = entry(all[i].job, k)->name;
			const struct kar_queuejob *next = find(stores, job->o.ns, name);

			if (recorded(all[i].job, name) != KAR_QJ_PHASE_NONE)
				continue; /* a former job of that name has ended */
			if (next == job)
				return print_path(all, i, arena);
			if (next && kar_queuejob_follows(next) && n < VISITED && !is_visited(all, n, next))
				all[n++] = (struct visit){ next, i };
		}
	}
	return NULL;
}

/* --- the view ----------------------------------------------------------------------------------------- */

/* It has a PodGroup, so all that it had to wait for have ended. */
static bool has_joined(const struct kar_stores *stores, const struct kar_queuejob *job)
{
	const struct kar_object *o = kar_store_get(stores->podgroups, job->o.ns, job->o.name);

	return o && kar_streq(kar_as_podgroup(o)->owner_uid, job->o.uid);
}

bool queuejob_names(const struct kar_queuejob *job, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < job->spec.after.n && !found; i++)
		found = strcmp(entry(job, i)->name, name) == 0;
	return found;
}

static bool is_awaited(const struct kar_stores *stores, const struct kar_queuejob *job)
{
	struct kar_iter it = kar_store_by_index(stores->queuejobs, KAR_QUEUEJOB_FOLLOWERS, job->o.ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		const struct kar_queuejob *other = kar_as_queuejob(o);

		if (queuejob_names(other, job->o.name) && !other->deletion &&
			recorded(other, job->o.name) == KAR_QJ_PHASE_NONE && !has_joined(stores, other))
			return true;
	}
	return false;
}

void queuejob_observe_after(const struct kar_stores *stores, struct kar_arena *arena, struct queuejob_view *v)
{
	struct queuejob_after *all;

	if (kar_queuejob_has_ended(&v->job->status))
		v->is_awaited = v->job->spec.has_ttl && is_awaited(stores, v->job);
	if (!kar_queuejob_follows(v->job))
		return;
	v->joined = has_joined(stores, v->job);
	all = kar_arena_alloc(arena, v->job->spec.after.n, sizeof(*all));
	for (size_t i = 0; i < v->job->spec.after.n; i++)
		all[i] = look(stores, v->job, i);
	v->after = all;
	v->n_after = v->job->spec.after.n;
	v->circle = v->joined ? NULL : find_circle(stores, v->job, arena);
}
