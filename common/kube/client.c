#include "common/kube/client.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/codec/json.h"
#include "common/kube/request.h"

struct kar_call *kar_client_start(struct kar_client *c, const struct kar_request *r)
{
	return c->ops->start(c, r);
}

void kar_client_cancel(struct kar_client *c, struct kar_call *call)
{
	if (call)
		c->ops->cancel(c, call);
}

void kar_client_free(struct kar_client *c)
{
	if (c)
		c->ops->free(c);
}

void kar_client_fence(struct kar_client *c, bool (*may_write)(void *arg), void *arg)
{
	c->may_write = may_write;
	c->may_write_arg = arg;
}

bool kar_client_may_send(const struct kar_client *c, enum kar_verb verb, enum kar_lane lane)
{
	return !c->may_write || lane != KAR_LANE_WRITES || !kar_request_writes(verb) ||
		c->may_write(c->may_write_arg);
}

/* --- requests --- */

struct kar_request kar_client_get(const struct kar_resource *res, const char *ns, const char *name)
{
	return (struct kar_request){ .verb = KAR_GET,
		.res = res,
		.ns = ns,
		.name = name,
		.replayable = true };
}

struct kar_request kar_client_list(const struct kar_resource *res, const char *ns)
{
	return (struct kar_request){ .verb = KAR_LIST, .res = res, .ns = ns, .replayable = true };
}

struct kar_request kar_client_watch(const struct kar_resource *res, const char *ns,
	const char *resource_version)
{
	return (struct kar_request){
		.verb = KAR_WATCH,
		.res = res,
		.ns = ns,
		.resource_version = resource_version,
		.replayable = true,
		.lane = KAR_LANE_WATCHES,
	};
}

struct kar_request kar_client_create(const struct kar_resource *res, const char *ns, struct kar_str body)
{
	return (struct kar_request){ .verb = KAR_CREATE, .res = res, .ns = ns, .body = body };
}

struct kar_request kar_client_update(const struct kar_resource *res, const char *ns, const char *name,
	struct kar_str body)
{
	return (struct kar_request){ .verb = KAR_UPDATE, .res = res, .ns = ns, .name = name, .body = body };
}

struct kar_request kar_client_patch(const struct kar_resource *res, const char *ns, const char *name,
	enum kar_patch_type type, struct kar_str body)
{
	return (struct kar_request){
		.verb = KAR_PATCH,
		.res = res,
		.ns = ns,
		.name = name,
		.patch_type = type,
		.body = body,
		.replayable = type == KAR_PATCH_APPLY, /* server-side apply is idempotent */
	};
}

struct kar_request kar_client_delete(const struct kar_resource *res, const char *ns, const char *name,
	struct kar_str options)
{
	return (struct kar_request){ .verb = KAR_DELETE,
		.res = res,
		.ns = ns,
		.name = name,
		.body = options };
}

struct kar_request kar_client_deletecollection(const struct kar_resource *res, const char *ns,
	const char *label_selector, struct kar_str options)
{
	return (struct kar_request){
		.verb = KAR_DELETECOLLECTION,
		.res = res,
		.ns = ns,
		.label_selector = label_selector,
		.body = options,
	};
}

static void write_preconditions(struct kar_json_writer *w, const char *uid, kar_rv rv)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, rv);
	kar_jw_key(w, "preconditions");
	kar_jw_begin_object(w);
	if (uid)
		kar_jw_kv_string(w, "uid", uid);
	if (rv)
		kar_jw_kv_string(w, "resourceVersion", version);
	kar_jw_end_object(w);
}

void kar_delete_options(struct kar_buf *out, const char *uid, kar_rv rv, const char *propagation,
	int64_t grace_seconds)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "kind", "DeleteOptions");
	kar_jw_kv_string(&w, "apiVersion", "v1");
	if (grace_seconds >= 0)
		kar_jw_kv_int(&w, "gracePeriodSeconds", grace_seconds);
	if (uid || rv)
		write_preconditions(&w, uid, rv);
	if (propagation)
		kar_jw_kv_string(&w, "propagationPolicy", propagation);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

/* --- path and query --- */

/* Percent-encodes everything but RFC 3986's unreserved characters: safe in a path segment and in a query. */
static void put_encoded(struct kar_buf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c < 0x80 && isalnum(c)) || strchr("-._~", c))
			kar_buf_append(out, s, 1);
		else
			kar_buf_printf(out, "%%%02X", c);
	}
}

static void put_segment(struct kar_buf *out, const char *s)
{
	if (!s || !*s)
		return;
	kar_buf_append(out, "/", 1);
	put_encoded(out, s);
}

/* @separator is '?' before the first parameter and '&' afterwards. */
static void put_param(struct kar_buf *out, char *separator, const char *name, const char *value)
{
	if (!value)
		return;
	kar_buf_printf(out, "%c%s=", *separator, name);
	put_encoded(out, value);
	*separator = '&';
}

static void put_int_param(struct kar_buf *out, char *separator, const char *name, int64_t value)
{
	if (value <= 0)
		return;
	kar_buf_printf(out, "%c%s=%lld", *separator, name, (long long)value);
	*separator = '&';
}

static void put_query(struct kar_buf *out, const struct kar_request *r)
{
	/*
	 * A page is of the list's own version: the server refuses version and match beside the token
	 * (KEP-2340).
	 */
	bool next_page = r->continue_token && *r->continue_token;
	char sep = '?';

	put_param(out, &sep, "watch", r->verb == KAR_WATCH ? "true" : NULL);
	put_param(out, &sep, "allowWatchBookmarks", r->bookmarks ? "true" : NULL);
	put_param(out, &sep, "resourceVersion", next_page ? NULL : r->resource_version);
	put_param(out, &sep, "resourceVersionMatch", next_page ? NULL : r->resource_version_match);
	put_param(out, &sep, "labelSelector", r->label_selector);
	put_param(out, &sep, "fieldSelector", r->field_selector);
	put_int_param(out, &sep, "limit", r->limit);
	put_param(out, &sep, "continue", next_page ? r->continue_token : NULL);
	put_int_param(out, &sep, "timeoutSeconds", r->timeout_seconds);
	put_param(out, &sep, "fieldManager", r->field_manager);
	put_param(out, &sep, "force", r->force ? "true" : NULL);
	put_param(out, &sep, "dryRun", r->dry_run ? "All" : NULL);
	put_param(out, &sep, "fieldValidation", r->strict ? "Strict" : NULL);
}

void kar_request_path(const struct kar_request *r, struct kar_buf *out)
{
	bool core = !*r->res->group;

	if (r->path) {
		kar_buf_puts(out, r->path);
		return;
	}
	kar_buf_puts(out, core ? "/api" : "/apis");
	put_segment(out, r->res->group);
	put_segment(out, r->res->version);
	if (r->res->namespaced && r->ns && *r->ns) {
		put_segment(out, "namespaces");
		put_segment(out, r->ns);
	}
	put_segment(out, r->res->plural);
	put_segment(out, r->name);
	put_segment(out, r->subresource);
	put_query(out, r);
}
