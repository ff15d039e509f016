"""volcano-sh/volcano#5075: a group that names only minResources, more than the cluster has, is started all the same.

Input: a PodGroup without minMember, with minResources of 100000 CPUs, and two gated pods of a CPU each.
Expected: no pod starts, and the group says what is short."""

from words import group_says, members_bound, nodes, pod, pod_group, stays
from harness import wait_until


def case(s):
    with nodes(s, 1, cpu="8"):
        s.apply(pod_group("much", minResources={"cpu": "100000"}))
        s.apply({"apiVersion": "v1", "kind": "List", "items": [pod(s, f"much-{i}", "much", {"cpu": "1"}) for i in range(2)]})
        wait_until(lambda: "insufficient cpu: 100000 requested" in group_says(s, "much"), "it says what is short")
        stays(lambda: not members_bound(s, "much"), "no pod starts", 2)
