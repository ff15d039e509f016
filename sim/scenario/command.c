/* `kar-sim run`: options in, report out. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "sim/crds.h"
#include "sim/scenario/cluster.h"
#include "sim/scenario/report.h"
#include "sim/scenario/run.h"

enum {
	MAX_FILE = 4 << 20,
	MAX_STATE = 8 << 20 /* what sim_parse() takes */,
	MAX_REPORT = 512 << 20,
	EXIT_USAGE = 2
};

static const char usage[] =
	"usage: kar-sim run [SCENARIO.yaml] [OPTION...]\n"
	"Plays a scenario (nodes, queues, jobs and their times) in virtual time with the real controllers, and reports\n"
	"who waited for what and how full the nodes were.\n\n"
	"  -o, --output table|json|svg|html       what is printed (default table)\n"
	"      --json FILE, --svg FILE, --html FILE   also write this\n"
	"      --seed N                           instead of the seed of the file\n"
	"      --from-cluster                     begin with the nodes, queues, quotas and unfinished jobs of the real\n"
	"                                         cluster; the file needs only what is to be changed or added\n"
	"      --from-state FILE                  the same from what a manager has answered to /debug/state (-: stdin)\n"
	"      --kubeconfig FILE, --context NAME  of that cluster; default: KUBECONFIG, in-cluster, ~/.kube/config\n"
	"      --cpu-time                         the CPU time that the manager takes passes in virtual time too; no two runs\n"
	"                                         are then equal\n"
	"      --crds DIR                         folder of the CustomResourceDefinitions\n"
	"  -v, --verbose                          log what the manager does\n"
	"  -h, --help\n";

enum format { TABLE, JSON, SVG, HTML, FORMATS };
static const char *const format_names[FORMATS] = { "table", "json", "svg", "html" };

struct command {
	const char *scenario; /* file; NULL: none */
	enum format output;
	const char *files[FORMATS]; /* NULL: not asked for */
	bool help, has_seed, from_cluster, cpu_time, verbose;
	uint64_t seed;
	const char *from_state; /* file; NULL: none */
	const char *kubeconfig, *context, *crds;
};

/* ---- options ---- */

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "kar-sim run: %s%s\nSee kar-sim run --help.\n", what, value);
	return EXIT_USAGE;
}

static int read_format(struct command *c, const char *name)
{
	for (enum format f = 0; f < FORMATS; f++) {
		if (!strcmp(name, format_names[f])) {
			c->output = f;
			return 0;
		}
	}
	return usage_error("--output: want table, json, svg or html, got ", name);
}

static int read_seed(struct command *c, const char *text)
{
	char *end;

	errno = 0;
	c->seed = strtoull(text, &end, 10);
	c->has_seed = true;
	if (errno || !*text || *end || *text == '-')
		return usage_error("--seed: want a number, got ", text);
	return 0;
}

static int take_option(struct command *c, int option, const char *value)
{
	switch (option) {
	case 'o':
		return read_format(c, value);
	case 's':
		return read_seed(c, value);
	case 'J':
		c->files[JSON] = value;
		return 0;
	case 'S':
		c->files[SVG] = value;
		return 0;
	case 'H':
		c->files[HTML] = value;
		return 0;
	case 'f':
		c->from_cluster = true;
		return 0;
	case 'F':
		c->from_state = value;
		return 0;
	case 'k':
		c->kubeconfig = value;
		return 0;
	case 'x':
		c->context = value;
		return 0;
	case 't':
		c->cpu_time = true;
		return 0;
	case 'c':
		c->crds = value;
		return 0;
	case 'v':
		c->verbose = true;
		return 0;
	case 'h':
		c->help = true;
		return 0;
	default: /* getopt has said what is wrong */
		return usage_error("", "the command line is not understood");
	}
}

static int parse(struct command *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "json", required_argument, NULL, 'J' },
		{ "svg", required_argument, NULL, 'S' },
		{ "html", required_argument, NULL, 'H' },
		{ "seed", required_argument, NULL, 's' },
		{ "from-cluster", no_argument, NULL, 'f' },
		{ "from-state", required_argument, NULL, 'F' },
		{ "kubeconfig", required_argument, NULL, 'k' },
		{ "context", required_argument, NULL, 'x' },
		{ "cpu-time", no_argument, NULL, 't' },
		{ "crds", required_argument, NULL, 'c' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, rc = 0;

	while (rc == 0 && (option = getopt_long(argc, argv, "o:vh", options, NULL)) != -1)
		rc = take_option(c, option, optarg);
	if (rc || c->help)
		return rc;
	if (argc - optind > 1)
		return usage_error("one scenario at a time, not also ", argv[optind + 1]);
	c->scenario = optind < argc ? argv[optind] : NULL;
	if (!c->scenario && !c->from_cluster && !c->from_state)
		return usage_error("", "a scenario file is needed, or --from-cluster, or --from-state");
	if (c->from_cluster && c->from_state)
		return usage_error("", "--from-cluster and --from-state are two beginnings: want one");
	return 0;
}

/* ---- input ---- */

static int read_stream(const char *name, FILE *f, struct kar_buf *out)
{
	char chunk[65536];
	size_t n;

	do {
		n = fread(chunk, 1, sizeof(chunk), f);
		kar_buf_append(out, chunk, n);
	} while (n == sizeof(chunk) && !out->overflow);
	if (out->overflow)
		fprintf(stderr, "kar-sim run: %s has more than %zu bytes\n", name, out->cap);
	else if (ferror(f))
		fprintf(stderr, "kar-sim run: cannot read %s: %s\n", name, strerror(errno));
	else
		return 0;
	return -1;
}

/* "-": stdin */
static int read_file(const char *name, struct kar_buf *out)
{
	FILE *f;
	int rc;

	if (strcmp(name, "-") == 0)
		return read_stream(name, stdin, out);
	f = fopen(name, "re");
	if (!f) {
		fprintf(stderr, "kar-sim run: cannot read %s: %s\n", name, strerror(errno));
		return -1;
	}
	rc = read_stream(name, f, out);
	fclose(f);
	return rc;
}

static void print_causes(const char *name, const struct sim_causes *causes)
{
	kar_log_fatal("The Scenario \"%s\" is invalid:", name);
	for (size_t i = 0; i < causes->n; i++)
		kar_log_fatal("* %s: %s", causes->items[i].field[0] ? causes->items[i].field : "<document>",
			causes->items[i].message);
}

static int read_scenario(const struct command *c, struct sim_scenario *s)
{
	static const char empty[] = "apiVersion: kube-arbitrator.io/v1alpha1\nkind: Scenario\n";
	struct kar_buf text = { .cap = MAX_FILE };
	struct sim_causes causes = { 0 };
	struct kar_err err = { 0 };
	const char *name = c->scenario ? c->scenario : "the empty scenario";
	int rc = 0;

	if (c->scenario)
		rc = read_file(c->scenario, &text);
	else
		kar_buf_puts(&text, empty);
	if (rc == 0 &&
		sim_scenario_parse(kar_buf_cstr(&text), text.n, c->has_seed ? &c->seed : NULL, s, &causes,
			&err)) {
		rc = -1;
		if (causes.n)
			print_causes(name, &causes);
		else
			kar_log_fatal("kar-sim run: %s: %s", name, err.msg);
	}
	kar_buf_release(&text);
	sim_causes_release(&causes);
	return rc;
}

/* What is in the file; NULL, with a message: it cannot be read. */
static struct sim_value *read_state(const char *name)
{
	struct kar_buf text = { .cap = MAX_STATE };
	struct kar_err err = { 0 };
	struct sim_value *state = NULL, *lists = NULL;

	if (read_file(name, &text) == 0) {
		state = sim_parse(kar_buf_cstr(&text), text.n, &err);
		lists = state ? sim_ref(sim_member(state, "cluster")) : NULL;
		if (!state)
			kar_log_fatal("kar-sim run: %s: %s", name, err.msg);
		else if (!lists)
			kar_log_fatal(
				"kar-sim run: %s: want what a manager of this version answers to /debug/state: there is no member cluster",
				name);
		if (sim_int_of(sim_member(state, "clusterLeftOut"), 0))
			fprintf(stderr,
				"kar-sim run: %s: %lld objects are not in it, as the manager shows a limited number of each kind\n",
				name, (long long)sim_int_of(sim_member(state, "clusterLeftOut"), 0));
	}
	sim_unref(state);
	kar_buf_release(&text);
	return lists;
}

static struct sim_value *read_cluster(const struct command *c)
{
	struct kar_err err = { 0 };
	struct sim_value *lists = sim_cluster_read(c->kubeconfig, c->context, &err);

	if (!lists)
		kar_log_fatal("kar-sim run: cannot read the cluster: %s", err.msg);
	return lists;
}

static int add_cluster(const struct command *c, struct sim_scenario *s)
{
	struct sim_value *lists;

	if (!c->from_cluster && !c->from_state)
		return 0;
	lists = c->from_state ? read_state(c->from_state) : read_cluster(c);
	if (!lists)
		return -1;
	sim_scenario_merge(s, lists);
	sim_unref(lists);
	return 0;
}

/* ---- output ---- */

static void write_report(const struct sim_record *r, enum format f, const char *title, struct kar_buf *out)
{
	if (f == TABLE)
		sim_report_table(r, out);
	else if (f == JSON)
		sim_report_json(r, out);
	else if (f == SVG)
		sim_report_svg(r, title, out);
	else
		sim_report_html(r, title, out);
}

static int put(const struct sim_record *r, enum format f, const char *title, const char *name)
{
	struct kar_buf text = { .cap = MAX_REPORT };
	FILE *out = name ? fopen(name, "we") : stdout;
	bool ok = out != NULL;

	write_report(r, f, title, &text);
	ok = ok && fwrite(kar_buf_cstr(&text), 1, text.n, out) == text.n;
	if (out && fflush(out))
		ok = false;
	if (name && out)
		(void)fclose(out);
	if (!ok)
		fprintf(stderr, "kar-sim run: cannot write %s: %s\n", name ? name : "the report",
			strerror(errno));
	kar_buf_release(&text);
	return ok ? 0 : -1;
}

/* The name of the file: where it lies says nothing about the run. */
static const char *title_of(const char *scenario)
{
	const char *slash = scenario ? strrchr(scenario, '/') : NULL;

	if (!scenario)
		return "the cluster as it is";
	if (strcmp(scenario, "-") == 0)
		return "standard input";
	return slash ? slash + 1 : scenario;
}

static int put_all(const struct command *c, const struct sim_record *r)
{
	const char *title = title_of(c->scenario);
	int rc = put(r, c->output, title, NULL);

	for (enum format f = 0; f < FORMATS; f++) {
		if (c->files[f] && put(r, f, title, c->files[f]))
			rc = -1;
	}
	return rc;
}

static void show_progress(void *arg KAR_UNUSED, kar_time simulated, size_t ended, size_t jobs)
{
	char text[32];

	fprintf(stderr, "\r%s simulated, %zu of %zu jobs ended \033[K", sim_report_time(simulated, text),
		ended, jobs);
}

/* ---- the command ---- */

/* What the manager cannot do now, it tries again, and the report tells of it. */
static void say_nothing(void *arg KAR_UNUSED, const char *line KAR_UNUSED, size_t n KAR_UNUSED)
{
}

static int64_t cpu_clock(void)
{
	enum { NS_PER_S = 1000000000 };
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int play(const struct command *c, const struct sim_scenario *s)
{
	bool terminal = isatty(STDERR_FILENO) && !c->verbose;
	const struct sim_run_options o = {
		.crds = c->crds ? c->crds : sim_crds_folder(),
		.clock = c->cpu_time ? cpu_clock : NULL,
		.progress = terminal ? show_progress : NULL,
	};
	struct sim_record record;
	struct kar_err err = { 0 };
	int rc = sim_run(s, &o, &record, &err);

	if (terminal)
		fputs("\r\033[K", stderr);
	if (rc) {
		kar_log_fatal("kar-sim run: %s", err.msg);
		return -1;
	}
	rc = put_all(c, &record);
	sim_record_release(&record);
	return rc;
}

int sim_run_command(int argc, char **argv)
{
	struct command c = { 0 };
	struct sim_scenario s = { 0 };
	int rc = parse(&c, argc, argv);

	if (rc)
		return rc;
	if (c.help) {
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	kar_log_init(KAR_LOG_TEXT, c.verbose ? 2 : 0);
	if (!c.verbose)
		kar_log_redirect(say_nothing, NULL);
	rc = read_scenario(&c, &s);
	if (rc == 0)
		rc = add_cluster(&c, &s);
	if (rc == 0)
		rc = play(&c, &s);
	sim_scenario_release(&s);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
