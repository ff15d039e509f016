"""What the queue counts under a ResourceQuota: as the API server does, and whatever a user tries."""

import json
import time

from harness import KEY, expect, expect_equal, queuejob, task, wait_until
from stories.members import said


def quota(s, hard, **spec):
    s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": hard, **spec}})
    wait_until(lambda: s.kubectl.get("resourcequota", "few").get("status", {}).get("hard") == hard, "the quota counts")


def used(s):
    return s.kubectl.get("resourcequota", "few")["status"].get("used", {})


def asking(name, n, resources, **job):
    made = queuejob(name, task("worker", n), sched={"minAvailable": n}, **job)
    made["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = resources
    return made


def bare_pod(name, **meta):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **meta},
            "spec": {"containers": [{"name": "main", "image": "busybox:1.36", "resources": {"requests": {"cpu": "10m"}}}]}}


def never_more_than(s, pods, seconds=3):
    end = time.time() + seconds
    while time.time() < end:
        now = int(used(s).get("pods", 0))
        expect(now <= pods, f"pods that the quota counts: {now} of {pods}")
        time.sleep(0.2)


def story_limit_range_defaults_are_charged(s):
    """What a LimitRange gives to containers counts before a pod exists: who fits is admitted, who does not waits without a pod."""
    s.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"},
             "spec": {"limits": [{"type": "Container", "default": {"cpu": "20m", "memory": "64Mi"}, "defaultRequest": {"cpu": "10m"}}]}})
    quota(s, {"requests.cpu": "45m", "limits.cpu": "1", "limits.memory": "1Gi", "pods": "10"})
    s.apply(queuejob("fits", task("worker", 3)))
    s.wait_phase("fits", "Running", running=3)
    wait_until(lambda: used(s) == {"requests.cpu": "30m", "limits.cpu": "60m", "limits.memory": "192Mi", "pods": "3"}, "what is used")
    s.apply(queuejob("waits", task("worker", 2)))
    status = s.wait_phase("waits", "Pending", reason="QuotaExceeded")
    expect_equal(status["message"].split(";")[0], "insufficient requests.cpu: 20m requested, 15m of 45m free (5m short), quota few has 45m, used 30m", "the message")
    expect_equal(s.pods("waits"), {}, "pods of the job that waits")
    s.kubectl("patch", "limitrange", "defaults", "--type=merge", "-p", '{"spec":{"limits":[{"type":"Container","default":{"cpu":"20m","memory":"64Mi"},"defaultRequest":{"cpu":"5m"}}]}}')
    s.wait_phase("waits", "Running", running=2)


def story_quota_needs_what_no_container_sets(s):
    """A quota for limits lets no pod without a limit in: the job says so, and no create is tried."""
    quota(s, {"limits.cpu": "1"})
    s.apply(queuejob("bare", task("worker", 2)))
    status = s.wait_phase("bare", "Pending", reason="QuotaInvalidTemplate")
    expect("quota few needs limits.cpu, container main of task worker sets none" in status["message"], f"the message: {status['message']}")
    expect_equal(s.audit.pod_creates(s.namespace), [], "creates of pods that the quota refuses")


def story_requests_beyond_reason_start_nothing(s):
    """Negative requests are refused; such as no 64 bits hold give nobody room and start no pod."""
    quota(s, {"pods": "4", "requests.cpu": "100m"})
    failed, said = s.kubectl("apply", "-f", "-", stdin=json.dumps(asking("negative", 2, {"requests": {"cpu": "-1000"}})), check=False)
    expect(failed and "requests.cpu" in said, f"a job with negative requests must be refused: {said}")
    s.apply(asking("huge", 2, {"requests": {"cpu": "9223372036854775807"}}))
    s.apply(asking("honest", 4, {"requests": {"cpu": "25m"}}))
    s.wait_phase("honest", "Running", running=4)
    wait_until(lambda: used(s).get("pods") == "4", "the honest job is counted")
    expect_equal(s.pods("huge"), {}, "pods of the job that asks for too much")


def story_pods_that_pretend_are_counted(s):
    """A pod with the labels of a job, or with an owner that is long gone, takes room like any other, and none of the job's."""
    quota(s, {"pods": "4"})
    s.apply(bare_pod("job-worker-7", labels={f"{KEY}queuejob": "job", f"{KEY}task": "worker", f"{KEY}index": "7"}))
    wait_until(lambda: used(s).get("pods") == "1", "the pod is counted")
    s.apply(queuejob("job", task("worker", 4)))
    status = s.wait_phase("job", "Pending", reason="QuotaExceeded")
    expect("quota few has 4, used 1" in status["message"], f"the message: {status['message']}")
    s.kubectl("delete", "pod", "job-worker-7", "--grace-period=0", "--force")
    s.wait_phase("job", "Running", running=4)


def story_running_jobs_stay_charged(s):
    """A job that changes its queue, or grows, while it runs has no pod beyond the quota, and none that is not counted."""
    quota(s, {"pods": "4"})
    s.apply(queuejob("moves", task("worker", 3)))
    s.wait_phase("moves", "Running", running=3)
    s.kubectl("patch", "queuejob", "moves", "--type=json", "-p", '[{"op":"replace","path":"/spec/taskSpecs/0/replicas","value":4},{"op":"add","path":"/spec/schedSpec","value":{"minAvailable":4}}]')
    s.wait_phase("moves", "Running", running=4)
    s.apply(queuejob("waits", task("worker", 2)))
    s.wait_phase("waits", "Pending", reason="QuotaExceeded")
    s.kubectl("patch", "queuejob", "moves", "--type=json", "-p", '[{"op":"replace","path":"/spec/taskSpecs/0/replicas","value":6},{"op":"replace","path":"/spec/schedSpec/minAvailable","value":6}]')
    short = "minimum raised to 6: insufficient pods: 2 requested, 0 of 4 free (2 short), quota few has 4, used 4"
    wait_until(lambda: said(s, "moves", "Admitted").get("message") == short, "the group says what is short", seconds=60)
    expect_equal(len(s.pods("moves")), 4, "what runs goes on")
    # The real API server refuses the first; the simulated one evaluates no CEL. Neither may give anybody room.
    s.kubectl("patch", "queuejob", "moves", "--type=merge", "-p", '{"spec":{"queue":"elsewhere"}}', check=False)
    s.kubectl("label", "podgroup", "moves", f"{KEY}queue=elsewhere")
    s.kubectl("label", "pods", "--all", f"{KEY}queue=elsewhere")
    never_more_than(s, 4)
    expect_equal(s.pods("waits"), {}, "pods of the job that waits")


def story_room_is_reserved_for_members_to_come(s):
    """A PodGroup of another controller reserves quota before its pods exist: no job gets that room, its own pods do, and its end gives it back."""
    def reserved(name):
        found = [c for c in (s.group(name) or {}).get("status", {}).get("conditions", []) if c["type"] == "QuotaReserved"]
        return (found[0]["status"], found[0]["message"]) if found else None

    def group(name, pods):
        s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name},
                 "spec": {"minMember": 1, "totalResources": {"pods": pods, "cpu": "30m"}}})

    quota(s, {"pods": "5", "requests.cpu": "100m"})
    group("night", 3)
    wait_until(lambda: (reserved("night") or ("",))[0] == "True", "the room is reserved")
    group("late", 3)
    wait_until(lambda: reserved("late") == ("False", "insufficient pods: 3 requested, 2 of 5 free (1 short), quota few has 5, used 3"), "a second one does not fit")
    s.apply(asking("job", 3, {"requests": {"cpu": "10m"}}))
    status = s.wait_phase("job", "Pending", reason="QuotaExceeded")
    expect_equal(status["message"].split(";")[0], "insufficient pods: 3 requested, 2 of 5 free (1 short), quota few has 5, used 3", "the message of the job")
    for n in range(3):
        s.apply(bare_pod(f"night-{n}", labels={"scheduling.x-k8s.io/pod-group": "night"}))
    wait_until(lambda: used(s).get("pods") == "3", "the members are counted")
    time.sleep(1)
    expect_equal(reserved("night")[0], "True", "the reservation that is used up")
    expect_equal(s.pods("job"), {}, "pods of the job")
    s.kubectl("delete", "pod", "night-0", "night-1", "night-2", "--grace-period=0", "--force")
    s.kubectl("delete", "podgroup", "night", "late")
    s.wait_phase("job", "Running", running=3)
