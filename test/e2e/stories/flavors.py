"""Rights by kinds of nodes: two nodes of 64 CPUs are new, two are old. A pod takes 40 CPUs, so one fits on a node."""

import contextlib

from harness import expect, expect_equal, wait_until
from stories.nodes import bound_nodes, gang, nodes_of, wait_until_alone

MODEL = "example.com/model"
TAINT = "example.com/old"


@contextlib.contextmanager
def two_models(s, *queues):
    """Flavors new and old of two nodes each, of which the old ones are tainted; queues of these names with a right to one pod on each."""
    nodes, names = nodes_of(s), [f"{s.namespace}-new", f"{s.namespace}-old"]
    for node, model in zip(nodes, ["new", "new", "old", "old"]):
        s.cluster.kubectl("label", "node", node, f"{MODEL}={model}")
    for node in nodes[2:]:
        s.cluster.kubectl("taint", "node", node, f"{TAINT}=yes:NoSchedule")
    for name, model in zip(names, ["new", "old"]):
        tolerations = [] if model == "new" else [{"key": TAINT, "operator": "Exists", "effect": "NoSchedule"}]
        s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Flavor", "metadata": {"name": name},
                 "spec": {"nodeSelector": {"matchLabels": {MODEL: model}}, "tolerations": tolerations}})
    for queue, flavors in queues:
        s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": queue},
                 "spec": {"flavors": [{"name": f"{s.namespace}-{model}", **rights} for model, rights in flavors]}})
    try:
        yield nodes[:2], nodes[2:]
    finally:
        s.kubectl("delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
        for queue, _ in queues:
            s.cluster.kubectl("delete", "queue", queue, "--wait=false")
        s.cluster.kubectl("delete", "flavor", *names, "--wait=false")
        for node in nodes:
            s.cluster.kubectl("label", "node", node, f"{MODEL}-")
        for node in nodes[2:]:
            s.cluster.kubectl("taint", "node", node, f"{TAINT}-")


def flavor_of(s, name):
    return (s.group(name) or {}).get("status", {}).get("flavor", "")


def waits(s, name, reason, *words):
    """Until the job says this reason, and all of the words."""
    def says():
        status = s.status(name) or {}
        return status.get("reason") == reason and all(w in status.get("message", "") for w in words)
    wait_until(says, f"{name} waits with {reason}: {words}", seconds=60)


def used(s, queue):
    flavors = s.cluster.kubectl.get("queue", queue).get("status", {}).get("flavors", [])
    return {f["name"].rpartition("-")[2]: f.get("allocated", {}).get("cpu") for f in flavors}


def story_gang_takes_the_kind_of_nodes_that_its_queue_likes(s):
    """New nodes first; then old ones, whose taint its pods tolerate, and nobody is evicted while these have room; the third gang waits, and names both."""
    wait_until_alone(s)
    queue = s.namespace
    right = {"deserved": {"cpu": "80"}}
    with two_models(s, (queue, [("new", right), ("old", {**right, "capability": {"cpu": "80"}})])) as (new, old):
        wait_until(lambda: s.cluster.kubectl.get("flavor", f"{s.namespace}-new").get("status", {}).get("nodes") == 2, "the flavor has two nodes", seconds=60)
        s.apply(gang("first", replicas=2, queue=queue))
        s.wait_phase("first", "Running", running=2)
        expect_equal(set(bound_nodes(s, "first")), set(new), "nodes of the first")
        expect_equal(flavor_of(s, "first"), f"{s.namespace}-new", "its flavor")
        s.apply(gang("second", replicas=2, queue=queue))
        s.wait_phase("second", "Running", running=2)
        expect_equal(set(bound_nodes(s, "second")), set(old), "nodes of the second")
        for pod in s.pods("second").values():
            expect_equal(pod["spec"]["nodeSelector"], {MODEL: "old"}, "node selector")
            expect(any(t.get("key") == TAINT for t in pod["spec"]["tolerations"]), "its pods tolerate the taint")
        s.apply(gang("third", replicas=1, queue=queue))
        waits(s, "third", "NoFit", f"{s.namespace}-new: 0 of 1 pods fit now: 2 nodes lack cpu (short 16)",
              f"{s.namespace}-old: insufficient cpu: 40 requested, 0 of 80 free (40 short), queue {queue} has capability 80")
        wait_until(lambda: used(s, queue) == {"new": "80", "old": "80"}, "the queue says what it uses of each", seconds=60)
        s.kubectl("delete", "queuejob", "first", "--wait=true", "--cascade=foreground")
        s.wait_phase("third", "Running", running=1)
        expect(set(bound_nodes(s, "third")) <= set(new), "the third is on a new node")


def story_capability_of_one_kind_of_nodes(s):
    """A queue that may have one pod on new nodes has no more there though they are free, and a gang that is larger is Infeasible."""
    wait_until_alone(s)
    queue = s.namespace
    with two_models(s, (queue, [("new", {"capability": {"cpu": "40"}})])) as (new, _):
        s.apply(gang("one", replicas=1, queue=queue))
        s.wait_phase("one", "Running", running=1)
        expect(set(bound_nodes(s, "one")) <= set(new), "it is on a new node")
        s.apply(gang("two", replicas=1, queue=queue))
        waits(s, "two", "QueueCapability", f"{s.namespace}-new: insufficient cpu: 40 requested, 0 of 40 free (40 short), queue {queue} has capability 40")
        s.apply(gang("large", replicas=2, queue=queue))
        waits(s, "large", "Infeasible", f"{s.namespace}-new: insufficient cpu: 80 requested, 40 of 40 free (40 short), queue {queue} has capability 40")
