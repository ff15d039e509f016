from harness import expect_equal, queuejob, task


def story_creation_order(s):
    """Each job's minimum first, by task priority; then extras, which the queue allows both jobs."""
    s.manager.stop()
    for name, priority in (("first", 20), ("second", 10)):
        s.apply(queuejob(name, task("worker", 6, priority=1), task("leader", 2, priority=9),
                         sched={"minAvailable": 6, "priority": priority}))
    # One write after the other, so that the order in which the API server received them is the order of the manager.
    # The minimum of the first job lasts long enough for the second to be admitted.
    s.manager.start("--kube-api-qps=10", "--kube-api-burst=1")
    for name in ("first", "second"):
        s.wait_phase(name, "Running", running=8)
    minimum = ["leader-0", "leader-1", "worker-0", "worker-1", "worker-2", "worker-3"]
    want = [f"{job}-{pod}" for job in ("first", "second") for pod in minimum]
    extras = [f"{job}-worker-{i}" for i in (4, 5) for job in ("first", "second")]
    created = s.audit.pods_created(s.namespace)
    expect_equal((created[:len(want)], sorted(created[len(want):])), (want, sorted(extras)), "order of creation")
