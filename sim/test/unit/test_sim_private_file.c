/* private_file: what somebody has put into a shared folder beforehand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "sim/private_file.h"
#include "test/unit/tmpdir.h"

#define TEXT "token: secret\n"

static const struct kar_str text = { .p = TEXT, .n = sizeof(TEXT) - 1 };

static void shell(const struct tmpdir *dir, const char *script)
{
	struct kar_buf line = { 0 };

	kar_buf_printf(&line, "cd %s && { %s; }", dir->path, script);
	if (system(kar_buf_cstr(&line)) != 0)
		fail_msg("%s", script);
	kar_buf_release(&line);
}

/* The file is ours alone, has all of the text, and nothing else in the folder was written to or left behind. */
static void it_is_ours_alone(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *before, *after;
	} rows[] = {
		{ "empty_folder", ":", "[ $(ls | wc -l) = 1 ]" },
		{ "older_one_of_another_mode", "touch config; chmod 666 config", "[ $(ls | wc -l) = 1 ]" },
		{ "temporary_file_of_a_crashed_run", "touch config.new; chmod 666 config.new",
			"[ ! -s config.new ]" },
		{ "temporary_link_to_a_file", "touch victim; ln -s victim config.new", "[ ! -s victim ]" },
		{ "link_in_its_place", "touch victim; ln -s victim config", "[ ! -s victim ]" },
	};
	mode_t mask = umask(0);

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { 0 };
		struct tmpdir dir;
		char *path;

		tmpdir_init(&dir);
		path = tmpdir_join(&dir, "config");
		shell(&dir, rows[i].before);
		if (sim_private_file_write(path, text, &err))
			fail_msg("%s: %s", rows[i].name, err.msg);
		shell(&dir, rows[i].after);
		shell(&dir, "[ \"$(stat -c %a:%F config)\" = '600:regular file' ]");
		shell(&dir, "[ \"$(cat config)\" = 'token: secret' ]");
		shell(&dir, "rm -f *");
		free(path);
		tmpdir_release(&dir);
	}
	umask(mask);
}

static void a_failure_names_the_file_and_leaves_nothing(void **state KAR_UNUSED)
{
	struct kar_err err = { 0 };
	struct tmpdir dir;
	char *path;

	tmpdir_init(&dir);
	path = tmpdir_join(&dir, "config");
	shell(&dir, "mkdir config");
	assert_int_equal(sim_private_file_write(path, text, &err), -1);
	assert_non_null(strstr(err.msg, path));
	shell(&dir, "[ $(ls | wc -l) = 1 ] && rmdir config");
	free(path);
	path = tmpdir_join(&dir, "no/such/folder");
	assert_int_equal(sim_private_file_write(path, text, &err), -1);
	assert_non_null(strstr(err.msg, "No such file"));
	free(path);
	tmpdir_release(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_ours_alone),
		cmocka_unit_test(a_failure_names_the_file_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
