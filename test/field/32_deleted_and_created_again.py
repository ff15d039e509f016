"""kubernetes/kubernetes#142142, kubernetes-sigs/jobset#1167: a job that is created again under its name gets no pods, or counts the old ones.

Input: a job of 3 pods; five times it is deleted without waiting and created again.
Expected: the last one runs with three pods of its own, and neither a failure nor a disruption is counted."""

from words import gang
from harness import expect_equal, wait_until


def case(s):
    s.apply(gang("again", replicas=3))
    s.wait_phase("again", "Running", running=3)
    for _ in range(5):
        s.kubectl("delete", "queuejob", "again", "--wait=false")
        wait_until(lambda: not s.kubectl.get("queuejobs.kube-arbitrator.io", "again"), "the old job is gone")
        s.apply(gang("again", replicas=3))
    status = s.wait_phase("again", "Running", seconds=60, running=3)
    owner = s.job("again")["metadata"]["uid"]
    expect_equal(len([p for p in s.kubectl.list("pods") if p["metadata"]["ownerReferences"][0]["uid"] == owner]), 3, "pods of the last job")
    expect_equal([status.get(k, 0) for k in ("podFailures", "disruptions")], [0, 0], "failures and disruptions")
