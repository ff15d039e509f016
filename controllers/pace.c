#include "controllers/pace.h"

enum { FULL = 1000 }; /* ms of budget that can be saved up */

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
