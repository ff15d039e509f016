/*
 * manager - wires caches, reconcilers and executor together and runs them on one loop.
 *
 * Starts a reflector per cache, waits until every first list is in and, if it is a candidate, until it leads, then hands keys to the reconcilers in
 * slices (a few ms per turn of the loop, so that nothing else starves). Knows no kind: the caches and the reconcilers come with
 * the options (controllers/controllers.h).
 * The client is a seam: production passes the HTTP client, simulations another one.
 */
#ifndef KAR_MANAGER_H
#define KAR_MANAGER_H

#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/executor.h"

enum { KAR_MANAGER_CACHES = 40, KAR_MANAGER_CONTROLLERS = 20 }; /* at most */

/* A store that the manager keeps equal to the API server. */
struct kar_cache {
	struct kar_store *store;
	const char *label_selector; /* NULL: all objects */
	const char *
		if_missing; /* what a person can do if the API server does not know the type; NULL: nothing */
	bool of_own_namespace; /* named as namespaces are: a manager of one reads only the object of that name */
	/* It counts as empty as long as the API server does not know the type, or does not let us read it. A manager of one namespace does not ask. */
	bool optional;
	bool rare; /* most clusters do not have it: that it is absent is no news */
};

struct kar_manager_options {
	const char *ns;       /* only this namespace; NULL: all */
	const char *instance; /* this process in events: host name */
	uint64_t seed;        /* of jitter and names; must differ between replicas */
	bool candidate;       /* no reconciler runs before kar_manager_lead() */
	const struct kar_cache *caches;
	size_t n_caches;
	/* Each fills in the functions, .name and .memory_size of one controller. */
	void (*const *controllers)(struct kar_controller *c);
	size_t n_controllers;
	/* Handed to the controllers. */
	const struct kar_stores *stores;
	const struct kar_settings *settings;
	struct kar_executor_options executor;
	struct kar_metrics *
		metrics; /* with kar_runtime_metrics, and what the controllers count; borrowed; NULL: nothing */
	/* Called with @arg when the first list of each cache is in. NULL: not interested. */
	void (*ready)(void *arg);
	/* Called with @arg when the manager has been freed: it owns what the pointers above refer to. NULL: it does not. */
	void (*release)(void *arg);
	void *arg;
};

struct kar_manager;

/* @l and @client are borrowed and must outlive the manager; @o is copied, what it refers to borrowed. */
struct kar_manager *kar_manager_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_manager_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Starts the reflectors; everything else follows from the loop. */
void kar_manager_start(struct kar_manager *m) KAR_NONNULL;
/*
 * A candidate leads from now on. Its caches have been kept in sync and its queues filled all the time, so the reconcilers start without
 * a new list; of what its predecessor remembered they know nothing, as after a restart.
 */
void kar_manager_lead(struct kar_manager *m) KAR_NONNULL;
/*
 * Graceful stop: no new syncs, writes that were sent are waited for, at most 3 s, and events, at most 1 s; then @stopped is called from
 * the loop. @clean: all writes were answered, but perhaps not all events; else the manager must not be freed, only exited from.
 */
void kar_manager_stop(struct kar_manager *m, void (*stopped)(void *arg, bool clean), void *arg)
	__attribute__((nonnull(1, 2)));
void kar_manager_free(struct kar_manager *m); /* accepts NULL */

/* The parts of a manager, for what only reads them (manager_state.h). Borrowed, valid until the manager is freed. */
struct kar_manager_parts {
	struct kar_loop *loop;
	const struct kar_manager_options *options;
	struct kar_reflector *const *reflectors; /* one per cache */
	const struct kar_trouble *trouble;
	const struct kar_executor *executor;
	const struct kar_controller *controllers;
	const struct kar_measure *measures; /* one per controller */
	bool synced;                        /* the first list of each cache is in */
};
struct kar_manager_parts kar_manager_parts(const struct kar_manager *m) KAR_NONNULL;

#endif
