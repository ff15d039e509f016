/*
 * expiry - events do not last: an hour after the last write they are gone, as with kube-apiserver --event-ttl=1h.
 */
#ifndef SIM_EXPIRY_H
#define SIM_EXPIRY_H

#include "sim/apiserver/internal.h"

struct sim_expiry;
struct sim_expiry *sim_expiry_new(struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_expiry_free(struct sim_expiry *x); /* accepts NULL */

#endif
