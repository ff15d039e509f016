/*
 * trainingjob_queuejob - the QueueJob that is made of a TrainingJob: a pure function (docs/TRAININGJOB.md has the table).
 *
 * Its tasks are master (only with fault_tolerant), pserver and trainer. Trainers above min-instance are the pods that the queue may
 * take and give back. What the programs of Paddle read from their environment is set as Paddle's own controller sets it.
 */
#ifndef KAR_API_TRAININGJOB_QUEUEJOB_H
#define KAR_API_TRAININGJOB_QUEUEJOB_H

#include "api/trainingjob/trainingjob.h"

struct kar_json_writer;

#define KAR_TRAINING_MASTER "master"
#define KAR_TRAINING_PSERVER "pserver"
#define KAR_TRAINING_TRAINER "trainer"
#define KAR_LABEL_TRAINING_UID "paddle-job-uid" /* of the QueueJob */

/*
 * Digest of all that the QueueJob of @t is made of: of its generation, its keys and @trainers, the replicas of the task trainer. A new version of
 * the manager, which may write some things in another way, changes none; so it restarts no training. In @arena.
 */
const char *kar_training_digest(const struct kar_trainingjob *t, int32_t trainers,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
/* Writes the spec of the QueueJob as an object. @t has no .problem. */
void kar_training_write_spec(struct kar_json_writer *w, const struct kar_trainingjob *t,
	int32_t trainers) KAR_NONNULL;

#endif
