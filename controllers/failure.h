/*
 * failure - what people are told when a plan could not be carried out.
 */
#ifndef KAR_FAILURE_H
#define KAR_FAILURE_H

#include "controllers/apply.h"
#include "controllers/controller.h"

/*
 * In the log: as an error once per key and kind (class and words, whichever object they name); one of the last four kinds again
 * is for those who look closely. A refusal also as an event.
 */
void kar_failure_tell(struct kar_recorder *recorder, const struct kar_sync *s,
	const struct kar_outcome *o) KAR_NONNULL;
/* A plan has gone through: what fails from now on is told anew. */
void kar_failure_is_over(struct kar_key_state *state) KAR_NONNULL;

#endif
