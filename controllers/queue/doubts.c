/* What only kube-scheduler knows of the pods of a gang. */
#include "controllers/queue/doubts.h"

#include "api/status/reasons.h"
#include "common/base/str.h"
#include "common/base/text.h"

/* Of a run that is unverified. */
static const char *doubt_of(const struct queue_pass *p, const struct queue_runs *runs, uint32_t run)
{
	const char *what =
		kar_sched_unverified(kar_snapshot_sched(p->stores->snapshot), runs->items[run].class);

	return what ? what : "a node affinity that names nodes"; /* kar_pg_is_unpinnable() */
}

/* Whether a run before it says the same. */
static bool is_said(const struct queue_pass *p, const struct queue_runs *runs, const bool *unverified,
	uint32_t run)
{
	const char *what = doubt_of(p, runs, run);

	for (uint32_t i = 0; i < run; i++) {
		if (unverified[i] && kar_streq(doubt_of(p, runs, i), what))
			return true;
	}
	return false;
}

const char *queue_doubts(const struct queue_pass *p, const struct queue_runs *runs, const bool *unverified,
	const char *const *names)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < runs->n; i++) {
		const char *what;

		if (!unverified[i] || is_said(p, runs, unverified, i))
			continue;
		what = doubt_of(p, runs, i);
		if (kar_has_text(names[i]))
			what = kar_arena_printf(runs->arena, "%s (%s)", what, names[i]);
		text = kar_arena_printf(runs->arena, "%s%s%s", text ? text : "", text ? ", " : "", what);
	}
	return text;
}

bool queue_unverified(const struct queue_pass *p, const struct queue_group *qg, struct kar_condition *out)
{
	const char *doubts = qg->gang ? qg->gang->doubts : NULL;

	if (!qg->gang || qg->admitted ||
		!(doubts || kar_condition_find(&qg->group->status.conditions, KAR_PG_FIT_UNVERIFIED)))
		return false;
	*out = (struct kar_condition){ .type = KAR_PG_FIT_UNVERIFIED,
		.status = doubts ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = qg->group->generation,
		.reason = doubts ? kar_reason_NotModelled : kar_reason_Verified,
		.message = doubts
			? kar_text_fit(p->arena,
				  kar_arena_printf(p->arena,
					  "only kube-scheduler checks this, so no node is named for these pods, and nobody is evicted for them: %s",
					  doubts),
				  KAR_MAX_MESSAGE_BYTES)
			: "all that decides where its pods can be is known" };
	return true;
}
