"""kubeflow/trainer#2672: an operator deletes the group of a job that is suspended, and makes it again under its name.

Input: a PodGroup of 2 and its two pods run; all is deleted and made again within a moment; then the group alone is.
Expected: the second time both start as a gang; the third time the pods that run are not touched, and the group counts two."""

from words import members_bound, nodes, pod, pod_group, stays
from harness import expect_equal, wait_until


def make(s):
    s.apply(pod_group("g", minMember=2))
    s.apply({"apiVersion": "v1", "kind": "List", "items": [pod(s, f"p{i}", "g", {"cpu": "1"}) for i in range(2)]})


def two_run(s):
    return (s.group("g") or {}).get("status", {}).get("running") == 2 and len(members_bound(s, "g")) == 2


def case(s):
    with nodes(s, 1, cpu="8"):
        make(s)
        wait_until(lambda: two_run(s), "they run")
        s.kubectl("delete", "podgroups.scheduling.x-k8s.io", "g")
        s.kubectl("delete", "pods", "--all")
        make(s)
        wait_until(lambda: two_run(s), "they run again")
        before = [p["metadata"]["uid"] for p in s.kubectl.list("pods")]
        s.kubectl("delete", "podgroups.scheduling.x-k8s.io", "g")
        s.apply(pod_group("g", minMember=2))
        wait_until(lambda: two_run(s), "the group counts the pods that run")
        stays(lambda: two_run(s), "both run on", 1)
        expect_equal([p["metadata"]["uid"] for p in s.kubectl.list("pods")], before, "the pods")
