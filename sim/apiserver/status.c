#include "sim/apiserver/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { TEXT_MAX = 64 << 10 }; /* of a message: more causes than fit are cut */

static char *text_of(const char *fmt, va_list ap) __attribute__((nonnull(1), format(printf, 1, 0)));

static char *text_of(const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = kar_xmalloc((size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	return text;
}

void sim_cause_add(struct sim_causes *c, const char *reason, const char *field, const char *fmt, ...)
{
	struct sim_cause *added;
	va_list ap;

	if ((c->n & (c->n - 1)) == 0)
		c->items = kar_xrealloc(c->items, c->n ? 2 * c->n : 1, sizeof(*c->items));
	added = &c->items[c->n++];
	added->reason = kar_xstrdup(reason);
	added->field = kar_xstrdup(field);
	va_start(ap, fmt);
	added->message = text_of(fmt, ap);
	va_end(ap);
}

void sim_causes_release(struct sim_causes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->items[i].reason);
		free(c->items[i].message);
		free(c->items[i].field);
	}
	free(c->items);
	*c = (struct sim_causes){ 0 };
}

/* Fills @out with a failure; details are added by the caller. */
static void fail(struct sim_response *out, int code, const char *reason, const char *message)
{
	struct sim_value *status = sim_object();

	sim_set_text(&status, "Status", "kind");
	sim_set_text(&status, "v1", "apiVersion");
	sim_set(&status, sim_object(), "metadata");
	sim_set_text(&status, "Failure", "status");
	sim_set_text(&status, message, "message");
	if (*reason)
		sim_set_text(&status, reason, "reason");
	sim_set(&status, sim_int(code), "code");
	sim_response_release(out);
	*out = (struct sim_response){ .code = code, .object = status };
}

static void add_details(struct sim_response *out, const char *name, const char *group, const char *kind)
{
	struct sim_value *details = sim_object();

	if (name && *name)
		sim_set_text(&details, name, "name");
	if (group && *group)
		sim_set_text(&details, group, "group");
	if (kind && *kind)
		sim_set_text(&details, kind, "kind");
	sim_remove(&out->object, "code"); /* stays the last member, as the API server prints it */
	sim_set(&out->object, details, "details");
	sim_set(&out->object, sim_int(out->code), "code");
}

bool sim_refuse(struct sim_response *out, int code, const char *reason, const char *fmt, ...)
{
	char *message;
	va_list ap;

	va_start(ap, fmt);
	message = text_of(fmt, ap);
	va_end(ap);
	fail(out, code, reason, message);
	free(message);
	return false;
}

bool sim_refuse_not_found(struct sim_response *out, const struct sim_resource *r, const char *name)
{
	char resource[SIM_RESOURCE_NAME_MAX];

	sim_refuse(out, 404, "NotFound", "%s \"%s\" not found",
		sim_resource_name(r, resource, sizeof(resource)), name);
	add_details(out, name, r->group, r->plural);
	return false;
}

bool sim_refuse_exists(struct sim_response *out, const struct sim_resource *r, const char *name)
{
	char resource[SIM_RESOURCE_NAME_MAX];

	sim_refuse(out, 409, "AlreadyExists", "%s \"%s\" already exists",
		sim_resource_name(r, resource, sizeof(resource)), name);
	add_details(out, name, r->group, r->plural);
	return false;
}

bool sim_refuse_conflict(struct sim_response *out, const struct sim_resource *r, const char *name,
	const char *why)
{
	char resource[SIM_RESOURCE_NAME_MAX];

	sim_refuse(out, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
		sim_resource_name(r, resource, sizeof(resource)), name, why);
	add_details(out, name, r->group, r->plural);
	return false;
}

bool sim_refuse_forbidden(struct sim_response *out, const struct sim_resource *r, const char *name,
	const char *fmt, ...)
{
	char resource[SIM_RESOURCE_NAME_MAX];
	char *why;
	va_list ap;

	va_start(ap, fmt);
	why = text_of(fmt, ap);
	va_end(ap);
	sim_resource_name(r, resource, sizeof(resource));
	if (name && *name)
		sim_refuse(out, 403, "Forbidden", "%s \"%s\" is forbidden: %s", resource, name, why);
	else
		sim_refuse(out, 403, "Forbidden", "%s is forbidden: %s", resource, why);
	add_details(out, name, r->group, r->plural);
	free(why);
	return false;
}

bool sim_refuse_bad_request(struct sim_response *out, const char *fmt, ...)
{
	char *message;
	va_list ap;

	va_start(ap, fmt);
	message = text_of(fmt, ap);
	va_end(ap);
	fail(out, 400, "BadRequest", message);
	free(message);
	return false;
}

bool sim_refuse_expired(struct sim_response *out, const char *fmt, ...)
{
	char *message;
	va_list ap;

	va_start(ap, fmt);
	message = text_of(fmt, ap);
	va_end(ap);
	fail(out, 410, "Expired", message);
	free(message);
	return false;
}

bool sim_refuse_method(struct sim_response *out, const struct sim_resource *r, const char *action)
{
	char resource[SIM_RESOURCE_NAME_MAX];

	sim_refuse(out, 405, "MethodNotAllowed", "%s is not supported on resources of kind \"%s\"", action,
		sim_resource_name(r, resource, sizeof(resource)));
	add_details(out, NULL, r->group, r->plural);
	return false;
}

/* True if an earlier cause says the same: messages name it once. */
static bool said_before(const struct sim_causes *c, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(c->items[k].field, c->items[i].field) &&
			!strcmp(c->items[k].message, c->items[i].message))
			return true;
	}
	return false;
}

/* "field: message", or "[a: b, c: d]" for several. */
static void print_causes(const struct sim_causes *c, struct kar_buf *out)
{
	size_t different = 0;

	for (size_t i = 0; i < c->n; i++)
		different += !said_before(c, i);
	if (different > 1)
		kar_buf_puts(out, "[");
	for (size_t i = 0, said = 0; i < c->n; i++) {
		if (!said_before(c, i))
			kar_buf_printf(out, "%s%s: %s", said++ ? ", " : "", c->items[i].field,
				c->items[i].message);
	}
	if (different > 1)
		kar_buf_puts(out, "]");
}

static struct sim_value *causes_value(const struct sim_causes *c)
{
	struct sim_value *list = sim_array();

	for (size_t i = 0; i < c->n; i++) {
		struct sim_value *item = sim_object();

		if (*c->items[i].reason)
			sim_set_text(&item, c->items[i].reason, "reason");
		sim_set_text(&item, c->items[i].message, "message");
		if (*c->items[i].field)
			sim_set_text(&item, c->items[i].field, "field");
		sim_append(&list, item);
	}
	return list;
}

bool sim_refuse_invalid_kind(struct sim_response *out, const char *group, const char *kind, const char *name,
	const struct sim_causes *causes)
{
	struct kar_buf message KAR_CLEANUP(kar_cleanup_buf) = { .cap = TEXT_MAX };

	kar_buf_printf(&message, "%s%s%s \"%s\" is invalid: ", kind, *group ? "." : "", group,
		name ? name : "");
	print_causes(causes, &message);
	fail(out, 422, "Invalid", kar_buf_cstr(&message));
	add_details(out, name, group, kind);
	if (causes->n)
		sim_set(&out->object, causes_value(causes), "details", "causes");
	return false;
}

bool sim_refuse_invalid(struct sim_response *out, const struct sim_resource *r, const char *name,
	const struct sim_causes *causes)
{
	return sim_refuse_invalid_kind(out, r->group, r->kind, name, causes);
}

void sim_status_add_causes(struct sim_response *out, const struct sim_causes *causes)
{
	if (!sim_member(out->object, "details"))
		add_details(out, NULL, NULL, NULL);
	if (causes && causes->n)
		sim_set(&out->object, causes_value(causes), "details", "causes");
}

bool sim_refuse_too_large(struct sim_response *out, int64_t asked, int64_t current)
{
	struct sim_causes cause = { 0 };

	sim_refuse(out, 504, "Timeout", "Timeout: Too large resource version: %lld, current: %lld",
		(long long)asked, (long long)current);
	sim_cause_add(&cause, "ResourceVersionTooLarge", "", "Too large resource version");
	sim_status_add_causes(out, &cause);
	sim_set(&out->object, sim_int(1), "details", "retryAfterSeconds");
	sim_causes_release(&cause);
	return false;
}
