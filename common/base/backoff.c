#include "common/base/backoff.h"

kar_time kar_backoff_delay(unsigned n, kar_time first, kar_time longest)
{
	kar_time delay = first < longest ? first : longest;

	for (unsigned i = 0; i < n && delay < longest; i++)
		delay = delay < longest / 2 ? delay * 2 : longest;
	return delay;
}

/* splitmix64: small, seedable, good enough for jitter. Result in [0, 1). */
static double next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return (double)(z >> 11) / (double)(UINT64_C(1) << 53);
}

kar_time kar_backoff_next(struct kar_backoff *b, kar_time at_least)
{
	double random = next_random(&b->random);
	kar_time d = kar_backoff_delay(b->steps, b->base, b->cap);
	kar_time delay = d + (kar_time)(random * b->jitter * (double)d);

	if (d < b->cap)
		b->steps++;
	if (delay >= at_least)
		return delay;
	/* Everybody was told the same moment: spread out after it. */
	return at_least + (kar_time)(random * b->jitter * (double)d);
}

void kar_backoff_reset(struct kar_backoff *b)
{
	b->steps = 0;
}
