/*
 * sim_script - conversations with the simulated API server as text, one line per step.
 *
 *   POST /api/v1/namespaces/default/configmaps {"metadata":{"name":"a"}}
 *   < 201 {"metadata":{"name":"a","uid":"$u"}}
 *
 *   METHOD PATH [BODY]   a request. Methods of HTTP; a patch is JSON, MERGE, STRATEGIC or APPLY. GET:Table and
 *                        GET:Metadata ask for these forms.
 *   < CODE [JSON]        its answer: at least these members, arrays item by item. "*" is anything that is there, null
 *                        what is not there, "$x" the text that x stands for, or a name for it from now on. "~text": contains text.
 *   watch W PATH         opens a watch; `watch W PATH refused CODE [JSON]` expects that not to work
 *   W TYPE [JSON]        the next event; W dry: none; W ended
 *   cancel W             closes it
 *   wait 5s              lets virtual time pass
 *   compact              history is forgotten
 *   cut                  all watches are cut
 *   crds                 the definitions of this project are installed
 *   server old | history=N   begins anew with a server that refuses sendInitialEvents, or keeps N events per resource
 *   rv [N]               so many writes were made since the last `rv`; without N it only sets the mark
 *
 * In paths and bodies ${x} is what x stands for. Lines that begin with # are for readers.
 */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "sim/apiserver/apiserver.h"
#include "sim/apiserver/http_path.h"

enum { SCRIPT_NAMES = 32, SCRIPT_WATCHES = 8, SCRIPT_TEXT = 256 };
#define SCRIPT_WALL 1795268787000 /* 2026-11-21T13:46:27Z */

struct script_name {
	char name[32], text[SCRIPT_TEXT];
};

struct script_watch {
	char name[32];
	struct sim_watch *watch;
	unsigned told;
};

struct script {
	const char *row;
	int line;
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct script_name names[SCRIPT_NAMES];
	size_t n_names;
	struct script_watch watches[SCRIPT_WATCHES];
	struct sim_response answer;
	int64_t mark; /* resourceVersion at the last `rv` */
};

static inline void script_fail(const struct script *s, const char *fmt, ...) KAR_PRINTF(2, 3);
static inline void script_fail(const struct script *s, const char *fmt, ...)
{
	va_list ap;
	char text[4096];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail_msg("%s, line %d: %s", s->row, s->line, text);
}

/* ---- names ---- */

static inline struct script_name *script_find(struct script *s, const char *name, size_t n)
{
	for (size_t i = 0; i < s->n_names; i++) {
		if (strlen(s->names[i].name) == n && !memcmp(s->names[i].name, name, n))
			return &s->names[i];
	}
	return NULL;
}

static inline void script_expand(struct script *s, const char *text, struct kar_buf *out)
{
	while (*text) {
		const char *end = text[0] == '$' && text[1] == '{' ? strchr(text, '}') : NULL;
		const struct script_name *known =
			end ? script_find(s, text + 2, (size_t)(end - text) - 2) : NULL;

		if (end && !known)
			script_fail(s, "%.*s stands for nothing", (int)(end - text) + 1, text);
		if (known)
			kar_buf_puts(out, known->text);
		else
			kar_buf_append(out, text, 1);
		text = end ? end + 1 : text + 1;
	}
}

static inline bool script_name_matches(struct script *s, const char *name, const struct sim_value *v)
{
	struct script_name *known = script_find(s, name, strlen(name));
	const char *text = sim_text(v);

	if (!text)
		return false;
	if (known)
		return !strcmp(known->text, text);
	assert_true(s->n_names < SCRIPT_NAMES);
	snprintf(s->names[s->n_names].name, sizeof(s->names[0].name), "%s", name);
	snprintf(s->names[s->n_names++].text, SCRIPT_TEXT, "%s", text);
	return true;
}

/* ---- expectations ---- */

static inline bool script_matches(struct script *s, const struct sim_value *expected,
	const struct sim_value *v)
{
	const char *text = sim_text(expected);

	if (sim_kind(expected) == SIM_NULL)
		return v == NULL;
	if (text && !strcmp(text, "*"))
		return v != NULL;
	if (text && text[0] == '~')
		return sim_text(v) && strstr(sim_text(v), text + 1);
	if (text && text[0] == '$')
		return script_name_matches(s, text + 1, v);
	if (sim_kind(expected) == SIM_ARRAY) {
		for (size_t i = 0; i < sim_count(expected); i++) {
			if (!script_matches(s, sim_item(expected, i), sim_item(v, i)))
				return false;
		}
		return sim_kind(v) == SIM_ARRAY && sim_count(v) == sim_count(expected);
	}
	if (sim_kind(expected) != SIM_OBJECT)
		return sim_equal(expected, v);
	for (struct sim_member m = sim_first(expected); m.value; m = sim_next(m)) {
		if (!script_matches(s, m.value, sim_member(v, m.key)))
			return false;
	}
	return sim_kind(v) == SIM_OBJECT;
}

static inline void script_expect(struct script *s, const char *json, const struct sim_value *v)
{
	struct kar_buf is = { 0 }, text = { 0 };
	struct kar_err err = { 0 };
	struct sim_value *expected;

	script_expand(s, json, &text);
	expected = sim_parse(kar_buf_cstr(&text), text.n, &err);
	if (!expected)
		script_fail(s, "the expectation is no JSON: %s: %s", err.msg, json);
	if (!script_matches(s, expected, v)) {
		sim_print(v, &is);
		script_fail(s, "expected %s\n  but there is %s", kar_buf_cstr(&text), kar_buf_cstr(&is));
	}
	sim_unref(expected);
	kar_buf_release(&text);
	kar_buf_release(&is);
}

/* ---- requests ---- */

static inline bool script_method(char *word, const char **method, enum kar_patch_type *patch,
	enum sim_form *form)
{
	static const struct {
		const char *word;
		enum kar_patch_type type;
	} patches[] = { { "JSON", KAR_PATCH_JSON }, { "MERGE", KAR_PATCH_MERGE },
		{ "STRATEGIC", KAR_PATCH_STRATEGIC }, { "APPLY", KAR_PATCH_APPLY } };
	char *colon = strchr(word, ':');

	*form = SIM_FORM_OBJECT;
	if (colon) {
		*form = !strcmp(colon, ":Table") ? SIM_FORM_TABLE : SIM_FORM_METADATA;
		*colon = '\0';
	}
	*method = word;
	for (size_t i = 0; i < KAR_LEN(patches); i++) {
		if (!strcmp(word, patches[i].word)) {
			*method = "PATCH";
			*patch = patches[i].type;
		}
	}
	return !strcmp(*method, "GET") || !strcmp(*method, "POST") || !strcmp(*method, "PUT") ||
		!strcmp(*method, "DELETE") || !strcmp(*method, "PATCH");
}

/* Path and query to a request; what is borrowed lives in @a. False: refused by the path alone. */
static inline bool script_route(struct kar_arena *a, const char *method, const char *path,
	enum kar_patch_type patch, bool has_body, struct sim_request *out, struct sim_response *refused)
{
	struct sim_route route;

	if (!sim_route_parse(a, method, path, &route, refused) || !route.is_resource)
		return false;
	route.request.patch_type = patch;
	if (!sim_route_options(&route, has_body, refused))
		return false;
	*out = route.request;
	return true;
}

static inline void script_request(struct script *s, char *word, const char *rest)
{
	struct kar_buf path = { 0 }, body = { 0 };
	struct kar_arena arena = { 0 };
	enum kar_patch_type patch = KAR_PATCH_MERGE;
	struct sim_request rq;
	enum sim_form form;
	const char *method, *space = strchr(rest, ' ');
	char *path_text = kar_xstrndup(rest, space ? (size_t)(space - rest) : strlen(rest));

	if (!script_method(word, &method, &patch, &form))
		script_fail(s, "unknown step %s", word);
	sim_response_release(&s->answer);
	script_expand(s, path_text, &path);
	script_expand(s, space ? space + 1 : "", &body);
	if (script_route(&arena, method, kar_buf_cstr(&path), patch, body.n > 0, &rq, &s->answer)) {
		rq.form = form;
		rq.body = (struct kar_str){ kar_buf_cstr(&body), body.n };
		sim_apiserver_call(s->server, &rq, &s->answer);
	}
	kar_arena_release(&arena);
	kar_buf_release(&path);
	kar_buf_release(&body);
	free(path_text);
}

/* The body as a client reads it, which must agree with what `object` says but for kinds of list items. */
static inline void script_answer(struct script *s, const char *rest)
{
	struct kar_buf body = { 0 };
	struct kar_err err = { 0 };
	const char *json = strchr(rest, ' ');
	struct sim_value *v;

	sim_response_body(&s->answer, &body);
	if (s->answer.code != atoi(rest))
		script_fail(s, "expected %d, got %d: %s", atoi(rest), s->answer.code, kar_buf_cstr(&body));
	v = sim_parse(kar_buf_cstr(&body), body.n, &err);
	if (!v)
		script_fail(s, "the body is no JSON: %s: %s", err.msg, kar_buf_cstr(&body));
	if (json)
		script_expect(s, json + 1, v);
	sim_unref(v);
	kar_buf_release(&body);
}

/* ---- watches ---- */

static inline struct script_watch *script_watch_of(struct script *s, const char *name)
{
	for (size_t i = 0; i < SCRIPT_WATCHES; i++) {
		if (!strcmp(s->watches[i].name, name))
			return &s->watches[i];
	}
	return NULL;
}

static inline void script_told(void *arg)
{
	struct script_watch *w = arg;

	w->told++;
}

/* @rest: NAME PATH [refused CODE [JSON]] */
static inline void script_watch_open(struct script *s, const char *rest)
{
	char name[32], form_name[16] = "", path_text[1024];
	int used = 0;
	struct script_watch *w = script_watch_of(s, "");
	struct kar_buf path = { 0 };
	struct kar_arena arena = { 0 };
	struct sim_request rq;
	const char *refused = strstr(rest, " refused ");

	assert_non_null(w);
	if (sscanf(rest, "%31[^: ]%15[^ ] %1023s%n", name, form_name, path_text, &used) < 3 &&
		sscanf(rest, "%31s %1023s%n", name, path_text, &used) < 2)
		script_fail(s, "watch NAME PATH");
	script_expand(s, path_text, &path);
	sim_response_release(&s->answer);
	if (script_route(&arena, "GET", kar_buf_cstr(&path), KAR_PATCH_MERGE, false, &rq, &s->answer)) {
		rq.verb = KAR_WATCH;
		rq.form = !strcmp(form_name, ":Table") ? SIM_FORM_TABLE
			: form_name[0]                 ? SIM_FORM_METADATA
						       : SIM_FORM_OBJECT;
		w->watch = sim_watch_open(s->server, &rq, script_told, w, &s->answer);
	}
	if (refused)
		script_answer(s, refused + strlen(" refused "));
	else if (!w->watch)
		script_fail(s, "the watch was refused: %d %s", s->answer.code,
			sim_text_or(sim_member(s->answer.object, "message"), ""));
	else
		snprintf(w->name, sizeof(w->name), "%s", name);
	kar_arena_release(&arena);
	kar_buf_release(&path);
}

static inline void script_watch_close(struct script_watch *w)
{
	if (!w)
		return;
	sim_watch_close(w->watch);
	*w = (struct script_watch){ 0 };
}

/* @rest: dry | ended | TYPE [JSON] */
static inline void script_event(struct script *s, struct script_watch *w, const char *rest)
{
	static const char *const states
		[] = { [SIM_WATCH_EVENT] = "event", [SIM_WATCH_DRY] = "dry", [SIM_WATCH_ENDED] = "ended" };
	struct kar_buf line = { 0 };
	struct kar_err err = { 0 };
	enum sim_watch_state state = sim_watch_read(w->watch, &line);
	const char *json = strchr(rest, ' ');
	size_t type = json ? (size_t)(json - rest) : strlen(rest);
	struct sim_value *v;

	if (!line.n) {
		if (strcmp(rest, states[state]) != 0)
			script_fail(s, "expected %s, but the watch is %s", rest, states[state]);
		return;
	}
	v = sim_parse(line.p, line.n, &err);
	if (!v || line.p[line.n - 1] != '\n')
		script_fail(s, "an event is no line of JSON: %s", kar_buf_cstr(&line));
	const char *is = sim_text_or(sim_member(v, "type"), "");

	if (strlen(is) != type || memcmp(is, rest, type) != 0)
		script_fail(s, "expected %s, got %s", rest, kar_buf_cstr(&line));
	if (state != (strcmp(is, "ERROR") ? SIM_WATCH_EVENT : SIM_WATCH_ENDED))
		script_fail(s, "after %s the watch is %s", is, states[state]);
	if (json)
		script_expect(s, json + 1, sim_member(v, "object"));
	sim_unref(v);
	kar_buf_release(&line);
}

/* ---- steps ---- */

static inline void script_wait(struct script *s, const char *text)
{
	kar_time ms = 0;

	if (kar_duration_parse(text, &ms))
		script_fail(s, "no duration: %s", text);
	sim_timeline_run(s->timeline, sim_timeline_mono(s->timeline) + ms);
}

static inline void script_start(struct script *s, const struct sim_apiserver_options *o)
{
	s->timeline = sim_timeline_new(SCRIPT_WALL);
	s->server = sim_apiserver_new(s->timeline, o);
}

static inline void script_end(struct script *s)
{
	for (size_t i = 0; i < SCRIPT_WATCHES; i++)
		script_watch_close(&s->watches[i]);
	sim_response_release(&s->answer);
	sim_apiserver_free(s->server);
	sim_timeline_free(s->timeline);
}

static inline void script_server(struct script *s, const char *how)
{
	struct sim_apiserver_options o = { .seed = 1, .no_initial_events = !strcmp(how, "old") };

	if (!strncmp(how, "history=", 8))
		o.history = (size_t)atoi(how + 8);
	script_end(s);
	script_start(s, &o);
}

static inline void script_crds(struct script *s)
{
	struct kar_err err = { 0 };

	if (sim_apiserver_install_crds(s->server, KAR_CRDS, &err))
		script_fail(s, "%s", err.msg);
}

static inline void script_rv(struct script *s, const char *n)
{
	int64_t now = sim_apiserver_rv(s->server);

	if (*n && now - s->mark != atoi(n))
		script_fail(s, "expected %s writes, there were %lld", n, (long long)(now - s->mark));
	s->mark = now;
}

static inline void script_step(struct script *s, char *line)
{
	char *space = strchr(line, ' ');
	const char *rest = space ? space + 1 : "";
	struct script_watch *w;

	if (space)
		*space = '\0';
	w = script_watch_of(s, line);
	if (w && *line)
		script_event(s, w, rest);
	else if (!strcmp(line, "<"))
		script_answer(s, rest);
	else if (!strcmp(line, "watch"))
		script_watch_open(s, rest);
	else if (!strcmp(line, "cancel"))
		script_watch_close(script_watch_of(s, rest));
	else if (!strcmp(line, "wait"))
		script_wait(s, rest);
	else if (!strcmp(line, "compact"))
		sim_apiserver_compact(s->server);
	else if (!strcmp(line, "cut"))
		sim_apiserver_cut_watches(s->server);
	else if (!strcmp(line, "crds"))
		script_crds(s);
	else if (!strcmp(line, "server"))
		script_server(s, rest);
	else if (!strcmp(line, "rv"))
		script_rv(s, rest);
	else
		script_request(s, line, rest);
}

#include "sim_rows.h"

#endif
