#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/store.h"
#include "common/kube/store_index.h"
#include "test/fixture/toy_walk.h"

/* A store that writes down what its listener hears: "+n/a@5 " "~n/a@5>7 " "-n/a@7 ". */
struct fixture {
	struct kar_intern *strings;
	struct kar_store *store;
	struct kar_buf heard;
};

static void hear(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct fixture *f = arg;
	char key[KAR_KEY_LEN];

	kar_object_key(old ? old : new, key);
	if (!old)
		kar_buf_printf(&f->heard, "+%s@%ju ", key, (uintmax_t) new->rv);
	else if (!new)
		kar_buf_printf(&f->heard, "-%s@%ju ", key, (uintmax_t)old->rv);
	else
		kar_buf_printf(&f->heard, "~%s@%ju>%ju ", key, (uintmax_t)old->rv, (uintmax_t) new->rv);
}

static int setup(void **state)
{
	struct fixture *f = kar_xcalloc(1, sizeof(*f));

	f->strings = kar_intern_new();
	f->store = kar_store_new(&toy_type, f->strings);
	kar_store_listen(f->store, hear, f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kar_store_free(f->store);
	kar_intern_free(f->strings); /* asserts that every string was put back */
	kar_buf_release(&f->heard);
	free(f);
	return toy_alive;
}

/*
 * Steps, separated by blanks, on objects of namespace "n": "a.1@5" applies object a with UID 1 and version 5;
 * "a.1@5=red" with a colour; "!a.1@7" deletes; "#9" is a bookmark; "[" begins a replace, "]9" commits it, "x" aborts it.
 */
static void step(struct fixture *f, const char *text)
{
	char name[8] = "", uid[8] = "", rv[24] = "", colour[16] = "";
	bool replacing = false;

	for (const char *p = text; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		if (*p == '[') {
			kar_store_replace_begin(f->store);
			replacing = true;
		} else if (*p == ']' || *p == 'x') {
			replacing = false;
			if (*p == 'x')
				kar_store_replace_abort(f->store);
			else
				kar_store_replace_commit(f->store, strtoull(p + 1, NULL, 10));
		} else if (*p == '#') {
			kar_store_bookmark(f->store, strtoull(p + 1, NULL, 10));
		} else if (*p == '!') {
			assert_int_equal(sscanf(p, "!%7[^.].%7[^@]@%23[0-9]", name, uid, rv), 3);
			kar_store_delete(f->store, "n", name, uid, kar_rv_parse(rv));
		} else {
			colour[0] = '\0';
			assert_true(sscanf(p, "%7[^.].%7[^@]@%23[0-9]=%15[a-z]", name, uid, rv, colour) >= 3);

			struct kar_object *o = toy_object(f->strings, "n", name, uid, rv, colour, NULL);

			if (replacing)
				kar_store_replace_add(f->store, o);
			else
				kar_store_apply(f->store, o);
		}
	}
}

static void changes_and_what_is_heard(void **state)
{
	static const struct {
		const char *name, *before, *steps, *heard;
		kar_rv rv;
	} rows[] = {
		{ "unknown_then_added", "", "a.1@5", "+n/a@5 ", 5 },
		{ "newer_then_updated", "a.1@5", "a.1@7", "~n/a@5>7 ", 7 },
		{ "equal_version_then_dropped", "a.1@5", "a.1@5", "", 5 },
		{ "older_version_then_dropped", "a.1@5", "a.1@4", "", 5 },
		{ "incomparable_version_then_updated", "a.1@5", "a.1@05", "~n/a@5>0 ", 5 },
		{ "other_uid_then_deleted_and_added", "a.1@5", "a.2@7", "-n/a@5 +n/a@7 ", 7 },
		{ "replayed_event_of_predecessor_then_dropped", "a.2@7", "a.1@5", "", 7 },
		{ "deleted_then_told", "a.1@5", "!a.1@8", "-n/a@5 ", 8 },
		{ "deleted_at_same_version_then_told", "a.1@5", "!a.1@5", "-n/a@5 ", 5 },
		{ "delete_of_unknown_then_only_version", "a.1@5", "!b.1@9", "", 9 },
		{ "delete_of_other_uid_then_ignored", "a.2@5", "!a.1@9", "", 9 },
		{ "delete_older_than_stored_then_ignored", "a.1@5", "!a.1@4", "", 5 },
		{ "bookmark_then_version_moves", "a.1@5", "#20", "", 20 },
		{ "lower_bookmark_then_ignored", "a.1@5", "#3", "", 5 },
		{ "list_adds", "", "[ a.1@5 b.2@6 ]9", "+n/a@5 +n/b@6 ", 9 },
		{ "list_without_it_then_deleted", "a.1@5 b.2@6", "[ b.2@6 ]9", "-n/a@5 ", 9 },
		{ "list_same_versions_then_silent", "a.1@5 b.2@6", "[ b.2@6 a.1@5 ]9", "", 9 },
		{ "list_newer_then_updated", "a.1@5", "[ a.1@8 ]9", "~n/a@5>8 ", 9 },
		{ "list_other_uid_then_deleted_first", "a.1@5 b.2@6", "[ c.4@7 a.3@8 ]9",
			"-n/a@5 -n/b@6 +n/c@7 +n/a@8 ", 9 },
		{ "list_deletes_come_first", "a.1@5 b.2@6", "[ a.1@8 ]9", "-n/b@6 ~n/a@5>8 ", 9 },
		{ "empty_list_then_all_deleted", "a.1@5", "[ ]9", "-n/a@5 ", 9 },
		{ "aborted_list_then_nothing", "a.1@5 b.2@6", "[ a.1@8 c.3@9 x", "", 6 },
		{ "list_after_aborted_one_forgets_its_marks", "a.1@5 b.2@6", "[ a.1@5 x [ b.2@6 ]9",
			"-n/a@5 ", 9 },
		{ "list_of_older_server_is_the_truth", "a.1@5 b.2@6", "[ a.1@4 ]4", "-n/b@6 ~n/a@5>4 ", 4 },
		{ "same_name_twice_in_list_then_last", "", "[ a.1@5 a.1@6 ]9", "+n/a@5 ~n/a@5>6 ", 9 },
		{ "room_is_reused_after_deletes", "a.1@5", "!a.1@6 b.2@7 c.3@8", "-n/a@5 +n/b@7 +n/c@8 ", 8 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		void *fresh;

		setup(&fresh);

		struct fixture *f = fresh;

		step(f, rows[i].before);
		kar_buf_clear(&f->heard);
		step(f, rows[i].steps);
		if (strcmp(kar_buf_cstr(&f->heard), rows[i].heard) || kar_store_rv(f->store) != rows[i].rv)
			fail_msg("%s: heard \"%s\" rv %ju, want \"%s\" rv %ju", rows[i].name,
				kar_buf_cstr(&f->heard), (uintmax_t)kar_store_rv(f->store), rows[i].heard,
				(uintmax_t)rows[i].rv);
		if (teardown(&fresh))
			fail_msg("%s: %d objects leaked", rows[i].name, toy_alive);
	}
}

static void indexes_follow_the_objects(void **state)
{
	struct fixture *f = *state;

	step(f, "a.1@1=red b.2@2=red c.3@3=blue d.4@4");
	assert_int_equal(toy_walk(f->store, -1, NULL), 4);
	assert_int_equal(toy_walk(f->store, TOY_BY_COLOUR, "red"), 2);
	assert_int_equal(toy_walk(f->store, TOY_BY_COLOUR, "blue"), 1);
	assert_int_equal(toy_walk(f->store, TOY_BY_COLOUR, "green"), 0);
	assert_int_equal(toy_walk(f->store, TOY_BY_NAMESPACE, "n"), 4);
	step(f, "a.1@5=green c.3@6=red !b.2@7");
	assert_int_equal(toy_walk(f->store, TOY_BY_COLOUR, "red"), 1);
	assert_int_equal(toy_walk(f->store, TOY_BY_COLOUR, "blue"), 0);
	assert_int_equal(toy_walk(f->store, TOY_BY_COLOUR, "green"), 1);
	assert_int_equal(toy_walk(f->store, TOY_BY_NAMESPACE, "n"), 3);
}

static void get_finds_by_namespace_and_name(void **state)
{
	struct fixture *f = *state;

	assert_null(kar_store_get(f->store, "n", "a"));
	step(f, "a.1@1");
	kar_store_apply(f->store, toy_object(f->strings, "other", "a", "2", "2", NULL, NULL));
	kar_store_apply(f->store, toy_object(f->strings, NULL, "a", "3", "3", NULL, NULL));
	assert_string_equal(kar_store_get(f->store, "n", "a")->uid, "1");
	assert_string_equal(kar_store_get(f->store, "other", "a")->uid, "2");
	assert_string_equal(kar_store_get(f->store, NULL, "a")->uid, "3");
	assert_string_equal(kar_store_get(f->store, "", "a")->uid, "3");
	assert_null(kar_store_get(f->store, "n", "b"));
}

static void staged_objects_are_invisible_until_commit(void **state)
{
	struct fixture *f = *state;

	step(f, "a.1@1");
	kar_store_replace_begin(f->store);
	kar_store_replace_add(f->store, toy_object(f->strings, "n", "b", "2", "2", NULL, NULL));
	assert_non_null(kar_store_get(f->store, "n", "a"));
	assert_null(kar_store_get(f->store, "n", "b"));
	assert_false(kar_store_synced(f->store));
	kar_store_replace_commit(f->store, 5);
	assert_null(kar_store_get(f->store, "n", "a"));
	assert_non_null(kar_store_get(f->store, "n", "b"));
	assert_true(kar_store_synced(f->store));
}

static void unchanged_objects_are_never_held_twice(void **state)
{
	struct fixture *f = *state;

	step(f, "[ a.1@1 b.2@2 c.3@3 ]5");
	kar_store_replace_begin(f->store);
	for (int i = 0; i < 100; i++) {
		kar_store_replace_add(f->store, toy_object(f->strings, "n", "a", "1", "1", NULL, NULL));
		assert_int_equal(toy_alive, 3);
	}
	kar_store_replace_add(f->store, toy_object(f->strings, "n", "a", "1", "7", NULL, NULL));
	assert_int_equal(toy_alive, 4);
	kar_store_replace_abort(f->store);
	assert_int_equal(toy_alive, 3);
}

/* What a listener sees of the store during a commit. */
struct peek {
	const struct kar_store *store;
	size_t calls;
};

static void peek(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct peek *p = arg;

	(void)old, (void)new;
	p->calls++;
	assert_null(kar_store_get(p->store, "n", "a"));
	assert_int_equal(kar_store_count(p->store), 2);
	assert_int_equal(kar_store_rv(p->store), 9);
	assert_false(kar_store_synced(p->store));
}

static void listeners_see_the_new_list_only(void **state)
{
	struct fixture *f = *state;
	struct peek p = { .store = f->store };

	step(f, "a.1@1 b.2@2");
	kar_store_listen(f->store, peek, &p);
	step(f, "[ b.2@5 c.3@6 ]9");
	assert_int_equal(p.calls, 3);
}

/* Enough objects for several growths and long probe sequences. */
static void many_objects_come_and_go(void **state)
{
	enum { MANY = 5000 };
	struct fixture *f = *state;
	char name[16], owner[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p-%d", i);
		snprintf(owner, sizeof(owner), "o-%d", i / 10);
		kar_store_apply(f->store, toy_object(f->strings, "n", name, name, "1", NULL, owner));
	}
	assert_int_equal(kar_store_count(f->store), MANY);
	for (int i = 0; i < MANY; i += 2) {
		snprintf(name, sizeof(name), "p-%d", i);
		kar_store_delete(f->store, "n", name, name, 2);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p-%d", i);
		if (!kar_store_get(f->store, "n", name) != (i % 2 == 0))
			fail_msg("%s is %s", name, i % 2 ? "lost" : "still there");
	}
	for (int i = 0; i < MANY / 10; i++) {
		snprintf(owner, sizeof(owner), "o-%d", i);
		assert_int_equal(toy_walk(f->store, TOY_BY_OWNER, owner), 5);
	}
}

/*
 * Names whose FNV-1a hash of an unkeyed table begins its search in one of 2,048 slots of 131,072: without a key of the table
 * everybody can find them.
 */
static void chosen_names_share_no_slot(void **state)
{
	enum { MANY = 50000, SLOTS = 1 << 17, CHOSEN = 2048, LONGEST = 256 };
	struct fixture *f = *state;
	struct kar_store *s = kar_store_new(&toy_type, f->strings);

	for (unsigned i = 0, n = 0; n < MANY; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%u", i);

		uint64_t h = kar_hash_str(kar_hash_str(0, "n"), name);

		if (((h ^ h >> 32) & (SLOTS - 1)) >= CHOSEN)
			continue;
		kar_store_apply(s, toy_object(f->strings, "n", name, "1", "5", NULL, NULL));
		n++;
	}
	assert_int_equal(kar_store_count(s), MANY);
	assert_in_range(kar_store_longest_search(s), 1, LONGEST);
	kar_store_free(s);
}

static void values_that_nobody_has_take_no_room(void **state)
{
	static char values[1000];
	struct kar_store_index x = { 0 };

	(void)state;
	kar_store_index_reserve(&x, 2);
	kar_store_index_add(&x, 0, "kept");
	for (size_t i = 0; i < sizeof(values); i++) {
		kar_store_index_add(&x, 1, &values[i]);
		assert_int_equal(kar_store_index_first(&x, &values[i]), 1);
		kar_store_index_remove(&x, 1, &values[i]);
	}
	assert_int_equal(x.n_values, 1);
	assert_true(x.room <= 8);
	kar_store_index_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_and_what_is_heard),
		cmocka_unit_test_setup_teardown(indexes_follow_the_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(get_finds_by_namespace_and_name, setup, teardown),
		cmocka_unit_test_setup_teardown(staged_objects_are_invisible_until_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(unchanged_objects_are_never_held_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(listeners_see_the_new_list_only, setup, teardown),
		cmocka_unit_test(values_that_nobody_has_take_no_room),
		cmocka_unit_test_setup_teardown(chosen_names_share_no_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(many_objects_come_and_go, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
