"""Ten obstacles, one after the other, and what `kubectl get qj -o wide` says of each: the message names what must change. Four nodes of 64 CPUs."""

import contextlib

from harness import Failure, queuejob, task, wait_until
from stories.nodes import Cordon, gang, nodes_of, thief, wait_until_alone


class Scene:
    """What stands in the way for as long as one row is looked at."""

    def __init__(self, s, stack):
        self.s, self.stack, self.nodes, self.cluster = s, stack, nodes_of(s), s.cluster.kubectl

    def queue(self, part, **spec):
        name = f"{self.s.namespace}-{part}"
        self.s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec})
        self.stack.callback(self.cluster, "delete", "queues.kube-arbitrator.io", name, "--wait=true")
        return name

    def runs(self, job):
        self.s.apply(job)
        self.s.wait_phase(job["metadata"]["name"], "Running", seconds=60)

    def taint(self, *nodes):
        self.cluster("taint", "node", *nodes, "gpu=yes:NoSchedule")
        self.stack.callback(self.cluster, "taint", "node", *nodes, "gpu-")

    def pods_of_nobody(self, *nodes):
        for i, node in enumerate(nodes):
            pod = thief(node)
            pod["metadata"]["name"] += str(i)
            self.s.apply(pod)
            self.stack.callback(self.s.kubectl, "delete", "pod", pod["metadata"]["name"], "--wait=true", "--ignore-not-found")
        wait_until(lambda: all(p["spec"].get("nodeName") for p in self.s.kubectl.list("pods")), "they have their nodes")

    def quota(self, **hard):
        self.s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": hard}})
        self.stack.callback(self.s.kubectl, "delete", "resourcequota", "few", "--wait=true")
        wait_until(lambda: self.s.kubectl.get("resourcequota", "few").get("status", {}).get("hard") == hard, "the quota counts")


def larger_than_a_node(x):
    return gang("row", replicas=3, cpu="100", queue=x.queue("a"))


def more_than_there_is(x):
    return gang("row", replicas=5, cpu="60", queue=x.queue("a"))


def cordoned(x):
    x.stack.enter_context(Cordon(x.s, *x.nodes[:2]))
    return gang("row", replicas=4, cpu="60", queue=x.queue("a"))


def tainted(x):
    x.taint(*x.nodes[:2])
    return gang("row", replicas=3, cpu="60", queue=x.queue("a"))


def selected(x):
    job = queuejob("row", task("worker", 2), queue=x.queue("a"))
    job["spec"]["taskSpecs"][0]["template"]["spec"]["nodeSelector"] = {"disk": "none"}
    return job


def pods_of_no_queue(x):
    x.pods_of_nobody(*x.nodes[:3])
    return gang("row", replicas=3, cpu="60", queue=x.queue("a"))


def guaranteed(x):
    x.queue("sure", guarantee={"cpu": 64}, deserved={"cpu": 64})
    return gang("row", replicas=4, cpu="64", queue=x.queue("a"))


def in_pieces(x):
    name = x.queue("a")
    x.runs(gang("other", replicas=4, cpu="40", queue=name))
    return gang("row", replicas=2, cpu="40", queue=name)


def full(x):
    name = x.queue("a")
    x.runs(gang("other", replicas=4, cpu="60", queue=name))
    return gang("row", replicas=2, cpu="30", queue=name)


def capability(x):
    name = x.queue("a", capability={"cpu": 64})
    x.runs(gang("other", replicas=1, cpu="44", queue=name))
    return gang("row", replicas=1, cpu="44400m", queue=name)


def max_jobs(x):
    name = x.queue("a", maxJobs=1)
    x.runs(gang("other", replicas=1, cpu="1", queue=name))
    return gang("row", replicas=1, cpu="1", queue=name)


def quota(x):
    x.quota(**{"pods": "2", "requests.cpu": "100"})
    return gang("row", replicas=3, cpu="40", queue=x.queue("a"))


FIRST = "; 1st of 1 in queue {ns}-a"
ROWS = [
    ("a pod is larger than the largest node", larger_than_a_node, "Infeasible", "a pod asks for 100 cpu, the largest node has 64"),
    ("it asks for more than all nodes have", more_than_there_is, "Infeasible", "insufficient cpu: 300 requested, 256 of 256 free (44 short)"),
    ("2 of 4 nodes are cordoned", cordoned, "InsufficientCapacity",
     "insufficient cpu: 240 requested, 128 of 128 free (112 short), nodes: 2 nodes lack cpu (short 112), 2 cordoned" + FIRST),
    ("2 of 4 nodes are tainted", tainted, "Infeasible", "2 of 3 pods fit on empty nodes: 2 nodes lack cpu (short 56), 2 tainted (gpu)"),
    ("no node has the label", selected, "Infeasible", "0 of 2 pods fit on empty nodes: 4 excluded by nodeSelector or affinity"),
    ("pods of no queue take 120 CPUs", pods_of_no_queue, "InsufficientCapacity",
     "insufficient cpu: 180 requested, 136 of 256 free (44 short), taken by pods of no queue: 120 cpu" + FIRST),
    ("64 CPUs are guaranteed to another queue", guaranteed, "GuaranteeReserved",
     "insufficient cpu: 256 requested, 192 of 256 free (64 short), held for guarantees of other queues: 64 cpu are free but guaranteed to queue {ns}-sure" + FIRST),
    ("what is free is in pieces", in_pieces, "NoFit",
     "0 of 2 pods fit now: 4 nodes lack cpu (short 32), each of 2 more asks for 40 cpu and a node has at most 24 free" + FIRST),
    ("other jobs run", full, "InsufficientCapacity", "insufficient cpu: 60 requested, 16 of 256 free (44 short)" + FIRST),
    ("the queue has a capability", capability, "QueueCapability",
     "insufficient cpu: 44.4 requested, 20 of 64 free (24.4 short), queue {ns}-a has capability 64" + FIRST),
    ("the queue has maxJobs", max_jobs, "MaxJobsReached", "queue {ns}-a has 1 of 1 jobs" + FIRST),
    ("a quota allows 2 pods and 100 CPUs", quota, "QuotaInfeasible",
     "insufficient pods: 3 requested, 2 of 2 free (1 short), quota few allows 2; insufficient requests.cpu: 120 requested, 100 of 100 free (20 short), quota few allows 100"),
]


def look(s, obstacle, reason, message):
    """Makes the obstacle and the job; returns what kubectl prints."""
    with contextlib.ExitStack() as stack:
        job = obstacle(Scene(s, stack))
        stack.callback(s.kubectl, "delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
        s.apply(job)
        s.wait_phase("row", "Pending", reason=reason, message=message.replace("{ns}", s.namespace))
        return s.kubectl("get", "qj", "row", "-o", "wide").splitlines()


def story_obstacles_are_named(s):
    """Each of twelve obstacles is named by the job that waits for it, in the words of the table."""
    wait_until_alone(s)
    wrong = []
    for what, obstacle, reason, message in ROWS:
        try:
            s.shown += [f"{what}:", *(f"  {line}" for line in look(s, obstacle, reason, message))]
        except Failure as failure:
            wrong.append(f"{what}: {failure}")
    if wrong:
        raise Failure("\n".join(wrong))
