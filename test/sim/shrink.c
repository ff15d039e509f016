/* Making a failing plan small: parts are taken away as long as the same rule is still broken. */
#include <string.h>

#include "test/sim/run.h"

struct shrink {
	struct plan *p;
	struct run_result *r;
	unsigned tries;
	FILE *progress;
};

/* Keeps @smaller if it fails like the plan does; releases it otherwise. */
static bool try_plan(struct shrink *s, struct plan *smaller)
{
	const struct run_options o = { .no_oracle = strcmp(s->r->rule, "convergence") != 0 };
	struct run_result r;

	if (!s->tries) {
		plan_release(smaller);
		return false;
	}
	s->tries--;
	run_plan(smaller, &o, &r);
	if (r.ok || strcmp(r.rule, s->r->rule) != 0) {
		plan_release(smaller);
		return false;
	}
	plan_release(s->p);
	*s->p = *smaller;
	*s->r = r;
	if (s->progress)
		fprintf(s->progress, "  %zu actions, %u tries left\n", s->p->n_actions, s->tries);
	return true;
}

static bool drop_actions(struct shrink *s, size_t first, size_t n)
{
	struct plan smaller;

	plan_copy(&smaller, s->p);
	memmove(&smaller.actions[first], &smaller.actions[first + n],
		(smaller.n_actions - first - n) * sizeof(smaller.actions[0]));
	smaller.n_actions -= n;
	return try_plan(s, &smaller);
}

/* First halves, then quarters ... then one by one. */
static void shrink_actions(struct shrink *s)
{
	for (size_t n = (s->p->n_actions + 1) / 2; n > 0 && s->tries; n = n > 1 ? (n + 1) / 2 : 0) {
		for (size_t at = 0; at + n <= s->p->n_actions && s->tries;) {
			if (!drop_actions(s, at, n))
				at += n;
		}
	}
}

static void shrink_faults(struct shrink *s)
{
	for (enum sim_fault f = 0; f < SIM_FAULT_COUNT && s->tries; f++) {
		struct plan smaller;

		if (!s->p->faults.rate[f])
			continue;
		plan_copy(&smaller, s->p);
		smaller.faults.rate[f] = 0;
		smaller.fault_set &= ~(UINT32_C(1) << f);
		try_plan(s, &smaller);
	}
}

static void shrink_length(struct shrink *s)
{
	struct plan smaller;

	if (!s->r->at || s->r->at >= s->p->length)
		return;
	plan_copy(&smaller, s->p);
	smaller.length = s->r->at + 1;
	while (smaller.n_actions && smaller.actions[smaller.n_actions - 1].at > smaller.length)
		smaller.n_actions--;
	try_plan(s, &smaller);
}

/* One thing at a time: fewer nodes, no other user, fewer tasks. */
static void shrink_cluster(struct shrink *s)
{
	struct plan smaller;

	plan_copy(&smaller, s->p);
	smaller.other_user = false;
	try_plan(s, &smaller);
	for (int nodes = 1; nodes < s->p->nodes && s->tries; nodes *= 2) {
		plan_copy(&smaller, s->p);
		smaller.nodes = nodes;
		if (try_plan(s, &smaller))
			break;
	}
}

void shrink_plan(struct plan *p, struct run_result *r, unsigned tries, FILE *progress)
{
	struct shrink s = { .p = p, .r = r, .tries = tries, .progress = progress };

	shrink_length(&s);
	shrink_actions(&s);
	shrink_faults(&s);
	shrink_cluster(&s);
	shrink_actions(&s);
}
