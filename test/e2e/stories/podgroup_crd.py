"""Gangs in a cluster whose CRD of PodGroups is the one that scheduler-plugins publishes: the API server drops most of our status. Four nodes of 64 CPUs."""

import contextlib
import json
import pathlib
import subprocess
import time

from harness import KEY, MANIFESTS, ROOT, USER_AGENT, expect, expect_equal, wait_until
from stories.members import GATE, group, members, nodes, owned_pod, owner, runs
from stories.nodes import Cordon, gang, nodes_of, wait_until_alone

MODULE = ROOT / "test/e2e/podgroups"  # its go.mod says which version
PLUGINS = "sigs.k8s.io/scheduler-plugins"
GROUPS = "podgroups.scheduling.x-k8s.io"
OURS = MANIFESTS / "crds/podgroups.yaml"


def published():
    """The file of the CRD in the cache of Go modules."""
    version = next(line.split()[-1] for line in (MODULE / "go.mod").read_text().splitlines() if PLUGINS in line)
    done = subprocess.run(["go", "mod", "download", "-json", f"{PLUGINS}@{version}"], cwd=MODULE, capture_output=True, text=True)
    expect(done.returncode == 0, f"the module {PLUGINS}@{version} cannot be had: {done.stderr}{done.stdout}")
    return pathlib.Path(json.loads(done.stdout)["Dir"]) / "manifests/coscheduling/crd.yaml"


def drops_our_fields(s):
    """The server serves a changed CRD a moment after it has accepted it."""
    probe = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "probe"}, "spec": {"minMember": 1, "queue": "x"}}
    stored = s.kubectl("create", "--dry-run=server", "--validate=false", "-o", "json", "-f", "-", stdin=json.dumps(probe))
    return "queue" not in json.loads(stored)["spec"]


@contextlib.contextmanager
def crd_of_scheduler_plugins(s):
    s.cluster.kubectl("replace", "-f", str(published()))
    try:
        wait_until(lambda: drops_our_fields(s), "the server drops what is not in that schema")
        yield
    finally:
        s.cluster.kubectl("delete", GROUPS, "--all", "--all-namespaces", "--wait=false")
        wait_until(lambda: s.cluster.kubectl.list(GROUPS, "--all-namespaces") == [], "no group is left", seconds=60)
        s.cluster.kubectl("replace", "-f", str(OURS))
        wait_until(lambda: not drops_our_fields(s), "the server keeps what is in our schema")


def annotation(s, name, key):
    return ((s.group(name) or {}).get("metadata", {}).get("annotations") or {}).get(KEY + key, "")


def placement(s, name):
    return json.loads(annotation(s, name, "placement") or "{}").get("placement", {})


def condition(s, name, kind):
    found = json.loads(annotation(s, name, "queue-status") or "{}").get("conditions", [])
    return next((c for c in found if c["type"] == kind), {})


def says(s, name, words):
    return annotation(s, name, "message").startswith(words)


def expect_nothing_is_written(s, seconds=3):
    """About PodGroups of the story."""
    def patches():
        return len(s.audit.events(verb="patch", resource="podgroups", namespace=s.namespace, agent=USER_AGENT))

    wait_until(lambda: patches() == (time.sleep(1), patches())[1], "the last write has been seen")
    before = patches()
    time.sleep(seconds)
    expect_equal(patches() - before, 0, "patches of PodGroups in a steady state")


def story_podgroups_of_scheduler_plugins_start_whole(s):
    """Three gated pods that need a node each: they wait for the third of them, then for a third node, and say so in annotations and in describe; they start whole, phase and counts are in the status."""
    wait_until_alone(s)
    with crd_of_scheduler_plugins(s):
        by = owner(s, "three")
        group(s, "three", 3)
        for i in range(2):
            owned_pod(s, "three", i, owner=by)
        words = "WaitingForMembers: 2 of 3 members exist; none starts before all exist, unless spec.minResources says what the rest needs"
        wait_until(lambda: annotation(s, "three", "message") == words, f"it says: {words}")
        with Cordon(s, *nodes_of(s)[2:]):
            owned_pod(s, "three", 2, owner=by)
            wait_until(lambda: condition(s, "three", "Admitted").get("reason") == "NoFit", "it waits for a third node")
            wait_until(lambda: says(s, "three", "NoFit: 2 of 3 pods fit now: 2 nodes lack cpu (short 16), 2 cordoned"), "it says so")
            expect_equal([g["name"] for p in members(s, "three").values() for g in p["spec"]["schedulingGates"]], 3 * [GATE], "gates")
            text = s.kubectl("describe", GROUPS, "three")
            for line in (f"{KEY}message:", "NoFit: 2 of 3 pods fit now: 2 nodes lack cpu (short 16), 2 cordoned", '"position":1,', "Phase:", "Pending"):
                expect(line in text, f"describe lacks {line}:\n{text}")
            s.shown.append(text)
            expect_nothing_is_written(s)
        wait_until(lambda: runs(s, "three"), "it runs")
        expect("" not in nodes(s, "three") and len(set(nodes(s, "three"))) == 3, f"nodes: {nodes(s, 'three')}")
        wait_until(lambda: placement(s, "three").get("state") == "Satisfied" and condition(s, "three", "Scheduled").get("status") == "True", "the placement is satisfied")
        status = s.group("three")["status"]
        expect_equal({k: status.get(k) for k in ("phase", "running", "succeeded", "failed", "occupiedBy")},
                     {"phase": "Running", "running": 3, "succeeded": 0, "failed": 0, "occupiedBy": f"{s.namespace}/three"}, "status")
        expect_nothing_is_written(s)
        s.shown.append(s.kubectl("describe", GROUPS, "three"))
        owned_pod(s, "three", 3, cpu="1", owner=by)
        wait_until(lambda: members(s, "three")["three-3"]["spec"].get("nodeName"), "a fourth member starts by itself")


def story_podgroups_of_scheduler_plugins_outlive_the_manager(s):
    """A manager that is killed reads from annotations what it has decided: who runs goes on with its first attempt, who waits waits, and starts when there is room; a QueueJob starts beside them."""
    wait_until_alone(s)
    with crd_of_scheduler_plugins(s):
        for name in ("red", "blue"):
            by = owner(s, name)
            group(s, name, 3)
            for i in range(3):
                owned_pod(s, name, i, owner=by)
            wait_until(lambda n=name: runs(s, n) if n == "red" else says(s, n, "InsufficientCapacity") or says(s, n, "NoFit"), f"{name} runs, or waits")
        wait_until(lambda: placement(s, "red").get("state") == "Satisfied", "red is satisfied")
        before = [placement(s, n) for n in ("red", "blue")]
        s.manager.kill()
        s.manager.start()
        s.apply(gang("own", 2, cpu="10"))
        s.wait_phase("own", "Running", running=2)
        wait_until(lambda: placement(s, "own").get("state") == "Satisfied", "the group of the job is satisfied")
        expect_equal([placement(s, n) for n in ("red", "blue")], before, "placements before and after")
        expect_equal((before[0]["attempt"], nodes(s, "blue")), (1, ["", "", ""]), "attempts of red, nodes of blue")
        expect_nothing_is_written(s)
        s.kubectl("delete", "queuejob", "own", "--wait=false")
        s.kubectl("delete", "configmap", "red", "--wait=false")  # and its pods with it
        s.kubectl("delete", "pods", "-l", "scheduling.x-k8s.io/pod-group=red", "--wait=false")
        wait_until(lambda: runs(s, "blue"), "blue runs", seconds=60)
        expect("" not in nodes(s, "blue"), "nodes of blue")
