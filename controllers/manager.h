/*
 * manager - wires caches, reconcilers and executor together and runs them on one loop.
 *
 * Starts a reflector per resource type, waits until every first list is in, then hands keys to the reconcilers in
 * slices (a few ms per turn of the loop, so that nothing else starves). Knows no resource type's meaning.
 * The client is a seam: production passes the HTTP client, simulations another one.
 */
#ifndef KAR_MANAGER_H
#define KAR_MANAGER_H

#include "common/kube/client.h"
#include "common/loop.h"
#include "controllers/apply.h"
#include "controllers/controller.h"

struct kar_manager_options {
	const char *ns;       /* only this namespace; NULL: all */
	const char *instance; /* this process in events: host name */
	struct kar_settings settings;
	struct kar_executor_options executor;
};

struct kar_manager;

/* @l and @client are borrowed and must outlive the manager; @o is copied, its strings borrowed. */
struct kar_manager *kar_manager_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_manager_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Starts the reflectors; everything else follows from the loop. */
void kar_manager_start(struct kar_manager *m) KAR_NONNULL;
/*
 * Graceful stop: no new syncs, writes that were sent are waited for (at most 10 s, events included), then @stopped
 * is called from the loop. @clean: everything was answered; else the manager must not be freed, only exited from.
 */
void kar_manager_stop(struct kar_manager *m, void (*stopped)(void *arg, bool clean), void *arg)
	__attribute__((nonnull(1, 2)));
void kar_manager_free(struct kar_manager *m); /* accepts NULL */

#endif
