#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "controllers/process/confine.h"

#if defined(__SANITIZE_ADDRESS__)
enum { DUMPABLE = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { DUMPABLE = 1 };
#else
enum { DUMPABLE = 0 };
#endif
#else
enum { DUMPABLE = 0 };
#endif

/* In a child, so that the tests themselves can be debugged. Status 1 and 2 say what is open. */
static int status_of_confined(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit limit = { 1, 1 };

		kar_confine();
		getrlimit(RLIMIT_CORE, &limit);
		if (limit.rlim_cur || limit.rlim_max)
			_exit(1);
		_exit(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == DUMPABLE ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void memory_is_confined(void **state)
{
	(void)state;
	assert_int_equal(status_of_confined(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_confined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
