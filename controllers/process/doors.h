/*
 * doors - what the manager shows on the network: probes for the kubelet, metrics for Prometheus, its state for whoever looks for a bug.
 *
 * Probes (--health-probe-bind-address) are plain and need no token; they name checks and say ok or failed, and nothing else. An answer
 * is itself the proof that the loop turns: the process has one thread, so a kubelet whose probe times out restarts it.
 * Metrics (--metrics-bind-address) are TLS, and each path needs a right of its own (common/kube/access.h): /metrics, /debug/state,
 * /debug/flags/v.
 */
#ifndef KAR_DOORS_H
#define KAR_DOORS_H

#include "common/base/metrics.h"
#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "controllers/process/debug.h"

struct kar_manager;
struct kar_doors;

/* Values of flags. */
struct kar_doors_options {
	const char *metrics; /* --metrics-bind-address; "0": none */
	const char *health;  /* --health-probe-bind-address; "0": none */
	const char *cert_file, *key_file;
	bool metrics_insecure; /* plain, and no token is asked for */
};

/* The addresses can be read, and the combination makes sense; else KAR_FATAL with a text that names the flag, and @flag, which is static. */
int kar_doors_check(const struct kar_doors_options *o, const char **flag, struct kar_err *err) KAR_NONNULL;

enum { KAR_VERBOSITY_MAX = 10 }; /* of the log */

/* Listens at once, or as soon as it can. All is borrowed; @o is copied, its strings borrowed. To be freed before @manager and @client. */
struct kar_doors *kar_doors_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_doors_options *o, struct kar_metrics *metrics,
	const struct kar_manager *manager) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* @before is called before each answer of /metrics, to set what is not in the caches. */
void kar_doors_on_scrape(struct kar_doors *d, void (*before)(void *arg), void *arg)
	__attribute__((nonnull(1, 2)));
/* @of is called before each answer of /debug/state; it fills in @out, or returns false: there is no election. */
typedef bool kar_lease_fn(void *arg, struct kar_debug_lease *out);
void kar_doors_show_lease(struct kar_doors *d, kar_lease_fn *of, void *arg) __attribute__((nonnull(1, 2)));
void kar_doors_free(struct kar_doors *d); /* accepts NULL */

#endif
