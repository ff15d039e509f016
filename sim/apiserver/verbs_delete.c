#include "sim/apiserver/verbs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/timefmt.h"

/* metav1.DeleteOptions, from the body or, if there is none, from the query. */
struct options {
	const char *propagation;   /* NULL: not given */
	const char *uid, *version; /* preconditions; NULL: none */
	int64_t grace;             /* -1: not given */
	int orphan;                /* orphanDependents: -1 not given, 0, 1 */
	bool dry_run;
};

/* ---- options ---- */

static bool check_members(struct sim_call *c, const struct sim_value *body)
{
	static const struct {
		const char *name;
		enum sim_kind kind;
		const char *go;
	} members[] = {
		{ "gracePeriodSeconds", SIM_INT, "int64" },
		{ "preconditions", SIM_OBJECT, "v1.Preconditions" },
		{ "orphanDependents", SIM_BOOL, "bool" },
		{ "propagationPolicy", SIM_STRING, "v1.DeletionPropagation" },
		{ "dryRun", SIM_ARRAY, "[]string" },
	};

	for (size_t i = 0; i < KAR_LEN(members); i++) {
		const struct sim_value *v = sim_member(body, members[i].name);

		if (sim_kind(v) > SIM_NULL && sim_kind(v) != members[i].kind)
			return sim_refuse_bad_request(c->out,
				"json: cannot unmarshal %s into Go struct field DeleteOptions.%s of type %s",
				sim_body_kind_name(v), members[i].name, members[i].go);
	}
	return true;
}

static bool check_body(struct sim_call *c, const struct sim_value *body)
{
	const char *kind = sim_text_or(sim_member(body, "kind"), "");

	if (!*kind || !strcmp(kind, "DeleteOptions"))
		return check_members(c, body);
	return sim_refuse_bad_request(c->out,
		"no kind \"%s\" is registered for version \"%s\" in scheme \"pkg/runtime/scheme.go:111\"",
		kind, sim_text_or(sim_member(body, "apiVersion"), ""));
}

static void unsupported_dry_run(const struct sim_value *list, struct sim_causes *causes)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), "All"))
			continue;
		sim_print(list, &json);
		sim_cause_add(causes, "FieldValueNotSupported", "dryRun",
			"Unsupported value: %s: supported values: \"All\"", kar_buf_cstr(&json));
		return;
	}
}

static bool check_options(struct sim_call *c, const struct options *o, const struct sim_value *body)
{
	const char *policy = o->propagation;
	struct sim_causes causes = { 0 };

	if (o->orphan >= 0 && policy)
		sim_cause_add(&causes, "FieldValueInvalid", "propagationPolicy",
			"Invalid value: \"%s\": orphanDependents and deletionPropagation cannot be both set",
			policy);
	if (policy && strcmp(policy, "Foreground") != 0 && strcmp(policy, "Background") != 0 &&
		strcmp(policy, "Orphan") != 0)
		sim_cause_add(&causes, "FieldValueNotSupported", "propagationPolicy",
			"Unsupported value: \"%s\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
			policy);
	unsupported_dry_run(sim_member(body, "dryRun"), &causes);
	if (!causes.n)
		return true;
	sim_refuse_invalid_kind(c->out, "meta.k8s.io", "DeleteOptions", "", &causes);
	sim_causes_release(&causes);
	return false;
}

static void take_body(const struct sim_value *body, struct options *o)
{
	const struct sim_value *orphan = sim_member(body, "orphanDependents");

	o->propagation = sim_text(sim_member(body, "propagationPolicy"));
	o->uid = sim_get_text(body, "preconditions", "uid");
	o->version = sim_get_text(body, "preconditions", "resourceVersion");
	o->grace = sim_int_of(sim_member(body, "gracePeriodSeconds"), -1);
	if (o->grace < 0 && sim_kind(sim_member(body, "gracePeriodSeconds")) == SIM_INT)
		o->grace = 1; /* negative ones mean this */
	o->orphan = sim_kind(orphan) == SIM_BOOL ? sim_bool_of(orphan, false) : -1;
	o->dry_run |= sim_count(sim_member(body, "dryRun")) > 0;
}

/* @body: NULL if there is none; what @o says is borrowed from it. */
static bool read_options(struct sim_call *c, const struct sim_value *body, struct options *o)
{
	const struct sim_request *rq = c->rq;

	*o = (struct options){ .grace = -1, .orphan = -1, .dry_run = rq->dry_run };
	if (body) {
		if (!check_body(c, body))
			return false;
		take_body(body, o);
	} else {
		o->propagation =
			rq->propagation_policy && *rq->propagation_policy ? rq->propagation_policy : NULL;
		if (rq->has_grace)
			o->grace = rq->grace_period_seconds >= 0 ? rq->grace_period_seconds : 1;
	}
	return check_options(c, o, body);
}

static bool has_body(const struct sim_request *rq)
{
	return rq->object || rq->body.n > 0;
}

/* ---- preconditions ---- */

/* The early check of the registry names the kind where other conflicts name the resource. */
static bool check_preconditions(struct sim_call *c, const struct options *o, const struct sim_value *object)
{
	const char *uid = sim_text_or(sim_get(object, "metadata", "uid"), "");
	const char *rv = sim_text_or(sim_get(object, "metadata", "resourceVersion"), "");
	const struct sim_resource named = { .group = c->r->group, .plural = c->r->kind };
	struct kar_buf why KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (o->uid && strcmp(o->uid, uid) != 0)
		kar_buf_printf(&why,
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "
			"deleted and then recreated",
			o->uid, uid);
	else if (o->version && strcmp(o->version, rv) != 0)
		kar_buf_printf(&why,
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "
			"The object might have been modified",
			o->version, rv);
	return !why.n ||
		sim_refuse_conflict(c->out, &named, sim_text_or(sim_get(object, "metadata", "name"), ""),
			kar_buf_cstr(&why));
}

/* ---- finalizers of the garbage collector ---- */

static bool is_for_collector(const char *finalizer)
{
	return !strcmp(finalizer, "orphan") || !strcmp(finalizer, "foregroundDeletion");
}

/* The one that the options ask for; else the one that is there; NULL: none. */
static const char *wanted_finalizer(const struct options *o, const struct sim_value *finalizers)
{
	if (o->orphan >= 0)
		return o->orphan ? "orphan" : NULL;
	if (o->propagation && !strcmp(o->propagation, "Background"))
		return NULL;
	if (o->propagation)
		return !strcmp(o->propagation, "Orphan") ? "orphan" : "foregroundDeletion";
	for (size_t i = 0; i < sim_count(finalizers); i++) {
		const char *name = sim_text_or(sim_item(finalizers, i), "");

		if (is_for_collector(name))
			return name;
	}
	return NULL;
}

static bool contains(const struct sim_value *list, const char *text)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), text))
			return true;
	}
	return false;
}

static void set_finalizers(const struct sim_call *c, const struct options *o, struct sim_value **object)
{
	struct sim_value *before KAR_CLEANUP(sim_cleanup_value) =
		sim_ref(sim_get(*object, "metadata", "finalizers"));
	const char *wanted = c->stored->no_dependents ? NULL : wanted_finalizer(o, before);
	struct sim_value *after = sim_array();

	for (size_t i = 0; i < sim_count(before); i++) {
		if (!is_for_collector(sim_text_or(sim_item(before, i), "")))
			sim_append(&after, sim_ref(sim_item(before, i)));
	}
	if (wanted)
		sim_append(&after, sim_string(wanted));
	if (sim_count(after) == sim_count(before) && (!wanted || contains(before, wanted))) {
		sim_unref(after);
	} else if (sim_count(after)) {
		sim_set(object, after, "metadata", "finalizers");
	} else {
		sim_unref(after);
		sim_remove(object, "metadata", "finalizers");
	}
}

/* ---- how gracefully ---- */

enum grace { AT_ONCE, GRACEFUL, PENDING /* a deletion that is under way and is not shortened */ };

static void stamp(struct sim_value **object, kar_time at, int64_t grace)
{
	int64_t generation = sim_get_int(*object, 0, "metadata", "generation");

	if (!sim_get(*object, "metadata", "deletionTimestamp") && generation > 0)
		sim_set(object, sim_int(generation + 1), "metadata", "generation");
	sim_set(object, sim_time(at), "metadata", "deletionTimestamp");
	sim_set(object, sim_int(grace), "metadata", "deletionGracePeriodSeconds");
}

/* @object is being deleted already: only a shorter time may be asked for. */
static enum grace shorten(struct sim_call *c, const struct options *o, struct sim_value **object,
	int64_t *period)
{
	int64_t before = sim_get_int(*object, 0, "metadata", "deletionGracePeriodSeconds");
	kar_time now = sim_timeline_wall(c->s->timeline), at = now;

	if (before == 0)
		return AT_ONCE;
	if (o->grace < 0 || o->grace >= before)
		return PENDING;
	kar_time_parse(sim_text_or(sim_get(*object, "metadata", "deletionTimestamp"), ""), &at);
	at += (o->grace - before) * KAR_SECOND;
	*period = o->grace;
	if (at < now) {
		at = now;
		*period = o->grace ? 1 : 0;
	}
	stamp(object, at, *period);
	return GRACEFUL;
}

static enum grace begin(struct sim_call *c, const struct options *o, const struct sim_value *old,
	struct sim_value **object, int64_t *period)
{
	const struct sim_strategy *strategy = c->stored->strategy;
	struct sim_write w = { .s = c->s, .resource = c->stored, .rq = c->rq, .old = old, .new = object };

	if (!strategy || !strategy->grace)
		return AT_ONCE;
	if (sim_get(old, "metadata", "deletionTimestamp"))
		return shorten(c, o, object, period);
	*period = strategy->grace(&w, o->grace);
	stamp(object, sim_timeline_wall(c->s->timeline) + *period * KAR_SECOND, *period);
	return GRACEFUL;
}

/* ---- answers ---- */

static void answer_status(struct sim_call *c, const struct sim_value *object)
{
	struct sim_value *status = sim_form_typed("Status", "v1"), *details = sim_object();

	sim_set(&status, sim_object(), "metadata");
	sim_set_text(&status, "Success", "status");
	sim_set(&details, sim_ref(sim_get(object, "metadata", "name")), "name");
	if (*c->r->group)
		sim_set_text(&details, c->r->group, "group");
	sim_set_text(&details, c->r->plural, "kind");
	sim_set(&details, sim_ref(sim_get(object, "metadata", "uid")), "uid");
	sim_set(&status, details, "details");
	c->out->code = 200;
	c->out->object = status;
}

static void answer_gone(struct sim_call *c, struct sim_version *v, const struct sim_value *object)
{
	if (!c->stored->returns_deleted)
		answer_status(c, object);
	else if (v)
		sim_answer(c->s, c->r, c->rq, 200, v, c->out);
	else
		sim_answer_value(c->s, c->r, c->rq, 200, object, c->out);
}

/* ---- one object ---- */

static struct sim_version *commit(struct sim_call *c, const struct sim_value *object, bool gone)
{
	return sim_store_commit(c->s, c->stored, c->rq, c->r->namespaced ? c->rq->ns : NULL, c->rq->name,
		gone ? NULL : sim_ref(object));
}

/* It stays for now: somebody has to do something first. */
static void mark(struct sim_call *c, const struct options *o, struct sim_version *old,
	const struct sim_value *object)
{
	assert(object);
	if (sim_equal(old->value, object))
		sim_answer(c->s, c->r, c->rq, 200, old, c->out);
	else if (o->dry_run)
		sim_answer_value(c->s, c->r, c->rq, 200, object, c->out);
	else
		sim_answer(c->s, c->r, c->rq, 200, commit(c, object, false), c->out);
}

static bool stays(const struct sim_call *c, const struct sim_value *object)
{
	const struct sim_strategy *strategy = c->stored->strategy;

	return sim_count(sim_get(object, "metadata", "finalizers")) > 0 ||
		(strategy && strategy->keep && strategy->keep(object));
}

/* Has finalizers, and a type that knows no grace: the time is now. */
static void mark_at_once(struct sim_call *c, const struct options *o, struct sim_version *old,
	struct sim_value **object)
{
	kar_time now = sim_timeline_wall(c->s->timeline), at = KAR_NEVER;
	const char *known = sim_text(sim_get(*object, "metadata", "deletionTimestamp"));

	if (known)
		kar_time_parse(known, &at);
	if (!known || at > now)
		stamp(object, now, 0);
	else if (sim_get_int(*object, -1, "metadata", "deletionGracePeriodSeconds") != 0)
		sim_set(object, sim_int(0), "metadata", "deletionGracePeriodSeconds");
	mark(c, o, old, *object);
}

static void remove_now(struct sim_call *c, const struct options *o, struct sim_version *old,
	const struct sim_value *object, enum grace grace)
{
	if (o->dry_run) {
		if (grace == GRACEFUL)
			sim_answer_value(c->s, c->r, c->rq, 200, object, c->out);
		else
			answer_gone(c, old, old->value);
		return;
	}
	/* What is deleted gracefully is first seen with its deletionTimestamp. */
	if (grace == GRACEFUL && !sim_equal(old->value, object))
		commit(c, object, false);
	struct sim_version *last = commit(c, object, true);

	answer_gone(c, last, last->value);
}

static void delete_one(struct sim_call *c, struct sim_version *old, const struct options *o)
{
	struct sim_value *object = sim_ref(old->value);
	int64_t period = 0;
	enum grace grace = begin(c, o, old->value, &object, &period);

	sim_version_ref(old);
	if (grace == PENDING) {
		answer_gone(c, old, old->value);
	} else {
		set_finalizers(c, o, &object);
		if (stays(c, object) && grace == AT_ONCE)
			mark_at_once(c, o, old, &object);
		else if (stays(c, object) || period > 0)
			mark(c, o, old, object);
		else
			remove_now(c, o, old, object, grace);
	}
	sim_version_unref(old);
	sim_unref(object);
}

static void delete_named(struct sim_call *c, const struct options *o)
{
	struct sim_version *old =
		sim_collection_get(c->stored->objects, c->r->namespaced ? c->rq->ns : NULL, c->rq->name);

	if (!old)
		sim_refuse_not_found(c->out, c->r, c->rq->name);
	else if (check_preconditions(c, o, old->value))
		delete_one(c, old, o);
}

void sim_verb_delete(struct sim_call *c)
{
	struct sim_value *body KAR_CLEANUP(sim_cleanup_value) = NULL;
	struct options o;

	if (has_body(c->rq)) {
		body = sim_body_json(c);
		if (!body)
			return;
	}
	if (!read_options(c, body, &o))
		return;
	delete_named(c, &o);
}

/* ---- many ---- */

/* Deletes one item of the list; false if that failed for another reason than that it is gone. */
static bool delete_item(struct sim_call *c, const struct sim_value *item)
{
	struct sim_request rq = *c->rq;
	struct sim_response out;

	rq.verb = KAR_DELETE;
	rq.ns = sim_text(sim_get(item, "metadata", "namespace"));
	rq.name = sim_text(sim_get(item, "metadata", "name"));
	rq.form = SIM_FORM_OBJECT;
	sim_apiserver_call(c->s, &rq, &out);
	if (out.code < 400 || out.code == 404) {
		sim_response_release(&out);
		return true;
	}
	sim_response_release(c->out);
	*c->out = out;
	return false;
}

void sim_verb_delete_collection(struct sim_call *c)
{
	struct sim_value *body KAR_CLEANUP(sim_cleanup_value) = NULL, *items;
	struct sim_request list = *c->rq;
	struct options o;

	if (has_body(c->rq)) {
		body = sim_body_json(c);
		if (!body)
			return;
	}
	if (!read_options(c, body, &o))
		return;
	list.form = SIM_FORM_OBJECT;
	sim_verb_list(c->s, c->r, &list, c->out);
	if (c->out->code != 200)
		return;
	items = sim_ref(sim_member(c->out->object, "items"));
	for (size_t i = 0; i < sim_count(items); i++) {
		if (!delete_item(c, sim_item(items, i)))
			break;
	}
	sim_unref(items);
}
