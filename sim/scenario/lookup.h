/*
 * lookup - from a name to its number. Pure; zero-initialise it.
 */
#ifndef SIM_LOOKUP_H
#define SIM_LOOKUP_H

#include "common/base/base.h"

struct sim_lookup {
	struct sim_lookup_slot *slots; /* owned */
	size_t room, n;
};

/* @name now means @number, whatever it meant before. It is borrowed and must live as long as the table. */
void sim_lookup_put(struct sim_lookup *l, const char *name, size_t number) KAR_NONNULL;
/* SIZE_MAX: unknown. */
size_t sim_lookup_get(const struct sim_lookup *l, const char *name) KAR_NONNULL;
void sim_lookup_release(struct sim_lookup *l) KAR_NONNULL;

/* "namespace/name", which no other object of the kind has; @ns NULL or "" for cluster-scoped ones. In @out, which is returned. */
enum { SIM_KEY_LEN = 1024 };
const char *sim_key(const char *ns, const char *name, char out[SIM_KEY_LEN]) KAR_RETNN
	__attribute__((nonnull(2, 3)));

#endif
