/*
 * client_http - struct kar_client over HTTP: what production uses.
 *
 * One pool of connections per lane; each watch has a connection to itself. Throttles unary requests to qps/burst
 * when asked; honours 429 and 503 with Retry-After for requests that were surely not executed; refreshes
 * credentials once after a 401. Outcomes of writes whose reply was lost are reported as KAR_UNKNOWN, never repeated
 * here. A watch whose answer does not begin within 30 s ends with KAR_RETRY. Warning headers, and reasons why credentials could not be refreshed, are logged once per text. A final 401
 * says when the credentials expired, if they have.
 */
#ifndef KAR_CLIENT_HTTP_H
#define KAR_CLIENT_HTTP_H

#include "common/base/metrics.h"
#include "common/kube/client.h"
#include "common/kube/credential.h"

struct kar_client_http_options {
	const char *user_agent;
	double qps; /* 0: unlimited, the server's 429 rules */
	int burst;
	bool http1_only;
	int max_in_flight_writes;    /* on the writes lane; 0: 64. More wait here in order of their start. */
	kar_time watch_answer;       /* ms within which the answer to a watch must begin; 0: 30 s */
	struct kar_metrics *metrics; /* with kar_kube_metrics; borrowed; NULL: nothing is counted */
};

struct kar_client_http_stats {
	uint64_t requests, errors, bytes_received;
};

/* @config and what it points to must outlive the client. */
struct kar_client *kar_client_http_new(struct kar_loop *l, const struct kar_kubeconfig *config,
	const struct kar_client_http_options *o, struct kar_err *err) KAR_MUSTUSE;
struct kar_client_http_stats kar_client_http_stats(const struct kar_client *c) KAR_NONNULL;

#endif
