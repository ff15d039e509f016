"""kubernetes-sigs/kueue#15576, #1555: gauges of a queue outlive it, and count jobs that were deleted while they waited.

Input: a queue with maxJobs 1; one job runs, two wait; the first that waits is deleted, then all, and the queue.
Expected: the gauge of waiting jobs is 2, then 1, as the status of the queue says; no series of the queue is left in the end."""

from words import gang, here, nodes, queue
from harness import expect, wait_until
from stories.metrics import doors

ALONE = "starts the manager anew"
WAITING = 'kar_queue_groups{queue="field50",state="pending"}'


def case(s):
    with doors(s) as d, nodes(s, 1, cpu="8"):
        queue(s, "field50", maxJobs=1)
        s.apply(here(s, gang("first", queue="field50")))
        s.wait_phase("first", "Running")
        for name in ("second", "third"):
            s.apply(here(s, gang(name, queue="field50")))
            s.wait_phase(name, "Pending")
        wait_until(lambda: d.value(WAITING) == 2, "the gauge says two")
        s.kubectl("delete", "queuejob", "second", "--wait=false")
        wait_until(lambda: d.value(WAITING) == 1, "the gauge says one")
        wait_until(lambda: s.cluster.kubectl.get("queues.kube-arbitrator.io", "field50")["status"].get("pending") == 1, "the status says one")
        s.kubectl("delete", "queuejobs", "--all")
        s.cluster.kubectl("delete", "queue", "field50")
        wait_until(lambda: "field50" not in d.get("/metrics")[1], "no series of the queue is left")
        expect(s.manager.alive(), "the manager runs")
