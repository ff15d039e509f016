/* The probe for the PodGroups of Kubernetes itself: what it asks for, and what is known after the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "controllers/cluster/native.h"
#include "test/fixture/fake_client.h"
#include "test/fixture/wait.h"

#define GROUP "get  "
#define POD "dry-run create pods default/kar-native-probe"
#define KEEPS "{\"spec\":{\"schedulingGroup\":{\"podGroupName\":\"kar-native-probe\"}}}"
#define DROPS "{\"spec\":{\"nodeName\":\"\"}}"
#define V(version) "{\"version\":\"" version "\"}"
#define NONE "no: the API server has no PodGroups of scheduling.k8s.io (v1beta1 or v1alpha3)"

enum { ROUNDS = 4 };

/* Versions that are listed, and the pod in the answer; in place of each the class of an error. */
struct round {
	const char *versions;
	enum kar_class no_group;
	const char *pod;
	enum kar_class no_pod;
	const char *known; /* afterwards */
};

static const struct {
	const char *name;
	struct round rounds[ROUNDS];
} rows[] = {
	{ "newest_version_is_taken",
		{ { .versions = V("v1") "," V("v1alpha3") "," V("v1beta1"),
			.pod = KEEPS,
			.known = "v1beta1" } } },
	{ "older_one_is_taken_too",
		{ { .versions = V("v1") "," V("v1alpha3"), .pod = KEEPS, .known = "v1alpha3" } } },
	{ "shipped_default_has_none", { { .versions = V("v1"), .known = NONE } } },
	{ "no_such_group", { { .no_group = KAR_NOTFOUND, .known = NONE } } },
	{ "group_may_not_be_read", { { .no_group = KAR_DENIED, .known = "no: nope" } } },
	{ "answer_cannot_be_read", { { .versions = "1", .known = NONE } } },
	{ "min_count_of_1_36_is_immutable",
		{ { .versions = V("v1") "," V("v1alpha2"),
			.known =
				"no: the API server has PodGroups of scheduling.k8s.io only in v1alpha2, where minCount cannot be changed" } } },
	{ "field_is_dropped",
		{ { .versions = V("v1beta1"),
			.pod = DROPS,
			.known = "no: the API server drops spec.schedulingGroup of pods" } } },
	{ "pod_is_refused",
		{ { .versions = V("v1beta1"),
			.no_pod = KAR_DENIED,
			.known = "no: a dry run of a pod that names a group was refused: nope" } } },
	{ "no_answer_is_no_verdict",
		{ { .no_group = KAR_RETRY, .known = "unknown" },
			{ .versions = V("v1beta1"), .no_pod = KAR_RETRY, .known = "unknown" },
			{ .versions = V("v1beta1"), .pod = KEEPS, .known = "v1beta1" },
			{ .no_group = KAR_UNAUTHORIZED, .known = "v1beta1" } } },
	{ "upgraded_and_downgraded",
		{ { .versions = V("v1"), .known = NONE },
			{ .versions = V("v1alpha3"), .pod = KEEPS, .known = "v1alpha3" },
			{ .versions = V("v1alpha3") "," V("v1beta1"), .pod = KEEPS, .known = "v1beta1" },
			{ .versions = V("v1"), .known = NONE } } },
};

static bool has_request(void *arg)
{
	char open[512];

	return fake_open(arg, open, sizeof(open))[0] != '\0';
}

static void answer(struct fake_client *f, const char *text, const char *body, enum kar_class refusal)
{
	int i = fake_find(f, text);

	if (i < 0) {
		char open[512];

		fail_msg("\"%s\" was not asked for, but \"%s\"", text, fake_open(f, open, sizeof(open)));
	}
	if (refusal)
		fake_refuse(f, i, refusal, "nope");
	else
		fake_answer(f, i, body, 0);
}

static const char *print(const struct kar_native *n, char *out, size_t size)
{
	if (!n->known)
		snprintf(out, size, "unknown");
	else if (n->type)
		snprintf(out, size, "%s", n->type->res.version);
	else
		snprintf(out, size, "no: %s", n->why_not);
	return out;
}

static void play(struct kar_loop *l, const struct round *r, struct fake_client *f)
{
	char group[512];

	wait_until(l, has_request, f);
	snprintf(group, sizeof(group), "{\"kind\":\"APIGroup\",\"versions\":[%s]}",
		r->versions ? r->versions : "");
	answer(f, GROUP, group, r->no_group);
	if (r->pod || r->no_pod)
		answer(f, POD, r->pod, r->no_pod);
}

static void says_what_the_cluster_has(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_loop *l = kar_loop_new();
		struct fake_client *f = fake_client_new();
		struct kar_native known = { .known = true };
		struct kar_native_probe *p = kar_native_probe_new(l, &f->client, 1, &known);
		char got[512];

		for (size_t k = 0; k < ROUNDS && rows[i].rounds[k].known; k++) {
			play(l, &rows[i].rounds[k], f);
			if (strcmp(print(&known, got, sizeof(got)), rows[i].rounds[k].known))
				fail_msg("%s, round %zu: got \"%s\", want \"%s\"", rows[i].name, k, got,
					rows[i].rounds[k].known);
			assert_false(has_request(f)); /* until the interval is over */
		}
		kar_native_probe_free(p);
		kar_client_free(&f->client);
		kar_loop_free(l);
	}
}

static void open_request_is_cancelled(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();
	struct fake_client *f = fake_client_new();
	struct kar_native known;
	struct kar_native_probe *p = kar_native_probe_new(l, &f->client, 1, &known);

	wait_until(l, has_request, f);
	kar_native_probe_free(p);
	assert_false(has_request(f));
	kar_client_free(&f->client);
	kar_loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_the_cluster_has),
		cmocka_unit_test(open_request_is_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
