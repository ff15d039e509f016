/* What a hostile tenant does in its namespace. Much of it is refused, which it does not mind. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "sim/wire.h"
#include "test/sim/users_hostile.h"

#define NS PLAN_HOSTILE_NS
#define USER "mallory"

static const struct users_kind services = { "", "v1", "services" };
static const struct users_kind quotas = { "", "v1", "resourcequotas" };

static const struct users_kind *const kinds[PLAN_KINDS] = { &users_jobs, &users_groups, &users_specs,
	&services, &users_pods, &quotas };

struct sim_request users_hostile_request(enum kar_verb verb, int kind, const char *name)
{
	struct sim_request rq = users_request(verb, kinds[kind], NS, name);

	rq.user = USER;
	return rq;
}

struct sim_value *users_json(const char *fmt, ...)
{
	struct sim_value *v;
	struct kar_err err;
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	v = n < 0 ? NULL : sim_parse(text, (size_t)n, &err);
	if (!v)
		abort(); /* it is written in this file */
	free(text);
	return v;
}

void users_hostile_create(const struct users_attack *a, int kind, struct sim_value *consumed)
{
	users_ask(a->w, users_hostile_request(KAR_CREATE, kind, NULL), consumed);
}

/* The object of this kind that bears the name, or is the first pod of its job. */
static const char *name_of(const struct users_attack *a, int kind, char out[PLAN_NAME])
{
	return kind == PLAN_KIND_POD ? plan_pod_name(a->victim, 0, 0, out) : plan_job_name(a->victim, out);
}

struct sim_value *users_take(const struct users_attack *a, int kind)
{
	char name[PLAN_NAME];

	return sim_ref(users_peek(a->w, kinds[kind], NS, name_of(a, kind, name)));
}

void users_put(const struct users_attack *a, int kind, const char *subresource, struct sim_value *consumed)
{
	char name[PLAN_NAME];
	struct sim_request rq = users_hostile_request(KAR_UPDATE, kind, name_of(a, kind, name));

	rq.subresource = subresource;
	users_ask(a->w, rq, consumed);
}

static void drop(const struct users_attack *a, int kind, const char *name)
{
	users_ask(a->w, users_hostile_request(KAR_DELETE, kind, name),
		users_json(
			"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\"}"));
}

/* --- jobs ------------------------------------------------------------------------------------------------ */

/* Pods that ask for @cpu: 0 for nothing, so that they take no room from others. */
static void submit(const struct users_attack *a, int cpu, bool impossible)
{
	enum { MANY = 60 };
	struct plan_job j = { .number = a->victim->number,
		.queue = a->queue,
		.class = cpu ? PLAN_CLASSES - 1 : PLAN_UNSET,
		.n_tasks = 1,
		.min = 1 + a->variant % 3,
		.backoff = a->variant % 5 ? PLAN_UNSET : 3,
		.deadline = PLAN_UNSET,
		.ttl = PLAN_UNSET,
		.min_succeeded = PLAN_UNSET,
		.impossible = impossible ? 0 : PLAN_UNSET,
		.network = a->variant / 4 % 2 == 0 };
	struct sim_value *job;

	j.tasks[0] = (struct plan_task){ .replicas = a->variant % 11 ? 3 : MANY,
		.min = PLAN_UNSET,
		.priority = cpu ? INT32_MAX : PLAN_UNSET,
		.outcome = a->variant % 4 ? PLAN_RUN : PLAN_SUCCEED,
		.after = a->variant % 4 ? 0 : 1 + a->variant,
		.cpu = cpu,
		.best_effort = !cpu };
	if (impossible && a->variant % 2)
		j.tasks[0].replicas = 100000;
	job = plan_job_object(a->w->plan, &j);
	sim_set_text(&job, NS, "metadata", "namespace");
	if (cpu)
		sim_set(&job, sim_int(INT32_MAX), "spec", "schedSpec", "priority");
	users_hostile_create(a, PLAN_KIND_JOB, job);
}

/* Its group is the default queue's; the job wants another one. */
static void sneak(const struct users_attack *a)
{
	users_hostile_create(a, PLAN_KIND_GROUP,
		users_json(
			"{\"apiVersion\":\"%s\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"%s\":\"%s\"}},"
			"\"spec\":{\"minMember\":1}}",
			KAR_PODGROUP_API_VERSION, a->name, KAR_LABEL_QUEUEJOB, a->name));
}

/* --- names ----------------------------------------------------------------------------------------------- */

static const char *uid_of_victim(const struct users_attack *a)
{
	return sim_text_or(sim_get(users_peek(a->w, &users_jobs, plan_ns_name(a->victim->ns), a->name),
				   "metadata", "uid"),
		"00000000-0000-0000-0000-000000000000");
}

/* The other's job is said to own it; what the garbage collector does not know it leaves alone. */
static void set_owner(const struct users_attack *a, struct sim_value **v)
{
	sim_set(v,
		users_json(
			"[{\"apiVersion\":\"%s\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]",
			a->variant / 16 % 3 ? "nope/v1" : KAR_API_VERSION, a->name, uid_of_victim(a)),
		"metadata", "ownerReferences");
}

static void squat(const struct users_attack *a)
{
	static const struct {
		const char *version, *kind, *spec;
	} types[PLAN_KIND_POD] = {
		[PLAN_KIND_GROUP] = { KAR_PODGROUP_API_VERSION, "PodGroup",
			"{\"minMember\":2147483647,\"queue\":\"q1\",\"priority\":2147483647}" },
		[PLAN_KIND_SPEC] = { KAR_API_VERSION, "SchedulingSpec", "{\"minAvailable\":100000}" },
		[PLAN_KIND_SERVICE] = { "v1", "Service",
			"{\"ports\":[{\"port\":80}],\"selector\":{\"app\":\"mine\"}}" },
	};
	const int n = PLAN_KIND_POD - PLAN_KIND_GROUP + 1;
	int kind = PLAN_KIND_GROUP + a->variant % n;
	struct sim_value *v;
	char name[PLAN_NAME];

	if (kind == PLAN_KIND_POD) {
		users_block_pod(a->w, NS, name_of(a, PLAN_KIND_POD, name));
		return;
	}
	v = users_json("{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"},\"spec\":%s}",
		types[kind].version, types[kind].kind, a->name, types[kind].spec);
	if (a->variant / n % 2)
		sim_set_text(&v, a->name, "metadata", "labels", KAR_LABEL_QUEUEJOB);
	if (a->variant / n % 7 == 0)
		set_owner(a, &v);
	users_hostile_create(a, kind, v);
}

/* As far as it can be told from outside, a pod of the other's job; it runs, succeeds or fails. */
static void forge(const struct users_attack *a)
{
	static const enum plan_outcome outcomes[] = { PLAN_RUN, PLAN_SUCCEED, PLAN_FAIL };
	struct plan_task task = { .outcome = outcomes[a->variant % 3], .exit_code = 1, .best_effort = true };
	struct sim_value *v = plan_template(&task, 0);
	const struct sim_value *job = users_peek(a->w, &users_jobs, plan_ns_name(a->victim->ns), a->name);
	const char *hash = sim_get_text(job, "status", "record", "templateHash");
	int number = a->variant / 3 % 3;
	char name[PLAN_NAME];

	sim_set_text(&v, "v1", "apiVersion");
	sim_set_text(&v, "Pod", "kind");
	sim_set_text(&v, plan_pod_name(a->victim, a->variant % 2, number, name), "metadata", "name");
	sim_set_text(&v, "Never", "spec", "restartPolicy");
	sim_set_text(&v, a->name, "metadata", "labels", KAR_LABEL_QUEUEJOB);
	sim_set_text(&v, a->name, "metadata", "labels", KAR_LABEL_POD_GROUP);
	sim_set_text(&v, plan_task_name(0), "metadata", "labels", KAR_LABEL_TASK);
	sim_set(&v, sim_printf("%d", number), "metadata", "labels", KAR_LABEL_INDEX);
	sim_set(&v, sim_printf("%d", (int)sim_get_int(job, 1, "status", "incarnation")), "metadata", "labels",
		KAR_LABEL_INCARNATION);
	if (hash)
		sim_set_text(&v, hash, "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH);
	if (a->variant / 2 % 4)
		sim_set(&v, users_json("[\"%s\"]", KAR_FINALIZER_POD_TRACKING), "metadata", "finalizers");
	set_owner(a, &v);
	users_hostile_create(a, PLAN_KIND_POD, v);
}

/* --- groups ---------------------------------------------------------------------------------------------- */

enum { GROUPS = 12 };

static void add_groups(const struct users_attack *a)
{
	static const char *const queues[] = { "default", "q1", "q2", "nowhere" };

	for (int i = 0; i < GROUPS; i++)
		users_hostile_create(a, PLAN_KIND_GROUP,
			users_json(
				"{\"apiVersion\":\"%s\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"empty-%d\"},"
				"\"spec\":{\"minMember\":%d,\"queue\":\"%s\",\"priority\":%d}}",
				KAR_PODGROUP_API_VERSION, (a->variant + i) % (USERS_EMPTY_GROUPS), 1 + i,
				queues[(a->variant + i / 4) % (int)KAR_LEN(queues)], a->variant * 1000 - i));
}

static void change_priorities(const struct users_attack *a)
{
	for (int i = 0; i < USERS_EMPTY_GROUPS; i++) {
		char name[PLAN_NAME];
		struct sim_value *v;

		snprintf(name, sizeof(name), "empty-%d", i);
		v = sim_ref(users_peek(a->w, &users_groups, NS, name));
		if (!v)
			continue;
		sim_set(&v, sim_int((i * a->variant) % 5000), "spec", "priority");
		users_ask(a->w, users_hostile_request(KAR_UPDATE, PLAN_KIND_GROUP, name), v);
	}
}

/* --- floods ---------------------------------------------------------------------------------------------- */

static void flood(const struct users_attack *a)
{
	enum { EDITS = 200 };
	int kind = a->variant % (PLAN_KIND_POD + 1);

	for (int i = 0; i < EDITS; i++) {
		struct sim_value *v = users_take(a, kind);

		if (!v)
			return;
		sim_set(&v, sim_printf("%d.%d", a->variant, i), "metadata", "annotations", "flood");
		users_put(a, kind, NULL, v);
	}
}

static void churn(const struct users_attack *a)
{
	enum { TIMES = 20 };

	for (int i = 0; i < TIMES; i++) {
		drop(a, PLAN_KIND_JOB, a->name);
		submit(a, 0, false);
	}
}

/* --- a plan's action ------------------------------------------------------------------------------------- */

static void submit_any(const struct users_attack *a, enum plan_trick t)
{
	enum { TOO_MUCH = 1000000 }; /* thousandths: more than any node has */

	submit(a, t == PLAN_TRICK_IMPOSSIBLE ? TOO_MUCH : 0, t == PLAN_TRICK_INVALID);
}

static void drop_one(const struct users_attack *a)
{
	int kind = a->variant % PLAN_KINDS;
	char name[PLAN_NAME];

	drop(a, kind, name_of(a, kind, name));
}

void users_act_hostile(struct world *w, const struct plan_action *action)
{
	static void (*const tricks[PLAN_TRICKS])(const struct users_attack *a) = {
		[PLAN_TRICK_SQUAT] = squat,
		[PLAN_TRICK_FORGE] = forge,
		[PLAN_TRICK_GROUPS] = add_groups,
		[PLAN_TRICK_SNEAK] = sneak,
		[PLAN_TRICK_UNREADABLE] = users_hide,
		[PLAN_TRICK_READABLE] = users_show,
		[PLAN_TRICK_STATUS] = users_deface,
		[PLAN_TRICK_HUGE] = users_add_huge,
		[PLAN_TRICK_FLOOD] = flood,
		[PLAN_TRICK_PRIORITIES] = change_priorities,
		[PLAN_TRICK_CHURN] = churn,
		[PLAN_TRICK_DELETE] = drop_one,
	};
	struct users_attack a = { .w = w, .victim = &w->plan->jobs[action->job], .variant = action->task };
	enum plan_trick t = (enum plan_trick)action->value;

	plan_job_name(a.victim, a.name);
	a.queue = (a.victim->queue + (t == PLAN_TRICK_SNEAK)) % PLAN_QUEUES;
	if (tricks[t])
		tricks[t](&a);
	else
		submit_any(&a, t);
	if (t == PLAN_TRICK_SNEAK)
		submit(&a, 0, false);
}

void users_prepare_hostile(struct world *w)
{
	static const struct users_kind namespaces = { "", "v1", "namespaces" };

	if (plan_is_hostile(w->plan))
		users_ask(w, users_request(KAR_CREATE, &namespaces, NULL, NULL),
			users_named("v1", "Namespace", NS));
}

/* --- at the end ------------------------------------------------------------------------------------------ */

static bool fits_nowhere(const struct sim_value *job)
{
	const struct sim_value *task = sim_item(sim_get(job, "spec", "taskSpecs"), 0);
	const struct sim_value *container = sim_item(sim_get(task, "template", "spec", "containers"), 0);

	return sim_get(container, "resources", "requests", "cpu") != NULL;
}

/*
 * What waits for nodes for ever would keep those from resting that want some too; unless it cannot be read: then nobody may wait
 * for it. All the rest stays as it is.
 */
void users_calm_hostile(struct world *w)
{
	for (size_t i = 0; i < w->plan->n_jobs; i++) {
		struct users_attack a = { .w = w, .victim = &w->plan->jobs[i] };
		struct sim_value *job;

		plan_job_name(a.victim, a.name);
		job = users_take(&a, PLAN_KIND_JOB);
		if (fits_nowhere(job) && !sim_get(job, "metadata", "annotations", SIM_GARBLE))
			drop(&a, PLAN_KIND_JOB, a.name);
		sim_unref(job);
	}
}
