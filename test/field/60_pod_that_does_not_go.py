"""volcano-sh/volcano#2107: a pod that takes long to stop makes a new job wait for its node, although another one is free.

Input: two nodes of 4 CPUs; a pod of 4 that takes a minute to stop is deleted; a job of one pod of 4, and then a gang of two.
Expected: the job starts on the other node at once; the gang has no pod and says what is short."""

from words import bound, gang, here, nodes, pod
from harness import expect, expect_equal, wait_until


def case(s):
    with nodes(s, 2, cpu="4") as (first, second):
        slow = pod(s, "slow", asks={"cpu": "4"}, stop_after="60s", terminationGracePeriodSeconds=60)
        slow["spec"]["nodeSelector"] = {"kubernetes.io/hostname": first}
        s.apply(slow)
        wait_until(lambda: s.kubectl.get("pod", "slow")["status"].get("phase") == "Running", "it runs")
        s.kubectl("delete", "pod", "slow", "--wait=false")
        s.apply(here(s, gang("one"), cpu="4"))
        s.wait_phase("one", "Running", seconds=5)
        expect_equal(s.pods("one")["one-w-0"]["spec"]["nodeName"], second, "its node")
        s.apply(here(s, gang("two", replicas=2), cpu="4"))
        status = s.wait_phase("two", "Pending", reason="NoFit")
        expect("2 lack cpu (short 8)" in status["message"] and not s.pods("two"), f"it says what is short: {status['message']}")
        expect("slow" in bound(s), "the slow pod is still there")
        s.kubectl("delete", "pod", "slow", "--force", "--grace-period=0", "--wait=false")
