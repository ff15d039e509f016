"""kai-scheduler/KAI-Scheduler#1048, koordinator-sh/koordinator#2443, kubernetes-sigs/kueue#1450: what a queue says it holds drifts from its pods.

Input: 24 short jobs of one to four pods in two queues; some are deleted, some suspended and resumed, of some the pods are deleted by force.
Expected: when all is over, both queues hold nothing and count no job."""

import random

from words import here, nodes, queue
from harness import expect_equal, queuejob, task, wait_until

QUEUES = "field51-a", "field51-b"


def count(s, name):
    status = s.cluster.kubectl.get("queues.kube-arbitrator.io", name)["status"]
    return {k: status[k] for k in ("allocated", "pending", "inqueue", "running") if status.get(k)}


def disturb(s, jobs):
    """Users who change their minds, a different one each time."""
    for number, name in enumerate(jobs):
        if number % 3 == 0:
            s.kubectl("delete", "queuejob", name, "--wait=false")
        elif number % 3 == 1:
            s.kubectl("patch", "queuejob", name, "--type=merge", "-p", '{"spec":{"suspend":true}}')
        else:
            s.kubectl("delete", "pods", "-l", f"kube-arbitrator.io/queuejob={name}", "--force", "--grace-period=0", "--wait=false", check=False)


def case(s):
    chance = random.Random(51)
    for name in QUEUES:
        queue(s, name)
    with nodes(s, 4, cpu="16"):
        jobs = [here(s, queuejob(f"j{i}", task("w", chance.randint(1, 4), "succeed", f"{chance.randint(100, 900)}ms"), queue=QUEUES[i % 2]), cpu="1")
                for i in range(24)]
        s.apply({"apiVersion": "v1", "kind": "List", "items": jobs})
        disturb(s, [f"j{i}" for i in range(0, 24, 2)])
        for job in s.kubectl.list("queuejobs"):
            if job["spec"].get("suspend"):
                s.kubectl("patch", "queuejob", job["metadata"]["name"], "--type=merge", "-p", '{"spec":{"suspend":false}}')
        wait_until(lambda: all(j.get("status", {}).get("phase") in ("Completed", "Failed") for j in s.kubectl.list("queuejobs")), "all have ended", 60)
        for name in QUEUES:
            wait_until(lambda: not count(s, name), f"queue {name} holds and counts nothing")
        expect_equal([j["metadata"]["name"] for j in s.kubectl.list("queuejobs") if j["status"]["phase"] == "Failed"], [], "failed jobs")
    s.cluster.kubectl("delete", "queue", *QUEUES, "--wait=false")
