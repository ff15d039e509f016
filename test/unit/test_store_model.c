#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/store.h"
#include "test/fixture/toy_walk.h"

/* The property: whatever happens, the store equals a naive model, and so does a replay of what was heard. */

enum { NAMES = 12, COLOURS = 3, ROUNDS = 400, STEPS = 60 };
static const char *const colours[COLOURS] = { "", "red", "blue" };

struct version {
	unsigned uid; /* 0: absent */
	unsigned rv, colour;
};

struct world {
	struct kar_intern *strings;
	struct kar_store *store;
	struct version model[NAMES], replay[NAMES];
	unsigned rv, last_uid;
	unsigned seed;
	uint64_t random;
};

static unsigned pick(struct world *w, unsigned n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->random >> 33) % n;
}

static struct version read_version(const struct kar_object *o)
{
	struct version v = { .uid = (unsigned)atoi(o->uid), .rv = (unsigned)o->rv };

	while (v.colour < COLOURS && strcmp(colours[v.colour][0] ? colours[v.colour] : "-", toy_colour(o)))
		v.colour++;
	return v;
}

static void replay(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct world *w = arg;
	struct version *v = &w->replay[atoi((old ? old : new)->name)];
	struct version none = { 0 };

	struct version was = old ? read_version(old) : none;

	if (memcmp(&was, v, sizeof(was)))
		fail_msg("seed %u: listener got old %u@%u, but it knew %u@%u", w->seed, was.uid, was.rv,
			v->uid, v->rv);
	if (old && new &&strcmp(old->uid, new->uid))
		fail_msg("seed %u: an update joined two UIDs", w->seed);
	*v = new ? read_version(new) : none;
}

static struct kar_object *object_of(struct world *w, unsigned name, struct version v)
{
	char text[3][16];

	snprintf(text[0], sizeof(text[0]), "%u", name);
	snprintf(text[1], sizeof(text[1]), "%u", v.uid);
	snprintf(text[2], sizeof(text[2]), "%u", v.rv);
	return toy_object(w->strings, name % 3 ? "n" : "m", text[0], text[1], text[2], colours[v.colour],
		pick(w, 2) ? "owner" : NULL);
}

static struct version next_version(struct world *w, unsigned name)
{
	struct version v = w->model[name];

	if (!v.uid || pick(w, 4) == 0)
		v.uid = ++w->last_uid;
	v.rv = ++w->rv;
	v.colour = pick(w, COLOURS);
	return v;
}

static void random_delete(struct world *w, unsigned name)
{
	struct version *v = &w->model[name];
	bool wrong_uid = pick(w, 4) == 0, stale = pick(w, 4) == 0 && v->rv > 1;
	char text[2][16];
	kar_rv rv = stale ? v->rv - 1 : ++w->rv;

	snprintf(text[0], sizeof(text[0]), "%u", name);
	snprintf(text[1], sizeof(text[1]), "%u", v->uid + wrong_uid);
	kar_store_delete(w->store, name % 3 ? "n" : "m", text[0], text[1], rv);
	if (!wrong_uid && !stale)
		*v = (struct version){ 0 };
}

static void random_replace(struct world *w)
{
	struct version next[NAMES] = { 0 };
	bool abort = pick(w, 4) == 0;

	kar_store_replace_begin(w->store);
	for (unsigned name = 0; name < NAMES; name++) {
		unsigned what = pick(w, 4);

		if (what == 0 || (what == 1 && !w->model[name].uid))
			continue;
		next[name] = what == 1 ? w->model[name] : next_version(w, name);
		kar_store_replace_add(w->store, object_of(w, name, next[name]));
	}
	if (abort) {
		kar_store_replace_abort(w->store);
		return;
	}
	memcpy(w->model, next, sizeof(next));
	kar_store_replace_commit(w->store, ++w->rv);
}

static void random_step(struct world *w)
{
	unsigned name = pick(w, NAMES);
	struct version v = w->model[name];

	switch (pick(w, 8)) {
	case 0:
		random_replace(w);
		break;
	case 1:
	case 2:
		random_delete(w, name);
		break;
	case 3: /* a duplicate or an older version, as a resumed watch may send */
		if (!v.uid)
			break;
		v.rv -= pick(w, 2) && v.rv > 1;
		kar_store_apply(w->store, object_of(w, name, v));
		break;
	case 4:
		kar_store_bookmark(w->store, w->rv);
		break;
	default:
		w->model[name] = next_version(w, name);
		kar_store_apply(w->store, object_of(w, name, w->model[name]));
	}
}

static void check_index(struct world *w, int index, const char *value, size_t want)
{
	size_t got = toy_walk(w->store, index, value);

	if (got != want)
		fail_msg("seed %u: index %d, \"%s\": %zu objects, want %zu", w->seed, index,
			value ? value : "", got, want);
}

static void check(struct world *w)
{
	size_t count = 0, by_ns[2] = { 0 }, by_colour[COLOURS] = { 0 };

	for (unsigned name = 0; name < NAMES; name++) {
		struct version *want = &w->model[name], none = { 0 };
		char text[16];

		snprintf(text, sizeof(text), "%u", name);

		const struct kar_object *o = kar_store_get(w->store, name % 3 ? "n" : "m", text);
		struct version got = o ? read_version(o) : none;

		if (memcmp(&got, want, sizeof(got)) || memcmp(&w->replay[name], want, sizeof(got)))
			fail_msg("seed %u, %u: store has %u@%u, replay %u@%u, want %u@%u", w->seed, name,
				got.uid, got.rv, w->replay[name].uid, w->replay[name].rv, want->uid,
				want->rv);
		count += want->uid != 0;
		by_ns[name % 3 != 0] += want->uid != 0;
		by_colour[want->colour] += want->uid != 0;
	}
	if (kar_store_count(w->store) != count || toy_alive != (int)count)
		fail_msg("seed %u: count %zu, %d alive, want %zu", w->seed, kar_store_count(w->store),
			toy_alive, count);
	check_index(w, -1, NULL, count);
	check_index(w, TOY_BY_NAMESPACE, "m", by_ns[0]);
	check_index(w, TOY_BY_NAMESPACE, "n", by_ns[1]);
	for (unsigned c = 1; c < COLOURS; c++)
		check_index(w, TOY_BY_COLOUR, colours[c], by_colour[c]);
}

static void store_equals_model_and_replay(void **state)
{
	(void)state;
	print_message("seeds 1 to %d\n", ROUNDS);
	for (unsigned seed = 1; seed <= ROUNDS; seed++) {
		struct world w = { .strings = kar_intern_new(), .seed = seed, .random = seed };

		w.store = kar_store_new(&toy_type, w.strings);
		kar_store_listen(w.store, replay, &w);
		for (int i = 0; i < STEPS; i++) {
			random_step(&w);
			check(&w);
		}
		kar_store_free(w.store);
		assert_int_equal(toy_alive, 0);
		kar_intern_free(w.strings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_equals_model_and_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
