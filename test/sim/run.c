#include "test/sim/run.h"

#include <string.h>

#include <bsd/string.h>

#include "common/base/buf.h"

/* After the plan's end all becomes calm, and the world settles. */
static bool live(struct world *w, struct kar_buf *outcome)
{
	bool ok = world_run(w, w->plan->length);

	if (ok) {
		world_calm(w);
		ok = world_settle(w) && world_foretell(w);
	}
	if (ok)
		world_outcome(w, outcome);
	return ok;
}

static void collect(const struct world *w, struct run_result *r)
{
	struct sim_wire_stats stats = sim_wire_stats(w->wire);

	r->hours += (double)world_time(w) / (double)(60 * KAR_MINUTE);
	r->writes += w->model->writes;
	r->manager_writes += w->model->manager_writes;
	r->crashes += w->crashes;
	r->kills += w->kills;
	r->overlaps += w->overlaps;
	r->freezes += w->freezes;
	r->jumps += w->jumps;
	r->stops += w->stops;
	r->terms += w->terms;
	for (size_t i = 0; i < SIM_FAULT_COUNT; i++)
		r->struck[i] += stats.struck[i];
}

static void fail(const struct world *w, bool faults, struct run_result *r)
{
	r->ok = false;
	r->at = world_time(w);
	strlcpy(r->rule, w->model->broken, sizeof(r->rule));
	snprintf(r->story, sizeof(r->story), "%.1000s%s", w->model->story, faults ? "" : " (without faults)");
}

static bool run_once(const struct plan *p, bool faults, FILE *trace, struct run_result *r,
	struct kar_buf *outcome)
{
	struct world w;
	bool ok;

	world_init(&w, p, faults, trace);
	ok = live(&w, outcome);
	collect(&w, r);
	r->hash = w.hash;
	if (!ok)
		fail(&w, faults || !p->fault_set, r);
	world_release(&w);
	return ok;
}

static bool replay(const struct plan *p, struct run_result *r)
{
	struct kar_buf outcome = { 0 };
	uint64_t hash = r->hash;
	bool ok = run_once(p, true, NULL, r, &outcome) && r->hash == hash;

	kar_buf_release(&outcome);
	if (!ok && r->ok) {
		r->ok = false;
		strlcpy(r->rule, "replay", sizeof(r->rule));
		strlcpy(r->story, "the second run of the same seed differs from the first", sizeof(r->story));
	}
	return ok;
}

/* Length of the line at @p. */
static int line(const char *p)
{
	return (int)strcspn(p, "\n");
}

static void compare(const struct kar_buf *with, const struct kar_buf *without, struct run_result *r)
{
	const char *a = kar_buf_cstr(with), *b = kar_buf_cstr(without);

	for (; *a && *b && line(a) == line(b) && strncmp(a, b, (size_t)line(a)) == 0; r->judged++) {
		a += line(a) + 1;
		b += line(b) + 1;
	}
	if (!*a && !*b)
		return;
	r->ok = false;
	strlcpy(r->rule, "convergence", sizeof(r->rule));
	snprintf(r->story, sizeof(r->story),
		"with faults or a hostile tenant the end is \"%.*s\", without \"%.*s\"", line(a), a, line(b),
		b);
}

void run_plan(const struct plan *p, const struct run_options *o, struct run_result *r)
{
	struct kar_buf with = { 0 }, without = { 0 };
	struct plan honest;
	bool ok;
	uint64_t hash;

	*r = (struct run_result){ .ok = true };
	ok = run_once(p, true, o->trace, r, &with);
	hash = r->hash;
	if (ok && o->twice)
		ok = replay(p, r);
	plan_copy_honest(&honest, p);
	if (ok && (p->fault_set || plan_is_hostile(p)) && !o->no_oracle &&
		run_once(&honest, false, o->trace, r, &without))
		compare(&with, &without, r);
	plan_release(&honest);
	r->hash = hash;
	kar_buf_release(&with);
	kar_buf_release(&without);
}
