/*
 * election - who leads, and for how long that is certain: the rules of client-go's leader election. Pure.
 *
 * One Lease names the holder, who renews it. A candidate judges by its own clock: it counts from the moment at which it saw the record
 * as it is now, so wrong clocks do no harm, and it takes the lease when the holder has not written for the duration that the record
 * names. Every write names the version that it is based on, so that of two who take the lease one is refused.
 *
 * A leader counts from the beginning of its last renewal that succeeded. Until the renew deadline after that nobody else can have taken
 * the lease, and only until then it may write. Later it asks on: if the record is still its own, nobody has led meanwhile, and it goes
 * on; if not, the lease is lost. So an API server that is away for a while costs nobody the lease.
 *
 * All times are mono ms of a clock that goes on while the machine sleeps.
 */
#ifndef KAR_ELECTION_H
#define KAR_ELECTION_H

#include "common/base/base.h"

struct kar_election_times {
	kar_time duration; /* ms for which others wait after the last renewal */
	kar_time
		deadline; /* ms after the beginning of a renewal in which the holder may write; less than .duration */
	kar_time retry; /* ms between two renewals; less than .deadline / 1.2 */
};

enum { KAR_LEASE_TEXT = 256 };

/* What a Lease says. */
struct kar_lease_record {
	bool exists;
	char rv[KAR_LEASE_TEXT];     /* metadata.resourceVersion */
	char holder[KAR_LEASE_TEXT]; /* spec.holderIdentity, perhaps cut; "": nobody */
	bool ours;                   /* that is this process */
	kar_time duration;           /* ms; 0: it says none */
	int64_t transitions;         /* how often the holder has changed */
};

enum kar_election_move {
	KAR_ELECTION_WAIT,   /* until .at, or until the record changes */
	KAR_ELECTION_READ,   /* the lease */
	KAR_ELECTION_CREATE, /* the lease does not exist */
	KAR_ELECTION_TAKE,   /* write our name into it */
	KAR_ELECTION_RENEW,  /* write the time into it */
	KAR_ELECTION_LOST,   /* another one holds it: for ever */
};

struct kar_election_step {
	enum kar_election_move move;
	kar_time at; /* mono; KAR_NEVER: until the record changes */
};

/* Zero-initialise all but .times. */
struct kar_election {
	struct kar_election_times times;
	struct kar_lease_record record; /* as it was seen last */
	bool known;                     /* .record is what the API server said last */
	bool leads, lost;
	bool interrupted;  /* a request has failed, and none has succeeded since */
	kar_time answered; /* the last one that has succeeded */
	kar_time since;    /* .record was seen first; or what was there before it was deleted */
	kar_time noted;    /* .record was seen last */
	kar_time earliest; /* not taken from another holder before that */
	kar_time renewed;  /* while .leads: the last renewal that succeeded began then */
};

/* The API server says that this is the lease. What is older than what is known is left aside. */
void kar_election_saw(struct kar_election *e, const struct kar_lease_record *record,
	kar_time now) KAR_NONNULL;
/*
 * To be asked before kar_election_saw() about the answer to a read that was begun at @begun. It cannot be older than what was known by
 * then, unless the data of the API server have been restored from a backup. If so, the version that was known is forgotten: @record
 * counts, and watches begin again.
 */
bool kar_election_restored(struct kar_election *e, const struct kar_lease_record *record,
	kar_time begun) KAR_NONNULL;
/* Our write, which was begun at @begun, has made @record of it. */
void kar_election_wrote(struct kar_election *e, const struct kar_lease_record *record, kar_time begun,
	kar_time now) KAR_NONNULL;
/* Somebody else wrote first, or the outcome of a write is not known: the record must be read. */
void kar_election_doubt(struct kar_election *e) KAR_NONNULL;
/* The API server did not answer, or cannot be asked. */
void kar_election_failed(struct kar_election *e) KAR_NONNULL;
/* What to do now. */
struct kar_election_step kar_election_next(const struct kar_election *e, kar_time now) KAR_NONNULL;
/* May a write be sent now? */
bool kar_election_may_write(const struct kar_election *e, kar_time now) KAR_NONNULL;

#endif
