/*
 * The pods of one owner by index, for a workload that is no QueueJob: a "Crew" whose pods are called <task letter><index>, as a0.
 * What QueueJobs make of it: test/scenes/queuejob.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "controllers/podset/podset.h"

static bool index_of(const void *owner, const char *pod_name, size_t *task, int32_t *index)
{
	if (strcmp(owner, "crew") || pod_name[0] < 'a' || pod_name[0] > 'b')
		return false;
	*task = (size_t)(pod_name[0] - 'a');
	*index = atoi(pod_name + 1);
	return true;
}

static struct kar_pod_loss no_loss;

/* "a0 Running", "a1 Failed deleting", "b0 Pending old untracked gated". */
static struct kar_pod *read_pod(const char *text, struct kar_arena *arena)
{
	struct kar_pod *pod = kar_arena_alloc(arena, 1, sizeof(*pod));
	struct kar_pod_job *job = kar_arena_alloc(arena, 1, sizeof(*job));

	job->incarnation = strstr(text, " old") ? 1 : 2;
	job->loss = &no_loss;
	pod->job = job;
	pod->o.ns = "ns";
	pod->o.name = kar_arena_strndup(arena, text, strcspn(text, " "));
	pod->o.uid = pod->o.name;
	pod->o.rv = 7;
	pod->owner_uid = strstr(text, " unowned") ? NULL : "crew-uid";
	pod->phase = strstr(text, " Running") ? KAR_POD_RUNNING
		: strstr(text, " Succeeded")  ? KAR_POD_SUCCEEDED
		: strstr(text, " Failed")     ? KAR_POD_FAILED
					      : KAR_POD_PENDING;
	pod->deletion = strstr(text, " deleting") ? 1 : 0;
	pod->tracked = !strstr(text, " untracked");
	pod->gate_ours = strstr(text, " gated") != NULL;
	return pod;
}

/* The pods of a text, parted by ';'. */
static const struct kar_pod **read_pods(const char *text, size_t *n, struct kar_arena *arena)
{
	const struct kar_pod **pods = NULL;

	for (*n = 0; *text; text += strspn(text, "; ")) {
		size_t length = strcspn(text, ";");

		pods = kar_arena_grow(arena, pods, *n, sizeof(const struct kar_pod *));
		pods[(*n)++] = read_pod(kar_arena_strndup(arena, text, length), arena);
		text += length;
	}
	return pods;
}

static void print_list(struct kar_buf *out, const char *name, const struct podset_pods *pods)
{
	for (size_t i = 0; i < pods->n; i++)
		kar_buf_printf(out, "%s%s", i ? "," : name, pods->items[i]->o.name);
}

/* A letter per slot, tasks parted by '/', and the lists. */
static const char *print_set(const struct podset *set, struct kar_buf *out)
{
	static const char letters[] = { 'm', 'b', 'p', 'r', 'd', 'l', 'x', 'o' };

	for (size_t i = 0; i < set->n_tasks; i++) {
		kar_buf_puts(out, i ? "/" : "");
		for (int32_t k = 0; k < set->tasks[i].n; k++)
			kar_buf_printf(out, "%c", letters[set->tasks[i].slots[k].state]);
	}
	print_list(out, " lost=", &set->lost);
	print_list(out, " surplus=", &set->surplus);
	print_list(out, " old=", &set->old);
	return kar_buf_cstr(out);
}

static void pods_are_sorted_into_slots(void **state KAR_UNUSED)
{
	static const struct {
		const char *pods, *done, *counted;
		bool restarts, suspended;
		const char *want, *given_up;
	} rows[] = {
		{ "a0 Failed; a1 Running", "", "", false, false, "xr/m", "0" },
		{ "a1 Running", "", "", false, false, "xx/m", "0-1" },
		{ "a1 Succeeded", "1", "", false, false, "xd/m", "0-1" },
		{ "a0 Succeeded; a1 Failed deleting", "", "", false, false, "dx/m", "1" },
		{ "", "", "", false, false, "mm/m" },
		{ "a0 Running; a1 Pending; b0 Running", "", "", false, false, "rp/r" },
		{ "a0 Succeeded; a1 Failed", "", "", false, false, "dl/m lost=a1" },
		{ "a0 Running deleting", "", "", false, false, "lm/m lost=a0" },
		{ "a1 Failed", "", "a1", false, false, "ml/m" },
		{ "", "0-1", "", false, false, "dd/m" },
		{ "a0 Running; a7 Running; c0 Running", "", "", false, false, "rm/m surplus=a7,c0" },
		{ "a0 Failed old; a1 Succeeded old", "1", "", false, false, "od/m old=a0" },
		{ "a0 Running old", "", "", false, false, "rm/m" },
		{ "a0 Running old", "", "", false, true, "om/m old=a0" },
		{ "a0 Running; a1 Succeeded", "", "", true, false, "ld/m" },
		{ "a0 Succeeded deleting", "", "", false, true, "lm/m lost=a0" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_arena arena = { 0 };
		struct kar_buf out = { 0 };
		const char *counted = rows[i].counted;
		const struct podset_task_input tasks[] = {
			{ .replicas = 2,
				.done = rows[i].done,
				.restarts = rows[i].restarts,
				.given_up = rows[i].given_up },
			{ .replicas = 1, .done = "" },
		};
		struct podset_input in = {
			.owner = { "crew", index_of },
			.tasks = tasks,
			.n_tasks = KAR_LEN(tasks),
			.max_pods = 100,
			.incarnation = 2,
			.template_hash = "",
			.counted = { .items = &counted, .n = counted[0] ? 1 : 0 },
			.at_work = !rows[i].suspended,
			.record = true,
		};
		struct podset set;

		in.pods = read_pods(rows[i].pods, &in.n_pods, &arena);
		podset_count(&in, &arena, &set);
		if (strcmp(print_set(&set, &out), rows[i].want))
			fail_msg("%s\n  want %s\n  got  %s", rows[i].pods, rows[i].want, kar_buf_cstr(&out));
		kar_buf_release(&out);
		kar_arena_release(&arena);
	}
}

static void pod_of_another_owner_blocks_its_slot(void **state KAR_UNUSED)
{
	struct kar_arena arena = { 0 };
	const struct kar_pod *foreign = read_pod("a1 Running", &arena);
	const struct podset_task_input task = { .replicas = 3, .done = "" };
	const struct podset_input in = { .owner = { "crew", index_of },
		.tasks = &task,
		.n_tasks = 1,
		.max_pods = 2,
		.blocking = &foreign,
		.n_blocking = 1,
		.template_hash = "" };
	struct podset set;

	podset_count(&in, &arena, &set);
	assert_int_equal(set.total, 2); /* no more slots than max_pods */
	assert_int_equal(set.tasks[0].slots[1].state, PODSET_BLOCKED);
	assert_ptr_equal(set.blocker, foreign);
	kar_arena_release(&arena);
}

static void print_actions(const struct kar_plan *p, struct kar_buf *out)
{
	static const char *const names[] = { "delete", "release", "ungate", "relabel" };

	for (size_t i = 0; i < p->n_actions; i++)
		kar_buf_printf(out, "%s%s %s%s", i ? "; " : "", names[p->actions[i].what - PODSET_DELETE],
			p->actions[i].name, p->actions[i].rv ? " as read" : "");
}

static void stopping_a_pod_takes_no_success_away(void **state KAR_UNUSED)
{
	static const struct {
		const char *pod;
		void (*act)(struct kar_plan *p, const struct kar_pod *pod);
		const char *want;
	} rows[] = {
		{ "a0 Running", podset_remove, "release a0; delete a0" },
		{ "a0 Running untracked", podset_remove, "delete a0" },
		{ "a0 Running deleting", podset_remove, "release a0" },
		{ "a0 Running", podset_stop, "delete a0 as read" },
		{ "a0 Failed", podset_stop, "release a0; delete a0" },
		{ "a0 Running deleting", podset_stop, "release a0" },
		{ "a0 Pending gated", podset_orphan, "ungate a0 as read" },
		{ "a0 Running", podset_orphan, "release a0" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_arena arena = { 0 };
		struct kar_plan p = { .arena = &arena };
		struct kar_buf out = { 0 };

		rows[i].act(&p, read_pod(rows[i].pod, &arena));
		print_actions(&p, &out);
		assert_string_equal(kar_buf_cstr(&out), rows[i].want);
		kar_buf_release(&out);
		kar_arena_release(&arena);
	}
}

static void check_body(const struct kar_plan *p, const char *want)
{
	struct kar_buf out = { 0 };

	assert_true(podset_encode(&p->actions[p->n_actions - 1], &out));
	assert_string_equal(kar_buf_cstr(&out), want);
	kar_buf_release(&out);
}

static void patches_name_the_pod_that_was_read(void **state KAR_UNUSED)
{
	struct kar_arena arena = { 0 };
	struct kar_plan p = { .arena = &arena };
	struct kar_pair labels[] = { { "task", "a" } };
	const struct kar_pod *pod = read_pod("a0 Pending gated", &arena);

	podset_release(&p, pod);
	check_body(&p,
		"{\"metadata\":{\"uid\":\"a0\",\"$deleteFromPrimitiveList/finalizers\":"
		"[\"kube-arbitrator.io/pod-tracking\"]}}");
	podset_ungate(&p, pod);
	check_body(&p,
		"{\"metadata\":{\"uid\":\"a0\",\"resourceVersion\":\"7\"},\"spec\":{\"schedulingGates\":"
		"[{\"$patch\":\"delete\",\"name\":\"kube-arbitrator.io/gang\"}]}}");
	podset_relabel(&p, pod, (struct kar_array){ .items = labels, .n = 1 });
	check_body(&p,
		"{\"metadata\":{\"uid\":\"a0\",\"labels\":{\"task\":\"a\"},\"finalizers\":"
		"[\"kube-arbitrator.io/pod-tracking\"]}}");
	kar_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_are_sorted_into_slots),
		cmocka_unit_test(pod_of_another_owner_blocks_its_slot),
		cmocka_unit_test(stopping_a_pod_takes_no_success_away),
		cmocka_unit_test(patches_name_the_pod_that_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
