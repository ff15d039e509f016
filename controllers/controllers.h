/*
 * controllers - makes the manager with all caches and reconcilers of kar-controllers. It has the only list of the reconcilers.
 */
#ifndef KAR_CONTROLLERS_H
#define KAR_CONTROLLERS_H

#include "controllers/cluster/caches.h"

struct kar_controllers_options {
	const char *ns;       /* the only namespace to manage; NULL: all */
	const char *instance; /* name of this process in events: its host name */
	uint64_t seed;        /* of jitter and names; must differ between replicas */
	bool candidate;       /* waits for kar_manager_lead() */
	struct kar_settings settings;
	struct kar_executor_options executor;
	struct kar_metrics *metrics; /* of kar_all_metrics_new(); borrowed; NULL: nothing is counted */
};

/* Those of a manager that is started without flags. */
struct kar_settings kar_default_settings(void);
/* @l and @client are borrowed and must outlive the manager; @o is copied, its strings borrowed. */
struct kar_manager *kar_controllers_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_controllers_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;

/* X(function): the reconcilers. Each function fills in the name, the functions and the memory size of @c. */
#define KAR_CONTROLLERS(X) \
	X(kar_queuejob_controller) \
	X(kar_podgroup_controller) \
	X(kar_queue_controller) \
	X(kar_schedulingspec_controller) \
	X(kar_trainingjob_controller) \
	X(kar_topology_controller) \
	X(kar_flavor_controller) \
	X(kar_suspend_batchjobs_controller) \
	X(kar_suspend_jobsets_controller) \
	X(kar_suspend_pytorchjobs_controller) \
	X(kar_suspend_tfjobs_controller) \
	X(kar_suspend_xgboostjobs_controller) \
	X(kar_suspend_paddlejobs_controller) \
	X(kar_suspend_jaxjobs_controller) \
	X(kar_suspend_mpijobs_controller) \
	X(kar_suspend_rayclusters_controller) \
	X(kar_suspend_rayjobs_controller)

#define KAR_CONTROLLERS_DECLARE(fn) void fn(struct kar_controller *c) KAR_NONNULL;
KAR_CONTROLLERS(KAR_CONTROLLERS_DECLARE)
#undef KAR_CONTROLLERS_DECLARE

#endif
