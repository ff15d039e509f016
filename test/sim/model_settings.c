/* Numbers that people change, with what they were. */
#include "test/sim/model.h"

void model_set(struct setting *s, int value, kar_time now)
{
	size_t at = s->n % MODEL_PAST;

	if (value == s->now)
		return;
	s->past[at].value = s->now;
	s->past[at].until = now;
	s->n++;
	s->now = value;
}

int setting_max(const struct setting *s, kar_time since)
{
	int max = s->now;

	for (size_t i = 0; i < s->n && i < MODEL_PAST; i++) {
		if (s->past[i].until >= since && s->past[i].value > max)
			max = s->past[i].value;
	}
	return max;
}

int setting_min(const struct setting *s, kar_time since)
{
	int min = s->now;

	for (size_t i = 0; i < s->n && i < MODEL_PAST; i++) {
		if (s->past[i].until >= since && s->past[i].value < min)
			min = s->past[i].value;
	}
	return min;
}
