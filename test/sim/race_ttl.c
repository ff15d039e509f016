/* Somebody who wants to keep a finished job, just when its TTL is over: the manager's delete is on its way, or about to be. */
#include <string.h>

#include <bsd/string.h>

#include "common/base/timefmt.h"
#include "test/sim/users_impl.h"

static void on_over(void *arg)
{
	struct world *w = arg;
	struct sim_value *job = sim_ref(users_peek(w, &users_jobs, w->race_ttl.ns, w->race_ttl.job));

	if (job && sim_remove(&job, "spec", "ttlSecondsAfterFinished"))
		users_ask(w, users_request(KAR_UPDATE, &users_jobs, w->race_ttl.ns, w->race_ttl.job),
			sim_ref(job));
	w->race_ttl.job[0] = '\0';
	sim_unref(job);
}

void race_ttl_init(struct world *w)
{
	w->race_ttl.alarm = sim_alarm_new(w->timeline, on_over, w);
}

void race_ttl_release(struct world *w)
{
	sim_alarm_free(w->race_ttl.alarm);
}

void race_ttl_wait(struct world *w, const char *ns, const char *job, kar_time later)
{
	if (sim_alarm_running(w->race_ttl.alarm))
		return;
	strlcpy(w->race_ttl.ns, ns, sizeof(w->race_ttl.ns));
	strlcpy(w->race_ttl.job, job, sizeof(w->race_ttl.job));
	w->race_ttl.later = later;
}

/* When it has ended, the end of its TTL is known. */
void race_ttl_see(struct world *w, const struct sim_change *c)
{
	const char *end = sim_get_text(c->new, "status", "completionTime");
	int64_t ttl = sim_get_int(c->new, -1, "spec", "ttlSecondsAfterFinished");
	kar_time wall, left;

	if (!w->race_ttl.job[0] || w->calm || !end || ttl < 0 || strcmp(c->resource, "queuejobs") != 0 ||
		strcmp(c->ns, w->race_ttl.ns) != 0 || strcmp(c->name, w->race_ttl.job) != 0 ||
		sim_alarm_running(w->race_ttl.alarm) || kar_time_parse(end, &wall))
		return;
	left = wall + ttl * KAR_SECOND - sim_timeline_wall(w->timeline);
	sim_alarm_start(w->race_ttl.alarm, (left > 0 ? left : 0) + w->race_ttl.later);
}
