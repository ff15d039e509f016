/* A pod that is just ready when its job is suspended: quicker than the manager, which is about to delete it. */
#include <string.h>

#include <bsd/string.h>

#include "test/sim/users_impl.h"

/* What its annotations say of its end counts at once. */
static void on_suspended(void *arg)
{
	struct world *w = arg;
	struct sim_value *pod = sim_ref(users_peek(w, &users_pods, w->hurry.ns, w->hurry.pod));
	struct sim_request rq = users_request(KAR_UPDATE, &users_pods, w->hurry.ns, w->hurry.pod);

	w->hurry.job[0] = '\0';
	if (!pod || !ledger_owner(pod)) {
		sim_unref(pod);
		return;
	}
	sim_set_text(&pod, "succeed", "metadata", "annotations", "test.kube-arbitrator.io/outcome");
	sim_set_text(&pod, "0s", "metadata", "annotations", "test.kube-arbitrator.io/after");
	rq.user = USERS_BOB; /* it is no edit of a user that is to be repaired */
	users_ask(w, rq, pod);
}

void hurry_init(struct world *w)
{
	w->hurry.alarm = sim_alarm_new(w->timeline, on_suspended, w);
}

void hurry_release(struct world *w)
{
	sim_alarm_free(w->hurry.alarm);
}

void hurry_wait(struct world *w, const char *ns, const char *job, const char *pod)
{
	if (sim_alarm_running(w->hurry.alarm))
		return;
	strlcpy(w->hurry.ns, ns, sizeof(w->hurry.ns));
	strlcpy(w->hurry.job, job, sizeof(w->hurry.job));
	strlcpy(w->hurry.pod, pod, sizeof(w->hurry.pod));
}

void hurry_see(struct world *w, const struct sim_change *c)
{
	if (w->hurry.job[0] && !w->calm && c->new &&strcmp(c->resource, "queuejobs") == 0 &&
		strcmp(c->ns, w->hurry.ns) == 0 && strcmp(c->name, w->hurry.job) == 0 &&
		ledger_phase(c->new) == KAR_QJ_PHASE_SUSPENDED &&ledger_phase(c->old) !=
			KAR_QJ_PHASE_SUSPENDED)
		sim_alarm_start(w->hurry.alarm, 0);
}
