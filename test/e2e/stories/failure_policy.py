import json

from harness import condition, expect, expect_equal, queuejob, task, wait_until

GANG = ("ps", 1), ("worker", 2)


def gang(name, rules, *tasks, **spec):
    """A ps and two workers; by default all of them make the quorum."""
    return queuejob(name, *(tasks or [task(t, n) for t, n in GANG]), failurePolicy={"rules": rules}, **spec)


def start(s, name, rules, *tasks, **spec):
    s.apply(gang(name, rules, *tasks, **spec))
    s.wait_phase(name, "Running", running=3)
    return s.uids(name)


def on_exit(action, *codes, **more):
    return {"action": action, "onExitCodes": {"operator": "In", "values": list(codes)}, **more}


def conditions(s, name):
    return {c["type"]: c for c in s.job(name)["status"]["conditions"]}


def events(s, name, reason):
    found = s.kubectl.list("events", "--field-selector", f"involvedObject.name={name},reason={reason}")
    return [e["message"] for e in found]


def story_exit_code_fails_the_job(s):
    """FailJob: an exit code that no restart will mend ends the job at once, and the message names pod, code and rule."""
    start(s, "bug", [on_exit("Ignore", 75), on_exit("FailJob", 42)], backoffLimit=6)
    s.fail_pod("bug-worker-1", exit_code=42)
    s.kubectl("wait", "--for=condition=Failed", "--timeout=30s", "queuejob/bug")
    failed = conditions(s, "bug")["Failed"]
    expect_equal(failed["reason"], "PodFailurePolicy", "reason of condition Failed")
    for words in ("bug-worker-1", "exit code 42", "rules[1] (FailJob)"):
        expect(words in failed["message"], f"the message does not say {words!r}: {failed['message']}")
    wait_until(lambda: list(s.pods("bug")) == ["bug-worker-1"], "only the failed pod is left, for its logs")
    expect_equal(len(s.audit.pods_created(s.namespace)), 3, "number of pods created")


def story_exit_code_completes_the_job(s):
    """CompleteJob: a pod may say by its exit code that all is done."""
    start(s, "found", [on_exit("CompleteJob", 7, tasks=["worker"])])
    s.fail_pod("found-worker-0", exit_code=7)
    s.kubectl("wait", "--for=condition=Complete", "--timeout=30s", "queuejob/found")
    complete = conditions(s, "found")["Complete"]
    expect_equal(complete["reason"], "PodFailurePolicy", "reason of condition Complete")
    expect("rules[0] (CompleteJob)" in complete["message"], complete["message"])


def story_rule_restarts_the_gang_above_the_quorum(s):
    """RestartJob: the whole gang begins anew although enough pods are left."""
    before = start(s, "all", [on_exit("RestartJob", 3)], sched={"minAvailable": 1})
    s.fail_pod("all-worker-1", exit_code=3)
    status = s.wait_phase("all", "Running", running=3, incarnation=2)
    expect(not set(before.values()) & set(s.uids("all").values()), "a pod of the first incarnation is left")
    expect_equal((status["restarts"], status["podFailures"]), (1, 1), "restarts and podFailures")
    expect("rules[0] (RestartJob)" in status["lastRestart"]["message"], status["lastRestart"]["message"])


def story_rule_restarts_one_task(s):
    """RestartTask: all workers are replaced, none before the last old one is gone; the ps runs on, and the gang is not broken."""
    before = start(s, "half", [on_exit("RestartTask", 3)],
                   task("ps", 1), task("worker", 2, stop_after="1s"))
    watch = s.watch_pods()
    try:
        s.fail_pod("half-worker-1", exit_code=3)
        wait_until(lambda: s.status("half").get("reason") == "TaskRestarting", "the job says that a task restarts")
        status = s.wait_phase("half", "Running", running=3)
    finally:
        watch.stop()
    after = s.uids("half")
    expect_equal(after["half-ps-0"], before["half-ps-0"], "the ps")
    expect(not {before["half-worker-0"], before["half-worker-1"]} & set(after.values()), "an old worker is left")
    expect_equal((status["restarts"], status["incarnation"], status["podFailures"], status["disruptions"]), (0, 1, 1, 0),
                 "restarts, incarnation, failures and disruptions")
    gone = set()
    for kind, pod in watch.events():
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            gone.add(uid)
        if kind == "ADDED" and uid not in before.values():
            expect({before["half-worker-0"], before["half-worker-1"]} <= gone,
                   f"{pod['metadata']['name']} was created before the old workers were gone")
    expect(any("restarting task worker" in m for m in events(s, "half", "TaskRestarting")), "no event tells of it")


def story_rule_recreates_one_pod_below_the_quorum(s):
    """RecreatePod: one pod is replaced although the gang is incomplete without it; nobody else is touched."""
    before = start(s, "one", [on_exit("RecreatePod", 3)])
    s.fail_pod("one-worker-1", exit_code=3)
    wait_until(lambda: s.uids("one").get("one-worker-1") not in (None, before["one-worker-1"]), "the pod is replaced")
    status = s.wait_phase("one", "Running", running=3)
    after = s.uids("one")
    for name in ("one-ps-0", "one-worker-0"):
        expect_equal(after[name], before[name], name)
    expect_equal((status["restarts"], status["incarnation"], status["podFailures"]), (0, 1, 1), "restarts, incarnation, failures")


def story_ignored_failure_does_not_count(s):
    """Ignore: with backoffLimit 0 the gang still restarts after an exit code that does not count."""
    start(s, "free", [on_exit("Ignore", 75)], backoffLimit=0)
    s.fail_pod("free-worker-1", exit_code=75)
    status = s.wait_phase("free", "Running", running=3, incarnation=2)
    expect_equal((status["restarts"], status["podFailures"], status["disruptions"]), (1, 0, 0), "restarts, failures, disruptions")
    s.fail_pod("free-worker-1", exit_code=1)
    s.wait_phase("free", "Failed", podFailures=1)


def story_eviction_falls_under_a_rule(s):
    """onPodConditions and onReasons: an eviction is told from a deletion by a user."""
    rules = [{"action": "FailJob", "onReasons": ["Deleted"]},
             {"action": "RecreatePod", "onPodConditions": [{"type": "DisruptionTarget"}], "onReasons": ["EvictionByEvictionAPI"]}]
    before = start(s, "moved", rules)
    eviction = f'{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"moved-worker-0","namespace":"{s.namespace}"}}}}'
    s.kubectl("create", "--raw", f"/api/v1/namespaces/{s.namespace}/pods/moved-worker-0/eviction", "-f", "-", stdin=eviction)
    wait_until(lambda: s.uids("moved").get("moved-worker-0") not in (None, before["moved-worker-0"]), "the evicted pod is replaced")
    status = s.wait_phase("moved", "Running", running=3)
    expect_equal((status["restarts"], status["podFailures"], status["disruptions"]), (0, 0, 1), "restarts, failures, disruptions")
    s.kubectl("delete", "pod", "moved-worker-0", "--wait=false")
    s.wait_phase("moved", "Failed")
    expect_equal(condition(s.job("moved"), "Failed"), "True", "condition Failed")


def story_last_of_several_containers_is_named(s):
    """onExitCodes with a container: that of a sidecar says nothing about main."""
    tasks = [task("ps", 1), task("worker", 2)]
    for t in tasks:
        t["template"]["spec"]["containers"].append({"name": "side", "image": "busybox:1.36"})
    rule = {"action": "FailJob", "onExitCodes": {"containerName": "side", "operator": "NotIn", "values": [3]}}
    start(s, "two", [rule], *tasks, sched={"minAvailable": 1})
    s.fail_pod("two-worker-0", exit_code=3)  # both containers end so
    s.wait_phase("two", "Running", running=3, podFailures=1)
    s.fail_pod("two-worker-1", exit_code=4)
    s.wait_phase("two", "Failed")


def crash(s, pod, restarts, code):
    """What a kubelet reports of a container in a crash loop; by hand, because only one of the two simulated kubelets knows it."""
    ended = {"exitCode": code, "reason": "Error", "startedAt": "2026-11-21T10:00:00Z", "finishedAt": "2026-11-21T10:00:01Z"}
    status = {"name": "main", "image": "busybox:1.36", "imageID": "", "ready": False, "started": False, "restartCount": restarts,
              "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s restarting failed container"}},
              "lastState": {"terminated": ended}}
    s.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"containerStatuses": [status]}}))


def story_crash_loop_is_said_and_limited(s):
    """Containers that are restarted in place are named in the status and in one event; their restarts count against backoffLimit."""
    worker = task("worker", 2)
    worker["template"]["spec"]["restartPolicy"] = "OnFailure"
    s.apply(queuejob("crash", worker, backoffLimit=6))
    s.wait_phase("crash", "Running", running=2)
    crash(s, "crash-worker-0", 3, 1)
    status = s.wait_phase("crash", "Running", reason="ContainerWaiting")
    node = s.pods("crash")["crash-worker-0"]["spec"]["nodeName"]
    text = f"1 of 2 pods crashes: container main of crash-worker-0 on node {node}: exit code 1 (Error), 3 restarts"
    expect_equal(status["message"], text, "the message")
    crash(s, "crash-worker-0", 4, 1)
    wait_until(lambda: "4 restarts" in s.status("crash")["message"], "the message follows the restarts")
    crash(s, "crash-worker-1", 2, 7)
    status = s.wait_phase("crash", "Failed", reason="BackoffLimitExceeded")
    expect(status["message"].startswith("6 container restarts, backoffLimit is 6; last: container main of crash-worker-"), status["message"])
    wait_until(lambda: events(s, "crash", "BackoffLimitExceeded"), "the event of the end")
    expect_equal(events(s, "crash", "ContainerWaiting"), [text], "one event, when it began")


def story_image_that_cannot_be_pulled_is_named(s):
    """The kubelet is quoted about a container that does not start: in the status and in one event."""
    s.apply(queuejob("pull", task("worker", 2, outcome="pending")))
    s.wait_phase("pull", "Starting", pending=2)
    node = wait_until(lambda: s.pods("pull")["pull-worker-0"]["spec"].get("nodeName"), "the pod has a node")
    status = {"name": "main", "image": "busybox", "imageID": "", "ready": False, "started": False, "restartCount": 0,
              "state": {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "busybox"'}}}
    s.kubectl("patch", "pod", "pull-worker-0", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"containerStatuses": [status]}}))
    text = f'1 pod does not start: container main of pull-worker-0 on node {node}: ImagePullBackOff: Back-off pulling image "busybox"'
    expect_equal(s.wait_phase("pull", "Starting", reason="ContainerWaiting")["message"], text, "the message")
    wait_until(lambda: events(s, "pull", "ContainerWaiting") == [text], "one event")


def story_last_words_are_reported(s):
    """The termination message of the container that failed is in the cause of the restart, in its event and in the end of the job."""
    worker = task("worker", 1)
    worker["template"]["metadata"]["annotations"]["test.kube-arbitrator.io/last-words"] = "CUDA out\n of memory\n"
    s.apply(queuejob("words", worker, backoffLimit=1))
    s.wait_phase("words", "Running", running=1)
    s.fail_pod("words-worker-0", exit_code=3)
    cause = "failed with exit code 3 (Error): CUDA out of memory"
    status = s.wait_phase("words", "Running", running=1, restarts=1)
    expect(status["lastRestart"]["message"].endswith(cause), f"lastRestart: {status['lastRestart']}")
    wait_until(lambda: any(cause + ";" in text for text in events(s, "words", "Restarting")), "the event of the restart")
    s.fail_pod("words-worker-0", exit_code=3)
    s.wait_phase("words", "Failed", reason="BackoffLimitExceeded")
    expect(conditions(s, "words")["Failed"]["message"].endswith(cause), f"the condition Failed: {conditions(s, 'words')['Failed']}")
