"""The API server is killed, away for a while, and started again: how long until the manager works again, by the audit log."""

import concurrent.futures
import json
import time

from harness import KEY, expect, expect_equal, queuejob, task, wait_until
from replicas import lease, replicas, seconds

MANY, QUEUES = 500, 50  # a queue has a finalizer, and a status that the manager writes
CACHES_WITHIN, PODS_WITHIN = 3.0, 5.0  # s after the server is ready


def gated(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulingGates": [{"name": "example.com/never"}], "containers": [{"name": "c", "image": "busybox:1.36"}]}}


def budget(name):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"minAvailable": 0, "selector": {"matchLabels": {"no": "body"}}}}


def priority_class(name):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}


def queue(name):
    return {"apiVersion": f"{KEY}v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1}}


def fill(s):
    """Many objects of each kind that users make many of; each job has its SchedulingSpec and PodGroup too."""
    def create(items):
        for item in items:
            item["metadata"]["labels"] = {"filled-by": s.namespace}
        s.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    jobs = [queuejob(f"old-{i}", task("worker", 1)) for i in range(MANY)]
    for job in jobs:  # that wait, for room that no node has
        job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000"}}
    kinds = [jobs, [queue(f"{s.namespace}-{i}") for i in range(QUEUES)],
             *([make(f"{s.namespace}-{i}") for i in range(MANY)] for make in (gated, budget, priority_class))]
    wait_until(lambda: s.kubectl.get("serviceaccounts", "default"), "the namespace has the ServiceAccount that its pods need", 60)
    with concurrent.futures.ThreadPoolExecutor(len(kinds)) as pool:  # each kubectl limits its own rate
        list(pool.map(create, kinds))
    wait_until(lambda: len(s.kubectl.list("schedulingspecs")) >= MANY, "the manager has seen the jobs", 60)


def empty(s):
    for kind in ("priorityclasses", f"queues.{KEY[:-1]}"):
        s.cluster.kubectl("delete", kind, "-l", f"filled-by={s.namespace}", "--wait=false")


def caches_complete(events, since):
    """When the last of the manager's watches began that stood, and of how many resources there were."""
    begun = {}
    for e in events:
        if e["verb"] == "watch" and e["stage"] == "ResponseStarted" and seconds(e["requestReceivedTimestamp"]) > since:
            about = e["objectRef"]
            begun[(about.get("apiGroup"), about["resource"])] = seconds(e["stageTimestamp"])
    return max(begun.values(), default=None), len(begun)


def started(audit, user):
    """Like Audit.events(), but with what is not complete: watches that are open."""
    with audit.path.open() as log:
        log.seek(audit.start)
        events = [json.loads(line) for line in log if '"verb":"watch"' in line and line.endswith("\n")]
    return [e for e in events if e["user"]["username"] == user and e.get("objectRef", {}).get("resource") != "leases"]


def reads(audit, user, since, ready):
    """What was asked for the caches: (s after the server was ready, verb, resource, code)."""
    asked = [e for e in audit.events(user=user) if e["verb"] in ("list", "watch")] + [e for e in started(audit, user) if e["stage"] == "ResponseStarted"]
    return "\n".join(f"{seconds(e['requestReceivedTimestamp']) - ready:+.2f} {e['verb']} {e['objectRef']['resource']} {e['stage']} {e.get('responseStatus', {}).get('code')} "
                     f"until {seconds(e['stageTimestamp']) - ready:+.2f} {e['requestURI']}"
                     for e in sorted(asked, key=lambda e: e["requestReceivedTimestamp"]) if seconds(e["requestReceivedTimestamp"]) > since)


def measure(s, name, away):
    """Kills the API server, starts it again @away seconds later, and asks for a job as soon as it is ready."""
    user = "system:serviceaccount:kar-system:kar-controllers"
    killed = time.time()
    s.cluster.restart_apiserver("--kill", "--away", str(away))
    ready = time.time()
    s.apply(queuejob(name, task("worker", 3)))
    applied = time.time()
    try:
        wait_until(lambda: len(s.pods(name)) == 3, f"the pods of job {name} exist", 60)
    finally:
        s.cluster.restart_clients()  # it is the manager that is measured, and the next story finds a cluster that works
    s.wait_phase(name, "Running", 60, running=3)
    complete, kinds = caches_complete(started(s.audit, user), killed)
    made = [seconds(e["stageTimestamp"]) for e in s.audit.pod_creates(s.namespace) if e["objectRef"]["name"].startswith(f"{name}-")]
    s.shown.append(f"away {away} s: caches of {kinds} kinds complete {complete - ready:+.2f} s, job asked for {applied - ready:+.2f} s, "
                   f"its last pod {max(made) - ready:+.2f} s after the server was ready")
    expect(kinds >= 10, f"watches of {kinds} kinds")
    late = complete - ready >= CACHES_WITHIN
    expect(not late, f"the caches were complete {complete - ready:.1f} s after the server was ready: {reads(s.audit, user, killed, ready) if late else ''}")
    expect(max(made) - ready < PODS_WITHIN, f"the pods existed {max(made) - ready:.1f} s after the server was ready")


def story_work_goes_on_soon_after_an_outage(s):
    """500 objects of each kind; the API server is away for 10 s: the caches are complete within 3 s of its readiness, a new job's pods exist within 5 s."""
    pid = s.manager.pid()
    try:
        fill(s)
        measure(s, "after", 10)
        measure(s, "again", 10)
        expect(s.manager.alive() and s.manager.pid() == pid, "the manager must have survived as the same process")
    finally:
        empty(s)


def story_leader_goes_on_soon_after_an_outage(s):
    """Two replicas, and the API server is away for 25 s, longer than the lease is valid: the same times, and the same replica leads."""
    with replicas(s, 2) as r:
        before = lease(s)["spec"]
        measure(s, "after", 25)
        expect(all(one.alive() for one in r.all), "both replicas still run")
        expect_equal(lease(s)["spec"]["holderIdentity"], before["holderIdentity"], "holder")
