#!/usr/bin/env python3
"""CRDJob, an example of a job controller that uses queues and gangs without QueueJob (docs/CUSTOM-CONTROLLERS.md).

It needs the official client: pip install kubernetes. All it knows is in the API server: it can be killed at any moment."""

import queue
import threading
import time

from kubernetes import client, config, watch
from kubernetes.client import ApiException

JOBS = ("example.com", "v1")
GROUPS = ("scheduling.x-k8s.io", "v1alpha1")
SPECS = ("kube-arbitrator.io", "v1alpha1")
LABEL = "scheduling.x-k8s.io/pod-group"  # makes a pod a member of the PodGroup of this name
OVER = ("Completed", "Failed")
RESYNC_SECONDS, RETRY_SECONDS = 30, 1


def ignoring(code, call, *args, **kwargs):
    """The answer, or None if the API server answers with this code: what is wanted is there, or gone, already."""
    try:
        return call(*args, **kwargs)
    except ApiException as refused:
        if refused.status != code:
            raise
        return None


def condition(obj, kind):
    unknown = {"status": "Unknown", "message": "waiting for the queue"}
    return next((c for c in obj.get("status", {}).get("conditions", []) if c["type"] == kind), unknown)


class Job:
    """One look at a CRDJob and what belongs to it."""

    def __init__(self, namespace, name):
        self.custom, self.core, self.ns, self.name = client.CustomObjectsApi(), client.CoreV1Api(), namespace, name
        self.obj = ignoring(404, self.custom.get_namespaced_custom_object, *JOBS, namespace, "crdjobs", name)
        if not self.obj:
            return  # what belonged to it, the garbage collector removes
        self.uid, self.spec, self.status = self.obj["metadata"]["uid"], self.obj["spec"], self.obj.get("status", {})
        self.owner = [{"apiVersion": "/".join(JOBS), "kind": "CRDJob", "name": name, "uid": self.uid, "controller": True, "blockOwnerDeletion": True}]
        self.group = ignoring(404, self.custom.get_namespaced_custom_object, *GROUPS, namespace, "podgroups", name)
        members = self.core.list_namespaced_pod(namespace, label_selector=f"{LABEL}={name}").items
        self.pods = {p.metadata.name: p for p in members if any(o.uid == self.uid for o in p.metadata.owner_references or [])}

    def meta(self, name, **more):
        return {"name": name, "namespace": self.ns, "ownerReferences": self.owner, **more}

    def ask_for_a_place(self):
        """SchedulingSpec and PodGroup under the job's name; the queue looks at the PodGroup."""
        minimum = min(self.spec["minAvailable"], self.spec["replicas"])
        for api, plural, kind, spec in ((SPECS, "schedulingspecs", "SchedulingSpec", {"minAvailable": minimum}),
                                        (GROUPS, "podgroups", "PodGroup", {"minMember": minimum, "queue": self.spec["queue"]})):
            body = {"apiVersion": "/".join(api), "kind": kind, "metadata": self.meta(self.name), "spec": spec}
            ignoring(409, self.custom.create_namespaced_custom_object, *api, self.ns, plural, body)

    def create_pods(self):
        for name in (f"{self.name}-{i}" for i in range(self.spec["replicas"])):
            if name not in self.pods:
                template = self.spec["template"]
                meta = self.meta(name, labels={**template.get("metadata", {}).get("labels", {}), LABEL: self.name},
                                 annotations=template.get("metadata", {}).get("annotations", {}))
                ignoring(409, self.core.create_namespaced_pod, self.ns, {"metadata": meta, "spec": template["spec"]})

    def delete_pods(self, *phases):
        for pod in self.pods.values():
            if pod.status.phase in phases and not pod.metadata.deletion_timestamp:
                ignoring(404, self.core.delete_namespaced_pod, pod.metadata.name, self.ns)

    def write(self, phase, message="", **more):
        counts = {k: v for k, v in self.group.get("status", {}).items() if k in ("running", "succeeded")}
        new = {**self.status, **counts, "phase": phase, "message": message, **more}
        if new != self.status:  # in a steady state nothing is written
            self.custom.patch_namespaced_custom_object_status(*JOBS, self.ns, "crdjobs", self.name, {"status": new})

    def give_the_place_back(self):  # a PodGroup that is Finished takes none; deleting it touches no pod
        self.delete_pods("Pending", "Running")
        if self.group and self.group.get("status", {}).get("phase") != "Finished":
            ignoring(404, self.custom.delete_namespaced_custom_object, *GROUPS, self.ns, "podgroups", self.name)

    def reconcile(self):
        if not self.obj or "deletionTimestamp" in self.obj["metadata"]:
            return
        phase = self.status.get("phase", "Pending")
        if phase in OVER:
            self.give_the_place_back()
        elif not self.group:
            self.ask_for_a_place()
        elif not any(o["uid"] == self.uid for o in self.group["metadata"].get("ownerReferences", [])):
            self.write("Pending", f"PodGroup {self.name} belongs to somebody else")
        elif condition(self.group, "Admitted")["status"] != "True":
            self.write("Pending", condition(self.group, "Admitted")["message"])
        elif phase == "Restarting":
            self.delete_pods("Pending", "Running", "Succeeded", "Failed")
            if not self.pods and not self.group["status"]["members"]:  # nothing of the old gang is left, nor counted
                self.write("Starting")
        elif self.counts_are_known():
            self.keep_gang(phase, self.group["status"], self.status.get("restarts", 0))

    def counts_are_known(self):
        """Are the group's counts about the pods that are here? Else it will tell of them soon."""
        failed = sum(p.status.phase == "Failed" for p in self.pods.values())
        return (self.group["status"]["members"], self.group["status"]["failed"]) == (len(self.pods), failed)

    def keep_gang(self, phase, counts, restarts):
        if counts["succeeded"] >= self.spec["replicas"]:
            self.write("Completed")
        elif counts["running"] + counts["succeeded"] < self.group["spec"]["minMember"] and phase == "Running":
            again = restarts < self.spec["restartLimit"]
            self.write("Restarting" if again else "Failed", "below the quorum", restarts=restarts + again)
        else:
            reached = counts["running"] + counts["succeeded"] >= self.group["spec"]["minMember"]
            self.write("Running" if reached else "Starting")
            self.delete_pods("Failed")  # above the quorum, or before the gang has formed: replaced alone
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
