import re

from harness import Watch, expect, expect_equal, queuejob, task, wait_until


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
    expect_equal(lines[0].split(), ["NAME", "PHASE", "MIN", "RUNNING", "SUCCEEDED", "FAILED", "RESTARTS", "QUEUE", "AGE"], "columns")
    phases = [line.split()[1] for line in lines[1:]]
    seen = [p for i, p in enumerate(phases) if p in ("Starting", "Running", "Restarting", "Completed") and p not in phases[i + 1:i + 2]]
    for earlier, later in (("Running", "Restarting"), ("Restarting", "Completed")):
        expect(earlier in seen and later in seen and seen.index(earlier) < seen.index(later), f"{earlier} before {later} in {phases}")
    last = dict(zip(lines[0].split(), lines[-1].split()))
    want = {"NAME": "tale", "PHASE": "Completed", "MIN": "3", "RUNNING": "0", "SUCCEEDED": "3", "RESTARTS": "1", "QUEUE": "default"}
    expect_equal({column: last[column] for column in want}, want, "the last line of kubectl get -w")
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
    expect(queue in status["message"], f"the message must name the queue: {status['message']}")
    wide = s.kubectl("get", "queuejob", "waits", "-o", "wide")
    expect("QueueNotFound" in wide, f"kubectl get -o wide must show the reason:\n{wide}")
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": queue}, "spec": {}})
    try:
        s.wait_phase("waits", "Running", running=2)
    finally:
        s.kubectl("delete", "queuejob", "waits", "--wait=false")
        s.kubectl("delete", "queues.kube-arbitrator.io", queue, "--wait=false")


def check_lines(s, name, *wanted):
    """kubectl describe has each of these, in the end: events arrive a moment after the status."""
    def missing():
        text = s.kubectl("describe", "queuejob", name)
        return [want for want in wanted if not re.search(want, text)]

    wait_until(lambda: not missing(), f"kubectl describe queuejob {name} has all of {wanted}")


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
    check_lines(s, "pauses", r"Phase:\s+Suspended", r"Message:\s+spec.suspend is true", r"Type:\s+Suspended", r"Succeeded Indexes:\s+0",
                r"Normal\s+Suspended\s.*1 succeeded before")
