#include "controllers/runtime/executor_wire.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/kube/request.h"

#define FIELD_MANAGER "kar-controllers"

static struct kar_request request_of(const struct kar_action *a, struct kar_str body)
{
	struct kar_request rq;

	switch (a->verb) {
	case KAR_CREATE:
		rq = kar_client_create(&a->type->res, a->ns, body);
		rq.name = a->subresource ? a->name : NULL;
		break;
	case KAR_PATCH:
		rq = kar_client_patch(&a->type->res, a->ns, a->name, a->patch_type, body);
		break;
	case KAR_DELETE:
		rq = kar_client_delete(&a->type->res, a->ns, a->name, body);
		rq.replayable = a->uid != NULL; /* the precondition makes a second one harmless */
		break;
	default:
		assert(a->verb == KAR_GET);
		rq = kar_client_get(&a->type->res, a->ns, a->name);
		break;
	}
	if (a->verb == KAR_CREATE || a->verb == KAR_PATCH)
		rq.field_manager = FIELD_MANAGER;
	rq.subresource = a->subresource;
	rq.dry_run = a->dry_run;
	rq.strict = a->strict;
	return rq;
}

static int encode_body(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *body,
	struct kar_err *err)
{
	if (a->verb == KAR_GET)
		return 0;
	if (a->verb == KAR_DELETE)
		kar_delete_options(body, a->uid, a->rv, "Background", -1);
	else if (s->controller->encode(s, a, body, err))
		return -1;
	if (body->overflow)
		return kar_fail(err, KAR_INVALID, "%s %s %s: %s %s is too large to be sent",
			a->verb == KAR_CREATE ? "create" : "patch", a->type->res.plural, a->name,
			a->type->res.kind, a->name);
	return 0;
}

int kar_executor_action_request(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *body,
	struct kar_request *out, struct kar_err *err)
{
	if (encode_body(s, a, body, err))
		return -1;
	*out = request_of(a, (struct kar_str){ body->p, body->n });
	return 0;
}

struct kar_request kar_executor_status_request(const struct kar_sync *s, struct kar_buf *body)
{
	const struct kar_object *o = s->object;
	const char *subresource = s->controller->encode_status(s, body);
	struct kar_request rq;

	rq = kar_client_patch(&o->type->res, o->ns, o->name, KAR_PATCH_MERGE,
		(struct kar_str){ body->p, body->n });
	rq.subresource = subresource;
	rq.field_manager = FIELD_MANAGER;
	return rq;
}

struct kar_object_ref kar_executor_about(const struct kar_object *o,
	char api_version[KAR_EXECUTOR_API_VERSION])
{
	const struct kar_resource *res = &o->type->res;

	snprintf(api_version, KAR_EXECUTOR_API_VERSION, "%s%s%s", res->group, res->group[0] ? "/" : "",
		res->version);
	return (struct kar_object_ref){ .api_version = api_version,
		.kind = res->kind,
		.ns = o->ns,
		.name = o->name,
		.uid = o->uid };
}

/* Controller ownerReference of the object in the way. */
struct wire_head {
	struct kar_wire_object head;
};
static const struct kar_field head_fields[] = { KAR_WIRE_HEAD_FIELDS(struct wire_head) };
static const struct kar_desc head_desc = KAR_DESC("object", struct wire_head, head_fields);

/* An owner of the same kind and name is a former one: the garbage collector deletes what it owned. */
static int refuse_foreign(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_wire_owner *c, struct kar_err *err)
{
	const char *what = a->type->res.kind, *kind = s->object->type->res.kind;
	const char *owner_kind = c && c->kind ? c->kind : "an object", *owner = c && c->name ? c->name : "";

	if (!c)
		return kar_fail(err, KAR_EXISTS,
			"%s %s exists and was not made for this %s (no owner); delete it, or rename the %s. The %s goes on by itself "
			"then.",
			what, a->name, kind, kind, kind);
	if (strcmp(owner_kind, kind) == 0 && strcmp(owner, s->object->name) == 0)
		return kar_fail(err, KAR_EXISTS,
			"%s %s exists and belongs to a former %s %s; waiting until it is deleted", what,
			a->name, kind, owner);
	return kar_fail(err, KAR_EXISTS,
		"%s %s exists and belongs to %s %s; rename the %s, or delete what has the name. The %s goes on by itself then.",
		what, a->name, owner_kind, owner, kind, kind);
}

static int refuse_unlabelled(const struct kar_sync *s, const struct kar_action *a, struct kar_err *err)
{
	return kar_fail(err, KAR_EXISTS,
		"%s %s of this %s exists already, but without the label %s=%s, by which it is found; add the label or delete the %s",
		a->type->res.kind, a->name, s->object->type->res.kind, a->seen_by, s->object->name,
		a->type->res.kind);
}

int kar_executor_check_own(const struct kar_sync *s, const struct kar_action *a, struct kar_str body,
	struct kar_err *err)
{
	const struct kar_object *owner = s->object;
	struct kar_arena arena = { 0 };
	struct wire_head found = { 0 };
	int rc = kar_document_decode(&arena, &head_desc, body, &found, err);
	const struct kar_wire_owner *c = rc ? NULL : kar_wire_controller(&found.head.meta);

	if (rc == 0 && owner && (!c || !c->uid || strcmp(c->uid, owner->uid)))
		rc = refuse_foreign(s, a, c, err);
	else if (rc == 0 && owner && a->seen_by && !kar_pairs_get(&found.head.meta.labels, a->seen_by))
		rc = refuse_unlabelled(s, a, err);
	kar_arena_release(&arena);
	return rc;
}
