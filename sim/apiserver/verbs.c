#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <string.h>

static bool is_given(const char *text)
{
	return text && *text;
}

/* As the router says it, before any registry knows of the request. */
static bool refuse_route(struct sim_response *out, int code)
{
	if (code == 404)
		sim_refuse(out, 404, "NotFound", "the server could not find the requested resource");
	else
		sim_refuse(out, 405, "MethodNotAllowed",
			"the server does not allow this method on the requested resource");
	sim_status_add_causes(out, NULL);
	return false;
}

/* One object, a collection, or everywhere: each verb has its place. */
static bool check_route(const struct sim_request *rq, const struct sim_resource *r, struct sim_response *out)
{
	bool many = rq->verb == KAR_LIST || rq->verb == KAR_DELETECOLLECTION, create = rq->verb == KAR_CREATE;

	if (r->verbs && !(r->verbs & 1u << rq->verb) && !is_given(rq->subresource))
		return create || rq->verb == KAR_GET || many
			? refuse_route(out, 405)
			: sim_refuse_method(out, r, kar_verb_name(rq->verb));
	if (!many && !create && !is_given(rq->name))
		return refuse_route(out, 405);
	if (create && is_given(rq->name) && !is_given(rq->subresource))
		return refuse_route(out, 405);
	if (r->namespaced && rq->verb != KAR_LIST && !is_given(rq->ns))
		return refuse_route(out, 405);
	return true;
}

static void get(struct sim_call *c)
{
	int64_t rv = sim_rv_parse(c->rq->resource_version);
	struct sim_version *v =
		sim_collection_get(c->stored->objects, c->r->namespaced ? c->rq->ns : NULL, c->rq->name);

	if (rv < 0)
		sim_refuse(c->out, 500, "",
			"resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": invalid syntax",
			c->rq->resource_version, c->rq->resource_version);
	else if (rv > c->s->rv)
		sim_refuse_too_large(c->out, rv, c->s->rv);
	else if (v)
		sim_answer(c->s, c->r, c->rq, 200, v, c->out);
	else
		sim_refuse_not_found(c->out, c->r, c->rq->name);
}

static void serve(struct sim_call *c)
{
	const struct sim_strategy *strategy = c->stored->strategy;

	switch (c->rq->verb) {
	case KAR_GET:
		get(c);
		break;
	case KAR_LIST:
	case KAR_WATCH: /* has a door of its own */
		sim_verb_list(c->s, c->r, c->rq, c->out);
		break;
	case KAR_CREATE:
		if (!strategy || !strategy->create || !strategy->create(c->s, c->r, c->rq, c->out))
			sim_verb_create(c);
		break;
	case KAR_UPDATE:
		sim_verb_update(c);
		break;
	case KAR_PATCH:
		sim_verb_patch(c);
		break;
	case KAR_DELETE:
		if (!strategy || !strategy->delete_ || !strategy->delete_(c->s, c->r, c->rq, c->out))
			sim_verb_delete(c);
		break;
	case KAR_DELETECOLLECTION:
		sim_verb_delete_collection(c);
		break;
	}
}

static void serve_status(struct sim_call *c)
{
	switch (c->rq->verb) {
	case KAR_GET:
		get(c);
		break;
	case KAR_UPDATE:
		sim_verb_update(c);
		break;
	case KAR_PATCH:
		sim_verb_patch(c);
		break;
	default:
		if (c->r->custom)
			sim_refuse_method(c->out, c->r, kar_verb_name(c->rq->verb));
		else
			refuse_route(c->out, 405);
	}
}

static void dispatch(struct sim_call *c)
{
	const struct sim_strategy *strategy = c->stored->strategy;

	if (!is_given(c->rq->subresource))
		serve(c);
	else if (c->r->has_status && sim_call_is_status(c))
		serve_status(c);
	else if (strategy && strategy->subresource && strategy->subresource(c->s, c->r, c->rq, c->out))
		return;
	else if (c->r->custom)
		sim_refuse_not_found(c->out, c->r, c->rq->name);
	else
		refuse_route(c->out, 404);
}

void sim_apiserver_call(struct sim_apiserver *s, const struct sim_request *rq, struct sim_response *out)
{
	struct sim_resource *r = sim_resource_find(s, rq->group ? rq->group : "", rq->version, rq->resource);
	struct sim_call c = { .s = s, .r = r, .rq = rq, .out = out };

	*out = (struct sim_response){ 0 };
	if (!r) {
		refuse_route(out, 404);
		return;
	}
	c.stored = r->stored_as ? r->stored_as : r;
	if (check_route(rq, r, out))
		dispatch(&c);
	if (c.warnings.n)
		out->warning = kar_buf_detach(&c.warnings);
	kar_buf_release(&c.warnings);
}
