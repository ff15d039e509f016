"""One noisy tenant: how long the first pod of another takes meanwhile. Run by hack/bench/run, against the simulated server (kar-sim serve)."""

import base64
import concurrent.futures
import http.client
import json
import pathlib
import re
import ssl
import subprocess
import tempfile
import threading
import time

import common
from common import pod_spec

LIMITS = ["--kube-api-qps", "300", "--kube-api-burst", "20"]  # what the API server is worth: it alone is scarce here
GROUP = "/apis/scheduling.x-k8s.io/v1alpha1"
OURS = "/apis/kube-arbitrator.io/v1alpha1"
PACE = 0.3  # s between two jobs of the quiet tenant
DEADLINE = 90  # s for the last of its pods


class Api:
    """Requests of one thread on one connection."""

    def __init__(self, kubeconfig):
        text = kubeconfig.read_text()
        server, self.token = (re.search(rf"{k}: \"?([^\s\"]+)", text)[1] for k in ("server", "token"))
        authority = base64.b64decode(re.search(r"certificate-authority-data: \"?([^\s\"]+)", text)[1]).decode()
        context = ssl.create_default_context(cadata=authority)
        self.connection = http.client.HTTPSConnection(server.removeprefix("https://"), context=context)

    def start(self, verb, path, body=None, kind="application/json"):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        self.connection.request(verb, path, json.dumps(body) if body else None, headers)
        return self.connection.getresponse()

    def __call__(self, verb, path, body=None, kind="application/json"):
        answer = self.start(verb, path, body, kind)
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{verb} {path}: {answer.status} {text[:300]}")
        return json.loads(text)


class World:
    """A simulated cluster, and the manager."""

    def __init__(self, groups, jobs):
        self.folder = tempfile.TemporaryDirectory(prefix="kar-noisy-")
        self.kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        self.log = open(pathlib.Path(self.folder.name) / "manager.log", "w+")
        self.pods, self.groups, self.jobs = {}, groups, jobs
        self.server = subprocess.Popen([common.BUILD / "sim/kar-sim", "serve", "--kubeconfig-out", self.kubeconfig, "--nodes", "40", "--run", "0"],
                                       stdout=subprocess.PIPE, text=True)
        self.server.stdout.readline()
        self.api = self.connect()
        for ns in ("noisy", "quiet"):
            self.api("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
        self.api("POST", f"{OURS}/queues", {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": "narrow"},
                                            "spec": {"maxJobs": 1}})
        self.manager = subprocess.Popen([common.BUILD / "controllers/kar-controllers", "--kubeconfig", self.kubeconfig, *LIMITS], stderr=self.log)
        self.wait(lambda: "Caches synced" in pathlib.Path(self.log.name).read_text(), "the manager to start")
        threading.Thread(target=self.watch, daemon=True).start()

    def connect(self):
        return Api(self.kubeconfig)

    def wait(self, ready, what, limit=300):
        end = time.monotonic() + limit
        while not ready():
            if time.monotonic() > end or self.manager.poll() is not None:
                raise SystemExit(f"waited in vain for {what}\n" + pathlib.Path(self.log.name).read_text()[-2000:])
            time.sleep(0.05)

    def watch(self):
        """When the first pod of each job was seen."""
        try:
            for line in self.connect().start("GET", "/api/v1/namespaces/quiet/pods?watch=true"):
                event = json.loads(line)
                if event["type"] == "ADDED":
                    self.pods.setdefault(event["object"]["metadata"]["labels"]["kube-arbitrator.io/queuejob"], time.monotonic())
        except OSError:
            pass  # the end

    def make_groups(self, numbers):
        api = self.connect()
        for i in numbers:
            api("POST", f"{GROUP}/namespaces/noisy/podgroups", {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
                "metadata": {"name": f"g{i:05}"}, "spec": {"minMember": 1, "queue": "narrow", "priority": 0}})

    def edit_priorities(self, until):
        """The last in line becomes the first, so that all positions move."""
        api, i = self.connect(), 0
        while time.monotonic() < until:
            i += 1
            api("PATCH", f"{GROUP}/namespaces/noisy/podgroups/g{self.groups - 1 - i % 100:05}", {"spec": {"priority": i}},
                "application/merge-patch+json")
            time.sleep(1)

    def submit(self, name, n):
        """The quiet tenant's jobs at a steady pace, whatever becomes of them: when each was submitted."""
        api, begin, at = self.connect(), time.monotonic(), {}
        for i in range(n):
            time.sleep(max(0, begin + i * PACE - time.monotonic()))
            at[f"{name}-{i}"] = time.monotonic()
            api("POST", f"{OURS}/namespaces/quiet/queuejobs", {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob",
                "metadata": {"name": f"{name}-{i}"}, "spec": {"taskSpecs": [{"name": "w", "replicas": 2, "template": {"spec": pod_spec()}}]}})
        return at

    def first_pods(self, at):
        """Seconds from the submission of each job to its first pod, in order; DEADLINE for one that has none yet."""
        end = time.monotonic() + DEADLINE
        while not at.keys() <= self.pods.keys() and time.monotonic() < end:
            time.sleep(0.05)
        return sorted(self.pods.get(name, begin + DEADLINE) - begin for name, begin in at.items())

    def told(self):
        """Has every group of the noisy tenant its first message?"""
        groups = self.api("GET", f"{GROUP}/namespaces/noisy/podgroups")["items"]
        return all(g.get("status", {}).get("conditions") for g in groups)

    def close(self):
        for process in (self.manager, self.server):
            process.terminate()
            process.wait()
        self.log.close()
        self.folder.cleanup()


def quantile(values, q):
    return values[min(len(values) - 1, int(len(values) * q))]


def measure(report, world, when, at):
    took = world.first_pods(at)
    report.line(bench="noisy", when=when, jobs=len(took), p50_ms=quantile(took, 0.5) * 1000, p99_ms=quantile(took, 0.99) * 1000)
    return quantile(took, 0.99)


def noisy(report, groups, jobs):
    world = World(groups, jobs)
    try:
        idle = measure(report, world, "idle", world.submit("idle", jobs))
        with concurrent.futures.ThreadPoolExecutor(9) as pool:
            first = pool.submit(world.submit, "first", jobs)
            list(pool.map(world.make_groups, [range(k, groups, 8) for k in range(8)]))
            worst = measure(report, world, "groups_come", first.result())
            begin = time.monotonic()
            world.wait(world.told, "the first message of each group")
            report.line(bench="noisy", when="all_told", more_s=time.monotonic() - begin)
            edits = pool.submit(world.edit_priorities, time.monotonic() + jobs * PACE + 5)
            worst = max(worst, measure(report, world, "priorities_change", world.submit("edit", jobs)))
            edits.result()
        report.line(bench="noisy", manager_cpu_s=common.usage_of(world.manager.pid)["cpu"])
        report.bar("first_pod_beside_a_noisy_tenant_s", min(worst, 1.0) if worst <= 2 * idle else worst)
    finally:
        world.close()
