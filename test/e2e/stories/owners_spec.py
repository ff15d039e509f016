"""A controller that knows SchedulingSpec alone: its pods name kar-scheduler and no PodGroup. Four nodes of 64 CPUs."""

import json

from harness import KEY, TEST_KEY, expect, expect_equal, wait_until
from stories.members import NO_ROOM, nodes, owner, runs, says
from stories.nodes import nodes_of, wait_until_alone

LABEL = "scheduling.x-k8s.io/pod-group"


def pod(s, name, by, cpu="40"):
    s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "ownerReferences": [by], "annotations": {f"{TEST_KEY}outcome": "run"}},
             "spec": {"schedulerName": "kar-scheduler", "containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": cpu}}}]}})


def spec(s, name, by, **fields):
    s.apply({"apiVersion": f"{KEY}v1alpha1", "kind": "SchedulingSpec", "metadata": {"name": name, "ownerReferences": [by]}, "spec": fields})


def unbound(s, *names):
    return all(not s.kubectl.get("pod", n)["spec"].get("nodeName") for n in names)


def story_schedulingspec_of_the_owner_makes_a_gang(s):
    """Pods of an owner without a SchedulingSpec wait, and an event of one of them says for what; with it they are a gang of its minimum and priority, on nodes that it selects; with their owner all of it goes."""
    wait_until_alone(s)
    by = owner(s, "demo")
    for i in range(3):
        pod(s, f"demo-{i}", by)
    told = wait_until(lambda: [e for e in s.kubectl.list("events") if e["reason"] == "SchedulingSpecNotFound"], "an event says what is missing", seconds=40)
    expect_equal([(e["involvedObject"]["name"], e["message"]) for e in told],
                 [("demo-0", "no SchedulingSpec has ConfigMap demo as its controller (ownerReferences, controller: true), and the pod names no PodGroup: it is not scheduled until there is one of them")], "events")
    expect(unbound(s, "demo-0", "demo-1", "demo-2"), "nobody has a node")
    chosen = nodes_of(s)[1:]
    try:
        for node in chosen:
            s.cluster.kubectl("label", "node", node, "story=s0")
        spec(s, "needs", by, minAvailable=3, priority=7, nodeSelector={"story": "s0"})
        wait_until(lambda: s.group("needs") and runs(s, "needs"), "they run", seconds=40)
        expect_equal(nodes(s, "needs"), sorted(chosen), "nodes")
        group = s.group("needs")
        kept = not s.cluster.foreign_crd  # that of others has no priority: who has made the group says it
        expect_equal(({k: group["spec"].get(k) for k in ("minMember", "priority")}, [(o["name"], o["uid"], o.get("controller")) for o in group["metadata"]["ownerReferences"]]),
                     ({"minMember": 3, "priority": 7 if kept else None}, [("demo", by["uid"], True)]), "the group that was made")
        more = owner(s, "more")
        spec(s, "more", more, minAvailable=2)
        for i in range(2):
            pod(s, f"more-{i}", more)
        wait_until(lambda: s.group("more") and says(s, "more", "Admitted", *NO_ROOM), "a second gang says why it waits")
        expect(unbound(s, "more-0", "more-1"), "none of it has a node")
        spec(s, "more", more, minAvailable=3, priority=9)
        wait_until(lambda: [s.group("more")["spec"].get(k) for k in ("minMember", "priority")] == [3, 9 if kept else None], "the group has the edited minimum and priority")
        s.kubectl("patch", "podgroups.scheduling.x-k8s.io", "more", "--type=merge", "-p", json.dumps({"spec": {"minMember": 5}}))
        spec(s, "more", more, minAvailable=2)
        wait_until(lambda: [s.group("more")["spec"].get(k) for k in ("minMember", "priority")] == [2, None], "and has them again")
        s.kubectl("delete", "schedulingspec", "more")
        wait_until(lambda: says(s, "more", "Admitted", "SchedulingSpecNotFound"), "nobody knows where its pods may go")
        spec(s, "more", more, minAvailable=2)
        wait_until(lambda: says(s, "more", "Admitted", *NO_ROOM), "it waits for room again")
        s.kubectl("delete", "configmap", "demo", "--cascade=foreground", "--wait=true", "--timeout=60s")
        wait_until(lambda: not s.group("needs") and not s.scheduling_spec("needs") and not s.kubectl.list("pods", "-l", f"{LABEL}=needs"), "nothing is left of it", seconds=60)
        wait_until(lambda: runs(s, "more"), "the second runs", seconds=40)
        s.shown.append(json.dumps(s.group("more")["spec"]))
    finally:
        for node in chosen:
            s.cluster.kubectl("label", "node", node, "story-")
