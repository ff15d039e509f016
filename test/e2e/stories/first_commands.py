"""What users type on their first day, out of habit or by mistake, and how jobs end: the table of stories/tasks.py."""

import json

from harness import KEY, TEST_KEY, Watch, queuejob, task
from stories.members import group, owned_pod, owner
from stories.nodes import gang
from stories.tasks import Command, events, fields, groups, job, play_all, rows_of, validity


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
    yield job("row"), r"QuotaInfeasible +insufficient (pods|requests.cpu): .*, quota few allows 4; insufficient (pods|requests.cpu): \d+ requested, .*, quota few allows 4"


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
    yield events("foor-0"), "PodGroupNotFound +PodGroup .*/foor does not exist; 1 pod that names it stays gated until somebody creates it"


def koordinator_pods(x):
    """N57: pods with Koordinator's annotations, and no PodGroup"""
    by = owner(x.s, "koord")
    for number in range(2):
        notes = {"gang.scheduling.koordinator.sh/name": "koord", "gang.scheduling.koordinator.sh/min-available": "2"}
        x.s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"koord-{number}", "annotations": notes, "ownerReferences": [by]},
                   "spec": {"schedulingGates": [{"name": KEY + "gang"}], "containers": [{"name": "main", "image": "busybox:1.36"}]}})
    yield groups("koord"), "^koord +Running +2"


# ---- what is not there yet, and who goes first ----

def queue_made_later(x):
    """49: the queue of a job, and the PriorityClass of another one, are made when the jobs wait for them"""
    made = gang("classy", replicas=1, cpu="1", queue=x.queue("a"), sched={"priorityClassName": f"{x.s.namespace}-late"})
    x.s.apply(gang("row", replicas=1, cpu="1", queue=f"{x.s.namespace}-late"))
    x.s.apply(made)
    yield job("row"), "QueueNotFound +there is no queue .*-late; it is admitted when somebody creates one"
    yield job("classy"), "PriorityClassNotFound +.*PriorityClass .*-late"
    x.queue("late")
    x.s.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": f"{x.s.namespace}-late"}, "value": 7})
    x.stack.callback(x.cluster, "delete", "priorityclass", f"{x.s.namespace}-late")
    yield job("row"), "^Running"
    yield fields("qj", "classy", ".status.phase", ".status.priority"), "^Running 7$"


def account_made_later(x):
    """N25: a ServiceAccount that does not exist; it is made later"""
    made = gang("row", replicas=1, cpu="1", queue=x.queue("a"))
    made["spec"]["taskSpecs"][0]["template"]["spec"]["serviceAccountName"] = "bob"
    x.s.apply(made)
    yield job("row"), 'Pending +Forbidden +.*serviceaccount "bob" not found'
    yield "create serviceaccount bob", "serviceaccount/bob created"
    yield job("row"), "^Running"


def head_of_a_strict_queue(x):
    """31: a StrictFIFO queue with a capability of 4 CPUs: a head that does not fit now, and a job that would fit behind it"""
    name = x.queue("strict", queueingStrategy="StrictFIFO", capability={"cpu": 4})
    x.runs(gang("runs", replicas=1, cpu="3", queue=name))
    x.s.apply(gang("head", replicas=1, cpu="2", queue=name, sched={"priority": 5}))
    yield job("head"), rf"QueueCapability +insufficient cpu: 2 requested, 1 of 4 free \(1 short\), queue {name} has capability 4; 1st of 1"
    x.s.apply(gang("small", replicas=1, cpu="1", queue=name))
    yield job("small"), rf"BehindHead +queue {name} is StrictFIFO: \S+/head goes first; 2nd of 2"
    yield "get qj head -o wide --no-headers", r"^head +Pending .* 5 +1 +insufficient cpu"


def nowhere_to_go(x):
    """32: a job that fits on no node, in a queue with maxJobs 1, and one behind it"""
    name = x.queue("a", maxJobs=1)
    x.s.apply(gang("large", cpu="9999", queue=name))
    yield job("large"), "Infeasible +a pod asks for 9999 cpu, the largest node has 64"
    x.s.apply(gang("small", replicas=1, cpu="1", queue=name))
    yield job("small"), "^Running"


# ---- ends ----

def counts(x):
    """38: one of 4 pods fails, two succeed, one runs on: what is counted, and where"""
    made = queuejob("row", task("good", 2, "succeed"), task("bad", 1, "fail"), task("long", 1), sched={"minAvailable": 1}, queue=x.queue("a"), backoffLimit=2)
    x.s.apply(made)
    yield job("row"), r"^Failed +BackoffLimitExceeded +3 failures, backoffLimit is 2; last: pod row-bad-0"
    yield fields("qj", "row", ".status.podFailures", ".status.succeeded", ".status.tasks[*].name", ".status.tasks[*].succeeded", ".status.tasks[*].failed"), "^3 2 good bad long 2 . . . 1"


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


# ---- commands ----

def usual_columns(x):
    """5, 7, 14: a job that runs: its row, its events, its conditions"""
    x.runs(gang("row", cpu="1", queue=x.queue("a")))
    yield "get qj row --no-headers", r"^row +Running +3 +0 +3 +0 +\S+ +\d+s"
    yield events("row"), "Admitted +admitted by queue .*creating 3 pods"
    yield events("row"), "Running +gang formed: 3 of 3 pods running or succeeded, quorum 3"
    yield "wait qj row --for=condition=Formed --timeout=5s", "condition met"


def watched(x):
    """4: kubectl get qj -w, while a job comes and ends"""
    watch = Watch(x.s.kubectl, x.s.cluster.dir / f"rows-{x.s.namespace}.log", "qj", "--no-headers")
    x.stack.callback(watch.stop)
    x.s.apply(queuejob("row", task("worker", 2, "succeed", "1s"), queue=x.queue("a")))
    yield job("row"), "^Completed"
    yield Command("kubectl get qj -w", watch.text), r"^(row +\d+s\n)?(row +(Pending|Starting) .*\n){0,3}(row +Running .*\n){1,3}row +Completed +Completed +0 +2 +2 +0 .*\n$"


def suspended(x):
    """36: a job that runs is suspended, and resumed"""
    x.runs(gang("row", cpu="1", queue=x.queue("a")))
    yield "patch qj row --type=merge -p '{\"spec\":{\"suspend\":true}}'", "patched"
    yield fields("qj", "row", ".status.phase", ".status.running"), "^Suspended 0?$"
    yield "patch qj row --type=merge -p '{\"spec\":{\"suspend\":false}}'", "patched"
    yield fields("qj", "row", ".status.phase", ".status.running", ".status.restarts"), "^Running 3 0$"


def edited_image(x):
    """45: the image of a gang that runs is edited"""
    x.runs(gang("row", cpu="1", queue=x.queue("a")))
    x.s.kubectl("patch", "qj", "row", "--type=json", "-p", '[{"op":"replace","path":"/spec/taskSpecs/0/template/spec/containers/0/image","value":"busybox:1.37"}]')
    yield fields("pods", "row-worker-0", ".spec.containers[0].image", ".status.phase"), "^busybox:1.37 Running$"
    yield fields("qj", "row", ".status.phase", ".status.restarts", ".status.lastRestart.reason"), "^Running 0 TemplateChanged$"


def deleted_in_the_foreground(x):
    """46: kubectl delete --cascade=foreground"""
    x.runs(gang("row", cpu="1", queue=x.queue("a")))
    yield "delete qj row --cascade=foreground --timeout=20s", '"row" deleted'
    yield "get pods,podgroups.scheduling.x-k8s.io", "No resources found"


def kinds_of_others(x):
    """27, N34: a wrong apiVersion, the kind of Volcano, and its fields"""
    made = gang("row", queue="default")
    yield "create -f job.yaml", 'no matches for kind "QueueJob" in version "kube-arbitrator.io/v1"', {**made, "apiVersion": "kube-arbitrator.io/v1"}
    yield "create -f job.yaml", 'no matches for kind "Job" in version "batch.volcano.sh/v1alpha1"', {**made, "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    for field, value in (("tasks", []), ("policies", []), ("maxRetry", 3), ("plugins", {})):
        yield "create -f job.yaml", f'unknown field "spec.{field}"', {**made, "spec": {**made["spec"], field: value}}


def values_that_are_not_known(x):
    """N22: scheduleTimeoutSeconds "60s", mode strict, priority 1e11"""
    for field, value, words in (("scheduleTimeoutSeconds", "60s", "must be of type integer"), ("mode", "strict", 'supported values: "Strict", "NonStrict"'),
                                ("priority", 100000000000, "should be less than or equal to 2147483647")):
        yield "create -f job.yaml", f"spec.schedSpec.{field}.*{words}", gang("row", sched={field: value})


def fields_of_a_queue(x):
    """N28: a queue with fields and values that are not known"""
    for field, value, words in (("cohort", "a", 'unknown field "spec.cohort"'), ("maxjobs", 3, 'unknown field "spec.maxjobs"'),
                                ("state", "closed", 'supported values: "Open", "Closed"'), ("queueingStrategy", "FIFO", 'supported values: "BestEffortFIFO", "StrictFIFO"'),
                                ("weight", 1.5, "spec.weight in body must be of type int"), ("weight", 0, "spec.weight.*greater than or equal to 1"), ("maxJobs", -1, "spec.maxJobs.*greater than or equal to"),
                                ("preemptionPolicy", "Lower", "spec.preemptionPolicy.*supported values")):
        yield "create -f queue.yaml", words, {"apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": f"{x.s.namespace}-odd"}, "spec": {field: value}}


def jobs_under_a_quota(x):
    """N37: three jobs of a namespace under a quota of 4 CPUs, which one of them uses"""
    name = x.queue("a")
    x.quota(**{"requests.cpu": "4"})
    x.runs(gang("z1", replicas=1, cpu="3", queue=name))
    x.s.apply(gang("z2", replicas=1, cpu="3", queue=name))
    yield job("z2"), r"QuotaExceeded +insufficient requests.cpu: 3 requested, 1 of 4 free \(2 short\), quota few has 4, used 3"
    x.s.apply(gang("z3", replicas=1, cpu="2", queue=name))
    yield job("z3"), r"QuotaExceeded +(insufficient requests.cpu: 2 requested|\S+/z2 goes first for requests.cpu of quota few)"


def full_queue(x):
    """30, N45: the second job of a queue with maxJobs 1"""
    name = x.queue("a", maxJobs=1)
    x.runs(gang("first", replicas=1, cpu="1", queue=name))
    x.s.apply(gang("second", replicas=1, cpu="1", queue=name))
    yield job("second"), f"MaxJobsReached +queue {name} has 1 of 1 jobs; 1st of 1 in queue {name}"


def pods_without_gates(x):
    """N54, N55: the pods of a gang have no gate"""
    by = owner(x.s, "bare")
    group(x.s, "bare", 2)
    for number in range(2):
        owned_pod(x.s, "bare", number, cpu="1", owner=by, schedulingGates=[])
    yield events("bare"), "2 of 2 members have no scheduling gate kube-arbitrator.io/gang: they start one by one"


def last_words(x):
    """39: a pod fails with last words, backoffLimit 0"""
    made = gang("row", replicas=1, cpu="1", queue=x.queue("a"), outcome="fail", backoffLimit=0)
    made["spec"]["taskSpecs"][0]["template"]["metadata"]["annotations"][TEST_KEY + "last-words"] = "CUDA out of memory"
    x.s.apply(made)
    yield job("row"), r"^Failed +BackoffLimitExceeded +1 failure, backoffLimit is 0; last: .*failed with exit code 1 \(Error\): CUDA out of memory"


ROWS = rows_of(globals())


def story_first_commands(s):
    """What users type on their first day, out of habit or by mistake: each command says what is wrong, and each job how it ends."""
    play_all(s, ROWS)
