/*
 * failure - the log lines and events about a plan that could not be carried out, or an object that could not be read.
 */
#ifndef KAR_FAILURE_H
#define KAR_FAILURE_H

#include "controllers/runtime/executor.h"
#include "controllers/runtime/controller.h"

/*
 * Logs a failure once per key and kind (class and message without the name of the object), and at -v 4 if it is one of the last four
 * kinds again. It is an error only if an operator can correct it: a refused create is the affair of the object's user, unless a role
 * lacks the verb, and is logged at -v 2. A write without an answer is no error in an @outage, which has been logged for all keys
 * (trouble.h), nor before the key's tenth. A refusal is an event as well.
 */
void kar_failure_report(struct kar_recorder *recorder, const struct kar_sync *s, const struct kar_outcome *o,
	bool outage) KAR_NONNULL;
/* A plan has succeeded: the next failure of any kind is reported again. */
void kar_failure_is_over(struct kar_key_state *state) KAR_NONNULL;
/* Reports @problem of @o once, in the log and as an event of the object: nothing else shows why nothing is done for it. */
void kar_failure_unreadable(struct kar_recorder *recorder, const struct kar_object *o,
	const char *problem) KAR_NONNULL;

#endif
