"""The shapes of the scheduler benchmark of Kueue, played by kar-sim run in virtual time. Run by hack/bench/run.

kubernetes-sigs/kueue, test/performance/scheduler/configs: all ClusterQueues are alike, with a nominal quota of 20 cpu, borrowingLimit 100,
reclaimWithinCohort Any and withinClusterQueue LowerPriority. Each gets workloads of three classes at the same time, each class at a fixed
interval from the beginning. Here a cohort is a queue that has the sum of the quotas as right and limit, a ClusterQueue a leaf below it, a
workload a QueueJob of one pod, and the nodes have twice what the quotas allow, so that quota holds jobs up and nodes do not.

What virtual time counts: 1 to 3 ms for each way of a request or an event between the manager and the API server; every pause that the manager
makes (between passes, between two writes of one status, back-off; there is no --kube-api-qps, as by default); how long pods run. Pods start
and are reported at once, and are created on their nodes by kar-scheduler: Kueue's benchmark has no pods, its runner ends a workload when its
time is over. The API server takes no time. The manager takes none in the form `free`; in the form `cpu` as much as its CPU time on this
machine, with the parts of the simulation that are inside its calls. Seconds of wall and CPU are those of the whole process, simulated cluster included.

  usage        cpu that admitted jobs hold until their pod has ended, as a share of all quotas from the first job to the last end. Kueue's counts
               what its ClusterQueues show, which is the same but for the delay until they show it.
  ran          the same without what lies between admission and the start of the pod
  most         what `usage` would be if each quota were used as soon as there is work for it, whatever the sizes of the pieces; minimum_s: makespan then
  admission    from submission to the condition Admitted, mean of the class; Kueue's: the mean until its condition Admitted
  own_writes   requests of the manager that write, without Events and dry runs, for each workload, from its QueueJob to its end; those are counted
               apart. Of them status_writes are those of PodGroups and queues: all that Kueue's benchmark has, where the runner writes the
               Workload, and there is no job and no pod.
"""

import collections
import json
import os
import pathlib
import subprocess
import tempfile
import time

import common

QUOTA, BORROW = 20, 100  # cpu
Class = collections.namedtuple("Class", "name cpu run_ms priority count every_ms")
# What Kueue published of its runs in CI: the means of its rangespecs.
Shape = collections.namedtuple("Shape", "cohorts queues classes usage admission makespan")
SHAPES = {
    "baseline": Shape(5, 6, [Class("small", 1, 200, 50, 350, 100), Class("medium", 5, 500, 100, 100, 500), Class("large", 20, 1000, 200, 50, 1200)],
                      0.559, {"small": 215, "medium": 76.8, "large": 16.5}, 351),
    "large": Shape(10, 100, [Class("small", 1, 150, 50, 35, 60), Class("medium", 5, 350, 100, 11, 300), Class("large", 20, 700, 200, 4, 700)],
                   0.386, {"small": 700, "medium": 256, "large": 106}, 1179),
}
BEGIN_MS = 5000  # the manager knows its queues by then
NODE = 240  # cpu: a large one always fits somewhere


def job(queue, c):
    annotations = {"outcome": "succeed", "after": f"{c.run_ms}ms", "start-after": "0s"}
    template = {"metadata": {"annotations": {f"test.kube-arbitrator.io/{k}": v for k, v in annotations.items()}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main",
                                                                    "resources": {"requests": {"cpu": str(c.cpu)}}}]}}
    return {"name": f"{c.name}-{queue}", "namespace": queue, "count": c.count, "at": f"{BEGIN_MS + c.every_ms}ms", "every": f"{c.every_ms}ms",
            "priority": c.priority, "queue": queue, "spec": {"schedulerName": "kar-scheduler", "taskSpecs": [{"name": "w", "template": template}]}}


def scenario(shape):
    queues, jobs = [], []
    both = str(QUOTA * shape.queues)
    for i in range(shape.cohorts):
        queues.append({"name": f"cohort-{i}", "spec": {"deserved": {"cpu": both}, "capability": {"cpu": both}}})
        for k in range(shape.queues):
            leaf = f"cq-{i}-{k}"
            queues.append({"name": leaf, "spec": {"parent": f"cohort-{i}", "deserved": {"cpu": str(QUOTA)}, "preemptionPolicy": "LowerPriority",
                                                  "capability": {"cpu": str(QUOTA + BORROW)}}})
            jobs += [job(leaf, c) for c in shape.classes]
    count = -(-2 * QUOTA * shape.cohorts * shape.queues // NODE)
    return {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Scenario", "queues": queues, "jobs": jobs,
            "nodes": [{"name": "node", "count": count, "capacity": {"cpu": str(NODE), "memory": "1Ti", "pods": "1000"}}]}


def play(shape, form):
    """The report of kar-sim, and what its process took."""
    with tempfile.TemporaryDirectory(prefix="kar-shapes-") as folder:
        file, out = pathlib.Path(folder) / "scenario.yaml", pathlib.Path(folder) / "report.json"
        file.write_text(json.dumps(scenario(shape)))  # JSON is YAML
        begin = time.monotonic()
        command = [common.BUILD / "sim/kar-sim", "run", file, "--crds", common.ROOT / "manifests/crds", "-o", "json"]
        with out.open("wb") as report:
            process = subprocess.Popen(command + ["--cpu-time"] * (form == "cpu"), stdout=report)
            _, status, use = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"kar-sim run has failed with status {status}")
        took = {"wall_s": time.monotonic() - begin, "cpu_s": use.ru_utime + use.ru_stime, "rss_mib": use.ru_maxrss / 1024}
        return json.loads(out.read_text()), took


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def attainable(shape):
    """Seconds from the first workload to the end of the last, and the usage until then, at best."""
    arrivals = sorted((c.every_ms * (i + 1) / 1000, c.cpu * c.run_ms / 1000, c.run_ms / 1000) for c in shape.classes for i in range(c.count))
    now = waiting = last = 0
    for at, work, runs in arrivals:
        waiting = max(0, waiting - QUOTA * (at - now)) + work
        now, last = at, max(last, at + runs)
    took = max(now + waiting / QUOTA, last) - arrivals[0][0]
    return took, sum(work for _, work, _ in arrivals) / QUOTA / took


def figures(shape, played):
    jobs = {j["name"]: j for j in played["jobs"]}
    unfinished = sum(j["ended"] is None for j in jobs.values())
    if unfinished:
        raise SystemExit(f"{unfinished} of {len(jobs)} jobs have not ended: {played['summary']}")
    classes = {c.name: [j for j in jobs.values() if j["name"].startswith(f"{c.name}-")] for c in shape.classes}
    first, last = min(j["submitted"] for j in jobs.values()), max(p["ended"] for p in played["pods"])
    ran = sum(float(p["requests"]["cpu"]) * (p["ended"] - p["started"]) for p in played["pods"])
    begun = {}
    for p in played["pods"]:  # of one that is evicted only the first wait is known
        begun[p["job"]] = min(begun.get(p["job"], p["started"]), p["started"])
    cpu = {c.name: c.cpu for c in shape.classes}
    waited = sum(cpu[name] * (begun[j["name"]] - j["admitted"]) for name, of in classes.items() for j in of)
    quota = QUOTA * shape.cohorts * shape.queues
    least, most = attainable(shape)
    writes = collections.Counter()
    for what, n in played["summary"]["writes"].items():
        writes["status_writes"] += n / len(jobs) if what in ("patch podgroups/status", "patch queues/status") else 0
        writes["events" if what == "create events" else "dry_runs" if what.endswith("(dry run)") else "own_writes"] += n / len(jobs)
    return {"usage": (ran + waited) / (quota * (last - first)), "ran": ran / (quota * (last - first)), "most": most, "makespan_s": last - first, "minimum_s": least,
            "pods_per_job": len(played["pods"]) / len(jobs), **writes,
            **{f"admission_{name}_s": mean(j["admitted"] - j["submitted"] for j in of) for name, of in classes.items()}}


def shapes(report, names, forms, part):
    for name in names:
        whole = SHAPES[name]
        shape = whole._replace(queues=max(1, round(whole.queues * part)))
        for form in forms:
            played, took = play(shape, form)
            found = figures(shape, played)
            report.line(bench="shapes", shape=name, form=form, queues=shape.cohorts * shape.queues, jobs=len(played["jobs"]), **found, **took)
            report.line(bench="shapes", shape=name, form=form, writes=played["summary"]["writes"])
            if form == "free":
                report.bar(f"usage_of_quota_{name}", found["usage"])
                report.bar(f"admission_of_kueue_{name}", max(found[f"admission_{c}_s"] / s for c, s in shape.admission.items()))
                report.bar(f"own_writes_per_workload_{name}", found["own_writes"])
        report.line(bench="shapes", shape=name, form="published by Kueue", usage=whole.usage, makespan_s=whole.makespan,
                    **{f"admission_{c}_s": s for c, s in whole.admission.items()})
