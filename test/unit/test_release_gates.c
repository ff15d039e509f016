/* release-gates against a cluster of a few pods: what is asked for, what is left, what it says. */
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
#include "kubectl-qj/uninstall/release_gates.h"

enum { PODS = 6, DEADLINE = 5000, SETTLE = 10, MOMENT = 20 };

/* clang-format off: texts */
#define OURS "{\"name\":\"kube-arbitrator.io/gang\"}"
#define FOREIGN "{\"name\":\"example.com/x\"}"
#define PATCH(uid) \
	"{\"metadata\":{\"uid\":\"" uid "\"},\"spec\":{\"schedulingGates\":[" \
	"{\"$patch\":\"delete\",\"name\":\"kube-arbitrator.io/gang\"}]}}"
#define RELEASE(uid) \
	"{\"metadata\":{\"uid\":\"" uid "\"," \
	"\"$deleteFromPrimitiveList/finalizers\":[\"kube-arbitrator.io/pod-tracking\"]}}"
#define BINDING(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define BINDINGS \
	"deletecollection /apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings" \
	"?labelSelector=app.kubernetes.io%2Fname%3Dkar-controllers; "
#define LIST "list /api/v1/pods?fieldSelector=spec.nodeName%3D&limit=500; "
/* clang-format on */

/* Its UID is "u-" and its name. Its namespace is "n". */
struct pod {
	const char *name, *gates; /* gates: "" for none; NULL name: no pod */
	enum kar_class refusal;   /* of patches */
	enum kar_cause cause;
	int refusals; /* how many are refused; -1: all */
	bool late; /* it is created when the first patch is answered, or else a moment after the watch has begun */
	bool slow;    /* the watch shows the change a moment after the answer */
	bool tracked; /* it has our finalizer, and another one */
	bool gone;    /* and its name has another pod: patches conflict, and then the watch shows it */
};

static const struct row {
	bool finalizers;
	const char *name, *ns;
	const char *bindings; /* that are deleted; NULL: .refusal */
	struct kar_err refusal;
	struct kar_err list; /* refused with this; KAR_OK: not */
	struct pod pods[PODS];
	const char *asked; /* requests before the first patch */
	const char *left;  /* "name=gates" of all pods at the end */
	const char *out;   /* its last lines */
	const char *err;   /* the error, or how it begins and ends, with "..." between; NULL: none */
	int patches;
	kar_time settle;   /* ms; 0: SETTLE */
	kar_time patience; /* ms, with a server that is busy */
	int busy;          /* so often it is that, when bindings are to be deleted */
	bool late_watch;   /* the watch begins a moment after it is asked for */
} rows[] = {
	{ .name = "our_gate_is_taken_and_no_other",
		.bindings = BINDING("kar-controllers-gangs") "," BINDING("team-a"),
		.pods = { { "a", OURS }, { "b", FOREIGN "," OURS }, { "c", FOREIGN }, { "d", "" } },
		.asked = BINDINGS LIST,
		.left = "a= b=" FOREIGN " c=" FOREIGN " d=",
		.out = "Deleted MutatingAdmissionPolicyBinding kar-controllers-gangs\n"
		       "Deleted MutatingAdmissionPolicyBinding team-a\n"
		       "Pods released: 2; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 2 },
	{ .name = "one_namespace_then_the_bindings_stay",
		.ns = "n",
		.pods = { { "a", OURS } },
		.asked = "list /api/v1/namespaces/n/pods?fieldSelector=spec.nodeName%3D&limit=500; ",
		.left = "a=",
		.out = "Pods released: 1; none in namespace n has the gate kube-arbitrator.io/gang any more\n",
		.patches = 1 },
	{ .name = "older_servers_have_no_such_policies",
		.refusal = { .what = KAR_NOTFOUND },
		.pods = { { "a", "" } },
		.asked = BINDINGS LIST,
		.left = "a=",
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang any more\n" },
	{ .name = "no_right_to_delete_the_bindings",
		.refusal = { .what = KAR_DENIED, .cause = KAR_CAUSE_RBAC, .msg = "forbidden" },
		.pods = { { "a", OURS } },
		.asked = BINDINGS,
		.left = "a=" OURS,
		.out = "",
		.err = "cannot delete the MutatingAdmissionPolicyBindings with the label app.kubernetes.io/name=kar-controllers: "
		       "forbidden; run release-gates with the rights that docs/USING.md names below Uninstall" },
	{ .name = "no_right_to_list_pods",
		.bindings = "",
		.list = { .what = KAR_DENIED, .cause = KAR_CAUSE_RBAC, .msg = "forbidden" },
		.asked = BINDINGS LIST,
		.left = "",
		.out = "",
		.err = "cannot read the pods: forbidden; run release-gates with the rights that docs/USING.md names below Uninstall" },
	{ .name = "no_right_to_patch_then_no_more_is_tried",
		.bindings = "",
		.pods = { { "a", OURS, .refusal = KAR_DENIED, .cause = KAR_CAUSE_RBAC, .refusals = -1 } },
		.asked = BINDINGS LIST,
		.left = "a=" OURS,
		.out = "",
		.err = "cannot remove the gate kube-arbitrator.io/gang: a no; run release-gates with the rights that docs/USING.md names "
		       "below Uninstall",
		.patches = 1 },
	{ .name = "connection_is_lost",
		.refusal = { .what = KAR_RETRY, .cause = KAR_CAUSE_CONNECTION, .msg = "refused" },
		.asked = BINDINGS,
		.left = "",
		.out = "",
		.err = "cannot delete the MutatingAdmissionPolicyBindings with the label app.kubernetes.io/name=kar-controllers: "
		       "refused; check --kubeconfig and --context, and run release-gates again" },
	{ .name = "what_is_refused_once_is_tried_again",
		.bindings = "",
		.pods = { { "a", OURS, .refusal = KAR_RETRY, .refusals = 1 },
			{ "b", OURS, .refusal = KAR_UNKNOWN, .refusals = 2 } },
		.asked = BINDINGS LIST,
		.left = "a= b=",
		.out = "Pods released: 2; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 5 },
	{ .name = "a_busy_server_is_waited_for",
		.bindings = "",
		.busy = 3,
		.pods = { { "a", OURS, .refusal = KAR_RETRY, .refusals = 12 } },
		.asked = BINDINGS BINDINGS BINDINGS BINDINGS LIST,
		.left = "a=",
		.out = "Pods released: 1; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 13,
		.patience = DEADLINE },
	{ .name = "a_server_that_is_busy_for_too_long",
		.bindings = "",
		.busy = 1,
		.asked = BINDINGS,
		.left = "",
		.out = "",
		.err = "cannot delete the MutatingAdmissionPolicyBindings with the label app.kubernetes.io/name=kar-controllers: "
		       "too many requests; run release-gates again when that is corrected, it goes on from there" },
	{ .name = "a_refused_pod_holds_up_no_other",
		.bindings = "",
		.pods = { { "a", OURS, .refusal = KAR_DENIED, .refusals = -1 }, { "b", OURS },
			{ "c", OURS, .late = true } },
		.asked = BINDINGS LIST,
		.left = "a=" OURS " b= c=",
		.out = "",
		.err = "pods that keep the gate kube-arbitrator.io/gang: 1, the first: a no; run release-gates again when that is corrected, it goes "
		       "on from there",
		.patches = 2 + 2 + 5 },
	{ .name = "a_pod_that_comes_meanwhile",
		.bindings = "",
		.pods = { { "a", OURS }, { "b", OURS, .late = true } },
		.asked = BINDINGS LIST,
		.left = "a= b=",
		.out = "Pods released: 2; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 2 },
	{ .name = "a_pod_that_is_gated_by_a_deleted_binding",
		.bindings = BINDING("kar-controllers-gangs"),
		.pods = { { "a", OURS, .late = true } },
		.asked = BINDINGS LIST,
		.left = "a=",
		.out = "Deleted MutatingAdmissionPolicyBinding kar-controllers-gangs\n"
		       "Pods released: 1; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 1,
		.settle = 300 },
	{ .name = "a_watch_that_lags_then_no_pod_counts_twice",
		.bindings = "",
		.pods = { { "a", OURS, .slow = true } },
		.asked = BINDINGS LIST,
		.left = "a=",
		.out = "Pods released: 1; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 1 },
	{ .name = "a_watch_that_begins_after_the_answer",
		.bindings = "",
		.pods = { { "a", OURS }, { "b", OURS, .late = true } },
		.asked = BINDINGS LIST,
		.left = "a= b=",
		.out = "Pods released: 2; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 2,
		.late_watch = true },
	{ .name = "a_watch_that_begins_late_and_lags",
		.bindings = "",
		.pods = { { "a", OURS, .slow = true } },
		.asked = BINDINGS LIST,
		.left = "a=",
		.out = "Pods released: 1; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 1,
		.late_watch = true },
	{ .name = "a_pod_that_is_deleted_meanwhile",
		.bindings = "",
		.pods = { { "a", OURS, .refusal = KAR_NOTFOUND, .refusals = 1 } },
		.asked = BINDINGS LIST,
		.left = "a=" OURS,
		.out = "Pods released: 0; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 1 },
	{ .name = "finalizers_stay",
		.bindings = "",
		.pods = { { "a", OURS, .tracked = true }, { "b", "", .tracked = true } },
		.asked = BINDINGS LIST,
		.left = "a=+finalizer b=+finalizer",
		.out = "Pods released: 1; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 1 },
	{ .name = "finalizers_too_and_the_gate_first",
		.finalizers = true,
		.bindings = "",
		.pods = { { "a", OURS, .tracked = true }, { "b", FOREIGN, .tracked = true }, { "c", "" } },
		.asked = BINDINGS "list /api/v1/pods?limit=500; ",
		.left = "a= b=" FOREIGN " c=",
		.out = "Pods released: 3; none has the gate kube-arbitrator.io/gang or the finalizer kube-arbitrator.io/pod-tracking any more\n",
		.patches = 3 },
	{ .name = "a_pod_of_another_uid_now",
		.bindings = "",
		.pods = { { "a", OURS, .gone = true } },
		.asked = BINDINGS LIST,
		.left = "a=",
		.out = "Pods released: 1; none has the gate kube-arbitrator.io/gang any more\n",
		.patches = 2 },
};

struct cluster {
	struct kar_client client; /* first */
	const struct row *row;
	struct pod pods[PODS];
	kar_rv rv;
	int patches, busy; /* times */
	struct kar_buf asked;
	struct kar_call *watch;
	struct kar_buf missed; /* events since the list, before the watch has begun */
	struct kar_loop *loop;
	struct kar_timer *watchdog;
};

struct kar_call {
	struct cluster *cluster;
	struct kar_request request;
	char *body, *name;
	struct kar_timer *timer;
};

static void end_call(struct kar_call *call)
{
	if (call->cluster->watch == call)
		call->cluster->watch = NULL;
	kar_timer_free(call->timer);
	free(call->body);
	free(call->name);
	free(call);
}

static void put_pod(struct kar_buf *out, const struct cluster *c, const struct pod *p)
{
	kar_buf_printf(out,
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"u-%s%s\",\"resourceVersion\":\"%d\"%s},"
		"\"spec\":{\"schedulingGates\":[%s]}}",
		p->name, p->name, p->gone && c->patches ? "-new" : "", (int)c->rv,
		p->tracked ? ",\"finalizers\":[\"x/y\",\"kube-arbitrator.io/pod-tracking\"]" : "", p->gates);
}

static void give(struct kar_call *call, const struct kar_buf *bytes)
{
	assert_int_equal(call->request.on_data(call->request.arg, bytes->p, bytes->n), 0);
}

static void show(struct cluster *c, const char *event, const struct pod *p)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	c->rv++;
	kar_buf_printf(&text, "{\"type\":\"%s\",\"object\":", event);
	put_pod(&text, c, p);
	kar_buf_puts(&text, "}\n");
	if (c->watch)
		give(c->watch, &text);
	else
		kar_buf_puts(&c->missed, kar_buf_cstr(&text));
}

static void answer_list(struct kar_call *call)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	static const struct kar_answer ok = { .status = 200, .uid = "", .rv = 7 };
	const struct kar_request r = call->request;
	struct cluster *c = call->cluster;
	const char *comma = "";

	if (c->row->list.what) {
		end_call(call);
		r.on_done(r.arg, NULL, &c->row->list);
		return;
	}
	kar_buf_puts(&text, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[");
	for (int i = 0; i < PODS && c->pods[i].name; i++) {
		if (c->pods[i].late)
			continue;
		kar_buf_puts(&text, comma);
		put_pod(&text, c, &c->pods[i]);
		comma = ",";
	}
	kar_buf_puts(&text, "]}\n");
	give(call, &text);
	end_call(call);
	r.on_done(r.arg, &ok, NULL);
}

static void answer_bindings(struct kar_call *call)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	const struct kar_request r = call->request;
	const struct row *row = call->cluster->row;
	struct kar_answer ok = { .status = 200, .uid = "" };
	static const struct kar_err busy = { .what = KAR_RETRY, .http = 429, .msg = "too many requests" };

	if (call->cluster->busy < row->busy) {
		call->cluster->busy++;
		end_call(call);
		r.on_done(r.arg, NULL, &busy);
		return;
	}
	end_call(call);
	kar_buf_printf(&text, "{\"items\":[%s]}", row->bindings ? row->bindings : "");
	ok.body = (struct kar_str){ text.p, text.n };
	r.on_done(r.arg, row->bindings ? &ok : NULL, row->bindings ? NULL : &row->refusal);
}

static struct pod *find(struct cluster *c, const char *name)
{
	for (int i = 0; i < PODS && c->pods[i].name; i++) {
		if (!strcmp(c->pods[i].name, name))
			return &c->pods[i];
	}
	fail_msg("%s: no pod %s", c->row->name, name);
	abort();
}

/* The class of the refusal; KAR_OK: it is not refused. */
static enum kar_class refusal_of(struct cluster *c, struct pod *p, const char *body)
{
	char want[256];

	snprintf(want, sizeof(want), strstr(p->gates, OURS) ? PATCH("u-%s%s") : RELEASE("u-%s%s"), p->name,
		p->gone && c->patches > 1 ? "-new" : "");
	assert_string_equal(body, want);
	if (p->gone && c->patches == 1)
		return KAR_CONFLICT;
	if (!p->refusals)
		return KAR_OK;
	p->refusals -= p->refusals > 0;
	return p->refusal;
}

static void show_the_slow(struct cluster *c)
{
	for (int i = 0; i < PODS && c->pods[i].name; i++) {
		if (c->pods[i].slow)
			show(c, "MODIFIED", &c->pods[i]);
	}
}

static void create_the_late(struct cluster *c)
{
	for (int i = 0; i < PODS && c->pods[i].name; i++) {
		if (c->pods[i].late)
			show(c, "ADDED", &c->pods[i]);
		c->pods[i].late = false;
	}
}

/* The watch shows the change after the answer. */
static void answer_patch(struct kar_call *call)
{
	const struct kar_request r = call->request;
	struct cluster *c = call->cluster;
	struct pod *p = find(c, call->name);
	struct kar_answer ok = { .status = 200, .uid = "", .rv = c->rv + 1 };
	struct kar_err err = { 0 };

	c->patches++;
	err.what = refusal_of(c, p, call->body);
	err.cause = p->cause;
	snprintf(err.msg, sizeof(err.msg), "%s no", p->name);
	if (err.what == KAR_OK && !strstr(p->gates, OURS))
		p->tracked = false;
	else if (err.what == KAR_OK)
		p->gates = strstr(p->gates, FOREIGN) ? FOREIGN : "";
	end_call(call);
	r.on_done(r.arg, err.what ? NULL : &ok, err.what ? &err : NULL);
	if (p->slow && c->watch) /* a watch that begins later has the moment anyway */
		kar_timer_start(c->watch->timer, MOMENT);
	else if (err.what == KAR_NOTFOUND)
		show(c, "DELETED", p);
	else if (!p->slow && (err.what == KAR_OK || err.what == KAR_CONFLICT))
		show(c, "MODIFIED", p);
	create_the_late(c);
}

static void answer_watch(struct kar_call *call)
{
	struct cluster *c = call->cluster;

	if (c->watch == call) {
		create_the_late(c);
		show_the_slow(c);
		return;
	}
	c->watch = call;
	call->request.on_begun(call->request.arg);
	kar_timer_start(call->timer, MOMENT);
	if (c->missed.n)
		give(call, &c->missed);
	kar_buf_clear(&c->missed);
}

static void answer(void *arg)
{
	struct kar_call *call = arg;

	switch (call->request.verb) {
	case KAR_LIST:
		answer_list(call);
		break;
	case KAR_DELETECOLLECTION:
		answer_bindings(call);
		break;
	case KAR_PATCH:
		answer_patch(call);
		break;
	default:
		assert_int_equal(call->request.verb, KAR_WATCH);
		answer_watch(call);
	}
}

static void note(struct cluster *c, const struct kar_request *r)
{
	if (r->verb == KAR_WATCH || r->verb == KAR_PATCH)
		return;
	kar_buf_printf(&c->asked, "%s ", kar_verb_name(r->verb));
	kar_request_path(r, &c->asked);
	kar_buf_puts(&c->asked, "; ");
}

static struct kar_call *start(struct kar_client *client, const struct kar_request *r)
{
	struct cluster *c = (struct cluster *)(void *)client;
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));

	*call = (struct kar_call){ .cluster = c, .request = *r };
	call->body = kar_xstrndup(r->body.p ? r->body.p : "", r->body.n);
	call->name = kar_xstrdup(r->name ? r->name : "");
	call->timer = kar_timer_new(c->loop, answer, call);
	kar_timer_start(call->timer, r->verb == KAR_WATCH && c->row->late_watch ? MOMENT : 0);
	note(c, r);
	if (r->verb == KAR_PATCH)
		assert_true(r->patch_type == KAR_PATCH_STRATEGIC && r->replayable && !strcmp(r->ns, "n"));
	return call;
}

static void cancel(struct kar_client *client, struct kar_call *call)
{
	(void)client;
	end_call(call);
}

static void too_late(void *arg)
{
	struct cluster *c = arg;

	fail_msg("%s: does not end; asked: %s", c->row->name, kar_buf_cstr(&c->asked));
}

static void expect_left(const struct cluster *c)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf left = { 0 };

	for (int i = 0; i < PODS && c->pods[i].name; i++)
		kar_buf_printf(&left, "%s%s=%s%s", i ? " " : "", c->pods[i].name, c->pods[i].gates,
			c->pods[i].tracked ? "+finalizer" : "");
	if (strcmp(kar_buf_cstr(&left), c->row->left))
		fail_msg("%s: left are %s", c->row->name, kar_buf_cstr(&left));
}

static void expect_text(const struct row *row, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want))
		fail_msg("%s: %s is\n%s\nwant\n%s", row->name, what, got, want);
}

static void run(const struct row *row)
{
	static const struct kar_client_ops ops = { .start = start, .cancel = cancel };
	const struct kar_release_times times = { .pause = 1,
		.settle = row->settle ? row->settle : SETTLE,
		.report = DEADLINE,
		.patience = row->patience };
	struct cluster c = { .client = { .ops = &ops }, .row = row, .rv = 7, .loop = kar_loop_new() };
	char *out = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&out, &n);
	const struct kar_release_options o = { .ns = row->ns,
		.finalizers = row->finalizers,
		.command = "release-gates",
		.seed = 1,
		.out = file,
		.times = &times };
	struct kar_err err = { 0 };
	int rc;

	memcpy(c.pods, row->pods, sizeof(c.pods));
	c.watchdog = kar_timer_new(c.loop, too_late, &c);
	kar_timer_start(c.watchdog, DEADLINE);
	rc = kar_release_gates(c.loop, &c.client, &o, &err);
	fclose(file);
	expect_text(row, "the error", rc ? err.msg : "", row->err ? row->err : "");
	expect_text(row, "the output", out, row->out);
	expect_text(row, "what it asks", kar_buf_cstr(&c.asked), row->asked);
	expect_left(&c);
	if (c.patches != row->patches)
		fail_msg("%s: %d patches, not %d", row->name, c.patches, row->patches);
	kar_timer_free(c.watchdog);
	kar_loop_free(c.loop);
	kar_buf_release(&c.asked);
	kar_buf_release(&c.missed);
	free(out);
}

static void gates_are_released(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		run(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(gates_are_released) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
