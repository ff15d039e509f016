#include "controllers/options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/timefmt.h"
#include "controllers/options_impl.h"

enum kind { STRING, COUNT, DECIMAL, PART, DURATION, FORMAT, BACKEND, BOOL };

/* clang-format would format each initializer as a block. */
/* clang-format off */
#define FLAG(name_, kind_, member_, group_, default_, help_) \
	{ (name_), (kind_), offsetof(struct kar_options, member_), (group_), (default_), (help_) }
/* clang-format on */

static const struct kar_flag flags[] = {
	FLAG("kubeconfig", STRING, cluster.kubeconfig, "Cluster", NULL,
		"Kubeconfig file of the cluster (default: $KUBECONFIG, the pod's service account, ~/.kube/config)"),
	FLAG("context", STRING, cluster.context, "Cluster", NULL,
		"Context of the kubeconfig to use (default: its current-context)"),
	FLAG("master", STRING, cluster.master, "Cluster", NULL,
		"URL of the API server; overrides the kubeconfig's"),
	FLAG("namespace", STRING, ns, "Cluster", NULL,
		"Manage this namespace only; queues are then read, not written (default: all)"),
	FLAG("kube-api-qps", DECIMAL, client.qps, "Cluster", "0",
		"Requests per second to the API server; 0: limited only by its 429 answers"),
	FLAG("kube-api-burst", COUNT, client.burst, "Cluster", "1",
		"Requests that may exceed --kube-api-qps at once"),
	FLAG("max-in-flight", COUNT, client.max_in_flight_writes, "Cluster", "200",
		"Writes that wait for their answer at once"),
	FLAG("disable-http2", BOOL, client.http1_only, "Cluster", NULL, "Speak HTTP/1.1 only"),
	FLAG("leader-elect", BOOL, leader.elect, "Leader election", NULL,
		"Write only while holding a Lease, so that several replicas may run, of which one works"),
	FLAG("leader-elect-lease-duration", DURATION, leader.times.duration, "Leader election", "15s",
		"Time for which a candidate waits after the last renewal that it saw"),
	FLAG("leader-elect-renew-deadline", DURATION, leader.times.deadline, "Leader election", "10s",
		"Time after its last renewal until which the leader writes; less than the lease duration"),
	FLAG("leader-elect-retry-period", DURATION, leader.times.retry, "Leader election", "2s",
		"Time between two renewals, and between two tries; less than the renew deadline / 1.2"),
	FLAG("leader-elect-resource-name", STRING, leader.name, "Leader election", "kar-controllers",
		"Name of the Lease"),
	FLAG("leader-elect-resource-namespace", STRING, leader.ns, "Leader election", NULL,
		"Namespace of the Lease (default: the pod's own, or that of the kubeconfig's context)"),
	FLAG("max-load-desired", PART, settings.max_load_permille, "Queues", "0.97",
		"Part of the cpu and memory of the nodes up to which jobs get pods beyond their minimums"),
	FLAG("aging-interval", DURATION, settings.aging_interval, "Queues", "600s",
		"Time of waiting after which a job counts with the next higher class of priorities, up to 1000; 0s: never"),
	FLAG("starvation-timeout", DURATION, settings.starvation_timeout, "Queues", "300s",
		"Time of waiting after which room is kept free for a job that cannot start otherwise; 0s: never"),
	FLAG("freezing-window", DURATION, settings.freezing_window, "Queues", "60s",
		"Time after a change of the number of its pods in which a job keeps it; 0s: none"),
	FLAG("min-runtime", DURATION, settings.min_runtime, "Queues", "60s",
		"Time for which a gang runs at least before it may be evicted for another one"),
	FLAG("schedule-timeout", DURATION, settings.schedule_timeout, "Gangs", "60s",
		"Time in which the quorum of a gang must be bound, for jobs that set none"),
	FLAG("direct-schedulers", STRING, settings.direct_schedulers, "Gangs", "kar-scheduler",
		"Comma-separated schedulerNames that nobody else serves: pods of such jobs are created bound; empty: none"),
	FLAG("gang-backend", BACKEND, settings.gang_backend, "Gangs", "Gates",
		"What starts the gangs of QueueJobs whole: Gates, which is kar-controllers; Native, the PodGroups of Kubernetes itself (scheduling.k8s.io); Auto, Native where the cluster has it and it can do what the job asks for"),
	FLAG("native-interval", DURATION, settings.native_interval, "Gangs", "30s",
		"Time between two looks whether the cluster has such PodGroups; not with --gang-backend=Gates"),
	FLAG("metrics-bind-address", STRING, doors.metrics, "Metrics and health", "0",
		"HOST:PORT of /metrics, /debug/state and /debug/flags/v, over TLS, for bearers of a token that may read them; 0: off"),
	FLAG("metrics-insecure", BOOL, doors.metrics_insecure, "Metrics and health", NULL,
		"Plain HTTP without tokens at --metrics-bind-address, which must be a loopback address"),
	FLAG("tls-cert-file", STRING, doors.cert_file, "Metrics and health", NULL,
		"Certificate for --metrics-bind-address, PEM; read again when it changes (default: one is made)"),
	FLAG("tls-private-key-file", STRING, doors.key_file, "Metrics and health", NULL,
		"Key of --tls-cert-file"),
	FLAG("health-probe-bind-address", STRING, doors.health, "Metrics and health", ":8081",
		"HOST:PORT of /livez, /readyz and /healthz; 0: off"),
	FLAG("v", COUNT, verbosity, "Logging", "0",
		"Verbosity: 0 what an operator must know, 2 also each change of a job's phase and what users are refused, 4 also plans and retries"),
	FLAG("logging-format", FORMAT, logging_format, "Logging", "text", "text or json"),
	FLAG("keep-crds", BOOL, keep_crds, "Uninstall", NULL,
		"With uninstall: leave the CRDs, and with them all jobs, queues and groups"),
	FLAG("config", STRING, config, "General", NULL,
		"YAML file (apiVersion: " KAR_CONFIG_VERSION ", kind: " KAR_CONFIG_KIND
		") of flags without their dashes, or in camel case; the command line overrides it"),
	FLAG("version", BOOL, version, "General", NULL, "Print the version and exit"),
	FLAG("help", BOOL, help, "General", NULL, "Print this and exit"),
	FLAG("man", BOOL, man, "General", NULL, "Print the manual page (for man -l -) and exit"),
};

const struct kar_flag *kar_flag_at(size_t i)
{
	return i < KAR_LEN(flags) ? &flags[i] : NULL;
}

static const char *const metavar[] = {
	[STRING] = "string",
	[COUNT] = "int",
	[DECIMAL] = "number",
	[PART] = "number",
	[DURATION] = "duration",
	[FORMAT] = "text|json",
	[BACKEND] = "Auto|Gates|Native",
	[BOOL] = "",
};

const char *kar_flag_metavar(const struct kar_flag *f)
{
	return metavar[f->kind];
}

static const struct kar_flag *find(const char *name, size_t n)
{
	for (size_t i = 0; i < KAR_LEN(flags); i++)
		if (strlen(flags[i].name) == n && !memcmp(flags[i].name, name, n))
			return &flags[i];
	return NULL;
}

static int set_count(int *out, const char *text)
{
	const char *problem;
	int v = (int)strtonum(text, 0, INT32_MAX, &problem);

	if (problem)
		return -1;
	*out = v;
	return 0;
}

static int set_decimal(double *out, const char *text)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(v) || v < 0)
		return -1;
	*out = v;
	return 0;
}

/* In thousandths, rounded down. */
static int set_part(int32_t *out, const char *text)
{
	double v;

	if (set_decimal(&v, text) || v > 1)
		return -1;
	*out = (int32_t)(v * 1000 + 1e-6);
	return 0;
}

/* Accepts whole seconds that fit into the int32 of the API. */
static int set_duration(kar_time *out, const char *text)
{
	kar_time v;

	if (kar_duration_parse(text, &v) || v > INT32_MAX * KAR_SECOND)
		return -1;
	*out = v;
	return 0;
}

static int set_bool(bool *out, const char *text)
{
	if (strcmp(text, "true") && strcmp(text, "false"))
		return -1;
	*out = text[0] == 't';
	return 0;
}

static int set_format(const char **out, const char *text)
{
	if (strcmp(text, "text") && strcmp(text, "json"))
		return -1;
	*out = text;
	return 0;
}

static int set_backend(enum kar_gang_backend *out, const char *text)
{
	static const char *const names[] = {
		[KAR_GANGS_BY_GATES] = "Gates",
		[KAR_GANGS_BY_NATIVE] = "Native",
		[KAR_GANGS_BY_EITHER] = "Auto",
	};

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		if (!strcmp(text, names[i])) {
			*out = (enum kar_gang_backend)i;
			return 0;
		}
	}
	return -1;
}

static int convert(const struct kar_flag *f, void *at, const char *text)
{
	switch (f->kind) {
	case STRING:
		*(const char **)at = text;
		return 0;
	case COUNT:
		return set_count(at, text);
	case DECIMAL:
		return set_decimal(at, text);
	case PART:
		return set_part(at, text);
	case DURATION:
		return set_duration(at, text);
	case FORMAT:
		return set_format(at, text);
	case BACKEND:
		return set_backend(at, text);
	default:
		return set_bool(at, text);
	}
}

int kar_flag_set(struct kar_options *o, const struct kar_flag *f, const char *text, const char *dashes,
	struct kar_err *err)
{
	static const char *const want[] = {
		[STRING] = "a string",
		[COUNT] = "a whole number, not negative",
		[DECIMAL] = "a number, not negative",
		[PART] = "a number from 0 to 1",
		[DURATION] = "a duration such as 90s or 5m",
		[FORMAT] = "text or json",
		[BACKEND] = "Auto, Gates or Native",
		[BOOL] = "true or false",
	};

	if (convert(f, (char *)o + f->offset, text))
		return kar_fail(err, KAR_FATAL, "%s%s: want %s, got \"%.200s\"", dashes, f->name,
			want[f->kind], text);
	return 0;
}

static bool set_command(struct kar_options *o, const char *word)
{
	if (!strcmp(word, "release-gates"))
		o->command = KAR_RELEASE_GATES;
	else if (!strcmp(word, "uninstall"))
		o->command = KAR_UNINSTALL;
	else
		return false;
	return true;
}

/* Accepts "--name=value", "--name value", one dash for two (as in Go), and "-v4". Returns the number of arguments that it used. */
static int parse_one(struct kar_options *o, int argc, char **argv, int i, struct kar_err *err)
{
	const char *arg = argv[i];
	const char *name = arg + strspn(arg, "-");
	const char *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	const struct kar_flag *f = arg[0] == '-' && name - arg <= 2 ? find(name, n) : NULL;

	if (!f && arg[0] == '-' && name - arg == 1 && name[0] == 'v' && name[1])
		return kar_flag_set(o, find("v", 1), name + 1, "-", err) ? -1 : 1;
	if (arg[0] != '-' && set_command(o, arg))
		return 1;
	if (arg[0] != '-')
		return kar_fail(err, KAR_FATAL,
			"unexpected argument \"%s\": flags start with --, commands are release-gates and uninstall; see --help",
			arg);
	if (!f)
		return kar_fail(err, KAR_FATAL, "unknown flag %s; see --help", arg);
	if (equals)
		return kar_flag_set(o, f, equals + 1, "--", err) ? -1 : 1;
	if (f->kind == BOOL)
		return kar_flag_set(o, f, "true", "--", err) ? -1 : 1;
	if (i + 1 >= argc)
		return kar_fail(err, KAR_FATAL, "flag --%s needs a value (%s)", f->name, metavar[f->kind]);
	return kar_flag_set(o, f, argv[i + 1], "--", err) ? -1 : 2;
}

static int parse_command_line(struct kar_options *o, int argc, char **argv, struct kar_err *err)
{
	for (int i = 1; i < argc;) {
		int took = parse_one(o, argc, argv, i, err);

		if (took < 0)
			return -1;
		i += took;
	}
	return 0;
}

static void set_defaults(struct kar_options *o)
{
	*o = (struct kar_options){ 0 };
	for (size_t i = 0; i < KAR_LEN(flags); i++) {
		bool bad = flags[i].value && convert(&flags[i], (char *)o + flags[i].offset, flags[i].value);

		assert(!bad); /* a default that no user could write */
		(void)bad;
	}
}

static int check_combination(const struct kar_options *o, struct kar_err *err)
{
	if (o->ns && !o->ns[0])
		return kar_fail(err, KAR_FATAL, "--namespace: want the name of a namespace, got \"\"");
	if (o->ns && o->settings.gang_backend != KAR_GANGS_BY_GATES)
		return kar_fail(err, KAR_FATAL,
			"--gang-backend is for a manager of all namespaces: with --namespace no gang is placed");
	if (o->keep_crds && o->command != KAR_UNINSTALL)
		return kar_fail(err, KAR_FATAL, "--keep-crds is for the command uninstall");
	if (o->ns && o->command == KAR_UNINSTALL)
		return kar_fail(err, KAR_FATAL,
			"uninstall is about the whole cluster: --namespace is not accepted; for one namespace see docs/USING.md");
	return 0;
}

/* As client-go has it: a candidate must not take the lease while the leader still writes, nor a leader stop after one lost answer. */
static int check_leader(const struct kar_leader_options *l, struct kar_err *err)
{
	const struct kar_election_times *t = &l->times;

	if (!l->elect)
		return 0;
	if (t->duration < KAR_SECOND || t->duration <= t->deadline || t->deadline * 10 <= t->retry * 12 ||
		t->retry <= 0)
		return kar_fail(err, KAR_FATAL,
			"want --leader-elect-lease-duration > --leader-elect-renew-deadline > 1.2 * --leader-elect-retry-period > 0, and at least 1s of the first");
	if (!l->name[0])
		return kar_fail(err, KAR_FATAL,
			"--leader-elect-resource-name: want the name of a Lease, got \"\"");
	return 0;
}

int kar_options_parse(struct kar_options *o, struct kar_arena *arena, int argc, char **argv,
	struct kar_err *err)
{
	const char *config;

	set_defaults(o);
	if (parse_command_line(o, argc, argv, err))
		return -1;
	config = o->config;
	if (config) {
		set_defaults(o); /* the command line is read after the file, so it overrides it */
		if (kar_options_read_file(o, arena, config, err) || parse_command_line(o, argc, argv, err))
			return -1;
	}
	o->settings.one_namespace = o->ns != NULL;
	if (check_combination(o, err) || check_leader(&o->leader, err))
		return -1;
	return kar_doors_check(&o->doors, err);
}
