#include "controllers/suspend/suspend.h"

#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

bool suspend_is_ours(const struct kar_suspendable *s)
{
	return kar_has_text(s->queue) && !s->managed_by && !s->controlled_by && !s->deletion && !s->ended &&
		!s->o.unreadable;
}

static bool is_group_of(const struct kar_podgroup *g, const struct kar_suspendable *s)
{
	return g && !g->deletion && kar_streq(g->owner_uid, s->o.uid);
}

/* What it held is taken back, and its pods go. */
static bool is_rolled_back(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_ROLLING_BACK;
}

/* The queue has decided about it as it is: about one that it suspends, or that it has resumed. */
static bool is_admitted(const struct suspend_view *v)
{
	return v->admitted && (v->s->resumed || (v->s->suspended && v->s->by_queue));
}

/*
 * It makes no pods, or ones that wait at our gate since the manager has resumed it: these are placed as they are. Only when it is evicted, or
 * its start has failed, it must be suspended as well. A group that somebody has deleted is made again.
 */
static bool may_go_on(const struct suspend_view *v)
{
	return v->s->suspended || is_admitted(v) ||
		(v->s->resumed && (!v->group || (is_group_of(v->group, v->s) && !is_rolled_back(v->group))));
}

bool suspend_is_contested(const struct suspend_view *v)
{
	return v->s->by_queue && !v->s->suspended && !is_admitted(v);
}

/* One that runs keeps the minimum that it started with, but for no more than it can have. The CRD takes no 0. */
int32_t suspend_minimum(const struct suspend_view *v)
{
	int64_t members = (int64_t)kar_suspendable_count(v->s) + v->succeeded,
		ever = kar_suspendable_ever(v->s);
	int32_t min = (int32_t)kar_clamp(members < ever ? members : ever, 1, INT32_MAX),
		most = kar_suspendable_most(v->s) > 1 ? kar_suspendable_most(v->s) : 1;

	if (v->s->suspended || !v->group)
		return min;
	return v->group->spec.min_member < most ? v->group->spec.min_member : most;
}

static void add_needs(struct kar_amounts *sum, const struct kar_suspendable_set *set)
{
	enum { BILLIONTHS = 1000000000, OF_THOUSANDTH = 1000000 };

	for (uint32_t i = 0; set->needs && i < set->needs->n_amounts; i++) {
		const struct kar_sched_amount *one = &set->needs->amounts[i];
		struct kar_quantity q = { .nano = (kar_nano)one->amount *
				(kar_streq(one->resource, "cpu") ? OF_THOUSANDTH : BILLIONTHS) };

		kar_quantity_times(&q, set->count);
		if (!kar_streq(one->resource, "pods"))
			kar_amounts_add(sum, one->resource, &q);
	}
}

struct kar_array suspend_resources(const struct kar_suspendable *s, struct kar_arena *a)
{
	KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts sum = { 0 };
	char text[KAR_QUANTITY_LEN];
	struct kar_pair *pairs;

	for (size_t i = 0; s->in_turn && i < s->n_sets; i++)
		add_needs(&sum, &s->sets[i]);
	pairs = kar_arena_alloc(a, sum.n + 1, sizeof(*pairs));
	if (s->in_turn && !sum.n) { /* the queue knows by this field that its pods come in turn */
		pairs[0] = (struct kar_pair){ "cpu", "0" };
		return (struct kar_array){ .items = pairs, .n = 1 };
	}
	for (size_t i = 0; i < sum.n; i++)
		pairs[i] = (struct kar_pair){ kar_copy(a, sum.items[i].name),
			kar_copy(a, kar_quantity_text(&sum.items[i].q, text)) };
	return (struct kar_array){ .items = pairs, .n = sum.n };
}

static struct kar_action *add(const struct suspend_view *v, struct kar_plan *p, enum kar_verb verb, int what,
	const struct kar_object *of, const char *note)
{
	const struct kar_object *o = &v->s->o;
	struct kar_action *a = kar_plan_add(p, verb, of ? of->type : o->type, kar_copy(p->arena, o->ns),
		kar_copy_text(p->arena, of ? of->name : o->name));

	a->what = what;
	a->payload = v;
	a->note = note;
	if (verb != KAR_PATCH)
		return a;
	a->patch_type = KAR_PATCH_MERGE;
	a->uid = kar_copy(p->arena, of ? of->uid : o->uid);
	a->rv = of ? of->rv : o->rv;
	return a;
}

static void make_group(const struct suspend_view *v, struct kar_plan *p)
{
	struct kar_action *a = kar_plan_add(p, KAR_CREATE, &kar_podgroup_type, kar_copy(p->arena, v->s->o.ns),
		kar_copy_text(p->arena, v->s->o.name));

	a->what = SUSPEND_MAKE;
	a->payload = v;
	a->note = kar_arena_printf(p->arena, "minMember=%d queue=%s", (int)suspend_minimum(v), v->s->queue);
}

/* True: what the queue has decided about is not what is wanted now. */
static bool follow(const struct suspend_view *v, struct kar_plan *p)
{
	const struct kar_podgroup *g = v->group;

	if (g->spec.min_member == suspend_minimum(v) && kar_streq(g->queue_label, v->s->queue) &&
		(!v->s->suspended || !v->resources.n ||
			kar_pairs_equal(&g->spec.min_resources, &v->resources)))
		return false;
	add(v, p, KAR_PATCH, SUSPEND_FOLLOW, &g->o,
		kar_arena_printf(p->arena, "minMember=%d queue=%s", (int)suspend_minimum(v), v->s->queue));
	return true;
}

static void tell(struct kar_plan *p, bool warning, const char *reason, const char *text)
{
	kar_plan_event(p, warning, reason, "Queue", "%s", text);
	p->events_alone = true; /* it holds whatever becomes of the writes */
}

/* In the words of its group, where few look for them. */
static void tell_why(const struct suspend_view *v, struct kar_plan *p)
{
	const struct kar_condition *c = kar_condition_find(&v->group->status.conditions, KAR_PG_ADMITTED);

	if (!v->waits_anew || !c)
		return;
	tell(p, false, kar_reason_Waiting,
		kar_arena_printf(p->arena, "%s: %s", c->reason ? c->reason : "",
			c->message ? c->message : ""));
}

static void suspend(const struct suspend_view *v, struct kar_plan *p)
{
	if (suspend_is_contested(v) && v->contested >= SUSPEND_CONTESTED) {
		kar_plan_requeue(p, SUSPEND_WITHIN);
		tell(p, true, kar_reason_Contested,
			kar_suspendable_is_ready(v->s)
				? "somebody resumes it again and again while its queue has no room: it is left alone for a minute, and its pods wait"
				: "somebody resumes it again and again while its queue has no room: it is left alone for a minute, and its pods run");
		return;
	}
	add(v, p, KAR_PATCH, SUSPEND_SUSPEND, NULL, "suspend");
	if (suspend_is_contested(v))
		tell(p, true, kar_reason_Suspended,
			kar_arena_printf(p->arena,
				"its queue %s resumes it when there is room: it is suspended again",
				v->s->queue));
}

/* The template of what has started cannot be changed before its status says that it has not. */
static void resume(const struct suspend_view *v, struct kar_plan *p)
{
	if (v->s->started && !kar_suspendable_is_ready(v->s)) {
		add(v, p, KAR_PATCH, SUSPEND_RESET, NULL, "not started")->subresource = "status";
		return;
	}
	if (!kar_suspendable_is_ready(v->s))
		add(v, p, KAR_PATCH, SUSPEND_OPEN, NULL, "resume")->patch_type = KAR_PATCH_JSON;
	else
		add(v, p, KAR_PATCH, SUSPEND_RESUME, NULL, "resume");
}

/* Why its pods of @set cannot be placed; NULL: they can. */
static const char *obstacle_of(const struct kar_suspendable *s, const struct kar_suspendable_set *set,
	struct kar_arena *a)
{
	const char *of = s->n_sets > 1 ? kar_arena_printf(a, " of %s", set->name) : "";

	if (set->group && !kar_streq(set->group, s->o.name))
		return kar_arena_printf(a,
			"its template%s names PodGroup %s: remove that label, or the label " KAR_LABEL_QUEUE
			" of the %s",
			of, set->group, s->o.type->res.kind);
	if (!set->needs || set->needs->node)
		return kar_arena_printf(a,
			"its template%s names a node, or cannot be read: no queue can place it", of);
	return NULL;
}

/* Why it cannot be in a queue; NULL: it can. */
static const char *obstacle(const struct suspend_view *v, struct kar_arena *a)
{
	const struct kar_suspendable *s = v->s;
	const char *why = s->unsupported;

	for (size_t i = 0; !why && i < s->n_sets; i++)
		why = obstacle_of(s, &s->sets[i], a);
	if (why)
		return why;
	if (!s->n_sets)
		return "it has no template of pods";
	if (strlen(s->o.name) >= KAR_COPY_VALUE - 1)
		return "its name is longer than 63 characters, which the label of its pods cannot hold";
	if (v->group && !is_group_of(v->group, s) && !v->group->deletion)
		return kar_arena_printf(a, "PodGroup %s is not of it: delete that, or give it another name",
			s->o.name);
	return NULL;
}

void suspend_decide(const struct suspend_view *v, struct kar_plan *p)
{
	const struct kar_suspendable *s = v->s;
	const char *why;

	if (!suspend_is_ours(s))
		return;
	why = obstacle(v, p->arena);
	if (!may_go_on(v)) {
		suspend(v, p);
		if (!why)
			return; /* its queue decides about it when it is suspended */
	}
	if (why) {
		tell(p, true,
			v->group && !is_group_of(v->group, s) ? kar_reason_NameConflict
							      : kar_reason_Unsupported,
			why);
		return;
	}
	if (!v->group) {
		make_group(v, p);
		return;
	}
	if (v->group->deletion)
		return;
	/* Whatever it has become since, it was not resumed by us: the status, which changes often, may not delay this. */
	if (s->suspended && s->resumed && !s->by_queue)
		add(v, p, KAR_PATCH, SUSPEND_FORGET, NULL, "suspended by its user")->rv = 0;
	if (!follow(v, p) && s->suspended && s->by_queue && v->admitted)
		resume(v, p);
	else
		tell_why(v, p);
}
