"""What cases on a cluster share."""

import json
import time

from harness import expect, queuejob, task, wait_until


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
