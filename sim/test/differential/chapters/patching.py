"""JSON, merge and strategic merge patches, server-side apply, dry run."""

from script import APPLY_PATCH, Chapter, apply, delete, get, json_patch, merge, patch, post, put, second_is_over, strategic

CM = "/api/v1/namespaces/${ns}/configmaps"
PODS = "/api/v1/namespaces/${ns}/pods"
JOBS = "/apis/kube-arbitrator.io/v1alpha1/namespaces/${ns}/queuejobs"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${ns}/podgroups"
DEPLOYMENTS = "/apis/apps/v1/namespaces/${ns}/deployments"


def configmap(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "none", "automountServiceAccountToken": False, "containers": [{"name": "main", "image": "i"}], **spec}}


def group(name, spec=None, **metadata):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name, **metadata}, "spec": spec or {}}


JSON = Chapter("jsonpatch", "JSON patches", [
    post("create", CM, configmap("a", {"x": "1", "y": "2"}, labels={"l": "1"})),
    json_patch("add", CM + "/a", [{"op": "add", "path": "/data/z", "value": "3"}]),
    json_patch("replace", CM + "/a", [{"op": "replace", "path": "/data/x", "value": "10"}]),
    json_patch("remove", CM + "/a", [{"op": "remove", "path": "/data/y"}]),
    json_patch("move", CM + "/a", [{"op": "move", "from": "/data/z", "path": "/data/w"}]),
    json_patch("copy", CM + "/a", [{"op": "copy", "from": "/data/w", "path": "/data/v"}]),
    json_patch("test_holds", CM + "/a", [{"op": "test", "path": "/data/x", "value": "10"}, {"op": "add", "path": "/data/t", "value": "ok"}]),
    json_patch("test_fails", CM + "/a", [{"op": "test", "path": "/data/x", "value": "11"}, {"op": "add", "path": "/data/t2", "value": "no"}]),
    json_patch("test_missing", CM + "/a", [{"op": "test", "path": "/data/none", "value": "11"}]),
    json_patch("test_missing_null", CM + "/a", [{"op": "test", "path": "/data/none", "value": None}]),
    json_patch("test_version", CM + "/a", [{"op": "test", "path": "/metadata/resourceVersion", "value": "${create:metadata.resourceVersion}"}]),
    json_patch("test_uid", CM + "/a", [{"op": "test", "path": "/metadata/uid", "value": "${create:metadata.uid}"},
                                       {"op": "add", "path": "/metadata/labels/m", "value": "2"}]),
    json_patch("remove_missing", CM + "/a", [{"op": "remove", "path": "/data/none"}]),
    json_patch("replace_missing", CM + "/a", [{"op": "replace", "path": "/data/none", "value": "1"}]),
    json_patch("add_below_missing", CM + "/a", [{"op": "add", "path": "/none/x", "value": "1"}]),
    json_patch("move_missing", CM + "/a", [{"op": "move", "from": "/data/none", "path": "/data/w"}]),
    json_patch("copy_missing", CM + "/a", [{"op": "copy", "from": "/data/none", "path": "/data/w"}]),
    json_patch("unknown_op", CM + "/a", [{"op": "increase", "path": "/data/x"}]),
    json_patch("no_path", CM + "/a", [{"op": "add", "value": "x"}]),
    json_patch("no_value", CM + "/a", [{"op": "add", "path": "/data/q"}]),
    json_patch("no_slash", CM + "/a", [{"op": "add", "path": "data/q", "value": "1"}]),
    json_patch("escape", CM + "/a", [{"op": "add", "path": "/metadata/annotations", "value": {}},
                                     {"op": "add", "path": "/metadata/annotations/example.com~1note", "value": "x~y"},
                                     {"op": "add", "path": "/metadata/annotations/b", "value": "z"}]),
    json_patch("empty", CM + "/a", []),
    json_patch("not_a_list", CM + "/a", {"op": "add"}),
    json_patch("not_json", CM + "/a", "nothing"),
    json_patch("wrong_type", CM + "/a", [{"op": "add", "path": "/data/x", "value": 5}]),
    json_patch("name", CM + "/a", [{"op": "replace", "path": "/metadata/name", "value": "b"}]),
    json_patch("namespace", CM + "/a", [{"op": "replace", "path": "/metadata/namespace", "value": "default"}]),
    json_patch("uid", CM + "/a", [{"op": "replace", "path": "/metadata/uid", "value": "00000000-0000-4000-8000-000000000000"}]),
    json_patch("kind", CM + "/a", [{"op": "replace", "path": "/kind", "value": "Node"}]),
    json_patch("stale_version", CM + "/a", [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]),
    json_patch("remove_version", CM + "/a", [{"op": "remove", "path": "/metadata/resourceVersion"}, {"op": "add", "path": "/data/r", "value": "1"}]),
    json_patch("whole", CM + "/a", [{"op": "replace", "path": "", "value": {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {}}}]),
    json_patch("missing", CM + "/none", [{"op": "add", "path": "/data/z", "value": "3"}]),
    json_patch("missing_bad", CM + "/none", "nothing"),
    json_patch("too_many", CM + "/a", [{"op": "test", "path": "/data/x", "value": "10"}] * 10001),
    post("create_list", CM, configmap("b", finalizers=["example.com/a", "example.com/b"])),
    json_patch("insert", CM + "/b", [{"op": "add", "path": "/metadata/finalizers/1", "value": "example.com/m"}]),
    json_patch("append", CM + "/b", [{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/z"}]),
    json_patch("index_too_large", CM + "/b", [{"op": "add", "path": "/metadata/finalizers/9", "value": "example.com/n"}]),
    json_patch("remove_index_too_large", CM + "/b", [{"op": "remove", "path": "/metadata/finalizers/9"}]),
    json_patch("index_word", CM + "/b", [{"op": "add", "path": "/metadata/finalizers/first", "value": "example.com/n"}]),
    json_patch("index_negative", CM + "/b", [{"op": "remove", "path": "/metadata/finalizers/-1"}]),
    json_patch("remove_index", CM + "/b", [{"op": "remove", "path": "/metadata/finalizers/0"}]),
    json_patch("remove_all", CM + "/b", [{"op": "remove", "path": "/metadata/finalizers"}]),
    post("group", GROUPS, group("g", {"minMember": 2})),
    json_patch("group_replace", GROUPS + "/g", [{"op": "replace", "path": "/spec/minMember", "value": 4}]),
    json_patch("group_invalid", GROUPS + "/g", [{"op": "replace", "path": "/spec/minMember", "value": 0}]),
    json_patch("group_status", GROUPS + "/g/status", [{"op": "add", "path": "/status", "value": {"phase": "Pending"}}]),
    get("after", CM + "/a"),
])

MERGE = Chapter("mergepatch", "merge patches", [
    post("create", CM, configmap("a", {"x": "1", "y": "2"}, labels={"l": "1"}, finalizers=["example.com/a"])),
    merge("change", CM + "/a", {"data": {"x": "10", "z": "3"}}),
    merge("nothing", CM + "/a", {"data": {"x": "10"}}),
    merge("empty", CM + "/a", {}),
    merge("remove", CM + "/a", {"data": {"y": None, "none": None}}),
    merge("list_replaced", CM + "/a", {"metadata": {"finalizers": ["example.com/b"]}}),
    merge("list_cleared", CM + "/a", {"metadata": {"finalizers": None}}),
    merge("labels_cleared", CM + "/a", {"metadata": {"labels": None}}),
    merge("with_version", CM + "/a", {"metadata": {"resourceVersion": "${labels_cleared:metadata.resourceVersion}"}, "data": {"v": "1"}}),
    merge("stale_version", CM + "/a", {"metadata": {"resourceVersion": "${create:metadata.resourceVersion}"}, "data": {"v": "2"}}),
    merge("right_uid", CM + "/a", {"metadata": {"uid": "${create:metadata.uid}"}, "data": {"v": "3"}}),
    merge("other_uid", CM + "/a", {"metadata": {"uid": "00000000-0000-4000-8000-000000000000"}, "data": {"v": "4"}}),
    merge("other_name", CM + "/a", {"metadata": {"name": "b"}}),
    merge("other_namespace", CM + "/a", {"metadata": {"namespace": "default"}}),
    merge("other_kind", CM + "/a", {"kind": "Node"}),
    merge("other_version", CM + "/a", {"apiVersion": "v2"}),
    merge("not_an_object", CM + "/a", [1]),
    merge("not_json", CM + "/a", "{"),
    merge("nothing_sent", CM + "/a", ""),
    merge("wrong_type", CM + "/a", {"data": {"x": 5}}),
    merge("wrong_shape", CM + "/a", {"data": "text"}),
    merge("invalid", CM + "/a", {"metadata": {"labels": {"-": "x"}}}),
    merge("unknown_field", CM + "/a", {"colour": "red"}),
    merge("unknown_field_strict", CM + "/a?fieldValidation=Strict", {"colour": "red"}),
    merge("missing", CM + "/none", {"data": {}}),
    patch("no_content_type", CM + "/a", "", {"data": {}}),
    patch("json_content_type", CM + "/a", "application/json", {"data": {"x": "1"}}),
    patch("text_content_type", CM + "/a", "text/plain", {"data": {}}),
    patch("content_type_with_charset", CM + "/a", "application/merge-patch+json; charset=utf-8", {"data": {"c": "1"}}),
    merge("force_without_apply", CM + "/a?force=true", {"data": {}}),
    merge("field_manager", CM + "/a?fieldManager=me", {"data": {"m": "1"}}),
    merge("field_manager_too_long", CM + "/a?fieldManager=" + "m" * 129, {"data": {"m": "2"}}),
    post("group", GROUPS, group("g", {"minMember": 2, "queue": "q"})),
    merge("group_change", GROUPS + "/g", {"spec": {"minMember": 3}}),
    merge("group_remove_default", GROUPS + "/g", {"spec": {"minMember": None}}),
    merge("group_metadata_only", GROUPS + "/g", {"metadata": {"labels": {"a": "b"}}}),
    merge("group_nothing", GROUPS + "/g", {"spec": {"queue": "q"}}),
    merge("group_status_in_spec_patch", GROUPS + "/g", {"status": {"phase": "Running"}, "spec": {"minMember": 3}}),
    merge("group_status", GROUPS + "/g/status", {"status": {"phase": "Running"}, "spec": {"minMember": 4}}),
    merge("group_status_metadata", GROUPS + "/g/status", {"metadata": {"labels": {"c": "d"}, "annotations": {"e": "f"}}, "status": {"members": 1}}),
    merge("group_status_nothing", GROUPS + "/g/status", {"status": {"members": 1}}),
    merge("group_spec_only_by_status", GROUPS + "/g/status", {"spec": {"queue": "s"}}),
    merge("group_invalid", GROUPS + "/g", {"spec": {"minMember": "three"}}),
    merge("group_unknown", GROUPS + "/g", {"spec": {"colour": "red"}}),
    merge("group_unknown_strict", GROUPS + "/g?fieldValidation=Strict", {"spec": {"colour": "red"}}),
    merge("group_spec_null", GROUPS + "/g", {"spec": None}),
    strategic("group_strategic", GROUPS + "/g", {"spec": {"minMember": 3}}),
    get("after", CM + "/a"),
])

STRATEGIC = Chapter("strategicpatch", "strategic merge patches of built-in types", [
    post("cm", CM, configmap("a", {"x": "1", "y": "2"}, finalizers=["example.com/a"])),
    strategic("cm_change", CM + "/a", {"data": {"x": None, "z": "3"}}),
    strategic("cm_nothing", CM + "/a", {"data": {"z": "3"}}),
    strategic("cm_finalizers_merge", CM + "/a", {"metadata": {"finalizers": ["example.com/b"]}}),
    strategic("cm_finalizers_delete", CM + "/a", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}),
    strategic("cm_finalizers_order", CM + "/a", {"metadata": {"$setElementOrder/finalizers": ["example.com/c", "example.com/b"],
                                                              "finalizers": ["example.com/c"]}}),
    strategic("cm_data_replace", CM + "/a", {"data": {"$patch": "replace", "only": "1"}}),
    strategic("cm_data_delete", CM + "/a", {"data": {"$patch": "delete"}}),
    strategic("cm_bad_directive", CM + "/a", {"data": {"$patch": "mix"}}),
    post("owner", CM, configmap("owner")),
    strategic("cm_owners_add", CM + "/a", {"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "${owner:metadata.uid}"}], "finalizers": ["example.com/keep"]}}),
    strategic("cm_owners_delete", CM + "/a", {"metadata": {"ownerReferences": [{"$patch": "delete", "uid": "${owner:metadata.uid}"}]}}),
    strategic("cm_stale", CM + "/a", {"metadata": {"resourceVersion": "${cm:metadata.resourceVersion}"}, "data": {"x": "1"}}),
    strategic("cm_uid", CM + "/a", {"metadata": {"uid": "00000000-0000-4000-8000-000000000000"}}),
    strategic("cm_not_object", CM + "/a", [1]),
    strategic("cm_not_json", CM + "/a", "{"),
    strategic("cm_wrong_type", CM + "/a", {"data": 5}),
    strategic("cm_unknown_strict", CM + "/a?fieldValidation=Strict", {"colour": "red"}),
    post("pod", PODS, {**pod("p", schedulingGates=[{"name": "example.com/a"}, {"name": "example.com/b"}], tolerations=[
        {"key": "t1", "operator": "Exists"}], nodeSelector={"a": "1"}), "metadata": {"name": "p", "labels": {"app": "x"}}}),
    strategic("gate_removed_by_name", PODS + "/p", {"spec": {"schedulingGates": [{"$patch": "delete", "name": "example.com/a"}]}}),
    strategic("gate_removed_with_selector", PODS + "/p", {"spec": {
        "schedulingGates": [{"$patch": "delete", "name": "example.com/b"}], "nodeSelector": {"pool": "gpu"}}}),
    strategic("gate_missing", PODS + "/p", {"spec": {"schedulingGates": [{"$patch": "delete", "name": "example.com/a"}]}}),
    strategic("image", PODS + "/p", {"spec": {"containers": [{"name": "main", "image": "j"}]}}),
    strategic("toleration_added", PODS + "/p", {"spec": {"tolerations": [{"key": "t2", "operator": "Exists"}]}}),
    strategic("label", PODS + "/p", {"metadata": {"labels": {"app": None, "tier": "gold"}}}),
    strategic("container_added", PODS + "/p", {"spec": {"containers": [{"name": "second", "image": "k"}]}}),
    strategic("container_without_key", PODS + "/p", {"spec": {"containers": [{"image": "k"}]}}),
    strategic("status_condition", PODS + "/p/status", {"status": {"conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no"}, {"type": "Ready", "status": "False"}]}}),
    strategic("status_condition_changed", PODS + "/p/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    strategic("status_condition_removed", PODS + "/p/status", {"status": {"conditions": [{"$patch": "delete", "type": "Ready"}]}}),
    strategic("status_conditions_replaced", PODS + "/p/status", {"status": {"conditions": [
        {"$patch": "replace"}, {"type": "Initialized", "status": "True"}]}}),
    strategic("missing", PODS + "/none", {"metadata": {}}),
    post("deployment_dry", DEPLOYMENTS + "?dryRun=All", {
        "metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "i", "ports": [
                {"containerPort": 80}], "env": [{"name": "A", "value": "1"}]}]}}}}),
    post("pod_2", PODS, {**pod("p2"), "metadata": {"name": "p2", "annotations": {"a": "1"}}}),
    strategic("env_rejected", PODS + "/p2", {"spec": {"containers": [{"name": "main", "env": [{"name": "A", "value": "1"}]}]}}),
    strategic("annotations_replaced", PODS + "/p2", {"metadata": {"annotations": {"$patch": "replace", "b": "2"}}}),
    strategic("retain_keys", PODS + "/p2", {"metadata": {"$retainKeys": ["name"], "name": "p2"}}),
])

QUIET = {"apiVersion": "v1", "kind": "ConfigMap"}


def intent(name, **data):
    return {**QUIET, "metadata": {"name": name}, "data": data}


APPLY = Chapter("apply", "server-side apply", [
    apply("create", CM + "/a", intent("a", x="1", y="2")),
    apply("again", CM + "/a", intent("a", x="1", y="2")),
    apply("change", CM + "/a", intent("a", x="10", y="2")),
    apply("release_one", CM + "/a", intent("a", x="10")),
    apply("other_adds", CM + "/a", intent("a", z="3"), "beta"),
    apply("other_agrees", CM + "/a", intent("a", x="10", z="3"), "beta"),
    apply("shared_stays", CM + "/a", intent("a", w="1")),
    apply("conflict", CM + "/a", intent("a", z="4")),
    apply("conflict_two", CM + "/a", intent("a", z="4", x="5")),
    apply("forced", CM + "/a", intent("a", z="4"), force=True),
    apply("loser_again", CM + "/a", intent("a", x="10", z="3"), "beta"),
    merge("plain_write", CM + "/a?fieldManager=editor", {"data": {"z": "9"}}, managed=True),
    apply("conflict_with_editor", CM + "/a", intent("a", z="4")),
    apply("no_manager", CM + "/a", intent("a", x="1"), None),
    apply("manager_too_long", CM + "/a", intent("a", x="1"), "m" * 129),
    apply("other_name", CM + "/a", intent("b", x="1")),
    apply("no_kind", CM + "/a", {"metadata": {"name": "a"}}),
    apply("other_kind", CM + "/a", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
    apply("managed_fields", CM + "/a", {**QUIET, "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}),
    apply("uid_create", CM + "/new", {**QUIET, "metadata": {"name": "new", "uid": "${create:metadata.uid}"}}),
    apply("version_stale", CM + "/a", {**QUIET, "metadata": {"name": "a", "resourceVersion": "1"}, "data": {"q": "1"}}),
    apply("version_on_create", CM + "/fresh", {**QUIET, "metadata": {"name": "fresh", "resourceVersion": "1"}, "data": {"q": "1"}}),
    apply("unknown_field", CM + "/a", {**intent("a"), "colour": "red"}),
    apply("wrong_type", CM + "/a", {**QUIET, "metadata": {"name": "a"}, "data": {"x": 5}}),
    apply("yaml", CM + "/yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  text: |\n    two\n    lines\n"),
    apply("yaml_broken", CM + "/yaml", "a: [b\n"),
    apply("dry_run", CM + "/a?dryRun=All", intent("a", n="1"), "gamma"),
    apply("dry_run_create", CM + "/ghost?dryRun=All", intent("ghost", n="1")),
    get("ghost", CM + "/ghost"),
    apply("labels", CM + "/a", {**QUIET, "metadata": {"name": "a", "labels": {"l": "1"}, "finalizers": ["example.com/a"]}}, "labeller"),
    apply("finalizers_are_a_set", CM + "/a", {**QUIET, "metadata": {"name": "a", "finalizers": ["example.com/b"]}}, "other-labeller"),
    apply("labels_released", CM + "/a", {**QUIET, "metadata": {"name": "a"}}, "labeller"),
    apply("last_finalizer", CM + "/a", {**QUIET, "metadata": {"name": "a"}}, "other-labeller"),
    post("by_post", CM + "?fieldManager=poster", intent("posted", x="1"), managed=True),
    apply("onto_posted", CM + "/posted", intent("posted", x="1", y="2")),
    apply("onto_posted_conflict", CM + "/posted", intent("posted", x="2", y="2")),
    put("put_over_applied", CM + "/posted?fieldManager=putter", intent("posted", y="5"), managed=True),
    put("clear_managed_fields", CM + "/posted?fieldManager=putter", {**intent("posted", y="6"), "metadata": {"name": "posted", "managedFields": [{}]}}, managed=True),
    apply("group", GROUPS + "/g", group("g", {"minMember": 2})),
    apply("group_again", GROUPS + "/g", group("g", {"minMember": 2})),
    apply("group_change", GROUPS + "/g", group("g", {"minMember": 3, "queue": "q"})),
    apply("group_release", GROUPS + "/g", group("g", {"queue": "q"})),
    apply("group_invalid", GROUPS + "/g", group("g", {"minMember": 0})),
    apply("group_unknown", GROUPS + "/g", group("g", {"colour": "red"})),
    apply("group_unknown_strict", GROUPS + "/g?fieldValidation=Strict", group("g", {"colour": "red"})),
    apply("group_status", GROUPS + "/g/status", {**group("g"), "status": {"phase": "Running", "conditions": [
        {"type": "Admitted", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, "controller"),
    apply("group_status_other_condition", GROUPS + "/g/status", {**group("g"), "status": {"conditions": [
        {"type": "Scheduled", "status": "True", "reason": "S", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, "second"),
    apply("group_status_same_condition", GROUPS + "/g/status", {**group("g"), "status": {"conditions": [
        {"type": "Admitted", "status": "False", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, "second"),
    apply("group_status_duplicate_key", GROUPS + "/g/status", {**group("g"), "status": {"conditions": [
        {"type": "A", "status": "False", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}] * 2}}, "third"),
    apply("group_status_missing_key", GROUPS + "/g/status", {**group("g"), "status": {"conditions": [{"status": "False"}]}}, "third"),
    # managedFields are in the order of their seconds; where the second ends between these writes, a real server sees them in a new order and writes
    apply("group_status_by_spec", GROUPS + "/g", {**group("g", {"queue": "q"}), "status": {"phase": "Failed"}}, without=("metadata.resourceVersion",)),
    apply("status_of_missing", GROUPS + "/none/status", {**group("none"), "status": {"phase": "Running"}}),
    apply("group_null", GROUPS + "/null", group("null", {"queue": None})),
    apply("group_null_with_default", GROUPS + "/h", {**group("h"), "spec": None}),
    apply("group_null_member", GROUPS + "/null", group("null", {"minResources": {"cpu": None}})),
    apply("group_null_texts", GROUPS + "/h", group("h", {}, annotations={"a": None}, labels={"b": None})),
    apply("group_empty_map", GROUPS + "/h", group("h", {"minResources": {}})),
    apply("group_map", GROUPS + "/h", group("h", {"minResources": {"cpu": "1"}, "queue": "q"})),
    apply("group_null_over_text", GROUPS + "/h", group("h", {"minResources": {"cpu": "1"}, "queue": None})),
    apply("group_null_over_map", GROUPS + "/h", group("h", {"minResources": None})),
    apply("group_null_over_all", GROUPS + "/h", {**group("h"), "spec": None}),
    apply("group_status_empty", GROUPS + "/h/status", {**group("h"), "status": {"conditions": []}}, "controller"),
    apply("group_status_null", GROUPS + "/h/status", {**group("h"), "status": {"conditions": None}}, "controller"),
    apply("null_data", CM + "/nulls", {**QUIET, "metadata": {"name": "nulls", "labels": None}, "data": None}),
    apply("null_value", CM + "/nulls", intent("nulls", x=None)),
    apply("empty_data", CM + "/nulls", intent("nulls")),
    apply("empty_list", CM + "/nulls", {**QUIET, "metadata": {"name": "nulls", "finalizers": [], "ownerReferences": []}}),
    apply("null_body", CM + "/a", "null"),
    apply("list_body", CM + "/a", "[]"),
    apply("text_body", CM + "/a", "x"),
    apply("empty_body", CM + "/a", ""),
    apply("pod_nulls", PODS + "/nulls", pod("nulls", nodeSelector={}, tolerations=[], volumes=None)),
    apply("pod_nulls_again", PODS + "/nulls", pod("nulls", nodeSelector=None)),
    apply("pod", PODS + "/p", pod("p", tolerations=[{"key": "a", "operator": "Exists"}])),
    # the server adds tolerations to the applied one again, and then nothing has changed but the second
    get("pod_later", PODS + "/p", until=second_is_over("metadata.creationTimestamp")),
    apply("pod_again", PODS + "/p", pod("p", tolerations=[{"key": "a", "operator": "Exists"}])),
    apply("pod_image", PODS + "/p", pod("p", containers=[{"name": "main", "image": "j"}], tolerations=[{"key": "a", "operator": "Exists"}])),
    apply("pod_image_conflict", PODS + "/p", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "main", "image": "k"}]}}, "beta"),
    apply("pod_invalid", PODS + "/p", pod("p", containers=[{"name": "main", "image": "j"}, {"name": "more", "image": "x"}],
                                         tolerations=[{"key": "a", "operator": "Exists"}])),
    patch("cbor", CM + "/a", "application/apply-patch+cbor", "\x00"),
    patch("json_body_with_apply", CM + "/a?fieldManager=alpha&force=true", APPLY_PATCH, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'),
])

DRY_RUN = Chapter("dryrun", "dry run leaves no trace", [
    post("create", CM + "?dryRun=All", configmap("a", {"x": "1"})),
    get("not_created", CM + "/a"),
    post("really", CM, configmap("a", {"x": "1"})),
    post("exists", CM + "?dryRun=All", configmap("a")),
    put("update", CM + "/a?dryRun=All", configmap("a", {"x": "2"})),
    merge("patch", CM + "/a?dryRun=All", {"data": {"x": "3"}}),
    json_patch("json_patch", CM + "/a?dryRun=All", [{"op": "test", "path": "/data/x", "value": "2"}]),
    put("stale", CM + "/a?dryRun=All", configmap("a", resourceVersion="1")),
    get("not_changed", CM + "/a"),
    delete("delete", CM + "/a?dryRun=All"),
    delete("delete_missing", CM + "/b?dryRun=All"),
    delete("delete_uid", CM + "/a?dryRun=All", {"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}}),
    get("not_deleted", CM + "/a"),
    post("invalid", CM + "?dryRun=All", configmap("A")),
    post("bad_value", CM + "?dryRun=Some", configmap("b")),
    post("empty_value", CM + "?dryRun=", configmap("c")),
    post("twice", CM + "?dryRun=All&dryRun=All", configmap("d")),
    post("generate", CM + "?dryRun=All", {"metadata": {"generateName": "g-"}}),
    post("pod", PODS + "?dryRun=All", pod("p")),
    post("job", JOBS + "?dryRun=All", {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"name": "j"}, "spec": {
        "taskSpecs": [{"name": "t", "replicas": 1, "template": {"spec": {"containers": [{"name": "main", "image": "i"}]}}}]}}),
    post("namespace", "/api/v1/namespaces?dryRun=All", {"metadata": {"name": "diff-ghost-${run}"}}),
    get("after", CM + "?labelSelector=none"),
])

CHAPTERS = [JSON, MERGE, STRATEGIC, APPLY, DRY_RUN]
