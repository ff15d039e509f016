/* convert of the kubectl plug-in: objects of other tools, and files that it cannot read. What it prints is in test/unit/data/convert. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/codec/json.h"
#include "common/codec/yaml.h"
#include "kubectl-qj/doc.h"
#include "test/fixture/qj_script.h"

static const char *const files[] = { "batch", "jobset", "kueue", "mpi", "volcano" };

static char *read_data(struct kar_arena *a, const char *name, const char *end)
{
	char *text = kar_read_file(a, kar_arena_printf(a, KAR_TEST_DATA "/convert/%s.%s", name, end), 1 << 20,
		false, NULL, NULL);

	if (!text)
		fail_msg("there is no data %s.%s", name, end);
	return text;
}

static void objects_of_other_tools_become_ours(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(files); i++) {
		struct kar_arena a = { 0 };
		struct qj_row row = { .name = files[i], .run = qj_cmd_convert };
		char *wrong;

		row.line = kar_arena_printf(&a, "convert -f " KAR_TEST_DATA "/convert/%s.yaml", files[i]);
		row.out = read_data(&a, files[i], "out");
		row.err = read_data(&a, files[i], "err");
		wrong = qj_script_run(&row);
		if (wrong)
			fail_msg("%s: %s", files[i], wrong);
		kar_arena_release(&a);
	}
}

static const struct {
	const char *name, *text, *out, *err;
	int status;
} others[] = {
	{ "of another tool", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", "",
		"error: Deployment web of apps/v1 is not converted: Job of batch or of Volcano, JobSet, MPIJob, ClusterQueue and LocalQueue are\n",
		1 },
	{ "one of ours", "apiVersion: kube-arbitrator.io/v1alpha1\nkind: QueueJob\n", "",
		"error: QueueJob (no name) of kube-arbitrator.io/v1alpha1 is not converted: Job of batch or of Volcano, JobSet, MPIJob, ClusterQueue and LocalQueue are\n",
		1 },
	{ "a group that only begins alike", "apiVersion: batch.example.com/v1\nkind: Job\n", "",
		"error: Job (no name) of batch.example.com/v1 is not converted: Job of batch or of Volcano, JobSet, MPIJob, ClusterQueue and LocalQueue are\n",
		1 },
	{ "no object", "- 1\n", "",
		"error: there is a document that is no object of Kubernetes: it has no apiVersion or no kind\n",
		1 },
	{ "empty", "# nothing\n", "", "error: FILE has no objects\n", 1 },
	{ "an empty Job", "{apiVersion: batch/v1, kind: Job}",
		"---\napiVersion: kube-arbitrator.io/v1alpha1\nkind: QueueJob\nspec:\n  taskSpecs:\n  - name: worker\n    replicas: 1\n",
		"Job (no name) of batch/v1 -> QueueJob\n  spec.parallelism: 1 pods: spec.taskSpecs[0].replicas\n",
		0 },
	{ "values of another kind",
		"{apiVersion: batch/v1, kind: Job, metadata: 1, spec: {parallelism: many, completions: [], template: 3, x: {y: [1]}}}",
		"---\napiVersion: kube-arbitrator.io/v1alpha1\nkind: QueueJob\nspec:\n  taskSpecs:\n  - name: worker\n    replicas: 1\n    template: 3\n",
		"Job (no name) of batch/v1 -> QueueJob\n  spec.parallelism: many is no number of pods: taken as 1\n"
		"  spec.completions: 1 pods: spec.taskSpecs[0].replicas\n  spec.template -> spec.taskSpecs[0].template\n  spec.x: not carried over\n",
		0 },
	{ "hostile texts",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: \"a\\e[31m\\nb\"}, spec: {parallelism: 2, \"x\\x9b31m\": 1}}",
		"---\napiVersion: kube-arbitrator.io/v1alpha1\nkind: QueueJob\nmetadata:\n  name: \"a\\u001b[31m\\nb\"\nspec:\n  taskSpecs:\n  - name: worker\n    replicas: 2\n",
		"Job a [31m b of batch/v1 -> QueueJob\n  spec.parallelism: 2 pods: spec.taskSpecs[0].replicas\n  spec.x 31m: not carried over\n",
		0 },
};

static void files_that_are_no_jobs_are_named(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(others); i++) {
		char path[] = "/tmp/qj_convert.XXXXXX", *line, *err, *wrong, *at;
		struct qj_row row = { .name = others[i].name,
			.run = qj_cmd_convert,
			.out = others[i].out,
			.status = others[i].status };
		int fd = mkstemp(path);

		assert_true(fd >= 0 && write(fd, others[i].text, strlen(others[i].text)) > 0);
		close(fd);
		row.line = line = kar_xasprintf("convert -f %s", path);
		at = strstr(others[i].err, "FILE");
		row.err = err = at
			? kar_xasprintf("%.*s%s%s", (int)(at - others[i].err), others[i].err, path, at + 4)
			: kar_xstrdup(others[i].err);
		wrong = qj_script_run(&row);
		unlink(path);
		if (wrong)
			fail_msg("%s: %s", others[i].name, wrong);
		free(line);
		free(err);
	}
}

static const struct qj_row unreadable[] = {
	{ "no file", "convert -f /nowhere/at.all", qj_cmd_convert,
		.err = "error: cannot read /nowhere/at.all: No such file or directory\n", .status = 1 },
	{ "no YAML", "convert -f " KAR_TEST_DATA "/convert/broken.txt", qj_cmd_convert,
		.err = "error: " KAR_TEST_DATA "/convert/broken.txt: document 2: ", .status = 1 },
	{ "none named", "convert", qj_cmd_convert, .err = "error: usage: kubectl qj convert -f FILE\n",
		.status = 1 },
};

static void files_that_cannot_be_read_are_named(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(unreadable); i++) {
		char *wrong = qj_script_run(&unreadable[i]);

		/* The words of libyaml are not ours. */
		if (wrong &&
			!(i == 1 && strstr(wrong, unreadable[i].err) &&
				strstr(wrong, "status 1\n--- stdout:\n--- stderr")))
			fail_msg("%s: %s", unreadable[i].name, wrong);
		free(wrong);
	}
}

/* What is printed as YAML, or as JSON, is read as the same document. */
static void printed_documents_are_read_as_the_same(void **state KAR_UNUSED)
{
	static const char *const documents[] = {
		"{\"a\":\"x: y\",\"b\":[\"- z\",\"#\",\"\",\" \",\"yes\",\"~\",\"1\",\"1e3\",\"a:\",\"a: b\",\"a:b\",\"null\"],\"c\":{\"d e\":{},\"no\":[],\"f\":[[],[{}],[[1,2.50],{\"g\":true}]]}}",
		"{\"t\":\"line\\nnext\\ttab \\\"q\\\" \\\\ \\u0001 \\u007f \\u0085 \\u00e9 \\u65e5 \\ud83d\\ude00\",\"n\":null}",
		"[1,[2,[3]],{\"a\":[{\"b\":1,\"c\":[{\"d\":2}]}]}]",
		"\"only\"",
		"{}",
	};

	for (size_t i = 0; i < 2 * KAR_LEN(documents); i++) {
		const char *document = documents[i / 2];
		struct kar_buf want = { 0 }, json = { 0 }, got = { 0 };
		struct kar_arena a = { 0 };
		struct kar_err err = { 0 };
		char *text;
		size_t n;
		FILE *out = open_memstream(&text, &n);

		(i % 2 ? qj_doc_print_json : qj_doc_print_yaml)(qj_doc_parse(&a, document), out);
		fclose(out);
		if (kar_yaml_to_json(text, n, 0, &json, &err) != 1 ||
			kar_json_canonical(json.p, json.n, &got, &err) ||
			kar_json_canonical(document, strlen(document), &want, &err) ||
			strcmp(want.p, got.p) != 0)
			fail_msg("%s\nis printed as\n%s%s", document, text, err.msg);
		free(text);
		kar_buf_release(&want);
		kar_buf_release(&json);
		kar_buf_release(&got);
		kar_arena_release(&a);
	}
}

/* An answer of something else than an API server. The sanitizers see what goes beyond it. */
static void broken_documents_do_no_harm(void **state KAR_UNUSED)
{
	static const struct {
		const char *text, *printed; /* NULL: it is no document */
	} documents[] = {
		{ "", NULL },
		{ "   ", NULL },
		{ "{\"a\":", NULL },
		{ "[1,", "[\n  1\n]\n" },
		{ "{a:1}", NULL },
		{ "\"\\u\"", "\"?\"\n" },
		{ "\"\\u1", "\"?\"\n" },
		{ "\"\\ud800\\u0041 \\udc00 \\u0000\"", "\"? ? ?\"\n" },
		{ "\"\\", "\"?\"\n" },
		{ "\"\\ud800\\u", "\"?\"\n" },
		{ "<html>", "<html>\n" },
	};

	for (size_t i = 0; i < KAR_LEN(documents); i++) {
		char *exact = kar_xstrdup(documents[i].text), *text = NULL;
		struct kar_arena a = { 0 };
		const struct qj_doc *d = qj_doc_parse(&a, exact);
		size_t n;
		FILE *out = open_memstream(&text, &n);

		if (d)
			qj_doc_print_json(d, out);
		fclose(out);
		if (documents[i].printed ? strcmp(text, documents[i].printed) != 0 : d != NULL)
			fail_msg("%s is printed as %s", documents[i].text, text);
		free(text);
		free(exact);
		kar_arena_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_other_tools_become_ours),
		cmocka_unit_test(files_that_are_no_jobs_are_named),
		cmocka_unit_test(files_that_cannot_be_read_are_named),
		cmocka_unit_test(printed_documents_are_read_as_the_same),
		cmocka_unit_test(broken_documents_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
