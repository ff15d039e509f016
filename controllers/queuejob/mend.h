/*
 * mend - a status that contradicts itself is put right; internal to mend*.c, which see.
 *
 * Invariant: .fields names whatever differs in .st from what is recorded, so that it can be told.
 */
#ifndef KAR_QUEUEJOB_MEND_H
#define KAR_QUEUEJOB_MEND_H

#include "controllers/queuejob/round.h"

struct ending; /* mend_end.c */

struct mend {
	struct queuejob_round *r;
	struct kar_queuejob_status *st; /* r->st */
	const char *fields;             /* "phase, startTime": what was wrong; "": nothing */
};

/* --- mend.c: what all of them use ----------------------------------------------------------------- */

/* @field is wrong. */
void queuejob_mend_note(struct mend *m, const char *field) KAR_NONNULL;
/* What is named has to be this; *@at is @field. A condition keeps its reason and time if it has the @value. */
void queuejob_mend_phase(struct mend *m, enum kar_qj_phase phase) KAR_NONNULL;
void queuejob_mend_number(struct mend *m, const char *field, int32_t *at, int32_t n) KAR_NONNULL;
void queuejob_mend_time(struct mend *m, const char *field, kar_time *at, kar_time t) KAR_NONNULL;
void queuejob_mend_text(struct mend *m, const char *field, const char **at, const char *text)
	__attribute__((nonnull(1, 2, 3)));
void queuejob_mend_condition(struct mend *m, const char *type, bool value, const char *reason) KAR_NONNULL;
void queuejob_mend_no_condition(struct mend *m, const char *type) KAR_NONNULL;

/* NULL: there is none. */
const struct kar_condition *queuejob_mend_find(const struct mend *m, const char *type) KAR_NONNULL;
bool queuejob_mend_is_true(const struct mend *m, const char *type) KAR_NONNULL;
bool queuejob_mend_has_live_pods(const struct mend *m) KAR_NONNULL;
/* @t is later than @than, whatever clocks have told them. */
bool queuejob_mend_is_after(kar_time t, kar_time than);

/* --- mend_end.c: an end --------------------------------------------------------------------------- */

/* The end that the status tells of: Completed or Failed. NULL: the job has not ended. */
const struct ending *queuejob_mend_ending_of(const struct mend *m) KAR_NONNULL;
void queuejob_mend_end(struct mend *m, const struct ending *e) KAR_NONNULL;

/* --- mend_life.c: the stage of a job that has not ended ------------------------------------------- */

void queuejob_mend_life(struct mend *m) KAR_NONNULL;

/* --- mend_results.c: what has succeeded ----------------------------------------------------------- */

/* Puts right what has succeeded of the tasks; the sum only of a job that has @ended, for else every round counts it. */
void queuejob_mend_results(struct mend *m, bool ended) KAR_NONNULL;
/* How many have succeeded, as all tasks say that are recorded. */
int32_t queuejob_counted_results(const struct mend *m) KAR_NONNULL;

#endif
