"""Gangs that sit together by a Topology: four nodes of 64 CPUs, two in each rack."""

import contextlib
import json

from harness import ROOT, TEST_KEY, expect, expect_equal, wait_until
from stories.members import LABEL, batch_job, group, members, owned_pod, owner, runs, said
from stories.nodes import Cordon, bound_nodes, gang, nodes_of, placement, wait_for_words, wait_until_alone
from stories.preemption import queue

RACK = "example.com/rack"


@contextlib.contextmanager
def racks(s, levels=(RACK,), names=("r1", "r1", "r2", "r2")):
    """The first two nodes are in rack r1, the others in r2, unless @names says otherwise."""
    nodes = nodes_of(s)
    for node, name in zip(nodes, names):
        s.cluster.kubectl("label", "node", node, f"{RACK}={name}")
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Topology", "metadata": {"name": s.namespace},
             "spec": {"levels": [{"nodeLabel": label} for label in levels]}})
    try:
        yield nodes[:2], nodes[2:]
    finally:
        s.cluster.kubectl("delete", "topology", s.namespace, "--wait=false")
        for node in nodes:
            s.cluster.kubectl("label", "node", node, f"{RACK}-")


def story_gang_sits_in_one_rack(s):
    """Both pods are in the rack that has room, and so is the one that replaces one of them; a gang that is larger than each rack is Infeasible."""
    wait_until_alone(s)
    with racks(s) as (first, second):
        s.apply(gang("other", replicas=1))
        s.wait_phase("other", "Running", running=1)
        taken = next(iter(bound_nodes(s, "other")))
        rack, name = (second, "r2") if taken in first else (first, "r1")
        s.apply(gang("train", replicas=2, sched={"minAvailable": 1, "topology": {"required": RACK}}))
        s.wait_phase("train", "Running", running=2)
        expect_equal(set(bound_nodes(s, "train")), set(rack), "nodes of the gang")
        expect_equal(placement(s, "train")["domains"], [{"label": RACK, "value": name, "required": True}], "its domain")
        for pod in s.pods("train").values():
            expect_equal(pod["spec"]["nodeSelector"], {RACK: name}, "node selector")
            expect_equal(pod["metadata"]["labels"]["kube-arbitrator.io/domain"], name, "label")
            expect({"name": "KAR_DOMAIN", "value": name} in pod["spec"]["containers"][0]["env"], "KAR_DOMAIN")
        lost = s.pods("train")["train-worker-1"]["metadata"]["uid"]
        s.kubectl("delete", "pod", "train-worker-1", "--wait=false")
        wait_until(lambda: s.pods("train").get("train-worker-1", {}).get("metadata", {}).get("uid", lost) != lost, "the pod is made again", seconds=60)
        s.wait_phase("train", "Running", running=2)
        expect_equal(set(bound_nodes(s, "train")), set(rack), "nodes of the gang, with the new pod")
        s.apply(gang("large", replicas=3, sched={"topology": {"required": RACK}}))
        words = f"largest {RACK} holds 2 of 3 pods on empty nodes (r1)"
        wait_for_words(s, "large", "Infeasible", words)
        expect(words in (ROOT / "docs/TOPOLOGY.md").read_text(), "the words are documented")
        s.apply(gang("apart", replicas=3, sched={"topology": {"preferred": RACK}}))
        s.kubectl("delete", "queuejob", "train", "other", "large", "--wait=true", "--cascade=foreground")
        s.wait_phase("apart", "Running", running=3)


def story_tasks_ask_for_racks_of_their_own(s):
    """Replicas of a leader and a worker are together in a rack each, and a task without a wish is anywhere; a task that no rack holds is named."""
    wait_until_alone(s)

    def job(name, tasks, **sched):
        whole = gang(name, replicas=1, sched=sched)
        template = whole["spec"]["taskSpecs"][0]["template"]
        whole["spec"]["taskSpecs"] = [{"name": task, "replicas": n, "template": template, **asks} for task, n, asks in tasks]
        return whole

    with racks(s, names=("r1", "r2", "r2", "r1")) as _:
        n = nodes_of(s)
        s.apply(job("train", [("leader-0", 1, {"topologyGroup": "a", "topology": {"required": RACK}}), ("worker-0", 1, {"topologyGroup": "a"}),
                              ("leader-1", 1, {"topologyGroup": "b"}), ("worker-1", 1, {"topologyGroup": "b", "topology": {"required": RACK}})],
                    topology={"required": RACK}))
        s.wait_phase("train", "Running", running=4)
        for k, there in (("0", {n[0], n[3]}), ("1", {n[1], n[2]})):
            pods = [p for name, p in s.pods("train").items() if name.startswith((f"train-leader-{k}", f"train-worker-{k}"))]
            expect_equal({p["spec"]["nodeName"] for p in pods}, there, f"nodes of group {k}")
            expect_equal([p["spec"]["nodeSelector"] for p in pods], [{RACK: "r1" if k == "0" else "r2"}] * 2, "node selectors")
        expect_equal([(d["role"], d["value"]) for d in placement(s, "train")["domains"]],
                     [("leader-0", "r1"), ("worker-0", "r1"), ("leader-1", "r2"), ("worker-1", "r2")], "domains by role")
        more = [{"op": "replace", "path": f"/spec/taskSpecs/{i}/template/spec/containers/0/resources/requests/cpu", "value": "50"} for i in range(4)]
        s.kubectl("patch", "queuejob", "train", "--type=json", "-p", json.dumps(more))
        s.wait_phase("train", "Running", 60, running=4, incarnation=2)
        expect_equal(len(set(p["spec"]["nodeName"] for p in s.pods("train").values())), 4, "nodes of the pods with the edited templates")
        s.kubectl("delete", "queuejob", "train", "--wait=true", "--cascade=foreground")
        s.apply(job("large", [("ps", 1, {}), ("worker", 3, {"topology": {"required": RACK}})]))
        words = f"3 of 4 pods fit on empty nodes: worker: largest {RACK} holds 2 of 3 pods on empty nodes (r1)"
        wait_for_words(s, "large", "Infeasible", words)
        expect(words in (ROOT / "docs/TOPOLOGY.md").read_text(), "the words are documented")


def story_tasks_of_one_group_ask_for_one_topology(s):
    """The API server refuses a job of which two tasks of a group ask for different things."""
    whole = gang("train", replicas=1)
    template = whole["spec"]["taskSpecs"][0]["template"]
    for wish, refused in (("a", False), ("b", True)):
        whole["spec"]["taskSpecs"] = [{"name": f"t{i}", "template": template, "topologyGroup": "g", "topology": {"required": label}}
                                      for i, label in enumerate(["a", wish])]
        status, said = s.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(whole), check=False)
        expect_equal(status != 0, refused, f"refused: {said}")
        expect(not refused or "tasks of one topologyGroup ask for one topology" in said, f"it says why: {said}")


def story_slices_sit_in_racks_by_rank(s):
    """Every two pods of a QueueJob by rank are in one rack, in the order of racks and not of names; more slices than the racks hold are Infeasible."""
    wait_until_alone(s)
    with racks(s, names=("r2", "r1", "r2", "r1")):
        n = nodes_of(s)
        order = [n[1], n[3], n[0], n[2]]
        s.apply(gang("train", replicas=4, sched={"topology": {"slices": [{"size": 2, "required": RACK}]}}))
        s.wait_phase("train", "Running", running=4)
        expect_equal([s.pods("train")[f"train-worker-{i}"]["spec"]["nodeName"] for i in range(4)], order, "nodes by rank")
        s.kubectl("delete", "queuejob", "train", "--wait=true", "--cascade=foreground")
        s.apply(gang("large", replicas=6, sched={"topology": {"slices": [{"size": 2, "required": RACK}]}}))
        wait_for_words(s, "large", "Infeasible", f"4 of 6 pods fit on empty nodes: each 2 in one {RACK}: 4 nodes lack cpu (short 32)")


def story_slices_of_a_batch_job(s):
    """Every two pods of an indexed batch Job with the annotations of Kueue, and our label, are in one rack by their index."""
    wait_until_alone(s)
    with racks(s, names=("r2", "r1", "r2", "r1")):
        n = nodes_of(s)
        group(s, "b", 4)
        batch_job(s, "b", 4, annotations={"kueue.x-k8s.io/podset-slice-required-topology": RACK, "kueue.x-k8s.io/podset-slice-size": "2"}, completionMode="Indexed")
        wait_until(lambda: len(members(s, "b")) == 4 and runs(s, "b"), "b runs", seconds=60)
        index = "batch.kubernetes.io/job-completion-index"
        nodes = {int(p["metadata"]["labels"][index]): p["spec"]["nodeName"] for p in members(s, "b").values()}
        expect_equal([nodes[i] for i in range(4)], [n[1], n[3], n[0], n[2]], "nodes by index")


def story_rack_is_freed_where_fewest_pods_go(s):
    """For a gang that must be in one rack the job with one pod goes, and not the younger one with two in the other rack."""
    wait_until_alone(s)
    name = queue(s)
    with racks(s) as (first, _):
        for job, pods, rack in (("one", 1, "r1"), ("two", 2, "r2")):
            s.apply(gang(job, replicas=pods, sched={"priority": 1, "nodeSelector": {RACK: rack}}, queue=name))
            s.wait_phase(job, "Running", running=pods)
        uids = s.uids("two")
        s.apply(gang("high", replicas=2, sched={"priority": 10, "topology": {"required": RACK}}, queue=name))
        s.wait_phase("high", "Running", running=2, seconds=60)
        expect_equal(set(bound_nodes(s, "high")), set(first), "nodes of the gang")
        expect_equal(s.uids("two"), uids, "pods of the job that stays")
        s.kubectl("delete", "queuejob", "--all", "--wait=true", "--cascade=foreground")


def warned(s, reason):
    return [e["message"] for e in s.kubectl.list("events") if e["reason"] == reason]


def evict(s, pod):
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": s.namespace}}
    s.kubectl("create", "--raw", f"/api/v1/namespaces/{s.namespace}/pods/{pod}/eviction", "-f", "-", stdin=json.dumps(eviction))


def loses_its_rack(s, nodes, places):
    """@places() is {node: ...} of a gang that runs. One of its two pods goes, and nobody may use its node."""
    node = sorted(places())[0]
    other = set(nodes) - {n for n in nodes if s.cluster.kubectl.get("node", n)["metadata"]["labels"][RACK] == s.cluster.kubectl.get("node", node)["metadata"]["labels"][RACK]}
    with Cordon(s, node):
        for pod in s.kubectl.list("pods"):
            if pod["spec"].get("nodeName") == node:
                evict(s, pod["metadata"]["name"])
        wait_until(lambda: set(places()) == other, f"it runs in the other rack, on {other}", seconds=120)
    return node


def story_rack_is_lost(s):
    """The rack has no room any more for a pod that replaces a lost one: after half a minute the whole gang starts in the other rack."""
    wait_until_alone(s)
    with racks(s):
        s.apply(gang("train", replicas=2, sched={"topology": {"required": RACK}}))
        s.wait_phase("train", "Running", running=2)
        loses_its_rack(s, nodes_of(s), lambda: bound_nodes(s, "train"))
        expect(any(f"{RACK}=r" in m and "has no room for train-worker-" in m for m in warned(s, "TopologyLost")), f"the event says so: {warned(s, 'TopologyLost')}")
        s.wait_phase("train", "Running", running=2)
        s.kubectl("delete", "queuejob", "train", "--wait=true", "--cascade=foreground")


def story_three_nodes_of_a_gang_of_512_are_lost(s):
    """Ranks of 64 nodes in one rack, eight on each. Three nodes go: their 24 pods are made again on the spare nodes of the rack, 488 pods stay as they are."""
    wait_until_alone(s)
    names = [f"seat-{i:02}" for i in range(67)]

    def where():
        return {name: pod["spec"].get("nodeName") for name, pod in s.pods("train").items() if pod["status"].get("phase") == "Running"}

    with racks(s, names=("small",) * 4):
        s.cluster.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": n, "labels": {RACK: "large", "kubernetes.io/hostname": n}}} for n in names]}))
        try:
            wait_until(lambda: all(s.cluster.kubectl.get("node", n).get("status", {}).get("allocatable") for n in names), "the nodes are ready", 60)
            s.apply(gang("train", replicas=512, cpu="8", sched={"minAvailable": 488, "topology": {"required": RACK}}))
            s.wait_phase("train", "Running", 120, running=512)
            before, uids = where(), s.uids("train")
            expect(set(before.values()) <= set(names), "all are in the large rack")
            lost = sorted(set(before.values()))[10:13]
            gone = {name for name, node in before.items() if node in lost}
            expect_equal(len(gone), 24, "pods on three nodes")
            s.cluster.kubectl("delete", "node", *lost)
            wait_until(lambda: len(where()) == 512 and not set(where().values()) & set(lost), "all run again", 120)
            after, now = where(), s.uids("train")
            expect(set(after.values()) <= set(names), "all are in the large rack again")
            expect_equal({name for name in now if now[name] != uids[name]}, gone, "pods that were made again")
            expect_equal({name: node for name, node in after.items() if name not in gone}, {name: node for name, node in before.items() if name not in gone}, "places of the others")
            expect_equal(s.status("train")["restarts"], 0, "restarts of the gang")
            s.kubectl("delete", "queuejob", "train", "--wait=true", "--cascade=foreground")
        finally:
            s.cluster.kubectl("delete", "node", *names, "--ignore-not-found", "--wait=false")


def story_rack_of_a_batch_job_is_lost(s):
    """The same of pods of another controller, which makes them again."""
    wait_until_alone(s)
    with racks(s):
        group(s, "b", 2, topology={"required": RACK})
        batch_job(s, "b", 2)
        racks_of(s, "b")
        loses_its_rack(s, nodes_of(s), lambda: {p["spec"].get("nodeName"): 1 for p in members(s, "b").values() if p["status"].get("phase") == "Running"})
        expect(any(f"{RACK}=r" in m and "has no room for b-" in m for m in warned(s, "TopologyLost")), f"the event says so: {warned(s, 'TopologyLost')}")


def story_labels_of_a_rack_are_changed(s):
    """The gang says so, nothing is stopped, and it says so no more when the label is there again."""
    wait_until_alone(s)
    with racks(s) as (first, second):
        s.apply(gang("train", replicas=2, sched={"topology": {"required": RACK}}))
        s.wait_phase("train", "Running", running=2)
        uids, node = s.uids("train"), sorted(bound_nodes(s, "train"))[0]
        rack = s.cluster.kubectl.get("node", node)["metadata"]["labels"][RACK]
        s.cluster.kubectl("label", "node", node, f"{RACK}=r9", "--overwrite")
        words = f"labels were changed: node {node} of its pods is not in {RACK}={rack} any more; the pods stay"
        wait_until(lambda: said(s, "train", "TopologyChanged").get("message") == words, "it says so")
        expect_equal(warned(s, "TopologyChanged"), [words], "events")
        s.cluster.kubectl("label", "node", node, f"{RACK}={rack}", "--overwrite")
        wait_until(lambda: said(s, "train", "TopologyChanged").get("status") == "False", "it says so no more")
        expect_equal(s.uids("train"), uids, "pods")
        s.kubectl("delete", "queuejob", "train", "--wait=true", "--cascade=foreground")


def story_whole_racks_are_broken_last(s):
    """Jobs that ask for nothing share one rack, so that a gang that must be in one has the other."""
    wait_until_alone(s)
    for names in (("r1", "r2", "r1", "r2"), ("r1", "r2", "r2", "r1")):
        with racks(s, (RACK, "kubernetes.io/hostname"), names=names):
            for job in ("one", "two"):
                s.apply(gang(job, replicas=1))
                s.wait_phase(job, "Running", running=1)
            used = {s.cluster.kubectl.get("node", n)["metadata"]["labels"][RACK] for job in ("one", "two") for n in bound_nodes(s, job)}
            expect_equal(len(used), 1, f"racks that are broken: {used}")
            s.apply(gang("train", replicas=2, sched={"topology": {"required": RACK}}))
            s.wait_phase("train", "Running", running=2)
            s.kubectl("delete", "queuejob", "--all", "--wait=true", "--cascade=foreground")
            wait_until(lambda: not s.kubectl.list("pods"), "all pods are gone")


def story_level_that_no_topology_has(s):
    """The job says so, and starts when the Topology is there."""
    wait_until_alone(s)
    s.apply(gang("train", replicas=2, sched={"topology": {"required": RACK}}))
    s.wait_phase("train", "Pending", reason="TopologyNotFound", message=f"no Topology has the level {RACK}")
    with racks(s, (RACK, "kubernetes.io/hostname")):
        s.wait_phase("train", "Running", running=2)
        s.kubectl("delete", "queuejob", "train", "--wait=true", "--cascade=foreground")


def story_members_sit_in_one_rack(s):
    """The pods of a batch Job whose PodGroup asks for a rack are all there, and so is the one that comes later."""
    wait_until_alone(s)
    with racks(s):
        group(s, "b", 2, topology={"required": RACK})
        batch_job(s, "b", 2)
        wait_until(lambda: sum(p["status"].get("phase") == "Running" for p in members(s, "b").values()) == 2, "both run", seconds=60)
        nodes = {p["spec"]["nodeName"] for p in members(s, "b").values()}
        rack = {s.cluster.kubectl.get("node", n)["metadata"]["labels"][RACK] for n in nodes}
        expect_equal(len(rack), 1, f"racks of {nodes}")
        for pod in members(s, "b").values():
            expect_equal(pod["spec"]["nodeSelector"], {RACK: rack.copy().pop()}, "node selector")
        gone = next(iter(members(s, "b")))
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": gone, "namespace": s.namespace}}
        s.kubectl("create", "--raw", f"/api/v1/namespaces/{s.namespace}/pods/{gone}/eviction", "-f", "-", stdin=json.dumps(eviction))
        wait_until(lambda: gone not in members(s, "b") and sum(p["status"].get("phase") == "Running" for p in members(s, "b").values()) == 2, "another one runs in its stead", seconds=60)
        expect_equal({s.cluster.kubectl.get("node", p["spec"]["nodeName"])["metadata"]["labels"][RACK] for p in members(s, "b").values()}, rack, "rack of the one that came later")


KUEUE = "kueue.x-k8s.io/podset-required-topology"


def racks_of(s, name):
    """The racks in which the members of a group have nodes, once all have one."""
    wait_until(lambda: runs(s, name), f"{name} runs", seconds=60)
    return {s.cluster.kubectl.get("node", p["spec"]["nodeName"])["metadata"]["labels"].get(RACK) for p in members(s, name).values()}


def pods(s, name, *levels):
    by = owner(s, name)
    group(s, name, len(levels))
    for i, level in enumerate(levels):
        owned_pod(s, name, i, owner=by, annotations={KUEUE: level} if level else None)


def ignores(s, name, why):
    wait_until(lambda: said(s, name, "InvalidOptions").get("message") == f"annotations of pods are ignored: {why}", f"it says: {why}")
    expect_equal(len([e for e in s.kubectl.list("events") if e["reason"] == "InvalidOptions" and e["involvedObject"]["name"] == name]), 1, "events")


def story_annotation_of_kueue_is_a_wish(s):
    """Pods, and the template of a QueueJob, with the annotation of Kueue are in one rack. Pods that disagree, and those that nobody has made a Topology for, run anywhere and say so."""
    wait_until_alone(s)
    pods(s, "early", RACK, RACK)
    racks_of(s, "early")
    ignores(s, "early", "they ask for a topology, and there is no Topology")
    s.kubectl("delete", "pods", "--all", "--wait=true")
    with racks(s) as (first, second):
        s.apply(gang("other", replicas=1))
        s.wait_phase("other", "Running", running=1)
        wanted, name = (second, "r2") if next(iter(bound_nodes(s, "other"))) in first else (first, "r1")
        pods(s, "together", RACK, RACK)
        expect_equal(racks_of(s, "together"), {name}, "racks")
        s.kubectl("delete", "pods", "--selector", f"{LABEL}=together", "--wait=true")
        train = gang("train", replicas=2)
        train["spec"]["taskSpecs"][0]["template"]["metadata"]["annotations"][KUEUE] = RACK
        s.apply(train)
        s.wait_phase("train", "Running", running=2)
        expect_equal(set(bound_nodes(s, "train")), set(wanted), "nodes of the job")
        s.kubectl("delete", "queuejob", "train", "other", "--wait=true", "--cascade=foreground")
        pods(s, "both", RACK, "example.com/block", RACK)
        expect_equal(racks_of(s, "both"), {"r1", "r2"}, "racks of members that disagree")
        ignores(s, "both", f"some ask for topology required example.com/block, others for required {RACK}")


def story_batch_job_with_the_annotation_of_kueue(s):
    """A batch Job with our label and the annotation of Kueue, and nothing else, is in the rack that has room for it."""
    wait_until_alone(s)
    with racks(s) as (first, _):
        s.apply(gang("other", replicas=1))
        s.wait_phase("other", "Running", running=1)
        name = "r2" if next(iter(bound_nodes(s, "other"))) in first else "r1"
        group(s, "b", 2)
        batch_job(s, "b", 2, annotations={KUEUE: RACK})
        expect_equal(racks_of(s, "b"), {name}, "racks")
        for pod in members(s, "b").values():
            expect_equal(pod["spec"]["nodeSelector"], {RACK: name}, "node selector")


def story_topology_counts_its_nodes(s):
    """The status of a Topology follows the labels of nodes, and kubectl shows it."""
    def counts(*levels):
        want = [dict(zip(("nodeLabel", "domains", "nodes", "nodesWithoutLabel", "ambiguous"), level)) for level in levels]
        wait_until(lambda: s.cluster.kubectl.get("topology", s.namespace).get("status", {}).get("levels") == want, f"the status says {want}", seconds=30)

    wait_until_alone(s)
    host = "kubernetes.io/hostname"
    with racks(s) as (first, _):
        counts((RACK, 2, 4, 0, 0))
        line = s.cluster.kubectl("get", "topology", s.namespace).splitlines()[1].split()
        expect_equal(line[1:5], [RACK, "2", "4", "True"], "columns")
        s.cluster.kubectl("label", "node", first[0], f"{RACK}-")
        counts((RACK, 2, 3, 1, 0))
        s.cluster.kubectl("patch", "topology", s.namespace, "--type=merge", "-p", json.dumps({"spec": {"levels": [{"nodeLabel": RACK}, {"nodeLabel": host}]}}))
        counts((RACK, 2, 3, 1, 0), (host, 3, 3, 1, 0))
        before = s.cluster.kubectl.get("topology", s.namespace)["metadata"]["resourceVersion"]
        s.cluster.kubectl("label", "node", first[0], f"{TEST_KEY}other=1")
        s.cluster.kubectl("label", "node", first[0], f"{TEST_KEY}other-")
        s.apply(gang("train", replicas=2, sched={"topology": {"required": RACK}}))
        s.wait_phase("train", "Running", running=2)
        expect_equal(s.cluster.kubectl.get("topology", s.namespace)["metadata"]["resourceVersion"], before, "nothing is written that is there already")


def story_levels_of_a_topology_only_grow(s):
    """The levels of a Topology cannot be changed or removed; narrower ones can be added."""
    def refused(*levels):
        patch = json.dumps({"spec": {"levels": [{"nodeLabel": label} for label in levels]}})
        status, said = s.cluster.kubectl("patch", "topology", s.namespace, "--type=merge", "-p", patch, check=False)
        expect(not status or "levels cannot be changed" in said, f"only for this reason: {said}")
        return status != 0

    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Topology", "metadata": {"name": s.namespace},
             "spec": {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "b"}]}})
    try:
        for levels in (("b", "a"), ("a",), ("b",), ("c", "a", "b"), ("a", "c", "b")):
            expect(refused(*levels), f"levels {levels} are refused")
        expect(not refused("a", "b", "c"), "a narrower level is added")
        expect(refused("a", "b"), "and stays")
    finally:
        s.cluster.kubectl("delete", "topology", s.namespace, "--wait=false")
