#include "sim/apiserver/strategy.h"

#include <string.h>

#include "sim/apiserver/store.h"

static const char own_finalizer[] = "kubernetes", name_label[] = "kubernetes.io/metadata.name";

static bool has_text(const struct sim_value *list, const char *text)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), text))
			return true;
	}
	return false;
}

static void prepare(struct sim_write *w)
{
	struct sim_value *known;

	if (w->old) {
		sim_keep_old(w, "status");
		sim_keep_old(w, "spec");
		return;
	}
	sim_clear_status(w);
	sim_set_text(w->new, "Active", "status", "phase");
	known = sim_get(*w->new, "spec", "finalizers");
	if (has_text(known, own_finalizer))
		return;
	known = known ? sim_ref(known) : sim_array();
	sim_append(&known, sim_string(own_finalizer));
	sim_set(w->new, known, "spec", "finalizers");
}

static void prepare_status(struct sim_write *w)
{
	sim_keep_old(w, "spec");
}

/* Every namespace carries its name as a label. */
static void default_(struct sim_write *w)
{
	const struct sim_value *name = sim_get(*w->new, "metadata", "name");

	if (name && !sim_equal(sim_get(*w->new, "metadata", "labels", name_label), name))
		sim_set(w->new, sim_ref(name), "metadata", "labels", name_label);
}

static void validate(struct sim_write *w)
{
	const char *phase = sim_text_or(sim_get(*w->new, "status", "phase"), "");
	bool deleting = sim_get(*w->new, "metadata", "deletionTimestamp") != NULL;
	const struct sim_at *at = SIM_AT(SIM_AT(NULL, "status"), "phase");

	if (!sim_writes_status(w))
		return;
	if (!deleting && strcmp(phase, "Active") != 0)
		sim_cause_invalid(&w->causes, at, sim_get(*w->new, "status", "phase"),
			"may only be 'Active' if `deletionTimestamp` is empty");
	else if (deleting && strcmp(phase, "Terminating") != 0)
		sim_cause_invalid(&w->causes, at, sim_get(*w->new, "status", "phase"),
			"may only be 'Terminating' if `deletionTimestamp` is not empty");
}

static const char *field(const struct sim_value *ns, const char *name)
{
	return strcmp(name, "status.phase") == 0 ? sim_text_or(sim_get(ns, "status", "phase"), "") : NULL;
}

static bool keep(const struct sim_value *ns)
{
	return sim_count(sim_get(ns, "spec", "finalizers")) > 0;
}

/* ---- deletion: the namespace controller empties it first ---- */

static bool check_precondition(const struct sim_resource *r, const struct sim_value *asked,
	const struct sim_value *is, const char *what, const char *name, struct sim_response *out)
{
	struct sim_value *why;

	if (!asked || sim_equal(asked, is))
		return true;
	why = sim_printf("Precondition failed: %s in precondition: %s, %s in object meta: %s", what,
		sim_text_or(asked, ""), what, sim_text_or(is, ""));
	sim_refuse_conflict(out, r, name, sim_text_or(why, ""));
	sim_unref(why);
	return false;
}

static bool is_protected(const char *name)
{
	return !strcmp(name, "default") || !strcmp(name, "kube-system") || !strcmp(name, "kube-public");
}

/* A namespace that has been emptied goes the way of every object. */
static bool delete_(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct sim_resource *namespaces = sim_resource_find(s, "", "v1", "namespaces");
	struct sim_version *version = sim_collection_get(namespaces->objects, NULL, rq->name);
	struct sim_value *options KAR_CLEANUP(sim_cleanup_value) = NULL, *ns;
	const struct sim_value *wanted;

	if (is_protected(rq->name)) {
		sim_refuse_forbidden(out, r, rq->name, "this namespace may not be deleted");
		return true;
	}
	if (!version || !keep(version->value))
		return false;
	if (rq->object || rq->body.n > 0) {
		options = sim_request_object(rq, out);
		if (!options)
			return true;
	}
	wanted = sim_member(options, "preconditions");
	ns = sim_ref(version->value);
	if (check_precondition(r, sim_member(wanted, "uid"), sim_get(ns, "metadata", "uid"), "UID", rq->name,
		    out) &&
		check_precondition(r, sim_member(wanted, "resourceVersion"),
			sim_get(ns, "metadata", "resourceVersion"), "ResourceVersion", rq->name, out)) {
		if (!sim_get(ns, "metadata", "deletionTimestamp")) {
			sim_set(&ns, sim_time(sim_timeline_wall(sim_apiserver_timeline(s))), "metadata",
				"deletionTimestamp");
			sim_set_text(&ns, "Terminating", "status", "phase");
			if (!rq->dry_run) {
				version = sim_store_commit(s, namespaces, rq, NULL, rq->name, ns);
				ns = sim_ref(version->value);
			}
		}
		*out = (struct sim_response){ .code = 200, .object = sim_ref(ns) };
	}
	sim_unref(ns);
	return true;
}

/* ---- namespaces/finalize: only spec.finalizers change ---- */

static void check_finalizers(struct sim_causes *c, const struct sim_value *list)
{
	const struct sim_at *at = SIM_AT(SIM_AT(NULL, "spec"), "finalizers");

	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_value *name = sim_item(list, i);

		if (sim_check_label_key(sim_text_or(name, "")).n > 0)
			sim_cause_grammar(c, SIM_AT_ITEM(at, i), name, sim_check_label_key);
		else if (!strchr(sim_text(name), '/') && strcmp(sim_text(name), own_finalizer) != 0)
			sim_cause_invalid(c, SIM_AT_ITEM(at, i), name,
				"name is neither a standard finalizer name nor is it fully qualified");
	}
}

static void store_finalized(struct sim_apiserver *s, struct sim_resource *namespaces,
	const struct sim_request *rq, struct sim_value *ns, struct sim_response *out)
{
	bool gone = sim_get(ns, "metadata", "deletionTimestamp") && !keep(ns) &&
		sim_count(sim_get(ns, "metadata", "finalizers")) == 0;
	struct sim_version *version;

	*out = (struct sim_response){ .code = 200 };
	if (rq->dry_run || gone) {
		if (gone && !rq->dry_run)
			sim_store_commit(s, namespaces, rq, NULL, rq->name, NULL);
		out->object = ns;
		return;
	}
	version = sim_store_commit(s, namespaces, rq, NULL, rq->name, ns);
	out->object = sim_ref(version->value);
}

static void finalize(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *body,
	struct sim_response *out)
{
	struct sim_resource *namespaces = sim_resource_find(s, "", "v1", "namespaces");
	struct sim_version *version = sim_collection_get(namespaces->objects, NULL, rq->name);
	const struct sim_value *finalizers = sim_get(body, "spec", "finalizers");
	const char *rv = sim_text_or(sim_get(body, "metadata", "resourceVersion"), "");
	struct sim_causes causes = { 0 };
	struct sim_value *ns;

	check_finalizers(&causes, finalizers);
	if (!version) {
		sim_refuse_not_found(out, namespaces, rq->name);
	} else if (causes.n > 0) {
		sim_refuse_invalid(out, namespaces, rq->name, &causes);
	} else if (*rv &&
		strcmp(rv, sim_text_or(sim_get(version->value, "metadata", "resourceVersion"), "")) != 0) {
		sim_refuse_conflict(out, namespaces, rq->name,
			"the object has been modified; please apply your changes to the "
			"latest version and try again");
	} else {
		ns = sim_ref(version->value);
		if (sim_count(finalizers) > 0)
			sim_set(&ns, sim_ref(finalizers), "spec", "finalizers");
		else
			sim_remove(&ns, "spec", "finalizers");
		store_finalized(s, namespaces, rq, ns, out);
	}
	sim_causes_release(&causes);
}

static bool subresource(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct sim_value *body;

	(void)r;
	if (strcmp(rq->subresource, "finalize") != 0 || rq->verb != KAR_UPDATE)
		return false;
	body = sim_request_object(rq, out);
	if (body)
		finalize(s, rq, body, out);
	sim_unref(body);
	return true;
}

const struct sim_strategy sim_strategy_namespace = {
	.prepare = prepare,
	.prepare_status = prepare_status,
	.default_ = default_,
	.validate = validate,
	.field = field,
	.subresource = subresource,
	.delete_ = delete_,
	.keep = keep,
};
