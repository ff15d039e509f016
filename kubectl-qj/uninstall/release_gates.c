#include "kubectl-qj/uninstall/release_gates.h"

#include <assert.h>
#include <stdlib.h>

#include "api/names.h"
#include "api/pod/pod.h"
#include "common/base/buf.h"
#include "common/kube/reflector.h"
#include "common/kube/request.h"
#include "controllers/podset/podset.h"

#define BINDING "MutatingAdmissionPolicyBinding"
#define BINDING_LABEL "app.kubernetes.io/name=kar-controllers"

enum {
	IN_FLIGHT = 64,
	SWEEPS_IN_VAIN = 5, /* that release nothing, before it gives up */
};

const struct kar_release_times kar_release_default_times = {
	.pause = 500,
	.settle = 3 * KAR_SECOND,
	.report = 2 * KAR_SECOND,
	.patience = 120 * KAR_SECOND,
};

/* One patch under way. */
struct flight {
	struct release *release;
	struct kar_call *call; /* NULL: unused */
	const struct kar_object *pod;
};

struct release {
	struct kar_loop *loop;
	struct kar_client *client;
	const struct kar_release_options *o;
	struct kar_intern *strings;
	struct kar_store *pods; /* without a node; with .finalizers all */
	struct kar_reflector *reflector;
	struct kar_timer *timer;
	struct kar_call *deletion; /* of the bindings */
	bool ungated;              /* no binding is left, or none is to be deleted */
	kar_time ungated_since;    /* mono; when that was so */
	kar_time progress;         /* mono; when something was done last */
	/* The sweep: referenced pods, of which the first @n_todo have no patch yet. */
	const struct kar_object **todo;
	size_t n_todo;
	struct flight flights[IN_FLIGHT];
	int in_flight;
	size_t failed, released_before; /* of this sweep; and in all sweeps before it */
	struct kar_err first;           /* the first failure of this sweep */
	int in_vain;                    /* sweeps in a row that had failures and released nothing */
	size_t released;
	kar_rv written; /* the highest version that a patch has made */
	kar_time reported;
	struct kar_err *err;
	int result;
};

bool kar_is_busy(const struct kar_err *why)
{
	return why->what == KAR_RETRY && why->cause != KAR_CAUSE_CONNECTION;
}

/* It is busy, but that may still pass. */
static bool is_worth_waiting(const struct release *r, const struct kar_err *why)
{
	return kar_is_busy(why) && kar_loop_mono(r->loop) - r->progress < r->o->times->patience;
}

static void finish(struct release *r, int result)
{
	r->result = result;
	kar_timer_stop(r->timer);
	kar_loop_stop(r->loop);
}

int kar_give_up(struct kar_err *err, const char *command, const char *what, const struct kar_err *why)
{
	struct kar_err copy = *why;

	if (copy.cause == KAR_CAUSE_RBAC || copy.what == KAR_UNAUTHORIZED)
		return kar_fail(err, copy.what,
			"%s: %.600s; run %s with the rights that docs/USING.md names below Uninstall", what,
			copy.msg, command);
	if (copy.cause == KAR_CAUSE_CONNECTION)
		return kar_fail(err, copy.what,
			"%s: %.600s; check --kubeconfig and --context, and run %s again", what, copy.msg,
			command);
	return kar_fail(err, copy.what,
		"%s: %.600s; run %s again when that is corrected, it goes on from there", what, copy.msg,
		command);
}

/* What a pod is kept from by. */
static const char *hold(const struct release *r)
{
	return r->o->finalizers ? "the gate " KAR_GATE " or the finalizer " KAR_FINALIZER_POD_TRACKING
				: "the gate " KAR_GATE;
}

static void give_up(struct release *r, const char *what, const struct kar_err *why)
{
	kar_give_up(r->err, r->o->command, what, why);
	finish(r, -1);
}

/* --- the bindings ---------------------------------------------------------------------------------- */

struct binding_wire {
	struct kar_wire_meta meta;
};

struct bindings_wire {
	struct kar_array items; /* struct binding_wire */
};

/* Names what the API server says it has deleted. */
static void report_bindings(const struct release *r, struct kar_str body)
{
	static const struct kar_field binding_fields[] = { KAR_FIELD_SUB(struct binding_wire, meta,
		"metadata", KAR_F_OBJECT, &kar_wire_meta_desc) };
	static const struct kar_desc binding = KAR_DESC(BINDING, struct binding_wire, binding_fields);
	static const struct kar_field list_fields[] = { KAR_FIELD_SUB(struct bindings_wire, items, "items",
		KAR_F_ARRAY, &binding) };
	static const struct kar_desc list = KAR_DESC(BINDING "List", struct bindings_wire, list_fields);
	struct bindings_wire deleted = { 0 };
	struct kar_arena arena = { 0 };

	if (!kar_document_decode(&arena, &list, body, &deleted, NULL)) {
		const struct binding_wire *items = deleted.items.items;

		for (size_t i = 0; i < deleted.items.n; i++)
			fprintf(r->o->out, "Deleted %s %s\n", BINDING,
				items[i].meta.name ? items[i].meta.name : "");
	}
	kar_arena_release(&arena);
}

static void begin_sweeps(struct release *r)
{
	r->ungated = true;
	r->ungated_since = r->progress = kar_loop_mono(r->loop);
	kar_reflector_start(r->reflector);
	kar_timer_start(r->timer, r->o->times->pause);
}

/* An API server without such policies (before Kubernetes 1.36) has none of ours. */
static void bindings_deleted(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct release *r = arg;

	r->deletion = NULL;
	if (err && is_worth_waiting(r, err)) {
		kar_timer_start(r->timer, r->o->times->pause);
		return;
	}
	if (err && err->what != KAR_NOTFOUND) {
		give_up(r, "cannot delete the " BINDING "s with the label " BINDING_LABEL, err);
		return;
	}
	if (answer)
		report_bindings(r, answer->body);
	begin_sweeps(r);
}

static void delete_bindings(struct release *r)
{
	static const struct kar_resource bindings = { "admissionregistration.k8s.io", "v1",
		"mutatingadmissionpolicybindings", BINDING, false };
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf options = { 0 };
	struct kar_request q;

	kar_delete_options(&options, NULL, 0, NULL, -1);
	q = kar_client_deletecollection(&bindings, NULL, BINDING_LABEL,
		(struct kar_str){ options.p, options.n });
	q.replayable = true;
	q.on_done = bindings_deleted;
	q.arg = r;
	r->deletion = kar_client_start(r->client, &q);
}

/* --- the pods -------------------------------------------------------------------------------------- */

static void patch_next(struct release *r);

/* "cannot remove the gate kube-arbitrator.io/gang" */
static void give_up_pods(struct release *r, const char *begin, const struct kar_err *why)
{
	char what[192];

	snprintf(what, sizeof(what), "%s %s", begin, hold(r));
	give_up(r, what, why);
}

/* The gate first: without a gate a pod can start, and only then does it matter who waits for its end. */
static int next_action(const struct release *r, const struct kar_object *o)
{
	if (kar_as_pod(o)->gate_ours)
		return PODSET_UNGATE;
	return r->o->finalizers && kar_as_pod(o)->tracked ? PODSET_RELEASE : 0;
}

/* Of a pod that is gone, or whose name another one has, the next sweep sees what there is. */
static void patched(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct flight *f = arg;
	struct release *r = f->release;

	f->call = NULL;
	kar_object_unref(f->pod);
	f->pod = NULL;
	r->in_flight--;
	if (answer) {
		r->released++;
		r->written = answer->rv > r->written ? answer->rv : r->written;
	} else if (err->cause == KAR_CAUSE_RBAC || err->what == KAR_UNAUTHORIZED) {
		give_up_pods(r, "cannot remove", err);
		return;
	} else if (!r->failed++) {
		r->first = *err;
	}
	patch_next(r);
}

static struct flight *unused_flight(struct release *r)
{
	for (int i = 0; i < IN_FLIGHT; i++) {
		if (!r->flights[i].call)
			return &r->flights[i];
	}
	return NULL;
}

static void start_patch(struct flight *f)
{
	const struct kar_object *o = f->pod;
	const struct kar_action action = { .what = next_action(f->release, o), .uid = o->uid };
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
	bool known = podset_encode(&action, &body);
	struct kar_request q = kar_client_patch(&kar_pod_type.res, o->ns, o->name, KAR_PATCH_STRATEGIC,
		(struct kar_str){ body.p, body.n });

	assert(known);
	(void)known;
	q.replayable = true;
	q.metadata_only = true;
	q.on_done = patched;
	q.arg = f;
	f->release->in_flight++;
	f->call = kar_client_start(f->release->client, &q);
}

static void patch_next(struct release *r)
{
	struct flight *f;

	while (r->n_todo && (f = unused_flight(r)) != NULL) {
		*f = (struct flight){ .release = r, .pod = r->todo[--r->n_todo] };
		start_patch(f);
	}
}

static void collect(struct release *r)
{
	struct kar_iter it = kar_store_all(r->pods);
	const struct kar_object *o;

	free(r->todo);
	r->todo = kar_xcalloc(kar_store_count(r->pods) + 1, sizeof(const struct kar_object *));
	while (kar_iter_next(&it, &o)) {
		if (next_action(r, o))
			r->todo[r->n_todo++] = kar_object_ref(o);
	}
	r->failed = 0;
	r->released_before = r->released;
}

static void report_progress(struct release *r)
{
	kar_time now = kar_loop_mono(r->loop);

	if (now - r->reported < r->o->times->report)
		return;
	r->reported = now;
	fprintf(r->o->out, "Pods released: %zu, to go: %zu\n", r->released, r->n_todo + (size_t)r->in_flight);
	fflush(r->o->out);
}

/* True if the sweep that has ended was one too many without success. */
static bool is_stuck(struct release *r)
{
	r->in_vain = r->failed && r->released == r->released_before ? r->in_vain + 1 : 0;
	if (!r->in_vain)
		r->progress = kar_loop_mono(r->loop);
	return r->in_vain >= SWEEPS_IN_VAIN && !is_worth_waiting(r, &r->first);
}

static void give_up_stuck(struct release *r)
{
	char what[192];

	snprintf(what, sizeof(what), "pods that keep %s: %zu, the first", hold(r), r->failed);
	give_up(r, what, &r->first);
}

/* Everything was released that is known of; is the end reached? */
static void sweep(struct release *r)
{
	if (is_stuck(r)) {
		give_up_stuck(r);
		return;
	}
	collect(r);
	patch_next(r);
	if (r->in_flight || kar_loop_mono(r->loop) - r->ungated_since < r->o->times->settle)
		return;
	fprintf(r->o->out, "Pods released: %zu; none%s%s has %s any more\n", r->released,
		r->o->ns ? " in namespace " : "", r->o->ns ? r->o->ns : "", hold(r));
	finish(r, 0);
}

/* A sweep begins when the cache shows what the one before has written, so that no pod is counted twice. */
static void on_timer(void *arg)
{
	struct release *r = arg;

	if (!r->ungated) {
		delete_bindings(r);
		return;
	}
	kar_timer_start(r->timer, r->o->times->pause);
	if (r->in_flight)
		report_progress(r);
	else if (kar_reflector_synced(r->reflector) && kar_store_rv(r->pods) >= r->written)
		sweep(r);
}

static void on_trouble(void *arg, const struct kar_reflector *reflector, const struct kar_err *err)
{
	(void)reflector;
	if (err && !is_worth_waiting(arg, err)) /* else it is being read again */
		give_up(arg, "cannot read the pods", err);
}

/* --- begin and end --------------------------------------------------------------------------------- */

static void begin(struct release *r)
{
	const struct kar_reflector_options options = { .ns = r->o->ns,
		.field_selector = r->o->finalizers ? NULL : "spec.nodeName=", /* a pod with a gate has none */
		.seed = r->o->seed,
		.on_trouble = on_trouble,
		.arg = r };

	r->strings = kar_intern_new();
	r->pods = kar_store_new(&kar_pod_type, r->strings);
	r->reflector = kar_reflector_new(r->loop, r->client, r->pods, &options);
	r->timer = kar_timer_new(r->loop, on_timer, r);
	r->reported = r->progress = kar_loop_mono(r->loop);
}

static void end(struct release *r)
{
	for (int i = 0; i < IN_FLIGHT; i++) {
		kar_client_cancel(r->client, r->flights[i].call);
		kar_object_unref(r->flights[i].pod);
	}
	while (r->n_todo)
		kar_object_unref(r->todo[--r->n_todo]);
	free(r->todo);
	kar_client_cancel(r->client, r->deletion);
	kar_timer_free(r->timer);
	kar_reflector_free(r->reflector);
	kar_store_free(r->pods);
	kar_intern_free(r->strings);
}

int kar_release_gates(struct kar_loop *l, struct kar_client *client, const struct kar_release_options *o,
	struct kar_err *err)
{
	struct release r = { .loop = l, .client = client, .o = o, .err = err };

	begin(&r);
	if (o->ns)
		begin_sweeps(&r);
	else
		delete_bindings(&r);
	kar_loop_run(l);
	end(&r);
	fflush(o->out);
	return r.result;
}
