"""What users may change while a job runs: templates, numbers; and a namespace that goes."""

from harness import expect, expect_equal, queuejob, task, wait_until


def version(n, replicas=3, minimum=None):
    job = queuejob("live", task("worker", replicas), **({"sched": {"minAvailable": minimum}} if minimum is not None else {}))
    job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["image"] = f"busybox:{n}"
    return job


def images(s):
    return {name: p["spec"]["containers"][0]["image"] for name, p in s.pods("live").items()}


def story_template_edited_twice_at_once(s):
    """Two template changes in quick succession end with one set of pods, of the last; nothing counts as failure."""
    s.apply(version(1))
    s.wait_phase("live", "Running", running=3)
    before = s.uids("live")
    s.apply(version(2))
    s.apply(version(3))
    wait_until(lambda: images(s) == {f"live-worker-{i}": "busybox:3" for i in range(3)}, "all pods are of the last template")
    status = s.wait_phase("live", "Running", running=3, podFailures=0, disruptions=0)
    expect(not set(before.values()) & set(s.uids("live").values()), "every pod is new")
    expect(status["incarnation"] in (2, 3), f"the incarnation after two edits: {status['incarnation']}")


def story_same_yaml_again_changes_nothing(s):
    """kubectl apply of what is there already: no new version of the job, no pod touched."""
    s.apply(version(1))
    s.wait_phase("live", "Running", running=3)
    before, version_before = s.uids("live"), s.job("live")["metadata"]["generation"]
    s.apply(version(1))
    s.apply(queuejob("other", task("worker", 1)))
    s.wait_phase("other", "Running", running=1)
    expect_equal((s.uids("live"), s.job("live")["metadata"]["generation"]), (before, version_before), "pods and generation")


def minimums(s):
    return s.group("live")["spec"]["minMember"], s.scheduling_spec("live")["spec"]["minAvailable"], s.status("live").get("minAvailable")


def story_scaled_up_and_down(s):
    """replicas and minAvailable change while the job runs: SchedulingSpec and PodGroup keep in step, no pod that stays is touched."""
    s.apply(version(1, replicas=3, minimum=2))
    s.wait_phase("live", "Running", running=3)
    before = s.uids("live")
    s.apply(version(1, replicas=5, minimum=4))
    s.wait_phase("live", "Running", running=5, desired=5, restarts=0)
    wait_until(lambda: minimums(s) == (4, 4, 4), "all minimums are 4")
    after = s.uids("live")
    expect_equal({n: after[n] for n in before}, before, "the pods that were there")
    s.apply(version(1, replicas=2, minimum=2))
    s.wait_phase("live", "Running", running=2, desired=2, restarts=0, disruptions=0)
    wait_until(lambda: minimums(s) == (2, 2, 2), "all minimums are 2")
    wait_until(lambda: s.uids("live") == {n: u for n, u in before.items() if n in ("live-worker-0", "live-worker-1")}, "indexes 2 to 4 are gone, the others untouched")


def story_namespace_is_deleted(s):
    """A namespace with jobs in every state goes, finalizers and all."""
    s.apply(queuejob("runs", task("worker", 2)))
    s.apply(queuejob("done", task("worker", 2, outcome="succeed")))
    s.apply(queuejob("waits", task("worker", 1), queue="nowhere"))
    s.wait_phase("runs", "Running", running=2)
    s.wait_phase("done", "Completed")
    s.cluster.kubectl("delete", "namespace", s.namespace, "--timeout=60s")
    expect_equal(s.cluster.kubectl.get("namespace", s.namespace), None, "the namespace")
    s.cluster.kubectl("create", "namespace", s.namespace)
