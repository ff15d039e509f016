"""Pods: defaults, validation, what may change, gates, binding, graceful deletion, eviction, status."""

from script import Chapter, TABLE, delete, events, get, gone, has, json_patch, merge, named, post, strategic, watch

PODS = "/api/v1/namespaces/${ns}/pods"
BUDGETS = "/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets"


def pod(name, labels=None, annotations=None, **spec):
    """No scheduler looks at it and it gets no token, so that nothing but the API server changes it."""
    metadata = {"name": name, **({"labels": labels} if labels else {}), **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {
        "schedulerName": "none", "automountServiceAccountToken": False, "containers": [{"name": "main", "image": "i"}], **spec}}


def container(name="main", **more):
    return {"name": name, "image": "i", **more}


def resources(requests=None, limits=None):
    return container(resources={k: v for k, v in (("requests", requests), ("limits", limits)) if v is not None})


def invalid(name, **spec):
    return post(name, PODS, pod(name.replace("_", "-"), **spec))


def binding(name, node="node-x", **more):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **more}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}


CREATE = Chapter("podcreate", "defaults and validation of pods", [
    post("smallest", PODS, {"metadata": {"name": "smallest"}, "spec": {"schedulerName": "none", "containers": [{"name": "main", "image": "i"}]}}),
    post("default_scheduler", PODS + "?dryRun=All", {"metadata": {"name": "ds"}, "spec": {"automountServiceAccountToken": False, "containers": [container()]}}),
    post("full", PODS, pod(
        "full", {"app": "x"}, {"note": "y"}, restartPolicy="Never", terminationGracePeriodSeconds=5, nodeSelector={"pool": "a"}, hostname="h",
        subdomain="s", activeDeadlineSeconds=100, tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "a", "operator": "In", "values": ["b"]}]}]}}},
        initContainers=[container("init", command=["true"])],
        volumes=[{"name": "scratch", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "c"}}, {"name": "sec", "secret": {"secretName": "s"}}],
        containers=[container(image="repo/x:1.2", command=["a"], args=["b"], workingDir="/w",
                              env=[{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                              ports=[{"containerPort": 80}], volumeMounts=[{"name": "scratch", "mountPath": "/s"}],
                              livenessProbe={"httpGet": {"path": "/", "port": 80}}, readinessProbe={"exec": {"command": ["x"]}},
                              lifecycle={"preStop": {"exec": {"command": ["y"]}}}),
                    container("latest", image="repo/x:latest", resources={"limits": {"cpu": "1", "memory": "1Gi"}})])),
    post("qos_guaranteed", PODS, pod("guaranteed", containers=[resources({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})])),
    post("qos_burstable", PODS, pod("burstable", containers=[resources({"cpu": "100m"})])),
    post("limits_become_requests", PODS, pod("limits", containers=[resources(None, {"cpu": "0.5", "memory": "1024Mi", "nvidia.com/gpu": 1})])),
    post("quantities", PODS, pod("quantities", containers=[resources({"cpu": "1500m", "memory": "1e3", "ephemeral-storage": "0.5Gi"})])),
    post("quantity_precise", PODS, pod("precise", containers=[resources({"cpu": "0.0001", "memory": "1.5Gi"})])),
    post("generate", PODS, {**pod("x"), "metadata": {"generateName": "gen-"}}),
    post("status_dropped", PODS, {**pod("status"), "status": {"phase": "Running", "podIP": "10.0.0.1"}}),
    post("with_node", PODS, pod("with-node", nodeName="node-x")),
    post("unknown_fields", PODS, pod("unknown", colour="red")),
    post("unknown_fields_strict", PODS + "?fieldValidation=Strict", pod("unknown-strict", colour="red", containers=[container(flavour="sweet")])),
    post("typo_below_resources_strict", PODS + "?fieldManager=x&fieldValidation=Strict", pod("typo", containers=[container(resources={"request": {"cpu": "1"}})])),
    post("typo_strict_dry_run", PODS + "?dryRun=All&fieldValidation=Strict", pod("typo", containers=[container(env=[{"name": "A", "valueForm": {}}])])),
    post("host_network", PODS, pod("host", hostNetwork=True, containers=[container(ports=[{"containerPort": 80}])])),
    post("priority_class", PODS, pod("critical", priorityClassName="system-node-critical")),
    post("account_missing", PODS, pod("account", serviceAccountName="nobody")),
    post("tolerates_not_ready", PODS, pod("tolerates", tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}])),
    post("no_containers", PODS, {**pod("x1"), "spec": {}}),
    post("empty_containers", PODS, pod("x2", containers=[])),
    post("no_spec", PODS, {"metadata": {"name": "x3"}}),
    post("spec_null", PODS, {"metadata": {"name": "x3"}, "spec": None}),
    post("members_null", PODS, pod("nulls", hostname=None, tolerations=None, securityContext=None,
                                   containers=[container(command=None, resources=None, env=[{"name": "A", "value": None}])])),
    post("name_null", PODS, pod("x4", containers=[container(None)])),
    invalid("container_without_name", containers=[{"image": "i"}]),
    invalid("container_without_image", containers=[{"name": "main"}]),
    invalid("container_twice", containers=[container(), container()]),
    invalid("container_name_bad", containers=[container("Main_")]),
    invalid("container_name_long", containers=[container("m" * 64)]),
    invalid("image_blank", containers=[container(image=" i")]),
    invalid("pull_policy_bad", containers=[container(imagePullPolicy="Sometimes")]),
    invalid("restart_policy_bad", restartPolicy="Maybe"),
    invalid("dns_policy_bad", dnsPolicy="Maybe"),
    invalid("request_over_limit", containers=[resources({"cpu": "2"}, {"cpu": "1"})]),
    invalid("quantity_bad", containers=[resources({"cpu": "much"})]),
    invalid("quantity_negative", containers=[resources({"cpu": "-1"})]),
    invalid("resource_name_bad", containers=[resources({"bananas": "1"})]),
    invalid("extended_fraction", containers=[resources({"nvidia.com/gpu": "0.5"}, {"nvidia.com/gpu": "0.5"})]),
    invalid("extended_request_only", containers=[resources({"nvidia.com/gpu": "1"})]),
    invalid("env_without_name", containers=[container(env=[{"value": "1"}])]),
    invalid("env_name_bad", containers=[container(env=[{"name": "a=b", "value": "1"}])]),
    invalid("env_two_sources", containers=[container(env=[{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])]),
    invalid("mount_without_volume", containers=[container(volumeMounts=[{"name": "none", "mountPath": "/x"}])]),
    invalid("volume_twice", volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]),
    invalid("port_bad", containers=[container(ports=[{"containerPort": 70000}])]),
    invalid("grace_negative", terminationGracePeriodSeconds=-1),
    invalid("deadline_zero", activeDeadlineSeconds=0),
    invalid("node_selector_bad", nodeSelector={"a b": "c"}),
    invalid("toleration_bad", tolerations=[{"key": "a", "operator": "Maybe"}]),
    invalid("toleration_exists_value", tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
    invalid("affinity_bad_operator", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "a", "operator": "Like", "values": ["b"]}]}]}}}),
    invalid("gates_twice", schedulingGates=[{"name": "example.com/a"}, {"name": "example.com/a"}]),
    invalid("gate_name_bad", schedulingGates=[{"name": "-"}]),
    invalid("gate_with_node", schedulingGates=[{"name": "example.com/a"}], nodeName="node-x"),
    invalid("priority_set", priority=5),
    invalid("priority_class_unknown", priorityClassName="none-${run}"),
    invalid("hostname_bad", hostname="A.b"),
    invalid("init_same_name", initContainers=[container()]),
    post("wrong_type", PODS, pod("x4", terminationGracePeriodSeconds="long")),
    post("name_too_long", PODS, pod("a" * 254)),
    post("kind_wrong", PODS, {**pod("x5"), "kind": "Node"}),
    get("by_phase", PODS + "?fieldSelector=status.phase=Pending,metadata.name=full"),
    get("by_node", PODS + "?fieldSelector=spec.nodeName=node-x", only=("kind", "items.0.metadata.name")),
    get("by_scheduler", PODS + "?fieldSelector=spec.schedulerName=none,spec.restartPolicy=Never"),
    get("by_node_not", PODS + "?fieldSelector=spec.nodeName!=node-x,metadata.name=full"),
    get("by_unknown", PODS + "?fieldSelector=spec.hostname=h"),
    get("table", PODS + "?labelSelector=app=x", accept=TABLE),
    delete("clean_up", PODS + "?gracePeriodSeconds=0"),
])

GATED = [{"name": "example.com/a"}, {"name": "example.com/b"}]

CHANGE = Chapter("podchange", "what may change in a pod: gates, image, tolerations, binding, status", [
    post("create", PODS, pod("p")),
    merge("image", PODS + "/p", {"spec": {"containers": [{"name": "main", "image": "j", **{
        "imagePullPolicy": "Always", "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}}]}}),
    strategic("restart_policy", PODS + "/p", {"spec": {"restartPolicy": "Never"}}),
    strategic("command", PODS + "/p", {"spec": {"containers": [{"name": "main", "command": ["x"]}]}}),
    strategic("resources", PODS + "/p", {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}),
    strategic("node_name", PODS + "/p", {"spec": {"nodeName": "node-x"}}),
    strategic("node_selector", PODS + "/p", {"spec": {"nodeSelector": {"a": "b"}}}),
    strategic("deadline_set", PODS + "/p", {"spec": {"activeDeadlineSeconds": 100}}),
    strategic("deadline_longer", PODS + "/p", {"spec": {"activeDeadlineSeconds": 200}}),
    strategic("deadline_shorter", PODS + "/p", {"spec": {"activeDeadlineSeconds": 50}}),
    strategic("deadline_removed", PODS + "/p", {"spec": {"activeDeadlineSeconds": None}}),
    json_patch("toleration_removed", PODS + "/p", [{"op": "remove", "path": "/spec/tolerations/0"}]),
    strategic("gate_added", PODS + "/p", {"spec": {"schedulingGates": [{"name": "example.com/late"}]}}),
    merge("status_by_main", PODS + "/p", {"status": {"phase": "Running"}}),
    merge("labels", PODS + "/p", {"metadata": {"labels": {"a": "b"}}}),
    merge("priority", PODS + "/p", {"spec": {"priority": 7}}),
    merge("scheduler", PODS + "/p", {"spec": {"schedulerName": "other"}}),
    merge("grace", PODS + "/p", {"spec": {"terminationGracePeriodSeconds": 1}}),
    # gates
    post("create_gated", PODS, pod("g", schedulingGates=GATED, nodeSelector={"a": "1"})),
    post("bind_gated", PODS + "/g/binding", binding("g")),
    strategic("gate_added_to_gated", PODS + "/g", {"spec": {"schedulingGates": [{"name": "example.com/c"}]}}),
    strategic("selector_narrowed", PODS + "/g", {"spec": {"nodeSelector": {"b": "2"}}}),
    strategic("selector_changed", PODS + "/g", {"spec": {"nodeSelector": {"a": "2"}}}),
    strategic("selector_removed", PODS + "/g", {"spec": {"nodeSelector": {"a": None}}}),
    strategic("affinity_set", PODS + "/g", {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}}}}),
    merge("affinity_narrowed", PODS + "/g", {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]},
                                                    {"key": "disk", "operator": "Exists"}]}]}}}}}),
    merge("affinity_widened", PODS + "/g", {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b", "c"]}]}]}}}}}),
    merge("one_gate_less", PODS + "/g", {"spec": {"schedulingGates": [{"name": "example.com/b"}]}}),
    merge("no_gate", PODS + "/g", {"spec": {"schedulingGates": None}}),
    strategic("selector_narrowed_late", PODS + "/g", {"spec": {"nodeSelector": {"c": "3"}}}),
    # binding
    watch("pods_watched", PODS + "?watch=true&timeoutSeconds=60&fieldSelector=metadata.name=g"),
    post("bind_no_target", PODS + "/g/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "g"}}),
    post("bind_empty_target", PODS + "/g/binding", binding("g", "")),
    post("bind_bad_target_kind", PODS + "/g/binding", {**binding("g"), "target": {"kind": "Pod", "name": "x"}}),
    post("bind_other_uid", PODS + "/g/binding", binding("g", uid="00000000-0000-4000-8000-000000000000")),
    post("bind_stale", PODS + "/g/binding", binding("g", resourceVersion="${create_gated:metadata.resourceVersion}")),
    post("bind_dry_run", PODS + "/g/binding?dryRun=All", binding("g")),
    post("bind", PODS + "/g/binding", binding("g", annotations={"bound": "by-test"}, labels={"x": "y"})),
    post("bind_again", PODS + "/g/binding", binding("g")),
    post("bind_elsewhere", PODS + "/g/binding", binding("g", "node-y")),
    post("bind_missing", PODS + "/none/binding", binding("none")),
    post("bind_name_mismatch", PODS + "/p/binding", binding("other")),
    get("bind_get", PODS + "/g/binding"),
    get("bound", PODS + "/g"),
    post("legacy_bind", "/api/v1/namespaces/${ns}/bindings", binding("p")),
    get("legacy_bound", PODS + "/p", only=("spec.nodeName", "status.conditions")),
    # status
    merge("status_running", PODS + "/g/status", {"status": {"phase": "Running", "podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}], "hostIP": "10.1.0.1",
        "startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": None}],
        "containerStatuses": [{"name": "main", "ready": True, "restartCount": 2, "image": "i", "imageID": "i@x", "started": True,
                               "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "lastState": {}}]}}),
    get("status_read", PODS + "/g/status"),
    merge("status_spec_ignored", PODS + "/g/status", {"spec": {"nodeName": "node-z"}, "metadata": {"labels": {"new": "label"}}, "status": {"message": "m"}}),
    merge("status_bad_phase", PODS + "/g/status", {"status": {"phase": "Dancing"}}),
    merge("status_bad_type", PODS + "/g/status", {"status": {"phase": 5}}),
    merge("status_terminated_restart", PODS + "/g/status", {"status": {"containerStatuses": [{"name": "main", "ready": False, "restartCount": 2, "image": "i",
        "imageID": "i@x", "state": {"terminated": {"exitCode": 3, "reason": "Error", "startedAt": None, "finishedAt": None}}}], "phase": "Failed"}}),
    merge("status_nothing", PODS + "/g/status", {"status": {"phase": "Failed"}}),
    get("table", PODS + "/g", accept=TABLE),
    get("log", PODS + "/g/log", only=("code", "reason")),
    get("log_missing", PODS + "/none/log"),
    delete("remove", PODS + "/g?gracePeriodSeconds=0"),
    events("pods_events", "pods_watched", named("g", "DELETED")),
])

DELETE = Chapter("poddelete", "graceful deletion and eviction of pods", [
    post("unbound", PODS, pod("unbound")),
    delete("delete_unbound", PODS + "/unbound"),
    get("unbound_gone", PODS + "/unbound"),
    post("bound", PODS, pod("bound", nodeName="node-x", terminationGracePeriodSeconds=40)),
    watch("watched", PODS + "?watch=true&timeoutSeconds=60&fieldSelector=metadata.name=bound&resourceVersion=${bound:metadata.resourceVersion}"),
    delete("delete_dry_run", PODS + "/bound?dryRun=All"),
    delete("delete_bound", PODS + "/bound"),
    get("terminating", PODS + "/bound"),
    delete("delete_again", PODS + "/bound"),
    delete("delete_longer", PODS + "/bound?gracePeriodSeconds=100"),
    delete("delete_shorter", PODS + "/bound", {"gracePeriodSeconds": 20}),
    delete("delete_other_uid", PODS + "/bound", {"gracePeriodSeconds": 0, "preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}}),
    get("table_terminating", PODS + "/bound", accept=TABLE),
    post("bind_terminating", PODS + "/bound/binding", binding("bound")),
    merge("status_terminating", PODS + "/bound/status", {"status": {"phase": "Failed", "reason": "Done"}}),
    delete("delete_now", PODS + "/bound", {"gracePeriodSeconds": 0, "preconditions": {"uid": "${bound:metadata.uid}"}}),
    get("bound_gone", PODS + "/bound"),
    events("bound_events", "watched", named("bound", "DELETED")),
    post("terminal", PODS, pod("terminal", nodeName="node-x")),
    merge("terminal_status", PODS + "/terminal/status", {"status": {"phase": "Succeeded"}}),
    delete("delete_terminal", PODS + "/terminal"),
    get("terminal_gone", PODS + "/terminal"),
    post("zero_grace", PODS, pod("zero", nodeName="node-x", terminationGracePeriodSeconds=0)),
    delete("delete_zero", PODS + "/zero"),
    get("zero_gone", PODS + "/zero"),
    post("finalized", PODS, {**pod("fin", nodeName="node-x"), "metadata": {"name": "fin", "finalizers": ["example.com/hold"]}}),
    delete("delete_finalized", PODS + "/fin"),
    delete("delete_finalized_now", PODS + "/fin?gracePeriodSeconds=0"),
    get("finalized_waits", PODS + "/fin"),
    merge("finalized_released", PODS + "/fin", {"metadata": {"finalizers": None}}),
    get("finalized_gone", PODS + "/fin"),
    post("finalized_unbound", PODS, {**pod("finu"), "metadata": {"name": "finu", "finalizers": ["example.com/hold"]}}),
    delete("delete_finalized_unbound", PODS + "/finu"),
    merge("released_unbound", PODS + "/finu", {"metadata": {"finalizers": None}}),
    post("released_first", PODS, {**pod("rel", nodeName="node-x"), "metadata": {"name": "rel", "finalizers": ["example.com/hold"]}}),
    delete("delete_released_first", PODS + "/rel"),
    merge("release_first", PODS + "/rel", {"metadata": {"finalizers": None}}),
    get("still_graceful", PODS + "/rel", only=("metadata.finalizers", "metadata.deletionGracePeriodSeconds")),
    delete("delete_released_now", PODS + "/rel?gracePeriodSeconds=0"),
    post("collection_1", PODS, pod("c1", {"set": "c"}, nodeName="node-x")),
    post("collection_2", PODS, pod("c2", {"set": "c"})),
    delete("delete_collection", PODS + "?labelSelector=set=c", {"gracePeriodSeconds": 7}),
    get("collection_left", PODS + "?labelSelector=set=c"),
    delete("delete_collection_now", PODS + "?labelSelector=set=c&gracePeriodSeconds=0"),
    # eviction
    post("evictee", PODS, pod("evictee", {"app": "e"}, nodeName="node-x")),
    post("evict_name_mismatch", PODS + "/evictee/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}),
    post("evict_missing", PODS + "/none/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "none"}}),
    post("evict_dry_run", PODS + "/evictee/eviction?dryRun=All", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "evictee"}}),
    post("evict", PODS + "/evictee/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "evictee"}}),
    get("evicted", PODS + "/evictee"),
    delete("evicted_removed", PODS + "/evictee?gracePeriodSeconds=0"),
    post("budget", BUDGETS, {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
                             "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}}}),
    post("guarded", PODS, pod("guarded", {"app": "guarded"}, nodeName="node-x")),
    merge("guarded_ready", PODS + "/guarded/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}),
    get("budget_settled", BUDGETS + "/b", until=has("status.currentHealthy", 1), only=("status.currentHealthy", "status.desiredHealthy",
        "status.disruptionsAllowed", "status.expectedPods")),
    post("evict_guarded", PODS + "/guarded/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "guarded"}}),
    get("guarded_stays", PODS + "/guarded", only=("metadata.name", "metadata.deletionTimestamp")),
    delete("guarded_removed", PODS + "/guarded?gracePeriodSeconds=0"),
    post("pending_evictee", PODS, pod("pending", {"app": "guarded"})),
    post("evict_pending", PODS + "/pending/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "pending"}}),
    get("pending_gone", PODS + "/pending", until=gone),
])

CHAPTERS = [CREATE, CHANGE, DELETE]
