/*
 * trouble - the log lines about lists and watches that fail.
 *
 * An outage concerns all caches: the API server is not reachable, does not accept the credentials, or is too busy. It is one error
 * line for all of them, and one line when each has had an answer again. Any other failure (403, 404, an answer that is not
 * understood) concerns one cache and has lines of its own. An error is logged when it begins and when its text, without numbers, is
 * new; and every 5 minutes with `since`, how long it has lasted. The line about the end has `after`: the time from the first failure
 * to the first answer after the last. There is no timer: the attempts of the reflectors are the clock.
 */
#ifndef KAR_TROUBLE_H
#define KAR_TROUBLE_H

#include "controllers/runtime/manager.h"

struct kar_trouble;

/* The caches and the namespace of @o. @o is borrowed and must outlive it. */
struct kar_trouble *kar_trouble_new(const struct kar_manager_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_trouble_free(struct kar_trouble *t); /* accepts NULL */
/* At @now (mono) an attempt to read cache number @i failed with @err. */
void kar_trouble_failed(struct kar_trouble *t, size_t i, const struct kar_err *err, kar_time now) KAR_NONNULL;
/* The API server has answered a request about cache @i. */
void kar_trouble_answered(struct kar_trouble *t, size_t i, kar_time now) KAR_NONNULL;
/* Cache @i is read as it should be. */
void kar_trouble_over(struct kar_trouble *t, size_t i, kar_time now) KAR_NONNULL;
/* ms for which cache @i has been failing at @now; 0: it is not. */
kar_time kar_trouble_lasts(const struct kar_trouble *t, size_t i, kar_time now) KAR_NONNULL;
/* Has an outage been logged that is not over? Then a write that has no answer is no news. */
bool kar_trouble_is_outage(const struct kar_trouble *t) KAR_NONNULL;
/* The same, and at last no connection was possible. */
bool kar_trouble_is_unreachable(const struct kar_trouble *t) KAR_NONNULL;

#endif
