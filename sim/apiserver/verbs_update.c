#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <string.h>

static const char modified[] =
	"the object has been modified; please apply your changes to the latest version and try again";

/* Where etcd keeps the objects of a resource: error texts of preconditions name it. */
static void storage_key(const struct sim_call *c, const char *name, char *out, size_t size)
{
	static const struct {
		const char *group, *plural, *folder;
	} odd[] = {
		{ "", "nodes", "minions" },
		{ "", "services", "services/specs" },
		{ "", "endpoints", "services/endpoints" },
		{ "networking.k8s.io", "ingresses", "ingress" },
		{ "apiextensions.k8s.io", "customresourcedefinitions",
			"apiextensions.k8s.io/customresourcedefinitions" },
	};
	const struct sim_resource *r = c->stored;
	const char *folder = r->plural, *group = r->custom ? r->group : "";

	for (size_t i = 0; i < KAR_LEN(odd); i++) {
		if (!strcmp(odd[i].group, r->group) && !strcmp(odd[i].plural, r->plural))
			folder = odd[i].folder;
	}
	snprintf(out, size, "/registry/%s%s%s/%s%s%s", group, *group ? "/" : "", folder,
		r->namespaced ? c->rq->ns : "", r->namespaced ? "/" : "", name);
}

bool sim_refuse_uid(struct sim_call *c, const char *name, const char *asked, const char *uid)
{
	char key[2 * SIM_KEY_MAX], why[4 * SIM_KEY_MAX];

	storage_key(c, name, key, sizeof(key));
	snprintf(why, sizeof(why),
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
		"precondition: %s, UID in object meta: %s",
		key, asked, uid);
	return sim_refuse_conflict(c->out, c->r, name, why);
}

/* ---- versions ---- */

static bool check_version(struct sim_call *c, const struct sim_version *old, struct sim_value **new)
{
	const char *text = sim_text_or(sim_get(*new, "metadata", "resourceVersion"), "");
	int64_t rv = sim_rv_parse(text);
	struct sim_causes causes = { 0 };

	if (rv < 0)
		return sim_refuse(c->out, 500, "", "strconv.ParseUint: parsing \"%s\": invalid syntax", text);
	if (rv == old->rv)
		return true;
	if (rv != 0)
		return sim_refuse_conflict(c->out, c->r, c->rq->name, modified);
	if (!c->stored->needs_version) {
		sim_set(new, sim_ref(sim_get(old->value, "metadata", "resourceVersion")), "metadata",
			"resourceVersion");
		return true;
	}
	sim_cause_add(&causes, "FieldValueInvalid", "metadata.resourceVersion",
		"Invalid value: 0: must be specified for an update");
	sim_refuse_invalid_kind(c->out, c->r->group, c->r->plural, c->rq->name, &causes);
	sim_causes_release(&causes);
	return false;
}

/* Sets metadata.@key of *@new to what it is in @old, if @old has it. */
static void keep(struct sim_value **new, const struct sim_value *old, const char *key)
{
	const struct sim_value *v = sim_get(old, "metadata", key), *now = sim_get(*new, "metadata", key);

	if (v && v != now)
		sim_set(new, sim_ref(v), "metadata", key);
}

/* What an update can never change, and what it need not repeat. */
static void keep_system_fields(struct sim_value **new, const struct sim_value *old)
{
	if (sim_member(*new, "metadata") == sim_member(old, "metadata"))
		return;
	if (!sim_get(old, "metadata", "generation"))
		sim_remove(new, "metadata", "generation");
	keep(new, old, "generation");
	if (!*sim_text_or(sim_get(*new, "metadata", "uid"), ""))
		keep(new, old, "uid");
	keep(new, old, "creationTimestamp");
	keep(new, old, "deletionTimestamp");
	if (sim_kind(sim_get(*new, "metadata", "deletionGracePeriodSeconds")) <= SIM_NULL)
		keep(new, old, "deletionGracePeriodSeconds");
	sim_remove(new, "metadata", "selfLink");
}

/* ---- what becomes of it ---- */

/* The last finalizer of an object that is being deleted was taken away. */
static bool is_released(const struct sim_call *c, const struct sim_value *old, const struct sim_value *new)
{
	const struct sim_strategy *strategy = c->stored->strategy;

	if (!sim_get(old, "metadata", "deletionTimestamp") ||
		sim_count(sim_get(new, "metadata", "finalizers")) > 0)
		return false;
	if (sim_get_int(old, 0, "metadata", "deletionGracePeriodSeconds") != 0)
		return false;
	return !strategy || !strategy->keep || !strategy->keep(new);
}

static void settle(struct sim_call *c, struct sim_version *old, struct sim_value **new)
{
	const char *ns = c->r->namespaced ? c->rq->ns : NULL;
	struct sim_value *given = *new;

	if (is_released(c, old->value, given)) {
		sim_answer_value(c->s, c->r, c->rq, 200, given, c->out);
		if (!c->rq->dry_run)
			sim_store_commit(c->s, c->stored, c->rq, ns, c->rq->name, NULL);
	} else if (sim_equal(old->value, given)) { /* a write that changes nothing is none */
		sim_answer(c->s, c->r, c->rq, 200, old, c->out);
	} else if (c->rq->dry_run) {
		sim_answer_value(c->s, c->r, c->rq, 200, given, c->out);
	} else {
		*new = NULL;
		sim_answer(c->s, c->r, c->rq, 200,
			sim_store_commit(c->s, c->stored, c->rq, ns, c->rq->name, given), c->out);
	}
}

void sim_update_object(struct sim_call *c, struct sim_version *old, struct sim_value *consumed,
	enum sim_origin origin)
{
	struct sim_value *object = consumed;
	struct sim_write w = { .s = c->s,
		.resource = c->stored,
		.rq = c->rq,
		.old = old->value,
		.new = &object };

	sim_version_ref(old);
	if (check_version(c, old, &object)) {
		keep_system_fields(&object, old->value);
		sim_meta_dedup_owners(c, &object);
		if (sim_write_pass(c, &w)) {
			if (origin != SIM_FROM_APPLY)
				sim_write_track(c, old->value, &object);
			sim_write_keep_times(old->value, &object);
			settle(c, old, &object);
		}
	}
	sim_version_unref(old);
	sim_unref(object);
}

/* ---- PUT ---- */

/* There is nothing yet: some types are created by an update. */
static void create_missing(struct sim_call *c, struct sim_value *consumed)
{
	const char *uid = sim_text_or(sim_get(consumed, "metadata", "uid"), "");
	struct sim_value *object = consumed;

	if (!c->stored->create_on_update || c->rq->subresource) {
		sim_refuse_not_found(c->out, c->r, c->rq->name);
	} else if (*uid) {
		sim_refuse_uid(c, c->rq->name, uid, "");
	} else {
		sim_meta_wipe(&object);
		sim_remove(&object, "metadata", "resourceVersion");
		sim_create_object(c, object, SIM_FROM_BODY);
		return;
	}
	sim_unref(object);
}

static void update(struct sim_call *c, struct sim_value *consumed)
{
	struct sim_version *old =
		sim_collection_get(c->stored->objects, c->r->namespaced ? c->rq->ns : NULL, c->rq->name);
	const char *asked = sim_text_or(sim_get(consumed, "metadata", "uid"), ""), *uid;

	if (!old) {
		create_missing(c, consumed);
		return;
	}
	uid = sim_text_or(sim_get(old->value, "metadata", "uid"), "");
	if (!*asked || !strcmp(asked, uid)) {
		sim_update_object(c, old, consumed, SIM_FROM_BODY);
		return;
	}
	sim_refuse_uid(c, c->rq->name, asked, uid);
	sim_unref(consumed);
}

void sim_verb_update(struct sim_call *c)
{
	struct sim_value *object = sim_body_object(c);

	if (!object)
		return;
	if (sim_meta_check_place(c, &object) && sim_meta_check_name(c, object))
		update(c, object);
	else
		sim_unref(object);
}
