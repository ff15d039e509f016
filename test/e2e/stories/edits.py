"""What users, and the queue, may change while a job runs: templates, numbers; and a namespace that goes."""

import json
import re
import time

from harness import KEY, expect, expect_equal, queuejob, task, wait_until


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
    s.kubectl("patch", "queuejobs", "live", "--type=merge", "-p", '{"spec": {"schedSpec": {"minAvailable": null}}}')
    wait_until(lambda: minimums(s) == (2, 2, 2), "without one of its own the minimum is the sum of the replicas")
    s.apply(version(1, replicas=3))
    s.wait_phase("live", "Running", running=3, desired=3, restarts=0)
    wait_until(lambda: minimums(s) == (3, 3, 3), "the default follows the replicas")
    s.kubectl("patch", "queuejobs", "live", "--type=merge", "-p", '{"spec": {"schedSpec": {"minAvailable": 0}}}')
    wait_until(lambda: minimums(s) == (1, 0, 0), "an explicit 0 stays 0")


def story_added_replicas_come_at_once(s):
    """An edit of replicas is no scaling: pods beyond the minimum do not wait until the freezing window of the growth before is over."""
    s.apply(version(1, replicas=3, minimum=1))
    s.wait_phase("live", "Running", running=3)
    wait_until(lambda: s.group("live")["status"].get("lastScaleTime"), "the queue has scaled the job")
    asked = time.time()
    s.apply(version(1, replicas=5, minimum=1))
    s.wait_phase("live", "Running", running=5, desired=5, restarts=0)
    expect(time.time() - asked < 15, f"five pods run after {time.time() - asked:.0f} s")


def story_raised_minimum_waits_for_its_queue(s):
    """The minimum of a job that runs is raised beyond what its queue has: nothing stops, the job says what it lacks, a lost pod comes again, and the rest comes when there is room."""
    s.apply({"apiVersion": f"{KEY}v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}, "spec": {"capability": {"cpu": "4"}}})

    def wants(replicas, minimum):
        job = queuejob("live", task("worker", replicas), sched={"minAvailable": minimum}, queue=s.namespace)
        job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        return job

    s.apply(wants(4, 4))
    s.wait_phase("live", "Running", running=4)
    before = s.uids("live")
    s.apply(wants(6, 6))
    words = r"allows 4 of 6 pods that the raised minimum needs: minimum raised to 6: insufficient cpu: 2 requested, 0 of 4 free \(2 short\)"
    wait_until(lambda: re.search(words, s.status("live").get("message", "")), "it says what the raised minimum lacks")
    expect_equal(s.uids("live"), before, "the pods go on")
    s.kubectl("delete", "pod", "live-worker-1", "--wait=false")
    wait_until(lambda: s.uids("live").get("live-worker-1") not in (None, before["live-worker-1"]) and len(s.pods("live")) == 4, "the lost pod is there again")
    wait_until(lambda: s.status("live")["running"] == 4, "and runs")
    s.kubectl("patch", "queues.kube-arbitrator.io", s.namespace, "--type=merge", "-p", '{"spec": {"capability": {"cpu": "6"}}}')
    s.wait_phase("live", "Running", running=6)
    s.kubectl("delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
    s.cluster.kubectl("delete", "queues.kube-arbitrator.io", s.namespace, "--wait=false")


def let_run(s, name, n):
    """What a queue does that scales a job; None: it does so no longer."""
    s.kubectl("patch", "podgroups.scheduling.x-k8s.io", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"desired": n}}))


def indexes(s):
    return sorted(int(name.rsplit("-", 1)[1]) for name in s.pods("live"))


def story_scaled_by_the_queue(s):
    """PodGroup.status.desired allows 6 of 10 pods: the last ones are stopped and not counted, the lowest come back first; a loss is replaced alone. (It keeps that for a while: --freezing-window.)"""
    s.apply(version(1, replicas=10, minimum=4))
    s.wait_phase("live", "Running", running=10, desired=10)
    before = s.uids("live")
    let_run(s, "live", 6)
    status = s.wait_phase("live", "Running", running=6, desired=6, terminating=0, replicas=6)
    expect_equal(s.uids("live"), {f"live-worker-{i}": before[f"live-worker-{i}"] for i in range(6)}, "the pods that stay")
    expect_equal(status["reason"], "Scaled", "why fewer run")
    expect(status["message"].startswith("queue default allows 6 of 10 pods at once"), f"the message is {status['message']}")
    wait_until(lambda: re.search(r"6 of 10 pods at once: the freezing window ends at \S+Z$", s.status("live")["message"]), "it says what stops the next pod")
    expect_equal(s.group("live")["status"]["scalingLimit"], "FreezingWindow", "the cause in its group")
    expect(status.get("lastScaleTime"), "lastScaleTime is set")
    described = s.kubectl("describe", "queuejobs", "live")
    expect("queue default scaled the job down to 6 of 10 pods" in described and "allows 6 of 10 pods at once" in described, f"describe says why: {described}")
    s.kubectl("delete", "pod", "live-worker-2", "--wait=false")
    s.wait_phase("live", "Running", running=6, desired=6, disruptions=1, restarts=0, terminating=0, replicas=6)
    expect_equal(indexes(s), list(range(6)), "the index that was lost is there again, and no other")
    let_run(s, "live", 8)
    s.wait_phase("live", "Running", running=8, desired=8)
    expect_equal(indexes(s), list(range(8)), "the lowest come back first")


def most_at_once(events):
    """Pods that had not ended, and were not being deleted, at one time."""
    live, most = set(), 0
    for kind, pod in events:
        ended = kind == "DELETED" or pod["metadata"].get("deletionTimestamp") or pod["status"].get("phase") in ("Succeeded", "Failed")
        (live.discard if ended else live.add)(pod["metadata"]["name"])
        most = max(most, len(live))
    return most


def story_success_makes_room(s):
    """In a queue with room for one pod the indexes of a job run one after the other, and it completes with all of them."""
    queue = s.namespace
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": queue}, "spec": {"capability": {"pods": 1}}})
    watch = s.watch_pods()
    s.apply(queuejob("live", task("worker", 4, outcome="succeed", after="1s"), sched={"minAvailable": 1}, queue=queue))
    s.wait_phase("live", "Completed", succeeded=4, podFailures=0, disruptions=0, restarts=0)
    watch.stop()
    expect_equal(most_at_once(watch.events()), 1, "pods at once")
    expect_equal([*s.audit.pods_created(s.namespace)], [f"live-worker-{i}" for i in range(4)], "the order in which they came")
    s.kubectl("delete", "queuejob", "live")
    s.kubectl("delete", "queues.kube-arbitrator.io", queue)


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
