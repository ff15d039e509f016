/*
 * The list of caches: the manager may list and watch each of them, and nothing that it does not read. The roles of users are about the
 * same types, and never about a status.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "common/codec/json.h"
#include "common/codec/yaml.h"
#include "controllers/cluster/caches.h"

struct rule {
	struct kar_array groups, resources, verbs; /* const char * */
};

struct role {
	const char *kind;
	struct kar_array rules;
};

static const struct kar_field rule_fields[] = {
	KAR_FIELD_SUB(struct rule, groups, "apiGroups", KAR_F_ARRAY, NULL),
	KAR_FIELD_SUB(struct rule, resources, "resources", KAR_F_ARRAY, NULL),
	KAR_FIELD_SUB(struct rule, verbs, "verbs", KAR_F_ARRAY, NULL),
};
static const struct kar_desc rule_desc = KAR_DESC("PolicyRule", struct rule, rule_fields);
static const struct kar_field role_fields[] = {
	KAR_FIELD(struct role, kind, "kind", KAR_F_STRING),
	KAR_FIELD_SUB(struct role, rules, "rules", KAR_F_ARRAY, &rule_desc),
};
static const struct kar_desc role_desc = KAR_DESC("ClusterRole", struct role, role_fields);

static const char *read_manifest(const char *name)
{
	FILE *f = fopen(name, "re");
	static char text[1 << 16];

	if (!f)
		fail_msg("cannot open %s", name);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* The object number @i of the YAML @text; false: there are fewer. */
static bool read_object(const char *text, size_t i, struct kar_arena *arena, struct role *role)
{
	struct kar_buf json = { .cap = 1 << 20 };
	struct kar_err err = { 0 };
	int found = kar_yaml_to_json(text, strlen(text), i, &json, &err);

	*role = (struct role){ 0 };
	if (found < 0 || (found && kar_json_decode(arena, &role_desc, NULL, json.p, json.n, role, &err)))
		fail_msg("object %zu: %s", i, err.msg);
	kar_buf_release(&json);
	return found;
}

static struct role read_role(const char *manifest, struct kar_arena *arena)
{
	const char *text = read_manifest(manifest);
	struct role role = { 0 };

	for (size_t i = 0; !kar_streq(role.kind, "ClusterRole"); i++) {
		if (!read_object(text, i, arena, &role))
			fail_msg("no ClusterRole in %s", manifest);
	}
	return role;
}

static bool may_watch(const struct rule *rule)
{
	return kar_strings_have(&rule->verbs, "list") && kar_strings_have(&rule->verbs, "watch");
}

static bool is_cached(const struct kar_cache *caches, const char *group, const char *plural)
{
	for (size_t i = 0; i < KAR_N_STORES; i++) {
		const struct kar_resource *res = &kar_store_type(caches[i].store)->res;

		if (kar_streq(res->group, group) && kar_streq(res->plural, plural))
			return true;
	}
	return false;
}

static bool is_granted(const struct role *role, const struct kar_resource *res)
{
	const struct rule *rules = role->rules.items;

	for (size_t i = 0; i < role->rules.n; i++) {
		if (may_watch(&rules[i]) && kar_strings_have(&rules[i].groups, res->group) &&
			kar_strings_have(&rules[i].resources, res->plural))
			return true;
	}
	return false;
}

static void check_rule(const struct rule *rule, const struct kar_cache *caches)
{
	const char *const *groups = rule->groups.items, *const *resources = rule->resources.items;

	if (kar_strings_have(&rule->groups, "*") ||
		kar_strings_have(&rule->groups, "admissionregistration.k8s.io"))
		fail_msg("manifests/rbac.yaml lets the manager at the policies that bind it");
	for (size_t i = 0; i < rule->resources.n; i++) {
		if (may_watch(rule) && !is_cached(caches, groups[0], resources[i]))
			fail_msg("manifests/rbac.yaml grants to watch %s, which is no cache", resources[i]);
	}
}

static void rbac_is_the_list_of_caches(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	struct kar_cache caches[KAR_N_STORES];
	struct kar_arena arena = { 0 };
	struct role role = read_role(KAR_MANIFESTS "/rbac.yaml", &arena),
		    optional = read_role(KAR_MANIFESTS "/workloads/rights.yaml", &arena);
	const struct rule *rules = role.rules.items, *more = optional.rules.items;
	struct kar_stores stores;

	(void)state;
	kar_stores_init(&stores, strings);
	kar_stores_list(&stores, caches);
	for (size_t i = 0; i < KAR_N_STORES; i++) {
		const struct kar_resource *res = &kar_store_type(caches[i].store)->res;

		if (!is_granted(kar_is_suspendable(kar_store_type(caches[i].store)) ? &optional : &role, res))
			fail_msg(
				"neither manifests/rbac.yaml nor manifests/workloads/ grants to list and watch %s",
				res->plural);
	}
	for (size_t i = 0; i < role.rules.n; i++)
		check_rule(&rules[i], caches);
	for (size_t i = 0; i < optional.rules.n; i++)
		check_rule(&more[i], caches);
	kar_stores_release(&stores);
	kar_intern_free(strings);
	kar_arena_release(&arena);
}

/* A resource below another one ("queuejobs/status") is no cache either, nor is "*". */
static void check_user_rule(const struct rule *rule, const struct kar_cache *caches)
{
	const char *const *groups = rule->groups.items, *const *resources = rule->resources.items;

	assert_int_equal(rule->groups.n, 1);
	assert_true(rule->resources.n > 0 && may_watch(rule));
	assert_false(kar_strings_have(&rule->verbs, "*"));
	for (size_t i = 0; i < rule->resources.n; i++) {
		if (!is_cached(caches, groups[0], resources[i]))
			fail_msg("manifests/roles.yaml grants %s of group %s", resources[i], groups[0]);
	}
}

static void users_write_no_status(void **state)
{
	const char *text = read_manifest(KAR_MANIFESTS "/roles.yaml");
	struct kar_intern *strings = kar_intern_new();
	struct kar_cache caches[KAR_N_STORES];
	struct kar_arena arena = { 0 };
	struct kar_stores stores;
	struct role role;
	size_t n = 0;

	(void)state;
	kar_stores_init(&stores, strings);
	kar_stores_list(&stores, caches);
	for (; read_object(text, n, &arena, &role); n++) {
		const struct rule *rules = role.rules.items;

		assert_string_equal(role.kind, "ClusterRole");
		assert_true(role.rules.n > 0);
		for (size_t i = 0; i < role.rules.n; i++)
			check_user_rule(&rules[i], caches);
	}
	assert_int_equal(n, 5);
	kar_stores_release(&stores);
	kar_intern_free(strings);
	kar_arena_release(&arena);
}

/* Only the types of our CRDs can be missing for a reason that a person can remove. */
static void types_of_our_manifests_have_a_remedy(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	struct kar_cache caches[KAR_N_STORES];
	struct kar_stores stores;

	(void)state;
	kar_stores_init(&stores, strings);
	kar_stores_list(&stores, caches);
	for (size_t i = 0; i < KAR_N_STORES; i++) {
		const char *plural = kar_store_type(caches[i].store)->res.plural;
		char *file = kar_xasprintf("%s/crds/%s.yaml", KAR_MANIFESTS, plural);

		if (!caches[i].optional && (access(file, R_OK) == 0) != (caches[i].if_missing != NULL))
			fail_msg("%s: %s", plural,
				caches[i].if_missing ? "has a remedy, and no CRD" : "has no remedy");
		free(file);
	}
	kar_stores_release(&stores);
	kar_intern_free(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rbac_is_the_list_of_caches),
		cmocka_unit_test(users_write_no_status),
		cmocka_unit_test(types_of_our_manifests_have_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
