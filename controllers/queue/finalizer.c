/*
 * The finalizer of queues: one that is deleted stays, closed, until nothing live is below it and no queue names it as its parent
 * (docs/design/queue.md, 2). So a limit does not vanish while the jobs that it counts are at work.
 */
#include <assert.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "controllers/queue/pass.h"
#include "controllers/runtime/controller.h"

static bool is_held_by_us(const struct kar_queue *q)
{
	return kar_strings_have(&q->finalizers, KAR_FINALIZER_QUEUE);
}

/* The list was cut when it was read, so it cannot be written. */
static bool has_too_many(const struct kar_queue *q)
{
	return kar_strings_have(&q->finalizers, KAR_COPY_CUT);
}

/* Holds queue @i, and all above it. */
static void hold(const struct queue_pass *p, struct queue_hold *holds, uint32_t i,
	const struct kar_podgroup *g)
{
	for (int level = 0; i != KAR_QUEUE_NONE && level < KAR_QUEUE_LEVELS; level++) {
		if (holds[i].group)
			holds[i].more |= holds[i].group != g;
		else
			holds[i].group = g;
		i = p->result.queues[i].in_force ? p->result.queues[i].parent : KAR_QUEUE_NONE;
	}
}

/* A part that is being deleted, too, counts only by what is at work in it: else queues in a circle would never go. */
static void hold_parents(const struct queue_pass *p, struct queue_hold *holds)
{
	for (uint32_t i = 0; i < p->n_queues; i++) {
		const struct kar_queue *q = p->queues[i];
		uint32_t parent =
			q->deletion || !q->spec.parent ? KAR_QUEUE_NONE : queue_named(p, q->spec.parent);

		if (parent != KAR_QUEUE_NONE && !holds[parent].child)
			holds[parent].child = q->o.name;
	}
}

static bool any_is_deleted(const struct queue_pass *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_queues; i++)
		any |= p->queues[i]->deletion != 0;
	return any;
}

const struct queue_hold *queue_holds(const struct queue_pass *p)
{
	struct queue_hold *holds;

	if (!any_is_deleted(p))
		return NULL;
	holds = kar_arena_alloc(p->arena, p->n_queues, sizeof(*holds));
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->result.groups[i].standing == KAR_QUEUE_WAITING)
			continue;
		hold(p, holds, p->in[i].queue, p->groups[i].group);
		hold(p, holds, p->in[i].also_in, p->groups[i].group);
	}
	hold_parents(p, holds);
	return holds;
}

bool queue_finalizer_is_due(const struct queue_pass *p, const struct queue_hold *holds, uint32_t i)
{
	const struct kar_queue *q = p->queues[i];

	assert(!q->deletion || holds);
	if (has_too_many(q))
		return false;
	if (q->deletion)
		return is_held_by_us(q) && !holds[i].group && !holds[i].child;
	return !is_held_by_us(q) && !q->o.unreadable;
}

void queue_write_finalizers(const struct kar_queue *q, struct kar_buf *out)
{
	const char *const *items = q->finalizers.items;
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	kar_write_precondition_members(&w, &q->o);
	kar_jw_key(&w, "finalizers");
	kar_jw_begin_array(&w);
	for (size_t i = 0; i < q->finalizers.n; i++) {
		if (!kar_streq(items[i], KAR_FINALIZER_QUEUE))
			kar_jw_string(&w, items[i]);
	}
	if (!q->deletion)
		kar_jw_string(&w, KAR_FINALIZER_QUEUE);
	kar_jw_end_array(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}
