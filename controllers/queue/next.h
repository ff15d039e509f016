/*
 * next - what becomes of a group: its status after a pass, and what of that is new. Internal to the shell of the Queue reconciler.
 */
#ifndef KAR_QUEUE_NEXT_H
#define KAR_QUEUE_NEXT_H

#include "controllers/queue/pass.h"

static inline bool queue_is_admitted(const struct kar_queue_decision *d)
{
	return d->standing == KAR_QUEUE_ADMITTED;
}

/* The message of its condition Admitted, in the arena of the sync. */
const char *queue_message(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL KAR_RETNN;
/* It waits for places, and gets none: its scheduler is another now, or it has no minimum, or no pods. */
bool queue_ends_waiting(const struct queue_group *qg, const struct kar_queue_decision *d) KAR_NONNULL;
/* It has no place yet for pods that are created bound, or names places that nobody needs. */
bool queue_renews_plan(const struct queue_group *qg, const struct kar_queue_decision *d) KAR_NONNULL;
/* The number of its pods is another now. One that is not elastic has no number, unless it was elastic before. */
bool queue_is_scaled(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL;
/*
 * Fills in @out, condition QuotaReserved as it is to be. False: it has none and needs none. Texts are in the arena of the sync.
 */
bool queue_reserved(const struct queue_pass *p, const struct queue_group *qg,
	struct kar_condition *out) KAR_NONNULL;
void queue_set_reserved(struct queue_pass *p, const struct queue_group *qg,
	struct kar_podgroup_status *st) KAR_NONNULL;
/* late.c: who of its late members may start is another number, or are others, than recorded. */
bool queue_lets_in(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL;
/* Into status.desired and .desiredOf of @st; of a group whose queue does not bound it there is none. */
void queue_set_let_in(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st) KAR_NONNULL;
/* "member w-3 waits: queue a is StrictFIFO: ns/h goes first", in the arena of the sync; NULL: none waits. */
const char *queue_who_is_late(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL;
/* Why it has no more pods, into status.scalingLimit of @st. The text is in the arena of the sync. */
void queue_set_limit(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st) KAR_NONNULL;
/* What is decided about edited templates is new: condition TemplatesAdmitted. */
bool queue_decides_edit(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL;
struct kar_podgroup_status queue_next_status(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL;

#endif
