from harness import expect, expect_equal, queuejob, task, wait_until

PODS = 200


def story_manager_killed_while_creating(s):
    """SIGKILL in the middle of creating 200 pods: afterwards exactly 200, none twice."""
    s.manager.stop()
    s.apply(queuejob("big", task("worker", PODS)))
    s.manager.start("--kube-api-qps=50", "--kube-api-burst=1")
    wait_until(lambda: len(s.pods("big")) >= PODS // 5, "a part of the pods exists")
    s.manager.kill()
    before = s.uids("big")
    expect(len(before) < PODS, f"killed too late to tell: {len(before)} pods existed")
    s.manager.start()
    status = s.wait_phase("big", "Running", seconds=60, running=PODS)
    names = [f"big-worker-{i}" for i in range(PODS)]
    after = s.uids("big")
    expect_equal(sorted(after), sorted(names), "pods")
    expect_equal({n: after[n] for n in before}, before, "pods that existed when the manager was killed")
    made = s.audit.pods_created(s.namespace)  # without the creates whose answer the killed manager did not wait for
    expect_equal(len(made), len(set(made)), "creates, and names created")
    expect_equal((status["restarts"], status["incarnation"]), (0, 1), "restarts and incarnation")
