#include "common/kube/election.h"

#include <string.h>

#include "common/kube/object.h"

static bool is_same(const struct kar_lease_record *a, const struct kar_lease_record *b)
{
	return a->exists == b->exists && strcmp(a->rv, b->rv) == 0;
}

/* An answer may come after the event of a later version. Versions that are no numbers cannot be compared. */
static bool is_older(const struct kar_lease_record *a, const struct kar_lease_record *b)
{
	kar_rv x = kar_rv_parse(a->rv), y = kar_rv_parse(b->rv);

	return x && y && x < y;
}

bool kar_election_may_write(const struct kar_election *e, kar_time now)
{
	return e->leads && now < e->renewed + e->times.deadline;
}

/*
 * A holder that could not reach the API server either may still wait for an answer that never comes, and then needs a moment to renew.
 * Else a candidate would take the lease as soon as the server is back, and the holder would give up for nothing. A request that fails now
 * and then is no such outage: the holder has renewed meanwhile, or is gone.
 */
static void note_answer(struct kar_election *e, kar_time now)
{
	if (e->interrupted && now - e->answered >= e->times.deadline)
		e->earliest = now + e->times.deadline;
	e->interrupted = false;
	e->answered = now;
}

/* Who has deleted the lease did not stop its holder: a candidate still waits for that, and the holder makes a new one in time. */
static void note_deleted(struct kar_election *e, kar_time now)
{
	e->record.exists = false;
	e->record.rv[0] = '\0';
	if (e->leads && !kar_election_may_write(e, now))
		e->lost = true;
}

void kar_election_saw(struct kar_election *e, const struct kar_lease_record *record, kar_time now)
{
	note_answer(e, now);
	e->known = true;
	if (record->exists && is_older(record, &e->record))
		return;
	e->noted = now;
	if (!record->exists) {
		note_deleted(e, now);
	} else if (!is_same(&e->record, record)) {
		e->record = *record;
		e->since = now;
	}
	e->lost |= e->leads && record->exists && !record->ours;
	e->leads &= !e->lost;
}

bool kar_election_restored(struct kar_election *e, const struct kar_lease_record *record, kar_time begun)
{
	bool restored = record->exists && is_older(record, &e->record) && begun > e->noted;

	if (restored)
		e->record.rv[0] = '\0'; /* nothing is older than no version */
	return restored;
}

void kar_election_wrote(struct kar_election *e, const struct kar_lease_record *record, kar_time begun,
	kar_time now)
{
	kar_election_saw(e, record, now);
	if (!record->ours || e->lost)
		return;
	e->leads = true;
	e->renewed = begun;
}

void kar_election_doubt(struct kar_election *e)
{
	e->known = false;
}

void kar_election_failed(struct kar_election *e)
{
	e->known = false;
	e->interrupted = true;
}

static struct kar_election_step at(enum kar_election_move move, kar_time when)
{
	return (struct kar_election_step){ move, when };
}

static struct kar_election_step lead(const struct kar_election *e, kar_time now)
{
	kar_time due = e->renewed + e->times.retry;

	if (now < due)
		return at(KAR_ELECTION_WAIT, due);
	return at(e->record.exists ? KAR_ELECTION_RENEW : KAR_ELECTION_CREATE, now);
}

/* When a candidate may take the lease. A record that names nobody, or no duration, keeps nobody out. */
static kar_time free_at(const struct kar_election *e)
{
	const struct kar_lease_record *r = &e->record;
	kar_time expires = e->since + r->duration;

	if (!r->holder[0] || r->ours || !r->duration)
		return 0;
	return expires > e->earliest ? expires : e->earliest;
}

struct kar_election_step kar_election_next(const struct kar_election *e, kar_time now)
{
	kar_time when;

	if (e->lost)
		return at(KAR_ELECTION_LOST, now);
	if (!e->known)
		return at(KAR_ELECTION_READ, now);
	if (e->leads)
		return lead(e, now);
	when = free_at(e);
	if (now < when)
		return at(KAR_ELECTION_WAIT, when);
	return at(e->record.exists ? KAR_ELECTION_TAKE : KAR_ELECTION_CREATE, now);
}
