"""kubernetes-sigs/kueue#11553: an elastic job that is scaled up and down quickly leaves room reserved.

Input: an elastic job in a queue of its own; its replicas are changed ten times without a pause, at last to 5.
Expected: 5 pods run, the queue counts 5, and nothing is counted as a restart, failure or disruption."""

import json

from words import gang, queue
from harness import expect_equal, wait_until


def case(s):
    queue(s, "field72")
    s.apply(gang("el", queue="field72", replicas=2, sched={"minAvailable": 1}))
    s.wait_phase("el", "Running", running=2)
    for replicas in (12, 1, 7, 3, 9, 2, 11, 4, 8, 5):
        s.kubectl("patch", "queuejob", "el", "--type=json", "-p", json.dumps([{"op": "replace", "path": "/spec/taskSpecs/0/replicas", "value": replicas}]))
    status = s.wait_phase("el", "Running", seconds=90, running=5)
    wait_until(lambda: s.cluster.kubectl.get("queues.kube-arbitrator.io", "field72")["status"]["allocated"].get("pods") in ("5", 5), "the queue counts 5 pods")
    expect_equal(len(s.pods("el")), 5, "pods")
    expect_equal([status.get(k, 0) for k in ("restarts", "podFailures", "disruptions")], [0, 0, 0], "restarts, failures and disruptions")
    s.kubectl("delete", "queuejob", "el")
    s.cluster.kubectl("delete", "queue", "field72", "--wait=false")
