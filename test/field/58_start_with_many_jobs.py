"""volcano-sh/volcano#4261, #4543: a manager that starts in a cluster with many jobs, some of them broken, ends or is late.

Input: while no manager runs, 300 jobs are created in a closed queue; one in eight has a template that the API server refuses, one in eight
names a PriorityClass that does not exist. Then the manager is started, and a job of another queue is created.
Expected: the other job runs within 5 s; each of the 300 says why it waits within 25 s; the manager has less than 40 MB and no error in its log."""

import json
import pathlib
import re
import time

from words import gang, here, nodes, queue
from harness import expect, wait_until

ALONE = "stops the manager"
MANY = 300


def job(s, number):
    made = here(s, gang(f"j{number}", queue="field58", replicas=2), cpu="1")
    if number % 8 == 0:
        made["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "none", "mountPath": "/x"}]
    if number % 8 == 1:
        made["spec"]["schedSpec"] = {"priorityClassName": "field58-none"}
    return made


def resident(pid):
    """MB"""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def case(s):
    queue(s, "field58", state="Closed")
    with nodes(s, 1, cpu="16"):
        s.manager.stop()
        s.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [job(s, i) for i in range(MANY)]}))
        s.manager.forget_log()
        s.manager.start()
        begin = time.monotonic()
        s.apply(here(s, gang("live")))
        s.wait_phase("live", "Running", seconds=5)
        wait_until(lambda: sum(1 for j in s.kubectl.list("queuejobs") if j.get("status", {}).get("reason")) >= MANY, "each says why it waits",
                   25 - (time.monotonic() - begin))
        expect(resident(s.manager.pid()) < 40, f"the manager has {resident(s.manager.pid()):.0f} MB")
        errors = [line for line in s.manager.log.read_text()[s.manager.seen:].splitlines() if line.startswith("E")]
        expect(not errors, f"no errors in the log: {errors[:3]}")
    s.cluster.kubectl("delete", "queue", "field58", "--wait=false")
