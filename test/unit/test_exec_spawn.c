/* exec_spawn: which program is run, and what it gets: arguments, environment, descriptors, signals. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exec_fixture.h"

static void arguments_and_environment_arrive_unchanged(void **state KAR_UNUSED)
{
	static const char *args[] = { "a b", "$(touch evil)", "'; touch evil; '", "", "*" };
	static const char *env[] = { "KAR_TEST_A=from kubeconfig", "KAR_TEST_C=c",
		"KUBERNETES_EXEC_INFO=forged" };
	struct run r;
	char *text;

	run_init(&r,
		"printf '[%s]' \"$@\" >args\nenv | grep ^KAR_TEST | sort >env\n"
		"tr '\\0' '\\n' </proc/$$/environ | grep -c ^KAR_TEST_A= >count\nprintf %s \"$KUBERNETES_EXEC_INFO\" >info\n" ANSWER(
			"\"token\":\"t\""));
	r.config.args = args;
	r.config.n_args = KAR_LEN(args);
	r.config.env = env;
	r.config.n_env = KAR_LEN(env);
	setenv("KAR_TEST_A", "from the process", 1);
	setenv("KAR_TEST_B", "b", 1);
	setenv("KUBERNETES_EXEC_INFO", "inherited", 1);
	run_start(&r, "{\"server\":\"https://c\"}", 0);
	unsetenv("KAR_TEST_A");
	unsetenv("KAR_TEST_B");
	unsetenv("KUBERNETES_EXEC_INFO");
	text = slurp_file(&r.dir, "args");
	assert_string_equal(text, "[a b][$(touch evil)]['; touch evil; '][][*]");
	free(text);
	text = slurp_file(&r.dir, "env");
	assert_string_equal(text, "KAR_TEST_A=from kubeconfig\nKAR_TEST_B=b\nKAR_TEST_C=c\n");
	free(text);
	text = slurp_file(&r.dir, "count");
	assert_string_equal(text, "1\n");
	free(text);
	text = slurp_file(&r.dir, "info");
	assert_string_equal(text,
		"{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"spec\":{\"interactive\":false,"
		"\"cluster\":{\"server\":\"https://c\"}}}");
	free(text);
	text = slurp_file(&r.dir, "evil");
	assert_string_equal(text, "(no such file)");
	free(text);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

static void no_descriptor_and_no_ignored_signal_is_inherited(void **state KAR_UNUSED)
{
	enum { LEAKY = 77 };
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	struct run r;
	char *text;

	run_init(&r,
		"ls -l /proc/$$/fd | sed -n 's/.* \\([0-9]*\\) -> .*/\\1/p' | sort -n | tr '\\n' ' ' >fds\n"
		"grep SigIgn /proc/$$/status >ignored\n" ANSWER("\"token\":\"t\""));
	assert_int_equal(dup2(STDERR_FILENO, LEAKY), LEAKY); /* not close-on-exec, as a library might do */
	run_start(&r, NULL, 0);
	close(LEAKY);
	signal(SIGPIPE, old);
	text = slurp_file(&r.dir, "fds");
	if (strstr(text, "77") || strncmp(text, "0 1 2", strlen("0 1 2")) != 0)
		fail_msg("descriptors of the plug-in: %s", text);
	free(text);
	text = slurp_file(&r.dir, "ignored");
	assert_memory_equal(text, "SigIgn:\t", strlen("SigIgn:\t"));
	/* The C library keeps signals 32 and 33 for itself. */
	assert_int_equal(strtoul(text + strlen("SigIgn:\t"), NULL, 16) & 0x7fffffff, 0);
	free(text);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

struct path_row {
	const char *name;
	const char *path; /* $PATH; $DIR is the temporary folder */
	const char *command, *hint;
	const char *error; /* NULL: found */
};

static const struct path_row path_rows[] = {
	{ "bare_name_then_found_in_path", "/nonexistent:$DIR/bin:/usr/bin:/bin", "kar-plug" },
	{ "not_executable_then_the_next", "$DIR/plain:$DIR/bin:/usr/bin:/bin", "kar-plug" },
	{ "not_in_path_then_hint", "/usr/bin:/bin", "kar-plug", "see https://x",
		"exec plug-in \"kar-plug\": not found in $PATH; install it or correct users[].user.exec.command. Its hint: "
		"see https://x" },
	{ "current_folder_in_path_then_not_used", ".::bin:/usr/bin:/bin", "kar-plug", NULL,
		"exec plug-in \"kar-plug\": not found in $PATH; install it or correct users[].user.exec.command" },
	{ "path_with_slash_missing_then_error", "/usr/bin:/bin", "$DIR/none", NULL,
		"exec plug-in \"$DIR/none\": not found; install it or correct users[].user.exec.command" },
	{ "path_with_slash_not_executable_then_error", "/usr/bin:/bin", "$DIR/plain/kar-plug", NULL,
		"exec plug-in \"$DIR/plain/kar-plug\": cannot start $DIR/plain/kar-plug: Permission denied" },
};

static void commands_are_found(void **state KAR_UNUSED)
{
	char *old = kar_xstrdup(getenv("PATH")), *cwd = getcwd(NULL, 0);

	for (size_t i = 0; i < KAR_LEN(path_rows); i++) {
		const struct path_row *row = &path_rows[i];
		struct run r;
		char *path, *command, *got;

		run_init(&r, "");
		kar_cleanup_free(&r.config.command);
		write_script(&r.dir, "bin/kar-plug", ANSWER("\"token\":\"t\""));
		write_script(&r.dir, "kar-plug", ANSWER("\"token\":\"wrong\""));
		tmpdir_write(&r.dir, "plain/kar-plug", "#!/bin/sh\n", 0);
		path = replace_all(row->path, "$DIR", r.dir.path);
		command = replace_all(row->command, "$DIR", r.dir.path);
		r.config.command = command;
		r.config.install_hint = row->hint;
		setenv("PATH", path, 1);
		assert_int_equal(chdir(r.dir.path), 0);
		run_start(&r, NULL, 0);
		assert_int_equal(chdir(cwd), 0);
		setenv("PATH", old, 1);
		got = replace_all(r.err.msg, r.dir.path, "$DIR");
		if (strcmp(got, row->error ? row->error : "") != 0 ||
			r.err.what != (row->error ? KAR_FATAL : KAR_OK))
			fail_msg("%s: %s", row->name, got);
		if (!row->error)
			assert_string_equal(kar_buf_cstr(&r.shown), "token=t cert=- key=- expires=-1");
		free(got);
		free(path);
		free(command);
		run_release(&r);
	}
	free(old);
	free(cwd);
}

static size_t open_descriptors(void)
{
	enum { MOST = 1024 };
	size_t n = 0;

	for (int fd = 0; fd < MOST; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void runs_leave_no_descriptor_open(void **state KAR_UNUSED)
{
	static const char *const scripts[] = { ANSWER("\"token\":\"t\""), "exit 1\n",
		"head -c 2000000 /dev/zero\n" };
	size_t before = open_descriptors();

	for (size_t i = 0; i < KAR_LEN(scripts); i++) {
		struct run r;

		run_init(&r, scripts[i]);
		run_start(&r, NULL, 0);
		kar_cleanup_free(&r.config.command);
		run_release(&r);
		assert_int_equal(open_descriptors(), before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_environment_arrive_unchanged),
		cmocka_unit_test(no_descriptor_and_no_ignored_signal_is_inherited),
		cmocka_unit_test(commands_are_found),
		cmocka_unit_test(runs_leave_no_descriptor_open),
	};

	signal(SIGPIPE, SIG_IGN); /* as the manager */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
