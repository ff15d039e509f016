/* Scenario files: what is refused says where and why; what is accepted has its jobs and events in order of time. */
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "test/fuzz/fuzz.h"

static void check_refusal(const struct sim_causes *causes, const struct kar_err *err)
{
	FUZZ_CHECK(causes->n || err->what != KAR_OK, "refused without a reason");
	for (size_t i = 0; i < causes->n; i++)
		FUZZ_CHECK(causes->items[i].field && *causes->items[i].message, "cause %zu is empty", i);
}

static void check_jobs(const struct sim_scenario *s)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		FUZZ_CHECK(s->jobs[i].at >= 0 && (i == 0 || s->jobs[i].at >= s->jobs[i - 1].at),
			"job %zu at %lld", i, (long long)s->jobs[i].at);
		FUZZ_CHECK(sim_get_text(s->jobs[i].object, "metadata", "name"), "job %zu has no name", i);
		FUZZ_CHECK(sim_kind(sim_get(s->jobs[i].object, "spec")) == SIM_OBJECT, "job %zu has no spec",
			i);
	}
}

static void check_events(const struct sim_scenario *s)
{
	for (size_t i = 0; i < s->n_events; i++) {
		FUZZ_CHECK(s->events[i].at >= 0 && (i == 0 || s->events[i].at >= s->events[i - 1].at),
			"event %zu at %lld", i, (long long)s->events[i].at);
		FUZZ_CHECK(s->events[i].what < SIM_SCENARIO_ACTIONS && s->events[i].name, "event %zu", i);
	}
}

/* A hundred thousand jobs are allowed and take their time, of which a fuzzer has little. */
static bool is_costly(const char *text)
{
	for (const char *p = strstr(text, "count"); p; p = strstr(p + 1, "count")) {
		const char *digits = p + strcspn(p, "0123456789\n");

		if (strspn(digits, "0123456789abcdefxABCDEF") > 2)
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_causes causes = { 0 };
	struct kar_err err = { 0 };
	struct sim_scenario s;
	char *text = fuzz_text(data, n);
	bool costly = is_costly(text);

	free(text);
	if (costly)
		return 0;
	if (sim_scenario_parse((const char *)data, n, NULL, &s, &causes, &err)) {
		check_refusal(&causes, &err);
	} else {
		check_jobs(&s);
		check_events(&s);
		FUZZ_CHECK(s.until >= 0 && s.run.low >= 0 && s.run.low <= s.run.high, "times of the whole");
		for (size_t i = 0; i < s.n_pools; i++)
			FUZZ_CHECK(s.pools[i].name && s.pools[i].count >= 0, "node %zu", i);
	}
	sim_causes_release(&causes);
	sim_scenario_release(&s);
	return 0;
}
