/* The query of a request as metav1.ListOptions, CreateOptions, PatchOptions and DeleteOptions; errors worded as there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/http_path.h"
#include "sim/apiserver/internal.h"

enum { FIELD_MANAGER_MAX = 128 };

static bool is_true(const char *value)
{
	return value && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0;
}

static bool read_bool(const struct sim_route *r, const char *key)
{
	return is_true(sim_route_parameter(r, key));
}

/* Go's strconv.ParseInt in base 10. */
static bool read_int(const struct sim_route *r, const char *key, int64_t *out, struct sim_response *refused)
{
	const char *text = sim_route_parameter(r, key), *digits = text;
	char *end;

	if (!text)
		return true;
	digits += *digits == '-' || *digits == '+';
	if (!*digits || strspn(digits, "0123456789") != strlen(digits))
		return sim_refuse_bad_request(refused, "strconv.ParseInt: parsing \"%s\": invalid syntax",
			text);
	errno = 0;
	*out = strtoll(text, &end, 10);
	return !errno ||
		sim_refuse_bad_request(refused, "strconv.ParseInt: parsing \"%s\": value out of range", text);
}

/* ---- what 422 says ---- */

static bool all_are_all(const struct sim_route *r)
{
	for (size_t i = 0; i < r->n_parameters; i++) {
		if (!strcmp(r->parameters[i].key, "dryRun") && strcmp(r->parameters[i].value, "All") != 0)
			return false;
	}
	return true;
}

static void check_dry_run(const struct sim_route *r, struct sim_causes *causes)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_value *values KAR_CLEANUP(sim_cleanup_value) = sim_array();

	if (all_are_all(r))
		return;
	for (size_t i = 0; i < r->n_parameters; i++) {
		if (!strcmp(r->parameters[i].key, "dryRun"))
			sim_append(&values, sim_string(r->parameters[i].value));
	}
	sim_print(values, &text);
	sim_cause_add(causes, "FieldValueNotSupported", "dryRun",
		"Unsupported value: %s: supported values: \"All\"", kar_buf_cstr(&text));
}

static void check_manager(const char *manager, struct sim_causes *causes)
{
	if (strlen(manager) > FIELD_MANAGER_MAX)
		sim_cause_add(causes, "FieldValueTooLong", "fieldManager",
			"Too long: may not be more than %d bytes", FIELD_MANAGER_MAX);
	for (size_t i = 0; manager[i]; i++) {
		unsigned char c = (unsigned char)manager[i];

		if (c < ' ' || c == 0x7f)
			sim_cause_add(causes, "FieldValueInvalid", "fieldManager",
				"Invalid value: \"\\x%02x\": invalid character U+%04X (at position %zu)", c,
				c, i);
	}
}

static void check_validation(const char *value, struct sim_causes *causes)
{
	static const char *const allowed[] = { "", "Ignore", "Strict", "Warn" };

	for (size_t i = 0; i < KAR_LEN(allowed); i++) {
		if (!strcmp(value, allowed[i]))
			return;
	}
	sim_cause_add(causes, "FieldValueNotSupported", "fieldValidation",
		"Unsupported value: \"%s\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"", value);
}

static bool refuse_causes(struct sim_response *refused, const char *kind, struct sim_causes *causes)
{
	if (!causes->n)
		return true;
	sim_refuse_invalid_kind(refused, "meta.k8s.io", kind, "", causes);
	sim_causes_release(causes);
	return false;
}

/* ---- by verb ---- */

static bool read_list(struct sim_route *r, struct sim_response *refused)
{
	struct sim_request *rq = &r->request;

	rq->label_selector = sim_route_parameter(r, "labelSelector");
	rq->field_selector = sim_route_parameter(r, "fieldSelector");
	rq->resource_version = sim_route_parameter(r, "resourceVersion");
	rq->resource_version_match = sim_route_parameter(r, "resourceVersionMatch");
	rq->continue_token = sim_route_parameter(r, "continue");
	rq->bookmarks = read_bool(r, "allowWatchBookmarks");
	rq->send_initial_events = read_bool(r, "sendInitialEvents");
	rq->skip_initial_events = !rq->send_initial_events && sim_route_parameter(r, "sendInitialEvents");
	return read_int(r, "limit", &rq->limit, refused) &&
		read_int(r, "timeoutSeconds", &rq->timeout_seconds, refused);
}

static bool read_write(struct sim_route *r, const char *kind, struct sim_response *refused)
{
	struct sim_request *rq = &r->request;
	bool patch = rq->verb == KAR_PATCH, apply = patch && rq->patch_type == KAR_PATCH_APPLY;
	const char *force = sim_route_parameter(r, "force");
	struct sim_causes causes = { 0 };

	rq->field_manager = sim_route_parameter(r, "fieldManager");
	rq->field_validation = sim_route_parameter(r, "fieldValidation");
	rq->force = is_true(force);
	rq->dry_run = sim_route_parameter(r, "dryRun") != NULL;
	if (apply && (!rq->field_manager || !*rq->field_manager))
		sim_cause_add(&causes, "FieldValueRequired", "fieldManager",
			"Required value: is required for apply patch");
	if (patch && !apply && force)
		sim_cause_add(&causes, "FieldValueForbidden", "force",
			"Forbidden: may not be specified for non-apply patch");
	check_manager(rq->field_manager ? rq->field_manager : "", &causes);
	check_dry_run(r, &causes);
	check_validation(rq->field_validation ? rq->field_validation : "", &causes);
	if (!rq->field_validation || !*rq->field_validation)
		rq->field_validation = "Warn"; /* the default of the API server */
	return refuse_causes(refused, kind, &causes);
}

static void check_propagation(const char *policy, bool orphan_given, struct sim_causes *causes)
{
	static const char *const allowed[] = { "Foreground", "Background", "Orphan" };

	if (orphan_given)
		sim_cause_add(causes, "FieldValueInvalid", "propagationPolicy",
			"Invalid value: \"%s\": orphanDependents and deletionPropagation cannot be both set",
			policy);
	for (size_t i = 0; i < KAR_LEN(allowed); i++) {
		if (!strcmp(policy, allowed[i]))
			return;
	}
	sim_cause_add(causes, "FieldValueNotSupported", "propagationPolicy",
		"Unsupported value: \"%s\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
		policy);
}

static bool read_delete(struct sim_route *r, struct sim_response *refused)
{
	const char *orphan = sim_route_parameter(r, "orphanDependents");
	struct sim_request *rq = &r->request;
	struct sim_causes causes = { 0 };

	rq->propagation_policy = sim_route_parameter(r, "propagationPolicy");
	rq->dry_run = sim_route_parameter(r, "dryRun") != NULL;
	rq->has_grace = sim_route_parameter(r, "gracePeriodSeconds") != NULL;
	if (!read_int(r, "gracePeriodSeconds", &rq->grace_period_seconds, refused))
		return false;
	if (rq->propagation_policy)
		check_propagation(rq->propagation_policy, orphan != NULL, &causes);
	else if (orphan)
		rq->propagation_policy = is_true(orphan) ? "Orphan" : "Background";
	check_dry_run(r, &causes);
	return refuse_causes(refused, "DeleteOptions", &causes);
}

bool sim_route_options(struct sim_route *r, bool has_body, struct sim_response *refused)
{
	struct sim_request *rq = &r->request;

	switch (rq->verb) {
	case KAR_GET:
		rq->resource_version = sim_route_parameter(r, "resourceVersion");
		return true;
	case KAR_LIST:
	case KAR_WATCH:
		return read_list(r, refused);
	case KAR_CREATE:
		return read_write(r, "CreateOptions", refused);
	case KAR_UPDATE:
		return read_write(r, "UpdateOptions", refused);
	case KAR_PATCH:
		return read_write(r, "PatchOptions", refused);
	case KAR_DELETE:
		return has_body || read_delete(r, refused);
	default: /* KAR_DELETECOLLECTION */
		return read_list(r, refused) && (has_body || read_delete(r, refused));
	}
}
