"""What a queue allows holds for what its pods use, at any time: a group that has been admitted does not grow past it. Four nodes of 64 CPUs."""

import json
import time

from harness import expect, expect_equal, queuejob, task, wait_until
from stories.members import group, members, owned_pod, owner
from stories.nodes import wait_until_alone
from stories.queue_policy import condition, patch, queue

QUEUES = "queues.kube-arbitrator.io"


def stays(holds, what, seconds=3):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        expect(holds(), f"it stays so: {what}")
        time.sleep(0.2)


def job(name, cpu, replicas, queue, **spec):
    one = task("w", replicas)
    one["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": str(cpu)}}
    return queuejob(name, one, queue=queue, **spec)


def edit(s, name, path, value):
    s.kubectl("patch", "queuejob", name, "--type=json", "-p", json.dumps([{"op": "replace", "path": f"/spec/taskSpecs/0/{path}", "value": value}]))


def bound(s, *jobs):
    return sorted(p for j in jobs for p, pod in s.pods(j).items() if pod["spec"].get("nodeName"))


def over(s, name):
    return condition(s.cluster.kubectl.get(QUEUES, name), "OverCapability")


def story_raised_minimum_stays_within_the_limits(s):
    """A job of two pods in a queue of 2 CPUs is made one of ten: two run on, also when its PodGroup is deleted meanwhile, and it says why."""
    wait_until_alone(s)
    with queue(s, capability={"cpu": 2}) as name:
        s.apply(job("j", 1, 2, name))
        s.wait_phase("j", "Running", running=2)
        edit(s, "j", "replicas", 10)
        why = f"insufficient cpu: 8 requested, 0 of 2 free (8 short), queue {name} has capability 2"
        wait_until(lambda: why in s.status("j").get("message", ""), f"the job says: {why}")
        s.kubectl("delete", "podgroup", "j", "--wait=false")
        stays(lambda: len(bound(s, "j")) == 2, "two pods, though the PodGroup was deleted", 4)
        patch(s, QUEUES, name, {"spec": {"capability": {"cpu": 10}}})
        s.wait_phase("j", "Running", running=10)
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")


def story_raised_minimum_does_not_pass_a_strict_head(s):
    """An old job of one pod is made one of 50 in a StrictFIFO queue, whose head waits for 60 CPUs: it waits behind that, and grows when it has started."""
    wait_until_alone(s)
    with queue(s, queueingStrategy="StrictFIFO") as name:
        s.apply(job("foot", 1, 1, name))
        s.wait_phase("foot", "Running", running=1)
        s.apply(job("fill", 50, 4, name))
        s.wait_phase("fill", "Running", running=4)
        s.apply(job("head", 1, 60, name))
        s.wait_phase("head", "Pending")
        edit(s, "foot", "replicas", 50)
        why = f"minimum raised to 50: queue {name} is StrictFIFO: {s.namespace}/head goes first"
        wait_until(lambda: why in s.status("foot").get("message", ""), f"the job says: {why}")
        expect_equal(len(bound(s, "foot")), 1, "its pods")
        s.kubectl("delete", "queuejob", "fill", "--wait=false")
        s.wait_phase("head", "Running", running=60)
        s.wait_phase("foot", "Running", running=50)
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")


def story_queue_says_that_it_is_over_its_capability(s):
    """The capability is lowered below what runs: nothing is stopped, nothing more comes, and the queue names the amounts until it is within."""
    wait_until_alone(s)
    with queue(s, capability={"cpu": 4}) as name:
        s.apply(job("runs", 1, 3, name))
        s.wait_phase("runs", "Running", running=3)
        uids = s.uids("runs")
        patch(s, QUEUES, name, {"spec": {"capability": {"cpu": 2}}})
        s.apply(job("next", 1, 1, name))
        s.wait_phase("next", "Pending", reason="QueueCapability")
        says = "its pods have more than its capability: cpu 3 of 2 (1 over); nothing is stopped, and nothing more comes"
        wait_until(lambda: over(s, name).get("status") == "True" and over(s, name)["message"] == says, f"the queue says: {says}")
        wait_until(lambda: says in s.cluster.kubectl("describe", QUEUES, name).partition("Events:")[2], "an event says it, too")
        stays(lambda: s.uids("runs") == uids, "the same pods", 2)
        s.kubectl("delete", "queuejob", "runs", "--wait=false")
        s.wait_phase("next", "Running", running=1)
        wait_until(lambda: over(s, name)["status"] == "False", "the queue is within its capability")
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")


def story_edited_template_waits_within_the_limits(s):
    """A template is edited to twice the CPUs in a queue that has no more: the pods run on, and the job says why. It is made anew when the queue has room, and at once when the edit asks for less."""
    wait_until_alone(s)
    with queue(s, capability={"cpu": 4}) as name:
        s.apply(job("j", 2, 2, name))
        s.wait_phase("j", "Running", running=2)
        uids = s.uids("j")
        request = "template/spec/containers/0/resources/requests/cpu"
        edit(s, "j", request, "4")
        why = f"incarnation 1 runs on: templates edited: insufficient cpu: 8 requested, 4 of 4 free (4 short), queue {name} has capability 4"
        wait_until(lambda: s.status("j").get("message") == why, f"the job says: {why}")
        stays(lambda: s.uids("j") == uids, "the same pods")
        s.kubectl("delete", "podgroups.scheduling.x-k8s.io", "j", "--wait=true")  # as by a restore without status: the new group says nothing at first
        wait_until(lambda: condition(s.group("j") or {}, "TemplatesAdmitted").get("status") == "False", "the new group says it, too")
        wait_until(lambda: s.status("j").get("message") == why, f"the job still says: {why}")
        stays(lambda: s.uids("j") == uids, "the same pods")
        patch(s, QUEUES, name, {"spec": {"capability": {"cpu": 8}}})
        s.wait_phase("j", "Running", running=2, incarnation=2)
        edit(s, "j", request, "100")
        wait_until(lambda: "runs on: templates edited: " in s.status("j").get("message", ""), "the job says that no node is as large")
        edit(s, "j", request, "1")
        s.wait_phase("j", "Running", running=2, incarnation=3)
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")


def started(s, name):
    return sorted(p for p, pod in members(s, name).items() if pod["spec"].get("nodeName"))


def story_late_members_stay_within_the_limits(s):
    """Six pods of a controller whose PodGroup asks for one, in a queue of 3 CPUs: three run, also when one is lost, and the others say why they wait. They start when the capability is raised."""
    wait_until_alone(s)
    with queue(s, capability={"cpu": 3}) as name:
        group(s, "web", 1, queue=name)
        by = owner(s, "web")
        for number in range(6):
            owned_pod(s, "web", number, cpu="1", owner=by)
        wait_until(lambda: len(started(s, "web")) == 3, "three run", seconds=60)
        why = f"waits: insufficient cpu: 1 requested, 0 of 3 free (1 short), queue {name} has capability 3"
        wait_until(lambda: why in condition(s.group("web"), "Admitted").get("message", ""), f"the group says: {why}")
        stays(lambda: len(started(s, "web")) == 3, "three run")
        wait_until(lambda: [e for e in s.kubectl.list("events") if why in e.get("message", "") and e["involvedObject"]["kind"] == "Pod"], "a pod says so, too", seconds=60)
        s.kubectl("delete", "pod", started(s, "web")[0], "--wait=true")
        wait_until(lambda: len(started(s, "web")) == 3, "another one takes its place", seconds=60)
        stays(lambda: len(started(s, "web")) == 3, "three run")
        patch(s, QUEUES, name, {"spec": {"capability": {"cpu": 6}}})
        wait_until(lambda: len(started(s, "web")) == 5, "all that are left run", seconds=60)


def story_raised_minimum_of_others_stays_within_the_limits(s):
    """A PodGroup of two pods in a queue of 3 CPUs is made one of five: one more starts, the group says why the others wait, and what ran runs on. They start when the capability is raised."""
    wait_until_alone(s)
    with queue(s, capability={"cpu": 3}) as name:
        group(s, "web", 2, queue=name)
        by = owner(s, "web")
        for number in range(2):
            owned_pod(s, "web", number, cpu="1", owner=by)
        wait_until(lambda: len(started(s, "web")) == 2, "two run", seconds=60)
        wait_until(lambda: s.group("web")["status"].get("phase") == "Running", "the group runs")
        first = started(s, "web")
        patch(s, "podgroups", "web", {"spec": {"minMember": 5}})
        for number in range(2, 5):
            owned_pod(s, "web", number, cpu="1", owner=by)
        why = f"waits: insufficient cpu: 1 requested, 0 of 3 free (1 short), queue {name} has capability 3"
        wait_until(lambda: why in condition(s.group("web"), "Admitted").get("message", ""), f"the group says: {why}")
        stays(lambda: len(started(s, "web")) == 3, "three run")
        print(s.kubectl("get", "podgroups", "web", "-o", "wide"))
        patch(s, QUEUES, name, {"spec": {"capability": {"cpu": 5}}})
        wait_until(lambda: len(started(s, "web")) == 5, "all run", seconds=60)
        expect(set(first) <= set(started(s, "web")), "the first two ran on")
