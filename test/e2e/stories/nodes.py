"""Gangs on too few nodes: the scheduler binds pod by pod, so each may get a part of what it needs. Four nodes of 64 CPUs."""

import time

from harness import USER_AGENT, expect, expect_equal, queuejob, task, wait_until

GATE = "example.com/story"


def wait_until_alone(s):
    """Jobs of the stories before must not wait for nodes any more."""
    wait_until(lambda: s.cluster.kubectl.list("queuejobs", "--all-namespaces") == [], "no other job is left", seconds=60)


def gang(s, name, **sched):
    """Three pods of which one fits on a node; none is scheduled before let_go()."""
    job = queuejob(name, task("worker", 3), sched={"scheduleTimeoutSeconds": 5, **sched})
    template = job["spec"]["taskSpecs"][0]["template"]["spec"]
    template["schedulingGates"] = [{"name": GATE}]
    template["containers"][0]["resources"] = {"requests": {"cpu": "40"}}
    s.apply(job)
    wait_until(lambda: len(s.pods(name)) == 3, f"{name} has its pods")


def let_go(s, name, *indexes):
    for i in indexes:
        s.kubectl("patch", "pod", f"{name}-worker-{i}", "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')


def bound(s, name):
    return sum("nodeName" in pod["spec"] for pod in s.pods(name).values())


def deadlock(s, *names):
    """Each gets two of the four nodes, and lacks the third."""
    for name in names:
        let_go(s, name, 0, 1)
    wait_until(lambda: all(bound(s, n) == 2 for n in names), "each has two nodes")
    for name in names:
        let_go(s, name, 2)


def succeed(s, name):
    for pod in s.pods(name):
        s.kubectl("annotate", "pod", pod, "--overwrite", "test.kube-arbitrator.io/outcome=succeed")


def deletes(s, name):
    """Names of the pods of a job that the manager deleted."""
    seen = s.audit.events(verb="delete", resource="pods", subresource="", namespace=s.namespace, agent=USER_AGENT, code=200)
    return [e["objectRef"]["name"] for e in seen if e["objectRef"]["name"].startswith(f"{name}-worker-")]


def expect_nothing_counted(s, name, incarnation):
    status = s.status(name)
    counts = {k: status.get(k, 0) for k in ("restarts", "podFailures", "disruptions", "incarnation")}
    expect_equal(counts, {"restarts": 0, "podFailures": 0, "disruptions": 0, "incarnation": incarnation}, f"what {name} has counted")


def story_two_gangs_on_too_few_nodes(s):
    """Of two gangs that hold what the other lacks, one gives back after the time-out; it runs when the other is done."""
    wait_until_alone(s)
    for name in ("red", "blue"):
        gang(s, name)
    deadlock(s, "red", "blue")
    wait_until(lambda: any(s.status(n).get("phase") == "Running" for n in ("red", "blue")), "one of them runs")
    first, second = ("red", "blue") if s.status("red").get("phase") == "Running" else ("blue", "red")
    wait_until(lambda: s.status(second)["incarnation"] == 2 and len(s.pods(second)) == 3, "the other tries again when the first has its nodes")
    restart = s.status(second)["lastRestart"]
    said = f"only 2 of 3 pods got a node in 5s; all were deleted so that {s.namespace}/{first} can start; next try when it has"
    expect_equal((restart["reason"], restart["message"]), ("ScheduleTimeout", said), "why the other has created its pods anew")
    expect_equal(sorted(deletes(s, second)), [f"{second}-worker-{i}" for i in range(3)], "pods that were given back")
    succeed(s, first)
    s.wait_phase(first, "Completed")
    let_go(s, second, 0, 1, 2)
    s.wait_phase(second, "Running", running=3)
    succeed(s, second)
    s.wait_phase(second, "Completed")
    expect_nothing_counted(s, first, 1)
    expect_nothing_counted(s, second, 2)
    expect_equal(deletes(s, first), [], "pods of the first that were deleted")


def story_nodes_go_to_the_higher_priority(s):
    """The gang of the lower priority gives its nodes back, although it came first; a restart of the manager changes nothing."""
    wait_until_alone(s)
    gang(s, "low", scheduleTimeoutSeconds=10)
    gang(s, "high", scheduleTimeoutSeconds=10, priority=5)
    deadlock(s, "low", "high")
    wait_until(lambda: s.status("low").get("reason") == s.status("high").get("reason") == "Unschedulable", "both wait for nodes")
    s.manager.kill()
    s.manager.start()
    s.wait_phase("high", "Running", running=3)
    expect_equal(sorted(deletes(s, "low")), [f"low-worker-{i}" for i in range(3)], "pods that were given back")
    expect_nothing_counted(s, "high", 1)


def story_partial_gang_alone_keeps_its_nodes(s):
    """Where nobody else waits, nothing is given back: that would help no one, and hinder a cluster autoscaler."""
    wait_until_alone(s)
    gang(s, "alone")
    job = queuejob("other", task("worker", 1))
    nodes = sorted(n["metadata"]["name"] for n in s.kubectl.list("nodes"))
    try:
        s.kubectl("cordon", *nodes[2:])
        let_go(s, "alone", 0, 1, 2)
        wait_until(lambda: s.status("alone").get("reason") == "Unschedulable", "it waits for a node")
        s.apply(job)
        s.wait_phase("other", "Running")  # needs no more than there is
        wait_until(lambda: s.status("alone").get("running") == 2, "two of its pods run")
        before = s.uids("alone")
        s.manager.stop()  # longer than the time-out passes
        s.manager.start()
        time.sleep(7)
        expect_equal(s.uids("alone"), before, "its pods")
    finally:
        s.kubectl("uncordon", *nodes[2:])
    s.wait_phase("alone", "Running", running=3)
    expect_nothing_counted(s, "alone", 1)
