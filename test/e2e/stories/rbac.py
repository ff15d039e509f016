import datetime
import json

from harness import FINALIZER, KEY, SERVICE_ACCOUNT, USER_AGENT, expect, expect_equal, queuejob, task, wait_until

JOB = {"apiVersion": KEY + "v1alpha1", "kind": "QueueJob", "name": "j", "uid": "9d2f0c1e-0000-4000-8000-000000000000", "controller": True}
TRAINING = {"apiVersion": "paddlepaddle.org/v1", "kind": "TrainingJob", "name": "t", "uid": "9d2f0c1e-0000-4000-8000-000000000001", "controller": True}
BY_POLICY = "ValidatingAdmissionPolicy 'kar-controllers-"


def expect_nothing_refused(s, user):
    """In the whole run, neither by RBAC nor by the policies of manifests/admission."""
    for cluster in [s.cluster, *s.cluster.beside]:
        refused = sorted({(verb, resource, sub) for moment, verb, resource, sub in cluster.audit.forbidden(user) if not cluster.excuses(moment)})
        expect_equal(refused, [], "requests of the manager that RBAC refused")
        expect_equal(cluster.audit.refused_by_policy(user=user, agent=USER_AGENT), [], "writes of the manager that manifests/admission refused")


def story_rbac_as_shipped_is_enough(s):
    """A job from creation to removal by its TTL; nothing that the manager asked for in the whole run was forbidden, by RBAC or policy."""
    s.apply(queuejob("short", task("worker", 2, outcome="succeed"), ttlSecondsAfterFinished=1))
    wait_until(lambda: not s.job("short"), "the job is removed after ttlSecondsAfterFinished", 60)
    wait_until(lambda: not s.pods("short"), "its pods are removed", 60)
    own = s.audit.events(user=SERVICE_ACCOUNT)
    expect(own, f"the manager must act as {SERVICE_ACCOUNT}")
    strangers = sorted({e.get("userAgent", "") for e in own if not e.get("userAgent", "").startswith(USER_AGENT)})
    expect_equal(strangers, [], "user agents of the manager's requests")
    expect_nothing_refused(s, SERVICE_ACCOUNT)


ADMISSION = "asked by the admission plug-in OwnerReferencesPermissionEnforcement, where that is on"
NATIVE = "for --gang-backend=Native: story kube_scheduler_starts_gangs_whole, on a cluster of its own"
UNKNOWN = "reads what a create has made whose answer was lost: unit executor/unknown_outcome_is_not_repeated"
EMPTY = "deletes a group that was made for pods a minute after the last of them: unit podgroup_sync/group_that_was_made_goes_when_it_is_empty"
NOT_ASKED = {  # (API group, resource, verb) -> why a run may end without a request that needs it
    ("kube-arbitrator.io", "queuejobs/finalizers", "update"): ADMISSION,
    ("paddlepaddle.org", "trainingjobs/finalizers", "update"): ADMISSION,
    **{(group, resource, "get"): UNKNOWN for group, resource in (
        ("", "pods"), ("", "services"), ("scheduling.x-k8s.io", "podgroups"), ("kube-arbitrator.io", "schedulingspecs"), ("kube-arbitrator.io", "queues"))},
    ("scheduling.x-k8s.io", "podgroups", "delete"): EMPTY,
    **{("scheduling.k8s.io", "podgroups", verb): NATIVE for verb in ("get", "create", "patch")},
}


def granted(role):
    """(API group, resource, verb) -> the names for which it holds, or None for all."""
    return {(group, resource, verb): rule.get("resourceNames")
            for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}


def story_rbac_as_shipped_is_needed(s):
    """Each verb of manifests/rbac.yaml has been used in the whole run, and no name but those that it lists: without a rule, a request would have been refused."""
    rights = granted(s.cluster.kubectl.get("clusterrole", "kar-controllers"))
    expect(len(rights) > 20 and not any("*" in right for right in rights), f"rights, without wildcards: {sorted(rights)}")
    used = {}
    for event in [event for cluster in [s.cluster, *s.cluster.beside] for event in cluster.audit.events(user=SERVICE_ACCOUNT)]:
        if event["responseStatus"]["code"] == 403:
            continue
        about = event.get("objectRef", {})
        resource = "/".join(filter(None, (about.get("resource"), about.get("subresource"))))
        used.setdefault((about.get("apiGroup", ""), resource, event["verb"]), set()).add(about.get("name", ""))
    unused = sorted(set(rights) - set(used) - set(NOT_ASKED))
    expect_equal(unused, [], "rights that no story has needed")
    expect_equal(sorted(set(NOT_ASKED) - set(rights)), [], "reasons for rights that there are not")
    names = {right: used[right] - set(only) for right, only in rights.items() if only and right in used}
    expect_equal({right: left for right, left in names.items() if left}, {}, "names beyond those of the rules")


def pod(name, **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}]}}


def service(name, **metadata):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, **metadata}, "spec": {"ports": [{"port": 80}]}}


def of_other(kind):
    """Owners that are no QueueJob's controller reference."""
    return [{**JOB, "kind": kind, "apiVersion": "batch/v1"}]


def expect_policies_are_sound(s):
    """The API server has checked the expressions against the types that they are about."""
    def checked():
        policies = [p for p in s.cluster.kubectl.list("validatingadmissionpolicies") if p["metadata"]["name"].startswith("kar-controllers-")]
        return policies if all("typeChecking" in p.get("status", {}) for p in policies) else None

    policies = wait_until(checked, "the types of the expressions are checked")
    expect_equal(len([p for p in policies if not p["metadata"]["name"].startswith("kar-controllers-workloads")]), 6, "number of policies of manifests/admission")
    expect_equal([w for p in policies for w in p["status"]["typeChecking"].get("expressionWarnings", [])], [], "warnings about expressions")


def as_manager(s, *args, namespace=None, obj=None):
    """(exit status, output) of a write with the manager's identity, which changes nothing if it is allowed."""
    where = ("--namespace", namespace) if namespace else ()
    return s.kubectl(*args, *where, "--dry-run=server", "--as", SERVICE_ACCOUNT, *(("-f", "-") if obj else ()),
                     stdin=json.dumps(obj) if obj else None, check=False)


def merge(**patch):
    return ("--type=merge", "-p", json.dumps(patch))


MADE = {KEY + "made-for-pods": "true"}


def pod_group(name, **metadata):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name, **metadata}, "spec": {"minMember": 1}}


def story_admission_policy_binds_the_manager(s):
    """With manifests/admission the manager's identity is refused every write that is not about QueueJobs, and all in kube-system."""
    expect_policies_are_sound(s)
    s.apply(pod("foreign", labels={KEY + "queuejob": "j"}))
    member = pod("member", labels={"scheduling.x-k8s.io/pod-group": "foreign"})
    s.apply(member | {"spec": {**member["spec"], "schedulingGates": [{"name": "example.com/other"}]}})
    s.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": s.kubectl.get("configmap", "owner")["metadata"]["uid"], "controller": True}
    direct = pod("direct", ownerReferences=[owner])
    s.apply(direct | {"spec": {**direct["spec"], "schedulerName": "kar-scheduler", "schedulingGates": [{"name": "example.com/other"}]}})
    s.apply(service("foreign"))
    s.apply(service("labelled", labels={KEY + "queuejob": "labelled"}))
    s.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "spec": {"minMember": 1},
             "metadata": {"name": "foreign", "labels": {KEY + "queuejob": "foreign"}, "ownerReferences": [owner]}})
    s.apply(pod_group("made-before", labels=MADE))
    s.apply(pod_group("made-of-spec", labels=MADE, ownerReferences=[owner]))
    s.apply(pod_group("queued", labels={KEY + "queue": "default"}))
    s.apply(queuejob("stays", task("worker", 1), suspend=True))
    s.apply(pod("gated", finalizers=["example.com/other"]) | {"spec": {**pod("x")["spec"], "schedulingGates": [{"name": KEY + "gang"}]}})
    owned = {"ownerReferences": [JOB]}
    refused = {
        "a bare pod": as_manager(s, "create", obj=pod("bare")),
        "a pod of a Job": as_manager(s, "create", obj=pod("bare", ownerReferences=of_other("Job"))),
        "a pod of another QueueJob kind": as_manager(s, "create", obj=pod("bare", ownerReferences=of_other("QueueJob"))),
        "a pod that a QueueJob owns, but does not control": as_manager(s, "create", obj=pod("bare", ownerReferences=[{**JOB, "controller": False}])),
        "a bare Service": as_manager(s, "create", obj=service("bare")),
        "another queue": as_manager(s, "create", obj={"apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": "mine"}, "spec": {}}),
        "the spec of a queue": as_manager(s, "patch", "queue.kube-arbitrator.io", "default", *merge(spec={"maxJobs": 1})),
        "a label of a queue": as_manager(s, "patch", "queue.kube-arbitrator.io", "default", *merge(metadata={"labels": {"x": "y"}})),
        "the finalizer of somebody else on a queue": as_manager(s, "patch", "queue.kube-arbitrator.io", "default", *merge(metadata={"finalizers": ["example.com/x"]})),
        "an event of somebody else": as_manager(s, "create", obj={
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal",
            "reason": "R", "action": "A", "reportingController": "kubelet", "reportingInstance": "x", "regarding": {"kind": "Pod", "name": "foreign", "namespace": s.namespace}}),
        "a change of a foreign pod": as_manager(s, "patch", "pod", "foreign", *merge(metadata={"labels": {"x": "y"}})),
        "the label of a PodGroup for a pod of the default scheduler": as_manager(s, "patch", "pod", "foreign", *merge(metadata={"labels": {"scheduling.x-k8s.io/pod-group": "g"}})),
        "another label beside it": as_manager(s, "patch", "pod", "direct", *merge(metadata={"labels": {"scheduling.x-k8s.io/pod-group": "g", "x": "y"}})),
        "the adoption of a foreign pod": as_manager(s, "patch", "pod", "foreign", *merge(metadata=owned)),
        "the adoption of a gated pod": as_manager(s, "patch", "pod", "gated", *merge(metadata=owned)),
        "the deletion of a foreign pod": as_manager(s, "delete", "pod", "foreign"),
        "the deletion of a member that is not taken back": as_manager(s, "delete", "pod", "member"),
        "a change of a foreign Service": as_manager(s, "patch", "service", "labelled", *merge(spec={"selector": {"x": "y"}})),
        "the adoption of a Service without our label": as_manager(s, "patch", "service", "foreign", *merge(metadata=owned)),
        "the deletion of a foreign Service": as_manager(s, "delete", "service", "labelled"),
        "a change of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(spec={"minMember": 2})),
        "a change of a PodGroup for pods that ask for one": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "made-before", *merge(spec={"minMember": 2})),
        "the queue of a PodGroup that was made of a SchedulingSpec": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "made-of-spec", *merge(spec={"minMember": 2, "queue": "a"})),
        "a label beside its minimum": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "made-of-spec", *merge(metadata={"labels": {"x": "y"}}, spec={"minMember": 2})),
        "an annotation beside its minimum": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "made-of-spec", *merge(metadata={"annotations": {"x": "y"}}, spec={"minMember": 2})),
        "another label of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"labels": {KEY + "queue": "a", "x": "y"}})),
        "another queue of a PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "queued", *merge(metadata={"labels": {KEY + "queue": "a"}})),
        "a queue and the spec of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"labels": {KEY + "queue": "a"}}, spec={"minMember": 2})),
        "an annotation of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"annotations": {KEY + "placement": "{}", "x": "y"}})),
        "an annotation and the spec of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"annotations": {KEY + "placement": "{}"}}, spec={"minMember": 2})),
        "an annotation and a label of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"annotations": {KEY + "placement": "{}"}, "labels": {"x": "y"}})),
        "the adoption of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata=owned)),
        "a bare PodGroup": as_manager(s, "create", obj=pod_group("bare")),
        "the deletion of another controller's PodGroup": as_manager(s, "delete", "podgroup.scheduling.x-k8s.io", "foreign"),
        "a QueueJob of nobody": as_manager(s, "create", obj=queuejob("bare", task("worker", 1))),
        "the spec of a user's QueueJob": as_manager(s, "patch", "queuejob", "stays", *merge(spec={"suspend": False})),
        "the adoption of a user's QueueJob": as_manager(s, "patch", "queuejob", "stays", *merge(metadata={"ownerReferences": [TRAINING]})),
        "the deletion of a job without TTL": as_manager(s, "delete", "queuejob", "stays"),
        "a pod of a QueueJob in kube-system": as_manager(s, "create", namespace="kube-system", obj=pod("bare", **owned)),
        "a Service of a QueueJob in kube-system": as_manager(s, "create", namespace="kube-system", obj=service("bare", **owned)),
        "an event in kube-system": as_manager(s, "create", namespace="kube-system", obj={
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal",
            "reason": "R", "action": "A", "reportingController": "kar-controllers", "reportingInstance": "x",
            "regarding": {"kind": "Pod", "name": "p", "namespace": "kube-system"}}),
        "a user's QueueJob in kube-system": s.kubectl("create", "--namespace", "kube-system", "--dry-run=server", "-f", "-",
                                                      stdin=json.dumps(queuejob("stray", task("worker", 1))), check=False),
    }
    wrong = [f"{what}: {status} {answer}" for what, (status, answer) in refused.items() if not status or BY_POLICY not in answer]
    expect(not wrong, "must be refused by a policy:\n" + "\n".join(wrong))
    allowed = {
        "a pod of a QueueJob": as_manager(s, "create", obj=pod("bare", **owned)),
        "a QueueJob of a TrainingJob": as_manager(s, "create", obj=(lambda j: {**j, "metadata": {**j["metadata"], "ownerReferences": [TRAINING]}})(queuejob("bare", task("worker", 1)))),
        "the minimum and the priority of a PodGroup that was made of a SchedulingSpec": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "made-of-spec", *merge(spec={"minMember": 2, "priority": 7})),
        "a PodGroup for pods that ask for one": as_manager(s, "create", obj=pod_group("made", labels=MADE)),
        "the status of a PodGroup in annotations": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"annotations": {KEY + k: "{}" for k in ("placement", "queue-status", "message")}})),
        "a PodGroup for a controller that has a SchedulingSpec": as_manager(s, "create", obj={**pod_group("made", labels=MADE), "metadata": {**pod_group("made", labels=MADE)["metadata"], "ownerReferences": [owner]}}),
        "the label of a PodGroup for a pod of kar-scheduler": as_manager(s, "patch", "pod", "direct", *merge(metadata={"labels": {"scheduling.x-k8s.io/pod-group": "g"}})),
        "its deletion when they are gone": as_manager(s, "delete", "podgroup.scheduling.x-k8s.io", "made-before"),
        "the queue of another controller's PodGroup": as_manager(s, "patch", "podgroup.scheduling.x-k8s.io", "foreign", *merge(metadata={"labels": {KEY + "queue": "a"}})),
        "the finalizer of a queue": as_manager(s, "patch", "queue.kube-arbitrator.io", "default", *merge(metadata={"finalizers": None})),
        "the gate of a foreign pod": as_manager(s, "patch", "pod", "gated", *merge(metadata={"labels": {"x": "y"}})),
        "the adoption of a Service with our label": as_manager(s, "patch", "service", "labelled", *merge(metadata=owned)),
    }
    wrong = [f"{what}: {answer}" for what, (status, answer) in allowed.items() if status]
    expect(not wrong, "must be allowed:\n" + "\n".join(wrong))
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")  # of an old one Kubernetes takes the status back
    s.kubectl("patch", "pod", "member", "--subresource=status", *merge(status={"conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "GangRolledBack", "lastTransitionTime": now}]}))
    status, answer = as_manager(s, "delete", "pod", "member")
    expect(not status, f"the deletion of a member that is taken back must be allowed: {answer}")
    s.kubectl("patch", "pod", "gated", *merge(metadata={"finalizers": None}))


def story_creating_jobs_is_creating_pods(s):
    """Who may create QueueJobs, and nothing else, runs pods with any ServiceAccount of the namespace; admission of the namespace holds for them."""
    s.kubectl("create", "serviceaccount", "powerful")
    s.kubectl("create", "role", "jobs", "--verb=create", "--resource=queuejobs.kube-arbitrator.io")
    s.kubectl("create", "rolebinding", "jobs", "--role=jobs", "--user=jane")
    as_jane = ("create", "--as", "jane", "-f", "-")
    wait_until(lambda: s.kubectl("auth", "can-i", "create", "queuejobs.kube-arbitrator.io", "--as", "jane", check=False)[0] == 0, "jane has her right")
    expect("pods is forbidden" in s.kubectl(*as_jane, stdin=json.dumps(pod("direct")), check=False)[1], "jane may create no pod herself")
    job = queuejob("hers", task("worker", 1))
    job["spec"]["taskSpecs"][0]["template"]["spec"].update(serviceAccountName="powerful", hostNetwork=True)
    s.kubectl(*as_jane, stdin=json.dumps(job))
    s.wait_phase("hers", "Running", running=1)
    expect_equal(s.pods("hers")["hers-worker-0"]["spec"]["serviceAccountName"], "powerful", "ServiceAccount of the pod")
    s.cluster.kubectl("label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=baseline")
    job["metadata"]["name"] = "later"
    s.kubectl(*as_jane, stdin=json.dumps(job))
    wait_until(lambda: "violates PodSecurity" in s.status("later").get("message", ""), "the job says that the namespace does not let its pods in")
    expect_equal(s.pods("later"), {}, "pods of the later job")


def can(s, user, verb, resource, *args):
    """What RBAC answers in the namespace of the story."""
    return s.kubectl("auth", "can-i", verb, resource, "--as", user, *args, check=False)[0] == 0


def expect_forbidden(s, user, *args, stdin=None):
    status, answer = s.kubectl(*args, "--as", user, stdin=stdin, check=False)
    expect(status and "is forbidden: User" in answer, f"kubectl {' '.join(args)} must be forbidden for {user}: {answer}")


def expect_users_may(s, user, allowed, forbidden):
    """Each of "verb resource", for all three kinds of a namespace where the resource is *."""
    kinds = ("queuejobs.kube-arbitrator.io", "schedulingspecs.kube-arbitrator.io", "podgroups.scheduling.x-k8s.io")
    for rights, want in ((allowed, True), (forbidden, False)):
        for verb, resource in (right.split() for right in rights):
            for kind in kinds if resource.startswith("*") else (resource,):
                args = ("--subresource=status",) if resource == "*/status" else ()
                expect_equal(can(s, user, verb, kind, *args), want, f"whether {user} may {verb} {kind} {' '.join(args)}")


def bind(s, role, user):
    """The role of Kubernetes in the namespace; returns when it has our rules."""
    s.kubectl("create", "rolebinding", user, f"--clusterrole={role}", f"--user={user}")
    wait_until(lambda: can(s, user, "list", "queuejobs.kube-arbitrator.io"), f"the role {role} includes ours")


def story_roles_of_kubernetes_include_jobs(s):
    """Who has the role edit in a namespace runs jobs there and writes no status; view reads; neither reaches into another namespace."""
    bind(s, "edit", "erin")
    bind(s, "view", "vic")
    bind(s, "admin", "ada")
    reads = ["get *", "list *", "watch *"]
    writes = ["create *", "update *", "patch *", "delete *", "deletecollection *"]
    never = ["update */status", "patch */status", "create queues.kube-arbitrator.io", "patch queues.kube-arbitrator.io"]
    expect_users_may(s, "erin", reads + writes, never)
    expect_users_may(s, "ada", reads + writes, never)
    expect_users_may(s, "vic", reads, writes + never)
    for user in ("erin", "vic", "ada"):  # can-i says yes: it asks about queues of a namespace
        expect_forbidden(s, user, "get", "queues.kube-arbitrator.io")
    hers = json.dumps(queuejob("hers", task("worker", 1)))
    expect_forbidden(s, "vic", "create", "-f", "-", stdin=hers)
    expect_forbidden(s, "erin", "create", "--namespace", "default", "-f", "-", stdin=hers)
    s.kubectl("create", "--as", "erin", "-f", "-", stdin=hers)
    s.wait_phase("hers", "Running", running=1)
    expect_forbidden(s, "erin", "patch", "qj", "hers", "--subresource=status", *merge(status={"succeeded": 1, "phase": "Completed"}))
    wait_until(lambda: "Running" in s.kubectl("describe", "qj", "hers", "--as", "vic").partition("Events:")[2], "vic sees the events of the job")
    expect("hers" in s.kubectl("get", "qj,podgroups.scheduling.x-k8s.io,schedulingspecs", "--as", "vic"), "vic sees the job")
    s.kubectl("delete", "qj", "hers", "--as", "erin", "--timeout=60s")


def story_queues_are_read_by_whom_they_are_shown(s):
    """Queues belong to no namespace: kar-queue-view and kar-queue-edit are bound for the whole cluster, as docs/SECURITY.md says."""
    names = {role: f"{s.namespace}-{role}" for role in ("kar-queue-view", "kar-queue-edit")}
    expect_forbidden(s, "quinn", "get", "queues.kube-arbitrator.io")
    try:
        for role, user in (("kar-queue-view", "quinn"), ("kar-queue-edit", "olga")):
            s.cluster.kubectl("create", "clusterrolebinding", names[role], f"--clusterrole={role}", f"--user={user}")
            wait_until(lambda: can(s, user, "list", "queues.kube-arbitrator.io"), f"{user} may list queues")
        expect("default" in s.kubectl("get", "queues.kube-arbitrator.io", "--as", "quinn"), "quinn sees the queue default")
        expect_users_may(s, "quinn", [], [f"{verb} queues.kube-arbitrator.io" for verb in ("create", "patch", "delete")])
        expect_users_may(s, "olga", [f"{verb} queues.kube-arbitrator.io" for verb in ("create", "patch", "delete")], ["list *"])
        expect_equal(can(s, "olga", "patch", "queues.kube-arbitrator.io", "--subresource=status"), False, "whether olga may patch the status of queues")
    finally:
        for name in names.values():
            s.cluster.kubectl("delete", "clusterrolebinding", name, "--ignore-not-found")


def story_template_cannot_forge_metadata(s):
    """Neither namespace, name, owner nor finalizer of a pod comes from its template, and our own labels are ours."""
    job = queuejob("plain", task("worker", 1))
    job["spec"]["taskSpecs"][0]["template"]["metadata"].update(
        name="other", generateName="other-", namespace="kube-system", ownerReferences=of_other("Job"), finalizers=["example.com/stays"],
        labels={KEY + "queuejob": "other", KEY + "index": "7", "scheduling.x-k8s.io/pod-group": "other", "mine": "stays"})
    s.kubectl("create", "--validate=ignore", "-f", "-", stdin=json.dumps(job))
    s.wait_phase("plain", "Running", running=1)
    made = s.kubectl.get("pod", "plain-worker-0")["metadata"]
    expect_equal([(o["kind"], o["name"]) for o in made["ownerReferences"]], [("QueueJob", "plain")], "owners")
    expect_equal(made["finalizers"], [FINALIZER], "finalizers")
    labels = {k: made["labels"][k] for k in (KEY + "queuejob", KEY + "index", "scheduling.x-k8s.io/pod-group", "mine")}
    expect_equal(labels, {KEY + "queuejob": "plain", KEY + "index": "0", "scheduling.x-k8s.io/pod-group": "plain", "mine": "stays"}, "labels")
