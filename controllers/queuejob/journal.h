/*
 * journal - what the changes of a job show of its life: counted, and logged. There is one log line for each change of a job's phase, at -v 2, so that a job can be followed when its events have expired.
 *
 *   "Job restarts" job="default/f2" phase="Restarting" reason="PodFailed" restarts=1 cause="pod f2-worker-1 on node n1 failed ..."
 *
 * The line is written when the cache shows the change: what the API server has accepted, once, also if the answer to the write was lost.
 * What a list skips, because the watch was away, is missing.
 */
#ifndef KAR_QUEUEJOB_JOURNAL_H
#define KAR_QUEUEJOB_JOURNAL_H

#include "api/types.h"
#include "common/base/metrics.h"

/* A job has changed from @old to @new; NULL: it did not or does not exist. */
void queuejob_log_change(const struct kar_object *old, const struct kar_object *new);
/*
 * The status @is has been written in the place of @was: counts a restart of the gang, or losses that were answered without one. Only
 * whoever writes counts, so that several managers together count once. @m may be NULL.
 */
void queuejob_count_written(struct kar_metrics *m, const struct kar_queuejob_status *was,
	const struct kar_queuejob_status *is);

#endif
