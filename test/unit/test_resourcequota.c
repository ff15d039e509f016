/* What is kept of a ResourceQuota. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/core/resourcequota.h"
#include "common/base/buf.h"
#include "test/fixture/projection.h"

#define QUOTA(rest) \
	"{\"metadata\":{\"name\":\"q\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"}" rest "}"
#define HARD(amounts) QUOTA(",\"spec\":{\"hard\":{" amounts "}}")

static const struct {
	const char *name, *json;
	bool limits_pods;
} rows[] = {
	{ "pods", HARD("\"pods\":\"4\""), true },
	{ "count_of_objects", HARD("\"count/pods\":\"4\""), true },
	{ "cpu", HARD("\"requests.cpu\":\"4\""), true },
	{ "memory", HARD("\"memory\":\"4Gi\""), true },
	{ "limits", HARD("\"limits.memory\":\"4Gi\""), true },
	{ "devices", HARD("\"requests.nvidia.com/gpu\":\"4\""), true },
	{ "huge_pages", HARD("\"hugepages-2Mi\":\"4Gi\""), true },
	{ "other_things", HARD("\"services\":\"4\",\"requests.storage\":\"4Gi\",\"count/jobs.batch\":\"1\""),
		false },
	{ "nothing", QUOTA(""), false },
	{ "with_scopes", QUOTA(",\"spec\":{\"hard\":{\"pods\":\"4\"},\"scopes\":[\"Terminating\"]}"), true },
};

static const struct kar_resourcequota *quota_of(const char *json)
{
	return kar_as_resourcequota(object_of(&kar_resourcequota_type, json));
}

static void quotas_are_projected(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_resourcequota *q = quota_of(rows[i].json);

		if (q->limits_pods != rows[i].limits_pods)
			fail_msg("%s: limits %d", rows[i].name, q->limits_pods);
		assert_string_equal(kar_resourcequota_type.index_key(&q->o, KAR_RESOURCEQUOTA_BY_NAMESPACE),
			"ns");
		kar_object_unref(&q->o);
	}
}

#define STATUS(hard, used) QUOTA(",\"status\":{\"hard\":{" hard "},\"used\":{" used "}}")

static uint64_t enforced(const char *json)
{
	const struct kar_resourcequota *q = quota_of(json);
	uint64_t is = q->enforced;

	kar_object_unref(&q->o);
	return is;
}

/* In whatever order it is served. What is used is not asked for. */
static void what_is_enforced_is_compared(void **state)
{
	uint64_t is = enforced(STATUS("\"pods\":\"4\",\"cpu\":\"2\"", "\"pods\":\"1\""));

	(void)state;
	assert_true(is == enforced(STATUS("\"cpu\":\"2\",\"pods\":\"4\"", "\"pods\":\"3\"")));
	assert_true(is != enforced(STATUS("\"pods\":\"5\",\"cpu\":\"2\"", "\"pods\":\"1\"")));
	assert_true(is != enforced(STATUS("\"pods\":\"4\"", "\"pods\":\"1\"")));
	assert_true(is != enforced(QUOTA("")));
}

static uint64_t specified(const char *json)
{
	const struct kar_resourcequota *q = quota_of(json);
	uint64_t is = q->specified;

	kar_object_unref(&q->o);
	return is;
}

static void what_is_specified_is_compared(void **state)
{
	const char *hard = HARD("\"pods\":4,\"requests.cpu\":\"1500m\"");

	(void)state;
	assert_true(specified(hard) == specified(hard));
	assert_true(specified(hard) != specified(HARD("\"pods\":4,\"requests.cpu\":\"2\"")));
}

/* Limits of pods: in spec.hard, in status.hard, used; -1: not there. */
static const struct {
	const char *name, *json, *want;
} limits[] = {
	{ "both",
		QUOTA(",\"spec\":{\"hard\":{\"pods\":\"4\"}},\"status\":{\"hard\":{\"pods\":\"5\"},\"used\":{\"pods\":\"2\"}}"),
		" pods 4 5 2" },
	{ "not_computed", HARD("\"requests.cpu\":\"1500m\",\"memory\":\"1Gi\""),
		" memory 1073741824 -1 -1 requests.cpu 1500 -1 -1" },
	{ "only_enforced", QUOTA(",\"status\":{\"hard\":{\"limits.cpu\":\"2\"}}"), " limits.cpu -1 2000 -1" },
	{ "limits_are_rounded_down_and_use_up",
		QUOTA(",\"spec\":{\"hard\":{\"cpu\":\"0.0019\"}},\"status\":{\"used\":{\"cpu\":\"0.0011\"}}"),
		" cpu 1 -1 2" },
	{ "nothing_below_zero", HARD("\"memory\":\"-1\""), " memory 0 -1 -1" },
	{ "thousands", HARD("\"pods\":\"2k\",\"memory\":\"1Ki\""), " memory 1024 -1 -1 pods 2000 -1 -1" },
	{ "no_number_is_no_limit", HARD("\"pods\":\"\",\"memory\":\"lots\""), "" },
	{ "the_most", HARD("\"memory\":\"99999Ei\""), " memory 9223372036854775807 -1 -1" },
	{ "others_are_left_out",
		HARD("\"services\":\"1\",\"requests.storage\":\"1\",\"limits.a.b/gpu\":\"1\""), "" },
};

static void limits_are_those_that_pods_use(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(limits); i++) {
		const struct kar_resourcequota *q = quota_of(limits[i].json);
		const struct kar_quota_limit *l = q->limits.items;
		struct kar_buf got = { 0 };

		for (size_t k = 0; k < q->limits.n; k++)
			kar_buf_printf(&got, " %s %lld %lld %lld", l[k].resource, (long long)l[k].spec,
				(long long)l[k].hard, (long long)l[k].used);
		if (strcmp(kar_buf_cstr(&got), limits[i].want) != 0)
			fail_msg("%s:%s", limits[i].name, kar_buf_cstr(&got));
		kar_buf_release(&got);
		kar_object_unref(&q->o);
	}
}

static const struct {
	const char *name, *a, *b;
	bool same;
} pairs[] = {
	{ "itself", HARD("\"pods\":4"), HARD("\"pods\":\"4\""), true },
	{ "limit", HARD("\"pods\":4"), HARD("\"pods\":5"), false },
	{ "enforced", STATUS("\"pods\":4", ""), STATUS("\"pods\":5", ""), false },
	{ "used", STATUS("\"pods\":4", "\"pods\":1"), STATUS("\"pods\":4", "\"pods\":2"), false },
	{ "another_resource", HARD("\"pods\":4"), HARD("\"cpu\":4"), false },
	{ "one_more", HARD("\"pods\":4"), HARD("\"pods\":4,\"memory\":1"), false },
	{ "used_of_other_objects", STATUS("\"pods\":4", "\"services\":1"),
		STATUS("\"pods\":4", "\"services\":2"), true },
};

static void quotas_are_the_same_if_pods_find_them_so(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(pairs); i++) {
		const struct kar_resourcequota *a = quota_of(pairs[i].a), *b = quota_of(pairs[i].b);

		if (kar_resourcequota_same(a, b) != pairs[i].same)
			fail_msg("%s", pairs[i].name);
		kar_object_unref(&a->o);
		kar_object_unref(&b->o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quotas_are_projected),
		TEST(limits_are_those_that_pods_use),
		TEST(quotas_are_the_same_if_pods_find_them_so),
		TEST(what_is_enforced_is_compared),
		TEST(what_is_specified_is_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
