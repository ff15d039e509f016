/* What people do to Services and about host names, and how they make templates impossible, and mend them. */
#include <string.h>

#include "api/names.h"
#include "test/sim/users_impl.h"

static const struct users_kind services = { "", "v1", "services" };

/* --- Services ------------------------------------------------------------------------------------------ */

static bool has_label(const struct sim_value *service)
{
	return sim_get(service, "metadata", "labels", KAR_LABEL_QUEUEJOB) != NULL;
}

/* Takes the label off by which the Service is found, or puts it back. */
static void toggle_label(struct sim_value **service, const char *job)
{
	if (has_label(*service))
		sim_remove(service, "metadata", "labels", KAR_LABEL_QUEUEJOB);
	else
		sim_set_text(service, job, "metadata", "labels", KAR_LABEL_QUEUEJOB);
}

static void edit_service(struct world *w, const char *ns, const char *name, int edit)
{
	struct sim_value *v = sim_ref(users_peek(w, &services, ns, name));

	if (!v || !model_owner(v)) {
		sim_unref(v);
		return;
	}
	if (edit == PLAN_SERVICE_SELECTOR)
		sim_set_text(&v, "other", "spec", "selector", "app");
	else if (edit == PLAN_SERVICE_LABEL)
		toggle_label(&v, name);
	else
		sim_set(&v, sim_bool(!sim_bool_of(sim_get(v, "spec", "publishNotReadyAddresses"), false)),
			"spec", "publishNotReadyAddresses");
	users_ask(w, users_request(KAR_UPDATE, &services, ns, name), v);
}

/* An address, and port 80. */
static void take_service(struct world *w, const char *ns, const char *name)
{
	struct sim_request rq = users_request(KAR_CREATE, &services, ns, NULL);
	struct sim_value *v = users_named("v1", "Service", name);
	struct sim_value *ports = sim_array(), *port = sim_object();

	sim_set(&port, sim_int(80), "port");
	sim_append(&ports, port);
	sim_set(&v, ports, "spec", "ports");
	rq.user = USERS_BOB;
	users_ask(w, rq, v);
}

static bool is_foreign(const struct sim_value *service)
{
	return service && !model_owner(service) && !has_label(service);
}

static void free_service(struct world *w, const char *ns, const char *name)
{
	if (is_foreign(users_peek(w, &services, ns, name)))
		users_delete(w, &services, ns, name, 0);
}

/* One that a former job left, and somebody edited: the next job of the name does not take it for its own. */
static bool is_left_and_edited(const struct sim_value *service)
{
	return service && !model_owner(service) && sim_count(sim_get(service, "spec", "selector")) > 1;
}

/* --- templates ----------------------------------------------------------------------------------------- */

static void put_job(struct world *w, const char *ns, const char *name, struct sim_value *job)
{
	users_ask(w, users_request(KAR_UPDATE, &users_jobs, ns, name), job);
}

static void mend(struct sim_value **template)
{
	struct sim_value *containers = sim_ref(sim_get(*template, "spec", "containers"));
	struct sim_value *container = sim_ref(sim_item(containers, 0));

	sim_remove(&container, "volumeMounts");
	sim_replace(&containers, 0, container);
	sim_set(template, containers, "spec", "containers");
}

static void edit_template(struct sim_value **job, size_t number, bool impossible)
{
	struct sim_value *specs = sim_ref(sim_get(*job, "spec", "taskSpecs"));
	struct sim_value *task = sim_ref(sim_item(specs, number));
	struct sim_value *template = sim_ref(sim_member(task, "template"));

	if (!template) {
		sim_unref(task);
		sim_unref(specs);
		return;
	}
	if (impossible)
		plan_make_impossible(&template);
	else
		mend(&template);
	sim_set(&task, template, "template");
	sim_replace(&specs, number, task);
	sim_set(job, specs, "spec", "taskSpecs");
}

static void change_template(struct world *w, const char *ns, const char *name, int task, bool impossible)
{
	struct sim_value *job = sim_ref(users_peek(w, &users_jobs, ns, name));

	if (!job)
		return;
	edit_template(&job, (size_t)task, impossible);
	put_job(w, ns, name, job);
}

static void set_network(struct world *w, const char *ns, const char *name, bool on)
{
	struct sim_value *job = sim_ref(users_peek(w, &users_jobs, ns, name));

	if (!job)
		return;
	sim_set(&job, sim_bool(on), "spec", "network", "enableDNSHostnames");
	put_job(w, ns, name, job);
}

/* --- a plan's action ----------------------------------------------------------------------------------- */

void users_act_on_network(struct world *w, const char *ns, const char *name, const struct plan_action *a)
{
	switch (a->verb) {
	case PLAN_NETWORK:
		set_network(w, ns, name, a->value);
		break;
	case PLAN_IMPOSSIBLE:
	case PLAN_MEND:
		change_template(w, ns, name, a->task, a->verb == PLAN_IMPOSSIBLE);
		break;
	case PLAN_TAKE_SERVICE:
		take_service(w, ns, name);
		break;
	case PLAN_FREE_SERVICE:
		free_service(w, ns, name);
		break;
	default:
		if (a->value == PLAN_SERVICE_DELETED)
			users_delete(w, &services, ns, name, 0);
		else
			edit_service(w, ns, name, a->value);
		break;
	}
}

/* --- at the end ---------------------------------------------------------------------------------------- */

static bool is_impossible(const struct sim_value *job)
{
	const struct sim_value *specs = sim_get(job, "spec", "taskSpecs");

	for (size_t i = 0; i < sim_count(specs); i++) {
		const struct sim_value *containers =
			sim_get(sim_item(specs, i), "template", "spec", "containers");

		if (sim_member(sim_item(containers, 0), "volumeMounts"))
			return true;
	}
	return false;
}

/* One that is in the way of its job because it has no label: it gets that back, or goes. */
static void settle_conflict(struct world *w, const char *ns, const char *name, bool keep)
{
	const struct sim_value *service = users_peek(w, &services, ns, name);

	if (!service || !model_owner(service) || has_label(service))
		return;
	if (keep)
		edit_service(w, ns, name, PLAN_SERVICE_LABEL);
	else
		users_delete(w, &services, ns, name, 0);
}

static void mend_job(struct world *w, const struct plan_job *j)
{
	char name[PLAN_NAME];
	const char *ns = plan_ns_name(j->ns);
	struct sim_value *job;

	plan_job_name(j, name);
	free_service(w, ns, name);
	settle_conflict(w, ns, name, j->number % 2);
	if (is_left_and_edited(users_peek(w, &services, ns, name)))
		users_delete(w, &services, ns, name, 0);
	job = sim_ref(users_peek(w, &users_jobs, ns, name));
	if (!is_impossible(job)) {
		sim_unref(job);
		return;
	}
	for (size_t i = 0; i < sim_count(sim_get(job, "spec", "taskSpecs")); i++)
		edit_template(&job, i, false);
	put_job(w, ns, name, job);
}

void users_mend_jobs(struct world *w)
{
	for (size_t i = 0; i < w->plan->n_jobs; i++)
		mend_job(w, &w->plan->jobs[i]);
}
