/*
 * devices_cost - what devices of DRA cost: one JSON line for each number of nodes, which have eight devices each. Usage: devices_cost NODES...
 *
 * Objects are read from JSON before the time is taken. The attributes are those of a driver for GPUs, in the order in which the API server
 * serves them.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/codec/json.h"
#include "controllers/cluster/stores.h"

enum { EACH = 8 };

#define DRIVER "gpu.example.com"
#define OF_TYPE(type) "device.driver == '" DRIVER "' && device.attributes['" DRIVER "'].type == '" type "'"

static struct kar_intern *strings;
static unsigned long long version;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t allocated(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Its JSON is @rest after the metadata. */
static struct kar_object *object(const struct kar_type *type, const char *name, const char *rest)
{
	struct kar_arena a = { 0 };
	struct kar_buf json = { .cap = 1 << 20 };
	void *wire = kar_arena_alloc(&a, 1, type->wire->size);
	struct kar_err err = { 0 };
	struct kar_object *o;

	kar_buf_printf(&json,
		"{\"metadata\":{\"name\":\"%s\",%s\"uid\":\"%s\",\"resourceVersion\":\"%llu\"},%s}", name,
		type->res.namespaced ? "\"namespace\":\"ns\"," : "", name, ++version, rest);
	if (kar_json_decode(&a, type->wire, NULL, json.p, json.n, wire, &err))
		abort();
	o = type->project(wire, strings);
	kar_buf_release(&json);
	kar_arena_release(&a);
	return o;
}

static struct kar_object *node(uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "n%" PRIu32, i);
	return object(&kar_node_type, name,
		"\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":\"512Gi\",\"pods\":\"110\"},"
		"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
}

static struct kar_object *class(const char *name, const char *selector)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		"\"spec\":{\"extendedResourceName\":\"example.com/%s\",\"selectors\":[{\"cel\":{\"expression\":\"%s\"}}]}",
		name, selector);
	return object(&kar_deviceclass_type, name, rest);
}

static struct kar_object *slice(uint32_t i, int devices)
{
	struct kar_buf b = { .cap = 1 << 20 };
	struct kar_object *o;
	char name[16];

	snprintf(name, sizeof(name), "s%" PRIu32, i);
	kar_buf_printf(&b,
		"\"spec\":{\"driver\":\"" DRIVER "\",\"nodeName\":\"n%" PRIu32
		"\",\"pool\":{\"name\":\"n%" PRIu32
		"\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[",
		i, i);
	for (int k = 0; k < devices; k++)
		kar_buf_printf(&b,
			"%s{\"name\":\"gpu-%d\",\"attributes\":{\"architecture\":{\"string\":\"Hopper\"},\"brand\":{\"string\":\"Nvidia\"},"
			"\"cudaComputeCapability\":{\"version\":\"9.0.0\"},\"cudaDriverVersion\":{\"version\":\"12.8.0\"},"
			"\"driverVersion\":{\"version\":\"570.86.15\"},\"productName\":{\"string\":\"NVIDIA H100 80GB HBM3\"},"
			"\"resource.kubernetes.io/pcieRoot\":{\"string\":\"pci0000:%02d\"},\"type\":{\"string\":\"gpu\"},"
			"\"uuid\":{\"string\":\"GPU-%08" PRIx32
			"-%04d-4a5b-8c6d-0123456789ab\"}},\"capacity\":{\"memory\":{\"value\":\"81559Mi\"}}}",
			k ? "," : "", k, k, i, k);
	kar_buf_puts(&b, "]}");
	o = object(&kar_resourceslice_type, name, kar_buf_cstr(&b));
	kar_buf_release(&b);
	return o;
}

static double apply(struct kar_store *s, struct kar_object **objects, uint32_t n)
{
	double begin = now();

	for (uint32_t i = 0; i < n; i++)
		kar_store_apply(s, objects[i]);
	return now() - begin;
}

static void measure(uint32_t n)
{
	struct kar_stores s = { 0 };
	struct kar_object **objects = calloc(n, sizeof(struct kar_object *)), *one;
	size_t before;
	double first, event;

	if (!objects)
		abort();
	strings = kar_intern_new();
	kar_stores_init(&s, strings);
	for (uint32_t i = 0; i < n; i++)
		kar_store_apply(s.nodes, node(i));
	before = allocated();
	for (uint32_t i = 0; i < n; i++)
		objects[i] = slice(i, EACH);
	apply(s.resourceslices, objects, n);
	printf("{\"bench\": \"devices\", \"nodes\": %" PRIu32 ", \"devices\": %" PRIu32
	       ", \"bytes_per_device\": %zu",
		n, n * EACH, (allocated() - before) / n / EACH);
	one = class("gpu", OF_TYPE("gpu"));
	first = apply(s.deviceclasses, &one, 1);
	for (uint32_t i = 0; i < n; i++)
		objects[i] = slice(i, EACH - 1);
	event = apply(s.resourceslices, objects, n);
	one = class("mig", OF_TYPE("mig"));
	printf(", \"class_ms\": %.1f, \"slice_event_us\": %.2f, \"class_of_no_device_ms\": %.1f}\n",
		1e3 * first, 1e6 * event / n, 1e3 * apply(s.deviceclasses, &one, 1));
	kar_stores_release(&s);
	kar_intern_free(strings);
	free(objects);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		measure((uint32_t)strtoul(argv[i], NULL, 10));
	return argc < 2;
}
