/*
 * wire - the network between the clients of a simulated cluster and its API server, with its faults.
 *
 * A request takes a few milliseconds to the server and its answer a few back, as the seed says. The wire carries on what
 * a client that has died or given up had sent already. Somebody may watch what passes: every request at the
 * moment of its execution, and every fault.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "sim/apiserver/apiserver.h"
#include "sim/faults.h"

struct kar_client;
struct sim_wire;

/* @s is borrowed. @faults is copied. */
struct sim_wire *sim_wire_new(struct sim_apiserver *s, uint64_t seed,
	const struct sim_faults *faults) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Accepts NULL. Its clients must be gone; what they left on the way is dropped. */
void sim_wire_free(struct sim_wire *w);
/* From now on all goes well; what has already gone wrong takes its course. */
void sim_wire_calm(struct sim_wire *w) KAR_NONNULL;
/* From now on @faults, which is copied, in place of those before. */
void sim_wire_disturb(struct sim_wire *w, const struct sim_faults *faults) KAR_NONNULL;

/*
 * All may be NULL. None may call a client or the server; they start an alarm.
 * @sent: @user starts @rq now: what it asks for comes of what it knows now. Not called for what is sent again by itself.
 * @handed: @rq of @user is handed to its connection, also if that happens again by itself.
 * @told: @user has read all of @resource up to version @rv; 0: it begins anew, with a list.
 * @heard: the answer of the server has come back to @user.
 * @executed: @rq has been executed; @user sent it. Not called for watches.
 * @struck: @fault happened to @rq (may be NULL: to nothing in particular). @client is NULL if it is gone.
 */
struct sim_wire_observer {
	void (*sent)(void *arg, const char *user, const struct sim_request *rq);
	void (*handed)(void *arg, const char *user, const struct sim_request *rq);
	void (*told)(void *arg, const char *user, const char *resource, int64_t rv);
	void (*heard)(void *arg, const char *user, const struct sim_request *rq,
		const struct sim_response *answer);
	void (*executed)(void *arg, const char *user, const struct sim_request *rq,
		const struct sim_response *answer);
	void (*struck)(void *arg, struct kar_client *client, enum sim_fault fault,
		const struct sim_request *rq);
	void *arg;
};
void sim_wire_observe(struct sim_wire *w, const struct sim_wire_observer *o) KAR_NONNULL;

/*
 * What the server would refuse to store, and another version of it, or another writer to its database, may still hold: an object
 * with this annotation is read by all clients with the annotation, a JSON merge patch, applied to it. It must leave name, UID and
 * version alone: without them an answer is no list.
 */
#define SIM_GARBLE "sim.kube-arbitrator.io/garble"

struct sim_wire_stats {
	uint64_t requests, watches, struck[SIM_FAULT_COUNT];
};
struct sim_wire_stats sim_wire_stats(const struct sim_wire *w) KAR_NONNULL;

#endif
