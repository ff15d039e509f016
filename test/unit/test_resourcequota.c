/* What is kept of a ResourceQuota. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/resourcequota.h"
#include "common/buf.h"
#include "test/fixture/projection.h"

#define QUOTA(rest) \
	"{\"metadata\":{\"name\":\"q\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"}" rest "}"
#define HARD(amounts) QUOTA(",\"spec\":{\"hard\":{" amounts "}}")

static const struct {
	const char *name, *json;
	bool limits_pods, scoped;
	int64_t pods;
} rows[] = {
	{ "pods", HARD("\"pods\":\"4\""), true, false, 4 },
	{ "as_a_number", HARD("\"pods\":4"), true, false, 4 },
	{ "count_of_objects", HARD("\"count/pods\":\"4\""), true, false, 4 },
	{ "the_smaller_counts", HARD("\"pods\":\"5\",\"count/pods\":\"4\""), true, false, 4 },
	{ "the_other_is_smaller", HARD("\"pods\":\"3\",\"count/pods\":\"4\""), true, false, 3 },
	{ "none_at_all", HARD("\"pods\":\"0\""), true, false, 0 },
	{ "thousands", HARD("\"pods\":\"2k\""), true, false, 2000 },
	{ "millions", HARD("\"pods\":\"3M\""), true, false, 3000000 },
	{ "unusual_quantity", HARD("\"pods\":\"1Ki\""), true, false, -1 },
	{ "no_whole_number", HARD("\"pods\":\"2500m\""), true, false, -1 },
	{ "too_many_digits", HARD("\"pods\":\"12345678901234567890\""), true, false, -1 },
	{ "no_number", HARD("\"pods\":\"\""), true, false, -1 },
	{ "cpu", HARD("\"requests.cpu\":\"4\""), true, false, -1 },
	{ "memory", HARD("\"memory\":\"4Gi\""), true, false, -1 },
	{ "limits", HARD("\"limits.memory\":\"4Gi\""), true, false, -1 },
	{ "devices", HARD("\"requests.nvidia.com/gpu\":\"4\""), true, false, -1 },
	{ "huge_pages", HARD("\"hugepages-2Mi\":\"4Gi\""), true, false, -1 },
	{ "other_things", HARD("\"services\":\"4\",\"requests.storage\":\"4Gi\",\"count/jobs.batch\":\"1\""),
		false, false, -1 },
	{ "nothing", QUOTA(""), false, false, -1 },
	{ "with_scopes", QUOTA(",\"spec\":{\"hard\":{\"pods\":\"4\"},\"scopes\":[\"Terminating\"]}"), true,
		true, -1 },
	{ "with_a_selector",
		QUOTA(",\"spec\":{\"hard\":{\"pods\":\"4\"},\"scopeSelector\":{\"matchExpressions\":[]}}"),
		true, true, -1 },
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

		if (q->limits_pods != rows[i].limits_pods || q->scoped != rows[i].scoped ||
			q->pods != rows[i].pods)
			fail_msg("%s: limits %d scoped %d pods %d", rows[i].name, q->limits_pods, q->scoped,
				(int)q->pods);
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

/* Amounts of pods, but neither their number nor what a quota with scopes, which counts only some of them, allows. */
static void amounts_are_kept(void **state)
{
	const char *hard = HARD("\"pods\":4,\"requests.cpu\":\"1500m\",\"memory\":\"1Gi\",\"services\":3,"
				"\"limits.cpu\":\"lots\"");
	const struct kar_resourcequota *q = quota_of(hard);
	const struct kar_quota_amount *a = q->amounts.items;
	char text[KAR_QUANTITY_LEN];

	(void)state;
	assert_int_equal(q->amounts.n, 2);
	assert_string_equal(a[0].resource, "requests.cpu");
	assert_string_equal(kar_quantity_text(&a[0].q, text), "1500m");
	assert_string_equal(a[1].resource, "memory");
	kar_object_unref(&q->o);
	q = quota_of(QUOTA(",\"spec\":{\"hard\":{\"cpu\":\"4\"},\"scopes\":[\"Terminating\"]}"));
	assert_int_equal(q->amounts.n, 0);
	kar_object_unref(&q->o);
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
		TEST(amounts_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
