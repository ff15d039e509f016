/*
 * What nodes offer by DeviceClasses (controllers/cluster/devices.h): by rows, and by random changes, after each of which the engine says what it
 * says when it is told of all objects anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/kube/store.h"
#include "controllers/cluster/devices.h"
#include "test/fixture/projection.h"

struct world {
	struct kar_store *nodes, *pods, *classes, *slices, *claims;
	struct kar_snapshot *snapshot;
	struct kar_capacity *capacity;
	struct kar_devices *devices;
	kar_rv rv;
	int changes;
};

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	kar_capacity_node(arg, old ? kar_as_node(old) : NULL, new ? kar_as_node(new) : NULL);
}

static void on_change(void *arg)
{
	((struct world *)arg)->changes++;
}

static void begin(struct world *w)
{
	*w = (struct world){ .nodes = kar_store_new(&kar_node_type, strings),
		.pods = kar_store_new(&kar_pod_type, strings),
		.classes = kar_store_new(&kar_deviceclass_type, strings),
		.slices = kar_store_new(&kar_resourceslice_type, strings),
		.claims = kar_store_new(&kar_resourceclaim_type, strings),
		.snapshot = kar_snapshot_new(strings),
		.capacity = kar_capacity_new(strings) };
	kar_snapshot_listen(w->snapshot, w->nodes, w->pods);
	kar_store_listen(w->nodes, on_node, w->capacity);
	w->devices = kar_devices_new(&(struct kar_devices_input){ .nodes = w->nodes,
		.classes = w->classes,
		.slices = w->slices,
		.claims = w->claims,
		.snapshot = w->snapshot,
		.capacity = w->capacity,
		.strings = strings });
	kar_devices_listen(w->devices, on_change, w);
}

static void end(struct world *w)
{
	kar_devices_free(w->devices);
	kar_capacity_free(w->capacity);
	kar_snapshot_free(w->snapshot);
	kar_store_free(w->nodes);
	kar_store_free(w->pods);
	kar_store_free(w->classes);
	kar_store_free(w->slices);
	kar_store_free(w->claims);
}

/* @rest: JSON after the metadata, with its comma. */
static void put(struct world *w, struct kar_store *s, const char *name, const char *meta, const char *rest)
{
	char json[8192];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"%s\",%s\"uid\":\"%s\",\"resourceVersion\":\"%llu\"%s}%s}", name,
		kar_store_type(s)->res.namespaced ? "\"namespace\":\"ns\"," : "", name,
		(unsigned long long)++w->rv, meta, rest);
	kar_store_apply(s, object_of(kar_store_type(s), json));
}

static void gone(struct world *w, struct kar_store *s, const char *name)
{
	kar_store_delete(s, kar_store_type(s)->res.namespaced ? "ns" : NULL, name, name, ++w->rv);
}

/* @gpus: in its allocatable; "": none. */
static void node(struct world *w, const char *name, const char *gpus, bool cordoned)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"unschedulable\":%s},\"status\":{\"allocatable\":{\"cpu\":\"8\",\"pods\":\"99\"%s%s},"
		"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}",
		cordoned ? "true" : "false", gpus[0] ? ",\"a.b/gpu\":" : "", gpus);
	put(w, w->nodes, name, "", rest);
}

/* @resource "": it has none of its own. */
static void class(struct world *w, const char *name, const char *created, const char *resource,
	const char *selector)
{
	char meta[128], rest[1024];

	snprintf(meta, sizeof(meta), ",\"creationTimestamp\":\"2026-01-01T00:00:%sZ\"", created);
	snprintf(rest, sizeof(rest), ",\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"%s\"}}]%s%s%s}",
		selector, resource[0] ? ",\"extendedResourceName\":\"" : "", resource,
		resource[0] ? "\"" : "");
	put(w, w->classes, name, meta, rest);
}

/* A slice of a pool, by default of that of its node (@on "": of all nodes); @devices: a letter each: g a GPU, m a part of one, t a tainted GPU, c one that shares counters, l one whose type is a list, u one without a type. */
static void slice_of_pool(struct world *w, const char *name, const char *on, const char *pool, int generation,
	int slices, const char *devices)
{
	struct kar_buf b = { .cap = 8192 };

	kar_buf_printf(&b,
		",\"spec\":{\"driver\":\"d.io\",%s%s%s\"pool\":{\"name\":\"%s\",\"generation\":%d,\"resourceSliceCount\":%d},\"devices\":[",
		on[0] ? "\"nodeName\":\"" : "\"allNodes\":true", on, on[0] ? "\"," : ",", pool, generation,
		slices);
	for (int i = 0; devices[i]; i++)
		kar_buf_printf(&b, "%s{\"name\":\"%s-%d\",\"attributes\":{\"%s\":{%s}}%s}", i ? "," : "",
			name, i, devices[i] == 'u' ? "other" : "type",
			devices[i] == 'm'           ? "\"string\":\"mig\""
				: devices[i] == 'l' ? "\"strings\":[\"gpu\",\"new\"]"
						    : "\"string\":\"gpu\"",
			devices[i] == 't' ? ",\"taints\":[{\"key\":\"bad\",\"effect\":\"NoSchedule\"}]"
				: devices[i] == 'c' ? ",\"consumesCounters\":[{\"counterSet\":\"x\"}]"
						    : "");
	kar_buf_puts(&b, "]}");
	put(w, w->slices, name, "", kar_buf_cstr(&b));
	kar_buf_release(&b);
}

static void slice(struct world *w, const char *name, const char *on, int generation, int slices,
	const char *devices)
{
	slice_of_pool(w, name, on, on, generation, slices, devices);
}

/* Of device number @i of the slice @of on its node. */
static void claim(struct world *w, const char *name, const char *on, const char *of, int i, bool by_resource)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d.io\",\"pool\":\"%s\",\"device\":\"%s-%d\"}]}}}",
		on, of, i);
	put(w, w->claims, name,
		by_resource ? ",\"annotations\":{\"resource.kubernetes.io/extended-resource-claim\":\"true\"}"
			    : "",
		rest);
}

static int64_t in_capacity(const struct world *w, const char *resource)
{
	struct kar_arena a = { 0 };
	struct kar_sched_amount *all;
	uint32_t n = kar_capacity_offers(w->capacity, &a, &all);
	int64_t amount = 0;

	for (uint32_t i = 0; i < n; i++)
		amount += strcmp(all[i].resource, resource) == 0 ? all[i].amount : 0;
	kar_arena_release(&a);
	return amount;
}

static const char *doubt(const struct world *w, const char *resource)
{
	struct kar_sched *s = kar_snapshot_sched(w->snapshot);
	const struct kar_sched_amount one = { resource, 1 };
	kar_class c = kar_sched_class(s, &(struct kar_pod_needs){ .amounts = &one, .n_amounts = 1 });
	const char *why = kar_sched_unverified(s, c);

	kar_sched_class_put(s, c);
	return why ? why : "";
}

static void check(const struct world *w, const char *where, const char *on, const char *resource,
	int64_t of_node, int64_t of_all)
{
	int64_t there = kar_sched_node_free(kar_snapshot_sched(w->snapshot), on, resource),
		all = in_capacity(w, resource);

	if (there != of_node || all != of_all)
		fail_msg("%s: %s on %s: %lld, not %lld; in all %lld, not %lld", where, resource, on,
			(long long)there, (long long)of_node, (long long)all, (long long)of_all);
}

#define GPU "a.b/gpu"
#define IS_GPU "device.driver == 'd.io' && device.attributes['d.io'].type == 'gpu'"

static void devices_count_as_an_extended_resource(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	node(&w, "n1", "", false);
	node(&w, "n2", "", false);
	slice(&w, "s1", "n1", 1, 1, "ggm");
	check(&w, "no class", "n1", GPU, 0, 0);
	assert_null(kar_devices_class(w.devices, GPU));
	class(&w, "gpu", "01", GPU, IS_GPU);
	check(&w, "a class", "n1", GPU, 2, 2);
	check(&w, "nobody asks by its other name", "n1", KAR_DEVICECLASS_PREFIX "gpu", 0, 0);
	kar_devices_ask(w.devices, KAR_DEVICECLASS_PREFIX "gpu");
	check(&w, "its other name", "n1", KAR_DEVICECLASS_PREFIX "gpu", 2, 2);
	assert_string_equal(kar_devices_class(w.devices, GPU)->o.name, "gpu");
	assert_string_equal(doubt(&w, GPU), "");
	assert_string_not_equal(doubt(&w, KAR_DEVICECLASS_PREFIX "gpu"), "");
	slice(&w, "s2", "n2", 1, 1, "gggt");
	check(&w, "a tainted device", "n2", GPU, 3, 5);
	slice(&w, "s3", "n3", 1, 1, "g");
	check(&w, "of a node that is not known", "n3", GPU, 0, 5);
	node(&w, "n3", "", false);
	check(&w, "known now", "n3", GPU, 1, 6);
	node(&w, "n3", "", true);
	check(&w, "cordoned", "n3", GPU, 1, 5);
	gone(&w, w.nodes, "n3");
	check(&w, "gone", "n3", GPU, 0, 5);
	gone(&w, w.slices, "s2");
	check(&w, "the slice is gone", "n2", GPU, 0, 2);
	gone(&w, w.classes, "gpu");
	check(&w, "the class is gone", "n1", GPU, 0, 0);
	end(&w);
}

static void only_complete_pools_of_the_newest_generation_count(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	class(&w, "gpu", "01", GPU, IS_GPU);
	node(&w, "n1", "", false);
	slice(&w, "s1", "n1", 1, 2, "gg");
	check(&w, "half of a pool", "n1", GPU, 0, 0);
	slice(&w, "s2", "n1", 1, 2, "g");
	check(&w, "all of it", "n1", GPU, 3, 3);
	slice(&w, "s1", "n1", 2, 2, "gggg");
	check(&w, "half of a newer one", "n1", GPU, 0, 0);
	slice(&w, "s2", "n1", 2, 2, "");
	check(&w, "all of the newer one", "n1", GPU, 4, 4);
	slice(&w, "s3", "n1", 1, 2, "gg");
	check(&w, "a rest of the old one", "n1", GPU, 4, 4);
	w.changes = 0;
	slice(&w, "s1", "n1", 2, 2, "gggg");
	assert_int_equal(w.changes, 0); /* written again, and nothing is new */
	end(&w);
}

static void a_device_has_one_owner(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	class(&w, "gpu", "01", GPU, IS_GPU);
	node(&w, "n1", "", false);
	claim(&w, "c1", "n1", "s1", 0, false);
	slice(&w, "s1", "n1", 1, 1, "ggg");
	check(&w, "a claim has one", "n1", GPU, 2, 3);
	claim(&w, "c2", "n1", "s1", 0, false);
	check(&w, "two claims share it", "n1", GPU, 2, 3);
	claim(&w, "c3", "n1", "s1", 1, true);
	check(&w, "of a pod that asks for the resource, which counts itself", "n1", GPU, 2, 3);
	gone(&w, w.claims, "c1");
	check(&w, "one of the two is gone", "n1", GPU, 2, 3);
	claim(&w, "c2", "n1", "s1", 2, false);
	check(&w, "the other has another device", "n1", GPU, 2, 3);
	gone(&w, w.claims, "c2");
	check(&w, "it is gone", "n1", GPU, 3, 3);
	end(&w);
}

static void a_node_offers_one_of_both(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	class(&w, "gpu", "01", GPU, IS_GPU);
	slice(&w, "s1", "n1", 1, 1, "ggg");
	node(&w, "n1", "8", false);
	node(&w, "n2", "8", false);
	check(&w, "it lists the resource itself", "n1", GPU, 8, 16);
	node(&w, "n1", "", false);
	check(&w, "no longer", "n1", GPU, 3, 11);
	node(&w, "n1", "4", false);
	check(&w, "again", "n1", GPU, 4, 12);
	node(&w, "n1", "0", false);
	check(&w, "its device plugin has gone", "n1", GPU, 3, 11);
	end(&w);
}

static void of_two_classes_the_younger_one_serves(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	node(&w, "n1", "", false);
	slice(&w, "s1", "n1", 1, 1, "ggmmm");
	class(&w, "b", "05", GPU, IS_GPU);
	class(&w, "a", "01", GPU, "device.attributes['d.io'].type == 'mig'");
	assert_string_equal(kar_devices_class(w.devices, GPU)->o.name, "b");
	check(&w, "the younger", "n1", GPU, 2, 2);
	class(&w, "a", "05", GPU, "device.attributes['d.io'].type == 'mig'");
	check(&w, "of one age: the first by name", "n1", GPU, 3, 3);
	end(&w);
}

static void what_is_not_exact_is_marked(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	node(&w, "n1", "", false);
	class(&w, "gpu", "01", GPU, "device.attributes.exists(d, true)");
	slice(&w, "s1", "n1", 1, 1, "gm");
	check(&w, "a selector that is not read", "n1", GPU, 2, 2);
	assert_string_equal(doubt(&w, GPU), "a selector of its DeviceClass");
	class(&w, "gpu", "01", GPU, IS_GPU);
	assert_string_equal(doubt(&w, GPU), "");
	slice(&w, "s1", "n1", 1, 1, "gl");
	check(&w, "an attribute that is not read", "n1", GPU, 2, 2);
	assert_string_equal(doubt(&w, GPU), "a selector of its DeviceClass");
	slice(&w, "s1", "n1", 1, 1, "gu");
	check(&w, "a selector that fails: kube-scheduler may give pods no device there", "n1", GPU, 1, 1);
	assert_string_equal(doubt(&w, GPU), "a selector of its DeviceClass");
	slice(&w, "s1", "n1", 1, 1, "gc");
	assert_string_equal(doubt(&w, GPU), "devices that share counters");
	slice(&w, "s1", "n1", 1, 1, "gg");
	assert_string_equal(doubt(&w, GPU), ""); /* the cause has gone */
	class(&w, "all", "01", "a.b/all", "true");
	slice(&w, "s1", "n1", 1, 1, "gm");
	assert_string_equal(doubt(&w, GPU), "devices of several DeviceClasses");
	class(&w, "all", "01", "", "true");
	assert_string_equal(doubt(&w, GPU), ""); /* nobody asks by its implicit name */
	kar_devices_ask(w.devices, KAR_DEVICECLASS_PREFIX "all");
	assert_string_equal(doubt(&w, GPU), "devices of several DeviceClasses");
	gone(&w, w.classes, "all");
	assert_string_equal(doubt(&w, GPU), "");
	end(&w);
}

static void devices_of_several_nodes_are_an_upper_bound(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	class(&w, "gpu", "01", GPU, IS_GPU);
	node(&w, "n1", "", false);
	node(&w, "n2", "", false);
	slice(&w, "net", "", 1, 1, "gggg");
	check(&w, "each may have all, and all have them once", "n1", GPU, 4, 4);
	check(&w, "each may have all, and all have them once", "n2", GPU, 4, 4);
	assert_string_equal(doubt(&w, GPU), "devices of several nodes");
	slice(&w, "s1", "n1", 1, 1, "gg");
	check(&w, "with its own", "n1", GPU, 6, 6);
	node(&w, "n2", "8", false);
	check(&w, "it lists the resource itself", "n2", GPU, 8, 14);
	node(&w, "n3", "", false);
	check(&w, "a new one", "n3", GPU, 4, 14);
	w.changes = 0;
	claim(&w, "c1", "", "net", 0, false);
	assert_int_equal(w.changes, 0);
	check(&w, "a claim has one of them: the bound stays", "n3", GPU, 4, 14);
	gone(&w, w.slices, "net");
	check(&w, "gone", "n3", GPU, 0, 10);
	check(&w, "gone", "n1", GPU, 2, 10);
	assert_string_equal(doubt(&w, GPU), "");
	end(&w);
}

static void a_class_that_is_written_again_changes_nothing(void **state KAR_UNUSED)
{
	struct world w;

	begin(&w);
	node(&w, "n1", "", false);
	slice(&w, "s1", "n1", 1, 1, "gg");
	class(&w, "gpu", "01", GPU, IS_GPU);
	w.changes = 0;
	class(&w, "gpu", "01", GPU, IS_GPU);
	assert_int_equal(w.changes, 0);
	slice(&w, "s1", "n1", 1, 1, "ggg");
	check(&w, "its newer object is used", "n1", GPU, 3, 3);
	end(&w);
}

/* A driver may have one pool with a slice of each node. Looking at each slice for each device of each node of the pool at each change takes minutes. */
static void a_pool_of_many_nodes_costs_its_changes(void **state KAR_UNUSED)
{
	enum { NODES = 2000 };
	struct world w;
	char name[16], of[16];

	begin(&w);
	class(&w, "gpu", "01", GPU, IS_GPU);
	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		snprintf(of, sizeof(of), "s%d", i);
		node(&w, name, "", false);
		slice_of_pool(&w, of, name, "all", 1, NODES, "gggggggg");
	}
	check(&w, "the pool is complete", "n0", GPU, 8, 8 * NODES);
	w.changes = 0;
	slice_of_pool(&w, "s7", "n7", "all", 1, NODES, "ggggggg");
	check(&w, "one device less", "n7", GPU, 7, 8 * NODES - 1);
	assert_int_equal(w.changes, 1);
	end(&w);
}

/* --- at random --------------------------------------------------------------------------------------- */

static uint64_t seed;

static int draw(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

enum { STEPS = 300 };

static void change(struct world *w)
{
	static const char *const nodes[] = { "n0", "n1", "n2" }, *const slices[] = { "s0", "s1", "s2", "s3" },
				 *const claims[] = { "c0", "c1", "c2" },
				 *const devices[] = { "", "g", "gg", "gmt", "ggggc" },
				 *const selectors[] = { IS_GPU, "true",
					 "device.attributes['d.io'].type == 'mig'", "nobody()" };
	const char *n = nodes[draw(3)], *s = slices[draw(4)], *c = claims[draw(3)], *on = draw(5) ? n : "";

	switch (draw(8)) {
	case 0:
		gone(w, w->nodes, n);
		break;
	case 1:
		node(w, n, draw(3) ? "" : "2", !draw(4));
		break;
	case 2:
	case 3:
		slice_of_pool(w, s, on, draw(3) ? on : "all", 1 + draw(2), 1 + draw(2), devices[draw(5)]);
		break;
	case 4:
		gone(w, w->slices, s);
		break;
	case 5:
		class(w, draw(2) ? "a" : "b", draw(2) ? "01" : "02", draw(3) ? GPU : "", selectors[draw(4)]);
		break;
	case 6:
		claim(w, c, draw(3) ? on : "all", s, draw(3), !draw(3));
		break;
	default:
		if (draw(2))
			gone(w, w->claims, c);
		else
			gone(w, w->classes, draw(2) ? "a" : "b");
	}
}

static void copy(struct world *to, struct kar_store *into, const struct kar_store *from)
{
	const struct kar_object *o;

	(void)to;
	for (struct kar_iter it = kar_store_all(from); kar_iter_next(&it, &o);)
		kar_store_apply(into, (struct kar_object *)(uintptr_t)kar_object_ref(o));
}

static void compare(const struct world *a, const struct world *b, const char *resource)
{
	if (kar_sched_offered(kar_snapshot_sched(a->snapshot), resource))
		assert_string_equal(doubt(a, resource), doubt(b, resource));
	for (int i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(kar_sched_node_free(kar_snapshot_sched(a->snapshot), name, resource),
			kar_sched_node_free(kar_snapshot_sched(b->snapshot), name, resource));
	}
	assert_int_equal(in_capacity(a, resource), in_capacity(b, resource));
}

static void changes_say_what_all_objects_say(void **state KAR_UNUSED)
{
	static const char *const resources[] = { GPU, KAR_DEVICECLASS_PREFIX "a",
		KAR_DEVICECLASS_PREFIX "b" };
	struct world w, anew;

	for (uint64_t first = 1; first <= 20; first++) {
		seed = first;
		begin(&w);
		for (int i = 0; i < STEPS; i++) {
			change(&w);
			if (i % 10)
				continue;
			begin(&anew);
			copy(&anew, anew.claims, w.claims);
			copy(&anew, anew.slices, w.slices);
			copy(&anew, anew.classes, w.classes);
			copy(&anew, anew.nodes, w.nodes);
			for (size_t k = 0; k < KAR_LEN(resources); k++) {
				kar_devices_ask(w.devices, resources[k]);
				kar_devices_ask(anew.devices, resources[k]);
			}
			for (size_t k = 0; k < KAR_LEN(resources); k++)
				compare(&w, &anew, resources[k]);
			end(&anew);
		}
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(devices_count_as_an_extended_resource),
		TEST(only_complete_pools_of_the_newest_generation_count),
		TEST(a_device_has_one_owner),
		TEST(a_node_offers_one_of_both),
		TEST(of_two_classes_the_younger_one_serves),
		TEST(what_is_not_exact_is_marked),
		TEST(devices_of_several_nodes_are_an_upper_bound),
		TEST(a_class_that_is_written_again_changes_nothing),
		TEST(a_pool_of_many_nodes_costs_its_changes),
		TEST(changes_say_what_all_objects_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
