"""The first day of a user and of an operator, on nodes that are full, cordoned or lent: the table of stories/tasks.py. Four nodes of 64 CPUs."""

from harness import KEY, TEST_KEY, wait_until
from stories.members import group, owned_pod, owner, template
from stories.nodes import UNREAD, Cordon, gang, thief, wait_until_alone
from stories.tasks import events, fields, groups, job, play_all, rows_of, validity


PODS = "get pods --no-headers -o custom-columns=NAME:.metadata.name,PHASE:.status.phase,GATE:.spec.schedulingGates[0].name"


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
    yield groups("second"), "^second +Pending .* NoFit .* 1 of 3 pods fit now: 4 nodes lack cpu"


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
    yield job("row"), r"^Pending +Infeasible +4 of 5 pods fit on empty nodes: 4 taken \(one copy per node\)"
    yield events("row"), r"Infeasible +4 of 5 pods fit on empty nodes: 4 taken \(one copy per node\)"


def drained_node(x):
    """N24: kubectl drain of a node with a pod of a gang"""
    x.runs(gang("row", cpu="40", queue=x.queue("a")))
    pod = x.s.pods("row")["row-worker-0"]
    x.stack.enter_context(Cordon(x.s, pod["spec"]["nodeName"]))
    x.cluster("drain", pod["spec"]["nodeName"], "--ignore-daemonsets", "--force", "--timeout=30s")
    yield events("row"), "(was disrupted|is being deleted because of a disruption): EvictionByEvictionAPI"
    yield job("row"), "^Running"


def three_for_one(x):
    """34: three gangs of which only one has room at a time"""
    name = x.queue("a")  # of jobs of one second that goes first whose name does
    x.runs(gang("one", queue=name))
    x.s.apply(gang("second", queue=name))
    yield job("second"), r"NoFit +1 of 3 pods fit now: 4 nodes lack cpu \(short 32\).*; 1st of 1"
    x.s.apply(gang("third", queue=name))
    yield job("third"), r"NoFit +1 of 3 pods fit now: .*; 2nd of 2"
    for ends, starts in (("one", "second"), ("second", "third")):
        x.s.kubectl("delete", "qj", ends, "--cascade=foreground")
        yield job(starts), "^Running"


def quiet_neighbour(x):
    """N7: a pod of nobody refuses the pods of a gang on its node"""
    quiet = thief(x.nodes[0])
    quiet["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    term = {"labelSelector": {"matchLabels": {"app": "noisy"}}, "topologyKey": "kubernetes.io/hostname"}
    quiet["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    x.s.apply(quiet)
    wait_until(lambda: x.s.kubectl.list("pods")[0]["spec"].get("nodeName"), "it has its node")
    made = gang("row", cpu="40", queue=x.queue("a"), replicas=4)
    made["spec"]["taskSpecs"][0]["template"]["metadata"]["labels"] = {"app": "noisy"}
    x.s.apply(made)
    yield job("row"), rf"^Pending +NoFit +3 of 4 pods fit now: .*1 excluded by anti-affinity of {x.s.namespace}/thief"


def second_run(x):
    """N47: the pods of a gang have ended, and its controller makes others for the same PodGroup"""
    by = owner(x.s, "again")
    group(x.s, "again", 2)
    for run in (0, 2):
        for number in range(run, run + 2):
            owned_pod(x.s, "again", number, cpu="1", owner=by, restartPolicy="Never")
        yield groups("again"), "^again +Running +2"
        for number in range(run, run + 2):
            x.s.kubectl("annotate", "pod", f"again-{number}", "--overwrite", f"{TEST_KEY}outcome=succeed")
        yield groups("again"), "^again +Finished"


def overlapping_runs(x):
    """N56: a second run of a CronJob makes pods for a PodGroup whose first pods still run; its match-policy is only-waiting, as documented"""
    by = owner(x.s, "cron")
    x.s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
               "metadata": {"name": "cron", "annotations": {"gang.scheduling.koordinator.sh/match-policy": "only-waiting"}}, "spec": {"minMember": 2}})
    for number, words in enumerate((None, "^cron-0 +Running <none> cron-1 +Running <none>", "cron-2 +Pending kube-arbitrator.io/gang", "cron-2 +Running <none> cron-3 +Running")):
        owned_pod(x.s, "cron", number, cpu="1", owner=by)
        if words:
            yield PODS, words.replace(" +", " ").replace(" ", r"\s+")
        if number == 2:
            yield groups("cron"), "^cron +Running .*minMember 2 reached; 1 of 2 more exist; none of these starts before all exist"


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
    yield job("row"), r"^Running +Scaled +queue \S+ allows 4 of 6 pods at once: no node has room for one more pod"


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
    """N29: a capability of a resource that no node has; a guarantee, and what it deserves, above the capability"""
    name = x.queue("odd", capability={"cpu": 4, "example.com/none": 1})
    yield validity(name), "^True ValidWithWarnings its capability names example.com/none, which no node has"
    for right in ("guarantee", "deserved") if not x.s.cluster.simulated else ():  # the simulated API server evaluates no CEL
        yield "create -f queue.yaml", f"{right} of cpu is more than capability", {
            "apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": f"{name}-2"}, "spec": {"capability": {"cpu": 4}, right: {"cpu": 8}}}


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
    """N15, N17: schedulerName: kar-scheduler; with a pod anti-affinity that is not read whole"""
    name = x.queue("a")
    x.s.apply(gang("runs", cpu="1", queue=name, schedulerName="kar-scheduler"))
    made = gang("row", cpu="1", queue=name, schedulerName="kar-scheduler")
    term = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname", **UNREAD}
    made["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    x.s.apply(made)
    yield job("runs"), "^Running"
    yield job("row"), r"Unsupported +kar-scheduler does not place pod anti-affinity \(task worker\): use default-scheduler"


def stateful_set(s, name, pods):
    """A real one makes its second pod when the first runs; on the simulated cluster, where nobody makes its pods, there is just the first."""
    if not s.cluster.simulated:
        s.apply({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
                 "spec": {"serviceName": name, "replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": template(name, "1")}})
        return
    s.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    uid = s.kubectl.get("configmap", name)["metadata"]["uid"]
    owned_pod(s, name, 0, cpu="1", owner={"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name, "uid": uid, "controller": True})


def pods_one_by_one(x):
    """N51: a StatefulSet of 3 that makes its second pod when the first runs"""
    group(x.s, "sts", 3)
    if not x.s.cluster.simulated:
        x.stack.callback(x.s.kubectl, "delete", "statefulset", "sts", "--cascade=foreground", "--wait=true")
    stateful_set(x.s, "sts", 3)
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


ROWS = rows_of(globals())


def story_first_day(s):
    """What users and operators try on their first day, on nodes that are full, cordoned or lent: each is told what happens and why."""
    wait_until_alone(s)
    s.manager.stop()
    s.manager.start("--min-runtime=0s")
    play_all(s, ROWS)
