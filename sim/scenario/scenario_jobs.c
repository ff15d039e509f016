/* The jobs of a scenario file: QueueJobs whose pods are told how long they run and how they end. */
#include <stdio.h>
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "sim/scenario/scenario_impl.h"

enum { MAX_JOBS = 100000, MAX_REPLICAS = 100000, NAME_LEN = 300 };
static const kar_time DEFAULT_DURATION = 10 * KAR_MINUTE;

static void set_annotation(struct sim_value **template, const char *key, struct sim_value *consumed)
{
	if (sim_get(*template, "metadata", "annotations", key))
		sim_unref(consumed);
	else
		sim_set(template, consumed, "metadata", "annotations", key);
}

static void complete_template(struct sim_value **template, const char *outcome, kar_time duration)
{
	bool chosen = sim_get(*template, "metadata", "annotations", "test.kube-arbitrator.io/outcome");

	if (!sim_count(sim_get(*template, "spec", "containers"))) {
		struct sim_value *container = sim_object(), *containers = sim_array();

		sim_set_text(&container, "main", "name");
		sim_set_text(&container, "busybox:1.36", "image");
		sim_append(&containers, container);
		sim_set(template, containers, "spec", "containers");
	}
	if (chosen)
		return;
	set_annotation(template, "test.kube-arbitrator.io/outcome", sim_string(outcome));
	set_annotation(template, "test.kube-arbitrator.io/after", sim_printf("%lldms", (long long)duration));
}

/* @replicas: of each task; 0: as it is. */
static void complete_tasks(struct sim_value **spec, const char *outcome, kar_time duration, int64_t replicas)
{
	struct sim_value *tasks = sim_take(spec, "taskSpecs");

	for (size_t i = 0; i < sim_count(tasks); i++) {
		struct sim_value *task = sim_take_item(&tasks, i);
		struct sim_value *template = sim_take(&task, "template");

		if (!template)
			template = sim_object();
		complete_template(&template, outcome, duration);
		sim_set(&task, template, "template");
		if (replicas)
			sim_set(&task, sim_int(replicas), "replicas");
		sim_replace(&tasks, i, task);
	}
	if (tasks)
		sim_set(spec, tasks, "taskSpecs");
}

static void move(const struct sim_value *from, const char *key, struct sim_value **to, const char *a,
	const char *b)
{
	const struct sim_value *v = sim_member(from, key);

	if (v && b)
		sim_set(to, sim_ref(v), a, b);
	else if (v)
		sim_set(to, sim_ref(v), a);
}

/* Resources of devices ("nvidia.com/gpu") are refused without a limit, which is the request. */
static void limit_devices(const struct sim_value *v, struct sim_value **container)
{
	const struct sim_value *requests = sim_member(v, "requests");

	if (sim_kind(requests) != SIM_OBJECT)
		return;
	for (struct sim_member m = sim_first(requests); m.value; m = sim_next(m)) {
		if (strchr(m.key, '/'))
			sim_set(container, sim_ref(m.value), "resources", "limits", m.key);
	}
}

/* The short form: one task. */
static struct sim_value *short_spec(const struct sim_value *v)
{
	struct sim_value *spec = sim_object(), *task = sim_object(), *tasks = sim_array(),
			 *container = sim_object(), *containers = sim_array();

	sim_set_text(&container, "main", "name");
	sim_set_text(&container, "busybox:1.36", "image");
	move(v, "requests", &container, "resources", "requests");
	limit_devices(v, &container);
	sim_append(&containers, container);
	sim_set_text(&task, "main", "name");
	move(v, "replicas", &task, "replicas", NULL);
	sim_set(&task, containers, "template", "spec", "containers");
	sim_append(&tasks, task);
	sim_set(&spec, tasks, "taskSpecs");
	return spec;
}

static struct sim_value *read_spec(struct sim_reading *r, const struct sim_value *v)
{
	const struct sim_value *given = sim_reading_member(r, v, "spec", SIM_OBJECT);
	struct sim_value *spec;

	if (given && (sim_member(v, "replicas") || sim_member(v, "requests")))
		sim_reading_wrong(r, "spec", "replicas and requests are for jobs without a spec");
	spec = given ? sim_ref(given) : short_spec(v);
	move(v, "queue", &spec, "queue", NULL);
	move(v, "minAvailable", &spec, "schedSpec", "minAvailable");
	move(v, "priority", &spec, "schedSpec", "priority");
	return spec;
}

static void add_job(struct sim_reading *r, const struct sim_value *spec, const struct sim_scenario_job *like,
	const char *ns, const char *name)
{
	struct sim_scenario *s = r->s;
	struct sim_value *job = sim_object();

	sim_set_text(&job, KAR_API_VERSION, "apiVersion");
	sim_set_text(&job, "QueueJob", "kind");
	sim_set_text(&job, ns, "metadata", "namespace");
	sim_set_text(&job, name, "metadata", "name");
	sim_set(&job, sim_ref(spec), "spec");
	s->jobs = kar_arena_grow(&s->arena, s->jobs, s->n_jobs, sizeof(*s->jobs));
	s->jobs[s->n_jobs] = *like;
	s->jobs[s->n_jobs++].object = job;
}

static const char *read_outcome(struct sim_reading *r, const struct sim_value *v)
{
	static const char *const outcomes[] = { "succeed", "fail", "run", "pending", "oom", "hang",
		"pull-error", "evict" };
	const char *outcome = sim_reading_text(r, v, "outcome", outcomes[0]);

	for (size_t i = 0; i < KAR_LEN(outcomes); i++) {
		if (!strcmp(outcome, outcomes[i]))
			return outcome;
	}
	sim_reading_wrong(r, "outcome", "want succeed, fail, run, pending, oom, hang, pull-error or evict");
	return outcomes[0];
}

/* How many jobs an item stands for; *@numbered: their names end in a number. */
static int64_t read_count(struct sim_reading *r, const struct sim_value *v, bool *numbered)
{
	int64_t n = sim_reading_number(r, v, "count", 1, MAX_JOBS);

	*numbered = sim_kind(sim_member(v, "count")) == SIM_INT;
	if (n <= MAX_JOBS - (int64_t)r->s->n_jobs)
		return n;
	sim_reading_wrong(r, "count", "more than 100000 jobs");
	return 0;
}

static void add_jobs(struct sim_reading *r, const struct sim_value *v, const char *name)
{
	const char *ns = sim_reading_text(r, v, "namespace", "default"), *outcome = read_outcome(r, v);
	struct sim_scenario_job job = { .at = sim_reading_time(r, v, "at", 0),
		.place = kar_copy(&r->s->arena, r->path) };
	struct sim_range every = sim_reading_range(r, v, "every", 0),
			 duration = sim_reading_range(r, v, "duration", DEFAULT_DURATION),
			 replicas = sim_reading_numbers(r, v, "replicas", MAX_REPLICAS);
	bool numbered;
	int64_t n = read_count(r, v, &numbered);
	struct sim_value *spec = read_spec(r, v);

	for (int64_t i = 0; i < n; i++) {
		struct sim_value *own = sim_ref(spec);
		char full[NAME_LEN];

		snprintf(full, sizeof(full), numbered ? "%s-%lld" : "%s", name, (long long)i);
		complete_tasks(&own, outcome, sim_random_between(&r->random, duration.low, duration.high),
			sim_random_between(&r->sizes, replicas.low, replicas.high));
		add_job(r, own, &job, ns, full);
		sim_unref(own);
		job.at += sim_random_between(&r->gaps, every.low, every.high);
	}
	sim_unref(spec);
}

void sim_scenario_read_job(struct sim_reading *r, const struct sim_value *v)
{
	static const char *const known[] = { "name", "namespace", "at", "count", "every", "duration",
		"outcome", "spec", "replicas", "requests", "queue", "priority", "minAvailable", NULL };
	const char *name;

	if (!sim_reading_object(r, v, known))
		return;
	name = sim_reading_text(r, v, "name", NULL);
	if (!name || strlen(name) > 253)
		sim_reading_wrong(r, "name", "a name of at most 253 characters is required");
	else
		add_jobs(r, v, name);
}
