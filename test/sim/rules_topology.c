/* Gangs that must be in one domain of a Topology. */
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "test/sim/rules.h"

const char *rules_together(const struct sim_value *job)
{
	return sim_get_text(job, "spec", "schedSpec", "topology", "required");
}

/* Where the pod is, for as long as it is to stay there; NULL: nowhere. */
static const char *zone_of(const struct model *l, const struct sim_value *pod, const char *label)
{
	const char *name = sim_get_text(pod, "spec", "nodeName"),
		   *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	const struct sim_value *node = name ? sim_apiserver_peek(l->server, "", "nodes", NULL, name) : NULL;

	if (sim_get(pod, "metadata", "deletionTimestamp") || strcmp(phase, "Succeeded") == 0 ||
		strcmp(phase, "Failed") == 0)
		return NULL;
	return sim_get_text(node, "metadata", "labels", label);
}

static void check_together(const struct rule *r, const struct write *w)
{
	const struct sim_value *job = w->job ? model_stored(w->l, w->job) : NULL;
	const char *label = job ? rules_together(job) : NULL,
		   *zone = label && w->c->new ? zone_of(w->l, w->c->new, label) : NULL;
	const struct model_pod *p;

	/* Never placed: it has taken over a PodGroup of somebody that was admitted when it was empty. */
	if (!zone || w->job->pods_edited ||
		!sim_get_int(model_group(w->l, w->job), 0, "status", "placement", "attempt"))
		return;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(w->l->server, "", "pods", p->ns, p->name);
		const char *other = pod ? zone_of(w->l, pod, label) : NULL;

		if (other && strcmp(other, zone) != 0)
			model_break(w->l, r->name, "pod %s/%s is in %s, and %s of the same gang in %s",
				w->c->ns, w->c->name, zone, p->name, other);
	}
}

const struct rule rules_of_topology[] = {
	{ RULE_POD_CHANGED, "together",
		"all live pods of a job that must be in one domain are in the same, those that replace others too",
		check_together },
};
const size_t n_rules_of_topology = KAR_LEN(rules_of_topology);
