"""Gangs that start while others take their nodes, or while there are not enough nodes. Four nodes of 64 CPUs."""

import itertools
import json
import random
import threading

from harness import KEY, TEST_KEY, USER_AGENT, condition, expect, expect_equal, wait_until
from replicas import seconds
from stories.nodes import add_node, expect_no_pod_was_made, expect_nothing_counted, gang, placement, wait_until_alone

STARTS = 100
PODS = 3
AT_ONCE = 10  # there is room for four
TIMEOUT = 5
SEED = 20261121
QUEUES = "queues.kube-arbitrator.io"


class Thief(threading.Thread):
    """Makes pods for the default scheduler, of several sizes, as long as it is not stopped; each ends by itself after a moment."""

    def __init__(self, s, pause=0.2):
        super().__init__()
        self.reader, self.path = s.kubectl.reader, f"/api/v1/namespaces/{s.namespace}/pods"
        self.pause, self.done, self.made, self.rng = pause, threading.Event(), 0, random.Random(SEED)

    def pod(self):
        requests = {"cpu": str(self.rng.choice((16, 24, 32, 40)))}
        return {"metadata": {"name": f"thief-{self.made}", "annotations": {f"{TEST_KEY}outcome": "succeed", f"{TEST_KEY}after": "300ms"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36", "resources": {"requests": requests}}]}}

    def run(self):
        while not self.done.wait(self.pause):
            self.reader.ask("POST", self.path, json.dumps(self.pod()))
            self.made += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


def bindings_and_deletes(s):
    """[(time, pod, whether it gets a node)], as the API server has answered."""
    bound = s.audit.events(verb="create", resource="pods", subresource="binding", namespace=s.namespace, code=201)
    gone = s.audit.events(verb="delete", resource="pods", subresource="", namespace=s.namespace, agent=USER_AGENT, code=200)
    return sorted((seconds(e["requestReceivedTimestamp"]), e["objectRef"]["name"], e in bound) for e in [*bound, *gone])


def parts_of(events):
    """gang -> [seconds for which it held a part]; the gangs that are whole, and those that hold a part, in the end. One that is whole at the last moment may be rolled back all the same."""
    held, since, parts, whole = {}, {}, {}, set()
    for time, pod, binds in events:
        name = pod.rpartition("-worker-")[0]
        if not name:  # of somebody else
            continue
        pods = held.setdefault(name, set())
        before = len(pods)
        (pods.add if binds else pods.discard)(pod)
        if len(pods) == before:
            continue
        if before in (0, PODS):
            since[name] = time
            whole.discard(name)
        if len(pods) in (0, PODS):
            parts.setdefault(name, []).append(time - since.pop(name))
        if len(pods) == PODS:
            whole.add(name)
    return parts, whole, since


class Crowd:
    """Jobs that are sent in their order, so many at once; each is deleted when it runs whole."""

    def __init__(self, s):
        self.s, self.path, self.whole = s, f"/apis/{KEY}v1alpha1/namespaces/{s.namespace}/queuejobs", set()

    def reap(self):
        """Returns the jobs that are left."""
        left = {j["metadata"]["name"]: j.get("status", {}) for j in self.s.kubectl.list("queuejobs.kube-arbitrator.io") if "deletionTimestamp" not in j["metadata"]}
        for name in [n for n, status in left.items() if status.get("phase") == "Running"]:
            expect_equal([left[name].get(k, 0) for k in ("restarts", "podFailures", "disruptions")], [0, 0, 0], f"what {name} has counted")
            self.s.kubectl.reader.ask("DELETE", f"{self.path}/{name}")
            self.whole.add(name)
            del left[name]
        return left

    def send(self, job):
        wait_until(lambda: len(self.reap()) < AT_ONCE, "some run", seconds=60, every=0.05)
        code, answer = self.s.kubectl.reader.ask("POST", self.path, json.dumps(job))
        expect(code == 201, f"answer to a job: {code} {answer}")

    def starts(self):
        """Those that are under way or have failed, and those that are over."""
        return len(self.whole) + sum(placement(self.s, name).get("attempt", 0) for name in self.reap())

    def waits(self):
        """Nobody who is left has a pod or may get one."""
        return all(condition(self.s.group(name), "Admitted") != "True" and not self.s.pods(name) for name in self.reap())


def story_gangs_start_whole_beside_a_disruptive_user(s):
    """A hundred starts while somebody else fills the holes: no gang holds a part of its nodes for longer than its time-out; in the end each has run whole or waits without pods."""
    wait_until_alone(s)
    s.apply({"apiVersion": f"{KEY}v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}})
    crowd = Crowd(s)
    try:
        with Thief(s) as thief:
            for i in itertools.count():
                if crowd.starts() >= STARTS:
                    break
                crowd.send(gang(f"gang-{i}", replicas=PODS, cpu="20", sched={"scheduleTimeoutSeconds": TIMEOUT}, queue=s.namespace))
            s.kubectl("patch", QUEUES, s.namespace, "--type=merge", "-p", '{"spec": {"state": "Closed"}}')
        wait_until(crowd.waits, "who does not run waits without pods", seconds=60)
        parts, whole, left = parts_of(bindings_and_deletes(s))
        longest = max(t for found in parts.values() for t in found)
        failed = sum(e["reason"] == "RolledBack" for e in s.kubectl.list("events.events.k8s.io") if e["regarding"]["kind"] == "PodGroup")
        s.shown.append(f"{thief.made} pods of somebody else; {len(whole)} gangs ran whole, {failed} starts were rolled back; the longest time in part was {longest:.2f} s")
        expect_equal((crowd.whole, left), (whole, {}), "gangs that were whole, and those that hold a part")
        expect(longest <= TIMEOUT + 5, f"a gang held a part of its nodes for {longest:.1f} s")
    finally:
        s.cluster.kubectl("delete", QUEUES, s.namespace, "--wait=false")


def unschedulable(s, name):
    """Pods that a cluster autoscaler would make nodes for."""
    return [n for n, p in s.pods(name).items() if p["status"]["phase"] == "Pending" and any(
        c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in p["status"].get("conditions", []))]


def story_gang_without_room_calls_for_nodes(s):
    """Queue.spec.provisioning Pods: of two gangs that only nodes hold up one has pods that are unschedulable, the other waits; a node comes, and it is the turn of the other."""
    wait_until_alone(s)
    s.apply({"apiVersion": f"{KEY}v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}, "spec": {"provisioning": "Pods"}})
    try:
        s.apply(gang("first", replicas=5, queue=s.namespace))
        wait_until(lambda: len(unschedulable(s, "first")) == 1, "one of its pods is unschedulable")
        expect_equal((placement(s, "first")["state"], len(s.pods("first"))), ("Unplaced", 5), "state of the placement, and pods")
        s.apply(gang("second", replicas=5, queue=s.namespace))
        s.wait_phase("second", "Pending", reason="Provisioning")
        expect_no_pod_was_made(s, "second")
        add_node(s, "one-more")
        s.wait_phase("first", "Running", running=5)
        wait_until(lambda: len(unschedulable(s, "second")) == 5, "the second calls for nodes")
        expect_equal((placement(s, "first")["state"], placement(s, "second")["state"]), ("Satisfied", "Unplaced"), "states")
        s.kubectl("delete", "queuejob", "first", "--wait=true", "--cascade=foreground")
        s.wait_phase("second", "Running", running=5)
        expect_nothing_counted(s, "second", 1)
    finally:
        s.kubectl("delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
        s.cluster.kubectl("delete", "node", "one-more", "--ignore-not-found")
        s.cluster.kubectl("delete", QUEUES, s.namespace, "--wait=false")
