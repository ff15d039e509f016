"""Numbers: the largest job there can be, many jobs, many pods. The simulated kubelets tell of 100 to 170 pods per second, and
the stories stand in the order of what is left to clean up after them."""

import json

from harness import KEY, expect, expect_equal, queuejob, task, wait_until

PODS = 900  # the nodes have room for 1000, of which pods of stories before may hold some for a while
JOBS, PODS_OF_JOB = 100, 10
INDEXES = 100_000
ETCD_MAX = 3 << 19  # bytes of an object
MOST_TEMPLATE_BYTES = 512 << 10  # of all tasks together
NO_LOSS = {"restarts": 0, "podFailures": 0, "disruptions": 0, "incarnation": 1}


def pairs(count):
    """The longest list of indexes: of every three the first two."""
    return ",".join(f"{i}-{i + 1}" for i in range(0, count, 3))


def largest_job(name):
    """Suspended, with as large templates as are taken, and as many annotations; all indexes but one are of the first task."""
    tasks = [task("most", INDEXES - 1, outcome="succeed"), task("last", 1, outcome="succeed")]
    room = MOST_TEMPLATE_BYTES - sum(len(json.dumps(t["template"])) for t in tasks)
    for t in tasks:
        t["template"]["metadata"]["annotations"]["large"] = "x" * (room // 2 - len('"large": "", '))
    job = queuejob(name, *tasks, suspend=True)
    job["metadata"]["annotations"] = {"large": "y" * 250_000}
    return job


def put_done(s, name, done, count):
    """Writes the status as it is when so many indexes of the first task have succeeded."""
    def put():
        job = s.job(name)
        job["status"]["succeeded"] = count
        job["status"]["tasks"][0].update(succeededIndexes=done, succeeded=count)
        s.kubectl("replace", "--subresource=status", "-f", "-", stdin=json.dumps(job))
        return True

    wait_until(put, "the status is written")


def edit(s, name, fields):
    """fields: paths in the spec, and their new values."""
    changes = [{"op": "replace", "path": f"/spec/{path}", "value": value} for path, value in fields.items()]
    s.kubectl("patch", "queuejob", name, "--type=json", "-p", json.dumps(changes))


def size_of(s, name):
    """Bytes of the object as the API server stores it."""
    return len(s.kubectl("get", "--raw", f"/apis/{KEY}v1alpha1/namespaces/{s.namespace}/queuejobs/{name}"))


def story_status_of_100000_indexes(s):
    """The longest list of succeeded indexes beside the largest templates: etcd and the schema take it, and the manager keeps it exactly."""
    s.kubectl("create", "-f", "-", stdin=json.dumps(largest_job("large")))
    s.wait_phase("large", "Suspended", desired=INDEXES)
    done, count = pairs(INDEXES - 1), 2 * INDEXES // 3
    put_done(s, "large", done, count)
    s.manager.stop()
    s.manager.start()
    edit(s, "large", {"backoffLimit": 7})
    status = s.wait_phase("large", "Suspended", observedGeneration=2, succeeded=count)  # all of it written by the manager
    expect(status["tasks"][0]["succeededIndexes"] == done, "the list of indexes is the one that was written")
    expect(1_100_000 < size_of(s, "large") < ETCD_MAX, f"{size_of(s, 'large')} bytes are much, but fewer than etcd's limit")

    edit(s, "large", {"taskSpecs/0/replicas": 6, "suspend": False})
    status = s.wait_phase("large", "Completed", succeeded=7, **NO_LOSS)
    expect_equal([t["succeededIndexes"] for t in status["tasks"]], ["0-5", "0"], "the indexes in the end")
    expect_equal(sorted(s.audit.pods_created(s.namespace)), ["large-last-0", "large-most-2", "large-most-5"], "pods created: of the indexes that were not done")


def wait_for(s, what, *jobs):
    """With `kubectl wait`: to ask again and again takes as much of the processor as the cluster itself."""
    wait_until(lambda: s.kubectl("wait", f"--for={what}", "--timeout=60s", *jobs), what, 240)


def story_many_jobs_at_once(s):
    """100 jobs of 10 pods, found together by the manager: each is completed once, with its own ten pods and no other's."""
    jobs = [f"job{i:02}" for i in range(JOBS)]
    s.manager.stop()
    s.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        queuejob(j, task("worker", PODS_OF_JOB, outcome="succeed")) for j in jobs]}))
    s.manager.start()
    wait_for(s, "condition=Complete", "queuejobs", "--all")
    statuses = {j["metadata"]["name"]: j["status"] for j in s.kubectl.list("queuejobs")}
    want = {"succeeded": PODS_OF_JOB, "failed": 0, "running": 0, "pending": 0, "replicas": PODS_OF_JOB, **NO_LOSS}
    expect_equal({n: {k: st[k] for k in want} for n, st in statuses.items()}, {n: want for n in jobs}, "what each job counts")
    names = [f"{j}-worker-{i}" for j in jobs for i in range(PODS_OF_JOB)]
    expect_equal(sorted(s.audit.pods_created(s.namespace)), sorted(names), "pods created, each once")


def story_many_pods_of_one_job(s):
    """A gang of 900 pods forms, each of them created once, and the counts of job and PodGroup are exact."""
    s.apply(queuejob("wide", task("worker", PODS)))
    wait_for(s, f"jsonpath={{.status.running}}={PODS}", "qj/wide")
    status = s.wait_phase("wide", "Running")
    want = {"running": PODS, "desired": PODS, "replicas": PODS, "minAvailable": PODS, "pending": 0, "failed": 0, "succeeded": 0, "terminating": 0, **NO_LOSS}
    expect_equal({k: status.get(k, 0) for k in want}, want, "what the job counts")
    want = {"phase": "Running", "members": PODS, "running": PODS, "scheduled": PODS}
    wait_until(lambda: (g := s.group("wide")["status"]) and {k: g.get(k) for k in want} == want, "the PodGroup counts the same")
    names = [f"wide-worker-{i}" for i in range(PODS)]
    expect_equal(sorted(s.audit.pods_created(s.namespace)), sorted(names), "pods created, each once")
    expect_equal(sorted(s.pods("wide")), sorted(names), "pods")
