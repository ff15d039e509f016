/* exec: small shell scripts play the plug-in, well-behaved and otherwise. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "common/loop/clock.h"
#include "exec_fixture.h"
#include "pem_samples.h"

enum { SHORT_MS = 200 };

/* PEM as it stands in JSON inside an echo of sh, which would expand one backslash. */
#define JSON_CERT "-----BEGIN CERTIFICATE-----\\\\nMAA=\\\\n-----END CERTIFICATE-----\\\\n"
#define JSON_KEY "-----BEGIN PRIVATE KEY-----\\\\nMAMCAQA=\\\\n-----END PRIVATE KEY-----\\\\n"

struct row {
	const char *name;
	const char *script;
	const char *version; /* asked for; NULL: v1 */
	const char *result;  /* or */
	const char *error;   /* the text behind: exec plug-in "...": */
	enum kar_class what;
};

static const struct row rows[] = {
	{ "token_then_token", ANSWER("\"token\":\"t0k\""), .result = "token=t0k cert=- key=- expires=-1" },
	{ "expiry_then_expiry", ANSWER("\"token\":\"t\",\"expirationTimestamp\":\"2126-01-02T03:04:05Z\""),
		.result = "token=t cert=- key=- expires=4922996645000" },
	{ "certificate_then_certificate",
		ANSWER("\"clientCertificateData\":\"" JSON_CERT "\",\"clientKeyData\":\"" JSON_KEY "\""),
		.result = "token=- cert=" CERT_PEM " key=" KEY_PEM " expires=-1" },
	{ "v1beta1_then_token", CREDENTIAL(V1BETA1, "\"token\":\"t\""), V1BETA1,
		.result = "token=t cert=- key=- expires=-1" },
	{ "it_reads_standard_input_then_end_of_file", "cat\n" ANSWER("\"token\":\"t\""),
		.result = "token=t cert=- key=- expires=-1" },
	{ "noise_on_standard_error_then_ignored", "echo warning >&2\n" ANSWER("\"token\":\"t\""),
		.result = "token=t cert=- key=- expires=-1" },
	{ "answer_in_pieces_then_joined",
		"printf '{\"apiVersion\":\"" V1 "\",\"kind\":'\nsleep 0.05\n"
		"printf '\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n",
		.result = "token=t cert=- key=- expires=-1" },
	{ "pipes_closed_early_then_waits_for_the_end",
		ANSWER("\"token\":\"t\"") "exec >&- 2>&-\nsleep 0.05\nexit 3\n",
		.error = "ended with exit code 3", .what = KAR_RETRY },

	{ "exit_1_then_last_line_of_standard_error",
		"echo first >&2\nprintf 'please\\tlog in\\n\\n  \\n' >&2\necho s3cret\nexit 1\n",
		.error = "ended with exit code 1: please log in", .what = KAR_RETRY },
	{ "exit_1_silently_then_code_alone", "exit 1\n", .error = "ended with exit code 1",
		.what = KAR_RETRY },
	{ "killed_by_a_signal_then_signal", "kill -9 $$\n", .error = "was ended by signal 9",
		.what = KAR_RETRY },
	{ "2_mb_on_standard_error_then_its_end",
		"head -c 2000000 /dev/zero | tr '\\0' 'x' >&2\necho >&2\necho the end >&2\nexit 1\n",
		.error = "ended with exit code 1: the end", .what = KAR_RETRY },
	{ "2_mb_on_standard_output_then_killed", "head -c 2000000 /dev/zero\nsleep 30\n",
		.error = "printed more than 1024 KiB on its standard output", .what = KAR_RETRY },
	{ "2_mb_at_once_and_gone_then_refused", "head -c 2000000 /dev/zero\n",
		.error = "printed more than 1024 KiB on its standard output", .what = KAR_RETRY },
	{ "nothing_printed_then_error", "true\n", .error = "printed nothing on its standard output",
		.what = KAR_RETRY },
	{ "wrong_version_then_both_named", CREDENTIAL(V1BETA1, "\"token\":\"s3cret\""),
		.error = "answered with apiVersion \"" V1BETA1 "\", but the kubeconfig asks for \"" V1
			 "\"; make them equal",
		.what = KAR_FATAL },
	{ "other_kind_then_error", "echo '{\"kind\":\"Secret\",\"apiVersion\":\"" V1 "\"}'\n",
		.error = "did not print an ExecCredential (its kind is \"Secret\")", .what = KAR_FATAL },
	{ "no_status_then_error", "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}'\n",
		.error = "gave neither a token nor a client certificate", .what = KAR_RETRY },
	{ "empty_token_then_error", ANSWER("\"token\":\"\""),
		.error = "gave neither a token nor a client certificate", .what = KAR_RETRY },
	{ "certificate_without_key_then_error", ANSWER("\"clientCertificateData\":\"" JSON_CERT "\""),
		.error = "gave only one of clientCertificateData and clientKeyData", .what = KAR_RETRY },
	{ "certificate_not_pem_then_error",
		ANSWER("\"clientCertificateData\":\"s3cret\",\"clientKeyData\":\"" JSON_KEY "\""),
		.error = "status.clientCertificateData holds no certificate in PEM form (-----BEGIN ...)",
		.what = KAR_RETRY },
	{ "token_with_header_then_error", ANSWER("\"token\":\"s3cret\\u000aX: y\""),
		.error =
			"status.token contains white space, control or non-ASCII characters; a token is one word",
		.what = KAR_RETRY },
	{ "expired_already_then_error",
		ANSWER("\"token\":\"s3cret\",\"expirationTimestamp\":\"2020-01-02T03:04:05Z\""),
		.error =
			"gave a credential that expired at 2020-01-02T03:04:05Z; log in again, or check the clock",
		.what = KAR_RETRY },
};

static void check_row(const struct row *row)
{
	struct run r;
	char *want;

	run_init(&r, row->script);
	if (row->version)
		r.config.api_version = row->version;
	run_start(&r, NULL, 0);
	if (row->result) {
		if (r.err.what != KAR_OK || strcmp(kar_buf_cstr(&r.shown), row->result) != 0)
			fail_msg("%s: got \"%s\", error \"%s\"", row->name, kar_buf_cstr(&r.shown),
				r.err.msg);
	} else {
		want = kar_xasprintf("exec plug-in \"%s\": %s", r.config.command, row->error);
		if (strcmp(r.err.msg, want) != 0 || r.err.what != row->what)
			fail_msg("%s:\nwant %s: %s\ngot  %s: %s", row->name, kar_err_class_name(row->what),
				want, kar_err_class_name(r.err.what), r.err.msg);
		free(want);
	}
	if (strstr(r.err.msg, "s3cret"))
		fail_msg("%s: shows the secret: %s", row->name, r.err.msg);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

static void plugins_answer_or_fail(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		check_row(&rows[i]);
}

/* Texts of the JSON reader: only that they tell what was wrong and not what was read. */
static void bad_json_is_refused_without_being_shown(void **state KAR_UNUSED)
{
	static const char *const scripts[] = {
		"echo 's3cret'\n",
		"echo '{\"status\":{\"token\":\"s3cret\"}'\n",
		"echo '{\"status\":{\"token\":[\"s3cret\"]}}'\n",
		"echo '{\"status\":{\"expirationTimestamp\":\"s3cret\"}}'\n",
		"echo '{\"status\":{\"token\":\"s3cret\\q\"}}'\n",
		ANSWER("\"token\":\"s3cret\"") ANSWER("\"token\":\"s3cret\""),
	};

	for (size_t i = 0; i < KAR_LEN(scripts); i++) {
		struct run r;

		run_init(&r, scripts[i]);
		run_start(&r, NULL, 0);
		if (r.err.what != KAR_RETRY || !strstr(r.err.msg, "did not print an ExecCredential: ") ||
			strstr(r.err.msg, "s3cret"))
			fail_msg("%s%s: %s", scripts[i], kar_err_class_name(r.err.what), r.err.msg);
		kar_cleanup_free(&r.config.command);
		run_release(&r);
	}
}

/* True once process @pid is gone (or only its entry is left, for its parent to collect). */
static bool is_gone(int pid)
{
	char *path = kar_xasprintf("/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	char state = 'Z';

	free(path);
	if (!f)
		return true;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(f);
	return state == 'Z' || state == 'X';
}

static void assert_goes(int pid)
{
	kar_time deadline = kar_clock_mono() + GUARD_MS;

	while (!is_gone(pid)) {
		if (kar_clock_mono() > deadline)
			fail_msg("process %d is still there", pid);
		usleep(1000);
	}
}

static int read_pid(const struct tmpdir *dir)
{
	char *text = slurp_file(dir, "pid");
	int pid = atoi(text);

	free(text);
	assert_true(pid > 1);
	return pid;
}

static void hanging_plugin_is_killed_with_its_children(void **state KAR_UNUSED)
{
	struct run r;
	kar_time start = kar_clock_mono();

	run_init(&r, "trap '' TERM INT HUP\nsleep 60 &\necho $! >pid\nwait\n");
	run_start(&r, NULL, SHORT_MS);
	assert_true(kar_clock_mono() - start < GUARD_MS / 2);
	assert_non_null(strstr(r.err.msg, ": did not end within 0.2 s and was killed"));
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_goes(read_pid(&r.dir));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* the plug-in itself has been collected */
	assert_int_equal(errno, ECHILD);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

static void daemon_that_keeps_the_pipes_is_not_waited_for(void **state KAR_UNUSED)
{
	struct run r;
	int pid;

	run_init(&r, "sleep 60 &\necho $! >pid\n" ANSWER("\"token\":\"t\""));
	run_start(&r, NULL, GUARD_MS / 2);
	assert_string_equal(kar_buf_cstr(&r.shown), "token=t cert=- key=- expires=-1");
	pid = read_pid(&r.dir);
	assert_false(is_gone(pid)); /* it is none of our business */
	kill(pid, SIGKILL);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

static void daemon_that_writes_for_ever_is_cut_off(void **state KAR_UNUSED)
{
	struct run r;

	run_init(&r, "yes >&2 &\necho $! >pid\n" ANSWER("\"token\":\"t\""));
	run_start(&r, NULL, GUARD_MS / 2);
	assert_string_equal(kar_buf_cstr(&r.shown), "token=t cert=- key=- expires=-1");
	assert_goes(read_pid(&r.dir)); /* of SIGPIPE: ours is ignored in the manager, not in a plug-in */
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

static void freed_while_running_then_killed_and_silent(void **state KAR_UNUSED)
{
	struct run r;
	kar_time deadline = kar_clock_mono() + GUARD_MS;
	char *path;
	int pid;

	run_init(&r, "echo $$ >pid.new\nmv pid.new pid\nsleep 60\n");
	path = tmpdir_join(&r.dir, "pid");
	r.exec = kar_exec_start(r.loop, &r.config, NULL, 0, on_done, &r);
	while (access(path, F_OK) != 0) {
		if (kar_clock_mono() > deadline)
			fail_msg("the plug-in did not start");
		usleep(1000);
	}
	free(path);
	pid = read_pid(&r.dir);
	kar_exec_free(r.exec);
	r.exec = NULL;
	assert_goes(pid);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	assert_int_equal(r.calls, 0);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

static void ended_before_anything_was_read_then_all_is_read(void **state KAR_UNUSED)
{
	enum { LONG = 50000 }; /* several reads, and still within a pipe's 64 KiB */
	struct run r;
	kar_time deadline = kar_clock_mono() + GUARD_MS;
	char *path;
	int pid;

	run_init(&r,
		"printf '{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'\n"
		"head -c 50000 /dev/zero | tr '\\0' t\nprintf '\"}}'\necho $$ >pid.new\nmv pid.new pid\n");
	path = tmpdir_join(&r.dir, "pid");
	r.exec = kar_exec_start(r.loop, &r.config, NULL, 0, on_done, &r);
	while (access(path, F_OK) != 0 && kar_clock_mono() < deadline)
		usleep(1000);
	free(path);
	pid = read_pid(&r.dir);
	assert_goes(pid);
	run_loop(r.loop);
	assert_int_equal(r.shown.n, strlen("token= cert=- key=- expires=-1") + LONG);
	kar_cleanup_free(&r.config.command);
	run_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plugins_answer_or_fail),
		cmocka_unit_test(bad_json_is_refused_without_being_shown),
		cmocka_unit_test(hanging_plugin_is_killed_with_its_children),
		cmocka_unit_test(daemon_that_keeps_the_pipes_is_not_waited_for),
		cmocka_unit_test(daemon_that_writes_for_ever_is_cut_off),
		cmocka_unit_test(freed_while_running_then_killed_and_silent),
		cmocka_unit_test(ended_before_anything_was_read_then_all_is_read),
	};

	signal(SIGPIPE, SIG_IGN); /* as the manager */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
