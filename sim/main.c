/*
 * kar-sim - a simulated cluster to play with. Table of contents of its commands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/base.h"
#include "sim/scenario/run.h"
#include "sim/serve.h"

static const struct {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "a scenario in virtual time: who waits for what, how full are the nodes", sim_run_command },
	{ "serve", "a cluster behind HTTPS, for kubectl and kar-controllers", sim_serve_command },
};

static void print_usage(FILE *out)
{
	fputs("usage: kar-sim COMMAND [OPTION...]\n\n", out);
	for (size_t i = 0; i < KAR_LEN(commands); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("\nkar-sim COMMAND --help tells more; kar-sim --version.\n", out);
}

int main(int argc, char **argv)
{
	enum { EXIT_USAGE = 2 };
	const char *command = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < KAR_LEN(commands); i++) {
		if (!strcmp(command, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(command, "--version")) {
		puts("kar-sim " KAR_VERSION);
		return EXIT_SUCCESS;
	}
	if (!strcmp(command, "--help") || !strcmp(command, "-h")) {
		print_usage(stdout);
		return EXIT_SUCCESS;
	}
	if (*command)
		fprintf(stderr, "kar-sim: unknown command %s\n\n", command);
	print_usage(stderr);
	return EXIT_USAGE;
}
