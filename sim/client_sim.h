/*
 * client_sim - struct kar_client inside the simulation: door 1 of the API server.
 *
 * A drop-in for the HTTP client: the same answers, the same error classes and texts, the same waiting after 429, callbacks
 * from the loop only. Whatever it does is decided by the seed of its wire.
 */
#ifndef SIM_CLIENT_SIM_H
#define SIM_CLIENT_SIM_H

#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "sim/wire.h"

/*
 * @l: the virtual loop of the process, which gets its answers late while it is frozen. @user: who asks, and the user agent. All
 * three are borrowed and outlive the client.
 */
struct kar_client *sim_client_new(struct kar_loop *l, struct sim_wire *w,
	const char *user) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/*
 * The process dies: every open call ends with KAR_UNKNOWN at once, so that whoever waits for it can be freed, and nothing is
 * sent any more; calls started from now on are never answered. What had been sent still reaches the server.
 * Not from inside a callback of @base.
 */
void sim_client_kill(struct kar_client *base) KAR_NONNULL;

#endif
