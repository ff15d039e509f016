/*
 * pg_options - what a PodGroup asks for by annotation (GangScheduling, the annotations gang.scheduling.koordinator.sh/...). Pure.
 *
 * A text that is illegal, or not supported, is as if it were absent, and is named once.
 */
#ifndef KAR_API_PG_OPTIONS_H
#define KAR_API_PG_OPTIONS_H

#include "common/base/mem.h"
#include "common/codec/decode.h"

enum { KAR_PG_GROUPS_MAX = 16 };

struct kar_pg_options {
	struct kar_array
		groups; /* const char * "ns/name": the gangs that this one starts with, without itself */
	int32_t total;  /* members that the group will have, if their controller is quick; 0: not said */
	kar_time waiting_time; /* ms, of groups without scheduleTimeoutSeconds; 0: not said */
	bool non_strict;       /* a member without room fails the attempt only when its time is over */
	bool and_running; /* WaitingAndRunning: below the minimum it is a gang again, and what it lacks starts together */
	bool only_waiting; /* OnlyWaiting: as many as the minimum must wait, and start together, whatever runs already */
	const char *invalid; /* the first annotation that is not acted upon, with the reason; NULL: none */
};

/* Texts in @a. @annotations: struct kar_pair; @own: "ns/name" of the group. */
struct kar_pg_options kar_pg_options_read(const struct kar_array *annotations, const char *own,
	struct kar_arena *a) KAR_NONNULL;
bool kar_pg_options_equal(const struct kar_pg_options *x, const struct kar_pg_options *y) KAR_NONNULL;

#endif
