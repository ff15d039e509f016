"""The manager is away while things happen, comes back, and does neither too much nor too little."""

from harness import FINALIZER, TEST_KEY, USER_AGENT, expect, expect_equal, queuejob, task, wait_until

WRITES = ("create", "update", "patch", "delete", "deletecollection")


def story_pods_finish_and_vanish_while_the_manager_is_down(s):
    """Pods that succeed, and are deleted, while the manager is down are counted when it is back; none is run again."""
    s.apply(queuejob("away", task("worker", 4)))
    s.wait_phase("away", "Running", running=4)
    s.manager.stop()
    for i in range(4):
        s.kubectl("annotate", "pod", f"away-worker-{i}", TEST_KEY + "outcome=succeed", "--overwrite")
    wait_until(lambda: all(p["status"]["phase"] == "Succeeded" for p in s.pods("away").values()), "all pods have succeeded")
    s.kubectl("delete", "pods", "away-worker-0", "away-worker-1", "--wait=false")
    wait_until(lambda: all("deletionTimestamp" in s.pods("away")[f"away-worker-{i}"]["metadata"] for i in (0, 1)), "two are being deleted")
    s.manager.start()
    s.wait_phase("away", "Completed", succeeded=4, restarts=0, disruptions=0)
    expect_equal(sorted(s.audit.pods_created(s.namespace)), [f"away-worker-{i}" for i in range(4)], "pods created")
    wait_until(lambda: sorted(s.pods("away")) == ["away-worker-2", "away-worker-3"], "those that were deleted are gone")


def story_loss_while_the_manager_is_down_is_noticed(s):
    """A gang loses a pod completely while nobody watches: it is restarted once, because it is compared with what was recorded."""
    s.apply(queuejob("away", task("worker", 3)))
    s.wait_phase("away", "Running", running=3)
    s.manager.stop()
    s.kubectl("patch", "pod", "away-worker-1", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    s.kubectl("delete", "pod", "away-worker-1", "--timeout=30s")
    s.manager.start()
    s.wait_phase("away", "Running", running=3, incarnation=2, restarts=1)


def events_of(s):
    found = s.kubectl.list("events.events.k8s.io")
    return sorted((e["regarding"]["name"], e["reason"], e["note"], (e.get("series") or {}).get("count", 1)) for e in found
                  if e.get("reportingController", "").startswith("kar-controllers"))


def written(s, job):
    """What the manager wrote about the job in the story's namespace, in words."""
    own = [e for e in s.audit.events(namespace=s.namespace, agent=USER_AGENT) if e["verb"] in WRITES]
    return [(e["verb"], e["objectRef"]["resource"], e["objectRef"].get("subresource", ""), e["objectRef"].get("name", "")) for e in own
            if e["objectRef"].get("name", "").startswith(job) or e["objectRef"]["resource"] == "events"]


def settled(s, *jobs):
    """Until nothing of the jobs is in flight: counters of jobs and groups are written, and their events are there."""
    for name in jobs:
        s.wait_phase(name, "Running", running=2)
        wait_until(lambda: s.group(name)["status"]["running"] == 2, f"the PodGroup of {name} is counted")
        wait_until(lambda: any(e[0] == name and e[1] == "Running" for e in events_of(s)), f"the events of {name} have arrived")


def story_steady_state_writes_nothing(s):
    """A job that runs and a manager that starts anew: no write about it, no event again."""
    s.apply(queuejob("quiet", task("worker", 2)))
    settled(s, "quiet")
    before, told = written(s, "quiet"), [e for e in events_of(s) if e[0] == "quiet"]
    s.manager.stop()
    s.manager.start()
    s.apply(queuejob("other", task("worker", 2)))  # all of its life comes after the first look at the quiet one
    settled(s, "other")
    s.kubectl("delete", "qj", "other", "--cascade=foreground", "--timeout=60s")
    expect_equal([w for w in written(s, "quiet") if w[1] != "events"], [w for w in before if w[1] != "events"], "writes about the quiet job")
    expect_equal([e for e in events_of(s) if e[0] == "quiet"], told, "events of the quiet job")


def story_finalizers_of_a_gone_job_are_swept(s):
    """The owner is deleted while the manager is down: its pods lose our finalizer when it is back, and can go."""
    s.apply(queuejob("gone", task("worker", 3)))
    s.wait_phase("gone", "Running", running=3)
    s.manager.stop()
    s.kubectl("delete", "qj", "gone", "--cascade=background", "--wait=false")
    wait_until(lambda: not s.job("gone"), "the job is gone")
    held = wait_until(lambda: (p := s.pods("gone")) and all("deletionTimestamp" in x["metadata"] for x in p.values()) and p, "its pods are being deleted")
    expect(all(FINALIZER in p["metadata"]["finalizers"] for p in held.values()), "our finalizer holds them")
    s.manager.start()
    wait_until(lambda: not s.pods("gone"), "the pods are gone", 60)
