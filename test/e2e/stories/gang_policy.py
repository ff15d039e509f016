"""Pods of other controllers get our scheduling gate from the API server (manifests/gangs), and lose it again by release-gates."""

import contextlib
import json
import re
import subprocess

from harness import KEY, MANIFESTS, expect, expect_equal, json_documents, wait_until
from stories.documents import blocks
from stories.plugin import built

GATE = KEY + "gang"
LABEL = "scheduling.x-k8s.io/pod-group"
LISTED = "scheduler-plugins-scheduler"
BINDINGS = "mutatingadmissionpolicybindings"


def pod(name, labels=None, annotations=None, owner=None, namespace=None, **spec):
    metadata = {"name": name, **({"labels": labels} if labels else {}), **({"annotations": annotations} if annotations else {}),
                **({"ownerReferences": [owner]} if owner else {}), **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}], **spec}}


def gates(*names):
    return [{"name": name} for name in names]


def owner(kind, group, controller=True):
    return {"apiVersion": group + "/v1", "kind": kind, "name": "j", "uid": "9d2f0c1e-0000-4000-8000-000000000000", "controller": controller}


DEFAULT = "default-scheduler"
TWICE = {"name": "main", "image": "busybox:1.36", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}  # legal
# (pod, its schedulerName, its gates), as the API server stores it
ROWS = [
    (pod("plain"), DEFAULT, []),
    (pod("plain-with-gate", schedulingGates=gates("example.com/x")), DEFAULT, ["example.com/x"]),
    (pod("label", {LABEL: "g"}), DEFAULT, [GATE]),
    (pod("old-label", {"pod-group.scheduling.sigs.k8s.io": "g"}), DEFAULT, [GATE]),
    (pod("name-label", {"pod-group.scheduling.sigs.k8s.io/name": "g"}), DEFAULT, [GATE]),
    (pod("gang-annotation", annotations={"gang.scheduling.koordinator.sh/name": "g"}), DEFAULT, [GATE]),
    (pod("group-annotation", annotations={"scheduling.k8s.io/group-name": "g"}), DEFAULT, [GATE]),
    (pod("empty-label", {LABEL: ""}), DEFAULT, []),
    (pod("empty-label-and-annotation", {LABEL: ""}, {"scheduling.k8s.io/group-name": "g"}), DEFAULT, [GATE]),
    (pod("annotation-that-is-no-name", annotations={"gang.scheduling.koordinator.sh/name": "a/b", "scheduling.k8s.io/group-name": "g"}), DEFAULT, []),
    (pod("annotation-beyond-a-name", annotations={"scheduling.k8s.io/group-name": 254 * "g"}), DEFAULT, []),
    (pod("label-before-annotation", {LABEL: "g"}, {"gang.scheduling.koordinator.sh/name": "a/b"}), DEFAULT, [GATE]),
    (pod("listed-scheduler", schedulerName=LISTED), DEFAULT, []),
    (pod("listed-scheduler-and-label", {LABEL: "g"}, schedulerName=LISTED), DEFAULT, [GATE]),
    (pod("other-scheduler-and-label", {LABEL: "g"}, schedulerName="volcano"), "volcano", []),
    (pod("node", {LABEL: "g"}, nodeName="node-0"), DEFAULT, []),
    (pod("scheduling-group", {LABEL: "g"}, schedulingGroup={"podGroupName": "g"}), DEFAULT, []),
    (pod("foreign-gates", {LABEL: "g"}, schedulingGates=gates("example.com/x", "example.com/y")), DEFAULT, ["example.com/x", "example.com/y", GATE]),
    (pod("gated", {LABEL: "g"}, schedulingGates=gates(GATE)), DEFAULT, [GATE]),
    (pod("gated-and-foreign", {LABEL: "g"}, schedulingGates=gates(GATE, "example.com/x")), DEFAULT, [GATE, "example.com/x"]),
    (pod("variable-twice", {LABEL: "g"}, containers=[TWICE]), DEFAULT, [GATE]),
    (pod("of-a-job", {LABEL: "g"}, owner=owner("Job", "batch")), DEFAULT, [GATE]),
    (pod("of-a-queuejob", {LABEL: "g"}, owner=owner("QueueJob", "kube-arbitrator.io")), DEFAULT, []),
    (pod("of-a-queuejob-of-a-listed-scheduler", {LABEL: "g"}, owner=owner("QueueJob", "kube-arbitrator.io"), schedulerName=LISTED), LISTED, []),
    (pod("of-another-queuejob", {LABEL: "g"}, owner=owner("QueueJob", "example.com")), DEFAULT, [GATE]),
    (pod("not-controlled-by-a-queuejob", {LABEL: "g"}, owner=owner("QueueJob", "kube-arbitrator.io", False)), DEFAULT, [GATE]),
    (pod("in-kube-system", {LABEL: "g"}, namespace="kube-system", schedulerName=LISTED), LISTED, []),
]


def gates_of(made):
    return [gate["name"] for gate in made["spec"].get("schedulingGates", [])]


def stored(s, *pods):
    """What the API server would store."""
    objects = [{**p, "metadata": {"namespace": s.namespace, **p["metadata"]}} for p in pods]
    return json_documents(s.cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-",
                                            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})))


@contextlib.contextmanager
def policy(s):
    """manifests/gangs as shipped; it takes a moment to be in force."""
    s.cluster.kubectl("apply", "--server-side", "-k", str(MANIFESTS / "gangs"))
    try:
        wait_until(lambda: gates_of(stored(s, ROWS[2][0])[0]), "the policy is in force")
        yield
    finally:
        s.cluster.kubectl("delete", "--ignore-not-found", "-k", str(MANIFESTS / "gangs"))


def expect_document_is_accepted(s):
    """The example of docs/OPERATORS.md; what becomes of it is another story."""
    example = next(text for language, text in blocks("docs/OPERATORS.md", "What to set") if language == "yaml")
    s.kubectl("create", "--dry-run=server", "-f", "-", stdin=example)


def expect_as_in_rows(s):
    got = [(p["metadata"]["name"], p["spec"]["schedulerName"], gates_of(p)) for p in stored(s, *(row[0] for row in ROWS))]
    wrong = [f"{name}: {scheduler} {have}, not {row[1:]}" for (name, scheduler, have), row in zip(got, ROWS) if (scheduler, have) != row[1:]]
    expect(not wrong and len(got) == len(ROWS), "pods that are stored otherwise:\n" + "\n".join(wrong))


def template(name):
    made = pod("x", {"app": name, LABEL: "nobody"})
    return {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}


def workloads():
    """The label is one line of the template. No PodGroup has the name, so nobody releases the pods."""
    return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
             "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template("web")}},
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "batch"},
             "spec": {"parallelism": 2, "completions": 2, "template": {**template("batch"), "spec": {**template("batch")["spec"], "restartPolicy": "Never"}}}}]


def of(s, name):
    return s.kubectl.list("pods", "-l", f"app={name}")


def expect_gated(s, name):
    made = wait_until(lambda: len(of(s, name)) == 2 and of(s, name), f"the pods of {name} are there")
    expect_equal([gates_of(p) for p in made], [[GATE], [GATE]], f"gates of the pods of {name}")


def release_gates(s, *args, kubeconfig=None):
    """(exit status, stdout, stderr)"""
    done = subprocess.run([built(s) / "kubectl-qj", "release-gates", "--kubeconfig", str(kubeconfig or s.cluster.kubeconfig), *args],
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def account(s, *objects):
    """A kubeconfig of a ServiceAccount with these roles, of which all that is bound has its name."""
    name = f"uninstaller-{s.namespace}"
    s.kubectl("create", "serviceaccount", name)
    file = s.cluster.dir / f"{name}.kubeconfig"
    file.write_text(s.cluster.token_kubeconfig(s.namespace, name))
    file.chmod(0o600)
    return name, file


def story_gang_policy(s):
    """With manifests/gangs pods that name a PodGroup are gated, also those of a Deployment and a Job; release-gates, with the rights that its document names, ends that."""
    role = next(text for language, text in blocks("docs/USING.md", "Uninstall") if language == "yaml")
    name, kubeconfig = account(s)
    with policy(s):
        expect_as_in_rows(s)
        expect_document_is_accepted(s)
        for obj in workloads():
            s.apply(obj)
        expect_gated(s, "web")
        expect_gated(s, "batch")
        s.cluster.kubectl("label", "namespace", s.namespace, f"{KEY}gang=disabled")
        left_alone = pod("disabled", {LABEL: "g"}, schedulerName=LISTED)
        wait_until(lambda: [(p["spec"]["schedulerName"], gates_of(p)) for p in stored(s, left_alone)] == [(LISTED, [])], "the namespace is left alone")
        s.cluster.kubectl("label", "namespace", s.namespace, f"{KEY}gang-")
        wait_until(lambda: gates_of(stored(s, left_alone)[0]), "the namespace is not left alone any more")
        status, out, said = release_gates(s, kubeconfig=kubeconfig)
        expect_equal((status, out), (1, ""), "exit status and output without rights")
        expect(re.match(r"error: cannot delete .*forbidden.*docs/USING\.md", said), f"it says what is missing: {said}")
        s.apply(role)
        s.cluster.kubectl("create", "clusterrolebinding", name, "--clusterrole=kar-release-gates", f"--serviceaccount={s.namespace}:{name}")
        try:
            can = ("auth", "can-i", "deletecollection", f"{BINDINGS}.admissionregistration.k8s.io", "--as", f"system:serviceaccount:{s.namespace}:{name}")
            wait_until(lambda: s.kubectl(*can, check=False)[0] == 0, "the role is in force")
            status, out, said = release_gates(s, kubeconfig=kubeconfig)
            expect_equal((status, said), (0, ""), f"exit status and errors with the rights that are documented; it says {out}")
            expect_equal(out.splitlines()[0], "Deleted MutatingAdmissionPolicyBinding kar-controllers-gangs", "its first line")
            expect("Pods released: 4; none has the gate" in out, f"its last line: {out}")
        finally:
            s.cluster.kubectl("delete", "clusterrolebinding", name)
            s.cluster.kubectl("delete", "clusterrole", "kar-release-gates")
        expect_equal(s.cluster.kubectl.list(BINDINGS), [], "bindings that are left")
        expect_equal([gates_of(p) for p in of(s, "web") + of(s, "batch")], 4 * [[]], "gates of the pods of web and batch")
        s.kubectl("wait", "--for=condition=Available", "--timeout=60s", "deployment/web")
        s.kubectl("rollout", "restart", "deployment/web")
        s.kubectl("rollout", "status", "--timeout=60s", "deployment/web")


def story_release_gates(s):
    """More pods than are released at a time: each loses our gate, keeps those of others, and runs if it has no other."""
    pods = [pod(f"p{i}", schedulingGates=gates(GATE)) for i in range(100)] + [pod("foreign", schedulingGates=gates("example.com/x", GATE))]
    s.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    status, out, said = release_gates(s, "--namespace", s.namespace)
    expect_equal((status, said), (0, ""), f"exit status and errors; it says {out}")
    expect_equal(out.splitlines()[-1], f"Pods released: 101; none in namespace {s.namespace} has the gate {GATE} any more", "its last line")
    left = {p["metadata"]["name"]: gates_of(p) for p in s.kubectl.list("pods")}
    expect_equal({n: g for n, g in left.items() if g}, {"foreign": ["example.com/x"]}, "gates that are left")
    wait_until(lambda: sum(p["status"].get("phase") == "Running" for p in s.kubectl.list("pods")) == 100, "all others run", 60)
    nowhere = s.cluster.dir / f"nowhere-{s.namespace}"
    nowhere.write_text(re.sub(r"server: \S+", "server: https://127.0.0.1:1", s.cluster.kubeconfig.read_text()))
    status, out, said = release_gates(s, "--namespace", s.namespace, kubeconfig=nowhere)
    expect_equal((status, out), (1, ""), "exit status and output without an API server")
    expect("cannot read the pods" in said and "check --kubeconfig" in said, f"it says what to check: {said}")
