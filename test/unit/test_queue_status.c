/* What the groups of a queue are told of their positions, and what its status says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queue_scene.h"
#include "test/unit/queue_sync_fixture.h"

static void positions_are_english_ordinals(void **state)
{
	static const struct {
		int place;
		const char *text;
	} want[] = { { 1, "; 1st of 24 in queue a" }, { 2, "; 2nd of 24 in queue a" },
		{ 3, "; 3rd of 24 in queue a" }, { 4, "; 4th of 24 in queue a" },
		{ 11, "; 11th of 24 in queue a" }, { 12, "; 12th of 24 in queue a" },
		{ 13, "; 13th of 24 in queue a" }, { 21, "; 21st of 24 in queue a" },
		{ 22, "; 22nd of 24 in queue a" }, { 24, "; 24th of 24 in queue a" } };
	struct scene *s = new_scene("queue a max=0");

	(void)state;
	for (int i = 0; i < 24; i++) {
		char part[64];

		snprintf(part, sizeof(part), "g%d a age=%d", i + 1, 24 - i);
		read_part(s, kar_arena_strndup(&s->arena, part, strlen(part)));
	}
	plan(s);
	for (size_t i = 0; i < KAR_LEN(want); i++) {
		const char *message = s->decisions[want[i].place - 1].message;

		if (!strstr(message, want[i].text))
			fail_msg("want '%s', got '%s'", want[i].text, message);
	}
	free_scene(s);
}

/* Of many in a queue: those behind the first 100 are not told of each move of one ahead. */
static struct scene *crowd(const char *queue, int n)
{
	struct scene *s = new_scene(queue);
	char part[64];

	assert_true(n <= MAX);
	for (int i = 0; i < n; i++) {
		snprintf(part, sizeof(part), "g%d a age=%d", i + 1, n - i);
		read_part(s, kar_arena_strndup(&s->arena, part, strlen(part)));
	}
	plan(s);
	return s;
}

static void only_the_first_hundred_have_positions(void **state)
{
	struct scene *s = crowd("queue a max=0", 102);

	(void)state;
	assert_int_equal(s->decisions[99].position, 100);
	assert_string_equal(s->decisions[99].message, "queue a has 1 of 1 jobs; 100th of 102 in queue a");
	for (int i = 100; i < 102; i++) {
		assert_int_equal(s->decisions[i].position, 0);
		assert_string_equal(s->decisions[i].message, "queue a has 1 of 1 jobs");
	}
	free_scene(s);
}

/* --- the status of a queue -------------------------------------------------------------------------- */

#define GROUP(phase, admitted) \
	"\"members\":1,\"phase\":\"" phase \
	"\",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"" admitted \
	"\",\"reason\":\"r\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"
#define COUNTS(pending, inqueue, running, completed, unknown) \
	"\"pending\":" pending ",\"inqueue\":" inqueue ",\"running\":" running ",\"completed\":" completed \
	",\"unknown\":" unknown ","
#define DELETING ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""
#define SAYS(reason, message) "\"reason\":\"" reason "\",\"message\":\"" message "\""

enum { PARTS = 4 };

/* Queue a, beside a parent p of which it may be a part. Each group asks for it. What the patch of its status contains. */
static const struct {
	const char *name, *meta, *spec, *status;
	const char *groups[7];
	const char *parts[PARTS];
} statuses[] = {
	{ "empty", "", "", "", { NULL },
		{ "\"state\":\"Open\"", COUNTS("0", "0", "0", "0", "0"), "\"parent\":\"root\"",
			SAYS("Open", "admits jobs") } },
	{ "each_group_counts_once", "", "\"maxJobs\":3", "",
		{ GROUP("Running", "True"), GROUP("Unknown", "True"), GROUP("Pending", "True"), "",
			GROUP("Finished", "True"), GROUP("Finished", "False"), NULL },
		{ COUNTS("1", "1", "1", "2", "1"), "\"head\":{\"namespace\":\"ns\",\"name\":\"g3\"" } },
	{ "just_admitted_is_inqueue", "", "", "", { "" }, { COUNTS("0", "1", "0", "0", "0") } },
	{ "closed_and_empty", "", "\"state\":\"Closed\"", "", { NULL },
		{ "\"state\":\"Closed\"", SAYS("Valid", "the spec is valid"),
			SAYS("Closed", "admits no further job") } },
	{ "closed_with_live_groups", "", "\"state\":\"Closed\"", "", { GROUP("Running", "True") },
		{ "\"state\":\"Closing\"", COUNTS("0", "0", "1", "0", "0"),
			SAYS("Closing", "admits no further job") } },
	{ "closed_with_waiting_groups", "", "\"state\":\"Closed\"", "", { "" },
		{ "\"state\":\"Closed\"", COUNTS("1", "0", "0", "0", "0") } },
	{ "closed_with_finished_groups", "", "\"state\":\"Closed\"", "", { GROUP("Finished", "True") },
		{ "\"state\":\"Closed\"", COUNTS("0", "0", "0", "1", "0") } },
	{ "deleting", DELETING, "", "", { GROUP("Pending", "True") },
		{ "\"state\":\"Closing\"", COUNTS("0", "1", "0", "0", "0"),
			SAYS("Deleting", "it is being deleted, and gone when ns/g0 has ended") } },
	{ "deleting_with_two_groups", DELETING, "", "",
		{ GROUP("Running", "True"), GROUP("Running", "True") },
		{ SAYS("Deleting", "it is being deleted, and gone when ns/g0 and others have ended") } },
	{ "state_that_nobody_knows", "", "\"state\":\"Ajar\"", "", { NULL },
		{ "\"state\":\"Closed\"",
			SAYS("UnknownState", "spec.state Ajar is neither Open nor Closed") } },
	{ "strategy_that_nobody_knows", "", "\"queueingStrategy\":\"x\"", "", { NULL },
		{ SAYS("UnknownQueueingStrategy", "unknown spec.queueingStrategy x; using BestEffortFIFO"),
			SAYS("Open", "admits jobs") } },
	{ "selector_that_means_nothing", "", "\"namespaceSelector\":{\"matchExpressions\":[{}]}", "", { "" },
		{ "\"state\":\"Open\"",
			SAYS("InvalidNamespaceSelector",
				"no job is admitted: spec.namespaceSelector: an expression has no key"),
			SAYS("InvalidNamespaceSelector",
				"admits no job until spec.namespaceSelector is corrected"),
			COUNTS("1", "0", "0", "0", "0") } },
	{ "part_of_another", "", "\"parent\":\"p\"", "", { NULL },
		{ "\"parent\":\"p\"", SAYS("Valid", "the spec is valid"), SAYS("Open", "admits jobs") } },
	{ "parent_that_is_missing", "", "\"parent\":\"x\"", "", { "" },
		{ "\"parent\":null", SAYS("ParentNotFound", "parent x does not exist"),
			SAYS("ParentNotFound", "admits no job until its parent is valid") } },
	{ "parent_that_is_missing_now", "", "\"parent\":\"x\"", "\"parent\":\"p\"", { NULL },
		{ "\"parent\":\"p\"", SAYS("ParentNotFound", "parent x does not exist"),
			SAYS("Open", "admits jobs") } },
	{ "parent_of_itself", "", "\"parent\":\"a\"", "\"parent\":\"root\"", { NULL },
		{ "\"parent\":\"root\"", SAYS("ParentCycle", "parent a is in a cycle") } },
	{ "guarantee_above_the_cluster", "", "\"guarantee\":{\"cpu\":2000}", "", { NULL },
		{ SAYS("ValidWithWarnings", "its guarantee is 2000 cpu, all nodes have 1000"),
			SAYS("Open", "admits jobs") } },
	{ "capability_of_what_no_node_has", "", "\"capability\":{\"nvidia.com/gpu\":8}", "", { NULL },
		{ SAYS("ValidWithWarnings", "its capability names nvidia.com/gpu, which no node has") } },
	{ "both", "", "\"guarantee\":{\"cpu\":\"1000500m\"},\"capability\":{\"cpu\":2000,\"a.b/c\":8}", "",
		{ NULL },
		{ SAYS("ValidWithWarnings",
			"its guarantee is 1000.5 cpu, all nodes have 1000; its capability names a.b/c, which no node has") } },
	{ "what_it_has_and_may_have", "",
		"\"weight\":3,\"deserved\":{\"cpu\":\"1500m\"},\"capability\":{\"memory\":\"2Gi\"}", "",
		{ GROUP("Running", "True") },
		{ "\"entitled\":{\"cpu\":\"750375m\",\"pods\":\"82\"}", "\"share\":0," } },
};

static const struct kar_action *patch_of(const char *name)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->type == &kar_queue_type && strcmp(a->name, name) == 0)
			return a;
	}
	fail_msg("no patch of queue %s", name);
	return NULL;
}

static void put_queue_a(size_t row)
{
	char rest[1024], name[16], meta[256];

	snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{%s}", statuses[row].spec,
		statuses[row].status);
	snprintf(meta, sizeof(meta), HELD "%s", statuses[row].meta);
	put_named(w.stores.queues, "a", meta, rest);
	put_named(w.stores.queues, "p", HELD, ",\"spec\":{}");
	for (int i = 0; statuses[row].groups[i]; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		put_group(name, "\"queue\":\"a\"", statuses[row].groups[i]);
	}
}

static void queue_status_says_what_there_is(void **state)
{
	for (size_t i = 0; i < KAR_LEN(statuses); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue_a(i);
		sync_text(false);
		for (int k = 0; k < PARTS && statuses[i].parts[k]; k++) {
			print_message("%s\n", statuses[i].name);
			check_says(patch_of("a"), statuses[i].parts[k]);
		}
	}
}

/* Rights of children beyond those of their parent, and of all queues beyond the nodes. */
static void rights_that_cannot_be_kept_are_named(void **state)
{
	(void)state;
	put_named(w.stores.queues, "p", HELD,
		",\"spec\":{\"guarantee\":{\"cpu\":10},\"deserved\":{\"cpu\":20}},\"status\":{}");
	put_named(w.stores.queues, "a", HELD,
		",\"spec\":{\"parent\":\"p\",\"guarantee\":{\"cpu\":8},\"deserved\":{\"cpu\":9}},\"status\":{}");
	put_named(w.stores.queues, "b", HELD,
		",\"spec\":{\"parent\":\"p\",\"guarantee\":{\"cpu\":8},\"deserved\":{\"cpu\":12}},\"status\":{}");
	put_named(w.stores.queues, "c", HELD,
		",\"spec\":{\"guarantee\":{\"cpu\":995},\"deserved\":{\"cpu\":995}},\"status\":{}");
	put_named(w.stores.queues, "m", HELD,
		",\"spec\":{\"deserved\":{\"memory\":1},\"capability\":{\"cpu\":4}},\"status\":{}");
	put_named(w.stores.queues, "d", HELD,
		",\"spec\":{\"parent\":\"m\",\"guarantee\":{\"cpu\":8},\"deserved\":{\"cpu\":4}},\"status\":{}");
	sync_text(false);
	check_says(patch_of("m"),
		"the guarantees of its child queues are together 8 cpu, its capability is 4\"");
	check_says(patch_of("p"),
		"the guarantees of its child queues are together 16 cpu, its own is 10; what its child queues deserve is together 21 cpu, "
		"it deserves 20; the guarantees of all queues are together 1005 cpu, all nodes have 1000");
	check_says(patch_of("c"), "the guarantees of all queues are together 1005 cpu, all nodes have 1000");
	check_says(patch_of("a"), "\"reason\":\"Valid\"");
}

/* Once for each change, about the queue. */
static void queue_that_becomes_invalid_has_an_event(void **state)
{
	const struct kar_plan_event *e;

	(void)state;
	put_named(w.stores.queues, "a", HELD, ",\"spec\":{\"parent\":\"x\"},\"status\":{}");
	put_named(w.stores.queues, "b", HELD, ",\"spec\":{},\"status\":{}");
	put_named(w.stores.queues, "c", HELD, ",\"spec\":{\"guarantee\":{\"cpu\":2000}},\"status\":{}");
	sync_text(false);
	e = patch_of("a")->event;
	assert_non_null(e);
	assert_true(e->warning);
	assert_string_equal(e->reason, "ParentNotFound");
	assert_string_equal(e->note, "parent x does not exist");
	assert_null(patch_of("b")->event);
	e = patch_of("c")->event;
	assert_non_null(e);
	assert_string_equal(e->reason, "ValidWithWarnings");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions_are_english_ordinals),
		cmocka_unit_test(only_the_first_hundred_have_positions),
		cmocka_unit_test_setup_teardown(queue_status_says_what_there_is, setup, teardown),
		cmocka_unit_test_setup_teardown(rights_that_cannot_be_kept_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(queue_that_becomes_invalid_has_an_event, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
