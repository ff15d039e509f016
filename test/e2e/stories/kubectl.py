"""What users type. Judged alike on a real and on a simulated cluster."""

import json

from harness import MANIFESTS, Watch, expect, expect_equal, queuejob, task, wait_until

DEPLOYMENT = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "a", "image": "x:1", "env": [{"name": "A", "value": "1"}]}, {"name": "b", "image": "y:1"}]}}}}


def changed(obj, change):
    """A copy of the object, changed."""
    copy = json.loads(json.dumps(obj))
    change(copy)
    return copy


def containers(s):
    return {c["name"]: c for c in s.kubectl.get("deployment", "web")["spec"]["template"]["spec"]["containers"]}


def refused(s, *args, stdin=None, words):
    """The command fails, and says these words."""
    status, output = s.kubectl(*args, stdin=stdin, check=False)
    expect(status != 0, f"kubectl {' '.join(args)} must fail, but said: {output}")
    for word in [words] if isinstance(words, str) else words:
        expect(word in output, f"kubectl {' '.join(args)} must say {word!r}: {output}")


def story_types_are_found_and_explained(s):
    """kubectl api-resources and explain know our types and the built-in ones."""
    listed = {line.split()[0]: line.split()[1:] for line in s.kubectl("api-resources", "--no-headers").splitlines()}
    expect_equal(listed["queuejobs"], ["qj", "kube-arbitrator.io/v1alpha1", "true", "QueueJob"], "the line of queuejobs")
    expect_equal(listed["pods"], ["po", "v1", "true", "Pod"], "the line of pods")
    expect_equal(sorted(s.kubectl("api-resources", "--api-group=kube-arbitrator.io", "-o", "name").split()),
                 ["flavors.kube-arbitrator.io", "queuejobs.kube-arbitrator.io", "queues.kube-arbitrator.io", "schedulingspecs.kube-arbitrator.io", "topologies.kube-arbitrator.io"], "resources of our group")
    text = s.kubectl("explain", "qj.spec.schedSpec.minAvailable")
    for words in ("GROUP:      kube-arbitrator.io", "KIND:       QueueJob", "FIELD: minAvailable <integer>"):
        expect(words in text, f"kubectl explain qj.spec.schedSpec.minAvailable must say {words!r}:\n{text}")
    expect("replicas	<integer>" in s.kubectl("explain", "qj.spec", "--recursive"), "kubectl explain --recursive goes down to the replicas")
    text = s.kubectl("explain", "pods.spec.containers.resources")
    for words in ("KIND:       Pod", "FIELD: resources <ResourceRequirements>", "limits	<map[string]Quantity>"):
        expect(words in text, f"kubectl explain pods.spec.containers.resources must say {words!r}:\n{text}")
    refused(s, "explain", "qj.spec.nothing", words='field "nothing" does not exist')
    refused(s, "get", "nothings", words='the server doesn\'t have a resource type "nothings"')


def story_objects_are_applied(s):
    """kubectl apply, diff and dry run: lists are merged by their keys, what is no longer given goes."""
    s.apply(DEPLOYMENT)
    s.kubectl("patch", "deployment", "web", "--type=strategic", "-p",
              '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"z:1"}]}}}}')  # somebody else's container
    second = changed(DEPLOYMENT, lambda d: d["spec"]["template"]["spec"]["containers"].pop())
    second["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "B", "value": "2"}]
    status, diff = s.kubectl("diff", "-f", "-", stdin=json.dumps(second), check=False)
    expect(status == 1 and "-        - name: A" in diff.replace("env:\n", ""), f"kubectl diff shows what would change: {diff}")
    s.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(second))
    expect_equal(sorted(containers(s)), ["a", "b", "c"], "containers after a dry run")
    s.apply(second)
    expect_equal(sorted(containers(s)), ["a", "c"], "containers: b was taken out, c is somebody else's")
    expect_equal(containers(s)["a"]["env"], [{"name": "B", "value": "2"}], "environment of a")

    s.apply(queuejob("job", task("worker", 2), queue="nowhere"))
    s.apply(queuejob("job", task("worker", 3), queue="nowhere"))
    expect_equal(s.job("job")["spec"]["taskSpecs"][0]["replicas"], 3, "replicas after the second apply")
    expect_equal(s.job("job")["metadata"]["generation"], 2, "generation after the second apply")


def story_lists_are_applied(s):
    """What kubectl get -o yaml prints of several objects, kubectl apply takes back; a wrong item of a list is refused."""
    def config(name, **more):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}, **more}

    items = [config("one"), config("two"), queuejob("three", task("worker", 2), queue="nowhere")]
    s.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    expect_equal(s.job("three")["spec"]["queue"], "nowhere", "queue of the job of the list")
    listed = s.kubectl("get", "configmap/one", "configmap/two", "-o", "yaml")
    expect("kind: List" in listed, f"kubectl get of several objects prints a List: {listed}")
    said = s.kubectl("apply", "-f", "-", stdin=listed)
    expect("configmap/one configured" in said and "configmap/two configured" in said, f"the list is taken back: {said}")
    refused(s, "apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [config("four", colour="red")]}),
            words='unknown field "colour"')


def story_server_side_apply_knows_the_owners(s):
    """kubectl apply --server-side: a conflict names the other manager and the field, and can be forced."""
    def apply(manager, value, *options):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}, "data": value}
        return s.kubectl("apply", "--server-side", f"--field-manager={manager}", *options, "-f", "-", stdin=json.dumps(config), check=False)

    def data():
        return s.kubectl.get("configmap", "shared")["data"]

    expect_equal(apply("one", {"a": "1", "b": "1"})[0], 0, "status of the first apply")
    expect_equal(apply("two", {"c": "2"})[0], 0, "status of an apply of another field")
    status, text = apply("two", {"a": "2", "c": "2"})
    expect(status != 0 and 'conflict with "one"' in text and ".data.a" in text, f"the conflict names manager and field: {text}")
    expect_equal(data(), {"a": "1", "b": "1", "c": "2"}, "data after a conflict")
    expect_equal(apply("two", {"a": "2", "c": "2"}, "--force-conflicts")[0], 0, "status of the forced apply")
    expect_equal(apply("one", {"b": "1"})[0], 0, "status of an apply without a field")
    expect_equal(data(), {"a": "2", "b": "1", "c": "2"}, "data: a belongs to the other manager now")
    expect_equal(apply("two", {"c": "2"})[0], 0, "status of the last apply")
    expect_equal(data(), {"b": "1", "c": "2"}, "data: a belonged to nobody else")


def story_typed_commands_create(s):
    """kubectl create KIND and run: their bodies are protobuf in new versions of kubectl."""
    s.kubectl("create", "configmap", "c", "--from-literal=a=b")
    s.kubectl("create", "secret", "generic", "s", "--from-literal=a=hello")
    s.kubectl("create", "serviceaccount", "robot")
    s.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods,queuejobs.kube-arbitrator.io")
    s.kubectl("create", "rolebinding", "readers", "--role=reader", f"--serviceaccount={s.namespace}:robot", "--user=jane")
    s.kubectl("create", "quota", "q", "--hard=pods=5,requests.cpu=2")
    s.kubectl("create", "deployment", "d", "--image=x:1", "--replicas=0")
    s.kubectl("create", "poddisruptionbudget", "p", "--selector=a=b", "--max-unavailable=25%")
    s.kubectl("run", "once", "--image=x:1", "--restart=Never", "--annotations=test.kube-arbitrator.io/outcome=succeed", "--requests=cpu=1"
              if "--requests" in s.kubectl("run", "--help") else "--overrides={\"spec\":{\"containers\":[{\"name\":\"once\",\"image\":\"x:1\","
              "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}")
    expect_equal(s.kubectl.get("configmap", "c")["data"], {"a": "b"}, "data of the config map")
    expect_equal(s.kubectl.get("secret", "s")["data"], {"a": "aGVsbG8="}, "data of the secret")
    expect_equal([(x["kind"], x["name"]) for x in s.kubectl.get("rolebinding", "readers")["subjects"]],
                 [("User", "jane"), ("ServiceAccount", "robot")], "subjects of the role binding")
    expect_equal(s.kubectl.get("resourcequota", "q")["spec"]["hard"], {"pods": "5", "requests.cpu": "2"}, "the quota")
    expect_equal(s.kubectl.get("poddisruptionbudget", "p")["spec"]["maxUnavailable"], "25%", "the disruption budget")
    expect_equal(len(s.kubectl("create", "token", "robot").strip().split(".")), 3, "parts of the token")
    expect_equal(s.kubectl("auth", "can-i", "create", "pods").strip(), "yes", "answer of kubectl auth can-i")
    wait_until(lambda: s.kubectl.get("pod", "once")["status"]["phase"] == "Succeeded", "the pod has run")
    wait_until(lambda: "pods: " in s.kubectl("get", "quota", "q"), "kubectl get quota shows the usage")


def story_tables_follow_the_pods(s):
    """kubectl get -w, get -o wide and wait: what the server's tables and watches make of a pod's life."""
    watch = Watch(s.kubectl, s.cluster.dir / f"table-{s.namespace}.log", "pods")
    try:
        s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {"test.kube-arbitrator.io/outcome": "succeed", "test.kube-arbitrator.io/after": "1s"}},
                 "spec": {"restartPolicy": "Never", "schedulingGates": [{"name": "example.com/wait"}], "containers": [{"name": "a", "image": "x:1"}]}})
        wait_until(lambda: "SchedulingGated" in watch.text(), "the watch shows the gate")
        s.kubectl("patch", "pod", "p", "--type=json", "-p", '[{"op":"remove","path":"/spec/schedulingGates/0"}]')
        s.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/p", "--timeout=30s")
        wait_until(lambda: "Completed" in watch.text(), "the watch shows the end")
    finally:
        lines = [line.split() for line in watch.stop().splitlines()]
    expect_equal(lines[0], ["NAME", "READY", "STATUS", "RESTARTS", "AGE"], "columns")
    expect_equal(sum(line == lines[0] for line in lines), 1, "headers")
    seen = [line[2] for line in lines[1:]]
    expect(seen.index("SchedulingGated") < seen.index("Running") < seen.index("Completed"), f"gated, then running, then completed: {seen}")
    wide = s.kubectl("get", "pod", "p", "-o", "wide").splitlines()
    expect_equal(wide[0].split("  ")[-1].strip(), "READINESS GATES", "last column of -o wide")
    expect(" node-" in wide[1], f"-o wide shows the node: {wide[1]}")
    s.kubectl("delete", "pod", "p", "--wait=false")
    s.kubectl("wait", "--for=delete", "pod/p", "--timeout=30s")


def story_mistakes_are_named(s):
    """What goes wrong is said in the words of a real cluster."""
    s.apply(queuejob("job", task("worker", 1), queue="nowhere"))
    refused(s, "logs", "nobody", words='pods "nobody" not found')
    refused(s, "scale", "qj/job", "--replicas=2", words='queuejobs.kube-arbitrator.io "job" not found')
    refused(s, "top", "nodes", words="Metrics API not available")
    refused(s, "get", "qj", "nobody", words='queuejobs.kube-arbitrator.io "nobody" not found')
    refused(s, "create", "-f", "-", stdin=json.dumps(queuejob("job", task("worker", 1))), words='queuejobs.kube-arbitrator.io "job" already exists')
    refused(s, "apply", "-f", "-", stdin=json.dumps(queuejob("typo", task("worker", 1), priorityy=1)), words='unknown field "spec.priorityy"')
    refused(s, "apply", "-f", "-", stdin=json.dumps(changed(DEPLOYMENT, lambda d: d["spec"].update(replica=1))), words='unknown field "spec.replica"')
    refused(s, "apply", "-f", "-", stdin=json.dumps(queuejob("Bad_Name", task("worker", 1))), words="Invalid value: \"Bad_Name\"")
    refused(s, "apply", "-f", "-", stdin=json.dumps(queuejob("bad", task("worker", -1))), words="should be greater than or equal to 0")
    refused(s, "create", "namespace", "Not-A-Label", words="a lowercase RFC 1123 label")
    refused(s, "get", "pods", "-l", "a b", words="unable to parse requirement")
    refused(s, "get", "pods", "--field-selector=spec.nothing=1", words="field label not supported: spec.nothing")
    refused(s, "patch", "qj", "job", "--type=json", "-p", '[{"op":"remove","path":"/spec/nothing"}]', words="the server rejected our request")
    refused(s, "patch", "qj", "job", "--type=merge", "-p", '{"metadata":{"resourceVersion":"1"}}', words="the object has been modified")
    refused(s, "delete", "qj", "job", "--cascade=upwards", words="invalid cascade value")


def story_quotas_and_namespaces_hold(s):
    """A quota refuses what is too much; a namespace goes with everything in it."""
    s.kubectl("create", "quota", "two", "--hard=pods=2")
    wait_until(lambda: "pods" in s.kubectl.get("resourcequota", "two").get("status", {}).get("used", {}), "the usage is counted")
    for name in ("a", "b"):
        s.kubectl("run", name, "--image=x:1")
    refused(s, "run", "c", "--image=x:1", words='exceeded quota: two, requested: pods=1, used: pods=2, limited: pods=2')
    s.kubectl("delete", "pod", "a", "--now")
    wait_until(lambda: s.kubectl("run", "c", "--image=x:1", check=False)[0] == 0, "there is room again")
    s.kubectl("delete", "namespace", s.namespace, "--timeout=60s")
    expect_equal(s.cluster.kubectl.get("namespace", s.namespace), None, "the namespace")
    s.cluster.kubectl("create", "namespace", s.namespace)


def story_manifests_are_accepted(s):
    """Everything that is shipped can be applied, twice, and is unchanged then."""
    files = ["-f", str(MANIFESTS / "namespace.yaml"), "-f", str(MANIFESTS / "rbac.yaml"), "-f", str(MANIFESTS / "roles.yaml"), "-f", str(MANIFESTS / "crds")]
    s.cluster.kubectl("apply", "--server-side", *files)
    before = s.cluster.kubectl("get", "clusterroles,clusterrolebindings,crds", "-o", "jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion}{\"\\n\"}{end}")
    s.cluster.kubectl("apply", "--server-side", *files)
    after = s.cluster.kubectl("get", "clusterroles,clusterrolebindings,crds", "-o", "jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion}{\"\\n\"}{end}")
    own = [line for line in before.splitlines() if "kar-" in line or "arbitrator" in line]
    expect(len(own) >= 5, f"the manifests make a role, a binding and CRDs: {own}")
    expect_equal([line for line in after.splitlines() if line in own], own, "versions after the second apply")
