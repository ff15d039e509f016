/*
 * probe - asks for all caches whether the API server is back.
 *
 * Each cache waits longer from failure to failure. So that nobody waits for the end of such a pause when the server has come back,
 * one GET of /readyz, two or three times a second and one at a time, asks for all of them. Any answer below 500 except 429 means "ready",
 * also that of a proxy that does not know the path (404); that the manager may not ask (401, 403) only when it is repeated for some
 * seconds.
 */
#ifndef KAR_PROBE_H
#define KAR_PROBE_H

#include "common/kube/client.h"
#include "common/loop/loop.h"

struct kar_probe;

/* @on_ready is called for each answer "ready" and may stop the probe, but not free it. @l and @client are borrowed. */
struct kar_probe *kar_probe_new(struct kar_loop *l, struct kar_client *client, uint64_t seed,
	void (*on_ready)(void *arg), void *arg) KAR_MUSTUSE KAR_RETNN;
/* The first request follows within a second. Does nothing while it runs. */
void kar_probe_start(struct kar_probe *p) KAR_NONNULL;
void kar_probe_stop(struct kar_probe *p) KAR_NONNULL;
void kar_probe_free(struct kar_probe *p); /* accepts NULL */

#endif
