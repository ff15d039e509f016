"""kubernetes-sigs/kueue#8322: the value of a PriorityClass changes, and jobs keep the old one.

Input: a queue with maxJobs 1, in which a job runs; low (100) and high (200) wait. Class low is made anew with 300, then deleted.
Expected: the order follows; without its class low says PriorityClassNotFound and has no place."""

from words import gang, queue
from harness import wait_until


def priority_class(s, name, value):
    s.cluster.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})


def place(s, job):
    return s.status(job).get("position", 0)


def case(s):
    low, high = "field52-low", "field52-high"
    priority_class(s, low, 100)
    priority_class(s, high, 200)
    queue(s, "field52", maxJobs=1)
    s.apply(gang("first", queue="field52"))
    s.wait_phase("first", "Running")
    s.apply(gang("low", queue="field52", sched={"priorityClassName": low}))
    s.apply(gang("high", queue="field52", sched={"priorityClassName": high}))
    wait_until(lambda: (place(s, "high"), place(s, "low")) == (1, 2), "high is first")
    s.cluster.kubectl("delete", "priorityclass", low)
    priority_class(s, low, 300)
    wait_until(lambda: place(s, "low") == 1, "low is first after the change")
    s.cluster.kubectl("delete", "priorityclass", low)
    wait_until(lambda: s.status("low").get("reason") == "PriorityClassNotFound", "low says that its class is missing")
    wait_until(lambda: place(s, "high") == 1, "high is first again")
    s.kubectl("delete", "queuejobs", "--all")
    s.cluster.kubectl("delete", "priorityclass", high)
    s.cluster.kubectl("delete", "queue", "field52", "--wait=false")
