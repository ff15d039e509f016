/* The states of a placement and the steps between them (api/podgroup/placement.h, docs/design/podgroup.md, 4). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/podgroup/placement.h"
#include "common/base/buf.h"
#include "common/base/str.h"

/* --- which state may follow which ------------------------------------------------------------------ */

/* Each pair of states, "": none, with the steps that lead from one to the other; "": no step does, so it is refused. */
static const struct {
	const char *from, *to, *steps;
} pairs[] = {
	{ "", "", "" },
	{ "", "Waiting", "postpone" },
	{ "", "Placed", "begin" },
	{ "", "Unplaced", "begin" },
	{ "", "Satisfied", "adopt, satisfy" },
	{ "", "RollingBack", "" },
	{ "", "Deactivated", "" },
	{ "", "Reserving", "reserve" },
	{ "", "Suspended", "suspend" },
	{ "Waiting", "", "end" },
	{ "Waiting", "Waiting", "" },
	{ "Waiting", "Placed", "begin" },
	{ "Waiting", "Unplaced", "begin" },
	{ "Waiting", "Satisfied", "satisfy" },
	{ "Waiting", "RollingBack", "" },
	{ "Waiting", "Deactivated", "" },
	{ "Waiting", "Reserving", "reserve" },
	{ "Waiting", "Suspended", "suspend" },
	{ "Placed", "", "give up" },
	{ "Placed", "Waiting", "give up, reactivate" },
	{ "Placed", "Placed", "begin; renew and repair stay" },
	{ "Placed", "Unplaced", "give up, begin" },
	{ "Placed", "Satisfied", "satisfy" },
	{ "Placed", "RollingBack", "roll back, evict" },
	{ "Placed", "Deactivated", "" },
	{ "Placed", "Reserving", "" },
	{ "Placed", "Suspended", "suspend" },
	{ "Unplaced", "", "" },
	{ "Unplaced", "Waiting", "postpone, reactivate" },
	{ "Unplaced", "Placed", "begin" },
	{ "Unplaced", "Unplaced", "begin" },
	{ "Unplaced", "Satisfied", "satisfy" },
	{ "Unplaced", "RollingBack", "roll back, evict" },
	{ "Unplaced", "Deactivated", "" },
	{ "Unplaced", "Reserving", "" },
	{ "Unplaced", "Suspended", "suspend" },
	{ "Satisfied", "", "give up" },
	{ "Satisfied", "Waiting", "give up, postpone" },
	{ "Satisfied", "Placed", "begin" },
	{ "Satisfied", "Unplaced", "begin, give up" },
	{ "Satisfied", "Satisfied", "" },
	{ "Satisfied", "RollingBack", "roll back, evict" },
	{ "Satisfied", "Deactivated", "" },
	{ "Satisfied", "Reserving", "" },
	{ "Satisfied", "Suspended", "suspend" },
	{ "RollingBack", "", "" },
	{ "RollingBack", "Waiting", "wait, back off" },
	{ "RollingBack", "Placed", "" },
	{ "RollingBack", "Unplaced", "" },
	{ "RollingBack", "Satisfied", "" },
	{ "RollingBack", "RollingBack", "" },
	{ "RollingBack", "Deactivated", "deactivate" },
	{ "RollingBack", "Reserving", "" },
	{ "RollingBack", "Suspended", "suspend" },
	{ "Deactivated", "", "end" },
	{ "Deactivated", "Waiting", "reactivate" },
	{ "Deactivated", "Placed", "" },
	{ "Deactivated", "Unplaced", "" },
	{ "Deactivated", "Satisfied", "" },
	{ "Deactivated", "RollingBack", "" },
	{ "Deactivated", "Deactivated", "" },
	{ "Deactivated", "Reserving", "" },
	{ "Deactivated", "Suspended", "suspend" },
	{ "Reserving", "", "queue again, end" },
	{ "Reserving", "Waiting", "" },
	{ "Reserving", "Placed", "begin" },
	{ "Reserving", "Unplaced", "begin" },
	{ "Reserving", "Satisfied", "satisfy" },
	{ "Reserving", "RollingBack", "" },
	{ "Reserving", "Deactivated", "" },
	{ "Reserving", "Reserving", "" },
	{ "Reserving", "Suspended", "suspend" },
	{ "Suspended", "", "queue again, end" },
	{ "Suspended", "Waiting", "" },
	{ "Suspended", "Placed", "begin" },
	{ "Suspended", "Unplaced", "begin" },
	{ "Suspended", "Satisfied", "" },
	{ "Suspended", "RollingBack", "" },
	{ "Suspended", "Deactivated", "" },
	{ "Suspended", "Reserving", "reserve" },
	{ "Suspended", "Suspended", "" },
};

static enum kar_pg_state state_of(const char *name)
{
	for (unsigned s = KAR_PG_STATE_NONE; s < KAR_PG_STATES; s++) {
		if (kar_streq(kar_pg_state_name(s), name))
			return (enum kar_pg_state)s;
	}
	fail_msg("no state %s", name);
	return KAR_PG_STATE_NONE;
}

static void each_pair_of_states_is_allowed_or_refused(void **state)
{
	bool seen[KAR_PG_STATES][KAR_PG_STATES] = { 0 };
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(pairs); i++) {
		enum kar_pg_state from = state_of(pairs[i].from), to = state_of(pairs[i].to);
		bool wanted = pairs[i].steps[0];

		seen[from][to] = true;
		if (kar_pg_state_allows(from, to) == wanted)
			continue;
		print_error("\"%s\" to \"%s\": want %s\n", pairs[i].from, pairs[i].to,
			wanted ? "allowed" : "refused");
		failed++;
	}
	for (size_t i = 0; i < KAR_PG_STATES * KAR_PG_STATES; i++)
		failed += !seen[i / KAR_PG_STATES][i % KAR_PG_STATES];
	assert_int_equal(failed, 0);
	assert_false(kar_pg_state_allows(KAR_PG_STATES, KAR_PG_STATE_NONE));
	assert_false(kar_pg_state_allows(KAR_PG_STATE_NONE, KAR_PG_STATES));
}

/* --- what a step changes --------------------------------------------------------------------------- */

enum { NOW = 700 }; /* s; what was before is from second 100 */

static struct kar_pg_planned old_plan[] = { { "w", "n1*2" } }, new_plan[] = { { "w", "n2*2" } };
static const struct kar_pg_roles renewed = { .items = new_plan, .n = 1 };

static void put_number(struct kar_buf *out, const char *name, int64_t n)
{
	if (n)
		kar_buf_printf(out, " %s=%" PRId64, name, n);
}

static void put_text(struct kar_buf *out, const char *name, const char *text)
{
	if (kar_has_text(text))
		kar_buf_printf(out, " %s=%s", name, text);
}

/* Times in seconds; "-": no state. */
static void print(const struct kar_pg_placement *p, struct kar_buf *out)
{
	kar_buf_puts(out, p->state ? kar_pg_state_name(p->state) : "-");
	put_number(out, "attempt", p->attempt);
	put_number(out, "failures", p->failures);
	put_number(out, "repairs", p->repairs);
	put_number(out, "satisfied", p->satisfied_member);
	put_number(out, "generation", p->generation);
	put_number(out, "time", p->time / KAR_SECOND);
	put_number(out, "deadline", p->deadline / KAR_SECOND);
	put_number(out, "retry", p->retry_after / KAR_SECOND);
	put_text(out, "by", p->evicted_by);
	put_text(out, "hold", p->hold_ended_for);
	put_text(out, "requests", p->requests);
	put_text(out, "cause", p->cause);
	for (size_t i = 0; i < p->n_plan; i++)
		kar_buf_printf(out, " %s:%s", p->plan[i].role, p->plan[i].nodes);
}

static const struct kar_pg_placement *placed(void)
{
	static const struct kar_pg_placement p = { .state = KAR_PG_STATE_PLACED,
		.attempt = 2,
		.failures = 1,
		.repairs = 1,
		.time = 100 * KAR_SECOND,
		.deadline = 160 * KAR_SECOND,
		.requests = "cpu=2",
		.cause = "why",
		.plan = old_plan,
		.n_plan = 1 };

	return &p;
}

static struct kar_pg_placement in(enum kar_pg_state state)
{
	struct kar_pg_placement p = *placed();

	p.state = state;
	if (state == KAR_PG_STATE_PLACED)
		return p;
	p.repairs = 0;
	p.deadline = 0;
	p.n_plan = 0;
	return p;
}

static struct kar_pg_placement begin(const struct kar_pg_placement *old, kar_time now)
{
	const struct kar_pg_beginning b = { .plan = renewed,
		.placed = true,
		.deadline = now + KAR_MINUTE,
		.requests = "" };

	return kar_pg_begin(old, &b, now);
}

static struct kar_pg_placement begin_after_eviction(const struct kar_pg_placement *old, kar_time now)
{
	struct kar_pg_placement evicted = *old;

	evicted.evicted_by = "ns/t";
	evicted.retry_after = 1;
	evicted.generation = 3;
	return begin(&evicted, now);
}

static struct kar_pg_placement begin_without_places(const struct kar_pg_placement *old, kar_time now)
{
	const struct kar_pg_beginning b = { .of_others = true, .deadline = now + KAR_MINUTE, .requests = "" };
	struct kar_pg_placement had = *old;

	had.satisfied_member = 4;
	return kar_pg_begin(&had, &b, now);
}

static struct kar_pg_placement adopt(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_adopt(old, 4, now);
}

static struct kar_pg_placement renew(const struct kar_pg_placement *old, kar_time now)
{
	const struct kar_pg_renewal r = { .plan = renewed, .deadline = old->deadline };

	return kar_pg_renew(old, &r, now);
}

static struct kar_pg_placement renew_from_now(const struct kar_pg_placement *old, kar_time now)
{
	const struct kar_pg_renewal r = { .begins = true, .pause = KAR_MINUTE };

	return kar_pg_renew(old, &r, now);
}

static struct kar_pg_placement repair(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_repair(old, renewed, now);
}

static struct kar_pg_placement yield_hold(const struct kar_pg_placement *old, kar_time now KAR_UNUSED)
{
	return kar_pg_yield_hold(old, "ns/t");
}

static struct kar_pg_placement evict(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_evict(old, "ns/t", "evicted", now);
}

static struct kar_pg_placement reserve(const struct kar_pg_placement *old, kar_time now KAR_UNUSED)
{
	return kar_pg_reserve(old);
}

static struct kar_pg_placement queue_again(const struct kar_pg_placement *old, kar_time now KAR_UNUSED)
{
	return kar_pg_queue_again(old);
}

static struct kar_pg_placement end(const struct kar_pg_placement *old, kar_time now KAR_UNUSED)
{
	return kar_pg_end(old);
}

static struct kar_pg_placement satisfy(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_satisfy(old, 4, now);
}

static struct kar_pg_placement roll_back(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_roll_back(old, "late", false, now);
}

static struct kar_pg_placement roll_back_a_wave(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_roll_back(old, "late", true, now);
}

static struct kar_pg_placement give_up(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_give_up(old, KAR_PG_STATE_UNPLACED, false, now);
}

static struct kar_pg_placement begin_anew(const struct kar_pg_placement *old, kar_time now)
{
	struct kar_pg_placement had = *old;

	had.satisfied_member = 4;
	return kar_pg_give_up(&had, KAR_PG_STATE_NONE, true, now);
}

static struct kar_pg_placement postpone(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_postpone(old, "no places", now);
}

static struct kar_pg_placement back_off(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_back_off(old, 7, 1, now);
}

static struct kar_pg_placement deactivate(const struct kar_pg_placement *old, kar_time now)
{
	return kar_pg_deactivate(old, 7, now);
}

static struct kar_pg_placement set_clock_back(const struct kar_pg_placement *old, kar_time now KAR_UNUSED)
{
	return kar_pg_set_clock_back(old, 40 * KAR_SECOND);
}

#define AT(state) KAR_PG_STATE_##state

static const struct {
	const char *name;
	enum kar_pg_state from;
	struct kar_pg_placement (*step)(const struct kar_pg_placement *old, kar_time now);
	const char *expected;
} rows[] = {
	{ "begin", AT(WAITING), begin, "Placed attempt=3 failures=1 time=700 deadline=760 cause=why w:n2*2" },
	{ "begin_after_eviction", AT(WAITING), begin_after_eviction,
		"Placed attempt=3 failures=1 time=700 deadline=760 w:n2*2" },
	{ "begin_after_it_ran", AT(SATISFIED), begin,
		"Placed attempt=3 time=700 deadline=760 cause=why w:n2*2" },
	{ "begin_without_places", AT(NONE), begin_without_places,
		"Unplaced attempt=3 failures=1 satisfied=4 time=700 deadline=760 cause=why" },
	{ "adopt", AT(NONE), adopt,
		"Satisfied attempt=2 failures=1 satisfied=4 time=700 requests=cpu=2 cause=why" },
	{ "renew", AT(PLACED), renew,
		"Placed attempt=2 failures=1 repairs=1 time=100 deadline=160 requests=cpu=2 cause=why w:n2*2" },
	{ "renew_from_now", AT(SATISFIED), renew_from_now,
		"Satisfied attempt=2 failures=1 time=700 retry=760 requests=cpu=2 cause=why" },
	{ "repair", AT(PLACED), repair,
		"Placed attempt=2 failures=1 repairs=2 time=700 deadline=160 requests=cpu=2 cause=why w:n2*2" },
	{ "yield_hold", AT(PLACED), yield_hold,
		"Placed attempt=2 failures=1 repairs=1 time=100 deadline=160 hold=ns/t requests=cpu=2 cause=why w:n1*2" },
	{ "evict", AT(PLACED), evict,
		"RollingBack attempt=2 failures=1 time=700 by=ns/t requests=cpu=2 cause=evicted" },
	{ "evict_what_ran_for_ten_minutes", AT(SATISFIED), evict,
		"RollingBack attempt=2 time=700 by=ns/t requests=cpu=2 cause=evicted" },
	{ "reserve", AT(WAITING), reserve,
		"Reserving attempt=2 failures=1 time=100 requests=cpu=2 cause=why" },
	{ "suspend", AT(PLACED), kar_pg_suspend,
		"Suspended attempt=2 failures=1 time=700 requests=cpu=2 cause=why" },
	{ "suspend_what_ran_for_ten_minutes", AT(SATISFIED), kar_pg_suspend,
		"Suspended attempt=2 time=700 requests=cpu=2 cause=why" },
	{ "suspend_what_is_deactivated", AT(DEACTIVATED), kar_pg_suspend,
		"Suspended attempt=2 time=700 requests=cpu=2 cause=why" },
	{ "queue_again", AT(SUSPENDED), queue_again,
		"- attempt=2 failures=1 time=100 requests=cpu=2 cause=why" },
	{ "begin_after_a_claim", AT(RESERVING), begin,
		"Placed attempt=3 failures=1 time=700 deadline=760 cause=why w:n2*2" },
	{ "end", AT(WAITING), end, "-" },
	{ "satisfy", AT(PLACED), satisfy,
		"Satisfied attempt=2 failures=1 satisfied=4 time=700 requests=cpu=2" },
	{ "roll_back", AT(PLACED), roll_back,
		"RollingBack attempt=2 failures=1 time=700 requests=cpu=2 cause=late" },
	{ "roll_back_a_wave", AT(PLACED), roll_back_a_wave,
		"RollingBack attempt=2 failures=1 time=700 requests=cpu=2 cause=late w:n1*2" },
	{ "give_up", AT(PLACED), give_up, "Unplaced attempt=2 failures=1 time=700 cause=why" },
	{ "begin_anew", AT(SATISFIED), begin_anew, "- attempt=2 time=700 requests=cpu=2 cause=why" },
	{ "postpone", AT(UNPLACED), postpone,
		"Waiting attempt=2 failures=1 time=700 retry=760 requests=cpu=2 cause=no places" },
	{ "wait", AT(ROLLING_BACK), kar_pg_wait,
		"Waiting attempt=2 failures=1 time=700 requests=cpu=2 cause=why" },
	{ "back_off", AT(ROLLING_BACK), back_off,
		"Waiting attempt=2 failures=2 generation=7 time=700 retry=710 requests=cpu=2 cause=why" },
	{ "deactivate", AT(ROLLING_BACK), deactivate,
		"Deactivated attempt=2 failures=2 generation=7 time=700 requests=cpu=2 cause=why" },
	{ "reactivate", AT(DEACTIVATED), kar_pg_reactivate,
		"Waiting attempt=2 time=700 requests=cpu=2 cause=why" },
	{ "set_clock_back", AT(PLACED), set_clock_back,
		"Placed attempt=2 failures=1 repairs=1 time=40 deadline=100 requests=cpu=2 cause=why w:n1*2" },
};

static void a_step_changes_what_it_says(void **state)
{
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_pg_placement old = in(rows[i].from);
		const struct kar_pg_placement new = rows[i].step(&old, NOW * KAR_SECOND);
		struct kar_buf got = { 0 };

		print(&new, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].expected) != 0) {
			print_error("%s:\n  want %s\n  got  %s\n", rows[i].name, rows[i].expected,
				kar_buf_cstr(&got));
			failed++;
		}
		kar_buf_release(&got);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_of_states_is_allowed_or_refused),
		cmocka_unit_test(a_step_changes_what_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
