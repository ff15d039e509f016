"""volcano-sh/volcano#4383, #2843: a claim that no provisioner serves: pods wait, and their group is called Running.

Input: a StorageClass whose provisioner does not exist; a gang of 2 with a time-out of 10 s, one of whose tasks mounts such a claim.
Expected: neither job nor group is ever Running; no part of it holds a node for longer than the time-out; the message helps."""

import time

from words import bound, here, nodes
from harness import expect, queuejob, task

REAL = "the simulated scheduler knows no volumes"


def case(s):
    s.apply({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "field21"}, "provisioner": "field.example/none",
             "volumeBindingMode": "WaitForFirstConsumer"})
    s.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": {
        "storageClassName": "field21", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    with nodes(s, 1, cpu="16"):
        job = here(s, queuejob("vol", task("reader", 1), task("other", 1), sched={"scheduleTimeoutSeconds": 10}))
        reader = job["spec"]["taskSpecs"][0]["template"]["spec"]
        reader["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
        reader["containers"][0]["volumeMounts"] = [{"name": "d", "mountPath": "/d"}]
        s.apply(job)
        end, held, longest, said = time.monotonic() + 30, None, 0, set()
        while time.monotonic() < end:
            expect((s.group("vol") or {}).get("status", {}).get("phase") != "Running" and s.status("vol").get("phase") != "Running", "it does not run")
            held = (held or time.monotonic()) if bound(s) else None
            longest = max(longest, time.monotonic() - held if held else 0)
            said.add(s.status("vol").get("message", ""))
            time.sleep(0.2)
    s.cluster.kubectl("delete", "storageclass", "field21", "--wait=false")
    expect(longest <= 16, f"a part of it held a node for {longest:.0f} s")
    expect(any("volume" in text or "vol-reader-0" in text for text in said), f"it names the volume, or the pod that has none: {said}")
