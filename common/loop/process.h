/*
 * process - what this process uses, as the kernel counts it in /proc.
 */
#ifndef KAR_PROCESS_H
#define KAR_PROCESS_H

#include "common/base/base.h"

struct kar_process_use {
	double cpu_seconds;    /* user and system */
	double start_time;     /* seconds since the Unix epoch */
	uint64_t virtual, rss; /* bytes */
	uint64_t fds, max_fds; /* open descriptors, and how many there may be */
};

/* What cannot be read stays 0. */
struct kar_process_use kar_process_use(void);

#endif
