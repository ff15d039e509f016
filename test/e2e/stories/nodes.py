"""Gangs on few nodes: each is placed whole before its pods exist, or has none. Four nodes of 64 CPUs."""

import json
import time

from harness import KEY, ROOT, TEST_KEY, USER_AGENT, Failure, check_lines, expect, expect_equal, queuejob, task, wait_until

GATE = "example.com/story"
MORE = {"cpu": "64", "memory": "256Gi", "pods": "250"}  # of a node that is added


def wait_until_alone(s):
    """Jobs of the stories before must hold no nodes any more, nor jobs and pods of one that failed."""
    s.cluster.kubectl("delete", "queuejobs", "--all", "--all-namespaces", "--wait=false")
    wait_until(lambda: s.cluster.kubectl.list("queuejobs", "--all-namespaces") == [], "no other job is left", seconds=60)
    s.cluster.kubectl("delete", "pods", "--all", "--all-namespaces", "--wait=false")
    wait_until(lambda: not any(p["spec"].get("nodeName") for p in s.cluster.kubectl.list("pods", "--all-namespaces")), "no other pod is left", seconds=60)
    # A group keeps its place for ten seconds after its last pod has gone, also where its namespace is being deleted.
    s.cluster.kubectl("delete", "podgroups.scheduling.x-k8s.io", "--all", "--all-namespaces", "--wait=false")
    wait_until(lambda: s.cluster.kubectl.list("podgroups.scheduling.x-k8s.io", "--all-namespaces") == [], "no other group is left", seconds=60)


def gang(name, replicas=3, cpu="40", gated=False, outcome="run", after=None, sched=None, **spec):
    """Pods of which, unless @cpu says otherwise, one fits on a node. A gated one is not scheduled before let_go()."""
    job = queuejob(name, task("worker", replicas, outcome, after), sched=sched, **spec)
    template = job["spec"]["taskSpecs"][0]["template"]["spec"]
    if gated:
        template["schedulingGates"] = [{"name": GATE}]
    template["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return job


# A rule about pods of all namespaces, in words of which it is not read that they mean all: only kube-scheduler knows whether it holds.
UNREAD = {"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}}


def let_go(s, name):
    for pod in s.pods(name):
        s.kubectl("patch", "pod", pod, "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')


def succeed(s, name):
    for pod in s.pods(name):
        s.kubectl("annotate", "pod", pod, "--overwrite", f"{TEST_KEY}outcome=succeed")


def placement(s, name):
    return (s.group(name) or {}).get("status", {}).get("placement", {})


def plan_of(s, name):
    """node -> pods, of task worker."""
    text = next((p["nodes"] for p in placement(s, name).get("plan", []) if p["role"] == "worker"), "")
    parts = [part.rpartition("*") for part in text.split()]
    return {node: int(n) if star else 1 for head, star, tail in parts for node, n in [(head, tail) if star else (tail, 1)]}


def by_node(pods, node):
    counts = {}
    for pod in pods:
        counts[node(pod)] = counts.get(node(pod), 0) + 1
    return counts


def bound_nodes(s, name):
    return by_node(s.pods(name).values(), lambda pod: pod["spec"].get("nodeName"))


def pin_of(pod):
    """The node that each term of its node affinity allows by name; None: they allow others."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    pins = [{"key": "metadata.name", "operator": "In", "values": [f["values"][0]]} == f and f["values"][0]
            for term in terms for f in term.get("matchFields", [])]
    return pins[0] if pins and len(pins) == len(terms) and len(set(pins)) == 1 else None


def expect_no_pod_was_made(s, name):
    made = [n for n in s.audit.pods_created(s.namespace) if n.startswith(f"{name}-worker-")]
    expect_equal(made, [], f"pods that were created for {name}")


def expect_nothing_counted(s, name, incarnation):
    status = s.status(name)
    counts = {k: status.get(k, 0) for k in ("restarts", "podFailures", "disruptions", "incarnation")}
    expect_equal(counts, {"restarts": 0, "podFailures": 0, "disruptions": 0, "incarnation": incarnation}, f"what {name} has counted")


def wait_for_words(s, name, reason, message):
    """Until its PodGroup, and then the job, say these; returns how long each took."""
    begin = time.monotonic()
    seen = {}

    def group_says():
        found = [c for c in (s.group(name) or {}).get("status", {}).get("conditions", []) if c["type"] == "Admitted"]
        seen.update(found[0] if found else {})
        return (seen.get("reason"), seen.get("message")) == (reason, message)

    try:
        wait_until(group_says, f"{name} waits with {reason}: {message}")
    except Failure as failure:
        raise Failure(f"{failure}; it says {seen.get('reason')}: {seen.get('message')}") from None
    group = time.monotonic() - begin
    s.wait_phase(name, "Pending", reason=reason, message=message)
    return group, time.monotonic() - begin


def documented(words):
    """They stand in docs/GANGS.md as users see them."""
    expect(words in (ROOT / "docs/GANGS.md").read_text(), f"docs/GANGS.md does not have: {words}")
    return words


class Cordon:
    def __init__(self, s, *nodes):
        self.kubectl, self.nodes = s.cluster.kubectl, nodes

    def __enter__(self):
        self.kubectl("cordon", *self.nodes)

    def __exit__(self, *_):
        self.kubectl("uncordon", *self.nodes)


def nodes_of(s):
    return sorted(n["metadata"]["name"] for n in s.kubectl.list("nodes"))


def add_node(s, name):
    """Ready, as its kubelet would say."""
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    s.cluster.kubectl.apply({"apiVersion": "v1", "kind": "Node", "metadata": meta})
    status = {"capacity": MORE, "allocatable": MORE, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}
    s.cluster.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))


def story_gang_that_cannot_fit_has_no_pods(s):
    """Its PodGroup says within a second what is short, and where; it starts when a node is added, or when one may be used again."""
    wait_until_alone(s)
    s.apply(gang("five", replicas=5))
    five = wait_for_words(s, "five", "Infeasible", documented("4 of 5 pods fit on empty nodes: 4 nodes lack cpu (short 16)"))
    with Cordon(s, *nodes_of(s)[2:]):
        s.apply(gang("three"))
        three = wait_for_words(s, "three", "NoFit", documented("2 of 3 pods fit now: 2 nodes lack cpu (short 16), 2 cordoned; 1st of 1 in queue default"))
        for name in ("five", "three"):
            expect_no_pod_was_made(s, name)
    s.shown.append(f"PodGroup and job say so after {five[0]:.1f} and {five[1]:.1f} s, {three[0]:.1f} and {three[1]:.1f} s")
    expect(max(five[0], three[0]) < 1.0 and max(five[1], three[1]) < 2.5, f"that is late: {five}, {three}")
    s.wait_phase("three", "Running", running=3)
    s.kubectl("delete", "queuejob", "three", "--wait=true", "--cascade=foreground")
    add_node(s, "one-more")
    try:
        s.wait_phase("five", "Running", running=5)
        expect_equal(sorted(bound_nodes(s, "five").values()), [1] * 5, "pods by node")
    finally:
        s.kubectl("delete", "queuejob", "five", "--ignore-not-found", "--wait=true", "--cascade=foreground")
        s.cluster.kubectl("delete", "node", "one-more")


def expect_never_both_in_part(events):
    """A gang that has had all of its pods bound is whole from then on. Returns the gangs that became whole."""
    held = {}  # job -> pods that hold a node
    whole = set()
    for kind, pod in events:
        job, name = pod["metadata"]["labels"][KEY + "queuejob"], pod["metadata"]["name"]
        holds = kind != "DELETED" and pod["spec"].get("nodeName") and pod["status"].get("phase") not in ("Succeeded", "Failed")
        (held.setdefault(job, set()).add if holds else held.setdefault(job, set()).discard)(name)
        whole |= {job} if len(held[job]) == 3 else set()
        parts = {j: sorted(p) for j, p in held.items() if p and j not in whole}
        expect(len(parts) <= 1, f"two gangs hold a part each: {parts}")
    return whole


def story_two_gangs_are_never_both_in_part(s):
    """Two gangs of which each needs more than half of the nodes, round after round: at no time has each a part, and both complete."""
    wait_until_alone(s)
    names = [[f"{name}-{i}" for name in ("red", "blue")] for i in range(5 if s.cluster.simulated else 20)]
    watch = s.watch_pods()
    begin = time.monotonic()
    for pair in names:
        s.apply({"apiVersion": "v1", "kind": "List", "items": [gang(name, outcome="succeed", after="200ms") for name in pair]})
        for name in pair:
            s.wait_phase(name, "Completed")
    s.shown.append(f"{len(names)} rounds in {time.monotonic() - begin:.1f} s")
    wait_until(lambda: {e["metadata"]["name"] for _, e in watch.events() if e["status"].get("phase") == "Succeeded"} >=
               {f"{name}-worker-{k}" for name in names[-1] for k in range(3)}, "the watch has seen the end")
    watch.stop()
    expect_equal(expect_never_both_in_part(watch.events()), {name for pair in names for name in pair}, "gangs that were whole")
    for name in (name for pair in names for name in pair):
        expect_nothing_counted(s, name, 1)


def story_nodes_go_to_the_higher_priority(s):
    """Of two gangs that wait for room the higher priority is placed first, although it came last; a restart of the manager changes nothing."""
    wait_until_alone(s)
    s.apply(gang("first"))
    s.wait_phase("first", "Running", running=3)
    words = "1 of 3 pods fit now: 4 nodes lack cpu (short 32), each of 2 more asks for 40 cpu and a node has at most 24 free; {} in queue default"
    s.apply(gang("low"))
    wait_for_words(s, "low", "NoFit", documented(words.format("1st of 1")))
    s.apply(gang("high", sched={"priority": 5}))
    wait_for_words(s, "high", "NoFit", words.format("1st of 2"))
    s.manager.kill()
    s.manager.start()
    succeed(s, "first")
    s.wait_phase("high", "Running", running=3)
    expect_no_pod_was_made(s, "low")
    succeed(s, "high")
    s.wait_phase("low", "Running", running=3)
    for name in ("first", "low", "high"):
        expect_nothing_counted(s, name, 1)


def story_gang_of_another_scheduler_is_counted(s):
    """Pods that name another scheduler are created on admission, without a plan; the group says who starts them, and counts them."""
    s.apply(queuejob("theirs", task("worker", 2), schedulerName="story-scheduler"))
    wait_until(lambda: (s.group("theirs") or {}).get("status", {}).get("backend") == "Labels", "status.backend is Labels")
    expect_equal((len(s.pods("theirs")), placement(s, "theirs")), (2, {}), "pods, and the plan")
    for name, pod in s.pods("theirs").items():
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "uid": pod["metadata"]["uid"]}, "target": {"kind": "Node", "name": nodes_of(s)[0]}}
        s.kubectl("create", "--raw", f"/api/v1/namespaces/{s.namespace}/pods/{name}/binding", "-f", "-", stdin=json.dumps(binding))
    s.wait_phase("theirs", "Running", running=2)
    wait_until(lambda: s.group("theirs")["status"]["phase"] == "Running", "the group runs")
    expect_equal(s.group("theirs")["status"]["backend"], "Labels", "status.backend of a gang that runs")


def story_pods_are_pinned_to_their_places(s):
    """Each pod of the minimum goes to its node of the plan, beside what its template asks for; kubectl describe shows the plan."""
    wait_until_alone(s)
    nodes = nodes_of(s)
    job = gang("pinned", replicas=4, cpu="30", gated=True)
    own = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": nodes[1:3]}]},
           {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": nodes[:2]}]}]
    prefers = [{"weight": 1, "preference": {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}}]
    job["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": own}, "preferredDuringSchedulingIgnoredDuringExecution": prefers}}
    s.apply(job)
    wait_until(lambda: len(s.pods("pinned")) == 4, "its pods exist")
    plan = plan_of(s, "pinned")
    expect_equal((sum(plan.values()), set(plan.values()), set(plan) <= set(nodes[:3])), (4, {2}, True), f"pods, pods by node, and nodes of the plan {plan}")
    expect_equal(s.group("pinned")["status"]["backend"], "Gates", "what starts the gang whole")
    pods = s.pods("pinned").values()
    expect_equal(by_node(pods, pin_of), plan, "pins of the pods")
    for pod in pods:
        affinity = pod["spec"]["affinity"]["nodeAffinity"]
        terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        expect_equal([t["matchExpressions"] for t in terms], [t["matchExpressions"] for t in own], "what the template asks for")
        expect_equal(affinity["preferredDuringSchedulingIgnoredDuringExecution"], prefers, "what the template prefers")
    told = s.kubectl("describe", "podgroups.scheduling.x-k8s.io", "pinned")
    expect("Placed" in told and all(f"{node}*2" in told for node in plan), f"kubectl describe shows the plan {plan}:\n{told}")
    let_go(s, "pinned")
    s.wait_phase("pinned", "Running", running=4)
    expect_equal(bound_nodes(s, "pinned"), plan, "nodes of the pods")
    expect_equal(placement(s, "pinned")["state"], "Satisfied", "state of the placement")


def story_features_without_a_model_are_not_pinned(s):
    """Room is planned for a gang whose rules are not read whole, but no node is promised: its pods find theirs."""
    wait_until_alone(s)
    job = gang("spread", replicas=4, cpu="20")
    job["spec"]["taskSpecs"][0]["template"]["metadata"]["labels"] = {"app": "spread"}
    job["spec"]["taskSpecs"][0]["template"]["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "spread"}}, **UNREAD}]}}
    s.apply(job)
    s.wait_phase("spread", "Running", running=4)
    expect_equal({pin_of(pod) for pod in s.pods("spread").values()}, {None}, "pins")
    expect_equal(placement(s, "spread")["attempt"], 1, "attempts")
    expect_equal(sorted(bound_nodes(s, "spread").values()), [1] * 4, "pods by node")


def story_taken_place_rolls_the_gang_back(s):
    """A pod of somebody else takes a planned place: the gang is rolled back whole, and starts when the place is free; nothing is counted."""
    wait_until_alone(s)
    nodes = nodes_of(s)
    with Cordon(s, *nodes[2:]):
        s.apply(gang("gang", replicas=2, gated=True))
        wait_until(lambda: len(s.pods("gang")) == 2, "its pods exist")
        plan = plan_of(s, "gang")
        expect_equal(plan, {n: 1 for n in nodes[:2]}, "the plan")
        before = s.uids("gang")
        s.apply(thief())
        taken = wait_until(lambda: s.kubectl.get("pod", "thief")["spec"].get("nodeName"), "the thief has a node")
        let_go(s, "gang")
        wait_until(lambda: s.status("gang").get("reason") == "NoFit", "it is rolled back and placed no more", seconds=30)
        expect_equal(s.pods("gang"), {}, "pods after the roll back")
        message = s.status("gang")["message"].replace("nobody is evicted for it: its pods have the scheduling gate example.com/story; ", "")  # said or not, as the pods have been seen
        expect_equal(message, "1 of 2 pods fit now: 2 nodes lack cpu (short 16), 2 cordoned, taken by pods of no queue: 40 cpu; 1st of 1 in queue default", "why it waits")
        told = s.kubectl("get", "events", "-o", "jsonpath={range .items[*]}{.reason}: {.message}{.note}{'\\n'}{end}")
        victim = next((line for line in told.splitlines() if line.startswith("RolledBack: attempt 1 to start the gang failed: ")), None)
        expect(victim and f"was unschedulable on {taken}: " in victim and "Insufficient cpu" in victim, f"the event quotes the scheduler:\n{told}")
        s.shown.append(victim)
        expect_no_pod_is_left_but(s, "thief")
        s.kubectl("delete", "pod", "thief", "--wait=true")
        wait_until(lambda: len(s.pods("gang")) == 2, "it is placed again")
        expect(not set(before.values()) & set(s.uids("gang").values()), "its pods are new")
        let_go(s, "gang")
        s.wait_phase("gang", "Running", running=2)
    expect_nothing_counted(s, "gang", 2)
    expect_equal(placement(s, "gang")["attempt"], 2, "attempts")


def thief(node=None):
    """Somebody else's pod that needs most of a node."""
    spec = {"containers": [{"name": "main", "image": "busybox:1.36", "resources": {"requests": {"cpu": "40"}}}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "thief"}, "spec": spec | ({"nodeName": node} if node else {})}


def story_taken_place_costs_one_pod(s):
    """A pod of somebody else takes a planned place, and there is another node: only the pod of that place goes, and comes again there; the other stays, and nothing is counted."""
    wait_until_alone(s)
    nodes = nodes_of(s)
    with Cordon(s, *nodes[2:]):
        s.apply(gang("gang", replicas=2, gated=True))
        wait_until(lambda: len(s.pods("gang")) == 2, "its pods exist")
        before = s.uids("gang")
        s.apply(thief())
        taken = wait_until(lambda: s.kubectl.get("pod", "thief")["spec"].get("nodeName"), "the thief has a node")
    stuck, other = sorted(s.pods("gang"), key=lambda name: pin_of(s.pods("gang")[name]) != taken)
    let_go(s, "gang")
    wait_until(lambda: placement(s, "gang").get("repairs") == 1, "another node is found", seconds=30)
    wait_until(lambda: s.uids("gang").get(stuck) not in (None, before[stuck]), "the pod of the taken place is another one")
    expect_equal(s.uids("gang")[other], before[other], "the pod that was bound")
    s.kubectl("patch", "pod", stuck, "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')
    s.wait_phase("gang", "Running", running=2)
    where = {name: pod["spec"]["nodeName"] for name, pod in s.pods("gang").items()}
    expect(where[stuck] in nodes[2:] and where[other] in nodes[:2], f"nodes: {where}")
    expect_nothing_counted(s, "gang", 1)
    expect_equal((placement(s, "gang")["attempt"], placement(s, "gang").get("failures", 0)), (1, 0), "attempts and failures")
    check_lines(s, "gang", rf"Warning\s+Unschedulable\s.*pod {stuck} was planned on node {taken}, which is taken; another is created for the one that the plan names now")
    s.kubectl("delete", "pod", "thief", "--wait=true")


def expect_no_pod_is_left_but(s, name):
    expect_equal([p["metadata"]["name"] for p in s.kubectl.list("pods")], [name], "pods")


def story_gang_that_is_not_bound_in_time_is_rolled_back(s):
    """After scheduleTimeoutSeconds all of its pods go, also those that are bound; after a pause it is tried again, on the whole."""
    wait_until_alone(s)
    s.apply(gang("slow", gated=True, sched={"scheduleTimeoutSeconds": 3}))
    wait_until(lambda: len(s.pods("slow")) == 3, "its pods exist")
    s.kubectl("patch", "pod", "slow-worker-0", "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')
    wait_until(lambda: s.status("slow").get("reason") == "BackOff", "it is rolled back")
    said = "attempt 1 to start the gang failed: not bound after 3s: slow-worker-1, slow-worker-2; next try at "
    expect(s.status("slow")["message"].startswith(documented(said)), f"what it says: {s.status('slow')['message']}")
    expect_equal(s.pods("slow"), {}, "pods")
    begin = time.monotonic()
    wait_until(lambda: len(s.pods("slow")) == 3, "it is tried again")
    pause = time.monotonic() - begin
    expect(3 < pause < 8, f"it was tried again after {pause:.1f} s")
    let_go(s, "slow")
    s.wait_phase("slow", "Running", running=3)
    expect_nothing_counted(s, "slow", 2)
    deleted = s.audit.events(verb="delete", resource="pods", subresource="", namespace=s.namespace, agent=USER_AGENT, code=200)
    expect_equal(sorted(e["objectRef"]["name"] for e in deleted), [f"slow-worker-{i}" for i in range(3)], "pods that were deleted")


def story_node_on_which_pods_fail_is_taken_last(s):
    """The one pod of a gang that kar-scheduler places fails twice on the only node that is free. Then all are: it starts on another one, and its group says why."""
    def where():
        return {p["spec"]["nodeName"] for p in s.pods("job").values() if p["spec"].get("nodeName") and not p["metadata"].get("deletionTimestamp")}

    wait_until_alone(s)
    bad, *others = nodes_of(s)
    job = gang("job", replicas=1)
    job["spec"].update(backoffLimit=10, schedulerName="kar-scheduler")
    try:
        for node in others:
            s.cluster.kubectl("cordon", node)
        s.apply(job)
        for failures in (1, 2):
            wait_until(lambda: where() == {bad} and s.status("job").get("running") == 1, f"it runs on {bad}", seconds=60)
            if failures == 2:
                for node in others:
                    s.cluster.kubectl("uncordon", node)
            s.fail_pod(next(iter(s.pods("job"))))
            wait_until(lambda: s.status("job").get("failed", 0) >= failures or s.status("job").get("podFailures", 0) >= failures, f"failure {failures} is counted", seconds=60)
        wait_until(lambda: (lambda nodes: nodes and nodes <= set(others))(where()), f"it has another node than {bad}", seconds=60)
        said = next(c["message"] for c in s.group("job")["status"]["conditions"] if c["type"] == "Admitted")
        expect_equal(said, f"admitted by queue default; node {bad} is taken last: two pods of this gang failed there", "condition Admitted of the group")
    finally:
        for node in others:
            s.cluster.kubectl("uncordon", node)
