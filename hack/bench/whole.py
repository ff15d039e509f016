"""Whole gangs on 500 nodes of 8 slots: one of 512 pods, one that cannot fit, one that evicts another, 4000 jobs of one pod. Run by hack/bench/run.

The four questions are those of a published comparison of gang schedulers on 500 nodes with 8 GPUs each. The cluster is the simulated one
(kar-sim serve), so the figures say what the manager does, and nothing about an API server of Kubernetes; a slot is 8 CPUs."""

import pathlib
import subprocess
import tempfile
import time

import common
from noisy import OURS, Api

NODES, SLOTS = 500, 8
QUEUE = "whole"


def job(name, pods, priority=0):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": "8"}}}]}}
    return {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": name},
            "spec": {"queue": QUEUE, "schedSpec": {"priority": priority}, "taskSpecs": [{"name": "w", "replicas": pods, "template": template}]}}


class World:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kar-whole-")
        self.kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        self.log = open(pathlib.Path(self.folder.name) / "manager.log", "w+")
        self.server = subprocess.Popen([common.BUILD / "sim/kar-sim", "serve", "--kubeconfig-out", self.kubeconfig, "--nodes", str(NODES), "--run", "0"],
                                       stdout=subprocess.PIPE, text=True)
        self.server.stdout.readline()
        self.api = Api(self.kubeconfig)
        self.api("POST", f"{OURS}/queues", {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": QUEUE}, "spec": {"preemptionPolicy": "LowerPriority"}})
        self.manager = subprocess.Popen([common.BUILD / "controllers/kar-controllers", "--kubeconfig", self.kubeconfig, "--min-runtime", "0s"], stderr=self.log)
        self.wait(lambda: "Caches synced" in pathlib.Path(self.log.name).read_text(), "the manager to start")

    def wait(self, ready, what, limit=600):
        end = time.monotonic() + limit
        while not ready():
            if time.monotonic() > end or self.manager.poll() is not None:
                raise SystemExit(f"waited in vain for {what}\n" + pathlib.Path(self.log.name).read_text()[-2000:])
            time.sleep(0.02)

    def create(self, *args):
        self.api("POST", f"{OURS}/namespaces/default/queuejobs", job(*args))

    def status(self, name):
        return self.api("GET", f"{OURS}/namespaces/default/queuejobs/{name}").get("status", {})

    def took(self, ready, what):
        begin = time.monotonic()
        self.wait(ready, what)
        return time.monotonic() - begin

    def runs(self, name, pods):
        return lambda: self.status(name).get("running") == pods

    def delete_all(self):
        """All at once, and until no pod is left."""
        self.api("DELETE", f"{OURS}/namespaces/default/queuejobs")
        self.wait(lambda: not self.api("GET", "/api/v1/namespaces/default/pods")["items"], "all pods to go")

    def close(self):
        for process in (self.manager, self.server):
            process.terminate()
            process.wait()
        self.log.close()
        self.folder.cleanup()


def measure(report, world, what, begin, **more):
    cpu = common.usage_of(world.manager.pid)["cpu"]
    report.line(bench="whole", what=what, seconds=time.monotonic() - begin, manager_cpu_s=cpu - world.cpu, **more)
    world.cpu = cpu


def whole(report):
    world = World()
    world.cpu = common.usage_of(world.manager.pid)["cpu"]
    try:
        begin = time.monotonic()
        world.create("large", 512)
        world.wait(world.runs("large", 512), "a gang of 512 pods")
        measure(report, world, "gang_of_512", begin)

        begin = time.monotonic()
        world.create("larger", NODES * SLOTS + 1)
        world.wait(lambda: world.status("larger").get("reason") == "Infeasible", "the words of a gang that cannot fit")
        measure(report, world, "cannot_fit", begin, message=world.status("larger")["message"])
        world.delete_all()

        for i in range(NODES * SLOTS // 250):
            world.create(f"low-{i}", 250)
        for i in range(NODES * SLOTS // 250):
            world.wait(world.runs(f"low-{i}", 250), "a full cluster")
        measure(report, world, "filled", begin)
        begin = time.monotonic()
        world.create("high", 250, 100)
        world.wait(world.runs("high", 250), "a gang that evicts another")
        measure(report, world, "gang_of_250_that_evicts", begin)
        world.delete_all()
        world.cpu = common.usage_of(world.manager.pid)["cpu"]

        begin = time.monotonic()
        for i in range(NODES * SLOTS):
            world.create(f"one-{i}", 1)

        def all_run():
            time.sleep(1)
            queue = world.api("GET", f"{OURS}/queues/{QUEUE}")["status"]
            return queue["running"] == NODES * SLOTS
        world.wait(all_run, "4000 jobs of one pod")
        measure(report, world, "4000_jobs_of_one_pod", begin, rss_mb=common.usage_of(world.manager.pid)["rss_kib"] / 1024)
    finally:
        world.close()
