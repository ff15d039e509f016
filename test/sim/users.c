/* People: what each verb of a plan means at the API server. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/buf.h"
#include "test/sim/rules.h"
#include "test/sim/users_impl.h"

/* What an action is about. */
struct target {
	const struct plan_job *job;
	const char *ns;
	char name[PLAN_NAME], pod[PLAN_NAME], first[PLAN_NAME]; /* first: of the pod's task */
};

static struct target target_of(const struct world *w, const struct plan_action *a)
{
	struct target t = { .ns = "" };

	if (!w->plan->n_jobs)
		return t;
	t.job = &w->plan->jobs[a->job];
	t.ns = plan_ns_name(t.job->ns);
	plan_job_name(t.job, t.name);
	plan_pod_name(t.job, a->task < PLAN_TASKS ? a->task : 0, a->value, t.pod);
	plan_pod_name(t.job, a->task < PLAN_TASKS ? a->task : 0, 0, t.first);
	return t;
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

static void submit(struct world *w, const struct target *t)
{
	users_ask(w, users_request(KAR_CREATE, &users_jobs, t->ns, NULL), plan_job_object(w->plan, t->job));
}

/* An edit of the job as it is now; NULL: there is none. Consumed by put_job(). */
static struct sim_value *edit_job(const struct world *w, const struct target *t)
{
	return sim_ref(users_peek(w, &users_jobs, t->ns, t->name));
}

static void put_job(struct world *w, const struct target *t, struct sim_value *v)
{
	users_ask(w, users_request(KAR_UPDATE, &users_jobs, t->ns, t->name), v);
}

static int64_t total(const struct sim_value *job, bool first_only)
{
	const struct sim_value *specs = sim_get(job, "spec", "taskSpecs");
	int64_t n = 0;

	for (size_t i = 0; i < sim_count(specs); i++) {
		if (i == 0 || !first_only)
			n += sim_int_of(sim_member(sim_item(specs, i), "replicas"), 1);
	}
	return n;
}

/* What the rules of the CRD forbid, which this server does not evaluate, people do not ask for. */
bool users_keep_valid(struct sim_value **job)
{
	bool first_only = sim_get(*job, "spec", "successPolicy", "tasks") != NULL;

	if (sim_get_int(*job, 0, "spec", "successPolicy", "minSucceeded") > total(*job, first_only) ||
		!users_names_agree(*job))
		return false;
	if (sim_get_int(*job, 0, "spec", "schedSpec", "minAvailable") > total(*job, false))
		sim_set(job, sim_int(total(*job, false)), "spec", "schedSpec", "minAvailable");
	return true;
}

/* Edits task number @task of the job by @fn. */
static void edit_task(struct world *w, const struct target *t, const struct plan_action *a,
	void (*fn)(struct sim_value **task, const struct target *t, const struct plan_action *a))
{
	struct sim_value *job = edit_job(w, t);
	struct sim_value *specs = sim_ref(sim_get(job, "spec", "taskSpecs"));
	struct sim_value *task = sim_ref(sim_item(specs, (size_t)a->task));

	if (task) {
		fn(&task, t, a);
		sim_replace(&specs, (size_t)a->task, sim_ref(task));
		sim_set(&job, sim_ref(specs), "spec", "taskSpecs");
		if (users_keep_valid(&job))
			put_job(w, t, sim_ref(job));
	}
	sim_unref(task);
	sim_unref(specs);
	sim_unref(job);
}

static void scale_task(struct sim_value **task, const struct target *t KAR_UNUSED,
	const struct plan_action *a)
{
	sim_set(task, sim_int(a->value), "replicas");
	if (sim_int_of(sim_member(*task, "minAvailable"), 0) > a->value)
		sim_set(task, sim_int(a->value), "minAvailable");
}

static void edit_template(struct sim_value **task, const struct target *t, const struct plan_action *a)
{
	if (a->task < t->job->n_tasks)
		sim_set(task, plan_template(&t->job->tasks[a->task], a->value), "template");
}

static void edit_needs(struct sim_value **task, const struct target *t, const struct plan_action *a)
{
	struct plan_task other = t->job->tasks[0];

	other.cpu = a->value;
	sim_set(task, plan_template(&other, 0), "template");
}

/*
 * The template of a former job of the name may end otherwise than the one that is there. With a failure policy that was drawn
 * for the latter, a job might then fail for ever and never rest.
 */
static bool may_edit_template(const struct world *w, const struct target *t)
{
	const struct sim_value *job = users_peek(w, &users_jobs, t->ns, t->name);
	const struct sim_value *specs = sim_get(job, "spec", "taskSpecs");
	bool same = (int)sim_count(specs) == t->job->n_tasks;

	for (size_t i = 0; same && i < sim_count(specs); i++) {
		struct sim_value *mine = plan_template(&t->job->tasks[i], 0);
		const struct sim_value *there =
			sim_get(sim_item(specs, i), "template", "metadata", "annotations");

		same = there && sim_equal(there, sim_get(mine, "metadata", "annotations"));
		sim_unref(mine);
	}
	return same || !sim_get(job, "spec", "failurePolicy");
}

static void edit_order(struct sim_value **task, const struct target *t, const struct plan_action *a)
{
	struct plan_task drawn = { 0 };

	if (strcmp(sim_text_or(sim_member(*task, "name"), ""), plan_task_name(a->task)) != 0)
		return; /* another one is in its place */
	if (a->task < t->job->n_tasks && a->value != PLAN_ORDER_NONE)
		drawn = t->job->tasks[a->task];
	if (a->value == PLAN_ORDER_RUNNING) {
		drawn.after_running |= drawn.after_succeeded;
		drawn.after_succeeded = 0;
	}
	sim_set(task, plan_dependencies(&drawn), "dependsOn");
}

static void set_in_job(struct world *w, const struct target *t, struct sim_value *consumed,
	const char *const *path)
{
	struct sim_value *job = edit_job(w, t);

	if (!job) {
		sim_unref(consumed);
		return;
	}
	sim_set_path(&job, consumed, path);
	if (users_keep_valid(&job))
		put_job(w, t, sim_ref(job));
	sim_unref(job);
}
#define SET_IN_JOB(w, t, v, ...) set_in_job((w), (t), (v), (const char *const[]){ "spec", __VA_ARGS__, NULL })

/* What the job's life is told by: it must go on as if nothing had been written. */
static void rewrite_story(struct sim_value **job, int variant)
{
	static const char *const phases[] = { "Pending", "Starting", "Running", "Restarting", "Suspended",
		"Completed", "Failed" };
	static const char *const texts[] = { "conditions", "startTime", "templateHash", "message" };
	int text = variant - (int)KAR_LEN(phases), condition = text - (int)KAR_LEN(texts);
	struct sim_value *list = sim_ref(sim_get(*job, "status", "conditions"));
	struct sim_value *c = sim_ref(sim_item(list, (size_t)(condition > 0 ? condition : 0)));

	if (text < 0)
		sim_set_text(job, phases[variant], "status", "phase");
	else if (condition < 0 && strcmp(texts[text], "templateHash") == 0)
		sim_remove(job, "status", "record", texts[text]);
	else if (condition < 0)
		sim_remove(job, "status", texts[text]);
	else if (c) {
		bool is = strcmp(sim_text_or(sim_member(c, "status"), ""), "True") == 0;

		sim_set_text(&c, is ? "False" : "True", "status");
		sim_replace(&list, (size_t)condition, sim_ref(c));
		sim_set(job, sim_ref(list), "status", "conditions");
	}
	sim_unref(c);
	sim_unref(list);
}

static void overwrite_one(struct world *w, const char *ns, const char *name, int value)
{
	static const char *const counters[] = { "running", "pending", "replicas", "terminating", "position" };
	struct sim_request rq = users_request(KAR_UPDATE, &users_jobs, ns, name);
	struct sim_value *job = sim_ref(users_peek(w, &users_jobs, ns, name));

	if (!job)
		return;
	if (value <= 200 || !sim_get(job, "status", "phase"))
		sim_set(&job, sim_int(value), "status", counters[value % (int)KAR_LEN(counters)]);
	else
		rewrite_story(&job, value % 14);
	rq.subresource = "status";
	users_ask(w, rq, job);
}

/* A counter; what is not counted anew in every round; or, by a script that means well, that in all jobs. */
static void overwrite_status(struct world *w, const struct target *t, int value)
{
	char name[PLAN_NAME];

	if (value <= 400) {
		overwrite_one(w, t->ns, t->name, value);
		return;
	}
	for (size_t i = 0; i < w->plan->n_jobs; i++) {
		const struct plan_job *job = &w->plan->jobs[i];

		overwrite_one(w, plan_ns_name(job->ns), plan_job_name(job, name), value);
	}
}

static void clear_status(struct world *w, const struct target *t)
{
	struct sim_request rq = users_request(KAR_UPDATE, &users_jobs, t->ns, t->name);
	struct sim_value *job = edit_job(w, t);

	if (!job)
		return;
	sim_remove(&job, "status");
	rq.subresource = "status";
	users_ask(w, rq, job);
}

/* --- pods ---------------------------------------------------------------------------------------------- */

static void delete_pod(struct world *w, const struct target *t, bool at_once)
{
	struct sim_value *options = sim_object();

	sim_set_text(&options, "DeleteOptions", "kind");
	sim_set_text(&options, "v1", "apiVersion");
	if (at_once)
		sim_set(&options, sim_int(0), "gracePeriodSeconds");
	users_ask(w, users_request(KAR_DELETE, &users_pods, t->ns, t->pod), options);
}

/* In place: it runs on. */
static void resize_pod(struct world *w, const struct target *t)
{
	struct sim_request rq = users_request(KAR_UPDATE, &users_pods, t->ns, t->pod);
	struct sim_value *pod = sim_ref(users_peek(w, &users_pods, t->ns, t->pod));
	struct sim_value *containers = sim_ref(sim_get(pod, "spec", "containers"));
	struct sim_value *first = sim_ref(sim_item(containers, 0));

	rq.subresource = "resize";
	if (pod && sim_get(pod, "spec", "nodeName") && first) {
		sim_set(&first, sim_printf("%lldm", (long long)(2 * rules_requested_cpu(pod))), "resources",
			"requests", "cpu");
		sim_replace(&containers, 0, sim_ref(first));
		sim_set(&pod, sim_ref(containers), "spec", "containers");
		users_ask(w, rq, sim_ref(pod));
	}
	sim_unref(first);
	sim_unref(containers);
	sim_unref(pod);
}

static void evict_pod(struct world *w, const struct target *t)
{
	struct sim_request rq = users_request(KAR_CREATE, &users_pods, t->ns, t->pod);
	struct sim_value *v = users_named("policy/v1", "Eviction", t->pod);

	sim_set_text(&v, t->ns, "metadata", "namespace");
	rq.subresource = "eviction";
	users_ask(w, rq, v);
}

static void remove_in_pod(struct world *w, const struct target *t, const char *const *path)
{
	struct sim_value *pod = sim_ref(users_peek(w, &users_pods, t->ns, t->pod));

	if (pod && model_owner(pod) && sim_remove_path(&pod, path))
		users_ask(w, users_request(KAR_UPDATE, &users_pods, t->ns, t->pod), sim_ref(pod));
	sim_unref(pod);
}
#define REMOVE_IN_POD(w, t, ...) \
	remove_in_pod((w), (t), (const char *const[]){ "metadata", __VA_ARGS__, NULL })

/* Another incarnation, but none below the first. */
static void relabel_pod(struct world *w, const struct target *t, int by)
{
	const struct sim_value *pod = users_peek(w, &users_pods, t->ns, t->pod);
	const char *label = sim_get_text(pod, "metadata", "labels", KAR_LABEL_INCARNATION);
	struct sim_value *v = sim_ref(pod);

	if (label && model_owner(pod) && atoi(label) + by > 0) {
		sim_set(&v, sim_printf("%d", atoi(label) + by), "metadata", "labels", KAR_LABEL_INCARNATION);
		users_ask(w, users_request(KAR_UPDATE, &users_pods, t->ns, t->pod), sim_ref(v));
	}
	sim_unref(v);
}

void users_block_pod(struct world *w, const char *ns, const char *name)
{
	struct plan_task task = { .outcome = PLAN_RUN, .cpu = 10 };
	struct sim_request rq = users_request(KAR_CREATE, &users_pods, ns, NULL);
	struct sim_value *v = plan_template(&task, 0);

	sim_set_text(&v, "v1", "apiVersion");
	sim_set_text(&v, "Pod", "kind");
	sim_set_text(&v, name, "metadata", "name");
	rq.user = USERS_BOB;
	users_ask(w, rq, v);
}

static void unblock_pod(struct world *w, const struct target *t)
{
	if (users_is_foreign(users_peek(w, &users_pods, t->ns, t->pod)))
		delete_pod(w, t, false);
}

static void edit_spec(struct world *w, const struct target *t, int value)
{
	struct sim_value *spec = sim_ref(users_peek(w, &users_specs, t->ns, t->name));

	if (!spec)
		return;
	sim_set(&spec, sim_int(value), "spec", "minAvailable");
	users_ask(w, users_request(KAR_UPDATE, &users_specs, t->ns, t->name), spec);
}

static void edit_group(struct world *w, const struct target *t, int value)
{
	struct sim_value *group = sim_ref(users_peek(w, &users_groups, t->ns, t->name));

	if (!group)
		return;
	sim_set(&group, sim_int(value > 0 ? value : 1), "spec", "minMember");
	users_ask(w, users_request(KAR_UPDATE, &users_groups, t->ns, t->name), group);
}

/* Not of a job whose pods are created bound: which of them it keeps then is not what the queue plans (a limit in decision 046). */
static void set_limit(struct world *w, const struct target *t, int value)
{
	const struct sim_value *job = users_peek(w, &users_jobs, t->ns, t->name);
	struct sim_request rq = users_request(KAR_UPDATE, &users_groups, t->ns, t->name);
	struct sim_value *group = sim_ref(users_peek(w, &users_groups, t->ns, t->name));

	if (!group || (job && rules_is_direct(job))) {
		sim_unref(group);
		return;
	}
	if (value == PLAN_UNSET)
		sim_remove(&group, "status", "desired");
	else
		sim_set(&group, sim_int(value), "status", "desired");
	rq.subresource = "status";
	rq.user = USERS_QUEUE;
	users_ask(w, rq, group);
}

/* --- a plan's action ----------------------------------------------------------------------------------- */

static void act_on_pod(struct world *w, const struct target *t, enum plan_verb verb)
{
	switch (verb) {
	case PLAN_DELETE_POD:
	case PLAN_KILL_POD:
		delete_pod(w, t, verb == PLAN_KILL_POD);
		break;
	case PLAN_EVICT_POD:
		evict_pod(w, t);
		break;
	case PLAN_RELABEL_POD:
		REMOVE_IN_POD(w, t, "labels", KAR_LABEL_INCARNATION);
		break;
	case PLAN_RAISE_POD:
	case PLAN_LOWER_POD:
		relabel_pod(w, t, verb == PLAN_RAISE_POD ? 1 : -1);
		break;
	case PLAN_STRIP_POD:
		REMOVE_IN_POD(w, t, "labels");
		break;
	case PLAN_UNTRACK_POD:
		REMOVE_IN_POD(w, t, "finalizers");
		break;
	case PLAN_DISOWN_POD:
		REMOVE_IN_POD(w, t, "ownerReferences");
		break;
	case PLAN_BLOCK_POD:
		users_block_pod(w, t->ns, t->pod);
		break;
	case PLAN_STEAL_POD:
		race_pod_name_wait(w, t->ns, t->pod, NULL);
		delete_pod(w, t, true);
		break;
	case PLAN_HURRY_POD:
		race_suspend_wait(w, t->ns, t->name, t->pod);
		break;
	case PLAN_CROWD_POD:
		race_pod_name_wait(w, t->ns, t->pod, t->first);
		break;
	default:
		unblock_pod(w, t);
		break;
	}
}

static void act_on_job(struct world *w, const struct target *t, const struct plan_action *a)
{
	switch (a->verb) {
	case PLAN_SUBMIT:
		submit(w, t);
		break;
	case PLAN_DELETE:
		users_delete(w, &users_jobs, t->ns, t->name, a->value);
		break;
	case PLAN_SUSPEND:
	case PLAN_RESUME:
		SET_IN_JOB(w, t, sim_bool(a->verb == PLAN_SUSPEND), "suspend");
		break;
	case PLAN_SCALE:
		edit_task(w, t, a, scale_task);
		break;
	case PLAN_TEMPLATE:
		if (may_edit_template(w, t))
			edit_task(w, t, a, edit_template);
		break;
	case PLAN_ORDER:
		edit_task(w, t, a, edit_order);
		break;
	case PLAN_QUORUM:
		SET_IN_JOB(w, t, sim_int(a->value), "schedSpec", "minAvailable");
		break;
	case PLAN_LIMITS:
		SET_IN_JOB(w, t, sim_int(a->value), "backoffLimit");
		break;
	case PLAN_TTL:
		SET_IN_JOB(w, t, sim_int(a->value), "ttlSecondsAfterFinished");
		break;
	case PLAN_STATUS:
		overwrite_status(w, t, a->value);
		break;
	case PLAN_CLEAR:
		clear_status(w, t);
		break;
	case PLAN_DELETE_GROUP:
		users_delete(w, &users_groups, t->ns, t->name, 0);
		break;
	case PLAN_EDIT_GROUP:
		edit_group(w, t, a->value);
		break;
	case PLAN_EDIT_SPEC:
		edit_spec(w, t, a->value);
		break;
	case PLAN_LIMIT:
		set_limit(w, t, a->value);
		break;
	default:
		users_delete(w, &users_specs, t->ns, t->name, 0);
		break;
	}
}

static void tell(const struct world *w, const struct plan_action *a)
{
	struct kar_buf text = { 0 };

	if (!w->trace)
		return;
	plan_action_text(w->plan, a, &text);
	trace_tell(w, "people", "%s", kar_buf_cstr(&text));
	kar_buf_release(&text);
}

void users_act(struct world *w, const struct plan_action *a)
{
	struct target t = target_of(w, a);

	tell(w, a);
	if (a->verb == PLAN_HOSTILE)
		users_act_hostile(w, a);
	else if (a->verb == PLAN_RIGHTS)
		users_set_rights(w, a->task, a->value);
	else if (a->verb >= PLAN_GANG_GROUP)
		users_act_on_gang(w, a);
	else if (a->verb == PLAN_NEEDS)
		edit_task(w, &t, a, edit_needs);
	else if (a->verb == PLAN_RESIZE_POD)
		resize_pod(w, &t);
	else if (a->verb == PLAN_STEAL_ROOM)
		race_room_wait(w, t.ns, t.name, a->value);
	else if (a->verb == PLAN_QUOTA)
		users_set_quota(w, a->task, a->value);
	else if (a->verb == PLAN_SCOPED)
		users_set_scoped_quota(w, a->task % PLAN_NAMESPACES,
			(enum plan_scope)(a->task / PLAN_NAMESPACES), a->value);
	else if (a->verb == PLAN_QUEUE)
		users_set_queue(w, a->task, a->value, w->plan->strict[a->task]);
	else if (a->verb == PLAN_MAKE_GROUP || a->verb == PLAN_MOVE_GROUP)
		users_act_on_queue(w, a);
	else if (a->verb >= PLAN_NETWORK && a->verb <= PLAN_FREE_SERVICE)
		users_act_on_network(w, t.ns, t.name, a);
	else if (a->verb >= PLAN_SELECT && a->verb <= PLAN_KEEP)
		users_act_on_spec(w, t.ns, t.name, a);
	else if (a->verb >= PLAN_CORDON)
		users_act_on_node(w, a);
	else if (a->verb >= PLAN_DELETE_POD && a->verb <= PLAN_UNBLOCK_POD)
		act_on_pod(w, &t, a->verb);
	else
		act_on_job(w, &t, a);
}
