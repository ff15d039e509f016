/* Somebody who wants to keep a finished job, just when its TTL is over: the manager's delete is on its way, or about to be. */
#include <string.h>

#include <bsd/string.h>

#include "common/timefmt.h"
#include "test/sim/users_impl.h"

static void on_over(void *arg)
{
	struct world *w = arg;
	struct sim_value *job = sim_ref(users_peek(w, &users_jobs, w->keeper.ns, w->keeper.job));

	if (job && sim_remove(&job, "spec", "ttlSecondsAfterFinished"))
		users_ask(w, users_request(KAR_UPDATE, &users_jobs, w->keeper.ns, w->keeper.job),
			sim_ref(job));
	w->keeper.job[0] = '\0';
	sim_unref(job);
}

void keeper_init(struct world *w)
{
	w->keeper.alarm = sim_alarm_new(w->timeline, on_over, w);
}

void keeper_release(struct world *w)
{
	sim_alarm_free(w->keeper.alarm);
}

void keeper_wait(struct world *w, const char *ns, const char *job, kar_time later)
{
	if (sim_alarm_running(w->keeper.alarm))
		return;
	strlcpy(w->keeper.ns, ns, sizeof(w->keeper.ns));
	strlcpy(w->keeper.job, job, sizeof(w->keeper.job));
	w->keeper.later = later;
}

/* When it has ended, the end of its TTL is known. */
void keeper_see(struct world *w, const struct sim_change *c)
{
	const char *end = sim_get_text(c->new, "status", "completionTime");
	int64_t ttl = sim_get_int(c->new, -1, "spec", "ttlSecondsAfterFinished");
	kar_time wall, left;

	if (!w->keeper.job[0] || w->calm || !end || ttl < 0 || strcmp(c->resource, "queuejobs") != 0 ||
		strcmp(c->ns, w->keeper.ns) != 0 || strcmp(c->name, w->keeper.job) != 0 ||
		sim_alarm_running(w->keeper.alarm) || kar_time_parse(end, &wall))
		return;
	left = wall + ttl * KAR_SECOND - sim_timeline_wall(w->timeline);
	sim_alarm_start(w->keeper.alarm, (left > 0 ? left : 0) + w->keeper.later);
}
