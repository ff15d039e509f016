"""What cases share."""

import contextlib
import json
import time

from harness import TEST_KEY, expect, queuejob, task, wait_until


def stays(holds, what, seconds=4):
    """It is so now, and for a while: nothing that could change it takes longer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        expect(holds(), f"it stays so: {what}")
        time.sleep(0.2)


def gang(name, containers=("main",), init=(), queue=None, replicas=1, sched=None, **spec):
    """A job of one task w whose pods run until they are stopped."""
    one = task("w", replicas)
    one["template"]["spec"]["containers"] = [{"name": c, "image": "busybox:1.36"} for c in containers]
    if init:
        one["template"]["spec"]["initContainers"] = [{"name": c, "image": "busybox:1.36", "restartPolicy": "Always"} for c in init]
    return queuejob(name, one, sched=sched, **({"queue": queue} if queue else {}), **spec)


@contextlib.contextmanager
def nodes(s, count, labels=None, **has):
    """Names of nodes that only jobs of here() use; @has: what each of them has."""
    names = [f"{s.namespace}-{i}" for i in range(count)]
    ready = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    has = {"memory": "64Gi", "pods": "110", **has}
    s.cluster.kubectl.apply({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": n, "labels": {"kubernetes.io/hostname": n, "case": s.namespace, **(labels or {})}},
         "spec": {"taints": [{"key": "case", "value": s.namespace, "effect": "NoSchedule"}]},
         "status": {"capacity": has, "allocatable": has, "conditions": ready}} for n in names]})
    wait_until(lambda: all(is_usable(s, n) for n in names), "the nodes are ready")
    try:
        yield names
    finally:
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")
        s.cluster.kubectl("delete", "node", *names, "--wait=false")


def is_usable(s, name):
    node = s.cluster.kubectl.get("node", name)
    keys = [t["key"] for t in node["spec"].get("taints", [])]
    return "node.kubernetes.io/not-ready" not in keys and "Ready" in [c["type"] for c in node.get("status", {}).get("conditions", []) if c["status"] == "True"]


def change_node(s, name, **allocatable):
    """As its kubelet would when it finds more or less of something."""
    s.cluster.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"allocatable": allocatable}}))


def there(s):
    """Where nodes() are, for the spec of a pod."""
    return {"nodeSelector": {"case": s.namespace}, "tolerations": [{"key": "case", "operator": "Exists"}]}


def here(s, job, **asks):
    """The job on nodes(); @asks: of each container."""
    for one in job["spec"]["taskSpecs"]:
        spec = one["template"]["spec"]
        spec.update(there(s))
        for container in spec["containers"] if asks else ():
            container["resources"] = {"requests": asks, "limits": asks}
    return job


GATE = "kube-arbitrator.io/gang"
GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


def pod(s, name, group=None, asks=None, stop_after=None, **spec):
    """One on nodes(), of no queue or a gated member of a PodGroup."""
    notes = {TEST_KEY + "outcome": "run", **({TEST_KEY + "stop-after": stop_after} if stop_after else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": notes, **({"labels": {GROUP_LABEL: group}} if group else {})},
            "spec": {**there(s), **({"schedulingGates": [{"name": GATE}]} if group else {}), **spec,
                     "containers": [{"name": "main", "image": "busybox:1.36", "resources": {"requests": asks or {}}}]}}


def pod_group(name, **spec):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def bound(s, *selector):
    return [p["metadata"]["name"] for p in s.kubectl.list("pods", *selector) if p["spec"].get("nodeName")]


def members_bound(s, group):
    return bound(s, "-l", f"{GROUP_LABEL}={group}")


def group_says(s, name):
    """The messages of its conditions, in one text."""
    return "\n".join(c.get("message", "") for c in (s.group(name) or {}).get("status", {}).get("conditions", []))


def queue(s, name, **spec):
    s.cluster.kubectl.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec})


def set_status(s, pod, **status):
    """As a kubelet would write it."""
    s.kubectl("patch", "pod", pod, "--subresource=status", "--type=strategic", "-p", json.dumps({"status": status}))


def ended(name, code, reason="Error"):
    """The status of a container that has ended a moment ago."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"name": name, "image": "x", "imageID": "", "ready": False, "started": False, "restartCount": 0,
            "state": {"terminated": {"exitCode": code, "reason": reason, "startedAt": at, "finishedAt": at}}}


def alive(name):
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"name": name, "image": "x", "imageID": "", "ready": True, "started": True, "restartCount": 0, "state": {"running": {"startedAt": at}}}


def said(s, job):
    """Reason, message and events of a job, in one text."""
    status = s.status(job)
    events = [e.get("message", "") for e in s.kubectl.list("events", "--field-selector", f"involvedObject.name={job}")]
    return "\n".join([f"{status.get('phase')}/{status.get('reason')}: {status.get('message')}", *events])


def wait_said(s, job, words):
    wait_until(lambda: words in said(s, job), f"{words!r} stands in the status or the events of {job}:\n{said(s, job)}")


def beside_a_quiet_pod(scheduler):
    """Two nodes; on n-0 runs a pod that must not be beside those with label app=noisy. A gang of two of these is submitted after a minute."""
    return f"""
until: 1h
nodes: [{{name: n, count: 2, capacity: {{cpu: "8", memory: 64Gi}}}}]
objects:
- {{apiVersion: v1, kind: Pod, metadata: {{name: quiet, namespace: default, annotations: {{test.kube-arbitrator.io/outcome: run}}}}, spec: {{
    nodeSelector: {{kubernetes.io/hostname: n-0}}, containers: [{{name: main, image: x, resources: {{requests: {{cpu: "1"}}}}}}],
    affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [
      {{labelSelector: {{matchLabels: {{app: noisy}}}}, topologyKey: kubernetes.io/hostname}}]}}}}}}}}
jobs:
- {{name: gang, at: 1m, duration: 5h, spec: {{schedulerName: {scheduler}, taskSpecs: [{{replicas: 2, template: {{metadata: {{labels: {{app: noisy}}}},
    spec: {{containers: [{{name: main, image: x, resources: {{requests: {{cpu: "1"}}}}}}]}}}}}}]}}}}
"""


def none_beside_it(run):
    beside = [p["name"] for p in run.pods("gang") if p["node"] == "n-0"]
    yield "no pod of the gang is beside the quiet one" + (f", but {beside[0]} is" if beside else ""), not beside
    yield "it runs within 30 s", run.started("gang") <= 90
