"""What a queue allows holds for everybody: by way of a PodGroup, by a number for a priority, by labels of namespaces."""

import contextlib
import json
import time

from harness import MANIFESTS, TEST_KEY, USER_AGENT, audit_time, check_lines, expect, expect_equal, queuejob, task, wait_until
from stories.nodes import UNREAD, wait_until_alone

LABEL = "kube-arbitrator.io/queuejob"
QUEUES = "queues.kube-arbitrator.io"
PRIORITIES = MANIFESTS / "admission/priorities.yaml"
HOLDS = MANIFESTS / "holds.yaml"


@contextlib.contextmanager
def queue(s, **spec):
    name = f"{s.namespace}-{len(spec)}"
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec})
    try:
        yield name
    finally:
        s.kubectl("delete", "queues.kube-arbitrator.io", name, "--wait=false")


def group(name, **spec):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
            "metadata": {"name": name, "labels": {LABEL: name}}, "spec": {"minMember": 1, **spec}}


def patch(s, kind, name, change, check=True):
    return s.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(change), check=check)


def condition(obj, kind):
    return next((c for c in obj.get("status", {}).get("conditions", []) if c["type"] == kind), {})


def admission(s, name):
    return condition(s.group(name), "Admitted")


def story_admission_is_of_one_queue(s):
    """A PodGroup that another queue has admitted, made in the name of a job that is still to come, opens no closed queue."""
    with queue(s, state="Closed") as closed:
        s.apply(group("sneak", queue="default"))
        wait_until(lambda: admission(s, "sneak").get("status") == "True", "the group is admitted by the queue default")
        expect_equal(s.group("sneak")["status"]["admittedQueue"], "default", "the queue that has admitted it")
        s.apply(queuejob("sneak", task("worker", 1), queue=closed))
        s.wait_phase("sneak", "Pending", reason="QueueClosed")
        expect_equal(s.pods("sneak"), {}, "pods of a job whose queue is closed")
        expect_equal(s.group("sneak")["spec"]["queue"], closed, "the queue of the group that the job has adopted")
        patch(s, "queues.kube-arbitrator.io", closed, {"spec": {"state": "Open"}})
        s.wait_phase("sneak", "Running", 60, running=1)
        expect_equal(s.group("sneak")["status"]["admittedQueue"], closed, "the queue that has admitted it now")


def story_group_leaves_its_queue_and_its_admission(s):
    """A group whose queue is taken away and set anew has to be admitted by the new one."""
    with queue(s, state="Closed") as closed:
        s.apply(group("moves", queue="default"))
        wait_until(lambda: admission(s, "moves").get("status") == "True", "the group is admitted")
        patch(s, "podgroups.scheduling.x-k8s.io", "moves", {"spec": {"queue": None}})
        patch(s, "podgroups.scheduling.x-k8s.io", "moves", {"spec": {"queue": closed}})
        wait_until(lambda: admission(s, "moves").get("reason") == "QueueClosed", "it waits for the closed queue")
        expect("admittedQueue" not in s.group("moves")["status"], "no queue has admitted it")


def story_queue_admits_the_namespaces_that_it_selects(s):
    """A job of a namespace whose labels do not fit waits and says so, until the labels or the selector are changed; one that is admitted goes on."""
    def refused(name, queue):
        status = s.wait_phase(name, "Pending", reason="NamespaceNotAllowed", position=0)
        expect_equal(status["message"], f"queue {queue} does not admit namespace {s.namespace}", "message")

    with queue(s, namespaceSelector={"matchLabels": {"team": "vip"}}) as vip:
        wait_until(lambda: condition(s.kubectl.get("queues.kube-arbitrator.io", vip), "Valid").get("status") == "True", "the queue is valid")
        s.apply(queuejob("first", task("worker", 1), queue=vip))
        refused("first", vip)
        check_lines(s, "first", r"Warning\s+NamespaceNotAllowed\s.*does not admit namespace")
        s.cluster.kubectl("label", "namespace", s.namespace, "team=vip")
        s.wait_phase("first", "Running", 60, running=1)
        s.cluster.kubectl("label", "namespace", s.namespace, "team-")
        s.apply(queuejob("second", task("worker", 1), queue=vip))
        refused("second", vip)
        expect_equal(s.status("first")["phase"], "Running", "phase of the job that was admitted before")
        trial = [{"key": "stage", "operator": "NotIn", "values": ["trial"]}, {"key": "kubernetes.io/metadata.name", "operator": "Exists"}]
        patch(s, "queues.kube-arbitrator.io", vip, {"spec": {"namespaceSelector": {"matchLabels": None, "matchExpressions": trial}}})
        s.wait_phase("second", "Running", 60, running=1)
        s.cluster.kubectl("label", "namespace", s.namespace, "stage=trial")
        s.apply(queuejob("third", task("worker", 1), queue=vip))
        refused("third", vip)
        patch(s, "queues.kube-arbitrator.io", vip, {"spec": {"namespaceSelector": {"matchExpressions": None}}})
        s.wait_phase("third", "Running", 60, running=1)


def story_priority_counts_at_most_as_its_queue_allows(s):
    """A number above maxPriority goes before nobody who has reached it, and the status says what it counts as."""
    with queue(s, maxPriority=10, maxJobs=1) as short:
        s.apply(queuejob("first", task("worker", 1), queue=short))
        s.wait_phase("first", "Running", 60)
        s.apply(queuejob("second", task("worker", 1), queue=short, sched={"priority": 10}))
        s.wait_phase("second", "Pending", reason="MaxJobsReached", position=1)
        s.apply(queuejob("third", task("worker", 1), queue=short, sched={"priority": 2147483647}))
        status = s.wait_phase("third", "Pending", reason="MaxJobsReached", position=2)
        expect("priority 2147483647 counts as 10, the maxPriority of the queue" in status["message"], status["message"])


def story_queue_limits_for_how_long_jobs_run(s):
    """A job that asks for more than maxRunSeconds waits until it asks for less; one that asks for nothing fails by the default of the queue."""
    with queue(s, maxRunSeconds=3600, defaultRunSeconds=3) as short:
        s.apply(queuejob("long", task("worker", 1), queue=short, activeDeadlineSeconds=10800))
        s.wait_phase("long", "Pending", reason="RunTimeTooLong", message=f"3 h asked, queue {short} allows 1 h", position=0)
        check_lines(s, "long", r"Warning\s+RunTimeTooLong\s.*3 h asked, queue \S+ allows 1 h")
        s.apply(queuejob("plain", task("worker", 1), queue=short))
        s.wait_phase("plain", "Failed", 60, reason="DeadlineExceeded", message=f"0 of 1 pod succeeded after 3 s (limit of queue {short})")
        expect_equal(s.group("plain")["status"]["runSeconds"], 3, "what was recorded with the admission")
        patch(s, "qj", "long", {"spec": {"activeDeadlineSeconds": 1800}})
        s.wait_phase("long", "Running", 60, running=1)
        patch(s, QUEUES, short, {"spec": {"maxRunSeconds": 60}})
        s.apply(queuejob("next", task("worker", 1), queue=short, activeDeadlineSeconds=1800))
        s.wait_phase("next", "Pending", reason="RunTimeTooLong", message=f"30 min asked, queue {short} allows 1 min")
        expect_equal(s.status("long")["phase"], "Running", "phase of the job that was admitted before")


def story_queue_limits_what_each_namespace_has(s):
    """Of a queue that allows each namespace two cpu a second job waits, says for what, and starts when the limit is raised; one of another namespace starts at once."""
    def job(name, cpu):
        one = task("worker", 1)
        one["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": str(cpu)}}
        return queuejob(name, one, queue=shared)

    with queue(s, perNamespace={"capability": {"cpu": 2}, "maxJobs": 2}) as shared:
        s.apply(job("first", 1.5))
        s.wait_phase("first", "Running", 60, running=1)
        s.apply(job("second", 1))
        text = f"insufficient cpu: 1 requested, 0.5 of 2 free (0.5 short), queue {shared} allows namespace {s.namespace} 2, used 1.5"
        status = s.wait_phase("second", "Pending", reason="NamespaceLimit", position=1)
        expect(status["message"].startswith(text), status["message"])
        other = f"{s.namespace}-b"
        s.cluster.kubectl("create", "namespace", other)
        try:
            theirs = s.cluster.kubectl_for(other)
            theirs.apply(job("theirs", 1))
            wait_until(lambda: theirs.get("qj", "theirs").get("status", {}).get("phase") == "Running", "a job of another namespace runs", 60)
        finally:
            s.cluster.kubectl("delete", "namespace", other, "--wait=false")
        patch(s, QUEUES, shared, {"spec": {"perNamespace": {"capability": {"cpu": 3}}}})
        s.wait_phase("second", "Running", 60, running=1)
        s.apply(job("third", 0.1))
        status = s.wait_phase("third", "Pending", reason="NamespaceLimit", position=1)
        expect(status["message"].startswith(f"insufficient jobs: 1 requested, 0 of 2 free (1 short), queue {shared} allows namespace {s.namespace} 2"), status["message"])


def story_job_of_another_manager_is_left_alone(s):
    """A QueueJob that names another controller gets no status, no children and no pod, and goes when it is deleted."""
    s.apply(queuejob("far", task("worker", 1), managedBy="example.com/far-away"))
    s.apply(queuejob("near", task("worker", 1)))
    s.wait_phase("near", "Running", 60, running=1)
    expect_equal((s.status("far"), s.group("far"), s.scheduling_spec("far"), s.pods("far")), ({}, None, None, {}), "what was made of it")
    touched = [e["verb"] for e in s.audit.events(resource="queuejobs", namespace=s.namespace, agent=USER_AGENT) if e["objectRef"].get("name") == "far"]
    expect_equal(touched, [], "requests of the manager about it")
    s.kubectl("delete", "qj", "far", "--timeout=10s")


def child(s, parent, part):
    name = f"{parent}-{part}"
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"parent": parent}})
    return name


def story_queue_goes_first_that_has_had_less(s):
    """Of two child queues with a job each that waits, that of the one goes first which had nothing, although the other's job is older."""
    def history(name):
        return s.kubectl.get(QUEUES, name)["status"].get("history", {})

    def job(name, queue, pods):
        one = task("worker", pods)
        one["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        s.apply(queuejob(name, one, queue=queue))

    with queue(s, maxJobs=1, fairness={"halfLifeSeconds": 3600}) as parent:
        a, b = child(s, parent, "a"), child(s, parent, "b")
        job("first", a, 2)
        s.wait_phase("first", "Running", 60, running=2)
        expect_equal(history(a).get("rate", 0), 0, "what is charged while nobody else waits")
        job("older", a, 1)
        s.wait_phase("older", "Pending", reason="MaxJobsReached")
        job("younger", b, 1)
        s.wait_phase("younger", "Pending", reason="MaxJobsReached")
        wait_until(lambda: history(a).get("rate", 0) > 0, "what queue a has is charged, as a job of b waits")
        s.kubectl("annotate", "pods", "--all", f"{TEST_KEY}outcome=succeed", "--overwrite")
        s.wait_phase("first", "Completed", 60)
        s.wait_phase("younger", "Running", 60, running=1)
        expect_equal(s.status("older")["phase"], "Pending", "phase of the older job")
        wait_until(lambda: history(a).get("value", 0) > 0, "queue a has a history")
        s.kubectl("delete", "qj", "younger")
        s.wait_phase("older", "Running", 60, running=1)
    for name in (a, b):
        s.kubectl("delete", QUEUES, name, "--wait=false")


def story_status_says_what_was_used(s):
    """A job of two pods with 1.5 cpu each that runs for some seconds has used three times as many cpu seconds, and so has its queue."""
    def seconds(status):
        text = status.get("usage", {}).get("seconds", {}).get("cpu", "0")
        return float(text[:-1]) / 1000 if text.endswith("m") else float(text)  # one of the pods may have come a second later

    one = task("worker", 2)
    one["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1500m"}}
    with queue(s, maxJobs=2) as name:
        s.apply(queuejob("uses", one, queue=name))
        s.wait_phase("uses", "Running", 60, running=2)
        wait_until(lambda: s.status("uses")["usage"]["allocated"] == {"cpu": "3", "pods": "2"}, "the job says what it has now")
        wait_until(lambda: s.kubectl.get(QUEUES, name)["status"].get("allocated", {}).get("cpu") == "3", "so does the queue")
        begin = time.monotonic()
        wait_until(lambda: time.monotonic() - begin > 5, "five seconds have passed")
        s.kubectl("annotate", "pods", "--all", f"{TEST_KEY}outcome=succeed", "--overwrite")
        s.wait_phase("uses", "Completed", 60)
        ran = time.monotonic() - begin
        wait_until(lambda: not s.status("uses")["usage"].get("allocated"), "it has nothing any more")
        used = seconds(s.status("uses"))
        expect(3 * 4 <= used <= 3 * (ran + 5), f"cpu seconds of a job that ran for {ran:.1f} s: {used}")
        wait_until(lambda: seconds(s.kubectl.get(QUEUES, name)["status"]) > 0, "the queue says what was used")
        of_queue = seconds(s.kubectl.get(QUEUES, name)["status"])
        expect(3 * 4 <= of_queue <= 3 * (ran + 5), f"cpu seconds of its queue: {of_queue}")


def story_full_queue_says_so(s):
    """A job behind a full queue is told how many jobs it has, also if their pods do not start. One that fits no node takes no place."""
    nowhere, missing = task("worker", 1), task("worker", 1)
    nowhere["template"]["spec"]["nodeSelector"] = {"no": "such-node"}
    missing["template"]["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"no": "such-pod"}}, **UNREAD}]}}
    with queue(s, maxJobs=1) as one:
        s.apply(queuejob("nowhere", nowhere, queue=one))
        s.wait_phase("nowhere", "Pending", reason="Infeasible", position=0)
        s.apply(queuejob("stuck", missing, queue=one))
        s.wait_phase("stuck", "Starting", reason="Unschedulable")
        s.kubectl("delete", "queuejob", "nowhere")
        s.apply(queuejob("waits", task("worker", 1), queue=one))
        s.wait_phase("waits", "Pending", reason="MaxJobsReached", position=1,
                     message=f"queue {one} has 1 of 1 jobs; 1st of 1 in queue {one}")
        table = [line.split() for line in s.kubectl("get", "queues.kube-arbitrator.io", one).splitlines()]
        expect_equal(table[0], ["NAME", "STATE", "VALID", "MAXJOBS", "PENDING", "STARTING", "RUNNING", "AGE"], "columns")
        wait_until(lambda: s.kubectl("get", "queues.kube-arbitrator.io", one).splitlines()[1].split()[:7] == [one, "Open", "True", "1", "1", "1", "0"],
                   "the row of the queue")
        check_lines(s, "waits", r"Normal\s+Waiting\s.*queue .* has 1 of 1 jobs; 1st of 1 in queue ")
        s.kubectl("delete", "queuejob", "stuck")
        s.wait_phase("waits", "Running", 60, running=1)


def orphan_keeps_its_place(s, name, reason, **limit):
    """@name-left is deleted with --cascade=orphan while it runs: @name-next waits as before, and starts when the pods are gone."""
    left, following = f"{name}-left", f"{name}-next"
    with queue(s, **limit) as one:
        for job in left, following:
            made = queuejob(job, task("worker", 1), queue=one)
            made["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "10m"}}
            s.apply(made)
            if job == left:
                s.wait_phase(left, "Running", 60)
        s.wait_phase(following, "Pending", reason=reason)
        before = admission(s, left)
        s.kubectl("delete", "queuejob", left, "--cascade=orphan")
        wait_until(lambda: not s.group(left)["metadata"].get("ownerReferences"), "the group has no owner")
        wait_until(lambda: not any(p["metadata"].get("ownerReferences") for p in s.pods(left).values()), "its pod has no owner")
        s.wait_phase(following, "Pending", reason=reason)
        expect_equal(admission(s, left), before, "the admission of the group, which was never withdrawn")
        s.kubectl("delete", "pods", "-l", f"{LABEL}={left}", "--wait=false")
        s.wait_phase(following, "Running", 120, running=1)
        expect_equal(s.group(left)["metadata"]["name"], left, "the group that stays for a job of its name")


def story_orphaned_group_gives_its_place_back(s):
    """A job that was deleted with --cascade=orphan keeps its place until a minute after its last pod; then the next job starts."""
    orphan_keeps_its_place(s, "jobs", "MaxJobsReached", maxJobs=1)
    wait_until(lambda: admission(s, "jobs-left").get("status") == "False", "the orphan waits")


def story_orphaned_group_keeps_its_room(s):
    """The same in a queue that is limited by capability; without pods it holds nothing of that."""
    orphan_keeps_its_place(s, "room", "QueueCapability", capability={"cpu": "10m"})


@contextlib.contextmanager
def closed_queues(s, *names):
    for name in names:
        s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"state": "Closed"}})
    try:
        yield names
    finally:
        s.kubectl("delete", QUEUES, *names, "--wait=false")


def who_waits(s, queue):
    return s.kubectl("get", "qj", f"--field-selector=status.queue={queue},status.phase=Pending", "-o", "jsonpath={.items[*].metadata.name}")


def story_queue_of_a_job_is_named_in_three_ways(s):
    """By its namespace, by its label, by its spec: each goes before the one before, and all can be changed while the job waits. Then it stays."""
    key = "kube-arbitrator.io/queue"
    with closed_queues(s, f"{s.namespace}-space", f"{s.namespace}-label") as (space, label), queue(s, maxJobs=3) as mine:
        s.cluster.kubectl("annotate", "namespace", s.namespace, f"{key}={space}")
        s.apply(queuejob("moves", task("worker", 1)))
        s.wait_phase("moves", "Pending", reason="QueueClosed", queue=space)
        expect_equal(who_waits(s, space), "moves", "who waits in the queue of the namespace")
        s.kubectl("label", "queuejob", "moves", f"{key}={label}")
        s.wait_phase("moves", "Pending", reason="QueueClosed", queue=label, message=f"queue {label} is closed")
        expect_equal((who_waits(s, space), who_waits(s, label)), ("", "moves"), "who waits in the two queues")
        patch(s, "queuejob", "moves", {"spec": {"queue": mine}})
        s.wait_phase("moves", "Running", 60, running=1, queue=mine)
        expect_equal(s.group("moves")["status"]["admittedQueue"], mine, "the queue that has admitted it")
        patch(s, "queuejob", "moves", {"spec": {"queue": None}})
        s.apply(queuejob("later", task("worker", 1)))  # when it is seen, what was changed before it has been seen
        s.wait_phase("later", "Pending", reason="QueueClosed", queue=space)
        s.wait_phase("moves", "Running", running=1, queue=mine, restarts=0)
        patch(s, "queuejob", "moves", {"spec": {"suspend": True}})
        s.wait_phase("moves", "Suspended")
        patch(s, "queuejob", "moves", {"spec": {"suspend": False}})
        s.wait_phase("moves", "Pending", reason="QueueClosed", queue=label)


def story_everybody_names_a_queue(s):
    """With --default-queue=none nobody is in a queue that he does not name, and default can be deleted. Without the flag it is made for who waits for it."""
    wait_until_alone(s)
    s.manager.stop()
    s.manager.start("--default-queue=none")
    with queue(s, maxJobs=3) as mine:
        s.apply(queuejob("nameless", task("worker", 1)))
        status = s.wait_phase("nameless", "Pending", reason="QueueNotFound", message="name a queue: this cluster has no default queue")
        expect("queue" not in status, f"no queue is in force: {status}")
        s.kubectl("delete", QUEUES, "default", "--timeout=30s", "--ignore-not-found")
        s.kubectl("label", "queuejob", "nameless", f"kube-arbitrator.io/queue={mine}")
        s.wait_phase("nameless", "Running", 60, running=1, queue=mine)
        expect(not s.kubectl.get(QUEUES, "default"), "nobody makes the queue default again")
        s.manager.stop()
        s.manager.start()
        s.apply(queuejob("first", task("worker", 1)))
        s.wait_phase("first", "Running", 60, running=1, queue="default")
        events = [e["message"] for e in s.kubectl.list("events", "--field-selector", "involvedObject.name=first")]
        expect(not any("there is no queue" in text for text in events), f"the first job hears nothing of a missing queue: {events}")
        s.kubectl("delete", "queuejobs", "--all")


def story_queue_in_use_is_not_gone(s):
    """A queue that is deleted while a job runs in it stays, closed, until that has ended; kubectl describe shows why, and a new job waits."""
    name, kind = f"{s.namespace}-used", "queues.kube-arbitrator.io"
    s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"maxJobs": 2}})
    s.apply(queuejob("runs", task("worker", 1), queue=name))
    s.wait_phase("runs", "Running", 60, running=1)
    s.kubectl("delete", kind, name, "--wait=false")
    words = f"it is being deleted, and gone when {s.namespace}/runs has ended"
    wait_until(lambda: words in s.kubectl("describe", kind, name), "kubectl describe says why the queue is still there")
    said = condition(s.kubectl.get(kind, name), "Active")
    expect_equal((said["status"], said["reason"], said["message"]), ("False", "Deleting", words), "condition Active")
    expect_equal(s.kubectl.get(kind, name)["status"]["state"], "Closing", "state")
    s.apply(queuejob("late", task("worker", 1), queue=name))
    s.wait_phase("late", "Pending", reason="QueueClosed", message=f"queue {name} is being deleted")
    expect_equal(s.pods("late"), {}, "pods of a job that came too late")
    expect_equal(s.status("runs")["phase"], "Running", "phase of the job that was there before")
    s.kubectl("delete", "queuejob", "runs")
    wait_until(lambda: not s.kubectl.get(kind, name), "the queue is gone")
    s.wait_phase("late", "Pending", reason="QueueNotFound")


@contextlib.contextmanager
def only_classes(s):
    """The policies take a moment to be in force, each its own: the first refusal by each says that they are."""
    probes = [json.dumps(probe) for probe in (queuejob("probe", task("worker", 1), sched={"priority": 1}), group("probe", priority=1))]
    s.cluster.kubectl("apply", "--server-side", "-f", str(PRIORITIES))
    try:
        for probe in probes:
            wait_until(lambda: s.kubectl("create", "--dry-run=server", "-f", "-", stdin=probe, check=False)[0] != 0, "the policies are in force")
        yield
    finally:
        begin = audit_time()
        s.cluster.kubectl("delete", "-f", str(PRIORITIES))
        s.cluster.excused.append((begin, audit_time()))


def story_priorities_only_from_classes(s):
    """With manifests/admission/priorities.yaml a priority is that of a PriorityClass, also of the pods; the manager's groups are as before."""
    def refused(obj):
        status, answer = s.kubectl("create", "-f", "-", stdin=json.dumps(obj), check=False)
        expect(status, "it must be refused")
        return answer

    classes = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": s.namespace}, "value": 7}
    other = task("worker", 1)
    other["template"]["spec"]["priorityClassName"] = "system-node-critical"
    s.apply(classes)
    try:
        with only_classes(s):
            expect("name a PriorityClass in spec.schedSpec.priorityClassName" in refused(queuejob("number", task("worker", 1), sched={"priority": 1})), "a number")
            expect("the pods of a job must have its PriorityClass" in refused(queuejob("pods", other, sched={"priorityClassName": s.namespace})), "pods of another class")
            expect("name a PriorityClass in spec.priorityClassName" in refused(group("number", priority=1)), "a group with a number")
            s.apply(queuejob("classed", task("worker", 1), sched={"priorityClassName": s.namespace}))
            s.wait_phase("classed", "Running", 60, running=1)
            expect_equal(s.group("classed")["spec"]["priority"], 7, "the number that the manager writes")
    finally:
        s.cluster.kubectl("delete", "priorityclass", s.namespace)


def story_room_is_held_only_for_who_may(s):
    """minResources of a PodGroup: refused to a tenant with the role edit, accepted from an operator of the cluster, and from who has the verb hold."""
    def create(user, name, **spec):
        return s.kubectl("create", "--as", user, "-f", "-", stdin=json.dumps(group(name, **spec)), check=False)

    tenant, operator, holder = (f"{who}-{s.namespace}" for who in ("tenant", "operator", "holder"))
    hold = {"minResources": {"cpu": "2", "memory": 0}}
    s.kubectl("create", "role", "groups", "--verb=create,update,patch,get", "--resource=podgroups.scheduling.x-k8s.io")
    s.kubectl("create", "role", "holds", "--verb=hold", "--resource=podgroups.scheduling.x-k8s.io")
    for user in (tenant, holder):
        s.kubectl("create", "rolebinding", f"groups-{user}", "--role=groups", f"--user={user}")
    s.kubectl("create", "rolebinding", "holds", "--role=holds", f"--user={holder}")
    s.cluster.kubectl("create", "clusterrole", operator, "--verb=create", "--resource=podgroups.scheduling.x-k8s.io")
    s.cluster.kubectl("create", "clusterrolebinding", operator, f"--clusterrole={operator}", f"--user={operator}")
    s.cluster.kubectl("apply", "--server-side", "-f", str(HOLDS))
    try:
        probe = json.dumps(group("probe", **hold))
        wait_until(lambda: "you need the verb hold" in s.kubectl("create", "--as", tenant, "--dry-run=server", "-f", "-", stdin=probe, check=False)[1], "the policy is in force")
        expect_equal(create(tenant, "plain")[0], 0, "a group without minResources")
        expect_equal(create(tenant, "empty", minResources={})[0], 0, "a group that asks for nothing")
        expect("you need the verb hold" in create(tenant, "holds", **hold)[1], "a tenant")
        for user, name in ((operator, "of-an-operator"), (holder, "of-a-holder")):
            status, answer = create(user, name, **hold)
            expect(not status, f"{user}: {answer}")
        label = ("patch", "podgroups.scheduling.x-k8s.io", "of-an-operator", "--as", tenant, "--type=merge", "-p")
        s.kubectl(*label, '{"metadata":{"labels":{"a":"b"}}}')
        expect("you need the verb hold" in s.kubectl(*label, '{"spec":{"minResources":{"cpu":"200"}}}', check=False)[1], "a tenant who asks for more")
    finally:
        begin = audit_time()
        s.cluster.kubectl("delete", "-f", str(HOLDS))
        s.cluster.kubectl("delete", "clusterrole,clusterrolebinding", operator)
        s.cluster.excused.append((begin, audit_time()))
