/*
 * sim_record_world - an API server that is recorded while it is changed by hand, and two stories of jobs. For one test
 * executable: all functions are static. Include after cmocka.h.
 */
#ifndef TEST_SIM_RECORD_WORLD_H
#define TEST_SIM_RECORD_WORLD_H

#include <stdio.h>
#include <string.h>

#include "sim/crds.h"
#include "sim/scenario/report.h"

/* Times of the story below, in seconds. */
enum { BOUND = 11, RUNS = 12, DOWN = 60, DONE = 72, END = 100 };

struct world {
	struct sim_timeline *t;
	struct sim_apiserver *s;
	struct sim_record r;
};

static inline void call(struct world *w, enum kar_verb verb, const char *path, const char *subresource,
	const char *body)
{
	char group[64], version[32], resource[32], ns[32] = "", name[64];
	struct sim_request rq = { .verb = verb,
		.group = group,
		.version = version,
		.resource = resource,
		.name = name,
		.subresource = subresource,
		.patch_type = KAR_PATCH_MERGE };
	struct sim_response answer;

	/* "group/version/resource/namespace/name", with - for the core group and for no namespace */
	assert_int_equal(sscanf(path, "%63[^/]/%31[^/]/%31[^/]/%31[^/]/%63s", group, version, resource, ns,
				 name),
		5);
	if (!strcmp(group, "-"))
		group[0] = '\0';
	rq.ns = strcmp(ns, "-") ? ns : NULL;
	if (verb == KAR_CREATE)
		rq.name = NULL;
	if (body)
		rq.body = (struct kar_str){ body, strlen(body) };
	sim_apiserver_call(w->s, &rq, &answer);
	if (answer.code >= 300)
		fail_msg("%s: %d %s", path, answer.code,
			sim_text_or(sim_member(answer.object, "message"), ""));
	sim_response_release(&answer);
}

static inline void at(struct world *w, int64_t second)
{
	sim_timeline_run(w->t,
		sim_timeline_mono(w->t) + w->r.start + second * KAR_SECOND - sim_timeline_wall(w->t));
}

static inline void set_up(struct world *w)
{
	const struct sim_apiserver_options o = { .seed = 1 };
	struct kar_err err = { 0 };

	w->t = sim_timeline_new(1800000000 * KAR_SECOND);
	w->s = sim_apiserver_new(w->t, &o);
	if (sim_apiserver_install_crds(w->s, sim_crds_folder(), &err))
		fail_msg("%s", err.msg);
	sim_timeline_run(w->t, sim_timeline_mono(w->t) + 10 * KAR_SECOND);
	sim_record_start(&w->r, w->s);
}

static inline void tear_down(struct world *w)
{
	sim_apiserver_free(w->s);
	sim_timeline_free(w->t);
	sim_record_release(&w->r);
}

static inline void submit(struct world *w, const char *name, int pods)
{
	char path[128], body[512];

	snprintf(path, sizeof(path), "kube-arbitrator.io/v1alpha1/queuejobs/default/%s", name);
	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"queue\":\"q\","
		"\"taskSpecs\":[{\"name\":\"w\",\"replicas\":%d,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}",
		name, pods);
	call(w, KAR_CREATE, path, NULL, body);
}

static inline void tell(struct world *w, const char *name, const char *phase, const char *reason,
	const char *message)
{
	char path[128], body[512];

	snprintf(path, sizeof(path), "kube-arbitrator.io/v1alpha1/queuejobs/default/%s", name);
	snprintf(body, sizeof(body), "{\"status\":{\"phase\":\"%s\",\"reason\":\"%s\",\"message\":\"%s\"}}",
		phase, reason, message);
	call(w, KAR_PATCH, path, "status", body);
}

static inline void remove_job(struct world *w, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "kube-arbitrator.io/v1alpha1/queuejobs/default/%s", name);
	call(w, KAR_DELETE, path, NULL, NULL);
}

static inline void add_node(struct world *w, const char *name)
{
	char path[64], body[256];

	snprintf(path, sizeof(path), "-/v1/nodes/-/%s", name);
	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"}}", name);
	call(w, KAR_CREATE, path, NULL, body);
	call(w, KAR_PATCH, path, "status",
		"{\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
}

/* One pod of job a runs on n1; b fails in line; c is deleted there; d waits on. */
static inline void play(struct world *w)
{
	add_node(w, "n1");
	submit(w, "a", 3);
	tell(w, "a", "Pending", "WaitingForAdmission", "1st of 1 in queue q: maxJobs 1 reached");
	at(w, 10);
	tell(w, "a", "Starting", "Starting", "waiting until the quorum of 3 of 3 pods runs");
	at(w, BOUND);
	call(w, KAR_CREATE, "-/v1/pods/default/a-w-0", NULL,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a-w-0\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"a\"}},"
		"\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"500m\"}}},"
		"{\"name\":\"d\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"4Gi\"}}}]}}");
	at(w, RUNS);
	call(w, KAR_PATCH, "-/v1/pods/default/a-w-0", "status", "{\"status\":{\"phase\":\"Running\"}}");
	tell(w, "a", "Running", "", "");
	at(w, 20);
	submit(w, "b", 1);
	submit(w, "c", 1);
	tell(w, "c", "Pending", "Invalid", "there is no such queue");
	at(w, 40);
	remove_job(w, "c");
	at(w, 50);
	tell(w, "b", "Failed", "DeadlineExceeded", "0 of 1 pod succeeded after 30 s (activeDeadlineSeconds)");
	at(w, DOWN);
	call(w, KAR_PATCH, "-/v1/nodes/-/n1", NULL, "{\"spec\":{\"unschedulable\":true}}");
	at(w, DONE);
	call(w, KAR_PATCH, "-/v1/pods/default/a-w-0", "status", "{\"status\":{\"phase\":\"Succeeded\"}}");
	tell(w, "a", "Completed", "Completed", "all pods have succeeded");
	at(w, 90);
	submit(w, "d", 1);
	at(w, END);
	sim_record_close(&w->r);
}

static inline void restart(struct world *w, const char *name, const char *reason)
{
	char path[128], body[256];

	snprintf(path, sizeof(path), "kube-arbitrator.io/v1alpha1/queuejobs/default/%s", name);
	snprintf(body, sizeof(body),
		"{\"status\":{\"phase\":\"Restarting\",\"lastRestart\":{\"reason\":\"%s\",\"message\":\"\"}}}",
		reason);
	call(w, KAR_PATCH, path, "status", body);
}

/* Waits 5 s, of which it releases its nodes for 1 s; runs 10 s; restarts and starts for 7 s; runs 3 s; is suspended for 4 s. */
static inline void play_losses(struct world *w)
{
	submit(w, "a", 1);
	tell(w, "a", "Starting", "", "");
	at(w, 2);
	restart(w, "a", "RolledBack");
	at(w, 3);
	tell(w, "a", "Starting", "", "");
	at(w, 5);
	tell(w, "a", "Running", "", "");
	at(w, 15);
	restart(w, "a", "PodFailed");
	at(w, 16);
	tell(w, "a", "Starting", "", "");
	at(w, 22);
	tell(w, "a", "Running", "", "");
	at(w, 25);
	tell(w, "a", "Suspended", "", "");
	at(w, 29);
	sim_record_close(&w->r);
}

#endif
