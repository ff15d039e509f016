"""Rules about other pods: a gang is placed by its required anti-affinity, affinity and topology spread, and where running pods let it."""

import contextlib

from harness import expect, expect_equal, wait_until
from stories.nodes import bound_nodes, documented, expect_no_pod_was_made, gang, nodes_of, pin_of, wait_until_alone

HOSTNAME = "kubernetes.io/hostname"
ZONE = "example.com/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def social(name, app, rule, replicas=3, cpu="1", **kinds):
    """Pods that are labelled with app and have the rule in their spec."""
    made = gang(name, replicas=replicas, cpu=cpu, **kinds)
    template = made["spec"]["taskSpecs"][0]["template"]
    template.setdefault("metadata", {}).setdefault("labels", {})["app"] = app
    template["spec"] |= rule
    return made


def apart(app, key=HOSTNAME):
    return {"affinity": {"podAntiAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}]}}}


def together(app, key):
    return {"affinity": {"podAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}]}}}


@contextlib.contextmanager
def zones(s):
    """The four nodes are in two zones."""
    nodes = nodes_of(s)
    for i, node in enumerate(nodes):
        s.cluster.kubectl("label", "node", node, f"{ZONE}={'ab'[i % 2]}")
    try:
        yield {node: "ab"[i % 2] for i, node in enumerate(nodes)}
    finally:
        s.cluster.kubectl("label", "node", *nodes, f"{ZONE}-")


def keeper(s, node):
    """A running pod that wants no pod of app quiet beside it."""
    s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "keeper", "namespace": s.namespace},
             "spec": {"nodeName": node, "containers": [{"name": "c", "image": "none"}], **apart("quiet")}})
    wait_until(lambda: s.kubectl.get("pod", "keeper")["spec"].get("nodeName") == node, "the keeper is there")


def story_gang_of_one_copy_per_node(s):
    """Small pods that refuse each other are on a node each, pinned; more of them than there are nodes are Infeasible, and no pod is made."""
    wait_until_alone(s)
    s.apply(social("few", "few", apart("few"), replicas=4))
    s.wait_phase("few", "Running", running=4)
    expect_equal(sorted(bound_nodes(s, "few").values()), [1, 1, 1, 1], "pods of each node")
    expect(all(pin_of(p) for p in s.pods("few").values()), "each pod is pinned to its place")
    s.apply(social("many", "many", apart("many"), replicas=5))
    status = s.wait_phase("many", "Pending", reason="Infeasible")
    expect(documented("taken (one copy per node)") in status["message"], status["message"])
    expect_no_pod_was_made(s, "many")
    s.apply(social("bound", "bound", apart("bound"), replicas=4, schedulerName="kar-scheduler"))
    s.wait_phase("bound", "Running", running=4)
    expect_equal(sorted(bound_nodes(s, "bound").values()), [1, 1, 1, 1], "pods of each node, created bound")


def story_running_pod_refuses_neighbours(s):
    """A gang waits with the name of the pod that keeps it off a node, also with kar-scheduler, and starts when that is gone."""
    wait_until_alone(s)
    keeper(s, nodes_of(s)[0])
    s.apply(social("quiet", "quiet", {}, replicas=4, cpu="40", sched={"priority": 10}))  # it goes first
    s.apply(social("bound", "quiet", {}, replicas=4, cpu="40", schedulerName="kar-scheduler"))
    for name in ("quiet", "bound"):
        status = s.wait_phase(name, "Pending", reason="NoFit")
        expect(f"1 excluded by anti-affinity of {s.namespace}/keeper" in status["message"], status["message"])
        expect_no_pod_was_made(s, name)
    s.kubectl("delete", "pod", "keeper", "--wait=false")
    s.wait_phase("quiet", "Running", running=4)
    s.kubectl("delete", "queuejob", "quiet", "--wait=true", "--cascade=foreground")
    s.wait_phase("bound", "Running", running=4)


def story_gang_in_one_zone_and_spread_over_zones(s):
    """Pods that ask for each other's zone are all in one; a gang too large for it waits. Pods that are to be spread are as many in each."""
    wait_until_alone(s)
    with zones(s) as zone_of:
        s.apply(social("near", "near", together("near", ZONE), replicas=2, cpu="40"))
        s.wait_phase("near", "Running", running=2)
        expect_equal(len({zone_of[node] for node in bound_nodes(s, "near")}), 1, "zones of pods that want to be together")
        s.kubectl("delete", "queuejob", "near", "--wait=true", "--cascade=foreground")
        s.apply(social("wide", "wide", together("wide", ZONE), replicas=3, cpu="40"))
        status = s.wait_phase("wide", "Pending", reason="NoFit")
        expect("without a pod that its affinity asks for" in status["message"], status["message"])
        expect_no_pod_was_made(s, "wide")
        s.kubectl("delete", "queuejob", "wide", "--wait=true", "--cascade=foreground")
        spread = {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                                                 "labelSelector": {"matchLabels": {"app": "even"}}}]}
        s.apply(social("even", "even", spread, replicas=6))
        s.wait_phase("even", "Running", running=6)
        counts = {}
        for node, n in bound_nodes(s, "even").items():
            counts[zone_of[node]] = counts.get(zone_of[node], 0) + n
        expect_equal(counts, {"a": 3, "b": 3}, "pods of each zone")
