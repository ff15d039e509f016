"""The commands of the documents for users are run as they stand there, and what they show is compared with what stands there."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess

from harness import FINALIZER, ROOT, TEST_KEY, Failure, KubectlError, audit_time, expect, expect_equal, queuejob, task, wait_until

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
PATIENCE = 240  # seconds for one command: a foreground deletion of all jobs was once seen not to end within 120
BINARY, PLUGIN = "build/controllers/kar-controllers", "build/kubectl-qj/kubectl-qj"  # in documents
NOT_COMPARED = {"AGE", "NAMESPACE"}  # columns; all others of a table in a document must be there, and have the cells that it shows


# The containers of the tests are simulated and have no logs, and some commands never end: (what stands there, what is run).
SUBSTITUTES = [
    (r"^(kubectl get .*) -w$", r"\1"),
    (r"^kubectl logs -l (\S+) .*$", r"timeout 30 bash -c 'until kubectl get pods -l \1 -o name | grep .; do sleep 0.1; done'"),
    (r"^kubectl logs -n kar-system deployment/.*$", ""),
    (r"^kubectl logs (\S+)$", r"kubectl get pod \1"),
]


def blocks(path, heading=None):
    """[(language, text)] of the fenced blocks of the document, or of one section of it."""
    text = (ROOT / path).read_text()
    if heading:
        text = re.split(r"^## ", text.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.M)[0]
    found = FENCE.findall(text)
    expect(found, f"{path} has no blocks {'below ' + heading if heading else ''}")
    return found


def table(text):
    """The rows of what kubectl get prints, as {column: cell}; the names of the columns have two spaces between them."""
    header, *lines = text.splitlines() or [""]
    begins = [m.start() for m in re.finditer(r"(?:^|(?<=  ))\S", header)]
    cells = [(header[b:e].strip(), b, e) for b, e in zip(begins, [*begins[1:], None])]
    return [{name: line[b:e].strip() for name, b, e in cells} for line in lines if line.strip()]


class Shell:
    """Runs commands of documents in the namespace of the story, in the folder of the project."""

    def __init__(self, s, folder=ROOT):
        self.namespace = s.namespace
        self.folder = folder
        self.binary = s.manager.command[0]
        self.kubeconfig = s.cluster.dir / f"document-{s.namespace}.kubeconfig"
        shutil.copy(s.cluster.kubeconfig, self.kubeconfig)
        self("kubectl config set-context --current --namespace=" + s.namespace)

    def __call__(self, command):
        command = command.replace(BINARY, self.binary)
        command = re.sub(rf"(?<![\w/]){PLUGIN}", str(pathlib.Path(self.binary).parents[1] / "kubectl-qj/kubectl-qj"), command)
        try:
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
                                  env={**os.environ, "KUBECONFIG": str(self.kubeconfig)})
        except subprocess.TimeoutExpired:
            raise Failure(f"{command} has not ended after {PATIENCE} s; what stops in all namespaces:\n{self.what_stops()}") from None
        if done.returncode:
            raise KubectlError(f"{command}: {done.stderr.strip()}")
        return done.stdout

    def what_stops(self):
        """Objects of ours and pods that are being deleted, with what holds them, anywhere in the cluster."""
        lists = subprocess.run(["kubectl", "get", "qj,podgroups.scheduling.x-k8s.io,schedulingspecs,pods,namespaces", "-A", "-o", "json"],
                               capture_output=True, text=True, timeout=60, env={**os.environ, "KUBECONFIG": str(self.kubeconfig)})
        if lists.returncode:
            return f"  (they could not be listed: {lists.stderr.strip()})"
        meta = [(i["kind"], i["metadata"], i.get("status", {}).get("phase")) for i in json.loads(lists.stdout)["items"]]
        return "\n".join(f"  {kind} {m.get('namespace', '')}/{m['name']} {phase}: since {m['deletionTimestamp']}, held by {m.get('finalizers')}"
                         for kind, m, phase in meta if "deletionTimestamp" in m)

    def differences(self, command, sample):
        """What the table says otherwise than the sample, which has the namespace default in the place of ours."""
        rows = [r for r in table(self(command)) if r.get("NAMESPACE", self.namespace) == self.namespace]
        want = [{column: cell.replace("default/", self.namespace + "/") for column, cell in row.items()} for row in table(sample)]
        if len(rows) != len(want):
            return [f"{len(rows)} rows, not {len(want)}"]
        return [f"row {i + 1}: {column} is {row.get(column)!r}, not {cell!r}" for i, (row, other) in enumerate(zip(rows, want))
                for column, cell in other.items() if column not in NOT_COMPARED and row.get(column) != cell]

    def expect_shown(self, command, sample):
        """The last command of a block shows, at the latest after a while, what the document says."""
        last = []

        def agrees():
            last[:] = self.differences(command, sample)
            return not last

        try:
            wait_until(agrees, f"{command} shows the table of the document")
        except Failure as failure:
            raise Failure(f"{failure}; differences: {last}; it shows:\n{self(command)}") from None

    def run(self, document):
        """
        All blocks in their order: sh is run, but for SUBSTITUTES; text is what the last command of the block before shows.
        Returns how many of each there were.
        """
        count, shown = {}, None
        for language, text in document:
            count[language] = count.get(language, 0) + 1
            if language == "sh":
                for words, command in SUBSTITUTES:
                    text = re.sub(words, command, text, flags=re.M)
                self(text)
                shown = text.splitlines()[-1]
            elif language == "text":
                self.expect_shown(shown, text)
        return count


def story_documented_queues(s):
    """docs/QUEUES.md: create a queue, see who waits, let a job go first, close, open, raise and delete the queue."""
    try:
        count = Shell(s).run(blocks("docs/QUEUES.md"))
        expect(count["sh"] >= 7 and count["text"] >= 6, f"blocks: {count}")
    finally:
        s.cluster.kubectl("delete", "queues.kube-arbitrator.io", "team-a", "vision", "language", "research", "--ignore-not-found", "--wait=false")


def expect_as_documented(pod):
    """The table of variables and labels, which is about this pod."""
    lines = (ROOT / "docs/USING.md").read_text().partition("\n| variable | label |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:4]] for line in lines]
    env = {e["name"]: e["value"] for e in pod["spec"]["containers"][0]["env"]}
    expect_equal(env, {name: value for name, _, value in rows if name}, "variables of hello-worker-1")
    want = {label: value for _, label, value in rows if label}
    expect_equal({k: v for k, v in pod["metadata"]["labels"].items() if k in want}, want, "labels of hello-worker-1")
    expect_equal((len(env), len(want)), (6, 4), "variables and labels in docs/USING.md")


def story_documented_first_steps(s):
    """README.md: the smallest job, what to look at when it does not run; docs/USING.md: variables and labels of its pods; docs/GANGS.md: its placement."""
    folder = s.cluster.dir / f"readme-{s.namespace}"
    folder.mkdir()
    shell = Shell(s, folder)
    job = next(text for language, text in blocks("README.md", "The smallest job") if language == "yaml")
    notes = f"metadata: {{annotations: {{{TEST_KEY}outcome: succeed, {TEST_KEY}after: 2s}}}}"  # for the nodes of the tests
    (folder / "hello.yaml").write_text(job.replace("    template:\n", f"    template:\n      {notes}\n"))
    for heading in ("The smallest job", "When it does not run"):
        count = shell.run(blocks("README.md", heading))
        expect_equal(count["sh"], 1, f"commands below {heading}")
    shell.run(blocks("docs/GANGS.md", "What is shown while it waits"))
    expect_equal(s.status("hello")["phase"], "Completed", "phase of hello")
    expect_as_documented(s.pods("hello")["hello-worker-1"])


def story_documented_network(s):
    """docs/NETWORK.md: the jobs for torchrun, JAX and MPI complete, and their containers have the variables that the document names."""
    shell = Shell(s)
    first, second, third, _ = [text for language, text in blocks("docs/NETWORK.md", "Variables of the containers") if language == "sh"][0].splitlines()
    shell(first + "\n" + second)
    expect_equal(shell(third), "torchrun-worker-0.torchrun", "what the document asks for")
    env = {e["name"]: e["value"] for e in s.pods("mpi")["mpi-launcher-0"]["spec"]["containers"][0]["env"]}
    expect_equal(env["KAR_HOSTS_WORKER"], "mpi-worker-0.mpi,mpi-worker-1.mpi", "hosts of the workers")
    env = {e["name"]: e["value"] for e in s.pods("jax")["jax-worker-3"]["spec"]["containers"][0]["env"]}
    expect_equal((env["JAX_COORDINATOR_ADDRESS"], env["JAX_NUM_PROCESSES"], env["JAX_PROCESS_ID"]), ("jax-worker-0.jax:1234", "4", "3"), "what JAX reads")
    shell("kubectl delete qj torchrun jax mpi")


def story_documented_use(s):
    """docs/USING.md but for its last section."""
    text = (ROOT / "docs/USING.md").read_text().partition("\n## Uninstall\n")[0]
    count = Shell(s).run(FENCE.findall(text))
    expect(count["sh"] >= 6, f"blocks: {count}")


def expect_pods_hang(s, job):
    """They are stopped and marked for deletion, and nothing but our finalizer keeps them."""
    def hang():
        pods = s.pods(job).values()
        return pods and all("deletionTimestamp" in p["metadata"] and p["metadata"]["finalizers"] == [FINALIZER] for p in pods)

    wait_until(hang, f"the pods of {job} wait for their finalizer", 60)


def install_again(s, shell):
    """As docs/start/install.md says, and the rights that the other stories need."""
    begin = audit_time()
    shell.run(blocks("docs/start/install.md", "Install in a cluster")[:1])
    shell("kubectl delete deployment -n kar-system kar-controllers")
    s.cluster.install()
    if not s.cluster.simulated:
        s.cluster.excused.append((begin, s.cluster.rbac_settled()))
    s.manager.start()


def gate_of(s, name):
    """The gates of a pod that names a PodGroup which does not exist; it is created if it is not there."""
    pod = s.kubectl.get("pod", name)
    if not pod:
        s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"scheduling.x-k8s.io/pod-group": "nobody"}},
                 "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}]}})
        pod = s.kubectl.get("pod", name)
    return pod["spec"].get("schedulingGates", [])


def install_gangs(s, shell):
    """As docs/OPERATORS.md says; returns when a pod waits at the gate."""
    shell.run(blocks("docs/OPERATORS.md")[:1])
    numbers = itertools.count()
    wait_until(lambda: gate_of(s, f"waits-{next(numbers)}"), "a pod is gated")


def pods_that_wait(s):
    return [p["metadata"]["name"] for p in s.kubectl.list("pods") if p["spec"].get("schedulingGates")]


def story_documented_uninstall(s):
    """docs/start/install.md, docs/USING.md: without the manager pods hang or wait at their gate, and one command releases them; in the right order nothing is left."""
    shell = Shell(s)
    install_gangs(s, shell)
    s.apply(queuejob("hangs", task("worker", 2)))
    s.wait_phase("hangs", "Running", running=2)
    s.manager.stop()
    s.kubectl("delete", "qj", "hangs", "--wait=false")
    expect_pods_hang(s, "hangs")
    expect(pods_that_wait(s), "a pod waits at its gate")
    shell.run(blocks("docs/USING.md", "Uninstall"))
    wait_until(lambda: not s.pods("hangs"), "the pods are gone without their finalizer")
    expect_equal(pods_that_wait(s), [], "pods that wait at their gate")
    s.kubectl("delete", "pods", "--all", "--wait=false")
    install_again(s, shell)
    install_gangs(s, shell)
    s.apply(queuejob("last", task("worker", 2)))
    s.wait_phase("last", "Running", running=2)
    first, _, rest = blocks("docs/start/install.md", "Uninstall")[0][1].partition("\n")
    try:
        shell(first)
        expect_equal(s.pods("last"), {}, "pods when the command returns")
        s.manager.stop()  # the test has no Deployment
        shell(rest)
        # What the first commands install; manifests/namespaced is another story.
        expect_equal(pods_that_wait(s), [], "pods that wait at their gate")
        kinds = "crd,clusterrole,clusterrolebinding,namespace,validatingadmissionpolicy,mutatingadmissionpolicy,mutatingadmissionpolicybinding"
        left = s.cluster.kubectl("get", kinds, "-o", "name").split()
        expect_equal([name for name in left if ("kar-" in name and not name.endswith("-namespaced")) or "kube-arbitrator" in name or "scheduling.x-k8s" in name], [], "what is left")
    finally:
        if s.manager.alive():
            s.manager.stop()
        install_again(s, shell)
