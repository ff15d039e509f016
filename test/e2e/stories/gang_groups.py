"""Gangs that start together (gangGroups): all of them get their places at once, or none does. Four nodes of 64 CPUs."""

import json
import re
import time

from harness import expect, expect_equal, wait_until
from stories.members import group, members, nodes, owned_pod, owner, runs, said, says
from stories.nodes import expect_no_pod_was_made, gang, wait_until_alone


def story_jobs_of_a_gang_group_start_together(s):
    """Two jobs that name each other wait for one another, then for room for both, and start in the same second."""
    wait_until_alone(s)
    s.apply(gang("rest", replicas=1))
    s.wait_phase("rest", "Running", running=1)
    names = {n: [f"{s.namespace}/red", f"{s.namespace}/blue"] for n in ("red", "blue")}
    s.apply(gang("red", replicas=2, sched={"gangGroups": names["red"]}))
    s.wait_phase("red", "Pending", reason="WaitingForGangGroup", message=f"it starts with {s.namespace}/blue, which does not exist; 1st of 1 in queue default")
    s.apply(gang("blue", replicas=2, sched={"gangGroups": names["blue"]}))
    waits = rf"it starts with {s.namespace}/blue, which waits \((NoFit|InsufficientCapacity)\); (1st|2nd) of 2 in queue default"  # of one second the name decides
    wait_until(lambda: re.fullmatch(waits, s.status("red").get("message", "")), f"red says: {waits}")
    time.sleep(1)
    for name in names:
        expect_no_pod_was_made(s, name)
    s.kubectl("delete", "queuejob", "rest", "--wait=true", "--cascade=foreground")
    for name in names:
        s.wait_phase(name, "Running", running=2)
    expect_equal([s.status(n)["incarnation"] for n in names], [1, 1], "incarnations")


def story_groups_of_others_start_together(s):
    """Two PodGroups with the annotation of GangScheduling; the pods of the second come later, and do not fit at first."""
    wait_until_alone(s)
    by = owner(s, "two")
    value = json.dumps([f"{s.namespace}/a", f"{s.namespace}/b"])
    for name in ("a", "b"):
        group(s, name, 2)
        s.kubectl("annotate", "podgroups.scheduling.x-k8s.io", name, f"gang.scheduling.koordinator.sh/groups={value}")
    for i in range(2):
        owned_pod(s, "a", i, owner=by)
    wait_until(lambda: says(s, "a", "Admitted", "WaitingForGangGroup"), "the first waits for the second")
    expect(f"it starts with {s.namespace}/b, which waits" in said(s, "a", "Admitted")["message"], said(s, "a", "Admitted")["message"])
    time.sleep(1)
    expect_equal(nodes(s, "a"), ["", ""], "nodes of the first")
    for i in range(2):
        owned_pod(s, "b", i, owner=by)
    wait_until(lambda: runs(s, "a") and runs(s, "b"), "both run")
    expect_equal(len(members(s, "a")) + len(members(s, "b")), 4, "members")
