"""Custom resources of manifests/crds and a CRD of our own: validation, defaults, pruning, generation, status.

Nothing here breaks a CEL rule alone or beside another rule: only a real API server evaluates those."""

from script import (Chapter, PARTIAL, TABLE, delete, events, get, gone, has, merge, named, post, put, watch)

KAR = "/apis/kube-arbitrator.io/v1alpha1"
JOBS = KAR + "/namespaces/${ns}/queuejobs"
SPECS = KAR + "/namespaces/${ns}/schedulingspecs"
QUEUES = KAR + "/queues"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${ns}/podgroups"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def job(name, *tasks, spec=None, **metadata):
    return {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": name, **metadata},
            "spec": {"taskSpecs": list(tasks), **(spec or {})}}


def task(name=None, **more):
    template = {"spec": {"containers": [{"name": "main", "image": "i"}]}}
    return {**({"name": name} if name else {}), "template": template, **more}


def queue(name, **spec):
    return {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def group(name, status=None, rv=None, **spec):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
            "metadata": {"name": name, **({"resourceVersion": rv} if rv else {})}, "spec": spec, **({"status": status} if status else {})}


def condition(kind, status="True", **more):
    return {"type": kind, "status": status, "reason": "Because", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z", **more}


def invalid(name, *tasks, **spec):
    return post(name, JOBS, job(name.replace("_", "-"), *tasks, spec=spec))


JOB_RULES = Chapter("queuejobs", "structural validation, defaults and pruning of QueueJobs", [
    post("smallest", JOBS, job("smallest", task())),
    post("full", JOBS, job("full", task("a", replicas=3, minAvailable=1, priority=-5), task("b", replicas=0), spec={
        "queue": "gold", "suspend": True, "schedSpec": {"minAvailable": 2, "nodeSelector": {"pool": "x"}, "gangGroups": ["ns/other"]}},
        labels={"team": "x"})),
    post("pruned", JOBS, job("pruned", task(colour="red"), spec={"colour": "red"})),
    post("pruned_strict", JOBS + "?fieldValidation=Strict", job("pruned-strict", task(colour="red"), spec={"colour": "red"})),
    post("pruned_warn", JOBS + "?fieldValidation=Warn", job("pruned-warn", task(colour="red"), spec={"colour": "red"})),
    post("pruned_ignore", JOBS + "?fieldValidation=Ignore", job("pruned-ignore", task(colour="red"))),
    post("duplicate_strict", JOBS + "?fieldValidation=Strict&dryRun=All",
         '{"apiVersion":"kube-arbitrator.io/v1alpha1","kind":"QueueJob","metadata":{"name":"dup"},"spec":{"taskSpecs":[{"template":'
         '{"spec":{"containers":[{"name":"main","name":"main","image":"i"}]}}}]}}'),
    post("unknown_metadata_strict", JOBS + "?fieldValidation=Strict", job("meta", task(), colour="red")),
    post("unknown_top_strict", JOBS + "?fieldValidation=Strict", {**job("top", task()), "colour": "red"}),
    post("pod_fields_kept", JOBS, job("kept", {"template": {"spec": {
        "restartPolicy": "Never", "anything": {"deep": [1, {"x": None}]}, "containers": [{"name": "main", "image": "i", "lifecycle": {"x": 1}}]}}})),
    post("status_dropped", JOBS, {**job("status", task()), "status": {"phase": "Running"}}),
    invalid("no_tasks"),
    invalid("template_missing", {"name": "a"}),
    invalid("containers_missing", {"template": {"spec": {}}}),
    invalid("container_without_image", {"template": {"spec": {"containers": [{"name": "main"}]}}}),
    invalid("containers_empty", {"template": {"spec": {"containers": []}}}),
    invalid("containers_twice", {"template": {"spec": {"containers": [{"name": "m", "image": "i"}, {"name": "m", "image": "i"}]}}}),
    invalid("container_name_bad", {"template": {"spec": {"containers": [{"name": "M_", "image": "i"}]}}}),
    invalid("replicas_negative", task(replicas=-1)),
    invalid("replicas_text", task(replicas="3")),
    invalid("replicas_fraction", task(replicas=1.5)),
    invalid("replicas_null", task(replicas=None)),
    invalid("two_errors", task(replicas=-1), task(priority="high")),
    invalid("task_not_object", "task"),
    invalid("label_not_text", {"template": {"metadata": {"labels": {"a": 1}}, "spec": {"containers": [{"name": "m", "image": "i"}]}}}),
    invalid("label_pattern", {"template": {"metadata": {"labels": {"a": "b c"}}, "spec": {"containers": [{"name": "m", "image": "i"}]}}}),
    invalid("quantity_bad", {"template": {"spec": {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": "much"}}}]}}}),
    invalid("quantity_number", {"template": {"spec": {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": 2}}}]}}}),
    invalid("quantity_fraction", {"template": {"spec": {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": 0.5}}}]}}}),
    invalid("enum_bad", {"template": {"spec": {"containers": [{"name": "m", "image": "i", "imagePullPolicy": "Sometimes"}]}}}),
    invalid("container_name_empty", {"template": {"spec": {"containers": [{"name": "", "image": "i"}]}}}),
    invalid("queue_too_long", task(), queue="q" * 64),
    invalid("suspend_text", task(), suspend="yes"),
    invalid("mode_bad", task(), schedSpec={"mode": "Loose"}),
    invalid("gang_groups_twice", task(), schedSpec={"gangGroups": ["a/b", "a/b"]}),
    invalid("sched_spec_null", task(), schedSpec=None),
    invalid("spec_list", *[task()] * 65),
    post("no_spec", JOBS, {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": "no-spec"}}),
    post("spec_text", JOBS, {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": "spec-text"}, "spec": "x"}),
    post("no_kind", JOBS, {"metadata": {"name": "no-kind"}, "spec": {"taskSpecs": [task()]}}),
    post("other_version", JOBS, {**job("version", task()), "apiVersion": "kube-arbitrator.io/v1"}),
    post("labels_bad", JOBS, job("labels", task(), labels={"a": "b c"})),
    post("generate", JOBS, {**job("x", task()), "metadata": {"generateName": "gen-"}}),
    get("list", JOBS + "?fieldSelector=metadata.name=full"),
    get("field_unknown", JOBS + "?fieldSelector=spec.queue=gold"),
    get("as_table", JOBS + "/full", accept=TABLE),
    get("as_metadata", JOBS + "/full", accept=PARTIAL),
    merge("unsuspend", JOBS + "/full", {"spec": {"suspend": False}}),
    merge("status_phase", JOBS + "/full/status", {"status": {"phase": "Pending", "bogus": 1}}),
    merge("status_bad", JOBS + "/full/status", {"status": {"phase": 5}}),
    delete("delete", JOBS + "/full"),
    delete("delete_rest", JOBS),
    get("none_left", JOBS),
])

STATUS = Chapter("status", "generation and the separation of status", [
    post("create", GROUPS, group("g", minMember=2)),
    put("spec_change", GROUPS + "/g", group("g", rv="${create:metadata.resourceVersion}", minMember=3)),
    put("spec_same", GROUPS + "/g", group("g", rv="${spec_change:metadata.resourceVersion}", minMember=3)),
    put("status_by_main", GROUPS + "/g", group("g", {"phase": "Running"}, minMember=3, rv="${spec_same:metadata.resourceVersion}")),
    put("status", GROUPS + "/g/status", group("g", {"phase": "Running", "members": 3}, minMember=99, rv="${status_by_main:metadata.resourceVersion}")),
    get("status_read", GROUPS + "/g/status"),
    put("status_same", GROUPS + "/g/status", group("g", {"phase": "Running", "members": 3}, minMember=99, rv="${status:metadata.resourceVersion}")),
    put("status_stale", GROUPS + "/g/status", group("g", {"phase": "Failed"}, rv="${create:metadata.resourceVersion}")),
    put("status_unversioned", GROUPS + "/g/status", group("g", {"phase": "Failed"})),
    put("main_unversioned", GROUPS + "/g", group("g", minMember=3)),
    put("status_labels", GROUPS + "/g/status", {**group("g", {"phase": "Failed"}, rv="${status_same:metadata.resourceVersion}"),
                                               "metadata": {"name": "g", "resourceVersion": "${status_same:metadata.resourceVersion}", "labels": {"a": "b"}}}),
    put("main_labels", GROUPS + "/g", {**group("g", minMember=3), "metadata": {
        "name": "g", "resourceVersion": "${status_labels:metadata.resourceVersion}", "labels": {"a": "b"}, "generation": 40}}),
    put("status_empty", GROUPS + "/g/status", group("g", rv="${main_labels:metadata.resourceVersion}")),
    put("status_invalid", GROUPS + "/g/status", group("g", {"members": "three"}, rv="${status_empty:metadata.resourceVersion}")),
    put("status_pruned", GROUPS + "/g/status", group("g", {"members": 3, "colour": "red"}, rv="${status_empty:metadata.resourceVersion}")),
    put("status_unknown_strict", GROUPS + "/g/status?fieldValidation=Strict",
        group("g", {"members": 4, "colour": "red"}, rv="${status_pruned:metadata.resourceVersion}")),
    put("conditions", GROUPS + "/g/status", group("g", {"conditions": [condition("Admitted"), condition("Scheduled", "False")]},
                                                 rv="${status_pruned:metadata.resourceVersion}")),
    put("conditions_twice", GROUPS + "/g/status", group("g", {"conditions": [condition("Admitted"), condition("Admitted", "False")]},
                                                       rv="${conditions:metadata.resourceVersion}")),
    put("condition_incomplete", GROUPS + "/g/status", group("g", {"conditions": [{"type": "Admitted"}]}, rv="${conditions:metadata.resourceVersion}")),
    put("condition_bad_values", GROUPS + "/g/status", group("g", {"conditions": [
        condition("Bad Type", "Maybe", lastTransitionTime="yesterday", observedGeneration=-1)]}, rv="${conditions:metadata.resourceVersion}")),
    put("status_missing", GROUPS + "/none/status", group("none", {"phase": "x"}, rv="${conditions:metadata.resourceVersion}")),
    post("status_post", GROUPS + "/g/status", group("g", {"phase": "x"})),
    delete("status_delete", GROUPS + "/g/status"),
    get("scale", GROUPS + "/g/scale"),
    post("no_status", SPECS, {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "SchedulingSpec", "metadata": {"name": "s"}, "spec": {"minAvailable": 1}}),
    get("no_status_read", SPECS + "/s/status"),
    merge("no_status_write", SPECS + "/s/status", {"status": {}}),
    merge("no_status_generation", SPECS + "/s", {"spec": {"minAvailable": 2}}),
    merge("no_status_labels", SPECS + "/s", {"metadata": {"labels": {"a": "b"}}}),
    merge("no_status_status_pruned", SPECS + "/s", {"status": {"x": 1}}),
    post("spec_required", SPECS, {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "SchedulingSpec", "metadata": {"name": "t"}}),
    post("group_without_spec", GROUPS, {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "w"}}),
    post("other_kind", GROUPS, {**group("kind"), "kind": "Queue"}),
    post("name_bad", GROUPS, group("Bad_Name")),
    post("too_many", GROUPS, group("many", minMember=2147483648)),
    post("overflow", GROUPS, group("overflow", minMember=3000000000)),
    post("priority_too_low", GROUPS, group("low", priority=-2147483649)),
    get("list_groups", GROUPS),
])

QUEUE_RULES = Chapter("queues", "cluster-scoped custom resources", [
    post("create", QUEUES, queue("diff-${run}", weight=3, capability={"cpu": 10, "memory": "10Gi", "nvidia.com/gpu": "2"})),
    post("defaults", QUEUES, queue("diff-b-${run}")),
    post("namespaced_path", KAR + "/namespaces/${ns}/queues", queue("diff-c-${run}")),
    post("with_namespace", QUEUES, {**queue("diff-d-${run}"), "metadata": {"name": "diff-d-${run}", "namespace": "default"}}),
    get("get", QUEUES + "/diff-${run}"),
    get("in_namespace", KAR + "/namespaces/${ns}/queues/diff-${run}"),
    post("weight_zero", QUEUES, queue("diff-e-${run}", weight=0)),
    post("strategy_bad", QUEUES, queue("diff-f-${run}", queueingStrategy="Random")),
    post("capability_bad", QUEUES, queue("diff-g-${run}", capability={"cpu": -1, "memory": "-5Gi", "x": True})),
    post("selector", QUEUES, queue("diff-h-${run}", namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]})),
    merge("weight", QUEUES + "/diff-${run}", {"spec": {"weight": 4}}),
    merge("status", QUEUES + "/diff-${run}/status", {"status": {"state": "Open", "pending": 2, "allocated": {"cpu": "1500m"}}}),
    get("as_table", QUEUES + "/diff-${run}", accept=TABLE),
    get("list", QUEUES + "?fieldSelector=metadata.name=diff-${run}"),
    *[delete(f"delete{x.replace('-', '_')}", QUEUES + f"/diff{x}-${{run}}") for x in ("", "-b", "-d", "-h")],
    get("gone", QUEUES + "/diff-${run}"),
])


def crd(plural="widgets", kind="Widget", group="diff-${run}.example.com", schema=None, **spec):
    schema = schema or {"type": "object", "properties": {
        "spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMaximum": True, "multipleOf": 3},
            "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
            "nick": {"type": "string", "nullable": True},
            "note": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
            "when": {"type": "string", "format": "date-time"},
            "wait": {"type": "string", "format": "duration"},
            "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            "port": {"x-kubernetes-int-or-string": True},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "x-kubernetes-list-type": "set"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "parts": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 7}, "s": {"type": "string"}}}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2, "minProperties": 1},
            "either": {"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 2}]},
            "one": {"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 5}]},
            "all": {"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]},
            "no": {"type": "string", "not": {"enum": ["never"]}},
        }},
        "status": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "shortNames": ["wd"]},
        "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}], **spec}}


NAME = "widgets.diff-${run}.example.com"
WIDGETS = "/apis/diff-${run}.example.com/v1/namespaces/${ns}/widgets"


def widget(name, **spec):
    return {"apiVersion": "diff-${run}.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 3, **spec}}


def bad_widget(name, **spec):
    return post("widget_" + name, WIDGETS + "?dryRun=All", widget(name.replace("_", "-"), **spec))


def established(answer):
    return any(c["type"] == "Established" and c["status"] == "True" for c in (answer.body.get("status") or {}).get("conditions") or [])


CRD = Chapter("crd", "install, use and removal of a CRD", [
    get("before", WIDGETS),
    post("create", CRDS, crd()),
    get("established", CRDS + "/" + NAME, until=established),
    get("served", WIDGETS, until=lambda a: a.code == 200),
    post("create_again", CRDS, crd()),
    post("widget", WIDGETS, widget("a", nick=None, free={"x": {"y": 1}}, parts=[{}, {"n": 1, "more": 2}], map={"a": 1}, port="http")),
    bad_widget("too_small", size=0),
    bad_widget("at_exclusive_maximum", size=10),
    bad_widget("not_a_multiple", size=4),
    bad_widget("enum", color="blue"),
    bad_widget("null_default", color=None),
    bad_widget("null", note=None),
    bad_widget("short", note="a"),
    bad_widget("long", note="abcde"),
    bad_widget("pattern", note="A1"),
    bad_widget("date", when="yesterday"),
    bad_widget("date_good", when="2026-01-01T00:00:00Z"),
    bad_widget("duration", wait="soon"),
    bad_widget("number", ratio=0),
    bad_widget("number_integer", ratio=2),
    bad_widget("port_boolean", port=True),
    bad_widget("tags_empty", tags=[]),
    bad_widget("tags_many", tags=["a", "b", "c"]),
    bad_widget("tags_twice", tags=["a", "a"]),
    bad_widget("tags_number", tags=[1]),
    bad_widget("map_value", map={"a": "b"}),
    bad_widget("map_many", map={"a": 1, "b": 2, "c": 3}),
    bad_widget("map_empty", map={}),
    bad_widget("any_of", either=5),
    bad_widget("one_of", one=3),
    bad_widget("one_of_good", one=9),
    bad_widget("all_of", all=6),
    bad_widget("not", no="never"),
    bad_widget("size_text", size="3"),
    bad_widget("size_null", size=None),
    bad_widget("many_errors", size=0, color="blue", note="A", tags=[]),
    post("widget_without_size", WIDGETS, {"apiVersion": "diff-${run}.example.com/v1", "kind": "Widget", "metadata": {"name": "b"}, "spec": {}}),
    post("widget_without_spec", WIDGETS, {"apiVersion": "diff-${run}.example.com/v1", "kind": "Widget", "metadata": {"name": "bare"}}),
    get("widgets", WIDGETS + "?limit=2"),
    get("widget_table", WIDGETS + "/a", accept=TABLE),
    get("discovery", "/apis/diff-${run}.example.com/v1", without=("resources.0.storageVersionHash",)),
    get("discovery_group", "/apis/diff-${run}.example.com", without=("preferredVersion.hash",)),
    watch("watch", WIDGETS + "?watch=true&timeoutSeconds=60&fieldSelector=metadata.name=a"),
    delete("delete", CRDS + "/" + NAME),
    get("gone", CRDS + "/" + NAME, until=gone),
    get("not_served", WIDGETS, until=gone),
    events("watch_events", "watch", named("a", "DELETED")),
    # refused
    post("name_mismatch", CRDS, {**crd(), "metadata": {"name": "gadgets.diff-${run}.example.com"}}),
    post("no_versions", CRDS, crd(versions=[])),
    post("no_schema", CRDS, crd(versions=[{"name": "v1", "served": True, "storage": True}])),
    post("no_storage", CRDS, crd(versions=[{"name": "v1", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}}])),
    post("bad_scope", CRDS, crd(scope="Galaxy")),
    post("not_structural", CRDS, crd(schema={"type": "object", "properties": {"spec": {"properties": {"x": {"type": "integer"}}}}})),
    post("bad_default", CRDS, crd(schema={"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "x": {"type": "integer", "default": "y"}}}}})),
    get("ours", CRDS + "/queues.kube-arbitrator.io", only=("spec.names", "spec.scope", "spec.group", "status.acceptedNames", "status.storedVersions")),
    get("ours_conditions", CRDS + "/queues.kube-arbitrator.io", only=("status.conditions",)),
    get("missing", CRDS + "/none.example.com"),
])

FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SUFFIX = ".diff-${run}.example.com"
VERDICT = ("status.conditions", "status.acceptedNames", "status.storedVersions")


def free_crd(plural, kind, **names):
    definition = crd(plural, kind, schema=FREE)
    del definition["spec"]["names"]["shortNames"]
    definition["spec"]["names"].update(names)
    return definition


CRD_NAMES = Chapter("crdnames", "names of CRDs", [
    post("first", CRDS, free_crd("firsts", "First", shortNames=["fi"])),
    get("first_established", CRDS + "/firsts" + SUFFIX, until=established, only=VERDICT),
    get("discovery", "/apis/diff-${run}.example.com/v1", until=lambda a: a.code == 200, without=("resources.0.storageVersionHash",)),
    merge("other_short_names", CRDS + "/firsts" + SUFFIX, {"spec": {"names": {"shortNames": ["xx"], "categories": ["all"]}}}, only=("spec.names",)),
    get("renamed", CRDS + "/firsts" + SUFFIX, until=has("status.acceptedNames.shortNames", ["xx"]), only=("status.acceptedNames",)),
    delete("delete", CRDS + "/firsts" + SUFFIX, only=("kind",)),
    get("gone", CRDS + "/firsts" + SUFFIX, until=gone),
])


def version(name, served=True, storage=False, **more):
    return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": FREE}, **more}


def refused(name, spec=None, annotations=None, names=None, plural="widgets", group="diff-${run}.example.com"):
    definition = crd(plural, "Widget", group, FREE, **(spec or {}))
    definition["spec"]["names"].update(names or {})
    if annotations:
        definition["metadata"]["annotations"] = annotations
    return post(name, CRDS + "?dryRun=All", definition)


APPROVED = "api-approved.kubernetes.io"

CRD_RULES = Chapter("crdrules", "what a CRD may say, and how its version comes and goes", [
    refused("group_without_dot", plural="deployments", group="apps"),
    refused("group_protected", plural="events", group="events.k8s.io"),
    refused("group_approved", annotations={APPROVED: "https://example.com/approval"}, group="foo.k8s.io"),
    refused("group_unapproved", annotations={APPROVED: "unapproved, a trial"}, group="foo.k8s.io"),
    refused("group_approval_bad", annotations={APPROVED: "please"}, group="foo.k8s.io"),
    refused("group_bad", group="A_b.c"),
    refused("plural_bad", plural="Wid_gets"),
    refused("kind_bad", names={"kind": "wid-get_"}),
    refused("singular_bad", names={"singular": "W_"}),
    refused("short_name_bad", names={"shortNames": ["ok", "W_"]}),
    refused("category_bad", names={"categories": ["W_"]}),
    refused("list_kind_is_kind", names={"listKind": "Widget"}),
    refused("version_bad", {"versions": [version("V_1", storage=True)]}),
    refused("conversion_bad", {"conversion": {"strategy": "Magic"}}),
    refused("preserve_unknown", {"preserveUnknownFields": True}),
    refused("column_bad", {"versions": [version("v1", storage=True, additionalPrinterColumns=[{"name": "a", "type": "colour", "jsonPath": "x"}])]}),
    refused("column_incomplete", {"versions": [version("v1", storage=True, additionalPrinterColumns=[{"name": "a"}])]}),
    refused("no_group", group=""),
    post("no_spec", CRDS + "?dryRun=All", {"metadata": {"name": "a.b.c"}}),
    # the version
    post("create", CRDS, crd(versions=[version("v1", storage=True)])),
    get("established", CRDS + "/" + NAME, until=established, only=VERDICT),
    get("served", WIDGETS, until=lambda a: a.code == 200),
    get("table", CRDS + "/" + NAME, accept=TABLE),
    get("group", "/apis/diff-${run}.example.com", until=lambda a: a.code == 200),
    merge("scope_changed", CRDS + "/" + NAME, {"spec": {"scope": "Cluster"}}),
    merge("group_changed", CRDS + "/" + NAME, {"spec": {"group": "x.example.com"}}),
    merge("kind_changed", CRDS + "/" + NAME, {"spec": {"names": {"kind": "Gadget"}}}),
    merge("plural_changed", CRDS + "/" + NAME, {"spec": {"names": {"plural": "gadgets"}}}),
    merge("stored_version_dropped", CRDS + "/" + NAME, {"spec": {"versions": [version("v2beta1", storage=True)]}}),
    merge("unserved", CRDS + "/" + NAME, {"spec": {"versions": [version("v1", served=False, storage=True)]}}, only=("metadata.generation",)),
    get("nothing_served", WIDGETS, until=gone),
    delete("delete", CRDS + "/" + NAME, only=("kind",)),
    get("deleted", CRDS + "/" + NAME, until=gone),
])

CHAPTERS = [JOB_RULES, STATUS, QUEUE_RULES, CRD, CRD_NAMES, CRD_RULES]
