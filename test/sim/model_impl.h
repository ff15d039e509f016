/*
 * model_impl - what the files of the model share. Private to model.c and model_jobs.c.
 */
#ifndef TEST_SIM_LEDGER_IMPL_H
#define TEST_SIM_LEDGER_IMPL_H

#include "test/sim/model.h"

static inline bool is_deleting(const struct sim_value *object)
{
	return sim_get(object, "metadata", "deletionTimestamp") != NULL;
}

/* When it began to be so; 0: it is not so. */
static inline kar_time since(bool is, kar_time was, kar_time now)
{
	return !is ? 0 : was ? was : now;
}

/* How far the gang of this incarnation has got. Work done before a suspension counts in all. */
void model_note_gang(struct model_job *j, int incarnation) KAR_NONNULL;
/* The job was admitted, or suspended, or neither any more. */
void model_note_run(const struct model *l, struct model_job *j) KAR_NONNULL;
/* A QueueJob was written. */
void model_note_job(struct model *l, const struct sim_change *c) KAR_NONNULL;

#endif
