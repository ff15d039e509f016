#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/mem.h"

static void strings(void **state)
{
	char *a = kar_xstrdup("abc"), *b = kar_xstrndup("abc", 2), *c = kar_xstrndup("abc", 9);
	char *d = kar_xasprintf("%s-%d", "x", 7);

	(void)state;
	assert_string_equal(a, "abc");
	assert_string_equal(b, "ab");
	assert_string_equal(c, "abc");
	assert_string_equal(d, "x-7");
	free(a);
	free(b);
	free(c);
	free(d);
}

static void zero_bytes_then_a_pointer(void **state)
{
	void *a = kar_xmalloc(0), *b = kar_xcalloc(0, 8), *c = kar_xrealloc(NULL, 0, 8);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
	free(a);
	free(b);
	free(c);
}

/* How a child ends that asks for the impossible: the signal. */
static int signal_of(void (*ask)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit none = { 0 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		ask();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static volatile size_t half = SIZE_MAX / 2; /* volatile: the compiler must not see the overflow coming */

static void realloc_overflow(void)
{
	free(kar_xrealloc(NULL, half, 3));
}

static void arena_overflow(void)
{
	struct kar_arena a = { 0 };

	memset(kar_arena_alloc(&a, half, 3), 1, 1);
}

static void arena_near_the_top(void)
{
	struct kar_arena a = { 0 };

	memset(kar_arena_alloc(&a, 2 * half - 8, 1), 1, 1);
}

static void overflow_then_abort(void **state)
{
	(void)state;
	assert_int_equal(signal_of(realloc_overflow), SIGABRT);
	assert_int_equal(signal_of(arena_overflow), SIGABRT);
	assert_int_equal(signal_of(arena_near_the_top), SIGABRT);
}

static bool all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

/* Blocks are aligned, zeroed and apart from each other, before and after a reset. */
static void arena_blocks(void **state)
{
	enum { MANY = 2000 };
	struct kar_arena a = { 0 };

	(void)state;
	for (int round = 0; round < 3; round++) {
		char *seen[MANY];
		size_t sizes[MANY];

		for (size_t i = 0; i < MANY; i++) {
			sizes[i] = i * 37 % 301;
			seen[i] = kar_arena_alloc(&a, sizes[i], 1);
			assert_int_equal((uintptr_t)seen[i] % 16, 0);
			assert_true(all_zero(seen[i], sizes[i]));
			memset(seen[i], (int)(i % 255) + 1, sizes[i]);
		}
		for (size_t i = 0; i < MANY; i++) {
			for (size_t j = 0; j < sizes[i]; j++)
				assert_int_equal((unsigned char)seen[i][j], i % 255 + 1);
		}
		kar_arena_reset(&a);
	}
	kar_arena_release(&a);
	assert_int_equal(kar_arena_bytes(&a), 0);
}

static void arena_text(void **state)
{
	struct kar_arena a = { 0 };

	(void)state;
	assert_string_equal(kar_arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(kar_arena_printf(&a, "%d-%s", 1, "x"), "1-x");
	kar_arena_release(&a);
}

static void arena_reset_keeps_little(void **state)
{
	struct kar_arena a = { 0 };

	(void)state;
	kar_arena_reset(&a); /* of an empty one */
	for (int i = 0; i < 1000; i++)
		memset(kar_arena_alloc(&a, 1000, 1), 1, 1000);
	assert_true(kar_arena_bytes(&a) > 1000000);
	kar_arena_reset(&a);
	assert_in_range(kar_arena_bytes(&a), 1, 64 * 1024 + 64);
	memset(kar_arena_alloc(&a, 1 << 20, 1), 1, 1 << 20);
	kar_arena_reset(&a);
	assert_in_range(kar_arena_bytes(&a), 0, 64 * 1024 + 64); /* a large block is not kept */
	kar_arena_release(&a);
}

static void arena_arrays_grow(void **state)
{
	struct kar_arena a = { 0 };
	size_t *items = NULL;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		items = kar_arena_grow(&a, items, i, sizeof(*items));
		assert_int_equal(items[i], 0);
		items[i] = i * i + 1;
	}
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i * i + 1);
	kar_arena_release(&a);
}

static void cleanup_frees(void **state)
{
	KAR_CLEANUP(kar_cleanup_free) char *p = kar_xstrdup("freed when this returns");

	(void)state;
	assert_non_null(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings),
		cmocka_unit_test(zero_bytes_then_a_pointer),
		cmocka_unit_test(overflow_then_abort),
		cmocka_unit_test(arena_blocks),
		cmocka_unit_test(arena_text),
		cmocka_unit_test(arena_reset_keeps_little),
		cmocka_unit_test(arena_arrays_grow),
		cmocka_unit_test(cleanup_frees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
