/*
 * report - a record for people and programs: tables, JSON, and a Gantt chart as one self-contained SVG or HTML page.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "common/base/buf.h"
#include "sim/scenario/record.h"

/* A summary in a few lines, a table of jobs, one of what queues have of the cpu over time, one of nodes. */
void sim_report_table(const struct sim_record *r, struct kar_buf *out) KAR_NONNULL;
/* {"summary":{...},"jobs":[...],"pods":[...],"nodes":[...],"cpu":{...}}; cpu: shares of the queues over time, per step. Times in seconds after the start, null for what has not happened. */
void sim_report_json(const struct sim_record *r, struct kar_buf *out) KAR_NONNULL;
/*
 * One bar per job, coloured by phase; one band per queue, if there are several: what it has of the cpu, and above that what its waiting jobs
 * ask for; and one lane per node, filled by its pods in proportion to what they ask for. Of more than 60 jobs the largest have bars, and
 * colours are those of the queues.
 */
void sim_report_svg(const struct sim_record *r, const char *title, struct kar_buf *out) KAR_NONNULL;
/* The same picture in a page with the tables. */
void sim_report_html(const struct sim_record *r, const char *title, struct kar_buf *out) KAR_NONNULL;

struct sim_summary {
	size_t completed, failed, running, waiting, deleted; /* jobs, at the end; deleted: unfinished ones */
	/* ms from submitted to first running; of those that ran; KAR_NEVER: none did. p90: nine in ten waited no longer. */
	kar_time wait_mean, wait_p50, wait_p90, wait_max;
	kar_time makespan; /* ms from the first submission to the last end; KAR_NEVER: some have not ended */
	int64_t restarts;
	int cpu_use; /* thousandths; -1: no node has any */
};
struct sim_summary sim_record_summary(const struct sim_record *r) KAR_NONNULL;
/* "12m30s", or "-" for KAR_NEVER; in @out, which is returned. */
const char *sim_report_time(kar_time ms, char out[32]) KAR_NONNULL KAR_RETNN;

#endif
