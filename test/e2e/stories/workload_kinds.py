"""Workloads that are no batch Jobs join a queue by one label. Their controllers are not here: the stories make and delete the pods as these do."""

import dataclasses
import json
from collections.abc import Callable

from harness import KEY, TEST_KEY, expect, expect_equal, wait_until

from stories.rbac import BY_POLICY, SERVICE_ACCOUNT, as_manager, expect_policies_are_sound
from stories.workloads import GROUP, QUEUE, admitted, install, queue

GATE = KEY + "gang"
LABEL = "example.com/of"


@dataclasses.dataclass
class Kind:
    group: str
    version: str
    plural: str
    kind: str
    spec: Callable  # of a spec() whose pods have the given PodTemplateSpec: three pods of two templates
    pods: Callable  # [(name, number, template)] of a spec
    policy: tuple = ()  # members of the spec that lead to suspend
    in_turn: bool = False  # the pods of a template are made when those of the one before it have nodes

    def resource(self):
        return f"{self.plural}.{self.group}"

    def install(self, s):
        schema = {"type": "object", "properties": {part: {"type": "object", "x-kubernetes-preserve-unknown-fields": True} for part in ("spec", "status")}}
        s.cluster.kubectl.apply({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": self.resource()},
            "spec": {"group": self.group, "scope": "Namespaced", "names": {"plural": self.plural, "kind": self.kind, "singular": self.kind.lower()},
                     "versions": [{"name": self.version, "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": schema}}]}})
        s.cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", f"crd/{self.resource()}")

    def get(self, s, name):
        return json.loads(s.kubectl("get", self.resource(), name, "-o", "json"))

    def all(self, s):
        return json.loads(s.kubectl("get", self.resource(), "-o", "json"))["items"]

    def suspended(self, obj):
        part = obj["spec"]
        for member in self.policy:
            part = part.get(member, {})
        return part.get("suspend", False), obj["metadata"].get("annotations", {}).get(KEY + "suspended-by")

    def suspend(self, s, name, value):
        patch = {"suspend": value}
        for member in reversed(self.policy):
            patch = {member: patch}
        s.kubectl("patch", self.resource(), name, "--type=merge", "-p", json.dumps({"spec": patch}))

    def make(self, s, name, queue=None, suspend=None, priority=None):
        pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **({"priorityClassName": priority} if priority else {}),
               "containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": "2"}}}]}
        spec = self.spec({"metadata": {"annotations": {f"{TEST_KEY}outcome": "run"}}, "spec": pod})
        if suspend is not None:
            part = spec
            for member in self.policy:
                part = part.setdefault(member, {})
            part["suspend"] = suspend
        s.apply({"apiVersion": f"{self.group}/{self.version}", "kind": self.kind,
                 "metadata": {"name": name, "labels": {} if queue == "" else {QUEUE: queue or s.namespace}}, "spec": spec})

    def play(self, s):
        """What the controller of the kind does: pods of what is not suspended, none of what is."""
        for obj in self.all(s):
            name = obj["metadata"]["name"]
            have = {p["metadata"]["name"]: p["spec"].get("nodeName") for p in pods(s, name)}
            if self.suspended(obj)[0]:
                if have:
                    s.kubectl("delete", "pods", "-l", f"{LABEL}={name}", "--wait=false")
                continue
            owner = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": name, "uid": obj["metadata"]["uid"], "controller": True}
            for role, number, template in self.pods(obj["spec"]):
                for i in range(number):
                    meta = template.get("metadata", {})
                    if f"{name}-{role}-{i}" not in have:
                        s.apply({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
                                 "metadata": {**meta, "name": f"{name}-{role}-{i}", "labels": {**meta.get("labels", {}), LABEL: name}, "ownerReferences": [owner]}})
                if self.in_turn and not all(have.get(f"{name}-{role}-{i}") for i in range(number)):
                    break

    def until(self, s, true, what, seconds=60):
        def played():
            self.play(s)
            return true()
        return wait_until(played, what, seconds=seconds, every=0.5)


def pods(s, name):
    return s.kubectl.list("pods", "-l", f"{LABEL}={name}")


def bound(s, name):
    return sum(bool(p["spec"].get("nodeName")) for p in pods(s, name))


def queue_of_three(s, kind):
    """A queue with room for one of them, and a manager that has noticed the CRD."""
    install(s)
    kind.install(s)
    queue(s, capability={"cpu": "6"}, preemptionPolicy="LowerPriority")

    def obeyed():
        s.kubectl("delete", kind.resource(), "probe", "--ignore-not-found", "--wait=true")
        kind.make(s, "probe", queue="none-of-these")
        return kind.suspended(kind.get(s, "probe")) == (True, "queue")
    wait_until(obeyed, "the API server obeys the policy", seconds=60, every=1)
    wait_until(lambda: s.group("probe"), "the manager has noticed the CRD", seconds=120)
    s.kubectl("delete", kind.resource(), "probe", "--wait=true")
    wait_until(lambda: not s.group("probe"), "its group goes with it", seconds=60)


def waits_starts_and_is_evicted(s, kind):
    queue_of_three(s, kind)
    kind.make(s, "red")
    kind.until(s, lambda: bound(s, "red") == 3, "the first runs")
    expect_equal({p["metadata"]["labels"].get(GROUP) for p in pods(s, "red")}, {"red"}, "the group of its pods")
    expect_equal(kind.suspended(kind.get(s, "red")), (False, None), "it is resumed")
    owner = s.group("red")["metadata"]["ownerReferences"][0]
    expect_equal((s.group("red")["spec"]["minMember"], owner["kind"]), (3, kind.kind), "its group")

    kind.make(s, "blue")
    kind.until(s, lambda: admitted(s, "blue")["reason"] == "QueueCapability", "the second says why it waits")
    expect("cpu: 6 requested, 0 of 6 free (6 short)" in admitted(s, "blue")["message"], admitted(s, "blue")["message"])
    expect_equal((kind.suspended(kind.get(s, "blue")), pods(s, "blue")), ((True, "queue"), []), "it is suspended, and has no pod")

    high = f"{s.namespace}-high"
    s.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": high}, "value": 1000})
    kind.make(s, "high", priority=high)
    kind.until(s, lambda: bound(s, "high") == 3, "the important one has the room", seconds=90)
    kind.until(s, lambda: kind.suspended(kind.get(s, "red")) == (True, "queue") and not pods(s, "red"), "the first is suspended")
    s.kubectl("delete", kind.resource(), "high", "--wait=true")
    kind.until(s, lambda: bound(s, "red") == 3, "it runs again, before the second, which is younger", seconds=90)
    expect_equal(pods(s, "blue"), [], "pods of the second")
    s.kubectl("delete", "priorityclass", high)

    kind.suspend(s, "red", True)
    kind.until(s, lambda: bound(s, "blue") == 3, "its user suspends it, and the second has the room", seconds=90)
    expect_equal(kind.suspended(kind.get(s, "red")), (True, None), "it stays as its user wants it")
    for name in ("red", "blue"):
        s.kubectl("delete", kind.resource(), name, "--wait=true")
    wait_until(lambda: not s.group("red") and not s.group("blue") and not pods(s, "blue"), "nothing is left", seconds=60)


def expect_limits(s, kind, forbidden, resumed):
    """What the policy refuses the manager, and what it takes from it. Each is a JSON patch of an object that is suspended by its queue."""
    expect_policies_are_sound(s)
    queue(s, capability={"cpu": "1"})
    kind.make(s, "mine")
    kind.make(s, "foreign", queue="", suspend=False)
    s.kubectl("create", "role", "kubectl", "--verb=get", f"--resource={kind.resource()}")
    s.kubectl("create", "rolebinding", "kubectl", "--role=kubectl", "--serviceaccount=kar-system:kar-controllers")
    wait_until(lambda: s.kubectl("get", kind.resource(), "mine", "--as", SERVICE_ACCOUNT, check=False)[0] == 0, "the right is there")

    def patch(name, operations):
        return as_manager(s, "patch", kind.resource(), name, "--type=json", "-p", json.dumps(operations))

    refused = {path: patch("mine", [{"op": "add", "path": path, "value": value}]) for path, value in forbidden.items()}
    suspend = "/spec/" + "/".join([*kind.policy, "suspend"])
    refused["a workload that names no queue"] = patch("foreign", [{"op": "add", "path": suspend, "value": True}])
    wrong = [f"{what}: {status} {answer}" for what, (status, answer) in refused.items() if not status or BY_POLICY not in answer]
    expect(not wrong, "must be refused by a policy:\n" + "\n".join(wrong))
    gates = [{"name": GATE}]
    status, answer = patch("mine", [{"op": "add", "path": suspend, "value": False}]
                           + [one for at in resumed for one in ({"op": "add", "path": at + "/metadata/labels", "value": {GROUP: "mine"}},
                                                                {"op": "add", "path": at + "/spec/schedulingGates", "value": gates})])
    expect_equal(status, 0, f"to resume it: {answer}")


def jobs(template):
    return {"replicatedJobs": [
        {"name": "driver", "template": {"spec": {"parallelism": 1, "completions": 1, "template": template}}},
        {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 1, "template": template}}}]}


JOBSET = Kind("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", jobs,
              lambda spec: [(j["name"], j.get("replicas", 1) * j["template"]["spec"]["parallelism"], j["template"]["spec"]["template"]) for j in spec["replicatedJobs"]])


def story_jobset_waits_for_its_queue_by_one_label(s):
    """JobSets of three pods, a queue with room for one: each starts whole; an evicted one is suspended; what its user suspends stays so."""
    waits_starts_and_is_evicted(s, JOBSET)


def story_jobset_in_order_starts_when_there_is_room_for_all(s):
    """Its workers are made when its driver has a node: the driver does not wait for them, but for their room."""
    kind = dataclasses.replace(JOBSET, in_turn=True, spec=lambda template: {**jobs(template), "startupPolicy": {"startupPolicyOrder": "InOrder"}})
    queue_of_three(s, kind)
    kind.make(s, "red")
    kind.until(s, lambda: bound(s, "red") == 3, "the first runs")
    expect_equal(s.group("red")["spec"]["minResources"], {"cpu": "6"}, "what all its pods need")
    kind.make(s, "blue")
    kind.until(s, lambda: admitted(s, "blue")["reason"] == "QueueCapability", "the second waits for the room of three")
    expect_equal(pods(s, "blue"), [], "its pods")
    s.kubectl("delete", kind.resource(), "red", "--wait=true")
    kind.until(s, lambda: bound(s, "blue") == 3, "the second runs")


def story_jobs_of_a_jobset_in_a_queue_are_left_alone(s):
    """The Jobs of a JobSet have its label: only the JobSet has a group, and nobody suspends its Jobs but it."""
    queue_of_three(s, JOBSET)
    JOBSET.make(s, "set")
    uid = JOBSET.get(s, "set")["metadata"]["uid"]
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set", "uid": uid, "controller": True}
    s.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "set-driver-0", "labels": {QUEUE: s.namespace}, "ownerReferences": [owner]},
             "spec": {"suspend": False, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main"}]}}}})
    JOBSET.until(s, lambda: bound(s, "set") == 3, "the JobSet runs")
    job = s.kubectl.get("job", "set-driver-0")
    expect_equal((job["spec"]["suspend"], job["metadata"].get("annotations", {}).get(KEY + "suspended-by")), (False, None), "its Job")
    expect_equal(s.group("set-driver-0"), None, "the group of its Job")


def story_manager_changes_of_jobsets_only_what_it_must(s):
    queue_of_three(s, JOBSET)
    first = "/spec/replicatedJobs/0/template/spec"
    expect_limits(s, JOBSET, {
        first + "/parallelism": 5, first + "/template/spec/nodeSelector": {"x": "y"}, first + "/template/metadata/annotations": {"x": "y"},
        first + "/template/metadata/labels": {GROUP: "mine", "x": "y"}, "/spec/replicatedJobs/1/replicas": 5, "/spec/replicatedJobs/0/name": "other",
        "/spec/failurePolicy": {"maxRestarts": 5}, "/metadata/labels": {QUEUE: "other"}, "/spec/replicatedJobs": [],
    }, [f"/spec/replicatedJobs/{i}/template/spec/template" for i in (0, 1)])


def kubeflow(plural, kind, member, first, version="v1"):
    return Kind("kubeflow.org", version, plural, kind,
                lambda template: {member: {first: {"template": template}, "Worker": {"replicas": 2, "template": template}}},
                lambda spec: [(role.lower(), one.get("replicas", 1), one["template"]) for role, one in spec[member].items()], policy=("runPolicy",))


PYTORCH = kubeflow("pytorchjobs", "PyTorchJob", "pytorchReplicaSpecs", "Master")
MPI = kubeflow("mpijobs", "MPIJob", "mpiReplicaSpecs", "Launcher", version="v2beta1")
ALIKE = [kubeflow("tfjobs", "TFJob", "tfReplicaSpecs", "Chief"), kubeflow("xgboostjobs", "XGBoostJob", "xgbReplicaSpecs", "Master"),
         kubeflow("paddlejobs", "PaddleJob", "paddleReplicaSpecs", "Master"), kubeflow("jaxjobs", "JAXJob", "jaxReplicaSpecs", "Master")]


def story_pytorchjob_waits_for_its_queue_by_one_label(s):
    """As of JobSets."""
    waits_starts_and_is_evicted(s, PYTORCH)


def story_mpijob_waits_for_its_queue_by_one_label(s):
    """As of JobSets."""
    waits_starts_and_is_evicted(s, MPI)


def story_jobs_of_kubeflow_wait_for_their_queue_by_one_label(s):
    """Those that differ from PyTorchJobs by their names only: each is suspended when it is created, and starts whole."""
    for kind in ALIKE:
        queue_of_three(s, kind)
        kind.make(s, "red")
        kind.until(s, lambda kind=kind: bound(s, "red") == 3, f"the {kind.kind} runs")
        expect_equal({p["metadata"]["labels"].get(GROUP) for p in pods(s, "red")}, {"red"}, "the group of its pods")
        s.kubectl("delete", kind.resource(), "red", "--wait=true")
        wait_until(lambda: not s.group("red") and not pods(s, "red"), "nothing is left", seconds=60)


def story_manager_changes_of_jobs_of_kubeflow_only_what_it_must(s):
    queue_of_three(s, PYTORCH)
    master = "/spec/pytorchReplicaSpecs/Master"
    expect_limits(s, PYTORCH, {
        master + "/template/spec/nodeSelector": {"x": "y"}, master + "/template/metadata/annotations": {"x": "y"},
        master + "/template/metadata/labels": {GROUP: "mine", "x": "y"}, "/spec/pytorchReplicaSpecs/Worker/replicas": 5,
        "/spec/pytorchReplicaSpecs": {}, "/spec/pytorchReplicaSpecs/Other": {}, "/spec/runPolicy/activeDeadlineSeconds": 5, "/spec/nprocPerNode": "2",
        "/metadata/labels": {QUEUE: "other"},
    }, [f"/spec/pytorchReplicaSpecs/{role}/template" for role in ("Master", "Worker")])


def cluster(template):
    return {"headGroupSpec": {"template": template}, "workerGroupSpecs": [{"groupName": "small", "replicas": 2, "template": template}]}


def pods_of_cluster(spec):
    return [("head", 1, spec["headGroupSpec"]["template"])] + [(g["groupName"], g["replicas"], g["template"]) for g in spec["workerGroupSpecs"]]


RAYCLUSTER = Kind("ray.io", "v1", "rayclusters", "RayCluster", cluster, pods_of_cluster)
RAYJOB = Kind("ray.io", "v1", "rayjobs", "RayJob", lambda template: {"shutdownAfterJobFinishes": True, "rayClusterSpec": cluster(template)},
              lambda spec: pods_of_cluster(spec["rayClusterSpec"]))


def story_raycluster_waits_for_its_queue_by_one_label(s):
    """As of JobSets."""
    waits_starts_and_is_evicted(s, RAYCLUSTER)


def story_rayjob_waits_for_its_queue_by_one_label(s):
    """As of JobSets; one that keeps its cluster cannot be suspended by KubeRay, and says so."""
    waits_starts_and_is_evicted(s, RAYJOB)
    RAYJOB.make(s, "keeps", suspend=True)
    s.kubectl("patch", RAYJOB.resource(), "keeps", "--type=merge", "-p", '{"spec":{"shutdownAfterJobFinishes":false,"suspend":false}}')
    RAYJOB.until(s, lambda: any(e["reason"] == "Unsupported" and e["involvedObject"]["name"] == "keeps" for e in s.kubectl.list("events")), "an event says so")
    RAYJOB.until(s, lambda: RAYJOB.suspended(RAYJOB.get(s, "keeps")) == (True, "queue") and not pods(s, "keeps"), "it is suspended, and stays so")


def story_manager_changes_of_ray_only_what_it_must(s):
    for kind, at in ((RAYCLUSTER, "/spec"), (RAYJOB, "/spec/rayClusterSpec")):
        queue_of_three(s, kind)
        group = at + "/workerGroupSpecs/0"
        s.kubectl("delete", "role,rolebinding", "kubectl", "--ignore-not-found")
        expect_limits(s, kind, {
            group + "/template/spec/nodeSelector": {"x": "y"}, group + "/template/metadata/annotations": {"x": "y"},
            at + "/headGroupSpec/template/metadata/labels": {GROUP: "mine", "x": "y"}, at + "/headGroupSpec/rayStartParams": {"x": "y"},
            group + "/replicas": 5, group + "/groupName": "other", at + "/workerGroupSpecs": [], at + "/rayVersion": "2", "/metadata/labels": {QUEUE: "other"},
            **({"/spec/entrypoint": "x", at + "/suspend": True} if kind is RAYJOB else {}),
        }, [at + "/headGroupSpec/template", group + "/template"])
