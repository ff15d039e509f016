"""The first day of a user and of an operator, as a table: what is typed, which command shows what came of it, and what that printed.

Each row is a function: its docstring has the number of the task and what is typed. It makes that, and yields commands of kubectl with
a pattern that their answer fits in the end. Four nodes of 64 CPUs.
"""

import contextlib
import inspect
import json
import re
import shlex

from harness import KEY, Failure, expect, queuejob, task, wait_until
from stories.members import group, owned_pod, owner
from stories.nodes import Cordon, gang, wait_until_alone
from stories.obstacles import Scene



def job(name):
    return f"get qj {name} --no-headers -o custom-columns=PHASE:.status.phase,REASON:.status.reason,MESSAGE:.status.message"


def events(name):
    return f"get events --no-headers --field-selector involvedObject.name={name} -o custom-columns=TYPE:.type,REASON:.reason,MESSAGE:.message"


def groups(name):
    return f"get podgroups.scheduling.x-k8s.io {name} --no-headers -o wide"


def fields(kind, name, *paths):
    return f"get {kind} {name} -o jsonpath='{' '.join('{' + path + '}' for path in paths)}'"


def validity(name):
    path = '.status.conditions[?(@.type=="Valid")]'
    return fields("queue", name, f"{path}.status", f"{path}.reason", f"{path}.message")


# ---- nodes ----

def cordon_default(x):
    """N4: a gang runs on all nodes; one is cordoned; then a gang that fits on the others"""
    name = x.queue("a")
    x.runs(gang("victim", replicas=4, cpu="40", queue=name))
    x.stack.enter_context(Cordon(x.s, x.nodes[3]))
    x.s.apply(gang("fits", cpu="20", queue=name))
    yield job("fits"), "^Running"
    yield job("victim"), "^Running"


def cordon_lower_priority(x):
    """N4: the same in a queue with LowerPriority, the second gang of higher priority"""
    name = x.queue("a", preemptionPolicy="LowerPriority")
    x.runs(gang("victim", replicas=4, cpu="40", queue=name))
    x.stack.enter_context(Cordon(x.s, x.nodes[3]))
    x.s.apply(gang("fits", cpu="20", queue=name, sched={"priority": 10}))
    yield job("fits"), "^Running"
    yield fields("qj", "victim", ".status.phase", ".status.evictions"), "^Running 0?$"


def cordon_two_queues(x):
    """N4: the same in two queues, the second one with a right to the room"""
    x.runs(gang("victim", replicas=4, cpu="40", queue=x.queue("a", deserved={"cpu": 16})))
    x.stack.enter_context(Cordon(x.s, x.nodes[3]))
    x.s.apply(gang("fits", cpu="20", queue=x.queue("b", deserved={"cpu": 240})))
    yield job("fits"), "^Running"
    yield fields("qj", "victim", ".status.phase", ".status.evictions"), "^Running 0?$"


def another_runs(x):
    """N1: a gang of 3 x 40 while another one runs"""
    name = x.queue("a")
    x.runs(gang("first", queue=name))
    x.s.apply(gang("second", queue=name))
    yield job("second"), r"NoFit +1 of 3 pods fit now: 4 nodes lack cpu \(short 32\), each of 2 more asks for 40 cpu and a node has at most 24 free; 1st of 1"


def largest_node(x):
    """22: 3 pods of 100 CPUs on nodes of 64"""
    x.s.apply(gang("row", cpu="100", queue=x.queue("a")))
    yield job("row"), "Infeasible +a pod asks for 100 cpu, the largest node has 64"


def cordoned_nodes(x):
    """N3: 4 x 60, and 2 of 4 nodes are cordoned"""
    x.stack.enter_context(Cordon(x.s, *x.nodes[:2]))
    x.s.apply(gang("row", replicas=4, cpu="60", queue=x.queue("a")))
    yield job("row"), r"InsufficientCapacity +insufficient cpu: 240 requested, 128 of 128 free \(112 short\), nodes: .*2 cordoned"


def pods_of_nobody(x):
    """N6: pods of no queue fill two nodes; a gang of 3 x 40; the pods are deleted"""
    x.pods_of_nobody(*x.nodes[:2])
    x.s.apply(gang("row", cpu="40", queue=x.queue("a")))
    yield job("row"), "NoFit +2 of 3 pods fit now: .*taken by pods of no queue: 80 cpu"
    x.s.kubectl("delete", "pods", "thief0", "thief1")
    yield job("row"), "^Running"


def anti_affinity(x):
    """N8, N9: 5 pods that each want a node of their own, on 4 nodes; time-out 2 s"""
    made = gang("row", replicas=5, cpu="1", queue=x.queue("a"), sched={"scheduleTimeoutSeconds": 2})
    term = {"labelSelector": {"matchLabels": {KEY + "queuejob": "row"}}, "topologyKey": "kubernetes.io/hostname"}
    made["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    x.s.apply(made)
    yield job("row"), r"^Pending +BackOff +attempt \d to start the gang failed: not bound after 2s: row-worker-\d; next try at 20"
    yield events("row"), "didn't match pod anti-affinity rules"


def drained_node(x):
    """N24: kubectl drain of a node with a pod of a gang"""
    x.runs(gang("row", cpu="40", queue=x.queue("a")))
    pod = x.s.pods("row")["row-worker-0"]
    x.stack.enter_context(Cordon(x.s, pod["spec"]["nodeName"]))
    x.cluster("drain", pod["spec"]["nodeName"], "--ignore-daemonsets", "--force", "--timeout=30s")
    yield events("row"), "was disrupted: EvictionByEvictionAPI"
    yield job("row"), "^Running"


# ---- queues ----

def drained_queue(x):
    """29: a queue is closed and drained while a gang runs in it"""
    name = x.queue("a")
    x.runs(gang("row", queue=name))
    x.s.kubectl("patch", "queue", name, "--type=merge", "-p", '{"spec":{"state":"Closed","drain":true}}')
    yield job("row"), f"^Pending +QueueClosed +.*queue {name}"
    yield events("row"), f"Preempted +queue {name} is drained"


def deleted_default(x):
    """33: kubectl delete queue default"""
    x.runs(gang("row", replicas=1))
    x.s.kubectl("delete", "queuejob", "row", "--cascade=foreground", "--wait=true")
    yield "delete queue default --timeout=20s", 'queue.kube-arbitrator.io "default" deleted'
    x.s.apply(gang("again", replicas=1))
    yield job("again"), "^Running"


def raised_replicas(x):
    """35: an elastic job on empty nodes is edited from 2 to 5 pods"""
    x.runs(gang("row", replicas=2, cpu="1", queue=x.queue("a"), sched={"minAvailable": 1}))
    x.s.kubectl("patch", "qj", "row", "--type=json", "-p", '[{"op":"replace","path":"/spec/taskSpecs/0/replicas","value":5}]')
    yield "get qj row --no-headers", r"^row +Running +\S* +5"


def evicted_gang(x):
    """N18, N19: a job of priority 1000 in a queue with LowerPriority; the gang that goes"""
    name = x.queue("a", preemptionPolicy="LowerPriority")
    x.runs(gang("low", replicas=4, queue=name))
    x.s.apply(gang("high", replicas=4, queue=name, sched={"priority": 1000}))
    yield job("high"), "^Running"
    yield job("low"), "^Pending"
    eviction = ".status.lastEviction"
    yield (fields("qj", "low", ".status.evictions", f"{eviction}.reason", f"{eviction}.by", f"{eviction}.queue"),
           f"^1 InQueue {x.s.namespace}/high {name}$")
    yield events("low"), f"Preempted +evicted for {x.s.namespace}/high: priority 1000 over 0"
    yield f"get qj -o wide --no-headers --field-selector=status.queue={name},status.phase=Pending", "^low "


def reclaimed_gang(x):
    """N31, N43: a queue takes what it deserves; who waits in the other queue is found by the documented command"""
    lends, takes = x.queue("lends", deserved={"cpu": 64}), x.queue("takes", deserved={"cpu": 192})
    x.runs(gang("borrows", replicas=4, queue=lends))
    x.s.apply(gang("right", cpu="40", queue=takes))
    yield job("right"), "^Running"
    yield f"get qj -o wide --no-headers --field-selector=status.queue={lends},status.phase=Pending", "^borrows +Pending"
    yield events("borrows"), f"Preempted .*{x.s.namespace}/right"


def few_of_an_elastic_job(x):
    """N21: 4 of the 6 pods of an elastic job fit"""
    x.s.apply(gang("row", replicas=6, queue=x.queue("a"), sched={"minAvailable": 1}))
    yield job("row"), r"^Running +Scaled +queue \S+ allows 4 of 6 pods at once"


def who_uses_what(x):
    """N44: who uses what?"""
    name = x.queue("a", deserved={"cpu": 64}, capability={"cpu": 128})
    x.runs(gang("row", replicas=2, queue=name))
    yield fields("queue", name, ".status.allocated.cpu", ".status.entitled.cpu", ".spec.capability.cpu"), "^80 128 128$"


def impossible_rights(x):
    """N29, N30: a guarantee of 500 CPUs where there are 256; what the others see"""
    name = x.queue("sure", guarantee={"cpu": 500})
    yield validity(name), "^True ValidWithWarnings its guarantee is 500 cpu, all nodes have 256"
    yield "-n default " + events(name), "Warning +ValidWithWarnings"
    x.s.apply(gang("row", cpu="20", queue=x.queue("a")))
    yield job("row"), f"GuaranteeReserved .*: 256 cpu are free but guaranteed to queue {name}"


def odd_rights(x):
    """N29: a guarantee above the capability; a capability of a resource that no node has"""
    name = x.queue("odd", guarantee={"cpu": 8}, capability={"cpu": 4, "example.com/none": 1})
    yield validity(name), "^True ValidWithWarnings its guarantee is 8 cpu, its capability is 4; its capability names example.com/none, which no node has"


def new_nodes_one_at_a_time(x):
    """N20: two jobs without room in a queue with provisioning: Pods"""
    name = x.queue("a", provisioning="Pods")
    x.runs(gang("fills", replicas=4, cpu="60", queue=name))
    x.s.apply(gang("one", queue=name))
    x.s.apply(gang("two", queue=name))
    yield job("two"), "Provisioning +waiting for .*/one, for which nodes are being added"


def large_head(x):
    """N39: a large job is the head; when may it start?"""
    name = x.queue("a")
    x.runs(gang("runs", replicas=4, queue=name, activeDeadlineSeconds=3600))
    x.s.apply(gang("large", replicas=4, cpu="60", queue=name))
    yield job("large"), r"1st of 1 in queue \S+; may start about 20\S+Z \(deadlines\)"


def partner_missing(x):
    """N13, N14: gangGroups with the name of a partner in the same namespace, without the namespace"""
    name = x.queue("a")
    x.s.apply(gang("cfd", replicas=2, queue=name, sched={"gangGroups": ["cfd", "solver"]}))
    yield job("cfd"), f"WaitingForGangGroup +it starts with {x.s.namespace}/solver, which does not exist"
    x.s.apply(gang("solver", replicas=2, queue=name, sched={"gangGroups": ["cfd", "solver"]}))
    yield job("cfd"), "^Running"
    yield job("solver"), "^Running"


# ---- schedulers and pods of others ----

def nobody_schedules(x):
    """N16: schedulerName: volcano, and no such scheduler"""
    x.s.apply(gang("row", cpu="1", queue=x.queue("a"), schedulerName="volcano"))
    yield job("row"), r'NoScheduler +no scheduler has looked at 3 pods: is "volcano" running\?'


def bound_by_the_manager(x):
    """N15, N17: schedulerName: kar-scheduler; with a pod anti-affinity"""
    name = x.queue("a")
    x.s.apply(gang("runs", cpu="1", queue=name, schedulerName="kar-scheduler"))
    made = gang("row", cpu="1", queue=name, schedulerName="kar-scheduler")
    term = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}
    made["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    x.s.apply(made)
    yield job("runs"), "^Running"
    yield job("row"), r"Unsupported +kar-scheduler does not place pod anti-affinity \(task worker\): use default-scheduler"


def pods_one_by_one(x):
    """N51: the first pod of a StatefulSet that makes its second one when the first runs"""
    x.s.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sts"}})
    uid = x.s.kubectl.get("configmap", "sts")["metadata"]["uid"]
    group(x.s, "sts", 3)
    by = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "sts", "uid": uid, "controller": True}
    owned_pod(x.s, "sts", 0, cpu="1", owner=by)
    yield groups("sts"), "WaitingForMembers.*podManagementPolicy: Parallel"
    yield events("sts"), "WaitingForMembers +1 of 3 members exist"


def too_few_members(x):
    """N52: minMember 6, and the controller makes 4 pods"""
    group(x.s, "six", 6)
    by = owner(x.s, "six")
    for number in range(4):
        owned_pod(x.s, "six", number, cpu="1", owner=by)
    yield groups("six"), "WaitingForMembers.*4 of 6 members exist"
    yield events("six"), "WaitingForMembers +4 of 6 members exist"
    yield events("six-0"), "WaitingForMembers"


def group_in_no_queue(x):
    """N53: a typo in the queue label of a PodGroup"""
    by = owner(x.s, "typo")
    x.s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
               "metadata": {"name": "typo", "labels": {KEY + "queue": f"{x.s.namespace}-none"}}, "spec": {"minMember": 1}})
    owned_pod(x.s, "typo", 0, cpu="1", owner=by)
    yield groups("typo"), "QueueNotFound"
    yield events("typo"), f"QueueNotFound +there is no queue {x.s.namespace}-none"


def label_on_the_job(x):
    """N49: the label is on the Job, not on its template"""
    group(x.s, "habit", 2)
    yield groups("habit"), "template"


def held_room(x):
    """N58: minResources, and the launcher comes later"""
    by = owner(x.s, "mpi")
    group(x.s, "mpi", 3, minResources={"cpu": "3"})
    for number in range(2):
        owned_pod(x.s, "mpi", number, cpu="1", owner=by)
    yield groups("mpi"), r"2 of 3 members started, room for the rest is held until 20\S+Z"


# ---- what is typed wrong, or out of habit ----

def class_in_the_template(x):
    """N32: priorityClassName in the pod template, the habit of Job"""
    classes = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": x.s.namespace}, "value": 1000}
    x.s.apply(classes)
    x.stack.callback(x.cluster, "delete", "priorityclass", x.s.namespace)
    made = gang("row", replicas=1, cpu="1", queue=x.queue("a"))
    made["spec"]["taskSpecs"][0]["template"]["spec"]["priorityClassName"] = x.s.namespace
    x.s.apply(made)
    yield fields("qj", "row", ".status.phase", ".status.priority"), "^Running 1000$"


def label_names_the_queue(x):
    """N33: label kube-arbitrator.io/queue on a QueueJob without spec.queue"""
    name = x.queue("a")
    made = gang("row", replicas=1, cpu="1")
    made["metadata"]["labels"] = {KEY + "queue": name}
    x.s.apply(made)
    yield fields("qj", "row", ".status.phase", ".status.queue"), f"^Running {name}$"


def namespace_names_the_queue(x):
    """N35: the namespace has the annotation kube-arbitrator.io/queue, the QueueJob names none"""
    name = x.queue("a")
    x.cluster("annotate", "namespace", x.s.namespace, f"{KEY}queue={name}")
    x.stack.callback(x.cluster, "annotate", "namespace", x.s.namespace, f"{KEY}queue-")
    x.s.apply(gang("row", replicas=1, cpu="1"))
    yield fields("qj", "row", ".status.phase", ".status.queue"), f"^Running {name}$"


def not_a_leaf(x):
    """N27: a job in a queue that has child queues"""
    top = x.queue("top")
    x.queue("leaf", parent=top)
    x.s.apply(gang("row", replicas=1, cpu="1", queue=top))
    yield job("row"), f"QueueNotLeaf +queue {top} has child queues: name one of them"


def missing_parent(x):
    """N26: a queue with a typo in parent, and a job in it"""
    name = x.queue("child", parent="reserch")
    yield validity(name), "^False ParentNotFound parent reserch does not exist"
    x.s.apply(gang("row", replicas=1, cpu="1", queue=name))
    yield job("row"), f"QueueInvalid +queue {name} is invalid: parent reserch does not exist"


def other_namespace(x):
    """28: a queue with a namespaceSelector that does not fit"""
    name = x.queue("a", namespaceSelector={"matchLabels": {"team": "vision"}})
    x.s.apply(gang("row", replicas=1, cpu="1", queue=name))
    yield job("row"), f"NamespaceNotAllowed +queue {name} does not admit namespace {x.s.namespace}"


def above_the_priority_of_the_queue(x):
    """N41: priority 5000 in a queue with maxPriority 10, which is full"""
    name = x.queue("a", maxPriority=10, maxJobs=1)
    x.runs(gang("first", replicas=1, cpu="1", queue=name))
    x.s.apply(gang("row", replicas=1, cpu="1", queue=name, sched={"priority": 5000}))
    yield job("row"), "MaxJobsReached +.*priority 5000 counts as 10, the maxPriority of the queue"


def two_short_resources(x):
    """N38: a quota is short of pods and of cpu"""
    x.quota(**{"pods": "4", "requests.cpu": "4"})
    x.s.apply(gang("row", replicas=6, cpu="3", queue=x.queue("a")))
    yield job("row"), r"QuotaInfeasible +insufficient (pods|requests.cpu): .*, quota few allows 4, and (pods|requests.cpu): \d+ requested, quota few allows 4"


def pod_in_the_way(x):
    """44: a pod has the name of one of the gang's; it is deleted after the first time-out of 2 s"""
    x.s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "row-worker-0"}, "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}]}})
    x.s.apply(gang("row", cpu="1", queue=x.queue("a"), sched={"scheduleTimeoutSeconds": 2}))
    yield job("row"), "PodNameConflict +pod row-worker-0 exists already and has no owner"
    yield job("row"), "^Pending +BackOff +pod row-worker-0 exists already and has no owner"
    x.s.kubectl("delete", "pod", "row-worker-0")
    yield job("row"), "^Running"


def two_tasks_of_one_name(x):
    """15: two tasks of one name"""
    x.s.apply(queuejob("row", task("worker", 1), task("worker", 1), queue=x.queue("a")))
    yield job("row"), "Invalid +.*two tasks.* worker"


def readable_amounts(x):
    """N76: 44.4 CPUs and 23 GiB are short"""
    name = x.queue("a", capability={"cpu": 2, "memory": "64Gi"})
    made = gang("row", replicas=3, cpu="100m", queue=name)
    made["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "29Gi"}}
    x.s.apply(made)
    yield job("row"), r"insufficient memory: 87Gi requested, 64Gi of 64Gi free \(23Gi short\), queue \S+ has capability 64Gi"


def sweep_of_names(x):
    """N75: a sweep by generateName, and what kubectl finds by its label"""
    made = queuejob("", task("worker", 1, "succeed"), queue=x.queue("a"))
    made["metadata"] = {"generateName": "lr-", "labels": {"sweep": "lr"}}
    for _ in range(3):
        x.s.kubectl("create", "-f", "-", stdin=json.dumps(made))
    yield "wait qj -l sweep=lr --for=condition=Complete --timeout=20s", r"(?s)(lr-\S+ condition met.*){3}"


def missing_group(x):
    """N48: a typo in the label of a gated pod"""
    owned_pod(x.s, "foor", 0, cpu="1", owner=owner(x.s, "foor"))
    yield events("foor-0"), "PodGroupNotFound +PodGroup .*/foor does not exist; 1 pods that name it stay gated until somebody creates it"


def koordinator_pods(x):
    """N57: pods with Koordinator's annotations, and no PodGroup"""
    by = owner(x.s, "koord")
    for number in range(2):
        notes = {"gang.scheduling.koordinator.sh/name": "koord", "gang.scheduling.koordinator.sh/min-available": "2"}
        x.s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"koord-{number}", "annotations": notes, "ownerReferences": [by]},
                   "spec": {"schedulingGates": [{"name": KEY + "gang"}], "containers": [{"name": "main", "image": "busybox:1.36"}]}})
    yield groups("koord"), "^koord +Running +2"


# ---- ends ----

def one_index_fails(x):
    """N74: a sweep of 6, one index always fails; backoffLimitPerIndex 0"""
    made = queuejob("sweep", task("worker", 5, "succeed"), task("bad", 1, "fail"), sched={"minAvailable": 1}, queue=x.queue("a"), backoffLimitPerIndex=0)
    x.s.apply(made)
    yield fields("qj", "sweep", ".status.phase", ".status.reason", ".status.succeeded", ".status.tasks[1].failedIndexes"), "^Failed FailedIndexes 5 0$"


def launcher_ends(x):
    """N73: MPI with successPolicy.tasks: the launcher ends"""
    made = queuejob("mpi", task("launcher", 1, "succeed", "1s"), task("worker", 4), queue=x.queue("a"), successPolicy={"tasks": ["launcher"]})
    x.s.apply(made)
    yield job("mpi"), "^Completed +Completed +1 of 5 pods succeeded, which fulfils the success policy"


def wrong_image(x):
    """N77: a gang with a wrong image; the image is edited"""
    made = gang("row", cpu="1", queue=x.queue("a"), outcome="pull-error")
    x.s.apply(made)
    yield job("row"), r"ContainerWaiting +3 pods do not start: container main of row-worker-\d on node \S+: \S*ImagePull"
    annotations = "/spec/taskSpecs/0/template/metadata/annotations"
    x.s.kubectl("patch", "qj", "row", "--type=json", "-p", json.dumps([{"op": "remove", "path": annotations}]))
    yield job("row"), "^Running"


ROWS = [f for f in list(globals().values()) if inspect.isgeneratorfunction(f)]


class Tasks:
    def __init__(self, s):
        self.s, self.lines, self.wrong = s, [], []

    def play(self, row):
        number, typed = (part.strip() for part in row.__doc__.split(":", 1))
        try:
            with contextlib.ExitStack() as stack:
                try:
                    for command, words in row(Scene(self.s, stack)):
                        self.add(number, typed, command, words)
                finally:
                    self.clear()
        except Failure as failure:
            self.wrong.append(f"{number} {typed}: {failure}")

    def add(self, number, typed, command, words):
        printed = []

        def as_expected():
            printed[:] = [self.s.kubectl(*shlex.split(command), check=False)[1]]
            return re.search(words, printed[0])

        try:
            wait_until(as_expected, f"kubectl {command} says {words}", 20)
            now = "as expected"
        except Failure:
            now = "NOT AS EXPECTED"
            self.wrong.append(f"{number} {typed}: expected {words!r}, kubectl {command} printed:\n{printed[0]}")
        self.lines.append(f"| {number} | {typed} | `kubectl {command.split(' --no-headers')[0]}` | {part_that_fits(printed[0], words)} | {now} |")

    def clear(self):
        self.s.kubectl("delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
        self.s.kubectl("delete", "podgroups.scheduling.x-k8s.io,pods,events", "--all", "--wait=true")

    def show(self):
        self.s.shown += ["| task | what is typed | command | what it printed | now |", "|---|---|---|---|---|", *self.lines]


def part_that_fits(printed, words):
    """The line that was expected, or all, as a cell of a table."""
    line = next((line for line in printed.splitlines() if re.search(words, line)), printed)
    return " ".join(line.split()).replace("|", "\\|")[:400]


def story_first_day(s):
    """What users and operators try on their first day, on nodes that are full, cordoned or lent: each is told what happens and why."""
    wait_until_alone(s)
    s.manager.stop()
    s.manager.start("--min-runtime=0s")
    tasks = Tasks(s)
    try:
        for row in ROWS:
            tasks.play(row)
    finally:
        tasks.show()
    expect(not tasks.wrong, "\n".join(tasks.wrong))
