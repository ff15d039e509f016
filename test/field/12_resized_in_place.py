"""kubernetes-sigs/kueue#5257: pods of an admitted job are made larger in place, past what their queue allows.

Input: a queue with a capability of 8 CPUs; the two pods of job a are resized from 2 to 4 CPUs each; then job b of the first size.
Expected: the queue counts 8; b waits for the capability while a runs, and runs when a is gone."""

import json

from words import alive, gang, here, nodes, queue, set_status
from harness import wait_until

REAL = "the simulated API server has no resize of pods"


def case(s):
    queue(s, "field12", capability={"cpu": 8})
    with nodes(s, 1, cpu="64"):
        s.apply(here(s, gang("a", queue="field12", replicas=2), cpu="2"))
        s.wait_phase("a", "Running", running=2)
        for pod in ("a-w-0", "a-w-1"):
            has = {kind: {"cpu": "2"} for kind in ("requests", "limits")}
            set_status(s, pod, containerStatuses=[{**alive("main"), "resources": has}])
            larger = {"containers": [{"name": "main", "resources": {kind: {"cpu": "4"} for kind in has}}]}
            s.kubectl("patch", "pod", pod, "--subresource=resize", "--type=strategic", "-p", json.dumps({"spec": larger}))
        wait_until(lambda: str(s.cluster.kubectl.get("queues.kube-arbitrator.io", "field12").get("status", {}).get("allocated", {}).get("cpu")) == "8", "the queue counts 8 CPUs")
        s.apply(here(s, gang("b", queue="field12", replicas=2), cpu="2"))
        s.wait_phase("b", "Pending", reason="QueueCapability")
        s.wait_phase("a", "Running")
        s.kubectl("delete", "queuejob", "a", "--wait=false")
        s.wait_phase("b", "Running", running=2)
    s.cluster.kubectl("delete", "queue", "field12", "--wait=false")
