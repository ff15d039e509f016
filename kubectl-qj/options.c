/* The command line: words and flags as kubectl has them. */
#include "kubectl-qj/qj.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/timefmt.h"

enum {
	LONG_ONLY = 256,
	KUBECONFIG,
	CONTEXT,
	AS,
	AS_GROUP,
	FIELDS,
	TASK,
	DRY_RUN,
	VERSION,
	FOR,
	TIMEOUT,
	PROGRESS,
	IMAGE,
	REPLICAS,
	MIN,
	GPU,
	CPU,
	MEMORY,
	QUEUE,
	AFTER,
	INDEX,
	FILENAME,
	KEEP_CRDS,
};

static const struct option flags[] = {
	{ "namespace", required_argument, NULL, 'n' },
	{ "all-namespaces", no_argument, NULL, 'A' },
	{ "selector", required_argument, NULL, 'l' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "kubeconfig", required_argument, NULL, KUBECONFIG },
	{ "context", required_argument, NULL, CONTEXT },
	{ "as", required_argument, NULL, AS },
	{ "as-group", required_argument, NULL, AS_GROUP },
	{ "field-selector", required_argument, NULL, FIELDS },
	{ "task", required_argument, NULL, TASK },
	{ "dry-run", required_argument, NULL, DRY_RUN },
	{ "version", no_argument, NULL, VERSION },
	{ "for", required_argument, NULL, FOR },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "progress", no_argument, NULL, PROGRESS },
	{ "image", required_argument, NULL, IMAGE },
	{ "replicas", required_argument, NULL, REPLICAS },
	{ "min", required_argument, NULL, MIN },
	{ "gpu", required_argument, NULL, GPU },
	{ "cpu", required_argument, NULL, CPU },
	{ "memory", required_argument, NULL, MEMORY },
	{ "queue", required_argument, NULL, QUEUE },
	{ "after", required_argument, NULL, AFTER },
	{ "index", required_argument, NULL, INDEX },
	{ "previous", no_argument, NULL, 'p' },
	{ "keep-crds", no_argument, NULL, KEEP_CRDS },
	{ "follow", no_argument, NULL, 'f' },
	{ "watch", no_argument, NULL, 'w' },
	{ "filename", required_argument, NULL, FILENAME },
	{ NULL, 0, NULL, 0 },
};

int qj_number(const char *text, int32_t *out)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || !*text || *end || n < 0 || n > 100000)
		return -1;
	*out = (int32_t)n;
	return 0;
}

static int read_output(struct qj_options *o, const char *value, struct kar_err *err)
{
	static const char *const names[] = { "", "wide", "json", "yaml", "name" };

	for (int i = QJ_WIDE; i <= QJ_NAME; i++) {
		if (kar_streq(value, names[i])) {
			o->output = (enum qj_output)i;
			return 0;
		}
	}
	return kar_fail(err, KAR_FATAL,
		"--output %s: want wide, json, yaml or name; kubectl get queuejobs -o %s shows the objects",
		value, value);
}

static int read_dry_run(struct qj_options *o, const char *value, struct kar_err *err)
{
	o->dry_run = kar_streq(value, "server");
	o->dry_here = kar_streq(value, "client");
	if (!o->dry_run && !o->dry_here && !kar_streq(value, "none"))
		return kar_fail(err, KAR_FATAL, "--dry-run %s: want server, client or none", value);
	return 0;
}

static int read_for(struct qj_options *o, const char *value, struct kar_err *err)
{
	o->start = kar_streq(value, "running");
	if (!o->start && !kar_streq(value, "end"))
		return kar_fail(err, KAR_FATAL, "--for %s: want end or running", value);
	return 0;
}

static int read_timeout(struct qj_options *o, const char *value, struct kar_err *err)
{
	if (kar_duration_parse(value, &o->timeout))
		return kar_fail(err, KAR_FATAL, "--timeout %s: want a time, as in 30s, 10m or 1h30m", value);
	return 0;
}

/* A count of pods. */
static int read_count(int32_t *out, const char *flag, const char *value, int32_t least, struct kar_err *err)
{
	if (qj_number(value, out) || *out < least)
		return kar_fail(err, KAR_FATAL, "--%s %s: want a number, at least %d", flag, value,
			(int)least);
	return 0;
}

/* Flags that take any text. NULL: @flag is another. */
static const char **text_of(struct qj_options *o, int flag)
{
	switch (flag) {
	case 'n':
		return &o->ns;
	case 'l':
		return &o->labels;
	case KUBECONFIG:
		return &o->cluster.kubeconfig;
	case CONTEXT:
		return &o->cluster.context;
	case AS:
		return &o->as_user;
	case FIELDS:
		return &o->fields;
	case TASK:
		return &o->task;
	case IMAGE:
		return &o->wish.image;
	case GPU:
		return &o->wish.gpu;
	case CPU:
		return &o->wish.cpu;
	case MEMORY:
		return &o->wish.memory;
	case QUEUE:
		return &o->wish.queue;
	case AFTER:
		return &o->wish.after;
	case FILENAME:
		return &o->file;
	default:
		return NULL;
	}
}

/* Flags that take nothing. NULL: @flag is another. */
static bool *switch_of(struct qj_options *o, int flag)
{
	switch (flag) {
	case 'A':
		return &o->all;
	case 'h':
		return &o->help;
	case VERSION:
		return &o->version;
	case PROGRESS:
		return &o->progress;
	case KEEP_CRDS:
		return &o->keep_crds;
	case 'p':
		return &o->previous;
	case 'f':
		return &o->follow;
	case 'w':
		return &o->watch;
	default:
		return NULL;
	}
}

static int read_flag(struct qj_options *o, int flag, const char *value, struct kar_err *err)
{
	const char **text = text_of(o, flag);
	bool *on = switch_of(o, flag);

	if (text) {
		*text = value;
		return 0;
	}
	if (on) {
		*on = true;
		return 0;
	}
	switch (flag) {
	case 'o':
		return read_output(o, value, err);
	case DRY_RUN:
		return read_dry_run(o, value, err);
	case FOR:
		return read_for(o, value, err);
	case TIMEOUT:
		return read_timeout(o, value, err);
	case REPLICAS:
		return read_count(&o->wish.replicas, "replicas", value, 1, err);
	case INDEX:
		return read_count(&o->index, "index", value, 0, err);
	case MIN:
		return read_count(&o->wish.min, "min", value, 1, err);
	default:
		return -1;
	}
}

static size_t index_of(int flag)
{
	size_t i = 0;

	while (flags[i].name && flags[i].val != flag)
		i++;
	return i;
}

/* As it stands on the command line. A letter in a group of letters is not the whole word. */
static int fail_unknown(char *const *argv, struct kar_err *err)
{
	const char *word = argv[optind - 1];
	bool is_letter =
		optopt > 0 && optopt < LONG_ONLY && !(strncmp(word, "--", 2) == 0 && strchr(word, '='));

	return is_letter ? kar_fail(err, KAR_FATAL, "unknown flag: -%c; see kubectl qj --help", optopt)
			 : kar_fail(err, KAR_FATAL, "unknown flag: %s; see kubectl qj --help", word);
}

/* As kubectl takes them: -n=NS is -n NS. */
static const char *value_of(char *const *argv)
{
	const char *word = argv[optind - 1];
	bool is_joined = optarg != word && strncmp(word, "--", 2) != 0;

	return optarg && is_joined && *optarg == '=' ? optarg + 1 : optarg;
}

/* Is @name one of the words "--task --dry-run"? */
static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at && (at = strstr(at, "--")); at += 2) {
		if (strncmp(at + 2, name, n) == 0 && (!at[2 + n] || at[2 + n] == ' '))
			return true;
	}
	return false;
}

/* Who gives a flag that a command does not look at gets what he has not asked for. */
static int check_flags(const struct qj_options *o, uint64_t given, struct kar_err *err)
{
	static const char everywhere[] =
		"--namespace --help --kubeconfig --context --as --as-group --version";
	const struct qj_help *h = o->command ? qj_help_of(o->command) : NULL;

	for (size_t i = 0; h && !o->help && flags[i].name; i++) {
		if (given >> i & 1 && !is_listed(everywhere, flags[i].name) &&
			!is_listed(h->flags, flags[i].name))
			return kar_fail(err, KAR_FATAL, "%s has no flag --%s; see kubectl qj %s --help",
				h->name, flags[i].name, h->name);
	}
	return 0;
}

/* --- words ------------------------------------------------------------------------------------------ */

/* What may stand before the name of a job, as "list -o name" and kubectl print it. */
static const char *job_name(const char *word)
{
	static const char *const kinds[] = { "queuejob", "queuejobs", "qj", "queuejob.kube-arbitrator.io",
		"queuejobs.kube-arbitrator.io" };
	const char *slash = strchr(word, '/');

	for (size_t i = 0; slash && i < KAR_LEN(kinds); i++) {
		if (strlen(kinds[i]) == (size_t)(slash - word) &&
			strncmp(word, kinds[i], (size_t)(slash - word)) == 0)
			return slash + 1;
	}
	return word;
}

/* A shell makes an empty word of a variable that is not set. */
static int check_words(struct qj_options *o, struct kar_err *err)
{
	const struct qj_help *h = o->command ? qj_help_of(o->command) : NULL;

	if (h && o->n_args && strncmp(h->args, "JOB", 3) == 0)
		o->args[0] = job_name(o->args[0]);
	for (int i = 0; i < o->n_args; i++) {
		const char *slash = strchr(o->args[i], '/');

		if (!*(slash ? slash + 1 : o->args[i]))
			return kar_fail(err, KAR_FATAL, "a name is empty; usage: kubectl qj %s %s",
				h ? h->name : "COMMAND", h ? h->args : "");
		if (slash && h && !kar_streq(h->name, "why"))
			return kar_fail(err, KAR_FATAL, "%s is no name; usage: kubectl qj %s %s", o->args[i],
				h->name, h->args);
	}
	return 0;
}

/* Words behind "--" are not for us: how many of the last ones. */
static int count_rest(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (kar_streq(argv[i], "--"))
			return argc - i - 1;
	}
	return 0;
}

static void take_words(struct qj_options *o, int argc, char **argv, struct kar_arena *a)
{
	int n = argc - optind;
	const char **words = kar_arena_alloc(a, (size_t)n + 1, sizeof(*words));

	for (int i = 0; i < n; i++)
		words[i] = argv[optind + i];
	if (o->n_rest > n)
		o->n_rest = n;
	o->rest = words + n - o->n_rest;
	if (n == o->n_rest)
		return;
	o->command = words[0];
	o->args = words + 1;
	o->n_args = n - o->n_rest - 1;
}

/* Flags that a command has not are no help to who thinks that it has them. */
static int check_dry_run(const struct qj_options *o, struct kar_err *err)
{
	if (o->dry_here && o->command && !kar_streq(o->command, "create"))
		return kar_fail(err, KAR_FATAL,
			"--dry-run client: only create knows it; want server or none");
	return 0;
}

/* As in kubectl, -f is a file for some commands, and for logs a wish. */
static bool takes_file(int argc, char **argv)
{
	optind = 0;
	while (getopt_long(argc, argv, "+:n:Al:o:hfpw", flags, NULL) != -1)
		;
	return optind < argc && (kar_streq(argv[optind], "convert") || kar_streq(argv[optind], "what-if"));
}

int qj_options_read(struct qj_options *o, int argc, char **argv, struct kar_arena *a, struct kar_err *err)
{
	uint64_t given = 0; /* by the order of flags[] */
	const char *known;
	int flag;

	opterr = 0;
	known = takes_file(argc, argv) ? ":n:Al:o:hf:pw" : ":n:Al:o:hfpw";
	o->timeout = -1;
	o->index = -1;
	o->n_rest = count_rest(argc, argv);
	optind = 0; /* from the beginning, also when another line was read before */
	while ((flag = getopt_long(argc, argv, known, flags, NULL)) != -1) {
		if (flag == ':')
			return kar_fail(err, KAR_FATAL, "flag needs a value: %s", argv[optind - 1]);
		if (flag == '?')
			return fail_unknown(argv, err);
		if (flag == 'f' && optarg)
			flag = FILENAME;
		if (flag == AS_GROUP) {
			o->as_groups = kar_arena_grow(a, o->as_groups, o->n_as_groups, sizeof(*o->as_groups));
			o->as_groups[o->n_as_groups++] = optarg;
		} else if (read_flag(o, flag, value_of(argv), err)) {
			return -1;
		}
		given |= (uint64_t)1 << index_of(flag);
	}
	if (o->n_as_groups && !o->as_user)
		return kar_fail(err, KAR_FATAL, "--as-group needs --as");
	if (o->all && kar_has_text(o->ns))
		return kar_fail(err, KAR_FATAL, "--namespace and --all-namespaces contradict each other");
	take_words(o, argc, argv, a);
	return check_flags(o, given, err) || check_words(o, err) ? -1 : check_dry_run(o, err);
}
