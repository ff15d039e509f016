/*
 * timefmt - times and durations as text. Pure.
 */
#ifndef KAR_TIMEFMT_H
#define KAR_TIMEFMT_H

#include "common/base/base.h"

#define KAR_TIME_LEN 32

/* Parses RFC 3339 with any fraction and offset into wall ms; -1 if @s is no such time. */
int kar_time_parse(const char *s, kar_time *wall) KAR_NONNULL;
/* "2026-11-21T13:46:27Z"; the fraction is cut off. */
const char *kar_time_format(kar_time wall, char out[KAR_TIME_LEN]) KAR_NONNULL;
/* "2026-11-21T13:46:27.123000Z", metav1.MicroTime. */
const char *kar_time_format_micro(kar_time wall, char out[KAR_TIME_LEN]) KAR_NONNULL;
/* "3s", "5m20s", "2h5m", "3d4h": two units, as kubectl prints ages. @ms >= 0. */
const char *kar_duration_format(kar_time ms, char out[KAR_TIME_LEN]) KAR_NONNULL;
/* "90s", "5m", "1h30m", "250ms" (Go duration syntax, not negative) or plain seconds "90"; -1 if neither. */
int kar_duration_parse(const char *s, kar_time *ms) KAR_NONNULL;

#endif
