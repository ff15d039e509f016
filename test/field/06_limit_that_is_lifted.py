"""kubernetes-sigs/kueue#14965: a job that a LimitRange refuses stays refused when the limit is lifted.

Input: a LimitRange with a maximum of 4 CPUs, a job of 2 pods of 8; then the LimitRange is deleted.
Expected: the job names the maximum and has no pod; after the deletion it starts by itself within a minute."""

from words import gang, here, nodes
from harness import expect, wait_until

REAL = "the simulated API server stores LimitRanges only"


def case(s):
    with nodes(s, 1, cpu="64"):
        s.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "cap"}, "spec": {"limits": [{"type": "Container", "max": {"cpu": "4"}}]}})
        s.apply(here(s, gang("big", replicas=2), cpu="8"))
        wait_until(lambda: "maximum cpu" in s.status("big").get("message", ""), "it names the maximum")
        expect(not s.pods("big"), "it has no pod")
        s.kubectl("delete", "limitrange", "cap")
        s.wait_phase("big", "Running", seconds=60, running=2)
