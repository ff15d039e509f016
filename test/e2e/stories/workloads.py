"""Workloads of other controllers that can be suspended join a queue by one label: batch Jobs, which a policy suspends when they are created."""

import time

from harness import KEY, MANIFESTS, TEST_KEY, expect, expect_equal, wait_until

from stories.documents import blocks
from stories.rbac import BY_POLICY, SERVICE_ACCOUNT, as_manager, expect_policies_are_sound, merge

GROUP = "scheduling.x-k8s.io/pod-group"
QUEUE = KEY + "queue"


def install(s):
    """Rights and policy, as docs/WORKLOADS.md says."""
    s.kubectl("apply", "--server-side", "-k", str(MANIFESTS / "workloads"))
    def obeyed():
        s.kubectl("delete", "job", "probe", "--ignore-not-found", "--wait=true")
        job(s, "probe", 1, queue="none-of-these")
        return suspended(s, "probe")[0] and suspended(s, "probe")[1] == "queue"
    wait_until(obeyed, "the API server obeys the policy", seconds=60, every=1)
    s.kubectl("delete", "job", "probe", "--wait=true")


def queue(s, **spec):
    s.apply({"apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}, "spec": spec})


def job(s, name, pods, queue=None, suspend=None, outcome="run", priority=None, **spec):
    container = {"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": "2"}}}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container], **({"priorityClassName": priority} if priority else {})}
    s.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, **({"labels": {QUEUE: queue}} if queue else {})},
             "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, **({} if suspend is None else {"suspend": suspend}),
                      "template": {"metadata": {"annotations": {f"{TEST_KEY}outcome": outcome}}, "spec": pod}, **spec}})


def suspended(s, name):
    found = s.kubectl.get("job", name)
    return found["spec"].get("suspend", False), found["metadata"].get("annotations", {}).get(KEY + "suspended-by")


def pods(s, name):
    return s.kubectl.list("pods", "-l", f"batch.kubernetes.io/job-name={name}")


def bound(s, name):
    return sum(bool(p["spec"].get("nodeName")) for p in pods(s, name))


def admitted(s, name):
    found = [c for c in (s.group(name) or {}).get("status", {}).get("conditions", []) if c["type"] == "Admitted"]
    return found[0] if found else {"status": "Unknown", "reason": "", "message": ""}


def events(s, name, reason):
    return [e for e in s.kubectl.list("events") if e["reason"] == reason and e["involvedObject"]["kind"] == "Job" and e["involvedObject"]["name"] == name]


def story_batch_job_waits_for_its_queue_by_one_label(s):
    """Two Jobs of two pods, a queue with room for one: the second has no pod, says why, and starts whole when the first is gone."""
    install(s)
    queue(s, capability={"cpu": "4"})
    job(s, "red", 2, s.namespace)
    wait_until(lambda: bound(s, "red") == 2, "the first runs", seconds=60)
    expect_equal({p["metadata"]["labels"].get(GROUP) for p in pods(s, "red")}, {"red"}, "the group of its pods")
    job(s, "blue", 2, s.namespace)
    wait_until(lambda: admitted(s, "blue")["reason"] == "QueueCapability", "the second says why it waits")
    expect("cpu: 4 requested, 0 of 4 free (4 short)" in admitted(s, "blue")["message"], admitted(s, "blue")["message"])
    wait_until(lambda: any("4 requested, 0 of 4 free" in e.get("message", e.get("note", "")) for e in events(s, "blue", "Waiting")), "an event of the Job says so too")
    wait_until(lambda: "QueueCapability" in s.kubectl("get", "podgroups.scheduling.x-k8s.io", "blue"), "kubectl get shows it")
    expect_equal((suspended(s, "blue"), pods(s, "blue")), ((True, "queue"), []), "it is suspended, and has no pod")
    s.kubectl("delete", "job", "red", "--wait=true")
    wait_until(lambda: bound(s, "blue") == 2, "the second runs", seconds=60)
    expect_equal(suspended(s, "blue"), (False, None), "it is resumed")
    expect_equal(s.group("blue")["metadata"]["ownerReferences"][0]["kind"], "Job", "the owner of its group")
    s.kubectl("delete", "job", "blue", "--wait=true")
    wait_until(lambda: not s.group("blue"), "the group goes with the Job", seconds=60)


def story_running_batch_job_gets_a_queue(s):
    """A Job that runs already is given the label: it is suspended, waits, and starts again as a gang when there is room. No pod of it counts as failed."""
    install(s)
    queue(s, capability={"cpu": "2"})
    job(s, "late", 2)
    wait_until(lambda: bound(s, "late") == 2, "it runs without a queue", seconds=60)
    s.kubectl("label", "job", "late", f"{QUEUE}={s.namespace}")
    wait_until(lambda: suspended(s, "late") == (True, "queue") and not pods(s, "late"), "it is suspended", seconds=60)
    queue(s, capability={"cpu": "4"})
    wait_until(lambda: bound(s, "late") == 2, "it runs again", seconds=60)
    expect_equal({p["metadata"]["labels"].get(GROUP) for p in pods(s, "late")}, {"late"}, "the group of its pods")
    expect_equal(s.kubectl.get("job", "late")["status"].get("failed", 0), 0, "failures that the Job has counted")


def resumed_by_queue(s, name):
    return KEY + "resumed-by" in s.kubectl.get("job", name)["metadata"].get("annotations", {})


def story_what_a_user_suspends_stays_suspended(s):
    """One that is created suspended takes nothing; one that is suspended while it runs gives its room away, and waits again when it is resumed."""
    install(s)
    queue(s, capability={"cpu": "4"})
    job(s, "mine", 2, s.namespace, suspend=True)
    job(s, "first", 2, s.namespace)
    wait_until(lambda: bound(s, "first") == 2, "another takes the room", seconds=60)
    expect_equal((suspended(s, "mine"), admitted(s, "mine")["reason"]), ((True, None), "Suspended"), "it stays as its user wants it")
    s.kubectl("patch", "job", "first", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    wait_until(lambda: admitted(s, "first")["reason"] == "Suspended" and not pods(s, "first"), "its room is free", seconds=60)
    wait_until(lambda: not resumed_by_queue(s, "first"), "the manager has seen it")
    s.kubectl("patch", "job", "mine", "--type=merge", "-p", '{"spec":{"suspend":false}}')
    # Its user's own pods may be on nodes for a moment: it is suspended, admitted, and resumed by the manager.
    wait_until(lambda: resumed_by_queue(s, "mine") and bound(s, "mine") == 2, "the other one is resumed, and runs", seconds=60)
    s.kubectl("patch", "job", "first", "--type=merge", "-p", '{"spec":{"suspend":false}}')
    wait_until(lambda: suspended(s, "first") == (True, "queue"), "it waits again", seconds=60)
    expect_equal(bound(s, "first"), 0, "its pods on nodes")


def story_batch_job_in_a_queue_is_evicted(s):
    """A Job of higher priority takes the room: the other one is suspended, counts no failure, and starts again when the room is back."""
    install(s)
    queue(s, capability={"cpu": "4"}, preemptionPolicy="LowerPriority")
    high = f"{s.namespace}-high"
    s.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": high}, "value": 1000})
    job(s, "low", 2, s.namespace)
    wait_until(lambda: bound(s, "low") == 2, "the first runs", seconds=60)
    wait_until(lambda: s.group("low")["status"].get("phase") == "Running", "its group knows")
    job(s, "high", 2, s.namespace, priority=high)
    wait_until(lambda: bound(s, "high") == 2, "the important one has the room", seconds=60)
    wait_until(lambda: suspended(s, "low") == (True, "queue") and not pods(s, "low"), "the first is suspended", seconds=60)
    expect_equal(s.kubectl.get("job", "low")["status"].get("failed", 0), 0, "failures that the Job has counted")
    s.kubectl("delete", "job", "high", "--wait=true")
    wait_until(lambda: bound(s, "low") == 2, "it runs again", seconds=90)
    s.kubectl("delete", "priorityclass", high)


def story_manager_changes_of_jobs_only_what_it_must(s):
    """With the rights of manifests/workloads the manager could change each Job; its policy refuses all but what docs/WORKLOADS.md says."""
    install(s)
    expect_policies_are_sound(s)
    job(s, "mine", 1, queue="none-of-these")
    job(s, "foreign", 1, suspend=True)
    s.kubectl("create", "role", "kubectl", "--verb=get", "--resource=jobs,jobs/status")  # kubectl reads what it patches; the manager does not
    s.kubectl("create", "rolebinding", "kubectl", "--role=kubectl", "--serviceaccount=kar-system:kar-controllers")
    wait_until(lambda: s.kubectl("get", "job", "mine", "--as", SERVICE_ACCOUNT, check=False)[0] == 0, "the right is there")
    gates = [{"name": KEY + "gang"}]
    refused = {
        "the nodes of its pods": as_manager(s, "patch", "job", "mine", *merge(spec={"template": {"spec": {"nodeSelector": {"x": "y"}}}})),
        "another label of the template": as_manager(s, "patch", "job", "mine", *merge(spec={"template": {"metadata": {"labels": {GROUP: "mine", "x": "y"}}}})),
        "an annotation of the template": as_manager(s, "patch", "job", "mine", *merge(spec={"template": {"metadata": {"annotations": {"x": "y"}}}})),
        "parallelism": as_manager(s, "patch", "job", "mine", *merge(spec={"parallelism": 5})),
        "a deadline": as_manager(s, "patch", "job", "mine", *merge(spec={"activeDeadlineSeconds": 5})),
        "its label": as_manager(s, "patch", "job", "mine", *merge(metadata={"labels": {QUEUE: "other"}})),
        "another annotation": as_manager(s, "patch", "job", "mine", *merge(metadata={"annotations": {"x": "y"}})),
        "its conditions": as_manager(s, "patch", "job", "mine", "--subresource=status", *merge(status={"conditions": [{"type": "X", "status": "True"}]})),
        "a Job that names no queue": as_manager(s, "patch", "job", "foreign", *merge(spec={"suspend": False})),
    }
    wrong = [f"{what}: {status} {answer}" for what, (status, answer) in refused.items() if not status or BY_POLICY not in answer]
    expect(not wrong, "must be refused by a policy:\n" + "\n".join(wrong))
    allowed = {
        "to resume it as a member": as_manager(s, "patch", "job", "mine", *merge(
            metadata={"annotations": {KEY + "suspended-by": None, KEY + "resumed-by": "queue"}},
            spec={"suspend": False, "template": {"metadata": {"labels": {GROUP: "mine"}}, "spec": {"schedulingGates": gates}}})),
        "its start": as_manager(s, "patch", "job", "mine", "--subresource=status", *merge(status={"startTime": None})),
    }
    wrong = [f"{what}: {answer}" for what, (status, answer) in allowed.items() if status]
    expect(not wrong, "must be allowed:\n" + "\n".join(wrong))


def story_batch_job_of_a_queue_completes(s):
    """Its pods succeed: the Job is complete, its group is finished, and the next one has the room."""
    install(s)
    queue(s, capability={"cpu": "4"})
    for name in ("one", "two", "three"):
        job(s, name, 2, s.namespace, outcome="succeed")
    for name in ("one", "two", "three"):
        wait_until(lambda name=name: s.kubectl.get("job", name)["status"].get("succeeded") == 2, f"{name} completes", seconds=90)
    time.sleep(1)
    expect_equal([suspended(s, name)[0] for name in ("one", "two", "three")], [False] * 3, "nothing is suspended once more")


def story_documented_workloads(s):
    """docs/WORKLOADS.md: its Job starts whole in the queue default, and the last command resumes one that waits."""
    install(s)
    example = next(text for language, text in blocks("docs/WORKLOADS.md") if language == "yaml")
    s.apply(example)
    wait_until(lambda: bound(s, "train") == 4, "its four pods have nodes", seconds=60)
    expect_equal(suspended(s, "train"), (False, None), "it is resumed")
    expect("train" in s.kubectl("get", "jobs", "-l", "kube-arbitrator.io/queue"), "the label finds it")
