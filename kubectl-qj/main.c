/* kubectl-qj - the kubectl plug-in: kubectl finds it by its name in the PATH and runs it for "kubectl qj". */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/str.h"

/* Whether it talks to a cluster. */
enum need { CLUSTER, NO_CLUSTER, NO_CLUSTER_IF_DRY };

static const struct {
	const char *name;
	qj_command_fn *run;
	enum need need;
} commands[] = {
	{ "list", qj_cmd_list, CLUSTER },
	{ "why", qj_cmd_why, CLUSTER },
	{ "who", qj_cmd_who, CLUSTER },
	{ "tree", qj_cmd_tree, CLUSTER },
	{ "queues", qj_cmd_queues, CLUSTER },
	{ "top", qj_cmd_top, CLUSTER },
	{ "usage", qj_cmd_usage, CLUSTER },
	{ "convert", qj_cmd_convert, NO_CLUSTER },
	{ "create", qj_cmd_create, NO_CLUSTER_IF_DRY },
	{ "wait", qj_cmd_wait, CLUSTER },
	{ "what-if", qj_cmd_what_if, CLUSTER },
	{ "logs", qj_cmd_logs, CLUSTER },
	{ "suspend", qj_cmd_suspend, CLUSTER },
	{ "resume", qj_cmd_resume, CLUSTER },
	{ "restart", qj_cmd_restart, CLUSTER },
	{ "scale", qj_cmd_scale, CLUSTER },
	{ "move", qj_cmd_move, CLUSTER },
	{ "cancel", qj_cmd_cancel, CLUSTER },
	{ "release-gates", qj_cmd_release_gates, CLUSTER },
	{ "uninstall", qj_cmd_uninstall, CLUSTER },
	{ "completion", qj_cmd_completion, NO_CLUSTER },
};

static void look_at_terminal(struct qj *q)
{
	struct winsize size;

	q->terminal = isatty(STDOUT_FILENO) != 0;
	q->colour = q->terminal && !getenv("NO_COLOR");
	q->width =
		q->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static int run_command(struct qj *q, struct kar_err *err)
{
	int status;

	for (size_t i = 0; i < KAR_LEN(commands); i++) {
		if (!kar_streq(commands[i].name, q->o.command))
			continue;
		if (commands[i].need == NO_CLUSTER ||
			(commands[i].need == NO_CLUSTER_IF_DRY && q->o.dry_here)) {
			q->ns = q->o.ns;
			return commands[i].run(q);
		}
		if (qj_open(q, err))
			return -1;
		status = commands[i].run(q);
		qj_close(q);
		return status;
	}
	return kar_fail(err, KAR_FATAL, "unknown command \"%s\"; see kubectl qj --help", q->o.command);
}

static int print_text(const struct qj *q)
{
	if (q->o.version)
		printf("kubectl-qj " KAR_VERSION "\n");
	else
		qj_print_help(q, q->o.command);
	return EXIT_SUCCESS;
}

/* kubectl asks by that name; the scripts that we print ask with the word. */
static bool is_asked_to_complete(const char *program, const char *word)
{
	const char *slash = strrchr(program, '/');

	return kar_streq(slash ? slash + 1 : program, "kubectl_complete-qj") || kar_streq(word, "__complete");
}

int main(int argc, char **argv)
{
	struct qj q = { .out = stdout };
	struct kar_err err = { 0 };
	int status;

	look_at_terminal(&q);
	if (argc > 0 && is_asked_to_complete(argv[0], argc > 1 ? argv[1] : NULL)) {
		int skip = argc > 1 && kar_streq(argv[1], "__complete") ? 2 : 1;

		status = qj_complete(&q, argv + skip, argc - skip);
		if (q.client)
			qj_close(&q);
		return status;
	}
	status = qj_options_read(&q.o, argc, argv, &q.arena, &err);
	if (!status)
		status = q.o.help || q.o.version || !q.o.command ? print_text(&q) : run_command(&q, &err);
	if (status < 0)
		fprintf(stderr, "error: %s\n", err.msg);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "error: not all of the answer could be written\n");
		status = EXIT_FAILURE;
	}
	return status < 0 ? EXIT_FAILURE : status;
}
