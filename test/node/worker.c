/*
 * worker - the only program of the containers of test/node: without arguments it waits to be stopped, as the first process of each
 * pod does; "worker SECONDS STATUS" says its place in its job, works so long and ends so.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void stop(int signum)
{
	(void)signum;
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *rank = getenv("KAR_RANK"), *size = getenv("KAR_WORLD_SIZE");

	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	if (argc < 3)
		for (;;)
			pause();
	printf("I am %s of %s\n", rank ? rank : "-", size ? size : "-");
	fflush(stdout);
	sleep((unsigned)atoi(argv[1]));
	return atoi(argv[2]);
}
