"""Whole gangs make room for one of higher priority in a queue that allows it (preemptionPolicy). Four nodes of 64 CPUs."""

import time

from harness import expect, expect_equal, wait_until
from stories.members import batch_job, group, members, nodes, owned_pod, owner, runs, said, says
from stories.nodes import expect_no_pod_was_made, gang, wait_until_alone
from stories.plugin import plugin


def queue(s, policy="LowerPriority"):
    """A gang may be evicted as soon as it runs."""
    s.manager.stop()
    s.manager.start("--min-runtime=0s")
    name = s.namespace
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"preemptionPolicy": policy}})
    return name


def check_marked(watch, names, message):
    """All of these pods had the condition DisruptionTarget before they were deleted, and it says for whom they go."""
    going = {n: [p for p in (pod for _, pod in watch.events()) if p["metadata"]["name"] == n and p["metadata"].get("deletionTimestamp")] for n in names}
    expect(all(going.values()), f"the watch has seen how each of them goes: {sorted(n for n in names if going[n])}")
    for name, seen in going.items():
        for pod in seen:
            mark = next((c for c in pod["status"].get("conditions", []) if c["type"] == "DisruptionTarget"), {})
            expect_equal((mark.get("status"), mark.get("reason"), mark.get("message")), ("True", "EvictedByQueue", message), f"the mark of {name}")


def story_gang_of_lower_priority_makes_room(s):
    """Of two gangs that run, the lower one goes, whole, and only for one that then starts whole; it starts again when there is room."""
    wait_until_alone(s)
    name = queue(s)
    for job, priority in (("low", 1), ("middle", 5)):
        s.apply(gang(job, replicas=2, sched={"priority": priority}, queue=name))
        s.wait_phase(job, "Running", running=2)
    uids, low, watch = s.uids("middle"), list(s.uids("low")), s.watch_pods()
    s.apply(gang("five", replicas=5, sched={"priority": 100}, queue=name))  # fits nowhere: nobody goes for it
    s.wait_phase("five", "Pending", reason="Infeasible")
    s.apply(gang("high", replicas=2, sched={"priority": 10}, queue=name))
    s.wait_phase("high", "Running", running=2, seconds=60)
    watch.stop()
    check_marked(watch, low, f"evicted for {s.namespace}/high: priority 10 over 1")
    status = s.status("low")
    expect_equal({k: status.get(k, 0) for k in ("restarts", "podFailures", "disruptions")}, {"restarts": 0, "podFailures": 0, "disruptions": 0}, "what the evicted job has counted")
    expect_equal(said(s, "low", "Preempted").get("message"), f"evicted for {s.namespace}/high: priority 10 over 1", "condition Preempted")
    expect_equal(s.uids("middle"), uids, "pods of the gang that was not needed")
    events = sorted((e["regarding"]["kind"], e["reason"], e["note"]) for e in s.kubectl.list("events.events.k8s.io")
                    if e["reason"] in ("Preempted", "RolledBack", "Restarting") and e["regarding"]["name"] == "low")
    why = f"evicted for {s.namespace}/high: priority 10 over 1"
    expect_equal(events, [("PodGroup", "Preempted", why), ("QueueJob", "Preempted", why)], "events, one of the job and one of its group")
    for status in (s.status("low"), s.group("low")["status"]):
        expect_equal((status["evictions"], {k: v for k, v in status["lastEviction"].items() if k != "time"}),
                     (1, {"reason": "InQueue", "by": f"{s.namespace}/high", "queue": name}), "what is said of the eviction")
        expect_equal(next(c["reason"] for c in status["conditions"] if c["type"] == "Preempted"), "InQueue", "condition Preempted")
    for job in ("low", "high"):  # from both sides
        said_by_plugin = [line.split("\t")[1:] for line in plugin(s, "who", job).splitlines()]
        expect_equal(said_by_plugin, [["EVICTED", "FOR", "RULE", "WHY"], [f"{s.namespace}/low", f"{s.namespace}/high", "priority", why]], f"kubectl qj who {job}")
    s.shown.append(s.kubectl("describe", "podgroups.scheduling.x-k8s.io", "low"))
    s.kubectl("delete", "queuejob", "high", "--wait=true", "--cascade=foreground")
    s.wait_phase("low", "Running", running=2)
    expect_equal(said(s, "low", "Preempted").get("status"), "False", "condition Preempted")


def story_gang_of_a_batch_job_is_evicted(s):
    """Pods of a Job that names a PodGroup make room too; the Job counts no failure and starts again."""
    wait_until_alone(s)
    name = queue(s)
    group(s, "low", 3, queue=name, priority=1)
    batch_job(s, "low", 3)
    wait_until(lambda: runs(s, "low"), "it runs")
    watch, low = s.watch_pods(), list(members(s, "low"))
    s.apply(gang("high", replicas=4, sched={"priority": 10}, queue=name))
    s.wait_phase("high", "Running", running=4, seconds=60)
    wait_until(lambda: set(nodes(s, "low")) <= {""}, "the other has no nodes")
    watch.stop()
    check_marked(watch, low, f"evicted for {s.namespace}/high: priority 10 over 1")
    s.kubectl("delete", "queuejob", "high", "--wait=true", "--cascade=foreground")
    wait_until(lambda: runs(s, "low"), "it runs again", seconds=60)
    expect_equal(s.kubectl.get("job", "low")["status"].get("failed", 0), 0, "failures of the Job")


def story_nobody_is_evicted_unless_the_queue_says_so(s):
    """The same with preemptionPolicy Never: the higher one waits."""
    wait_until_alone(s)
    name = queue(s, "Never")
    s.apply(gang("low", replicas=3, sched={"priority": 1}, queue=name))
    s.wait_phase("low", "Running", running=3)
    s.apply(gang("high", replicas=2, sched={"priority": 10}, queue=name))
    s.wait_phase("high", "Pending", reason="NoFit")
    time.sleep(2)
    expect_no_pod_was_made(s, "high")
    expect_equal(s.status("low")["phase"], "Running", "phase of the lower one")


def story_nobody_is_evicted_for_pods_that_are_refused_by_now(s):
    """What the API server accepted more than ten seconds ago is asked about once more before a gang goes for it: its ServiceAccount is gone, so nobody goes, and the job says why. Made again, it starts."""
    def pilot(job, replicas):
        made = gang(job, replicas=replicas, sched={"priority": 10}, queue=name)
        made["spec"]["taskSpecs"][0]["template"]["spec"]["serviceAccountName"] = "pilot"
        return made

    def asked():
        return [e["responseStatus"]["code"] for e in s.audit.pod_creates(s.namespace, dry_run=True)]

    wait_until_alone(s)
    name = queue(s)
    s.kubectl("create", "serviceaccount", "pilot")
    s.apply(gang("low", replicas=2, sched={"priority": 1}, queue=name))
    s.wait_phase("low", "Running", running=2)
    s.apply(pilot("tried", 2))
    s.wait_phase("tried", "Running", running=2)
    accepted = time.monotonic()
    s.kubectl("delete", "queuejob", "tried", "--wait=true", "--cascade=foreground")
    s.kubectl("delete", "serviceaccount", "pilot")
    uids = s.uids("low")
    time.sleep(max(0, accepted + 11 - time.monotonic()))  # an answer is good for ten seconds (KAR_TEMPLATES_FRESH)
    before = asked()
    s.apply(pilot("high", 3))
    s.wait_phase("high", "Pending", reason="Forbidden")
    expect('serviceaccount "pilot" not found' in s.status("high")["message"], f"why it waits: {s.status('high')['message']}")
    time.sleep(2)
    expect_equal(s.uids("low"), uids, "pods of the lower one")
    expect_equal(set(asked()[len(before):]), {403}, "answers to dry runs")
    expect_no_pod_was_made(s, "high")
    s.kubectl("create", "serviceaccount", "pilot")
    s.wait_phase("high", "Running", running=3, seconds=90)
    expect_equal(said(s, "low", "Preempted").get("message"), f"evicted for {s.namespace}/high: priority 10 over 1", "condition Preempted")


def story_nobody_is_evicted_beyond_a_budget(s):
    """A gang that a PodDisruptionBudget protects stays, and the next one goes; when the budget is gone it makes room like any other."""
    def allowed():
        return (s.kubectl.get("poddisruptionbudget", "low") or {}).get("status", {}).get("disruptionsAllowed")

    wait_until_alone(s)
    name = queue(s)
    for job, priority in (("low", 1), ("middle", 5)):
        s.apply(gang(job, replicas=2, sched={"priority": priority}, queue=name))
        s.wait_phase(job, "Running", running=2)
    s.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "low"},
             "spec": {"minAvailable": 1, "selector": {"matchLabels": {"kube-arbitrator.io/queuejob": "low"}}}})
    wait_until(lambda: allowed() == 1, "one of its two pods may be disrupted")
    uids = s.uids("low")
    s.apply(gang("high", replicas=2, sched={"priority": 10}, queue=name))
    s.wait_phase("high", "Running", running=2, seconds=60)
    expect_equal(s.uids("low"), uids, "pods of the gang that is protected")
    expect_equal(said(s, "middle", "Preempted").get("message"), f"evicted for {s.namespace}/high: priority 10 over 5", "condition Preempted of the other")
    s.apply(gang("highest", replicas=4, sched={"priority": 20}, queue=name))
    s.wait_phase("highest", "Pending")
    time.sleep(2)
    expect_equal(s.uids("low"), uids, "pods of the gang that is protected")
    expect_equal(s.status("high")["phase"], "Running", "phase of one that would go in vain")
    s.kubectl("delete", "poddisruptionbudget", "low")
    s.wait_phase("highest", "Running", running=4, seconds=60)


def story_held_room_goes_before_pods(s):
    """A group holds room for members to come (minResources): a gang of higher priority gets that, and no pod is evicted, neither of the group nor of a job of the least priority."""
    wait_until_alone(s)
    name = queue(s)
    s.apply(gang("low", replicas=1, sched={"priority": 1}, queue=name))
    s.wait_phase("low", "Running", running=1)
    group(s, "staged", 1, queue=name, priority=5, minResources={"cpu": "190"})  # of 256, 10 and the pod of low are used
    owned_pod(s, "staged", 0, cpu="10", owner=owner(s, "staged"))
    wait_until(lambda: runs(s, "staged"), "the first member runs")
    uids = [s.uids("low"), {p["metadata"]["uid"] for p in members(s, "staged").values()}]
    s.apply(gang("high", replicas=2, sched={"priority": 100}, queue=name))
    s.wait_phase("high", "Running", running=2, seconds=60)
    expect_equal([s.uids("low"), {p["metadata"]["uid"] for p in members(s, "staged").values()}], uids, "pods that were there before")
    expect_equal(s.group("staged")["status"]["placement"]["holdEndedFor"], f"{s.namespace}/high", "who has got the room")
    wait_until(lambda: f"room for members to come went to {s.namespace}/high" in said(s, "staged", "Admitted")["message"], "the group says so")
    s.shown.append(said(s, "staged", "Admitted")["message"])
