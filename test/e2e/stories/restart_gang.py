from harness import KEY, expect, expect_equal, queuejob, task


def incarnation(pod):
    return pod["metadata"]["labels"].get(KEY + "incarnation")


def expect_clean_handover(events):
    """No pod of the second incarnation may exist before the last one of the first is gone."""
    first = {p["metadata"]["uid"] for kind, p in events if incarnation(p) == "1"}
    gone = set()
    for kind, pod in events:
        if kind == "DELETED":
            gone.add(pod["metadata"]["uid"])
        if kind == "ADDED" and incarnation(pod) == "2":
            expect_equal(gone & first, first, f"pods of the first incarnation gone when {pod['metadata']['name']} was created again")
    expect(first, "no pod of the first incarnation was seen")
    expect_equal(len([1 for kind, p in events if kind == "ADDED" and incarnation(p) == "2"]), 3, "pods of the second incarnation")


def restart(s, kill):
    """Runs a gang of three slowly stopping pods, kills one by kill() and returns the status after the restart."""
    s.apply(queuejob("gang", task("worker", 3, stop_after="1s")))
    s.wait_phase("gang", "Running", running=3)
    watch = s.watch_pods()
    try:
        kill()
        s.wait_phase("gang", "Restarting")
        status = s.wait_phase("gang", "Running", running=3, incarnation=2)
    finally:
        watch.stop()
    expect_clean_handover(watch.events())
    expect_equal(status["restarts"], 1, "restarts")
    expect_equal(len(s.audit.pods_created(s.namespace)), 6, "number of pods created")
    for words in (("Job runs",), ("Job restarts", "restarts=1", 'cause="pod gang-worker-'), ("Job starts again",)):
        expect(s.manager.said(f'job="{s.namespace}/gang"', *words), f"the log must tell the history of the job: {words}")
    return status


def story_failed_pod_below_quorum(s):
    """A pod failed below the quorum: the whole gang goes, and comes back when it is gone."""
    restart(s, lambda: s.fail_pod("gang-worker-1", exit_code=7))


def story_deleted_pod_below_quorum(s):
    """A pod deleted below the quorum: the whole gang goes, and comes back when it is gone."""
    restart(s, lambda: s.kubectl("delete", "pod", "gang-worker-0", "--wait=false"))
