#include "sim/apiserver/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/types.h"

/* As kube-apiserver: --min-request-timeout 1800 s times [1, 2); bookmarks each minute and shortly before the end. */
enum { SHORTEST_TIMEOUT = 1800, BOOKMARK_EVERY = 60000, BOOKMARK_BEFORE_END = 2000 };

struct sim_watch {
	TAILQ_ENTRY(sim_watch) link;
	struct sim_apiserver *s;
	struct sim_resource *resource;
	struct sim_collection *collection;
	struct sim_selection selection; /* its names are owned here */
	char *ns, *name;
	enum sim_form form;
	const char *include; /* of a table; static */
	bool headed;         /* a table with column definitions was given */
	/* What was there when it was opened, given first as ADDED. */
	struct sim_version **initial;
	size_t n_initial, at_initial;
	bool says_end; /* a bookmark must say that these were all */
	int64_t opened_at, after;
	uint64_t cursor;         /* number of the next event to look at */
	struct sim_value *error; /* Status that ends the watch; NULL: none */
	bool bookmarks, bookmark_due, cut;
	bool last;         /* nothing will follow what is in the history: timed out, or no longer served */
	bool quiet;        /* was read until dry: whoever reads must be told of news */
	kar_time deadline; /* mono */
	struct sim_alarm *alarm;
	void (*notify)(void *arg);
	void *arg;
};

/* ---- telling ---- */

static void tell(struct sim_watch *w)
{
	if (!w->quiet)
		return;
	w->quiet = false;
	if (w->notify)
		w->notify(w->arg);
}

static bool concerns(const struct sim_watch *w, const struct sim_event *e)
{
	const struct sim_value *meta;

	if (!w->ns && !w->name)
		return true;
	meta = sim_member(e->new->value, "metadata");
	if (w->ns && strcmp(sim_text_or(sim_member(meta, "namespace"), ""), w->ns) != 0)
		return false;
	return !w->name || !strcmp(sim_text_or(sim_member(meta, "name"), ""), w->name);
}

void sim_watches_tell(struct sim_collection *c, uint64_t number)
{
	struct sim_watch *w, *next;
	const struct sim_event *e = sim_event_at(c, number);

	TAILQ_FOREACH_SAFE(w, &c->watches, link, next) {
		if (concerns(w, e))
			tell(w);
		else if (w->cursor == number)
			w->cursor++; /* an idle watch does not fall behind */
	}
}

void sim_watches_end(struct sim_collection *c)
{
	struct sim_watch *w;

	TAILQ_FOREACH(w, &c->watches, link) {
		w->last = true;
		tell(w);
	}
}

void sim_apiserver_cut_watches(struct sim_apiserver *s)
{
	for (size_t i = 0; i < s->n_resources; i++) {
		struct sim_watch *w, *next;

		if (s->resources[i]->stored_as)
			continue;
		TAILQ_FOREACH_SAFE(w, &s->resources[i]->objects->watches, link, next) {
			w->cut = true;
			tell(w);
		}
	}
}

/* ---- time ---- */

static void arm(struct sim_watch *w)
{
	kar_time left = w->deadline - sim_timeline_mono(w->s->timeline), next = left;

	if (w->bookmarks && left > BOOKMARK_BEFORE_END)
		next = left - BOOKMARK_BEFORE_END < BOOKMARK_EVERY ? left - BOOKMARK_BEFORE_END
								   : BOOKMARK_EVERY;
	sim_alarm_start(w->alarm, next > 0 ? next : 0);
}

static void tick(void *arg)
{
	struct sim_watch *w = arg;

	if (sim_timeline_mono(w->s->timeline) >= w->deadline) {
		w->last = true;
	} else {
		w->bookmark_due = true;
		arm(w);
	}
	tell(w);
}

/* ---- opening ---- */

static void add_initial(struct sim_watch *w, struct sim_version *v)
{
	if ((w->n_initial & (w->n_initial - 1)) == 0)
		w->initial = kar_xrealloc(w->initial, w->n_initial ? 2 * w->n_initial : 1,
			sizeof(struct sim_version *));
	w->initial[w->n_initial++] = sim_version_ref(v);
}

static void collect_initial(struct sim_watch *w)
{
	const struct sim_collection *c = w->collection;
	size_t n = w->ns ? strlen(w->ns) : 0;
	char start[SIM_KEY_MAX] = "";

	if (w->ns && !sim_key_make(start, w->ns, ""))
		return;
	for (struct sim_slot *slot = sim_slot_from(c, start); slot; slot = sim_slot_after(slot)) {
		if (n && (strncmp(slot->key, w->ns, n) != 0 || slot->key[n] != '/'))
			break;
		if (sim_selection_matches(&w->selection, slot->version->value))
			add_initial(w, slot->version);
	}
}

static void fail_with(struct sim_watch *w, struct sim_response *status)
{
	sim_unref(w->error);
	w->error = sim_ref(status->object);
	sim_response_release(status);
}

/* From which point it starts: errors about that are told in the stream, as the API server does once a watch is accepted. */
static void place(struct sim_watch *w, const struct sim_request *rq, int64_t rv)
{
	struct sim_response refused = { 0 };
	bool initial = (rv == 0 && !rq->skip_initial_events) || rq->send_initial_events;
	const struct sim_collection *c = w->collection;

	if (rv == 0 && !initial)
		rv = w->s->rv; /* from now on */
	w->after = initial ? 0 : rv;
	if (initial && rv > w->s->rv) {
		sim_refuse_too_large(&refused, rv, w->s->rv);
		fail_with(w, &refused);
	} else if (initial) {
		collect_initial(w);
		w->says_end = w->bookmarks && !w->s->no_initial_events;
		w->cursor = c->end;
	} else if (rv < c->forgotten) {
		sim_refuse_expired(&refused, "too old resource version: %lld (%lld)", (long long)rv,
			(long long)c->forgotten);
		fail_with(w, &refused);
	} else {
		w->cursor = sim_event_after(c, rv);
	}
}

/* The deadline; the server draws one if the client did not say. */
static kar_time timeout_of(struct sim_apiserver *s, const struct sim_request *rq)
{
	if (rq->timeout_seconds > 0 && rq->timeout_seconds < KAR_NEVER / 2 / KAR_SECOND)
		return rq->timeout_seconds * KAR_SECOND;
	return sim_random_between(&s->timeouts, SHORTEST_TIMEOUT * KAR_SECOND,
		2 * SHORTEST_TIMEOUT * KAR_SECOND - 1);
}

static bool check(struct sim_apiserver *s, const struct sim_request *rq, struct sim_resource **r, int64_t *rv,
	struct sim_response *out)
{
	*r = sim_resource_find(s, rq->group, rq->version, rq->resource);
	*rv = sim_rv_parse(rq->resource_version);
	if (!*r)
		return sim_refuse(out, 404, "NotFound", "the server could not find the requested resource");
	if ((*r)->verbs && !((*r)->verbs & 1u << KAR_WATCH))
		return sim_refuse_method(out, *r, "watch");
	if (!sim_list_options_check(rq, true, s->no_initial_events, out))
		return false;
	if (*rv < 0)
		return sim_refuse(out, 500, "",
			"resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": invalid syntax",
			rq->resource_version, rq->resource_version);
	return true;
}

static const char *kept_include(const char *include)
{
	if (include && !strcmp(include, "Object"))
		return "Object";
	return include && !strcmp(include, "None") ? "None" : "Metadata";
}

struct sim_watch *sim_watch_open(struct sim_apiserver *s, const struct sim_request *rq,
	void (*notify)(void *arg), void *arg, struct sim_response *refused)
{
	struct sim_selection selection;
	struct sim_resource *r;
	struct sim_watch *w;
	int64_t rv;

	*refused = (struct sim_response){ 0 };
	if (!check(s, rq, &r, &rv, refused) || !sim_selection_init(&selection, r, rq, refused))
		return NULL;
	w = kar_xcalloc(1, sizeof(*w));
	w->s = s;
	w->resource = r;
	w->collection = r->objects;
	w->selection = selection;
	w->selection.ns = w->ns = selection.ns ? kar_xstrdup(selection.ns) : NULL;
	w->selection.name = w->name = selection.name ? kar_xstrdup(selection.name) : NULL;
	w->form = rq->form;
	w->include = kept_include(rq->include_object);
	w->bookmarks = rq->bookmarks;
	w->notify = notify;
	w->arg = arg;
	w->opened_at = s->rv;
	place(w, rq, rv);
	TAILQ_INSERT_TAIL(&r->objects->watches, w, link);
	w->deadline = sim_timeline_mono(s->timeline) + timeout_of(s, rq);
	w->alarm = sim_alarm_new(s->timeline, tick, w);
	arm(w);
	return w;
}

static void drop_initial(struct sim_watch *w)
{
	for (; w->at_initial < w->n_initial; w->at_initial++)
		sim_version_unref(w->initial[w->at_initial]);
	free(w->initial);
	w->initial = NULL;
	w->n_initial = w->at_initial = 0;
}

void sim_watch_close(struct sim_watch *w)
{
	if (!w)
		return;
	TAILQ_REMOVE(&w->collection->watches, w, link);
	if (w->collection->retired && TAILQ_EMPTY(&w->collection->watches))
		sim_collection_free(w->collection);
	drop_initial(w);
	sim_selection_release(&w->selection);
	sim_alarm_free(w->alarm);
	sim_unref(w->error);
	free(w->ns);
	free(w->name);
	free(w);
}

/* ---- reading ---- */

static void print_event(const char *type, const struct sim_value *object, struct kar_buf *out)
{
	kar_buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
	sim_print(object, out);
	kar_buf_append(out, "}\n", 2);
}

/* Only the first table of a stream names its columns. */
static void print_formed(struct sim_watch *w, const char *type, const struct sim_value *stored,
	struct kar_buf *out)
{
	struct sim_value *v = sim_form_of(w->s, w->resource, w->form, w->include, stored);

	if (w->form == SIM_FORM_TABLE && w->headed)
		sim_set(&v, sim_null(), "columnDefinitions");
	w->headed = true;
	print_event(type, v, out);
	sim_unref(v);
}

static void print_version(struct sim_watch *w, const char *type, struct sim_version *v, struct kar_buf *out)
{
	const struct sim_text *text;

	if (!sim_form_is_plain(w->resource, w->form)) {
		print_formed(w, type, v->value, out);
		return;
	}
	text = sim_version_text(v);
	kar_buf_append(out, "{\"type\":\"", 9);
	kar_buf_puts(out, type);
	kar_buf_puts(out, "\",\"object\":");
	kar_buf_append(out, text->p, text->n);
	kar_buf_append(out, "}\n", 2);
}

/* An object without contents; of built-in types Go prints what every object of the type has. */
static void print_bookmark(struct sim_watch *w, int64_t rv, bool end_of_initial, struct kar_buf *out)
{
	const struct sim_resource *r = w->resource->stored_as ? w->resource->stored_as : w->resource;
	struct sim_value *v = sim_object();

	sim_set_text(&v, r->kind, "kind");
	sim_set(&v, *r->group ? sim_printf("%s/%s", r->group, r->version) : sim_string(r->version),
		"apiVersion");
	sim_set(&v, sim_printf("%lld", (long long)rv), "metadata", "resourceVersion");
	if (end_of_initial)
		sim_set_text(&v, "true", "metadata", "annotations", "k8s.io/initial-events-end");
	if (r->type)
		sim_types_decode(r->type, &v, NULL, NULL);
	print_formed(w, "BOOKMARK", v, out);
	sim_unref(v);
}

/* An object that no longer matches is deleted as far as this watch can tell: its old state, at the time of the change. */
static void print_departed(struct sim_watch *w, const struct sim_event *e, struct kar_buf *out)
{
	struct sim_value *v = sim_ref(e->old->value);

	sim_set(&v, sim_printf("%lld", (long long)e->new->rv), "metadata", "resourceVersion");
	print_formed(w, "DELETED", v, out);
	sim_unref(v);
}

/* True if the event concerned this watch. */
static bool print_change(struct sim_watch *w, const struct sim_event *e, struct kar_buf *out)
{
	bool now, before;

	if (e->new->rv <= w->after)
		return false;
	now = !e->removed && sim_selection_matches(&w->selection, e->new->value);
	before = e->old && sim_selection_matches(&w->selection, e->old->value);
	if (!now && !before)
		return false;
	if (now)
		print_version(w, before ? "MODIFIED" : "ADDED", e->new, out);
	else if (e->removed)
		print_version(w, "DELETED", e->new, out);
	else
		print_departed(w, e, out);
	return true;
}

static bool read_initial(struct sim_watch *w, struct kar_buf *out)
{
	if (w->at_initial < w->n_initial) {
		struct sim_version *v = w->initial[w->at_initial++];

		print_version(w, "ADDED", v, out);
		sim_version_unref(v);
		return true;
	}
	if (w->initial)
		drop_initial(w);
	if (!w->says_end)
		return false;
	w->says_end = false;
	print_bookmark(w, w->opened_at, true, out);
	return true;
}

static bool read_history(struct sim_watch *w, struct kar_buf *out)
{
	struct sim_collection *c = w->collection;

	if (w->cursor < c->first) {
		struct sim_response gone = { 0 };

		sim_refuse_expired(&gone, "too old resource version: %lld (%lld)", (long long)w->after,
			(long long)c->forgotten);
		fail_with(w, &gone);
		return false;
	}
	while (w->cursor < c->end) {
		const struct sim_event *e = sim_event_at(c, w->cursor++);

		if (print_change(w, e, out)) {
			w->after = e->new->rv;
			return true;
		}
	}
	return false;
}

enum sim_watch_state sim_watch_read(struct sim_watch *w, struct kar_buf *out)
{
	if (w->cut)
		return SIM_WATCH_ENDED;
	if (!w->error && (read_initial(w, out) || read_history(w, out)))
		return SIM_WATCH_EVENT;
	if (w->error) {
		print_event("ERROR", w->error, out);
		w->cut = true;
		return SIM_WATCH_ENDED;
	}
	if (w->bookmark_due) {
		w->bookmark_due = false;
		print_bookmark(w, w->s->rv, false, out);
		return SIM_WATCH_EVENT;
	}
	if (w->last)
		return SIM_WATCH_ENDED;
	w->quiet = true;
	return SIM_WATCH_DRY;
}
