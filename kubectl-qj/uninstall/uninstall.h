/*
 * uninstall - `kubectl qj uninstall`: nothing of kar-controllers is left in the cluster, and nothing waits for it.
 *
 * In this order: Deployments are scaled to 0, and their pods waited for, so that no manager undoes the rest; gates and finalizers of
 * ours are released from pods (release_gates.h), and those of queues; then each kind of object that an installation consists of is deleted and waited for, the
 * policies first and the namespace last. Ours is what has the label app.kubernetes.io/name=kar-controllers, in whatever namespace.
 * Bindings that users made of our roles go before the roles; a CRD that another project has installed, too, only loses our label.
 * Deleting the CRDs deletes all jobs, queues and groups, and the garbage collector their pods. It has no state: run again, it goes
 * on where it was.
 */
#ifndef KAR_UNINSTALL_H
#define KAR_UNINSTALL_H

#include "kubectl-qj/uninstall/release_gates.h"

/* All in ms. Tests shorten them. */
struct kar_uninstall_times {
	kar_time pause; /* between two looks at what is left, at most */
	kar_time
		touch; /* without any progress, and again after each as long: a CRD that does not go is touched */
	kar_time patience; /* without any progress */
	const struct kar_release_times *release;
};
extern const struct kar_uninstall_times kar_uninstall_default_times;

struct kar_uninstall_options {
	bool keep_crds;
	uint64_t seed; /* of jitter */
	FILE *out;     /* progress, one line each; borrowed */
	const struct kar_uninstall_times *times;
};

/* Runs @l until it is done. Returns -1 if something is left, or nobody knows; @err says what, why and what to do. */
int kar_uninstall(struct kar_loop *l, struct kar_client *client, const struct kar_uninstall_options *o,
	struct kar_err *err) KAR_NONNULL KAR_MUSTUSE;

#endif
