/*
 * What the admission plug-ins of a real server do to pods: Priority, ServiceAccount, DefaultTolerationSeconds,
 * RuntimeClass.
 */
#include <string.h>

#include "sim/apiserver/strategy_pod.h"

enum { NO_EXECUTE_SECONDS = 300 };

/* ---- priority ---- */

static void consider_default(void *arg, const struct sim_value *class)
{
	const struct sim_value **best = arg;

	if (!sim_bool_of(sim_member(class, "globalDefault"), false))
		return;
	if (!*best || sim_get_int(class, 0, "value") < sim_get_int(*best, 0, "value"))
		*best = class;
}

static bool check_given(struct sim_write *w, struct sim_response *out, int64_t priority,
	const char *preemption)
{
	const struct sim_value *spec = sim_member(*w->new, "spec"), *given = sim_member(spec, "priority");
	const char *policy = sim_text_or(sim_member(spec, "preemptionPolicy"), preemption);
	const char *name = sim_text_or(sim_get(*w->new, "metadata", "name"), "");

	if (given && sim_int_of(given, 0) != priority)
		return sim_refuse_forbidden(out, w->resource, name,
			"the integer value of priority (%lld) must not be provided in pod spec; priority admission controller "
			"computed %lld from the given PriorityClass name",
			(long long)sim_int_of(given, 0), (long long)priority);
	if (strcmp(policy, preemption) != 0)
		return sim_refuse_forbidden(out, w->resource, name,
			"the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller "
			"computed %s from the given PriorityClass name",
			policy, preemption);
	return true;
}

static bool admit_priority(struct sim_write *w, struct sim_response *out)
{
	const char *name = sim_text_or(sim_get(*w->new, "spec", "priorityClassName"), "");
	const struct sim_value *class = NULL;

	if (*name)
		class = sim_apiserver_peek(w->s, "scheduling.k8s.io", "priorityclasses", NULL, name);
	else
		sim_apiserver_each(w->s, "scheduling.k8s.io", "priorityclasses", consider_default, &class);
	if (*name && !class)
		return sim_refuse_forbidden(out, w->resource,
			sim_text_or(sim_get(*w->new, "metadata", "name"), ""),
			"no PriorityClass with name %s was found", name);
	int64_t priority = sim_get_int(class, 0, "value");
	const char *preemption = sim_text_or(sim_member(class, "preemptionPolicy"), "PreemptLowerPriority");

	if (!check_given(w, out, priority, preemption))
		return false;
	if (!*name && class)
		sim_set(w->new, sim_ref(sim_get(class, "metadata", "name")), "spec", "priorityClassName");
	sim_set(w->new, sim_int(priority), "spec", "priority");
	sim_set_text(w->new, preemption, "spec", "preemptionPolicy");
	return true;
}

/* Writers that do not know the two leave them out. */
static void keep_priority(struct sim_write *w)
{
	static const char *const members[] = { "priority", "preemptionPolicy" };

	for (size_t i = 0; i < KAR_LEN(members); i++) {
		const struct sim_value *old = sim_get(w->old, "spec", members[i]);

		if (old && !sim_get(*w->new, "spec", members[i]))
			sim_set(w->new, sim_ref(old), "spec", members[i]);
	}
}

/* ---- service account ---- */

/*
 * The account "default" is taken for granted: a real server waits for it up to two seconds. No token is mounted:
 * nothing in a simulated pod could read it.
 */
static bool admit_account(struct sim_write *w, struct sim_response *out)
{
	const char *name = sim_text_or(sim_get(*w->new, "spec", "serviceAccountName"), "");
	const char *ns = sim_text_or(sim_get(*w->new, "metadata", "namespace"), w->rq->ns ? w->rq->ns : "");
	const struct sim_value *account, *secrets;

	if (!*name) {
		name = "default";
		sim_set_text(w->new, name, "spec", "serviceAccountName");
		sim_set_text(w->new, name, "spec", "serviceAccount");
	}
	account = sim_apiserver_peek(w->s, "", "serviceaccounts", ns, name);
	if (!account && strcmp(name, "default") != 0)
		return sim_refuse_forbidden(out, w->resource,
			sim_text_or(sim_get(*w->new, "metadata", "name"), ""),
			"error looking up service account %s/%s: serviceaccount \"%s\" not found", ns, name,
			name);
	secrets = sim_member(account, "imagePullSecrets");
	if (sim_count(secrets) > 0 && sim_count(sim_get(*w->new, "spec", "imagePullSecrets")) == 0)
		sim_set(w->new, sim_ref(secrets), "spec", "imagePullSecrets");
	return true;
}

/* ---- tolerations ---- */

static bool tolerates(const struct sim_value *tolerations, const char *taint)
{
	for (size_t i = 0; i < sim_count(tolerations); i++) {
		const struct sim_value *t = sim_item(tolerations, i);
		const char *key = sim_text_or(sim_member(t, "key"), ""),
			   *effect = sim_text_or(sim_member(t, "effect"), "");

		if ((!*key || !strcmp(key, taint)) && (!*effect || !strcmp(effect, "NoExecute")))
			return true;
	}
	return false;
}

static void add_tolerations(struct sim_write *w)
{
	static const char *const taints[] = { "node.kubernetes.io/not-ready",
		"node.kubernetes.io/unreachable" };

	for (size_t i = 0; i < KAR_LEN(taints); i++) {
		struct sim_value *known = sim_get(*w->new, "spec", "tolerations"), *list, *t;

		if (tolerates(known, taints[i]))
			continue;
		list = known ? sim_ref(known) : sim_array();
		t = sim_object();
		sim_set_text(&t, taints[i], "key");
		sim_set_text(&t, "Exists", "operator");
		sim_set_text(&t, "NoExecute", "effect");
		sim_set(&t, sim_int(NO_EXECUTE_SECONDS), "tolerationSeconds");
		sim_append(&list, t);
		sim_set(w->new, list, "spec", "tolerations");
	}
}

bool sim_pod_admit(struct sim_write *w, struct sim_response *out)
{
	if (sim_writes_status(w) || (w->old && sim_member(w->old, "spec") == sim_member(*w->new, "spec")))
		return true;
	if (w->old) {
		keep_priority(w);
		add_tolerations(w);
		return true;
	}
	if (!admit_account(w, out) || !admit_priority(w, out))
		return false;
	add_tolerations(w);
	if (sim_count(sim_get(*w->new, "spec", "overhead")) > 0)
		return sim_refuse_forbidden(out, w->resource,
			sim_text_or(sim_get(*w->new, "metadata", "name"), ""),
			"pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
	return true;
}
