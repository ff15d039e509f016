"""Volumes: the PersistentVolumeClaims of a gang are looked up before it is planned. Volumes are plain objects here: kubelets of the cluster
mount nothing, and the volume controller binds a claim to the volume that it names. The simulated cluster has none: the story does that."""

import contextlib

from harness import expect, expect_equal, wait_until
from stories.nodes import expect_no_pod_was_made, gang, nodes_of, pin_of, wait_until_alone
from stories.preemption import queue as preempting


@contextlib.contextmanager
def volume(s, name="data", node=None, bind=True):
    """A volume of a shared file system, or of the disk of a node, and the claim that has it, unless it is not made."""
    full = f"{s.namespace}-{name}"
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "",
            "claimRef": {"namespace": s.namespace, "name": name}}
    if node:
        spec |= {"local": {"path": "/data"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}
    else:
        spec["nfs"] = {"server": "files.example.com", "path": "/"}
    s.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": full}, "spec": spec})
    try:
        if bind:
            claim(s, name, storageClassName="", volumeName=full)
            if s.cluster.simulated:
                s.kubectl("patch", "persistentvolumeclaim", name, "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Bound"}}')
            wait_until(lambda: s.kubectl.get("persistentvolumeclaims", name)["status"].get("phase") == "Bound", f"claim {name} is bound", seconds=30)
        yield
    finally:
        s.cluster.kubectl("delete", "persistentvolume", full, "--wait=false")


def claim(s, name="data", **spec):
    s.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": s.namespace},
             "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, **spec}})


def using(name, claimed="data", **kinds):
    made = gang(name, **kinds)
    made["spec"]["taskSpecs"][0]["template"]["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claimed}}]
    return made


def story_gang_on_a_shared_file_system_is_as_any_other(s):
    """Its pods are pinned to their places, and a gang of lower priority goes for it. It may name kar-scheduler."""
    wait_until_alone(s)
    with volume(s):
        name = preempting(s)
        s.apply(gang("low", replicas=4, sched={"priority": 1}, queue=name))
        s.wait_phase("low", "Running", running=4)
        s.apply(using("high", replicas=3, sched={"priority": 10}, queue=name))
        s.wait_phase("high", "Running", running=3, seconds=60)
        expect(all(pin_of(p) for p in s.pods("high").values()), "each pod is pinned to its place")
        s.kubectl("delete", "queuejob", "high", "low", "--wait=true", "--cascade=foreground")
        s.apply(using("bound", replicas=2, schedulerName="kar-scheduler"))
        s.wait_phase("bound", "Running", running=2)


def story_volume_of_a_node_decides_where_its_pods_are(s):
    """Both pods go to the node of the disk, and two that are too large for it are Infeasible, whatever other nodes have."""
    wait_until_alone(s)
    node = nodes_of(s)[-1]
    with volume(s, node=node):
        s.apply(using("local", replicas=2, cpu="20"))
        s.wait_phase("local", "Running", running=2)
        expect_equal({p["spec"]["nodeName"] for p in s.pods("local").values()}, {node}, "nodes of the pods")
        s.apply(using("large", replicas=2, cpu="40"))
        status = s.wait_phase("large", "Pending", reason="Infeasible")
        expect("3 excluded" in status["message"], status["message"])
        expect_no_pod_was_made(s, "large")


def story_claim_without_a_volume_is_named(s):
    """One that does not exist, and one that nobody serves: no pod is made for them. The job starts when there is a volume."""
    s.apply(using("early", replicas=1, cpu="1"))
    status = s.wait_phase("early", "Pending", reason="VolumePending")
    expect_equal(status["message"], "PersistentVolumeClaim data does not exist", "what is said before there is a claim")
    s.apply({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": s.namespace}, "provisioner": "nobody.example.com"})
    try:
        claim(s, "never", storageClassName=s.namespace)
        s.apply(using("unbound", "never", replicas=1, cpu="1"))
        status = s.wait_phase("unbound", "Pending", reason="VolumePending")
        expect_equal(status["message"], "PersistentVolumeClaim never is not bound", "what is said of a claim that nobody serves")
        expect_no_pod_was_made(s, "unbound")
        with volume(s):
            s.wait_phase("early", "Running", running=1)
    finally:
        s.cluster.kubectl("delete", "storageclass", s.namespace)
