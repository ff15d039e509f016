/* What /proc says of this process. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/loop/process.h"

static void the_kernel_counts(void **state KAR_UNUSED)
{
	enum { BLOCK = 64 << 20 };
	struct kar_process_use before = kar_process_use(), after;
	char *block = malloc(BLOCK);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_non_null(block);
	memset(block, 1, BLOCK);
	after = kar_process_use();
	assert_int_equal(after.fds, before.fds + 1);
	assert_true(after.fds < after.max_fds);
	assert_true(after.rss >= before.rss + BLOCK / 2);
	assert_true(after.virtual >= after.rss);
	assert_true(after.start_time == before.start_time);
	/* Boot and start are rounded. */
	assert_in_range((uint64_t)after.start_time, (uint64_t)time(NULL) - 60, (uint64_t)time(NULL) + 2);
	while (kar_process_use().cpu_seconds < before.cpu_seconds + 0.02) /* or the test times out */
		block[0]++;
	close(fd);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_kernel_counts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
