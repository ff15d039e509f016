#include "sim/scenario/scenario.h"

#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "common/codec/yaml.h"
#include "sim/apiserver/quantity.h"
#include "sim/scenario/lookup.h"
#include "sim/scenario/scenario_impl.h"

enum {
	MAX_NODES = 100000,
	MAX_FILE = 4 << 20,
};
static const kar_time DEFAULT_DURATION = 10 * KAR_MINUTE;

const char *const sim_scenario_actions[SIM_SCENARIO_ACTIONS] = {
	[SIM_SCENARIO_KILL] = "kill",
	[SIM_SCENARIO_RECOVER] = "recover",
	[SIM_SCENARIO_CORDON] = "cordon",
	[SIM_SCENARIO_UNCORDON] = "uncordon",
	[SIM_SCENARIO_DRAIN] = "drain",
	[SIM_SCENARIO_REMOVE] = "remove",
	[SIM_SCENARIO_DELETE] = "delete",
	[SIM_SCENARIO_SUSPEND] = "suspend",
	[SIM_SCENARIO_RESUME] = "resume",
};

/* ---- nodes ---- */

static void add_pool(struct sim_reading *r, const struct sim_scenario_pool *p, bool counted)
{
	struct sim_scenario *s = r->s;

	r->nodes += counted ? p->count : 1;
	if (r->nodes > MAX_NODES)
		sim_reading_wrong(r, "count", "more than 100000 nodes");
	if (counted && !p->count)
		return;
	s->pools = kar_arena_grow(&s->arena, s->pools, s->n_pools, sizeof(*s->pools));
	s->pools[s->n_pools++] = *p;
}

static void check_capacity(struct sim_reading *r, const struct sim_value *capacity)
{
	const struct kar_quantity none = { 0 };

	for (struct sim_member m = sim_first(capacity); m.value; m = sim_next(m)) {
		struct kar_quantity q;
		char field[SIM_SCENARIO_PATH];

		snprintf(field, sizeof(field), "capacity[%s]", m.key);
		if (sim_quantity_read(m.value, &q, NULL) || kar_quantity_cmp(&q, &none) < 0)
			sim_reading_wrong(r, field, "want a quantity such as 8, 500m or 64Gi");
	}
}

static void read_pool(struct sim_reading *r, const struct sim_value *v)
{
	static const char *const known[] = { "name", "count", "capacity", "labels", "taints", NULL };
	struct sim_scenario_pool p;

	if (!sim_reading_object(r, v, known))
		return;
	p = (struct sim_scenario_pool){
		.name = sim_reading_text(r, v, "name", NULL),
		.count = sim_reading_number(r, v, "count", 0, MAX_NODES),
		.capacity = sim_reading_member(r, v, "capacity", SIM_OBJECT),
		.labels = sim_reading_member(r, v, "labels", SIM_OBJECT),
		.taints = sim_reading_member(r, v, "taints", SIM_ARRAY),
		.place = kar_copy(&r->s->arena, r->path),
	};
	check_capacity(r, p.capacity);
	if (!p.name)
		sim_reading_wrong(r, "name", "a name is required");
	else
		add_pool(r, &p, sim_kind(sim_member(v, "count")) == SIM_INT);
}

/* ---- objects ---- */

static void add_object(struct sim_reading *r, struct sim_value *consumed)
{
	struct sim_scenario *s = r->s;

	sim_append(&s->objects, consumed);
	s->places = kar_arena_grow(&s->arena, s->places, s->n_places, sizeof(*s->places));
	s->places[s->n_places++] = kar_copy(&s->arena, r->path);
}

static void read_queue(struct sim_reading *r, const struct sim_value *v)
{
	static const char *const known[] = { "name", "spec", NULL };
	const struct sim_value *spec = sim_reading_member(r, v, "spec", SIM_OBJECT);
	struct sim_value *queue;
	const char *name;

	if (!sim_reading_object(r, v, known))
		return;
	name = sim_reading_text(r, v, "name", NULL);
	if (!name) {
		sim_reading_wrong(r, "name", "a name is required");
		return;
	}
	queue = sim_object();
	sim_set_text(&queue, KAR_API_VERSION, "apiVersion");
	sim_set_text(&queue, "Queue", "kind");
	sim_set_text(&queue, name, "metadata", "name");
	sim_set(&queue, spec ? sim_ref(spec) : sim_object(), "spec");
	add_object(r, queue);
}

static void read_object(struct sim_reading *r, const struct sim_value *v)
{
	if (!sim_get_text(v, "apiVersion") || !sim_get_text(v, "kind") ||
		!sim_get_text(v, "metadata", "name"))
		sim_reading_wrong(r, "", "apiVersion, kind and metadata.name are required");
	else
		add_object(r, sim_ref(v));
}

/* ---- events ---- */

static const char *job_key(struct kar_arena *arena, const char *name)
{
	return strchr(name, '/') ? name : kar_arena_printf(arena, "default/%s", name);
}

static void read_event(struct sim_reading *r, const struct sim_value *v)
{
	static const char *const known[] = { "at", "kill", "recover", "cordon", "uncordon", "drain", "remove",
		"delete", "suspend", "resume", NULL };
	struct sim_scenario *s = r->s;
	struct sim_scenario_event e = { 0 };
	int found = 0;

	if (!sim_reading_object(r, v, known))
		return;
	e.at = sim_reading_time(r, v, "at", 0);
	for (enum sim_scenario_action a = 0; a < SIM_SCENARIO_ACTIONS; a++) {
		const char *name = sim_reading_text(r, v, sim_scenario_actions[a], NULL);

		if (!name)
			continue;
		e.what = a;
		e.place = kar_arena_printf(&s->arena, "%s.%s", r->path, sim_scenario_actions[a]);
		e.name = a < SIM_SCENARIO_DELETE ? name : job_key(&s->arena, name);
		found++;
	}
	if (found != 1) {
		sim_reading_wrong(r, "",
			"want exactly one of kill, recover, cordon, uncordon, drain, remove, delete, suspend, resume");
		return;
	}
	s->events = kar_arena_grow(&s->arena, s->events, s->n_events, sizeof(*s->events));
	s->events[s->n_events++] = e;
}

/* ---- the whole ---- */

static void check_head(struct sim_reading *r, const struct sim_value *v)
{
	if (!kar_streq(sim_get_text(v, "apiVersion"), KAR_API_VERSION))
		sim_reading_wrong(r, "apiVersion", "want " KAR_API_VERSION);
	if (!kar_streq(sim_get_text(v, "kind"), "Scenario"))
		sim_reading_wrong(r, "kind", "want Scenario");
}

static const char *key_of(struct sim_scenario *s, const struct sim_value *job)
{
	return kar_arena_printf(&s->arena, "%s/%s", sim_get_text(job, "metadata", "namespace"),
		sim_get_text(job, "metadata", "name"));
}

/* Two jobs may have one name only if an event deletes the first. */
static void check_names(struct sim_reading *r)
{
	struct sim_scenario *s = r->s;
	struct sim_lookup seen = { 0 }, deleted = { 0 };

	for (size_t i = 0; i < s->n_events; i++) {
		if (s->events[i].what == SIM_SCENARIO_DELETE)
			sim_lookup_put(&deleted, s->events[i].name, i);
	}
	for (size_t i = 0; i < s->n_jobs; i++) {
		const char *key = key_of(s, s->jobs[i].object);

		if (sim_lookup_get(&seen, key) != SIZE_MAX && sim_lookup_get(&deleted, key) == SIZE_MAX) {
			strlcpy(r->path, s->jobs[i].place, sizeof(r->path));
			sim_reading_duplicate(r, "name", key);
		}
		sim_lookup_put(&seen, key, i);
	}
	r->path[0] = '\0';
	sim_lookup_release(&seen);
	sim_lookup_release(&deleted);
}

static struct sim_range read_assume(struct sim_reading *r, const struct sim_value *document)
{
	static const char *const known[] = { "duration", NULL };
	const struct sim_value *assume = sim_reading_member(r, document, "assume", SIM_OBJECT);
	struct sim_range run;

	strlcpy(r->path, "assume", sizeof(r->path));
	if (assume)
		(void)sim_reading_object(r, assume, known);
	run = sim_reading_range(r, assume, "duration", DEFAULT_DURATION);
	r->path[0] = '\0';
	return run;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct sim_scenario_job *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int compare_events(const void *a, const void *b)
{
	const struct sim_scenario_event *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int read_document(const struct sim_value *document, const uint64_t *seed, struct sim_scenario *out,
	struct sim_causes *causes)
{
	static const char *const known[] = { "apiVersion", "kind", "metadata", "seed", "until", "nodes",
		"queues", "objects", "jobs", "events", "assume", NULL };
	struct sim_reading r = { .s = out, .causes = causes };

	*out = (struct sim_scenario){ .document = sim_ref(document), .objects = sim_array() };
	if (!sim_reading_object(&r, document, known))
		return -1;
	check_head(&r, document);
	out->seed = (uint64_t)sim_reading_number(&r, document, "seed", 1, INT64_MAX);
	if (seed)
		out->seed = *seed;
	out->until = sim_reading_time(&r, document, "until", 0);
	out->run = read_assume(&r, document);
	r.random = sim_random_of(out->seed, "scenario");
	r.sizes = sim_random_of(out->seed, "scenario sizes");
	r.gaps = sim_random_of(out->seed, "scenario gaps");
	sim_reading_items(&r, document, "nodes", read_pool);
	sim_reading_items(&r, document, "queues", read_queue);
	sim_reading_items(&r, document, "objects", read_object);
	sim_reading_items(&r, document, "jobs", sim_scenario_read_job);
	sim_reading_items(&r, document, "events", read_event);
	check_names(&r);
	if (causes->n)
		return -1;
	/* mergesort: stable */
	mergesort(out->jobs, out->n_jobs, sizeof(*out->jobs), compare_jobs);
	mergesort(out->events, out->n_events, sizeof(*out->events), compare_events);
	return 0;
}

int sim_scenario_parse(const char *yaml, size_t n, const uint64_t *seed, struct sim_scenario *out,
	struct sim_causes *causes, struct kar_err *err)
{
	struct kar_buf json = { .cap = MAX_FILE }, more = { .cap = MAX_FILE };
	struct sim_value *document = NULL;
	int rc = -1, found = kar_yaml_to_json(yaml, n, 0, &json, err);

	*out = (struct sim_scenario){ 0 };
	if (found == 0)
		kar_fail(err, KAR_INVALID, "the file is empty");
	else if (found == 1 && kar_yaml_to_json(yaml, n, 1, &more, err) > 0)
		kar_fail(err, KAR_INVALID, "the file has a second document: a scenario is one");
	else if (found == 1)
		document = sim_parse(json.p, json.n, err);
	kar_buf_release(&json);
	kar_buf_release(&more);
	if (document)
		rc = read_document(document, seed, out, causes);
	sim_unref(document);
	return rc;
}

void sim_scenario_release(struct sim_scenario *s)
{
	for (size_t i = 0; i < s->n_jobs; i++)
		sim_unref(s->jobs[i].object);
	sim_unref(s->objects);
	sim_unref(s->document);
	kar_arena_release(&s->arena);
	*s = (struct sim_scenario){ 0 };
}
