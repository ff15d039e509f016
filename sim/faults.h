/*
 * faults - what can go wrong in a simulated cluster, and how often it does in one run.
 *
 * A plan gives each fault a rate. Drawing a plan from a seed turns some faults off, makes some rare and some frequent, so
 * that every seed is another kind of bad day; the same seed is always the same day.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "common/base/err.h"
#include "sim/timeline.h"

enum sim_fault {
	/* One request. Of 10000 requests. */
	SIM_FAULT_LOST,        /* the connection is refused, breaks, or hangs before the server has it */
	SIM_FAULT_REPLY,       /* executed; the answer is lost */
	SIM_FAULT_TWICE,       /* executed twice, the second time perhaps after the answer */
	SIM_FAULT_LATE,        /* the client gives up waiting, and then the server executes it */
	SIM_FAULT_CONFLICT,    /* a write is answered 409 Conflict and not executed */
	SIM_FAULT_THROTTLED,   /* 429 with Retry-After */
	SIM_FAULT_ERROR,       /* 500; a write may have been executed */
	SIM_FAULT_UNAVAILABLE, /* 503 */
	SIM_FAULT_TIMEOUT,     /* 504; a write may have been executed */
	SIM_FAULT_SLOW,        /* from here on, the server takes seconds for each request, for a while */
	SIM_FAULT_COMPACT,     /* the server forgets its history up to now: who is behind is answered 410 */
	/* Streams. Of 10000 batches of events; TRAVEL: of lists, SILENT: of watches. */
	SIM_FAULT_CHUNKS, /* bytes arrive in pieces of any size */
	SIM_FAULT_CUT,    /* the watch ends, inside an event or between two */
	SIM_FAULT_LAG,    /* held back for a time, or until some more events have come */
	SIM_FAULT_SKIP, /* held back, then ended with 410: what happened meanwhile is only seen as its result */
	SIM_FAULT_TRAVEL, /* a first list shows the past, as from a server that lags */
	SIM_FAULT_SILENT, /* a watch without bookmarks */
	/* Processes; whoever runs them acts. CRASH: of 10000 writes; the others: per hour and process, in hundredths. */
	SIM_FAULT_CRASH,   /* the client dies, just before or just after the server executes its write */
	SIM_FAULT_OVERLAP, /* a second one works at the same time, for a moment */
	SIM_FAULT_FREEZE,  /* stopped for a while */
	SIM_FAULT_CLOCK,   /* its wall clock jumps */
	/* New ones go to the end: a seed's rates of the others stay as they are. */
	SIM_FAULT_REPLAY, /* of 10000 watches: begins with older versions of what the client has, as from a server in the past */
	SIM_FAULT_KILL, /* per hour and process, in hundredths: dies at any moment, not only at a write */
	SIM_FAULT_COUNT,
	SIM_FAULT_NONE = SIM_FAULT_COUNT,
};

/* "lost", "reply" ...; static string. */
const char *sim_fault_name(enum sim_fault f) KAR_RETNN;
/* A set of faults: bit 1 << f. */
enum { SIM_FAULTS_ALL = (1 << SIM_FAULT_COUNT) - 1 };
/* "none", "all", or names joined by ','; "all,-crash" takes one out. KAR_INVALID names the word that is none. */
int sim_faults_parse(const char *text, uint32_t *set, struct kar_err *err) KAR_NONNULL;

struct sim_faults {
	unsigned rate[SIM_FAULT_COUNT]; /* 0: never */
};
/* The plan of @seed over the faults of @set. */
struct sim_faults sim_faults_draw(uint64_t seed, uint32_t set);

#endif
