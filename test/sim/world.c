#include "test/sim/world.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/log.h"
#include "test/sim/rules.h"

/* 2026-11-21T00:00:00Z */
static const kar_time WALL = 1795219200 * KAR_SECOND;

/* How old a state is that a manager may still act upon; see struct model. */
static const kar_time FRESH = KAR_SECOND, STALE = 5 * KAR_MINUTE;

/* Until the last manager that was down or frozen is at work again, and has heard all that it missed. */
static const kar_time AFTERMATH = 6 * KAR_MINUTE;

kar_time world_time(const struct world *w)
{
	return sim_timeline_mono(w->timeline) - w->start;
}

/* --- who listens --------------------------------------------------------------------------------------- */

static void on_change(void *arg, const struct sim_change *c)
{
	struct world *w = arg;

	w->hash = kar_hash_str(kar_hash_str(w->hash + (uint64_t)c->rv, c->name), c->user ? c->user : "");
	w->hash += (uint64_t)world_time(w);
	w->events += strcmp(c->resource, "events") == 0;
	trace_change(w, c);
	race_pod_name_see(w, c);
	race_room_see(w, c);
	race_suspend_see(w, c);
	race_ttl_see(w, c);
	users_gangs_see(w, c);
}

static void on_log(void *arg, const char *line, size_t n)
{
	struct world *w = arg;

	if (!w->dying)
		trace_log(w, line, n);
}

/* --- what happens by itself ---------------------------------------------------------------------------- */

static void plan_next(struct world *w)
{
	const struct plan *p = w->plan;
	kar_time at;

	if (w->action == p->n_actions)
		return;
	at = p->actions[w->action].at;
	sim_alarm_start(w->next_action, at > world_time(w) ? at - world_time(w) : 0);
}

static void on_action(void *arg)
{
	struct world *w = arg;

	users_act(w, &w->plan->actions[w->action++]);
	plan_next(w);
}

static void on_chaos(void *arg)
{
	struct world *w = arg;

	if (w->calm)
		return;
	world_chaos(w);
	sim_alarm_start(w->chaos, KAR_MINUTE);
}

/* --- life ---------------------------------------------------------------------------------------------- */

static bool has_faults(const struct sim_faults *f)
{
	for (size_t i = 0; i < SIM_FAULT_COUNT; i++) {
		if (f->rate[i])
			return true;
	}
	return false;
}

/* Does each request get its answer, and each watch its events? */
static bool has_sure_network(const struct sim_faults *f)
{
	static const enum sim_fault harmless[] = { SIM_FAULT_CHUNKS, SIM_FAULT_CRASH, SIM_FAULT_OVERLAP,
		SIM_FAULT_FREEZE, SIM_FAULT_CLOCK, SIM_FAULT_KILL };
	struct sim_faults others = *f;

	for (size_t i = 0; i < KAR_LEN(harmless); i++)
		others.rate[harmless[i]] = 0;
	return !has_faults(&others);
}

static bool is_squatted(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].verb == PLAN_BLOCK_POD || p->actions[i].verb == PLAN_STEAL_POD ||
			p->actions[i].verb == PLAN_CROWD_POD || p->actions[i].verb == PLAN_DISOWN_POD ||
			(p->actions[i].verb == PLAN_DELETE &&
				p->actions[i].value == 2)) /* orphans keep their names */
			return true;
	}
	return false;
}

static bool has_quota(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].verb == PLAN_QUOTA || p->actions[i].verb == PLAN_SCOPED)
			return true;
	}
	return false;
}

static void add_ledger(struct world *w)
{
	bool faults = has_faults(&w->faults);

	w->model = model_new(w->server, faults ? STALE : FRESH);
	w->model->faultless = !faults;
	w->model->undisturbed = faults ? KAR_NEVER : 0;
	w->model->overlaps = w->faults.rate[SIM_FAULT_OVERLAP] > 0 && !w->plan->leases;
	w->model->leases = w->plan->leases;
	if (w->plan->default_times)
		w->model->min_runtime = kar_default_settings().min_runtime;
	if (w->plan->default_times && w->plan->shares)
		w->model->freezing_window = kar_default_settings().freezing_window;
	w->model->bounds = w->plan->bounds;
	w->model->sure_network = has_sure_network(&w->faults);
	w->model->squatted = is_squatted(w->plan);
	w->model->quota = has_quota(w->plan) || plan_is_obstructed(w->plan);
	w->model->hindered = w->model->squatted || w->model->quota;
	w->model->max_in_flight = w->plan->max_in_flight;
	sim_apiserver_listen(w->server, on_change, w);
}

static void add_server(struct world *w)
{
	const struct sim_apiserver_options o = { .seed = w->plan->seed };
	struct kar_err err;

	w->timeline = sim_timeline_new(WALL);
	w->start = sim_timeline_mono(w->timeline);
	w->server = sim_apiserver_new(w->timeline, &o);
	if (sim_apiserver_install_crds(w->server, KAR_CRDS, &err)) {
		fprintf(stderr, "%s: %s\n", KAR_CRDS, err.msg);
		abort();
	}
}

static void add_nodes(struct world *w)
{
	const struct sim_nodes_options o = { .seed = w->plan->seed,
		.start = { 300, 3000 },
		.stop = { 50, 1500 },
		.decision = 10,
		.gangs = w->plan->gangs };
	const struct sim_other_user_options other = { .seed = w->plan->seed,
		.pause = { 5 * KAR_SECOND, 2 * KAR_MINUTE },
		.run = { 10 * KAR_SECOND, 10 * KAR_MINUTE },
		.cpu_low = 100,
		.cpu_high = 2000,
		.most = 20,
		.delete_per_mille = 200 };

	w->nodes = sim_nodes_new(w->server, &o);
	users_prepare(w);
	if (w->plan->other_user)
		w->other = sim_other_user_new(w->server, &other);
}

void world_init(struct world *w, const struct plan *plan, bool faults, FILE *trace)
{
	*w = (struct world){ .plan = plan, .trace = trace, .random = sim_random_of(plan->seed, "world") };
	if (faults)
		w->faults = plan->faults;
	kar_log_init(KAR_LOG_TEXT, trace ? 2 : -1);
	kar_log_redirect(on_log, w);
	add_server(w);
	users_gangs_init(w);
	add_ledger(w);
	w->wire = sim_wire_new(w->server, plan->seed, &w->faults);
	process_observe(w);
	add_nodes(w);
	race_pod_name_init(w);
	race_room_init(w);
	race_suspend_init(w);
	race_ttl_init(w);
	for (size_t i = 0; i < WORLD_PROCESSES; i++)
		process_init(w, &w->processes[i]);
	process_start(&w->processes[0]);
	if (plan->leases)
		process_start(&w->processes[1]);
	w->next_action = sim_alarm_new(w->timeline, on_action, w);
	plan_next(w);
	w->chaos = sim_alarm_new(w->timeline, on_chaos, w);
	if (has_faults(&w->faults))
		sim_alarm_start(w->chaos, KAR_MINUTE);
}

void world_release(struct world *w)
{
	for (size_t i = 0; i < WORLD_PROCESSES; i++)
		process_release(&w->processes[i]);
	sim_alarm_free(w->next_action);
	sim_alarm_free(w->chaos);
	race_pod_name_release(w);
	race_room_release(w);
	race_suspend_release(w);
	race_ttl_release(w);
	users_gangs_release(w);
	sim_other_user_free(w->other);
	sim_nodes_free(w->nodes);
	sim_wire_free(w->wire);
	sim_apiserver_free(w->server);
	model_free(w->model);
	sim_timeline_free(w->timeline);
	kar_log_redirect(NULL, NULL);
}

/* Something keeps itself busy without time going on. */
static void check_progress(struct world *w)
{
	enum { TOO_MANY = 200000 };

	if (world_time(w) != w->moment) {
		w->moment = world_time(w);
		w->steps = 0;
	} else if (++w->steps > TOO_MANY) {
		model_break(w->model, "progress",
			"%d things happen in one millisecond, and there is no end to it", TOO_MANY);
	}
}

static void check_due(struct world *w)
{
	if (world_time(w) - w->looked < KAR_SECOND)
		return;
	w->looked = world_time(w);
	rules_check_due(w->model);
	rules_check_services_due(w->model);
	rules_check_nodes(w->model);
	rules_check_gangs(w->model);
	rules_check_lease_due(w->model);
}

bool world_run(struct world *w, kar_time until)
{
	while (!w->model->broken && sim_timeline_step(w->timeline, w->start + until)) {
		check_progress(w);
		check_due(w);
	}
	return !w->model->broken;
}

void world_calm(struct world *w)
{
	trace_tell(w, "people", "all is calm from now on");
	w->calm = true;
	if (w->model->undisturbed == KAR_NEVER)
		w->model->undisturbed = model_now(w->model) + AFTERMATH;
	w->faults = (struct sim_faults){ 0 };
	sim_wire_calm(w->wire);
	process_calm(w);
	sim_other_user_free(w->other);
	w->other = NULL;
	users_restore(w);
}
