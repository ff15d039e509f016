/*
 * kar-simtest - runs the whole system in virtual time, under faults, by seed. See docs/SIMULATION.md.
 */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "common/base/buf.h"
#include "test/sim/rules.h"
#include "test/sim/run.h"

enum { SHRINK_TRIES = 400, STEADY_NODES = 100, STEADY_JOBS = 50, JOBS_MAX = 64 };

struct options {
	uint64_t first, count;
	bool from_clock, trace, shrink, speed, print, rules, twice;
	double hours, stop_at;
	const char *faults, *actions;
	uint32_t fault_set;
	int nodes, jobs; /* nodes: 0: as drawn */
	int plan;        /* version */
	bool alone;      /* without the other user */
	bool no_oracle, leases;
};

static const char usage[] =
	"usage: kar-simtest [OPTION]...\n"
	"  --seed N            this seed (default 1)\n"
	"  --seeds FROM..TO    all of these\n"
	"  --count N           so many, from --seed on\n"
	"  --from-clock        the first seed is drawn from the clock\n"
	"  --hours H           virtual hours in which people act; default: as the seed says\n"
	"  --faults LIST       none | all | names joined by ','; \"all,-crash\" leaves one out (default all)\n"
	"  --jobs J            processes (default 1)\n"
	"  --no-oracle         do not compare with a run without faults\n"
	"  --twice             run each seed again: every write must be the same\n"
	"  --trace             tell the story of the run\n"
	"  --print             print the plan\n"
	"  --shrink            make a failing plan small, and print it\n"
	"  --actions LIST      only these actions of the plan: \"0-3,7\"\n"
	"  --nodes N           so many nodes instead of those of the plan\n"
	"  --plan V            draw plans as version V did (the regression list says which)\n"
	"  --alone             without the other user of the cluster\n"
	"  --leases            two managers with leader election, instead of one and now and then a second\n"
	"  --stop-at S         all becomes calm after so many virtual seconds\n"
	"  --speed             measure: 100 nodes, 50 jobs, no faults, --hours H\n"
	"  --rules             list the rules that every write is checked against\n";

static void fail_usage(const char *what)
{
	fprintf(stderr, "kar-simtest: %s\n%s", what, usage);
	exit(2);
}

static uint64_t number(const char *text, const char *option)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (!*text || *end || *text == '-')
		fail_usage(option);
	return n;
}

static double real(const char *text, const char *option)
{
	char *end;
	double x = strtod(text, &end);

	if (!*text || *end || !(x > 0))
		fail_usage(option);
	return x;
}

static void parse_range(struct options *o, char *text)
{
	char *dots = strstr(text, "..");

	if (!dots)
		fail_usage("--seeds needs FROM..TO");
	*dots = '\0';
	o->first = number(text, "--seeds needs FROM..TO");
	o->count = number(dots + 2, "--seeds needs FROM..TO") - o->first + 1;
}

enum {
	SEED = 1,
	SEEDS,
	COUNT,
	FROM_CLOCK,
	HOURS,
	FAULTS,
	JOBS,
	NO_ORACLE,
	TWICE,
	TRACE,
	PRINT,
	SHRINK,
	ACTIONS,
	NODES,
	PLAN,
	ALONE,
	STOP_AT,
	SPEED,
	RULES,
	LEASES,
};

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, SEED },
	{ "seeds", required_argument, NULL, SEEDS },
	{ "count", required_argument, NULL, COUNT },
	{ "from-clock", no_argument, NULL, FROM_CLOCK },
	{ "hours", required_argument, NULL, HOURS },
	{ "faults", required_argument, NULL, FAULTS },
	{ "jobs", required_argument, NULL, JOBS },
	{ "no-oracle", no_argument, NULL, NO_ORACLE },
	{ "twice", no_argument, NULL, TWICE },
	{ "trace", no_argument, NULL, TRACE },
	{ "print", no_argument, NULL, PRINT },
	{ "shrink", no_argument, NULL, SHRINK },
	{ "actions", required_argument, NULL, ACTIONS },
	{ "nodes", required_argument, NULL, NODES },
	{ "plan", required_argument, NULL, PLAN },
	{ "alone", no_argument, NULL, ALONE },
	{ "stop-at", required_argument, NULL, STOP_AT },
	{ "speed", no_argument, NULL, SPEED },
	{ "rules", no_argument, NULL, RULES },
	{ "leases", no_argument, NULL, LEASES },
	{ NULL, 0, NULL, 0 },
};

static void take_option(struct options *o, int option, char *value)
{
	bool *const switches[] = { [FROM_CLOCK] = &o->from_clock,
		[NO_ORACLE] = &o->no_oracle,
		[TWICE] = &o->twice,
		[TRACE] = &o->trace,
		[PRINT] = &o->print,
		[SHRINK] = &o->shrink,
		[ALONE] = &o->alone,
		[SPEED] = &o->speed,
		[RULES] = &o->rules,
		[LEASES] = &o->leases };

	if (option < (int)KAR_LEN(switches) && switches[option]) {
		*switches[option] = true;
		return;
	}
	switch (option) {
	case SEED:
		o->first = number(value, "--seed needs a number");
		break;
	case SEEDS:
		parse_range(o, value);
		break;
	case COUNT:
		o->count = number(value, "--count needs a number");
		break;
	case HOURS:
		o->hours = real(value, "--hours needs a number");
		break;
	case FAULTS:
		o->faults = value;
		break;
	case JOBS:
		o->jobs = (int)number(value, "--jobs needs a number");
		break;
	case ACTIONS:
		o->actions = value;
		break;
	case NODES:
		o->nodes = (int)number(value, "--nodes needs a number");
		break;
	case PLAN:
		o->plan = (int)number(value, "--plan needs a number");
		break;
	case STOP_AT:
		o->stop_at = real(value, "--stop-at needs a number");
		break;
	default:
		fail_usage("unknown option");
	}
}

static void parse_options(struct options *o, int argc, char **argv)
{
	struct kar_err err;
	int option;

	*o = (struct options){ .first = 1, .count = 1, .faults = "all", .jobs = 1, .plan = PLAN_VERSION };
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		take_option(o, option, optarg);
	if (optind < argc)
		fail_usage("too many arguments");
	if (o->jobs < 1 || o->jobs > JOBS_MAX)
		fail_usage("--jobs must be from 1 to 64");
	if (o->plan < 1 || o->plan > PLAN_VERSION)
		fail_usage("--plan must be a version that there is");
	if (sim_faults_parse(o->faults, &o->fault_set, &err))
		fail_usage(err.msg);
	if (o->from_clock) {
		enum { SPREAD = 1000000 };

		o->first = (uint64_t)time(NULL) * SPREAD;
	}
}

/* --- one seed ------------------------------------------------------------------------------------------ */

static void draw_plan(struct plan *p, const struct options *o, uint64_t seed)
{
	if (o->speed)
		plan_draw_steady(p, seed, o->hours > 0 ? o->hours : 100, STEADY_NODES, STEADY_JOBS);
	else
		plan_draw(p, seed, o->hours, o->fault_set, o->plan);
	if (o->actions && plan_keep(p, o->actions))
		fail_usage("--actions needs a list of numbers: 0-3,7");
	if (o->nodes)
		p->nodes = o->nodes;
	p->other_user &= !o->alone;
	p->leases = o->leases;
	if (o->stop_at > 0)
		p->length = (kar_time)(o->stop_at * (double)KAR_SECOND);
}

static void print_replay(const struct plan *p, const struct options *o, bool shrunk)
{
	struct kar_buf kept = { 0 };

	printf("  replay: hack/sim --seed %llu", (unsigned long long)p->seed);
	if (o->hours > 0)
		printf(" --hours %g", o->hours);
	if (o->plan != PLAN_VERSION)
		printf(" --plan %d", o->plan);
	if (o->leases)
		printf(" --leases");
	if (shrunk) {
		const char *comma = "";

		plan_kept(p, &kept);
		printf(" --actions %s --nodes %d%s --stop-at %.3f --faults ", kar_buf_cstr(&kept), p->nodes,
			p->other_user ? "" : " --alone", (double)p->length / (double)KAR_SECOND);
		for (enum sim_fault f = 0; f < SIM_FAULT_COUNT; f++) {
			if (p->fault_set >> f & 1 && p->faults.rate[f]) {
				printf("%s%s", comma, sim_fault_name(f));
				comma = ",";
			}
		}
		if (!*comma)
			fputs("none", stdout);
		kar_buf_release(&kept);
	} else {
		if (strcmp(o->faults, "all") != 0)
			printf(" --faults %s", o->faults);
		if (o->actions)
			printf(" --actions %s", o->actions);
		if (o->nodes)
			printf(" --nodes %d", o->nodes);
		if (o->alone)
			printf(" --alone");
		if (o->stop_at > 0)
			printf(" --stop-at %.3f", o->stop_at);
	}
	puts(" --trace");
}

static void report_failure(const struct plan *p, const struct options *o, const struct run_result *r,
	bool shrunk)
{
	printf("FAILED seed %llu after %.3f virtual seconds\n  rule: %s\n  %s\n", (unsigned long long)p->seed,
		(double)r->at / (double)KAR_SECOND, r->rule, r->story);
	print_replay(p, o, shrunk);
	fflush(stdout);
}

static bool run_seed(const struct options *o, uint64_t seed, struct run_result *r)
{
	const struct run_options run = { .no_oracle = o->no_oracle,
		.twice = o->twice,
		.trace = o->trace ? stdout : NULL };
	struct plan p;

	draw_plan(&p, o, seed);
	if (o->print)
		plan_print(&p, stdout);
	run_plan(&p, &run, r);
	if (!r->ok)
		report_failure(&p, o, r, false);
	if (!r->ok && o->shrink) {
		puts("shrinking:");
		shrink_plan(&p, r, SHRINK_TRIES, stdout);
		plan_print(&p, stdout);
		report_failure(&p, o, r, true);
	}
	plan_release(&p);
	return r->ok;
}

/* --- many seeds ---------------------------------------------------------------------------------------- */

/* What the runs of some seeds amount to. */
struct total {
	uint64_t seeds, failed;
	struct run_result sum;
};

static void add_sums(struct run_result *to, const struct run_result *r)
{
	to->hours += r->hours;
	to->writes += r->writes;
	to->manager_writes += r->manager_writes;
	to->crashes += r->crashes;
	to->kills += r->kills;
	to->overlaps += r->overlaps;
	to->freezes += r->freezes;
	to->jumps += r->jumps;
	to->stops += r->stops;
	to->terms += r->terms;
	to->judged += r->judged;
	to->hash += r->hash; /* whatever the order */
	for (size_t i = 0; i < SIM_FAULT_COUNT; i++)
		to->struck[i] += r->struck[i];
}

static void run_next(const struct options *o, uint64_t seed, struct total *t)
{
	struct run_result r;

	t->failed += !run_seed(o, seed, &r);
	t->seeds++;
	add_sums(&t->sum, &r);
}

struct worker {
	pid_t pid;
	int results; /* read end of a pipe */
};

/* What a worker tells: before each seed, and at its end. */
struct message {
	uint64_t running; /* the seed under way */
	struct total total;
	bool done;
};

static void tell(int out, const struct message *m)
{
	if (write(out, m, sizeof(*m)) != sizeof(*m))
		_exit(1);
}

/* Every o->jobs-th seed, from number @part on. */
static KAR_NORETURN void work(const struct options *o, int part, int out)
{
	struct message m = { 0 };

	for (uint64_t i = (uint64_t)part; i < o->count; i += (uint64_t)o->jobs) {
		m.running = o->first + i;
		tell(out, &m);
		run_next(o, m.running, &m.total);
	}
	m.done = true;
	tell(out, &m);
	fflush(stdout);
	_exit(0);
}

static struct worker start_worker(const struct options *o, int part)
{
	struct worker w;
	int ends[2];

	fflush(stdout);
	if (pipe(ends)) {
		perror("kar-simtest: pipe");
		exit(1);
	}
	w.pid = fork();
	if (w.pid < 0) {
		perror("kar-simtest: fork");
		exit(1);
	}
	if (w.pid == 0) {
		close(ends[0]);
		work(o, part, ends[1]);
	}
	close(ends[1]);
	w.results = ends[0];
	return w;
}

/* A worker that dies has died of its last seed. */
static void finish_worker(const struct options *o, const struct worker *w, const struct message *m,
	struct total *t)
{
	int status;

	close(w->results);
	waitpid(w->pid, &status, 0);
	t->seeds += m->total.seeds + !m->done;
	t->failed += m->total.failed + !m->done;
	add_sums(&t->sum, &m->total.sum);
	if (!m->done)
		printf("FAILED seed %llu: the process died (status %d)\n  replay: hack/sim --seed %llu --faults %s\n",
			(unsigned long long)m->running, status, (unsigned long long)m->running, o->faults);
}

static bool hear(const struct worker *w, struct message *m)
{
	struct message next;
	size_t n = 0;

	while (n < sizeof(next)) {
		ssize_t got = read(w->results, (char *)&next + n, sizeof(next) - n);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	*m = next;
	return true;
}

/* All are heard, so that none waits because its pipe is full. */
static void hear_all(const struct options *o, const struct worker *workers, struct total *t)
{
	struct message last[JOBS_MAX] = { 0 };
	struct pollfd fds[JOBS_MAX];
	int left = o->jobs;

	for (int i = 0; i < o->jobs; i++)
		fds[i] = (struct pollfd){ .fd = workers[i].results, .events = POLLIN };
	while (left > 0 && poll(fds, (nfds_t)o->jobs, -1) >= 0) {
		for (int i = 0; i < o->jobs; i++) {
			if (fds[i].fd < 0 || !fds[i].revents || hear(&workers[i], &last[i]))
				continue;
			finish_worker(o, &workers[i], &last[i], t);
			fds[i].fd = -1;
			left--;
		}
	}
}

static void run_all(const struct options *o, struct total *t)
{
	struct worker workers[JOBS_MAX];

	if (o->count == 1 || o->jobs == 1) {
		for (uint64_t i = 0; i < o->count; i++)
			run_next(o, o->first + i, t);
		return;
	}
	for (int i = 0; i < o->jobs; i++)
		workers[i] = start_worker(o, i);
	hear_all(o, workers, t);
}

/* --- the report ---------------------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
		       children.ru_stime.tv_sec) +
		(double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
			children.ru_stime.tv_usec) /
		1e6;
}

static void report(const struct total *t, time_t began)
{
	double cpu = cpu_seconds();

	printf("%llu seeds, %llu failed; %.1f virtual hours, %lld s, %.1f CPU s, %.0f virtual hours per minute of one core\n",
		(unsigned long long)t->seeds, (unsigned long long)t->failed, t->sum.hours,
		(long long)(time(NULL) - began), cpu, cpu > 0 ? t->sum.hours * 60 / cpu : 0);
	printf("writes: %llu, of the managers: %llu; jobs compared with a run without faults: %zu; hash %016llx\n",
		(unsigned long long)t->sum.writes, (unsigned long long)t->sum.manager_writes, t->sum.judged,
		(unsigned long long)t->sum.hash);
	printf("faults: crash %llu, kill %llu, overlap %llu, freeze %llu, clock %llu",
		(unsigned long long)t->sum.crashes, (unsigned long long)t->sum.kills,
		(unsigned long long)t->sum.overlaps, (unsigned long long)t->sum.freezes,
		(unsigned long long)t->sum.jumps);
	for (enum sim_fault f = 0; f < SIM_FAULT_COUNT; f++) {
		if (f < SIM_FAULT_CRASH || f == SIM_FAULT_REPLAY)
			printf(", %s %llu", sim_fault_name(f), (unsigned long long)t->sum.struck[f]);
	}
	puts("");
	if (t->sum.terms)
		printf("leaders: %llu, of the managers %llu were told to stop\n",
			(unsigned long long)t->sum.terms, (unsigned long long)t->sum.stops);
}

static void list_rules(void)
{
	const struct rule *r;

	for (size_t i = 0; (r = rules_at(i)) != NULL; i++)
		printf("%-18s %s\n", r->name, r->text);
}

int main(int argc, char **argv)
{
	struct options o;
	struct total t = { 0 };
	time_t began = time(NULL);

	parse_options(&o, argc, argv);
	if (o.rules) {
		list_rules();
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (o.from_clock)
		printf("first seed: %llu\n", (unsigned long long)o.first);
	run_all(&o, &t);
	report(&t, began);
	return t.failed ? 1 : 0;
}
