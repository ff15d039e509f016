#include "sim/apiserver/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/mem.h"
#include "sim/apiserver/token.h"

static const char too_old[] = "The resourceVersion for the provided list is too old.";
static const char too_old_to_continue[] =
	"The provided continue parameter is too old to display a consistent list result. You can start a new list without the "
	"continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with "
	"the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the "
	"first chunk was returned and now may show up in the list.";

/* ---- which moment is shown ---- */

struct moment {
	int64_t rv;        /* shown; the newest unless exact */
	const char *after; /* key of the last item of the page before; NULL: from the start */
	struct sim_token token;
};

static bool refuse_expired_token(const struct moment *m, struct sim_response *out)
{
	struct kar_buf fresh KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	sim_refuse_expired(out, "%s", too_old_to_continue);
	sim_token_print(-1, m->after, &fresh);
	sim_set_text(&out->object, kar_buf_cstr(&fresh), "metadata", "continue");
	return false;
}

static bool continued(const struct sim_apiserver *s, const struct sim_collection *c,
	const struct sim_request *rq, struct moment *m, struct sim_response *out)
{
	struct kar_err err = { 0 };

	if (sim_token_parse(rq->continue_token, &m->token, &err))
		return sim_refuse_bad_request(out, "invalid continue token: %s", err.msg);
	if (rq->resource_version && *rq->resource_version && strcmp(rq->resource_version, "0") != 0)
		return sim_refuse_bad_request(out,
			"specifying resource version is not allowed when using continue");
	m->after = m->token.after;
	m->rv = m->token.rv > 0 ? m->token.rv : s->rv;
	if (m->rv > s->rv)
		return sim_refuse_too_large(out, m->rv, s->rv);
	return m->rv >= c->forgotten || refuse_expired_token(m, out);
}

static bool choose_moment(const struct sim_apiserver *s, const struct sim_collection *c,
	const struct sim_request *rq, struct moment *m, struct sim_response *out)
{
	const char *match = rq->resource_version_match ? rq->resource_version_match : "";
	int64_t asked = sim_rv_parse(rq->resource_version);

	*m = (struct moment){ .rv = s->rv };
	if (rq->continue_token && *rq->continue_token)
		return continued(s, c, rq, m, out);
	if (asked < 0)
		return sim_refuse_bad_request(out,
			"invalid resource version: resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": "
			"invalid syntax",
			rq->resource_version, rq->resource_version);
	if (asked > s->rv)
		return sim_refuse_too_large(out, asked, s->rv);
	if (asked == 0 || (strcmp(match, "Exact") != 0 && (*match || rq->limit <= 0)))
		return true;
	m->rv = asked;
	return asked >= c->forgotten || sim_refuse_expired(out, "%s", too_old);
}

/* ---- what was different then: the last known state of each key that changed after the moment ---- */

struct past {
	char key[SIM_KEY_MAX];
	struct sim_version *version; /* borrowed from the history; NULL: was not there */
	uint64_t number;             /* of the event */
};

static int compare_past(const void *a, const void *b)
{
	const struct past *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static struct past *undo(const struct sim_collection *c, int64_t rv, size_t *n)
{
	uint64_t first = sim_event_after(c, rv);
	struct past *all = kar_xcalloc((size_t)(c->end - first) + 1, sizeof(*all));
	size_t kept = 0;

	for (uint64_t i = first; i < c->end; i++) {
		const struct sim_event *e = sim_event_at(c, i);
		const struct sim_value *meta = sim_member(e->new->value, "metadata");
		struct past *p = &all[i - first];

		sim_key_make(p->key, sim_text(sim_member(meta, "namespace")),
			sim_text_or(sim_member(meta, "name"), ""));
		p->version = e->old;
		p->number = i;
	}
	qsort(all, (size_t)(c->end - first), sizeof(*all), compare_past);
	for (size_t i = 0; i < c->end - first; i++) {
		if (kept == 0 || strcmp(all[kept - 1].key, all[i].key) != 0)
			all[kept++] = all[i]; /* the first change tells the state before */
	}
	*n = kept;
	return all;
}

/* ---- the walk over the objects of that moment, in order of their keys ---- */

struct walk {
	struct sim_slot *slot;
	struct past *past;
	size_t at, n;
	const char *key; /* of what was given last; valid until the next step */
};

static void walk_from(struct walk *w, const struct sim_collection *c, const char *key, bool after)
{
	w->slot = sim_slot_from(c, key);
	if (w->slot && after && !strcmp(w->slot->key, key))
		w->slot = sim_slot_after(w->slot);
	while (w->at < w->n && strcmp(w->past[w->at].key, key) < (after ? 1 : 0))
		w->at++;
}

/* Next object; NULL at the end. */
static struct sim_version *step(struct walk *w)
{
	for (;;) {
		struct past *p = w->at < w->n ? &w->past[w->at] : NULL;
		int order = !p ? -1 : !w->slot ? 1 : strcmp(w->slot->key, p->key);
		struct sim_version *v;

		if (!p && !w->slot)
			return NULL;
		w->key = order < 0 ? w->slot->key : p->key;
		v = order < 0 ? w->slot->version : p->version;
		if (order <= 0)
			w->slot = sim_slot_after(w->slot);
		if (order >= 0)
			w->at++;
		if (v)
			return v;
	}
}

static bool in_namespace(const char *key, const char *ns, size_t n)
{
	return n == 0 || (!strncmp(key, ns, n) && key[n] == '/');
}

/* ---- the list ---- */

struct page {
	struct sim_version **items;
	size_t n;
	char last[SIM_KEY_MAX];
	bool more;
	size_t remaining;
};

static void add(struct page *page, struct sim_version *v)
{
	if ((page->n & (page->n - 1)) == 0)
		page->items =
			kar_xrealloc(page->items, page->n ? 2 * page->n : 1, sizeof(struct sim_version *));
	page->items[page->n++] = sim_version_ref(v);
}

static void collect(struct walk *w, const struct sim_selection *l, size_t limit, struct page *page)
{
	size_t ns = l->ns ? strlen(l->ns) : 0;

	for (struct sim_version *v = step(w); v && in_namespace(w->key, l->ns, ns); v = step(w)) {
		if (limit && page->n == limit) {
			page->more = true;
			page->remaining++;
			if (l->labels || l->fields)
				return; /* how many of the rest match is not said */
		} else if (sim_selection_matches(l, v->value)) {
			add(page, v);
			memcpy(page->last, w->key, strlen(w->key) + 1);
		}
	}
}

static struct sim_value *metadata_of(const struct sim_selection *l, const struct moment *m,
	const struct page *page)
{
	struct kar_buf token KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_value *meta = sim_object();

	sim_set(&meta, sim_printf("%lld", (long long)m->rv), "resourceVersion");
	if (!page->more)
		return meta;
	sim_token_print(m->rv, page->last, &token);
	sim_set_text(&meta, kar_buf_cstr(&token), "continue");
	if (!l->labels && !l->fields)
		sim_set(&meta, sim_int((int64_t)page->remaining), "remainingItemCount");
	return meta;
}

static void list(struct sim_apiserver *s, struct sim_resource *r, const struct sim_request *rq,
	const struct sim_selection *l, struct sim_response *out)
{
	const struct sim_collection *c = r->objects;
	struct page page = { 0 };
	struct walk walk = { 0 };
	struct moment m;
	char start[SIM_KEY_MAX] = "";

	if (!choose_moment(s, c, rq, &m, out))
		return;
	if (l->ns && !sim_key_make(start, l->ns, ""))
		strlcpy(start, "\x7f", sizeof(start)); /* no namespace has such a name: behind all keys */
	if (m.rv < s->rv)
		walk.past = undo(c, m.rv, &walk.n);
	if (m.after && strcmp(m.after, start) > 0)
		walk_from(&walk, c, m.after, true);
	else
		walk_from(&walk, c, start, false);
	/* A list that may be stale ("0") comes from the cache of the API server, which does not paginate. */
	bool cached = rq->resource_version && !strcmp(rq->resource_version, "0");

	collect(&walk, l, cached || rq->limit < 0 ? 0 : (size_t)rq->limit, &page);
	sim_answer_list(s, r, rq, metadata_of(l, &m, &page), page.items, page.n, out);
	free(walk.past);
}

void sim_verb_list(struct sim_apiserver *s, struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct sim_selection l;

	if (!sim_list_options_check(rq, false, s->no_initial_events, out) ||
		!sim_selection_init(&l, r, rq, out))
		return;
	list(s, r, rq, &l, out);
	sim_selection_release(&l);
}
