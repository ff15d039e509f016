/* Bob, who takes the name of a pod in the very moment in which the job is about to. */
#include <string.h>

#include <bsd/string.h>

#include "test/sim/users_impl.h"

enum { SOON_MIN = 1, SOON_MAX = 4 }; /* ms: about when the job's own next pod is on its way */

static void on_free(void *arg)
{
	struct world *w = arg;

	users_block_pod(w, w->race_pod_name.ns, w->race_pod_name.name);
	w->race_pod_name.name[0] = '\0';
}

void race_pod_name_init(struct world *w)
{
	w->race_pod_name.alarm = sim_alarm_new(w->timeline, on_free, w);
}

void race_pod_name_release(struct world *w)
{
	sim_alarm_free(w->race_pod_name.alarm);
}

void race_pod_name_wait(struct world *w, const char *ns, const char *name, const char *after)
{
	if (sim_alarm_running(w->race_pod_name.alarm))
		return;
	strlcpy(w->race_pod_name.ns, ns, sizeof(w->race_pod_name.ns));
	strlcpy(w->race_pod_name.name, name, sizeof(w->race_pod_name.name));
	strlcpy(w->race_pod_name.after, after ? after : "", sizeof(w->race_pod_name.after));
}

/* The pod goes, or the one that is created before it comes. */
static bool is_moment(const struct world *w, const struct sim_change *c)
{
	bool first = w->race_pod_name.after[0] != '\0';

	return strcmp(c->resource, "pods") == 0 && strcmp(c->ns, w->race_pod_name.ns) == 0 &&
		strcmp(c->name, first ? w->race_pod_name.after : w->race_pod_name.name) == 0 &&
		(first ? !c->old : !c->new);
}

void race_pod_name_see(struct world *w, const struct sim_change *c)
{
	bool first = w->race_pod_name.after[0] != '\0';

	if (w->race_pod_name.name[0] && !w->calm && is_moment(w, c))
		sim_alarm_start(w->race_pod_name.alarm,
			first ? 0 : sim_random_between(&w->random, SOON_MIN, SOON_MAX));
}
