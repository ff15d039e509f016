"""What keeps pods from being created: impossible templates, quotas, names that are taken; and the names that pods get."""

import datetime
import json
import time

from harness import KEY, SERVICE_ACCOUNT, condition, expect, expect_equal, queuejob, task, wait_until


def impossible(name, replicas=2, **spec):
    """A job whose template the schema of the CRD allows and that of pods does not: a volume that is mounted but not there."""
    job = queuejob(name, task("worker", replicas), **spec)
    job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "nowhere", "mountPath": "/data"}]
    return job


WORDS = 'spec.containers[0].volumeMounts[0].name: Not found: "nowhere"'


def the_condition(s, name, kind):
    return next((c for c in s.status(name).get("conditions", []) if c["type"] == kind), {})


def wait_invalid(s, name):
    c = wait_until(lambda: (c := the_condition(s, name, "Invalid")).get("status") == "True" and c, f"{name} is Invalid")
    expect(c["reason"] == "InvalidTemplate" and c["message"].startswith("task worker: Pod ") and WORDS in c["message"],
           f"condition Invalid must say the API server's words: {c}")
    expect_equal(c["observedGeneration"], s.job(name)["metadata"]["generation"], "generation that the condition is about")
    return c


def warnings(s, name):
    """Warning events about the job: [(reason, note)]."""
    events = s.kubectl.list("events", "--field-selector", f"involvedObject.name={name},type=Warning")
    return [(e["reason"], e["message"]) for e in events]


def creates(s, name, dry_run=False):
    """Answers to the manager's requests to create pods of the job."""
    return [e["responseStatus"]["code"] for e in s.audit.pod_creates(s.namespace, dry_run)
            if e["objectRef"].get("name", f"{name}-").startswith(f"{name}-")]


def misspelt(name, replicas=2):
    """The CRD cannot know that a container has no field resources.request; a pod with it would run without the request."""
    job = queuejob(name, task("worker", replicas))
    job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"request": {"cpu": "10m"}}
    return job


def story_typo_below_resources_is_refused(s):
    """A field that no pod has makes a new job, and an edited one, Invalid in the API server's words; a gang that runs goes on."""
    typo = 'strict decoding error: unknown field "spec.containers[0].resources.request"'
    s.apply(misspelt("typo"))
    s.apply(queuejob("edited", task("worker", 2)))
    c = wait_until(lambda: (c := the_condition(s, "typo", "Invalid")).get("status") == "True" and c, "typo is Invalid")
    expect(c["reason"] == "InvalidTemplate" and typo in c["message"], f"condition Invalid must name the field: {c}")
    wait_until(lambda: warnings(s, "typo"), "the event has arrived")
    time.sleep(3)  # a wrong retry would come within a second
    expect(400 in creates(s, "typo", dry_run=True), "a dry run of the misspelt pod, before its queue lets it in")
    expect_equal(creates(s, "typo"), [], "creates of the misspelt pod")
    expect_equal(s.pods("typo"), {}, "its pods")
    s.apply(queuejob("typo", task("worker", 2)))
    s.wait_phase("typo", "Running", running=2, restarts=0)

    s.wait_phase("edited", "Running", running=2, restarts=0)
    before, asked = s.uids("edited"), len(creates(s, "edited", dry_run=True))
    s.apply(misspelt("edited"))
    wait_until(lambda: typo in the_condition(s, "edited", "Invalid").get("message", ""), "edited is Invalid")
    expect_equal(s.uids("edited"), before, "pods of the gang that runs")
    expect_equal(creates(s, "edited", dry_run=True)[asked:], [400], "dry runs of the misspelt pod")


def story_invalid_template_says_the_servers_words(s):
    """422 to the dry run of a pod: the API server's words in condition Invalid and in one event, no second try, and it runs when it is mended."""
    s.apply(impossible("bad"))
    wait_invalid(s, "bad")
    wait_until(lambda: warnings(s, "bad"), "the event has arrived")
    time.sleep(3)  # a wrong retry would come within a second
    told = warnings(s, "bad")
    expect(len(told) == 1 and told[0][0] == "InvalidTemplate" and WORDS in told[0][1], f"one event must say it: {told}")
    expect_equal(creates(s, "bad", dry_run=True), [422], "dry runs of the impossible pod, before its queue lets it in")
    expect_equal(creates(s, "bad"), [], "creates of the impossible pod")
    expect_equal(s.pods("bad"), {}, "its pods")
    s.apply(queuejob("bad", task("worker", 2)))
    s.wait_phase("bad", "Running", running=2, restarts=0)
    expect_equal(condition(s.job("bad"), "Invalid"), "False", "condition Invalid of the mended job")

    before = s.uids("bad")
    s.apply(impossible("bad"))
    wait_invalid(s, "bad")
    expect_equal(s.uids("bad"), before, "pods that run when their template is changed to an impossible one")
    s.apply(queuejob("bad", task("worker", 2)))
    wait_until(lambda: condition(s.job("bad"), "Invalid") == "False", "the job is valid again")
    expect_equal(s.uids("bad"), before, "pods after the old template is back")


def story_losses_count_while_the_new_template_is_invalid(s):
    """A gang goes on with its old template when the new one is impossible. Its losses count as ever: below the quorum it goes."""
    s.apply(queuejob("bad", task("worker", 3), sched={"minAvailable": 2}))
    s.wait_phase("bad", "Running", running=3)
    s.apply(impossible("bad", 3, sched={"minAvailable": 2}))
    wait_invalid(s, "bad")
    s.fail_pod("bad-worker-2")
    s.wait_phase("bad", "Running", running=2, podFailures=1, restarts=0)
    s.kubectl("delete", "pod", "bad-worker-1", "--wait=false")
    s.wait_phase("bad", "Pending", podFailures=1, disruptions=1, restarts=1, replicas=0)
    wait_invalid(s, "bad")
    s.apply(queuejob("bad", task("worker", 3), sched={"minAvailable": 2}))
    s.wait_phase("bad", "Running", running=3, podFailures=1, restarts=1, incarnation=2)


def story_gang_goes_on_while_its_new_pods_are_forbidden(s):
    """A template with a PriorityClass that is not there yet: the gang goes on and says so; when the class comes, it restarts with the new template."""
    name = s.namespace + "-late"
    s.apply(queuejob("safe", task("worker", 2)))
    s.wait_phase("safe", "Running", running=2)
    before = s.uids("safe")
    edited = queuejob("safe", task("worker", 2))
    edited["spec"]["taskSpecs"][0]["template"]["spec"]["priorityClassName"] = name
    try:
        s.apply(edited)
        status = s.wait_phase("safe", "Running", running=2, reason="Forbidden")
        words = f"no PriorityClass with name {name} was found"
        expect(status["message"].startswith("cannot replace the pods of task worker: ") and words in status["message"], f"the message must say the API server's words: {status}")
        expect(condition(s.job("safe"), "Invalid") != "True", "nothing is wrong with the template")
        time.sleep(3)  # it is asked about again meanwhile
        expect_equal(s.uids("safe"), before, "the pods")
        told = [(reason, words in note) for reason, note in warnings(s, "safe")]
        expect_equal(told, [("FailedCreate", True)], "events that say it")
        s.cluster.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 5})
        s.wait_phase("safe", "Running", 90, running=2, incarnation=2, restarts=0)
        expect_equal({p["spec"].get("priorityClassName") for p in s.pods("safe").values()}, {name}, "the class of the new pods")
    finally:
        s.cluster.kubectl("delete", "priorityclass", name, "--wait=false", check=False)


def story_task_renamed_by_an_impossible_edit_is_kept(s):
    """The pods of a task that an impossible edit renames stay, and what they have done: taken back, the job goes on where it was."""
    good = queuejob("safe", task("worker", 2), task("quick", 2, outcome="succeed", after="1s"))
    s.apply(good)
    s.wait_phase("safe", "Running", running=2, succeeded=2)
    s.kubectl("delete", "pod", "safe-quick-0", "--wait=true")
    before = s.uids("safe")
    bad = impossible("safe")
    bad["spec"]["taskSpecs"][0]["name"] = "other"
    s.apply(bad)
    wait_until(lambda: the_condition(s, "safe", "Invalid").get("status") == "True", "safe is Invalid")
    time.sleep(3)  # a wrong delete would come within a second
    expect_equal(s.uids("safe"), before, "the pods while the edit stands")
    s.apply(good)
    s.wait_phase("safe", "Running", running=2, succeeded=2, incarnation=1, restarts=0, disruptions=0)
    expect_equal(s.uids("safe"), before, "the pods when it is taken back")


def story_waiting_job_is_checked_early(s):
    """A waiting or suspended job learns that its template is impossible; it holds no place, and is asked about once."""
    queue = s.namespace
    s.apply({"apiVersion": KEY + "v1alpha1", "kind": "Queue", "metadata": {"name": queue}, "spec": {"maxJobs": 1}})
    try:
        s.apply(queuejob("first", task("worker", 1), queue=queue))
        s.wait_phase("first", "Running", running=1)
        s.apply(impossible("bad", queue=queue, sched={"priority": 9}))
        s.apply(queuejob("good", task("worker", 2), task("helper", 1), queue=queue))
        s.apply(impossible("paused", suspend=True, queue=queue))
        for name in ("bad", "paused"):
            wait_invalid(s, name)
        expect_equal(s.status("paused")["phase"], "Suspended", "phase of the suspended job")
        expect("position" not in s.status("bad"), "an invalid job has no position")
        wait_until(lambda: s.status("good").get("position") == 1, "the job behind it has moved up")
        s.kubectl("delete", "queuejob", "first")
        s.wait_phase("good", "Running", running=3)
        asked = [e["responseStatus"]["code"] for e in s.audit.pod_creates(s.namespace, dry_run=True)]
        expect_equal(sorted(asked), [201, 201, 201, 422], "answers to dry runs: one for each template")
        expect_equal(creates(s, "bad") + creates(s, "paused"), [], "creates for invalid jobs")
        s.apply(queuejob("bad", task("worker", 1), queue=queue, sched={"priority": 9}))
        wait_until(lambda: condition(s.job("bad"), "Invalid") == "False", "the mended job is valid")
        s.kubectl("delete", "queuejob", "good")
        s.wait_phase("bad", "Running", running=1)
    finally:
        s.kubectl("delete", "queuejobs", "--all", "--wait=false")
        s.cluster.kubectl("delete", "queues.kube-arbitrator.io", queue, "--wait=false")


def refused(s):
    return len([e for e in s.audit.pod_creates(s.namespace) if e["responseStatus"]["code"] == 403])


def story_quota_frees_and_the_job_goes_on(s):
    """Jobs that a ResourceQuota keeps waiting go on when pods end, the highest priority first, and not with the next back-off."""
    s.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}})
    wait_until(lambda: s.kubectl.get("resourcequota", "few").get("status", {}).get("hard"), "the quota counts")
    s.apply(queuejob("first", task("worker", 2)))
    s.wait_phase("first", "Running", running=2)
    s.apply(queuejob("low", task("worker", 1)))
    status = s.wait_phase("low", "Pending", reason="QuotaExceeded")
    expect("quota few has 2, used 2" in status["message"], f"the message must name the quota: {status['message']}")
    s.apply(queuejob("high", task("worker", 2), sched={"priority": 5}))
    s.wait_phase("high", "Pending", reason="QuotaExceeded")
    s.kubectl("delete", "queuejob", "first")
    s.wait_phase("high", "Running", running=2)
    expect_equal(refused(s), 0, "refused creates")
    expect_equal(s.pods("low"), {}, "pods of the lower priority")
    for name in s.pods("high"):
        s.kubectl("annotate", "pod", name, "--overwrite", "test.kube-arbitrator.io/outcome=succeed")
    s.wait_phase("high", "Completed")
    s.wait_phase("low", "Running", running=1, restarts=0)


def service(s, name):
    return s.kubectl.get("service", name)


def named(job):
    job["spec"]["network"] = {"enableDNSHostnames": True}
    return job


def check_service(s, name):
    spec, meta = service(s, name)["spec"], service(s, name)["metadata"]
    expect_equal((spec["clusterIP"], spec["selector"], spec["publishNotReadyAddresses"]), ("None", {KEY + "queuejob": name}, True), "the Service")
    expect_equal(meta["labels"], {KEY + "queuejob": name}, "its labels")
    expect_equal(meta["ownerReferences"][0]["uid"], s.job(name)["metadata"]["uid"], "its owner")


def is_sound(s, name, uid=None):
    found = service(s, name)
    return found and found["spec"].get("selector") == {KEY + "queuejob": name} and \
        found["metadata"].get("labels") == {KEY + "queuejob": name} and uid in (None, found["metadata"]["uid"])


def repair(s, name):
    """What people do to the Service is undone."""
    uid = service(s, name)["metadata"]["uid"]
    s.kubectl("patch", "service", name, "--type=merge", "-p", json.dumps({"spec": {"selector": {"app": "other"}}}))
    wait_until(lambda: is_sound(s, name, uid), "the selector is as it was")
    s.kubectl("delete", "service", name)
    wait_until(lambda: is_sound(s, name), "the Service is there again")
    check_service(s, name)


def story_pods_have_dns_names(s):
    """spec.network gives pods host names and a headless Service, which is there first, is repaired, and goes with the job."""
    s.apply(named(queuejob("net", task("worker", 2))))
    s.wait_phase("net", "Running", running=2)
    check_service(s, "net")
    for name, pod in s.pods("net").items():
        expect_equal((pod["spec"]["hostname"], pod["spec"]["subdomain"]), (name, "net"), f"names of pod {name}")
    made = s.audit.events(verb="create", resource="services", namespace=s.namespace, name="net", code=201)[0]
    first = s.audit.pod_creates(s.namespace)[0]
    expect(made["stageTimestamp"] <= first["requestReceivedTimestamp"], "the Service must be there before the first pod")
    if not s.cluster.simulated:
        def addresses():
            slices = s.kubectl.list("endpointslices", "-l", "kubernetes.io/service-name=net")
            return sorted(e.get("hostname") for part in slices for e in part["endpoints"] or [])
        wait_until(lambda: addresses() == ["net-worker-0", "net-worker-1"], "the names of the pods have addresses")
    before = s.uids("net")
    repair(s, "net")
    expect_equal(s.uids("net"), before, "pods while the Service was repaired")
    expect_equal(s.status("net")["restarts"], 0, "restarts")

    s.apply(queuejob("net", task("worker", 2)))
    s.kubectl("patch", "queuejob", "net", "--type=merge", "-p", json.dumps({"spec": {"network": None}}))
    s.wait_phase("net", "Running", running=2, incarnation=2)
    wait_until(lambda: not service(s, "net"), "the Service is gone")
    expect(all("subdomain" not in p["spec"] for p in s.pods("net").values()), "the new pods must have no host names")
    s.apply(named(queuejob("net", task("worker", 2))))
    s.wait_phase("net", "Running", running=2, incarnation=3)
    s.kubectl("delete", "queuejob", "net")
    wait_until(lambda: not service(s, "net"), "the Service is gone with the job", 60)


def policy(name, namespace):
    """The manager may not change Services there, by a policy that comes after RBAC."""
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["services"]}]
    match = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}, "resourceRules": rules}
    return [{**kind, "kind": "ValidatingAdmissionPolicy", "spec": {
        "matchConstraints": match, "validations": [{"expression": f'request.userInfo.username != "{SERVICE_ACCOUNT}"', "message": "not by you", "reason": "Forbidden"}]}},
        {**kind, "kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": name, "validationActions": ["Deny"]}}]


def received(event):
    return datetime.datetime.strptime(event["requestReceivedTimestamp"], "%Y-%m-%dT%H:%M:%S.%fZ")


def story_refused_change_of_a_service_is_tried_less_and_less(s):
    """The selector of the Service is another and may not be put back: an event says so, and it is tried with a growing back-off until it may."""
    s.apply(named(queuejob("net", task("worker", 1))))
    s.wait_phase("net", "Running", running=1)
    uid = service(s, "net")["metadata"]["uid"]
    rule = policy(s.namespace, s.namespace)
    patch = ("patch", "service", "net", "--dry-run=server", "--as", SERVICE_ACCOUNT, "--type=merge", "-p", '{"metadata":{"labels":{"x":"y"}}}')

    def refused():
        return s.audit.events(verb="patch", resource="services", namespace=s.namespace, user=SERVICE_ACCOUNT, code=403)

    try:
        for one in rule:
            s.cluster.kubectl.apply(one)
        wait_until(lambda: "not by you" in s.kubectl(*patch, check=False)[1], "the policy is in force")
        s.kubectl("patch", "service", "net", "--type=merge", "-p", json.dumps({"spec": {"selector": {"app": "other"}}}))
        # Of twelve tries up to three come from the check above, and from events of the pod; nine take 1.3 s with the back-off, 0.1 s without.
        wait_until(lambda: len(refused()) >= 12, "the selector is tried to be put back", 60)
        tries = [received(e) for e in refused()]
        expect(tries[11] - tries[0] >= datetime.timedelta(seconds=1), f"the tries are at {[str(t.time()) for t in tries]}")
        wait_until(lambda: any("not by you" in e["note"] for e in s.kubectl.list("events.events.k8s.io") if e["reason"] == "FailedSync"), "an event tells")
    finally:
        for one in rule:
            s.cluster.kubectl("delete", one["kind"], one["metadata"]["name"], "--ignore-not-found")
    wait_until(lambda: is_sound(s, "net", uid), "the selector is as it was")
    expect_equal(s.status("net")["restarts"], 0, "restarts")


def story_service_without_its_label_is_a_conflict(s):
    """The Service of a job has lost the label by which it is found: the job says so, once, runs on, and is itself again when the label is back or the Service is gone."""
    def conflicts():
        return [e for e in s.kubectl.list("events.events.k8s.io") if e["reason"] == "NameConflict"]

    def take_label():
        s.kubectl("label", "service", "net", KEY + "queuejob-")
        status = s.wait_phase("net", "Running", reason="NameConflict")
        for words in ("Service net of this QueueJob exists already", f"label {KEY}queuejob=net", "add the label or delete the Service"):
            expect(words in status["message"], f"the message must say \"{words}\": {status['message']}")

    s.apply(named(queuejob("net", task("worker", 2))))
    s.wait_phase("net", "Running", running=2)
    before, uid = s.uids("net"), service(s, "net")["metadata"]["uid"]
    take_label()
    s.wait_phase("net", "Running", running=2, reason="NameConflict")
    tries = len(s.audit.events(verb="create", resource="services", namespace=s.namespace, code=409))
    wait_until(lambda: len(s.audit.events(verb="create", resource="services", namespace=s.namespace, code=409)) >= tries + 2, "it is tried again", 60)
    expect_equal(s.uids("net"), before, "pods while the label is gone")
    expect(KEY + "queuejob" not in service(s, "net")["metadata"].get("labels", {}), "the Service must be left as it is")
    told = conflicts()
    expect(len(told) == 1 and told[0]["type"] == "Warning" and "Service net" in told[0]["note"] and not told[0].get("series"), f"one event must name the Service: {told}")

    s.kubectl("delete", "pod", "net-worker-0", "--wait=false")  # below the quorum of 2
    s.wait_phase("net", "Restarting", reason="NameConflict")
    s.kubectl("label", "service", "net", f"{KEY}queuejob=net")
    s.wait_phase("net", "Running", 20, running=2, incarnation=2, reason=None)
    expect_equal(service(s, "net")["metadata"]["uid"], uid, "the Service")

    before = s.uids("net")
    take_label()
    s.kubectl("delete", "service", "net")
    wait_until(lambda: is_sound(s, "net"), "the Service is created anew, at the latest after 30 s", 60)
    s.wait_phase("net", "Running", running=2, incarnation=2, reason=None)
    expect_equal(s.uids("net"), before, "pods while the Service was away")


def story_foreign_service_is_waited_for(s):
    """A Service of somebody else has the name: the job says so, leaves it alone, and runs when it is gone."""
    other = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "net"}, "spec": {"selector": {"app": "other"}, "ports": [{"port": 80}]}}
    s.apply(other)
    mine = service(s, "net")
    s.apply(named(queuejob("net", task("worker", 1))))
    status = s.wait_phase("net", "Pending", reason="NameConflict")
    expect("Service net exists and was not made for this QueueJob (no owner); delete it" in status["message"], f"the message must name the Service: {status['message']}")
    expect_equal(service(s, "net")["metadata"]["resourceVersion"], mine["metadata"]["resourceVersion"], "the foreign Service")
    s.kubectl("delete", "service", "net")
    s.wait_phase("net", "Running", 60, running=1)
    check_service(s, "net")


def story_gang_is_not_stopped_for_a_service_that_cannot_be(s):
    """Host names are switched on while somebody has the name of the Service: the gang runs on until it is free."""
    s.apply(queuejob("net", task("worker", 2)))
    s.wait_phase("net", "Running", running=2)
    before = s.uids("net")
    s.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "net"}, "spec": {"selector": {"app": "other"}, "ports": [{"port": 80}]}})
    s.apply(named(queuejob("net", task("worker", 2))))
    s.wait_phase("net", "Running", running=2, reason="NameConflict")
    expect_equal(s.uids("net"), before, "the pods")
    s.kubectl("delete", "service", "net")
    s.wait_phase("net", "Running", 60, running=2, incarnation=2, restarts=0)
    check_service(s, "net")


def story_template_with_another_hostname_is_invalid(s):
    """A template that sets hostname or subdomain contradicts spec.network: condition Invalid says so; mended, the job runs."""
    job = named(queuejob("net", task("worker", 1)))
    job["spec"]["taskSpecs"][0]["template"]["spec"]["subdomain"] = "other"
    s.apply(job)
    c = wait_until(lambda: (c := the_condition(s, "net", "Invalid")).get("status") == "True" and c, "the job is Invalid")
    expect("subdomain other" in c["message"], f"the condition must say what is wrong: {c}")
    s.apply(named(queuejob("net", task("worker", 1))))
    s.wait_phase("net", "Running", running=1)


def selected(s, name):
    """status.selector of the job, and the pods that kubectl finds by it."""
    selector = s.status(name)["selector"]
    return selector, sorted(p["metadata"]["name"] for p in s.kubectl.list("pods", "-l", selector))


def story_selector_in_use_is_shown(s):
    """status.selector is the system's own or the user's, and finds the pods of the job and no others."""
    s.apply(queuejob("plain", task("worker", 2)))
    s.apply(queuejob("empty", task("worker", 1), selector={}))
    mine = queuejob("mine", task("worker", 2), selector={"matchLabels": {"app": "demo"}, "matchExpressions": [
        {"key": "tier", "operator": "NotIn", "values": ["back", "front"]}, {"key": "app", "operator": "Exists"}]})
    mine["spec"]["taskSpecs"][0]["template"]["metadata"]["labels"] = {"app": "demo"}
    s.apply(mine)
    for name, count, selector in (("plain", 2, KEY + "queuejob=plain"), ("empty", 1, KEY + "queuejob=empty"),
                                  ("mine", 2, "app=demo,tier notin (back,front),app")):
        s.wait_phase(name, "Running", running=count)
        expect_equal(selected(s, name), (selector, [f"{name}-worker-{i}" for i in range(count)]), f"selector of {name}, and what it finds")


def settings(s, name):
    """pod -> what decides where it runs, and before whom."""
    return {n: tuple(p["spec"].get(k) for k in ("schedulerName", "nodeSelector", "priorityClassName", "priority")) for n, p in s.pods(name).items()}


def story_settings_of_the_job_reach_its_pods(s):
    """Scheduler, node selector and PriorityClass are those of the job where a template has none. The first two change by a restart, the class does not."""
    classes = {s.namespace + end: value for end, value in (("-low", 3), ("-high", 7))}
    low, high = classes
    own = task("own", 1)
    own["template"]["spec"].update(schedulerName="theirs", nodeSelector={"disk": "own"}, priorityClassName=high)
    linux, arch = {"kubernetes.io/os": "linux"}, {"kubernetes.io/arch": "amd64"}
    try:
        for name, value in classes.items():
            s.cluster.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
        s.apply(queuejob("mine", task("plain", 1), own, schedulerName="theirs", sched={"nodeSelector": arch, "priorityClassName": low}))
        s.wait_phase("mine", "Starting", pending=2)
        expect_equal(settings(s, "mine"), {"mine-plain-0": ("theirs", arch, low, 3), "mine-own-0": ("theirs", {"disk": "own", **arch}, high, 7)}, "the pods")

        s.apply(queuejob("mine", task("plain", 2), sched={"minAvailable": 1, "nodeSelector": linux, "priorityClassName": low}))
        s.wait_phase("mine", "Running", running=2, incarnation=2, restarts=0)
        expect_equal(settings(s, "mine"), dict.fromkeys(("mine-plain-0", "mine-plain-1"), ("default-scheduler", linux, low, 3)), "the pods of the edited job")
        before = s.uids("mine")
        s.kubectl("patch", "queuejob", "mine", "--type=merge", "-p", json.dumps({"spec": {"schedSpec": {"priorityClassName": high}}}))
        wait_until(lambda: s.group("mine")["spec"].get("priority") == 7, "the job has its new place")
        expect_equal(s.uids("mine"), before, "the pods after another class")
        s.kubectl("delete", "pod", "mine-plain-1", "--wait=false")
        s.wait_phase("mine", "Running", running=2, incarnation=2, disruptions=1)
        expect_equal({n: p[3] for n, p in settings(s, "mine").items()}, {"mine-plain-0": 3, "mine-plain-1": 7}, "their priority")
        s.kubectl("patch", "queuejob", "mine", "--type=merge", "-p", json.dumps({"spec": {"schedSpec": {"nodeSelector": {"kubernetes.io/os": None, **arch}}}}))
        s.wait_phase("mine", "Running", running=2, incarnation=3, restarts=0)
        expect_equal(list(settings(s, "mine").values()), 2 * [("default-scheduler", arch, high, 7)], "the pods after another node selector")
    finally:
        for name in classes:
            s.cluster.kubectl("delete", "priorityclass", name, "--wait=false", check=False)
