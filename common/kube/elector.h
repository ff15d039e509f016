/*
 * elector - leader election by a Lease: the shell around election.h.
 *
 * Reads and writes on the lane of the lease, which waits for nothing else. A candidate watches the lease, so that it learns at once when
 * the holder releases it, and reads it as often as client-go does, so that it learns of an outage. A leader renews it every .retry. Failed requests are repeated after .retry and up to 1.2 times that more, by
 * a leader four times as often; what stands in the way is logged when it is new, and every ten minutes.
 *
 * While it lives it is the fence of its client (kar_client_fence()): the client sends no write on the lane of writes at a moment for
 * which kar_election_may_write() does not hold.
 */
#ifndef KAR_ELECTOR_H
#define KAR_ELECTOR_H

#include "common/kube/client.h"
#include "common/kube/election.h"
#include "common/loop/loop.h"

struct kar_elector_options {
	const char *ns, *name; /* of the Lease */
	const char *identity;  /* what no other candidate has */
	const char *app;       /* of the label app.kubernetes.io/name of the Lease */
	struct kar_election_times times;
	uint64_t seed; /* of jitter; must differ between candidates */
	/* Called with @arg, from the loop: at most once each, .lost only after .won. */
	void (*won)(void *arg);
	/* Another one holds the lease. @holder: who; "" if nobody can be named. Nothing is written any more. */
	void (*lost)(void *arg, const char *holder);
	void *arg;
};

struct kar_elector;

/* All are borrowed; @l and @client must outlive the elector, @o's strings too. The client is fenced from now on. */
struct kar_elector *kar_elector_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_elector_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Becomes a candidate. */
void kar_elector_start(struct kar_elector *e) KAR_NONNULL;
/* Who holds the lease, as far as it knows: an identity; "" if nobody does. Until the next answer. */
const char *kar_elector_holder(const struct kar_elector *e) KAR_NONNULL;
/* Does this process lead, as far as it knows? */
bool kar_elector_leads(const struct kar_elector *e) KAR_NONNULL;
/* Does it lead, and could it write now? Not if it could not renew the lease in time. */
bool kar_elector_may_write(const struct kar_elector *e) KAR_NONNULL;
/*
 * Gives the lease back, if it is ours, and then calls @stopped, once, from the loop, within a second. Nothing may be in flight that
 * the successor must not meet.
 */
void kar_elector_stop(struct kar_elector *e, void (*stopped)(void *arg), void *arg)
	__attribute__((nonnull(1, 2)));
void kar_elector_free(
	struct kar_elector *e); /* accepts NULL; the lease stays as it is, and the fence closed */

#endif
