/* Requests for resources: is there such a one, and does it take this request; then the server decides. */
#include <ctype.h>
#include <string.h>

#include "sim/apiserver/discovery.h"
#include "sim/apiserver/http_door_impl.h"

/* Groups of custom resources say it in other words. */
static void refuse_unknown(struct sim_door_call *c)
{
	const struct sim_request *rq = &c->route.request;
	struct sim_group_versions l = sim_group_versions_of(c->door->server);
	bool built_in = false;

	for (size_t i = 0; i < l.n; i++)
		built_in |= !l.items[i].custom && !strcmp(l.items[i].group, rq->group) &&
			(!*rq->group || !strcmp(l.items[i].version, rq->version));
	sim_group_versions_release(&l);
	if (built_in)
		sim_door_refuse_path(c);
	else
		sim_door_answer_text(c, 404, "404 page not found\n");
}

static bool takes_verb(const struct sim_resource *r, enum kar_verb verb)
{
	return !r->verbs || (r->verbs & 1u << verb);
}

/* Of all namespaces at once one can only list and watch. */
static bool place_is_wrong(const struct sim_resource *r, const struct sim_request *rq)
{
	bool list = rq->verb == KAR_LIST || rq->verb == KAR_WATCH;

	return r->namespaced ? !rq->ns && !list : rq->ns != NULL;
}

/* Custom resources say it as if the object were missing. */
static void refuse_unknown_subresource(struct sim_door_call *c, const struct sim_resource *r)
{
	struct sim_response refused = { 0 };

	if (!r->custom || !c->route.request.name) {
		sim_door_refuse_path(c);
		return;
	}
	sim_refuse_not_found(&refused, r, c->route.request.name);
	sim_door_answer(c, &refused);
}

static void refuse_subresource_verb(struct sim_door_call *c, const struct sim_resource *r)
{
	char name[SIM_RESOURCE_NAME_MAX];
	struct sim_response refused = { 0 };

	if (!r->custom) {
		sim_door_refuse_method(c);
		return;
	}
	sim_refuse(&refused, 405, "MethodNotAllowed", "%s is not supported on resources of kind \"%s\"",
		kar_verb_name(c->route.request.verb), sim_resource_name(r, name, sizeof(name)));
	sim_set_text(&refused.object, r->group, "details", "group");
	sim_set_text(&refused.object, r->plural, "details", "kind");
	sim_door_answer(c, &refused);
}

static bool subresource_takes(const struct sim_resource *r, const struct sim_request *rq)
{
	const struct sim_subresource *sub;

	if (!strcmp(rq->subresource, "status"))
		return rq->verb == KAR_GET || rq->verb == KAR_UPDATE || rq->verb == KAR_PATCH;
	for (size_t i = 0; (sub = sim_subresource_at(r, i)) != NULL; i++) {
		if (!strcmp(sub->name, rq->subresource))
			return sub->verb == rq->verb;
	}
	return false;
}

/* What a router refuses: false if it was answered. */
static bool route_exists(struct sim_door_call *c, const struct sim_resource *r)
{
	struct sim_request *rq = &c->route.request;
	bool unnamed = !rq->name && (rq->verb == KAR_UPDATE || rq->verb == KAR_PATCH);

	if (place_is_wrong(r, rq)) {
		if (r->custom || rq->name || rq->ns)
			refuse_unknown(c);
		else
			sim_door_refuse_method(c);
		return false;
	}
	if (c->route.rest || (rq->subresource && !sim_resource_has(r, rq->subresource))) {
		refuse_unknown_subresource(c, r);
		return false;
	}
	if (rq->subresource && !subresource_takes(r, rq)) {
		refuse_subresource_verb(c, r);
		return false;
	}
	if (!rq->subresource &&
		(!takes_verb(r, rq->verb) ||
			(!r->custom && (unnamed || (rq->verb == KAR_CREATE && rq->name))))) {
		sim_door_refuse_method(c);
		return false;
	}
	return true;
}

/* ---- forms ---- */

static bool refuse_form(struct sim_door_call *c, const struct sim_resource *r, const struct sim_accept *a)
{
	enum kar_verb verb = c->route.request.verb;
	struct sim_response refused = { 0 };

	if (a->form != SIM_FORM_METADATA || verb == KAR_WATCH || a->list == (verb == KAR_LIST))
		return false;
	if (a->list)
		sim_refuse(&refused, 406, "NotAcceptable",
			"you requested PartialObjectMetadataList, but the requested object is not a list (%s)",
			r->kind);
	else
		sim_refuse(&refused, 406, "NotAcceptable",
			"you requested PartialObjectMetadata, but the requested object is a list (%s)",
			r->custom ? "*unstructured.UnstructuredList" : r->list_kind);
	sim_door_answer(c, &refused);
	return true;
}

static bool include_is_valid(struct sim_door_call *c)
{
	static const char *const allowed[] = { "", "Metadata", "Object", "None" };
	struct sim_request *rq = &c->route.request;
	struct sim_response refused = { 0 };

	rq->include_object = sim_route_parameter(&c->route, "includeObject");
	for (size_t i = 0; i < KAR_LEN(allowed); i++) {
		if (!rq->include_object || !strcmp(rq->include_object, allowed[i]))
			return true;
	}
	sim_refuse_bad_request(&refused,
		"Unable to convert to Table as requested: includeObject: Invalid value: \"%s\": must be 'Metadata', 'Object', 'None', or empty",
		rq->include_object);
	sim_door_answer(c, &refused);
	return false;
}

/* False if it was refused. */
static bool choose_form(struct sim_door_call *c, const struct sim_resource *r)
{
	struct sim_accept accept;

	if (!sim_accept_parse(c->rq->accept, SIM_ACCEPT_OBJECTS, &accept)) {
		sim_door_refuse_accept(c);
		return false;
	}
	if (refuse_form(c, r, &accept))
		return false;
	c->route.request.form = accept.form;
	return accept.form != SIM_FORM_TABLE || include_is_valid(c);
}

/* ---- the request itself ---- */

enum { MANAGER_MAX = 128 };

/* What managedFields call a writer who gives no name: the user agent up to its slash. */
static void default_manager(struct sim_door_call *c)
{
	struct sim_request *rq = &c->route.request;
	const char *agent = c->rq->user_agent;
	char *name;
	size_t n;

	if (!agent || (rq->field_manager && *rq->field_manager))
		return;
	n = strcspn(agent, "/");
	name = kar_arena_strndup(&c->arena, agent, n < MANAGER_MAX ? n : MANAGER_MAX);
	for (char *p = name; *p; p++) {
		if (iscntrl((unsigned char)*p))
			*p = '?';
	}
	rq->field_manager = name;
}

static const char *name_in(const struct sim_response *r)
{
	const char *name = sim_get_text(r->object, "metadata", "name");

	return name ? name : sim_get_text(r->object, "details", "name");
}

static void run(struct sim_door_call *c)
{
	struct sim_audit *audit = sim_audit_new(c);
	struct sim_response r = { 0 };

	sim_apiserver_call(c->door->server, &c->route.request, &r);
	sim_door_learn_token(c, &r);
	sim_audit_end(c->door, audit, r.code, name_in(&r));
	sim_door_answer(c, &r);
}

void sim_door_resource(struct sim_door_call *c)
{
	struct sim_value *tree KAR_CLEANUP(sim_cleanup_value) = NULL;
	struct sim_request *rq = &c->route.request;
	struct sim_resource *r = sim_resource_find(c->door->server, rq->group, rq->version, rq->resource);
	struct sim_response refused = { 0 };

	if (!r || r->unserved) {
		refuse_unknown(c);
		return;
	}
	if (!route_exists(c, r) || !choose_form(c, r))
		return;
	if (!sim_door_body(c, r, &tree, &refused) ||
		!sim_route_options(&c->route, c->rq->body.n > 0, &refused)) {
		sim_audit_end(c->door, sim_audit_new(c), refused.code, NULL);
		sim_door_answer(c, &refused);
		return;
	}
	rq->user = c->user;
	default_manager(c);
	if (rq->verb == KAR_WATCH)
		sim_door_watch(c);
	else
		run(c);
}
