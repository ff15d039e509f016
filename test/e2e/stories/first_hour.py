"""The table of tasks of a first hour: what a user types, and what they then see in the status, in events, and from kubectl.

Each row is one job (or an object that is refused) and the words that answer "what does it do, and why". The story prints the table
with what was seen, so that a person can read it as the user does.
"""

import json
import re

from harness import TEST_KEY, Failure, SimulatedCluster, expect, expect_equal, queuejob, task, wait_until

KEY = "kube-arbitrator.io/"


def of(n, outcome="run", **fields):
    return task("worker", n, outcome, **fields)


def pod(n, outcome="run", container=None, **spec):
    """A task whose pods differ from the simplest one."""
    made = of(n, outcome)
    made["template"]["spec"].update(spec)
    made["template"]["spec"]["containers"][0].update(container or {})
    return made


def notes(made, **annotations):
    made["template"]["metadata"]["annotations"].update({TEST_KEY + k.replace("_", "-"): v for k, v in annotations.items()})
    return made


def asks(n, **requests):
    return pod(n, container={"resources": {"requests": requests}})


def queue(name, **spec):
    return {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def quota(**hard):
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}


def named(name, **spec):
    """The same name, whatever else asks for it."""
    return {"apiVersion": "v1", "metadata": {"name": name}, **spec}


PLAIN_POD = {"containers": [{"name": "main", "image": "busybox:1.36"}]}

# Refused at once: number, what is typed, words of the answer. CEL is evaluated by the real API server only.
REFUSED = [
    (9, "a typo: replica", {"name": "worker", "replica": 2, **{k: v for k, v in of(1).items() if k not in ("name", "replicas")}}, 'unknown field "spec.taskSpecs[0].replica"', True),
    (10, "replicas: three", {**of(1), "replicas": "three"}, "must be of type integer", True),
    (12, "restartPolicy: Always", pod(1, restartPolicy="Always"), 'Unsupported value: "Always": supported values: "Never", "OnFailure"', True),
    (13, "minAvailable 5 of 3", {**of(3), "minAvailable": 5}, "minAvailable 5 of a task is more than its 3 replicas", False),
]

# Number, what is typed, what exists before, the job, phase and reason, words of the message, an event (type, reason).
WAITING = [
    (11, "a typo below resources", [], queuejob("typo", pod(2, container={"resources": {"request": {"cpu": "1"}}})),
     "Pending", "InvalidTemplate", r'unknown field "spec\.containers\[0\]\.resources\.request"', ("Warning", "InvalidTemplate")),
    (17, "a queue that does not exist", [], queuejob("no-queue", of(2), queue="{ns}-none"),
     "Pending", "QueueNotFound", r"there is no queue {ns}-none; it is admitted when somebody creates one", ("Warning", "QueueNotFound")),
    (18, "a closed queue", [queue("{ns}-shut", state="Closed")], queuejob("shut", of(2), queue="{ns}-shut"),
     "Pending", "QueueClosed", r"queue {ns}-shut is closed", ("Normal", "Waiting")),
    (19, "a PriorityClass that does not exist", [], queuejob("no-class", of(2), sched={"priorityClassName": "urgent"}),
     "Pending", "PriorityClassNotFound", r"PriorityClass urgent", ("Warning", "PriorityClassNotFound")),
    (20, "a ServiceAccount that does not exist", [], queuejob("no-account", pod(2, serviceAccountName="nobody")),
     "Pending", "Forbidden", r"serviceaccount \"nobody\" not found", ("Warning", "Forbidden")),
    (21, "an image that cannot be pulled", [], queuejob("image", notes(of(2), outcome="pull-error")),
     "Starting", "ContainerWaiting", r"2 pods do not start: container main of image-worker-\d on node \S+: \S*ImagePull\S*", ("Warning", "ContainerWaiting")),
    (22, "more CPUs than any node has", [], queuejob("too-big", asks(2, cpu="9999", memory="32Mi")),
     "Pending", "Infeasible", r"a pod asks for 9999 cpu, the largest node has \d+(\.\d)?", ("Warning", "Infeasible")),
    (23, "a nodeSelector that no node has", [], queuejob("nowhere", pod(2, nodeSelector={"disk": "none"})),
     "Pending", "Infeasible", r"0 of 2 pods fit on empty nodes: \d+ excluded by nodeSelector or affinity", ("Warning", "Infeasible")),
    (30, "the second job of maxJobs 1", [queue("{ns}-one", maxJobs=1), queuejob("first", of(1), queue="{ns}-one")], queuejob("second", of(1), queue="{ns}-one"),
     "Pending", "MaxJobsReached", r"queue {ns}-one has 1 of 1 jobs; 1st of 1 in queue {ns}-one", ("Normal", "Waiting")),
    (42, "a task that waits for another", [], queuejob("order", task("prepare", 1), {**task("server", 1), "dependsOn": [{"name": "prepare", "status": "Succeeded"}]}),
     "Running", "TaskWaiting", r"task server waits until task prepare has succeeded: 0 of 1", None),
    (43, "a Service that has the name", [named("taken", kind="Service", spec={"ports": [{"port": 80}]})], queuejob("taken", of(1), network={"enableDNSHostnames": True}),
     "Pending", "NameConflict", r"Service taken exists and was not made for this QueueJob \(no owner\)", ("Warning", "NameConflict")),
    (44, "a pod that has the name", [named("pods-worker-0", kind="Pod", spec=PLAIN_POD)], queuejob("pods", of(2)),
     "Starting", "PodNameConflict", r"pod pods-worker-0 exists already and has no owner; waiting for the name", ("Warning", "PodNameConflict")),
]

# As above, but in a namespace of its own with the quota.
UNDER_QUOTA = [
    (24, "a gang of 3 where the quota allows 2 pods", quota(pods="2"), queuejob("three", of(3)),
     "Pending", "QuotaInfeasible", r"insufficient pods: 3 requested, 2 of 2 free \(1 short\), quota q allows 2", ("Warning", "QuotaInfeasible")),
    (25, "a gang of 3 CPUs where the quota allows 2", quota(**{"requests.cpu": "2"}), queuejob("cpus", asks(3, cpu="1")),
     "Pending", "QuotaInfeasible", r"insufficient requests\.cpu: 3 requested, 2 of 2 free \(1 short\), quota q allows 2", ("Warning", "QuotaInfeasible")),
    (26, "no request where the quota wants one", quota(**{"requests.cpu": "2"}), queuejob("silent", of(2)),
     "Pending", "QuotaInvalidTemplate", r"quota q needs requests\.cpu, container main of task \w+ sets none", ("Warning", "QuotaInvalidTemplate")),
]

# The end of jobs: number, what happens, the job, phase and reason, words of the message.
# Rows that only the nodes of the simulated cluster can play; on the other one, stories edit the status of the pods instead.
SIMULATED_NODES = {21, 40}

ENDS = [
    (37, "pods fail, backoffLimit 0", queuejob("fails", notes(of(2, "fail"), exit_code="3"), backoffLimit=0),
     "Failed", "BackoffLimitExceeded", r"(1 failure|2 failures), backoffLimit is 0; last: pod fails-worker-\d on node \S+ failed with exit code 3"),
    (40, "a container crashes under OnFailure", queuejob("crash", notes(pod(2, restartPolicy="OnFailure"), crash_after="1s", crashes="9", exit_code="4"), backoffLimit=2),
     "Failed", "BackoffLimitExceeded", r"backoffLimit is 2; .*crash-worker-\d.*exit code 4"),
    (41, "exit code 42 and a rule FailJob", queuejob("rule", notes(of(2, "fail"), exit_code="42"),
                                                     failurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}),
     "Failed", "PodFailurePolicy", r"exit code 42.*failurePolicy\.rules\[0\] \(FailJob\)"),
    ("-", "activeDeadlineSeconds 1", queuejob("late", of(3), activeDeadlineSeconds=1), "Failed", "DeadlineExceeded", r"0 of 3 pods succeeded after \d+ ?s"),
]


def filled(obj, namespace):
    return json.loads(json.dumps(obj).replace("{ns}", namespace))


class Table:
    """What was seen, and which rows were not as expected: one wrong row does not hide the others."""

    def __init__(self, s):
        self.s, self.lines, self.wrong = s, [], []

    def add(self, number, typed, look):
        try:
            seen = look()
        except Failure as failure:
            self.wrong.append(f"{number} {typed}: {failure}")
            seen = f"NOT AS EXPECTED: {failure}"
        self.lines.append(f"| {number} | {typed} | {seen} |")

    def show(self):
        self.s.shown += ["| # | what is typed | what is seen |", "|---|---|---|", *self.lines]


def events_of(kubectl, name):
    items = json.loads(kubectl("get", "events", "--field-selector", f"involvedObject.name={name},involvedObject.kind=QueueJob", "-o", "json"))["items"]
    return [(e["type"], e["reason"], e.get("message") or e.get("note", "")) for e in items]


def wait_words(kubectl, name, phase, reason, words):
    seen = {}

    def reached():
        seen.update((kubectl.get("queuejobs.kube-arbitrator.io", name) or {}).get("status", {}))
        return (phase in (None, seen.get("phase")) and reason in (None, seen.get("reason"))
                and re.search(words, seen.get("message", "")))

    try:
        wait_until(reached, f"job {name} is {phase} {reason}: {words}")
    except Exception as failure:
        raise type(failure)(f"{failure}; seen: {json.dumps({k: seen.get(k) for k in ('phase', 'reason', 'message')})}") from None
    return f"{seen['phase']} {seen['reason']}: {seen['message']}"


def check_event(kubectl, name, event):
    """The event is there, and there is one of the kind: a wait is no news when it lasts."""
    kind, reason = event
    found = wait_until(lambda: [e for e in events_of(kubectl, name) if e[0] == kind and reason in (None, e[1])],
                       f"job {name} has an event {kind} {reason}")
    if reason:
        expect_equal(len({e[2] for e in found}), 1, f"texts of the events {reason} of {name}: {found}")
    return f"{found[0][0]} {found[0][1]}"


def look_at(kubectl, namespace, row):
    job, phase, reason, words, event = row
    name = job["metadata"]["name"]
    kubectl.apply(filled(job, namespace))
    seen = wait_words(kubectl, name, phase, reason, words.replace("{ns}", namespace))
    return seen + (f"<br>event {check_event(kubectl, name, event)}" if event else "")


def refused(s, bad, words):
    code, text = s.kubectl("create", "-f", "-", stdin=json.dumps(queuejob("refused", bad)), check=False)
    expect(code != 0 and words in text, f"expected {words!r}, got: {text}")
    return "refused: " + " ".join(text.split())


def ended(s, row):
    seen = look_at(s.kubectl, s.namespace, row)
    name = row[0]["metadata"]["name"]
    wait_until(lambda: not [t for t in s.status(name)["tasks"] if t.get("running", 0)], f"no task of {name} counts pods that run")
    return seen


def waits_under_quota(s, space, hard, row):
    s.cluster.kubectl("create", "namespace", space)
    kubectl = s.cluster.kubectl_for(space)
    kubectl.apply(hard)
    wait_until(lambda: kubectl.get("resourcequota", "q").get("status", {}).get("hard"), "the quota counts")
    return look_at(kubectl, space, row)


def fill(s, table, spaces):
    simulated = isinstance(s.cluster, SimulatedCluster)
    for number, typed, bad, words, everywhere in REFUSED:
        if everywhere or not simulated:
            table.add(number, typed, lambda: refused(s, bad, words))
    for number, typed, before, *row in (r for r in WAITING if simulated or r[0] not in SIMULATED_NODES):
        for obj in before:
            s.apply(filled(obj, s.namespace))
        table.add(number, typed, lambda: look_at(s.kubectl, s.namespace, row))
    for number, typed, hard, *row in UNDER_QUOTA:
        spaces.append(f"{s.namespace}-{number}")
        table.add(number, typed, lambda: waits_under_quota(s, spaces[-1], hard, row))
    for number, typed, *row in (r for r in ENDS if simulated or r[0] not in SIMULATED_NODES):
        table.add(number, typed, lambda: ended(s, [*row, None]))


def story_first_hour(s):
    """What a new user types in the first hour, and what they see: every wait and every end says why."""
    table, spaces = Table(s), []
    try:
        fill(s, table, spaces)
    finally:
        table.show()
        for name in spaces:
            s.cluster.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")
        queues = [filled(obj, s.namespace)["metadata"]["name"] for row in WAITING for obj in row[2] if obj["kind"] == "Queue"]
        s.cluster.kubectl("delete", "queues.kube-arbitrator.io", *queues, "--wait=false", "--ignore-not-found")
    expect(not table.wrong, "\n".join(table.wrong))
