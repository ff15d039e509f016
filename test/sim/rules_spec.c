/* What the spec says of all pods alike: which selector finds them, where they may run, who binds them. */
#include <string.h>

#include "api/names.h"
#include "common/base/buf.h"
#include "test/sim/rules.h"

/* --- the selector ---------------------------------------------------------------------------------------- */

static void put_list(const struct sim_value *values, struct kar_buf *out)
{
	for (size_t i = 0; i < sim_count(values); i++)
		kar_buf_printf(out, "%s%s", i ? "," : "", sim_text_or(sim_item(values, i), ""));
}

static void put_requirement(const struct sim_value *r, struct kar_buf *out)
{
	const char *key = sim_text_or(sim_member(r, "key"), "");
	const char *operator= sim_text_or(sim_member(r, "operator"), "");

	if (strcmp(operator, "Exists") == 0 || strcmp(operator, "DoesNotExist") == 0) {
		kar_buf_printf(out, "%s%s", *operator== 'E' ? "" : "!", key);
		return;
	}
	kar_buf_printf(out, "%s %s (", key, strcmp(operator, "In") == 0 ? "in" : "notin");
	put_list(sim_member(r, "values"), out);
	kar_buf_puts(out, ")");
}

/* As kubectl takes it. */
static void put_selector(const struct sim_value *job, struct kar_buf *out)
{
	const struct sim_value *selector = sim_get(job, "spec", "selector");
	const struct sim_value *list = sim_member(selector, "matchExpressions");
	const char *comma = "";

	if (!selector)
		kar_buf_printf(out, "%s=%s", KAR_LABEL_QUEUEJOB,
			sim_text_or(sim_get(job, "metadata", "name"), ""));
	for (struct sim_member m = sim_first(sim_member(selector, "matchLabels")); m.value; m = sim_next(m)) {
		kar_buf_printf(out, "%s%s=%s", comma, m.key, sim_text_or(m.value, ""));
		comma = ",";
	}
	for (size_t i = 0; i < sim_count(list); i++) {
		kar_buf_puts(out, comma);
		put_requirement(sim_item(list, i), out);
		comma = ",";
	}
}

static void check_selector(const struct rule *r, const struct write *w)
{
	int64_t seen = sim_get_int(w->c->new, 0, "status", "observedGeneration");
	const char *says = sim_text_or(sim_get(w->c->new, "status", "selector"), "");
	struct kar_buf means = { 0 };

	if (!w->by_manager || seen != sim_get_int(w->c->new, -1, "metadata", "generation"))
		return;
	put_selector(w->c->new, &means);
	if (strcmp(says, kar_buf_cstr(&means)) != 0)
		model_break(w->l, r->name, "job %s/%s: status.selector is \"%s\"; the spec means \"%s\"",
			w->c->ns, w->c->name, says, kar_buf_cstr(&means));
	kar_buf_release(&means);
}

static bool lists(const struct sim_value *values, const char *value)
{
	for (size_t i = 0; i < sim_count(values) && value; i++) {
		if (strcmp(sim_text_or(sim_item(values, i), ""), value) == 0)
			return true;
	}
	return false;
}

static bool meets(const struct sim_value *r, const struct sim_value *labels)
{
	const char *operator= sim_text_or(sim_member(r, "operator"), "");
	const char *value = sim_text(sim_member(labels, sim_text_or(sim_member(r, "key"), "")));
	const struct sim_value *values = sim_member(r, "values");

	if (strcmp(operator, "Exists") == 0)
		return value != NULL;
	if (strcmp(operator, "DoesNotExist") == 0)
		return value == NULL;
	return lists(values, value) == (strcmp(operator, "In") == 0);
}

/* Has @of, an object of strings, all that @wanted has? */
static bool has_all(const struct sim_value *of, const struct sim_value *wanted)
{
	for (struct sim_member m = sim_first(wanted); m.value; m = sim_next(m)) {
		const struct sim_value *is = sim_member(of, m.key);

		if (!is || !sim_equal(is, m.value))
			return false;
	}
	return true;
}

static bool selects(const struct sim_value *selector, const struct sim_value *labels)
{
	const struct sim_value *list = sim_member(selector, "matchExpressions");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (!meets(sim_item(list, i), labels))
			return false;
	}
	return has_all(labels, sim_member(selector, "matchLabels"));
}

static void check_selected(const struct rule *r, const struct write *w)
{
	const struct sim_value *selector;

	if (!w->by_manager || !w->job || w->job->gone || w->job->spec_edited >= model_horizon(w->l))
		return;
	selector = sim_get(model_stored(w->l, w->job), "spec", "selector");
	if (!selects(selector, sim_get(w->c->new, "metadata", "labels")))
		model_break(w->l, r->name,
			"pod %s/%s is created, but the selector of its job does not find it", w->c->ns,
			w->c->name);
}

/* --- the rest of a pod ----------------------------------------------------------------------------------- */

static const struct sim_value *args_of(const struct sim_value *pod_spec)
{
	return sim_get(sim_item(sim_member(pod_spec, "containers"), 0), "args");
}

/* What tells templates apart is what an edit changes: the arguments. */
static bool has_template_of(const struct sim_value *pod, const char *task, const struct sim_value *job)
{
	const struct sim_value *specs = sim_get(job, "spec", "taskSpecs");

	for (size_t i = 0; i < sim_count(specs); i++) {
		const struct sim_value *t = sim_item(specs, i);

		if (strcmp(sim_text_or(sim_member(t, "name"), ""), task) == 0)
			return sim_equal(args_of(sim_get(t, "template", "spec")),
				args_of(sim_member(pod, "spec")));
	}
	return false;
}

static bool same_text(const struct sim_value *a, const struct sim_value *b, const char *otherwise)
{
	return strcmp(sim_text_or(a, otherwise), sim_text_or(b, otherwise)) == 0;
}

/* The templates of people say nothing of where pods run, nor of their priority. */
const char *rules_outdated(const struct sim_value *pod, const char *task, const struct sim_value *job)
{
	const struct sim_value *sched = sim_get(job, "spec", "schedSpec"),
			       *selector = sim_get(pod, "spec", "nodeSelector");
	/* That of the domain is written by the manager, if the gang has one. */
	bool in_domain = rules_together(job) && sim_member(selector, rules_together(job)) &&
		!sim_get(sched, "nodeSelector", rules_together(job));

	if (!has_template_of(pod, task, job))
		return "has another template";
	if (!has_all(selector, sim_member(sched, "nodeSelector")) ||
		sim_count(selector) != sim_count(sim_member(sched, "nodeSelector")) + in_domain)
		return "has another nodeSelector";
	if (!same_text(sim_get(pod, "spec", "schedulerName"), sim_get(job, "spec", "schedulerName"),
		    "default-scheduler"))
		return "has another schedulerName";
	if (!same_text(sim_get(pod, "spec", "priorityClassName"), sim_member(sched, "priorityClassName"), ""))
		return "has another priorityClassName";
	return NULL;
}

/*
 * A create that arrives very late, after an edit of the templates was recorded, makes a pod of the former ones, as its
 * annotation shows. It stays if it has a node (decision 007).
 */
static bool came_late(const struct sim_value *pod, const struct sim_value *job)
{
	const char *made = sim_text_or(sim_get(pod, "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH),
			   ""),
		   *runs = sim_text_or(sim_get(job, "status", "record", "templateHash"), "");

	return *made && *runs && strcmp(made, runs) != 0 && sim_get(pod, "spec", "nodeName");
}

void rules_check_pods_at_rest(struct model *l, const struct model_job *j, const struct sim_value *job)
{
	const struct model_pod *p;

	if (j->status_edited || j->pods_edited || model_is_invalid(job))
		return;
	TAILQ_FOREACH(p, &j->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods", p->ns, p->name);
		bool live = !p->deleting && !p->succeeded && !p->failed && !came_late(pod, job);
		const char *why = live && pod ? rules_outdated(pod, p->task, job) : NULL;

		if (why)
			model_break(l, "current", "pod %s/%s is as it was made at first; its job %s", p->ns,
				p->name, why);
	}
}

const struct rule rules_of_spec[] = {
	{ RULE_JOB_CHANGED, "selector", "status.selector is the one in use", check_selector },
	{ RULE_POD_CREATED, "selected", "the selector of a job finds the pods that are created for it",
		check_selected },
};
const size_t n_rules_of_spec = KAR_LEN(rules_of_spec);
