/* The command line: words and flags as kubectl has them. */
#include "kubectl-qj/qj.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/base/str.h"

enum { LONG_ONLY = 256, KUBECONFIG, CONTEXT, FIELDS, TASK, DRY_RUN, VERSION };

static const struct option flags[] = {
	{ "namespace", required_argument, NULL, 'n' },
	{ "all-namespaces", no_argument, NULL, 'A' },
	{ "selector", required_argument, NULL, 'l' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "kubeconfig", required_argument, NULL, KUBECONFIG },
	{ "context", required_argument, NULL, CONTEXT },
	{ "field-selector", required_argument, NULL, FIELDS },
	{ "task", required_argument, NULL, TASK },
	{ "dry-run", required_argument, NULL, DRY_RUN },
	{ "version", no_argument, NULL, VERSION },
	{ NULL, 0, NULL, 0 },
};

static int read_output(struct qj_options *o, const char *value, struct kar_err *err)
{
	static const char *const names[] = { "", "wide", "json", "name" };

	for (int i = QJ_WIDE; i <= QJ_NAME; i++) {
		if (kar_streq(value, names[i])) {
			o->output = (enum qj_output)i;
			return 0;
		}
	}
	return kar_fail(err, KAR_FATAL,
		"--output %s: want wide, json or name; kubectl get queuejobs -o %s shows the objects", value,
		value);
}

static int read_flag(struct qj_options *o, int flag, const char *value, struct kar_err *err)
{
	switch (flag) {
	case 'n':
		o->ns = value;
		return 0;
	case 'A':
		o->all = true;
		return 0;
	case 'l':
		o->labels = value;
		return 0;
	case 'o':
		return read_output(o, value, err);
	case 'h':
		o->help = true;
		return 0;
	case KUBECONFIG:
		o->cluster.kubeconfig = value;
		return 0;
	case CONTEXT:
		o->cluster.context = value;
		return 0;
	case FIELDS:
		o->fields = value;
		return 0;
	case TASK:
		o->task = value;
		return 0;
	case VERSION:
		o->version = true;
		return 0;
	case DRY_RUN:
		o->dry_run = kar_streq(value, "server");
		if (!o->dry_run && !kar_streq(value, "none"))
			return kar_fail(err, KAR_FATAL, "--dry-run %s: want server or none", value);
		return 0;
	default:
		return -1;
	}
}

int qj_options_read(struct qj_options *o, int argc, char **argv, struct kar_arena *a, struct kar_err *err)
{
	int flag;

	opterr = 0;
	optind = 0; /* from the beginning, also when another line was read before */
	while ((flag = getopt_long(argc, argv, ":n:Al:o:h", flags, NULL)) != -1) {
		if (flag == ':')
			return kar_fail(err, KAR_FATAL, "flag needs a value: %s", argv[optind - 1]);
		if (flag == '?')
			return kar_fail(err, KAR_FATAL, "unknown flag: %s; see kubectl qj --help",
				argv[optind - 1]);
		if (read_flag(o, flag, optarg, err))
			return -1;
	}
	if (o->all && o->ns)
		return kar_fail(err, KAR_FATAL, "--namespace and --all-namespaces contradict each other");
	if (optind == argc)
		return 0;
	o->command = argv[optind];
	o->n_args = argc - optind - 1;
	o->args = kar_arena_alloc(a, (size_t)o->n_args + 1, sizeof(*o->args));
	for (int i = 0; i < o->n_args; i++)
		o->args[i] = argv[optind + 1 + i];
	return 0;
}

void qj_print_help(void)
{
	fputs("Shows and changes QueueJobs: what they do, and why they wait.\n"
	      "\n"
	      "Usage: kubectl qj COMMAND [flags]\n"
	      "\n"
	      "  list                       jobs, with their queue, position, pods and reason\n"
	      "  why JOB                    why it waits: the reason, who is ahead, what its queue has\n"
	      "  tree JOB                   the job with its group, tasks and pods\n"
	      "  queues                     the tree of queues: what each has a right to, uses and may use\n"
	      "  suspend JOB, resume JOB    stops its pods; starts them again\n"
	      "  restart JOB                makes all its pods again\n"
	      "  scale JOB REPLICAS         changes the replicas of a task (--task, if there are several)\n"
	      "  move JOB QUEUE             waits in another queue\n"
	      "  cancel JOB                 deletes it, with its pods\n"
	      "\n"
	      "  -n, --namespace NS         of the job; default: that of the context\n"
	      "  -A, --all-namespaces       with list\n"
	      "  -l, --selector LABELS      with list\n"
	      "      --field-selector F     with list: status.phase, status.queue, spec.queue\n"
	      "  -o, --output FORMAT        wide, json or name\n"
	      "      --task NAME            with scale\n"
	      "      --dry-run server       asks the API server, and changes nothing\n"
	      "      --kubeconfig FILE, --context NAME\n"
	      "      --version\n",
		stdout);
}
