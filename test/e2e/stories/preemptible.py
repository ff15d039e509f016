"""Pods of no queue, such as placeholders, make room for gangs that have none otherwise (--preemptible-below). Four nodes of 64 CPUs."""

import time

from harness import TEST_KEY, expect, expect_equal, wait_until
from stories.members import owner
from stories.nodes import expect_no_pod_was_made, gang, wait_until_alone

BELOW = "--preemptible-below=0"
LABEL = "app"


def template(s):
    return {"metadata": {"annotations": {f"{TEST_KEY}outcome": "run"}},
            "spec": {"priorityClassName": s.namespace, "terminationGracePeriodSeconds": 5,
                     "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "40"}}}]}}


def manager(s, *flags):
    s.manager.stop()
    s.manager.start(*flags)


def priority(s, value):
    s.cluster.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": s.namespace}, "value": value})
    return s.namespace


def placeholders(s, n, made_by, name="hold"):
    """A pod per node, each with a controller that does not make it again. The second half is younger by a second or more: so it goes first, whether the manager or
    kube-scheduler chooses, which preempts as well if a victim takes its time to stop. Among pods of the same second the two may choose others."""
    for i in range(n):
        if i == n // 2:
            second = int(time.time())
            wait_until(lambda: int(time.time()) > second, "the next second")
        pod = template(s)
        pod["metadata"].update(name=f"{name}-{i}", labels={LABEL: name}, ownerReferences=[made_by] if made_by else [])
        s.apply({"apiVersion": "v1", "kind": "Pod", **pod})
    wait_until(lambda: len(bound(s, name)) == n, "the placeholders have nodes")
    return uids(s, name)


def pods(s, name):
    return {p["metadata"]["name"]: p for p in s.kubectl.list("pods", "-l", f"{LABEL}={name}")}


def bound(s, name):
    return {n: p for n, p in pods(s, name).items() if p["spec"].get("nodeName") and not p["metadata"].get("deletionTimestamp")}


def uids(s, name):
    return {n: p["metadata"]["uid"] for n, p in pods(s, name).items()}


def notes(s, reason, kind):
    return sorted(e["note"] for e in s.kubectl.list("events.events.k8s.io") if e["reason"] == reason and e["regarding"]["kind"] == kind)


def story_pods_of_no_queue_make_room(s):
    """Without the flag a gang waits and says by whom its room is taken. With it two placeholders go, and no more; the pods and the group say so, and the gang runs."""
    wait_until_alone(s)
    manager(s)
    priority(s, -10)
    placeholders(s, 4, owner(s, "hold"))
    s.apply(gang("want", replicas=2))
    status = s.wait_phase("want", "Pending")
    expect("taken by pods of no queue: 160 cpu" in status["message"], f"the gang says by whom its room is taken: {status['message']}")
    time.sleep(2)
    expect_no_pod_was_made(s, "want")
    expect_equal(len(bound(s, "hold")), 4, "placeholders without the flag")
    watch = s.watch_pods()
    manager(s, BELOW)
    s.wait_phase("want", "Running", running=2, seconds=60)
    watch.stop()
    expect_equal(len(bound(s, "hold")), 2, "placeholders that are left")
    wait_until(lambda: notes(s, "Preempted", "Pod") == 2 * [f"evicted for {s.namespace}/want: priority 0 over -10"], "events of the pods")
    wait_until(lambda: any(n.startswith(f"evicts pods {s.namespace}/hold-") and n.endswith("of no queue for it") for n in notes(s, "Reserving", "PodGroup")), "an event of the group")
    gone = [p for _, p in watch.events() if p["metadata"]["name"].startswith("hold-") and p["metadata"].get("deletionTimestamp")]
    expect(gone and all(any(c["type"] == "DisruptionTarget" and c["reason"] == "EvictionByEvictionAPI" for c in p["status"].get("conditions", [])) for p in gone),
           "they went by the eviction API")
    s.shown.append(s.kubectl("describe", "podgroups.scheduling.x-k8s.io", "want"))


def story_pods_at_the_limit_stay(s):
    """Pods of the priority of the limit, without a controller, or of a DaemonSet are no room; nor are those of the priority of the gang."""
    wait_until_alone(s)
    manager(s, "--preemptible-below=-10")
    priority(s, -10)
    before = placeholders(s, 4, owner(s, "hold"))
    s.apply(gang("want", replicas=2))
    s.wait_phase("want", "Pending")
    time.sleep(3)
    expect_no_pod_was_made(s, "want")
    expect_equal(uids(s, "hold"), before, "pods of the priority of the limit")
    s.kubectl("delete", "queuejob", "want", "--wait=true", "--cascade=foreground")
    s.kubectl("delete", "pods", "--all", "--wait=true")
    before = placeholders(s, 4, None, name="bare")
    manager(s, BELOW)
    s.apply(gang("want", replicas=2))
    s.wait_phase("want", "Pending")
    time.sleep(3)
    expect_no_pod_was_made(s, "want")
    expect_equal(uids(s, "bare"), before, "pods that nobody makes again")


def story_budget_keeps_pods_of_no_queue(s):
    """A PodDisruptionBudget lets none of them go: nobody goes, and the gang names it. When it is gone the gang runs."""
    wait_until_alone(s)
    manager(s)
    priority(s, -10)
    before = placeholders(s, 4, owner(s, "hold"))
    # A budget does not protect pods that do not run yet.
    wait_until(lambda: all(p["status"].get("phase") == "Running" for p in pods(s, "hold").values()), "the placeholders run")
    s.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all"},
             "spec": {"minAvailable": 4, "selector": {"matchLabels": {LABEL: "hold"}}}})
    manager(s, BELOW)
    s.apply(gang("want", replicas=2))
    status = s.wait_phase("want", "Pending")
    wait_until(lambda: f"of no queue stays: PodDisruptionBudget {s.namespace}/all" in s.status("want")["message"], f"the gang names the budget: {status['message']}")
    time.sleep(3)
    expect_no_pod_was_made(s, "want")
    expect_equal(uids(s, "hold"), before, "pods that the budget protects")
    s.kubectl("delete", "poddisruptionbudget", "all")
    s.wait_phase("want", "Running", running=2, seconds=60)
    expect_equal(len(bound(s, "hold")), 2, "placeholders that are left")


def story_pods_with_two_budgets_stay(s):
    """The API server evicts no pod that two PodDisruptionBudgets select, whatever they allow: it is not asked to, the gang says why, and others are let in meanwhile. With one budget it runs."""
    wait_until_alone(s)
    manager(s)
    priority(s, -10)
    before = placeholders(s, 4, owner(s, "hold"))
    wait_until(lambda: all(p["status"].get("phase") == "Running" for p in pods(s, "hold").values()), "the placeholders run")
    for name in ("one", "two"):
        s.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
                 "spec": {"minAvailable": 1, "selector": {"matchLabels": {LABEL: "hold"}}}})
        wait_until(lambda: (s.kubectl.get("poddisruptionbudget", name)["status"]).get("disruptionsAllowed") == 3, f"budget {name} allows three")
    manager(s, BELOW)
    s.apply(gang("want", replicas=2))
    wait_until(lambda: "of no queue stays: it has more than one PodDisruptionBudget" in s.status("want").get("message", ""), "the gang says why")
    s.apply(gang("small", replicas=2, cpu="8"))
    s.wait_phase("small", "Running", running=2)
    expect_no_pod_was_made(s, "want")
    expect_equal(uids(s, "hold"), before, "pods with two budgets")
    s.kubectl("delete", "poddisruptionbudget", "two")
    s.wait_phase("want", "Running", running=2, seconds=60)
    expect_equal(len(bound(s, "hold")), 2, "placeholders that are left")


def story_deployment_of_placeholders_makes_room(s):
    """A Deployment fills the nodes. A gang of three runs; what the Deployment makes again waits, and runs when the gang is gone."""
    wait_until_alone(s)
    manager(s, BELOW)
    priority(s, -10)
    made = template(s)
    made["metadata"]["labels"] = {LABEL: "hold"}
    s.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "hold"},
             "spec": {"replicas": 4, "selector": {"matchLabels": {LABEL: "hold"}}, "template": made}})
    wait_until(lambda: len(bound(s, "hold")) == 4, "the placeholders have nodes")
    s.apply(gang("want", replicas=3))
    s.wait_phase("want", "Running", running=3, seconds=90)
    wait_until(lambda: len(bound(s, "hold")) == 1 and len(pods(s, "hold")) == 4, "one is left, and three wait")
    # Pods that are gone at once are followed before the gang has its pods: then kube-scheduler preempts those that followed.
    expect_equal([n for n in notes(s, "Preempted", "Pod") if n.startswith("evicted")], 3 * [f"evicted for {s.namespace}/want: priority 0 over -10"], "evictions")
    s.kubectl("delete", "queuejob", "want", "--wait=true", "--cascade=foreground")
    wait_until(lambda: len(bound(s, "hold")) == 4, "the placeholders have nodes again", seconds=60)
