#include "controllers/cluster/native.h"

#include <stdlib.h>

#include "api/names.h"
#include "api/pod/pod.h"
#include "api/podgroup/native_group.h"
#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/text.h"
#include "common/kube/request.h"

#define PROBE "kar-native-probe" /* the pod that is never made, and the group that it names */

static const kar_time FIRST_TRIES = 2 * KAR_SECOND; /* until there was an answer */

struct kar_native_probe {
	struct kar_client *client;
	kar_time interval;
	struct kar_native *out;
	struct kar_timer *timer;
	struct kar_call *call;       /* NULL: none is under way */
	const struct kar_type *type; /* that is served, as far as this round knows */
	bool told;                   /* the log has the first failure */
};

/* --- the verdict ----------------------------------------------------------------------------------- */

static void report(const struct kar_native *n)
{
	if (n->type)
		kar_info(0, KAR_MSG("Kubernetes has PodGroups of its own, which start gangs whole"),
			KAR_S("version", n->type->res.version));
	else
		kar_info(0, KAR_MSG("Kubernetes has no PodGroups of its own that could be used"),
			KAR_S("why", n->why_not));
}

/* @type NULL: there are none, because of @why. */
static void conclude(struct kar_native_probe *p, const struct kar_type *type, const char *why)
{
	struct kar_native now = { .known = true, .type = type };
	bool news = !p->out->known || p->out->type != type;

	if (!type)
		kar_text_printf(now.why_not, sizeof(now.why_not), "%s", why);
	*p->out = now;
	if (news)
		report(p->out);
	kar_timer_start(p->timer, p->interval);
}

/* Keeps the last answer. Before the first answer no gang starts; the log says why. */
static void try_later(struct kar_native_probe *p, const struct kar_err *err)
{
	if (!p->out->known && !p->told)
		kar_warn(
			KAR_MSG("Cannot find out whether Kubernetes has PodGroups of its own; no job is admitted until then"),
			KAR_S("err", err->msg));
	p->told = true;
	kar_timer_start(p->timer, !p->out->known && FIRST_TRIES < p->interval ? FIRST_TRIES : p->interval);
}

/* --- the dry run of a pod -------------------------------------------------------------------------- */

struct group_ref {
	const char *name;
};
struct pod_spec {
	struct group_ref group;
};
struct pod_wire {
	struct pod_spec spec;
};

static const struct kar_field ref_fields[] = { KAR_FIELD(struct group_ref, name, "podGroupName",
	KAR_F_STRING) };
static const struct kar_desc ref_desc = KAR_DESC("SchedulingGroup", struct group_ref, ref_fields);
static const struct kar_field spec_fields[] = { KAR_FIELD_SUB(struct pod_spec, group, "schedulingGroup",
	KAR_F_OBJECT, &ref_desc) };
static const struct kar_desc spec_desc = KAR_DESC("PodSpec", struct pod_spec, spec_fields);
static const struct kar_field pod_fields[] = { KAR_FIELD_SUB(struct pod_wire, spec, "spec", KAR_F_OBJECT,
	&spec_desc) };
static const struct kar_desc pod_desc = KAR_DESC("Pod", struct pod_wire, pod_fields);

static bool keeps_group(struct kar_str body)
{
	struct kar_arena arena = { 0 };
	struct pod_wire pod = { 0 };
	bool keeps = kar_document_decode(&arena, &pod_desc, body, &pod, NULL) == 0 &&
		kar_streq(pod.spec.group.name, PROBE);

	kar_arena_release(&arena);
	return keeps;
}

/* Will it be refused again? */
static bool is_refusal(const struct kar_err *err)
{
	return err->what == KAR_DENIED || err->what == KAR_INVALID || err->what == KAR_NOTFOUND ||
		err->what == KAR_EXISTS;
}

static void on_pod(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct kar_native_probe *p = arg;
	char why[sizeof(p->out->why_not)];

	p->call = NULL;
	if (answer && keeps_group(answer->body)) {
		conclude(p, p->type, "");
	} else if (answer) {
		conclude(p, NULL, "the API server drops spec.schedulingGroup of pods");
	} else if (is_refusal(err)) {
		kar_text_printf(why, sizeof(why), "a dry run of a pod that names a group was refused: %s",
			err->msg);
		conclude(p, NULL, why);
	} else {
		try_later(p, err);
	}
}

/* As restricted as namespaces may ask for, and of a job, as manifests/admission wants it: it is to be refused for nothing else. */
static void ask_for_pod(struct kar_native_probe *p)
{
	static const char body[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" PROBE
		"\",\"ownerReferences\":[{"
		"\"apiVersion\":\"" KAR_API_VERSION "\",\"kind\":\"QueueJob\",\"name\":\"" PROBE
		"\",\"uid\":\"" PROBE "\",\"controller\":true}]},"
		"\"spec\":{\"schedulingGroup\":{\"podGroupName\":\"" PROBE "\"},\"restartPolicy\":\"Never\","
		"\"securityContext\":{\"runAsNonRoot\":true,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}},"
		"\"containers\":[{\"name\":\"c\",\"image\":\"none\",\"securityContext\":"
		"{\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"]}}}]}}";
	struct kar_request q =
		kar_client_create(&kar_pod_type.res, "default", (struct kar_str){ body, sizeof(body) - 1 });

	q.dry_run = true;
	q.on_done = on_pod;
	q.arg = p;
	p->call = kar_client_start(p->client, &q);
}

/* --- the API group --------------------------------------------------------------------------------- */

struct version_wire {
	const char *version;
};
struct group_wire {
	struct kar_array versions; /* struct version_wire */
};

static const struct kar_field version_fields[] = { KAR_FIELD(struct version_wire, version, "version",
	KAR_F_STRING) };
static const struct kar_desc version_desc = KAR_DESC("Version", struct version_wire, version_fields);
static const struct kar_field group_fields[] = { KAR_FIELD_SUB(struct group_wire, versions, "versions",
	KAR_F_ARRAY, &version_desc) };
static const struct kar_desc group_desc = KAR_DESC("APIGroup", struct group_wire, group_fields);

/* Returns why there is none, or NULL with the newest in *@out. */
static const char *find_version(struct kar_str body, const struct kar_type **out)
{
	static const char *const immutable = "v1alpha2";
	struct kar_arena arena = { 0 };
	struct group_wire g = { 0 };
	const struct version_wire *served;
	const char **names, *why = NULL;

	if (kar_document_decode(&arena, &group_desc, body, &g, NULL))
		g = (struct group_wire){ 0 };
	served = g.versions.items;
	names = kar_arena_alloc(&arena, g.versions.n + 1, sizeof(char *));
	for (size_t i = 0; i < g.versions.n; i++)
		names[i] = served[i].version ? served[i].version : "";
	*out = kar_native_type(names, g.versions.n);
	if (!*out && kar_streq_any(immutable, names, g.versions.n))
		why = "the API server has PodGroups of scheduling.k8s.io only in v1alpha2, where minCount cannot be changed";
	else if (!*out)
		why = "the API server has no PodGroups of scheduling.k8s.io (v1beta1 or v1alpha3)";
	kar_arena_release(&arena);
	return why;
}

static void on_group(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	static const struct kar_str nothing = { "{}", 2 };
	struct kar_native_probe *p = arg;
	const char *why;

	p->call = NULL;
	if (err && !is_refusal(err)) {
		try_later(p, err);
		return;
	}
	why = err && err->what != KAR_NOTFOUND ? err->msg
					       : find_version(answer ? answer->body : nothing, &p->type);
	if (why)
		conclude(p, NULL, why);
	else
		ask_for_pod(p);
}

static void ask(void *arg)
{
	static const struct kar_resource group = { .group = KAR_NATIVE_GROUP, .version = "", .plural = "" };
	struct kar_native_probe *p = arg;
	struct kar_request q = kar_client_get(&group, NULL, NULL);

	q.on_done = on_group;
	q.arg = p;
	p->call = kar_client_start(p->client, &q);
}

/* --- begin and end --------------------------------------------------------------------------------- */

struct kar_native_probe *kar_native_probe_new(struct kar_loop *l, struct kar_client *client,
	kar_time interval, struct kar_native *out)
{
	struct kar_native_probe *p = kar_xcalloc(1, sizeof(*p));

	p->client = client;
	p->interval = interval;
	p->out = out;
	*out = (struct kar_native){ 0 };
	p->timer = kar_timer_new(l, ask, p);
	kar_timer_start(p->timer, 0);
	return p;
}

void kar_native_probe_free(struct kar_native_probe *p)
{
	if (!p)
		return;
	if (p->call)
		kar_client_cancel(p->client, p->call);
	kar_timer_free(p->timer);
	free(p);
}
