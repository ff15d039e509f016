/* kubeconfig: damaged and oversized input, and paths. */
#include "kubeconfig_fixture.h"

/* Texts that other modules write: only what matters of them is checked. */
static void unreadable_yaml_names_the_file_and_no_secret(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *text, *contains;
	} yaml[] = {
		{ "broken_yaml", "users: [{name: u, user: {token: s3cret}\n", "$DIR/config: " },
		{ "number_for_token", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: 90210"),
			"users[0].user.token" },
		{ "string_for_bool", CLUSTER("insecure-skip-tls-verify: 'true'"),
			"insecure-skip-tls-verify" },
		{ "list_for_file", "- s3cret\n", "$DIR/config: " },
		{ "binary", "\x01\x02s3cret", "$DIR/config: " },
	};

	for (size_t i = 0; i < KAR_LEN(yaml); i++) {
		const struct row r = { .kubeconfig = "$DIR/config" };
		struct tmpdir dir;
		char *got;

		tmpdir_init(&dir);
		tmpdir_write(&dir, "config", yaml[i].text, 0);
		got = load_row(&r, &dir);
		tmpdir_release(&dir);
		if (strncmp(got, "$DIR/config: ", strlen("$DIR/config: ")) != 0 ||
			!strstr(got, yaml[i].contains))
			fail_msg("%s: %s", yaml[i].name, got);
		if (strstr(got, "s3cret") || strstr(got, "90210"))
			fail_msg("%s: shows the secret: %s", yaml[i].name, got);
		free(got);
	}
}

static void too_many_names_are_cut(void **state KAR_UNUSED)
{
	struct kar_buf text = { 0 };
	const struct row r = { .kubeconfig = "$DIR/config", .context = "x" };
	struct tmpdir dir;
	char *got;

	kar_buf_puts(&text, "contexts:\n");
	for (int i = 0; i < 1000; i++)
		kar_buf_printf(&text, "- {name: context-%03d, context: {}}\n", i);
	tmpdir_init(&dir);
	tmpdir_write(&dir, "config", kar_buf_cstr(&text), 0);
	got = load_row(&r, &dir);
	tmpdir_release(&dir);
	kar_buf_release(&text);
	assert_non_null(strstr(got, "contexts there: context-000, context-001, "));
	assert_string_equal(got + strlen(got) - strlen(", ..."), ", ...");
	assert_true(strlen(got) < 250);
	free(got);
}

static void relative_path_is_taken_from_the_working_folder(void **state KAR_UNUSED)
{
	const struct kar_kubeconfig_options o = { .kubeconfig = "config", .getenv = row_getenv };
	struct kar_kubeconfig config;
	struct kar_arena arena = { 0 };
	struct kar_err err;
	struct tmpdir dir;
	char *old = getcwd(NULL, 0), *want;

	tmpdir_init(&dir);
	tmpdir_write(&dir, "config", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("tokenFile: tok"), 0);
	variables[0] = NULL;
	assert_int_equal(chdir(dir.path), 0);
	if (kar_kubeconfig_load(&arena, &o, &config, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(chdir(old), 0);
	want = tmpdir_join(&dir, "tok");
	assert_string_equal(config.token_file, want);
	assert_string_equal(config.source, "config, context dev");
	free(want);
	free(old);
	kar_arena_release(&arena);
	tmpdir_release(&dir);
}

static void files_are_read_within_bounds(void **state KAR_UNUSED)
{
	struct kar_arena arena = { 0 };
	struct kar_err err;
	struct tmpdir dir;
	size_t n = 0;
	char *path, *text;

	tmpdir_init(&dir);
	tmpdir_write(&dir, "f", "12345", 0);
	tmpdir_write(&dir, "e", "", 0);
	path = tmpdir_join(&dir, "f");
	text = kar_read_file(&arena, path, 5, true, &n, &err);
	assert_non_null(text);
	assert_string_equal(text, "12345");
	assert_int_equal(n, 5);
	assert_null(kar_read_file(&arena, path, 4, true, &n, &err));
	assert_non_null(strstr(err.msg, "is larger than 4 bytes"));
	free(path);
	path = tmpdir_join(&dir, "e");
	assert_null(kar_read_file(&arena, path, 5, true, &n, &err));
	assert_non_null(strstr(err.msg, "/e is empty"));
	assert_non_null(kar_read_file(&arena, path, 5, false, &n, &err));
	assert_int_equal(n, 0);
	free(path);
	kar_arena_release(&arena);
	tmpdir_release(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unreadable_yaml_names_the_file_and_no_secret),
		cmocka_unit_test(too_many_names_are_cut),
		cmocka_unit_test(relative_path_is_taken_from_the_working_folder),
		cmocka_unit_test(files_are_read_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
