#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/barrier.h"
#include "test/unit/toy.h"

static const struct kar_type other_type = { .res = { .plural = "others" } };

struct fixture {
	struct kar_intern *strings;
	struct kar_store *toys, *others;
	struct kar_barrier *barrier;
};

static void list(struct kar_store *s, kar_rv rv)
{
	kar_store_replace_begin(s);
	kar_store_replace_commit(s, rv);
}

static int setup(void **state)
{
	struct fixture *f = kar_xcalloc(1, sizeof(*f));

	f->strings = kar_intern_new();
	f->toys = kar_store_new(&toy_type, f->strings);
	f->others = kar_store_new(&other_type, f->strings);
	f->barrier = kar_barrier_new();
	list(f->toys, 10);
	list(f->others, 10);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kar_barrier_free(f->barrier);
	kar_store_free(f->toys);
	kar_store_free(f->others);
	kar_intern_free(f->strings);
	free(f);
	return 0;
}

static void nothing_written_then_passed(void **state)
{
	struct fixture *f = *state;

	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
}

static void written_then_waits_until_the_store_has_it(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	assert_false(kar_barrier_passed(f->barrier, "n/a", f->toys));
	kar_store_bookmark(f->toys, 11);
	assert_false(kar_barrier_passed(f->barrier, "n/a", f->toys));
	kar_store_bookmark(f->toys, 12);
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
}

static void highest_write_counts(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 15);
	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	kar_store_bookmark(f->toys, 14);
	assert_false(kar_barrier_passed(f->barrier, "n/a", f->toys));
	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 17);
	kar_store_bookmark(f->toys, 15);
	assert_false(kar_barrier_passed(f->barrier, "n/a", f->toys));
	kar_store_bookmark(f->toys, 17);
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
}

static void keys_and_types_are_apart(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	kar_barrier_wrote(f->barrier, "n/b", &other_type, 12);
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->others));
	assert_true(kar_barrier_passed(f->barrier, "n/b", f->toys));
	assert_true(kar_barrier_passed(f->barrier, "n/", f->toys));
	assert_true(kar_barrier_passed(f->barrier, "n/aa", f->toys));
	assert_false(kar_barrier_passed(f->barrier, "n/a", f->toys));
	assert_false(kar_barrier_passed(f->barrier, "n/b", f->others));
}

static void incomparable_write_then_not_recorded(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 0);
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
}

static void store_before_its_first_list_then_waits(void **state)
{
	struct fixture *f = *state;
	struct kar_store *fresh = kar_store_new(&toy_type, f->strings);

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	assert_false(kar_barrier_passed(f->barrier, "n/a", fresh));
	list(fresh, 12); /* created and deleted unseen: the list's version is enough */
	assert_true(kar_barrier_passed(f->barrier, "n/a", fresh));
	kar_store_free(fresh);
}

static void store_with_incomparable_version_then_goes_on(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	list(f->toys, 0);
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
}

static void passed_then_forgotten(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	kar_store_bookmark(f->toys, 12);
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
	list(f->toys, 5); /* the answer would be no if the entry were still there */
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
}

static void forget_drops_all_types_of_one_key(void **state)
{
	struct fixture *f = *state;

	kar_barrier_wrote(f->barrier, "n/a", &toy_type, 12);
	kar_barrier_wrote(f->barrier, "n/a", &other_type, 12);
	kar_barrier_wrote(f->barrier, "n/b", &toy_type, 12);
	kar_barrier_forget(f->barrier, "n/a");
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->toys));
	assert_true(kar_barrier_passed(f->barrier, "n/a", f->others));
	assert_false(kar_barrier_passed(f->barrier, "n/b", f->toys));
	kar_barrier_forget(f->barrier, "n/unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_written_then_passed, setup, teardown),
		cmocka_unit_test_setup_teardown(written_then_waits_until_the_store_has_it, setup, teardown),
		cmocka_unit_test_setup_teardown(highest_write_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_and_types_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(incomparable_write_then_not_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(store_before_its_first_list_then_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(store_with_incomparable_version_then_goes_on, setup,
			teardown),
		cmocka_unit_test_setup_teardown(passed_then_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(forget_drops_all_types_of_one_key, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
