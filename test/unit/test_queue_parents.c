/* Which parents of queues are in force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "controllers/queue/lookup.h"
#include "controllers/queue/parents.h"

enum { MAX = 8 };

/* Queues in words: "b<a" asks for parent a, "b<a:c" had c when it was valid last, "!b" is being deleted. Want: per queue its parent in force. */
static const struct {
	const char *name, *queues, *want, *problems;
} rows[] = {
	{ "top", "a", "a=root", "" },
	{ "child", "a b<a", "a=root+ b=a", "" },
	{ "four_levels", "a b<a c<b d<c", "a=root+ b=a+ c=b+ d=c", "" },
	{ "five_levels", "a b<a c<b d<c e<d", "a=root+ b=a+ c=b+ d=c e=-", "e: parent d is too deep" },
	{ "six_levels", "a b<a c<b d<c e<d f<e", "a=root+ b=a+ c=b+ d=c e=- f=-",
		"e: parent d is too deep; f: parent e is too deep" },
	{ "five_levels_stay_where_they_were", "a b<a c<b d<c e<d:b", "a=root+ b=a+ c=b+ d=c e=b",
		"e: parent d is too deep" },
	{ "missing", "b<a", "b=-", "b: parent a does not exist" },
	{ "missing_above", "b<a c<b", "b=- c=-", "b: parent a does not exist; c: parent a does not exist" },
	{ "missing_now", "b<a:root c<b:root", "b=root c=root",
		"b: parent a does not exist; c: parent a does not exist" },
	{ "deleting", "!a b<a:a", "a=root b=a", "b: parent a is being deleted" },
	{ "deleting_is_valid_itself", "a !b<a", "a=root+ b=a", "" },
	{ "deleting_above", "!a b<a:a c<b:b", "a=root b=a c=b",
		"b: parent a is being deleted; c: parent a is being deleted" },
	{ "itself", "a<a", "a=-", "a: parent a is in a cycle" },
	{ "cycle", "a<b:root b<a:a", "a=root b=a", "a: parent b is in a cycle; b: parent a is in a cycle" },
	{ "below_a_cycle", "a<b b<a c<b:root", "a=- b=- c=root",
		"a: parent b is in a cycle; b: parent a is in a cycle; c: parent b is in a cycle" },
	{ "valid_again", "a:b b<a:root", "a=root+ b=a", "" },
	{ "the_last_valid_one_is_gone", "b<a:c", "b=-", "b: parent a does not exist" },
	{ "edited_into_a_cycle", "a<x:b b<x:a", "a=- b=-",
		"a: parent x does not exist; b: parent x does not exist" },
	{ "only_valid_ones_make_a_parent", "a b<x c<a d<b:a", "a=root+ b=- c=a d=a",
		"b: parent x does not exist; d: parent x does not exist" },
};

static void read_queue(struct kar_queue *q, char *word)
{
	char *was = strchr(word, ':'), *parent = strchr(word, '<');

	if (was)
		*was++ = '\0';
	if (parent)
		*parent++ = '\0';
	q->deletion = word[0] == '!';
	q->o.name = word + q->deletion;
	q->spec.parent = parent;
	q->status.parent = was;
}

static void check_row(size_t row)
{
	struct kar_queue queues[MAX] = { 0 };
	const struct kar_queue *list[MAX];
	struct queue_parent out[MAX] = { 0 };
	struct kar_arena a = { 0 };
	char *rest = kar_arena_strndup(&a, rows[row].queues, strlen(rows[row].queues)), *word;
	const char *got = "", *problems = "";
	size_t n = 0;

	while ((word = strsep(&rest, " ")) != NULL) {
		assert_true(n < MAX);
		read_queue(&queues[n], word);
		list[n] = &queues[n];
		n++;
	}
	queue_parents(list, n, out, &a);
	for (size_t i = 0; i < n; i++) {
		got = kar_arena_printf(&a, "%s%s%s=%s%s", got, i ? " " : "", queues[i].o.name,
			out[i].in_force[0] ? out[i].in_force : "-", out[i].is_parent ? "+" : "");
		if (out[i].problem)
			problems = kar_arena_printf(&a, "%s%s%s: %s", problems, problems[0] ? "; " : "",
				queues[i].o.name, queue_parent_text(&out[i], &a));
	}
	if (strcmp(got, rows[row].want) != 0 || strcmp(problems, rows[row].problems) != 0)
		fail_msg("%s: got '%s', '%s'", rows[row].name, got, problems);
	kar_arena_release(&a);
}

static void valid_parents_and_the_last_valid_ones_are_in_force(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		check_row(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		valid_parents_and_the_last_valid_ones_are_in_force) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
