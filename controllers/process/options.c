#include "controllers/process/options.h"

#include <assert.h>
#include <string.h>

#include "api/names.h"
#include "controllers/controllers.h"
#include "controllers/process/options_impl.h"

#define HOUR (3600 * KAR_SECOND)

/* clang-format would format each initializer as a block. */
/* clang-format off */
#define FLAG(name_, kind_, member_, group_, default_, help_) \
	{ (name_), KAR_FLAG_##kind_, offsetof(struct kar_options, member_), (group_), (default_), (help_), 0, 0 }
/* Of a number, or of ms. */
#define IN_RANGE(name_, kind_, min_, max_, member_, group_, default_, help_) \
	{ (name_), KAR_FLAG_##kind_, offsetof(struct kar_options, member_), (group_), (default_), (help_), (min_), (max_) }
/* clang-format on */

static const struct kar_flag flags[] = {
	FLAG("kubeconfig", STRING, cluster.kubeconfig, "Cluster", NULL,
		"Kubeconfig file of the cluster (default: $KUBECONFIG, the pod's service account, ~/.kube/config)"),
	FLAG("context", STRING, cluster.context, "Cluster", NULL,
		"Context of the kubeconfig to use (default: its current-context)"),
	FLAG("master", STRING, cluster.master, "Cluster", NULL,
		"URL of the API server; overrides the kubeconfig's"),
	FLAG("namespace", NAMESPACE, ns, "Cluster", NULL,
		"Manage this namespace only; queues are then read, not written (default: all)"),
	IN_RANGE("kube-api-qps", DECIMAL, 0, 100000, client.qps, "Cluster", "0",
		"Requests per second to the API server; 0: limited only by its 429 answers"),
	IN_RANGE("kube-api-burst", COUNT, 0, 100000, client.burst, "Cluster", "1",
		"Requests that may exceed --kube-api-qps at once"),
	IN_RANGE("max-in-flight", COUNT, 1, 10000, client.max_in_flight_writes, "Cluster", "64",
		"Writes that wait for their answer at once"),
	FLAG("disable-http2", BOOL, client.http1_only, "Cluster", NULL, "Speak HTTP/1.1 only"),
	FLAG("leader-elect", BOOL, leader.elect, "Leader election", NULL,
		"Write only while holding a Lease, so that several replicas may run, of which one works"),
	IN_RANGE("leader-elect-lease-duration", DURATION, 0, HOUR, leader.times.duration, "Leader election",
		"15s", "Time for which a candidate waits after the last renewal that it saw"),
	IN_RANGE("leader-elect-renew-deadline", DURATION, 0, HOUR, leader.times.deadline, "Leader election",
		"10s",
		"Time after its last renewal until which the leader writes; less than the lease duration"),
	IN_RANGE("leader-elect-retry-period", DURATION, 0, HOUR, leader.times.retry, "Leader election", "2s",
		"Time between two renewals, and between two tries; less than the renew deadline / 1.2"),
	FLAG("leader-elect-resource-name", NAME, leader.name, "Leader election", "kar-controllers",
		"Name of the Lease"),
	FLAG("leader-elect-resource-namespace", NAMESPACE, leader.ns, "Leader election", NULL,
		"Namespace of the Lease (default: the pod's own, or that of the kubeconfig's context)"),
	FLAG("default-queue", NAME, settings.default_queue, "Queues", KAR_DEFAULT_QUEUE,
		"Queue of jobs that name none, neither by label nor by their namespace; default is created for them; none: they wait until they name one"),
	IN_RANGE("max-load-desired", PART, 0, 1, settings.max_load_permille, "Queues", "0.97",
		"Part of the cpu and memory of the nodes up to which jobs get pods beyond their minimums"),
	IN_RANGE("aging-interval", DURATION, 0, 10000 * HOUR, settings.aging_interval, "Queues", "600s",
		"Time of waiting after which a job counts with the next higher class of priorities, up to 1000; 0s: never"),
	IN_RANGE("starvation-timeout", DURATION, 0, 10000 * HOUR, settings.starvation_timeout, "Queues",
		"300s",
		"Time of waiting after which room is kept free for a job that cannot start otherwise; 0s: never"),
	IN_RANGE("freezing-window", DURATION, 0, 10000 * HOUR, settings.freezing_window, "Queues", "60s",
		"Time after a change of the number of its pods in which a job keeps it; 0s: none"),
	IN_RANGE("usage-half-life", DURATION, 0, 10000 * HOUR, settings.usage_half_life, "Queues", "0s",
		"Time in which what a top queue has had of the cluster counts half, where queues go by that, the one that had least first; 0s: they go by what they have now"),
	IN_RANGE("min-runtime", DURATION, 0, 10000 * HOUR, settings.min_runtime, "Queues", "60s",
		"Time for which a gang runs at least before it may be evicted for another one"),
	IN_RANGE("preemptible-below", PRIORITY, INT32_MIN, INT32_MAX, settings.preemptible, "Queues", "off",
		"Priority below which pods of no queue that have a controller are evicted for a gang that has no room otherwise; off: none are"),
	IN_RANGE("schedule-timeout", DURATION, KAR_SECOND, 10000 * HOUR, settings.schedule_timeout, "Gangs",
		"60s", "Time in which the quorum of a gang must be bound, for jobs that set none"),
	FLAG("direct-schedulers", STRING, settings.direct_schedulers, "Gangs", "kar-scheduler",
		"Comma-separated schedulerNames that nobody else serves: pods of such jobs are created bound; empty: none"),
	FLAG("gang-backend", BACKEND, settings.gang_backend, "Gangs", "Gates",
		"What starts the gangs of QueueJobs whole: Gates, which is kar-controllers; Native, the PodGroups of Kubernetes itself (scheduling.k8s.io); Auto, Native where the cluster has it and it can do what the job asks for"),
	IN_RANGE("native-interval", DURATION, KAR_SECOND / 10, 24 * HOUR, settings.native_interval, "Gangs",
		"30s",
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
	IN_RANGE("v", COUNT, 0, KAR_VERBOSITY_MAX, verbosity, "Logging", "0",
		"Verbosity: 0 what an operator must know, 2 also each change of a job's phase and what users are refused, 4 also plans and retries"),
	FLAG("logging-format", FORMAT, logging_format, "Logging", "text", "text or json"),
	FLAG("config", STRING, config, "General", NULL,
		"YAML file (apiVersion: " KAR_CONFIG_VERSION ", kind: " KAR_CONFIG_KIND
		") of flags without their dashes, or in camel case; the command line overrides it"),
	FLAG("version", BOOL, version, "General", NULL, "Print the version and exit"),
	FLAG("help", BOOL, help, "General", NULL, "Print this and exit"),
	FLAG("man", BOOL, man, "General", NULL, "Print the manual page (for man -l -) and exit"),
};

static_assert(KAR_LEN(flags) <= KAR_FLAGS_MAX, "struct kar_options has no place for all of them");

const struct kar_flag *kar_flag_at(size_t i)
{
	return i < KAR_LEN(flags) ? &flags[i] : NULL;
}

static const struct kar_flag *find(const char *name, size_t n)
{
	for (size_t i = 0; i < KAR_LEN(flags); i++)
		if (strlen(flags[i].name) == n && !memcmp(flags[i].name, name, n))
			return &flags[i];
	return NULL;
}

/* From the command line, whatever a file has said. */
static int set(struct kar_options *o, const struct kar_flag *f, const char *text, struct kar_err *err)
{
	o->places[f - flags] = (struct kar_flag_place){ 0 };
	return kar_flag_set(o, f, text, strlen(f->name) == 1 ? "-" : "--", err);
}

/* A word that is no flag. These two were commands of the manager. */
static int refuse_word(const char *word, struct kar_err *err)
{
	if (!strcmp(word, "release-gates") || !strcmp(word, "uninstall"))
		return kar_fail(err, KAR_FATAL,
			"%s is a command of the kubectl plug-in: kubectl qj %s; see docs/USING.md", word,
			word);
	return kar_fail(err, KAR_FATAL, "unexpected argument \"%s\": flags start with --; see --help", word);
}

/* Accepts "--name=value", "--name value", one dash for two (as in Go), and "-v4". Returns the number of arguments that it used. */
static int parse_one(struct kar_options *o, int argc, char **argv, int i, struct kar_err *err)
{
	const char *arg = argv[i];
	const char *name = arg + strspn(arg, "-");
	const char *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	const struct kar_flag *f = arg[0] == '-' && name - arg <= 2 ? find(name, n) : NULL;

	if (!f && arg[0] == '-' && name - arg == 1 && name[0] == 'v' && name[1]) {
		f = find("v", 1);
		return f && !set(o, f, name + 1, err) ? 1 : -1;
	}
	if (arg[0] != '-')
		return refuse_word(arg, err);
	if (!f)
		return kar_fail(err, KAR_FATAL, "unknown flag %s; see --help", arg);
	if (equals)
		return set(o, f, equals + 1, err) ? -1 : 1;
	if (f->kind == KAR_FLAG_BOOL)
		return set(o, f, "true", err) ? -1 : 1;
	if (i + 1 >= argc)
		return kar_fail(err, KAR_FATAL, "flag --%s needs a value (%s)", f->name, kar_flag_metavar(f));
	return set(o, f, argv[i + 1], err) ? -1 : 2;
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
		bool bad = flags[i].value && kar_flag_convert(&flags[i], o, flags[i].value);

		assert(!bad); /* a default that no user could write */
		(void)bad;
	}
}

struct kar_settings kar_default_settings(void)
{
	struct kar_options o;

	set_defaults(&o);
	return o.settings;
}

/* The combination that @err is about is wrong because of this flag: if the file sets it, the error says where. Returns -1. */
static int because_of(const struct kar_options *o, const char *name, struct kar_err *err)
{
	const struct kar_flag *f = find(name, strlen(name));
	const struct kar_flag_place *at = f ? &o->places[f - flags] : NULL;

	return at && at->line ? kar_wrap(err, "%s: line %zu, column %zu", o->config, at->line, at->column)
			      : -1;
}

static int check_combination(const struct kar_options *o, struct kar_err *err)
{
	if (o->ns && o->settings.gang_backend != KAR_GANGS_BY_GATES) {
		kar_fail(err, KAR_FATAL,
			"--gang-backend is for a manager of all namespaces: with --namespace no gang is placed");
		return because_of(o, "gang-backend", err);
	}
	return 0;
}

/*
 * As client-go has it: a candidate must not take the lease while the leader still writes, nor a leader stop after one lost answer.
 * @known: the times are those that would be in force.
 */
static int check_leader(const struct kar_options *o, bool known, struct kar_err *err)
{
	const struct kar_election_times *t = &o->leader.times;
	char have[80] = "";
	bool duration = t->duration >= KAR_SECOND && t->duration > t->deadline;

	if (!o->leader.elect || (duration && t->deadline * 10 > t->retry * 12 && t->retry > 0))
		return 0;
	if (known)
		snprintf(have, sizeof(have), "; they are %gs, %gs and %gs", (double)t->duration / KAR_SECOND,
			(double)t->deadline / KAR_SECOND, (double)t->retry / KAR_SECOND);
	kar_fail(err, KAR_FATAL,
		"want --leader-elect-lease-duration > --leader-elect-renew-deadline > 1.2 * --leader-elect-retry-period > 0, and at least 1s of the first%s",
		have);
	return because_of(o, duration ? "leader-elect-retry-period" : "leader-elect-lease-duration", err);
}

/*
 * Do the times that the command line gives contradict each other, whatever a file says of the others? Those that it does not give are taken
 * to be the best ones. It has been parsed before, so it is right.
 */
static int check_leader_alone(int argc, char **argv, struct kar_err *err)
{
	enum { NOT_GIVEN = -1 };
	struct kar_options given;
	struct kar_election_times *t = &given.leader.times;

	set_defaults(&given);
	*t = (struct kar_election_times){ NOT_GIVEN, NOT_GIVEN, NOT_GIVEN };
	if (parse_command_line(&given, argc, argv, err))
		return -1;
	if (t->duration == NOT_GIVEN)
		t->duration = KAR_NEVER;
	if (t->retry == NOT_GIVEN)
		t->retry = 1;
	if (t->deadline == NOT_GIVEN)
		t->deadline = (t->duration < HOUR ? t->duration : HOUR) - 1;
	return check_leader(&given, false, err);
}

static int check_doors(const struct kar_options *o, struct kar_err *err)
{
	const char *flag = NULL;

	return kar_doors_check(&o->doors, &flag, err) ? because_of(o, flag, err) : 0;
}

int kar_options_parse(struct kar_options *o, struct kar_arena *arena, int argc, char **argv,
	struct kar_err *err)
{
	const char *config;

	set_defaults(o);
	if (parse_command_line(o, argc, argv, err))
		return -1;
	config = o->config;
	/* What contradicts itself on the command line alone no file can set right. */
	if (check_combination(o, err) || check_leader_alone(argc, argv, err))
		return -1;
	if (config) {
		set_defaults(o); /* the command line is read after the file, so it overrides it */
		if (kar_options_read_file(o, arena, config, err) || parse_command_line(o, argc, argv, err))
			return -1;
	}
	o->settings.one_namespace = o->ns != NULL;
	return check_combination(o, err) || check_leader(o, true, err) || check_doors(o, err) ? -1 : 0;
}
