from harness import expect, expect_equal, queuejob, task, wait_until


def story_apiserver_restarted(s):
    """The API server dies while pods are created: the manager goes on by itself, without a duplicate."""
    pid = s.manager.pid()
    s.apply(queuejob("old", task("worker", 5), sched={"minAvailable": 4}))
    s.wait_phase("old", "Running", running=5)
    before = s.uids("old")
    s.apply(queuejob("new", task("worker", 100)))
    s.cluster.restart_apiserver("--kill")
    status = s.wait_phase("new", "Running", seconds=90, running=100)
    expect_equal(sorted(s.pods("new")), sorted(f"new-worker-{i}" for i in range(100)), "pods of the new job")
    expect_equal((status["restarts"], status["incarnation"]), (0, 1), "restarts and incarnation of the new job")
    expect_equal(s.uids("old"), before, "pods of the old job")
    made = s.audit.pods_created(s.namespace)
    expect_equal(len(made), len(set(made)), "creates, and names created")

    s.cluster.restart_apiserver()  # in good order this time
    # A pod that is bound proves that kube-scheduler watches again. It ends itself if a pod is deleted and created anew under
    # its name before that: it takes the new one for an update that moved to another node.
    s.apply(queuejob("probe", task("worker", 1)))
    s.wait_phase("probe", "Running", seconds=60)
    s.kubectl("delete", "pod", "old-worker-0", "--wait=false")
    wait_until(lambda: s.uids("old").get("old-worker-0") not in (None, before["old-worker-0"]), "old-worker-0 is replaced", 60)
    expect(s.manager.alive() and s.manager.pid() == pid, "the manager must have survived as the same process")
