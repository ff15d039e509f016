/*
 * event_filter - a budget of events per object, so that one that flaps cannot flood the API server; pure.
 *
 * A token bucket per key: 25 at once, one more every 5 minutes (the numbers of client-go's spam filter). Remembers the
 * 1024 keys used last; a forgotten one starts with a full bucket.
 */
#ifndef KAR_EVENT_FILTER_H
#define KAR_EVENT_FILTER_H

#include "common/base/base.h"

struct kar_event_filter;

struct kar_event_filter *kar_event_filter_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_event_filter_free(struct kar_event_filter *f); /* accepts NULL */
/* True if @key (copied) may have one more event at @now (mono), which then counts. */
bool kar_event_filter_admit(struct kar_event_filter *f, const char *key,
	kar_time now) KAR_NONNULL KAR_MUSTUSE;

#endif
