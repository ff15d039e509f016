"""kubernetes/kubernetes#139751: while a replacement waits for its back-off, a status said that nothing runs.

Input: a job of 3 pods with minAvailable 1; one of them fails twice.
Expected: the job stays Running and counts the two others; each failure is counted once."""

from words import ended, gang, set_status, stays
from harness import expect_equal, wait_until


def case(s):
    s.apply(gang("three", replicas=3, sched={"minAvailable": 1}, backoffLimit=10))
    s.wait_phase("three", "Running", running=3)
    for failures in (1, 2):
        before = s.uids("three")["three-w-2"]
        set_status(s, "three-w-2", phase="Failed", containerStatuses=[ended("main", 1)])
        wait_until(lambda: s.status("three").get("podFailures") == failures, f"{failures} failures are counted")
        stays(lambda: s.status("three")["phase"] == "Running" and s.status("three")["running"] >= 2, "two pods run on", 1)
        wait_until(lambda: s.uids("three").get("three-w-2", before) != before, "the pod has been replaced", 90)
        s.wait_phase("three", "Running", seconds=60, running=3)
    expect_equal(s.status("three")["podFailures"], 2, "failures")
