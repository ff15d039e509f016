/* Gangs that start together: which groups are a unit, and for whom a group waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/cluster/unit.h"
#include "test/unit/queue_sync_fixture.h"

/* @groups: "a:b,c; b:a; c" a names b and c, b names a; "+": it has started. @unit: that of the first, in order. */
static const struct {
	const char *name, *groups, *unit;
	const char *awaited, *missing; /* NULL: none */
} rows[] = {
	{ "two_that_name_each_other", "a:b; b:a", "a b", NULL, NULL },
	{ "own_name_says_nothing", "a:a,b; b:a,b", "a b", NULL, NULL },
	{ "and_theirs_in_turn", "a:b; b:a,c; c:b,d; d:c", "a b c d", NULL, NULL },
	{ "who_is_not_named_back_waits", "a:b; b", "a", "b", NULL },
	{ "and_the_other_does_not", "b:c; a:b; c:b", "b c", NULL, NULL },
	{ "names_of_one_that_does_not_name_back_are_not_followed", "a:b; b:c; c:b", "a", "b", NULL },
	{ "all_of_the_unit_waits", "a:b; b:a,c; c", "a b", "c", NULL },
	{ "ring_waits", "a:b; b:c; c:a", "a", "b", NULL },
	{ "what_has_started_is_not_waited_for", "a:b,c; b+:a; c+", "a", NULL, NULL },
	{ "one_that_does_not_exist", "a:b,x; b:a", "a b", NULL, "ns/x" },
	{ "one_that_a_member_of_the_unit_misses", "a:b; b:a,x", "a b", NULL, "ns/x" },
	{ "no_names", "a", "", NULL, NULL },
};

static void put_unit_group(char *text)
{
	char meta[512], list[256] = "";
	char *names = text + strcspn(text, ":");
	bool started;

	if (*names)
		*names++ = '\0';
	for (char *name; (name = strsep(&names, ",")) != NULL;) {
		size_t n = strlen(list);

		if (name[0])
			snprintf(list + n, sizeof(list) - n, "%s\\\"ns/%s\\\"", n ? "," : "", name);
	}
	started = strchr(text, '+') != NULL;
	text[strcspn(text, "+")] = '\0';
	snprintf(meta, sizeof(meta), ",\"annotations\":{\"gang.scheduling.koordinator.sh/groups\":\"[%s]\"}",
		list);
	put_named(w.stores.podgroups, text, list[0] ? meta : "",
		started ? ",\"spec\":{\"minMember\":1},\"status\":{\"phase\":\"Running\",\"placement\":{\"state\":\"Satisfied\",\"attempt\":1}}"
			: ",\"spec\":{\"minMember\":1}");
}

static void groups_that_name_each_other_are_a_unit(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_arena a = { 0 };
		char copy[256], first[2] = { rows[i].groups[0], '\0' }, *rest = copy;
		const char *got = "";
		struct kar_unit u;

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(copy, sizeof(copy), "%s", rows[i].groups);
		for (char *part; (part = strsep(&rest, ";")) != NULL;)
			put_unit_group(part + strspn(part, " "));
		u = kar_unit_of(&w.stores, kar_as_podgroup(kar_store_get(w.stores.podgroups, "ns", first)),
			&a);
		for (size_t k = 0; k < u.n; k++)
			got = kar_arena_printf(&a, "%s%s%s", got, k ? " " : "", u.groups[k]->o.name);
		if (strcmp(got, rows[i].unit) != 0)
			fail_msg("%s: want '%s', got '%s'", rows[i].name, rows[i].unit, got);
		if (strcmp(u.awaited ? u.awaited->o.name : "", rows[i].awaited ? rows[i].awaited : "") != 0)
			fail_msg("%s: waits for '%s'", rows[i].name, u.awaited ? u.awaited->o.name : "");
		if (strcmp(u.missing ? u.missing : "", rows[i].missing ? rows[i].missing : "") != 0)
			fail_msg("%s: misses '%s'", rows[i].name, u.missing ? u.missing : "");
		kar_arena_release(&a);
	}
}

#define NAMES_BACK ",\"annotations\":{\"gang.scheduling.koordinator.sh/groups\":\"[\\\"ns/a\\\"]\"}"

/* Group x of namespace other; @meta NULL: there is none. */
static const struct {
	const char *name, *meta;
} elsewhere[] = {
	{ "does_not_exist", NULL },
	{ "does_not_name_it_back", "" },
	{ "names_it_back_and_has_no_members", NAMES_BACK },
};

static void put_elsewhere(const char *meta)
{
	struct kar_buf json = { 0 };

	kar_buf_printf(&json,
		"{\"metadata\":{\"namespace\":\"other\",\"name\":\"x\",\"uid\":\"uid-x\",\"resourceVersion\":\"%ju\"%s},"
		"\"spec\":{\"minMember\":1}}",
		(uintmax_t)++w.rv, meta);
	kar_store_apply(w.stores.podgroups,
		object_read(false, &kar_podgroup_type, kar_buf_cstr(&json), w.strings));
	kar_buf_release(&json);
}

/* Nobody learns from the message of his job whether there is a group of that name in a namespace that he may not read. */
static void the_same_is_said_of_all_groups_elsewhere(void **state)
{
	for (size_t i = 0; i < KAR_LEN(elsewhere); i++) {
		const struct kar_action *mine = NULL;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		if (elsewhere[i].meta)
			put_elsewhere(elsewhere[i].meta);
		put_named_job("a", "", ",\"schedSpec\":{\"gangGroups\":[\"other/x\"]}", "Pending");
		put_group_of_job("a", "\"phase\":\"Pending\"");
		drain();
		(void)sync_text(true);
		for (size_t k = 0; k < w.sync.plan.n_actions; k++)
			mine = strcmp(w.sync.plan.actions[k].name, "a") ? mine : &w.sync.plan.actions[k];
		if (!mine)
			fail_msg("%s: nothing is said", elsewhere[i].name);
		check_says(mine,
			"\"message\":\"it starts with other/x, which is not ready; 1st of 1 in queue default\"");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(groups_that_name_each_other_are_a_unit, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_is_said_of_all_groups_elsewhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
