/*
 * tell - the event that says why a group waits: one for each kind of waiting. Pure.
 */
#ifndef KAR_PODGROUP_TELL_H
#define KAR_PODGROUP_TELL_H

#include "controllers/podgroup/podgroup.h"

/*
 * Adds the event of the kind of waiting that condition Scheduled shows already, if it is due and was not told, and asks to come again when it will be
 * due. Does nothing if @p writes a status, because that may end the wait. @now: wall ms.
 * Returns what is told from then on, for the next call as v->told.
 */
struct podgroup_told podgroup_tell(const struct podgroup_view *v, kar_time now,
	struct kar_plan *p) KAR_NONNULL;

#endif
