"""kubernetes/kubernetes#123775, #125089: a job has failed, its status counts pods that still stop, and what they hold is given away too early.

Input: a queue with maxJobs 1 and a node with room for one job; of three pods one fails, and the others take two seconds to stop.
Expected: Failed; no running pod is counted in the end; the second job is never unschedulable or rolled back, and runs."""

from words import here, nodes, queue
from harness import expect, queuejob, task, wait_until


def job(s, name, outcome):
    made = queuejob(name, task("bad", 1, outcome), task("slow", 2, stop_after="2s"), queue="field24", backoffLimit=0)
    return here(s, made, cpu="1")


def case(s):
    queue(s, "field24", maxJobs=1)
    with nodes(s, 1, cpu="3"):
        s.apply(job(s, "first", "fail"))
        s.wait_phase("first", "Failed")
        s.apply(job(s, "second", "run"))
        seen = set()

        def runs():
            status = s.status("second")
            seen.add(status.get("reason"))
            return status.get("phase") == "Running"

        wait_until(runs, "the second job runs")
        expect(not seen & {"Unschedulable", "RolledBack", "BackOff"}, f"it never had a place that is not free: {seen}")
        wait_until(lambda: s.status("first").get("running", 0) == 0, "no running pod is counted of the first")
    s.cluster.kubectl("delete", "queue", "field24", "--wait=false")
