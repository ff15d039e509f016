#include "controllers/runtime/extras_limit.h"

enum {
	IN_FLIGHT = 12,
	STEP = 200, /* ms in which the next step of a job follows */
	PAUSE = 50, /* ms between two extras meanwhile */
};

bool kar_is_step(const struct kar_action *a)
{
	bool creates = kar_action_creates(a);

	return a->rank.tier == KAR_TIER_MINIMUM || (a->rank.tier == KAR_TIER_CONTROL && (creates || a->firm));
}

void kar_extras_limit_step(struct kar_extras_limit *l, int32_t priority, kar_time now)
{
	if (now >= l->step_ends || priority >= l->priority) {
		l->priority = priority;
		l->step_ends = now + STEP;
	}
}

kar_time kar_extras_limit_wait(const struct kar_extras_limit *l, int32_t priority, kar_time now)
{
	bool yields = now < l->step_ends && priority < l->priority;
	kar_time left = l->sent + PAUSE - now;

	if (l->in_flight >= IN_FLIGHT)
		return KAR_NEVER;
	return yields && l->sent && left > 0 ? left : 0;
}

void kar_extras_limit_sent(struct kar_extras_limit *l, kar_time now)
{
	l->in_flight++;
	l->sent = now;
}

void kar_extras_limit_answered(struct kar_extras_limit *l)
{
	l->in_flight--;
}
