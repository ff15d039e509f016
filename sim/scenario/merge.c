/* A real cluster as a scenario: only what decides who runs when is taken over. */
#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "sim/scenario/lookup.h"
#include "sim/scenario/scenario.h"

enum { WITHIN = 60 /* seconds, in which what waits is submitted */ };

/* "kind/namespace/name" */
static const char *key_of(const struct sim_value *o, char out[SIM_KEY_LEN])
{
	const char *kind = sim_get_text(o, "kind"), *ns = sim_get_text(o, "metadata", "namespace"),
		   *name = sim_get_text(o, "metadata", "name");

	snprintf(out, SIM_KEY_LEN, "%s/%s/%s", kind ? kind : "", ns ? ns : "", name ? name : "");
	return out;
}

/* Notes what the file has, which wins. */
static void know(struct sim_scenario *s, struct sim_lookup *known, const struct sim_value *o)
{
	char key[SIM_KEY_LEN];

	sim_lookup_put(known, kar_copy_text(&s->arena, key_of(o, key)), 0);
}

static bool is_known(const struct sim_lookup *known, const struct sim_value *o)
{
	char key[SIM_KEY_LEN];

	return sim_lookup_get(known, key_of(o, key)) != SIZE_MAX;
}

/* Spec and identity: what a server fills in is left behind. */
static struct sim_value *essence(const struct sim_value *o, const char *api_version, const char *kind)
{
	static const char *const parts[] = { "spec", "value", "globalDefault", "preemptionPolicy",
		"description" };
	struct sim_value *v = sim_object();

	sim_set_text(&v, api_version, "apiVersion");
	sim_set_text(&v, kind, "kind");
	sim_set_text(&v, sim_text_or(sim_get(o, "metadata", "name"), ""), "metadata", "name");
	if (sim_get_text(o, "metadata", "namespace"))
		sim_set_text(&v, sim_get_text(o, "metadata", "namespace"), "metadata", "namespace");
	if (sim_get(o, "metadata", "labels"))
		sim_set(&v, sim_ref(sim_get(o, "metadata", "labels")), "metadata", "labels");
	for (size_t i = 0; i < KAR_LEN(parts); i++) {
		if (sim_member(o, parts[i]))
			sim_set(&v, sim_ref(sim_member(o, parts[i])), parts[i]);
	}
	return v;
}

static bool is_system(const struct sim_value *o)
{
	return !strncmp(sim_text_or(sim_get(o, "metadata", "name"), ""), "system-", strlen("system-"));
}

/* In front of what @s has, in the order of @list. */
static void merge_objects(struct sim_scenario *s, const struct sim_value *list, const char *api_version,
	const char *kind)
{
	struct sim_lookup known = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < sim_count(s->objects); i++)
		know(s, &known, sim_item(s->objects, i));
	for (size_t i = 0; i < sim_count(list); i++) {
		struct sim_value *o = essence(sim_item(list, i), api_version, kind);

		if ((!strcmp(kind, "PriorityClass") && is_system(o)) || is_known(&known, o))
			sim_unref(o);
		else
			sim_insert(&s->objects, at++, o);
	}
	sim_lookup_release(&known);
}

/* ---- nodes ---- */

static bool is_ready(const struct sim_value *node)
{
	const struct sim_value *conditions = sim_get(node, "status", "conditions");

	for (size_t i = 0; i < sim_count(conditions); i++) {
		if (kar_streq(sim_get_text(sim_item(conditions, i), "type"), "Ready"))
			return kar_streq(sim_get_text(sim_item(conditions, i), "status"), "True");
	}
	return true;
}

/* The taints that people set; the others say in what state the node is, and the simulation says that itself. New value. */
static struct sim_value *own_taints(const struct sim_value *node)
{
	static const char state[] = "node.kubernetes.io/";
	const struct sim_value *all = sim_get(node, "spec", "taints");
	struct sim_value *own = sim_array();

	for (size_t i = 0; i < sim_count(all); i++) {
		const char *key = sim_text_or(sim_get(sim_item(all, i), "key"), "");

		if (strncmp(key, state, strlen(state)))
			sim_append(&own, sim_ref(sim_item(all, i)));
	}
	return own;
}

/* Pools borrow; @kept is what they borrow from. What cannot be used now is cordoned, so that an event can bring it back. */
static struct sim_scenario_pool pool_of(const struct sim_value *node, struct sim_value **kept)
{
	struct sim_value *taints = own_taints(node);

	sim_append(kept, taints);
	return (struct sim_scenario_pool){
		.name = sim_get_text(node, "metadata", "name"),
		.capacity = sim_get(node, "status", "allocatable"),
		.labels = sim_get(node, "metadata", "labels"),
		.taints = taints,
		.cordoned = !is_ready(node) || sim_bool_of(sim_get(node, "spec", "unschedulable"), false),
	};
}

static void know_nodes(struct sim_scenario *s, struct sim_lookup *known)
{
	for (size_t i = 0; i < s->n_pools; i++) {
		const struct sim_scenario_pool *p = &s->pools[i];

		if (!p->count)
			sim_lookup_put(known, p->name, i);
		for (int64_t k = 0; k < p->count; k++)
			sim_lookup_put(known, kar_arena_printf(&s->arena, "%s-%lld", p->name, (long long)k),
				i);
	}
}

/* New value that must live as long as the pools. */
static struct sim_value *merge_nodes(struct sim_scenario *s, const struct sim_value *list)
{
	size_t n = sim_count(list), count = 0;
	struct sim_scenario_pool *all = kar_arena_alloc(&s->arena, n + s->n_pools, sizeof(*all));
	struct sim_value *kept = sim_array();
	struct sim_lookup known = { 0 };

	know_nodes(s, &known);
	for (size_t i = 0; i < n; i++) {
		const char *name = sim_get_text(sim_item(list, i), "metadata", "name");

		if (name && sim_lookup_get(&known, name) == SIZE_MAX)
			all[count++] = pool_of(sim_item(list, i), &kept);
	}
	for (size_t i = 0; i < s->n_pools; i++)
		all[count++] = s->pools[i];
	s->pools = all;
	s->n_pools = count;
	sim_lookup_release(&known);
	return kept;
}

/* ---- jobs ---- */

enum standing { HOLDS_RESOURCES, WAITS, FINISHED };

static enum standing standing_of(const struct sim_value *job)
{
	const char *phase = sim_text_or(sim_get(job, "status", "phase"), "");

	if (!strcmp(phase, "Completed") || !strcmp(phase, "Failed") ||
		sim_get(job, "metadata", "deletionTimestamp"))
		return FINISHED;
	return !strcmp(phase, "Starting") || !strcmp(phase, "Running") || !strcmp(phase, "Restarting")
		? HOLDS_RESOURCES
		: WAITS;
}

/* Those that were admitted first, then as they stand in line, then by age. */
static int compare_jobs(const void *a, const void *b)
{
	const struct sim_value *const *x = a, *const *y = b;
	int standing = (int)standing_of(*x) - (int)standing_of(*y);
	int64_t p = sim_get_int(*x, INT64_MAX, "status", "position"),
		q = sim_get_int(*y, INT64_MAX, "status", "position");

	if (standing)
		return standing;
	if (p != q)
		return p < q ? -1 : 1;
	return strcmp(sim_text_or(sim_get(*x, "metadata", "creationTimestamp"), ""),
		sim_text_or(sim_get(*y, "metadata", "creationTimestamp"), ""));
}

/*
 * Admitted jobs come at the start, so that they hold what they hold now. Those that wait follow within a minute, one per second
 * as long as there are no more than that: queues go by age in seconds, and the order must stay.
 */
static void space_out(struct sim_scenario_job *jobs, size_t n, size_t waiting)
{
	size_t first = n - waiting;

	for (size_t i = first; i < n; i++)
		jobs[i].at = KAR_SECOND *
			(1 + (kar_time)(waiting <= WITHIN ? i - first : (i - first) * WITHIN / waiting));
}

static int compare_times(const void *a, const void *b)
{
	const struct sim_scenario_job *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void merge_jobs(struct sim_scenario *s, const struct sim_value *list)
{
	size_t n = sim_count(list), kept = 0, waiting = 0;
	const struct sim_value **sorted = kar_arena_alloc(&s->arena, n, sizeof(*sorted));
	struct sim_scenario_job *all = kar_arena_alloc(&s->arena, n + s->n_jobs, sizeof(*all));
	struct sim_lookup known = { 0 };

	for (size_t i = 0; i < s->n_jobs; i++)
		know(s, &known, s->jobs[i].object);
	for (size_t i = 0; i < n; i++)
		sorted[i] = sim_item(list, i);
	mergesort(sorted, n, sizeof(*sorted), compare_jobs);
	for (size_t i = 0; i < n && standing_of(sorted[i]) != FINISHED; i++) {
		struct sim_value *job = essence(sorted[i], KAR_API_VERSION, "QueueJob");

		if (is_known(&known, job)) {
			sim_unref(job);
			continue;
		}
		waiting += standing_of(sorted[i]) == WAITS;
		all[kept++].object = job;
	}
	space_out(all, kept, waiting);
	if (s->n_jobs)
		memcpy(all + kept, s->jobs, s->n_jobs * sizeof(*all));
	s->jobs = all;
	s->n_jobs += kept;
	mergesort(s->jobs, s->n_jobs, sizeof(*s->jobs), compare_times); /* stable */
	sim_lookup_release(&known);
}

void sim_scenario_merge(struct sim_scenario *s, const struct sim_value *lists)
{
	struct sim_value *document = sim_object();

	/* Pools borrow from the document. */
	sim_set(&document, s->document ? s->document : sim_null(), "file");
	sim_set(&document, sim_ref(lists), "cluster");
	sim_set(&document, merge_nodes(s, sim_member(lists, "Node")), "taints");
	s->document = document;
	merge_objects(s, sim_member(lists, "ResourceQuota"), "v1", "ResourceQuota");
	merge_objects(s, sim_member(lists, "Queue"), KAR_API_VERSION, "Queue");
	merge_objects(s, sim_member(lists, "PriorityClass"), "scheduling.k8s.io/v1", "PriorityClass");
	merge_jobs(s, sim_member(lists, "QueueJob"));
}
