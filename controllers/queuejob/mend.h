/*
 * mend - a status that contradicts itself is put right; internal to mend*.c, which see.
 *
 * Invariant: .fields names whatever differs in .st from what is recorded, so that it can be told.
 */
#ifndef KAR_QUEUEJOB_MEND_H
#define KAR_QUEUEJOB_MEND_H

#include "controllers/queuejob/round.h"

struct mend {
	struct queuejob_round *r;
	struct kar_queuejob_status *st; /* r->st */
	const char *fields;             /* "phase, startTime": what was wrong; "": nothing */
};

/* @field is wrong. */
void queuejob_mend_note(struct mend *m, const char *field) KAR_NONNULL;
/* *@at, which is @field, has to be @n. */
void queuejob_mend_number(struct mend *m, const char *field, int32_t *at, int32_t n) KAR_NONNULL;
void queuejob_mend_text(struct mend *m, const char *field, const char **at, const char *text)
	__attribute__((nonnull(1, 2, 3)));
/* Puts right what has succeeded of the tasks; the sum only of a job that has @ended, for else every round counts it. */
void queuejob_mend_results(struct mend *m, bool ended) KAR_NONNULL;
/* How many have succeeded, as all tasks say that are recorded. */
int32_t queuejob_counted_results(const struct mend *m) KAR_NONNULL;

#endif
