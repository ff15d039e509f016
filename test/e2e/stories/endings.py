"""How a job ends, and what it counts on the way: limits, policies, deadlines, pauses."""

import datetime
import json
import time

from harness import TEST_KEY, condition, expect, expect_equal, queuejob, task, wait_until


def seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


def succeed(s, *pods):
    for pod in pods:
        s.kubectl("annotate", "pod", pod, "--overwrite", TEST_KEY + "outcome=succeed")


def reason_of(job, kind):
    return next((c["reason"] for c in job["status"]["conditions"] if c["type"] == kind), None)


def story_backoff_limit_0_means_0(s):
    """backoffLimit 0: the first failure ends the job. Live pods go, the failed one stays for its log, until the TTL, which counts for failed jobs too."""
    s.apply(queuejob("frail", task("worker", 3), backoffLimit=0))
    s.wait_phase("frail", "Running", running=3)
    s.fail_pod("frail-worker-1", exit_code=9)
    s.kubectl("wait", "--for=condition=Failed", "--timeout=30s", "qj/frail")
    job = s.job("frail")
    expect_equal(reason_of(job, "Failed"), "BackoffLimitExceeded", "reason of condition Failed")
    for words in ("backoffLimit is 0", "frail-worker-1", "exit code 9"):
        expect(words in job["status"]["message"], f"the message says {words!r}: {job['status']['message']}")
    left = wait_until(lambda: (p := s.pods("frail")) and len(p) == 1 and p, "only the failed pod is left")
    expect_equal([(n, p["status"]["phase"]) for n, p in left.items()], [("frail-worker-1", "Failed")], "the pod that is left")
    expect_equal(len(s.audit.pods_created(s.namespace)), 3, "number of pods created")
    s.kubectl("patch", "qj", "frail", "--type=merge", "-p", '{"spec":{"ttlSecondsAfterFinished":1}}')
    wait_until(lambda: not s.job("frail") and not s.pods("frail"), "job and pod are removed after the TTL")


def story_success_policy_ends_the_job(s):
    """successPolicy: the leader's success completes the job; the workers that still run are stopped."""
    s.apply(queuejob("led", task("leader", 1), task("worker", 2), successPolicy={"tasks": ["leader"]}))
    s.wait_phase("led", "Running", running=3)
    succeed(s, "led-leader-0")
    s.kubectl("wait", "--for=condition=Complete", "--timeout=30s", "qj/led")
    wait_until(lambda: list(s.pods("led")) == ["led-leader-0"], "only the leader's pod is left")
    status = s.status("led")
    expect_equal((status["succeeded"], status["failed"], status["podFailures"]), (1, 0, 0), "succeeded, failed, podFailures")


def story_deadline_is_paused_by_suspend(s):
    """activeDeadlineSeconds: suspend clears the clock, resume starts it anew; when it is over, the job fails."""
    s.apply(queuejob("late", task("worker", 2), activeDeadlineSeconds=3))
    first = s.wait_phase("late", "Running", running=2)["startTime"]
    s.kubectl("patch", "qj", "late", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    s.wait_phase("late", "Suspended", startTime=None)
    wait_until(lambda: not s.pods("late"), "no pod is left while the job is suspended")
    wait_until(lambda: time.time() >= seconds(first) + 1, "timestamps have moved on")
    s.kubectl("patch", "qj", "late", "--type=merge", "-p", '{"spec":{"suspend":false}}')
    second = s.wait_phase("late", "Running", running=2)["startTime"]
    expect(seconds(second) > seconds(first), f"the clock starts anew: {first}, then {second}")
    status = s.wait_phase("late", "Failed", reason="DeadlineExceeded")
    expect(seconds(status["completionTime"]) - seconds(second) >= 3, f"the deadline runs from the second start: {second} to {status['completionTime']}")
    wait_until(lambda: not s.pods("late"), "the pods that ran are stopped")


def story_suspend_and_resume_never_count(s):
    """Suspended and resumed three times: what has succeeded is not run again, and nothing counts as a retry."""
    s.apply(queuejob("paused", task("quick", 2, outcome="succeed"), task("slow", 1), backoffLimit=0))
    s.wait_phase("paused", "Running", running=1, succeeded=2)
    for _ in range(3):
        s.kubectl("patch", "qj", "paused", "--type=merge", "-p", '{"spec":{"suspend":true}}')
        s.wait_phase("paused", "Suspended", running=0, succeeded=2)
        expect_equal(condition(s.job("paused"), "Suspended"), "True", "condition Suspended")
        s.kubectl("patch", "qj", "paused", "--type=merge", "-p", '{"spec":{"suspend":false}}')
        s.wait_phase("paused", "Running", running=1, succeeded=2, restarts=0, podFailures=0)
    succeed(s, "paused-slow-0")
    s.wait_phase("paused", "Completed", succeeded=3, restarts=0, podFailures=0, disruptions=0)
    made = s.audit.pods_created(s.namespace)
    expect_equal({n: made.count(n) for n in set(made)}, {"paused-quick-0": 1, "paused-quick-1": 1, "paused-slow-0": 4}, "how often each pod was created")


def story_task_below_its_own_quorum(s):
    """A task that falls below its own minAvailable restarts the gang, though the job's minimum still runs."""
    s.apply(queuejob("led", task("leader", 1, minAvailable=1), task("worker", 3), sched={"minAvailable": 2}))
    s.wait_phase("led", "Running", running=4)
    s.kubectl("delete", "pod", "led-worker-2", "--wait=false")
    s.wait_phase("led", "Running", running=4, disruptions=1, restarts=0)
    before = s.uids("led")
    s.kubectl("delete", "pod", "led-leader-0", "--wait=false")
    s.wait_phase("led", "Running", running=4, incarnation=2, restarts=1, podFailures=0)
    expect(not set(before.values()) & set(s.uids("led").values()), "every pod is new")


def story_container_restarts_in_place_do_not_count(s):
    """A container that its kubelet restarts in place (restartPolicy OnFailure) is no failure of the pod, whatever its exit code was."""
    s.apply(queuejob("sturdy", task("worker", 2), backoffLimit=0))
    s.wait_phase("sturdy", "Running", running=2)
    before = s.uids("sturdy")
    ended = {"exitCode": 3, "reason": "Error", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z"}
    status = s.pods("sturdy")["sturdy-worker-0"]["status"]["containerStatuses"][0] | {"restartCount": 4, "lastState": {"terminated": ended}}
    s.kubectl("patch", "pod", "sturdy-worker-0", "--subresource=status", "--type=strategic", "-p", json.dumps({"status": {"containerStatuses": [status]}}))
    succeed(s, "sturdy-worker-1")
    s.wait_phase("sturdy", "Running", running=1, succeeded=1, podFailures=0, restarts=0)
    expect_equal(s.uids("sturdy"), before, "the pods")
