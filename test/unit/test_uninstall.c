/* uninstall against a cluster of a few objects: what is written in which order, what is left, what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/kube/request.h"
#include "kubectl-qj/uninstall/uninstall.h"

enum { OBJECTS = 8, DEADLINE = 5000, MOMENT = 1 };

/* Its UID is "u-" and its name. */
struct object {
	const char *plural, *ns, *name; /* NULL plural: no object */
	int replicas;                   /* of a Deployment */
	int stays;     /* in so many lists after it was deleted, or its Deployment was stopped; -1: in all */
	bool not_ours; /* it lacks our label */
	bool deleting;
	const char *role; /* of a binding: its kind and name, as JSON */
	const char *
		account; /* the ServiceAccount of a pod or Deployment, or whom a binding gives its role, of kar-system */
	const char *finalizers; /* JSON; NULL: none */
	bool generated;         /* by another project, as its annotation says */
	bool forgotten;         /* its deletion goes on only when somebody changes it */
};

static const struct row {
	const char *name;
	struct object objects[OBJECTS];
	const char *refused; /* "verb plural" that fails with .refusal, .refusals times; -1: always */
	int refusals;
	bool keep_crds;
	kar_time touch; /* ms until a CRD that stays is touched; 0: never */
	struct kar_err refusal;
	const char
		*written; /* each write, and "release" where pods are read for their gates and finalizers */
	const char *left; /* names */
	const char *out;
	const char *err; /* NULL: none */
} rows[] = {
	{ .name = "nothing_there",
		.written = "release; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "managers_first_policies_next_namespace_last",
		.objects = { { "namespaces", "", "kar-system" }, { "clusterroles", "", "kar-edit" },
			{ "roles", "a", "kar-controllers" },
			{ "customresourcedefinitions", "", "queues", .stays = 2 },
			{ "validatingadmissionpolicies", "", "own" },
			{ "deployments", "kar-system", "kar-controllers", .replicas = 2 },
			{ "pods", "kar-system", "p", .stays = 1 } },
		.written =
			"patch deployments u-kar-controllers {\"spec\":{\"replicas\":0}}; release; delete validatingadmissionpolicies own; "
			"delete customresourcedefinitions queues; delete deployments kar-controllers; delete roles kar-controllers; "
			"delete clusterroles kar-edit; delete namespaces kar-system; ",
		.left = "",
		.out = "Stopped Deployment kar-system/kar-controllers\n"
		       "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted ValidatingAdmissionPolicy own\nDeleted CustomResourceDefinition queues\n"
		       "Deleted Deployment kar-system/kar-controllers\nDeleted Role a/kar-controllers\n"
		       "Deleted ClusterRole kar-edit\nDeleted Namespace kar-system\nNothing of kar-controllers is left\n" },
	{ .name = "queues_are_released_before_their_type_goes",
		.objects = { { "customresourcedefinitions", "", "queues" },
			{ "queues", "", "a", .not_ours = true,
				.finalizers =
					"\"x/y\",\"kube-arbitrator.io/queue\",\"kube-arbitrator.io/z\"" },
			{ "queues", "", "b", .not_ours = true, .finalizers = "\"x/y\"" },
			{ "queues", "", "c", .not_ours = true, .deleting = true, .stays = -1,
				.finalizers = "\"kube-arbitrator.io/queue\"" } },
		.written =
			"release; patch queues u-a {\"metadata\":{\"uid\":\"u-a\",\"resourceVersion\":\"1\",\"finalizers\":[\"x/y\",\"kube-arbitrator.io/z\"]}}; "
			"patch queues u-c {\"metadata\":{\"uid\":\"u-c\",\"resourceVersion\":\"1\",\"finalizers\":[]}}; "
			"delete customresourcedefinitions queues; ",
		.left = "a b ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Took the finalizer kube-arbitrator.io/queue off Queue a\n"
		       "Took the finalizer kube-arbitrator.io/queue off Queue c\n"
		       "Deleted CustomResourceDefinition queues\nNothing of kar-controllers is left\n" },
	{ .name = "queue_that_has_changed_meanwhile",
		.keep_crds = true,
		.objects = { { "queues", "", "a", .not_ours = true,
			.finalizers = "\"kube-arbitrator.io/queue\"" } },
		.refused = "patch queues",
		.refusals = 1,
		.refusal = { .what = KAR_CONFLICT },
		.written =
			"release; patch queues u-a {\"metadata\":{\"uid\":\"u-a\",\"resourceVersion\":\"1\",\"finalizers\":[]}}; "
			"patch queues u-a {\"metadata\":{\"uid\":\"u-a\",\"resourceVersion\":\"1\",\"finalizers\":[]}}; ",
		.left = "a ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Took the finalizer kube-arbitrator.io/queue off Queue a\n"
		       "Nothing of kar-controllers is left but its CRDs\n" },
	{ .name = "no_right_to_release_a_queue",
		.objects = { { "queues", "", "a", .not_ours = true,
			.finalizers = "\"kube-arbitrator.io/queue\"" } },
		.refused = "patch queues",
		.refusals = -1,
		.refusal = { .what = KAR_DENIED, .cause = KAR_CAUSE_RBAC, .msg = "forbidden" },
		.written =
			"release; patch queues u-a {\"metadata\":{\"uid\":\"u-a\",\"resourceVersion\":\"1\",\"finalizers\":[]}}; ",
		.left = "a ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n",
		.err = "cannot take the finalizer kube-arbitrator.io/queue off Queue a: forbidden; run uninstall with the rights that docs/USING.md names "
		       "below Uninstall" },
	{ .name = "crd_that_the_api_server_forgot_is_touched",
		.touch = 1,
		.objects = { { "customresourcedefinitions", "", "queues", .stays = -1, .forgotten = true } },
		.written =
			"release; delete customresourcedefinitions queues; patch customresourcedefinitions u-queues "
			"{\"metadata\":{\"annotations\":{\"kube-arbitrator.io/deletion-retried\":\"1\"}}}; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted CustomResourceDefinition queues\n"
		       "Touched CustomResourceDefinition queues, which should be gone: the API server tries again to delete it\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "crds_are_kept",
		.keep_crds = true,
		.objects = { { "customresourcedefinitions", "", "queues" },
			{ "namespaces", "", "kar-system" } },
		.written = "release; delete namespaces kar-system; ",
		.left = "queues ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted Namespace kar-system\nNothing of kar-controllers is left but its CRDs\n" },
	{ .name = "what_is_not_labelled_stays",
		.objects = { { "customresourcedefinitions", "", "podgroups", .not_ours = true },
			{ "clusterroles", "", "view", .not_ours = true } },
		.written = "release; ",
		.left = "podgroups view ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "podgroups_of_others_are_named",
		.objects = { { "customresourcedefinitions", "", "podgroups.scheduling.x-k8s.io",
			.not_ours = true } },
		.written = "release; ",
		.left = "podgroups.scheduling.x-k8s.io ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Left CustomResourceDefinition podgroups.scheduling.x-k8s.io: it is not ours\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "podgroups_that_were_taken_over_stay",
		.objects = { { "customresourcedefinitions", "", "podgroups.scheduling.x-k8s.io",
				     .generated = true },
			{ "customresourcedefinitions", "", "queues" } },
		.written = "release; patch customresourcedefinitions u-podgroups.scheduling.x-k8s.io "
			   "{\"metadata\":{\"labels\":{\"app.kubernetes.io/name\":null}}}; "
			   "delete customresourcedefinitions queues; ",
		.left = "podgroups.scheduling.x-k8s.io ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Took our label off CustomResourceDefinition podgroups.scheduling.x-k8s.io: another project had installed it before; apply its own manifest again\n"
		       "Deleted CustomResourceDefinition queues\n"
		       "Left CustomResourceDefinition podgroups.scheduling.x-k8s.io: it is not ours\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "podgroups_that_were_taken_over_with_crds_that_are_kept",
		.keep_crds = true,
		.objects = { { "customresourcedefinitions", "", "podgroups.scheduling.x-k8s.io",
			.generated = true } },
		.written = "release; ",
		.left = "podgroups.scheduling.x-k8s.io ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Nothing of kar-controllers is left but its CRDs\n" },
	{ .name = "what_others_have_labelled_like_a_manager_is_none",
		.objects = { { "clusterrolebindings", "", "kar", .account = "kar" },
			{ "deployments", "kar-system", "kar", .replicas = 1, .account = "kar" },
			{ "deployments", "tenant", "like", .replicas = 3, .account = "kar" },
			{ "deployments", "kar-system", "other", .replicas = 2, .account = "other" },
			{ "pods", "tenant", "p", .account = "kar" } },
		.written =
			"patch deployments u-kar {\"spec\":{\"replicas\":0}}; release; delete deployments kar; delete clusterrolebindings kar; ",
		.left = "like other ",
		.out = "Stopped Deployment kar-system/kar\n"
		       "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted Deployment kar-system/kar\n"
		       "Deleted ClusterRoleBinding kar\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "bindings_of_our_roles_go_whoever_made_them",
		.objects = { { "clusterroles", "", "kar-metrics-reader" }, { "roles", "a", "kar" },
			{ "clusterrolebindings", "", "prometheus", .not_ours = true,
				.role = "\"ClusterRole\",\"name\":\"kar-metrics-reader\"" },
			{ "clusterrolebindings", "", "other", .not_ours = true,
				.role = "\"ClusterRole\",\"name\":\"kar\"" },
			{ "rolebindings", "a", "mine", .not_ours = true,
				.role = "\"Role\",\"name\":\"kar\"" },
			{ "rolebindings", "b", "theirs", .not_ours = true,
				.role = "\"Role\",\"name\":\"kar\"" },
			{ "rolebindings", "b", "reads", .not_ours = true,
				.role = "\"ClusterRole\",\"name\":\"kar-metrics-reader\"" },
			{ "clusterrolebindings", "", "ours",
				.role = "\"ClusterRole\",\"name\":\"kar-metrics-reader\"" } },
		.written = "release; delete clusterrolebindings prometheus; delete rolebindings mine; "
			   "delete rolebindings reads; delete roles kar; delete clusterrolebindings ours; "
			   "delete clusterroles kar-metrics-reader; ",
		.left = "other theirs ",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted ClusterRoleBinding prometheus\nDeleted RoleBinding a/mine\nDeleted RoleBinding b/reads\n"
		       "Deleted Role a/kar\nDeleted ClusterRoleBinding ours\nDeleted ClusterRole kar-metrics-reader\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "lease_in_another_namespace",
		.objects = { { "leases", "kube-system", "kar-controllers" } },
		.written = "release; delete leases kar-controllers; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted Lease kube-system/kar-controllers\nNothing of kar-controllers is left\n" },
	{ .name = "busy_for_a_while",
		.objects = { { "roles", "a", "r" } },
		.refused = "list roles",
		.refusals = 20,
		.refusal = { .what = KAR_RETRY, .http = 429, .msg = "too many requests" },
		.written = "release; delete roles r; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted Role a/r\nNothing of kar-controllers is left\n" },
	{ .name = "busy_without_end",
		.refused = "list roles",
		.refusals = -1,
		.refusal = { .what = KAR_RETRY, .http = 429, .msg = "too many requests" },
		.written = "release; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n",
		.err = "cannot list roles: too many requests; run uninstall again when that is corrected, it goes on from there" },
	{ .name = "what_is_being_deleted_is_waited_for",
		.objects = { { "namespaces", "", "kar-system", .deleting = true, .stays = 2 } },
		.written = "release; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "unknown_kind_has_no_objects",
		.refused = "list servicemonitors",
		.refusals = -1,
		.refusal = { .what = KAR_NOTFOUND },
		.written = "release; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Nothing of kar-controllers is left\n" },
	{ .name = "another_object_of_the_name_now",
		.objects = { { "roles", "a", "r" } },
		.refused = "delete roles",
		.refusals = 1,
		.refusal = { .what = KAR_CONFLICT },
		.written = "release; delete roles r; delete roles r; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted Role a/r\nNothing of kar-controllers is left\n" },
	{ .name = "what_may_pass_is_tried_again",
		.objects = { { "roles", "a", "r" } },
		.refused = "delete roles",
		.refusals = 4,
		.refusal = { .what = KAR_RETRY, .msg = "busy" },
		.written =
			"release; delete roles r; delete roles r; delete roles r; delete roles r; delete roles r; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n"
		       "Deleted Role a/r\nNothing of kar-controllers is left\n" },
	{ .name = "manager_that_does_not_stop",
		.objects = { { "deployments", "kar-system", "kar-controllers", .replicas = 1 },
			{ "pods", "kar-system", "p", .stays = -1 } },
		.written = "patch deployments u-kar-controllers {\"spec\":{\"replicas\":0}}; ",
		.left = "kar-controllers p ",
		.out = "Stopped Deployment kar-system/kar-controllers\n",
		.err = "Pod kar-system/p is still there after 0 s; find out what holds it (kubectl get -o yaml), and run uninstall again, it goes on from "
		       "there" },
	{ .name = "no_right_to_stop_it",
		.objects = { { "deployments", "kar-system", "kar-controllers", .replicas = 1 } },
		.refused = "patch deployments",
		.refusals = -1,
		.refusal = { .what = KAR_DENIED, .cause = KAR_CAUSE_RBAC, .msg = "forbidden" },
		.written = "patch deployments u-kar-controllers {\"spec\":{\"replicas\":0}}; ",
		.left = "kar-controllers ",
		.out = "",
		.err = "cannot stop Deployment kar-system/kar-controllers: forbidden; run uninstall with the rights that docs/USING.md names below "
		       "Uninstall" },
	{ .name = "no_right_to_list",
		.refused = "list clusterroles",
		.refusals = -1,
		.refusal = { .what = KAR_DENIED, .cause = KAR_CAUSE_RBAC, .msg = "forbidden" },
		.written = "release; ",
		.left = "",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n",
		.err = "cannot list clusterroles: forbidden; run uninstall with the rights that docs/USING.md names below Uninstall" },
	{ .name = "no_connection",
		.refused = "list deployments",
		.refusals = -1,
		.refusal = { .what = KAR_RETRY, .cause = KAR_CAUSE_CONNECTION, .msg = "refused" },
		.written = "",
		.left = "",
		.out = "",
		.err = "cannot list deployments: refused; check --kubeconfig and --context, and run uninstall again" },
};

struct cluster {
	struct kar_client client; /* first */
	const struct row *row;
	struct object objects[OBJECTS];
	int refusals;
	struct kar_buf written;
	struct kar_loop *loop;
	struct kar_timer *watchdog;
};

struct kar_call {
	struct cluster *cluster;
	struct kar_request request;
	char *name, *body, *selector;
	struct kar_timer *timer;
};

static void end_call(struct kar_call *call)
{
	kar_timer_free(call->timer);
	free(call->body);
	free(call->name);
	free(call->selector);
	free(call);
}

/* One list less for an object that is on its way out; true if it has gone by this one. */
static bool is_gone(struct object *o)
{
	if (o->deleting && o->stays == 0)
		o->plural = NULL;
	else if (o->deleting && o->stays > 0)
		o->stays--;
	return !o->plural;
}

static void put_items(struct cluster *c, const char *plural, bool labelled, struct kar_buf *out)
{
	const char *comma = "";

	for (int i = 0; i < OBJECTS; i++) {
		struct object *o = &c->objects[i];

		if (!o->plural || strcmp(o->plural, plural) || (labelled && o->not_ours) || is_gone(o))
			continue;
		kar_buf_printf(out,
			"%s{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"1\",\"finalizers\":[%s]%s%s%s},"
			"\"roleRef\":{\"kind\":%s},\"subjects\":[%s%s%s],"
			"\"spec\":{\"replicas\":%d,\"serviceAccountName\":\"%s\",\"template\":{\"spec\":{\"serviceAccountName\":\"%s\"}}}}",
			comma, o->name, o->ns, o->name, o->finalizers ? o->finalizers : "",
			o->deleting ? ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"" : "",
			o->not_ours ? "" : ",\"labels\":{\"app.kubernetes.io/name\":\"kar-controllers\"}",
			o->generated ? ",\"annotations\":{\"controller-gen.kubebuilder.io/version\":\"v0.9\"}"
				     : "",
			o->role ? o->role : "null",
			o->account ? "{\"kind\":\"ServiceAccount\",\"namespace\":\"kar-system\",\"name\":\""
				   : "",
			o->account ? o->account : "", o->account ? "\"}" : "", o->replicas,
			o->account ? o->account : "", o->account ? o->account : "");
		comma = ",";
	}
}

/* All pods are read for their gates and finalizers. */
static bool is_release(const struct kar_request *r)
{
	return r->verb == KAR_LIST && !r->label_selector && !strcmp(r->res->plural, "pods");
}

static void answer_list(struct kar_call *call)
{
	static const struct kar_answer ok = { .status = 200, .uid = "", .rv = 7 };
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	const struct kar_request r = call->request;

	kar_buf_puts(&text, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[");
	if (call->selector || !is_release(&r))
		put_items(call->cluster, r.res->plural, call->selector != NULL, &text);
	kar_buf_puts(&text, "]}\n");
	assert_int_equal(r.on_data(r.arg, text.p, text.n), 0);
	end_call(call);
	r.on_done(r.arg, &ok, NULL);
}

static struct object *find(struct cluster *c, const char *plural, const char *name)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct object *o = &c->objects[i];

		if (o->plural && !strcmp(o->plural, plural) && !strcmp(o->name, name))
			return o;
	}
	fail_msg("%s: no %s %s", c->row->name, plural, name);
	abort();
}

/* A Deployment of no replicas loses its pods. */
static void stop(struct cluster *c, struct object *deployment)
{
	deployment->replicas = 0;
	for (int i = 0; i < OBJECTS; i++)
		c->objects[i].deleting |= c->objects[i].plural && !strcmp(c->objects[i].plural, "pods");
}

static void answer_write(struct kar_call *call)
{
	static const struct kar_answer ok = { .status = 200, .uid = "" };
	const struct kar_request r = call->request;
	struct object *o = find(call->cluster, r.res->plural, call->name);
	char uid[64];

	snprintf(uid, sizeof(uid), "\"u-%s\"", o->name);
	if (r.verb == KAR_PATCH && strstr(call->body, "finalizers")) {
		o->finalizers = strstr(call->body, "x/y") ? "\"x/y\"" : NULL;
		if (o->deleting && !o->finalizers)
			o->plural = NULL;
	} else if (r.verb == KAR_PATCH && strstr(call->body, "labels"))
		o->not_ours = true;
	else if (r.verb == KAR_PATCH && o->forgotten)
		o->stays = 0;
	else if (r.verb == KAR_PATCH)
		stop(call->cluster, o);
	else if (!strstr(call->body, uid) || !strstr(call->body, "Background"))
		fail_msg("%s: deletes %s with %s", call->cluster->row->name, o->name, call->body);
	else
		o->deleting = true;
	end_call(call);
	r.on_done(r.arg, &ok, NULL);
}

static void answer_get(struct kar_call *call)
{
	static const struct kar_answer ok = { .status = 200, .uid = "" };
	static const struct kar_err missing = { .what = KAR_NOTFOUND };
	const struct kar_request r = call->request;
	bool there = false;

	for (int i = 0; i < OBJECTS; i++) {
		const struct object *o = &call->cluster->objects[i];

		there |= o->plural && !strcmp(o->plural, r.res->plural) && !strcmp(o->name, call->name);
	}
	end_call(call);
	r.on_done(r.arg, there ? &ok : NULL, there ? NULL : &missing);
}

static void answer(void *arg)
{
	static const struct kar_answer ok = { .status = 200, .uid = "", .body = { "{\"items\":[]}", 12 } };
	struct kar_call *call = arg;
	struct cluster *c = call->cluster;
	const struct kar_request r = call->request;
	char what[64];

	snprintf(what, sizeof(what), "%s %s", kar_verb_name(r.verb), r.res->plural);
	if (c->row->refused && !strcmp(what, c->row->refused) && c->refusals) {
		c->refusals -= c->refusals > 0;
		end_call(call);
		r.on_done(r.arg, NULL, &c->row->refusal);
	} else if (r.verb == KAR_LIST) {
		answer_list(call);
	} else if (r.verb == KAR_GET) {
		answer_get(call);
	} else if (r.verb == KAR_WATCH) {
		r.on_begun(r.arg);
	} else if (r.verb == KAR_DELETECOLLECTION) {
		end_call(call);
		r.on_done(r.arg, &ok, NULL);
	} else {
		answer_write(call);
	}
}

static void note(struct cluster *c, const struct kar_call *call)
{
	const struct kar_request *r = &call->request;

	if (is_release(r))
		kar_buf_puts(&c->written, "release; ");
	else if (r->verb == KAR_PATCH)
		kar_buf_printf(&c->written, "patch %s u-%s %s; ", r->res->plural, call->name, call->body);
	else if (r->verb == KAR_DELETE)
		kar_buf_printf(&c->written, "delete %s %s; ", r->res->plural, call->name);
}

static char *copy(const char *text)
{
	return text ? kar_xstrdup(text) : NULL;
}

static struct kar_call *start(struct kar_client *client, const struct kar_request *r)
{
	struct cluster *c = (struct cluster *)(void *)client;
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));

	*call = (struct kar_call){ .cluster = c,
		.request = *r,
		.name = copy(r->name),
		.selector = copy(r->label_selector) };
	call->body = kar_xstrndup(r->body.p ? r->body.p : "", r->body.n);
	call->timer = kar_timer_new(c->loop, answer, call);
	kar_timer_start(call->timer, 0);
	if (call->selector)
		assert_string_equal(call->selector, "app.kubernetes.io/name=kar-controllers");
	note(c, call);
	return call;
}

static void cancel(struct kar_client *client, struct kar_call *call)
{
	(void)client;
	if (call)
		end_call(call);
}

static void too_late(void *arg)
{
	struct cluster *c = arg;

	fail_msg("%s: does not end; written: %s", c->row->name, kar_buf_cstr(&c->written));
}

static void expect_text(const struct row *row, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want))
		fail_msg("%s: %s is\n%s\nwant\n%s", row->name, what, got, want);
}

static void expect_left(const struct cluster *c)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf left = { 0 };

	for (int i = 0; i < OBJECTS; i++) {
		const struct object *o = &c->objects[i];

		if (o->plural && !(o->deleting && o->stays == 0)) /* nobody has looked since */
			kar_buf_printf(&left, "%s ", o->name);
	}
	expect_text(c->row, "what is left", kar_buf_cstr(&left), c->row->left);
}

static void run(const struct row *row)
{
	static const struct kar_client_ops ops = { .start = start, .cancel = cancel };
	static const struct kar_release_times release = { .pause = 1,
		.settle = 1,
		.report = DEADLINE,
		.patience = 100 };
	const struct kar_uninstall_times times = { .pause = MOMENT,
		.touch = row->touch ? row->touch : DEADLINE,
		.patience = 100,
		.release = &release };
	struct cluster c = { .client = { .ops = &ops },
		.row = row,
		.refusals = row->refusals,
		.loop = kar_loop_new() };
	char *out = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&out, &n);
	const struct kar_uninstall_options o = { .keep_crds = row->keep_crds,
		.seed = 1,
		.out = file,
		.times = &times };
	struct kar_err err = { 0 };
	int rc;

	memcpy(c.objects, row->objects, sizeof(c.objects));
	c.watchdog = kar_timer_new(c.loop, too_late, &c);
	kar_timer_start(c.watchdog, DEADLINE);
	rc = kar_uninstall(c.loop, &c.client, &o, &err);
	fclose(file);
	expect_text(row, "the error", rc ? err.msg : "", row->err ? row->err : "");
	expect_text(row, "the output", out, row->out);
	expect_text(row, "what it writes", kar_buf_cstr(&c.written), row->written);
	expect_left(&c);
	kar_timer_free(c.watchdog);
	kar_loop_free(c.loop);
	kar_buf_release(&c.written);
	free(out);
}

static void nothing_is_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		run(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_left) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
