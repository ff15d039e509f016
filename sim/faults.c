#include "sim/faults.h"

#include <string.h>

static const char *const names[] = {
	[SIM_FAULT_LOST] = "lost",
	[SIM_FAULT_REPLY] = "reply",
	[SIM_FAULT_TWICE] = "twice",
	[SIM_FAULT_LATE] = "late",
	[SIM_FAULT_CONFLICT] = "conflict",
	[SIM_FAULT_THROTTLED] = "throttled",
	[SIM_FAULT_ERROR] = "error",
	[SIM_FAULT_UNAVAILABLE] = "unavailable",
	[SIM_FAULT_TIMEOUT] = "timeout",
	[SIM_FAULT_SLOW] = "slow",
	[SIM_FAULT_COMPACT] = "compact",
	[SIM_FAULT_CHUNKS] = "chunks",
	[SIM_FAULT_CUT] = "cut",
	[SIM_FAULT_LAG] = "lag",
	[SIM_FAULT_SKIP] = "skip",
	[SIM_FAULT_TRAVEL] = "travel",
	[SIM_FAULT_SILENT] = "silent",
	[SIM_FAULT_CRASH] = "crash",
	[SIM_FAULT_OVERLAP] = "overlap",
	[SIM_FAULT_FREEZE] = "freeze",
	[SIM_FAULT_CLOCK] = "clock",
	[SIM_FAULT_REPLAY] = "replay",
	[SIM_FAULT_KILL] = "kill",
	[SIM_FAULT_NONE] = "none",
};

/* The rate of a bad day; see sim_faults_draw() for the others. */
static const unsigned usual[SIM_FAULT_COUNT] = {
	[SIM_FAULT_LOST] = 60,
	[SIM_FAULT_REPLY] = 80,
	[SIM_FAULT_TWICE] = 60,
	[SIM_FAULT_LATE] = 25,
	[SIM_FAULT_CONFLICT] = 80,
	[SIM_FAULT_THROTTLED] = 60,
	[SIM_FAULT_ERROR] = 60,
	[SIM_FAULT_UNAVAILABLE] = 40,
	[SIM_FAULT_TIMEOUT] = 30,
	[SIM_FAULT_SLOW] = 10,
	[SIM_FAULT_COMPACT] = 10,
	[SIM_FAULT_CHUNKS] = 1000,
	[SIM_FAULT_CUT] = 100,
	[SIM_FAULT_LAG] = 150,
	[SIM_FAULT_SKIP] = 50,
	[SIM_FAULT_TRAVEL] = 3000,
	[SIM_FAULT_SILENT] = 3000,
	[SIM_FAULT_CRASH] = 60,
	[SIM_FAULT_OVERLAP] = 150,
	[SIM_FAULT_FREEZE] = 150,
	[SIM_FAULT_CLOCK] = 50,
	[SIM_FAULT_REPLAY] = 1500,
	[SIM_FAULT_KILL] = 150,
};

const char *sim_fault_name(enum sim_fault f)
{
	return names[f];
}

static enum sim_fault find(const char *name, size_t n)
{
	enum sim_fault f = 0;

	while (f < SIM_FAULT_COUNT && (strlen(names[f]) != n || strncmp(names[f], name, n) != 0))
		f++;
	return f;
}

static bool is_word(const char *word, size_t n, const char *what)
{
	return strlen(what) == n && strncmp(word, what, n) == 0;
}

static int add_word(const char *word, size_t n, uint32_t *set, struct kar_err *err)
{
	bool without = n > 0 && *word == '-';
	enum sim_fault f = find(word + without, n - without);

	if (is_word(word, n, "all"))
		*set = SIM_FAULTS_ALL;
	else if (is_word(word, n, "none"))
		*set = 0;
	else if (f == SIM_FAULT_NONE)
		return kar_fail(err, KAR_INVALID, "there is no fault \"%.*s\"", (int)n, word);
	else if (without)
		*set &= ~(UINT32_C(1) << f);
	else
		*set |= UINT32_C(1) << f;
	return 0;
}

int sim_faults_parse(const char *text, uint32_t *set, struct kar_err *err)
{
	uint32_t found = 0;

	for (;;) {
		size_t n = strcspn(text, ",");

		if (add_word(text, n, &found, err))
			return -1;
		if (!text[n])
			break;
		text += n + 1;
	}
	*set = found;
	return 0;
}

/* Half of the days know nothing of a fault; a few see it all the time. */
static unsigned draw_rate(struct sim_random *r, unsigned rate)
{
	enum { HALF = 500, OFTEN = 200, TIMES = 8 };

	if (sim_random_chance(r, HALF))
		return 0;
	if (sim_random_chance(r, OFTEN))
		return rate * TIMES;
	return 1 + (unsigned)sim_random_below(r, rate);
}

struct sim_faults sim_faults_draw(uint64_t seed, uint32_t set)
{
	struct sim_random r = sim_random_of(seed, "fault plan");
	struct sim_faults plan;

	for (enum sim_fault f = 0; f < SIM_FAULT_COUNT; f++) {
		unsigned rate = draw_rate(&r, usual[f]);

		plan.rate[f] = set >> f & 1 ? rate : 0;
	}
	return plan;
}
