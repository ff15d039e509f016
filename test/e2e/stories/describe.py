import re

from harness import Watch, check_lines, expect, expect_equal, queuejob, task, wait_until


def story_describe_tells_the_story(s):
    """kubectl get -w shows the phases, kubectl describe what happened, with the cause of the restart."""
    watch = Watch(s.kubectl, s.cluster.dir / f"get-{s.namespace}.log", "queuejobs")
    try:
        s.apply(queuejob("tale", task("worker", 3)))
        s.wait_phase("tale", "Running", running=3)
        s.fail_pod("tale-worker-1", exit_code=7)
        s.wait_phase("tale", "Running", running=3, restarts=1)
        for name in s.pods("tale"):
            s.kubectl("annotate", "pod", name, "--overwrite", "test.kube-arbitrator.io/outcome=succeed")
        s.wait_phase("tale", "Completed")
        wait_until(lambda: "Completed" in watch.text(), "the watch shows Completed")
    finally:
        lines = watch.stop().splitlines()
    expect_equal(lines[0].split(), ["NAME", "PHASE", "REASON", "RUNNING", "SUCCEEDED", "DESIRED", "RESTARTS", "QUEUE", "AGE"], "columns")
    phases = [line.split()[1] for line in lines[1:]]
    seen = [p for i, p in enumerate(phases) if p in ("Starting", "Running", "Restarting", "Completed") and p not in phases[i + 1:i + 2]]
    for earlier, later in (("Running", "Restarting"), ("Restarting", "Completed")):
        expect(earlier in seen and later in seen and seen.index(earlier) < seen.index(later), f"{earlier} before {later} in {phases}")
    last = dict(zip(lines[0].split(), lines[-1].split()))
    want = {"NAME": "tale", "PHASE": "Completed", "REASON": "Completed", "RUNNING": "0", "SUCCEEDED": "3", "DESIRED": "3", "RESTARTS": "1", "QUEUE": "default"}
    expect_equal({column: last[column] for column in want}, want, "the last line of kubectl get -w")
    for selector, found in (("status.queue=default,status.phase=Completed", "tale"), ("spec.queue=default", ""), ("status.phase=Failed", "")):
        expect_equal(s.kubectl("get", "qj", "--field-selector", selector, "-o", "jsonpath={.items[*].metadata.name}"), found, selector)
    check_description(wait_until(lambda: described(s), "the events of the job have arrived"))


def described(s):
    text = s.kubectl("describe", "queuejob", "tale")
    events = text.partition("\nEvents:")[2]
    return text if "kar-controllers" in events and "Complet" in events else None


def check_description(text):
    for want in (r"Phase:\s+Completed", r"Restarts:\s+1", r"Succeeded:\s+3", r"Type:\s+Admitted", r"Type:\s+Formed", r"Type:\s+Complete"):
        expect(re.search(want, text), f"kubectl describe lacks {want}:\n{text}")
    expect(re.search(r"tale-worker-1\b.*\b7\b", text), f"kubectl describe does not name the pod and exit code that caused the restart:\n{text}")


def story_waiting_job_says_why(s):
    """A job whose queue does not exist waits and says so; it starts when the queue appears."""
    queue = s.namespace
    s.apply(queuejob("waits", task("worker", 2), queue=queue))
    status = s.wait_phase("waits", "Pending", reason="QueueNotFound")
    expect_equal(status["message"], f"there is no queue {queue}; it is admitted when somebody creates one", "the message")
    expect("position" not in status or not status["position"], f"nobody waits in a queue that does not exist: {status}")
    wide = s.kubectl("get", "queuejob", "waits", "-o", "wide")
    expect("QueueNotFound" in wide, f"kubectl get -o wide must show the reason:\n{wide}")
    check_lines(s, "waits", r"Warning\s+QueueNotFound\s.*there is no queue .*; it is admitted when somebody creates one")
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": queue}, "spec": {}})
    try:
        s.wait_phase("waits", "Running", running=2)
    finally:
        s.kubectl("delete", "queuejob", "waits", "--wait=false")
        s.kubectl("delete", "queues.kube-arbitrator.io", queue, "--wait=false")


def story_job_that_is_not_queued_says_so(s):
    """A job without its PriorityClass, and an invalid one, are in no queue: they say what must happen, and have no position."""
    s.apply(queuejob("classless", task("worker", 1), sched={"priorityClassName": s.namespace}))
    words = f"not in the queue until PriorityClass {s.namespace} exists"
    status = s.wait_phase("classless", "Pending", reason="PriorityClassNotFound", message=words)
    expect(not status.get("position"), f"no position: {status}")
    check_lines(s, "classless", rf"Warning\s+PriorityClassNotFound\s.*{words}")
    bad = task("worker", 1)
    bad["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "none", "mountPath": "/none"}]
    s.apply(queuejob("invalid", bad))
    wait_until(lambda: s.status("invalid").get("reason") == "InvalidTemplate", "the template is refused")
    seen = wait_until(lambda: next((c for c in s.status("invalid")["conditions"] if c["type"] == "Admitted" and c["reason"] == "JobInvalid"), None),
                      "condition Admitted has reason JobInvalid")
    expect_equal((seen["status"], seen["message"]), ("False", "the job is invalid: see its condition Invalid"), "condition Admitted")


def story_job_that_is_admitted_at_once_announces_no_wait(s):
    """No event about waiting for a job that its queue admits at once."""
    s.apply(queuejob("quick", task("worker", 1)))
    s.wait_phase("quick", "Running", running=1)
    check_lines(s, "quick", r"Normal\s+Running\s")
    expect("Waiting" not in s.kubectl("describe", "queuejob", "quick").partition("\nEvents:")[2], "an event about waiting")


def story_describe_says_why_a_job_failed(s):
    """At the limit the description names the pod, its exit code and the limit."""
    s.apply(queuejob("fails", task("worker", 2), backoffLimit=0))
    s.wait_phase("fails", "Running", running=2)
    s.fail_pod("fails-worker-1", exit_code=9)
    s.wait_phase("fails", "Failed", reason="BackoffLimitExceeded")
    check_lines(s, "fails", r"Phase:\s+Failed", r"Reason:\s+BackoffLimitExceeded", r"Message:.*fails-worker-1.*exit code 9", r"Type:\s+Failed",
                r"Warning\s+BackoffLimitExceeded\s.*fails-worker-1.*exit code 9")


def story_describe_says_that_a_job_is_suspended(s):
    """A suspended job says so, with what had succeeded before."""
    s.apply(queuejob("pauses", task("worker", 3)))
    s.wait_phase("pauses", "Running", running=3)
    s.kubectl("annotate", "pod", "pauses-worker-0", "--overwrite", "test.kube-arbitrator.io/outcome=succeed")
    s.wait_phase("pauses", "Running", succeeded=1)
    s.kubectl("patch", "queuejob", "pauses", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    s.wait_phase("pauses", "Suspended", succeeded=1, running=0)
    check_lines(s, "pauses", r"Phase:\s+Suspended", r"Message:\s+suspended by spec.suspend; 1 of 3 pods had succeeded", r"Type:\s+Suspended", r"Succeeded Indexes:\s+0",
                r"Normal\s+Suspended\s.*1 succeeded before")


def story_pods_without_a_node_are_explained(s):
    """A minimum that fits nowhere has no pods and says what is short; extras that fit nowhere have none either, and the job says how many it may have."""
    large = task("large", 2)
    large["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000", "memory": "32Mi"}}
    s.apply(queuejob("all", large))
    status = s.wait_phase("all", "Pending", reason="Infeasible")
    wanted = r"a pod asks for 1000 cpu, the largest node has \d+(\.\d)?"
    expect(re.fullmatch(wanted, status["message"]), f"the message is {status['message']}")
    check_lines(s, "all", r"Warning\s+Infeasible.*a pod asks for 1000 cpu, the largest node has")
    expect_equal(s.pods("all"), {}, "its pods")
    s.apply(queuejob("extras", task("small", 1), large, sched={"minAvailable": 1}))
    s.wait_phase("extras", "Running", reason="Scaled")
    wait_until(lambda: re.search(r"^queue default allows 1 of 3 pods at once: insufficient cpu: 1000 requested, ", s.status("extras")["message"]), "what stops the next pod")
    expect_equal(sorted(s.pods("extras")), ["extras-small-0"], "its pods")


def gated_pod(name, group, gates=True, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"scheduling.x-k8s.io/pod-group": group}},
            "spec": {"schedulingGates": [{"name": "kube-arbitrator.io/gang"}] if gates else [], "containers": [{"name": "main", "image": "example.com/main"}], **spec}}


def group_line(s, name):
    head, line = s.kubectl("get", "podgroups.scheduling.x-k8s.io", name, "-o", "wide").splitlines()
    at, message = head.index("REASON"), head.index("MESSAGE")
    return line[at:].split()[0], line[message:].strip()


def events_of(s, kind, name):
    found = s.kubectl.list("events", "--field-selector", f"involvedObject.kind={kind},involvedObject.name={name}")
    return [(e["type"], e["reason"], e["message"]) for e in found]


def story_waiting_group_says_why(s):
    """A PodGroup whose queue does not exist, and one without enough members, say so in columns and in one event, and so does a gated pod."""
    lacks = "2 of 4 members exist; none starts before all exist, unless spec.minResources says what the rest needs"
    missing = f"there is no queue {s.namespace}; it is admitted when somebody creates one"
    for name, minimum, spec in ("few", 4, {}), ("lost", 2, {"queue": s.namespace}):
        s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": minimum, **spec}})
        for i in range(2):
            s.apply(gated_pod(f"{name}-{i}", name))
    wait_until(lambda: group_line(s, "few") == ("WaitingForMembers", lacks), "columns of the group that lacks members")
    wait_until(lambda: group_line(s, "lost") == ("QueueNotFound", missing), "columns of the group without a queue")
    for name, reason, message in ("few", "WaitingForMembers", lacks), ("lost", "QueueNotFound", missing):
        wait_until(lambda: ("Warning", reason, message) in events_of(s, "PodGroup", name), f"event {reason}")
        for i in range(2):
            told = "Warning", reason, f"PodGroup {name}: {reason}: {message}"
            wait_until(lambda: told in events_of(s, "Pod", f"{name}-{i}"), f"event {reason} of pod {i}")
        expect_equal([e for e in events_of(s, "PodGroup", name) if e[1] == reason], [("Warning", reason, message)], "told once")


def story_nobody_serves_the_scheduler(s):
    """A job and a group whose pods name a scheduler that does not run say so after ten seconds."""
    why = 'no scheduler has looked at 2 pods: is "volcano" running?'
    job = queuejob("typo", task("worker", 2))
    job["spec"]["taskSpecs"][0]["template"]["spec"]["schedulerName"] = "volcano"
    s.apply(job)
    s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "mine"}, "spec": {"minMember": 2}})
    for i in range(2):
        s.apply(gated_pod(f"mine-{i}", "mine", gates=False, schedulerName="volcano"))
    s.wait_phase("typo", "Starting", reason="NoScheduler", message=why)
    check_lines(s, "typo", r"Warning\s+NoScheduler\s.*is \"volcano\" running")
    wait_until(lambda: group_line(s, "mine") == ("NoScheduler", why), "columns of the group")
    # It is told once: of one pod, if the second was created a second later.
    wait_until(lambda: any(kind == "Warning" and reason == "NoScheduler" and note.endswith('is "volcano" running?')
                           for kind, reason, note in events_of(s, "PodGroup", "mine")), "event of the group")
