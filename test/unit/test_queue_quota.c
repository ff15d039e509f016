/* Which rows of quotas the pods of a pass are charged by, from the caches (controllers/queue/quota.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "controllers/queue/quota.h"
#include "test/fixture/projection.h"

struct world {
	struct kar_stores stores;
	struct kar_arena a;
	struct queue_quota *q;
};

static void begin(struct world *w)
{
	*w = (struct world){ 0 };
	kar_stores_init(&w->stores, strings);
}

/* Returns what is stored. */
static const struct kar_object *put(struct kar_store *store, const char *json)
{
	struct kar_object *o = object_of(kar_store_type(store), json);

	if (!o)
		abort();
	kar_store_apply(store, o);
	return o;
}

static void end(struct world *w)
{
	kar_arena_release(&w->a);
	kar_stores_release(&w->stores);
}

#define META(ns, name) \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\",\"uid\":\"" name \
	"\",\"resourceVersion\":\"7\"}"
#define QUOTA(ns, scopes, hard, used) \
	META(ns, "c") \
	",\"spec\":{\"hard\":{" hard "}" scopes "},\"status\":{\"hard\":{" hard "},\"used\":{" used "}}}"
#define CONTAINER(requests) "{\"name\":\"x\",\"resources\":{\"requests\":{" requests "}}}"
#define PODS_OF(rest, requests) \
	"{\"spec\":{" rest "\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER(requests) "]}}"
#define TASK(name, template) "{\"name\":\"" name "\",\"replicas\":3,\"template\":" template "}"
#define OF_JOB(sched, tasks) META("ns", "j") ",\"spec\":{" sched "\"taskSpecs\":[" tasks "]}}"
#define POD(name, requests) META("ns", name) ",\"spec\":{\"containers\":[" CONTAINER(requests) "]}}"
#define GOES(name, requests) \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"" name \
	"\",\"resourceVersion\":\"7\",\"deletionTimestamp\":" \
	"\"2026-01-01T00:00:00Z\"},\"spec\":{\"containers\":[" CONTAINER(requests) "]}}"
#define BOTH(pods, cpu) "\"pods\":\"" pods "\",\"requests.cpu\":\"" cpu "\""

static const char *print(const struct queue_charges *c, struct kar_buf *out)
{
	kar_buf_clear(out);
	kar_buf_puts(out, c ? "" : "none");
	for (uint32_t i = 0; c && i < c->n; i++)
		kar_buf_printf(out, "%s%u:%lld", i ? " " : "", c->items[i].row,
			(long long)c->items[i].amount);
	return kar_buf_cstr(out);
}

/* Charges of the first task. */
static const struct {
	const char *name, *quota, *range, *class, *job, *want;
} tasks[] = {
	{ "requests", QUOTA("ns", "", BOTH("5", "9"), BOTH("0", "0")), NULL, NULL,
		OF_JOB("", TASK("t", PODS_OF("", "\"cpu\":\"1\""))), "0:1 1:1000" },
	{ "no_quota", NULL, NULL, NULL, OF_JOB("", TASK("t", PODS_OF("", "\"cpu\":\"1\""))), "none" },
	{ "quota_of_another_namespace", QUOTA("m", "", BOTH("5", "9"), BOTH("0", "0")), NULL, NULL,
		OF_JOB("", TASK("t", PODS_OF("", "\"cpu\":\"1\""))), "none" },
	{ "quota_of_other_objects", QUOTA("ns", "", "\"services\":1", ""), NULL, NULL,
		OF_JOB("", TASK("t", PODS_OF("", "\"cpu\":\"1\""))), "none" },
	{ "defaults_of_a_range", QUOTA("ns", "", BOTH("5", "9"), BOTH("0", "0")),
		META("ns",
			"l") ",\"spec\":{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"2\"}}]}}",
		NULL, OF_JOB("", TASK("t", PODS_OF("", ""))), "0:1 1:2000" },
	{ "range_of_another_namespace", QUOTA("ns", "", BOTH("5", "9"), BOTH("0", "0")),
		META("m",
			"l") ",\"spec\":{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"2\"}}]}}",
		NULL, OF_JOB("", TASK("t", PODS_OF("", ""))), "0:1" },
	{ "no_class", QUOTA("ns", ",\"scopes\":[\"PriorityClass\"]", "\"pods\":1", "\"pods\":0"), NULL, NULL,
		OF_JOB("", TASK("t", PODS_OF("", ""))), "" },
	{ "class_of_the_template", QUOTA("ns", ",\"scopes\":[\"PriorityClass\"]", "\"pods\":1", "\"pods\":0"),
		NULL, NULL, OF_JOB("", TASK("t", PODS_OF("\"priorityClassName\":\"high\",", ""))), "0:1" },
	{ "class_of_the_job", QUOTA("ns", ",\"scopes\":[\"PriorityClass\"]", "\"pods\":1", "\"pods\":0"),
		NULL, NULL,
		OF_JOB("\"schedSpec\":{\"priorityClassName\":\"high\"},", TASK("t", PODS_OF("", ""))),
		"0:1" },
	{ "a_priority_of_the_template_takes_no_class_of_the_job",
		QUOTA("ns", ",\"scopes\":[\"PriorityClass\"]", "\"pods\":1", "\"pods\":0"), NULL, NULL,
		OF_JOB("\"schedSpec\":{\"priorityClassName\":\"high\"},",
			TASK("t", PODS_OF("\"priority\":7,", ""))),
		"" },
	{ "default_class", QUOTA("ns", ",\"scopes\":[\"PriorityClass\"]", "\"pods\":1", "\"pods\":0"), NULL,
		"{\"metadata\":{\"name\":\"usual\",\"uid\":\"k\",\"resourceVersion\":\"7\"},\"value\":1,\"globalDefault\":true}",
		OF_JOB("", TASK("t", PODS_OF("", ""))), "0:1" },
	{ "a_class_is_no_default", QUOTA("ns", ",\"scopes\":[\"PriorityClass\"]", "\"pods\":1", "\"pods\":0"),
		NULL,
		"{\"metadata\":{\"name\":\"usual\",\"uid\":\"k\",\"resourceVersion\":\"7\"},\"value\":1}",
		OF_JOB("", TASK("t", PODS_OF("", ""))), "" },
};

static int32_t no_class(const void *arg KAR_UNUSED, const char *name KAR_UNUSED)
{
	return 0;
}

static void tasks_are_charged_by_the_quotas_of_their_namespace(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(tasks); i++) {
		struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		const struct kar_object *job;
		struct world w;
		const struct kar_roles_input in = { .class_value = no_class, .arena = &w.a };
		struct kar_roles roles;

		begin(&w);
		if (tasks[i].quota)
			put(w.stores.resourcequotas, tasks[i].quota);
		if (tasks[i].range)
			put(w.stores.limitranges, tasks[i].range);
		if (tasks[i].class)
			put(w.stores.priorityclasses, tasks[i].class);
		job = put(w.stores.queuejobs, tasks[i].job);
		w.q = queue_quota_begin(&w.stores, &w.a);
		kar_queuejob_workload.roles(job, &in, &roles);
		print(queue_quota_of_role(w.q, job->ns, &roles.items[0]), &out);
		if (strcmp(kar_buf_cstr(&out), tasks[i].want) != 0)
			fail_msg("%s: %s", tasks[i].name, kar_buf_cstr(&out));
		end(&w);
	}
}

/* A group of four pods of 1 cpu, of which some are bound and some leave; three pods of 1 cpu live, of which one is of others. */
static const struct {
	const char *name, *used;
	enum kar_queue_standing standing;
	int desired, bound, leaving;
	int64_t pods, cpu;
} groups[] = {
	{ "nothing_leaves", BOTH("3", "3"), KAR_QUEUE_ADMITTED, 2, 2, 0, 1, 1000 },
	{ "one_is_still_to_come", BOTH("3", "3"), KAR_QUEUE_ADMITTED, 3, 2, 0, 1, 1000 },
	{ "one_that_leaves_is_replaced", BOTH("4", "4"), KAR_QUEUE_ADMITTED, 3, 2, 1, 1, 1000 },
	{ "one_that_leaves_is_not", BOTH("4", "4"), KAR_QUEUE_ADMITTED, 2, 2, 1, 1, 1000 },
	{ "all_leave", BOTH("5", "5"), KAR_QUEUE_WAITING, 0, 0, 4, 1, 1000 },
	{ "of_others_is_one_that_no_cache_shows", BOTH("5", "5"), KAR_QUEUE_ADMITTED, 2, 2, 1, 2, 2000 },
	{ "one_asks_for_more", BOTH("4", "7"), KAR_QUEUE_ADMITTED, 3, 2, 1, 1, 4000 },
	{ "a_claim_is_no_pod", BOTH("6", "6"), KAR_QUEUE_RESERVING, 4, 0, 2, 4, 4000 },
};

static void rows_show_what_others_use(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(groups); i++) {
		struct kar_queue_snapshot snapshot = { 0 };
		struct kar_buf quota KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		struct kar_queue_seat seat = { .node = "n", .n = groups[i].bound, .bound = true };
		struct kar_queue_run run = { .class = 1, .n = 4, .seats = &seat, .n_seats = 1 };
		struct kar_queue_leaving leaving = { .class = 2, .n = groups[i].leaving };
		struct kar_queue_group g = { .ns = "ns",
			.standing = groups[i].standing,
			.desired = groups[i].desired,
			.runs = &run,
			.n_runs = 1,
			.leaving = &leaving,
			.n_leaving = 1 };
		const struct kar_object *a, *b;
		const struct queue_charges *c;
		struct world w;

		begin(&w);
		kar_buf_printf(&quota, "%s%s}}}",
			META("ns", "c") ",\"spec\":{\"hard\":{" BOTH("9",
				"9") "}},\"status\":{\"hard\":{" BOTH("9", "9") "},\"used\":{",
			groups[i].used);
		put(w.stores.resourcequotas, kar_buf_cstr(&quota));
		a = put(w.stores.pods, POD("a", "\"cpu\":\"1\""));
		b = put(w.stores.pods, POD("b", "\"cpu\":\"1\""));
		put(w.stores.pods, POD("theirs", "\"cpu\":\"1\""));
		w.q = queue_quota_begin(&w.stores, &w.a);
		c = queue_quota_of_pod(w.q, kar_as_pod(a));
		run.charges = leaving.charges = c->items;
		run.n_charges = leaving.n_charges = c->n;
		queue_quota_owns(w.q, kar_as_pod(a));
		queue_quota_owns(w.q, kar_as_pod(b));
		queue_quota_group(w.q, &g);
		queue_quota_end(w.q, &snapshot, NULL, 0, &(kar_time){ KAR_NEVER });
		assert_int_equal(snapshot.n_rows, 2);
		if (snapshot.rows[0].foreign != groups[i].pods || snapshot.rows[1].foreign != groups[i].cpu)
			fail_msg("%s: %lld %lld", groups[i].name, (long long)snapshot.rows[0].foreign,
				(long long)snapshot.rows[1].foreign);
		end(&w);
	}
}

/* Pods that are being deleted are charged by the API server, so they are in .status.used alone. */
static void pods_that_stop_are_not_counted_twice(void **state)
{
	struct kar_queue_snapshot snapshot = { 0 };
	const struct kar_object *stops;
	struct world w;

	(void)state;
	begin(&w);
	put(w.stores.resourcequotas, QUOTA("ns", "", BOTH("9", "9"), BOTH("1", "1")));
	stops = put(w.stores.pods, GOES("s", "\"cpu\":\"1\""));
	w.q = queue_quota_begin(&w.stores, &w.a);
	queue_quota_owns(w.q, kar_as_pod(stops));
	queue_quota_group(w.q, &(struct kar_queue_group){ .ns = "ns" });
	queue_quota_end(w.q, &snapshot, NULL, 0, &(kar_time){ KAR_NEVER });
	assert_int_equal(snapshot.rows[0].foreign, 1);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tasks_are_charged_by_the_quotas_of_their_namespace),
		TEST(rows_show_what_others_use),
		TEST(pods_that_stop_are_not_counted_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
