/* The headless Service: what is kept of one, and its spec as it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/core/service.h"
#include "test/fixture/projection.h"

#define META "\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\""
#define OURS ",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}"
#define OWNED \
	",\"ownerReferences\":[{\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"job-uid\",\"controller\":true}]"
#define SELECTOR "\"selector\":{\"kube-arbitrator.io/queuejob\":\"j\"}"

static const struct {
	const char *name, *json;
	const char *owner_uid, *job;
	bool orphan, headless, publish, deleting;
} rows[] = {
	{ "as_it_was_made",
		"{" META OURS OWNED "},\"spec\":{\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"]," SELECTOR
		",\"publishNotReadyAddresses\":true,\"type\":\"ClusterIP\"}}",
		"job-uid", "j", false, true, true, false },
	{ "unready_pods_are_hidden", "{" META OURS OWNED "},\"spec\":{\"clusterIP\":\"None\"," SELECTOR "}}",
		"job-uid", "j", false, true, false, false },
	{ "it_has_an_address", "{" META OURS OWNED "},\"spec\":{\"clusterIP\":\"10.0.0.1\"," SELECTOR "}}",
		"job-uid", "j", false, false, false, false },
	{ "another_selector",
		"{" META OURS OWNED "},\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\"}}}",
		"job-uid", NULL, false, true, false, false },
	{ "one_more_label_in_the_selector",
		"{" META OURS OWNED "},\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\","
		"\"kube-arbitrator.io/queuejob\":\"j\"}}}",
		"job-uid", NULL, false, true, false, false },
	{ "left_by_an_orphaned_job", "{" META OURS "},\"spec\":{\"clusterIP\":\"None\"," SELECTOR "}}", NULL,
		"j", true, true, false, false },
	{ "somebody_else's", "{" META "},\"spec\":{\"clusterIP\":\"10.0.0.1\"}}", NULL, NULL, false, false,
		false, false },
	{ "on_its_way_out",
		"{" META OURS OWNED ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"},\"spec\":{}}",
		"job-uid", NULL, false, false, false, true },
};

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void services_are_projected(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_service *s = kar_as_service(object_of(&kar_service_type, rows[i].json));

		if (!same(s->owner_uid, rows[i].owner_uid) || !same(s->spec.job, rows[i].job) ||
			s->orphan != rows[i].orphan || s->headless != rows[i].headless ||
			s->spec.publish_not_ready != rows[i].publish ||
			(s->deletion != 0) != rows[i].deleting)
			fail_msg("%s: owner %s job %s orphan %d headless %d publish %d", rows[i].name,
				s->owner_uid, s->spec.job, s->orphan, s->headless, s->spec.publish_not_ready);
		kar_object_unref(&s->o);
	}
}

static void specs_are_compared(void **state)
{
	const struct kar_service_spec a = { "j", true }, b = { "k", true }, c = { "j", false },
				      d = { NULL, true };

	(void)state;
	assert_true(kar_service_spec_equal(&a, &a));
	assert_false(kar_service_spec_equal(&a, &b));
	assert_false(kar_service_spec_equal(&a, &c));
	assert_false(kar_service_spec_equal(&a, &d));
}

static void spec_is_written_and_read_back(void **state)
{
	const struct kar_service_spec want = { "j", true };
	struct kar_json_writer w;
	struct kar_buf out = { 0 };

	(void)state;
	kar_json_writer_init(&w, &out);
	kar_service_spec_write(&w, &want);
	kar_json_writer_release(&w);
	assert_string_equal(kar_buf_cstr(&out),
		"{\"clusterIP\":\"None\",\"selector\":{\"kube-arbitrator.io/queuejob\":\"j\"},"
		"\"publishNotReadyAddresses\":true}");
	kar_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(services_are_projected),
		cmocka_unit_test(specs_are_compared),
		cmocka_unit_test(spec_is_written_and_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
