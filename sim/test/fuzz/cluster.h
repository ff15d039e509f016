/*
 * cluster - a small simulated cluster behind its HTTP door: the project's CRDs and a few objects of each kind that matters.
 *
 * Whoever sends is told what the server answered; that the answer is a good one is checked on the way:
 *  - it has a code, and a refusal is a Status with this code and a message;
 *  - the body is one JSON document, or text where the API answers text; a watch gives lines of JSON;
 *  - the audit log gets lines of JSON;
 *  - a request that only reads, is a dry run or is refused leaves the store as it was.
 */
#ifndef TEST_FUZZ_CLUSTER_H
#define TEST_FUZZ_CLUSTER_H

#include "common/base/buf.h"
#include "sim/apiserver/http_door.h"

struct fuzz_cluster;

enum fuzz_types { FUZZ_BUILT_IN, FUZZ_OWN /* also those of this project, which take their time */ };
/*
 * The cluster as it is in the beginning. There is one of each kind: valid until the next call. Unless @fresh it may be one that
 * has refused requests before, and so drawn random names.
 */
struct fuzz_cluster *fuzz_cluster(enum fuzz_types types, bool fresh) KAR_RETNN;
/* The types that the input needs. */
enum fuzz_types fuzz_types_of(const uint8_t *data, size_t n);
struct sim_apiserver *fuzz_server(const struct fuzz_cluster *c) KAR_NONNULL KAR_RETNN;

/* Sends @rq, as kubernetes-admin unless it says else, and appends "CODE BODY\n" to @said. Returns the code. */
int fuzz_send(struct fuzz_cluster *c, const struct sim_http_request *rq, struct kar_buf *said) KAR_NONNULL;
/*
 * One line of a conversation:
 *
 *   METHOD TARGET [BODY]    a request; a patch is JSON, MERGE, STRATEGIC or APPLY, POST:YAML has a body in YAML, GET:Table and
 *                           GET:Metadata ask for these forms
 *   Accept: VALUE           of all further requests; also Content-Type, Authorization, User-Agent, If-None-Match, Impersonate-User
 *   wait 5s                 lets up to an hour pass in the cluster
 *   compact                 the server forgets its history
 *
 * Anything else is left out, so that the steps of sim/test/scenes/ are conversations. @line ends with NUL.
 */
void fuzz_say(struct fuzz_cluster *c, char *line, struct kar_buf *said) KAR_NONNULL;
/* Lets background controllers do what is left to do; then every object must be readable. */
void fuzz_settle(struct fuzz_cluster *c) KAR_NONNULL;

#endif
