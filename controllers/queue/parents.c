#include "controllers/queue/parents.h"

#include <assert.h>

#include "common/str.h"
#include "controllers/queue/lookup.h"

/* Beside the numbers of queues. */
enum { NO_PARENT = -1, MISSING = -2 };

struct node {
	int64_t up; /* number of the queue above it, or one of the enum */
	enum { NEW, OPEN, DONE } state;
	int32_t level; /* of DONE; 0: it is below a queue that is missing, in a cycle, or below one */
	enum queue_parent_problem problem; /* of DONE */
	int64_t blamed;                    /* of a problem: number of the queue whose parent has it */
};

struct forest {
	const struct kar_queue *const *queues;
	struct node *nodes;
	size_t n;
};

static int64_t find(const struct forest *f, const char *name)
{
	size_t at = queue_find(f->queues, f->n, name);

	return at < f->n ? (int64_t)at : MISSING;
}

/* The queue above it is done, or there is none. */
static void finish(struct forest *f, int64_t i, bool deletion_counts)
{
	struct node *q = &f->nodes[i];
	const struct node *above = q->up >= 0 ? &f->nodes[q->up] : NULL;

	q->state = DONE;
	q->blamed = i;
	if (!above) {
		q->problem = q->up == MISSING ? QUEUE_PARENT_MISSING : QUEUE_PARENT_VALID;
		q->level = q->problem == QUEUE_PARENT_VALID;
	} else if (deletion_counts && f->queues[q->up]->deletion) {
		q->problem = QUEUE_PARENT_DELETED;
	} else if (above->problem == QUEUE_PARENT_MISSING || above->problem == QUEUE_PARENT_DELETED) {
		q->problem = above->problem;
		q->blamed = above->blamed;
	} else if (above->problem == QUEUE_PARENT_CYCLE) {
		q->problem = QUEUE_PARENT_CYCLE;
	} else {
		q->level = above->level + 1;
		q->problem = q->level > QUEUE_LEVELS ? QUEUE_PARENT_TOO_DEEP : QUEUE_PARENT_VALID;
	}
}

/* Follows the parents of @first as far as they are not done, and comes back. */
static void resolve(struct forest *f, int64_t first, int64_t *path, bool deletion_counts)
{
	size_t n = 0;
	int64_t i = first;

	while (i >= 0 && f->nodes[i].state == NEW) {
		f->nodes[i].state = OPEN;
		path[n++] = i;
		i = f->nodes[i].up;
	}
	if (i >= 0 && f->nodes[i].state == OPEN)
		f->nodes[i].problem = QUEUE_PARENT_CYCLE; /* the last of the path finds it so */
	while (n)
		finish(f, path[--n], deletion_counts);
}

static void resolve_all(struct forest *f, bool deletion_counts, struct kar_arena *a)
{
	int64_t *path = kar_arena_alloc(a, f->n + 1, sizeof(*path));

	for (size_t i = 0; i < f->n; i++)
		resolve(f, (int64_t)i, path, deletion_counts);
}

/* What the specs say. The parent of a queue that cannot be read is not known: it counts as one without. */
static void read_specs(struct forest *f, struct queue_parent *out, struct kar_arena *a)
{
	f->nodes = kar_arena_alloc(a, f->n + 1, sizeof(*f->nodes));
	for (size_t i = 0; i < f->n; i++)
		f->nodes[i].up = f->queues[i]->spec.parent ? find(f, f->queues[i]->spec.parent) : NO_PARENT;
	resolve_all(f, true, a);
	for (size_t i = 0; i < f->n; i++) {
		const struct node *q = &f->nodes[i];

		out[i] = (struct queue_parent){ .problem = q->problem };
		if (q->problem != QUEUE_PARENT_VALID)
			out[i].blamed = f->queues[q->blamed]->spec.parent;
	}
	for (size_t i = 0; i < f->n; i++) {
		if (out[i].problem == QUEUE_PARENT_VALID && f->nodes[i].up >= 0)
			out[f->nodes[i].up].is_parent = true;
	}
}

/* Not after edits by hand, and not after a queue was taken away by force, must they form a cycle or end nowhere. */
static void cut(struct forest *f, struct queue_parent *out, struct kar_arena *a)
{
	f->nodes = kar_arena_alloc(a, f->n + 1, sizeof(*f->nodes));
	for (size_t i = 0; i < f->n; i++)
		f->nodes[i].up = !out[i].in_force[0] || kar_streq(out[i].in_force, KAR_QUEUE_ROOT)
			? NO_PARENT
			: find(f, out[i].in_force);
	resolve_all(f, false, a);
	for (size_t i = 0; i < f->n; i++) {
		if (f->nodes[i].problem != QUEUE_PARENT_VALID)
			out[i].in_force = "";
	}
}

void queue_parents(const struct kar_queue *const *sorted, size_t n, struct queue_parent *out,
	struct kar_arena *a)
{
	struct forest f = { .queues = sorted, .n = n };

	read_specs(&f, out, a);
	for (size_t i = 0; i < n; i++) {
		const struct kar_queue *q = sorted[i];

		if (out[i].problem != QUEUE_PARENT_VALID)
			out[i].in_force = kar_has_text(q->status.parent) ? q->status.parent : "";
		else
			out[i].in_force = q->spec.parent ? q->spec.parent : KAR_QUEUE_ROOT;
	}
	cut(&f, out, a);
}

const char *queue_parent_text(const struct queue_parent *p, struct kar_arena *a)
{
	static const char *const words[] = {
		[QUEUE_PARENT_MISSING] = "does not exist",
		[QUEUE_PARENT_DELETED] = "is being deleted",
		[QUEUE_PARENT_CYCLE] = "is in a cycle",
		[QUEUE_PARENT_TOO_DEEP] = "is too deep",
	};

	assert(p->problem != QUEUE_PARENT_VALID);
	return kar_arena_printf(a, "parent %s %s", p->blamed, words[p->problem]);
}
