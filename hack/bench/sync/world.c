#include "hack/bench/sync/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types.h"
#include "common/base/mem.h"
#include "common/codec/json.h"
#include "controllers/controllers.h"
#include "controllers/queuejob/memory.h"

static const kar_time wall = 1795268787123;
static const struct kar_settings settings = { .schedule_timeout = 60 * KAR_SECOND };

#define OWNER \
	"\"ownerReferences\":[{\"kind\":\"QueueJob\",\"name\":\"big\",\"uid\":\"job-uid\",\"controller\":true}]"

static kar_rv next_version(void)
{
	static kar_rv last = 10;

	return ++last;
}

static struct kar_object *make(struct world *w, const struct kar_type *type, const char *json)
{
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, type->wire->size);
	struct kar_err err = { 0 };
	struct kar_object *o = NULL;

	if (kar_json_decode(&arena, type->wire, NULL, json, strlen(json), wire, &err) == 0)
		o = type->project(wire, w->strings);
	if (!o) {
		fprintf(stderr, "%s in %s\n", err.msg, json);
		exit(1);
	}
	kar_arena_release(&arena);
	return o;
}

static void put_children(struct world *w, int32_t min)
{
	char json[1024];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"big\",\"namespace\":\"ns\",\"uid\":\"s\",\"resourceVersion\":\"%" PRIu64
		"\"," OWNER "},\"spec\":{\"minAvailable\":%" PRId32 "}}",
		next_version(), min);
	kar_store_apply(w->stores.schedulingspecs, make(w, &kar_schedulingspec_type, json));
	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"big\",\"namespace\":\"ns\",\"uid\":\"g\",\"resourceVersion\":\"%" PRIu64
		"\"," OWNER "},\"spec\":{\"minMember\":%" PRId32
		",\"queue\":\"default\",\"priority\":0},\"status\":{\"conditions\":[{\"type\":"
		"\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"\"}]}}",
		next_version(), min);
	kar_store_apply(w->stores.podgroups, make(w, &kar_podgroup_type, json));
}

void world_init(struct world *w, int32_t pods)
{
	const struct kar_workqueue_options o = { 0 };

	*w = (struct world){ .strings = kar_intern_new(), .pods = pods };
	kar_stores_init(&w->stores, w->strings);
	w->controller.stores = &w->stores;
	w->controller.settings = &settings;
	w->controller.queue = kar_workqueue_new(&o);
	w->controller.barrier = kar_barrier_new();
	kar_queuejob_controller(&w->controller);
	w->state.memory = kar_xcalloc(1, w->controller.memory_size);
	w->controller.start(&w->controller);
}

/* The hash of the template is the job's own, which only the cached object tells. */
void world_job(struct world *w, int32_t replicas, int32_t min, const char *phase, const char *more,
	const char *record)
{
	int32_t formed = strcmp(phase, "Running") ? 0 : min;
	size_t room = strlen(more) + strlen(record) + 2048;
	const struct kar_queuejob *job;
	char *json = malloc(room);
	const char *hash = "";
	uint64_t digest = 0;

	/* The hash is known after the first round, and with it the digest after the second. */
	for (int round = 0; round < 3; round++) {
		snprintf(json, room,
			"{\"metadata\":{\"name\":\"big\",\"namespace\":\"ns\",\"uid\":\"job-uid\",\"generation\":1,"
			"\"resourceVersion\":\"%" PRIu64 "\",\"creationTimestamp\":\"2026-11-21T10:00:00Z\"},"
			"\"spec\":{\"schedSpec\":{\"minAvailable\":%" PRId32
			"},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":%" PRId32
			",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]},\"status\":{\"phase\":\"%s\","
			"\"incarnation\":1,\"observedGeneration\":1,\"desired\":%" PRId32 "%s"
			",\"record\":{\"formedMinAvailable\":%" PRId32 ",\"formation\":\"%s\","
			"\"templateHash\":\"%s\",\"digest\":\"%016" PRIx64 "\"%s}}}",
			next_version(), min, replicas, phase, w->pods, more, formed,
			formed ? "Formed" : "First", hash, digest, record);
		kar_store_apply(w->stores.queuejobs, make(w, &kar_queuejob_type, json));
		job = kar_as_queuejob(kar_store_get(w->stores.queuejobs, "ns", "big"));
		hash = job->spec_template_hash;
		digest = kar_queuejob_status_digest(&job->status);
	}
	free(json);
	put_children(w, min);
}

static const char *phase_of(enum world_pod as)
{
	switch (as) {
	case WORLD_PENDING:
		return "Pending";
	case WORLD_SUCCEEDED:
		return "Succeeded";
	case WORLD_FAILED:
		return "Failed";
	default:
		return "Running";
	}
}

struct kar_object *world_make_pod(struct world *w, int32_t index, enum world_pod as)
{
	char json[1536];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"big-w-%" PRId32 "\",\"namespace\":\"ns\",\"uid\":\"uid-%08" PRId32
		"\",\"resourceVersion\":\"%" PRIu64 "\"," OWNER
		",\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"]%s,\"labels\":{"
		"\"kube-arbitrator.io/queuejob\":\"big\",\"kube-arbitrator.io/task\":\"w\","
		"\"kube-arbitrator.io/index\":\"%" PRId32 "\",\"kube-arbitrator.io/incarnation\":\"1\","
		"\"scheduling.x-k8s.io/pod-group\":\"big\"}},\"spec\":{\"nodeName\":\"node-%" PRId32
		"\"},\"status\":{\"phase\":\"%s\"}}",
		index, index, next_version(),
		as == WORLD_LEAVING ? ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"" : "", index,
		index % 100, phase_of(as));
	return make(w, &kar_pod_type, json);
}

void world_pod(struct world *w, int32_t index, enum world_pod as)
{
	if (as != WORLD_NONE)
		kar_store_apply(w->stores.pods, world_make_pod(w, index, as));
}

void world_sync(struct world *w)
{
	struct kar_sync *s = &w->sync;
	struct kar_buf body = { .cap = (size_t)1 << 24 };

	*s = (struct kar_sync){ .controller = &w->controller,
		.key = "ns/big",
		.now = wall,
		.mono = 5000,
		.state = &w->state };
	queuejob_key(s)->owner_checked = 1;
	queuejob_key(s)->owner_uid = kar_hash_str(1, "job-uid");
	kar_plan_init(&s->plan, &s->arena);
	if (w->controller.sync(&w->controller, s) && s->plan.status)
		w->controller.encode_status(s, &body);
	kar_buf_release(&body);
	printf("actions=%zu requeue=%d %.200s\n", s->plan.n_actions, s->plan.requeue_after != KAR_NEVER,
		s->plan.status_text ? s->plan.status_text : "");
	kar_object_unref(s->object);
	kar_arena_release(&s->arena);
}

void world_change(struct world *w, struct kar_object *pod)
{
	kar_store_apply(w->stores.pods, pod);
}
