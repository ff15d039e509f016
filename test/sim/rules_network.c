/* Host names and the Service behind them; what is asked without need. */
#include <string.h>

#include <bsd/string.h>

#include "api/names.h"
#include "test/sim/rules.h"

/* --- pods ---------------------------------------------------------------------------------------------- */

static void check_service_first(const struct rule *r, const struct write *w)
{
	const char *domain = sim_get_text(w->c->new, "spec", "subdomain");
	kar_time since = w->job ? w->job->without_service : 0;

	if (w->by_manager && w->job && domain && since && since < ledger_horizon(w->l))
		ledger_break(w->l, r->name, "pod %s/%s is to be found as %s.%s, but there is no Service",
			w->c->ns, w->c->name, w->c->name, domain);
}

static void check_host_name(const struct rule *r, const struct write *w)
{
	const char *host = sim_get_text(w->c->new, "spec", "hostname"),
		   *domain = sim_get_text(w->c->new, "spec", "subdomain");
	bool sound = !host == !domain && (!host || strcmp(host, w->c->name) == 0) &&
		(!domain || !w->job || strcmp(domain, w->job->name) == 0);

	if (w->by_manager && !sound)
		ledger_break(w->l, r->name, "pod %s/%s has host name %s in domain %s", w->c->ns, w->c->name,
			host ? host : "-", domain ? domain : "-");
}

const struct rule rules_of_network[] = {
	{ RULE_POD_CREATED, "service-first",
		"a pod with a host name is created only when its Service is there", check_service_first },
	{ RULE_POD_CREATED, "host-name", "a pod has the name of itself in the domain of its job, or none",
		check_host_name },
};
const size_t n_rules_of_network = KAR_LEN(rules_of_network);

/* --- the ledger ---------------------------------------------------------------------------------------- */

void ledger_note_service(struct ledger *l, const struct sim_change *c)
{
	const char *was = ledger_owner(c->old), *is = ledger_owner(c->new);
	struct ledger_job *j;

	j = was && (!is || strcmp(was, is) != 0) ? ledger_find_job(l, was) : NULL;
	if (j)
		j->without_service = ledger_now(l);
	j = is ? ledger_find_job(l, is) : NULL;
	if (j)
		j->without_service = 0;
}

/* --- at rest ------------------------------------------------------------------------------------------- */

static bool is_sound(const struct sim_value *service, const struct sim_value *job)
{
	const char *name = sim_text_or(sim_get(job, "metadata", "name"), "");
	const struct sim_value *selector = sim_get(service, "spec", "selector");
	bool publish = sim_bool_of(sim_get(job, "spec", "network", "publishNotReadyAddresses"), true);

	return sim_count(selector) == 1 &&
		strcmp(sim_text_or(sim_member(selector, KAR_LABEL_QUEUEJOB), ""), name) == 0 &&
		strcmp(sim_text_or(sim_get(service, "metadata", "labels", KAR_LABEL_QUEUEJOB), ""), name) ==
		0 &&
		strcmp(sim_text_or(sim_get(service, "spec", "clusterIP"), ""), "None") == 0 &&
		sim_bool_of(sim_get(service, "spec", "publishNotReadyAddresses"), false) == publish;
}

void rules_check_service_at_rest(struct ledger *l, const struct ledger_job *j, const struct sim_value *job)
{
	const struct sim_value *service = sim_apiserver_peek(l->server, "", "services", j->ns, j->name);
	const char *owner = ledger_owner(service);
	bool own = owner && strcmp(owner, j->uid) == 0;
	bool seen = sim_get(service, "metadata", "labels", KAR_LABEL_QUEUEJOB) != NULL;
	bool wanted = sim_bool_of(sim_get(job, "spec", "network", "enableDNSHostnames"), false);

	if (own && !wanted && !seen)
		return; /* the garbage collector finds it */
	if (wanted != own)
		ledger_break(l, "service", "job %s/%s %s", j->ns, j->name,
			wanted ? "has no Service" : "has a Service that it does not want");
	else if (own && !is_sound(service, job))
		ledger_break(l, "service", "the Service of job %s/%s was edited, and nobody repairs it",
			j->ns, j->name);
}

/* --- what the API server is asked ---------------------------------------------------------------------- */

enum {
	REFUSED_WINDOW = 60000, /* ms */
	/*
	 * Creates of one job in it: two jobs whose pods other quotas refuse wake each other up every 5 s, for two tries each, and of a
	 * try up to five creates are refused together. What knows no pause needs a second for as many.
	 */
	REFUSED_MOST = 130,
};

static void note_refused(struct ledger *l, struct ledger_job *j)
{
	kar_time now = ledger_now(l);

	if (now - j->refused_since > REFUSED_WINDOW) {
		j->refused_since = now;
		j->n_refused = 0;
	}
	if (++j->n_refused > REFUSED_MOST)
		ledger_break(l, "patience", "%d creates of job %s/%s were refused within %lld s",
			j->n_refused, j->ns, j->name, (long long)(now - j->refused_since) / KAR_SECOND);
}

static void note_asked(struct ledger *l, struct ledger_job *j, const struct sim_value *pod)
{
	struct ledger_task *t =
		ledger_find_task(j, sim_text_or(sim_get(pod, "metadata", "labels", KAR_LABEL_TASK), ""));
	const char *hash =
		sim_text_or(sim_get(pod, "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH), "none");

	if (!t)
		return;
	/* An ask may be older than the edit that has just arrived. */
	if (strcmp(t->checked, hash) == 0 && l->faultless)
		ledger_break(l, "asked-once",
			"whether a pod of task %s of job %s/%s is possible is asked again", t->name, j->ns,
			j->name);
	strlcpy(t->checked, hash, sizeof(t->checked));
}

void ledger_answered(struct ledger *l, const struct sim_request *rq, const struct sim_value *pod, int code)
{
	const char *uid = ledger_owner(pod);
	struct ledger_job *j = uid ? ledger_find_job(l, uid) : NULL;

	if (!j)
		return;
	if (code >= 400 && code < 500 && l->faultless)
		note_refused(l, j);
	if (rq->dry_run && code < 300)
		note_asked(l, j, pod);
}
