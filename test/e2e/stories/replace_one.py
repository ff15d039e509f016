import time

from harness import expect, expect_equal, queuejob, task, wait_until


def start(s):
    s.apply(queuejob("elastic", task("worker", 4), sched={"minAvailable": 3}))
    s.wait_phase("elastic", "Running", running=4)
    return s.uids("elastic")


def expect_only_one_replaced(s, before, victim):
    wait_until(lambda: s.uids("elastic").get(victim) not in (None, before[victim]), f"{victim} is replaced")
    status = s.wait_phase("elastic", "Running", running=4)
    after = s.uids("elastic")
    expect_equal({n: u for n, u in after.items() if n != victim}, {n: u for n, u in before.items() if n != victim}, "the other pods")
    expect(sorted(after) == sorted(before), f"pods are now {sorted(after)}")
    expect_equal((status["restarts"], status["incarnation"]), (0, 1), "restarts and incarnation")
    expect_equal(len(s.audit.pods_created(s.namespace)), 5, "number of pods created")
    return status


def story_deleted_pod_above_quorum(s):
    """A pod deleted above the quorum: only it is replaced, and it is no failure."""
    before = start(s)
    s.kubectl("delete", "pod", "elastic-worker-2", "--wait=false")
    status = expect_only_one_replaced(s, before, "elastic-worker-2")
    expect_equal(status["podFailures"], 0, "podFailures")


def story_failed_pod_above_quorum(s):
    """A pod failed above the quorum: only it is replaced, and it is counted."""
    before = start(s)
    s.fail_pod("elastic-worker-1", exit_code=3)
    status = expect_only_one_replaced(s, before, "elastic-worker-1")
    expect_equal(status["podFailures"], 1, "podFailures")


def story_failed_pod_deleted_in_its_back_off(s):
    """Who deletes a failed pod that waits for its back-off does not get its replacement earlier."""
    before = start(s)
    s.fail_pod("elastic-worker-1")
    expect_only_one_replaced(s, before, "elastic-worker-1")
    failed = time.time()
    s.fail_pod("elastic-worker-1")
    s.wait_phase("elastic", "Running", running=3, podFailures=2, reason="BackOff")
    wait_until(lambda: time.time() > failed + 3, "the times of failure and deletion differ, in seconds")
    s.kubectl("delete", "pod", "elastic-worker-1", "--wait=false")
    s.wait_phase("elastic", "Running", running=4, podFailures=2, restarts=0, disruptions=0)
    waited = time.time() - failed
    expect(waited > 8, f"it must be replaced 10 s after the failure, not after {waited:.1f} s")
