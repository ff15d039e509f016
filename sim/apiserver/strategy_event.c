/* Events: one store, two forms (v1 and events.k8s.io/v1); the newer one is checked more strictly (KEP-383). */
#include <stdio.h>
#include <string.h>

#include "sim/apiserver/strategy.h"

enum { MAX_NOTE = 1024, MAX_WORD = 128 };

/* Members of events.k8s.io/v1 and what v1 calls them. */
static const struct {
	const char *newer, *core;
} names[] = {
	{ "regarding", "involvedObject" },
	{ "note", "message" },
	{ "reportingController", "reportingComponent" },
	{ "deprecatedSource", "source" },
	{ "deprecatedFirstTimestamp", "firstTimestamp" },
	{ "deprecatedLastTimestamp", "lastTimestamp" },
	{ "deprecatedCount", "count" },
};

static void rename_member(struct sim_value **event, const char *from, const char *to)
{
	struct sim_value *value = sim_member(*event, from);

	if (!value)
		return;
	sim_set(event, sim_ref(value), to);
	sim_remove(event, from);
}

void sim_event_to_core(struct sim_value **event)
{
	for (size_t i = 0; i < KAR_LEN(names); i++)
		rename_member(event, names[i].newer, names[i].core);
}

void sim_event_from_core(struct sim_value **event)
{
	static const char *const left_out[] = { "reportingController", "reportingInstance" };

	for (size_t i = 0; i < KAR_LEN(names); i++)
		rename_member(event, names[i].core, names[i].newer);
	for (size_t i = 0; i < KAR_LEN(left_out); i++) {
		if (!*sim_text_or(sim_member(*event, left_out[i]), "x"))
			sim_remove(event, left_out[i]);
	}
}

/* ---- validation ---- */

static const char *text(const struct sim_value *event, const char *key)
{
	return sim_text_or(sim_member(event, key), "");
}

static bool is_newer(const struct sim_write *w)
{
	return w->rq->group && !strcmp(w->rq->group, "events.k8s.io");
}

static void invalid(struct sim_write *w, const char *field, const char *why)
{
	sim_cause_add(&w->causes, "FieldValueInvalid", field, "Invalid value: \"\": %s", why);
}

static void check_word(struct sim_write *w, const char *key, const char *field, size_t most, bool required)
{
	char why[64];

	if (required && !*text(*w->new, key))
		sim_cause_required(&w->causes, SIM_AT(NULL, field));
	if (strlen(text(*w->new, key)) <= most)
		return;
	snprintf(why, sizeof(why), "can have at most %zu characters", most);
	invalid(w, field, why);
}

static void check_namespace(struct sim_write *w)
{
	const struct sim_value *of = sim_get(*w->new, "involvedObject", "namespace");
	const char *ns = sim_text_or(sim_get(*w->new, "metadata", "namespace"), ""),
		   *about = sim_text_or(of, "");
	bool timed = *text(*w->new, "eventTime") != '\0', fits = !strcmp(ns, about);

	if (!*about)
		fits = !strcmp(ns, "default") || (timed && !strcmp(ns, "kube-system"));
	else if (timed)
		fits = true;
	if (!fits)
		sim_cause_add(&w->causes, "FieldValueInvalid", "involvedObject.namespace",
			"Invalid value: \"%s\": does not match event.namespace", about);
}

/* What every event that has an eventTime must say. */
static void check_words(struct sim_write *w)
{
	const char *controller = is_newer(w) ? "reportingController" : "reportingComponent";
	struct sim_value *shown;

	if (!*text(*w->new, "eventTime"))
		return;
	if (!*text(*w->new, "reportingComponent"))
		sim_cause_required(&w->causes, SIM_AT(NULL, controller));
	shown = sim_string(text(*w->new, "reportingComponent"));
	sim_cause_grammar(&w->causes, SIM_AT(NULL, controller), shown, sim_check_label_key);
	sim_unref(shown);
	check_word(w, "reportingInstance", "reportingInstance", MAX_WORD, true);
	check_word(w, "action", "action", MAX_WORD, true);
	check_word(w, "reason", "reason", MAX_WORD, true);
	check_word(w, "message", "message", MAX_NOTE, false);
}

static void check_series(struct sim_write *w)
{
	const struct sim_value *series = sim_member(*w->new, "series");

	if (!series || sim_equal(series, sim_member(w->old, "series")))
		return;
	if (sim_get_int(series, 0, "count") < 2)
		invalid(w, "series.count", "should be at least 2");
	if (!*text(series, "lastObservedTime"))
		sim_cause_required(&w->causes, SIM_AT(NULL, "series.lastObservedTime"));
}

static void check_new(struct sim_write *w)
{
	static const char *const unset[] = { "firstTimestamp", "lastTimestamp", "count", "source" };
	char why[256];

	check_series(w);
	if (!*text(*w->new, "eventTime"))
		sim_cause_required(&w->causes, SIM_AT(NULL, "eventTime"));
	if (strcmp(text(*w->new, "type"), "Normal") != 0 && strcmp(text(*w->new, "type"), "Warning") != 0) {
		snprintf(why, sizeof(why), "has invalid value: %.128s", text(*w->new, "type"));
		invalid(w, "type", why);
	}
	for (size_t i = 0; i < KAR_LEN(unset); i++) {
		const struct sim_value *v = sim_member(*w->new, unset[i]);

		if (*sim_text_or(v, "") || sim_int_of(v, 0) != 0 ||
			(sim_kind(v) == SIM_OBJECT && sim_count(v) > 0))
			invalid(w, unset[i], "needs to be unset");
	}
}

static void check_changed(struct sim_write *w)
{
	static const char *const fixed[] = { "involvedObject", "reason", "message", "source",
		"firstTimestamp", "lastTimestamp", "count", "type", "eventTime", "action", "related",
		"reportingComponent", "reportingInstance" };

	check_series(w);
	for (size_t i = 0; i < KAR_LEN(fixed); i++) {
		const char *shown =
			strcmp(fixed[i], "reportingComponent") != 0 ? fixed[i] : "reportingController";

		if (!sim_equal(sim_member(w->old, fixed[i]), sim_member(*w->new, fixed[i])))
			sim_cause_invalid(&w->causes, SIM_AT(NULL, shown), sim_member(*w->new, fixed[i]),
				"field is immutable");
	}
}

static void validate(struct sim_write *w)
{
	check_namespace(w);
	check_words(w);
	if (!is_newer(w))
		return;
	if (w->old)
		check_changed(w);
	else
		check_new(w);
}

/* ---- field labels, each form its own; the objects are stored ones ---- */

static const char *source(const struct sim_value *event)
{
	const char *component = sim_text_or(sim_get(event, "source", "component"), "");

	return *component ? component : text(event, "reportingComponent");
}

/* @name: "involvedObject.name" with @prefix "involvedObject.". NULL: no such part. */
static const char *object_field(const struct sim_value *event, const char *name, const char *prefix)
{
	static const char *const parts[] = { "kind", "namespace", "name", "uid", "apiVersion",
		"resourceVersion", "fieldPath" };

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return NULL;
	for (size_t i = 0; i < KAR_LEN(parts); i++) {
		if (!strcmp(parts[i], name + strlen(prefix)))
			return sim_text_or(sim_get(event, "involvedObject", parts[i]), "");
	}
	return NULL;
}

static const char *core_field(const struct sim_value *event, const char *name)
{
	if (!strcmp(name, "reason") || !strcmp(name, "type") || !strcmp(name, "reportingComponent"))
		return text(event, name);
	if (!strcmp(name, "source"))
		return source(event);
	return object_field(event, name, "involvedObject.");
}

static const char *newer_field(const struct sim_value *event, const char *name)
{
	if (!strcmp(name, "reason") || !strcmp(name, "type"))
		return text(event, name);
	if (!strcmp(name, "reportingController"))
		return text(event, "reportingComponent");
	return object_field(event, name, "regarding.");
}

const struct sim_strategy sim_strategy_event = { .validate = validate, .field = core_field };
const struct sim_strategy sim_strategy_newer_event = { .field = newer_field };
