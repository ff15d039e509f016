#include "sim/nodes/behaviour.h"

#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/base/timefmt.h"

enum { MAX_EXIT_CODE = 255, MAX_CRASHES = 1000000 };

static const char *annotation(const struct sim_value *annotations, const char *key)
{
	char full[64];

	snprintf(full, sizeof(full), "test.kube-arbitrator.io/%s", key);
	return sim_text(sim_member(annotations, full));
}

static enum sim_outcome outcome_of(const struct sim_value *annotations, bool *given)
{
	static const char *const names[] = {
		[SIM_OUTCOME_RUN] = "run",
		[SIM_OUTCOME_SUCCEED] = "succeed",
		[SIM_OUTCOME_FAIL] = "fail",
		[SIM_OUTCOME_PENDING] = "pending",
		[SIM_OUTCOME_OOM] = "oom",
		[SIM_OUTCOME_HANG] = "hang",
		[SIM_OUTCOME_PULL_ERROR] = "pull-error",
		[SIM_OUTCOME_EVICT] = "evict",
	};
	const char *text = annotation(annotations, "outcome");

	*given = false;
	for (size_t i = 0; text && i < KAR_LEN(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*given = true;
			return (enum sim_outcome)i;
		}
	}
	return SIM_OUTCOME_RUN;
}

static kar_time duration(const struct sim_value *annotations, const char *key, kar_time otherwise)
{
	const char *text = annotation(annotations, key);
	kar_time ms;

	return text && kar_duration_parse(text, &ms) == 0 ? ms : otherwise;
}

static int number(const struct sim_value *annotations, const char *key, int least, int most, int otherwise)
{
	const char *text = annotation(annotations, key), *wrong = NULL;
	long long value;

	if (!text)
		return otherwise;
	value = strtonum(text, least, most, &wrong);
	return wrong ? otherwise : (int)value;
}

struct sim_behaviour sim_behaviour_of(const struct sim_value *annotations, const struct sim_nodes_options *o,
	struct sim_random *r)
{
	kar_time start = sim_random_between(r, o->start.low, o->start.high);
	kar_time stop = sim_random_between(r, o->stop.low, o->stop.high);
	kar_time run = sim_random_between(r, o->run.low, o->run.high);
	bool fails = sim_random_chance(r, o->fail_per_mille), given;
	enum sim_outcome outcome = outcome_of(annotations, &given);
	struct sim_behaviour b;

	if (!given && o->run.high > 0)
		outcome = fails ? SIM_OUTCOME_FAIL : SIM_OUTCOME_SUCCEED;
	b = (struct sim_behaviour){
		.outcome = outcome,
		.after = duration(annotations, "after", given ? 0 : run),
		.start = duration(annotations, "start-after", start),
		.stop = duration(annotations, "stop-after", stop),
		.crash_after = duration(annotations, "crash-after", -1),
		.exit_code = number(annotations, "exit-code", 1, MAX_EXIT_CODE, 1),
		.stop_exit_code =
			number(annotations, "stop-exit-code", 0, MAX_EXIT_CODE, SIM_EXIT_TERMINATED),
	};
	if (b.crash_after >= 0)
		b.crashes = (unsigned)number(annotations, "crashes", 0, MAX_CRASHES, 1);
	return b;
}

struct sim_end sim_behaviour_end(const struct sim_behaviour *b, unsigned run)
{
	struct sim_end failed = { .after = b->after, .exit_code = b->exit_code, .reason = "Error" };

	if (run < b->crashes) {
		failed.after = b->crash_after;
		return failed;
	}
	switch (b->outcome) {
	case SIM_OUTCOME_SUCCEED:
		return (struct sim_end){ .after = b->after, .reason = "Completed" };
	case SIM_OUTCOME_FAIL:
		return failed;
	case SIM_OUTCOME_OOM:
		return (struct sim_end){ .after = b->after,
			.exit_code = SIM_EXIT_KILLED,
			.reason = "OOMKilled" };
	case SIM_OUTCOME_EVICT:
		return (struct sim_end){ .after = b->after,
			.exit_code = SIM_EXIT_KILLED,
			.reason = "Error",
			.evicted = true };
	default:
		return (struct sim_end){ .after = KAR_NEVER };
	}
}

struct sim_end sim_behaviour_stop(const struct sim_behaviour *b, kar_time grace)
{
	struct sim_end end = { .after = b->stop, .exit_code = b->stop_exit_code };

	if (b->outcome == SIM_OUTCOME_HANG || b->stop > grace)
		end = (struct sim_end){ .after = grace, .exit_code = SIM_EXIT_KILLED };
	end.reason = end.exit_code ? "Error" : "Completed";
	return end;
}

kar_time sim_behaviour_backoff(unsigned restart)
{
	const kar_time first = 10 * KAR_SECOND, most = 5 * KAR_MINUTE;
	kar_time wait = first;

	if (restart <= 1)
		return 0;
	for (unsigned i = 2; i < restart && wait < most; i++)
		wait *= 2;
	return wait < most ? wait : most;
}
