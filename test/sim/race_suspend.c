/* A pod that is just ready when its job is suspended: quicker than the manager, which is about to delete it. */
#include <string.h>

#include <bsd/string.h>

#include "test/sim/users_impl.h"

/* What its annotations say of its end counts at once. */
static void on_suspended(void *arg)
{
	struct world *w = arg;
	struct sim_value *pod = sim_ref(users_peek(w, &users_pods, w->race_suspend.ns, w->race_suspend.pod));
	struct sim_request rq =
		users_request(KAR_UPDATE, &users_pods, w->race_suspend.ns, w->race_suspend.pod);

	w->race_suspend.job[0] = '\0';
	if (!pod || !model_owner(pod)) {
		sim_unref(pod);
		return;
	}
	sim_set_text(&pod, "succeed", "metadata", "annotations", "test.kube-arbitrator.io/outcome");
	sim_set_text(&pod, "0s", "metadata", "annotations", "test.kube-arbitrator.io/after");
	rq.user = USERS_BOB; /* it is no edit of a user that is to be repaired */
	users_ask(w, rq, pod);
}

void race_suspend_init(struct world *w)
{
	w->race_suspend.alarm = sim_alarm_new(w->timeline, on_suspended, w);
}

void race_suspend_release(struct world *w)
{
	sim_alarm_free(w->race_suspend.alarm);
}

void race_suspend_wait(struct world *w, const char *ns, const char *job, const char *pod)
{
	if (sim_alarm_running(w->race_suspend.alarm))
		return;
	strlcpy(w->race_suspend.ns, ns, sizeof(w->race_suspend.ns));
	strlcpy(w->race_suspend.job, job, sizeof(w->race_suspend.job));
	strlcpy(w->race_suspend.pod, pod, sizeof(w->race_suspend.pod));
}

void race_suspend_see(struct world *w, const struct sim_change *c)
{
	if (w->race_suspend.job[0] && !w->calm && c->new &&strcmp(c->resource, "queuejobs") == 0 &&
		strcmp(c->ns, w->race_suspend.ns) == 0 && strcmp(c->name, w->race_suspend.job) == 0 &&
		model_phase(c->new) == KAR_QJ_PHASE_SUSPENDED &&model_phase(c->old) != KAR_QJ_PHASE_SUSPENDED)
		sim_alarm_start(w->race_suspend.alarm, 0);
}
