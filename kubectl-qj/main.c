/* kubectl-qj - the kubectl plug-in: kubectl finds it by its name in the PATH and runs it for "kubectl qj". */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/str.h"

static const struct {
	const char *name;
	qj_command_fn *run;
} commands[] = {
	{ "list", qj_cmd_list },
	{ "why", qj_cmd_why },
	{ "tree", qj_cmd_tree },
	{ "queues", qj_cmd_queues },
	{ "suspend", qj_cmd_suspend },
	{ "resume", qj_cmd_resume },
	{ "restart", qj_cmd_restart },
	{ "scale", qj_cmd_scale },
	{ "move", qj_cmd_move },
	{ "cancel", qj_cmd_cancel },
};

static qj_command_fn *find(const char *name)
{
	for (size_t i = 0; i < KAR_LEN(commands); i++) {
		if (kar_streq(commands[i].name, name))
			return commands[i].run;
	}
	return NULL;
}

static void look_at_terminal(struct qj *q)
{
	struct winsize size;

	q->terminal = isatty(STDOUT_FILENO) != 0;
	q->colour = q->terminal && !getenv("NO_COLOR");
	q->width =
		q->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static int print_text(const struct qj *q)
{
	if (q->o.version)
		printf("kubectl-qj " KAR_VERSION "\n");
	else
		qj_print_help();
	return EXIT_SUCCESS;
}

static int run_command(struct qj *q, struct kar_err *err)
{
	qj_command_fn *run = find(q->o.command);
	int status;

	if (!run)
		return kar_fail(err, KAR_FATAL, "unknown command \"%s\"; see kubectl qj --help",
			q->o.command);
	if (qj_open(q, err))
		return -1;
	status = run(q);
	qj_close(q);
	return status;
}

int main(int argc, char **argv)
{
	struct qj q = { .out = stdout };
	struct kar_err err = { 0 };
	int status;

	look_at_terminal(&q);
	status = qj_options_read(&q.o, argc, argv, &q.arena, &err);
	if (!status)
		status = q.o.help || q.o.version || !q.o.command ? print_text(&q) : run_command(&q, &err);
	if (status < 0)
		fprintf(stderr, "error: %s\n", err.msg);
	return status < 0 ? EXIT_FAILURE : status;
}
