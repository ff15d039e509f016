"""ray-project/kuberay#5205: an operator writes the size of a group once, and starts fewer pods: they wait for ever.

Input: two PodGroups of minMember 4 with 3 gated pods of a CPU each, one of them with minResources of 4 CPUs, as KubeRay writes it.
Expected: with minResources the three start; without none does, and the group says that 3 of 4 members exist."""

from words import group_says, members_bound, nodes, pod, pod_group
from harness import expect, wait_until


def case(s):
    with nodes(s, 1, cpu="8"):
        s.apply(pod_group("ray", minMember=4, minResources={"cpu": "4"}))
        s.apply(pod_group("strict", minMember=4))
        s.apply({"apiVersion": "v1", "kind": "List", "items": [pod(s, f"{g}-{i}", g, {"cpu": "1"}) for g in ("ray", "strict") for i in range(3)]})
        wait_until(lambda: len(members_bound(s, "ray")) == 3, "the three start")
        wait_until(lambda: "3 of 4 members exist" in group_says(s, "strict"), "the other group says how many exist")
        expect(not members_bound(s, "strict"), "no pod of the other group starts")
