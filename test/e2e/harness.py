"""What the stories stand on: a cluster, the manager under test, kubectl, the audit log, and waiting with a deadline.

Everything is judged by what a user or the API server sees; nothing looks into the manager but its log."""

import datetime
import itertools
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from reader import Reader, ReadError

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "manifests"
EXAMPLES = ROOT / "examples"
CLUSTER = ROOT / "test/cluster/cluster"
OPERATORS = ROOT / "test/e2e/operators.yaml"  # kinds of the story operators_start_whole
SERVICE_ACCOUNT = "system:serviceaccount:kar-system:kar-controllers"
USER_AGENT = "kar-controllers/"
TEST_KEY = "test.kube-arbitrator.io/"  # annotations that test/cluster/stages.yaml obeys
KEY = "kube-arbitrator.io/"
FINALIZER = KEY + "pod-tracking"


stopped = threading.Event()  # nobody waits for the end of the stories any more


class Failure(Exception):
    """What a story expected and did not see."""


class KubectlError(Failure):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def expect_equal(got, want, what):
    expect(got == want, f"{what}:\n  got  {got}\n  want {want}")


def wait_until(condition, what, seconds=30, every=0.1):
    """Polls until condition() is true and returns its value. An answer of kubectl that fails counts as not yet."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            value = condition()
            last = value
        except KubectlError as error:
            value, last = None, error
        if value:
            return value
        if stopped.is_set():
            raise Failure(f"the run was stopped while it waited until {what}")
        if time.monotonic() >= deadline:
            raise Failure(f"gave up after {seconds} s waiting until {what}; last answer: {last}")
        time.sleep(every)


class Kubectl:
    def __init__(self, kubeconfig, cache, namespace=None, reader=None):
        self.namespace = namespace
        self.reader = reader  # None: objects are read with kubectl, too
        self.base = ["kubectl", "--kubeconfig", str(kubeconfig), "--cache-dir", str(cache)]
        if namespace:
            self.base += ["--namespace", namespace]

    def __call__(self, *args, stdin=None, check=True):
        """Runs kubectl and returns its stdout; with check=False its exit status and stdout + stderr."""
        done = subprocess.run([*self.base, *args], input=stdin, capture_output=True, text=True, timeout=120)
        if not check:
            return done.returncode, done.stdout + done.stderr
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, obj):
        """obj: a dictionary, or YAML text."""
        self("apply", "-f", "-", stdin=obj if isinstance(obj, str) else json.dumps(obj))

    def get(self, kind, name):
        """The object, or None."""
        if self.reader:
            return self.read(self.reader.object, kind, self.namespace or "default", name)
        out = self("get", kind, name, "-o", "json", "--ignore-not-found")
        return json.loads(out) if out else None

    def list(self, kind, *args):
        """args: -l SELECTOR, --field-selector SELECTOR or --all-namespaces."""
        known = {"-l": "labels", "--field-selector": "fields"}
        if self.reader and args == ("--all-namespaces",):
            return self.read(self.reader.objects, kind, None)
        if self.reader and (not args or (len(args) == 2 and args[0] in known)):
            return self.read(self.reader.objects, kind, self.namespace or "default", **({known[args[0]]: args[1]} if args else {}))
        return json.loads(self("get", kind, "-o", "json", *args))["items"]

    @staticmethod
    def read(ask, *args, **options):
        try:
            return ask(*args, **options)
        except ReadError as error:
            raise KubectlError(str(error)) from None


def json_documents(text):
    """The objects that kubectl prints one after the other."""
    decoder, objects, at = json.JSONDecoder(), [], 0
    while at < len(text):
        one, at = decoder.raw_decode(text, at)
        objects.append(one)
        at += len(text[at:]) - len(text[at:].lstrip())
    return objects


class Watch:
    """`kubectl get --watch` in the background."""

    def __init__(self, kubectl, log, *args):
        self.path = log
        self.file = open(log, "w")
        self.process = subprocess.Popen([*kubectl.base, "get", "--watch", *args], stdout=self.file, stderr=subprocess.STDOUT)

    def text(self):
        return self.path.read_text()

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.file.close()
        return self.text()

    def events(self):
        """[(ADDED|MODIFIED|DELETED, object)] so far, of a watch started with --output-watch-events -o json."""
        text, decoder, at, found = self.text(), json.JSONDecoder(), 0, []
        while True:
            at += len(text[at:]) - len(text[at:].lstrip())
            try:
                event, at = decoder.raw_decode(text, at)
            except ValueError:  # the last one is not complete yet
                return found
            found.append((event["type"], event["object"]))


def parse_line(line):
    """One event, or None: a line may be incomplete because it is being written, or because the API server was killed then."""
    try:
        return json.loads(line)
    except ValueError:
        return None


class Audit:
    """The API server's ledger, from the moment of its creation."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.start = self.path.stat().st_size

    def events(self, **want):
        """Answered requests in the order in which the server received them. want: verb, resource, subresource, namespace, user, agent, code."""
        mark = b'"namespace":"%s"' % want["namespace"].encode() if "namespace" in want else b""  # most lines need not be parsed
        with self.path.open("rb") as log:
            log.seek(self.start)
            events = [e for e in (parse_line(line) for line in log if mark in line) if e]
        events = [e for e in events if e["stage"] == "ResponseComplete" and self.matches(e, want)]
        return sorted(events, key=lambda e: e["requestReceivedTimestamp"])

    @staticmethod
    def matches(event, want):
        about = event.get("objectRef", {})
        has = {
            "verb": event["verb"],
            "resource": about.get("resource"),
            "subresource": about.get("subresource", ""),
            "namespace": about.get("namespace"),
            "name": about.get("name"),
            "user": event["user"]["username"],
            "code": event.get("responseStatus", {}).get("code"),
        }
        agent = want.get("agent", "")
        return event.get("userAgent", "").startswith(agent) and all(has[k] == v for k, v in want.items() if k != "agent")

    def pods_created(self, namespace):
        """Names of the pods that the manager created there, in order; a name twice was created twice."""
        return [e["objectRef"]["name"] for e in self.pod_creates(namespace) if e["responseStatus"]["code"] == 201]

    def pod_creates(self, namespace, dry_run=False):
        """The manager's requests to create a pod there, whatever the answer."""
        asked = self.events(verb="create", resource="pods", subresource="", namespace=namespace, agent=USER_AGENT)
        return [e for e in asked if ("dryRun=All" in e["requestURI"]) == dry_run]

    def forbidden(self, user=SERVICE_ACCOUNT):
        """What RBAC did not allow the manager to do: (time, verb, resource, subresource). Other refusals have code 403 too."""
        return [
            (e["requestReceivedTimestamp"], e["verb"], e.get("objectRef", {}).get("resource", e["requestURI"]), e.get("objectRef", {}).get("subresource", ""))
            for e in self.events(user=user, code=403)
            if e.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
        ]

    def refused_by_policy(self, **want):
        """Writes that one of manifests/admission did not allow: (verb, resource, answer)."""
        events = self.events(code=403, **want)
        return [(e["verb"], e["objectRef"]["resource"], e["responseStatus"]["message"]) for e in events
                if "ValidatingAdmissionPolicy 'kar-controllers-" in e["responseStatus"].get("message", "")]


class Cluster:
    simulated = False
    numbers = itertools.count(1)

    def __init__(self, name, folder, started_here):
        self.name = name
        self.dir = pathlib.Path(folder)
        self.started_here = started_here
        self.kubeconfig = self.dir / "kubeconfig"
        self.audit_log = self.dir / "log/audit.log"
        self.reader = None
        self.kubectl = self.kubectl_for(None)
        self.foreign_crd = False  # the CRD of PodGroups is that of scheduler-plugins
        self.beside = []  # the other clusters of the run: what is true of the whole run is in their audit logs, too
        self.excused = []  # (begin, end), as in the audit log, of times when the manager may be refused something

    @classmethod
    def open(cls, native=False):
        """The cluster named by KAR_E2E_CLUSTER, else one of our own; @native: with the PodGroups of Kubernetes itself."""
        name = os.environ.get("KAR_E2E_CLUSTER")
        started_here = not name
        name = name or f"e2e-{os.getpid()}-{next(cls.numbers)}"
        if started_here:
            with tempfile.TemporaryDirectory() as crds:  # what the garbage collector knows from the start it need not find out
                for file in [*(MANIFESTS / "crds").glob("*.yaml"), EXAMPLES / "crdjob/crdjob.yaml", OPERATORS]:
                    shutil.copy(file, crds)
                run_cluster(name, "up", "--crds", crds, *(("--native",) if native else ()))
        exports = dict(re.findall(r"export (\w+)=(\S+)", run_cluster(name, "env")))
        return cls(name, exports["KAR_CLUSTER_DIR"], started_here)

    def close(self):
        if self.started_here:
            run_cluster(self.name, "down")

    def kubectl_for(self, namespace):
        if not self.reader:
            config = Kubectl(self.kubeconfig, self.dir / "kubectl-cache")("config", "view", "--raw", "--flatten", "-o", "json")
            self.reader = Reader(json.loads(config))
        return Kubectl(self.kubeconfig, self.dir / "kubectl-cache", namespace, self.reader)

    def install(self):
        """CRDs, namespace, RBAC, the optional rights on Jobs, and the roles of users as shipped; returns the kubeconfig of the shipped ServiceAccount."""
        crds = ["-f", str(MANIFESTS / "crds")]
        self.kubectl("apply", "--server-side", *crds)
        self.kubectl("wait", "--for=condition=Established", "--timeout=30s", *crds)
        for file in ("namespace.yaml", "rbac.yaml", "roles.yaml", "workloads/rights.yaml"):
            self.kubectl("apply", "--server-side", "-f", str(MANIFESTS / file))
        if not self.simulated:
            self.install_policies()
        return self.account_kubeconfig("kar-controllers")

    def install_policies(self):
        """manifests/admission as shipped; returns when the API server goes by them."""
        def refused():
            bare = ("run", "bare", "--image=busybox:1.36", "--dry-run=server", "--as", SERVICE_ACCOUNT)
            return all("ValidatingAdmissionPolicy" in self.kubectl(*bare, "--namespace", ns, check=False)[1] for ns in ("default", "kube-system"))

        self.kubectl("apply", "--server-side", "-k", str(MANIFESTS / "admission"))
        wait_until(refused, "the admission policies are in force")

    def account_kubeconfig(self, account):
        """A file with a token of that ServiceAccount of kar-system."""
        path = self.dir / f"{account}.kubeconfig"
        path.write_text(self.token_kubeconfig("kar-system", account))
        path.chmod(0o600)
        return path

    def token_kubeconfig(self, namespace, account):
        return run_cluster(self.name, "token-kubeconfig", namespace, account)

    def restart_apiserver(self, *args):
        """Returns when it is ready. Until then it refuses what its RBAC cache does not know yet."""
        # While its discovery lacks the kinds of CRDs, a namespace is removed without the objects of these, which nobody can delete then.
        wait_until(lambda: all(n["status"]["phase"] == "Active" for n in self.kubectl.list("namespaces")), "no namespace is being deleted", 120)
        begin = audit_time()
        run_cluster(self.name, "restart-apiserver", *args)
        self.excused.append((begin, audit_time()))

    def restart_clients(self):
        """After an outage: Kubernetes' own controllers look for the server at once; returns when they work."""
        run_cluster(self.name, "restart-clients")
        self.kubectl("delete", "serviceaccount", "default", "--namespace", "default")
        account = self.kubectl_for("default")
        wait_until(lambda: account.get("serviceaccounts", "default"), "the ServiceAccount is made again", 60)

    def rbac_settled(self):
        """Returns the moment from which on the API server grants what manifests/rbac.yaml says."""
        def granted():
            asked = ("auth", "can-i", "--as", SERVICE_ACCOUNT, "--all-namespaces")
            needs = (("create", "pods"), ("create", "events.events.k8s.io"), ("list", "priorityclasses.scheduling.k8s.io"),
                     ("watch", "priorityclasses.scheduling.k8s.io"))
            return all(self.kubectl(*asked, *need, check=False)[0] == 0 for need in needs)

        wait_until(granted, "the ServiceAccount has its rights back")
        return audit_time()

    def excuses(self, moment):
        return any(begin <= moment <= end for begin, end in self.excused)


class SimulatedCluster(Cluster):
    """`kar-sim serve` in the place of test/cluster: one process, ready in a fraction of a second, gone without a trace."""

    simulated = True

    def __init__(self, binary, folder, process):
        super().__init__("simulated", folder, True)
        self.binary = binary
        self.process = process

    @classmethod
    def open(cls, binary, *options, pods_end=False):
        """Pods without annotations run until they are deleted, as in test/cluster; with @pods_end as long as kar-sim serve has it."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="kar-sim-"))
        (folder / "log").mkdir()
        (folder / "log/audit.log").touch()
        command = [binary, "serve", "--kubeconfig-out", folder / "kubeconfig", "--audit-log", folder / "log/audit.log",
                   "--crds", MANIFESTS / "crds", *(() if pods_end else ("--run", "0")), *options]
        with (folder / "log/kar-sim.log").open("w") as log:
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log = folder / "log/kar-sim.log"
        wait_until(lambda: "KUBECONFIG=" in log.read_text() or process.poll() is not None, "kar-sim serve is ready")
        expect(process.poll() is None, f"kar-sim serve has ended: {log.read_text()}")
        return cls(binary, folder, process)

    def log(self):
        return (self.dir / "log/kar-sim.log").read_text()

    def alive(self):
        return self.process.poll() is None

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("kar-sim serve did not stop within 15 s of SIGTERM") from None
        expect_equal(status, 0, f"exit status of kar-sim serve; it said: {self.log()}")
        shutil.rmtree(self.dir)

    def token_kubeconfig(self, namespace, account):
        config = json.loads(self.kubectl("config", "view", "--raw", "-o", "json"))
        token = self.kubectl("create", "token", "--namespace", namespace, account, "--duration=24h").strip()
        config["users"] = [{"name": account, "user": {"token": token}}]
        config["contexts"][0]["context"]["user"] = account
        return json.dumps(config)


def audit_time():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def run_cluster(name, *args):
    done = subprocess.run([CLUSTER, *args, "--name", name], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"test/cluster/cluster {' '.join(args)}: {done.stdout}{done.stderr}")
    return done.stdout


class Manager:
    """The kar-controllers process under test."""

    def __init__(self, binary, kubeconfig, log, *flags):
        # Without an address of its own, because others run on this machine too.
        self.command = [str(binary), "--kubeconfig", str(kubeconfig), "-v=4", "--health-probe-bind-address=0", *flags]
        self.log = pathlib.Path(log)
        self.process = None
        self.flags = ()
        self.lock = threading.Lock()  # of ensure(), for stories side by side
        self.seen = 0  # bytes of the log that said() leaves out

    def forget_log(self):
        self.seen = self.log.stat().st_size if self.log.exists() else 0

    def said(self, *words):
        """The first line of the log since forget_log() that holds all the words, or None."""
        with self.log.open() as log:
            log.seek(self.seen)
            return next((line for line in log if all(w in line for w in words)), None)

    def start(self, *flags):
        self.flags = flags
        with self.log.open("a") as log:
            self.process = subprocess.Popen([*self.command, *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def pid(self):
        return self.process.pid

    def stop(self):
        """SIGTERM; the manager must finish what is in flight and exit with status 0."""
        if not self.process:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("the manager did not stop within 15 s of SIGTERM") from None
        self.process = None
        expect_equal(status, 0, "exit status of the manager after SIGTERM")

    def kill(self):
        """SIGKILL: no chance to clean up."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def ensure(self):
        """Runs with default flags when a story begins, whatever the story before did."""
        with self.lock:
            if self.alive() and self.flags:
                self.stop()
            if not self.alive():
                self.start()

    def tail(self, namespace, lines=60):
        """The end of the log without what is about other namespaces."""
        other = re.compile(rf'key="(?!{re.escape(namespace)}/)[^"/]+/' if namespace else "(?!)")
        return "\n".join([line for line in self.log.read_text().splitlines() if not other.search(line)][-lines:]) if self.log.exists() else ""


class Story:
    """One story's view of the world: a namespace of its own and the audit log since it began."""

    def __init__(self, name, cluster, manager):
        self.name = name
        self.cluster = cluster
        self.manager = manager
        self.namespace = f"{name.replace('_', '-')[:40]}-{secrets.token_hex(2)}"
        self.kubectl = cluster.kubectl_for(self.namespace)
        self.apply = self.kubectl.apply
        self.audit = Audit(cluster.audit_log)
        self.shown = []  # lines that are printed with the result
        cluster.kubectl("create", "namespace", self.namespace)

    def job(self, name):
        return self.kubectl.get("queuejobs.kube-arbitrator.io", name)

    def status(self, name):
        return (self.job(name) or {}).get("status", {})

    def group(self, name):
        """The PodGroup, or None; with the parts of its status that a foreign CRD drops, from its annotations."""
        found = self.kubectl.get("podgroups.scheduling.x-k8s.io", name)
        kept = (found or {}).get("metadata", {}).get("annotations") or {}
        for key in ("queue-status", "placement"):
            if KEY + key in kept:
                found["status"] = {**json.loads(kept[KEY + key]), **found.get("status", {})}
        return found

    def scheduling_spec(self, name):
        return self.kubectl.get("schedulingspecs.kube-arbitrator.io", name)

    def pods(self, job):
        """name -> pod, of the pods with the job's label."""
        return {p["metadata"]["name"]: p for p in self.kubectl.list("pods", "-l", f"{KEY}queuejob={job}")}

    def uids(self, job):
        return {name: p["metadata"]["uid"] for name, p in self.pods(job).items()}

    def wait_phase(self, name, phase, seconds=30, **fields):
        """Until status.phase is phase and the other status fields are as given (an absent number is 0); returns the status."""
        def reached():
            status = self.status(name)
            seen.update(status)
            return status if status.get("phase") == phase and all(status.get(k, 0 if v == 0 else None) == v for k, v in fields.items()) else None

        seen = {}
        wanted = ", ".join([phase, *(f"{k}={v}" for k, v in fields.items())])
        try:
            return wait_until(reached, f"job {name} is {wanted}", seconds)
        except Failure as failure:
            raise Failure(f"{failure}; its last status: {json.dumps(seen)}") from None

    def fail_pod(self, name, exit_code=1):
        """The simulated node ends this pod with an exit code."""
        self.kubectl("annotate", "pod", name, "--overwrite", f"{TEST_KEY}exit-code={exit_code}", f"{TEST_KEY}outcome=fail")

    def watch_pods(self):
        """A watch that has begun: it shows the pods that are there already."""
        there = len(json.loads(self.kubectl("get", "pods", "-o", "json"))["items"])
        watch = Watch(self.kubectl, self.cluster.dir / f"watch-{self.namespace}.log", "pods", "--output-watch-events", "-o", "json")
        wait_until(lambda: len(watch.events()) >= there, "the watch of the pods has begun")
        return watch

    def describe_everything(self):
        """For the report of a failed story."""
        for args in (["get", "queuejobs,podgroups.scheduling.x-k8s.io,schedulingspecs,pods", "-o", "wide"],
                     ["describe", "queuejobs,podgroups.scheduling.x-k8s.io"],
                     ["get", "events", "--sort-by=.metadata.creationTimestamp"]):
            yield f"$ kubectl {' '.join(args)}\n{self.kubectl(*args, check=False)[1]}"
        yield f"manager (last lines of its log):\n{self.manager.tail(self.namespace)}"

    def close(self):
        self.cluster.kubectl("delete", "namespace", self.namespace, "--wait=false")


def check_lines(s, name, *wanted):
    """kubectl describe has each of these, in the end: events arrive a moment after the status."""
    def missing():
        text = s.kubectl("describe", "queuejob", name)
        return [want for want in wanted if not re.search(want, text)]

    wait_until(lambda: not missing(), f"kubectl describe queuejob {name} has all of {wanted}")


def condition(obj, kind):
    """The status of a condition: "True", "False", "Unknown" or None."""
    return next((c["status"] for c in obj.get("status", {}).get("conditions", []) if c["type"] == kind), None)


def task(name, replicas, outcome="run", after=None, stop_after=None, **fields):
    """A task whose simulated pods end in outcome: run, succeed, fail or pending."""
    notes = {TEST_KEY + "outcome": outcome}
    if after:
        notes[TEST_KEY + "after"] = after
    if stop_after:
        notes[TEST_KEY + "stop-after"] = stop_after
    template = {"metadata": {"annotations": notes},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36"}]}}
    return {"name": name, "replicas": replicas, "template": template, **fields}


def queuejob(name, *tasks, sched=None, **spec):
    spec = {"taskSpecs": list(tasks), **({"schedSpec": sched} if sched else {}), **spec}
    return {"apiVersion": KEY + "v1alpha1", "kind": "QueueJob", "metadata": {"name": name}, "spec": spec}
