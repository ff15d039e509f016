from harness import FINALIZER, KEY, MANIFESTS, condition, expect, expect_equal, wait_until


def story_simple(s):
    """The smallest example runs to Completed."""
    s.kubectl("apply", "-f", str(MANIFESTS / "examples/simple.yaml"))
    s.kubectl("wait", "--for=condition=Complete", "--timeout=60s", "queuejob/simple")
    job = s.job("simple")
    status = job["status"]
    expect_equal(status["phase"], "Completed", "phase")
    counts = {k: status.get(k) for k in ("replicas", "pending", "running", "succeeded", "failed", "restarts", "minAvailable", "incarnation")}
    expect_equal(counts, {"replicas": 3, "pending": 0, "running": 0, "succeeded": 3, "failed": 0, "restarts": 0, "minAvailable": 3,
                          "incarnation": 1}, "counts of a completed job of three pods")
    for field in ("startTime", "completionTime", "observedGeneration"):
        expect(status.get(field), f"status.{field} is missing")
    for kind in ("Admitted", "Complete"):
        expect_equal(condition(job, kind), "True", f"condition {kind}")
    for child in (s.group("simple"), s.scheduling_spec("simple")):
        owners = [(o["kind"], o["name"], o["uid"], o.get("controller")) for o in child["metadata"].get("ownerReferences", [])]
        expect_equal(owners, [("QueueJob", "simple", job["metadata"]["uid"], True)], f"owner of the {child['kind']}")
    expect_equal(s.group("simple")["spec"]["minMember"], 3, "minMember of the PodGroup")
    check_pods(s)


def check_pods(s):
    wait_until(lambda: not any(FINALIZER in p["metadata"].get("finalizers", []) for p in s.pods("simple").values()), "what is counted has no finalizer any more")
    pods = s.pods("simple")
    expect_equal(sorted(pods), [f"simple-worker-{i}" for i in range(3)], "pods")
    for index, (name, pod) in enumerate(sorted(pods.items())):
        labels = pod["metadata"]["labels"]
        want = {KEY + "queuejob": "simple", KEY + "task": "worker", KEY + "index": str(index), KEY + "incarnation": "1"}
        expect_equal({k: labels.get(k) for k in want}, want, f"labels of {name}")
        expect_equal(labels.get("scheduling.x-k8s.io/pod-group"), "simple", f"group label of {name}")
        env = {e["name"]: e.get("value") for e in pod["spec"]["containers"][0].get("env", [])}
        want = {"KAR_QUEUEJOB": "simple", "KAR_TASK": "worker", "KAR_INDEX": str(index), "KAR_RANK": str(index), "KAR_WORLD_SIZE": "3", "KAR_TASK_SIZE": "3"}
        expect_equal({k: env.get(k) for k in want}, want, f"environment of {name}")
    expect_equal(sorted(s.audit.pods_created(s.namespace)), sorted(pods), "pods created")
