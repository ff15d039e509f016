#include "controllers/podgroup/count.h"

#include <string.h>

#include "api/pod/pod_direct.h"
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"

enum { NAMES_SHOWN = 3 }; /* of pods, in a message */

static void add_few(struct podgroup_few *f, size_t max, const char *name, const struct kar_pod *pod)
{
	size_t at = f->n;

	f->added++;
	while (at > 0 && strcmp(f->items[at - 1].name, name) > 0)
		at--;
	if (at == max || (at > 0 && kar_streq(f->items[at - 1].name, name)))
		return;
	if (f->n < max)
		f->n++;
	memmove(&f->items[at + 1], &f->items[at], (f->n - 1 - at) * sizeof(f->items[0]));
	f->items[at].name = name;
	f->items[at].pod = pod;
}

bool podgroup_strands(const struct kar_pod *pod)
{
	return pod->gate_ours && !pod->deletion && kar_pg_pod_of_others(pod);
}

static bool is_first(const struct kar_pod *p, const struct kar_pod *other)
{
	return !other || strcmp(p->o.name, other->o.name) < 0;
}

static bool may_be_repaired(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_PLACED &&
		g->status.placement.repairs < KAR_PG_REPAIRS;
}

/* Whoever we bind ourselves needs no other scheduler. */
static void count_unseen(struct podgroup_counts *t, const struct podgroup_view *v, const struct kar_pod *p,
	kar_time now)
{
	kar_time left = kar_pod_unseen_in(p, p->released ? v->group->status.placement.time : 0, now);

	if (left == KAR_NEVER || kar_scheduler_is_served(p->scheduler, v->served))
		return;
	if (left > 0) {
		t->unseen_in = left < t->unseen_in ? left : t->unseen_in;
		return;
	}
	t->n_unseen++;
	if (is_first(p, t->unseen))
		t->unseen = p;
}

static void count_unbound(struct podgroup_counts *t, const struct kar_podgroup *g, const struct kar_pod *p,
	kar_time now)
{
	kar_time left = kar_pg_stuck_in(g, p, now);

	add_few(&t->unbound, NAMES_SHOWN, p->o.name, p);
	t->newest = p->creation > t->newest ? p->creation : t->newest;
	if (!p->unschedulable)
		return;
	add_few(&t->unschedulable, NAMES_SHOWN, p->o.name, p);
	kar_unplaced_add(&t->unplaced, p);
	if (left == KAR_NEVER)
		return;
	left += may_be_repaired(g) ? PODGROUP_REPAIRED_WITHIN : 0;
	if (left > 0) {
		t->stuck_in = left < t->stuck_in ? left : t->stuck_in;
		return;
	}
	t->n_stuck++;
	if (is_first(p, t->stuck))
		t->stuck = p;
}

static bool is_planned(const struct kar_podgroup *g, const struct kar_pod *pod)
{
	const struct kar_pg_placement *pl = &g->status.placement;

	for (size_t i = 0; i < pl->n_plan; i++) {
		if (kar_streq(pl->plan[i].role, pod->o.name))
			return true;
	}
	return false;
}

bool podgroup_keeps(const struct kar_podgroup *g, const struct kar_pod *pod)
{
	const struct kar_pg_placement *pl = &g->status.placement;

	if (!kar_pg_of_others(g))
		return false;
	if (pl->state == KAR_PG_STATE_ROLLING_BACK && pod->creation > pl->time)
		return true;
	if (kar_has_text(pl->evicted_by))
		return false;
	if (g->options.only_waiting && pl->n_plan)
		return !is_planned(g, pod);
	return g->options.and_running && pl->satisfied_member && pod->node;
}

static void count_gates(struct podgroup_counts *t, const struct podgroup_view *v, const struct kar_pod *p,
	kar_time now)
{
	bool binds = kar_pg_binds(p, v->served), gated = kar_pg_is_gated(p) || kar_pg_is_held(p) || binds,
	     started = !gated && kar_pg_was_started(p, v->served);

	t->loose += v->of_others && !gated && !p->gate_ours && !p->released && !p->scheduler && !p->native;
	t->gated += gated;
	t->waiting += kar_pg_waits(p) || binds;
	t->bare += started && !p->owner_name;
	t->removable += p->owner_name && !podgroup_keeps(v->group, p) && kar_pod_overdue_in(p, now) > 0 &&
		(!v->of_others || started);
	if (p->gate_foreign)
		add_few(&t->held, NAMES_SHOWN, p->o.name, p);
}

static void count_scheduler(struct podgroup_counts *t, const struct podgroup_view *v, const struct kar_pod *p)
{
	if (kar_scheduler_is_served(p->scheduler, v->served))
		t->n_served++;
	else if (p->scheduler)
		add_few(&t->schedulers, NAMES_SHOWN, p->scheduler, p);
	else
		t->n_default++;
}

/* It lost a race, and is no member. One of an earlier attempt says nothing about this one. */
static void count_refused(struct podgroup_counts *t, const struct kar_pod *p, kar_time since)
{
	if (p->creation < since)
		return;
	t->n_refused++;
	if (is_first(p, t->refused))
		t->refused = p;
}

/* Has it a node for good? Whether the kubelet takes a pod that was created bound shows when it has answered. */
static bool is_placed(const struct podgroup_view *v, const struct kar_pod *p)
{
	return p->node && (!v->direct || p->bound || p->phase == KAR_POD_RUNNING || p->deletion);
}

static void count_leaving(struct podgroup_counts *t, const struct kar_pod *p, kar_time now)
{
	kar_time left = kar_pod_overdue_in(p, now);

	if (!p->deletion)
		return;
	t->leaving++;
	if (left <= 0)
		return;
	t->stopping++;
	t->overdue_in = left < t->overdue_in ? left : t->overdue_in;
}

static void count_active(struct podgroup_counts *t, const struct podgroup_view *v, const struct kar_pod *p,
	kar_time now)
{
	t->active++;
	count_leaving(t, p, now);
	count_gates(t, v, p, now);
	count_scheduler(t, v, p);
	t->youngest = p->creation > t->youngest ? p->creation : t->youngest;
	if (!p->native && !p->deletion && is_first(p, t->unnamed))
		t->unnamed = p;
	if (is_placed(v, p)) {
		t->scheduled++;
	} else {
		count_unbound(t, v->group, p, now);
		count_unseen(t, v, p, now);
	}
	/* A bound pod that is Terminating uses its node until it is gone. */
	if (p->phase == KAR_POD_RUNNING || (p->deletion && p->node))
		t->running++;
	t->stranded += podgroup_strands(p);
}

static void count(struct podgroup_counts *t, const struct podgroup_view *v, const struct kar_pod *p,
	kar_time now)
{
	if (v->direct && kar_pod_is_refused(p)) {
		count_refused(t, p, v->group->status.placement.time);
		return;
	}
	if (kar_pod_rolled_back(p) || (p->deletion && !p->node && p->phase != KAR_POD_SUCCEEDED))
		return;
	t->members++;
	if (p->owner_name)
		add_few(&t->owners, PODGROUP_OWNERS_SHOWN, p->owner_name, p);
	if (p->phase == KAR_POD_SUCCEEDED) {
		t->succeeded++;
		t->scheduled++;
	} else if (p->phase == KAR_POD_FAILED) {
		t->failed++;
		add_few(&t->losses, NAMES_SHOWN, p->o.name, p);
	} else {
		count_active(t, v, p, now);
	}
}

/* The succeeded members that minMember leaves out and that still exist: here every succeeded member counts. */
static int32_t left_out(const struct kar_podgroup_spec *spec, const struct podgroup_counts *t)
{
	int32_t n = spec->succeeded_members, most = INT32_MAX - t->min_member;

	n = n < t->succeeded ? n : t->succeeded;
	n = n < most ? n : most;
	return n > 0 ? n : 0;
}

struct podgroup_counts podgroup_count(const struct podgroup_view *v, kar_time now)
{
	const struct kar_podgroup_spec *spec = &v->group->spec;
	struct podgroup_counts t = { .stuck_in = KAR_NEVER, .overdue_in = KAR_NEVER, .unseen_in = KAR_NEVER };

	for (size_t i = 0; i < v->n_pods; i++)
		count(&t, v, v->pods[i], now);
	/* 1 is the schema's minimum; the upstream schema lets the field be absent. */
	t.min_member = spec->min_member > 0 ? spec->min_member : 1;
	t.quorum = t.min_member + left_out(spec, &t);
	return t;
}

int32_t podgroup_wave(const struct podgroup_counts *t)
{
	return t->quorum - t->succeeded > 1 ? t->quorum - t->succeeded : 1;
}

struct podgroup_counts podgroup_count_wave(const struct podgroup_view *v, const struct podgroup_counts *all,
	kar_time now, struct kar_arena *a)
{
	struct podgroup_view wave = *v;
	struct podgroup_counts t;

	wave.pods = kar_arena_alloc(a, v->n_pods + 1, sizeof(struct kar_pod *));
	wave.n_pods = 0;
	for (size_t i = 0; i < v->n_pods; i++) {
		if (is_planned(v->group, v->pods[i]))
			wave.pods[wave.n_pods++] = v->pods[i];
	}
	t = podgroup_count(&wave, now);
	t.quorum = podgroup_wave(all);
	return t;
}

/* "j-1 (OOMKilled, exit code 137)"; the name alone if nothing more is known. */
static const char *describe(const char *name, const struct kar_pod *pod, struct kar_arena *a)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	if (loss->exit_code)
		return kar_arena_printf(a, "%s (%s, exit code %d)", name,
			loss->reason ? loss->reason : "Error", loss->exit_code);
	if (loss->reason)
		return kar_arena_printf(a, "%s (%s)", name, loss->reason);
	return name;
}

const char *podgroup_list(const struct podgroup_few *f, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < f->n; i++)
		text = kar_arena_printf(a, "%s%s%s", text, i ? ", " : "",
			describe(f->items[i].name, f->items[i].pod, a));
	if (f->added > (int32_t)f->n)
		text = kar_arena_printf(a, "%s and %d more", text, f->added - (int32_t)f->n);
	return text;
}
