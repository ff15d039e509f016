/*
 * The answer to a question, on random small clusters: the same job is submitted to the same cluster, and what becomes of it is what was
 * answered. FitsNow: it is admitted; all else: it is not, for the reason that was given.
 *
 * KAR_SEED=N runs that cluster alone and prints it, KAR_CASES=N more of them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

enum { CASES = 500 };

#define ASKS ",\"annotations\":{\"kube-arbitrator.io/what-if\":\"true\"}"
#define OWNED_BY \
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]"

static struct kar_buf words; /* the cluster, for people */

/* --- a cluster -------------------------------------------------------------------------------------- */

static uint64_t state_of_draws;

/* Near seeds give different numbers (the finaliser of splitmix64). */
static void begin_draws(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ULL;
	seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebULL;
	state_of_draws = (seed ^ (seed >> 31)) | 1;
}

static uint32_t below(uint32_t n)
{
	state_of_draws ^= state_of_draws >> 12;
	state_of_draws ^= state_of_draws << 25;
	state_of_draws ^= state_of_draws >> 27;
	return (uint32_t)(((state_of_draws * 0x2545f4914f6cdd1dULL) >> 33) % n);
}

static bool one_in(uint32_t n)
{
	return !below(n);
}

static uint32_t between(uint32_t least, uint32_t most)
{
	return least + below(most - least + 1);
}

static void draw_queue(const char *name)
{
	struct kar_buf spec = { 0 };

	kar_buf_printf(&spec, "\"weight\":%u", between(1, 3));
	if (one_in(3))
		kar_buf_puts(&spec, ",\"preemptionPolicy\":\"LowerPriority\"");
	if (one_in(4))
		kar_buf_puts(&spec, ",\"queueingStrategy\":\"StrictFIFO\"");
	if (one_in(5))
		kar_buf_printf(&spec, ",\"maxJobs\":%u", between(1, 4));
	if (one_in(3))
		kar_buf_printf(&spec, ",\"deserved\":{\"cpu\":%u}", between(2, 12));
	if (one_in(6))
		kar_buf_printf(&spec, ",\"capability\":{\"cpu\":%u}", between(12, 16));
	if (one_in(6))
		kar_buf_printf(&spec, ",\"perNamespace\":{\"capability\":{\"cpu\":%u}}", between(4, 12));
	kar_buf_printf(&words, "queue %s %s\n", name, kar_buf_cstr(&spec));
	put_queue(name, kar_buf_cstr(&spec));
	kar_buf_release(&spec);
}

static uint32_t draw_nodes(uint32_t *free_cpus)
{
	uint32_t n = between(1, 4);

	for (uint32_t i = 0; i < n; i++) {
		bool cordoned = i && one_in(6);
		char name[8], cpu[8];

		free_cpus[i] = between(4, 10);
		snprintf(name, sizeof(name), "n%u", i + 1);
		snprintf(cpu, sizeof(cpu), "%u", free_cpus[i]);
		put_node(name, cpu, cordoned ? "\"unschedulable\":true" : "");
		kar_buf_printf(&words, "node %s %s%s\n", name, cpu, cordoned ? " cordoned" : "");
	}
	return n;
}

struct job {
	char name[8];
	const char *queue;
	uint32_t pods, min, cpu, priority, deadline;
};

static const char *draw_name_of_queue(void)
{
	static const char *const names[] = { "default", "a", "b" };

	return names[below(KAR_LEN(names))];
}

static struct job draw_job(const char *prefix, uint32_t i)
{
	struct job j = { .queue = draw_name_of_queue(), .pods = between(1, 4), .cpu = between(1, 5) };

	snprintf(j.name, sizeof(j.name), "%s%u", prefix, i);
	j.min = one_in(3) ? between(1, j.pods) : j.pods;
	j.priority = below(4);
	j.deadline = one_in(3) ? between(60, 4000) : 0;
	return j;
}

static void put_drawn_job(const struct job *j, bool asks, const char *status)
{
	char rest[1024], deadline[64] = "";

	if (j->deadline)
		snprintf(deadline, sizeof(deadline), "\"activeDeadlineSeconds\":%u,", j->deadline);
	snprintf(rest, sizeof(rest),
		",\"spec\":{%s%s\"queue\":\"%s\",\"priority\":%u,\"schedSpec\":{\"minAvailable\":%u},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%u,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%u\"}}}]}}}]},\"status\":{%s}",
		asks ? "\"suspend\":true," : "", deadline, j->queue, j->priority, j->min, j->pods, j->cpu,
		status);
	put_named(w.stores.queuejobs, j->name, asks ? ASKS : "", rest);
	kar_buf_printf(&words, "job %s%s queue=%s pods=%u/%u cpu=%u priority=%u deadline=%u\n", j->name,
		*status ? " runs" : "", j->queue, j->min, j->pods, j->cpu, j->priority, j->deadline);
}

static void put_drawn_group(const struct job *j, const char *status)
{
	char rest[1024], owner[256];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"priority\":%u,\"queue\":\"%s\"},\"status\":{%s%s}",
		j->priority, j->queue, status, usual_conditions(status));
	snprintf(owner, sizeof(owner), OWNED_BY, j->name, j->name);
	put_named(w.stores.podgroups, j->name, owner, rest);
}

static void put_pod(const struct job *j, uint32_t i, uint32_t node)
{
	char name[24], meta[512], rest[512];

	snprintf(name, sizeof(name), "%s-t-%u", j->name, i);
	snprintf(meta, sizeof(meta),
		",\"labels\":{\"kube-arbitrator.io/queuejob\":\"%s\",\"kube-arbitrator.io/task\":\"t\",\"kube-arbitrator.io/index\":\"%u\","
		"\"scheduling.x-k8s.io/pod-group\":\"%s\"}" OWNED_BY,
		j->name, i, j->name, j->name, j->name);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"n%u\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%u\"}}}]},"
		"\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]}",
		node + 1, j->cpu);
	put_named(w.stores.pods, name, meta, rest);
}

/* As many pods as find room run, if these are the minimum. */
static void draw_running(uint32_t number, uint32_t *free_cpus, uint32_t n_nodes)
{
	struct job j = draw_job("r", number);
	uint32_t place[4], n = 0;
	char status[512];

	for (uint32_t node = 0; node < n_nodes; node++) {
		while (n < j.pods && free_cpus[node] >= j.cpu) {
			free_cpus[node] -= j.cpu;
			place[n++] = node;
		}
	}
	if (n < j.min) {
		while (n)
			free_cpus[place[--n]] += j.cpu;
		return;
	}
	put_drawn_job(&j, false, "\"phase\":\"Running\",\"incarnation\":1");
	snprintf(status, sizeof(status),
		"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"%s\",\"desired\":%u,"
		"\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":%u,\"attempt\":1}," ADMITTED(
			"True", "Admitted", "admitted by queue %s"),
		j.queue, n, j.min, j.queue);
	put_drawn_group(&j, status);
	for (uint32_t i = 0; i < n; i++)
		put_pod(&j, i, place[i]);
}

static void build(uint64_t seed, bool asks)
{
	uint32_t free_cpus[4], n_nodes, n;
	struct job j;

	setup(NULL);
	kar_buf_clear(&words);
	begin_draws(seed);
	draw_queue("default");
	draw_queue("a");
	draw_queue("b");
	n_nodes = draw_nodes(free_cpus);
	n = between(0, 4);
	for (uint32_t i = 0; i < n; i++)
		draw_running(i, free_cpus, n_nodes);
	n = between(0, 3);
	for (uint32_t i = 0; i < n; i++) {
		j = draw_job("w", i);
		put_drawn_job(&j, false, "");
		put_drawn_group(&j, "");
	}
	j = draw_job("g", 0);
	put_drawn_job(&j, asks, "");
	put_drawn_group(&j, "");
}

/* --- what becomes of it ------------------------------------------------------------------------------ */

/* What the plan writes to the status of a group; the text is @out's. */
static const char *status_of(const char *name, struct kar_buf *out)
{
	struct kar_err err = { 0 };

	kar_buf_clear(out);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->type != &kar_podgroup_type || strcmp(a->name, name) != 0)
			continue;
		assert_int_equal(w.controller.encode(&w.sync, a, out, &err), 0);
		break;
	}
	return kar_buf_cstr(out);
}

/* The text of @field in the object that follows @mark. */
static void read_field(const char *json, const char *mark, const char *field, char *out, size_t size)
{
	char key[32];
	const char *at = strstr(json, mark), *end;

	snprintf(key, sizeof(key), "\"%s\":\"", field);
	at = at ? strstr(at, key) : NULL;
	end = at ? strchr(at + strlen(key), '"') : NULL;
	snprintf(out, size, "%.*s", at && end ? (int)(end - at - (ptrdiff_t)strlen(key)) : 0,
		at ? at + strlen(key) : "");
}

struct outcome {
	char status[16], reason[64];
};

/* While its queue records that another job loses its place, an admission waits for 5 s at most (controllers/queue/write_order.c). */
static void sync_until_it_is_written(struct kar_buf *body)
{
	assert_true(sync_named("all"));
	if (*status_of("g0", body))
		return;
	w.mono += 5 * KAR_SECOND;
	assert_true(sync_named("all"));
	status_of("g0", body);
}

static struct outcome submit(uint64_t seed, struct kar_buf *body)
{
	struct outcome o = { 0 };

	build(seed, false);
	sync_until_it_is_written(body);
	read_field(kar_buf_cstr(body), "\"type\":\"Admitted\"", "status", o.status, sizeof(o.status));
	read_field(kar_buf_cstr(body), "\"type\":\"Admitted\"", "reason", o.reason, sizeof(o.reason));
	assert_int_equal(teardown(NULL), 0);
	return o;
}

static struct outcome ask(uint64_t seed, struct kar_buf *body)
{
	struct outcome o = { 0 };

	build(seed, true);
	assert_true(sync_named("all"));
	status_of("g0", body);
	read_field(kar_buf_cstr(body), "\"whatIf\":{", "answer", o.status, sizeof(o.status));
	if (strcmp(o.status, "FitsNow") != 0)
		read_field(kar_buf_cstr(body), "\"whatIf\":{", "reason", o.reason, sizeof(o.reason));
	assert_int_equal(teardown(NULL), 0);
	return o;
}

/* The pass of the answer is a second one, and of equal nodes a pass takes any: whom it could stop may differ. */
static bool takes_room(const struct outcome *o)
{
	return strcmp(o->reason, "Reserving") == 0;
}

static const char *compare(const struct outcome *asked, const struct outcome *got)
{
	bool fits = strcmp(asked->status, "FitsNow") == 0;

	if (!*asked->status)
		return "there is no answer";
	if (fits != (strcmp(got->status, "True") == 0))
		return "the answer is wrong";
	if (!fits && strcmp(asked->reason, got->reason) != 0 && !takes_room(asked) && !takes_room(got))
		return "the reason is another one";
	return NULL;
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *given = getenv(variable);

	return given ? strtoull(given, NULL, 0) : otherwise;
}

static void what_was_answered_happens(void **state)
{
	uint64_t first = number_of("KAR_SEED", 20261201),
		 n = number_of("KAR_CASES", getenv("KAR_SEED") ? 1 : CASES);
	size_t fit = 0, wait = 0, never = 0, failed = 0;
	struct kar_buf question = { 0 }, job = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + n && failed < 5; seed++) {
		struct outcome asked = ask(seed, &question), got = submit(seed, &job);
		const char *wrong = compare(&asked, &got);

		fit += strcmp(asked.status, "FitsNow") == 0;
		wait += strcmp(asked.status, "Waits") == 0;
		never += strcmp(asked.status, "Never") == 0;
		failed += wrong != NULL;
		if (wrong || n == 1)
			print_message("KAR_SEED=%" PRIu64 "\n%s%s: %s %s; then Admitted=%s %s\n%s\n%s\n",
				seed, kar_buf_cstr(&words), wrong ? wrong : "as answered", asked.status,
				asked.reason, got.status, got.reason, kar_buf_cstr(&question),
				kar_buf_cstr(&job));
	}
	print_message("KAR_SEED=%" PRIu64 ", %" PRIu64 " clusters: FitsNow %zu, Waits %zu, Never %zu\n",
		first, n, fit, wait, never);
	kar_buf_release(&question);
	kar_buf_release(&job);
	kar_buf_release(&words);
	assert_int_equal(failed, 0);
	if (n >= CASES && (fit < n / 10 || wait < n / 10 || never < n / 100))
		fail_msg("the clusters are too much alike");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_answered_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
