#include "sim/serve.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "common/kube/pem.h"
#include "common/loop/clock.h"
#include "common/net/cert.h"
#include "sim/apiserver/http_server.h"
#include "sim/crds.h"
#include "sim/nodes/nodes.h"
#include "sim/pacemaker.h"
#include "sim/private_file.h"

#define ADDRESS "127.0.0.1"

enum { TOKEN_BYTES = 16, SPEED_MAX = 1000, NODES_MAX = 5000, EXIT_USAGE = 2 };

/* A job that somebody tries out soon shows all its phases. */
static const kar_time DEFAULT_RUN = 10 * KAR_SECOND;

static const char usage[] =
	"usage: kar-sim serve [OPTION...]\n"
	"A simulated Kubernetes cluster for kubectl and kar-controllers, in one process: an API server in memory, nodes whose\n"
	"pods only pretend to run, a scheduler. Prints one line when it is ready and runs until it is interrupted.\n\n"
	"  --port N              listen on this port of " ADDRESS " (default 0: any that is free)\n"
	"  --kubeconfig-out FILE write a kubeconfig for it (default kar-sim.kubeconfig)\n"
	"  --nodes N             nodes of 64 CPUs, 256 GiB, 250 pods (default 4)\n"
	"  --run DURATION        pods whose annotations say nothing else succeed after this time (default 10s; 0: they run until\n"
	"                        they are deleted, as do all with restartPolicy Always)\n"
	"  --speed N             everything that takes time in the cluster takes it N times faster (default 1, at most 1000)\n"
	"  --seed N              of all chance (default 1)\n"
	"  --crds DIR            install the CustomResourceDefinitions of this folder (default: those of kar-controllers)\n"
	"  --audit-log FILE      write a line of JSON for each request\n"
	"  -v N                  verbosity of the log (default 0)\n"
	"  -h, --help\n\n"
	"SIGUSR1 makes it forget history and close all watches, for tests of clients.\n"
	"Whoever has the token of the kubeconfig may do everything: RBAC is stored, but not enforced. Nothing outlives the process.\n";

struct serve_options {
	const char *kubeconfig, *crds, *audit_log;
	long long port, nodes, speed, seed, verbosity;
	kar_time run; /* ms */
	bool help;
};

struct process {
	struct serve_options options;
	struct kar_loop *loop;
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_nodes *nodes;
	struct sim_pacemaker *pacemaker;
	struct kar_cert cert;
	struct sim_http_server *http;
	struct sim_door *door;
	struct kar_signal *on_term, *on_int, *on_usr1;
	FILE *audit;
	char token[2 * TOKEN_BYTES + 1];
};

/* ---- options ---- */

enum {
	OPTION_PORT = 256,
	OPTION_KUBECONFIG,
	OPTION_NODES,
	OPTION_RUN,
	OPTION_SPEED,
	OPTION_SEED,
	OPTION_CRDS,
	OPTION_AUDIT
};

static const struct option long_options[] = {
	{ "port", required_argument, NULL, OPTION_PORT },
	{ "kubeconfig-out", required_argument, NULL, OPTION_KUBECONFIG },
	{ "nodes", required_argument, NULL, OPTION_NODES },
	{ "run", required_argument, NULL, OPTION_RUN },
	{ "speed", required_argument, NULL, OPTION_SPEED },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "crds", required_argument, NULL, OPTION_CRDS },
	{ "audit-log", required_argument, NULL, OPTION_AUDIT },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int read_number(const char *flag, const char *text, long long low, long long high, long long *out)
{
	const char *problem = NULL;

	*out = strtonum(text, low, high, &problem);
	if (!problem)
		return 0;
	fprintf(stderr, "kar-sim serve: %s: want a number from %lld to %lld, got \"%s\"\n", flag, low, high,
		text);
	return -1;
}

static int read_duration(const char *flag, const char *text, kar_time *out)
{
	if (kar_duration_parse(text, out) == 0)
		return 0;
	fprintf(stderr, "kar-sim serve: %s: want a duration such as 10s or 1h30m, got \"%s\"\n", flag, text);
	return -1;
}

static int read_option(struct serve_options *o, int option)
{
	switch (option) {
	case OPTION_PORT:
		return read_number("--port", optarg, 0, UINT16_MAX, &o->port);
	case OPTION_NODES:
		return read_number("--nodes", optarg, 0, NODES_MAX, &o->nodes);
	case OPTION_RUN:
		return read_duration("--run", optarg, &o->run);
	case OPTION_SPEED:
		return read_number("--speed", optarg, 1, SPEED_MAX, &o->speed);
	case OPTION_SEED:
		return read_number("--seed", optarg, 0, LLONG_MAX, &o->seed);
	case 'v':
		return read_number("-v", optarg, 0, 10, &o->verbosity);
	case OPTION_KUBECONFIG:
		o->kubeconfig = optarg;
		return 0;
	case OPTION_CRDS:
		o->crds = optarg;
		return 0;
	case OPTION_AUDIT:
		o->audit_log = optarg;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	default:
		fputs("See kar-sim serve --help.\n", stderr);
		return -1;
	}
}

static int parse(struct serve_options *o, int argc, char **argv)
{
	static char name[] = "kar-sim serve"; /* in what getopt says */
	int option;

	argv[0] = name;
	*o = (struct serve_options){ .kubeconfig = "kar-sim.kubeconfig",
		.nodes = 4,
		.run = DEFAULT_RUN,
		.speed = 1,
		.seed = 1 };
	optind = 1;
	while ((option = getopt_long(argc, argv, "hv:", long_options, NULL)) != -1) {
		if (read_option(o, option))
			return -1;
	}
	if (optind == argc)
		return 0;
	fprintf(stderr, "kar-sim serve: unexpected argument %s\nSee kar-sim serve --help.\n", argv[optind]);
	return -1;
}

/* ---- the cluster ---- */

static int add_nodes(struct process *p, struct kar_err *err)
{
	for (long long i = 0; i < p->options.nodes; i++) {
		char *name = kar_xasprintf("node-%lld", i);
		int r = sim_nodes_add(p->nodes, &(const struct sim_node_options){ .name = name }, err);

		free(name);
		if (r)
			return r;
	}
	return 0;
}

static int make_cluster(struct process *p, struct kar_err *err)
{
	const struct sim_apiserver_options server = { .seed = (uint64_t)p->options.seed };
	const struct sim_nodes_options nodes = {
		.seed = (uint64_t)p->options.seed,
		.start = { 200, 800 },
		.run = { p->options.run, p->options.run },
		.events = true,
	};

	p->timeline = sim_timeline_new(kar_clock_wall());
	p->server = sim_apiserver_new(p->timeline, &server);
	if (sim_apiserver_install_crds(p->server, p->options.crds ? p->options.crds : sim_crds_folder(), err))
		return -1;
	p->nodes = sim_nodes_new(p->server, &nodes);
	return add_nodes(p, err);
}

/* ---- its door ---- */

static void before(void *arg)
{
	struct process *p = arg;

	sim_pacemaker_catch_up(p->pacemaker);
}

static void after(void *arg)
{
	struct process *p = arg;

	sim_pacemaker_rest(p->pacemaker);
}

/* Whoever reads it follows it line by line. */
static void write_audit(void *arg, const char *line, size_t n)
{
	struct process *p = arg;

	if (fwrite(line, 1, n, p->audit) != n || fflush(p->audit) != 0)
		kar_error(KAR_MSG("Cannot write the audit log"), KAR_S("error", strerror(errno)));
}

static void make_token(char out[2 * TOKEN_BYTES + 1])
{
	unsigned char bytes[TOKEN_BYTES];

	arc4random_buf(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static int open_door(struct process *p, struct kar_err *err)
{
	struct sim_door_options door = { .admin_token = p->token };
	char address[64];

	if (kar_cert_make("kar-sim", ADDRESS, 365LL * KAR_CERT_DAY, &p->cert, err))
		return -1;
	const struct sim_http_server_options http = {
		.address = ADDRESS,
		.port = (uint16_t)p->options.port,
		.certificate = p->cert.certificate,
		.key = p->cert.key,
		.before = before,
		.after = after,
		.arg = p,
	};

	p->http = sim_http_server_new(p->loop, &http, err);
	if (!p->http)
		return -1;
	snprintf(address, sizeof(address), "%s:%d", ADDRESS, sim_http_server_port(p->http));
	door.address = address;
	if (p->audit) {
		door.audit = write_audit;
		door.audit_arg = p;
	}
	make_token(p->token);
	p->door = sim_door_new(p->server, &door);
	sim_http_server_open(p->http, p->door);
	return 0;
}

static int open_audit(struct process *p, struct kar_err *err)
{
	const char *path = p->options.audit_log;

	if (!path)
		return 0;
	p->audit = fopen(path, "ae");
	return p->audit ? 0 : kar_fail(err, KAR_FATAL, "%s: %s", path, strerror(errno));
}

/* ---- kubeconfig ---- */

static void print_kubeconfig(const struct process *p, struct kar_buf *out)
{
	struct kar_buf ca KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_base64_encode(&ca, p->cert.certificate, strlen(p->cert.certificate));
	kar_buf_printf(out,
		"apiVersion: v1\n"
		"kind: Config\n"
		"current-context: kar-sim\n"
		"clusters:\n"
		"- name: kar-sim\n"
		"  cluster:\n"
		"    server: https://%s:%d\n"
		"    certificate-authority-data: %s\n"
		"users:\n"
		"- name: kubernetes-admin\n"
		"  user: {token: \"%s\"}\n"
		"contexts:\n"
		"- name: kar-sim\n"
		"  context: {cluster: kar-sim, user: kubernetes-admin}\n",
		ADDRESS, sim_http_server_port(p->http), kar_buf_cstr(&ca), p->token);
}

static int write_kubeconfig(const struct process *p, struct kar_err *err)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	print_kubeconfig(p, &text);
	return sim_private_file_write(p->options.kubeconfig, (struct kar_str){ text.p, text.n }, err);
}

/* ---- the process ---- */

static void on_signal(void *arg, int signum)
{
	struct process *p = arg;

	(void)signum;
	kar_loop_stop(p->loop);
}

/* As when etcd is compacted and the API server restarts: clients find their watches closed and their versions too old. */
static void on_forget(void *arg, int signum)
{
	struct process *p = arg;

	(void)signum;
	before(p);
	sim_apiserver_compact(p->server);
	sim_apiserver_cut_watches(p->server);
	after(p);
}

static int begin(struct process *p, struct kar_err *err)
{
	signal(SIGPIPE, SIG_IGN);
	p->loop = kar_loop_new();
	if (open_audit(p, err) || make_cluster(p, err))
		return -1;
	p->pacemaker = sim_pacemaker_new(p->loop, p->timeline, (unsigned)p->options.speed);
	if (open_door(p, err) || write_kubeconfig(p, err))
		return -1;
	p->on_term = kar_signal_new(p->loop, SIGTERM, on_signal, p);
	p->on_int = kar_signal_new(p->loop, SIGINT, on_signal, p);
	p->on_usr1 = kar_signal_new(p->loop, SIGUSR1, on_forget, p);
	printf("kar-sim: Kubernetes API at https://%s:%d, %lld nodes; KUBECONFIG=%s\n", ADDRESS,
		sim_http_server_port(p->http), p->options.nodes, p->options.kubeconfig);
	fflush(stdout);
	return 0;
}

static void end(struct process *p)
{
	kar_signal_free(p->on_term);
	kar_signal_free(p->on_int);
	kar_signal_free(p->on_usr1);
	sim_http_server_free(p->http);
	sim_door_free(p->door);
	kar_cert_release(&p->cert);
	sim_pacemaker_free(p->pacemaker);
	sim_nodes_free(p->nodes);
	sim_apiserver_free(p->server);
	sim_timeline_free(p->timeline);
	kar_loop_free(p->loop);
	if (p->audit)
		fclose(p->audit);
}

int sim_serve_command(int argc, char **argv)
{
	struct process p = { 0 };
	struct kar_err err = { 0 };
	int failed;

	if (parse(&p.options, argc, argv))
		return EXIT_USAGE;
	if (p.options.help) {
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	kar_log_init(KAR_LOG_TEXT, (int)p.options.verbosity);
	failed = begin(&p, &err);
	if (failed)
		kar_log_fatal("kar-sim serve: %s", err.msg);
	else
		kar_loop_run(p.loop);
	end(&p);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
