/* A job that cannot have pods takes no room: what the pass of queues does before the API server has accepted the templates of a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "queue_sync_fixture.h"
#include "test/fixture/needs_text.h"

/* Jobs that were to ask. */
static char asked[256];

static void on_wanted(void *arg KAR_UNUSED, const struct kar_queuejob *job)
{
	size_t n = strlen(asked);

	snprintf(asked + n, sizeof(asked) - n, "%s ", job->o.name);
}

/* Queue "a", in which a gang of 600 cpu may be evicted for one of higher priority; there is room for one such gang. */
static int begin(void **state)
{
	if (setup(state))
		return -1;
	asked[0] = '\0';
	w.unchecked = true;
	kar_templates_listen(w.stores.templates, on_wanted, NULL, NULL);
	put_queue("default", "");
	put_queue("a", "\"preemptionPolicy\":\"LowerPriority\"");
	drain();
	return 0;
}

static void put_gang(const char *name, int priority, const char *template, const char *status,
	const char *job_status)
{
	char rest[1024], owner[256];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"queue\":\"a\",\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{%s"
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}}}]},\"status\":{%s}",
		template, job_status);
	put_named(w.stores.queuejobs, name, "", rest);
	snprintf(owner, sizeof(owner),
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		name, name);
	snprintf(rest, sizeof(rest), ",\"spec\":{\"queue\":\"a\",\"priority\":%d},\"status\":{%s%s}",
		priority, status, usual_conditions(status));
	put_named(w.stores.podgroups, name, owner, rest);
}

#define RUNS \
	"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"a\",\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":1,\"attempt\":1}," ADMITTED( \
		"True", "Admitted", "admitted by queue a")

static void put_victim(void)
{
	put_gang("v", 1, "\"x\":1,", RUNS, "\"phase\":\"Running\",\"incarnation\":1");
	put_named(w.stores.pods, "v-t-0",
		",\"labels\":{\"kube-arbitrator.io/queuejob\":\"v\",\"kube-arbitrator.io/task\":\"t\",\"kube-arbitrator.io/index\":\"0\","
		"\"scheduling.x-k8s.io/pod-group\":\"v\"},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\","
		"\"name\":\"v\",\"uid\":\"uid-v\",\"controller\":true}]",
		",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]},"
		"\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]}");
}

static struct kar_template *template_of(const char *name)
{
	const struct kar_object *o = kar_store_get(w.stores.queuejobs, "ns", name);

	assert_non_null(o);
	return kar_templates_of(w.stores.templates, kar_as_queuejob(o), 0, w.mono);
}

static void answer(const char *name, enum kar_template_verdict verdict, const char *message)
{
	const struct kar_pod_stored stored = { 0 };

	kar_templates_answer(w.stores.templates, template_of(name), verdict, message,
		verdict == KAR_TEMPLATE_ACCEPTED ? &stored : NULL, w.mono);
}

/* The answer to a create, or to its dry run, shows how the pods of the job are stored. */
static void show_stored(const char *name, struct kar_pod_stored stored)
{
	kar_templates_answer(w.stores.templates, template_of(name), KAR_TEMPLATE_ACCEPTED, NULL, &stored,
		w.mono);
}

static const char *pass(void)
{
	w.mono += KAR_SECOND / 10;
	drain();
	return sync_text(true);
}

#define EVICTION \
	"patch podgroups/status ns/t (Admitted=False/Reserving position=1); patch podgroups/status ns/v (Admitted=False/Preempted position=0 evicted)"

static void free_room_is_for_everybody(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	assert_string_equal(pass(), ""); /* nobody knows yet what its pods need as they are stored */
	assert_string_equal(asked, "t ");
	show_stored("t", (struct kar_pod_stored){ 0 });
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=True/Admitted position=0 placed)");
}

static void nobody_is_evicted_before_the_answer(void **state KAR_UNUSED)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	assert_string_equal(pass(), "");
	assert_string_equal(asked, "t ");
	template_of("t")->asked = w.mono;
	assert_string_equal(pass(), ""); /* the request is under way */
	assert_string_equal(asked, "t ");
	answer("t", KAR_TEMPLATE_ACCEPTED, NULL);
	assert_non_null(kar_workqueue_take(w.controller.queue, w.mono + KAR_SECOND));
	kar_workqueue_done(w.controller.queue, "all");
	assert_string_equal(pass(), EVICTION);
}

static void an_answer_that_does_not_come_is_said(void **state KAR_UNUSED)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	pass();
	w.mono += 2 * KAR_SECOND;
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/CheckingTemplate position=0)");
}

static void refused_templates_take_nothing(void **state KAR_UNUSED)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	pass();
	answer("t", KAR_TEMPLATE_INVALID, "Pod \"t-t-0\" is invalid");
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/InvalidTemplate position=0)");
	check_says(&w.sync.plan.actions[0], "task t: Pod \\\"t-t-0\\\" is invalid");
	answer("t", KAR_TEMPLATE_FORBIDDEN, "no such account");
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Forbidden position=0)");
	answer("t", KAR_TEMPLATE_UNKNOWN, "the server is down"); /* which is no answer */
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Forbidden position=0)");
	answer("t", KAR_TEMPLATE_ACCEPTED, NULL);
	assert_string_equal(pass(), EVICTION);
}

static void one_answer_is_for_all_with_the_template(void **state KAR_UNUSED)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	put_gang("u", 8, "", "\"phase\":\"Pending\"", "");
	put_gang("x", 8, "\"hostNetwork\":true,", "\"phase\":\"Pending\"", "");
	answer("t", KAR_TEMPLATE_INVALID, "no");
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/InvalidTemplate position=0); "
		"patch podgroups/status ns/u (Admitted=False/InvalidTemplate position=0)");
	assert_string_equal(asked, "x ");
}

static void who_has_run_is_known(void **state KAR_UNUSED)
{
	const struct kar_object *o;
	char status[256];

	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	o = kar_store_get(w.stores.queuejobs, "ns", "t");
	snprintf(status, sizeof(status),
		"\"phase\":\"Pending\",\"incarnation\":1,\"record\":{\"templateHash\":\"%s\"}",
		kar_as_queuejob(o)->spec_template_hash);
	put_gang("t", 9, "", "\"phase\":\"Pending\"", status);
	assert_string_equal(pass(), ""); /* they may be refused by now */
	assert_string_equal(asked, "t ");
	w.mono += KAR_TEMPLATES_ANSWER;
	assert_string_equal(pass(), EVICTION);
}

/* A gang for which another would go, whose templates were accepted more than ten seconds ago. */
static void put_old(void)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	answer("t", KAR_TEMPLATE_ACCEPTED, NULL);
	w.mono += KAR_TEMPLATES_FRESH;
}

static void old_acceptance_is_asked_for_once_more(void **state KAR_UNUSED)
{
	put_old();
	put_gang("u", 8, "", "\"phase\":\"Pending\"", "");
	put_gang("x", 7, "\"hostNetwork\":true,", "\"phase\":\"Pending\"", "");
	answer("x", KAR_TEMPLATE_ACCEPTED, NULL);
	assert_string_equal(pass(),
		"patch podgroups/status ns/u (Admitted=False/InsufficientCapacity position=1); "
		"patch podgroups/status ns/x (Admitted=False/InsufficientCapacity position=2)");
	assert_string_equal(asked, "t "); /* nobody would go for the others */
	template_of("t")->asked = w.mono;
	drain();
	sync_text(true);
	assert_string_equal(asked, "t ");
	answer("t", KAR_TEMPLATE_ACCEPTED, NULL);
	assert_non_null(kar_workqueue_take(w.controller.queue, w.mono + KAR_SECOND));
	kar_workqueue_done(w.controller.queue, "all");
	assert_non_null(strstr(pass(), "ns/v (Admitted=False/Preempted"));
	assert_string_equal(asked, "t ");
}

static void refusal_in_the_meantime_is_said(void **state KAR_UNUSED)
{
	put_old();
	assert_string_equal(pass(), "");
	answer("t", KAR_TEMPLATE_FORBIDDEN, "no such account");
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Forbidden position=0)");
	check_says(&w.sync.plan.actions[0], "task t: no such account");
}

static void what_was_known_counts_if_the_answer_is_lost(void **state KAR_UNUSED)
{
	put_old();
	assert_string_equal(pass(), "");
	answer("t", KAR_TEMPLATE_UNKNOWN, "the server is down"); /* which is no answer */
	w.mono += 2 * KAR_SECOND;
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/CheckingTemplate position=0)");
	w.mono += KAR_TEMPLATES_ANSWER;
	assert_string_equal(pass(), EVICTION);
	assert_true(kar_template_is_old(template_of("t"), w.mono + KAR_TEMPLATES_PAUSE));
}

static void nobody_is_asked_about_if_nobody_would_go(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	answer("t", KAR_TEMPLATE_ACCEPTED, NULL);
	w.mono += 2 * KAR_TEMPLATES_FRESH;
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=True/Admitted position=0 placed)");
	assert_string_equal(asked, "");
}

static void pods_with_a_gate_of_others_take_nothing(void **state KAR_UNUSED)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	show_stored("t", (struct kar_pod_stored){ .gate = "example.com/hold" });
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)");
	check_says(&w.sync.plan.actions[0],
		"; nobody is evicted for it: its pods have the scheduling gate example.com/hold; 1st of 1");
	show_stored("t", (struct kar_pod_stored){ 0 });
	assert_string_equal(pass(), EVICTION);
}

/* Most creates are answered with metadata only, which shows no gate. */
static void created_pod_that_nobody_has_seen_proves_nothing(void **state KAR_UNUSED)
{
	put_victim();
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	kar_templates_answer(w.stores.templates, template_of("t"), KAR_TEMPLATE_ACCEPTED, NULL, NULL, w.mono);
	assert_string_equal(pass(), "");
	assert_string_equal(asked, "t ");
	show_stored("t", (struct kar_pod_stored){ .gate = "example.com/hold" });
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)");
}

/* A LimitRange gives the containers what they do not ask for. */
#define STORED NEEDS_OF("cpu", 1500000)

#define SMALL NEEDS_OF("cpu", 600000)

static void pods_to_come_need_what_is_stored(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	assert_string_equal(pass(), "");
	assert_string_equal(asked, "t ");
	show_stored("t", (struct kar_pod_stored){ .needs = STORED });
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Infeasible position=0)");
	w.mono += KAR_TEMPLATES_STORED; /* it may have changed since */
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Infeasible position=0)");
	assert_string_equal(asked, "t t ");
	show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=True/Admitted position=0 placed)");
}

static void changed_limit_range_is_asked_about(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	show_stored("t", (struct kar_pod_stored){ .needs = STORED });
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Infeasible position=0)");
	put_named(w.stores.limitranges, "l", "", "");
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Infeasible position=0)");
	assert_string_equal(asked, ""); /* not at every change, but after ten seconds */
	w.mono += KAR_TEMPLATES_AGAIN;
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Infeasible position=0)");
	assert_string_equal(asked, "t ");
}

/* Host names and arguments, which differ from job to job, change nothing. */
static void one_question_is_for_all_that_ask_for_the_same(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	put_gang("u", 8, "\"hostname\":\"u\",", "\"phase\":\"Pending\"", "");
	assert_string_equal(pass(), "");
	assert_string_equal(asked, "t ");
	asked[0] = '\0';
	show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
	put_gang("x", 10, "\"hostname\":\"x\",", "\"phase\":\"Pending\"", "");
	assert_string_equal(pass(),
		"patch podgroups/status ns/x (Admitted=True/Admitted position=0 placed); "
		"patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)");
	assert_string_equal(asked, "u "); /* it waits: is its template valid? */
}

/* A template is asked about by itself if it differs in what admission looks at: it may be refused where the others are accepted. */
static void what_admission_looks_at_is_asked_about(void **state)
{
	static const struct {
		const char *template, *asked;
	} rows[] = {
		{ "\"serviceAccountName\":\"bob\",", "x " },
		{ "\"securityContext\":{\"runAsUser\":0},", "x " },
		{ "\"hostPID\":true,", "x " },
		{ "\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/\"}}],", "x " },
		{ "\"initContainers\":[{\"name\":\"i\",\"image\":\"new\"}],", "x " },
		{ "\"initContainers\":[{\"name\":\"i\",\"image\":\"old\",\"args\":[\"x\"]}],", "" },
		{ "\"initContainers\":[{\"name\":\"i\",\"image\":\"old\",\"securityContext\":{\"privileged\":true}}],",
			"x " },
		{ "\"terminationGracePeriodSeconds\":5,", "" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *usual = strstr(rows[i].template, "initContainers")
			? "\"initContainers\":[{\"name\":\"i\",\"image\":\"old\"}],"
			: "";

		put_gang("t", 9, usual, "\"phase\":\"Pending\"", "");
		show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
		put_gang("x", 10, rows[i].template, "\"phase\":\"Pending\"", "");
		asked[0] = '\0';
		(void)pass();
		if (!kar_streq(asked, rows[i].asked))
			fail_msg("%s: asked \"%s\"", rows[i].template, asked);
		assert_false(teardown(state) || begin(state));
	}
}

#define PLACED \
	"\"phase\":\"Pending\",\"position\":0,\"admittedQueue\":\"a\",\"placement\":{\"state\":\"Placed\",\"attempt\":1,\"plan\":[{\"node\":\"n1\",\"task\":\"t\",\"indexes\":\"0\"}]}," ADMITTED( \
		"True", "Admitted", "admitted by queue a")
#define STARTING(formation) \
	"\"phase\":\"Starting\",\"incarnation\":1,\"record\":{\"formation\":\"" formation "\"}"

/* Its account was deleted after it was accepted: the room is for the next one. */
static void who_is_refused_at_its_start_gives_its_place_back(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", PLACED, STARTING("First"));
	put_gang("u", 8, "\"hostNetwork\":true,", "\"phase\":\"Pending\"", "");
	show_stored("u", (struct kar_pod_stored){ .needs = SMALL });
	show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
	assert_string_equal(pass(),
		"patch podgroups/status ns/u (Admitted=False/InsufficientCapacity position=1)");
	answer("t", KAR_TEMPLATE_FORBIDDEN, "no such account");
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Forbidden position=0)");
	check_says(&w.sync.plan.actions[0], "task t: no such account");
	check_says(&w.sync.plan.actions[0], "\"state\":\"Waiting\"");
	put_gang("t", 9, "", "\"phase\":\"Pending\"", "\"phase\":\"Pending\"");
	assert_non_null(strstr(pass(), "ns/u (Admitted=True/Admitted position=0 placed)"));
}

#define PLACED_FOR(generation) "\"admittedGeneration\":" generation "," PLACED
#define PLACED_AGAIN \
	"\"phase\":\"Pending\",\"position\":0,\"admittedQueue\":\"a\",\"placement\":{\"state\":\"Placed\",\"attempt\":13,\"failures\":12,\"generation\":1,\"plan\":[{\"node\":\"n1\",\"task\":\"t\",\"indexes\":\"0\"}]}," ADMITTED( \
		"True", "Admitted", "admitted by queue a")

static bool forgets_failures(void)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };
	bool forgets;

	assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &out, &err), 0);
	forgets = strstr(kar_buf_cstr(&out), "\"failures\":null") != NULL;
	kar_buf_release(&out);
	return forgets;
}

/* A webhook that refuses now and then does not make a gang that fails and fails try for ever: only an edit does. */
static void who_gives_its_place_back_has_failed_as_often_as_before(void **state)
{
	put_gang("t", 9, "", PLACED_AGAIN, STARTING("First"));
	show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
	answer("t", KAR_TEMPLATE_FORBIDDEN, "no such account");
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/Forbidden position=0)");
	assert_false(forgets_failures());
	assert_false(teardown(state) || begin(state));
	put_gang("u", 9, "", RUNS, "\"phase\":\"Running\",\"incarnation\":1");
	put_gang("t", 8, "", "\"admittedGeneration\":7," PLACED_AGAIN, "\"phase\":\"Pending\"");
	show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)");
	assert_true(forgets_failures());
}

/* The job does not count it, so it would wait for its queue for ever. */
static void pod_of_another_namespace_is_no_pod_of_an_edited_job(void **state)
{
	static const struct {
		const char *ns, *plan;
	} rows[] = {
		{ "ns", "" },
		{ "other", "patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char meta[512];

		assert_false(teardown(state) || begin(state));
		put_gang("u", 9, "", RUNS, "\"phase\":\"Running\",\"incarnation\":1");
		put_gang("t", 8, "", PLACED_FOR("7"), "\"phase\":\"Pending\"");
		show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
		snprintf(meta, sizeof(meta),
			",\"namespace\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"t\",\"uid\":\"uid-t\",\"controller\":true}]",
			rows[i].ns);
		put_named(w.stores.pods, "forged", meta, ",\"spec\":{\"containers\":[]}");
		assert_string_equal(pass(), rows[i].plan);
	}
}

/* The pods of a job that was edited after it was let in are others: it is judged anew, as long as it has none. */
static void who_is_edited_before_it_has_pods_is_judged_anew(void **state)
{
	static const struct {
		const char *name, *group, *job, *plan;
	} rows[] = {
		{ "not edited", PLACED_FOR("1"), "\"phase\":\"Pending\"", "" },
		{ "by a version that did not say for which spec", PLACED, "\"phase\":\"Pending\"", "" },
		{ "edited", PLACED_FOR("7"), "\"phase\":\"Pending\"",
			"patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)" },
		{ "resumed before its suspension was seen", PLACED_FOR("7"),
			"\"phase\":\"Suspended\",\"incarnation\":1",
			"patch podgroups/status ns/t (Admitted=False/InsufficientCapacity position=1)" },
		{ "its pods are about to be created", PLACED_FOR("7"), STARTING("First"), "" },
		{ "it restarts", PLACED_FOR("7"), "\"phase\":\"Restarting\",\"incarnation\":1", "" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *plan;

		assert_false(teardown(state) || begin(state));
		put_gang("u", 9, "", RUNS, "\"phase\":\"Running\",\"incarnation\":1");
		put_gang("t", 8, "", rows[i].group, rows[i].job);
		show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
		plan = pass();
		if (!kar_streq(plan, rows[i].plan))
			fail_msg("%s: %s", rows[i].name, plan);
		if (*plan) /* nothing of its attempt is left that could fail */
			check_says(&w.sync.plan.actions[0], "\"state\":\"Waiting\"");
	}
}

/* A gang that forms again keeps its place: its pods have run. */
static void who_is_refused_later_keeps_its_place(void **state KAR_UNUSED)
{
	put_gang("t", 9, "", PLACED, STARTING("PodRecreated"));
	show_stored("t", (struct kar_pod_stored){ .needs = SMALL });
	answer("t", KAR_TEMPLATE_FORBIDDEN, "no such account");
	assert_string_equal(pass(), "");
}

static void class_that_does_not_exist_takes_nothing(void **state KAR_UNUSED)
{
	put_gang("t", 9, "\"priorityClassName\":\"high\",", "\"phase\":\"Pending\"", "");
	answer("t", KAR_TEMPLATE_FORBIDDEN, "no PriorityClass with name high was found");
	assert_string_equal(pass(),
		"patch podgroups/status ns/t (Admitted=False/PriorityClassNotFound position=0)");
	check_says(&w.sync.plan.actions[0], "not in the queue until PriorityClass high exists");
}

/* No attempt begins that would fail, so the job is never deactivated for it. */
static void taken_names_are_waited_for(void **state KAR_UNUSED)
{
	static const char failed[] =
		"\"phase\":\"Pending\",\"placement\":{\"state\":\"Waiting\",\"attempt\":1,\"failures\":1,\"cause\":\"1 of 1 members were not created\"}";

	put_gang("t", 9, "", failed, "");
	answer("t", KAR_TEMPLATE_ACCEPTED, NULL);
	put_named(w.stores.pods, "t-t-0", "",
		",\"spec\":{\"containers\":[]},\"status\":{\"phase\":\"Running\"}");
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=False/BackOff position=0)");
	check_says(&w.sync.plan.actions[0],
		"pod t-t-0 exists already and has no owner; waiting for the name");
	kar_store_delete(w.stores.pods, "ns", "t-t-0", "uid-t-t-0", ++w.rv);
	assert_string_equal(pass(), "patch podgroups/status ns/t (Admitted=True/Admitted position=0 placed)");
	put_gang("u", 8, "", "\"phase\":\"Pending\"",
		"\"phase\":\"Pending\",\"reason\":\"NameConflict\",\"message\":\"Service u exists\"");
	pass();
	assert_true(w.sync.plan.n_actions > 0);
	check_says(&w.sync.plan.actions[w.sync.plan.n_actions - 1], "Service u exists");
}

/* An index that has succeeded gets no pod any more, so who has its name holds nobody up. */
static void names_of_what_is_done_are_not_waited_for(void **state KAR_UNUSED)
{
	static const char gang[] =
		",\"spec\":{\"queue\":\"a\",\"taskSpecs\":[{\"name\":\"t\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}}}]},\"status\":{\"phase\":\"Pending\",\"incarnation\":1,%s"
		"\"tasks\":[{\"name\":\"t\",\"replicas\":0,\"succeeded\":1,\"succeededIndexes\":\"%d\"}]}";
	static const char failed[] =
		"\"phase\":\"Pending\",\"placement\":{\"state\":\"Waiting\",\"attempt\":1,\"failures\":1,\"cause\":\"no\"}";
	char rest[1024], record[128];

	put_gang("t", 9, "", failed, "");
	for (int done = 0; done < 2; done++) {
		snprintf(rest, sizeof(rest), gang, "", done);
		put_named(w.stores.queuejobs, "t", "", rest);
		snprintf(record, sizeof(record), "\"record\":{\"templateHash\":\"%s\"},",
			kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "t"))->spec_template_hash);
		snprintf(rest, sizeof(rest), gang, record, done);
		put_named(w.stores.queuejobs, "t", "", rest);
		show_stored("t", (struct kar_pod_stored){ 0 });
		put_named(w.stores.pods, "t-t-1", "",
			",\"spec\":{\"containers\":[]},\"status\":{\"phase\":\"Succeeded\"}");
		assert_string_equal(pass(),
			done ? "patch podgroups/status ns/t (Admitted=True/Admitted position=0 placed)"
			     : "patch podgroups/status ns/t (Admitted=False/BackOff position=0)");
	}
}

/* Job t with another template. */
static const struct kar_queuejob *with_hash(int number)
{
	static struct kar_queuejob job;
	static char hash[16];

	job = *kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "t"));
	snprintf(hash, sizeof(hash), "%d", number);
	job.spec_template_hash = hash;
	return &job;
}

static void what_nobody_looks_at_is_forgotten(void **state KAR_UNUSED)
{
	enum { MANY = 1000 };

	put_gang("t", 9, "", "\"phase\":\"Pending\"", "");
	for (int i = 0; i < MANY; i++)
		kar_templates_of(w.stores.templates, with_hash(i), 0, 1);
	assert_non_null(kar_templates_find(w.stores.templates, with_hash(7), 0, KAR_TEMPLATES_STAY));
	for (int i = 0; i < 2 * MANY; i++)
		kar_templates_of(w.stores.templates, with_hash(MANY + i), 0, KAR_TEMPLATES_STAY + 2);
	assert_null(kar_templates_find(w.stores.templates, with_hash(6), 0, KAR_TEMPLATES_STAY + 2));
	assert_non_null(kar_templates_find(w.stores.templates, with_hash(7), 0, KAR_TEMPLATES_STAY + 2));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(free_room_is_for_everybody),
		TEST(nobody_is_evicted_before_the_answer),
		TEST(an_answer_that_does_not_come_is_said),
		TEST(refused_templates_take_nothing),
		TEST(one_answer_is_for_all_with_the_template),
		TEST(who_has_run_is_known),
		TEST(old_acceptance_is_asked_for_once_more),
		TEST(refusal_in_the_meantime_is_said),
		TEST(what_was_known_counts_if_the_answer_is_lost),
		TEST(nobody_is_asked_about_if_nobody_would_go),
		TEST(pods_with_a_gate_of_others_take_nothing),
		TEST(created_pod_that_nobody_has_seen_proves_nothing),
		TEST(pods_to_come_need_what_is_stored),
		TEST(changed_limit_range_is_asked_about),
		TEST(one_question_is_for_all_that_ask_for_the_same),
		TEST(what_admission_looks_at_is_asked_about),
		TEST(who_is_refused_at_its_start_gives_its_place_back),
		TEST(pod_of_another_namespace_is_no_pod_of_an_edited_job),
		TEST(who_is_edited_before_it_has_pods_is_judged_anew),
		TEST(who_gives_its_place_back_has_failed_as_often_as_before),
		TEST(who_is_refused_later_keeps_its_place),
		TEST(class_that_does_not_exist_takes_nothing),
		TEST(taken_names_are_waited_for),
		TEST(names_of_what_is_done_are_not_waited_for),
		TEST(what_nobody_looks_at_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
