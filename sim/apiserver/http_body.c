/* What clients send: JSON, YAML, protobuf and patches, brought into the one form the server reads. */
#include <ctype.h>
#include <string.h>

#include "common/codec/yaml.h"
#include "sim/apiserver/http_door_impl.h"

static bool refuse_type(struct sim_response *refused, const char *accepted)
{
	return sim_refuse(refused, 415, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: %s",
		accepted);
}

static bool refuse_object_type(struct sim_response *refused)
{
	return refuse_type(refused,
		"application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

static bool refuse_patch_type(const struct sim_resource *r, struct sim_response *refused)
{
	if (r->custom)
		return refuse_type(refused,
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
	sim_refuse(refused, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
	sim_set(&refused->object, sim_object(), "details");
	return false;
}

static bool looks_like_json(struct kar_str s)
{
	while (s.n && isspace((unsigned char)*s.p)) {
		s.p++;
		s.n--;
	}
	return s.n && (*s.p == '{' || *s.p == '[');
}

/* The first YAML document as JSON text in the arena. */
static bool take_yaml(struct sim_door_call *c, struct sim_response *refused)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { .cap = 2 * (size_t)SIM_HTTP_BODY_MAX };
	struct kar_err err = { 0 };

	if (looks_like_json(c->rq->body)) {
		c->route.request.body = c->rq->body;
		return true;
	}
	if (kar_yaml_to_json(c->rq->body.p, c->rq->body.n, 0, &text, &err) < 0)
		return sim_refuse_bad_request(refused, "error converting YAML to JSON: %s", err.msg);
	c->route.request.body =
		(struct kar_str){ kar_arena_strndup(&c->arena, kar_buf_cstr(&text), text.n), text.n };
	return true;
}

static bool take_protobuf(struct sim_door_call *c, struct sim_value **tree, struct sim_response *refused)
{
	struct kar_err err = { 0 };

	*tree = sim_types_from_protobuf(sim_apiserver_types(c->door->server), c->rq->body.p, c->rq->body.n,
		&err);
	if (!*tree)
		return sim_refuse_bad_request(refused, "%s", err.msg);
	c->route.request.object = *tree;
	return true;
}

static bool take_object(struct sim_door_call *c, struct sim_value **tree, struct sim_response *refused)
{
	switch (sim_content_parse(c->rq->content_type)) {
	case SIM_CONTENT_JSON:
		c->route.request.body = c->rq->body;
		return true;
	case SIM_CONTENT_YAML:
		return take_yaml(c, refused);
	case SIM_CONTENT_PROTOBUF:
		return take_protobuf(c, tree, refused);
	default:
		return refuse_object_type(refused);
	}
}

static bool take_patch(struct sim_door_call *c, const struct sim_resource *r, struct sim_response *refused)
{
	struct sim_request *rq = &c->route.request;

	rq->body = c->rq->body;
	switch (sim_content_parse(c->rq->content_type)) {
	case SIM_CONTENT_JSON_PATCH:
		rq->patch_type = KAR_PATCH_JSON;
		return true;
	case SIM_CONTENT_MERGE_PATCH:
		rq->patch_type = KAR_PATCH_MERGE;
		return true;
	case SIM_CONTENT_STRATEGIC_PATCH:
		rq->patch_type = KAR_PATCH_STRATEGIC;
		return !r->custom || refuse_patch_type(r, refused);
	case SIM_CONTENT_APPLY:
		rq->patch_type = KAR_PATCH_APPLY;
		return take_yaml(c, refused);
	default:
		return refuse_patch_type(r, refused);
	}
}

bool sim_door_body(struct sim_door_call *c, const struct sim_resource *r, struct sim_value **tree,
	struct sim_response *refused)
{
	switch (c->route.request.verb) {
	case KAR_CREATE:
	case KAR_UPDATE:
		return take_object(c, tree, refused);
	case KAR_DELETE:
	case KAR_DELETECOLLECTION:
		return !c->rq->body.n || take_object(c, tree, refused);
	case KAR_PATCH:
		return take_patch(c, r, refused);
	default:
		return true;
	}
}
