/* cluster_impl - what cluster.c and answer.c share. */
#ifndef TEST_FUZZ_CLUSTER_IMPL_H
#define TEST_FUZZ_CLUSTER_IMPL_H

#include "sim/test/fuzz/cluster.h"

enum { FUZZ_HEADERS = 6, FUZZ_HEADER_MAX = 256 };

struct fuzz_cluster {
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_door *door;
	uint64_t writes;
	uint64_t
		charges; /* of them: what quotas have used, which a create that is refused afterwards leaves behind */
	char headers[FUZZ_HEADERS][FUZZ_HEADER_MAX]; /* "": absent */
};

/* answer.c: @a, the answer to @rq, is a good one; appends it to @said. @writes: made by the request. */
void fuzz_check_answer(const struct sim_http_request *rq, const struct sim_http_answer *a, uint64_t writes,
	struct kar_buf *said) KAR_NONNULL;

#endif
