/*
 * What one sync of a QueueJob costs, by the number of its pods: counted, not timed. Prepares caches for a scene and runs
 * world_sync() (or world_change()) once. hack/bench/run sync counts the instructions of these two functions with callgrind.
 *
 *   sync_cost SCENE PODS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "hack/bench/sync/world.h"

enum { UIDS_MAX = 500 }; /* of a real status */

static void all(struct world *w, enum world_pod even, enum world_pod odd)
{
	for (int32_t i = 0; i < w->pods; i++)
		world_pod(w, i, i % 2 ? odd : even);
}

static void idle(struct world *w)
{
	world_job(w, w->pods, w->pods, "Running", "", "");
	all(w, WORLD_RUNNING, WORLD_RUNNING);
	world_sync(w);
}

static void creating(struct world *w)
{
	world_job(w, w->pods, w->pods, "Starting", "", "");
	all(w, WORLD_PENDING, WORLD_NONE);
	world_sync(w);
}

static void lost(struct world *w)
{
	struct kar_buf counted = { .cap = 1 << 20 };
	int32_t counted_up_to = w->pods < UIDS_MAX ? w->pods / 2 : UIDS_MAX;

	kar_buf_puts(&counted, ",\"countedPods\":[");
	for (int32_t i = 0; i < counted_up_to; i++)
		kar_buf_printf(&counted, "%s\"uid-%08" PRId32 "\"", i ? "," : "", w->pods - 1 - i);
	kar_buf_puts(&counted, "]");
	world_job(w, w->pods, 1, "Running", "", kar_buf_cstr(&counted));
	kar_buf_release(&counted);
	all(w, WORLD_LEAVING, WORLD_FAILED);
	world_pod(w, 0, WORLD_RUNNING);
	world_sync(w);
}

/* The worst case of interval notation. */
static void succeeding(struct world *w)
{
	struct kar_buf done = { .cap = 1 << 22 };

	kar_buf_puts(&done, ",\"tasks\":[{\"name\":\"w\",\"succeededIndexes\":\"");
	for (int32_t i = 0; i < w->pods; i += 4)
		kar_buf_printf(&done, "%s%" PRId32, i ? "," : "", i);
	kar_buf_puts(&done, "\"}]");
	world_job(w, w->pods, w->pods, "Running", kar_buf_cstr(&done), "");
	kar_buf_release(&done);
	all(w, WORLD_SUCCEEDED, WORLD_RUNNING);
	world_sync(w);
}

static void shrinking(struct world *w)
{
	world_job(w, w->pods / 2, 1, "Running", "", "");
	all(w, WORLD_RUNNING, WORLD_FAILED);
	world_sync(w);
}

static void restarting(struct world *w)
{
	world_job(w, w->pods, w->pods, "Restarting", "", "");
	all(w, WORLD_LEAVING, WORLD_LEAVING);
	world_sync(w);
}

/* A pod becomes Running: nothing but a key in a queue. */
static void event(struct world *w)
{
	world_job(w, w->pods, w->pods, "Starting", "", "");
	all(w, WORLD_PENDING, WORLD_PENDING);
	world_change(w, world_make_pod(w, w->pods / 2, WORLD_RUNNING));
}

static const struct {
	const char *name;
	void (*play)(struct world *w);
} scenes[] = {
	{ "idle", idle },
	{ "creating", creating },
	{ "lost", lost },
	{ "succeeding", succeeding },
	{ "shrinking", shrinking },
	{ "restarting", restarting },
	{ "event", event },
};

int main(int argc, char **argv)
{
	static struct world w;

	for (size_t i = 0; argc == 3 && i < KAR_LEN(scenes); i++) {
		if (strcmp(argv[1], scenes[i].name))
			continue;
		world_init(&w, (int32_t)strtol(argv[2], NULL, 10));
		scenes[i].play(&w);
		return 0;
	}
	fputs("usage: sync_cost idle|creating|lost|succeeding|shrinking|restarting|event PODS\n", stderr);
	return 2;
}
