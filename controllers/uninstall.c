#include "controllers/uninstall.h"

#include <string.h>

#include "api/pod.h"
#include "common/buf.h"
#include "common/kube/request.h"
#include "common/mem.h"
#include "common/str.h"

#define OURS "app.kubernetes.io/name=kar-controllers"

enum { MAX_LIST = 16 << 20 /* bytes */, TRIES = 5, FIRST_PAUSE = 20 /* ms */ };

const struct kar_uninstall_times kar_uninstall_default_times = {
	.pause = 500,
	.patience = 120 * KAR_SECOND,
	.release = &kar_release_default_times,
};

/* What an installation consists of, in the order in which it goes. */
static const struct kar_resource kinds[] = {
	{ "admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
		"ValidatingAdmissionPolicyBinding", false },
	{ "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy",
		false },
	{ "admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings",
		"MutatingAdmissionPolicyBinding", false },
	{ "admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy",
		false },
	{ "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false },
	{ "monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", true },
	{ "monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule", true },
	{ "apps", "v1", "deployments", "Deployment", true },
	{ "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true },
	{ "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true },
	{ "", "v1", "services", "Service", true },
	{ "", "v1", "configmaps", "ConfigMap", true },
	{ "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true },
	{ "rbac.authorization.k8s.io", "v1", "roles", "Role", true },
	{ "", "v1", "serviceaccounts", "ServiceAccount", true },
	{ "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false },
	{ "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false },
	{ "", "v1", "namespaces", "Namespace", false },
};
static const struct kar_resource deployments = { "apps", "v1", "deployments", "Deployment", true };

struct spec {
	int32_t replicas; /* of a Deployment */
};
struct status {
	const char *phase; /* of a pod */
};
static const struct kar_field spec_fields[] = { KAR_FIELD(struct spec, replicas, "replicas", KAR_F_INT32) };
static const struct kar_desc spec_desc = KAR_DESC("spec", struct spec, spec_fields);

static const struct kar_field status_fields[] = { KAR_FIELD(struct status, phase, "phase", KAR_F_STRING) };
static const struct kar_desc status_desc = KAR_DESC("status", struct status, status_fields);

struct item {
	struct kar_wire_meta meta;
	struct spec spec;
	struct status status;
};
static const struct kar_field item_fields[] = {
	KAR_FIELD_SUB(struct item, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct item, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct item, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc item_desc = KAR_DESC("object", struct item, item_fields);

struct list {
	struct kar_array items; /* struct item */
};
static const struct kar_field list_fields[] = { KAR_FIELD_SUB(struct list, items, "items", KAR_F_ARRAY,
	&item_desc) };
static const struct kar_desc list_desc = KAR_DESC("list", struct list, list_fields);

struct uninstall {
	struct kar_loop *loop;
	struct kar_client *client;
	const struct kar_uninstall_options *o;
	struct kar_timer *timer;
	struct kar_arena arena; /* of the list that was read last */
	/* The request under way. */
	struct kar_buf bytes;
	struct kar_err answer; /* .what KAR_OK: it went well */
	struct kar_err *err;
};

/* --- one request at a time --------------------------------------------------------------------------- */

static void wake(void *arg)
{
	kar_loop_stop(((struct uninstall *)arg)->loop);
}

static void pause_for(struct uninstall *u, kar_time ms)
{
	kar_timer_start(u->timer, ms);
	kar_loop_run(u->loop);
}

static int collect(void *arg, const char *bytes, size_t n)
{
	struct uninstall *u = arg;

	kar_buf_append(&u->bytes, bytes, n);
	return u->bytes.overflow ? -1 : 0;
}

static void done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct uninstall *u = arg;

	(void)answer;
	u->answer = err ? *err : (struct kar_err){ 0 };
	kar_loop_stop(u->loop);
}

/* Runs the loop until the answer is in u->answer and, of a list, u->bytes. What may pass by itself is tried again. */
static enum kar_class ask(struct uninstall *u, struct kar_request q)
{
	q.on_done = done;
	q.on_data = q.verb == KAR_LIST ? collect : NULL;
	q.replayable = true;
	q.arg = u;
	for (int i = 0; i < TRIES; i++) {
		if (i)
			pause_for(u, u->o->times->pause);
		kar_buf_clear(&u->bytes);
		kar_client_start(u->client, &q);
		kar_loop_run(u->loop);
		if (u->answer.what != KAR_RETRY && u->answer.what != KAR_UNKNOWN)
			break;
	}
	return u->answer.what;
}

static int give_up(struct uninstall *u, const char *what)
{
	return kar_give_up(u->err, "uninstall", what, &u->answer);
}

/* What of the kind is ours; a kind that the cluster does not know has nothing. The items live until the next list. */
static int list(struct uninstall *u, const struct kar_resource *res, struct kar_array *items)
{
	struct kar_request q = kar_client_list(res, NULL);
	struct list found = { 0 };
	char what[96];

	q.lane = KAR_LANE_LISTS;
	q.label_selector = OURS;
	*items = (struct kar_array){ 0 };
	snprintf(what, sizeof(what), "cannot list %s", res->plural);
	if (ask(u, q) == KAR_NOTFOUND)
		return 0;
	kar_arena_reset(&u->arena);
	if (u->answer.what ||
		kar_document_decode(&u->arena, &list_desc, (struct kar_str){ u->bytes.p, u->bytes.n }, &found,
			&u->answer))
		return give_up(u, what);
	*items = found.items;
	return 0;
}

/* "CustomResourceDefinition queues.kube-arbitrator.io", "Role team-a/kar-controllers" */
static const char *name_of(const struct kar_resource *res, const struct item *item,
	char out[KAR_KEY_LEN + 64])
{
	char key[KAR_KEY_LEN];

	snprintf(out, KAR_KEY_LEN + 64, "%s %s", res->kind, kar_key(item->meta.ns, item->meta.name, key));
	return out;
}

/* --- waiting until nothing is left ------------------------------------------------------------------- */

/* Time without progress, which is that fewer are left. Most objects go at once, so the first looks come soon. */
struct patience {
	size_t least;
	kar_time since, pause;
};

static int wait_for_fewer(struct uninstall *u, struct patience *p, size_t left, const char *first)
{
	kar_time now = kar_loop_mono(u->loop);

	if (left < p->least || !p->since)
		*p = (struct patience){ .least = left, .since = now, .pause = FIRST_PAUSE };
	if (p->pause > u->o->times->pause)
		p->pause = u->o->times->pause;
	if (now - p->since < u->o->times->patience) {
		pause_for(u, p->pause);
		p->pause *= 2;
		return 0;
	}
	return kar_fail(u->err, KAR_RETRY,
		"%s is still there after %d s; find out what holds it (kubectl get -o yaml), and run uninstall again, it goes on from there",
		first, (int)(u->o->times->patience / KAR_SECOND));
}

static int stop_deployment(struct uninstall *u, const struct item *item)
{
	static const char zero[] = "{\"spec\":{\"replicas\":0}}";
	char name[KAR_KEY_LEN + 64], what[KAR_KEY_LEN + 96];

	if (!item->spec.replicas)
		return 0;
	name_of(&deployments, item, name);
	if (ask(u,
		    kar_client_patch(&deployments, item->meta.ns, item->meta.name, KAR_PATCH_MERGE,
			    (struct kar_str){ zero, sizeof(zero) - 1 })) == KAR_OK)
		fprintf(u->o->out, "Stopped %s\n", name);
	else if (u->answer.what != KAR_NOTFOUND) {
		snprintf(what, sizeof(what), "cannot stop %s", name);
		return give_up(u, what);
	}
	return 0;
}

/* Leaves those that have not ended: one that was evicted stays until its Deployment goes, and does nothing. */
static void keep_at_work(struct kar_array *pods)
{
	struct item *all = pods->items;
	size_t n = 0;

	for (size_t i = 0; i < pods->n; i++) {
		if (!kar_streq(all[i].status.phase, "Failed") && !kar_streq(all[i].status.phase, "Succeeded"))
			all[n++] = all[i];
	}
	pods->n = n;
}

static int stop_managers(struct uninstall *u)
{
	struct patience patience = { 0 };
	struct kar_array items;
	char name[KAR_KEY_LEN + 64];

	if (list(u, &deployments, &items))
		return -1;
	for (size_t i = 0; i < items.n; i++) {
		const struct item *all = items.items;

		if (stop_deployment(u, &all[i]))
			return -1;
	}
	for (;;) {
		if (list(u, &kar_pod_type.res, &items))
			return -1;
		keep_at_work(&items);
		if (!items.n)
			return 0;
		if (wait_for_fewer(u, &patience, items.n, name_of(&kar_pod_type.res, items.items, name)))
			return -1;
	}
}

static int delete_one(struct uninstall *u, const struct kar_resource *res, const struct item *item)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf options = { 0 };
	char name[KAR_KEY_LEN + 64], what[KAR_KEY_LEN + 96];

	if (item->meta.deletion)
		return 0;
	name_of(res, item, name);
	kar_delete_options(&options, item->meta.uid, 0, "Background", -1);
	switch (ask(u,
		kar_client_delete(res, item->meta.ns, item->meta.name,
			(struct kar_str){ options.p, options.n }))) {
	case KAR_OK:
		fprintf(u->o->out, "Deleted %s\n", name);
		fflush(u->o->out);
		return 0;
	case KAR_NOTFOUND:
	case KAR_CONFLICT: /* another one has its name now: the next list shows it */
		return 0;
	default:
		snprintf(what, sizeof(what), "cannot delete %s", name);
		return give_up(u, what);
	}
}

static int delete_all(struct uninstall *u, const struct kar_resource *res)
{
	struct patience patience = { 0 };
	char name[KAR_KEY_LEN + 64];

	for (;;) {
		struct kar_array items;
		const struct item *all;

		if (list(u, res, &items))
			return -1;
		if (!items.n)
			return 0;
		all = items.items;
		name_of(res, all, name);
		for (size_t i = 0; i < items.n; i++) {
			if (delete_one(u, res, &all[i]))
				return -1;
		}
		if (wait_for_fewer(u, &patience, items.n, name))
			return -1;
	}
}

static int delete_kinds(struct uninstall *u)
{
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		bool is_crd = !strcmp(kinds[i].plural, "customresourcedefinitions");

		if (!(is_crd && u->o->keep_crds) && delete_all(u, &kinds[i]))
			return -1;
	}
	return 0;
}

int kar_uninstall(struct kar_loop *l, struct kar_client *client, const struct kar_uninstall_options *o,
	struct kar_err *err)
{
	const struct kar_release_options release = { .finalizers = true,
		.command = "uninstall",
		.seed = o->seed,
		.out = o->out,
		.times = o->times->release };
	struct uninstall u = { .loop = l, .client = client, .o = o, .bytes.cap = MAX_LIST, .err = err };
	int rc;

	u.timer = kar_timer_new(l, wake, &u);
	rc = stop_managers(&u) || kar_release_gates(l, client, &release, err) || delete_kinds(&u) ? -1 : 0;
	if (!rc)
		fprintf(o->out, "Nothing of kar-controllers is left%s\n",
			o->keep_crds ? " but its CRDs" : "");
	fflush(o->out);
	kar_timer_free(u.timer);
	kar_buf_release(&u.bytes);
	kar_arena_release(&u.arena);
	return rc;
}
