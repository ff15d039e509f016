"""Direct: pods of kar-scheduler are created bound, whole or not at all, without any scheduler. Four nodes of 64 CPUs."""

from harness import expect, expect_equal, wait_until
from stories.nodes import (UNREAD, Cordon, bound_nodes, expect_no_pod_was_made, gang, nodes_of, placement, plan_of,
                           wait_for_words, wait_until_alone)


def direct(name, **args):
    return gang(name, schedulerName="kar-scheduler", **args)


def expect_created_bound(s, name):
    """As the manager asked for them, and as no scheduler did."""
    asked = {e["objectRef"]["name"]: e["requestObject"]["spec"].get("nodeName") for e in s.audit.pod_creates(s.namespace)
             if e["objectRef"]["name"].startswith(f"{name}-worker-") and "requestObject" in e}
    pods = s.pods(name)
    if asked:  # not every audit log has bodies
        expect_equal({n: asked.get(n) for n in pods}, {n: p["spec"]["nodeName"] for n, p in pods.items()}, "nodes that were asked for")
    expect_equal(s.audit.events(verb="create", resource="pods", subresource="binding", namespace=s.namespace), [], "bindings")
    told = s.kubectl("get", "events", "-o", "jsonpath={range .items[*]}{.reason} {end}").split()
    expect("Scheduled" not in told and "FailedScheduling" not in told, f"no scheduler has said anything: {told}")


def story_direct_gang_is_created_bound(s):
    """Its pods are created with the nodes of the plan; no scheduler has seen them. A pod that is deleted is replaced the same way."""
    wait_until_alone(s)
    s.apply(direct("bound", sched={"minAvailable": 2}))
    s.wait_phase("bound", "Running", running=3)
    expect_equal(len(bound_nodes(s, "bound")), 3, "nodes")
    before = s.uids("bound")
    s.kubectl("delete", "pod", "bound-worker-2", "--wait=false")
    wait_until(lambda: s.uids("bound").get("bound-worker-2") not in (None, before["bound-worker-2"]), "the pod is replaced")
    s.wait_phase("bound", "Running", running=3)
    wait_until(lambda: placement(s, "bound").get("plan", []) == [], "no place is held any more")
    expect_created_bound(s, "bound")
    expect_equal((placement(s, "bound")["state"], s.group("bound")["status"]["backend"]), ("Satisfied", "Direct"), "state of the placement, and who starts it")


def story_direct_gang_that_does_not_fit_waits(s):
    """NoFit, and no pod; what kar-scheduler cannot check is refused with the feature's name."""
    wait_until_alone(s)
    with Cordon(s, *nodes_of(s)[2:]):
        s.apply(direct("waits"))
        wait_for_words(s, "waits", "NoFit", "2 of 3 pods fit now: 2 nodes lack cpu (short 16), 2 cordoned; 1st of 1 in queue default")
        job = direct("claims", replicas=1)
        job["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}, **UNREAD}]}}
        s.apply(job)
        wait_for_words(s, "claims", "Unsupported", "kar-scheduler does not place pod anti-affinity (task worker): use default-scheduler")
        for name in ("waits", "claims"):
            expect_no_pod_was_made(s, name)
    s.wait_phase("waits", "Running", running=3)
    expect_created_bound(s, "waits")


def story_direct_gang_that_loses_a_race_is_placed_again(s):
    """Pods of somebody else that are created bound take what the gang was promised: its kubelet refuses it, and nothing is counted."""
    wait_until_alone(s)
    nodes = nodes_of(s)
    s.manager.stop()
    s.apply(direct("loses", replicas=4))
    thief = {"nodeName": nodes[0], "containers": [{"name": "main", "image": "busybox:1.36", "resources": {"requests": {"cpu": "40"}}}]}
    s.manager.start("--kube-api-qps=2", "--kube-api-burst=1")
    wait_until(lambda: plan_of(s, "loses"), "it is placed")
    s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "thief"}, "spec": thief})
    wait_until(lambda: s.status("loses").get("reason") in ("NoFit", "Infeasible"), "it is rolled back, and waits for room", seconds=60)
    told = s.kubectl("get", "events", "-o", "jsonpath={range .items[*]}{.reason}: {.message}{.note}{'\\n'}{end}")
    victim = next((line for line in told.splitlines() if line.startswith("RolledBack: attempt 1 to start the gang failed: ")), None)
    expect(victim and f"was refused by node {nodes[0]}: OutOfcpu" in victim, f"the event names the refusal:\n{told}")
    s.kubectl("delete", "pod", "thief", "--wait=true")
    s.wait_phase("loses", "Running", running=4, seconds=60)
    status = s.status("loses")
    expect_equal([status.get(k, 0) for k in ("restarts", "podFailures", "disruptions")], [0, 0, 0], "what it has counted")
