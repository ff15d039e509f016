#include "kubectl-qj/uninstall/uninstall_impl.h"

#include <string.h>

#include "api/pod/pod.h"
#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/kube/request.h"

enum { MAX_LIST = 16 << 20 /* bytes */, FIRST_PAUSE = 20 /* ms */ };

const struct kar_uninstall_times kar_uninstall_default_times = {
	.pause = 500,
	.touch = 10 * KAR_SECOND,
	.patience = 120 * KAR_SECOND,
	.release = &kar_release_default_times,
};

#define TOUCHED "kube-arbitrator.io/deletion-retried" /* annotation: the resourceVersion before */

#define UNINSTALL_CRDS \
	{ \
		"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false \
	}

const struct kar_resource uninstall_crds = UNINSTALL_CRDS;

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
	UNINSTALL_CRDS,
	{ "monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", true },
	{ "monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule", true },
	{ "apps", "v1", "deployments", "Deployment", true },
	{ "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true },
	{ "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true },
	{ "", "v1", "services", "Service", true },
	{ "", "v1", "configmaps", "ConfigMap", true },
	{ "coordination.k8s.io", "v1", "leases", "Lease", true },
	{ "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true },
	{ "rbac.authorization.k8s.io", "v1", "roles", "Role", true },
	{ "", "v1", "serviceaccounts", "ServiceAccount", true },
	{ "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false },
	{ "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false },
	{ "", "v1", "namespaces", "Namespace", false },
};
static const struct kar_resource deployments = { "apps", "v1", "deployments", "Deployment", true };

/* --- waiting until nothing is left ------------------------------------------------------------------- */

int uninstall_wait_for_fewer(struct uninstall *u, struct uninstall_patience *p, size_t left,
	const char *first)
{
	kar_time now = kar_loop_mono(u->loop);

	if (left < p->least || !p->since)
		*p = (struct uninstall_patience){ .least = left, .since = now, .pause = FIRST_PAUSE };
	if (p->pause > u->o->times->pause)
		p->pause = u->o->times->pause;
	if (now - p->since < u->o->times->patience) {
		uninstall_pause(u, p->pause);
		p->pause *= 2;
		return 0;
	}
	return kar_fail(u->err, KAR_RETRY,
		"%s is still there after %d s; find out what holds it (kubectl get -o yaml), and run uninstall again, it goes on from there",
		first, (int)(u->o->times->patience / KAR_SECOND));
}

static int stop_deployment(struct uninstall *u, const struct uninstall_item *item)
{
	static const char zero[] = "{\"spec\":{\"replicas\":0}}";
	char name[KAR_UNINSTALL_NAME], what[KAR_UNINSTALL_NAME + 32];

	if (!item->spec.replicas)
		return 0;
	uninstall_name(&deployments, item, name);
	if (uninstall_ask(u,
		    kar_client_patch(&deployments, item->meta.ns, item->meta.name, KAR_PATCH_MERGE,
			    (struct kar_str){ zero, sizeof(zero) - 1 })) == KAR_OK)
		fprintf(u->o->out, "Stopped %s\n", name);
	else if (u->answer.what != KAR_NOTFOUND) {
		snprintf(what, sizeof(what), "cannot stop %s", name);
		return uninstall_give_up(u, what);
	}
	return 0;
}

/* Leaves those that have not ended: one that was evicted stays until its Deployment goes, and does nothing. */
static void keep_at_work(struct kar_array *pods)
{
	struct uninstall_item *all = pods->items;
	size_t n = 0;

	for (size_t i = 0; i < pods->n; i++) {
		if (!kar_streq(all[i].status.phase, "Failed") && !kar_streq(all[i].status.phase, "Succeeded"))
			all[n++] = all[i];
	}
	pods->n = n;
}

static int stop_managers(struct uninstall *u)
{
	struct uninstall_patience patience = { 0 };
	struct kar_array items;
	char name[KAR_UNINSTALL_NAME];

	if (uninstall_note_accounts(u) || uninstall_list(u, &deployments, KAR_OURS, &items))
		return -1;
	uninstall_leave_managers(u, &items);
	for (size_t i = 0; i < items.n; i++) {
		const struct uninstall_item *all = items.items;

		if (stop_deployment(u, &all[i]))
			return -1;
	}
	for (;;) {
		if (uninstall_list(u, &kar_pod_type.res, KAR_OURS, &items))
			return -1;
		uninstall_leave_managers(u, &items);
		keep_at_work(&items);
		if (!items.n)
			return 0;
		if (uninstall_wait_for_fewer(u, &patience, items.n,
			    uninstall_name(&kar_pod_type.res, items.items, name)))
			return -1;
	}
}

/*
 * The API server may forget a CRD whose instances it could not list just then ("storage is (re)initializing"), although the list would
 * work a moment later. It tries again when the CRD changes.
 */
static void touch(struct uninstall *u, const struct uninstall_item *crd)
{
	char body[128], name[KAR_UNINSTALL_NAME];

	/* The version makes each touch a change. */
	snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"" TOUCHED "\":\"%s\"}}}",
		crd->meta.resource_version ? crd->meta.resource_version : "");
	if (uninstall_ask(u,
		    kar_client_patch(&uninstall_crds, NULL, crd->meta.name, KAR_PATCH_MERGE,
			    (struct kar_str){ body, strlen(body) })) != KAR_OK)
		return; /* it may be gone; if it is not, the end says so */
	fprintf(u->o->out, "Touched %s, which should be gone: the API server tries again to delete it\n",
		uninstall_name(&uninstall_crds, crd, name));
	fflush(u->o->out);
}

/* Each CRD of the list that is on its way out, and has been for too long. */
static void touch_again(struct uninstall *u, struct uninstall_patience *p, const struct kar_array *items)
{
	const struct uninstall_item *all = items->items;

	if (!p->since || kar_loop_mono(u->loop) - p->since < (p->touches + 1) * u->o->times->touch)
		return;
	p->touches++;
	for (size_t i = 0; i < items->n; i++) {
		if (all[i].meta.deletion)
			touch(u, &all[i]);
	}
}

static int delete_or_leave(struct uninstall *u, const struct kar_resource *res,
	const struct uninstall_item *item)
{
	bool shared = !strcmp(res->plural, uninstall_crds.plural) && uninstall_is_shared(item);

	return shared ? uninstall_leave(u, item) : uninstall_delete(u, res, item);
}

static int delete_all(struct uninstall *u, const struct kar_resource *res)
{
	struct uninstall_patience patience = { 0 };
	char name[KAR_UNINSTALL_NAME];

	for (;;) {
		struct kar_array items;
		const struct uninstall_item *all;

		if (uninstall_list(u, res, KAR_OURS, &items))
			return -1;
		if (!strcmp(res->plural, deployments.plural))
			uninstall_leave_managers(u, &items);
		if (!items.n)
			return 0;
		all = items.items;
		uninstall_name(res, all, name);
		for (size_t i = 0; i < items.n; i++) {
			if (delete_or_leave(u, res, &all[i]))
				return -1;
		}
		if (!strcmp(res->plural, uninstall_crds.plural))
			touch_again(u, &patience, &items);
		if (uninstall_wait_for_fewer(u, &patience, items.n, name))
			return -1;
	}
}

static int delete_kinds(struct uninstall *u)
{
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		bool is_crd = !strcmp(kinds[i].plural, uninstall_crds.plural);

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

	u.timer = kar_timer_new(l, uninstall_wake, &u);
	rc = stop_managers(&u) || kar_release_gates(l, client, &release, err) ||
			uninstall_release_queues(&u) || uninstall_bindings_of_users(&u) || delete_kinds(&u) ||
			(!o->keep_crds && uninstall_report_podgroups(&u))
		? -1
		: 0;
	if (!rc)
		fprintf(o->out, "Nothing of kar-controllers is left%s\n",
			o->keep_crds ? " but its CRDs" : "");
	fflush(o->out);
	kar_timer_free(u.timer);
	kar_buf_release(&u.bytes);
	kar_arena_release(&u.arena);
	kar_arena_release(&u.kept);
	return rc;
}
