#include "sim/apiserver/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

int64_t sim_rv_parse(const char *text)
{
	unsigned long long n;

	if (!text || !*text)
		return 0;
	if (strspn(text, "0123456789") != strlen(text))
		return -1;
	errno = 0;
	n = strtoull(text, NULL, 10);
	if (errno)
		return -1;
	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* ---- ListOptions ---- */

static void forbid(struct sim_causes *c, const char *field, const char *why)
{
	sim_cause_add(c, "FieldValueForbidden", field, "Forbidden: %s", why);
}

static void check_list(const struct sim_request *rq, const char *match, struct sim_causes *c)
{
	const char *rv = rq->resource_version ? rq->resource_version : "";

	if (*match && !*rv)
		forbid(c, "resourceVersionMatch",
			"resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (*match && rq->continue_token && *rq->continue_token)
		forbid(c, "resourceVersionMatch",
			"resourceVersionMatch is forbidden when continue is provided");
	if (*match && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		sim_cause_add(c, "FieldValueNotSupported", "resourceVersionMatch",
			"Unsupported value: \"%s\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
			match);
	if (!strcmp(match, "Exact") && !strcmp(rv, "0"))
		forbid(c, "resourceVersionMatch",
			"resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
	if (rq->send_initial_events || rq->skip_initial_events)
		forbid(c, "sendInitialEvents", "sendInitialEvents is forbidden for list");
}

static void check_watch(const struct sim_request *rq, const char *match, bool no_initial_events,
	struct sim_causes *c)
{
	const char *rv = rq->resource_version ? rq->resource_version : "";
	bool given = rq->send_initial_events || rq->skip_initial_events;

	/* Without a start, initial events are what the client means. */
	if (!no_initial_events && !given && !*match && (!*rv || !strcmp(rv, "0"))) {
		given = true;
		match = "NotOlderThan";
	}
	if (given && strcmp(match, "NotOlderThan") != 0)
		forbid(c, "resourceVersionMatch",
			"sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	if (given && no_initial_events)
		forbid(c, "sendInitialEvents",
			"sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");
	if (!*match)
		return;
	if (!given)
		forbid(c, "resourceVersionMatch",
			"resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
	if (strcmp(match, "NotOlderThan") != 0)
		sim_cause_add(c, "FieldValueNotSupported", "resourceVersionMatch",
			"Unsupported value: \"%s\": supported values: \"NotOlderThan\"", match);
	if (rq->continue_token && *rq->continue_token)
		forbid(c, "resourceVersionMatch",
			"resourceVersionMatch is forbidden when continue is provided");
}

bool sim_list_options_check(const struct sim_request *rq, bool watch, bool no_initial_events,
	struct sim_response *out)
{
	const char *match = rq->resource_version_match ? rq->resource_version_match : "";
	struct sim_causes causes = { 0 };

	if (watch)
		check_watch(rq, match, no_initial_events, &causes);
	else
		check_list(rq, match, &causes);
	if (!causes.n)
		return true;
	sim_refuse_invalid_kind(out, "meta.k8s.io", "ListOptions", "", &causes);
	sim_causes_release(&causes);
	return false;
}

/* ---- selectors ---- */

static const char *common_field(const struct sim_resource *r, const struct sim_value *object,
	const char *field)
{
	if (!strcmp(field, "metadata.name"))
		return sim_text_or(sim_get(object, "metadata", "name"), "");
	if (!strcmp(field, "metadata.namespace") && r->namespaced)
		return sim_text_or(sim_get(object, "metadata", "namespace"), "");
	return NULL;
}

struct field_of {
	const struct sim_resource *resource;
	const struct sim_value *object;
	char number[24]; /* the text of a value that is an integer */
};

static bool is_selectable(const struct sim_resource *r, const char *field)
{
	bool found = false;

	for (size_t i = 0; i < sim_count(r->selectable) && !found; i++) {
		const char *path = sim_text_or(sim_member(sim_item(r->selectable, i), "jsonPath"), "");

		found = path[0] == '.' && strcmp(path + 1, field) == 0;
	}
	return found;
}

/* A selectable field of a CRD is a path of plain members, its value a text, a boolean or an integer. */
static const char *selectable_field(struct field_of *f, const char *field)
{
	const struct sim_value *v = f->object;

	if (!is_selectable(f->resource, field))
		return NULL;
	while (*field) {
		size_t n = strcspn(field, ".");
		char *name = kar_xstrndup(field, n);

		v = sim_member(v, name);
		free(name);
		field += field[n] ? n + 1 : n;
	}
	if (sim_kind(v) == SIM_BOOL)
		return sim_bool_of(v, false) ? "true" : "false";
	if (sim_kind(v) != SIM_INT)
		return sim_text_or(v, "");
	snprintf(f->number, sizeof(f->number), "%lld", (long long)sim_int_of(v, 0));
	return f->number;
}

static const char *field_value(void *arg, const char *field)
{
	struct field_of *f = arg;
	const char *text = common_field(f->resource, f->object, field);

	if (!text)
		text = selectable_field(f, field);
	if (!text && f->resource->strategy && f->resource->strategy->field)
		text = f->resource->strategy->field(f->object, field);
	return text;
}

static bool fields_are_known(const struct sim_selection *l, struct sim_response *out)
{
	struct sim_value *empty KAR_CLEANUP(sim_cleanup_value) = sim_object();
	struct field_of f = { .resource = l->resource, .object = empty };
	bool own = l->resource->custom || (l->resource->strategy && l->resource->strategy->field), ok = true;
	const char *field;

	for (size_t i = 0; ok; i++) {
		field = sim_field_selector_at(l->fields, i);
		if (!field)
			break;
		/* metadata.namespace is a label of cluster-scoped types too: it is always "". */
		if (field_value(&f, field) || (!own && !strcmp(field, "metadata.namespace")))
			continue;
		ok = false;
		if (own)
			sim_refuse_bad_request(out, "field label not supported: %s", field);
		else
			sim_refuse_bad_request(out,
				"\"%s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
				field);
	}
	return ok;
}

bool sim_selection_init(struct sim_selection *l, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct kar_err err = { 0 };

	*l = (struct sim_selection){ .resource = r, .ns = rq->ns && *rq->ns ? rq->ns : NULL };
	l->name = rq->name && *rq->name ? rq->name : NULL;
	if (rq->label_selector && *rq->label_selector) {
		l->labels = sim_label_selector_new(rq->label_selector, &err);
		if (!l->labels)
			return sim_refuse_bad_request(out, "%s", err.msg);
	}
	if (rq->field_selector && *rq->field_selector) {
		l->fields = sim_field_selector_new(rq->field_selector, &err);
		if (!l->fields)
			sim_refuse_bad_request(out, "%s", err.msg);
		if (!l->fields || !fields_are_known(l, out)) {
			sim_selection_release(l);
			return false;
		}
	}
	return true;
}

void sim_selection_release(struct sim_selection *l)
{
	sim_selector_free(l->labels);
	sim_selector_free(l->fields);
	l->labels = l->fields = NULL;
}

bool sim_selection_matches(const struct sim_selection *l, const struct sim_value *object)
{
	const struct sim_value *meta = sim_member(object, "metadata");
	struct field_of f = { .resource = l->resource, .object = object };

	if (l->ns && strcmp(sim_text_or(sim_member(meta, "namespace"), ""), l->ns) != 0)
		return false;
	if (l->name && strcmp(sim_text_or(sim_member(meta, "name"), ""), l->name) != 0)
		return false;
	if (l->labels && !sim_label_selector_matches(l->labels, sim_member(meta, "labels")))
		return false;
	return !l->fields || sim_field_selector_matches(l->fields, field_value, &f);
}
