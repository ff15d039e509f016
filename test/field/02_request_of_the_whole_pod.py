"""kubernetes-sigs/kueue#14255: a pod asks for less as a whole than its containers do.

Input: spec.resources of the template asks for 1 CPU, its container for 8.
Expected: InvalidTemplate with the words of the API server, and no pod."""

from words import gang, here, nodes
from harness import expect

REAL = "the simulated API server does not know requests of the pod as a whole"


def case(s):
    with nodes(s, 1, cpu="64"):
        job = here(s, gang("small", replicas=2), cpu="8")
        job["spec"]["taskSpecs"][0]["template"]["spec"]["resources"] = {"requests": {"cpu": "1"}}
        s.apply(job)
        status = s.wait_phase("small", "Pending", reason="InvalidTemplate")
        expect("cpu" in status["message"] and not s.pods("small"), f"its words: {status['message']}")
