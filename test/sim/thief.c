/* Bob, who takes the name of a pod in the very moment in which the job is about to. */
#include <string.h>

#include <bsd/string.h>

#include "test/sim/users_impl.h"

enum { SOON_MIN = 1, SOON_MAX = 4 }; /* ms: about when the job's own next pod is on its way */

static void on_free(void *arg)
{
	struct world *w = arg;

	users_block_pod(w, w->thief.ns, w->thief.name);
	w->thief.name[0] = '\0';
}

void thief_init(struct world *w)
{
	w->thief.alarm = sim_alarm_new(w->timeline, on_free, w);
}

void thief_release(struct world *w)
{
	sim_alarm_free(w->thief.alarm);
}

void thief_wait(struct world *w, const char *ns, const char *name, const char *after)
{
	if (sim_alarm_running(w->thief.alarm))
		return;
	strlcpy(w->thief.ns, ns, sizeof(w->thief.ns));
	strlcpy(w->thief.name, name, sizeof(w->thief.name));
	strlcpy(w->thief.after, after ? after : "", sizeof(w->thief.after));
}

/* The pod goes, or the one that is created before it comes. */
static bool is_moment(const struct world *w, const struct sim_change *c)
{
	bool first = w->thief.after[0] != '\0';

	return strcmp(c->resource, "pods") == 0 && strcmp(c->ns, w->thief.ns) == 0 &&
		strcmp(c->name, first ? w->thief.after : w->thief.name) == 0 && (first ? !c->old : !c->new);
}

void thief_see(struct world *w, const struct sim_change *c)
{
	bool first = w->thief.after[0] != '\0';

	if (w->thief.name[0] && !w->calm && is_moment(w, c))
		sim_alarm_start(w->thief.alarm,
			first ? 0 : sim_random_between(&w->random, SOON_MIN, SOON_MAX));
}
