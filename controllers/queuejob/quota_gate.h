/*
 * quota_gate - decides which job may retry refused creates first when a ResourceQuota may have room again. It makes the wait queue of
 * quota_line.h the gate of the create back-off (controllers/runtime/create_backoff.h).
 */
#ifndef KAR_QUEUEJOB_QUOTA_GATE_H
#define KAR_QUEUEJOB_QUOTA_GATE_H

#include "controllers/queuejob/quota_line.h"
#include "controllers/runtime/create_backoff.h"

/* Its entries are struct kar_quota_place, in queuejob_shared.quotas (memory.h). */
extern const struct kar_create_gate queuejob_quota_gate;

#endif
