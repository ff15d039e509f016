/* Managers that live and die. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "test/sim/rules.h"
#include "test/sim/world.h"

enum {
	HOURLY = 100 * 60, /* rates are hundredths per hour; the dice are thrown every minute */
	DOWN_MIN = 1000,   /* ms */
	DOWN_MAX = 30000,
	DOWN_LONG = 300000,
	OVERLAP_MAX = 120000,
	FREEZE_MAX = 60000,
	JUMP_MAX = 3600000,
	UNUSUAL = 100, /* of 1000 */
	STOPPED = 500, /* of 1000 ends: it is told to stop */
};

static kar_time draw(struct world *w, kar_time low, kar_time high)
{
	return sim_random_between(&w->random, low, high);
}

static const char *new_name(struct process *p)
{
	size_t number = (size_t)(p - p->w->processes);
	char *name = kar_xmalloc(MODEL_NAME);

	snprintf(name, MODEL_NAME, MODEL_MANAGER "%c%zu", (char)('a' + number), p->n_names);
	p->names = kar_xrealloc(p->names, p->n_names + 1, sizeof(*p->names));
	p->names[p->n_names++] = name;
	return name;
}

static const char *name_of(const struct process *p)
{
	return p->names[p->n_names - 1];
}

static void on_won(void *arg)
{
	struct process *p = arg;

	p->w->terms++;
	kar_manager_lead(p->manager);
}

/* As main.c does: it ends at once. */
static void on_lost(void *arg, const char *holder)
{
	struct process *p = arg;

	trace_tell(p->w, name_of(p), "loses the lease to %s", holder);
	sim_alarm_start(p->change, 0);
}

/* For election. */
static void stand(struct process *p)
{
	const struct kar_elector_options o = { .ns = "default",
		.app = "kar-controllers",
		.name = "kar-controllers",
		.identity = name_of(p),
		.times = { 15 * KAR_SECOND, 10 * KAR_SECOND, 2 * KAR_SECOND },
		.seed = sim_random_next(&p->w->random),
		.won = on_won,
		.lost = on_lost,
		.arg = p };

	p->elector = kar_elector_new(p->loop, p->client, &o);
	kar_elector_start(p->elector);
}

static struct kar_settings settings_of(const struct plan *p)
{
	struct kar_settings s = { .schedule_timeout = KAR_MINUTE, .direct_schedulers = "kar-scheduler" };

	if (p->default_times)
		s = kar_default_settings();
	s.recounts = true;
	s.usage_half_life = p->half_life * KAR_SECOND;
	return s;
}

void process_start(struct process *p)
{
	struct world *w = p->w;
	const char *name = new_name(p);
	const struct kar_controllers_options o = {
		.instance = name,
		.candidate = w->plan->leases,
		.seed = sim_random_next(&w->random),
		.settings = settings_of(w->plan),
		.executor = { .max_in_flight = w->plan->max_in_flight },
	};

	trace_tell(w, name, "starts");
	p->loop = sim_loop_new(w->timeline);
	sim_loop_jump_wall(p->loop, p->wall_error);
	p->client = sim_client_new(p->loop, w->wire, name);
	p->manager = kar_controllers_new(p->loop, p->client, &o);
	kar_manager_start(p->manager);
	if (w->plan->leases)
		stand(p);
}

static void on_stopped(void *arg, bool clean)
{
	(void)arg;
	(void)clean;
}

/* Nothing of what it would do in its last moment reaches the world; its memory goes. */
void process_crash(struct process *p)
{
	if (!p->manager)
		return;
	trace_tell(p->w, name_of(p), "is dead");
	p->w->dying = true;
	sim_alarm_stop(p->thaw);
	sim_alarm_stop(p->kill);
	kar_elector_free(p->elector);
	p->elector = NULL;
	kar_manager_stop(p->manager, on_stopped, NULL);
	sim_client_kill(p->client);
	kar_manager_free(p->manager);
	kar_client_free(p->client);
	kar_loop_free(p->loop);
	p->manager = NULL;
	p->client = NULL;
	p->loop = NULL;
	p->w->dying = false;
}

static void on_released(void *arg)
{
	struct process *p = arg;

	rules_check_stopped(p->w->model, name_of(p));
	sim_alarm_start(p->change, 0);
}

static void on_drained(void *arg, bool clean)
{
	struct process *p = arg;

	if (clean)
		kar_elector_stop(p->elector, on_released, p);
	else
		sim_alarm_start(p->change, 0);
}

static kar_time down_time(struct world *w)
{
	return sim_random_chance(&w->random, UNUSUAL) ? draw(w, DOWN_MAX, DOWN_LONG)
						      : draw(w, DOWN_MIN, DOWN_MAX);
}

/* The alarm of a place: who runs there dies; if none runs, one starts. Without leases the second place is for overlaps only. */
static void on_change(void *arg)
{
	struct process *p = arg;
	bool main_place = p == &p->w->processes[0] || p->w->plan->leases;

	if (!p->manager) {
		process_start(p);
		return;
	}
	process_crash(p);
	if (main_place)
		sim_alarm_start(p->change, p->w->calm ? DOWN_MIN : down_time(p->w));
}

/* At any moment: between two events that it reads, say. */
static void on_kill(void *arg)
{
	struct process *p = arg;

	if (p->elector && p->manager && sim_random_chance(&p->w->random, STOPPED)) {
		trace_tell(p->w, name_of(p), "is told to stop");
		p->w->stops++;
		kar_manager_stop(p->manager, on_drained, p);
		return;
	}
	p->w->kills++;
	sim_alarm_start(p->change, 0);
}

static void on_thaw(void *arg)
{
	struct process *p = arg;

	if (!p->manager)
		return;
	trace_tell(p->w, name_of(p), "goes on");
	sim_loop_thaw(p->loop);
}

static void on_struck(void *arg, struct kar_client *client, enum sim_fault fault,
	const struct sim_request *rq)
{
	struct world *w = arg;

	if (fault != SIM_FAULT_CHUNKS)
		trace_tell(w, "network", "fault %s: %s %s %s", sim_fault_name(fault),
			rq ? kar_verb_name(rq->verb) : "", rq ? rq->resource : "",
			rq && rq->name ? rq->name : "");
	for (size_t i = 0; fault == SIM_FAULT_CRASH && i < WORLD_PROCESSES; i++) {
		struct process *p = &w->processes[i];

		if (p->manager && p->client == client) {
			w->crashes++;
			sim_alarm_start(p->change, 0);
		}
	}
}

/* With its caches caught up, a manager that nobody disturbs does not create what it has created. */
static void check_own_create(struct world *w, const struct sim_request *rq, const struct sim_response *answer)
{
	const char *name = sim_text_or(sim_get(answer->object, "details", "name"), "");
	const struct sim_value *there =
		rq->ns ? sim_apiserver_peek(w->server, rq->group, rq->resource, rq->ns, name) : NULL;
	struct kar_err err;
	struct sim_value *wanted = there ? sim_parse(rq->body.p, rq->body.n, &err) : NULL;
	const char *mine = model_owner(wanted), *its = model_owner(there);

	if (strcmp(rq->resource, "services") == 0 && !rules_is_service_seen(w->model, there))
		its = NULL;
	if (mine && its && strcmp(mine, its) == 0)
		model_break(w->model, "created-once", "%s %s/%s is created a second time", rq->resource,
			rq->ns, name);
	sim_unref(wanted);
}

/* What a manager's create of a pod was answered; what succeeded is in the model already. */
static void note_answer(struct world *w, const struct sim_request *rq, const struct sim_response *answer)
{
	struct kar_err err;
	struct sim_value *pod;

	if (rq->verb != KAR_CREATE || rq->subresource || strcmp(rq->resource, "pods") != 0 ||
		(!rq->dry_run && answer->code < 300))
		return;
	pod = sim_parse(rq->body.p, rq->body.n, &err);
	if (pod)
		model_answered(w->model, rq, pod, answer->code);
	sim_unref(pod);
}

static void on_executed(void *arg, const char *user, const struct sim_request *rq,
	const struct sim_response *answer)
{
	struct world *w = arg;
	bool of_one = rq->verb == KAR_GET || rq->verb == KAR_PATCH || rq->verb == KAR_UPDATE;

	if (of_one && answer->code == 200 && rq->resource[0] == 'q' && strcmp(rq->resource, "queuejobs") == 0)
		model_read(w->model, user, answer->object);
	model_executed(w->model, user, rq, answer);
	if (w->model->faultless && rq->verb == KAR_CREATE && !rq->dry_run && answer->code == 409 &&
		!model_is_hostile(rq->ns))
		check_own_create(w, rq, answer);
	note_answer(w, rq, answer);
	if (w->trace && answer->code >= 300)
		trace_tell(w, user, "is refused: %s %s %s: %d %s", kar_verb_name(rq->verb), rq->resource,
			rq->name ? rq->name : "", answer->code,
			sim_text_or(sim_member(answer->object, "message"), ""));
}

static void on_sent(void *arg, const char *user, const struct sim_request *rq)
{
	struct world *w = arg;

	model_sent(w->model, user, rq);
}

static void on_handed(void *arg, const char *user, const struct sim_request *rq)
{
	struct world *w = arg;

	model_handed(w->model, user, rq);
}

static void on_told(void *arg, const char *user, const char *resource, int64_t rv)
{
	struct world *w = arg;

	model_told(w->model, user, resource, rv);
}

static void on_heard(void *arg, const char *user, const struct sim_request *rq,
	const struct sim_response *answer)
{
	struct world *w = arg;

	model_heard(w->model, user, rq, answer);
}

void process_observe(struct world *w)
{
	sim_wire_observe(w->wire,
		&(struct sim_wire_observer){ .sent = on_sent,
			.handed = on_handed,
			.told = on_told,
			.heard = on_heard,
			.executed = on_executed,
			.struck = on_struck,
			.arg = w });
}

/* --- chaos --------------------------------------------------------------------------------------------- */

static bool happens(struct world *w, enum sim_fault f)
{
	return w->faults.rate[f] && sim_random_below(&w->random, HOURLY) < w->faults.rate[f];
}

static void freeze(struct process *p)
{
	struct world *w = p->w;
	kar_time ms = draw(w, 100, FREEZE_MAX);

	if (!p->manager || sim_loop_frozen(p->loop))
		return;
	w->freezes++;
	trace_tell(w, name_of(p), "is frozen for %lld ms", (long long)ms);
	sim_loop_freeze(p->loop);
	sim_alarm_start(p->thaw, ms);
}

static void jump(struct process *p)
{
	struct world *w = p->w;
	kar_time ms = draw(w, -JUMP_MAX, JUMP_MAX) >> sim_random_below(&w->random, 12);

	w->jumps++;
	trace_tell(w, "clock", "jumps by %lld ms", (long long)ms);
	p->wall_error += ms;
	if (llabs(p->wall_error) > w->model->worst_clock)
		w->model->worst_clock = llabs(p->wall_error);
	if (p->manager)
		sim_loop_jump_wall(p->loop, ms);
}

static void overlap(struct world *w)
{
	struct process *second = &w->processes[1];

	if (w->plan->leases || second->manager || sim_alarm_running(second->change))
		return;
	w->overlaps++;
	process_start(second);
	sim_alarm_start(second->change, draw(w, 10, OVERLAP_MAX));
}

void world_chaos(struct world *w)
{
	for (size_t i = 0; i < WORLD_PROCESSES; i++) {
		if (happens(w, SIM_FAULT_KILL) && w->processes[i].manager)
			sim_alarm_start(w->processes[i].kill, draw(w, 0, KAR_MINUTE));
		if (happens(w, SIM_FAULT_FREEZE))
			freeze(&w->processes[i]);
		if (happens(w, SIM_FAULT_CLOCK))
			jump(&w->processes[i]);
	}
	if (happens(w, SIM_FAULT_OVERLAP))
		overlap(w);
}

void process_calm(struct world *w)
{
	for (size_t i = 0; i < WORLD_PROCESSES; i++) {
		struct process *p = &w->processes[i];

		if (p->manager)
			sim_loop_jump_wall(p->loop, -p->wall_error);
		p->wall_error = 0;
		sim_alarm_stop(p->kill);
	}
	if (w->plan->leases)
		return;
	process_crash(&w->processes[1]);
	sim_alarm_stop(w->processes[1].change);
}

void process_check_reader(const struct process *p)
{
	if (p->manager)
		rules_check_reader_at_rest(p->w->model, name_of(p));
}

/* --- life ---------------------------------------------------------------------------------------------- */

void process_init(struct world *w, struct process *p)
{
	*p = (struct process){ .w = w };
	p->change = sim_alarm_new(w->timeline, on_change, p);
	p->thaw = sim_alarm_new(w->timeline, on_thaw, p);
	p->kill = sim_alarm_new(w->timeline, on_kill, p);
}

void process_release(struct process *p)
{
	process_crash(p);
	sim_alarm_free(p->change);
	sim_alarm_free(p->thaw);
	sim_alarm_free(p->kill);
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i]);
	free(p->names);
}
