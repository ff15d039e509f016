/*
 * http_door_world - a door (sim/apiserver/http_door.h) with a server behind it, for tests that speak HTTP without a socket.
 *
 * Header only: each test program is one file.
 */
#ifndef TEST_UNIT_HTTP_DOOR_WORLD_H
#define TEST_UNIT_HTTP_DOOR_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/http_door.h"

#define TOKEN "0123456789abcdef"
#define BEARER "Bearer " TOKEN
#define PODS "/api/v1/namespaces/default/pods"
#define MAPS "/api/v1/namespaces/default/configmaps"
#define QJ "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs"
#define JSON "application/json"
#define STATUS \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"

struct world {
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_door *door;
	struct kar_buf audit;
	int notified;
};

static inline void keep_audit(void *arg, const char *line, size_t n)
{
	struct world *w = arg;

	kar_buf_append(&w->audit, line, n);
}

static inline int setup(void **state)
{
	const struct sim_apiserver_options o = { .seed = 1 };
	struct world *w = calloc(1, sizeof(*w));
	struct kar_err err = { 0 };

	assert_non_null(w);
	w->timeline = sim_timeline_new(1795268787000);
	w->server = sim_apiserver_new(w->timeline, &o);
	if (sim_apiserver_install_crds(w->server, KAR_CRDS, &err))
		fail_msg("%s", err.msg);
	const struct sim_door_options d = { .address = "127.0.0.1:1",
		.admin_token = TOKEN,
		.audit = keep_audit,
		.audit_arg = w };

	w->door = sim_door_new(w->server, &d);
	sim_timeline_run(w->timeline, sim_timeline_mono(w->timeline) + 5000);
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	sim_door_free(w->door);
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
	kar_buf_release(&w->audit);
	free(w);
	return 0;
}

static inline void count_event(void *arg)
{
	struct world *w = arg;

	w->notified++;
}

static inline void call(struct world *w, const struct sim_http_request *rq, struct sim_http_answer *out)
{
	*out = (struct sim_http_answer){ 0 };
	sim_door_call(w->door, rq, count_event, w, out);
}

static inline struct kar_str str(const char *s)
{
	return (struct kar_str){ s, s ? strlen(s) : 0 };
}

#endif
