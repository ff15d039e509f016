"""volcano-sh/volcano#2229, #2573: the minimum of a job is less than those of its tasks, or what a gang needs leaves out GPUs.

Input: schedSpec.minAvailable 1; tasks server and worker of two pods, with minAvailable 1 each; a worker asks for a GPU, and no node has one.
Expected: the minimum is 2, there is no pod, and the message names the GPU."""

from words import here, nodes
from harness import expect, expect_equal, queuejob, task, wait_until

GPU = "nvidia.com/gpu"


def case(s):
    with nodes(s, 1, cpu="8"):
        job = here(s, queuejob("tf", *({**task(n, 2), "minAvailable": 1} for n in ("server", "worker")), sched={"minAvailable": 1}), cpu="50m")
        container = job["spec"]["taskSpecs"][1]["template"]["spec"]["containers"][0]
        container["resources"] = {kind: {"cpu": "50m", GPU: "1"} for kind in ("requests", "limits")}
        s.apply(job)
        wait_until(lambda: GPU in s.status("tf").get("message", ""), "the message names the GPU")
        expect_equal(s.status("tf")["minAvailable"], 2, "minimum")
        expect(not s.pods("tf"), "it has no pod")
