#!/usr/bin/env python3
"""CRDJob, an example of a job controller that uses queues and gangs without QueueJob (docs/CUSTOM-CONTROLLERS.md).

It needs the official client: pip install kubernetes. All it knows is in the API server: it can be killed at any moment."""

import queue
import threading
import time

from kubernetes import client, config, watch
from kubernetes.client import ApiException

JOBS = ("example.com", "v1")
SPECS = ("kube-arbitrator.io", "v1alpha1")
GROUPS = ("scheduling.x-k8s.io", "v1alpha1")
LABEL = "example.com/crdjob"  # of our own: the pods of a job are found by it
QUEUE = "kube-arbitrator.io/queue"  # of a pod: the queue in which its gang waits
SCHEDULER = "kar-scheduler"  # who is named here binds the pods of an owner with a SchedulingSpec as a whole
RESYNC_SECONDS, RETRY_SECONDS = 30, 1


def ignoring(code, call, *args, **kwargs):
    """The answer, or None if the API server answers with this code: what is wanted is there, or gone, already."""
    try:
        return call(*args, **kwargs)
    except ApiException as refused:
        if refused.status != code:
            raise
        return None


class Job:
    """One look at a CRDJob and what belongs to it."""

    def __init__(self, namespace, name):
        self.custom, self.core, self.ns, self.name = client.CustomObjectsApi(), client.CoreV1Api(), namespace, name
        self.obj = ignoring(404, self.custom.get_namespaced_custom_object, *JOBS, namespace, "crdjobs", name)
        if not self.obj:
            return  # what belonged to it, the garbage collector removes
        self.uid, self.spec, self.status = self.obj["metadata"]["uid"], self.obj["spec"], self.obj.get("status", {})
        self.owner = [{"apiVersion": "/".join(JOBS), "kind": "CRDJob", "name": name, "uid": self.uid, "controller": True, "blockOwnerDeletion": True}]
        self.minimum = min(self.spec["minAvailable"], self.spec["replicas"])
        mine = self.core.list_namespaced_pod(namespace, label_selector=f"{LABEL}={name}").items
        self.pods = {p.metadata.name: p for p in mine if any(o.uid == self.uid for o in p.metadata.owner_references or [])}

    def meta(self, name, **more):
        return {"name": name, "namespace": self.ns, "ownerReferences": self.owner, **more}

    def ask_for_a_gang(self):
        """How many of its pods must start together. Pods of the same owner that name the scheduler are that gang."""
        body = {"apiVersion": "/".join(SPECS), "kind": "SchedulingSpec", "metadata": self.meta(self.name), "spec": {"minAvailable": self.minimum}}
        ignoring(409, self.custom.create_namespaced_custom_object, *SPECS, self.ns, "schedulingspecs", body)

    def create_pods(self):
        for name in (f"{self.name}-{i}" for i in range(self.spec["replicas"])):
            if name not in self.pods:
                meta = self.spec["template"].get("metadata", {})
                labels = {**meta.get("labels", {}), LABEL: self.name, QUEUE: self.spec["queue"]}
                body = {"metadata": self.meta(name, labels=labels, annotations=meta.get("annotations", {})),
                        "spec": {**self.spec["template"]["spec"], "schedulerName": SCHEDULER}}
                ignoring(409, self.core.create_namespaced_pod, self.ns, body)

    def delete_pods(self, *phases):
        for pod in self.pods.values():
            if pod.status.phase in phases and not pod.metadata.deletion_timestamp:
                ignoring(404, self.core.delete_namespaced_pod, pod.metadata.name, self.ns)

    def count(self, phase):
        return sum(p.status.phase == phase and not p.metadata.deletion_timestamp for p in self.pods.values())

    def why_it_waits(self):
        """The words of the PodGroup that was made of the SchedulingSpec, under the same name: they are written for people."""
        group = ignoring(404, self.custom.get_namespaced_custom_object, *GROUPS, self.ns, "podgroups", self.name) or {}
        conditions = {c["type"]: c for c in group.get("status", {}).get("conditions", [])}
        waits = (conditions[t]["message"] for t in ("Admitted", "Scheduled") if conditions.get(t, {}).get("status") == "False")
        return next(waits, "")

    def write(self, phase, message="", **more):
        new = {**self.status, "running": self.count("Running"), "succeeded": self.count("Succeeded"), "phase": phase, "message": message, **more}
        if new != self.status:  # in a steady state nothing is written
            self.custom.patch_namespaced_custom_object_status(*JOBS, self.ns, "crdjobs", self.name, {"status": new})

    def reconcile(self):
        if not self.obj or "deletionTimestamp" in self.obj["metadata"]:
            return
        phase = self.status.get("phase", "Pending")
        if phase == "Failed":
            self.delete_pods("Pending", "Running", "Succeeded", "Failed")  # a gang without pods takes no place in its queue
        elif phase == "Completed":
            self.delete_pods("Pending", "Running")  # nor does one whose minimum has succeeded
        elif phase == "Restarting":
            self.delete_pods("Pending", "Running", "Succeeded", "Failed")
            if not self.pods:
                self.write("Pending")
        else:
            self.keep_gang(phase, self.count("Running") + self.count("Succeeded"), self.status.get("restarts", 0))

    def keep_gang(self, phase, up, restarts):
        if self.count("Succeeded") >= self.spec["replicas"]:
            self.write("Completed")
        elif phase == "Running" and up < self.minimum:
            again = restarts < self.spec["restartLimit"]
            self.write("Restarting" if again else "Failed", "below the quorum", restarts=restarts + again)
        else:
            self.write(*(("Running",) if up >= self.minimum else ("Pending", self.why_it_waits())))
            self.delete_pods("Failed")  # above the quorum, or before the gang has formed: replaced alone
            self.ask_for_a_gang()
            self.create_pods()


def follow(changed, lister, args, kwargs):
    while True:
        try:
            for event in watch.Watch().stream(lister, *args, timeout_seconds=RESYNC_SECONDS, **kwargs):
                meta = event["raw_object"]["metadata"]
                changed.put((meta["namespace"], meta.get("labels", {}).get(LABEL, meta["name"])))
        except Exception as error:  # the API server restarts, a version is too old: begin anew
            print(f"watch: {error}")
            time.sleep(RETRY_SECONDS)


def main():
    config.load_config()  # $KUBECONFIG, ~/.kube/config, or the ServiceAccount in a pod
    changed = queue.Queue()
    watches = [(client.CustomObjectsApi().list_cluster_custom_object, [*JOBS, "crdjobs"], {}),
               (client.CustomObjectsApi().list_cluster_custom_object, [*GROUPS, "podgroups"], {}),
               (client.CoreV1Api().list_pod_for_all_namespaces, [], {"label_selector": LABEL})]
    for lister, args, kwargs in watches:
        threading.Thread(target=follow, args=(changed, lister, args, kwargs), daemon=True).start()
    while True:
        key = changed.get()
        try:
            Job(*key).reconcile()
        except Exception as error:
            print(f"{'/'.join(key)}: {error}; trying again")
            threading.Timer(RETRY_SECONDS, changed.put, [key]).start()


main()
