"""kubectl qj uninstall, on a cluster with all that manifests/ can install."""

import subprocess

from harness import KEY, MANIFESTS, ROOT, expect, expect_equal, queuejob, task, wait_until
from stories.documents import Shell, install_again
from stories.plugin import built

OURS = ("-l", "app.kubernetes.io/name=kar-controllers")
KINDS = ("deployments,pods,serviceaccounts,roles,rolebindings,networkpolicies,clusterroles,clusterrolebindings,namespaces,customresourcedefinitions,"
         "validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingadmissionpolicies,mutatingadmissionpolicybindings")


def uninstall(s, *args, kubeconfig=None):
    """(exit status, output)"""
    done = subprocess.run([built(s) / "kubectl-qj", "uninstall", "--kubeconfig", str(kubeconfig or s.cluster.kubeconfig), *args],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180)
    return done.returncode, done.stdout


def left(s):
    return s.cluster.kubectl("get", KINDS, "--all-namespaces", *OURS, "-o", "name").split()


def install_all(s):
    """Both kinds of manager, with the pods of their Deployments, and each optional folder."""
    for folder in ("", "gangs", "network"):
        s.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(MANIFESTS / folder))
    one = s.cluster.kubectl("kustomize", "--load-restrictor", "LoadRestrictionsNone", str(MANIFESTS / "namespaced"))
    s.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=one.replace("team-a", s.namespace))

    def running():
        return [p for p in s.cluster.kubectl.list("pods", "--all-namespaces") if p["metadata"]["namespace"] == "kar-system" and p["status"]["phase"] == "Running"]

    wait_until(lambda: len(running()) >= 2, "the pods of both Deployments run", 60)


def bind_as_users_do(s):
    s.cluster.kubectl("create", "clusterrolebinding", "reads-metrics", "--clusterrole=kar-metrics-reader", "--serviceaccount=default:default")
    s.kubectl("create", "rolebinding", "edits", "--clusterrole=kar-edit", "--user=ann")


def another_project_has_podgroups(s):
    """Its type is not taken over by what the document says, nor deleted; taken over by force, it stays, without our label."""
    crd = "customresourcedefinition", "podgroups.scheduling.x-k8s.io"
    theirs = (MANIFESTS / "crds/podgroups.yaml").read_text().replace("    app.kubernetes.io/name: kar-controllers\n", "    app: cosched\n").replace(
        "shortNames: [pg, pgs]", "shortNames: [pg]").replace("  labels:\n", "  annotations: {controller-gen.kubebuilder.io/version: v0.16.5}\n  labels:\n", 1)
    install = "apply", "--server-side", "--field-manager=kar-controllers", "-k", str(MANIFESTS)
    expect(" ".join(("kubectl", *install[:-1], "manifests ")) in (ROOT / "docs/start/install.md").read_text(), "this is what the document says")

    def label():
        return s.cluster.kubectl("get", *crd, "-o", "jsonpath={.metadata.labels.app\\.kubernetes\\.io/name}")

    try:
        s.cluster.kubectl("apply", "--server-side", "-f", "-", stdin=theirs)
        status, text = s.cluster.kubectl(*install, check=False)
        expect(status == 1 and "podgroups.scheduling.x-k8s.io" not in text and 'conflict with "kubectl"' in text, f"{status} {text}")
        expect("deployment.apps/kar-controllers serverside-applied" in text and label() == "", f"all the rest is installed: {text}")
        left_podgroups = "Left CustomResourceDefinition podgroups.scheduling.x-k8s.io: it is not ours\n"
        status, text = uninstall(s)
        expect(status == 0 and left_podgroups in text and text.endswith("Nothing of kar-controllers is left\n"), f"{status} {text}")
        s.cluster.kubectl(*install, "--force-conflicts")
        expect_equal(label(), "kar-controllers", "label of the type that was taken over")
        status, text = uninstall(s)
        expect(status == 0 and "Took our label off CustomResourceDefinition podgroups" in text and left_podgroups in text, f"{status} {text}")
    finally:
        s.cluster.kubectl("delete", *crd)


def story_uninstall_leaves_nothing(s):
    """With the Deployments running and the types kept or not: gates and finalizers are released, nothing of ours is left, and it may be repeated."""
    install_all(s)
    s.apply(queuejob("stays", task("worker", 2)))
    s.wait_phase("stays", "Running", running=2)
    s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gated"},
             "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}], "schedulingGates": [{"name": KEY + "gang"}, {"name": "example.com/x"}]}})
    bind_as_users_do(s)
    s.manager.stop()  # the pods of the Deployments only pretend to run
    try:
        status, text = uninstall(s, kubeconfig=s.manager.command[2])
        expect(status == 1 and "cannot list clusterrolebindings" in text and len(text.splitlines()) == 1, f"without the right to: {status} {text}")
        status, text = uninstall(s, "--keep-crds")
        expect(status == 0 and text.endswith("Nothing of kar-controllers is left but its CRDs\n"), f"with --keep-crds: {status} {text}")
        expect("Took the finalizer kube-arbitrator.io/queue off Queue default\n" in text, f"queues are released: {text}")
        expect_equal(text.count("Stopped Deployment kar-system/"), 2, f"Deployments that were stopped: {text}")
        expect(all("customresourcedefinition" in name for name in left(s)) and len(left(s)) == 7, f"left with --keep-crds: {left(s)}")
        expect_equal([p["metadata"].get("finalizers") for p in s.pods("stays").values()], [None, None], "finalizers of pods that go on")
        for name in ("ClusterRoleBinding reads-metrics", f"RoleBinding {s.namespace}/edits"):
            expect(f"Deleted {name}\n" in text, f"{name} is deleted: {text}")
        expect_equal(s.cluster.kubectl("get", "leases", "--all-namespaces", *OURS, "-o", "name"), "", "leases")
        expect_equal([g["name"] for g in s.kubectl.get("pod", "gated")["spec"]["schedulingGates"]], ["example.com/x"], "gates of others stay")
        status, text = uninstall(s)
        expect(status == 0 and text.endswith("Nothing of kar-controllers is left\n"), f"{status} {text}")
        expect_equal(left(s), [], "what is left")
        wait_until(lambda: not s.pods("stays"), "the pods of the job are gone with their type", 60)
        expect(s.kubectl.get("pod", "gated"), "pods of others stay")
        status, text = uninstall(s)
        expect(status == 0 and "Stopped" not in text and "Deleted" not in text, f"repeated: {status} {text}")
        another_project_has_podgroups(s)
    finally:
        install_again(s, Shell(s))
