"""Quota, priority classes, events, leases, nodes; discovery, tables, and the forms of errors."""

from script import (Chapter, Operation, PARTIAL, TABLE, delete, get, has, merge, patch, post, put, watch)

CORE = "/api/v1/namespaces/${ns}"
PODS = CORE + "/pods"
QUOTAS = CORE + "/resourcequotas"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/${ns}/leases"
NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/${ns}/events"


def pod(name, requests=None, limits=None, **spec):
    resources = {k: v for k, v in (("requests", requests), ("limits", limits)) if v}
    return {"metadata": {"name": name}, "spec": {"schedulerName": "none", "automountServiceAccountToken": False, "containers": [
        {"name": "main", "image": "i", **({"resources": resources} if resources else {})}], **spec}}


def quota(name, scopes=None, selector=None, **hard):
    spec = {"hard": {k.replace("_", "."): v for k, v in hard.items()}}
    if scopes:
        spec["scopes"] = scopes
    if selector:
        spec["scopeSelector"] = {"matchExpressions": selector}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}


def accepted(answer):
    """A server goes on enforcing a quota for a moment after its deletion."""
    return answer.code == 201


def refused(answer):
    """Nor does it enforce a new one at once."""
    return answer.code == 403


def used(**values):
    values = {k.replace("_", "."): v for k, v in values.items()}
    return lambda a: a.code == 200 and all((a.body.get("status", {}).get("used") or {}).get(k) == v for k, v in values.items())


QUOTA = Chapter("quota", "ResourceQuota: admission and usage", [
    post("create", QUOTAS, quota("main", pods="2", requests_cpu="1", requests_memory="2Gi", limits_cpu="4")),
    get("counted", QUOTAS + "/main", until=used(pods="0"), only=("spec", "status")),
    post("must_specify", PODS + "?dryRun=All", pod("p0"), until=refused),
    post("must_specify_one", PODS, pod("p0", {"cpu": "1", "memory": "1"})),
    post("first", PODS, pod("p1", {"cpu": "600m", "memory": "1Gi"}, {"cpu": "1"})),
    get("first_counted", QUOTAS + "/main", until=used(pods="1"), only=("status",)),
    post("over_cpu", PODS, pod("p2", {"cpu": "500m", "memory": "1Gi"}, {"cpu": "1"})),
    post("over_two", PODS, pod("p2", {"cpu": "500m", "memory": "2Gi"}, {"cpu": "1"})),
    post("dry_run_over", PODS + "?dryRun=All", pod("p2", {"cpu": "500m", "memory": "1Gi"}, {"cpu": "1"})),
    post("dry_run", PODS + "?dryRun=All", pod("p2", {"cpu": "400m", "memory": "1Gi"}, {"cpu": "1"})),
    post("second", PODS, pod("p2", {"cpu": "0.4", "memory": "1024Mi"}, {"cpu": "1"})),
    get("full", QUOTAS + "/main", until=used(pods="2"), only=("status",)),
    post("over_pods", PODS, pod("p3", {"cpu": "1m", "memory": "1"}, {"cpu": "1m"})),
    get("after_refusal", QUOTAS + "/main", only=("status",)),
    merge("terminal", PODS + "/p1/status", {"status": {"phase": "Succeeded"}}),
    get("terminal_not_counted", QUOTAS + "/main", until=used(pods="1"), only=("status",)),
    delete("delete_pod", PODS + "/p2?gracePeriodSeconds=0", only=("kind", "metadata.name")),
    get("freed", QUOTAS + "/main", until=used(pods="0"), only=("status",)),
    merge("lowered", QUOTAS + "/main", {"spec": {"hard": {"pods": "0"}}}, without=("metadata.resourceVersion",)),
    get("lowered_settled", QUOTAS + "/main", until=has("status.hard.pods", "0"), only=("status",)),
    post("over_zero", PODS + "?dryRun=All", pod("p4", {"cpu": "1m", "memory": "1"}, {"cpu": "1m"}), until=refused),
    delete("delete_quota", QUOTAS + "/main"),
    post("free_again", PODS, pod("p5"), until=accepted),
    post("counts", QUOTAS, quota("counts", **{"count/configmaps": "3", "count/leases.coordination.k8s.io": "0", "secrets": "1"})),
    get("counts_settled", QUOTAS + "/counts", until=lambda a: (a.body.get("status", {}).get("used") or {}).get("count/configmaps") == "1", only=("status",)),
    post("lease", LEASES + "?dryRun=All", {"metadata": {"name": "l"}}, until=refused),
    post("cm_1", CORE + "/configmaps", {"metadata": {"name": "c1"}}),
    post("cm_2", CORE + "/configmaps", {"metadata": {"name": "c2"}}),
    post("cm_3", CORE + "/configmaps", {"metadata": {"name": "c3"}}),
    post("secret_1", CORE + "/secrets", {"metadata": {"name": "s1"}}),
    post("secret_2", CORE + "/secrets", {"metadata": {"name": "s2"}}),
    delete("delete_counts", QUOTAS + "/counts", only=("kind",)),
    post("scoped", QUOTAS, quota("scoped", ["BestEffort"], pods="1")),
    get("scoped_settled", QUOTAS + "/scoped", until=used(pods="1"), only=("status",)),
    post("best_effort_over", PODS + "?dryRun=All", pod("b1"), until=refused),
    post("burstable_not_in_scope", PODS, pod("b2", {"cpu": "1"})),
    delete("delete_scoped", QUOTAS + "/scoped", only=("kind",)),
    post("scoped_gone", PODS + "?dryRun=All", pod("b3"), until=accepted),
    post("terminating", QUOTAS, quota("terminating", ["Terminating"], pods="0")),
    get("terminating_settled", QUOTAS + "/terminating", until=used(pods="0"), only=("status",)),
    post("terminating_over", PODS + "?dryRun=All", pod("t1", activeDeadlineSeconds=5), until=refused),
    post("not_terminating", PODS, pod("t2")),
    delete("delete_terminating", QUOTAS + "/terminating", only=("kind",)),
    post("terminating_gone", PODS + "?dryRun=All", pod("t3", activeDeadlineSeconds=5), until=accepted),
    post("by_class", QUOTAS, quota("by-class", None, [{"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}], pods="0")),
    get("by_class_settled", QUOTAS + "/by-class", until=used(pods="0"), only=("status",)),
    post("by_class_over", PODS + "?dryRun=All", pod("k1", priorityClassName="system-node-critical"), until=refused),
    post("by_class_other", PODS, pod("k2")),
    post("invalid_quantity", QUOTAS, quota("bad", pods="some")),
    post("invalid_negative", QUOTAS, quota("bad", pods="-1")),
    post("invalid_resource", QUOTAS, quota("bad", bananas="1")),
    post("invalid_fraction", QUOTAS, quota("bad", pods="1.5")),
    post("invalid_scope", QUOTAS, quota("bad", ["Sunny"], pods="1")),
    post("scope_conflict", QUOTAS, quota("bad", ["BestEffort", "NotBestEffort"], pods="1")),
    merge("status_by_main", QUOTAS + "/by-class", {"status": {"hard": {"pods": "9"}}}, without=("metadata.resourceVersion",)),
    get("table", QUOTAS + "/by-class", accept=TABLE, only=("columnDefinitions", "rows.0.cells")),
])

PRIORITY = Chapter("priority", "PriorityClasses and how pods get their priority", [
    post("create", CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "diff-high-${run}"}, "value": 1000}),
    post("create_never", CLASSES, {"metadata": {"name": "diff-never-${run}"}, "value": -7, "preemptionPolicy": "Never", "description": "low"}),
    post("pod_high", PODS, pod("high", priorityClassName="diff-high-${run}"), until=lambda a: a.code != 403),
    post("pod_never", PODS, pod("never", priorityClassName="diff-never-${run}"), until=lambda a: a.code != 403),
    post("pod_plain", PODS, pod("plain")),
    post("pod_same_priority", PODS, pod("same", priorityClassName="diff-high-${run}", priority=1000)),
    post("pod_other_priority", PODS, pod("other", priorityClassName="diff-high-${run}", priority=5)),
    post("pod_other_policy", PODS, pod("policy", priorityClassName="diff-high-${run}", preemptionPolicy="Never")),
    post("pod_unknown", PODS, pod("unknown", priorityClassName="diff-none-${run}")),
    merge("value", CLASSES + "/diff-high-${run}", {"value": 5}),
    merge("policy", CLASSES + "/diff-high-${run}", {"preemptionPolicy": "Never"}),
    merge("description", CLASSES + "/diff-high-${run}", {"description": "new"}),
    post("too_high", CLASSES, {"metadata": {"name": "diff-top-${run}"}, "value": 2000000000}),
    post("system_prefix", CLASSES, {"metadata": {"name": "system-diff-${run}"}, "value": 1}),
    post("policy_bad", CLASSES, {"metadata": {"name": "diff-bad-${run}"}, "value": 1, "preemptionPolicy": "Maybe"}),
    post("value_missing", CLASSES, {"metadata": {"name": "diff-zero-${run}"}}),
    post("default", CLASSES, {"metadata": {"name": "diff-default-${run}"}, "value": 50, "globalDefault": True}),
    post("pod_default", PODS + "?dryRun=All", pod("defaulted"), until=lambda a: a.code != 201 or a.body["spec"]["priority"] == 50),  # by then admission has seen the default
    post("default_second", CLASSES, {"metadata": {"name": "diff-default2-${run}"}, "value": 60, "globalDefault": True}),
    delete("default_deleted", CLASSES + "/diff-default-${run}"),
    post("pod_without_default", PODS + "?dryRun=All", pod("zero"), until=lambda a: a.code != 201 or a.body["spec"]["priority"] == 0),
    get("system_critical", CLASSES + "/system-cluster-critical"),
    get("system_node", CLASSES + "/system-node-critical"),
    get("table", CLASSES + "/diff-high-${run}", accept=TABLE),
    *[delete("delete_" + n, CLASSES + f"/diff-{n}-${{run}}") for n in ("high", "never", "zero", "default2")],
])

RECORDS = Chapter("records", "Events, Leases, Nodes and other plain types", [
    post("event", CORE + "/events", {"metadata": {"name": "e1"}, "involvedObject": {"kind": "Pod", "namespace": "${ns}", "name": "p", "uid": "u"},
                                     "reason": "Why", "message": "text", "type": "Warning", "source": {"component": "me"},
                                     "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1}),
    merge("event_count", CORE + "/events/e1", {"count": 2}),
    get("event_by_reason", CORE + "/events?fieldSelector=reason=Why,type=Warning,involvedObject.name=p"),
    get("event_by_other", CORE + "/events?fieldSelector=involvedObject.kind=Job"),
    get("event_new_form", NEW_EVENTS + "/e1"),
    post("event_other_namespace", CORE + "/events", {"metadata": {"name": "e2"}, "involvedObject": {"kind": "Pod", "namespace": "other", "name": "p"}}),
    post("event_no_object", CORE + "/events", {"metadata": {"name": "e3"}, "reason": "x"}),
    post("event_cluster_object", "/api/v1/namespaces/default/events", {"metadata": {"name": "diff-e-${run}"}, "involvedObject": {"kind": "Node", "name": "n"}}),
    delete("event_cluster_object_deleted", "/api/v1/namespaces/default/events/diff-e-${run}"),
    post("new_event", NEW_EVENTS, {"metadata": {"name": "n1"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/c",
                                   "reportingInstance": "c-1", "action": "Act", "reason": "Why", "type": "Normal", "note": "text",
                                   "regarding": {"kind": "Pod", "namespace": "${ns}", "name": "p"}}),
    get("new_event_old_form", CORE + "/events/n1"),
    merge("new_event_series", NEW_EVENTS + "/n1", {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}}),
    merge("new_event_note_changed", NEW_EVENTS + "/n1", {"note": "other"}),
    post("new_event_incomplete", NEW_EVENTS, {"metadata": {"name": "n2"}, "regarding": {"kind": "Pod", "namespace": "${ns}", "name": "p"}}),
    post("new_event_no_action", NEW_EVENTS, {"metadata": {"name": "n3"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/c",
                                            "reportingInstance": "c-1", "reason": "Why", "type": "Normal", "regarding": {"kind": "Pod", "namespace": "${ns}", "name": "p"}}),
    post("new_event_bad_type", NEW_EVENTS, {"metadata": {"name": "n4"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/c",
                                           "reportingInstance": "c-1", "action": "Act", "reason": "Why", "type": "Loud", "regarding": {"kind": "Pod", "namespace": "${ns}", "name": "p"}}),
    get("events_table", CORE + "/events?fieldSelector=metadata.name=e1", accept=TABLE),
    delete("events_deleted", CORE + "/events", unordered=True),
    post("lease", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {
        "holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 0}}),
    put("lease_renewed", LEASES + "/l", {"metadata": {"name": "l", "resourceVersion": "${lease:metadata.resourceVersion}"}, "spec": {
        "holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:09.500000Z",
        "leaseTransitions": 0}}),
    put("lease_stale", LEASES + "/l", {"metadata": {"name": "l", "resourceVersion": "${lease:metadata.resourceVersion}"}, "spec": {"holderIdentity": "you"}}),
    post("lease_bad_duration", LEASES, {"metadata": {"name": "l2"}, "spec": {"leaseDurationSeconds": 0}}),
    post("lease_bad_transitions", LEASES, {"metadata": {"name": "l3"}, "spec": {"leaseTransitions": -1}}),
    post("lease_bad_time", LEASES, {"metadata": {"name": "l4"}, "spec": {"renewTime": "yesterday"}}),
    post("lease_second_precision", LEASES, {"metadata": {"name": "l5"}, "spec": {"renewTime": "2026-01-01T00:00:00Z"}}),
    get("lease_table", LEASES + "/l", accept=TABLE),
    post("node_dry", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "diff-node-${run}", "labels": {"zone": "a"}}, "spec": {"taints": [
        {"key": "k", "value": "v", "effect": "NoSchedule"}]}, "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                                                                         "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}}),
    post("node_bad_taint", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "diff-node-${run}"}, "spec": {"taints": [{"key": "k", "effect": "Maybe"}]}}),
    post("node_same_taint", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "diff-node-${run}"}, "spec": {"taints": [
        {"key": "k", "effect": "NoSchedule"}, {"key": "k", "effect": "NoSchedule"}]}}),
    get("node_missing", "/api/v1/nodes/diff-none-${run}"),
    post("role", "/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles", {"metadata": {"name": "r"}, "rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
    post("role_binding", "/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings", {
        "metadata": {"name": "rb"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "${ns}"}]}),
    post("account", CORE + "/serviceaccounts", {"metadata": {"name": "sa"}}),
    post("may_i", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
        only=("kind", "apiVersion", "spec", "status.allowed")),
    post("limits", CORE + "/limitranges", {"metadata": {"name": "lr"}, "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}}),
    delete("limits_deleted", CORE + "/limitranges/lr"),
    post("claim", CORE + "/persistentvolumeclaims?dryRun=All", {"metadata": {"name": "pvc"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    post("headless", CORE + "/services", {"metadata": {"name": "svc"}, "spec": {"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]}}),
    get("headless_table", CORE + "/services/svc", accept=TABLE),
])


def resource(group_version, name):
    """One resource of a discovery document and its subresources."""
    return ("kind", "apiVersion", "groupVersion", f"resources[name={name}]", f"resources[name={name}/status]")


DISCOVERY = Chapter("discovery", "discovery documents, versions and health", [
    get("versions", "/api", without=("serverAddressByClientCIDRs",)),
    get("core", "/api/v1", only=("kind", "apiVersion", "groupVersion")),
    *[get("core_" + n, "/api/v1", only=resource("v1", n)) for n in (
        "pods", "nodes", "namespaces", "events", "configmaps", "secrets", "serviceaccounts", "services", "resourcequotas", "limitranges",
        "persistentvolumeclaims", "endpoints")],
    get("core_pod_binding", "/api/v1", only=("resources[name=pods/binding]", "resources[name=pods/eviction]", "resources[name=bindings]",
                                            "resources[name=pods/log]", "resources[name=namespaces/finalize]")),
    get("groups", "/apis", only=("kind", "apiVersion", "groups[name=kube-arbitrator.io]", "groups[name=scheduling.x-k8s.io]",
                                 "groups[name=coordination.k8s.io]", "groups[name=scheduling.k8s.io]", "groups[name=policy]",
                                 "groups[name=apiextensions.k8s.io]", "groups[name=events.k8s.io]")),
    get("kar", "/apis/kube-arbitrator.io/v1alpha1"),
    get("kar_group", "/apis/kube-arbitrator.io"),
    get("podgroups", "/apis/scheduling.x-k8s.io/v1alpha1"),
    get("leases", "/apis/coordination.k8s.io/v1"),
    get("priority_classes", "/apis/scheduling.k8s.io/v1", only=resource("scheduling.k8s.io/v1", "priorityclasses")),
    get("events", "/apis/events.k8s.io/v1"),
    get("budgets", "/apis/policy/v1"),
    get("crds", "/apis/apiextensions.k8s.io/v1"),
    get("apps_deployments", "/apis/apps/v1", only=resource("apps/v1", "deployments")),
    get("missing_group", "/apis/none.example.com"),
    get("missing_group_version", "/apis/none.example.com/v1"),
    get("missing_version", "/apis/kube-arbitrator.io/v9"),
    get("version", "/version", only=("major", "minor", "gitVersion")),
    get("healthz", "/healthz"),
    get("livez", "/livez"),
    get("readyz", "/readyz"),
    get("aggregated", "/apis", accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        only=("kind", "apiVersion", "items[metadata.name=kube-arbitrator.io]", "items[metadata.name=coordination.k8s.io]")),
    get("aggregated_core", "/api", accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", only=(
        "kind", "apiVersion", "items.0.versions.0.version", *(
            f"items.0.versions.0.resources[resource={name}].{part}" for name in ("pods", "configmaps", "namespaces", "events", "nodes")
            for part in ("responseKind", "scope", "singularResource", "verbs", "shortNames", "categories")))),
    get("openapi_index", "/openapi/v3", only=("paths.api/v1", "paths.apis/apps/v1", "paths.apis/kube-arbitrator\\.io/v1alpha1")),
    get("openapi_kar", "/openapi/v3/apis/kube-arbitrator.io/v1alpha1", only=[
        f"components.schemas.io\\.kube-arbitrator\\.v1alpha1\\.{kind}.{path}" for kind in ("QueueJob", "Queue", "SchedulingSpec")
        for path in ("description", "required", "properties.spec", "properties.status", "x-kubernetes-group-version-kind")]),
    Operation("options", "OPTIONS", "/api/v1", only=("code",)),
])

ERRORS = Chapter("errors", "the forms of errors: paths, methods, media types, bodies", [
    get("unknown_path", "/nowhere"),
    get("unknown_resource", CORE + "/gizmos"),
    get("unknown_resource_name", CORE + "/gizmos/a"),
    post("unknown_resource_post", CORE + "/gizmos", {}),
    get("unknown_subresource", CORE + "/configmaps/a/colour"),
    get("unknown_group", "/apis/none.example.com/v1/namespaces/${ns}/gizmos"),
    get("unknown_custom", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/gizmos"),
    get("unknown_custom_version", "/apis/kube-arbitrator.io/v9/namespaces/${ns}/queuejobs"),
    post("method_on_item", CORE + "/configmaps/a", {}),
    put("put_on_collection", CORE + "/configmaps", {}),
    patch("patch_on_collection", CORE + "/configmaps", "application/merge-patch+json", {}),
    post("post_on_custom_item", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs/a", {}),
    put("put_on_custom_collection", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", {}),
    delete("delete_namespaces", "/api/v1/namespaces"),
    post("across_namespaces", "/api/v1/configmaps", {"metadata": {"name": "a"}}),
    post("across_namespaces_custom", "/apis/kube-arbitrator.io/v1alpha1/queuejobs", {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": "a"}}),
    Operation("unknown_method", "BREW", CORE + "/configmaps"),
    Operation("head", "HEAD", CORE + "/configmaps/kube-root-ca.crt"),
    delete("discovery_delete", "/api/v1"),
    post("not_json", CORE + "/configmaps", "{"),
    post("not_json_text", CORE + "/configmaps", "hello"),
    post("empty", CORE + "/configmaps", ""),
    post("null", CORE + "/configmaps", "null"),
    post("list", CORE + "/configmaps", "[]"),
    post("number", CORE + "/configmaps", "5"),
    post("trailing", CORE + "/configmaps", '{"metadata":{"name":"t"}} x'),
    post("other_kind", CORE + "/configmaps", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
    post("unknown_kind", CORE + "/configmaps", {"apiVersion": "v1", "kind": "Gizmo", "metadata": {"name": "a"}}),
    post("other_version", CORE + "/configmaps", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}),
    post("kind_without_version", CORE + "/configmaps", {"kind": "ConfigMap", "metadata": {"name": "kwv"}}),
    post("metadata_text", CORE + "/configmaps", {"metadata": "x"}),
    post("name_number", CORE + "/configmaps", {"metadata": {"name": 7}}),
    post("labels_list", CORE + "/configmaps", {"metadata": {"name": "a", "labels": ["a"]}}),
    post("custom_not_json", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", "{"),
    post("custom_empty", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", ""),
    post("custom_list", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", "[]"),
    post("custom_metadata_text", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs",
         {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": "x"}),
    post("custom_labels_number", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs",
         {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": "a", "labels": {"a": 1}}}),
    post("text_body", CORE + "/configmaps", "metadata: {}", content="text/plain"),
    post("yaml_body", CORE + "/configmaps", "metadata:\n  name: from-yaml\ndata:\n  a: b\n", content="application/yaml"),
    post("yaml_body_custom", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", "metadata: {}", content="text/plain"),
    post("json_patch_body", CORE + "/configmaps", {"metadata": {"name": "x"}}, content="application/json-patch+json"),
    post("no_content_type", CORE + "/configmaps", {"metadata": {"name": "no-content-type"}}, content=""),
    post("too_large", CORE + "/configmaps", '{"metadata":{"name":"big"},"data":{"a":"' + "x" * (3 * 1024 * 1024) + '"}}'),
    post("large_data", CORE + "/configmaps?dryRun=All", '{"metadata":{"name":"big"},"data":{"a":"' + "x" * (1024 * 1024 + 1) + '"}}'),
    post("too_large_custom", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", '{"metadata":{"name":"' + "x" * (3 * 1024 * 1024 + 1) + '"}}'),
    get("accept_html", CORE + "/configmaps?limit=1", accept="text/html"),
    get("accept_html_custom", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", accept="text/html"),
    get("accept_anything", CORE + "/configmaps?labelSelector=none", accept="*/*"),
    get("accept_protobuf_or_json", CORE + "/configmaps?labelSelector=none", accept="text/html,application/json"),
    get("accept_protobuf_custom", "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs", accept="application/vnd.kubernetes.protobuf"),
    get("accept_unknown_form", CORE + "/configmaps?labelSelector=none", accept="application/json;as=Picture;g=meta.k8s.io;v=v1"),
    get("accept_unknown_form_or_json", CORE + "/configmaps?labelSelector=none", accept="application/json;as=Picture;g=meta.k8s.io;v=v1,application/json"),
    get("accept_table_beta", CORE + "/configmaps?labelSelector=none", accept="application/json;as=Table;g=meta.k8s.io;v=v1beta1"),
    get("accept_list_for_one", CORE + "/configmaps/kube-root-ca.crt", accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
    get("table_of_missing", CORE + "/configmaps/none", accept=TABLE),
    get("metadata_of_missing", CORE + "/configmaps/none", accept=PARTIAL),
    get("double_slash", "/api/v1//namespaces/${ns}/configmaps"),
    get("trailing_slash", CORE + "/configmaps/?labelSelector=none"),
    get("name_with_escape", CORE + "/configmaps/a%2Fb"),
    get("name_with_bad_escape", CORE + "/configmaps/%zz"),
    delete("delete_unknown", CORE + "/gizmos/a"),
    delete("delete_bad_body", CORE + "/configmaps/none", "{"),
    watch("bad_bool", CORE + "/configmaps?watch=perhaps&timeoutSeconds=1"),
    get("repeated_parameter", CORE + "/configmaps?limit=1&limit=2", only=("kind",)),
    get("exec_without_upgrade", CORE + "/pods/none/exec?command=ls", only=("code", "reason")),
])

CHAPTERS = [QUOTA, PRIORITY, RECORDS, DISCOVERY, ERRORS]
