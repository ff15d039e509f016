#include "controllers/queue/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "common/str.h"

static int compare_queues(const void *a, const void *b)
{
	const struct kar_queue *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

const struct kar_queue **queue_sort(const struct queue_snapshot *s, struct kar_arena *arena)
{
	const struct kar_queue **sorted = kar_arena_alloc(arena, s->n_queues, sizeof(struct kar_queue *));

	for (size_t i = 0; i < s->n_queues; i++)
		sorted[i] = s->queues[i];
	qsort(sorted, s->n_queues, sizeof(struct kar_queue *), compare_queues);
	return sorted;
}

size_t queue_find(const struct kar_queue *const *sorted, size_t n, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(sorted[middle]->o.name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && kar_streq(sorted[low]->o.name, name) ? low : n;
}

bool queue_is_open(const struct kar_queue *q)
{
	return !q->deletion && q->spec.state == KAR_QUEUE_STATE_OPEN;
}
