from harness import FINALIZER, USER_AGENT, expect, expect_equal, queuejob, task, wait_until


def start(s):
    s.apply(queuejob("gone", task("worker", 3)))
    s.wait_phase("gone", "Running", running=3)


def expect_nothing_left(s):
    wait_until(lambda: not s.pods("gone") and not s.group("gone") and not s.scheduling_spec("gone"), "nothing of the job is left", 60)
    deleted = s.audit.events(verb="delete", resource="queuejobs", namespace=s.namespace, name="gone", code=200)[0]
    late = [e["requestURI"] for e in s.audit.events(verb="create", namespace=s.namespace, agent=USER_AGENT)
            if e["objectRef"]["resource"] != "events" and e["requestReceivedTimestamp"] > deleted["stageTimestamp"]]
    expect_equal(late, [], "creates after the job was deleted")


def story_delete_background(s):
    """kubectl delete (background) leaves nothing and creates nothing."""
    start(s)
    s.kubectl("delete", "queuejob", "gone", "--cascade=background")
    expect_nothing_left(s)


def story_delete_foreground(s):
    """kubectl delete --cascade=foreground returns when the pods are gone."""
    start(s)
    s.kubectl("delete", "queuejob", "gone", "--cascade=foreground", "--timeout=60s")
    expect_equal(s.pods("gone"), {}, "pods after the foreground deletion")
    expect_nothing_left(s)


def story_delete_orphan(s):
    """kubectl delete --cascade=orphan keeps the pods running, without our finalizer."""
    start(s)
    before = s.uids("gone")
    s.kubectl("delete", "queuejob", "gone", "--cascade=orphan")

    def released():
        pods = s.pods("gone").values()
        return all(FINALIZER not in p["metadata"].get("finalizers", []) and not p["metadata"].get("ownerReferences") for p in pods)

    wait_until(released, "the pods have neither owner nor finalizer", 60)
    expect_equal(s.uids("gone"), before, "the pods")
    expect(all(p["status"]["phase"] == "Running" and "deletionTimestamp" not in p["metadata"] for p in s.pods("gone").values()),
           "the orphans must go on running")


def story_recreated_job_adopts_no_pod(s):
    """A new job of the same name adopts the orphaned SchedulingSpec and PodGroup, but no pod; it says which one is in its way and waits."""
    story_delete_orphan(s)
    before = s.uids("gone")
    group, spec = (o["metadata"]["uid"] for o in (s.group("gone"), s.scheduling_spec("gone")))
    s.apply(queuejob("gone", task("worker", 3)))
    s.wait_phase("gone", "Starting", reason="PodNameConflict")
    for orphan, uid in ((s.group("gone"), group), (s.scheduling_spec("gone"), spec)):
        expect_equal(orphan["metadata"]["uid"], uid, f"the {orphan['kind']}")
        expect_equal([o["kind"] for o in orphan["metadata"]["ownerReferences"]], ["QueueJob"], f"owners of the {orphan['kind']}")
    wait_until(lambda: "gone-worker-" in s.status("gone").get("message", ""), "the job says which pod is in its way")
    expect_equal(s.uids("gone"), before, "the orphans")
    s.kubectl("delete", "pods", "--all", "--wait=false")
    s.wait_phase("gone", "Running", seconds=90, running=3)
    expect(not set(s.uids("gone").values()) & set(before.values()), "the new job must have pods of its own")
