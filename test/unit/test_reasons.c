/*
 * The list of reasons: what an API server demands of them, and that docs/REASONS.md is made from it.
 *
 * KAR_WRITE_REASONS=1 writes the document instead of comparing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/status/reasons.h"
#include "common/base/buf.h"

enum { REASON_MAX = 1024, DOCUMENT_MAX = 64 * 1024 };

static void each_reason_is_one_word_in_camel_case(void **state)
{
	size_t n;
	const struct kar_reason *all = kar_reasons(&n);

	(void)state;
	assert_true(n > 20);
	for (size_t i = 0; i < n; i++) {
		const char *name = all[i].name;

		if (name[0] < 'A' || name[0] > 'Z' || strlen(name) > REASON_MAX ||
			strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(name))
			fail_msg("%s is no reason", name);
		if (!(all[i].where & ((1U << KAR_REASON_SHOWN) - 1)))
			fail_msg("%s is shown nowhere", name);
		if ((all[i].where & KAR_REASON_COUNTS) && !(all[i].where & KAR_SHOWN_IN_STATUS))
			fail_msg("%s counts pods, but is not shown in status", name);
		if (all[i].meaning[strlen(all[i].meaning) - 1] != '.')
			fail_msg("the meaning of %s is no sentence", name);
	}
}

static void each_reason_is_there_once(void **state)
{
	size_t n;
	const struct kar_reason *all = kar_reasons(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(kar_reason_find(all[i].name), &all[i]);
	assert_null(kar_reason_find("BackOf"));
	assert_null(kar_reason_find(""));
	assert_ptr_equal(kar_reason_find("BackOff")->name, kar_reason_BackOff);
}

static void write_row(struct kar_buf *out, const struct kar_reason *r)
{
	const char *comma = "";

	kar_buf_printf(out, "| `%s` | ", r->name);
	for (unsigned bit = 0; bit < KAR_REASON_SHOWN; bit++) {
		if (r->where >> bit & 1) {
			kar_buf_printf(out, "%s%s", comma, kar_reason_shown(bit));
			comma = ", ";
		}
	}
	kar_buf_printf(out, " | %s |\n", r->meaning);
}

static void write_document(struct kar_buf *out)
{
	size_t n;
	const struct kar_reason *all = kar_reasons(&n);

	kar_buf_puts(out,
		"# Reasons\n\n"
		"Every reason that a QueueJob shows, in the order of a job's life, and then those of PodGroups and Queues alone. *status* is `status.reason` (the column REASON of "
		"`kubectl get qj -o wide`), *lastRestart* is `status.lastRestart.reason`. A message beside it has the details. While a job waits, "
		"its queue may hand on a reason of its own (the condition `Admitted` of the PodGroup): those are in the list too. *PodGroup* and *Queue*: "
		"in a condition or an event of such an object.\n\n"
		"This file is made from `api/status/reasons.h`: `KAR_WRITE_REASONS=1 build/test/unit/test_reasons`.\n\n"
		"| reason | shown in | meaning |\n|---|---|---|\n");
	for (size_t i = 0; i < n; i++)
		write_row(out, &all[i]);
}

static void save(const char *path, const struct kar_buf *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text->p, 1, text->n, f), text->n);
	assert_int_equal(fclose(f), 0);
}

static void the_document_is_made_from_the_list(void **state)
{
	static const char path[] = KAR_DOCS "/REASONS.md";
	static char have[DOCUMENT_MAX];
	struct kar_buf want = { 0 };
	FILE *f;

	(void)state;
	write_document(&want);
	if (getenv("KAR_WRITE_REASONS"))
		save(path, &want);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	have[fread(have, 1, sizeof(have) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(have, kar_buf_cstr(&want));
	kar_buf_release(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_is_one_word_in_camel_case),
		cmocka_unit_test(each_reason_is_there_once),
		cmocka_unit_test(the_document_is_made_from_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
