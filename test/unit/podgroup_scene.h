/*
 * podgroup_scene - a PodGroup and its members from one line of text, and what the reconciler decides about them.
 *
 * A scene is a list of parts separated by ';'. The first describes the group (min=3 left-out=2 phase=Running
 * Scheduled=False/QuorumLost since=49h quorum-lost owner-terminal owner-works deleting; place=Placed attempt=2
 * direct (its pods are created bound) repairs=1 failures=1 deadline=-5 (s from now) cause=x short-for=60 (s, since Scheduled is False)), each other one a member (name, phase, and of: bound
 * unbound unschedulable lacks-cpu accepted (by its kubelet) refused=OutOfcpu (by it) seen (by a scheduler) pin=n2 made=5 (s ago) terminating gated reason=R exit=N owner=O kind=K). Running and finished pods are bound without saying so.
 * bounded let-in=a,b,c: its queue says how many members start beyond the minimum, and has counted these.
 * outside: labels of a node were changed; overdue, of a member: it should be gone.
 * outdated: a place of the plan is not free any more.
 * release-refused=5: for so many seconds the API server has not let a member start.
 * invalid=x: an annotation is not acted upon, because of x; ignored=y: nor are those of members about topologies, because of y.
 * had-members: it has been scheduled before.
 * backend=Native native-lost: what it starts with; native, of a member: it names a PodGroup of Kubernetes itself.
 * The group is one of a QueueJob, but for the word others; moves: it waits for the label of another queue; unplaced: nobody places it; resources: it has minResources; plan=a:n1,b:n2 (pods of others); domain=rack:r3. Of pods of others: held (by
 * another gate) disrupted prio=5 scheduler=S terms=JSON.
 * For one test executable: all functions are static.
 */
#ifndef KAR_TEST_PODGROUP_SCENE_H
#define KAR_TEST_PODGROUP_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/podgroup/pg_members.h"
#include "controllers/podgroup/podgroup.h"

enum { MAX_PODS = 32 };

static const kar_time now = 1795268787123;

struct scene {
	struct kar_arena arena;
	struct kar_podgroup group;
	struct kar_pod pods[MAX_PODS];
	struct kar_pod_job jobs[MAX_PODS];
	struct kar_pod_loss losses[MAX_PODS];
	const struct kar_pod *members[MAX_PODS];
	struct podgroup_view view;
	struct kar_plan plan;
};

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* Does @word start with @prefix? Then *@value is the rest. */
static bool takes(const char *word, const char *prefix, const char **value)
{
	size_t n = strlen(prefix);

	*value = word + n;
	return strncmp(word, prefix, n) == 0;
}

/* "rack:r3", which is required; "rack:r3:w": of role w */
static void read_domain(struct scene *s, const char *text)
{
	struct kar_pg_placement *p = &s->group.status.placement;
	size_t n = strcspn(text, ":"), m = strcspn(text + n + 1, ":");
	const char *rest = text + n + 1 + m;

	p->domains = kar_arena_alloc(&s->arena, 1, sizeof(*p->domains));
	p->domains[0] = (struct kar_pg_domain){ .label = kar_arena_strndup(&s->arena, text, n),
		.value = kar_arena_strndup(&s->arena, text + n + 1, m),
		.role = *rest ? rest + 1 : NULL,
		.required = true };
	p->n_domains = 1;
}

static void read_plan(struct scene *s, char *text)
{
	struct kar_pg_placement *p = &s->group.status.placement;
	char *entry;

	p->plan = kar_arena_alloc(&s->arena, MAX_PODS, sizeof(*p->plan));
	while ((entry = strsep(&text, ",")) != NULL) {
		p->plan[p->n_plan].role = strsep(&entry, ":");
		p->plan[p->n_plan++].nodes = entry;
	}
}

/* With .bounded each pod has its name as UID. */
static void read_let_in(struct scene *s, char *text)
{
	struct kar_podgroup_status *st = &s->group.status;
	const struct kar_pod *pods[MAX_PODS];
	size_t n = 0;

	for (char *name; (name = strsep(&text, ",")) != NULL; n++) {
		struct kar_pod *pod = kar_arena_alloc(&s->arena, 1, sizeof(*pod));

		pod->o.uid = name;
		pods[n] = pod;
	}
	st->has_desired = true;
	st->desired = (int32_t)n;
	st->desired_of = kar_pg_digest(pods, n);
}

static bool read_placement(struct scene *s, const char *word)
{
	struct kar_pg_placement *p = &s->group.status.placement;
	const char *value;

	if (takes(word, "place=", &value)) {
		while (!is(kar_pg_state_name(p->state), value))
			assert_true(++p->state < KAR_PG_STATES);
		p->time = now - now % 1000 -
			(p->state == KAR_PG_STATE_UNPLACED ? 15 * KAR_MINUTE : 10 * KAR_SECOND);
	} else if (takes(word, "for=", &value)) {
		p->time = now - now % 1000 - atoi(value) * KAR_SECOND;
	} else if (takes(word, "attempt=", &value)) {
		p->attempt = atoi(value);
	} else if (takes(word, "repairs=", &value)) {
		p->repairs = atoi(value);
	} else if (takes(word, "failures=", &value)) {
		p->failures = atoi(value);
	} else if (takes(word, "deadline=", &value)) {
		p->deadline = now - now % 1000 + atoi(value) * KAR_SECOND;
	} else if (takes(word, "satisfied=", &value)) {
		p->satisfied_member = atoi(value);
	} else if (takes(word, "generation=", &value)) {
		p->generation = atoi(value);
	} else if (takes(word, "owner-generation=", &value)) {
		s->view.owner_generation = atoi(value);
	} else if (takes(word, "retry=", &value)) {
		p->retry_after = now - now % 1000 + atoi(value) * KAR_SECOND;
	} else if (takes(word, "short-for=", &value)) {
		for (size_t i = 0; i < s->group.status.conditions.n; i++)
			s->group.status.conditions.items[i].last_transition =
				now - now % 1000 - atoi(value) * KAR_SECOND;
	} else if (takes(word, "evicted-by=", &value)) {
		p->evicted_by = value;
	} else if (takes(word, "hold-for=", &value)) {
		p->hold_ended_for = value;
	} else if (takes(word, "domain=", &value)) {
		read_domain(s, value);
	} else if (takes(word, "plan=", &value)) {
		read_plan(s, kar_arena_strndup(&s->arena, value, strlen(value)));
	} else {
		if (takes(word, "cause=", &value))
			p->cause = value;
		return takes(word, "cause=", &value);
	}
	return true;
}

static void read_group_word(struct scene *s, char *word)
{
	struct kar_condition c = { .last_transition = now - now % 1000,
		.message = "",
		.status = KAR_COND_FALSE };
	const char *value;

	if (takes(word, "min=", &value)) {
		s->group.spec.min_member = atoi(value);
	} else if (takes(word, "left-out=", &value)) {
		s->group.spec.succeeded_members = atoi(value);
	} else if (takes(word, "phase=", &value)) {
		s->group.status.phase = kar_pg_phase_parse(value);
		assert_int_not_equal(s->group.status.phase, KAR_PG_PHASE_NONE);
	} else if (takes(word, "since=", &value)) {
		for (size_t i = 0; i < s->group.status.conditions.n; i++)
			s->group.status.conditions.items[i].last_transition =
				now - now % 1000 - atoi(value) * 60 * KAR_MINUTE;
	} else if (read_placement(s, word)) {
		return;
	} else if (is(word, "had-members")) {
		s->group.status.schedule_start_time = now - KAR_MINUTE;
	} else if (is(word, "quorum-lost")) {
		s->group.status.record.quorum_lost = true;
	} else if (is(word, "direct")) {
		s->view.direct = true;
		s->group.status.has_position = true;
	} else if (takes(word, "backend=", &value)) {
		while (!is(kar_pg_backend_name(s->group.status.backend), value))
			assert_true(++s->group.status.backend < KAR_PG_BACKENDS);
	} else if (is(word, "native-lost")) {
		s->view.native_lost = true;
	} else if (is(word, "raised")) {
		s->view.raised = true;
	} else if (is(word, "owner-terminal")) {
		s->view.owner = PODGROUP_OWNER_TERMINAL;
	} else if (is(word, "owner-works")) {
		s->view.owner = PODGROUP_OWNER_WORKS;
	} else if (is(word, "others")) {
		s->view.of_others = true;
		s->group.owner_is_queuejob = false;
	} else if (is(word, "resources")) {
		s->group.spec.has_min_resources = true; /* how much decides nothing here */
	} else if (is(word, "served")) {
		s->view.served = "kar-scheduler";
	} else if (is(word, "unit-waits")) {
		s->view.unit_waits = true;
	} else if (is(word, "outside")) {
		s->view.outside = "labels were changed";
	} else if (is(word, "outdated")) {
		s->view.outdated = true;
	} else if (takes(word, "release-refused=", &value)) {
		s->view.release_refused = "admission webhook denied it";
		s->view.refused_since = now - now % KAR_SECOND - atoi(value) * KAR_SECOND;
	} else if (is(word, "unit-fails")) {
		s->view.unit_failing = "ns/x";
	} else if (is(word, "non-strict")) {
		s->view.non_strict = true;
	} else if (is(word, "only-waiting")) {
		s->group.options.only_waiting = true;
	} else if (is(word, "and-running")) {
		s->group.options.and_running = true;
	} else if (takes(word, "invalid=", &value)) {
		s->group.options.invalid = value;
	} else if (takes(word, "ignored=", &value)) {
		s->view.ignored = value;
	} else if (is(word, "bounded")) {
		s->view.bounded = true;
	} else if (takes(word, "let-in=", &value)) {
		read_let_in(s, kar_arena_strndup(&s->arena, value, strlen(value)));
	} else if (takes(word, "waits=", &value)) {
		s->group.status.scaling_limit = KAR_PG_LIMIT_QUEUE_CAPABILITY;
		s->group.status.scaling_limit_message = value;
	} else if (is(word, "moves")) {
		s->view.moves = true;
	} else if (is(word, "unplaced")) {
		s->view.unplaced = true;
	} else if (is(word, "deleting")) {
		s->group.deletion = now;
	} else {
		const char *slash = strchr(word, '/');

		value = strchr(word, '=');
		if (!value || !slash)
			fail_msg("unknown word '%s' about the group", word);
		c.type = kar_arena_strndup(&s->arena, word, (size_t)(value - word));
		c.status = value[1] == 'T' ? KAR_COND_TRUE : KAR_COND_FALSE;
		c.reason = slash + 1;
		if (is(c.type, KAR_PG_ADMITTED))
			c.message = "the words of its queue";
		kar_condition_set(&s->group.status.conditions, &c, c.last_transition, &s->arena);
	}
}

static bool read_phase(struct kar_pod *p, const char *word)
{
	static const char *const names[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown" };

	for (uint8_t i = 0; i < KAR_LEN(names); i++) {
		if (is(word, names[i])) {
			p->phase = i;
			if (i != KAR_POD_PENDING)
				p->node = "n1";
			return true;
		}
	}
	return false;
}

static void read_pod_word(struct kar_pod *p, struct kar_pod_loss *loss, const char *word)
{
	const char *value;

	if (!p->o.name)
		p->o.name = word;
	else if (read_phase(p, word))
		return;
	else if (is(word, "bound"))
		p->node = "n1";
	else if (is(word, "unbound"))
		p->node = NULL;
	else if (is(word, "accepted"))
		p->bound = now;
	else if (takes(word, "refused=", &value))
		loss->pod_reason = value;
	else if (is(word, "unschedulable"))
		p->unschedulable = true;
	else if (is(word, "lacks-cpu")) {
		static const struct kar_pod_unplaced no_cpu = { "0/4 nodes are available: 4 Insufficient cpu",
			"cpu 100" };

		p->unschedulable = true;
		p->unplaced = &no_cpu;
	} else if (takes(word, "made=", &value))
		p->creation = now - now % 1000 - atoi(value) * KAR_SECOND;
	else if (is(word, "terminating"))
		p->deletion = now;
	else if (is(word, "native"))
		p->native = true;
	else if (is(word, "gated"))
		p->gate_ours = true;
	else if (is(word, "released"))
		p->released = true;
	else if (is(word, "overdue"))
		p->deletion = now - KAR_MINUTE;
	else if (is(word, "seen"))
		p->seen = true;
	else if (is(word, "held"))
		p->gate_foreign = true;
	else if (is(word, "disrupted"))
		p->disrupted = true;
	else if (takes(word, "prio=", &value))
		p->priority = atoi(value);
	else if (takes(word, "scheduler=", &value))
		p->scheduler = value;
	else if (takes(word, "terms=", &value))
		p->terms = value;
	else if (takes(word, "owner=", &value))
		p->owner_name = value;
	else if (takes(word, "kind=", &value))
		p->owner_kind = value;
	else if (takes(word, "reason=", &value))
		loss->reason = value;
	else if (takes(word, "exit=", &value))
		loss->exit_code = atoi(value);
	else if (takes(word, "pin=", &value))
		p->pin = value;
	else
		fail_msg("unknown word '%s' about a pod", word);
}

static void read_scene(struct scene *s, const char *text)
{
	char *copy = kar_arena_strndup(&s->arena, text, strlen(text));
	char *rest = copy, *part, *word;

	s->group = (struct kar_podgroup){ .o = { .ns = "ns", .name = "j", .uid = "u" },
		.generation = 1,
		.owner_uid = "q",
		.owner_is_queuejob = true };
	s->group.status.occupied_by = "";
	s->group.status.placement.cause = "";
	s->view.default_timeout = KAR_MINUTE;
	s->view.native_interval = 30 * KAR_SECOND;
	for (int i = -1; (part = strsep(&rest, ";")) != NULL; i++) {
		assert_true(i < MAX_PODS);
		if (i >= 0) {
			s->pods[i].o.uid = "uid";
			s->pods[i].o.ns = "ns";
			s->pods[i].job = &s->jobs[i];
			s->jobs[i].loss = &s->losses[i];
			s->members[s->view.n_pods++] = &s->pods[i];
		}
		while ((word = strsep(&part, " ")) != NULL) {
			if (!word[0])
				continue;
			if (i < 0)
				read_group_word(s, word);
			else
				read_pod_word(&s->pods[i], &s->losses[i], word);
		}
		if (i >= 0 && s->view.bounded)
			s->pods[i].o.uid = s->pods[i].o.name;
	}
	s->view.group = &s->group;
	s->view.queue = kar_podgroup_queue(&s->group) ? kar_podgroup_queue(&s->group) : "default";
	s->view.pods = s->members;
}

static KAR_UNUSED struct scene *new_scene(const char *text)
{
	struct scene *s = kar_xcalloc(1, sizeof(*s));

	read_scene(s, text);
	return s;
}

static KAR_UNUSED void free_scene(struct scene *s)
{
	kar_arena_release(&s->arena);
	free(s);
}

/* The plan as text in the scene's arena, "urgent" in front if it is. */
static KAR_UNUSED const char *decide_at(struct scene *s, kar_time at)
{
	struct kar_buf out = { 0 };
	const char *text;

	kar_plan_init(&s->plan, &s->arena);
	podgroup_decide(&s->view, at, &s->plan);
	if (s->plan.urgent)
		kar_buf_puts(&out, "urgent ");
	kar_plan_print(&s->plan, &out);
	text = kar_arena_strndup(&s->arena, kar_buf_cstr(&out), out.n);
	kar_buf_release(&out);
	return text;
}

#endif
