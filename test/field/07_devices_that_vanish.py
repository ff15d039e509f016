"""volcano-sh/volcano#3520, #2999: a node whose GPUs are in use and then vanish is closed to jobs that want none.

Input: a node with 2 GPUs, both used by a job; its GPUs become 0. Then a job of CPUs, and a second one that wants a GPU a pod.
Expected: the job of CPUs runs there at once; the second one waits without a pod, and runs when the GPUs are back and free."""

from words import change_node, gang, here, nodes
from harness import expect, wait_until

GPU = "nvidia.com/gpu"


def case(s):
    with nodes(s, 1, cpu="16", **{GPU: "2"}) as (node,):
        s.apply(here(s, gang("first", replicas=2), cpu="1", **{GPU: "1"}))
        s.wait_phase("first", "Running", running=2)
        change_node(s, node, **{GPU: "0"})
        s.apply(here(s, gang("second", replicas=2), cpu="1", **{GPU: "1"}))
        s.apply(here(s, gang("plain", replicas=2), cpu="1"))
        s.wait_phase("plain", "Running", running=2)
        wait_until(lambda: GPU in s.status("second").get("message", ""), "the second job names what it waits for")
        expect(not s.pods("second"), "the second job has no pod")
        expect(s.status("first")["phase"] == "Running", "the first job runs on")
        change_node(s, node, **{GPU: "2"})
        s.kubectl("delete", "queuejob", "first", "--wait=false")
        s.wait_phase("second", "Running", running=2)
