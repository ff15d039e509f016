"""Operators that know gang scheduling, unchanged: what they create, in their order, with the names, references and amounts of their samples
(KubeRay) and of the objects that their own tests expect (Trainer, MPI, Spark). manifests/gangs is in force. Four nodes of 64 CPUs."""

import json
import re

from harness import OPERATORS, TEST_KEY, condition, expect, expect_equal, json_documents, wait_until
from stories.gang_policy import GATE, LABEL, LISTED, gates_of, policy
from stories.members import NO_ROOM, members, nodes, runs, said, says
from stories.nodes import Cordon, gang as gang_of_a_queuejob, nodes_of, wait_until_alone

DEFAULT = "default-scheduler"


def create(s, *objects):
    """In this order. Returns what the API server stores."""
    return json_documents(s.kubectl("create", "-o", "json", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})))


def reference(made, **flags):
    return {"apiVersion": made["apiVersion"], "kind": made["kind"], "name": made["metadata"]["name"], "uid": made["metadata"]["uid"], **flags}


def controlled(made):
    return reference(made, controller=True, blockOwnerDeletion=True)


def group(name, minimum, *owners, **spec):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name, "ownerReferences": list(owners)},
            "spec": {"minMember": minimum, **spec}}


def template(gang, cpu, memory, outcome="run", labels=None, **spec):
    container = {"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {"metadata": {"labels": {**(labels or {}), LABEL: gang}, "annotations": {f"{TEST_KEY}outcome": outcome, f"{TEST_KEY}after": "1s"}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container], **spec}}


def pod(name, owners, *args, **more):
    made = template(*args, **more)
    return {"apiVersion": "v1", "kind": "Pod", **made, "metadata": {**made["metadata"], "name": name, "ownerReferences": owners}}


def job(name, owners, pods, *args, **more):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "ownerReferences": owners},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, "completionMode": "Indexed", "template": template(*args, **more)}}


def need(cpu, memory):
    return {"cpu": cpu, "memory": memory}


def owner(version, kind, name):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}


class Trainer:
    """Kubeflow Trainer v2, podGroupPolicy.coscheduling: the group counts all pods; JobSet creates the Job of the nodes when the one of the
    initializer is complete (dependsOn). The schedulerName is the default one."""

    gang = "trainjob"

    def first(self, s):
        train, = create(s, owner("trainer.kubeflow.org/v1alpha1", "TrainJob", self.gang))
        jobset = owner("jobset.x-k8s.io/v1alpha2", "JobSet", self.gang)
        jobset["metadata"]["ownerReferences"] = [controlled(train)]
        self.jobset, = create(s, jobset)
        return [group(self.gang, 3, controlled(train), minResources=need("1250m", "2560Mi"), scheduleTimeoutSeconds=30),
                job("trainjob-dataset-initializer-0", [controlled(self.jobset)], 1, self.gang, "250m", "512Mi", outcome="succeed")]

    def is_ready(self, s):
        return condition(s.kubectl.get("job", "trainjob-dataset-initializer-0"), "Complete") == "True"

    def later(self):
        return [job("trainjob-node-0", [controlled(self.jobset)], 2, self.gang, "500m", "1Gi")]


class PyTorch:
    """training-operator v1, --gang-scheduler-name=default-scheduler: the name is written into pods that have none. Its sample asks for no
    resources; here a pod asks for 2 CPUs, and the master has a priority."""

    gang = "pytorch-simple"

    def first(self, s):
        by = controlled(create(s, owner("kubeflow.org/v1", "PyTorchJob", self.gang))[0])
        labels = {"training.kubeflow.org/job-name": self.gang, "training.kubeflow.org/operator-name": "pytorchjob-controller"}

        def replica(kind, **spec):
            return pod(f"{self.gang}-{kind}-0", [by], self.gang, "2", "1Gi", schedulerName=DEFAULT,
                       labels={**labels, "training.kubeflow.org/replica-type": kind, "training.kubeflow.org/replica-index": "0"}, **spec)

        return [group(self.gang, 2, by, minResources=need("4", "2Gi")), replica("master", priorityClassName=s.namespace), replica("worker")]


class Mpi:
    """MPI operator, --gang-scheduling=default-scheduler, which overwrites the template's; the time-out is 0 unless the user sets one. The
    launcher, a Job, comes when the workers are Ready (launcherCreationPolicy)."""

    gang = "mpi"

    def first(self, s):
        made, = create(s, owner("kubeflow.org/v2beta1", "MPIJob", self.gang))
        self.by = controlled(made)
        return [group(self.gang, 3, self.by, minResources=need("21", "42Gi"), scheduleTimeoutSeconds=0),
                *(pod(f"mpi-worker-{i}", [self.by], self.gang, "10", "20Gi", labels=self.labels("worker"), schedulerName=DEFAULT) for i in range(2))]

    @staticmethod
    def labels(role):
        return {"training.kubeflow.org/job-name": "mpi", "training.kubeflow.org/operator-name": "mpi-operator", "training.kubeflow.org/job-role": role}

    def is_ready(self, s):
        workers = s.kubectl.list("pods", "-l", "training.kubeflow.org/job-role=worker")
        return all(condition(w, "Ready") == "True" for w in workers)

    def later(self):
        return [job("mpi-launcher", [self.by], 1, self.gang, "1", "2Gi", labels=self.labels("launcher"), schedulerName=DEFAULT)]


class Ray:
    """KubeRay, batchScheduler.name scheduler-plugins: it names a scheduler that is not there, its RayCluster is owner but not controller of the
    group, and the group is never updated."""

    gang = "test-podgroup-0"

    def first(self, s):
        self.made, = create(s, owner("ray.io/v1", "RayCluster", self.gang))
        return [group(self.gang, 3, reference(self.made), minResources=need("3", "4Gi")),
                self.member("head", "headgroup", "2Gi"), self.member("worker-a", "worker", "1Gi"), self.member("worker-b", "worker", "1Gi")]

    def member(self, name, ray_group, memory):
        labels = {"ray.io/cluster": self.gang, "ray.io/group": ray_group, "ray.io/is-ray-node": "yes", "ray.io/node-type": "head" if name == "head" else "worker"}
        return pod(f"{self.gang}-{name}", [controlled(self.made)], self.gang, "1", memory, labels=labels, schedulerName=LISTED, restartPolicy="Always")


class Spark:
    """Spark operator, --kube-scheduler-names=default-scheduler: the group has minMember 1 and asks for the executors too, which the driver
    creates, and owns."""

    gang = "test-app-pg"

    def first(self, s):
        by = controlled(create(s, owner("sparkoperator.k8s.io/v1beta2", "SparkApplication", "test-app"))[0])
        return [group(self.gang, 1, by, minResources=need("3", "6400Mi")), self.member("test-app-driver", by, "driver", "1280Mi")]

    def member(self, name, by, role, memory):
        labels = {"sparkoperator.k8s.io/app-name": "test-app", "sparkoperator.k8s.io/launched-by-spark-operator": "true", "spark-role": role}
        return pod(name, [by], self.gang, "1", memory, labels=labels, schedulerName=DEFAULT)

    def is_ready(self, s):
        self.driver = s.kubectl.get("pod", "test-app-driver")
        return self.driver["status"].get("phase") == "Running"

    def later(self):
        return [self.member(f"test-app-exec-{i}", controlled(self.driver), "executor", "2560Mi") for i in (1, 2)]


class Label:
    """A Deployment whose template has the label; somebody creates the group when the pods are there already."""

    gang = "web"

    def first(self, s):
        made = template(self.gang, "1", "1Gi", labels={"app": "web"}, restartPolicy="Always")
        return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                 "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": made}}]


# What each of them says while the only node that may be used has 500m free: what all of its pods need, also those to come.
SHORT = {gang: f"insufficient cpu: {wanted} requested, 0.5 of 64 free ({short} short)" for gang, wanted, short in (
    ("trainjob", "1.3", "0.8"), ("pytorch-simple", "4", "3.5"), ("mpi", "21", "20.5"),
    ("test-podgroup-0", "3", "2.5"), ("test-app-pg", "3", "2.5"), ("web", "2", "1.5"))}


def filler(s, name, cpu):
    """A pod of nobody, on the only node that may be used."""
    spec = {"terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": cpu}}}]}
    s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {f"{TEST_KEY}outcome": "run"}}, "spec": spec})
    wait_until(lambda: s.kubectl.get("pod", name)["spec"].get("nodeName"), f"{name} has a node")


def expect_waits(s, gang):
    """All of its pods are gated, and the group says what is short."""
    waits = wait_until(lambda: says(s, gang, "Admitted", *NO_ROOM) and said(s, gang, "Admitted"), f"{gang} waits for room")
    expect(re.fullmatch(re.escape(SHORT[gang]) + r"(, taken by pods of no queue: [\d.]+ cpu)?(, nodes: [^;]+)?; \w+ of \d in queue default", waits["message"]), f"{gang}: {waits['message']}")
    wait_until(lambda: says(s, gang, "Scheduled", *NO_ROOM), f"condition Scheduled of {gang} has the same reason")
    for name, p in members(s, gang).items():
        state = (gates_of(p), p["spec"]["schedulerName"], condition_reason(p, "PodScheduled"), p["spec"].get("nodeName"))
        expect_equal(state, ([GATE], DEFAULT, "SchedulingGated", None), f"gates, scheduler, state and node of {name}")


def condition_reason(obj, kind):
    return next((c["reason"] for c in obj["status"].get("conditions", []) if c["type"] == kind), None)


def whole(s, gang):
    status = s.group(gang)["status"]
    return condition(s.group(gang), "Scheduled") == "True" and "" not in nodes(s, gang) and status


def story_operators_start_whole(s):
    """What each operator creates waits whole, says what is short, and starts whole; members that it creates later find the room that was held; all goes with its owner."""
    wait_until_alone(s)
    s.cluster.kubectl("apply", "--server-side", "-f", str(OPERATORS))
    s.cluster.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": s.namespace}, "value": 100010})
    ray, staged, web = Ray(), [Trainer(), Mpi(), Spark()], Label()
    everybody = [*staged, ray, PyTorch(), web]
    with policy(s):
        with Cordon(s, *nodes_of(s)[1:]):
            filler(s, "others", "29750m")
            s.apply(gang_of_a_queuejob("for-now", replicas=1, cpu="33750m"))
            s.wait_phase("for-now", "Running", running=1)
            for operator in everybody:
                create(s, *operator.first(s))
            wait_until(lambda: len(s.kubectl.list("pods", "-l", "app=web")) == 2, "the Deployment has its pods")
            create(s, group(web.gang, 2))
            for operator in everybody:
                expect_waits(s, operator.gang)
            expect("; 1st of " in said(s, "pytorch-simple", "Admitted")["message"], "the priority of a pod is that of its group")
            s.kubectl("delete", "queuejob", "for-now")  # there is room for all of them, and no more
            for operator in everybody:
                wait_until(lambda: members(s, operator.gang) and "" not in nodes(s, operator.gang), f"{operator.gang} starts whole")
            create(s, group("greedy", 1), pod("greedy", [], "greedy", "500m", "1Gi"))
            wait_until(lambda: says(s, "greedy", "Admitted", *NO_ROOM), "the room for members to come is not given away")
            for operator in staged:
                wait_until(lambda: operator.is_ready(s), f"{operator.gang} is ready for its last members")
                create(s, *operator.later())
            for operator in everybody:
                wait_until(lambda: whole(s, operator.gang), f"{operator.gang} is whole")
            expect_equal(nodes(s, "greedy"), [""], "nodes of greedy")
            create(s, ray.member("worker-c", "worker", "1Gi"))
        wait_until(lambda: members(s, ray.gang)[f"{ray.gang}-worker-c"]["spec"].get("nodeName"), "a worker beyond minMember starts by itself")
        wait_until(lambda: runs(s, "greedy"), "greedy runs")
        for operator in everybody:
            made = s.group(operator.gang)
            expect_equal((made["status"]["placement"]["attempt"], made["metadata"]["generation"]), (1, 1), f"attempts of {operator.gang}, and changes of its spec")
    s.kubectl("delete", "trainjobs,pytorchjobs,mpijobs,rayclusters,sparkapplications,deployments", "--all", "--wait=false")
    s.kubectl("delete", "podgroups.scheduling.x-k8s.io", "web", "greedy")
    s.kubectl("delete", "pods", "greedy", "others")
    wait_until(lambda: not s.kubectl.list("pods") and not s.kubectl.list("podgroups.scheduling.x-k8s.io"), "nothing is left", seconds=60)
    s.cluster.kubectl("delete", "priorityclass", s.namespace)


def gang_of_a_job(s, name, pods, outcome):
    create(s, group(name, pods), job(name, [], pods, name, "40", "1Gi", outcome=outcome))


def story_gang_conformance(s):
    """A Job whose template has the label: all pods run and complete; of a gang that is too large no pod ever has a node; deletion leaves nothing."""
    wait_until_alone(s)
    watch = s.watch_pods()
    with policy(s):
        gang_of_a_job(s, "oversize", 5, "run")
        waits = wait_until(lambda: says(s, "oversize", "Admitted", "Infeasible"), "it is infeasible")
        expect(waits["message"] == "4 of 5 pods fit on empty nodes: 4 nodes lack cpu (short 16)", waits["message"])
        gang_of_a_job(s, "fits", 4, "succeed")
        wait_until(lambda: condition(s.kubectl.get("job", "fits"), "Complete") == "True", "its Job is complete")
        wait_until(lambda: s.group("fits")["status"].get("phase") == "Finished", "the group is finished")
        for name in ("oversize", "fits"):
            s.kubectl("delete", f"job/{name}", f"podgroups.scheduling.x-k8s.io/{name}")
        wait_until(lambda: s.kubectl.list("pods") == [], "no pod is left")
        gang_of_a_job(s, "next", 4, "run")
        wait_until(lambda: runs(s, "next"), "all nodes are free for the next one")
    watch.stop()
    seen = [(p["metadata"]["labels"][LABEL], p["spec"].get("nodeName"), p["status"].get("phase")) for _, p in watch.events()]
    expect_equal({node for gang, node, _ in seen if gang == "oversize"}, {None}, "nodes that pods of the large gang ever had")
    expect_equal(len({node for gang, node, phase in seen if gang == "fits" and phase == "Running"}), 4, "nodes on which the others ran")
