"""The operators: how each is built and started, and objects of its kinds, made of its published samples. Nothing of theirs is in this repository."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import yaml
from gotool import go_tool
from harness import KEY, TEST_KEY, expect, wait_until

HERE = pathlib.Path(__file__).resolve().parent


def documents(text):
    return [one for one in yaml.safe_load_all(text) if one]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Operator:
    """A Go module in a folder of its own, which names its version, and the program in it."""

    folder = module = package = ""
    crds = ()  # files of the module
    probe = "healthz"

    def __init__(self):
        at = HERE / self.folder
        found = json.loads(subprocess.check_output(["go", "mod", "download", "-json", self.module], cwd=at))
        self.version, self.dir = found["Version"], pathlib.Path(found["Dir"])
        self.process = None

    def build(self):
        self.program = go_tool(HERE / self.folder, self.package)

    def crd_files(self):
        return [file for pattern in self.crds for file in sorted(self.dir.glob(pattern))]

    def sample(self, file, kind):
        """The first object of that kind in a file of the module: YAML, or a text with blocks of YAML."""
        text = (self.dir / file).read_text()
        parts = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if file.endswith(".md") else [text]
        return next(one for part in parts for one in documents(part) if one["kind"] == kind)

    def prepare(self, cluster, port):
        """Before it is started. @port: of its webhooks."""

    def flags(self, cluster, ports):
        """@ports: of its probes, its metrics and its webhooks."""
        return []

    def start(self, cluster):
        ports = [free_port() for _ in range(3)]
        self.log = cluster.dir / f"log/{self.folder}.log"
        self.prepare(cluster, ports[2])
        with self.log.open("w") as log:
            self.process = subprocess.Popen([self.program, *self.flags(cluster, ports)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}, start_new_session=True)
        wait_until(lambda: not self.alive() or self.is_ready(cluster, ports), f"{self.folder} is ready", seconds=60)
        expect(self.alive(), f"{self.folder} has ended: {self.tail()}")

    def is_ready(self, cluster, ports):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/{self.probe}", timeout=2).status == 200
        except (urllib.error.URLError, OSError):
            return False

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def tail(self, lines=25):
        return "\n".join(self.log.read_text().splitlines()[-lines:])


def certificate(folder):
    """tls.crt and tls.key for 127.0.0.1 in @folder; returns the first in base64."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "tls.key", "-out", folder / "tls.crt"], check=True, capture_output=True)
    return subprocess.check_output(["base64", "-w", "0", folder / "tls.crt"], text=True)


def webhooks(configurations, port, ca):
    """The same webhooks, on this machine instead of behind a Service."""
    for one in configurations:
        for hook in one["webhooks"]:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": ca}
    return configurations


class JobSet(Operator):
    """With its webhooks: they say what of a JobSet may be changed, and when."""

    folder, module, package = "jobset", "sigs.k8s.io/jobset", "sigs.k8s.io/jobset"
    crds = ("config/components/crd/bases/*.yaml",)
    probe = "readyz"

    def prepare(self, cluster, port):
        certs = cluster.dir / "jobset-certs"
        ca = certificate(certs)
        config = {"apiVersion": "config.jobset.x-k8s.io/v1alpha1", "kind": "Configuration", "leaderElection": {"leaderElect": False},
                  "internalCertManagement": {"enable": False}, "webhook": {"port": port, "host": "127.0.0.1", "certDir": str(certs)}}
        (certs / "config.yaml").write_text(yaml.safe_dump(config))
        rendered = documents(subprocess.check_output(["kubectl", "kustomize", self.dir / "config/components/webhook"], text=True))
        for one in webhooks([one for one in rendered if one["kind"].endswith("WebhookConfiguration")], port, ca):
            cluster.kubectl.apply(one)

    def flags(self, cluster, ports):
        return [f"--config={cluster.dir}/jobset-certs/config.yaml", f"--health-probe-bind-address=127.0.0.1:{ports[0]}", f"--metrics-bind-address=127.0.0.1:{ports[1]}"]


class Mpi(Operator):
    """Its health port is always 8080."""

    folder, module = "mpi-operator", "github.com/kubeflow/mpi-operator"
    package = "github.com/kubeflow/mpi-operator/cmd/mpi-operator"
    crds = ("manifests/base/kubeflow.org_mpijobs.yaml",)

    def prepare(self, cluster, port):
        cluster.kubectl("create", "namespace", "mpi-operator")

    def flags(self, cluster, ports):
        return ["--kube-api-qps=100", "--kube-api-burst=200"]

    def is_ready(self, cluster, ports):
        return "Starting workers" in self.log.read_text() or "Started workers" in self.log.read_text()


class KubeRay(Operator):
    folder, module = "kuberay", "github.com/ray-project/kuberay/ray-operator"
    package = "github.com/ray-project/kuberay/ray-operator"
    crds = ("config/crd/bases/*.yaml",)

    def flags(self, cluster, ports):
        return ["--enable-leader-election=false", f"--health-probe-bind-address=127.0.0.1:{ports[0]}", f"--metrics-addr=127.0.0.1:{ports[1]}"]


# --- their kinds ----------------------------------------------------------------------------------------

class Kind:
    """@templates: the PodTemplateSpecs of an object. All pods of an object have names that begin with its own."""

    operator = name = resource = file = ""
    policy = ()  # members of the spec that lead to suspend
    worker = ""  # part of the names of the pods of which one is deleted
    pods = 3  # of an object
    members = ("-",)  # parts of the names of the pods that its gang has

    def shape(self, obj):
        """What is changed of the sample, so that it has .pods pods."""

    def make(self, operator, name, queue, cpu, priority=None, **notes):
        obj = operator.sample(self.file, self.name)
        self.shape(obj)
        obj["metadata"] = {"name": name, "labels": {KEY + "queue": queue}}
        for template in self.templates(obj["spec"]):
            template.setdefault("metadata", {}).setdefault("annotations", {}).update({TEST_KEY + "outcome": "run", **notes})
            template["spec"]["terminationGracePeriodSeconds"] = 1
            if priority:
                template["spec"]["priorityClassName"] = priority
            for container in template["spec"]["containers"]:
                container["resources"] = {"requests": {"cpu": str(cpu)}}
        return obj

    def suspended(self, obj):
        part = obj["spec"]
        for member in self.policy:
            part = part.get(member, {})
        return part.get("suspend", False), obj["metadata"].get("annotations", {}).get(KEY + "suspended-by")

    def suspend_patch(self, value):
        patch = {"suspend": value}
        for member in reversed(self.policy):
            patch = {member: patch}
        return json.dumps({"spec": patch})


class JobSetKind(Kind):
    operator, name, resource = JobSet, "JobSet", "jobsets.jobset.x-k8s.io"
    file = "keps/104-StartupPolicy/README.md"
    worker = "-workers-"

    def shape(self, obj):
        """One pod that fails makes all of its Jobs anew."""
        del obj["spec"]["startupPolicy"]
        obj["spec"]["failurePolicy"] = {"maxRestarts": 3}

    def templates(self, spec):
        return [j["template"]["spec"]["template"] for j in spec["replicatedJobs"]]


class JobSetInOrder(JobSetKind):
    """Its workers are made when its driver runs; a pod that fails is made again by its Job."""

    title = "JobSet, InOrder"

    def shape(self, obj):
        for job in obj["spec"]["replicatedJobs"]:
            del job["template"]["spec"]["backoffLimit"]


class MpiJob(Kind):
    operator, name, resource = Mpi, "MPIJob", "mpijobs.kubeflow.org"
    file = "examples/v2beta1/pi/pi.yaml"
    policy = ("runPolicy",)
    worker = "-worker-"

    def templates(self, spec):
        return [r["template"] for r in spec["mpiReplicaSpecs"].values()]


class RayCluster(Kind):
    operator, name, resource = KubeRay, "RayCluster", "rayclusters.ray.io"
    file = "config/samples/ray-cluster.sample.yaml"
    worker = "-worker-"

    def cluster(self, spec):
        return spec

    def shape(self, obj):
        self.cluster(obj["spec"])["workerGroupSpecs"][0]["replicas"] = 2

    def templates(self, spec):
        c = self.cluster(spec)
        return [c["headGroupSpec"]["template"], *(g["template"] for g in c["workerGroupSpecs"])]


class RayJob(RayCluster):
    name, resource = "RayJob", "rayjobs.ray.io"
    file = "config/samples/ray-job.shutdown.yaml"

    members = ("-head-", "-worker-")  # not its submitter, which KubeRay makes when they run

    def cluster(self, spec):
        return spec["rayClusterSpec"]


KINDS = [JobSetKind(), JobSetInOrder(), MpiJob(), RayCluster(), RayJob()]
