/* What the kubectl plug-in prints: columns, ages, shares, and text that somebody else has written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "kubectl-qj/qj.h"

static const struct {
	const char *name, *text, *printed;
} texts[] = {
	{ "plain", "2 of 3 pods fit now", "2 of 3 pods fit now" },
	{ "other languages", "Knoten \xc3\xbc, \xe6\x97\xa5", "Knoten \xc3\xbc, \xe6\x97\xa5" },
	{ "lines and tabs", "a\nb\tc", "a b c" },
	{ "escape sequence of a terminal", "\033[31mred", " [31mred" },
	{ "the same in one character",
		"\xc2\x9b"
		"31mred",
		" 31mred" },
	{ "delete", "a\x7f", "a " },
	{ "turned direction, no width, another end of a line",
		"a\xe2\x80\xae"
		"b\xe2\x80\x8b"
		"c\xe2\x80\xa8",
		"a b c " },
	{ "half a character", "a\xe2\x80", "a  " },
	{ "empty", "", "" },
};

static void text_of_others_has_no_control_characters(void **state KAR_UNUSED)
{
	struct qj q = { 0 };

	for (size_t i = 0; i < KAR_LEN(texts); i++) {
		const char *got = qj_clean(&q, texts[i].text);

		if (strcmp(got, texts[i].printed) != 0)
			fail_msg("%s: \"%s\"", texts[i].name, got);
	}
	kar_arena_release(&q.arena);
}

static const struct {
	int64_t seconds;
	const char *printed;
} ages[] = {
	{ -5, "0s" },
	{ 0, "0s" },
	{ 119, "119s" },
	{ 120, "2m" },
	{ 150, "2m30s" },
	{ 600, "10m" },
	{ 3 * 3600 - 1, "179m" },
	{ 3 * 3600, "3h" },
	{ 3 * 3600 + 300, "3h5m" },
	{ 8 * 3600 + 300, "8h" },
	{ 2 * 86400, "2d" },
	{ 2 * 86400 + 3600, "2d1h" },
	{ 8 * 86400 + 3600, "8d" },
	{ 400 * 86400LL, "400d" },
};

static void ages_are_those_of_kubectl(void **state KAR_UNUSED)
{
	struct qj q = { 0 };

	for (size_t i = 0; i < KAR_LEN(ages); i++)
		assert_string_equal(qj_age(&q, ages[i].seconds * KAR_SECOND), ages[i].printed);
	kar_arena_release(&q.arena);
}

static void bars_are_full_at_most(void **state KAR_UNUSED)
{
	struct qj q = { 0 };

	assert_string_equal(qj_bar(&q, 0, 4), "[----]");
	assert_string_equal(qj_bar(&q, 0.5, 4), "[##--]");
	assert_string_equal(qj_bar(&q, 1, 4), "[####]");
	assert_string_equal(qj_bar(&q, 7, 4), "[####]");
	assert_string_equal(qj_bar(&q, -1, 4), "[----]");
	kar_arena_release(&q.arena);
}

static const struct {
	const char *name;
	bool terminal, colour;
	int width;
	const char *printed;
} looks[] = {
	{ "piped", false, false, 80,
		"NAME\tPHASE\tMESSAGE\na\tRunning\t-\nlong-name\tPending\tinsufficient cpu: 30 requested\n" },
	{ "wide terminal", true, false, 80,
		"NAME        PHASE     MESSAGE\na           Running   -\nlong-name   Pending   insufficient cpu: 30 requested\n" },
	{ "narrow terminal", true, false, 40,
		"NAME        PHASE     MESSAGE\na           Running   -\nlong-name   Pending   insufficient cp...\n" },
	{ "terminal without room for the last column", true, false, 26,
		"NAME        PHASE     MESSAGE\na           Running   -\nlong-name   Pending   insufficient cpu:...\n" },
	{ "colours", true, true, 80,
		"NAME        PHASE     MESSAGE\na           \033[32mRunning\033[0m   -\nlong-name   \033[33mPending\033[0m   insufficient cpu: 30 requested\n" },
};

static void columns_fit_where_they_go(void **state KAR_UNUSED)
{
	static const char *const heads[] = { "NAME", "PHASE", "MESSAGE", NULL };

	for (size_t i = 0; i < KAR_LEN(looks); i++) {
		struct qj q = { .terminal = looks[i].terminal,
			.colour = looks[i].colour,
			.width = looks[i].width };
		struct qj_table t;
		char *text;
		size_t n;

		q.out = open_memstream(&text, &n);
		t = qj_table_begin(&q, heads);
		qj_table_flush(&t); /* nothing yet: no head either */
		qj_cell(&t, "a");
		qj_cell(&t, "Running");
		qj_cell(&t, "%s", "");
		qj_cell(&t, "%s-name", "long");
		qj_cell(&t, "Pending");
		qj_cell(&t, "insufficient cpu: %d requested", 30);
		qj_table_flush(&t);
		fclose(q.out);
		if (strcmp(text, looks[i].printed) != 0)
			fail_msg("%s:\n%s", looks[i].name, text);
		free(text);
		kar_arena_release(&q.arena);
	}
}

static const struct {
	const char *line, *error; /* NULL: none */
} lines[] = {
	{ "list", NULL },
	{ "list -n a -o wide -l x=y --field-selector=status.phase=Pending", NULL },
	{ "why j --context c --kubeconfig f", NULL },
	{ "scale j 3 --task w --dry-run=server", NULL },
	{ "list -o yaml", NULL },
	{ "create j --image=i --min=2 --dry-run=client -o yaml -- sh -c -n", NULL },
	{ "wait j --for=running --timeout=1h30m --progress", NULL },
	{ "list -o custom-columns",
		"--output custom-columns: want wide, json, yaml or name; kubectl get queuejobs -o custom-columns shows the objects" },
	{ "suspend j --dry-run=client", "--dry-run client: only create knows it; want server or none" },
	{ "suspend j --dry-run=all", "--dry-run all: want server, client or none" },
	{ "wait j --for=ever", "--for ever: want end or running" },
	{ "wait j --timeout=soon", "--timeout soon: want a time, as in 30s, 10m or 1h30m" },
	{ "list -n a -A", "--namespace and --all-namespaces contradict each other" },
	{ "list --nope", "unknown flag: --nope; see kubectl qj --help" },
	{ "list -n", "flag needs a value: -n" },
};

static void command_lines_are_read_as_kubectl_does(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(lines); i++) {
		struct qj_options o = { 0 };
		struct kar_arena a = { 0 };
		struct kar_err err = { 0 };
		char line[256], *argv[16] = { NULL }, *rest = line;
		int argc = 0, failed;

		snprintf(line, sizeof(line), "kubectl-qj %s", lines[i].line);
		for (char *word; (word = strsep(&rest, " "));)
			argv[argc++] = word;
		failed = qj_options_read(&o, argc, argv, &a, &err);
		if (failed != (lines[i].error ? -1 : 0) || (failed && strcmp(err.msg, lines[i].error) != 0))
			fail_msg("%s: %s", lines[i].line, failed ? err.msg : "no error");
		if (!failed)
			assert_non_null(o.command);
		kar_arena_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_others_has_no_control_characters),
		cmocka_unit_test(ages_are_those_of_kubectl),
		cmocka_unit_test(bars_are_full_at_most),
		cmocka_unit_test(columns_fit_where_they_go),
		cmocka_unit_test(command_lines_are_read_as_kubectl_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
