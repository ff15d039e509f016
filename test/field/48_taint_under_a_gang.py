"""kubernetes-sigs/kueue#14917, #14092: replacements go back to the node that was tainted under them, again and again.

Input: a gang of 3 that needs a node for each pod, on 4 nodes, with a time-out of 2 s; one of its nodes gets a NoExecute taint, then a second
one: there is no room.
Expected: first it runs on other nodes, without a failure counted; then it is rolled back and makes no more pods; when a taint goes, it runs."""

from words import gang, here, nodes
from harness import expect, expect_equal, wait_until


def where(s):
    return sorted(p["spec"].get("nodeName", "") for p in s.pods("gang").values())


def case(s):
    with nodes(s, 4, cpu="8"):
        s.apply(here(s, gang("gang", replicas=3, sched={"scheduleTimeoutSeconds": 2}), cpu="6"))
        s.wait_phase("gang", "Running", running=3)
        first = where(s)[0]
        s.cluster.kubectl("taint", "node", first, "broken=yes:NoExecute")
        wait_until(lambda: len(where(s)) == 3 and first not in where(s) and s.status("gang").get("running") == 3, "it runs on other nodes")
        expect_equal(s.status("gang").get("podFailures", 0), 0, "failures")
        second = where(s)[0]
        s.cluster.kubectl("taint", "node", second, "broken=yes:NoExecute")
        wait_until(lambda: "2 tainted (broken)" in s.status("gang").get("message", ""), "it names the taint")
        s.wait_phase("gang", "Pending")
        wait_until(lambda: not where(s), "it has no pod")
        expect(len(s.audit.pods_created(s.namespace)) <= 9, "a gang that has no room is not made again and again")
        s.cluster.kubectl("taint", "node", first, "broken-")
        s.wait_phase("gang", "Running", running=3)
