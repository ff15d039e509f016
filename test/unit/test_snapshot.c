/*
 * The placement engine says after each change of nodes and pods what it says when it is told of all of them anew, and so does the count of
 * what usable nodes offer and what counts against that (controllers/cluster/capacity.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/names.h"
#include "api/pod/pod_needs.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "controllers/cluster/capacity.h"
#include "controllers/cluster/snapshot.h"
#include "test/fixture/needs_text.h"
#include "test/fixture/projection.h"

enum { NODES = 6, PODS = 40, TEMPLATES = 6, ROOM = 1024 };

/* What a pod of each template needs of a node. */
static const char *const templates[TEMPLATES] = {
	"\"containers\":[{\"name\":\"c\"}]",
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":#}}}]",
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":7}}}]",
	"\"containers\":[{\"name\":\"c\",\"ports\":[{\"hostPort\":80}]}]",
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"a.b/gpu\":1,\"cpu\":#}}}],\"nodeSelector\":{\"zone\":\"1\"}",
	"\"containers\":[{\"name\":\"c\"}],\"tolerations\":[{\"operator\":\"Exists\"}]",
};

/* Of which the second and the third make a node unusable for jobs. */
static const char *const taints[] = { "", "{\"key\":\"t\",\"effect\":\"NoSchedule\"}",
	"{\"key\":\"node.kubernetes.io/unreachable\",\"effect\":\"NoExecute\"}",
	"{\"key\":\"node-role.kubernetes.io/control-plane\",\"effect\":\"NoSchedule\"}",
	"{\"key\":\"node-role.kubernetes.io/web\",\"effect\":\"PreferNoSchedule\"}" };
static const char *const gates[] = { "", "{\"name\":\"" KAR_GATE "\"}", "{\"name\":\"other\"}" };

struct node {
	bool exists, cordoned, ready;
	int uid, cpu, zone, taint;
};

struct pod {
	bool exists, deleting;
	int uid, template, cpu, node, nominated; /* nodes; -1: none */
	int gate;
	const char *phase;
};

struct world {
	struct kar_store *nodes, *pods;
	struct kar_snapshot *snapshot;
	struct kar_capacity *capacity;
	struct node node[NODES];
	struct pod pod[PODS];
	int versions, uids;
};

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	kar_capacity_node(arg, old ? kar_as_node(old) : NULL, new ? kar_as_node(new) : NULL);
}

static void on_pod(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	kar_capacity_pod(arg, old ? kar_as_pod(old) : NULL, new ? kar_as_pod(new) : NULL);
}

static void begin(struct world *w)
{
	*w = (struct world){ .nodes = kar_store_new(&kar_node_type, strings),
		.pods = kar_store_new(&kar_pod_type, strings),
		.snapshot = kar_snapshot_new(strings),
		.capacity = kar_capacity_new(strings) };
	kar_snapshot_listen(w->snapshot, w->nodes, w->pods);
	kar_store_listen(w->nodes, on_node, w->capacity);
	kar_store_listen(w->pods, on_pod, w->capacity);
}

static void end(struct world *w)
{
	kar_snapshot_free(w->snapshot);
	kar_capacity_free(w->capacity);
	kar_store_free(w->nodes);
	kar_store_free(w->pods);
}

static struct kar_object *node_object(struct world *w, int i)
{
	const struct node *n = &w->node[i];
	char json[ROOM];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"n%d\",\"uid\":\"n%d\",\"resourceVersion\":\"%d\",\"labels\":{\"zone\":\"%d\"}},"
		"\"spec\":{\"unschedulable\":%s,\"taints\":[%s]},"
		"\"status\":{\"allocatable\":{\"cpu\":%d,\"memory\":64,\"a.b/gpu\":2,\"pods\":10},"
		"\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
		i, n->uid, ++w->versions, n->zone, n->cordoned ? "true" : "false", taints[n->taint], n->cpu,
		n->ready ? "True" : "False");
	return object_of(&kar_node_type, json);
}

/* The spec of the template, whose "#" is @cpu. */
static void put_template(struct kar_buf *b, int template, int cpu)
{
	for (const char *p = templates[template]; *p; p++) {
		if (*p == '#')
			kar_buf_printf(b, "%d", cpu);
		else
			kar_buf_append(b, p, 1);
	}
}

/* What is freed for the others by the scheduler is no room that they take (expected.h). */
static bool in_gang(int i)
{
	return i % 2 == 0;
}

static struct kar_object *pod_object(struct world *w, int i)
{
	const struct pod *p = &w->pod[i];
	struct kar_buf json = { 0 };
	struct kar_object *o;

	kar_buf_printf(&json,
		"{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"ns\",\"uid\":\"p%d\",\"resourceVersion\":\"%d\"%s%s},\"spec\":{",
		i, p->uid, ++w->versions, in_gang(i) ? ",\"labels\":{\"" KAR_LABEL_POD_GROUP "\":\"g\"}" : "",
		p->deleting ? ",\"deletionTimestamp\":\"2026-11-21T10:05:00Z\"" : "");
	if (p->node >= 0)
		kar_buf_printf(&json, "\"nodeName\":\"n%d\",", p->node);
	put_template(&json, p->template, p->cpu);
	kar_buf_printf(&json, ",\"schedulingGates\":[%s]", gates[p->gate]);
	kar_buf_printf(&json, "},\"status\":{\"phase\":\"%s\"", p->phase);
	if (p->nominated >= 0)
		kar_buf_printf(&json, ",\"nominatedNodeName\":\"n%d\"", p->nominated);
	kar_buf_puts(&json, "}}");
	o = object_of(&kar_pod_type, json.p);
	kar_buf_release(&json);
	return o;
}

/* The caches hear of the node or pod as it is now. */
static void tell_node(struct world *w, int i)
{
	char name[16];

	snprintf(name, sizeof(name), "n%d", i);
	if (w->node[i].exists)
		kar_store_apply(w->nodes, node_object(w, i));
	else if (kar_store_get(w->nodes, NULL, name))
		kar_store_delete(w->nodes, NULL, name, kar_store_get(w->nodes, NULL, name)->uid,
			(kar_rv)++w->versions);
}

static void tell_pod(struct world *w, int i)
{
	char name[16];

	snprintf(name, sizeof(name), "p%d", i);
	if (w->pod[i].exists)
		kar_store_apply(w->pods, pod_object(w, i));
	else if (kar_store_get(w->pods, "ns", name))
		kar_store_delete(w->pods, "ns", name, kar_store_get(w->pods, "ns", name)->uid,
			(kar_rv)++w->versions);
}

/* --- what the engine says -------------------------------------------------------------------------- */

static int64_t copies(const struct kar_snapshot *s, const struct kar_pod_needs *needs)
{
	struct kar_sched *sched = kar_snapshot_sched(s);
	kar_class c = kar_sched_class(sched, needs);
	int64_t n = kar_sched_copies(sched, c);

	kar_sched_class_put(sched, c);
	return n;
}

/* What is free of one resource on one node. */
static int64_t free_of(const struct kar_snapshot *s, const char *node, const char *resource)
{
	const struct kar_sched_amount one = { resource, 1 };

	return copies(s,
		&(struct kar_pod_needs){ .amounts = &one, .n_amounts = 1, .room_only = true, .node = node });
}

static bool port_is_free(const struct kar_snapshot *s, const char *node)
{
	const struct kar_host_port port = { "10.0.0.1", "TCP", 80 };

	return copies(s, &(struct kar_pod_needs){ .ports = &port, .n_ports = 1, .node = node }) > 0;
}

static void describe(struct kar_snapshot *s, struct kar_buf *out)
{
	static const char *const resources[] = { "cpu", "memory", "a.b/gpu", "pods" };
	struct kar_arena a = { 0 };

	for (int i = 0; i < NODES; i++) {
		char node[16];

		snprintf(node, sizeof(node), "n%d", i);
		kar_buf_printf(out, "%s", node);
		for (size_t r = 0; r < KAR_LEN(resources); r++)
			kar_buf_printf(out, " %jd", (intmax_t)free_of(s, node, resources[r]));
		kar_buf_puts(out, port_is_free(s, node) ? "; " : " port; ");
	}
	for (int i = 0; i < TEMPLATES; i++) {
		struct kar_buf json = { 0 };
		const struct kar_pod_needs *needs;

		kar_buf_puts(&json, "{\"spec\":{");
		put_template(&json, i, 1);
		kar_buf_puts(&json, "}}");
		needs = kar_template_needs((struct kar_str){ json.p, json.n }, &a, NULL, NULL);
		assert_non_null(needs);
		kar_buf_printf(out, "%d of template %d; ",
			(int)kar_sched_copies(kar_snapshot_sched(s), kar_snapshot_class_of(s, needs)), i);
		kar_buf_release(&json);
	}
	kar_arena_release(&a);
}

/* A snapshot that is told of what the caches have now. */
static struct kar_snapshot *recount(const struct world *w)
{
	struct kar_snapshot *s = kar_snapshot_new(strings);
	const struct kar_object *o;
	struct kar_iter it;

	for (it = kar_store_all(w->pods); kar_iter_next(&it, &o);)
		kar_snapshot_pod(s, NULL, kar_as_pod(o));
	for (it = kar_store_all(w->nodes); kar_iter_next(&it, &o);)
		kar_snapshot_node(s, NULL, kar_as_node(o));
	return s;
}

/* --- what the capacity says ------------------------------------------------------------------------- */

struct kind {
	const struct kar_pod_needs *needs;
	int64_t on_nodes;
};

struct kinds {
	struct kind all[PODS];
	size_t n;
};

static void note_kind(void *arg, const struct kar_pod_needs *needs, int64_t on_nodes)
{
	struct kinds *k = arg;
	size_t i = 0;

	while (i < k->n && k->all[i].needs != needs)
		i++;
	if (i == k->n)
		k->all[k->n++] = (struct kind){ .needs = needs };
	k->all[i].on_nodes += on_nodes;
}

/* By the words of docs/design/queue.md, 3. */
static bool is_usable(const struct world *w, int i)
{
	const struct node *n = &w->node[i];

	return n->exists && n->ready && !n->cordoned && n->taint != 2 && n->taint != 3;
}

static int64_t offered(const struct world *w, const char *resource)
{
	int64_t sum = 0;

	for (int i = 0; i < NODES; i++) {
		if (is_usable(w, i))
			sum += kar_streq(resource, "cpu")       ? 1000 * w->node[i].cpu
				: kar_streq(resource, "memory") ? 64
				: kar_streq(resource, "pods")   ? 10
								: 2;
	}
	return sum;
}

static enum kar_capacity_use use_of(const struct world *w, int i)
{
	const struct pod *p = &w->pod[i];
	int room = p->node >= 0 || !in_gang(i) ? p->node : p->nominated;

	if (!p->exists || kar_streq(p->phase, "Succeeded") || kar_streq(p->phase, "Failed"))
		return KAR_CAPACITY_NOWHERE;
	return room >= 0 && is_usable(w, room) ? KAR_CAPACITY_ON_NODE : KAR_CAPACITY_NOWHERE;
}

static void count_anew(const struct world *w, struct kinds *want)
{
	for (int i = 0; i < PODS; i++) {
		const struct kar_object *o;
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		o = kar_store_get(w->pods, "ns", name);
		if (!o)
			continue;
		assert_int_equal(kar_capacity_use(w->capacity, kar_as_pod(o)), use_of(w, i));
		if (use_of(w, i) != KAR_CAPACITY_NOWHERE)
			note_kind(want, kar_as_pod(o)->needs, 1);
	}
}

static void compare_capacity(const struct world *w, unsigned seed, int step)
{
	struct kar_sched_amount *offers;
	struct kar_arena a = { 0 };
	struct kinds want = { 0 }, got = { 0 };
	uint32_t n = kar_capacity_offers(w->capacity, &a, &offers);

	for (uint32_t i = 0; i < n; i++) {
		if (offers[i].amount != offered(w, offers[i].resource))
			fail_msg("KAR_SEED=%u, step %d: %s is %jd", seed, step, offers[i].resource,
				(intmax_t)offers[i].amount);
	}
	assert_int_equal(n, offered(w, "pods") ? 4 : 0);
	count_anew(w, &want);
	kar_capacity_each(w->capacity, note_kind, &got);
	if (got.n != want.n)
		fail_msg("KAR_SEED=%u, step %d: %zu kinds, not %zu", seed, step, got.n, want.n);
	for (size_t i = 0; i < got.n; i++)
		note_kind(&want, got.all[i].needs, -got.all[i].on_nodes);
	for (size_t i = 0; i < want.n; i++) {
		if (want.all[i].on_nodes)
			fail_msg("KAR_SEED=%u, step %d: %jd too few of %s", seed, step,
				(intmax_t)want.all[i].on_nodes, needs_text(want.all[i].needs, &a));
	}
	kar_arena_release(&a);
}

static void compare(const struct world *w, unsigned seed, int step)
{
	struct kar_snapshot *anew = recount(w);
	struct kar_buf got = { 0 }, want = { 0 };

	describe(w->snapshot, &got);
	describe(anew, &want);
	if (strcmp(got.p, want.p) != 0)
		fail_msg("KAR_SEED=%u, step %d:\n  kept   %s\n  anew   %s", seed, step, got.p, want.p);
	kar_buf_release(&got);
	kar_buf_release(&want);
	kar_snapshot_free(anew);
	compare_capacity(w, seed, step);
}

/* --- chance ---------------------------------------------------------------------------------------- */

static int chance(int n)
{
	return rand() % n;
}

static void change_node(struct world *w, int i)
{
	struct node *n = &w->node[i];

	switch (n->exists ? chance(8) : 0) {
	case 0: /* new, or made anew under its name */
		*n = (struct node){ .exists = true, .ready = true, .uid = ++w->uids, .cpu = 4, .zone = 1 };
		break;
	case 1:
		n->exists = false;
		break;
	case 2:
		n->cpu = 2 + chance(4);
		break;
	case 3:
		n->zone = chance(2);
		break;
	case 4:
		n->cordoned = !n->cordoned;
		break;
	case 5:
		n->ready = !n->ready;
		break;
	case 6:
		n->taint = chance((int)KAR_LEN(taints));
		break;
	default: /* a heartbeat */
		break;
	}
}

static void change_pod(struct world *w, int i)
{
	struct pod *p = &w->pod[i];

	switch (p->exists ? chance(10) : 0) {
	case 0: /* new, or made anew under its name */
		*p = (struct pod){ .exists = true,
			.uid = ++w->uids,
			.template = chance(TEMPLATES),
			.cpu = 1 + chance(2),
			.node = chance(3) ? -1 : chance(NODES),
			.nominated = -1,
			.gate = chance(2) * chance(3),
			.phase = "Pending" };
		break;
	case 1:
	case 2:
		p->node = p->node < 0 ? chance(NODES) : p->node;
		break;
	case 3:
		p->phase = "Running";
		break;
	case 4:
		p->phase = chance(2) ? "Succeeded" : "Failed";
		break;
	case 5:
		p->deleting = true;
		break;
	case 6:
		p->cpu = 1 + chance(3);
		break;
	case 7: /* the scheduler evicts others for it, or changes its mind; once it is bound that counts no more */
		p->nominated = chance(3) ? chance(NODES) : -1;
		break;
	case 8:
		p->gate = 0;
		break;
	default:
		p->exists = false;
		break;
	}
}

/* A watch that has missed some changes: the list says how things are. */
static void list_anew(struct world *w)
{
	for (int i = 0; i < 10; i++) {
		change_pod(w, chance(PODS));
		change_node(w, chance(NODES));
	}
	kar_store_replace_begin(w->nodes);
	for (int i = 0; i < NODES; i++) {
		if (w->node[i].exists)
			kar_store_replace_add(w->nodes, node_object(w, i));
	}
	kar_store_replace_commit(w->nodes, (kar_rv)++w->versions);
	kar_store_replace_begin(w->pods);
	for (int i = 0; i < PODS; i++) {
		if (w->pod[i].exists)
			kar_store_replace_add(w->pods, pod_object(w, i));
	}
	kar_store_replace_commit(w->pods, (kar_rv)++w->versions);
}

static void step(struct world *w)
{
	int i;

	if (!chance(50)) {
		list_anew(w);
	} else if (!chance(4)) {
		i = chance(NODES);
		change_node(w, i);
		tell_node(w, i);
	} else {
		i = chance(PODS);
		change_pod(w, i);
		tell_pod(w, i);
	}
}

static void counts_are_those_of_a_recount(void **state KAR_UNUSED)
{
	const char *given = getenv("KAR_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : 20261125;

	for (int round = 0; round < 10; round++, seed++) {
		struct world w;

		srand(seed);
		begin(&w);
		for (int i = 0; i < 400; i++) {
			step(&w);
			if (i % 5 == 0)
				compare(&w, seed, i);
		}
		compare(&w, seed, -1);
		end(&w);
	}
}

/* --- one by one ------------------------------------------------------------------------------------ */

/*
 * Events of node n0 and pod p0 (of 1 cpu): N the node is there with 4 cpu, n it is gone; W the pod waits, P it is nominated, p no longer, B it is bound, R runs, D is being deleted,
 * S has succeeded, 3 has 3 cpu, g is gone.
 */
static void play(struct world *w, const char *events)
{
	struct node *n = &w->node[0];
	struct pod *p = &w->pod[0];

	for (; *events; events++) {
		switch (*events) {
		case 'N':
			*n = (struct node){ .exists = true, .ready = true, .uid = 1, .cpu = 4 };
			break;
		case 'n':
			n->exists = false;
			break;
		case 'W':
			*p = (struct pod){ .exists = true,
				.uid = 1,
				.template = 1,
				.cpu = 1,
				.node = -1,
				.nominated = -1,
				.phase = "Pending" };
			break;
		case 'P':
			p->nominated = 0;
			break;
		case 'p':
			p->nominated = -1;
			break;
		case 'B':
			p->node = 0;
			break;
		case 'R':
			p->phase = "Running";
			break;
		case 'D':
			p->deleting = true;
			break;
		case 'S':
			p->phase = "Succeeded";
			break;
		case '3':
			p->cpu = 3;
			break;
		default:
			p->exists = false;
			break;
		}
		if (*events == 'N' || *events == 'n')
			tell_node(w, 0);
		else
			tell_pod(w, 0);
	}
}

static void bound_pods_take_room_until_they_end(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *events;
		int cpu, pods; /* free on n0 */
	} rows[] = {
		{ "empty", "N", 4000, 10 },
		{ "waiting_pod_takes_nothing", "NW", 4000, 10 },
		{ "bound_pod_takes_room", "NWB", 3000, 9 },
		{ "freed_for_it_by_the_scheduler", "NWP", 3000, 9 },
		{ "no_longer_freed_for_it", "NWPp", 4000, 10 },
		{ "freed_for_it_and_bound", "NWPB", 3000, 9 },
		{ "freed_for_it_and_gone", "NWPg", 4000, 10 },
		{ "running", "NWBR", 3000, 9 },
		{ "terminating_pod_takes_room_until_it_is_gone", "NWBD", 3000, 9 },
		{ "gone", "NWBDg", 4000, 10 },
		{ "ended", "NWBRS", 4000, 10 },
		{ "ended_pod_that_goes", "NWBRSg", 4000, 10 },
		{ "resized", "NWBR3", 1000, 9 },
		{ "pod_before_its_node", "WBN", 3000, 9 },
		{ "node_gone", "NWBn", 0, 0 },
		{ "node_is_back", "NWBnN", 3000, 9 },
		{ "pod_goes_with_the_node", "NWBngN", 4000, 10 },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct world w;
		int64_t cpu, pods;

		begin(&w);
		play(&w, rows[i].events);
		cpu = free_of(w.snapshot, "n0", "cpu");
		pods = free_of(w.snapshot, "n0", "pods");
		if (cpu != rows[i].cpu || pods != rows[i].pods)
			fail_msg("%s: %jd cpu and %jd pods are free", rows[i].name, (intmax_t)cpu,
				(intmax_t)pods);
		end(&w);
	}
}

/* Sums of which the next would be no number any more come back exactly. */
static void offers_beyond_all_numbers(void **state KAR_UNUSED)
{
	enum { BIG = 1100 };
	static const char node[] =
		"{\"metadata\":{\"name\":\"n%d\",\"uid\":\"u\",\"resourceVersion\":\"1\"},"
		"\"status\":{\"allocatable\":{\"memory\":\"%s\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";
	struct kar_capacity *c = kar_capacity_new(strings);
	struct kar_object *nodes[BIG + 1];
	struct kar_sched_amount *offers;
	struct kar_arena a = { 0 };
	char json[ROOM];

	for (int i = 0; i <= BIG; i++) {
		snprintf(json, sizeof(json), node, i, i < BIG ? "7Ei" : "3");
		nodes[i] = object_of(&kar_node_type, json);
		kar_capacity_node(c, NULL, kar_as_node(nodes[i]));
	}
	assert_int_equal(kar_capacity_offers(c, &a, &offers), 1);
	assert_true(offers[0].amount == INT64_MAX);
	for (int i = 0; i < BIG; i++)
		kar_capacity_node(c, kar_as_node(nodes[i]), NULL);
	assert_int_equal(kar_capacity_offers(c, &a, &offers), 1);
	assert_int_equal(offers[0].amount, 3);
	kar_capacity_free(c);
	for (int i = 0; i <= BIG; i++)
		kar_object_unref(nodes[i]);
	kar_arena_release(&a);
}

/* The engine looks at no node for changes of a node or pod that change nothing for it. */
static void change_of_nothing_costs_nothing(void **state KAR_UNUSED)
{
	struct world w;
	kar_class c;
	uint64_t before;

	begin(&w);
	play(&w, "NWB");
	c = kar_snapshot_class_of(w.snapshot, NEEDS_OF("cpu", 500));
	assert_int_equal(kar_sched_copies(kar_snapshot_sched(w.snapshot), c), 6);
	before = kar_sched_touched(kar_snapshot_sched(w.snapshot));
	play(&w, "NRDN");
	assert_int_equal(kar_sched_touched(kar_snapshot_sched(w.snapshot)), before);
	play(&w, "S");
	assert_true(kar_sched_touched(kar_snapshot_sched(w.snapshot)) > before);
	assert_int_equal(kar_sched_copies(kar_snapshot_sched(w.snapshot), c), 8);
	end(&w);
}

/* Needs of templates that are asked about are remembered, but not without end. */
static void needs_that_nobody_has_are_forgotten(void **state KAR_UNUSED)
{
	enum { ASKED = 1000, MOST = 300 };
	struct world w;
	kar_class c;

	begin(&w);
	play(&w, "W");
	c = kar_snapshot_class_of(w.snapshot, NEEDS_OF("cpu", 1000));
	for (int i = 0; i < ASKED; i++) {
		kar_snapshot_class_of(w.snapshot, NEEDS_OF("memory", i + 1));
		assert_true(kar_snapshot_needs(w.snapshot) <= (size_t)i + 2);
	}
	play(&w, "B");
	assert_true(kar_snapshot_needs(w.snapshot) < MOST);
	assert_int_equal(kar_snapshot_class_of(w.snapshot, NEEDS_OF("cpu", 1000)), c);
	/* The engine has forgotten them too: it uses their numbers again. */
	assert_in_range(kar_snapshot_class_of(w.snapshot, NEEDS_OF("cpu", 7)), 1, MOST);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bound_pods_take_room_until_they_end),
		TEST(counts_are_those_of_a_recount),
		TEST(offers_beyond_all_numbers),
		TEST(change_of_nothing_costs_nothing),
		TEST(needs_that_nobody_has_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
