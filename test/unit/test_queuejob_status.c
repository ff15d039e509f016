/* The status of a QueueJob: as it is written and read again, when two are equal, and whether another client has edited it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/projection.h"

static void give_back(const struct kar_queuejob *job)
{
	kar_object_unref(&job->o);
}

#define RECORD \
	"\"record\":{\"restartKind\":\"Failure\",\"formation\":\"First\",\"objection\":\"Template\",\"formedMinAvailable\":6," \
	"\"backoffSteps\":11,\"lastFailureTime\":\"2026-11-21T10:00:01Z\"," \
	"\"countedPods\":[\"u1\",\"u2\"],\"templateHash\":\"h\",\"podsResourceVersion\":\"77\""
#define DIGEST ",\"digest\":\"0000000000000000\""

static const char status[] =
	"{\"phase\":\"Restarting\",\"reason\":\"PodFailed\",\"message\":\"m\",\"observedGeneration\":2,\"selector\":\"a=b\",\"queue\":\"q\","
	"\"replicas\":9,\"desired\":8,\"pending\":1,\"running\":2,\"succeeded\":3,\"failed\":4,\"terminating\":5,"
	"\"minAvailable\":6,\"incarnation\":2,\"restarts\":1,\"podFailures\":7,\"disruptions\":10,"
	"\"startTime\":\"2026-11-21T10:00:02Z\",\"completionTime\":\"2026-11-21T10:00:03Z\","
	"\"lastScaleTime\":\"2026-11-21T10:00:04Z\",\"lastRestart\":{\"time\":\"2026-11-21T10:00:05Z\",\"reason\":\"r\","
	"\"message\":\"mm\",\"pod\":\"p\",\"node\":\"n\",\"exitCode\":12},\"after\":[{\"name\":\"pre\",\"phase\":\"Completed\"}],"
	"\"evictions\":14,\"lastEviction\":{\"time\":\"2026-11-21T10:00:08Z\",\"reason\":\"Reclaim\",\"by\":\"x/y\",\"queue\":\"z\"},"
	"\"whatIf\":{\"answer\":\"Waits\",\"time\":\"2026-11-21T10:00:09Z\",\"reason\":\"NoFit\",\"message\":\"wm\",\"position\":3,"
	"\"evicts\":[{\"queue\":\"b\",\"pods\":4}],\"expected\":\"2026-11-21T10:00:10Z\",\"basis\":\"deadlines\"},"
	"\"usage\":{\"seconds\":{\"cpu\":\"70\",\"memory\":\"3Gi\"},\"allocated\":{\"cpu\":\"2\"},\"time\":\"2026-11-21T10:00:11Z\"},"
	"\"priority\":15,\"position\":13,"
	"\"tasks\":[{\"name\":\"w\",\"replicas\":1,\"desired\":2,\"pending\":3,\"running\":4,\"succeeded\":5,\"failed\":6,"
	"\"started\":true,\"succeededIndexes\":\"0-4\",\"failedIndexes\":\"7\",\"indexFailures\":\"8:1\",\"restartTime\":\"2026-11-21T10:00:07Z\"}],"
	"\"conditions\":[{\"type\":\"Formed\",\"status\":\"False\",\"observedGeneration\":2,"
	"\"lastTransitionTime\":\"2026-11-21T10:00:06Z\",\"reason\":\"R\",\"message\":\"\"}]," RECORD "}}";

static void write(const struct kar_queuejob_status *s, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_queuejob_status_write(&w, s);
	kar_json_writer_release(&w);
}

/* What is written but for the digest, which ends it. */
static const char *without_digest(struct kar_buf *out)
{
	char *at = strstr(kar_buf_cstr(out), ",\"digest\":\"");

	assert_non_null(at);
	assert_int_equal(strlen(at), strlen(DIGEST "}}"));
	memcpy(at, "}}", sizeof("}}"));
	return kar_buf_cstr(out);
}

static const struct kar_queuejob *job_with_status(const char *text)
{
	char json[8192];

	snprintf(json, sizeof(json), "{" JOB_META "},\"spec\":{},\"status\":%s}", text);
	return job_of(json);
}

static void status_survives_the_round_trip(void **state)
{
	const struct kar_queuejob *job = job_with_status(status);
	struct kar_buf out = { 0 };

	(void)state;
	write(&job->status, &out);
	assert_string_equal(without_digest(&out), status);
	kar_buf_release(&out);
	give_back(job);
}

/* A merge patch removes only what is null, and 0 is shown. A restart without a time is none. */
static void absent_status_members_are_written_as_null(void **state)
{
	const struct kar_queuejob *job =
		job_with_status("{\"lastRestart\":{\"reason\":\"r\",\"exitCode\":1}}");
	struct kar_buf out = { 0 };

	(void)state;
	write(&job->status, &out);
	assert_string_equal(without_digest(&out),
		"{\"phase\":null,\"reason\":null,\"message\":null,\"observedGeneration\":0,\"selector\":null,\"queue\":null,\"replicas\":0,"
		"\"desired\":0,\"pending\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"terminating\":null,\"minAvailable\":0,"
		"\"incarnation\":0,\"restarts\":0,\"podFailures\":0,\"disruptions\":0,"
		"\"startTime\":null,\"completionTime\":null,\"lastScaleTime\":null,"
		"\"lastRestart\":null,\"after\":null,\"evictions\":null,\"lastEviction\":null,\"whatIf\":null,\"usage\":null,\"priority\":0,\"position\":null,\"tasks\":[],\"conditions\":[],"
		"\"record\":{\"restartKind\":null,\"formation\":null,\"objection\":null,\"formedMinAvailable\":null,"
		"\"backoffSteps\":null,\"lastFailureTime\":null,\"countedPods\":null,"
		"\"templateHash\":null,\"podsResourceVersion\":null}}");
	kar_buf_release(&out);
	give_back(job);
}

/* Replaces one value of the status above by another and compares. */
static void every_status_member_matters(void **state)
{
	static const struct {
		const char *old, *new;
		bool counter;
	} rows[] = {
		{ "Restarting", "Running", false },
		{ "PodFailed", "X", false },
		{ "\"m\"", "\"x\"", true }, /* while it restarts it counts pods */
		{ "Generation\":2,\"sel", "Generation\":3,\"sel", false },
		{ "a=b", "a=c", false },
		{ "\"replicas\":9", "\"replicas\":0", true },
		{ "\"desired\":8", "\"desired\":0", false },
		{ "\"pending\":1", "\"pending\":0", true },
		{ "\"running\":2", "\"running\":0", true },
		{ "\"failedIndexes\":\"7\"", "\"failedIndexes\":\"9\"", false },
		{ "\"indexFailures\":\"8:1\"", "\"indexFailures\":\"8:2\"", false },
		{ "\"succeeded\":3", "\"succeeded\":0", true },
		{ "\"failed\":4", "\"failed\":0", true },
		{ "\"terminating\":5", "\"terminating\":0", true },
		{ "\"pre\"", "\"post\"", false },
		{ "\"Completed\"", "\"Failed\"", false },
		{ "\"minAvailable\":6", "\"minAvailable\":0", false },
		{ "\"incarnation\":2", "\"incarnation\":3", false },
		{ "formedMinAvailable\":6", "formedMinAvailable\":0", false },
		{ "\"restarts\":1", "\"restarts\":2", false },
		{ "\"podFailures\":7", "\"podFailures\":8", false },
		{ "\"disruptions\":10", "\"disruptions\":9", false },
		{ "\"backoffSteps\":11", "\"backoffSteps\":0", false },
		{ "00:01Z", "01:01Z", false },
		{ "\"h\"", "\"i\"", false },
		{ "\"Failure\"", "\"Nodes\"", false },
		{ "\"First\"", "\"Formed\"", false },
		{ "\"Template\"", "\"Spec\"", false },
		{ "00:02Z", "01:02Z", false },
		{ "00:03Z", "01:03Z", false },
		{ "00:04Z", "01:04Z", false },
		{ "00:05Z", "01:05Z", false },
		{ "00:07Z", "01:07Z", false },
		{ "\"r\"", "\"s\"", false },
		{ "\"mm\"", "\"m\"", false },
		{ "Waits", "Never", false },
		{ "\"pods\":4", "\"pods\":5", false },
		{ "00:10Z", "01:10Z", false },
		{ "\"p\"", "\"q\"", false },
		{ "\"n\"", "\"o\"", false },
		{ "exitCode\":12", "exitCode\":1", false },
		{ "\"evictions\":14", "\"evictions\":1", false },
		{ "00:08Z", "01:08Z", false },
		{ "Reclaim", "Drain", false },
		{ "x/y", "x/z", false },
		{ "\"z\"", "\"y\"", false },
		{ "\"priority\":15", "\"priority\":1", false },
		{ "\"position\":13", "\"position\":1", false },
		{ "\"w\"", "\"v\"", true },
		{ "\"replicas\":1", "\"replicas\":0", true },
		{ "\"desired\":2", "\"desired\":0", true },
		{ "\"pending\":3", "\"pending\":0", true },
		{ "\"running\":4", "\"running\":0", true },
		{ "\"succeeded\":5", "\"succeeded\":0", true },
		{ "\"failed\":6", "\"failed\":0", true },
		{ "\"started\":true", "\"started\":false", false },
		{ "0-4", "0-3", true },
		{ "\"u2\"", "\"u3\"", true },
		{ ",\"u2\"", "", true },
		{ "\"False\"", "\"True\"", false },
	};
	const struct kar_queuejob *a = job_with_status(status);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *at = strstr(status, rows[i].old);
		char changed[4096];
		const struct kar_queuejob *b;

		assert_non_null(at);
		snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - status), status, rows[i].new,
			at + strlen(rows[i].old));
		b = job_with_status(changed);
		if (kar_queuejob_status_equal(&a->status, &b->status))
			fail_msg("%s: not looked at", rows[i].old);
		if (kar_queuejob_status_same_story(&a->status, &b->status) != rows[i].counter)
			fail_msg("%s: counter or story?", rows[i].old);
		give_back(b);
	}
	assert_true(kar_queuejob_status_equal(&a->status, &a->status));
	give_back(a);
}

/* The JSON of a status as it is written, and read again with @old replaced by @new: was it edited? */
static bool is_edited(const char *written, const char *old, const char *new)
{
	const char *at = strstr(written, old);
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, kar_queuejob_type.wire->size);
	char json[8192];
	struct kar_object *o;
	bool edited;

	assert_non_null(at);
	snprintf(json, sizeof(json), "{" JOB_META "},\"spec\":{},\"status\":%.*s%s%s}", (int)(at - written),
		written, new, at + strlen(old));
	assert_int_equal(kar_json_decode(&arena, kar_queuejob_type.wire, NULL, json, strlen(json), wire,
				 NULL),
		0);
	o = kar_queuejob_type.project(wire, strings);
	edited = kar_as_queuejob(o)->status.edited;
	kar_object_unref(o);
	kar_arena_release(&arena);
	return edited;
}

static void digest_shows_edits_of_what_is_believed(void **state)
{
	static const struct {
		const char *old, *new;
		bool edited;
	} rows[] = {
		{ "Restarting", "Restarting", false },
		{ "\"phase\":\"Restarting\"", "\"phase\":\"Running\"", true },
		{ "\"incarnation\":2", "\"incarnation\":3", true },
		{ "\"restarts\":1", "\"restarts\":0", true },
		{ "\"podFailures\":7", "\"podFailures\":0", true },
		{ "\"disruptions\":10", "\"disruptions\":0", true },
		{ "\"succeeded\":3", "\"succeeded\":4", true },
		{ "00:01Z", "01:01Z", true },
		{ "00:02Z", "01:02Z", true },
		{ "00:03Z", "01:03Z", true },
		{ "00:05Z", "01:05Z", true },
		{ "00:06Z", "01:06Z", true },
		{ "00:07Z", "01:07Z", true },
		{ "\"started\":true", "\"started\":false", true },
		{ "0-4", "0-5", true },
		{ "\"w\"", "\"v\"", true },
		{ "\"False\"", "\"True\"", true },
		{ "\"Failure\"", "\"Nodes\"", true },
		{ "\"First\"", "\"Formed\"", true },
		{ "\"Template\"", "\"Spec\"", true },
		{ "formedMinAvailable\":6", "formedMinAvailable\":5", true },
		{ "backoffSteps\":11", "backoffSteps\":1", true },
		{ "\"u2\"", "\"u3\"", true },
		{ "\"h\"", "\"i\"", true },
		{ "\"77\"", "\"78\"", true },
		{ "\"digest\":", "\"other\":", true },
		/* These are computed again in each round. */
		{ "\"PodFailed\"", "\"X\"", false },
		{ "\"m\"", "\"n\"", false },
		{ "\"running\":2", "\"running\":77", false },
		{ "\"desired\":8", "\"desired\":0", false },
		{ "\"position\":13", "\"position\":1", false },
		{ "00:04Z", "01:04Z", false },
		{ "\"r\"", "\"s\"", false },
		{ "\"R\"", "\"S\"", false },
		{ "\"pending\":3", "\"pending\":0", false },
	};
	const struct kar_queuejob *job = job_with_status(status);
	struct kar_buf out = { 0 };

	(void)state;
	write(&job->status, &out);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		if (is_edited(kar_buf_cstr(&out), rows[i].old, rows[i].new) != rows[i].edited)
			fail_msg("%s -> %s: edited?", rows[i].old, rows[i].new);
	}
	assert_false(is_edited("{ }", " ", ""));
	assert_true(is_edited("{\"phase\":\"Pending\" }", " ", ""));
	/* An end shows itself, whichever version has written it. */
	assert_false(is_edited(
		"{\"phase\":\"Completed\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}] }",
		" ", ""));
	kar_buf_release(&out);
	give_back(job);
}

/* Whoever computes a digest must not bring about a state that no decision writes, and assertions do not expect. */
static void a_forged_digest_makes_no_gang_without_an_incarnation(void **state)
{
	static const enum kar_qj_phase phases[] = { KAR_QJ_PHASE_STARTING, KAR_QJ_PHASE_RUNNING,
		KAR_QJ_PHASE_RESTARTING };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(phases); i++) {
		const struct kar_queuejob *job = job_with_status("{}");
		struct kar_queuejob_status forged = job->status;
		struct kar_buf out = { 0 };

		forged.phase = phases[i];
		write(&forged, &out);
		assert_true(is_edited(kar_buf_cstr(&out), "phase", "phase"));
		kar_buf_release(&out);
		give_back(job);
	}
}

static void impossible_numbers_are_clamped(void **state)
{
	const struct kar_queuejob *job =
		job_with_status("{\"incarnation\":2147483647,\"restarts\":-3,\"podFailures\":2147483647}");

	(void)state;
	assert_int_equal(job->status.incarnation, 0);
	assert_int_equal(job->status.restarts, 0);
	assert_int_equal(job->status.pod_failures, KAR_QJ_COUNT_MAX);
	give_back(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(status_survives_the_round_trip),
		TEST(absent_status_members_are_written_as_null),
		TEST(every_status_member_matters),
		TEST(digest_shows_edits_of_what_is_believed),
		TEST(a_forged_digest_makes_no_gang_without_an_incarnation),
		TEST(impossible_numbers_are_clamped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
