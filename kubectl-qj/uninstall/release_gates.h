/*
 * release_gates - `kubectl qj release-gates`: no pod waits any more for a manager that will not come back.
 *
 * First the bindings of our MutatingAdmissionPolicy (manifests/gangs) are deleted, so that the API server gates no more pods.
 * Then each pod that has our gate loses it, and no other: one strategic merge patch per pod, with its UID. This goes on in sweeps
 * over a cache of the pods without a node, until none has the gate. It does not matter whose pods they are, so the manager should be
 * stopped: gangs of others that wait would start one by one. Run again, it goes on where
 * it was; it has no state. With .finalizers, as `kubectl qj uninstall` does it, all pods also lose our finalizer, without which
 * nobody else would end them.
 */
#ifndef KAR_RELEASE_GATES_H
#define KAR_RELEASE_GATES_H

#include <stdio.h>

#include "common/kube/client.h"
#include "common/loop/loop.h"

/* All in ms. Tests shorten them. */
struct kar_release_times {
	kar_time pause;    /* between two sweeps */
	kar_time settle;   /* for which API servers may still go by a binding that is deleted */
	kar_time report;   /* between two lines of progress */
	kar_time patience; /* with an API server that answers it is busy (429), and nothing else */
};
extern const struct kar_release_times kar_release_default_times;

struct kar_release_options {
	const char *ns;      /* only its pods, and the bindings stay; NULL: all */
	bool finalizers;     /* not only gates */
	const char *command; /* what the user is told to run again */
	uint64_t seed;       /* of jitter */
	FILE *out;           /* progress, one line each; borrowed */
	const struct kar_release_times *times;
};

/* The API server answered that it could not do it now. An overloaded one says so for a while. */
bool kar_is_busy(const struct kar_err *why) KAR_NONNULL;
/* "@what: @why; run @command again ..." with what can be done about it, as @err. Returns -1. */
int kar_give_up(struct kar_err *err, const char *command, const char *what,
	const struct kar_err *why) KAR_NONNULL;

/*
 * Runs @l until it is done. Returns -1 if pods keep the gate or nobody knows; @err says why and what to do. One try that is refused
 * does not end it: it goes on with the other pods, and gives up when none of them can be released any more.
 */
int kar_release_gates(struct kar_loop *l, struct kar_client *client, const struct kar_release_options *o,
	struct kar_err *err) KAR_NONNULL KAR_MUSTUSE;

#endif
