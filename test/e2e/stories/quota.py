"""The minimum of a gang under a ResourceQuota: all of its pods or none, the highest priority first."""

import json
import time

from harness import MANIFESTS, expect, expect_equal, queuejob, task, wait_until


def allow(s, pods):
    s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": str(pods)}}})
    wait_until(lambda: s.kubectl.get("resourcequota", "few").get("status", {}).get("hard") == {"pods": str(pods)}, "the quota counts")


def succeed(s, name):
    for pod in s.pods(name):
        s.kubectl("annotate", "pod", pod, "--overwrite", "test.kube-arbitrator.io/outcome=succeed")


def expect_untouched(s, name):
    """What was rolled back is neither a failure nor a disruption, and restarts nothing."""
    status = s.status(name)
    counts = {k: status.get(k, 0) for k in ("restarts", "podFailures", "disruptions", "incarnation")}
    expect_equal(counts, {"restarts": 0, "podFailures": 0, "disruptions": 0, "incarnation": 1}, f"what {name} has counted")


def gates(s, name):
    return [g["name"] for pod in s.pods(name).values() for g in pod["spec"].get("schedulingGates", [])]


def runs(s, name):
    return s.status(name).get("phase") == "Running"


def story_two_gangs_under_one_quota(s):
    """Of two gangs that do not fit together, one runs and the other holds nothing, until there is room for all of it."""
    allow(s, 4)
    for name in ("red", "blue"):
        s.apply(queuejob(name, task("worker", 3)))
    wait_until(lambda: runs(s, "red") or runs(s, "blue"), "one of the gangs runs")
    first, second = ("red", "blue") if runs(s, "red") else ("blue", "red")
    s.wait_phase(second, "Pending", reason="QuotaExceeded")
    expect("quota few" in s.status(second)["message"], f"the message must name the quota: {s.status(second)['message']}")
    held = []
    for _ in range(20):
        held.append(len(s.pods(second)))
        expect(len(s.pods(first)) == 3, "the other gang is whole")
        time.sleep(0.2)
    expect_equal(held, [0] * 20, "pods of the gang that waits, looked at every 0.2 s")
    expect_equal(gates(s, first), [], "gates of the gang that runs")
    succeed(s, first)
    s.wait_phase(first, "Completed")
    s.wait_phase(second, "Running", running=3)
    expect_equal(gates(s, second), [], "gates of the second gang")
    expect_untouched(s, second)
    expect_untouched(s, first)
    succeed(s, second)
    s.wait_phase(second, "Completed")


def has_all(s, name):
    return s.status(name).get("running") == 4


def story_stages_do_not_hold_each_other_up(s):
    """Of two jobs with a first task each, and room for all pods of one, only one begins: it has room for its later task as well."""
    allow(s, 4)
    for name in ("red", "blue"):
        s.apply(queuejob(name, task("worker", 3, dependsOn=[{"name": "master"}]), task("master", 1)))
    wait_until(lambda: has_all(s, "red") or has_all(s, "blue"), "one of them has all its pods")
    first, second = ("red", "blue") if has_all(s, "red") else ("blue", "red")
    s.wait_phase(second, "Pending", reason="QuotaExceeded")
    expect_equal(s.pods(second), {}, "pods of the other")
    s.kubectl("delete", "queuejob", first)
    s.wait_phase(second, "Running", running=4)
    expect_untouched(s, second)


def story_raised_quota_wakes_who_waits(s):
    """A minimum that can never fit is not tried; one that waits for room goes on at once when the quota is raised."""
    allow(s, 2)
    s.apply(queuejob("large", task("worker", 3)))
    status = s.wait_phase("large", "Pending", reason="QuotaInfeasible")
    expect_equal(status["message"].split(";")[0], "insufficient pods: 3 requested, 2 of 2 free (1 short), quota few allows 2", "the message")
    time.sleep(2)
    expect_equal(s.audit.pod_creates(s.namespace), [], "creates of pods that can never fit")
    allow(s, 3)
    s.wait_phase("large", "Running", seconds=5, running=3)

    s.apply(queuejob("second", task("worker", 2)))
    s.wait_phase("second", "Pending", reason="QuotaExceeded")
    time.sleep(8)  # until the next try by back-off is many seconds away
    allow(s, 5)
    s.wait_phase("second", "Running", seconds=3, running=2)
    expect_untouched(s, "second")


def story_requests_that_never_fit(s):
    """The requests of the minimum are more than the quota allows: nothing is created, the message has the sum; what fits alone runs."""
    def asking(name, replicas, minimum):
        job = queuejob(name, task("worker", replicas), sched={"minAvailable": minimum})
        job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "10m"}}
        return job

    s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"requests.cpu": "20m"}}})
    wait_until(lambda: s.kubectl.get("resourcequota", "few").get("status", {}).get("hard") == {"requests.cpu": "20m"}, "the quota counts")
    s.apply(asking("large", 3, 3))
    status = s.wait_phase("large", "Pending", reason="QuotaInfeasible")
    expect_equal(status["message"].split(";")[0], "insufficient requests.cpu: 30m requested, 20m of 20m free (10m short), quota few allows 20m", "the message")
    time.sleep(2)
    expect_equal(s.audit.pod_creates(s.namespace), [], "creates of pods that can never fit")
    s.apply(asking("small", 2, 2))
    s.wait_phase("small", "Running", running=2)
    s.apply(asking("next", 2, 2))
    s.wait_phase("next", "Pending", reason="QuotaExceeded")
    s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"requests.cpu": "70m"}}})
    for name, pods in (("large", 3), ("next", 2)):
        s.wait_phase(name, "Running", running=pods)
        expect_untouched(s, name)


def story_lower_priority_waits_behind(s):
    """A job that would fit waits while one of a higher priority waits for the same quota; what both need goes to the higher one."""
    allow(s, 4)
    s.apply(queuejob("running", task("worker", 3)))
    s.wait_phase("running", "Running", running=3)
    s.apply(queuejob("high", task("worker", 3), sched={"priority": 5}))
    s.wait_phase("high", "Pending", reason="QuotaExceeded")
    s.apply(queuejob("low", task("worker", 1)))
    status = s.wait_phase("low", "Pending", reason="QuotaExceeded")
    expect(f"{s.namespace}/high goes first" in status["message"], f"the message must say who goes first: {status['message']}")
    expect_equal(s.pods("low"), {}, "pods of the lower priority")
    s.kubectl("delete", "queuejob", "running")
    s.wait_phase("high", "Running", running=3)
    s.wait_phase("low", "Running", running=1)
    expect_untouched(s, "high")


def story_refused_minimum_is_rolled_back(s):
    """A quota whose scope only the API server reads refuses a part of a minimum: no pod of it stays, the job says so, and the highest priority
    starts when there is room."""
    def allow_near(pods):
        s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "near"}, "spec": {"hard": {"pods": str(pods)}, "scopes": ["CrossNamespacePodAffinity"]}})
        wait_until(lambda: s.kubectl.get("resourcequota", "near").get("status", {}).get("hard") == {"pods": str(pods)}, "the quota counts")

    def near(name, priority):
        job = queuejob(name, task("worker", 3), sched={"priority": priority})
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname", "namespaces": ["default"]}
        job["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}
        return job

    allow_near(2)
    for name, priority in (("low", 1), ("high", 9)):
        s.apply(near(name, priority))
    for name in ("low", "high"):
        wait_until(lambda name=name: s.status(name).get("reason") == "QuotaExceeded", f"{name} is refused")
        wait_until(lambda name=name: "fitted and were deleted again" in s.status(name).get("message", "") or "exceeded quota: near" in s.status(name).get("message", ""), f"{name} says why")
    wait_until(lambda: not s.pods("low") and not s.pods("high"), "no part of a minimum stays")
    allow_near(3)
    s.wait_phase("high", "Running", seconds=40, running=3)
    expect(s.status("low").get("phase") != "Running", "the lower priority waits")
    for name in ("low", "high"):
        counts = {k: s.status(name).get(k, 0) for k in ("restarts", "podFailures", "disruptions")}
        expect_equal(counts, {"restarts": 0, "podFailures": 0, "disruptions": 0}, f"what {name} has counted")
    s.kubectl("delete", "queuejob", "high")
    s.wait_phase("low", "Running", seconds=40, running=3)


def story_users_gates_stay(s):
    """The template's own scheduling gates are neither lost nor removed, and the gang waits for whoever removes them."""
    allow(s, 4)
    job = queuejob("gated", task("worker", 2))
    job["spec"]["taskSpecs"][0]["template"]["spec"]["schedulingGates"] = [{"name": "example.com/data"}]
    watch = s.watch_pods()
    s.apply(job)
    wait_until(lambda: gates(s, "gated") == ["example.com/data"] * 2, "only the user's gates are left")
    s.wait_phase("gated", "Starting")
    for name in s.pods("gated"):
        s.kubectl("patch", "pod", name, "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')
    s.wait_phase("gated", "Running", running=2)
    seen = [[g["name"] for g in pod["spec"].get("schedulingGates", [])] for kind, pod in watch.events() if kind == "ADDED"]
    watch.stop()
    expect_equal(seen, [["example.com/data"]] * 2, "gates at the creation")


def story_example_quotas_count_jobs(s):
    """manifests/examples/quota.yaml counts what it names; a user who has as many jobs as it allows gets no further one."""
    s.kubectl("apply", "-f", str(MANIFESTS / "examples/quota.yaml"))
    hard = s.kubectl.get("resourcequota", "queuejobs")["spec"]["hard"]
    used = {"count/queuejobs.kube-arbitrator.io": "1", "count/podgroups.scheduling.x-k8s.io": "1", "count/schedulingspecs.kube-arbitrator.io": "1",
            "count/services": "1", "pods": "2", "count/pods": "2"}
    expect_equal(sorted(hard), sorted(used), "what the example limits")
    wait_until(lambda: s.kubectl.get("resourcequota", "queuejobs").get("status", {}).get("used", {}).keys() == hard.keys(), "the quota is in force", 60)
    job = queuejob("first", task("worker", 2))
    job["spec"]["network"] = {"enableDNSHostnames": True}
    s.apply(job)
    s.wait_phase("first", "Running", running=2)
    wait_until(lambda: s.kubectl.get("resourcequota", "queuejobs")["status"]["used"] == used, f"used is {used}", 60)
    lower = json.dumps({"spec": {"hard": {"count/queuejobs.kube-arbitrator.io": "1"}}})
    s.kubectl("patch", "resourcequota", "queuejobs", "--type=merge", "-p", lower)
    wait_until(lambda: s.kubectl.get("resourcequota", "queuejobs")["status"]["hard"]["count/queuejobs.kube-arbitrator.io"] == "1", "the limit is lowered", 60)
    status, answer = s.kubectl("create", "-f", "-", stdin=json.dumps(queuejob("second", task("worker", 1))), check=False)
    expect(status and "exceeded quota: queuejobs" in answer, f"the API server answered: {answer}")
