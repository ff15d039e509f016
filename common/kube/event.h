/*
 * event - Kubernetes Events that `kubectl describe` shows.
 *
 * events.k8s.io/v1 objects, sent one after the other on their own small budget: recording never blocks and never
 * fails a sync. Equal events (same object, type, reason and note) become a series (PATCH with
 * count and lastObservedTime); a spam filter per object (burst 25, one more every 5 min) and a bounded queue drop
 * the rest. Transport errors are tried again; an answer from the API server other than 429 ends the event.
 */
#ifndef KAR_EVENT_H
#define KAR_EVENT_H

#include "common/kube/client.h"
#include "common/loop/loop.h"

struct kar_recorder;

/* @seed: of names and jitter; must differ between replicas, which may record in the same millisecond. */
struct kar_recorder *kar_recorder_new(struct kar_loop *l, struct kar_client *client, const char *controller,
	const char *instance, uint64_t seed) KAR_MUSTUSE KAR_RETNN;
void kar_recorder_free(struct kar_recorder *r); /* accepts NULL; drops what is queued */

enum kar_event_type { KAR_NORMAL, KAR_WARNING };
/*
 * Queues one event about @about. @reason: CamelCase; @action: what the controller did or tried, CamelCase; @note: for
 * people, at most 1024 bytes are sent. All strings are copied.
 */
void kar_recorder_event(struct kar_recorder *r, const struct kar_object_ref *about, enum kar_event_type type,
	const char *reason, const char *action, const char *note) KAR_NONNULL;
/*
 * While @busy, more important writes wait for the API server: events wait too, each for at most 5 s. The caller says
 * so whenever it may have changed, and again from time to time while it is busy.
 */
void kar_recorder_busy(struct kar_recorder *r, bool busy) KAR_NONNULL;
/* Events not yet answered; 0 means a graceful stop need not wait. */
size_t kar_recorder_pending(const struct kar_recorder *r) KAR_NONNULL;

#endif
