#include "sim/apiserver/http_door_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"

struct sim_door *sim_door_new(struct sim_apiserver *s, const struct sim_door_options *o)
{
	struct sim_door *d = kar_xcalloc(1, sizeof(*d));

	d->server = s;
	d->options = *o;
	d->options.address = kar_xstrdup(o->address);
	d->options.admin_token = NULL;
	d->openapi = sim_openapi_new(sim_apiserver_types(s));
	sim_door_add_token(d, o->admin_token, "kubernetes-admin");
	return d;
}

void sim_door_free(struct sim_door *d)
{
	if (!d)
		return;
	assert(!d->streams);
	for (size_t i = 0; i < d->n_tokens; i++) {
		free(d->tokens[i].text);
		free(d->tokens[i].user);
	}
	free(d->tokens);
	sim_openapi_free(d->openapi);
	free((void *)(uintptr_t)d->options.address);
	free(d);
}

/* ---- answers ---- */

static const char json[] = "application/json", yaml[] = "application/yaml",
		  text_plain[] = "text/plain; charset=utf-8";

/* JSON is YAML: who prefers that gets it under the other name. */
static const char *type_of_document(const struct sim_door_call *c)
{
	struct sim_accept accept;

	return sim_accept_parse(c->rq->accept, SIM_ACCEPT_OBJECTS, &accept) && accept.yaml ? yaml : json;
}

void sim_door_answer(struct sim_door_call *c, struct sim_response *r)
{
	c->out->code = r->code;
	c->out->content_type = type_of_document(c);
	c->out->body.cap = SIZE_MAX;
	sim_response_body(r, &c->out->body);
	kar_buf_puts(&c->out->body, "\n");
	if (r->warning)
		kar_buf_puts(&c->out->warnings, r->warning);
	if (r->code >= 400)
		c->out->retry_after = sim_get_int(r->object, 0, "details", "retryAfterSeconds");
	sim_response_release(r);
}

void sim_door_answer_value(struct sim_door_call *c, struct sim_value *consumed)
{
	struct sim_response r = { .code = 200, .object = consumed };

	sim_door_answer(c, &r);
}

void sim_door_answer_text(struct sim_door_call *c, int code, const char *text)
{
	c->out->code = code;
	c->out->content_type = text_plain;
	kar_buf_puts(&c->out->body, text);
}

void sim_door_tag(struct sim_door_call *c)
{
	uint64_t hash = kar_hash(0, c->out->body.p, c->out->body.n);

	snprintf(c->out->etag, sizeof(c->out->etag), "\"%016" PRIX64 "\"", hash);
	if (c->rq->if_none_match && !strcmp(c->rq->if_none_match, c->out->etag)) {
		c->out->code = 304;
		kar_buf_clear(&c->out->body);
	}
}

static void refuse(struct sim_door_call *c, int code, const char *reason, const char *text)
{
	struct sim_response r = { 0 };

	sim_refuse(&r, code, reason, "%s", text);
	sim_set(&r.object, sim_object(), "details");
	sim_door_answer(c, &r);
}

void sim_door_refuse_path(struct sim_door_call *c)
{
	refuse(c, 404, "NotFound", "the server could not find the requested resource");
}

void sim_door_refuse_method(struct sim_door_call *c)
{
	refuse(c, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

void sim_door_refuse_accept(struct sim_door_call *c)
{
	struct sim_response r = { 0 };

	sim_refuse(&r, 406, "NotAcceptable",
		"only the following media types are accepted: application/json, application/yaml");
	sim_door_answer(c, &r);
}

/* ---- the call ---- */

static void dispatch(struct sim_door_call *c)
{
	struct sim_response refused = { 0 };

	if (!sim_route_parse(&c->arena, c->rq->method, c->rq->target, &c->route, &refused) ||
		!sim_door_authenticate(c, &refused)) {
		sim_door_answer(c, &refused);
		return;
	}
	if (c->rq->too_large) {
		sim_refuse(&refused, 413, "RequestEntityTooLarge", "Request entity too large: limit is %d",
			SIM_HTTP_BODY_MAX);
		sim_door_answer(c, &refused);
		return;
	}
	if (c->route.is_resource)
		sim_door_resource(c);
	else
		sim_door_path(c);
}

void sim_door_call(struct sim_door *d, const struct sim_http_request *rq, void (*notify)(void *arg),
	void *arg, struct sim_http_answer *out)
{
	struct sim_http_request complete = *rq;
	struct sim_door_call c = {
		.door = d,
		.rq = &complete,
		.received = sim_timeline_wall(sim_apiserver_timeline(d->server)),
		.notify = notify,
		.notify_arg = arg,
		.out = out,
	};

	if (!complete.body.p)
		complete.body.p = ""; /* nobody further on has to ask */
	dispatch(&c);
	kar_arena_release(&c.arena);
}

void sim_http_answer_release(struct sim_http_answer *a)
{
	kar_buf_release(&a->body);
	kar_buf_release(&a->warnings);
	sim_http_stream_close(a->stream);
	*a = (struct sim_http_answer){ 0 };
}
