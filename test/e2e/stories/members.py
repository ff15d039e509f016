"""Pods of other controllers that name a PodGroup and have our gate: the gang is placed whole, or none of it gets a node. Four nodes of 64 CPUs."""

import time

from harness import KEY, TEST_KEY, expect, expect_equal, wait_until
from stories.nodes import UNREAD, bound_nodes, nodes_of, pin_of, wait_until_alone, Cordon

GATE = "kube-arbitrator.io/gang"
LABEL = "scheduling.x-k8s.io/pod-group"


def group(s, name, minimum, **spec):
    s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": minimum, **spec}})


def template(name, cpu, gates=(GATE,), annotations=None, **spec):
    container = {"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"labels": {LABEL: name, "app": name}, "annotations": {f"{TEST_KEY}outcome": "run", **(annotations or {})}},
            "spec": {"schedulingGates": [{"name": g} for g in gates], "containers": [container], **spec}}


def deployment(s, name, pods, cpu="40", gates=(GATE,), **pod):
    s.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
             "spec": {"replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": template(name, cpu, gates, **pod)}})


def batch_job(s, name, pods, cpu="40", affinity=None, annotations=None, **spec):
    s.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
             "spec": {**spec, "parallelism": pods, "completions": pods, "backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
                      "template": template(name, cpu, annotations=annotations, restartPolicy="Never", terminationGracePeriodSeconds=1, affinity=affinity or {})}})


def members(s, name):
    return {p["metadata"]["name"]: p for p in s.kubectl.list("pods", "-l", f"{LABEL}={name}")}


def owned_pod(s, name, number, cpu="40", owner=None, labels=None, annotations=None, **spec):
    meta = {"name": f"{name}-{number}", "labels": {LABEL: name, **(labels or {})}, "annotations": {f"{TEST_KEY}outcome": "run", **(annotations or {})}}
    if owner:
        meta["ownerReferences"] = [owner]
    s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**template(name, cpu)["spec"], **spec}})


def owner(s, name):
    s.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    uid = s.kubectl.get("configmap", name)["metadata"]["uid"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": True}


def said(s, name, kind):
    found = [c for c in (s.group(name) or {}).get("status", {}).get("conditions", []) if c["type"] == kind]
    return found[0] if found else {}


NO_ROOM = "NoFit", "InsufficientCapacity"  # on single nodes, or in all nodes together


def says(s, name, kind, *reasons):
    return said(s, name, kind).get("reason") in reasons and said(s, name, kind)


def runs(s, name):
    return s.group(name).get("status", {}).get("phase") == "Running"


def nodes(s, name):
    return sorted(p["spec"].get("nodeName", "") for p in members(s, name).values())


def story_pods_of_others_start_whole(s):
    """Three gated pods that need a node each: none is released before all exist and all fit; then each is bound where the plan says."""
    wait_until_alone(s)
    by = owner(s, "three")
    group(s, "three", 3)
    for i in range(2):
        owned_pod(s, "three", i, owner=by)
    words = "2 of 3 members exist; none starts before all exist, unless spec.minResources says what the rest needs"
    wait_until(lambda: says(s, "three", "Scheduled", "WaitingForMembers") and said(s, "three", "Scheduled")["message"] == words, f"it says: {words}")
    with Cordon(s, *nodes_of(s)[2:]):
        owned_pod(s, "three", 2, owner=by)
        waits = wait_until(lambda: says(s, "three", "Admitted", "NoFit"), "it waits for a third node")
        expect("2 of 3 pods fit now: 2 nodes lack cpu (short 16), 2 cordoned" in waits["message"], waits["message"])
        wait_until(lambda: says(s, "three", "Scheduled", "NoFit"), "Scheduled names the same reason")
        expect_equal(nodes(s, "three"), ["", "", ""], "nodes")
        for pod in members(s, "three").values():
            expect_equal([g["name"] for g in pod["spec"]["schedulingGates"]], [GATE], "gates")
    wait_until(lambda: runs(s, "three"), "it runs")
    pods = members(s, "three").values()
    expect_equal(len({p["spec"]["nodeName"] for p in pods}), 3, "nodes")
    for pod in pods:
        expect_equal(pin_of(pod), pod["spec"]["nodeName"], f"pin of {pod['metadata']['name']}")
    status = s.group("three")["status"]
    expect_equal((status["placement"]["state"], said(s, "three", "Scheduled")["status"]), ("Satisfied", "True"), "placement")
    s.shown.append(s.kubectl("describe", "podgroups.scheduling.x-k8s.io", "three"))
    owned_pod(s, "three", 3, cpu="1", owner=by)
    wait_until(lambda: members(s, "three")["three-3"]["spec"].get("nodeName"), "a fourth member starts by itself")


def story_pods_that_ask_for_a_gang_get_a_podgroup(s):
    """Three pods with the annotations of a gang, and nobody who creates a PodGroup: one is made, and they start whole."""
    wait_until_alone(s)
    by = owner(s, "asking")
    key = "gang.scheduling.koordinator.sh/"
    asks = {f"{key}name": "asking", f"{key}min-available": "3", f"{key}waiting-time": "90s", f"{TEST_KEY}outcome": "run"}
    for i in range(3):
        made = template("asking", "40")
        s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"asking-{i}", "annotations": asks, "ownerReferences": [by]}, "spec": made["spec"]})
    wait_until(lambda: s.group("asking") and runs(s, "asking"), "they run")
    group = s.group("asking")
    given = {k: v for k, v in group["metadata"]["annotations"].items() if not k.startswith(KEY)}
    expect_equal((group["spec"]["minMember"], given, group["metadata"].get("ownerReferences")), (3, {f"{key}waiting-time": "90s"}, None), "what was made")
    expect_equal((group["status"]["running"], group["status"]["placement"]["attempt"]), (3, 1), "members that run, and attempts")


def story_pod_without_its_podgroup_says_so(s):
    """A gated pod names a PodGroup that nobody has created: an event of the pod says that it waits for it; when it is there, the pod starts."""
    by = owner(s, "late")
    owned_pod(s, "late", 0, cpu="1", owner=by)
    told = wait_until(lambda: s.kubectl.list("events", "--field-selector", "involvedObject.name=late-0,reason=PodGroupNotFound"), "the event", seconds=40)
    expect_equal(told[0]["message"], f"PodGroup {s.namespace}/late does not exist; 1 pod that names it stays gated until somebody creates it", "note")
    group(s, "late", 1)
    wait_until(lambda: nodes(s, "late") != [""], "it has a node")


def story_batch_job_is_a_gang_by_a_label(s):
    """A Job whose template names a PodGroup and has the gate; a second one that does not fit beside it waits without a node."""
    wait_until_alone(s)
    for name in ("red", "blue"):
        group(s, name, 3)
        batch_job(s, name, 3)
    wait_until(lambda: sum(runs(s, n) for n in ("red", "blue")) == 1, "one runs")
    first, second = ("red", "blue") if runs(s, "red") else ("blue", "red")
    wait_until(lambda: len(members(s, second)) == 3, "all pods of the other exist")
    for _ in range(10):
        expect_equal(nodes(s, second), ["", "", ""], f"nodes of {second}")
        time.sleep(0.2)
    expect(says(s, second, "Admitted", *NO_ROOM), "it says why it waits")
    s.kubectl("delete", "job", first, "--wait=true")
    wait_until(lambda: runs(s, second), "the other runs")
    expect("" not in nodes(s, second), "nodes")


def story_deployment_is_a_gang_by_a_label(s):
    """A Deployment of three that need a node each; one of its pods is deleted and comes back by itself."""
    wait_until_alone(s)
    group(s, "web", 3)
    deployment(s, "web", 3)
    wait_until(lambda: runs(s, "web"), "it runs")
    s.kubectl("delete", "pod", sorted(members(s, "web"))[0], "--wait=true")
    wait_until(lambda: (s.group("web")["status"].get("running"), len(members(s, "web"))) == (3, 3), "it is whole again", seconds=60)
    expect_equal(s.group("web")["status"]["placement"]["attempt"], 1, "attempts")


def apart(label, value):
    """Not two pods with this label on a node, in words that are not read."""
    term = {"labelSelector": {"matchLabels": {label: value}}, "topologyKey": "kubernetes.io/hostname", **UNREAD}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def story_start_that_fails_takes_back_the_pods_of_others(s):
    """Anti-affinity that is not read keeps the third of a Job from a node: all go, the Job counts no failure, and the next attempt succeeds."""
    wait_until_alone(s)
    group(s, "apart", 3, scheduleTimeoutSeconds=3)
    with Cordon(s, *nodes_of(s)[2:]):
        batch_job(s, "apart", 3, cpu="1", affinity=apart("app", "apart"))
        wait_until(lambda: s.group("apart")["status"].get("placement", {}).get("failures") == 1, "an attempt fails", seconds=60)
        wait_until(lambda: set(nodes(s, "apart")) <= {""}, "none of it has a node")
    wait_until(lambda: runs(s, "apart"), "the next attempt succeeds", seconds=60)
    expect_equal(s.kubectl.get("job", "apart")["status"].get("failed", 0), 0, "failures that the Job has counted")


def story_bare_pods_are_never_deleted(s):
    """A gang of pods without a controller that cannot all be bound: none is deleted, and the group says that it cannot roll back."""
    wait_until_alone(s)
    group(s, "bare", 2, scheduleTimeoutSeconds=3)
    for i in range(2):  # anti-affinity is not modelled, so they are released for one node
        owned_pod(s, "bare", i, cpu="1", affinity=apart(LABEL, "bare"), nodeSelector={"kubernetes.io/hostname": nodes_of(s)[0]})
    uids = {p["metadata"]["uid"] for p in members(s, "bare").values()}
    wait_until(lambda: [e for e in s.kubectl.list("events") if e["reason"] == "CannotRollBack"], "the event comes", seconds=60)
    time.sleep(2)
    expect_equal({p["metadata"]["uid"] for p in members(s, "bare").values()}, uids, "pods")


def story_stages_of_a_gang_have_their_room(s):
    """A first member alone, whose group says what the rest needs: it starts, nobody else takes the room of the others, and they start when they come."""
    wait_until_alone(s)
    by = owner(s, "staged")
    group(s, "staged", 3, minResources={"cpu": "100"})  # 20 + 40 + 40; what is left beside it is less than two nodes
    owned_pod(s, "staged", 0, cpu="20", owner=by)
    wait_until(lambda: members(s, "staged")["staged-0"]["spec"].get("nodeName"), "the first stage starts")
    wait_until(lambda: "1 of 3 members started, room for the rest is held until" in said(s, "staged", "Scheduled")["message"], "it says why it is not whole")
    group(s, "greedy", 3)
    for i in range(3):
        owned_pod(s, "greedy", i, cpu="60", owner=by)
    wait_until(lambda: says(s, "greedy", "Admitted", *NO_ROOM), "who would take its room waits")
    for i in (1, 2):
        owned_pod(s, "staged", i, cpu="40", owner=by)
    wait_until(lambda: runs(s, "staged"), "it runs whole")
    expect_equal(s.group("staged")["status"]["placement"]["attempt"], 1, "attempts")
    expect_equal(nodes(s, "greedy"), ["", "", ""], "nodes of the other")


def story_pods_of_others_are_bound_by_the_manager(s):
    """Deployments whose pods name kar-scheduler and a PodGroup, without a gate: they are bound as a whole, by no scheduler; one that does not fit waits; replacements are bound."""
    wait_until_alone(s)
    for name in ("red", "blue"):
        group(s, name, 3)
        deployment(s, name, 3, gates=(), schedulerName="kar-scheduler")
    wait_until(lambda: sum(runs(s, n) for n in ("red", "blue")) == 1, "one runs")
    first, second = ("red", "blue") if runs(s, "red") else ("blue", "red")
    wait_until(lambda: says(s, second, "Admitted", *NO_ROOM), "the other says why it waits")
    expect_equal((nodes(s, second), "" in nodes(s, first)), (["", "", ""], False), f"nodes of {second}, and whether one of {first} has none")
    scheduler = [e["reason"] for e in s.kubectl.list("events") if e["reason"] in ("Scheduled", "FailedScheduling") and e["involvedObject"]["kind"] == "Pod"]
    expect_equal(scheduler, [], "events of a scheduler")
    s.kubectl("delete", "deployment", second, "--wait=true")
    gone = sorted(members(s, first))[0]
    s.kubectl("delete", "pod", gone, "--wait=true")
    wait_until(lambda: gone not in members(s, first) and len(members(s, first)) == 3 and "" not in nodes(s, first), "a replacement is bound", seconds=60)
    expect_equal(s.group(first)["status"]["placement"]["attempt"], 1, "attempts")


def story_pods_and_namespace_name_the_queue(s):
    """Pods of a controller that knows no queues wait in the queue of their namespace; the label of a pod goes before it, the label of the group before both."""
    queues, key = "queues.kube-arbitrator.io", "kube-arbitrator.io/queue"
    closed, shut = f"{s.namespace}-closed", f"{s.namespace}-shut"
    for name in (closed, shut):
        s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"state": "Closed"}})
    try:
        s.cluster.kubectl("annotate", "namespace", s.namespace, f"{key}={closed}")
        by = owner(s, "by")
        for name in ("plain", "labelled"):
            group(s, name, 2)
            wait_until(lambda name=name: says(s, name, "Admitted", "QueueClosed"), f"{name} waits before it has pods")
            expect(key not in s.group(name)["metadata"].get("labels", {}), "no label without pods")
        for i in range(2):
            owned_pod(s, "plain", i, cpu="1", owner=by)
            owned_pod(s, "labelled", i, cpu="1", owner=by, labels={key: shut})
        for name, queue in (("plain", closed), ("labelled", shut)):
            wait_until(lambda name=name: s.group(name)["metadata"].get("labels", {}).get(key), f"{name} has its label")
            waits = wait_until(lambda name=name, queue=queue: f"queue {queue} is closed" in said(s, name, "Admitted").get("message", "") and said(s, name, "Admitted"), "the queue has decided")
            expect_equal((s.group(name)["metadata"]["labels"][key], waits["reason"]), (queue, "QueueClosed"), f"queue of {name}")
            expect_equal(nodes(s, name), ["", ""], f"nodes of {name}")
        s.cluster.kubectl("annotate", "namespace", s.namespace, f"{key}-")
        s.kubectl("patch", queues, shut, "--type=merge", "-p", '{"spec": {"state": "Open"}}')
        wait_until(lambda: runs(s, "labelled"), "it runs when its queue is open")
        expect_equal(s.group("labelled")["status"]["admittedQueue"], shut, "the queue that has admitted it")
        expect_equal(s.group("plain")["metadata"]["labels"][key], closed, "the queue stays when the namespace names it no more")
        s.kubectl("label", "podgroups.scheduling.x-k8s.io", "plain", "--overwrite", f"{key}=default")
        wait_until(lambda: runs(s, "plain"), "its user has chosen another queue")
    finally:
        s.kubectl("delete", queues, closed, shut, "--wait=false")


def story_members_start_in_waves(s):
    """With match-policy only-waiting as many members as the minimum wait for each other, whatever runs already; others go with them."""
    s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
             "metadata": {"name": "waves", "annotations": {"gang.scheduling.koordinator.sh/match-policy": "only-waiting"}}, "spec": {"minMember": 2}})
    by = owner(s, "waves")
    for number in range(2):
        owned_pod(s, "waves", number, cpu="1", owner=by)
    wait_until(lambda: "" not in nodes(s, "waves") and len(nodes(s, "waves")) == 2, "the first two run")
    wait_until(lambda: said(s, "waves", "Scheduled").get("status") == "True", "it is scheduled")
    owned_pod(s, "waves", 2, cpu="1", owner=by)
    time.sleep(3)
    expect_equal(nodes(s, "waves").count(""), 1, "the third one waits alone")
    expect_equal(said(s, "waves", "Admitted").get("status"), "True", "condition Admitted meanwhile")
    owned_pod(s, "waves", 3, cpu="1", owner=by)
    wait_until(lambda: "" not in nodes(s, "waves"), "two that wait start together", 30)
    expect_equal(len(nodes(s, "waves")), 4, "members")
