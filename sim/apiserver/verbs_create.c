#include "sim/apiserver/verbs.h"

#include <string.h>

/* The type and the namespace must be there and not on their way out (plug-in NamespaceLifecycle). */
static bool check_life(struct sim_call *c, const struct sim_value *object)
{
	const struct sim_resource *namespaces = sim_resource_find(c->s, "", "v1", "namespaces");
	const char *name = sim_text_or(sim_get(object, "metadata", "name"), "");
	struct sim_version *ns;

	if (c->r->terminating)
		return sim_refuse_forbidden(c->out, c->r, name,
			"create not allowed while custom resource definition is terminating");
	if (!c->r->namespaced || !namespaces)
		return true;
	ns = sim_collection_get(namespaces->objects, NULL, c->rq->ns);
	if (!ns)
		return sim_refuse_not_found(c->out, namespaces, c->rq->ns);
	if (!sim_get(ns->value, "metadata", "deletionTimestamp"))
		return true;
	if (!*name)
		name = sim_text_or(sim_get(object, "metadata", "generateName"), "Unknown");
	sim_refuse_forbidden(c->out, c->r, name,
		"unable to create new content in namespace %s because it is being terminated", c->rq->ns);
	struct sim_value *cause = sim_object(), *causes = sim_array();

	sim_set_text(&cause, "NamespaceTerminating", "reason");
	sim_set(&cause, sim_printf("namespace %s is being terminated", c->rq->ns), "message");
	sim_set_text(&cause, "metadata.namespace", "field");
	sim_append(&causes, cause);
	sim_set(&c->out->object, causes, "details", "causes");
	return false;
}

static bool refuse_taken(struct sim_call *c, const struct sim_value *object, const struct sim_value *there)
{
	const char *name = sim_text_or(sim_get(object, "metadata", "name"), "");
	bool generated = *sim_text_or(sim_get(object, "metadata", "generateName"), "");
	const char *prefix =
		sim_get(there, "metadata", "deletionTimestamp") ? "object is being deleted: " : "";

	sim_refuse_exists(c->out, c->r, name);
	sim_set(&c->out->object,
		sim_printf("%s%s%s", prefix, sim_text_or(sim_member(c->out->object, "message"), ""),
			generated ? ", the server was not able to generate a unique name for the object"
				  : ""),
		"message");
	if (generated)
		sim_set(&c->out->object, sim_int(1), "details", "retryAfterSeconds");
	return false;
}

/* Stores it under its name, if that is free. */
static void store(struct sim_call *c, struct sim_value **object)
{
	const char *name = sim_text_or(sim_get(*object, "metadata", "name"), "");
	const char *ns = c->r->namespaced ? c->rq->ns : NULL;
	const struct sim_version *there = sim_collection_get(c->stored->objects, ns, name);
	const char *rv = sim_text_or(sim_get(*object, "metadata", "resourceVersion"), "");

	if (there) {
		refuse_taken(c, *object, there->value);
	} else if (c->rq->dry_run) {
		sim_answer_value(c->s, c->r, c->rq, 201, *object, c->out);
	} else if (sim_rv_parse(rv) != 0) {
		sim_refuse(c->out, 500, "", "resourceVersion should not be set on objects to be created");
	} else {
		struct sim_value *given = *object;

		*object = NULL;
		sim_answer(c->s, c->r, c->rq, 201, sim_store_commit(c->s, c->stored, c->rq, ns, name, given),
			c->out);
	}
}

void sim_create_object(struct sim_call *c, struct sim_value *consumed, enum sim_origin origin)
{
	struct sim_value *object = consumed;
	struct sim_write w = { .s = c->s, .resource = c->stored, .rq = c->rq, .new = &object };

	sim_meta_dedup_owners(c, &object);
	if (origin != SIM_FROM_APPLY)
		sim_remove(&object, "metadata", "managedFields");
	if (check_life(c, object)) {
		sim_meta_fill(c, &object);
		if (sim_write_pass(c, &w))
			store(c, &object);
	}
	sim_unref(object);
}

void sim_verb_create(struct sim_call *c)
{
	struct sim_value *object = sim_body_object(c);

	if (!object)
		return;
	sim_meta_wipe(&object);
	if (sim_meta_check_place(c, &object))
		sim_create_object(c, object, SIM_FROM_BODY);
	else
		sim_unref(object);
}
