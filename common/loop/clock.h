/*
 * clock - the only place that reads a clock.
 *
 * The loop reads both clocks once per turn and passes the values on; nothing else calls a clock.
 * Monotonic is CLOCK_BOOTTIME, which goes on during a virtual machine's suspend.
 */
#ifndef KAR_CLOCK_H
#define KAR_CLOCK_H

#include "common/base/timefmt.h"

kar_time kar_clock_mono(void);
kar_time kar_clock_wall(void);
/* The wall clock in microseconds, for log headers. */
int64_t kar_clock_wall_micros(void);
/* From now on kar_clock_wall_micros() asks @wall_micros: log lines of a simulation show its time. NULL: the real clock. */
void kar_clock_replace(int64_t (*wall_micros)(void));

#endif
