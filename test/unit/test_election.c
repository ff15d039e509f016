/* Who leads: stories of what a process sees and writes, and what it does then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/election.h"

/*
 * One story: words that are carried out from left to right, with the times of client-go (15 s, 10 s, 2 s).
 *   at:MS        it is that late
 *   none         there is no lease
 *   A:V[:S]      A ("-": nobody, "me", another) holds version V for S seconds (0: it does not say)
 *   wrote:V[:MS] our write was begun at MS (now) and has made version V
 *   failed doubt
 *   asked:MS     the next record is the answer to a read that was begun then
 * And what must hold:
 *   read create take renew lost wait:MS
 *   writes silent    a write may be sent now, or not
 */
static const struct {
	const char *name, *story;
} rows[] = {
	{ "nothing_is_known", "at:100 read silent" },
	{ "no_lease_is_created", "at:100 none create silent" },
	{ "lease_of_nobody_is_taken", "at:100 -:1:15 take" },
	{ "lease_without_a_duration_is_taken", "at:100 other:1:0 take" },
	{ "lease_of_another_is_waited_for",
		"at:100 other:1:15 wait:15100 at:15099 wait:15100 at:15100 take" },
	{ "for_his_duration_not_ours", "at:100 other:1:60 at:60099 wait:60100 at:60100 take" },
	{ "a_renewal_prolongs_it", "at:100 other:1:15 at:2100 other:2:15 at:15100 wait:17100 at:17100 take" },
	{ "the_same_version_does_not", "at:100 other:1:15 at:2100 other:1:15 wait:15100" },
	{ "a_released_lease_is_taken_at_once", "at:100 other:1:15 at:700 -:2:1 take" },
	{ "an_older_version_is_left_aside", "at:100 other:1:15 at:700 -:3:1 other:2:15 take" },
	{ "an_answer_to_an_older_question_is_left_aside",
		"at:100 other:1:15 at:700 -:3:1 asked:600 other:2:15 take" },
	{ "an_answer_of_the_same_moment_is_left_aside", "at:700 -:3:1 asked:700 other:2:15 take" },
	{ "restored_data_count",
		"at:100 other:9:15 at:5000 other:9:15 at:6000 asked:5900 other:4:15 wait:21000 at:8000 other:5:15 wait:23000 at:23000 take" },
	{ "restored_data_name_another_holder",
		"at:100 none wrote:9 at:2100 renew doubt read asked:2100 other:4:15 lost silent" },
	{ "a_leader_in_restored_data_goes_on",
		"at:100 none wrote:9 at:2100 renew doubt read at:2200 asked:2100 me:4:15 renew writes wrote:5 wait:4200 writes" },
	{ "another_candidate_is_faster",
		"at:100 other:1:15 at:15100 take doubt read third:2:15 wait:30100 silent" },
	{ "the_answer_to_our_write_was_lost", "at:100 none create failed read at:200 me:1:15 take silent" },
	{ "a_leader_renews", "at:100 none wrote:1 writes wait:2100 at:2100 renew wrote:2 wait:4100 writes" },
	{ "certainty_counts_from_the_begin_of_the_renewal",
		"at:5000 none wrote:1:100 writes at:10099 writes at:10100 silent" },
	{ "a_frozen_leader_is_silent_when_it_thaws", "at:100 none wrote:1 writes at:60000 silent renew" },
	{ "a_frozen_leader_finds_another",
		"at:100 none wrote:1 at:60000 silent renew doubt read other:7:15 lost silent" },
	{ "a_frozen_leader_whom_nobody_followed_goes_on",
		"at:100 none wrote:1 at:60000 silent renew wrote:2 writes" },
	{ "an_outage_costs_nobody_the_lease",
		"at:100 none wrote:1 at:2100 failed read at:14000 silent failed at:14500 me:1:15 renew silent wrote:2 writes" },
	{ "the_answer_to_a_renewal_was_lost",
		"at:100 none wrote:1 at:2100 renew failed read me:2:15 renew wrote:3 writes wait:4100" },
	{ "a_label_of_somebody_is_no_loss", "at:100 none wrote:1 at:2100 renew doubt read me:9:15 renew" },
	{ "another_name_in_the_lease_is_a_loss",
		"at:100 none wrote:1 at:2100 doubt read other:9:15 lost silent" },
	{ "an_empty_name_is_a_loss_too", "at:100 none wrote:1 at:2100 doubt read -:9:15 lost silent" },
	{ "lost_is_for_ever", "at:100 none wrote:1 doubt other:9:15 lost -:10:1 lost silent" },
	{ "a_deleted_lease_is_made_anew_in_time",
		"at:100 none wrote:1 at:2100 doubt none create writes wrote:5 writes" },
	{ "a_deleted_lease_is_lost_later", "at:100 none wrote:1 at:10100 doubt none lost silent" },
	{ "a_candidate_does_not_profit_from_a_deletion",
		"at:100 other:1:15 at:3000 none wait:15100 at:15100 create" },
	{ "after_an_outage_the_holder_goes_first",
		"at:100 other:1:15 at:5000 failed read at:20000 other:1:15 wait:30000 at:30000 take" },
	{ "one_request_that_fails_is_no_outage",
		"at:100 other:1:15 at:12000 other:1:15 failed read at:16000 other:1:15 take" },
	{ "one_outage_is_one_grace",
		"at:100 other:1:15 failed at:3000 other:1:15 wait:15100 at:12000 other:1:15 wait:15100" },
};

struct teller {
	const char *name, *word;
	struct kar_election e;
	kar_time now;
	kar_time asked; /* 0: the next record comes of a watch */
};

static void fail_at(const struct teller *t, const char *got)
{
	fail_msg("%s: at \"%s\" (%lld ms): %s", t->name, t->word, (long long)t->now, got);
}

static void check_move(const struct teller *t, enum kar_election_move want, const char *when)
{
	static const char *const names[] = { "wait", "read", "create", "take", "renew", "lost" };
	struct kar_election_step s = kar_election_next(&t->e, t->now);

	if (s.move != want)
		fail_at(t, names[s.move]);
	if (when && s.at != strtoll(when, NULL, 10))
		fail_at(t, "waits for another moment");
}

static struct kar_lease_record record(const char *holder, const char *version, const char *seconds)
{
	struct kar_lease_record r = { .exists = true,
		.ours = strcmp(holder, "me") == 0,
		.duration = seconds ? strtoll(seconds, NULL, 10) * KAR_SECOND : 15 * KAR_SECOND };

	snprintf(r.holder, sizeof(r.holder), "%s", strcmp(holder, "-") != 0 ? holder : "");
	snprintf(r.rv, sizeof(r.rv), "%s", version);
	return r;
}

static bool check(const struct teller *t, const char *what, const char *when)
{
	static const struct {
		const char *word;
		enum kar_election_move move;
	} moves[] = { { "wait", KAR_ELECTION_WAIT }, { "read", KAR_ELECTION_READ },
		{ "create", KAR_ELECTION_CREATE }, { "take", KAR_ELECTION_TAKE },
		{ "renew", KAR_ELECTION_RENEW }, { "lost", KAR_ELECTION_LOST } };

	for (size_t i = 0; i < KAR_LEN(moves); i++) {
		if (strcmp(what, moves[i].word) == 0) {
			check_move(t, moves[i].move, when);
			return true;
		}
	}
	if (strcmp(what, "writes") != 0 && strcmp(what, "silent") != 0)
		return false;
	if (kar_election_may_write(&t->e, t->now) != (what[0] == 'w'))
		fail_at(t, "the fence is wrong");
	return true;
}

static void tell(struct teller *t, char *word)
{
	char *save = NULL;
	const char *what = strtok_r(word, ":", &save), *a = strtok_r(NULL, ":", &save);
	const char *b = strtok_r(NULL, ":", &save);
	struct kar_lease_record r = { 0 };

	if (strcmp(what, "at") == 0) {
		t->now = strtoll(a, NULL, 10);
	} else if (strcmp(what, "asked") == 0) {
		t->asked = strtoll(a, NULL, 10);
	} else if (strcmp(what, "failed") == 0) {
		kar_election_failed(&t->e);
	} else if (strcmp(what, "doubt") == 0) {
		kar_election_doubt(&t->e);
	} else if (strcmp(what, "none") == 0) {
		kar_election_saw(&t->e, &r, t->now);
	} else if (strcmp(what, "wrote") == 0) {
		r = record("me", a, NULL);
		kar_election_wrote(&t->e, &r, b ? strtoll(b, NULL, 10) : t->now, t->now);
	} else if (!check(t, what, a)) {
		r = record(what, a, b);
		if (t->asked)
			(void)kar_election_restored(&t->e, &r, t->asked);
		t->asked = 0;
		kar_election_saw(&t->e, &r, t->now);
	}
}

static void stories_end_as_they_should(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct teller t = { .name = rows[i].name,
			.e = { .times = { 15 * KAR_SECOND, 10 * KAR_SECOND, 2 * KAR_SECOND } } };
		char story[256], word[64], *save = NULL;

		assert_true(snprintf(story, sizeof(story), "%s", rows[i].story) < (int)sizeof(story));
		for (char *w = strtok_r(story, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
			snprintf(word, sizeof(word), "%s", w);
			t.word = word;
			char copy[64];

			snprintf(copy, sizeof(copy), "%s", w);
			tell(&t, copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stories_end_as_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
