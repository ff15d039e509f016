"""kubernetes-sigs/kueue#11977: pods of a running job that is made larger run past the limit of its queue.

Input: a queue with a capability of 4 pods; an elastic job of 2 pods is made 8; then a gang of 1 pod is made a gang of 6.
Expected: never more than 4 pods of either."""

import json

from words import gang, queue, stays


def larger(s, name, replicas):
    s.kubectl("patch", "queuejob", name, "--type=json", "-p", json.dumps([{"op": "replace", "path": "/spec/taskSpecs/0/replicas", "value": replicas}]))
    stays(lambda: len(s.pods(name)) <= 4, f"at most 4 pods of {name}", 5)
    s.kubectl("delete", "queuejob", name)


def case(s):
    queue(s, "field39", capability={"pods": 4})
    try:
        s.apply(gang("elastic", queue="field39", replicas=2, sched={"minAvailable": 1}))
        s.wait_phase("elastic", "Running", running=2)
        larger(s, "elastic", 8)
        s.apply(gang("rigid", queue="field39"))
        s.wait_phase("rigid", "Running", running=1)
        larger(s, "rigid", 6)
    finally:
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")
        s.cluster.kubectl("delete", "queue", "field39", "--wait=false")
