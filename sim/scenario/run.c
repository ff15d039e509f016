#include "sim/scenario/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/str.h"
#include "api/names.h"
#include "controllers/controllers.h"
#include "sim/client_sim.h"
#include "sim/nodes/behaviour.h"
#include "sim/scenario/report.h"
#include "sim/virtual_loop.h"

enum { HTTP_REFUSED = 300, TROUBLE = 420, PLACE = 320 };
static const kar_time SLICE = 10 * KAR_SECOND; /* between two looks whether it is over */
static const kar_time LONGEST =
	30 * 24 * 60 * KAR_MINUTE; /* after the last thing the file asks for, without `until` */
static const kar_time STALLED =
	24 * 60 * KAR_MINUTE; /* after all that was to be expected: nothing will happen any more */
static const kar_time BETWEEN_CRASHES = 5 * KAR_MINUTE; /* at most, until a container is started again */
static const kar_time START = 1767225600 * KAR_SECOND; /* 2026-01-01, so that two runs print the same times */

struct world {
	const struct sim_scenario *s;
	struct sim_record *record;
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_nodes *nodes;
	struct kar_loop *loop;
	struct sim_wire *wire;
	struct kar_client *client;
	struct kar_manager *manager;
	struct sim_nodes_options slowest; /* what the kubelets draw, at most */
	kar_time origin;                  /* wall, when the scenario begins */
	kar_time expected; /* mono, of the last change of a job or pod, past or to come by itself */
	bool plays;
	size_t next_job, next_event;
	struct sim_alarm *next;
	struct kar_err *err; /* the first trouble; .what is KAR_OK while there is none */
};

/* ---- requests ---- */

static kar_time elapsed(const struct world *w)
{
	return sim_timeline_wall(w->timeline) - w->origin;
}

/* Notes the first trouble; once the scenario plays, with its time. */
static KAR_PRINTF(2, 3) void trouble(struct world *w, const char *fmt, ...)
{
	char text[TROUBLE], when[32];
	va_list ap;

	if (w->err->what != KAR_OK)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (w->plays)
		kar_fail(w->err, KAR_INVALID, "after %s: %s", sim_report_time(elapsed(w), when), text);
	else
		kar_fail(w->err, KAR_INVALID, "%s", text);
}

static const char *refusal(const struct sim_response *answer)
{
	if (answer->code < HTTP_REFUSED)
		return NULL;
	return sim_text_or(sim_member(answer->object, "message"), "refused without a reason");
}

/* Creates @object; @place: of it in the file. A dry run tells only whether it could be. */
static void create(struct world *w, const struct sim_value *object, const char *place, bool dry_run)
{
	const char *api_version = sim_text_or(sim_member(object, "apiVersion"), ""),
		   *slash = strchr(api_version, '/');
	const char *kind = sim_text_or(sim_member(object, "kind"), "");
	const char *ns = sim_get_text(object, "metadata", "namespace");
	char group[256];
	const struct sim_resource *resource;
	struct sim_request rq = { .verb = KAR_CREATE,
		.group = group,
		.version = slash ? slash + 1 : api_version,
		.object = object,
		.field_validation = "Strict",
		.dry_run = dry_run };
	struct sim_response answer;

	snprintf(group, sizeof(group), "%.*s", slash ? (int)(slash - api_version) : 0, api_version);
	resource = sim_resource_of_kind(w->server, group, kind);
	if (!resource) {
		trouble(w, "%s: no matches for kind \"%s\" in version \"%s\"", place, kind, api_version);
		return;
	}
	rq.resource = resource->plural;
	rq.ns = resource->namespaced ? ns ? ns : "default" : NULL;
	sim_apiserver_call(w->server, &rq, &answer);
	if (refusal(&answer))
		trouble(w, "%s: %s", place, refusal(&answer));
	sim_response_release(&answer);
}

/* @of: the place of what is to be in it. */
static void ensure_namespace(struct world *w, const char *name, const char *of)
{
	struct sim_value *ns;
	char place[PLACE];

	if (!name || !*name || sim_apiserver_peek(w->server, "", "namespaces", NULL, name))
		return;
	ns = sim_object();
	sim_set_text(&ns, "v1", "apiVersion");
	sim_set_text(&ns, "Namespace", "kind");
	sim_set_text(&ns, name, "metadata", "name");
	snprintf(place, sizeof(place), "%s: namespace", of);
	create(w, ns, place, false);
	sim_unref(ns);
}

/* ---- what the scenario asks for ---- */

static const char *name_of(const struct sim_value *object)
{
	return sim_text_or(sim_get(object, "metadata", "name"), "");
}

static const char *place_or(const char *place)
{
	return place ? place : "of the cluster";
}

static void submit(struct world *w, const struct sim_scenario_job *j, bool dry_run)
{
	char place[PLACE];

	if (dry_run)
		ensure_namespace(w, sim_get_text(j->object, "metadata", "namespace"), place_or(j->place));
	snprintf(place, sizeof(place), "%s: QueueJob %s", place_or(j->place), name_of(j->object));
	create(w, j->object, place, dry_run);
}

static void add_object(struct world *w, size_t i)
{
	const struct sim_scenario *s = w->s;
	const struct sim_value *o = sim_item(s->objects, i);
	size_t of_cluster = sim_count(s->objects) - s->n_places;
	const char *of = place_or(i < of_cluster ? NULL : s->places[i - of_cluster]);
	char place[PLACE];

	ensure_namespace(w, sim_get_text(o, "metadata", "namespace"), of);
	snprintf(place, sizeof(place), "%s: %s %s", of, sim_text_or(sim_member(o, "kind"), ""), name_of(o));
	create(w, o, place, false);
}

static void add_pool(struct world *w, const struct sim_scenario_pool *p)
{
	struct sim_node_options o = { .capacity = p->capacity, .labels = p->labels, .taints = p->taints };
	struct kar_err err = { 0 };

	for (int64_t i = 0; i < (p->count ? p->count : 1) && w->err->what == KAR_OK; i++) {
		char name[300];

		snprintf(name, sizeof(name), p->count ? "%s-%lld" : "%s", p->name, (long long)i);
		o.name = name;
		if (sim_nodes_add(w->nodes, &o, &err) ||
			(p->cordoned && sim_nodes_cordon(w->nodes, name, true, &err)))
			trouble(w, "%s: %s", place_or(p->place), err.msg);
	}
}

static void change_job(struct world *w, const struct sim_scenario_event *e)
{
	const char *slash = strchr(e->name, '/');
	bool deletes = e->what == SIM_SCENARIO_DELETE;
	char ns[256];
	struct sim_request rq = {
		.verb = deletes ? KAR_DELETE : KAR_PATCH,
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.resource = "queuejobs",
		.ns = ns,
		.name = slash + 1,
		.patch_type = KAR_PATCH_MERGE,
		.propagation_policy = deletes ? "Background" : NULL,
	};
	struct sim_value *patch = sim_object();
	struct sim_response answer;

	snprintf(ns, sizeof(ns), "%.*s", (int)(slash - e->name), e->name);
	sim_set(&patch, sim_bool(e->what == SIM_SCENARIO_SUSPEND), "spec", "suspend");
	if (!deletes)
		rq.object = patch;
	sim_apiserver_call(w->server, &rq, &answer);
	if (refusal(&answer))
		trouble(w, "%s: %s", e->place, refusal(&answer));
	sim_response_release(&answer);
	sim_unref(patch);
}

static int change_node(struct world *w, const struct sim_scenario_event *e, struct kar_err *err)
{
	switch (e->what) {
	case SIM_SCENARIO_KILL:
		return sim_nodes_kill(w->nodes, e->name, SIM_LOSS_POWER, err);
	case SIM_SCENARIO_RECOVER:
		return sim_nodes_recover(w->nodes, e->name, err);
	case SIM_SCENARIO_DRAIN:
		return sim_nodes_drain(w->nodes, e->name, err);
	case SIM_SCENARIO_REMOVE:
		return sim_nodes_remove(w->nodes, e->name, err);
	default:
		return sim_nodes_cordon(w->nodes, e->name, e->what == SIM_SCENARIO_CORDON, err);
	}
}

static void carry_out(struct world *w, const struct sim_scenario_event *e)
{
	struct kar_err err = { 0 };

	if (e->what >= SIM_SCENARIO_DELETE)
		change_job(w, e);
	else if (change_node(w, e, &err))
		trouble(w, "%s: %s", e->place, err.msg);
}

/* Ms from now until the next thing of the file; KAR_NEVER: all is done. */
static kar_time until_next(const struct world *w)
{
	const struct sim_scenario *s = w->s;
	kar_time job = w->next_job < s->n_jobs ? s->jobs[w->next_job].at : KAR_NEVER;
	kar_time event = w->next_event < s->n_events ? s->events[w->next_event].at : KAR_NEVER;
	kar_time at = job < event ? job : event;

	return at == KAR_NEVER ? KAR_NEVER : at > elapsed(w) ? at - elapsed(w) : 0;
}

static void arm(struct world *w)
{
	kar_time wait = until_next(w);

	if (wait != KAR_NEVER)
		sim_alarm_start(w->next, wait);
}

static void on_next(void *arg)
{
	struct world *w = arg;
	const struct sim_scenario *s = w->s;

	for (; w->next_event < s->n_events && s->events[w->next_event].at <= elapsed(w); w->next_event++)
		carry_out(w, &s->events[w->next_event]);
	for (; w->next_job < s->n_jobs && s->jobs[w->next_job].at <= elapsed(w); w->next_job++)
		submit(w, &s->jobs[w->next_job], false);
	arm(w);
}

/* ---- is anything still to be expected? ---- */

static void expect(struct world *w, kar_time after)
{
	kar_time now = sim_timeline_mono(w->timeline), when = after > LONGEST ? now + LONGEST : now + after;

	if (when > w->expected)
		w->expected = when;
}

/* A pod that got a node ends in its time, unless it runs until deleted. */
static void expect_pod(struct world *w, const struct sim_value *pod)
{
	struct sim_random any = { .s = { 1 } };
	struct sim_behaviour b = sim_behaviour_of(sim_get(pod, "metadata", "annotations"), &w->slowest, &any);
	kar_time runs = sim_behaviour_end(&b, b.crashes).after;

	if (runs != KAR_NEVER)
		expect(w, b.start + (b.crash_after + BETWEEN_CRASHES) * (kar_time)b.crashes + runs);
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct world *w = arg;
	bool job = kar_streq(c->resource, "queuejobs");

	if (!job && (!kar_streq(c->resource, "pods") || c->group[0]))
		return;
	expect(w, 0);
	if (job && c->new)
		expect(w, sim_get_int(c->new, 0, "spec", "activeDeadlineSeconds") * KAR_SECOND);
	else if (c->new &&sim_get_text(c->new, "spec", "nodeName") &&
		!sim_get_text(c->old, "spec", "nodeName"))
		expect_pod(w, c->new);
}

/* ---- the world ---- */

static void on_request(void *arg, const char *user KAR_UNUSED, const struct sim_request *rq,
	const struct sim_response *answer KAR_UNUSED)
{
	sim_record_request(arg, rq);
}

static void build(struct world *w, const struct sim_run_options *o)
{
	const struct sim_scenario *s = w->s;
	const struct sim_apiserver_options server = { .seed = s->seed };
	const struct sim_nodes_options nodes = { .seed = s->seed,
		.start = { KAR_SECOND, 3 * KAR_SECOND },
		.stop = { KAR_SECOND, KAR_SECOND },
		.run = s->run,
		.decision = 5 };
	const struct sim_faults none = { 0 };
	const struct sim_wire_observer observer = { .executed = on_request, .arg = w->record };
	const struct kar_controllers_options manager = { .instance = "kar-sim",
		.seed = s->seed,
		.settings = kar_default_settings() };

	w->slowest = nodes;
	w->slowest.start.low = nodes.start.high;
	w->slowest.run.low = nodes.run.high;
	w->timeline = sim_timeline_new(START);
	w->server = sim_apiserver_new(w->timeline, &server);
	sim_record_start(w->record, w->server);
	sim_apiserver_listen(w->server, on_change, w);
	w->nodes = sim_nodes_new(w->server, &nodes);
	w->wire = sim_wire_new(w->server, s->seed, &none);
	sim_wire_observe(w->wire, &observer);
	w->loop = sim_loop_new(w->timeline);
	if (o->clock)
		sim_loop_charge(w->loop, o->clock);
	w->client = sim_client_new(w->loop, w->wire, "kar-controllers");
	w->manager = kar_controllers_new(w->loop, w->client, &manager);
	w->next = sim_alarm_new(w->timeline, on_next, w);
	if (sim_apiserver_install_crds(w->server, o->crds, w->err))
		return;
	sim_timeline_run(w->timeline,
		sim_timeline_mono(w->timeline) + SLICE); /* until the CRDs are established */
	w->origin = w->record->start = sim_timeline_wall(w->timeline);
}

/* An event about something that never is cannot be meant. */
static void check_events(struct world *w)
{
	const struct sim_scenario *s = w->s;
	struct sim_lookup jobs = { 0 };
	struct kar_arena arena = { 0 };

	for (size_t i = 0; i < s->n_jobs; i++)
		sim_lookup_put(&jobs,
			kar_arena_printf(&arena, "%s/%s",
				sim_get_text(s->jobs[i].object, "metadata", "namespace"),
				name_of(s->jobs[i].object)),
			i);
	for (size_t i = 0; i < s->n_events; i++) {
		const struct sim_scenario_event *e = &s->events[i];
		bool job = e->what >= SIM_SCENARIO_DELETE;

		if (job ? sim_lookup_get(&jobs, e->name) == SIZE_MAX
			: !sim_apiserver_peek(w->server, "", "nodes", NULL, e->name))
			trouble(w, "%s: Not found: \"%s\": there is no such %s", e->place, e->name,
				job ? "job" : "node");
	}
	sim_lookup_release(&jobs);
	kar_arena_release(&arena);
}

static void furnish(struct world *w)
{
	const struct sim_scenario *s = w->s;

	for (size_t i = 0; i < s->n_pools && w->err->what == KAR_OK; i++)
		add_pool(w, &s->pools[i]);
	for (size_t i = 0; i < sim_count(s->objects) && w->err->what == KAR_OK; i++)
		add_object(w, i);
	for (size_t i = 0; i < s->n_jobs && w->err->what == KAR_OK; i++)
		submit(w, &s->jobs[i], true); /* what is wrong with it is said before hours are simulated */
	check_events(w);
}

/* When the file has nothing more to say, in ms after the start. */
static kar_time last_of(const struct sim_scenario *s)
{
	kar_time job = s->n_jobs ? s->jobs[s->n_jobs - 1].at : 0,
		 event = s->n_events ? s->events[s->n_events - 1].at : 0;

	return job > event ? job : event;
}

static bool is_over(const struct world *w)
{
	const struct sim_record *r = w->record;

	if (w->err->what != KAR_OK)
		return true;
	if (w->s->until)
		return elapsed(w) >= w->s->until;
	if (until_next(w) != KAR_NEVER)
		return false;
	return r->n_ended == r->n_jobs || elapsed(w) >= last_of(w->s) + LONGEST ||
		sim_timeline_mono(w->timeline) >= w->expected + STALLED;
}

static void play(struct world *w, const struct sim_run_options *o)
{
	w->plays = true;
	kar_manager_start(w->manager);
	arm(w);
	do {
		kar_time left = w->s->until ? w->s->until - elapsed(w) : SLICE;

		sim_timeline_run(w->timeline, sim_timeline_mono(w->timeline) + (left < SLICE ? left : SLICE));
		if (o->progress)
			o->progress(o->arg, elapsed(w), w->record->n_ended, w->s->n_jobs);
	} while (!is_over(w));
}

static void demolish(struct world *w)
{
	sim_alarm_free(w->next);
	sim_client_kill(w->client);
	kar_manager_free(w->manager);
	kar_client_free(w->client);
	kar_loop_free(w->loop);
	sim_wire_free(w->wire);
	sim_nodes_free(w->nodes);
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
}

int sim_run(const struct sim_scenario *s, const struct sim_run_options *o, struct sim_record *out,
	struct kar_err *err)
{
	struct world w = { .s = s, .record = out, .err = err };

	err->what = KAR_OK;
	build(&w, o);
	if (err->what == KAR_OK)
		furnish(&w);
	if (err->what == KAR_OK)
		play(&w, o);
	sim_record_close(out);
	demolish(&w);
	if (err->what == KAR_OK)
		return 0;
	sim_record_release(out);
	return -1;
}
