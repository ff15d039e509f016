"""What is taken away is no failure: eviction, node loss, cleaning up after nodes."""

import json

from harness import expect, expect_equal, queuejob, task, wait_until


def start(s):
    """A job that the first failure would end."""
    s.apply(queuejob("calm", task("worker", 3), sched={"minAvailable": 2}, backoffLimit=0))
    s.wait_phase("calm", "Running", running=3)
    return s.uids("calm")


def expect_replaced(s, before, *lost):
    wait_until(lambda: all(s.uids("calm").get(n) not in (None, before[n]) for n in lost), f"{', '.join(lost)} are replaced")
    return s.wait_phase("calm", "Running", running=3, podFailures=0)


def story_eviction_is_no_failure(s):
    """A pod that is evicted by the API, and one by its kubelet: replaced at once, counted as disruptions, never against backoffLimit."""
    before = start(s)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "calm-worker-0", "namespace": s.namespace}}
    s.kubectl("create", "--raw", f"/api/v1/namespaces/{s.namespace}/pods/calm-worker-0/eviction", "-f", "-", stdin=json.dumps(eviction))
    expect_replaced(s, before, "calm-worker-0")
    s.kubectl("patch", "pod", "calm-worker-1", "--subresource=status", "--type=merge", "-p",
              '{"status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}}')
    expect_replaced(s, before, "calm-worker-1")
    s.wait_phase("calm", "Running", disruptions=2, restarts=0)
    expect_equal(s.uids("calm")["calm-worker-2"], before["calm-worker-2"], "the third pod")


def story_lost_node_is_no_failure(s):
    """A node of a gang is lost (taint NoExecute): one restart elsewhere, a disruption, nothing against backoffLimit."""
    s.apply(queuejob("calm", task("worker", 3), backoffLimit=0))
    s.wait_phase("calm", "Running", running=3)
    lost = s.pods("calm")["calm-worker-0"]["spec"]["nodeName"]
    try:
        s.cluster.kubectl("taint", "node", lost, "test.kube-arbitrator.io/lost=yes:NoExecute")
        status = s.wait_phase("calm", "Running", running=3, restarts=1, incarnation=2, podFailures=0, disruptions=1)
        expect_equal(status["lastRestart"]["node"], lost, "the node that the last restart is put down to")
        expect(lost not in {p["spec"]["nodeName"] for p in s.pods("calm").values()}, f"no pod is on {lost}")
    finally:
        s.cluster.kubectl("taint", "node", lost, "test.kube-arbitrator.io/lost-", check=False)


def story_completed_job_stays_completed(s):
    """Pods of a completed job are removed, as a node's garbage collector does, and the manager starts anew: nothing is run again, nothing uncounted."""
    s.apply(queuejob("done", task("worker", 3, outcome="succeed")))
    before = s.wait_phase("done", "Completed", succeeded=3)
    s.kubectl("delete", "pods", "--all", "--timeout=30s")
    s.manager.stop()
    s.manager.start()
    s.apply(queuejob("later", task("worker", 1, outcome="succeed")))  # what is decided about it comes after the first look at all jobs
    s.wait_phase("later", "Completed")
    after = s.status("done")
    same = ("phase", "succeeded", "completionTime", "restarts", "incarnation", "tasks")
    left = {k: v for k, v in after.items() if k in same}
    for counts in (*left["tasks"], *before["tasks"]):
        counts.pop("replicas")  # pods that exist
    expect_equal(left, {k: before[k] for k in same}, "the result")
    made = s.audit.pods_created(s.namespace)
    expect_equal(sorted(made), sorted({*made}), "creates, and names created")


def story_full_quota_is_waited_for(s):
    """A ResourceQuota that is full: the job waits, says why, does not fail, and starts when there is room; what runs is not disturbed."""
    s.kubectl("create", "quota", "few", "--hard=pods=4")
    wait_until(lambda: "pods" in s.kubectl.get("resourcequota", "few").get("status", {}).get("used", {}), "the quota is in force")
    s.apply(queuejob("first", task("worker", 3)))
    s.wait_phase("first", "Running", running=3)
    s.apply(queuejob("second", task("worker", 3)))
    status = s.wait_phase("second", "Pending", reason="QuotaExceeded")
    expect("quota few" in status["message"], f"the message names the quota: {status['message']}")
    s.kubectl("patch", "resourcequota", "few", "--type=merge", "-p", '{"spec":{"hard":{"pods":"9"}}}')
    s.wait_phase("second", "Running", 90, running=3, restarts=0, podFailures=0, incarnation=1)
    s.wait_phase("first", "Running", running=3, restarts=0)
    expect_equal(len(set(s.audit.pods_created(s.namespace))), 6, "names of pods created")
    expect_equal(len(s.audit.pods_created(s.namespace)), 6, "no pod is created before there is room for all")
