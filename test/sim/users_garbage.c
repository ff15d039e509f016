/* The garbage of a hostile tenant: what no manager can decode, what makes no sense, what is far too long. */
#include <stdio.h>

#include "api/names.h"
#include "common/base/buf.h"
#include "sim/wire.h"
#include "test/sim/rules.h"
#include "test/sim/users_hostile.h"

#define A_TIME_OF_OTHERS "2020-01-01T00:00:00,5Z" /* Kubernetes takes it */

/* --- what cannot be read ------------------------------------------------------------------------------------- */

static const char *patch_of(int kind, int variant)
{
	static const char *const patches[PLAN_KINDS][4] = {
		[PLAN_KIND_JOB] = { "{\"spec\":{\"taskSpecs\":5}}",
			"{\"status\":{\"incarnation\":\"first\"}}", "{\"spec\":\"none\"}",
			"{\"metadata\":{\"generation\":[]}}" },
		[PLAN_KIND_GROUP] = { "{\"spec\":{\"minMember\":\"many\"}}",
			"{\"status\":{\"conditions\":\"all\"}}", "{\"metadata\":{\"ownerReferences\":7}}",
			"{\"status\":{\"desired\":true}}" },
		[PLAN_KIND_SPEC] = { "{\"spec\":{\"minAvailable\":[1]}}", "{\"spec\":7}",
			"{\"metadata\":{\"labels\":\"none\"}}", "{\"spec\":{\"priority\":{}}}" },
		[PLAN_KIND_SERVICE] = { "{\"spec\":{\"selector\":[]}}",
			"{\"spec\":{\"publishNotReadyAddresses\":\"yes\"}}", "{\"spec\":false}",
			"{\"spec\":{\"clusterIP\":10}}" },
		[PLAN_KIND_POD] = { "{\"spec\":{\"priority\":\"many\"}}", "{\"status\":{\"phase\":7}}",
			"{\"metadata\":{\"ownerReferences\":\"none\"}}",
			"{\"status\":{\"containerStatuses\":{}}}" },
		[PLAN_KIND_QUOTA] = { "{\"spec\":{\"hard\":[\"pods\"]}}", "{\"spec\":\"all\"}",
			"{\"spec\":{\"hard\":{\"pods\":3}}}", "{\"metadata\":{\"labels\":0}}" },
	};

	return patches[kind][variant % 4];
}

static void add_quota(const struct users_attack *a)
{
	users_hostile_create(a, PLAN_KIND_QUOTA,
		users_json("{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":\"%s\"},"
			   "\"spec\":{\"hard\":{\"pods\":\"100\"}}}",
			a->name));
}

void users_hide(const struct users_attack *a)
{
	int kind = a->variant % PLAN_KINDS;
	struct sim_value *v;

	if (kind == PLAN_KIND_QUOTA)
		add_quota(a);
	v = users_take(a, kind);
	if (!v || sim_get(v, "metadata", "annotations", SIM_GARBLE)) {
		sim_unref(v);
		return;
	}
	sim_set_text(&v, patch_of(kind, a->variant / PLAN_KINDS), "metadata", "annotations", SIM_GARBLE);
	sim_set(&v, sim_printf("%lld", (long long)model_now(a->w->model)), "metadata", "annotations",
		RULES_UNREADABLE_SINCE);
	users_put(a, kind, NULL, v);
}

void users_show(const struct users_attack *a)
{
	int kind = a->variant % PLAN_KINDS;
	struct sim_value *v = users_take(a, kind);

	if (sim_remove(&v, "metadata", "annotations", SIM_GARBLE))
		users_put(a, kind, NULL, sim_ref(v));
	sim_unref(v);
}

/* --- what makes no sense ------------------------------------------------------------------------------------- */

static struct sim_value *strange_conditions(void)
{
	return users_json(
		"[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Mine\",\"message\":\"\",\"lastTransitionTime\":\"%s\"},"
		"{\"type\":\"Formed\",\"status\":\"Unknown\",\"reason\":\"Mine\",\"message\":\"\\u202e\","
		"\"lastTransitionTime\":\"9999-12-31T23:59:59Z\"},"
		"{\"type\":\"Strange\",\"status\":\"True\",\"reason\":\"Mine\",\"message\":\"\","
		"\"observedGeneration\":9223372036854775807,\"lastTransitionTime\":\"0001-01-01T00:00:00Z\"}]",
		A_TIME_OF_OTHERS);
}

/* As many as a status may have, so that there is no room for ours. */
static struct sim_value *many_conditions(void)
{
	enum { MOST = 32 };
	struct sim_value *list = sim_array();

	for (int i = 0; i < MOST; i++)
		sim_append(&list,
			users_json(
				"{\"type\":\"Strange%d\",\"status\":\"True\",\"reason\":\"Mine\",\"message\":\"\","
				"\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}",
				i));
	return list;
}

static void set_conditions(const struct users_attack *a, struct sim_value **v)
{
	if (a->variant % 2)
		sim_set(v, a->variant % 5 < 2 ? many_conditions() : strange_conditions(), "status",
			"conditions");
}

static void deface_job(const struct users_attack *a)
{
	static const char *const statuses[] = {
		"{\"phase\":\"Running\",\"startTime\":\"" A_TIME_OF_OTHERS "\",\"running\":2147483647}",
		"{\"phase\":\"Completed\",\"completionTime\":\"0001-01-01T00:00:00Z\",\"succeeded\":-2147483648}",
		"{\"incarnation\":2147483647,\"restarts\":2147483647,\"record\":{\"podsResourceVersion\":\"18446744073709551615\"}}",
		"{\"tasks\":[{\"name\":\"a\",\"succeededIndexes\":\"0-99999\",\"restartTime\":\"" A_TIME_OF_OTHERS
		"\"},{\"name\":\"b\",\"replicas\":-5}]}",
		"{\"record\":{\"restartKind\":\"Nodes\"},\"lastRestart\":{\"time\":\"" A_TIME_OF_OTHERS
		"\",\"reason\":\"RolledBack\"}}",
		"{\"record\":{\"countedPods\":[\"\",\"x\",\"x\"],\"templateHash\":\"\",\"digest\":\"0\"},\"selector\":\"!!\",\"position\":-1}",
	};
	struct sim_value *v = users_take(a, PLAN_KIND_JOB);

	if (!v)
		return;
	sim_set(&v, users_json("%s", statuses[a->variant / 2 % (int)KAR_LEN(statuses)]), "status");
	set_conditions(a, &v);
	users_put(a, PLAN_KIND_JOB, "status", v);
}

static void deface_group(const struct users_attack *a)
{
	static const char *const statuses[] = {
		"{\"scheduleStartTime\":\"" A_TIME_OF_OTHERS "\",\"phase\":\"Finished\"}",
		"{\"phase\":\"Strange\",\"members\":-1,\"running\":2147483647,\"position\":-2147483648}",
		"{\"desired\":0,\"occupiedBy\":\"\\u0001\"}",
	};
	struct sim_value *v = users_take(a, PLAN_KIND_GROUP);

	if (!v)
		return;
	sim_set(&v, users_json("%s", statuses[a->variant / 2 % (int)KAR_LEN(statuses)]), "status");
	set_conditions(a, &v);
	users_put(a, PLAN_KIND_GROUP, "status", v);
}

/* The same of one that nobody owns. */
static void fill_empty_group(const struct users_attack *a)
{
	struct sim_request rq;
	char name[PLAN_NAME];
	struct sim_value *v;

	snprintf(name, sizeof(name), "empty-%d", a->variant % (USERS_EMPTY_GROUPS));
	v = sim_ref(users_peek(a->w, &users_groups, PLAN_HOSTILE_NS, name));
	if (!v)
		return;
	sim_set(&v, many_conditions(), "status", "conditions");
	rq = users_hostile_request(KAR_UPDATE, PLAN_KIND_GROUP, name);
	rq.subresource = "status";
	users_ask(a->w, rq, v);
}

static void deface_pod(const struct users_attack *a)
{
	struct sim_value *v = users_take(a, PLAN_KIND_POD);

	if (!v)
		return;
	sim_set(&v,
		users_json(
			"{\"phase\":\"%s\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
			"\"lastTransitionTime\":\"9999-12-31T23:59:59Z\"}]}",
			a->variant % 2 ? "Succeeded" : "Failed"),
		"status");
	users_put(a, PLAN_KIND_POD, "status", v);
}

static struct sim_value *long_text(size_t n)
{
	struct kar_buf text = { 0 };
	struct sim_value *v;

	for (size_t i = 0; i < n; i++)
		kar_buf_puts(&text, i % 64 ? "x" : "-");
	v = sim_string(kar_buf_cstr(&text));
	kar_buf_release(&text);
	return v;
}

void users_add_huge(const struct users_attack *a)
{
	enum { LONG = 100000 };
	struct sim_value *owners = users_json(
		"[{\"apiVersion\":\"nope/v1\",\"kind\":\"QueueJob\",\"name\":\"x\",\"controller\":true}]");
	struct sim_value *owner = sim_ref(sim_item(owners, 0)), *v;

	sim_set(&owner, long_text(LONG), "uid");
	sim_replace(&owners, 0, owner);
	v = users_json(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s-huge\",\"labels\":{\"%s\":\"%s\"}},"
		"\"spec\":{\"schedulerName\":\"nobody\",\"containers\":[{\"name\":\"main\",\"image\":\"x\"}]}}",
		a->name, KAR_LABEL_POD_GROUP, a->name);
	sim_set(&v, owners, "metadata", "ownerReferences");
	sim_set(&v, long_text(LONG), "metadata", "annotations", KAR_ANNOTATION_TEMPLATE_HASH);
	users_hostile_create(a, PLAN_KIND_POD, v);
}

void users_deface(const struct users_attack *a)
{
	static void (*const ways[])(
		const struct users_attack *a) = { deface_job, deface_group, deface_pod, fill_empty_group };
	const int n = KAR_LEN(ways);
	struct users_attack way = *a;

	way.variant /= n;
	ways[a->variant % n](&way);
}
