/* uninstall and release-gates: for the day on which kar-controllers is removed (uninstall/). */
#include "kubectl-qj/qj.h"

#include <stdio.h>

#include <bsd/stdlib.h>

#include "kubectl-qj/uninstall/uninstall.h"

static uint64_t seed(void)
{
	return (uint64_t)arc4random() << 32 | arc4random();
}

static int end(int failed, const struct kar_err *err)
{
	if (failed)
		fprintf(stderr, "error: %s\n", err->msg);
	return failed ? 1 : 0;
}

int qj_cmd_uninstall(struct qj *q)
{
	const struct kar_uninstall_options o = { .keep_crds = q->o.keep_crds,
		.seed = seed(),
		.out = q->out,
		.times = &kar_uninstall_default_times };
	struct kar_err err = { 0 };

	if (q->o.n_args)
		return qj_misused(q);
	if (q->o.ns) {
		fprintf(stderr,
			"error: uninstall is about the whole cluster: --namespace is not accepted; for one namespace see docs/USING.md\n");
		return 1;
	}
	return end(kar_uninstall(q->loop, q->client, &o, &err), &err);
}

/* Only a namespace that was named: that of the context is not meant. */
int qj_cmd_release_gates(struct qj *q)
{
	const struct kar_release_options o = { .ns = q->o.ns,
		.command = "release-gates",
		.seed = seed(),
		.out = q->out,
		.times = &kar_release_default_times };
	struct kar_err err = { 0 };

	if (q->o.n_args)
		return qj_misused(q);
	if (q->o.ns && !*q->o.ns) { /* a shell makes it of a variable that is not set */
		fprintf(stderr, "error: the name of the namespace is empty\n");
		return 1;
	}
	return end(kar_release_gates(q->loop, q->client, &o, &err), &err);
}
