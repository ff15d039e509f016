/*
 * Seeded walks: writers write at random while readers follow by list and watch, falling behind and losing their place. Whatever
 * happens, a reader that has read everything knows exactly what is there; and a list in pages shows one moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "sim/apiserver/apiserver.h"

enum { SEEDS = 40, STEPS = 400, NAMES = 8, READERS = 4, KEYS_MAX = 2 * NAMES };
static const char *const namespaces[] = { "default", "kube-system" };

struct known {
	char key[64];
	int64_t rv;
};

struct reader {
	const char *ns, *selector;
	bool bookmarks;
	struct sim_watch *watch;
	struct known cache[KEYS_MAX];
	size_t n;
	int64_t rv;   /* of the last event */
	bool initial; /* what is there is still being told */
	unsigned relists;
};

struct walk {
	uint64_t seed;
	struct sim_random random;
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct reader readers[READERS];
};

static unsigned draw(struct walk *w, unsigned n)
{
	return (unsigned)sim_random_below(&w->random, n);
}

/* ---- writers ---- */

static int call(struct walk *w, struct sim_request rq, const char *body, struct sim_response *out)
{
	rq.group = "";
	rq.version = "v1";
	rq.resource = "endpoints";
	rq.body = (struct kar_str){ body, body ? strlen(body) : 0 };
	rq.patch_type = KAR_PATCH_MERGE;
	sim_apiserver_call(w->server, &rq, out);
	return out->code;
}

static void write_something(struct walk *w)
{
	static const char *const patches[] = { "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}",
		"{\"metadata\":{\"labels\":{\"x\":\"2\"}}}", "{\"metadata\":{\"labels\":null}}",
		"{\"metadata\":{\"finalizers\":[\"x.y/z\"]}}", "{\"metadata\":{\"finalizers\":null}}" };
	char name[16], body[128];
	struct sim_request rq = { .ns = namespaces[draw(w, 2)], .name = name };
	struct sim_response out;
	const char *text = NULL;

	snprintf(name, sizeof(name), "n%u", draw(w, NAMES));
	switch (draw(w, 4)) {
	case 0:
		rq.verb = KAR_CREATE;
		rq.name = NULL;
		snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"x\":\"%u\"}}}",
			name, draw(w, 3));
		text = body;
		break;
	case 1:
		rq.verb = KAR_DELETE;
		break;
	default:
		rq.verb = KAR_PATCH;
		text = patches[draw(w, KAR_LEN(patches))];
	}
	call(w, rq, text, &out);
	if (out.code >= 500 || out.code == 400)
		fail_msg("seed %llu: %d %s", (unsigned long long)w->seed, out.code,
			sim_text_or(sim_member(out.object, "message"), ""));
	sim_response_release(&out);
}

/* ---- readers ---- */

static void key_of(const struct sim_value *object, char key[64])
{
	snprintf(key, 64, "%s/%s", sim_text_or(sim_get(object, "metadata", "namespace"), ""),
		sim_text_or(sim_get(object, "metadata", "name"), ""));
}

static int64_t rv_of(const struct sim_value *object)
{
	return strtoll(sim_text_or(sim_get(object, "metadata", "resourceVersion"), "0"), NULL, 10);
}

static struct known *find(struct reader *r, const char *key)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!strcmp(r->cache[i].key, key))
			return &r->cache[i];
	}
	return NULL;
}

static void learn(struct reader *r, const struct sim_value *object)
{
	char key[64];
	struct known *k;

	key_of(object, key);
	k = find(r, key);
	if (!k) {
		assert_true(r->n < KEYS_MAX);
		k = &r->cache[r->n++];
		memcpy(k->key, key, sizeof(k->key));
	}
	k->rv = rv_of(object);
}

static struct sim_request as_reader(const struct reader *r, enum kar_verb verb)
{
	return (struct sim_request){ .verb = verb,
		.group = "",
		.version = "v1",
		.resource = "endpoints",
		.ns = r->ns,
		.label_selector = r->selector,
		.bookmarks = r->bookmarks };
}

/* Begins with a list, or with a watch that tells everything first. */
static void start(struct walk *w, struct reader *r)
{
	struct sim_request list = as_reader(r, KAR_LIST), rq = as_reader(r, KAR_WATCH);
	struct sim_response out;
	char rv[24] = "";

	r->n = 0;
	r->relists++;
	r->initial = draw(w, 2) == 0;
	if (!r->initial) {
		call(w, list, NULL, &out);
		const struct sim_value *items = sim_member(out.object, "items");

		for (size_t i = 0; i < sim_count(items); i++)
			learn(r, sim_item(items, i));
		r->rv = rv_of(out.object);
		snprintf(rv, sizeof(rv), "%lld", (long long)r->rv);
		sim_response_release(&out);
	} else {
		r->rv = 0;
	}
	rq.resource_version = rv;
	r->watch = sim_watch_open(w->server, &rq, NULL, NULL, &out);
	assert_non_null(r->watch);
}

static void stop(struct reader *r)
{
	sim_watch_close(r->watch);
	r->watch = NULL;
}

static void take(struct walk *w, struct reader *r, const char *type, const struct sim_value *object)
{
	struct known *k;
	char key[64];

	key_of(object, key);
	k = find(r, key);
	bool fits = !strcmp(type, "ADDED") ? !k : k != NULL;
	bool later = rv_of(object) > r->rv || (r->initial && !strcmp(type, "ADDED"));

	if (!fits || !later)
		fail_msg("seed %llu: reader of %s %s: %s %s at %lld after %lld", (unsigned long long)w->seed,
			r->ns ? r->ns : "all", r->selector ? r->selector : "", type, key,
			(long long)rv_of(object), (long long)r->rv);
	if (rv_of(object) > r->rv)
		r->rv = rv_of(object);
	if (strcmp(type, "DELETED") != 0)
		learn(r, object);
	else
		*k = r->cache[--r->n];
}

/* One event; false: nothing was there. */
static bool read_one(struct walk *w, struct reader *r)
{
	struct kar_buf line = { 0 };
	struct sim_value *v;
	enum sim_watch_state state = sim_watch_read(r->watch, &line);

	if (line.n && state == SIM_WATCH_EVENT) {
		v = sim_parse(line.p, line.n, NULL);
		const char *type = sim_text_or(sim_member(v, "type"), "");

		if (strcmp(type, "BOOKMARK") != 0) {
			take(w, r, type, sim_member(v, "object"));
		} else {
			r->initial = false;
			assert_true(rv_of(sim_member(v, "object")) >= r->rv);
		}
		sim_unref(v);
	}
	kar_buf_release(&line);
	if (state == SIM_WATCH_ENDED) {
		stop(r);
		start(w, r);
	}
	return state != SIM_WATCH_DRY;
}

static void expect_all_known(struct walk *w, struct reader *r)
{
	struct sim_response out;

	while (read_one(w, r))
		;
	call(w, as_reader(r, KAR_LIST), NULL, &out);
	const struct sim_value *items = sim_member(out.object, "items");

	for (size_t i = 0; i < sim_count(items); i++) {
		char key[64];

		key_of(sim_item(items, i), key);
		const struct known *k = find(r, key);

		if (!k || k->rv != rv_of(sim_item(items, i)))
			fail_msg("seed %llu: reader of %s %s does not know %s as it is",
				(unsigned long long)w->seed, r->ns ? r->ns : "all",
				r->selector ? r->selector : "", key);
	}
	assert_int_equal(sim_count(items), r->n);
	sim_response_release(&out);
}

/* ---- pages ---- */

static void append_items(const struct sim_value *list, struct kar_buf *out)
{
	const struct sim_value *items = sim_member(list, "items");

	for (size_t i = 0; i < sim_count(items); i++)
		sim_print(sim_item(items, i), out);
}

/* A list in pages, with writes between them, shows what a whole list showed at the beginning. */
static void list_in_pages(struct walk *w)
{
	struct kar_buf whole = { 0 }, pages = { 0 };
	char token[512] = "";
	struct sim_response out;

	call(w, (struct sim_request){ .verb = KAR_LIST }, NULL, &out);
	append_items(out.object, &whole);
	sim_response_release(&out);
	do {
		call(w,
			(struct sim_request){ .verb = KAR_LIST,
				.limit = 1 + draw(w, 4),
				.continue_token = token },
			NULL, &out);
		assert_int_equal(out.code, 200);
		append_items(out.object, &pages);
		snprintf(token, sizeof(token), "%s",
			sim_text_or(sim_get(out.object, "metadata", "continue"), ""));
		sim_response_release(&out);
		write_something(w);
	} while (*token);
	if (strcmp(kar_buf_cstr(&whole), kar_buf_cstr(&pages)) != 0)
		fail_msg("seed %llu: expected %s, in pages %s", (unsigned long long)w->seed,
			kar_buf_cstr(&whole), kar_buf_cstr(&pages));
	kar_buf_release(&whole);
	kar_buf_release(&pages);
}

/* ---- walks ---- */

static void step(struct walk *w)
{
	struct reader *r = &w->readers[draw(w, READERS)];

	switch (draw(w, 20)) {
	case 0:
		sim_apiserver_compact(w->server);
		break;
	case 1:
		list_in_pages(w);
		break;
	case 2:
		sim_timeline_run(w->timeline, sim_timeline_mono(w->timeline) + draw(w, 120) * KAR_SECOND);
		break;
	case 3:
		stop(r);
		start(w, r);
		break;
	case 4:
		expect_all_known(w, r);
		break;
	default:
		write_something(w);
		for (unsigned n = draw(w, 4); n > 0; n--)
			read_one(w, r);
	}
}

static void walk(uint64_t seed, size_t history)
{
	struct walk w = { .seed = seed,
		.random = sim_random_of(seed, "walk"),
		.timeline = sim_timeline_new(1795268787000),
		.readers = { { .bookmarks = true }, { .ns = "default" },
			{ .selector = "x=1", .bookmarks = true },
			{ .ns = "kube-system", .selector = "x!=2" } } };

	w.server = sim_apiserver_new(w.timeline,
		&(struct sim_apiserver_options){ .seed = seed, .history = history });
	for (size_t i = 0; i < READERS; i++)
		start(&w, &w.readers[i]);
	for (int i = 0; i < STEPS; i++)
		step(&w);
	for (size_t i = 0; i < READERS; i++) {
		expect_all_known(&w, &w.readers[i]);
		stop(&w.readers[i]);
	}
	sim_apiserver_free(w.server);
	sim_timeline_free(w.timeline);
}

static void readers_know_what_is_there(void **state KAR_UNUSED)
{
	const char *only = getenv("KAR_SEED");

	if (only) {
		walk(strtoull(only, NULL, 10), 0);
		return;
	}
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		walk(seed, seed % 2 ? 64 : 0); /* more than is written between two pages */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(readers_know_what_is_there) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
