#include <stdio.h>
#include <string.h>

#include "sim/apiserver/core.h"
#include "sim/apiserver/crd.h"

static const char finalizer[] = "customresourcecleanup.apiextensions.k8s.io";

/* ---- defaults ---- */

static void default_name(struct sim_value **crd, const char *member, struct sim_value *consumed)
{
	if (*sim_text_or(sim_get(*crd, "spec", "names", member), "") ||
		!*sim_text_or(sim_get(*crd, "spec", "names", "kind"), ""))
		sim_unref(consumed);
	else
		sim_set(crd, consumed, "spec", "names", member);
}

static void lower(const char *text, char *out, size_t size)
{
	snprintf(out, size, "%s", text);
	for (char *p = out; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
}

static void default_crd(struct sim_write *w)
{
	const char *kind = sim_text_or(sim_get(*w->new, "spec", "names", "kind"), "");
	struct sim_value *list_kind = sim_printf("%sList", kind);
	char singular[SIM_KEY_MAX];

	lower(kind, singular, sizeof(singular));
	default_name(w->new, "singular", sim_string(singular));
	default_name(w->new, "listKind", list_kind);
	if (!sim_get(*w->new, "spec", "conversion"))
		sim_set_text(w->new, "None", "spec", "conversion", "strategy");
}

/* ---- status and spec apart ---- */

static void prepare(struct sim_write *w)
{
	const struct sim_value *version = sim_item(sim_get(*w->new, "spec", "versions"), 0),
			       *name = sim_member(version, "name");
	struct sim_value *status, *stored;

	if (w->old) {
		sim_set(w->new, sim_ref(sim_member(w->old, "status")), "status");
		return;
	}
	status = sim_object();
	stored = sim_array();
	if (name && sim_bool_of(sim_member(version, "storage"), false))
		sim_append(&stored, sim_ref(name));
	sim_set(&status, sim_null(), "conditions");
	sim_set_text(&status, "", "acceptedNames", "plural");
	sim_set_text(&status, "", "acceptedNames", "kind");
	sim_set(&status, stored, "storedVersions");
	sim_set(w->new, status, "status");
}

static void prepare_status(struct sim_write *w)
{
	struct sim_value *status = sim_ref(sim_member(*w->new, "status")), *new = sim_ref(w->old);

	if (status)
		sim_set(&new, status, "status");
	sim_unref(*w->new);
	*w->new = new;
}

/* ---- deletion ---- */

/* The first delete only marks it: its objects have to go before. */
static bool delete_(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct sim_resource *served = sim_resource_find(s, r->group, r->version, r->plural);
	struct sim_version *old = sim_collection_get(r->objects, NULL, rq->name);
	kar_time now = sim_timeline_wall(s->timeline);

	if (!old || sim_get(old->value, "metadata", "deletionTimestamp"))
		return false;
	struct sim_value *new = sim_ref(old->value);
	const struct sim_value *known = sim_get(new, "metadata", "finalizers");
	struct sim_value *finalizers = known ? sim_ref(known) : sim_array();

	sim_append(&finalizers, sim_string(finalizer));
	sim_set(&new, finalizers, "metadata", "finalizers");
	sim_set(&new, sim_time(now), "metadata", "deletionTimestamp");
	sim_crd_condition(&new, "Terminating", "True", "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon", now);
	if (rq->dry_run) {
		sim_answer_value(s, r, rq, 200, new, out);
		sim_unref(new);
	} else {
		sim_answer(s, r, rq, 200, sim_store_commit(s, served, rq, NULL, rq->name, new), out);
	}
	return true;
}

static void committed(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_value *old,
	const struct sim_value *new)
{
	(void)r;
	sim_crds_changed(s->crds, old, new);
}

const struct sim_strategy sim_strategy_crd = {
	.prepare = prepare,
	.prepare_status = prepare_status,
	.default_ = default_crd,
	.validate = sim_crd_validate,
	.delete_ = delete_,
	.committed = committed,
};
