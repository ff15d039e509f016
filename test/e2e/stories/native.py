"""Gangs that kube-scheduler starts whole, by the PodGroups of Kubernetes itself: on a cluster on which they are switched on."""

import json
import time

from harness import condition, expect, expect_equal, queuejob, run_cluster, task, wait_until
from stories.nodes import UNREAD

NATIVE = "podgroups.scheduling.k8s.io"


def native_group(s, name):
    return json.loads(s.kubectl("get", NATIVE, name, "-o", "json", "--ignore-not-found") or "null")


def min_count(s, name):
    return (native_group(s, name) or {}).get("spec", {}).get("schedulingPolicy", {}).get("gang", {}).get("minCount")


def status_of_group(s, name):
    return (s.group(name) or {}).get("status", {})


def backend(s, name):
    return status_of_group(s, name).get("backend")


def apart(name, replicas, **sched):
    """Pods of which one may be on a node, in words that are not read, so only kube-scheduler knows whether it fits."""
    job = queuejob(name, task("worker", replicas), sched=sched)
    template = job["spec"]["taskSpecs"][0]["template"]
    template["metadata"]["labels"] = {"apart": name}
    terms = [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"apart": name}}, **UNREAD}]
    template["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return job


def story_kube_scheduler_starts_gangs_whole(s):
    """A gang of which kube-scheduler can bind all but one has no pod on a node, not for a moment; one that fits runs, and cleans up."""
    watch = s.watch_pods()
    s.apply(apart("broad", 5, minAvailable=5, scheduleTimeoutSeconds=4))
    wait_until(lambda: status_of_group(s, "broad").get("placement", {}).get("failures"), "the attempt has failed")
    expect_equal(backend(s, "broad"), "Native", "status.backend")
    expect_equal(min_count(s, "broad"), 5, "minCount")
    expect("not bound after 4s" in status_of_group(s, "broad")["placement"]["cause"], "the cause of the failure")
    s.kubectl("delete", "queuejob", "broad")
    pods = [pod for _, pod in watch.events()]
    watch.stop()
    expect_equal({p["spec"].get("schedulingGroup", {}).get("podGroupName") for p in pods}, {"broad"}, "the group that the pods name")
    expect_equal([p["metadata"]["name"] for p in pods if p["spec"].get("nodeName")], [], "pods that were bound")

    s.apply(apart("narrow", 4, minAvailable=4))
    s.wait_phase("narrow", "Running", running=4)
    expect_equal(condition(native_group(s, "narrow"), "PodGroupInitiallyScheduled"), "True", "what kube-scheduler says of the group")
    expect_equal(native_group(s, "narrow")["metadata"]["ownerReferences"][0]["name"], "narrow", "its owner")
    s.kubectl("delete", "queuejob", "narrow")
    wait_until(lambda: not native_group(s, "narrow") and not native_group(s, "broad"), "the groups are gone")


def story_minimum_of_kubernetes_leaves_out_successes(s):
    """The replacement of a pod starts although others of the minimum have succeeded; more pods of a raised minimum start."""
    s.apply(queuejob("mixed", task("short", 2, "succeed"), task("long", 2), sched={"minAvailable": 3}))
    s.wait_phase("mixed", "Running", succeeded=2, running=2)
    uid = s.uids("mixed")["mixed-long-0"]
    s.kubectl("delete", "pod", "mixed-long-0", "--wait=false")
    wait_until(lambda: s.uids("mixed").get("mixed-long-0") not in (None, uid), "the pod is replaced")
    s.wait_phase("mixed", "Running", running=2, restarts=0)
    expect_equal(min_count(s, "mixed"), 1, "minCount with 2 of 3 succeeded")
    s.kubectl("patch", "queuejob", "mixed", "--type=json", "-p", '[{"op":"replace","path":"/spec/schedSpec/minAvailable","value":5},'
              '{"op":"replace","path":"/spec/taskSpecs/1/replicas","value":4}]')
    s.wait_phase("mixed", "Running", running=4)
    expect_equal(min_count(s, "mixed"), 3, "minCount of the raised minimum")


def story_what_kubernetes_cannot_do_is_said(s):
    """A job with pods of two priorities waits and says why; nothing weaker is used."""
    classes = [f"{s.namespace}-{i}" for i in (1, 2)]
    for value, name in enumerate(classes):
        s.cluster.kubectl("create", "priorityclass", name, f"--value={value}")
    tasks = [task("a", 1), task("b", 1)]
    for one, name in zip(tasks, classes):
        one["template"]["spec"]["priorityClassName"] = name
    s.apply(queuejob("mixed", *tasks))
    status = s.wait_phase("mixed", "Pending", reason="BackendUnavailable")
    expect("its PodGroups need pods of one priority, and tasks a and b have other PriorityClasses" in status["message"], f"it says {status['message']}")
    expect_equal(s.audit.pods_created(s.namespace), [], "pods that were created")
    tasks[1]["template"]["spec"]["priorityClassName"] = classes[0]
    s.apply(queuejob("mixed", *tasks))
    s.wait_phase("mixed", "Running", running=2)
    expect_equal(native_group(s, "mixed")["spec"]["priorityClassName"], classes[0], "the class of the group")
    for name in classes:
        s.cluster.kubectl("delete", "priorityclass", name)


def story_cluster_is_downgraded_and_upgraded(s):
    """The API server forgets its PodGroups and has them again: what runs goes on, what would start waits."""
    s.apply(queuejob("first", task("worker", 3), sched={"minAvailable": 2}))
    s.wait_phase("first", "Running", running=3)
    expect_equal(backend(s, "first"), "Native", "status.backend")
    s.manager.forget_log()
    run_cluster(s.cluster.name, "restart-apiserver", "--kill", "--without-native")
    wait_until(lambda: s.manager.said("Kubernetes has no PodGroups of its own"), "the manager has seen it")
    s.apply(queuejob("second", task("worker", 2)))
    s.wait_phase("second", "Pending", reason="BackendUnavailable")  # at first it may be seen by the template: the server drops the field of pods
    wait_until(lambda: "backend Native was asked for: the API server has no PodGroups of scheduling.k8s.io" in s.status("second")["message"], "it says why")
    uid = s.uids("first")["first-worker-2"]
    s.kubectl("delete", "pod", "first-worker-2", "--wait=false")
    wait_until(lambda: s.uids("first").get("first-worker-2") not in (None, uid), "the pod is replaced")
    s.wait_phase("first", "Running", running=3, restarts=0)
    begin = time.monotonic()
    run_cluster(s.cluster.name, "restart-apiserver", "--kill")
    s.wait_phase("second", "Running", 60, running=2)
    expect_equal((backend(s, "second"), min_count(s, "second")), ("Native", 2), "how it has started")
    s.shown.append(f"started {time.monotonic() - begin:.1f} s after the restart of the API server began")
