/*
 * The QueueJob reconciler's decisions: a scene in (test/fixture/scene.h), a plan out.
 *
 * The rows are text files, test/scenes/queuejob/: a name, an indented line with the scene, one line per part of the plan,
 * "= -" for an empty one, and, where the words matter, ": " with the message of the status. Of every row is asserted besides: deciding twice gives the same plan; no plan both creates
 * and deletes a pod; carrying plans out comes to rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <cmocka.h>

#include "api/status/reasons.h"
#include "test/fixture/scene.h"

enum { SETTLE_ROUNDS = 50 };

struct row {
	char name[256], scene[4096], plan[8192];
	char says[1024]; /* the message of the status; "": it is not compared */
};

static void check_no_tug_of_war(const char *row, const struct kar_plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		for (size_t k = 0; k < p->n_actions; k++) {
			const struct kar_action *a = &p->actions[i], *b = &p->actions[k];

			if (a->verb == KAR_CREATE && b->verb == KAR_DELETE && a->type == b->type &&
				strcmp(a->name, b->name) == 0)
				fail_msg("%s: creates and deletes %s", row, a->name);
			if (i != k && a->verb == b->verb && a->type == b->type && a->what == b->what &&
				strcmp(a->name, b->name) == 0)
				fail_msg("%s: does the same to %s twice", row, a->name);
		}
	}
}

static bool told[192]; /* as the list of reasons: its words were compared */

static void check_message(const struct row *row, const struct kar_plan *p)
{
	const struct kar_queuejob_status *st = p->status;
	size_t n;
	const struct kar_reason *all = kar_reasons(&n), *reason = st ? kar_reason_find(st->reason) : NULL;

	assert_true(n <= KAR_LEN(told));
	if (!row->says[0])
		return;
	if (reason)
		told[reason - all] = true;
	if (!st || strcmp(st->message, row->says))
		fail_msg("%s\n  want:  %s\n  got:   %s", row->name, row->says,
			st ? st->message : "no status");
}

static void check_row(const struct row *row)
{
	struct scene s;
	struct kar_plan first, second;
	const char *text;

	scene_read(&s, row->scene);
	scene_decide(&s, &first);
	scene_decide(&s, &second);
	text = scene_print(&s, &first);
	if (strcmp(text, row->plan))
		fail_msg("%s\n  scene: %s\n  want:  %s\n  got:   %s", row->name, row->scene, row->plan, text);
	if (strcmp(text, scene_print(&s, &second)))
		fail_msg("%s: decided twice:\n  %s\n  %s", row->name, text, scene_print(&s, &second));
	check_message(row, &first);
	check_no_tug_of_war(row->name, &first);
	if (!scene_settle(&s, SETTLE_ROUNDS)) {
		scene_decide(&s, &first);
		fail_msg("%s: does not come to rest: %s", row->name, scene_print(&s, &first));
	}
	scene_release(&s);
}

static void add_line(struct row *row, const char *line)
{
	size_t n = strlen(row->plan);

	if (strncmp(line, "\t: ", 3) == 0)
		strlcpy(row->says, line + 3, sizeof(row->says));
	else if (strncmp(line, "\t= ", 3) == 0)
		snprintf(row->plan + n, sizeof(row->plan) - n, "%s%s", n ? "; " : "", line + 3);
	else if (line[0] == '\t')
		strlcpy(row->scene, line + 1, sizeof(row->scene));
	else
		strlcpy(row->name, line, sizeof(row->name));
}

/* Runs the rows of one file; returns how many there are. */
static int check_file(const char *theme)
{
	char path[512], line[4096];
	struct row row = { 0 };
	int rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/queuejob/%s.txt", KAR_SCENES, theme);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[0] != '#') {
			add_line(&row, line);
			continue;
		}
		if (row.name[0]) {
			check_row(&row);
			rows++;
		}
		row = (struct row){ 0 };
	}
	if (row.name[0])
		check_row(&row);
	fclose(f);
	return rows + (row.name[0] != '\0');
}

static void test_theme(void **state)
{
	int rows = check_file(*state);

	print_message("%d scenes\n", rows);
	assert_true(rows >= 5);
}

/* The deadline begins with the admission; that of a former job of the name, whose PodGroup it has adopted, is none of it. */
static const struct {
	const char *name;
	kar_time admitted; /* ms before now; the job has existed for a minute */
	kar_time group;    /* its age; 0: as old as the job */
	kar_time pod;      /* when the first one came; 0: there is none */
	kar_time status;   /* when condition Admitted of the job came; long ago: it is of no use */
	kar_time ahead;    /* of the manager's clock is the API server's, when it creates the job */
	bool edited;       /* since it was created: it may have been suspended and resumed */
	kar_time starts;
} start_rows[] = {
	{ "admitted of late", 5000, .starts = 5000 },
	{ "admitted at once", 60000, .starts = 60000 },
	{ "by a clock that is behind", 61000, .starts = 60000 },
	{ "by a clock that is behind, a pod later", 61000, .pod = 58000, .status = 90000, .starts = 60000 },
	{ "by a clock that is ahead", -2000, .starts = 0 },
	{ "a former job's admission", 61000, .group = 90000, .starts = 0 },
	{ "a former job's admission, and a clock that is behind", 61000, .group = 90000, .ahead = 3000,
		.starts = -3000 },
	{ "a former job's admission, own pods", 61000, .group = 90000, .pod = 30000, .status = 90000,
		.starts = 30000 },
	{ "a former job's admission, own one known", 61000, .group = 90000, .pod = 30000, .status = 40000,
		.starts = 40000 },
	{ "a former job's admission, own one impossible", 61000, .group = 90000, .pod = 30000,
		.status = -1000, .starts = 30000 },
	{ "admitted, then suspended and resumed", 30000, .edited = true, .starts = 0 },
	{ "admitted, then suspended and resumed, own pods", 30000, .pod = 10000, .status = 90000,
		.edited = true, .starts = 10000 },
	{ "a former job's group, own admission", 5000, .group = 90000, .pod = 3000, .status = 90000,
		.starts = 5000 },
};

static void move_conditions(struct kar_conditions *list, kar_time at)
{
	for (size_t i = 0; i < list->n; i++)
		list->items[i].last_transition = at;
}

static void test_admission_begins_the_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(start_rows); i++) {
		struct scene s;
		struct kar_plan p;

		scene_read(&s,
			start_rows[i].pod
				? "job phase=Running formed=1 wrote=startTime:-; task w; pod w-0 Running"
				: "job phase=Pending; task w; group admitted; spec");
		s.group.creation = scene_now - (start_rows[i].group ? start_rows[i].group : KAR_MINUTE);
		if (start_rows[i].ahead)
			s.job.creation = scene_now + start_rows[i].ahead;
		if (start_rows[i].edited)
			s.job.generation = 2;
		for (size_t k = 0; k < s.n_pods; k++)
			s.pods[k]->creation = scene_now - start_rows[i].pod;
		move_conditions(&s.group.status.conditions, scene_now - start_rows[i].admitted);
		move_conditions(&s.job.status.conditions, scene_now - start_rows[i].status);
		scene_decide(&s, &p);
		print_message("%s\n", start_rows[i].name);
		assert_int_equal(((const struct kar_queuejob_status *)p.status)->start_time,
			scene_now - start_rows[i].starts);
		scene_release(&s);
	}
}

/* What `kubectl describe` answers to "why did it restart?". */
static void test_restart_remembers_its_cause(void **state)
{
	struct scene s;
	struct kar_plan p;
	const struct kar_restart *r;

	(void)state;
	scene_read(&s,
		"job phase=Running formed=2; task w replicas=2; pod w-0 Running; pod w-1 Failed exit=3 node=n7");
	scene_decide(&s, &p);
	r = &((const struct kar_queuejob_status *)p.status)->last_restart;
	assert_string_equal(r->reason, "PodFailed");
	assert_string_equal(r->message, "pod j-w-1 on node n7 failed with exit code 3");
	assert_string_equal(r->pod, "j-w-1");
	assert_string_equal(r->node, "n7");
	assert_int_equal(r->exit_code, 3);
	assert_int_equal(r->time, scene_now);
	scene_release(&s);
}

/* `kubectl delete pod` waits meanwhile: the message tells whoever did that for how long. */
static void test_back_off_names_a_deletion_that_waits(void **state)
{
	static const struct {
		const char *deleting, *end;
	} rows[] = {
		{ "", "Z" },
		{ "deleting", "Z (its deletion waits until then)" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *message;
		struct scene s;
		struct kar_plan p;
		char text[256];

		snprintf(text, sizeof(text),
			"job phase=Running min=1 formed=1 podFailures=3 steps=3 failed-at=0; task w replicas=2; "
			"pod w-0 Running; pod w-1 Failed exit=3 counted %s",
			rows[i].deleting);
		scene_read(&s, text);
		scene_decide(&s, &p);
		message = ((const struct kar_queuejob_status *)p.status)->message;
		assert_int_equal(strncmp(message, "pod j-w-1 is replaced at ", 25), 0);
		assert_string_equal(strchr(message, 'Z'), rows[i].end);
		scene_release(&s);
	}
}

/* By this the rounds to come know that what its pods still do is not to be recorded. */
static void test_incarnation_that_was_given_up_is_not_suspended(void **state)
{
	static const struct {
		const char *phase, *hash;
	} rows[] = {
		{ "Restarting", "" },
		{ "Running formed=1", "h1" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene s;
		struct kar_plan p;
		const struct kar_queuejob_status *st;
		char text[128];

		snprintf(text, sizeof(text), "job phase=%s suspend; task w; pod w-0 Succeeded deleting",
			rows[i].phase);
		scene_read(&s, text);
		s.job.spec.min_succeeded = 2; /* so that it is not complete */
		s.job.spec.has_min_succeeded = true;
		scene_decide(&s, &p);
		st = p.status;
		assert_non_null(st);
		assert_int_equal(st->phase, KAR_QJ_PHASE_SUSPENDED);
		assert_string_equal(st->record.template_hash, rows[i].hash);
		scene_release(&s);
	}
}

/* A failure of the same second has made the back-off longer: that is no matter of a restart with another cause. */
static void test_only_restarts_by_failure_wait(void **state)
{
	static const struct {
		const char *reason;
		bool waits;
	} rows[] = {
		{ "PodFailed", true },
		{ "PodFailurePolicy", true },
		{ "PodDisrupted", false },
		{ "PodsMissing", false },
		{ "TemplateChanged", false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene s;
		struct kar_plan p;
		const struct kar_queuejob_status *st;

		char text[128];

		snprintf(text, sizeof(text),
			"job phase=Restarting restart=%s steps=5 failed-at=4 restarted-at=4; task w",
			rows[i].reason);
		scene_read(&s, text);
		scene_decide(&s, &p);
		st = p.status;
		assert_non_null(st);
		if ((st->phase == KAR_QJ_PHASE_RESTARTING) != rows[i].waits)
			fail_msg("%s: phase %s", rows[i].reason, kar_qj_phase_name(st->phase));
		scene_release(&s);
	}
}

/* After all the others. */
/* More pods than scenes can settle. */
static void test_hosts_that_are_too_many_for_a_list_are_told(void **state)
{
	struct scene s;
	struct kar_plan p;

	(void)state;
	scene_read(&s, "job phase=Restarting min=1 dns; task w replicas=9000");
	scene_decide(&s, &p);
	assert_string_equal(scene_print(&s, &p),
		"status phase=Starting reason=Starting incarnation=2; event Warning HostsTooLong: KAR_HOSTS is not set: "
		"the host names of the 9000 pods of task w have more than 64 KiB; event Normal Starting: incarnation 2: "
		"creating 9000 pods");
	scene_release(&s);
}

/* Each list would do, and half of the hosts would start half of the job. */
static void test_hosts_of_all_tasks_are_too_many_together(void **state)
{
	struct scene s;
	struct kar_plan p;

	(void)state;
	scene_read(&s, "job phase=Restarting min=1 dns; task v replicas=3500; task w replicas=3500");
	s.job.spec.frameworks = KAR_FRAMEWORK_MPI;
	scene_decide(&s, &p);
	assert_string_equal(scene_print(&s, &p),
		"status phase=Starting reason=Starting incarnation=2; event Warning HostsTooLong: KAR_HOSTS_<TASK> is not set: "
		"the host names of all tasks have more than 64 KiB together; event Normal Starting: incarnation 2: "
		"creating 7000 pods");
	scene_release(&s);
}

static void test_every_documented_reason_occurs(void **state)
{
	(void)state;
	scene_check_all_reasons_seen();
}

static void test_words_of_every_reason_are_compared(void **state)
{
	size_t n;
	const struct kar_reason *all = kar_reasons(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (all[i].where & KAR_SHOWN_IN_STATUS && !told[i])
			fail_msg("no scene compares the message of %s", all[i].name);
	}
}

/* One test per file. */
#define THEME(file) \
	{ \
		.name = (file), .test_func = test_theme, .initial_state = (void *)(uintptr_t)(file) \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		THEME("after"),
		THEME("pending"),
		THEME("start"),
		THEME("children"),
		THEME("create"),
		THEME("quota"),
		THEME("service"),
		THEME("valid"),
		THEME("form"),
		THEME("lose"),
		THEME("policy"),
		THEME("index"),
		THEME("restart"),
		THEME("fail"),
		THEME("complete"),
		THEME("update"),
		THEME("suspend"),
		THEME("delete"),
		THEME("order"),
		THEME("elastic"),
		THEME("edited"),
		THEME("places"),
		THEME("direct"),
		THEME("native"),
		THEME("crash"),
		cmocka_unit_test(test_admission_begins_the_time),
		cmocka_unit_test(test_restart_remembers_its_cause),
		cmocka_unit_test(test_back_off_names_a_deletion_that_waits),
		cmocka_unit_test(test_only_restarts_by_failure_wait),
		cmocka_unit_test(test_incarnation_that_was_given_up_is_not_suspended),
		cmocka_unit_test(test_hosts_that_are_too_many_for_a_list_are_told),
		cmocka_unit_test(test_hosts_of_all_tasks_are_too_many_together),
		cmocka_unit_test(test_every_documented_reason_occurs),
		cmocka_unit_test(test_words_of_every_reason_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
