#include "controllers/runtime/slow_start.h"

#include "common/base/intern.h"

enum { LONGEST = 32 };

/* Differs for another object of the same name and for another spec. */
static uint64_t owner_of(const struct kar_sync *s)
{
	return kar_hash_str((uint64_t)s->generation + 1, s->object ? s->object->uid : "");
}

static int known(const struct kar_sync *s)
{
	return s->state->window && s->state->window_owner == owner_of(s) ? s->state->window : 1;
}

int kar_slow_start_first(const struct kar_sync *s)
{
	return s->plan.metered ? 1 : known(s);
}

void kar_slow_start_went_through(struct kar_sync *s, size_t created)
{
	int before = known(s), now = created < LONGEST ? (int)created : LONGEST;

	/* A plan that creates fewer, as a replacement does, keeps the window. */
	s->state->window = before > now ? before : now;
	s->state->window_owner = owner_of(s);
}

void kar_slow_start_failed(struct kar_sync *s)
{
	s->state->window = 0;
}
