/*
 * kar-controllers - the process: reads options and credentials, makes loop, client and manager, and handles signals. Or it carries
 * out one command and ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/kube/client_http.h"
#include "common/kube/elector.h"
#include "common/kube/kube_metrics.h"
#include "common/kube/kubeconfig.h"
#include "common/loop/loop.h"
#include "common/net/http.h"
#include "controllers/controllers.h"
#include "controllers/process/confine.h"
#include "controllers/process/doors.h"
#include "controllers/kar_metrics.h"
#include "controllers/process/options.h"

#define USER_AGENT "kar-controllers/" KAR_VERSION

struct process {
	struct kar_arena arena;
	struct kar_options options;
	struct kar_kubeconfig kubeconfig;
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_metrics *metrics;
	struct kar_manager *manager;
	struct kar_elector *elector; /* NULL: without election */
	char *identity;              /* in the Lease */
	struct kar_doors *doors;
	struct kar_signal *on_term, *on_int;
	bool stopping;
	bool clean;
	char host[256];
};

enum { EXIT_USAGE = 2 }; /* the command line or the configuration file is wrong */

static int fatal(struct process *p, const struct kar_err *err, int status)
{
	kar_log_fatal("kar-controllers: %s", err->msg);
	kar_loop_free(p->loop);
	kar_arena_wipe(&p->arena);
	return status;
}

static void on_released(void *arg)
{
	struct process *p = arg;

	kar_loop_stop(p->loop);
}

/* A write without an answer may still be under way, so the lease must end by itself then. Events that are left are dropped. */
static void on_stopped(void *arg, bool clean)
{
	struct process *p = arg;

	p->clean = clean;
	if (clean && p->elector)
		kar_elector_stop(p->elector, on_released, p);
	else
		kar_loop_stop(p->loop);
}

static void on_leading(void *arg)
{
	struct process *p = arg;

	kar_manager_lead(p->manager);
}

/* What this process remembers is of no use any more; whoever started it starts it again, as a candidate. */
static void on_lost(void *arg, const char *holder)
{
	struct process *p = arg;

	kar_log_fatal("kar-controllers: lost the lease %s to \"%s\": nothing more is written; start again",
		p->options.leader.name, holder);
	_exit(EXIT_FAILURE); /* at once: nothing of what is in flight is waited for */
}

/* The first signal stops gracefully, the second at once. */
static void on_signal(void *arg, int signum)
{
	struct process *p = arg;

	if (p->stopping) {
		kar_warn(KAR_MSG("Second signal, exiting at once"), KAR_I("signal", signum));
		_exit(EXIT_FAILURE);
	}
	p->stopping = true;
	kar_info(0, KAR_MSG("Stopping: waiting for the writes in flight"), KAR_I("signal", signum));
	kar_manager_stop(p->manager, on_stopped, p);
}

static int load_configuration(struct process *p, struct kar_err *err)
{
	return kar_kubeconfig_load(&p->arena, &p->options.cluster, &p->kubeconfig, err);
}

static int new_client(struct process *p, struct kar_err *err)
{
	p->options.client.user_agent = USER_AGENT;
	p->metrics = kar_all_metrics_new();
	p->options.client.metrics = p->metrics;
	if (kar_http_global_init(err))
		return -1;
	p->loop = kar_loop_new();
	p->client = kar_client_http_new(p->loop, &p->kubeconfig, &p->options.client, err);
	return p->client ? 0 : -1;
}

static uint64_t new_seed(void)
{
	return ((uint64_t)arc4random() << 32) | arc4random();
}

static void new_elector(struct process *p)
{
	const struct kar_leader_options *l = &p->options.leader;
	const struct kar_elector_options e = { .ns = l->ns ? l->ns : p->kubeconfig.ns,
		.name = l->name,
		.app = "kar-controllers",
		.identity = p->identity = kar_xasprintf("%s_%016jx", p->host, (uintmax_t)new_seed()),
		.times = l->times,
		.seed = new_seed(),
		.won = on_leading,
		.lost = on_lost,
		.arg = p };

	p->elector = kar_elector_new(p->loop, p->client, &e);
}

static void new_manager(struct process *p)
{
	const struct kar_options *o = &p->options;
	const struct kar_client_http_options *c = &o->client;
	bool limited = c->qps > 0 && c->burst < c->max_in_flight_writes;
	const struct kar_controllers_options m = {
		.ns = o->ns,
		.instance = p->host,
		.seed = new_seed(),
		.candidate = o->leader.elect,
		.settings = o->settings,
		.metrics = p->metrics,
		/* With a rate limit, more writes would only wait in the client, which does not order them by rank. */
		.executor.max_in_flight = limited && c->burst ? c->burst : c->max_in_flight_writes,
	};

	if (gethostname(p->host, sizeof(p->host) - 1))
		snprintf(p->host, sizeof(p->host), "kar-controllers");
	p->manager = kar_controllers_new(p->loop, p->client, &m);
	if (o->leader.elect)
		new_elector(p);
	p->on_term = kar_signal_new(p->loop, SIGTERM, on_signal, p);
	p->on_int = kar_signal_new(p->loop, SIGINT, on_signal, p);
}

static void show_leading(void *arg)
{
	const struct process *p = arg;

	kar_metric_set(p->metrics, &kar_m_leader_election_master_status,
		!p->elector || kar_elector_may_write(p->elector), KAR_LABELS(p->options.leader.name));
}

static bool lease_of(void *arg, struct kar_debug_lease *out)
{
	const struct process *p = arg;
	const struct kar_leader_options *l = &p->options.leader;

	if (!p->elector)
		return false;
	*out = (struct kar_debug_lease){ .ns = l->ns ? l->ns : p->kubeconfig.ns,
		.name = l->name,
		.identity = p->identity,
		.holder = kar_elector_holder(p->elector),
		.may_write = kar_elector_may_write(p->elector) };
	return true;
}

static void run(struct process *p)
{
	kar_info(0, KAR_MSG("Starting kar-controllers"), KAR_S("version", KAR_VERSION),
		KAR_S("server", p->kubeconfig.server), KAR_S("source", p->kubeconfig.source),
		KAR_S("namespace", p->options.ns ? p->options.ns : "all"));
	p->doors = kar_doors_new(p->loop, p->client, &p->options.doors, p->metrics, p->manager);
	kar_doors_on_scrape(p->doors, show_leading, p);
	kar_doors_show_lease(p->doors, lease_of, p);
	kar_manager_start(p->manager);
	if (p->elector)
		kar_elector_start(p->elector);
	kar_loop_run(p->loop);
}

static void free_process(struct process *p)
{
	kar_client_free(p->client);
	kar_metrics_free(p->metrics);
	kar_loop_free(p->loop);
	kar_http_global_cleanup();
	kar_arena_wipe(&p->arena);
}

static int finish(struct process *p)
{
	if (!p->clean)
		_exit(EXIT_FAILURE); /* open requests still use what the calls below would free */
	kar_signal_free(p->on_term);
	kar_signal_free(p->on_int);
	kar_doors_free(p->doors);
	kar_manager_free(p->manager);
	kar_elector_free(p->elector);
	free(p->identity);
	free_process(p);
	kar_info(0, KAR_MSG("Stopped"));
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct process p = { 0 };
	struct kar_err err = { 0 };

	if (kar_options_parse(&p.options, &p.arena, argc, argv, &err))
		return fatal(&p, &err, EXIT_USAGE);
	if (p.options.help) {
		kar_options_help(stdout);
		return EXIT_SUCCESS;
	}
	if (p.options.man) {
		kar_options_man(stdout);
		return EXIT_SUCCESS;
	}
	if (p.options.version) {
		puts("kar-controllers " KAR_VERSION);
		return EXIT_SUCCESS;
	}
	kar_log_init(p.options.logging_format[0] == 'j' ? KAR_LOG_JSON : KAR_LOG_TEXT, p.options.verbosity);
	kar_confine();
	if (load_configuration(&p, &err) || new_client(&p, &err))
		return fatal(&p, &err, EXIT_FAILURE);
	signal(SIGPIPE, SIG_IGN);
	new_manager(&p);
	run(&p);
	return finish(&p);
}
