/* What each command is called, what it takes, and what it is for. */
#include "kubectl-qj/qj.h"

#include <stdio.h>

#include "common/base/str.h"

static const struct qj_help commands[] = {
	{ "list", "", "jobs, with their queue, position, pods and reason",
		"--all-namespaces --selector --field-selector --output --watch",
		"-w, --watch  then a row for each change that can be seen, until Ctrl-C; without STARTS-IN\n"
		"Fields to select by: status.phase, status.queue, spec.queue.\n"
		"Output: wide, json, yaml or name.\n" },
	{ "why", "JOB", "why it waits: the reason, who is ahead, what its queue has", NULL,
		"podgroup/NAME and pod/NAME work too.\n" },
	{ "who", "JOB", "who was evicted for it, who evicted it, when, by which rule", NULL,
		"The status of each PodGroup says the last eviction; older ones are known while their events are kept,\n"
		"which is an hour, as a rule.\n" },
	{ "tree", "JOB", "the job with its group, tasks and pods", NULL, NULL },
	{ "queues", "", "the tree of queues: what each uses, its right, its share and its limit", NULL,
		NULL },
	{ "top", "", "queues with what they use and who is next, nodes with what is free", NULL,
		"A terminal gets it every 5 seconds until Ctrl-C; programs get it once.\n"
		"Of nodes \"-\" is shown to who may not list them, or the pods of all namespaces.\n" },
	{ "usage", "[WHAT]", "what they have used: amounts of resources times hours",
		"--all-namespaces --selector",
		"queues      (default) all that their pods have used, also jobs that are deleted\n"
		"namespaces  the sum of the jobs that exist; of all namespaces, or with --namespace of one\n"
		"jobs        those of the namespace; -A: of all\n"
		"HOURS: cores, bytes or pieces times hours, of all pods from the moment they have a node. NOW: what they have now.\n" },
	{ "convert", "-f FILE",
		"prints objects of other tools as ours, and says of each field what became of it",
		"--filename --output",
		"Reads Jobs of batch and of Volcano, JobSets, MPIJobs, and ClusterQueues and LocalQueues of Kueue, as YAML or\n"
		"JSON; -f - reads the standard input. Objects go to the standard output, words about fields to the other one:\n"
		"\"A -> B\" is carried over, \"A: ...\" needs a look. It needs no cluster.\n" },
	{ "create", "NAME --image IMAGE [-- COMMAND...]", "makes a job of one task",
		"--image --replicas --min --gpu --cpu --memory --queue --after --dry-run --output",
		"--replicas N     pods; default: 1\n"
		"--min N          pods that start together and are needed; default: all\n"
		"--gpu N          GPUs of each pod: nvidia.com/gpu; or RESOURCE=N\n"
		"--cpu, --memory  requests of each pod\n"
		"--queue NAME     default: that of the cluster\n"
		"--after JOBS     jobs that must be Completed before: fetch,clean; or clean:Failed, clean:Ended\n"
		"--dry-run client prints what would be made, without a cluster; with server the API server looks at it.\n"
		"Output: yaml, json or name.\n" },
	{ "wait", "JOB", "returns when it has ended, or runs", "--for --timeout --progress",
		"--for end        (default) status 0 only if it is Completed\n"
		"--for running    status 0 as soon as it is Running, or Completed\n"
		"--timeout TIME   30s, 10m, 1h30m; default: none\n"
		"--progress       a bar with counts; without a terminal a line for each change\n" },
	{ "what-if", "-f FILE", "says when a job would start, without starting it",
		"--filename --timeout --output",
		"Reads one QueueJob, as YAML or JSON; -f - reads the standard input. It is created suspended under another name, the\n"
		"manager answers in its status, and it is deleted. Nothing starts and nobody is stopped for it.\n"
		"--timeout TIME   for the answer; default: 30s\n"
		"Output: yaml or json, the job with its answer.\n" },
	{ "logs", "JOB", "what its pods have printed, each line behind the name of the pod",
		"--task --index --previous --follow",
		"--task NAME, --index N  pods of one task, or one of each\n"
		"-p, --previous          of the run before, of containers that were restarted\n"
		"-f, --follow            prints what comes, also of pods that are made again, until the job has ended\n"
		"On a terminal lines have no control characters; a file gets them as they are.\n" },
	{ "suspend", "JOB", "stops its pods", "--dry-run", NULL },
	{ "resume", "JOB", "starts them again", "--dry-run", NULL },
	{ "restart", "JOB", "makes all its pods again", "--dry-run", NULL },
	{ "scale", "JOB REPLICAS", "changes the replicas of a task", "--task --dry-run",
		"--task NAME  needed if it has several\n" },
	{ "move", "JOB QUEUE", "waits in another queue", "--dry-run", NULL },
	{ "cancel", "JOB", "deletes it, with its pods", "--dry-run", NULL },
	{ "release-gates", "", "takes our scheduling gate off all pods, when the manager is gone", NULL,
		"Before that it deletes the bindings of our admission policy. With --namespace it touches the pods of one\n"
		"namespace, and no binding. It may be repeated.\n" },
	{ "uninstall", "", "removes kar-controllers from the cluster", "--keep-crds",
		"Stops its Deployments, releases our gates and finalizers, then deletes all that is labelled\n"
		"app.kubernetes.io/name=kar-controllers: policies, CRDs with all jobs, queues and groups, roles, the namespace.\n"
		"--keep-crds leaves the CRDs, and with them all jobs, queues and groups. It may be repeated.\n"
		"Exit status 0: nothing is left.\n" },
	{ "completion", "bash|zsh|fish", "prints what makes the shell complete commands, flags and names",
		NULL,
		"bash:  source <(kubectl qj completion bash)\n"
		"zsh:   source <(kubectl qj completion zsh)\n"
		"fish:  kubectl qj completion fish | source\n"
		"This completes kubectl-qj. For \"kubectl qj\" kubectl's own completion asks kubectl_complete-qj:\n"
		"make a link of this name to kubectl-qj beside it.\n" },
};

const struct qj_help *qj_help_at(size_t i)
{
	return i < KAR_LEN(commands) ? &commands[i] : NULL;
}

const struct qj_help *qj_help_of(const char *command)
{
	for (size_t i = 0; i < KAR_LEN(commands); i++) {
		if (kar_streq(commands[i].name, command))
			return &commands[i];
	}
	return NULL;
}

static void print_one(FILE *out, const struct qj_help *h)
{
	fprintf(out, "kubectl qj %s: %s.\n\nUsage: kubectl qj %s%s%s%s\n", h->name, h->what, h->name,
		*h->args ? " " : "", h->args, h->flags ? " [flags]" : "");
	if (h->more)
		fprintf(out, "\n%s", h->more);
	if (h->flags)
		fprintf(out, "\nFlags: %s\n", h->flags);
	fprintf(out, "\nkubectl qj --help shows the flags that all commands have.\n");
}

void qj_print_help(const struct qj *q, const char *command)
{
	const struct qj_help *one = qj_help_of(command);

	if (one) {
		print_one(q->out, one);
		return;
	}
	fprintf(q->out,
		"Shows and changes QueueJobs: what they do, and why they wait.\n\nUsage: kubectl qj COMMAND [flags]\n\n");
	for (size_t i = 0; i < KAR_LEN(commands); i++) {
		const struct qj_help *h = &commands[i];
		/* What create takes is longer than the column. */
		int n = fprintf(q->out, "  %s %.*s", h->name, kar_streq(h->name, "create") ? 4 : 20, h->args);

		fprintf(q->out, "%*s%s\n", n < 29 ? 29 - n : 1, "", h->what);
	}
	fprintf(q->out,
		"\n"
		"  -n, --namespace NS         of the job; default: that of the context\n"
		"  -A, --all-namespaces       with list\n"
		"  -l, --selector LABELS      with list\n"
		"  -o, --output FORMAT        with list and create\n"
		"      --dry-run server       asks the API server, and changes nothing\n"
		"      --kubeconfig FILE, --context NAME, --as USER, --as-group GROUP\n"
		"      --version\n"
		"\n"
		"kubectl qj COMMAND --help says more of one.\n");
}

int qj_misused(const struct qj *q)
{
	const struct qj_help *h = qj_help_of(q->o.command);

	fprintf(stderr, "error: usage: kubectl qj %s%s%s\n", h ? h->name : "COMMAND",
		h && *h->args ? " " : "", h ? h->args : "");
	return 1;
}
