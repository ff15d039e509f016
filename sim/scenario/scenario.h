/*
 * scenario - what is to be tried on paper: nodes, queues and jobs with their times, from one YAML file.
 *
 *   apiVersion: kube-arbitrator.io/v1alpha1
 *   kind: Scenario
 *   seed: 7                 # of everything that is drawn; default 1
 *   assume: {duration: 30m} # of pods that do not say how long they run: those of jobs that come from a real cluster
 *   until: 48h              # ends then; default: when every job has ended, or a day after anything could still happen, at
 *                           # the latest 30 days after the last job or event of the file
 *   nodes:
 *   - {name: cpu, count: 4, capacity: {cpu: "16", memory: 64Gi}, labels: {pool: a}, taints: []}   # cpu-0 ... cpu-3
 *   queues:
 *   - {name: research, spec: {maxJobs: 2}}
 *   objects: []             # any other objects, created before the first job: PriorityClasses, ResourceQuotas ...
 *   jobs:
 *   - name: train           # with count: train-0, train-1 ...
 *     namespace: default    # need not be created
 *     at: 10m               # submitted after; default 0
 *     count: 3              # default 1
 *     every: 5m             # between one and the next of them; 0s-10m: drawn each time; default 0
 *     duration: 20m-40m     # of each pod; a range is drawn per job; default 10m
 *     outcome: succeed      # or fail, run ...: what the pods do in the end (sim/nodes/nodes.h)
 *     spec: {...}           # of the QueueJob; or, for one task, instead:
 *     replicas: 4           # or 1-8: drawn per job
 *     requests: {cpu: "4"}
 *     queue, priority, minAvailable
 *   events:
 *   - {at: 1h, kill: cpu-0}   # or recover, cordon, uncordon, drain, remove; or delete: JOB, suspend: JOB, resume: JOB
 *
 * A pod template without containers gets one; its annotations (sim/nodes/nodes.h) win over duration and outcome.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "common/base/mem.h"
#include "sim/apiserver/internal.h"
#include "sim/nodes/nodes.h"

struct sim_scenario_pool {
	const char *name;
	int64_t count; /* 0: one node with this very name */
	const struct sim_value *capacity, *labels, *taints;
	bool cordoned;
	const char *place; /* "nodes[2]" of the file; NULL: from a real cluster */
};

struct sim_scenario_job {
	kar_time at;              /* ms after the start */
	struct sim_value *object; /* the QueueJob to be created; owned */
	const char *place;        /* "jobs[2]" of the file; NULL: from a real cluster */
};

enum sim_scenario_action {
	SIM_SCENARIO_KILL,
	SIM_SCENARIO_RECOVER,
	SIM_SCENARIO_CORDON,
	SIM_SCENARIO_UNCORDON,
	SIM_SCENARIO_DRAIN,
	SIM_SCENARIO_REMOVE,
	SIM_SCENARIO_DELETE, /* from here on: of a job */
	SIM_SCENARIO_SUSPEND,
	SIM_SCENARIO_RESUME,
	SIM_SCENARIO_ACTIONS,
};
extern const char *const sim_scenario_actions[SIM_SCENARIO_ACTIONS]; /* "kill" ... */

struct sim_scenario_event {
	kar_time at;
	enum sim_scenario_action what;
	const char *name;  /* of the node, or "namespace/name" of the job */
	const char *place; /* "events[2].kill" of the file */
};

/* Strings and trees live as long as the scenario. */
struct sim_scenario {
	struct sim_value *document; /* owned */
	struct kar_arena arena;
	uint64_t seed;
	kar_time until; /* ms after the start; 0: until all have ended */
	struct sim_range
		run; /* of pods that say nothing about it: jobs of a real cluster; high 0: until deleted */
	struct sim_scenario_pool *pools;
	size_t n_pools;
	struct sim_value *objects; /* queues and others, in order of creation; owned array */
	const char **places;       /* "queues[2]" of the file: of the last n_places objects */
	size_t n_places;
	struct sim_scenario_job *jobs; /* in order of .at, then of the file */
	size_t n_jobs;
	struct sim_scenario_event *events; /* likewise */
	size_t n_events;
};

/*
 * Reads YAML text of at most 4 MiB. @seed instead of the one of the file; NULL: that one. -1: @causes says per field what is
 * wrong, in the API's words, or @err that it is no YAML; *@out is then to be released all the same.
 */
int sim_scenario_parse(const char *yaml, size_t n, const uint64_t *seed, struct sim_scenario *out,
	struct sim_causes *causes, struct kar_err *err) __attribute__((nonnull(1, 4, 5, 6)));
/*
 * Puts what a real cluster has into @s, in front of what the file says: its nodes, queues, PriorityClasses, quotas, and its jobs
 * that have not ended: the admitted ones at the start, those that wait during the first minute in the order in which they wait.
 * What the file has under the same kind and name wins, so that a file can hold just the change that is to be tried. Nodes that
 * are not Ready come cordoned. @lists: per kind, the items of a list ("Node" ...).
 */
void sim_scenario_merge(struct sim_scenario *s, const struct sim_value *lists) KAR_NONNULL;
void sim_scenario_release(struct sim_scenario *s) KAR_NONNULL;

#endif
