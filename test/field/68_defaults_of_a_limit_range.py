"""kubernetes-sigs/kueue#541: what a LimitRange gives to containers is not counted in the limit of the queue.

Input: a queue with a capability of 4 CPUs; a LimitRange that gives 2 CPUs to containers without a request; jobs a and b of 2 such pods.
Expected: a has all 4, so b waits."""

from words import gang, here, nodes, queue, stays
from harness import expect

REAL = "the simulated API server stores LimitRanges only"


def case(s):
    queue(s, "field68", capability={"cpu": 4})
    s.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"},
             "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}}]}})
    with nodes(s, 1, cpu="64"):
        s.apply(here(s, gang("a", queue="field68", replicas=2)))
        s.wait_phase("a", "Running", running=2)
        s.apply(here(s, gang("b", queue="field68", replicas=2)))
        stays(lambda: not s.pods("b"), "b has no pod, as a has 4 of 4 CPUs", 4)
        expect(s.status("b")["reason"] == "QueueCapability", f"b says why: {s.status('b').get('message')}")
    s.cluster.kubectl("delete", "queue", "field68", "--wait=false")
