/*
 * barrier - read your own writes (KEP-5647): has the cache caught up with what a key has written?
 *
 * After each successful write the executor records the resourceVersion that the API server answered, per
 * key and resource type. A sync may decide only when the store of each such type has reached it;
 * deciding earlier could create a second pod or restart a gang twice. This replaces "expectations": nothing has to
 * be predicted, and nothing expires. Versions that cannot be compared are not recorded.
 */
#ifndef KAR_BARRIER_H
#define KAR_BARRIER_H

#include "common/kube/store.h"

struct kar_barrier;

struct kar_barrier *kar_barrier_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_barrier_free(struct kar_barrier *b); /* accepts NULL */
/* @key has written an object of @type, which now has version @rv (0: ignored). */
void kar_barrier_wrote(struct kar_barrier *b, const char *key, const struct kar_type *type,
	kar_rv rv) KAR_NONNULL;
/*
 * True if @store (of the type written) contains all that @key wrote; forgets what is reached. Ask for each store
 * that the sync reads.
 */
bool kar_barrier_passed(struct kar_barrier *b, const char *key, const struct kar_store *store) KAR_NONNULL;
/* The key's object is gone: forget it. */
void kar_barrier_forget(struct kar_barrier *b, const char *key) KAR_NONNULL;

#endif
