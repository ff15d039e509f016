"""kubernetes-sigs/kueue#10274, #1789: what a job that was deleted with --cascade=orphan holds is held for ever, or is given away at once.

Input: a queue with maxJobs 1, or with a capability for one job. Job a runs and is deleted with --cascade=orphan; b waits.
Expected: b waits as long as the pod of a is there, and runs when it is gone."""

from words import gang, queue, stays


def play(s, name, limit, job):
    queue(s, name, **limit)
    s.apply(job(f"{name}-a"))
    s.wait_phase(f"{name}-a", "Running")
    s.apply(job(f"{name}-b"))
    s.wait_phase(f"{name}-b", "Pending")
    s.kubectl("delete", "queuejob", f"{name}-a", "--cascade=orphan")
    stays(lambda: s.status(f"{name}-b")["phase"] == "Pending", "b waits while the pod of a is there", 6)
    s.kubectl("delete", "pod", f"{name}-a-w-0", "--wait=true")
    s.kubectl("delete", "podgroups.scheduling.x-k8s.io", f"{name}-a", "--ignore-not-found")
    s.wait_phase(f"{name}-b", "Running", seconds=90)
    s.kubectl("delete", "queuejob", f"{name}-b")
    s.cluster.kubectl("delete", "queue", name, "--wait=false")


def case(s):
    play(s, "field31", {"maxJobs": 1}, lambda name: gang(name, queue="field31"))
