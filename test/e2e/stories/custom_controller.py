"""A job controller of somebody else (examples/crdjob) uses queues and gangs without QueueJob, with the rights it documents."""

import contextlib
import os
import pathlib
import subprocess
import sys

from harness import EXAMPLES, TEST_KEY, USER_AGENT, Failure, expect, expect_equal, wait_until

EXAMPLE = EXAMPLES / "crdjob"
CACHE = pathlib.Path(os.environ.get("KAR_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kar-controllers")
TOOLS = CACHE / "tools/venv/bin/python"  # hack/deps.sh client
LABEL = "example.com/crdjob"


def python_with_client():
    for python in (TOOLS, sys.executable):
        if pathlib.Path(python).exists() and subprocess.run([python, "-c", "import kubernetes"], capture_output=True).returncode == 0:
            return python
    raise Failure("the Python client of Kubernetes is missing: run hack/deps.sh client")


@contextlib.contextmanager
def controller_running(s):
    """The example, installed as its files say, under its ServiceAccount."""
    python = python_with_client()
    s.cluster.kubectl("apply", "-f", str(EXAMPLE / "crdjob.yaml"), "-f", str(EXAMPLE / "rbac.yaml"))
    s.cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/crdjobs.example.com")
    config = s.cluster.dir / "crdjob.kubeconfig"
    config.write_text(s.cluster.token_kubeconfig("crdjob-system", "crdjob-controller"))
    config.chmod(0o600)
    with (s.cluster.dir / "log/crdjob.log").open("w") as log:
        process = subprocess.Popen([python, "-u", EXAMPLE / "controller.py"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, "KUBECONFIG": str(config)})
    try:
        yield process
        expect_equal(process.poll(), None, "exit status of the example controller")
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def queue(s, **spec):
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}, "spec": spec})
    try:
        yield s.namespace
    finally:
        s.kubectl("delete", "queues.kube-arbitrator.io", s.namespace, "--wait=false")


def crdjob(name, in_queue, outcome="run", **spec):
    template = {"metadata": {"annotations": {TEST_KEY + "outcome": outcome}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36"}]}}
    return {"apiVersion": "example.com/v1", "kind": "CRDJob", "metadata": {"name": name},
            "spec": {"queue": in_queue, "replicas": 3, "minAvailable": 3, "template": template, **spec}}


def members(s, name):
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in s.kubectl.list("pods", "-l", f"{LABEL}={name}")}


def wait_job(s, name, phase, **fields):
    def reached():
        status = (s.kubectl.get("crdjobs.example.com", name) or {}).get("status", {})
        seen.update(status)
        return status if status.get("phase") == phase and all(status.get(k) == v for k, v in fields.items()) else None

    seen = {}
    try:
        return wait_until(reached, f"CRDJob {name} is {phase} {fields or ''}", 40)
    except Failure as failure:
        raise Failure(f"{failure}; its last status: {seen}\n{(s.cluster.dir / 'log/crdjob.log').read_text()[-2000:]}") from None


def counts(group):
    return {k: group["status"].get(k) for k in ("phase", "members", "running", "succeeded", "occupiedBy")}


def succeed(s, name):
    for pod in members(s, name):
        s.kubectl("annotate", "pod", pod, "--overwrite", TEST_KEY + "outcome=succeed")


def expect_pods_only_bound(s):
    """The manager labels and binds the pods, and frees them for that; it makes and deletes none."""
    touched = {(e["verb"], e["objectRef"].get("subresource", "")) for e in s.audit.events(resource="pods", namespace=s.namespace, agent=USER_AGENT)}
    expect_equal(touched - {(v, "") for v in ("list", "watch", "get", "patch")}, {("create", "binding")}, "what the manager did to pods of another controller")


def nodes(s, name):
    return [p["spec"].get("nodeName") for p in s.kubectl.list("pods", "-l", f"{LABEL}={name}")]


def story_custom_controller_waits_for_its_turn(s):
    """Two CRDJobs in a queue for one: the second says its position, none of its pods has a node, and it runs when the first is complete."""
    with queue(s, maxJobs=1) as name, controller_running(s):
        s.apply(crdjob("first", name))
        wait_job(s, "first", "Running", running=3)
        s.apply(crdjob("second", name))
        status = wait_job(s, "second", "Pending", message=f"queue {name} has 1 of 1 jobs; 1st of 1 in queue {name}")
        expect_equal((nodes(s, "second"), s.group("second")["status"]["position"]), ([None] * 3, 1), f"nodes of its pods, and position of {status}")
        expect_equal(counts(s.group("first")), {"phase": "Running", "members": 3, "running": 3, "succeeded": 0, "occupiedBy": f"{s.namespace}/first"},
                     "the PodGroup of the first")
        succeed(s, "first")
        wait_job(s, "first", "Completed", succeeded=3)
        wait_job(s, "second", "Running", running=3)
        expect_equal(s.group("first")["status"]["phase"], "Finished", "phase of the PodGroup of the first")
        s.kubectl("delete", "pods", "-l", f"{LABEL}=first", "--wait=false")  # e.g. the garbage collector of terminated pods
        wait_until(lambda: not members(s, "first"), "the pods of the first are gone")
        s.apply(crdjob("third", name))
        wait_job(s, "third", "Pending", message=f"queue {name} has 1 of 1 jobs; 1st of 1 in queue {name}")
        s.kubectl("delete", "crdjob", "second", "--cascade=foreground", "--timeout=30s")
        # The deletion waits for the pods alone; the garbage collector may delete the others a moment later.
        wait_until(lambda: (s.group("second"), s.scheduling_spec("second"), members(s, "second")) == (None, None, {}), "nothing is left of the second")
        wait_job(s, "third", "Running", running=3)
        expect_equal(s.group("first")["status"]["phase"], "Finished", "phase of a finished PodGroup whose pods are gone")
        expect_pods_only_bound(s)


def story_custom_controller_reads_the_quorum(s):
    """A CRDJob of four with a quorum of three: one loss is replaced, two restart the gang; at the limit it gives its place back."""
    with queue(s, maxJobs=1) as name, controller_running(s):
        s.apply(crdjob("gang", name, replicas=4, restartLimit=1))
        wait_job(s, "gang", "Running", running=4)
        before = members(s, "gang")
        s.fail_pod("gang-3")
        wait_until(lambda: members(s, "gang").get("gang-3") not in (None, before["gang-3"]), "the failed pod is replaced")
        wait_job(s, "gang", "Running", running=4)
        expect_equal({n: u for n, u in members(s, "gang").items() if n != "gang-3"}, {n: u for n, u in before.items() if n != "gang-3"}, "the other pods")
        s.kubectl("delete", "pods", "gang-0", "gang-1", "--wait=false")
        wait_job(s, "gang", "Running", running=4, restarts=1)
        expect(not set(before.values()) & set(members(s, "gang").values()), "every pod of the gang is new")
        s.kubectl("annotate", "pods", "gang-0", "gang-1", "gang-2", "--overwrite", TEST_KEY + "outcome=fail")  # at once, or each is replaced alone
        wait_job(s, "gang", "Failed", message="below the quorum")
        wait_until(lambda: not members(s, "gang"), "the pods are given back, and with them the place")
        s.apply(crdjob("next", name))
        wait_job(s, "next", "Running", running=3)
        expect_pods_only_bound(s)
