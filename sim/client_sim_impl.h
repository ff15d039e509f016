/*
 * client_sim_impl - what the parts of the simulated client know of each other: wire.c (the way and its faults), client_sim.c
 * (calls with one answer), client_sim_stream.c (lists and watches). Private to them.
 */
#ifndef SIM_CLIENT_SIM_IMPL_H
#define SIM_CLIENT_SIM_IMPL_H

#include <bsd/sys/queue.h>

#include "common/base/buf.h"
#include "sim/client_sim.h"

enum {
	SIM_PAST = 64,               /* versions remembered with their time, for lists that show the past */
	SIM_TIMEOUT_DEFAULT = 30000, /* ms; the HTTP client's */
};

TAILQ_HEAD(sim_calls, kar_call);

struct sim_wire {
	struct sim_apiserver *server;
	struct sim_timeline *timeline;
	struct sim_faults faults;
	struct sim_random random;
	struct sim_wire_observer observer;
	struct sim_wire_stats stats;
	struct sim_calls orphans; /* sent by clients that wait no more */
	kar_time slow_until;
	struct {
		kar_time at;
		int64_t rv;
	} past[SIM_PAST]; /* a ring */
	size_t n_past;
};

struct sim_client {
	struct kar_client base; /* first */
	struct kar_loop *loop;
	struct sim_wire *wire;
	const char *user;
	struct sim_calls calls;
	bool dead;
	/* The resource whose last first list showed the past: its next watch is held back; NULL: none. */
	const struct kar_resource *travelled;
};

enum sim_call_state {
	SIM_CALL_SENT,     /* on its way to the server */
	SIM_CALL_ANSWERED, /* the answer, or what the client takes for one, is on its way back */
	SIM_CALL_PAUSED,   /* told to come back later */
	SIM_CALL_STREAM,   /* bytes come */
	SIM_CALL_UNHEARD,  /* started after the client died */
};

/* Bytes that have arrived but not been read, and how the stream ends after them. */
struct sim_inbox {
	struct kar_buf bytes;
	size_t at;
	bool ended;
	struct sim_watch *watch; /* NULL: a list, or over */
	kar_time held_until;     /* mono; nothing is read before; 0: not held */
	unsigned held_events;    /* or this many events have come; 0: not counted */
	bool skip;               /* ends with 410 when it is no longer held */
	bool poll;               /* look for more after this, bell or not */
	int64_t replay_to;       /* events up to here were given to the client before; 0: none */
	int64_t read_to; /* after these bytes the client knows all up to here; 0: not even that is sure */
};

struct kar_call {
	TAILQ_ENTRY(kar_call) link;
	struct sim_client *client; /* NULL: an orphan */
	struct sim_wire *wire;
	enum sim_call_state state;
	const struct kar_resource *res;
	struct sim_request rq; /* its strings are in `text` */
	char *text;
	bool write, stream;
	enum kar_lane lane;
	kar_time timeout; /* ms; 0: none */
	kar_time started;
	void (*on_begun)(void *arg); /* NULL once it has been told */
	int (*on_data)(void *arg, const char *bytes, size_t n);
	void (*on_done)(void *arg, const struct kar_answer *answer, const struct kar_err *err);
	void *arg;
	struct sim_alarm *alarm; /* in the network */
	struct kar_timer *timer; /* in the client's process */
	enum sim_fault fault;    /* what happens to it */
	unsigned throttled;
	struct sim_response response;
	bool failed; /* `err` instead of an answer */
	struct kar_err err;
	struct sim_inbox in;
	bool busy, cancelled; /* inside on_data */
};

/* --- wire.c --- */

/* Does @f happen now? */
bool sim_wire_draws(struct sim_wire *w, enum sim_fault f) KAR_NONNULL;
/* It does, to @call: counts it, tells the observer. */
void sim_wire_tell(struct sim_wire *w, const struct kar_call *call, enum sim_fault f) KAR_NONNULL;
/* Both: does @f happen to @call now? */
bool sim_wire_strikes(struct sim_wire *w, const struct kar_call *call, enum sim_fault f) KAR_NONNULL;
/* ms one way takes. */
kar_time sim_wire_way(struct sim_wire *w) KAR_NONNULL;
/* A version of about @ago ms ago; 0: none is known. */
int64_t sim_wire_version_of(const struct sim_wire *w, kar_time ago) KAR_NONNULL;
/* Lets the server execute it; fills call->response. */
void sim_wire_execute(struct sim_wire *w, struct kar_call *call) KAR_NONNULL;
/* A copy of the request arrives @after ms from now, and nobody waits for its answer. */
void sim_wire_orphan(struct sim_wire *w, const struct kar_call *call, kar_time after) KAR_NONNULL;
/* @call's client has read all of what it watches up to @rv. */
void sim_wire_told(struct sim_wire *w, const struct kar_call *call, int64_t rv) KAR_NONNULL;
/* Requests take seconds from now on, for a while. */
void sim_wire_slow_down(struct sim_wire *w) KAR_NONNULL;

/* --- client_sim.c --- */

/* Copies what @rq points to. */
void sim_call_copy_request(struct kar_call *call, const struct sim_request *rq) KAR_NONNULL;

/* "patch pods default/x": for error texts. The caller frees it. */
char *sim_call_what(const struct kar_call *call) KAR_RETNN KAR_NONNULL;
void sim_call_free(struct kar_call *call) KAR_NONNULL;
/* Calls on_done and frees. */
void sim_call_end(struct kar_call *call, const struct kar_answer *answer, const struct kar_err *err)
	__attribute__((nonnull(1)));
/* Ends with the error that the HTTP client makes of the refusal in call->response. */
void sim_call_refuse(struct kar_call *call) KAR_NONNULL;

/* --- garble.c --- */

/* Bytes of @body from @at on: an object, a list or an event. Those that hold no object with SIM_GARBLE stay as they are. */
void sim_garble(struct kar_buf *body, size_t at) KAR_NONNULL;

/* --- client_sim_stream.c --- */

/* A list or a watch has reached the server. */
void sim_stream_arrive(struct kar_call *call) KAR_NONNULL;
/* From the loop: hands on what has come. */
void sim_stream_read(struct kar_call *call) KAR_NONNULL;

#endif
