"""What is checked of each kind: one function check_* each, in the order of the table. Two nodes of 64 CPUs; an object has three pods of 30."""

import json
import time

from harness import KEY, TEST_KEY, expect, expect_equal, wait_until

GATE, GROUP = KEY + "gang", "scheduling.x-k8s.io/pod-group"
CPU = 30  # of a pod: three need both nodes, and of two objects the second could have one pod on them
SECONDS = 90


class Scene:
    """A kind of an operator in a namespace of its own, with a queue of its own."""

    def __init__(self, story, kind, operator):
        self.s, self.kind, self.operator = story, kind, operator
        self.kubectl, self.audit, self.namespace = story.kubectl, story.audit, story.namespace
        self.queue()

    def queue(self, **spec):
        self.s.apply({"apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": self.namespace}, "spec": spec})

    def make(self, name, cpu=CPU, **more):
        self.s.apply(self.kind.make(self.operator, name, self.namespace, cpu, **more))

    def get(self, name):
        return json.loads(self.kubectl("get", self.kind.resource, name, "-o", "json"))

    def suspended(self, name):
        return self.kind.suspended(self.get(name))

    def suspend(self, name, value):
        self.kubectl("patch", self.kind.resource, name, "--type=merge", "-p", self.kind.suspend_patch(value))

    def delete(self, name):
        self.kubectl("delete", self.kind.resource, name, "--wait=false")

    def pods(self, name):
        return [p for p in self.kubectl.list("pods") if p["metadata"]["name"].startswith(name + "-")
                and any(part in p["metadata"]["name"] for part in self.kind.members) and "deletionTimestamp" not in p["metadata"]]

    def bound(self, name):
        return sum(bool(p["spec"].get("nodeName")) and p["status"].get("phase") in ("Pending", "Running") for p in self.pods(name))

    def whole(self, name):
        return self.bound(name) == self.kind.pods

    def until(self, true, what, seconds=SECONDS):
        return wait_until(true, f"{self.kind.name}: {what}", seconds, every=0.3)

    def until_whole(self, name, what):
        return self.until(lambda: self.whole(name), f"{name} {what}: {self.kind.pods} pods on nodes")

    def admitted(self, name):
        found = [c for c in (self.s.group(name) or {}).get("status", {}).get("conditions", []) if c["type"] == "Admitted"]
        return found[0] if found else {"status": "Unknown", "reason": "", "message": ""}

    def until_waits(self, name, *words):
        self.until(lambda: self.admitted(name)["status"] == "False" and all(w in self.admitted(name)["message"] for w in words), f"{name} waits, with the words {words}")
        expect_equal(([p["metadata"]["name"] for p in self.pods(name)], self.suspended(name)), ([], (True, "queue")), f"pods of {name}, and who has suspended it")

    def pod(self, name, cpu, node=None, job=False):
        """A pod of nobody; as a batch Job it is in the queue."""
        spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, **({"nodeName": node} if node else {}),
                "containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": str(cpu)}}}]}
        notes = {"annotations": {TEST_KEY + "outcome": "run"}}
        if job:
            self.s.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {KEY + "queue": self.namespace}},
                          "spec": {"template": {"metadata": notes, "spec": spec}}})
        else:
            self.s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **notes}, "spec": spec})

    def nothing_left(self, *names):
        def left():
            named = [f"{kind}/{o['metadata']['name']}" for kind in ("pods", "podgroups.scheduling.x-k8s.io", "jobs") for o in self.kubectl.list(kind)]
            return [n for n in named if n.split("/")[1].startswith(names)]
        self.until(lambda: not left(), f"nothing is left of {names}")


def check_starts_whole(c):
    """All of its pods run, as members of one gang; none of them existed before the queue had admitted it."""
    c.make("red")
    c.until_whole("red", "starts")
    expect_equal({p["metadata"].get("labels", {}).get(GROUP) for p in c.pods("red")}, {"red"}, "the group of its pods")
    expect_equal(c.suspended("red"), (False, None), "it is resumed")
    plural = c.kind.resource.split(".")[0]
    resumed = c.audit.events(verb="patch", resource=plural, subresource="", namespace=c.namespace, agent="kar-controllers/", code=200)
    made = c.audit.events(verb="create", resource="pods", subresource="", namespace=c.namespace, code=201)
    expect(resumed and made and resumed[0]["requestReceivedTimestamp"] < made[0]["requestReceivedTimestamp"], "its first pod is younger than its admission")


def check_waits_for_room(c):
    """Room for two of its three pods: none exists, and the reason has the amounts; it starts when there is room."""
    for node in (0, 1):
        c.pod(f"filler-{node}", 20, node=f"node-{node}")
    c.until(lambda: all(p["status"].get("phase") == "Running" for p in c.kubectl.list("pods")), "the nodes are in use")
    c.make("red")
    c.until_waits("red", "insufficient cpu: 90 requested, 88 of 128 free (2 short)")
    c.kubectl("delete", "pod", "filler-0", "--wait=false")
    c.until_whole("red", "starts when there is room")


def check_one_of_two(c):
    """Two are created together, and there is room for one."""
    c.make("red")
    c.make("blue")
    c.until(lambda: c.whole("red") or c.whole("blue"), "one of them starts")
    first, second = ("red", "blue") if c.whole("red") else ("blue", "red")
    for _ in range(5):
        time.sleep(1)
        expect_equal((c.bound(first), c.bound(second)), (c.kind.pods, 0), f"pods on nodes of {first} and {second}")
    c.until_waits(second, "cpu")
    c.delete(first)
    c.until_whole(second, "starts after it")


def check_worker_dies(c):
    """Its worker is deleted while somebody smaller waits for room: its operator makes it again, and it has its place back."""
    c.make("red")
    c.until_whole("red", "starts")
    c.until(lambda: c.s.group("red")["status"].get("phase") == "Running", "its group runs")
    c.pod("small", CPU + 10, job=True)
    c.until(lambda: c.admitted("small")["status"] == "False", "somebody waits for room")
    victim = next(p["metadata"] for p in c.pods("red") if c.kind.worker in p["metadata"]["name"])
    c.kubectl("delete", "pod", victim["name"], "--wait=false")
    c.until(lambda: victim["uid"] not in [p["metadata"]["uid"] for p in c.pods("red")] and c.whole("red"), "it is whole again")
    expect_equal(c.bound("small"), 0, "pods on nodes of the one that waits")


def check_suspend_and_resume(c):
    """Its user suspends it: its room is free, and it stays suspended. Resumed, it waits for its queue."""
    c.make("red")
    c.until_whole("red", "starts")
    c.make("blue")
    c.until_waits("blue", "cpu")
    c.suspend("red", True)
    c.until_whole("blue", "has its room")
    expect_equal((c.bound("red"), c.suspended("red")), (0, (True, None)), "pods on nodes of red, and who has suspended it")
    c.suspend("red", False)
    c.until(lambda: c.suspended("red") == (True, "queue") and not c.pods("red"), "it waits for its queue")
    c.delete("blue")
    c.until_whole("red", "starts again")


def check_evicted(c):
    """One of higher priority takes its room: it is suspended, and starts again by itself."""
    c.queue(preemptionPolicy="LowerPriority")
    high = f"{c.namespace}-high"
    c.s.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": high}, "value": 1000})
    try:
        c.make("red")
        c.until_whole("red", "starts")
        c.until(lambda: c.s.group("red")["status"].get("phase") == "Running", "its group runs")
        c.make("high", priority=high)
        c.until_whole("high", "has its room")
        c.until(lambda: c.suspended("red") == (True, "queue") and not c.pods("red"), "it is suspended")
        c.delete("high")
        c.until_whole("red", "starts again")
    finally:
        c.kubectl("delete", "priorityclass", high)


def check_queue_limit(c):
    """A queue that has room for one of two by its limit: the second has no pod, and the reason has the amounts; it starts when the limit is raised."""
    c.queue(capability={"cpu": "10"})
    c.make("red", cpu=2)
    c.until_whole("red", "starts")
    c.make("blue", cpu=2)
    c.until_waits("blue", "insufficient cpu: 6 requested, 4 of 10 free (2 short)")
    expect_equal(c.admitted("blue")["reason"], "QueueCapability", "why it waits")
    c.queue(capability={"cpu": "12"})
    c.until_whole("blue", "starts when it may")


def check_nothing_left(c):
    """One that runs and one that waits are deleted: pods, groups and Jobs go with them."""
    c.make("red")
    c.until_whole("red", "starts")
    c.make("blue")
    c.until_waits("blue", "cpu")
    c.delete("blue")
    c.delete("red")
    c.nothing_left("red", "blue")


CHECKS = {name.removeprefix("check_"): function for name, function in list(globals().items()) if name.startswith("check_")}
