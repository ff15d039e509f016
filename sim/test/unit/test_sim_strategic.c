/* Strategic merge patches of pods; results and texts are those of Kubernetes 1.37. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "sim/apiserver/patch.h"
#include "sim/apiserver/types.h"
#include "sim/test/fixture/sim_value.h"

static void merged(void **state)
{
	static const struct {
		const char *name, *target, *patch, *want;
	} rows[] = {
		/* Objects. */
		{ "member_is_set", "{'spec':{'priority':1}}", "{'spec':{'priority':2}}",
			"{'spec':{'priority':2}}" },
		{ "null_removes", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
			"{'metadata':{'labels':{'a':null,'c':null}}}", "{'metadata':{'labels':{'b':'2'}}}" },
		{ "nulls_in_what_is_new_vanish", "{'metadata':{}}",
			"{'metadata':{'annotations':{'a':null,'b':'c'}}}",
			"{'metadata':{'annotations':{'b':'c'}}}" },
		{ "other_kind_replaces", "{'metadata':{'labels':{'a':'1'}}}", "{'metadata':{'labels':'x'}}",
			"{'metadata':{'labels':'x'}}" },
		{ "replace_object", "{'metadata':{'labels':{'a':'1'}}}",
			"{'metadata':{'labels':{'$patch':'replace','q':'r'}}}",
			"{'metadata':{'labels':{'q':'r'}}}" },
		{ "delete_object", "{'metadata':{'labels':{'a':'1'}}}",
			"{'metadata':{'labels':{'$patch':'delete'}}}", "{'metadata':{'labels':{}}}" },
		{ "delete_object_that_is_not_there", "{'metadata':{}}",
			"{'metadata':{'labels':{'$patch':'delete'}}}", "{'metadata':{}}" },
		/* Lists with a merge key. */
		{ "item_is_merged_by_name",
			"{'spec':{'containers':[{'name':'a','image':'i'},{'name':'b','image':'i'}]}}",
			"{'spec':{'containers':[{'name':'b','image':'j'}]}}",
			"{'spec':{'containers':[{'name':'a','image':'i'},{'name':'b','image':'j'}]}}" },
		{ "list_inside_an_item",
			"{'spec':{'containers':[{'name':'a','env':[{'name':'X','value':'1'},{'name':'Y','value':'2'}]}]}}",
			"{'spec':{'containers':[{'name':'a','env':[{'name':'Y','value':'3'}]}]}}",
			"{'spec':{'containers':[{'name':'a','env':[{'name':'X','value':'1'},{'name':'Y','value':'3'}]}]}}" },
		{ "new_item_comes_first", "{'spec':{'containers':[{'name':'a'}]}}",
			"{'spec':{'containers':[{'name':'b'}]}}",
			"{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}" },
		{ "numbers_are_keys_too",
			"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80},{'containerPort':81}]}]}}",
			"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':81,'protocol':'UDP'}]}]}}",
			"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80},{'containerPort':81,'protocol':'UDP'}]}]}}" },
		{ "item_is_deleted", "{'spec':{'schedulingGates':[{'name':'g.io/1'},{'name':'g.io/2'}]}}",
			"{'spec':{'schedulingGates':[{'$patch':'delete','name':'g.io/1'}]}}",
			"{'spec':{'schedulingGates':[{'name':'g.io/2'}]}}" },
		{ "item_that_is_not_there_is_deleted", "{'spec':{'schedulingGates':[{'name':'g.io/2'}]}}",
			"{'spec':{'schedulingGates':[{'$patch':'delete','name':'g.io/1'}]}}",
			"{'spec':{'schedulingGates':[{'name':'g.io/2'}]}}" },
		{ "deleted_from_no_list", "{'spec':{}}",
			"{'spec':{'schedulingGates':[{'$patch':'delete','name':'g.io/1'}]}}",
			"{'spec':{'schedulingGates':[]}}" },
		{ "list_is_replaced", "{'spec':{'schedulingGates':[{'name':'g.io/1'},{'name':'g.io/2'}]}}",
			"{'spec':{'schedulingGates':[{'$patch':'replace'},{'name':'g.io/3'}]}}",
			"{'spec':{'schedulingGates':[{'name':'g.io/3'}]}}" },
		{ "conditions_by_type",
			"{'status':{'conditions':[{'type':'Ready','status':'False','reason':'x'},{'type':'PodScheduled','status':'True'}]}}",
			"{'status':{'conditions':[{'type':'Ready','status':'True','reason':null}]}}",
			"{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'PodScheduled','status':'True'}]}}" },
		{ "owners_by_uid", "{'metadata':{'ownerReferences':[{'uid':'1','name':'a'}]}}",
			"{'metadata':{'ownerReferences':[{'uid':'2','name':'a'},{'uid':'1','controller':true}]}}",
			"{'metadata':{'ownerReferences':[{'uid':'2','name':'a'},{'uid':'1','name':'a','controller':true}]}}" },
		{ "one_item_twice", "{'spec':{'containers':[]}}",
			"{'spec':{'containers':[{'name':'a','image':'i'},{'name':'a','image':'j'}]}}",
			"{'spec':{'containers':[{'name':'a','image':'j'}]}}" },
		{ "list_without_key_is_replaced", "{'spec':{'tolerations':[{'key':'a'}]}}",
			"{'spec':{'tolerations':[{'key':'b'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}" },
		/* Sets of texts. */
		{ "set_is_joined", "{'metadata':{'finalizers':['x.io/a','x.io/b']}}",
			"{'metadata':{'finalizers':['x.io/c','x.io/b']}}",
			"{'metadata':{'finalizers':['x.io/c','x.io/a','x.io/b']}}" },
		{ "set_takes_the_order_of_the_patch", "{'metadata':{'finalizers':['x.io/a','x.io/b']}}",
			"{'metadata':{'finalizers':['x.io/b','x.io/a','x.io/c']}}",
			"{'metadata':{'finalizers':['x.io/b','x.io/a','x.io/c']}}" },
		{ "new_set_in_front", "{'metadata':{'finalizers':['x.io/a','x.io/b']}}",
			"{'metadata':{'finalizers':['x.io/c']}}",
			"{'metadata':{'finalizers':['x.io/c','x.io/a','x.io/b']}}" },
		{ "delete_from_set", "{'metadata':{'finalizers':['x.io/a','x.io/b']}}",
			"{'metadata':{'$deleteFromPrimitiveList/finalizers':['x.io/a','x.io/q']}}",
			"{'metadata':{'finalizers':['x.io/b']}}" },
		{ "delete_from_no_set", "{'metadata':{}}",
			"{'metadata':{'$deleteFromPrimitiveList/finalizers':['x.io/a']}}",
			"{'metadata':{}}" },
		/* $setElementOrder. */
		{ "order_alone", "{'metadata':{'finalizers':['x.io/a','x.io/b']}}",
			"{'metadata':{'$setElementOrder/finalizers':['x.io/b','x.io/a']}}",
			"{'metadata':{'finalizers':['x.io/b','x.io/a']}}" },
		{ "order_with_new_item", "{'metadata':{'finalizers':['x.io/a','x.io/b']}}",
			"{'metadata':{'$setElementOrder/finalizers':['x.io/c','x.io/b'],'finalizers':['x.io/c']}}",
			"{'metadata':{'finalizers':['x.io/c','x.io/a','x.io/b']}}" },
		{ "order_of_objects", "{'spec':{'containers':[{'name':'a'},{'name':'s'},{'name':'b'}]}}",
			"{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':'a','image':'i'}]}}",
			"{'spec':{'containers':[{'name':'s'},{'name':'b'},{'name':'a','image':'i'}]}}" },
		{ "order_and_deletion", "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
			"{'spec':{'$setElementOrder/containers':[{'name':'d'}],'containers':[{'name':'d'},{'name':'c','$patch':'delete'}]}}",
			"{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'d'}]}}" },
		{ "order_and_deletion_at_the_end", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
			"{'spec':{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'a','image':'j'},{'name':'b','$patch':'delete'}]}}",
			"{'spec':{'containers':[{'name':'a','image':'j'}]}}" },
		{ "order_of_a_new_list", "{'spec':{}}",
			"{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':'b'},{'name':'a'}]}}",
			"{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}" },
		{ "order_of_nothing", "{'spec':{}}",
			"{'spec':{'$setElementOrder/containers':[{'name':'b'}]}}", "{'spec':{}}" },
		/* $retainKeys. */
		{ "retain_keys", "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
			"{'spec':{'volumes':[{'name':'v','$retainKeys':['name','hostPath'],'hostPath':{'path':'/'}}]}}",
			"{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/'}}]}}" },
		{ "retain_keys_and_null", "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
			"{'spec':{'volumes':[{'name':'v','$retainKeys':['name'],'emptyDir':null}]}}",
			"{'spec':{'volumes':[{'name':'v'}]}}" },
	};
	struct sim_types *types = sim_types_new();
	const struct sim_type *pod = sim_types_find(types, "", "Pod");

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree(rows[i].target), *before = sim_ref(v),
				 *patch = tree(rows[i].patch);
		struct kar_err err = { 0 };

		if (sim_patch_strategic(&v, patch, pod, &err))
			fail_msg("%s: %s", rows[i].name, err.msg);
		expect(rows[i].name, v, rows[i].want);
		expect(rows[i].name, before, rows[i].target); /* another holder sees nothing */
		expect(rows[i].name, patch, rows[i].patch);
		sim_unref(v);
		sim_unref(before);
		sim_unref(patch);
	}
	sim_types_free(types);
}

static void refused(void **state)
{
	static const struct {
		const char *name, *patch;
		int http;
		const char *want;
	} rows[] = {
		{ "array", "[]", 400,
			"json: cannot unmarshal array into Go value of type map[string]interface {}" },
		{ "text", "'x'", 400,
			"json: cannot unmarshal string into Go value of type map[string]interface {}" },
		{ "null", "null", 400, "invalid JSON patch" },
		{ "unknown_directive", "{'metadata':{'$patch':'foo'}}", 500,
			"unknown patch type: foo in map: map[$patch:foo]" },
		{ "unknown_directive_in_list",
			"{'spec':{'containers':[{'$patch':'foo','name':'a','image':'q'}]}}", 500,
			"unknown patch type: foo in map: map[$patch:foo image:q name:a]" },
		{ "merge_in_list", "{'spec':{'containers':[{'$patch':'merge','name':'a'}]}}", 500,
			"merging lists cannot yet be specified in the patch" },
		{ "no_key", "{'spec':{'containers':[{'image':'q','x':[1,{'b':null,'a':true}]}]}}", 500,
			"map: map[image:q x:[1 map[a:true b:<nil>]]] does not contain declared merge key: name" },
		{ "no_key_to_delete", "{'spec':{'containers':[{'$patch':'delete','image':'q'}]}}", 500,
			"map: map[$patch:delete image:q] does not contain declared merge key: name" },
		{ "text_among_objects", "{'spec':{'containers':['x']}}", 500,
			"list element types are not identical: [[map[image:i name:a]] [x]]" },
		{ "list_in_a_list", "{'spec':{'initContainers':[['x']]}}", 422,
			"the server rejected our request due to an error in our request" },
		{ "texts_where_objects_should_be", "{'spec':{'initContainers':['x']}}", 500,
			"expected a map[string]interface {}, but received a string" },
		{ "retain_keys_is_no_list", "{'spec':{'$retainKeys':'x'}}", 400,
			"invalid patch format of retainKeys" },
		{ "retain_keys_lacks_a_member",
			"{'spec':{'containers':[{'name':'a','$retainKeys':['name'],'image':'q'}]}}", 400,
			"invalid patch format of retainKeys" },
		{ "order_is_no_list", "{'spec':{'$setElementOrder/containers':'x'}}", 500,
			"expected a []interface {}, but received a string" },
		{ "order_of_nothing_named", "{'spec':{'$setElementOrder':['x']}}", 400,
			"invalid patch format of setElementOrder list" },
		{ "order_without_key", "{'spec':{'$setElementOrder/containers':[{'foo':'a'}]}}", 500,
			"map: map[foo:a] does not contain declared merge key: name" },
		{ "order_does_not_have_the_item",
			"{'metadata':{'$setElementOrder/finalizers':['x.io/b'],'finalizers':['x.io/c']}}",
			500,
			"The order in patch list:\n[x.io/c]\n doesn't match $setElementOrder list:\n[x.io/b]\n" },
		{ "deletion_from_nothing_named", "{'metadata':{'$deleteFromPrimitiveList':['x']}}", 400,
			"invalid patch format of primitive list" },
	};
	static const char target[] =
		"{'metadata':{'finalizers':['x.io/a']},'spec':{'containers':[{'name':'a','image':'i'}],'initContainers':[]}}";
	struct sim_types *types = sim_types_new();
	const struct sim_type *pod = sim_types_find(types, "", "Pod");

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree(target), *before = v, *patch = tree(rows[i].patch);
		struct kar_err err = { 0 };

		if (sim_patch_strategic(&v, patch, pod, &err) != -1 || err.what != KAR_INVALID ||
			err.http != rows[i].http || strcmp(err.msg, rows[i].want) != 0)
			fail_msg("%s: %d %s", rows[i].name, err.http, err.msg);
		assert_ptr_equal(v, before);
		expect(rows[i].name, v, target);
		sim_unref(v);
		sim_unref(patch);
	}
	sim_types_free(types);
}

static void without_type_no_list_is_merged(void **state)
{
	struct sim_value *v = tree("{'a':[1],'b':{'c':'d'}}"), *patch = tree("{'a':[2],'b':{'e':'f'}}");
	struct kar_err err = { 0 };

	(void)state;
	assert_int_equal(sim_patch_strategic(&v, patch, NULL, &err), 0);
	expect("object", v, "{'a':[2],'b':{'c':'d','e':'f'}}");
	sim_unref(v);
	sim_unref(patch);
}

/* Long lists must not take the square of their length. */
static void long_list(void **state)
{
	enum { ITEMS = 50000 };
	struct sim_types *types = sim_types_new();
	struct sim_value *list = sim_array(), *reversed = sim_array(), *v = sim_object(),
			 *patch = sim_object();
	struct kar_err err = { 0 };

	(void)state;
	for (int i = 0; i < ITEMS; i++) {
		struct sim_value *item = sim_object();

		sim_set(&item, sim_printf("c%d", i), "name");
		sim_append(&list, sim_ref(item));
		sim_set_text(&item, "new", "image");
		sim_append(&reversed, item);
	}
	sim_set(&v, list, "spec", "containers");
	sim_set(&patch, reversed, "spec", "containers");
	if (sim_patch_strategic(&v, patch, sim_types_find(types, "", "Pod"), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(sim_count(sim_get(v, "spec", "containers")), ITEMS);
	assert_string_equal(sim_get_text(sim_item(sim_get(v, "spec", "containers"), ITEMS - 1), "image"),
		"new");
	sim_unref(v);
	sim_unref(patch);
	sim_types_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged),
		cmocka_unit_test(refused),
		cmocka_unit_test(without_type_no_list_is_merged),
		cmocka_unit_test(long_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
