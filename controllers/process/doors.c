#include "controllers/process/doors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <bsd/sys/queue.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/kube/access.h"
#include "common/net/listen.h"
#include "controllers/process/debug.h"
#include "controllers/process/door.h"
#include "controllers/kar_metrics.h"
#include "controllers/runtime/manager_state.h"

#define TEXT "text/plain; charset=utf-8"

struct kar_doors {
	struct kar_loop *loop;
	struct kar_doors_options options;
	struct kar_metrics *metrics;
	const struct kar_manager *manager;
	struct kar_access *access;
	void (*before_scrape)(void *arg); /* NULL: nothing */
	void *before_arg;
	kar_lease_fn *lease_of; /* NULL: there is no election */
	void *lease_arg;
	struct kar_door *health, *private;
	TAILQ_HEAD(, visit) visits;
};

static void answer(struct kar_exchange *x, int status, const char *text)
{
	struct kar_buf body = { 0 };

	kar_buf_puts(&body, text);
	kar_exchange_answer(x, status, TEXT, &body);
}

static bool reads(const char *method)
{
	return kar_streq(method, "GET") || kar_streq(method, "HEAD");
}

/* ---- probes ---- */

/* The loop turns, or nobody would answer. */
static bool turns(const struct kar_manager *m KAR_UNUSED)
{
	return true;
}

struct check {
	const char *name;
	bool (*holds)(const struct kar_manager *m);
};
static const struct check live_checks[] = { { "loop", turns } };
static const struct check ready_checks[] = { { "caches-synced", kar_manager_synced },
	{ "informers", kar_manager_informed } };

static const struct probe {
	const char *path;
	const struct check *checks;
	size_t n;
} probes[] = {
	{ "/livez", live_checks, KAR_LEN(live_checks) },
	{ "/healthz", live_checks, KAR_LEN(live_checks) },
	{ "/readyz", ready_checks, KAR_LEN(ready_checks) },
};

static bool asks_for(const char *query, const char *word)
{
	size_t n = strlen(word);

	for (; *query; query += strcspn(query, "&"), query += *query == '&') {
		if (!strncmp(query, word, n) && strchr("&=", query[n]))
			return true;
	}
	return false;
}

static void answer_probe(const struct kar_doors *d, struct kar_exchange *x, const struct probe *p,
	bool verbose)
{
	struct kar_buf body = { 0 };
	bool all = true;

	for (size_t i = 0; i < p->n; i++) {
		bool holds = p->checks[i].holds(d->manager);

		if (verbose || !holds)
			kar_buf_printf(&body, "[%c]%s %s\n", holds ? '+' : '-', p->checks[i].name,
				holds ? "ok" : "failed");
		all = all && holds;
	}
	if (verbose || !all)
		kar_buf_printf(&body, "%s check %s\n", p->path + 1, all ? "passed" : "failed");
	else
		kar_buf_puts(&body, "ok");
	kar_exchange_answer(x, all ? 200 : 503, TEXT, &body);
}

static void on_probe(void *arg, struct kar_exchange *x, const struct kar_server_request *rq)
{
	for (size_t i = 0; i < KAR_LEN(probes); i++) {
		if (strcmp(rq->path, probes[i].path))
			continue;
		if (reads(rq->method))
			answer_probe(arg, x, &probes[i], asks_for(rq->query, "verbose"));
		else
			answer(x, 405, "only GET\n");
		return;
	}
	answer(x, 404, "not found\n");
}

/* ---- what needs a right ---- */

/* A request on its way to its answer. */
struct visit {
	TAILQ_ENTRY(visit) link;
	struct kar_doors *doors;
	struct kar_exchange *exchange;
	const struct page *page;
	bool openmetrics;
	char body[16];
};

struct page {
	const char *path, *method;
	void (*show)(const struct visit *v);
};

static void show_metrics(const struct visit *v)
{
	struct kar_doors *d = v->doors;
	struct kar_buf body = { .cap = 16 << 20 };

	if (d->before_scrape)
		d->before_scrape(d->before_arg);
	if (kar_door_valid_until(d->private))
		kar_metric_set(d->metrics, &kar_m_kar_certificate_expiration_timestamp_seconds,
			(double)kar_door_valid_until(d->private) / KAR_SECOND, NULL);
	kar_collect(d->metrics, d->manager, kar_loop_wall(d->loop));
	kar_metrics_print(d->metrics, v->openmetrics, &body);
	kar_exchange_answer(v->exchange, 200,
		v->openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			       : "text/plain; version=0.0.4; charset=utf-8",
		&body);
}

static void show_state(const struct visit *v)
{
	struct kar_buf body = { .cap = 16 << 20 };

	struct kar_debug_lease lease;
	bool elects = v->doors->lease_of && v->doors->lease_of(v->doors->lease_arg, &lease);

	kar_debug_print(v->doors->manager, elects ? &lease : NULL, kar_loop_wall(v->doors->loop), &body);
	kar_exchange_answer(v->exchange, 200, "application/json", &body);
}

/* As component-base does it. */
static void set_verbosity(const struct visit *v)
{
	const char *problem;
	int level = (int)strtonum(v->body, 0, KAR_VERBOSITY_MAX, &problem);
	char text[80];

	if (problem) {
		answer(v->exchange, 400, "the body must be a number from 0 to 10\n");
		return;
	}
	kar_log_set_verbosity(level);
	kar_info(0, KAR_MSG("Verbosity of the log set"), KAR_I("v", level));
	snprintf(text, sizeof(text), "successfully set klog.logging.verbosity to %d\n", level);
	answer(v->exchange, 200, text);
}

static const struct page pages[] = {
	{ "/metrics", "GET", show_metrics },
	{ "/debug/state", "GET", show_state },
	{ "/debug/flags/v", "PUT", set_verbosity },
};

static const char *refusal(int status)
{
	switch (status) {
	case 401:
		return "a valid bearer token is needed\n";
	case 403:
		return "the user of this token may not read this path; see docs/METRICS.md\n";
	default:
		return "the API server cannot be asked who may read this; see the log\n";
	}
}

static void on_access(void *arg, int status)
{
	struct visit *v = arg;

	TAILQ_REMOVE(&v->doors->visits, v, link);
	if (status == 200)
		v->page->show(v);
	else
		answer(v->exchange, status, refusal(status));
	free(v);
}

static void visit(struct kar_doors *d, struct kar_exchange *x, const struct page *p,
	const struct kar_server_request *rq)
{
	struct visit *v = kar_xcalloc(1, sizeof(*v));
	char verb[8];

	v->doors = d;
	v->exchange = x;
	v->page = p;
	v->openmetrics = rq->accept && strstr(rq->accept, "application/openmetrics-text");
	strlcpy(v->body, kar_has_text(rq->body.p) ? rq->body.p : "", sizeof(v->body));
	v->body[strcspn(v->body, "\r\n")] = '\0';
	TAILQ_INSERT_TAIL(&d->visits, v, link);
	if (d->options.metrics_insecure) {
		on_access(v, 200);
		return;
	}
	strlcpy(verb, p->method, sizeof(verb));
	for (char *c = verb; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	kar_access_ask(d->access, rq->authorization, verb, p->path, on_access, v);
}

static void on_private(void *arg, struct kar_exchange *x, const struct kar_server_request *rq)
{
	for (size_t i = 0; i < KAR_LEN(pages); i++) {
		const struct page *p = &pages[i];

		if (strcmp(rq->path, p->path))
			continue;
		if (kar_streq(rq->method, p->method) || (reads(p->method) && reads(rq->method)))
			visit(arg, x, p, rq);
		else
			answer(x, 405, "method not allowed\n");
		return;
	}
	answer(x, 404, "not found\n");
}

/* ---- life ---- */

static bool is_on(const char *address)
{
	return kar_has_text(address) && !kar_streq(address, "0");
}

static int check_address(const char *address, const char *name, struct kar_listen_address *at,
	const char **flag, struct kar_err *err)
{
	*flag = name;
	return is_on(address) && kar_listen_parse(address, at, err) ? kar_wrap(err, "--%s", name) : 0;
}

static int check_certificate(const struct kar_doors_options *o, const char **flag, struct kar_err *err)
{
	*flag = o->cert_file ? "tls-cert-file" : "tls-private-key-file";
	if (!o->cert_file != !o->key_file)
		return kar_fail(err, KAR_FATAL,
			"--tls-cert-file and --tls-private-key-file are needed both, or none");
	if (o->cert_file && !is_on(o->metrics))
		return kar_fail(err, KAR_FATAL, "--tls-cert-file needs --metrics-bind-address");
	if (o->cert_file && o->metrics_insecure)
		return kar_fail(err, KAR_FATAL,
			"--metrics-insecure needs no --tls-cert-file: it is plain HTTP");
	return 0;
}

int kar_doors_check(const struct kar_doors_options *o, const char **flag, struct kar_err *err)
{
	struct kar_listen_address health = { 0 }, at = { 0 };

	if (check_address(o->health, "health-probe-bind-address", &health, flag, err) ||
		check_address(o->metrics, "metrics-bind-address", &at, flag, err))
		return -1;
	if (is_on(o->health) && is_on(o->metrics) && kar_listen_collides(&health, &at))
		return kar_fail(err, KAR_FATAL,
			"--metrics-bind-address and --health-probe-bind-address name one port: each needs its own");
	if (check_certificate(o, flag, err))
		return -1;
	*flag = "metrics-insecure";
	if (o->metrics_insecure && !is_on(o->metrics))
		return kar_fail(err, KAR_FATAL, "--metrics-insecure needs --metrics-bind-address");
	if (o->metrics_insecure && !at.loopback)
		return kar_fail(err, KAR_FATAL,
			"--metrics-insecure is for a loopback --metrics-bind-address such as 127.0.0.1:8080");
	return 0;
}

static struct kar_door *open_health(struct kar_doors *d)
{
	const struct kar_door_options o = { .what = "health probes",
		.address = d->options.health,
		.on_request = on_probe,
		.arg = d };

	return is_on(d->options.health) ? kar_door_new(d->loop, &o) : NULL;
}

static struct kar_door *open_private(struct kar_doors *d)
{
	const struct kar_door_options o = { .what = "metrics",
		.address = d->options.metrics,
		.tls = !d->options.metrics_insecure,
		.cert_file = d->options.cert_file,
		.key_file = d->options.key_file,
		.on_request = on_private,
		.arg = d };

	return is_on(d->options.metrics) ? kar_door_new(d->loop, &o) : NULL;
}

struct kar_doors *kar_doors_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_doors_options *o, struct kar_metrics *metrics, const struct kar_manager *manager)
{
	struct kar_doors *d = kar_xcalloc(1, sizeof(*d));

	d->loop = l;
	d->options = *o;
	d->metrics = metrics;
	d->manager = manager;
	d->access = kar_access_new(l, client);
	TAILQ_INIT(&d->visits);
	d->health = open_health(d);
	d->private = open_private(d);
	return d;
}

void kar_doors_on_scrape(struct kar_doors *d, void (*before)(void *arg), void *arg)
{
	d->before_scrape = before;
	d->before_arg = arg;
}

void kar_doors_show_lease(struct kar_doors *d, kar_lease_fn *of, void *arg)
{
	d->lease_of = of;
	d->lease_arg = arg;
}

void kar_doors_free(struct kar_doors *d)
{
	if (!d)
		return;
	kar_access_free(d->access);
	while (!TAILQ_EMPTY(&d->visits)) {
		struct visit *v = TAILQ_FIRST(&d->visits);

		TAILQ_REMOVE(&d->visits, v, link);
		free(v);
	}
	kar_door_free(d->health);
	kar_door_free(d->private);
	free(d);
}
