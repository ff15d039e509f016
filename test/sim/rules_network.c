/* Host names and the Service behind them; what is asked without need. */
#include <string.h>

#include <bsd/string.h>

#include "common/base/str.h"
#include "api/names.h"
#include "api/status/reasons.h"
#include "test/sim/rules.h"

/* --- pods ---------------------------------------------------------------------------------------------- */

static void check_service_first(const struct rule *r, const struct write *w)
{
	const char *domain = sim_get_text(w->c->new, "spec", "subdomain");
	kar_time since = w->job ? w->job->without_service : 0;

	if (w->by_manager && w->job && domain && since && since < model_horizon(w->l))
		model_break(w->l, r->name, "pod %s/%s is to be found as %s.%s, but there is no Service",
			w->c->ns, w->c->name, w->c->name, domain);
}

static void check_host_name(const struct rule *r, const struct write *w)
{
	const char *host = sim_get_text(w->c->new, "spec", "hostname"),
		   *domain = sim_get_text(w->c->new, "spec", "subdomain");
	bool sound = !host == !domain && (!host || strcmp(host, w->c->name) == 0) &&
		(!domain || !w->job || strcmp(domain, w->job->name) == 0);

	if (w->by_manager && !sound)
		model_break(w->l, r->name, "pod %s/%s has host name %s in domain %s", w->c->ns, w->c->name,
			host ? host : "-", domain ? domain : "-");
}

const struct rule rules_of_network[] = {
	{ RULE_POD_CREATED, "service-first",
		"a pod with a host name is created only when its Service is there", check_service_first },
	{ RULE_POD_CREATED, "host-name", "a pod has the name of itself in the domain of its job, or none",
		check_host_name },
};
const size_t n_rules_of_network = KAR_LEN(rules_of_network);

/* --- the model ---------------------------------------------------------------------------------------- */

void model_note_service(struct model *l, const struct sim_change *c)
{
	const char *was = model_owner(c->old), *is = model_owner(c->new);
	struct model_job *j;

	j = was && (!is || strcmp(was, is) != 0) ? model_find_job(l, was) : NULL;
	if (j)
		j->without_service = model_now(l);
	j = is ? model_find_job(l, is) : NULL;
	if (j)
		j->without_service = 0;
	TAILQ_FOREACH(j, &l->present, in_present) {
		if (strcmp(j->ns, c->ns) == 0 && strcmp(j->name, c->name) == 0)
			j->service_changed = model_now(l);
	}
}

bool rules_is_service_seen(const struct model *l, const struct sim_value *service)
{
	const char *owner = model_owner(service);
	const struct model_job *j = owner ? model_find_job(l, owner) : NULL;

	return sim_get(service, "metadata", "labels", KAR_LABEL_QUEUEJOB) && j &&
		j->service_changed < model_horizon(l);
}

/* --- what is due --------------------------------------------------------------------------------------- */

enum service_state { SERVICE_MISSING, SERVICE_OWN, SERVICE_UNSEEN, SERVICE_FOREIGN };

static enum service_state state_of(const struct model_job *j, const struct sim_value *service)
{
	const char *owner = model_owner(service);

	if (!service)
		return SERVICE_MISSING;
	if (!owner || strcmp(owner, j->uid) != 0 || sim_get(service, "metadata", "deletionTimestamp"))
		return SERVICE_FOREIGN;
	return sim_get(service, "metadata", "labels", KAR_LABEL_QUEUEJOB) ? SERVICE_OWN : SERVICE_UNSEEN;
}

bool rules_lacks_service(const struct model *l, const struct model_job *j)
{
	const struct sim_value *job = model_stored(l, j);

	return job && sim_bool_of(sim_get(job, "spec", "network", "enableDNSHostnames"), false) &&
		state_of(j, sim_apiserver_peek(l->server, "", "services", j->ns, j->name)) != SERVICE_OWN;
}

static bool is_reason(const struct sim_value *job, const char *reason)
{
	return kar_streq(sim_get_text(job, "status", "reason"), reason);
}

/* Does it report that a Service is in its way? */
static bool reports_conflict(const struct sim_value *job)
{
	return is_reason(job, kar_reason_NameConflict) &&
		strstr(sim_text_or(sim_get(job, "status", "message"), ""), "Service");
}

/* Nothing that is said first keeps it from asking for a Service. */
static bool asks_for_service(const struct model_job *j, const struct sim_value *job)
{
	return sim_bool_of(sim_get(job, "spec", "network", "enableDNSHostnames"), false) && !j->suspended &&
		!j->deleting && !j->status_edited && !kar_qj_phase_terminal(j->phase) &&
		j->phase != KAR_QJ_PHASE_SUSPENDED && !model_is_invalid(job) &&
		!is_reason(job, kar_reason_Forbidden);
}

/* The next try to create one may come so late, and with it the report. */
static void check_service_due(struct model *l, const struct model_job *j)
{
	const kar_time LONGEST_BACKOFF = 30 * KAR_SECOND, SOON = 10 * KAR_SECOND;
	const struct sim_value *job = model_stored(l, j);
	kar_time now = model_now(l), changed = j->service_changed;
	enum service_state state;

	if (!asks_for_service(j, job))
		return;
	state = state_of(j, sim_apiserver_peek(l->server, "", "services", j->ns, j->name));
	changed = j->spec_edited > changed ? j->spec_edited : changed;
	changed = j->phase_since > changed ? j->phase_since : changed;
	changed = l->undisturbed > changed ? l->undisturbed : changed;
	if (state == SERVICE_OWN && now - changed > SOON && reports_conflict(job))
		model_break(l, "service-due", "job %s/%s has its Service, and says: %s", j->ns, j->name,
			sim_text_or(sim_get(job, "status", "message"), ""));
	if (now - changed < LONGEST_BACKOFF + SOON)
		return;
	if (state == SERVICE_MISSING)
		model_break(l, "service-due", "job %s/%s has no Service for %.3f s", j->ns, j->name,
			(double)(now - changed) / KAR_SECOND);
	else if (state != SERVICE_OWN && !reports_conflict(job))
		model_break(l, "service-due",
			"job %s/%s, phase %s, does not report that its Service %s; its reason is %s", j->ns,
			j->name, kar_qj_phase_name(j->phase),
			state == SERVICE_UNSEEN ? "has no label" : "is somebody else's",
			sim_text_or(sim_get(job, "status", "reason"), "none"));
}

void rules_check_services_due(struct model *l)
{
	struct model_job *j;

	if (l->undisturbed == KAR_NEVER)
		return;
	TAILQ_FOREACH(j, &l->present, in_present) {
		if (j->service_changed)
			check_service_due(l, j);
	}
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

void rules_check_service_at_rest(struct model *l, const struct model_job *j, const struct sim_value *job)
{
	const struct sim_value *service = sim_apiserver_peek(l->server, "", "services", j->ns, j->name);
	const char *owner = model_owner(service);
	bool own = owner && strcmp(owner, j->uid) == 0;
	bool seen = sim_get(service, "metadata", "labels", KAR_LABEL_QUEUEJOB) != NULL;
	bool wanted = sim_bool_of(sim_get(job, "spec", "network", "enableDNSHostnames"), false);

	if (own && !wanted && !seen)
		return; /* the garbage collector finds it */
	if (wanted != own)
		model_break(l, "service", "job %s/%s %s", j->ns, j->name,
			wanted ? "has no Service" : "has a Service that it does not want");
	else if (own && !is_sound(service, job))
		model_break(l, "service", "the Service of job %s/%s was edited, and nobody repairs it", j->ns,
			j->name);
}

/* --- what the API server is asked ---------------------------------------------------------------------- */

enum {
	ASKED_AGAIN = 10000,    /* ms */
	REFUSED_WINDOW = 60000, /* ms */
	/*
	 * Creates of one job in it: two jobs whose pods other quotas refuse wake each other up every 5 s, for two tries each, and of a
	 * try up to five creates are refused together. What knows no pause needs a second for as many.
	 */
	REFUSED_MOST = 130,
};

static void note_refused(struct model *l, struct model_job *j)
{
	kar_time now = model_now(l);

	if (now - j->refused_since > REFUSED_WINDOW) {
		j->refused_since = now;
		j->n_refused = 0;
	}
	if (++j->n_refused > REFUSED_MOST)
		model_break(l, "patience", "%d creates of job %s/%s were refused within %lld s", j->n_refused,
			j->ns, j->name, (long long)(now - j->refused_since) / KAR_SECOND);
}

static void note_asked(struct model *l, struct model_job *j, const struct sim_value *pod)
{
	struct model_task *t =
		model_find_task(j, sim_text_or(sim_get(pod, "metadata", "labels", KAR_LABEL_TASK), ""));
	const char *hash =
		sim_text_or(sim_get(pod, "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH), "none");

	if (!t)
		return;
	/* An ask may be older than the edit that has just arrived. What was found out ten seconds ago may have changed. */
	if (strcmp(t->checked, hash) == 0 && l->faultless && model_now(l) - t->checked_at < ASKED_AGAIN)
		model_break(l, "asked-once",
			"whether a pod of task %s of job %s/%s is possible is asked again", t->name, j->ns,
			j->name);
	strlcpy(t->checked, hash, sizeof(t->checked));
	t->checked_at = model_now(l);
}

void model_answered(struct model *l, const struct sim_request *rq, const struct sim_value *pod, int code)
{
	const char *uid = model_owner(pod);
	struct model_job *j = uid ? model_find_job(l, uid) : NULL;

	if (!j)
		return;
	if (code >= 400 && code < 500 && l->faultless)
		note_refused(l, j);
	if (rq->dry_run && code < 300)
		note_asked(l, j, pod);
}
