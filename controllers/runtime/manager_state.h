/*
 * manager_state - what a manager shows of itself: its metrics, whether it is ready, and its queues.
 */
#ifndef KAR_MANAGER_STATE_H
#define KAR_MANAGER_STATE_H

#include "common/codec/json.h"
#include "controllers/runtime/manager.h"

/* Sets the gauges of queues, caches and writes, and the counters that other modules count. */
void kar_manager_collect(const struct kar_manager *m) KAR_NONNULL;
/* The first list of each cache is in. */
bool kar_manager_synced(const struct kar_manager *m) KAR_NONNULL;
/* No cache has been failing for more than a minute. */
bool kar_manager_informed(const struct kar_manager *m) KAR_NONNULL;
/* Writes the members "controllers", "caches" and "writesInFlight" of a JSON object. */
void kar_manager_print(const struct kar_manager *m, struct kar_json_writer *w) KAR_NONNULL;

#endif
