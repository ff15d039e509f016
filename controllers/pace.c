#include "controllers/pace.h"

enum {
	FULL = 1000, /* ms of budget that can be saved up */
	OBJECTS_PER_MS =
		50, /* a sync of so many takes about 50 us: a twentieth of one core for a key at most */
	SHORTEST_REST = 20, /* ms: the pods of a small gang start, and end, together */
	BURST = 10,         /* urgent syncs in a row: a repair is a handful of steps */
};

static void earn(struct kar_pace *p, kar_time now)
{
	kar_time since = p->asked ? now - p->asked : FULL;

	p->asked = now;
	p->earned += since < FULL ? since : FULL;
	if (p->earned > FULL)
		p->earned = FULL;
}

kar_time kar_pace_delay(struct kar_pace *p, kar_time written, bool counters, kar_time now)
{
	kar_time due = written ? written + p->interval : now;
	kar_time price = FULL / p->rate;

	if (due > now)
		return due - now;
	if (!counters)
		return 0;
	earn(p, now);
	if (p->earned < price)
		return p->interval;
	p->earned -= price;
	return 0;
}

kar_time kar_rest_after(struct kar_rest *r, size_t objects, kar_time now)
{
	r->interval = (kar_time)(objects / OBJECTS_PER_MS);
	r->due = (r->due > now ? r->due : now) + r->interval;
	return now + (r->interval > SHORTEST_REST ? r->interval : SHORTEST_REST);
}

kar_time kar_rest_left(const struct kar_rest *r, kar_time now)
{
	kar_time left = r->due - (BURST - 1) * r->interval - now;

	return left > 0 ? left : 0;
}
