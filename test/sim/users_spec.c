/* What people do to the rest of a job's spec: selectors, places, schedulers, times, names of tasks. */
#include <string.h>

#include "api/names.h"
#include "test/sim/rules.h"
#include "test/sim/users_impl.h"

/* --- names of tasks -------------------------------------------------------------------------------------- */

static const struct sim_value *tasks_of(const struct sim_value *job)
{
	return sim_get(job, "spec", "taskSpecs");
}

static const char *task_name(const struct sim_value *job, size_t i)
{
	return sim_text_or(sim_member(sim_item(tasks_of(job), i), "name"), "");
}

static bool has_task(const struct sim_value *job, const char *name)
{
	for (size_t i = 0; i < sim_count(tasks_of(job)); i++) {
		if (strcmp(task_name(job, i), name) == 0)
			return true;
	}
	return false;
}

static bool has_all(const struct sim_value *job, const struct sim_value *names)
{
	for (size_t i = 0; i < sim_count(names); i++) {
		if (!has_task(job, sim_text_or(sim_item(names, i), "")))
			return false;
	}
	return true;
}

bool users_names_agree(const struct sim_value *job)
{
	const struct sim_value *rules = sim_get(job, "spec", "failurePolicy", "rules");

	if (!has_all(job, sim_get(job, "spec", "successPolicy", "tasks")))
		return false;
	for (size_t i = 0; i < sim_count(rules); i++) {
		if (!has_all(job, sim_member(sim_item(rules, i), "tasks")))
			return false;
	}
	for (size_t i = 0; i < sim_count(tasks_of(job)); i++) {
		const struct sim_value *list = sim_member(sim_item(tasks_of(job), i), "dependsOn");

		for (size_t k = 0; k < sim_count(list); k++) {
			if (!has_task(job, sim_text_or(sim_member(sim_item(list, k), "name"), "")))
				return false;
		}
	}
	return true;
}

static void rename_task(struct sim_value **job, int number, bool other)
{
	struct sim_value *specs = sim_ref(tasks_of(*job));
	struct sim_value *task = sim_ref(sim_item(specs, (size_t)number));
	char second[PLAN_NAME];

	snprintf(second, sizeof(second), "%sx", plan_task_name(number));
	if (task && strcmp(task_name(*job, (size_t)number), other ? plan_task_name(number) : second) == 0) {
		sim_set_text(&task, other ? second : plan_task_name(number), "name");
		sim_replace(&specs, (size_t)number, sim_ref(task));
		sim_set(job, sim_ref(specs), "spec", "taskSpecs");
	}
	sim_unref(task);
	sim_unref(specs);
}

static void drop_task(struct sim_value **job, int number)
{
	struct sim_value *specs = sim_ref(tasks_of(*job));

	if (sim_count(specs) > 1 && (size_t)number < sim_count(specs)) {
		sim_drop(&specs, (size_t)number);
		sim_set(job, sim_ref(specs), "spec", "taskSpecs");
	}
	sim_unref(specs);
}

/* --- a plan's action ------------------------------------------------------------------------------------- */

/* With rules by which failures do not count a job may fail for ever: then it keeps its deadline, so that all comes to rest. */
static void set_deadline(struct sim_value **job, int seconds)
{
	if (seconds != PLAN_UNSET)
		sim_set(job, sim_int(seconds), "spec", "activeDeadlineSeconds");
	else if (!sim_get(*job, "spec", "failurePolicy"))
		sim_remove(job, "spec", "activeDeadlineSeconds");
}

static void set_selector(struct sim_value **job, enum plan_selector s)
{
	if (s == PLAN_SELECTOR_NONE)
		sim_remove(job, "spec", "selector");
	else
		sim_set(job, plan_selector_object(s), "spec", "selector");
}

static void edit(struct sim_value **job, const struct plan_action *a)
{
	switch (a->verb) {
	case PLAN_SELECT:
		set_selector(job, (enum plan_selector)a->value);
		break;
	case PLAN_PLACE:
		plan_set_place(job, (enum plan_place)a->value);
		break;
	case PLAN_SCHEDULER:
		plan_set_scheduler(job, (enum plan_scheduler)a->value);
		break;
	case PLAN_RENAME_TASK:
		rename_task(job, a->task, a->value);
		break;
	case PLAN_DROP_TASK:
		drop_task(job, a->task);
		break;
	default:
		set_deadline(job, a->value);
		break;
	}
}

static void put(struct world *w, const char *ns, const char *name, struct sim_value *job)
{
	users_ask(w, users_request(KAR_UPDATE, &users_jobs, ns, name), job);
}

void users_act_on_spec(struct world *w, const char *ns, const char *name, const struct plan_action *a)
{
	struct sim_value *job;

	if (a->verb == PLAN_KEEP) {
		race_ttl_wait(w, ns, name, a->value);
		return;
	}
	job = sim_ref(users_peek(w, &users_jobs, ns, name));
	if (job)
		edit(&job, a);
	if (job && users_keep_valid(&job))
		put(w, ns, name, sim_ref(job));
	sim_unref(job);
}

/* --- at the end ------------------------------------------------------------------------------------------ */

/* Of a job of that name which is there no more, people may have taken its templates, without the labels. */
static bool is_labelled(const struct sim_value *job)
{
	for (size_t i = 0; i < sim_count(tasks_of(job)); i++) {
		if (!sim_get(sim_item(tasks_of(job), i), "template", "metadata", "labels", "app"))
			return false;
	}
	return true;
}

static bool selects(const struct sim_value *job)
{
	const struct sim_value *selector = sim_get(job, "spec", "selector");

	for (int s = PLAN_SELECTOR_NONE + 1; selector && s < PLAN_SELECTORS; s++) {
		struct sim_value *one = plan_selector_object((enum plan_selector)s);
		bool wrong = !plan_selects((enum plan_selector)s) && sim_equal(one, selector);

		sim_unref(one);
		if (wrong)
			return false;
	}
	return !selector || is_labelled(job);
}

/* An edit has taken the minimum away, which kar-scheduler refuses; the message of the job says what to do. */
static bool is_unsupported(const struct sim_value *job)
{
	return rules_is_direct(job) && sim_get_int(job, -1, "spec", "schedSpec", "minAvailable") == 0;
}

static void mend_job(struct world *w, const char *ns, const char *name)
{
	const struct sim_value *is = users_peek(w, &users_jobs, ns, name);
	struct sim_value *job = sim_ref(is);

	if (!job)
		return;
	if (!selects(job))
		set_selector(&job, PLAN_SELECTOR_NONE);
	if (strcmp(sim_text_or(sim_get(job, "spec", "schedulerName"), ""), "nobody") == 0 ||
		is_unsupported(job))
		plan_set_scheduler(&job, PLAN_UNNAMED);
	if (strcmp(sim_text_or(sim_get(job, "spec", "schedSpec", "nodeSelector", PLAN_ZONE_LABEL), ""),
		    "z9") == 0)
		plan_set_place(&job, PLAN_ANYWHERE);
	if (job != is)
		put(w, ns, name, sim_ref(job));
	sim_unref(job);
}

void users_mend_specs(struct world *w)
{
	for (size_t i = 0; i < w->plan->n_jobs; i++) {
		char name[PLAN_NAME];

		mend_job(w, plan_ns_name(w->plan->jobs[i].ns), plan_job_name(&w->plan->jobs[i], name));
	}
}
