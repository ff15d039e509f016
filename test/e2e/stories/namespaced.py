"""manifests/namespaced: a manager for one namespace, which has no right in any other."""

import contextlib
import json
import subprocess

from harness import KEY, MANIFESTS, Manager, expect, expect_equal, json_documents, queuejob, task, wait_until
from stories.rbac import expect_nothing_refused

CLUSTER_SCOPED = {"nodes", "queues", "queues/status", "priorityclasses", "namespaces", "tokenreviews", "subjectaccessreviews"}


def rendered(s):
    """The objects of manifests/namespaced for the namespace of the story."""
    done = subprocess.run(["kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone", str(MANIFESTS / "namespaced")],
                          capture_output=True, text=True, check=True)
    return json_documents(s.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-",
                                            stdin=done.stdout.replace("team-a", s.namespace)))


@contextlib.contextmanager
def installed(s):
    """Everything but the Deployment, whose ServiceAccount and flags the manager gets that runs here, alone."""
    objects = rendered(s)
    deployment = next(o for o in objects if o["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    s.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                      stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [o for o in objects if o["kind"] != "Deployment"]}))
    s.cluster.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-", stdin=json.dumps(deployment))
    account = pod["serviceAccountName"]
    manager = Manager(s.manager.command[0], s.cluster.account_kubeconfig(account), s.cluster.dir / f"log/{account}.log")
    s.manager.stop()
    try:
        manager.start(*pod["containers"][0]["args"], "--leader-elect-resource-namespace=kar-system")
        yield f"system:serviceaccount:kar-system:{account}"
        manager.stop()
    finally:
        if manager.alive():
            manager.kill()
        own = account.replace("controllers-", "controllers-namespace-")
        s.cluster.kubectl("delete", "clusterrolebinding", account, own)
        s.cluster.kubectl("delete", "clusterrole", own)
        s.manager.start()


# A manager that does not see all nodes places nothing: it counts no devices, reads no volumes, binds and evicts no pod, takes no start back, and asks Kubernetes for no PodGroup.
PLACING = (["resource.k8s.io"], ["deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates"]), ([""], ["persistentvolumeclaims", "persistentvolumes"]), (["storage.k8s.io"], ["storageclasses", "csidrivers"]), (["kube-arbitrator.io"], ["topologies"]), (["kube-arbitrator.io"], ["flavors"]), (["kube-arbitrator.io"], ["topologies/status"]), (["kube-arbitrator.io"], ["flavors/status"]), \
    ([""], ["pods/binding"]), ([""], ["pods/eviction"]), ([""], ["pods/status"]), (["scheduling.k8s.io"], ["podgroups"])


def sorted_rules(rules):
    return sorted((r["apiGroups"], r["resources"], r["verbs"]) for r in rules
                  if not CLUSTER_SCOPED & set(r["resources"]) and (r["apiGroups"], r["resources"]) not in PLACING)


def story_namespaced_manager_needs_no_more(s):
    """With a Role in one namespace and reading nodes, queues and classes, jobs there go through all of their life; nothing is refused, nothing else touched."""
    own, whole = s.kubectl.get("role", "kar-controllers"), s.cluster.kubectl.get("clusterrole", "kar-controllers")
    expect(own is None, "the Role is not there yet")
    elsewhere = s.cluster.kubectl_for("default")
    with installed(s) as user:
        own = s.kubectl.get("role", "kar-controllers")
        expect_equal([r for r in own["rules"] if r["resources"] == ["namespaces"]],
                     [{"apiGroups": [""], "resources": ["namespaces"], "resourceNames": [s.namespace], "verbs": ["get"]}], "rule for the namespace itself")
        of_objects = [r for r in own["rules"] if r["resources"] != ["namespaces"]]
        expect_equal(sorted_rules(of_objects), sorted_rules(whole["rules"]), "other rules of the Role: those of the ClusterRole that do not place")
        elsewhere.apply(queuejob(s.namespace, task("worker", 1)))
        job = queuejob("short", task("worker", 2, outcome="succeed", after="1s"), ttlSecondsAfterFinished=5)
        job["spec"]["network"] = {"enableDNSHostnames": True}
        s.apply(job)
        s.wait_phase("short", "Running", running=2)
        expect(s.kubectl.get("service", "short"), "the headless Service of the job")
        s.wait_phase("short", "Completed", succeeded=2)
        s.apply(queuejob("gang", task("worker", 2)))
        s.wait_phase("gang", "Running", running=2)
        s.fail_pod("gang-worker-1")
        s.wait_phase("gang", "Running", 60, running=2, restarts=1)
        wait_until(lambda: any(e["reason"] == "Running" for e in s.kubectl.list("events.events.k8s.io")), "events of the jobs are there")
        s.kubectl("delete", "queuejob", "gang", "--cascade=foreground", "--timeout=60s")
        wait_until(lambda: not s.job("short") and not s.pods("short"), "the job is removed after ttlSecondsAfterFinished", 60)
        stranger = elsewhere.get("queuejobs.kube-arbitrator.io", s.namespace)
        expect_equal(stranger.get("status"), None, "status of a job in another namespace")
        elsewhere("delete", "queuejob", s.namespace)
    expect_nothing_refused(s, user)
    touched = {(e["objectRef"].get("namespace"), e["objectRef"]["resource"]) for e in s.audit.events(user=user) if e["verb"] not in ("list", "watch")}
    touched.discard(("kar-system", "leases"))
    expect_equal({ns for ns, _ in touched}, {s.namespace}, f"namespaces that it wrote to ({touched})")
    asked = {(e["objectRef"]["resource"], e["objectRef"].get("namespace")) for e in s.audit.events(user=user) if e["verb"] == "list"}
    expect_equal({r for r, ns in asked if ns != s.namespace}, {"nodes", "queues", "priorityclasses", "namespaces"}, "what it reads outside of its namespace")


def story_namespaced_manager_creates_no_queue(s):
    """A manager of one namespace creates no queue: the job says which one is missing, and runs as soon as somebody creates it."""
    job = queuejob("waits", task("worker", 1), queue=s.namespace)
    with installed(s):
        s.apply(job)
        status = s.wait_phase("waits", "Pending", reason="QueueNotFound")
        expect(s.namespace in status["message"], f"the message names the queue: {status['message']}")
        queue = {"apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}, "spec": {}}
        s.apply(queue)
        try:
            s.wait_phase("waits", "Running", running=1)
            expect_equal(s.cluster.kubectl.get("queues.kube-arbitrator.io", s.namespace).get("status"), None, "status of the queue")
        finally:
            s.kubectl("delete", "queuejob", "waits", "--cascade=foreground", "--timeout=60s")
            s.kubectl("delete", "queues.kube-arbitrator.io", s.namespace, "--wait=false")
