/*
 * logs - what logs.c, which reads once, and follow.c share. Internal to this folder.
 */
#ifndef KAR_KUBECTL_QJ_LOGS_H
#define KAR_KUBECTL_QJ_LOGS_H

#include "kubectl-qj/qj.h"

/* Bytes of one container become lines behind its name. */
struct qj_lines {
	struct qj *q;
	const char *prefix;
	struct kar_buf part; /* a line that has no end yet */
};
void qj_lines_put(struct qj_lines *l, const char *bytes, size_t n) KAR_NONNULL;
/* Prints what is left; frees. */
void qj_lines_end(struct qj_lines *l) KAR_NONNULL;

/* The log of a container, as the options ask for it. @last ms: what was said in them; 0: from its beginning. */
struct kar_request qj_log_request(struct qj *q, const char *pod, const char *container,
	kar_time last) KAR_NONNULL;
/* Selects the pods that are asked for. */
const char *qj_log_labels(struct qj *q) KAR_NONNULL KAR_RETNN;
const char *qj_log_prefix(struct qj *q, const struct qj_pod *pod,
	const char *container) KAR_NONNULL KAR_RETNN;
/* How long a log that ends well waits for the end of its container, ms, before it is asked for again. Tests shorten it. */
extern kar_time qj_log_patience;
/* Prints what comes, until the job has ended. Returns the exit status. */
int qj_logs_follow(struct qj *q) KAR_NONNULL;

#endif
