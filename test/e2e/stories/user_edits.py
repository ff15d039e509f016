"""What users change although it is not theirs to change: repaired or reported, and nothing is lost."""

import json

from harness import FINALIZER, KEY, condition, expect, expect_equal, queuejob, task, wait_until

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


def start(s, **spec):
    """A gang of three, quorum two, that runs; returns the UIDs of its pods."""
    s.apply(queuejob("mine", task("worker", 3), sched={"minAvailable": 2, "priority": 5}, **spec))
    s.wait_phase("mine", "Running", running=3)
    return s.uids("mine")


def merge(s, kind, name, patch, *args):
    s.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(patch), *args)


def expect_untouched(s, before):
    """The pods are those they were, none was created twice, and nothing was counted."""
    status = s.wait_phase("mine", "Running", running=3)
    expect_equal(s.uids("mine"), before, "the pods")
    expect_equal(len(s.audit.pods_created(s.namespace)), 3, "number of pods created")
    expect_equal({k: status[k] for k in ("restarts", "incarnation", "podFailures", "disruptions")},
                 {"restarts": 0, "incarnation": 1, "podFailures": 0, "disruptions": 0}, "what is counted")


def write_status(s, name, fields):
    merge(s, "queuejob", name, {"status": fields}, "--subresource=status")


def a_condition(kind, value, reason):
    return {"type": kind, "status": value, "reason": reason, "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"}


def story_status_edited_by_a_user(s):
    """What a user writes into the status of a job that runs is put right, and no pod is stopped for it; one that is cleared is found again from the pods."""
    before = start(s, ttlSecondsAfterFinished=0, activeDeadlineSeconds=3600)
    record = {k: s.status("mine")["record"][k] for k in ("templateHash", "formedMinAvailable", "formation")}
    write_status(s, "mine", {"running": 77, "succeeded": 3, "message": "all is lost", "desired": 0})
    s.wait_phase("mine", "Running", running=3, succeeded=0, desired=3, message=None)
    expect_untouched(s, before)
    for phase in ("Completed", "Failed", "Suspended", "Restarting", "Pending", "Starting"):
        write_status(s, "mine", {"phase": phase})
        expect_untouched(s, before)
    write_status(s, "mine", {"phase": "Completed", "completionTime": "2020-01-01T00:00:00Z", "reason": "Completed"})
    s.wait_phase("mine", "Running", reason=None, completionTime=None)
    write_status(s, "mine", {"conditions": [a_condition("Complete", "True", "Completed"), a_condition("Formed", "False", "Starting")]})
    wait_until(lambda: (condition(s.job("mine"), "Formed"), condition(s.job("mine"), "Complete")) == ("True", None), "the conditions are put right")
    write_status(s, "mine", {"conditions": None, "startTime": None, "incarnation": None, "record": None})
    wait_until(lambda: condition(s.job("mine"), "Formed") == "True" and condition(s.job("mine"), "Admitted") == "True", "the conditions come back")
    wait_until(lambda: {k: s.status("mine")["record"].get(k) for k in record} == record and s.status("mine").get("startTime"), f"the record is {record} again")
    write_status(s, "mine", {"tasks": [{"name": "worker", "succeeded": 3, "succeededIndexes": "0-2"}]})
    wait_until(lambda: not s.status("mine")["tasks"][0].get("succeededIndexes"), "what runs has not succeeded")
    expect_untouched(s, before)
    expect("StatusEdited" in {e["reason"] for e in s.kubectl.list("events")}, "an event reports the edit")
    job = s.job("mine")
    del job["status"]
    s.kubectl("replace", "--subresource=status", "-f", "-", stdin=json.dumps(job))
    wait_until(lambda: condition(s.job("mine"), "Formed") == "True", "the gang is found formed again")
    expect_untouched(s, before)
    expect(not s.manager.said("drops a field of the status"), "a removed record must not be taken for a CRD of another version")


def story_status_of_a_finished_job_edited_by_a_user(s):
    """An end stays while phase and condition agree. If one of them is edited, the pods and the counts show the same end again; nothing runs."""
    ends = (("well", "Complete", {"outcome": "succeed"}), ("badly", "Failed", {"outcome": "fail"}))
    for name, kind, outcome in ends:
        s.apply(queuejob(name, task("worker", 2, **outcome), backoffLimit=0))
        wait_until(lambda name=name, kind=kind: condition(s.job(name), kind) == "True", f"{name} ends")
        want = {k: s.status(name).get(k) for k in ("phase", "reason", "succeeded")}
        created = len(s.audit.pods_created(s.namespace))
        for fields in ({"conditions": None}, {"phase": "Running"}, {"phase": "Pending"}, {"completionTime": None},
                       {"reason": "Mine", "message": "all is lost", "succeeded": 9},
                       {"conditions": [a_condition(kind, "False", "Mine")]}):
            write_status(s, name, fields)
            wait_until(lambda name=name, kind=kind, want=want: condition(s.job(name), kind) == "True" and {k: s.status(name).get(k) for k in want} == want,
                       f"{name} is {want} again after {fields}")
        expect_equal(len(s.audit.pods_created(s.namespace)), created, "number of pods created")


def story_podgroup_deleted_or_edited_by_a_user(s):
    """The PodGroup is repaired, or created and admitted anew; the pods run on."""
    before = start(s)
    merge(s, "podgroup.scheduling.x-k8s.io", "mine", {"metadata": {"labels": {"team": "a"}}, "spec": {"minMember": 1, "queue": None, "priority": None}})
    wait_until(lambda: {k: s.group("mine")["spec"].get(k) for k in ("minMember", "queue", "priority")} == {"minMember": 2, "queue": "default", "priority": 5},
               "the spec is repaired")
    expect_equal(s.group("mine")["metadata"]["labels"].get("team"), "a", "the user's label")
    merge(s, "podgroup.scheduling.x-k8s.io", "mine", {"metadata": {"ownerReferences": None}})
    wait_until(lambda: s.status("mine").get("reason") == "NameConflict" or s.group("mine")["metadata"].get("ownerReferences"),
               "the owner is put back, or its loss reported")
    s.kubectl("delete", "podgroup.scheduling.x-k8s.io", "mine")
    group = wait_until(lambda: (g := s.group("mine")) and condition(g, "Admitted") == "True" and g["status"].get("running") == 3 and g, "there is a new one, admitted")
    expect_equal([o["name"] for o in group["metadata"]["ownerReferences"]], ["mine"], "its owner")
    s.wait_phase("mine", "Running", reason=None)
    expect_untouched(s, before)


def story_schedulingspec_deleted_or_edited_by_a_user(s):
    """The SchedulingSpec is made again what spec.schedSpec of the job asks for."""
    before = start(s)
    want = s.scheduling_spec("mine")["spec"]
    merge(s, "schedulingspec", "mine", {"spec": {"minAvailable": 1, "nodeSelector": {"disk": "fast"}, "priority": None}})
    wait_until(lambda: s.scheduling_spec("mine")["spec"] == want, f"the spec is {want} again")
    s.kubectl("delete", "schedulingspec", "mine")
    wait_until(lambda: (s.scheduling_spec("mine") or {}).get("spec") == want, "there is a new one")
    expect_untouched(s, before)


def story_labels_and_finalizers_of_pods_edited_by_a_user(s):
    """Labels that are changed and finalizers that are removed are put back, on the same pods."""
    before = start(s)
    want = {name: pod["metadata"]["labels"] for name, pod in s.pods("mine").items()}
    edits = {"mine-worker-0": {KEY + "index": "7", KEY + "task": "nobody"}, "mine-worker-1": {KEY + "incarnation": None, GROUP_LABEL: "other"},
             "mine-worker-2": {KEY + "queuejob": None, KEY + "index": "0"}}
    for name, labels in edits.items():
        merge(s, "pod", name, {"metadata": {"labels": labels, "finalizers": None}})

    def repaired():
        pods = {p["metadata"]["name"]: p["metadata"] for p in s.kubectl.list("pods")}
        return {n: m["labels"] for n, m in pods.items()} == want and all(FINALIZER in m.get("finalizers", []) for m in pods.values())

    wait_until(repaired, "labels and finalizers are as they were")
    s.kubectl("label", "pod", "mine-worker-0", KEY + "queuejob=other", "--overwrite")
    wait_until(repaired, "the label that says whose pod it is has its value back")
    expect_untouched(s, before)


def story_lowered_incarnation_label_kills_nobody(s):
    """In a later incarnation a lowered label is put back; the pod is neither killed nor made again."""
    start(s)
    merge(s, "queuejob", "mine", {"spec": {"suspend": True}})
    s.wait_phase("mine", "Suspended")
    merge(s, "queuejob", "mine", {"spec": {"suspend": False}})
    s.wait_phase("mine", "Running", 60, running=3, incarnation=2)
    before = s.uids("mine")
    for name in before:
        merge(s, "pod", name, {"metadata": {"labels": {KEY + "incarnation": "1"}}})
    wait_until(lambda: {p["metadata"]["labels"][KEY + "incarnation"] for p in s.pods("mine").values()} == {"2"}, "the labels are put back")
    status = s.wait_phase("mine", "Running", running=3)
    expect_equal(s.uids("mine"), before, "the pods")
    expect_equal((status["incarnation"], status["restarts"], status["disruptions"]), (2, 0, 0), "what is counted")


def story_children_of_a_suspended_job_are_repaired(s):
    """PodGroup and SchedulingSpec of a suspended job come back at once, not when it is resumed."""
    start(s)
    merge(s, "queuejob", "mine", {"spec": {"suspend": True}})
    s.wait_phase("mine", "Suspended")
    s.kubectl("delete", "podgroup.scheduling.x-k8s.io", "mine")
    merge(s, "schedulingspec", "mine", {"spec": {"minAvailable": 1}})
    wait_until(lambda: (s.group("mine") or {}).get("spec", {}).get("minMember") == 2, "there is a new PodGroup")
    wait_until(lambda: s.scheduling_spec("mine")["spec"]["minAvailable"] == 2, "the SchedulingSpec is repaired")
    s.wait_phase("mine", "Suspended", running=0)
    expect_equal(condition(s.group("mine"), "Admitted") == "True", False, "a suspended job is not admitted")


def story_owner_of_a_pod_removed_by_a_user(s):
    """A pod without its ownerReference is nobody's: the job says so, makes no second one, and goes on when it is gone."""
    before = start(s)
    merge(s, "pod", "mine-worker-1", {"metadata": {"ownerReferences": None}})
    status = s.wait_phase("mine", "Running", running=2, reason="PodNameConflict")
    expect("mine-worker-1" in status["message"], f"the message names the pod: {status['message']}")
    expect_equal(s.uids("mine"), before, "the pods")
    s.kubectl("delete", "pod", "mine-worker-1", "--wait=false")
    s.wait_phase("mine", "Running", running=3, restarts=0)
    expect(s.uids("mine")["mine-worker-1"] != before["mine-worker-1"], "there is a new pod under the name")
    expect_equal(len(s.audit.pods_created(s.namespace)), 4, "number of pods created")


def story_finished_pod_deleted_by_a_user(s):
    """What has succeeded stays counted when a user deletes the pod, and is not run again."""
    s.apply(queuejob("mine", task("quick", 2, outcome="succeed"), task("slow", 1)))
    s.wait_phase("mine", "Running", running=1, succeeded=2)
    s.kubectl("delete", "pods", "mine-quick-0", "mine-quick-1", "--timeout=30s")
    status = s.wait_phase("mine", "Running", running=1, succeeded=2, restarts=0)
    s.kubectl("annotate", "pod", "mine-slow-0", "--overwrite", "test.kube-arbitrator.io/outcome=succeed")
    s.wait_phase("mine", "Completed", succeeded=3)
    expect_equal((len(s.audit.pods_created(s.namespace)), status["disruptions"]), (3, 0), "pods created, disruptions")
