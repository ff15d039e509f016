#include "controllers/runtime/write_rate.h"

enum {
	FULL = 1000, /* ms of budget that can be saved up */
	OBJECTS_PER_MS =
		50, /* a sync of 50 objects takes about 50 us, so one key uses a twentieth of a core at most */
	SHORTEST_COOLDOWN = 20, /* ms: the members of a small gang start, and end, together */
	BUSY_WAIT = 10000,      /* ms for which a status that is not urgent yields to other writes */
	BURST = 10,             /* urgent syncs in a row: a repair is a handful of steps */
};

static void earn(struct kar_write_rate *p, kar_time now)
{
	kar_time since = p->asked ? now - p->asked : FULL;

	p->asked = now;
	p->earned += since < FULL ? since : FULL;
	if (p->earned > FULL)
		p->earned = FULL;
}

/* Takes one write out of the budget. */
static bool spend(struct kar_write_rate *p, kar_time now)
{
	kar_time price = FULL / p->rate;

	earn(p, now);
	if (p->earned < price)
		return false;
	p->earned -= price;
	return true;
}

kar_time kar_write_rate_delay(struct kar_write_rate *p, kar_time written, bool counters, kar_time now)
{
	kar_time due = written ? written + p->interval : now;

	if (due > now)
		return due - now;
	return !counters || spend(p, now) ? 0 : p->interval;
}

kar_time kar_write_rate_status(struct kar_write_rate *p, const struct kar_plan *plan, kar_time written,
	bool busy, kar_time now)
{
	if (plan->urgent)
		return 0;
	if ((plan->n_actions || busy) && now - written < BUSY_WAIT)
		return p->interval;
	if (plan->answers && spend(p, now))
		return 0;
	return kar_write_rate_delay(p, written, plan->counters, now);
}

kar_time kar_cooldown_after(struct kar_cooldown *r, size_t objects, kar_time now)
{
	r->interval = (kar_time)(objects / OBJECTS_PER_MS);
	r->due = (r->due > now ? r->due : now) + r->interval;
	return now + (r->interval > SHORTEST_COOLDOWN ? r->interval : SHORTEST_COOLDOWN);
}

kar_time kar_cooldown_left(const struct kar_cooldown *r, kar_time now)
{
	kar_time left = r->due - (BURST - 1) * r->interval - now;

	return left > 0 ? left : 0;
}
