"""Finalizers, propagation, garbage collection, namespaces."""

from script import Chapter, delete, events, follow, found, get, gone, has, merge, post, put, watch

CM = "/api/v1/namespaces/${ns}/configmaps"
SECRETS = "/api/v1/namespaces/${ns}/secrets"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${ns}/podgroups"
BACKGROUND = {"propagationPolicy": "Background"}
FOREGROUND = {"propagationPolicy": "Foreground"}
ORPHAN = {"propagationPolicy": "Orphan"}


def configmap(name, owners=(), **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {},
            "metadata": {"name": name, **metadata, **({"ownerReferences": list(owners)} if owners else {})}}


def owned_by(operation, kind="ConfigMap", version="v1", **more):
    return {"apiVersion": version, "kind": kind, "name": "${%s:metadata.name}" % operation, "uid": "${%s:metadata.uid}" % operation, **more}


FINALIZERS = Chapter("finalizers", "finalizers, deletionTimestamp, forms of deletion", [
    post("create", CM, configmap("a", finalizers=["example.com/one", "example.com/two"])),
    delete("delete_dry_run", CM + "/a?dryRun=All"),
    get("after_dry_run", CM + "/a"),
    delete("delete", CM + "/a"),
    get("deleting", CM + "/a"),
    delete("delete_again", CM + "/a"),
    get("after_second_delete", CM + "/a"),
    post("create_while_deleting", CM, configmap("a")),
    merge("label_while_deleting", CM + "/a", {"metadata": {"labels": {"x": "y"}}}),
    merge("add_finalizer_while_deleting", CM + "/a", {"metadata": {"finalizers": ["example.com/one", "example.com/two", "example.com/three"]}}),
    merge("change_deletion_time", CM + "/a", {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}}),
    merge("clear_deletion_time", CM + "/a", {"metadata": {"deletionTimestamp": None}}),
    merge("remove_one", CM + "/a", {"metadata": {"finalizers": ["example.com/two"]}}),
    merge("remove_last_dry_run", CM + "/a?dryRun=All", {"metadata": {"finalizers": []}}),
    merge("remove_last", CM + "/a", {"metadata": {"finalizers": []}}),
    get("removed", CM + "/a"),
    post("create_b", CM, configmap("b", finalizers=["example.com/one"])),
    delete("delete_b", CM + "/b"),
    put("put_without_finalizers", CM + "/b", configmap("b")),
    get("b_removed", CM + "/b"),
    post("create_plain", CM, configmap("plain")),
    delete("delete_dry_run_plain", CM + "/plain", {"dryRun": ["All"]}),
    delete("delete_bad_dry_run", CM + "/plain", {"dryRun": ["Some"]}),
    delete("delete_bad_policy", CM + "/plain", {"propagationPolicy": "Sideways"}),
    delete("delete_two_policies", CM + "/plain", {"propagationPolicy": "Orphan", "orphanDependents": True}),
    delete("delete_negative_grace", CM + "/plain", {"gracePeriodSeconds": -5}),
    post("create_plain_again", CM, configmap("plain2")),
    delete("delete_bad_body", CM + "/plain2", "not json"),
    delete("delete_other_kind", CM + "/plain2", {"apiVersion": "v1", "kind": "Pod"}),
    delete("delete_query_policy_bad", CM + "/plain2?propagationPolicy=Sideways"),
    delete("delete_query", CM + "/plain2?propagationPolicy=Background&gracePeriodSeconds=0"),
    post("create_orphan_finalizer", CM, configmap("o", finalizers=["orphan"])),
    delete("delete_orphan_finalizer_background", CM + "/o", BACKGROUND),
    get("orphan_finalizer_gone", CM + "/o", until=gone),
    post("create_group", GROUPS, {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
                                  "metadata": {"name": "g", "finalizers": ["example.com/wait"]}, "spec": {}}),
    delete("delete_group", GROUPS + "/g"),
    merge("group_spec_while_deleting", GROUPS + "/g", {"spec": {"minMember": 3}}),
    merge("group_status_while_deleting", GROUPS + "/g/status", {"status": {"phase": "Failed"}}),
    merge("group_finalizer_by_status", GROUPS + "/g/status", {"metadata": {"finalizers": []}}),
    merge("group_release", GROUPS + "/g", {"metadata": {"finalizers": []}}),
    get("group_gone", GROUPS + "/g"),
    post("create_group_2", GROUPS, {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "h"}, "spec": {}}),
    delete("delete_group_2", GROUPS + "/h"),
])

GC = Chapter("gc", "garbage collection by ownerReferences: background, foreground, orphan, other UID", [
    # background
    post("owner_1", CM, configmap("owner-1")),
    post("child_1", SECRETS, {"metadata": {"name": "child-1", "ownerReferences": [owned_by("owner_1")]}}),
    post("grandchild_1", CM, configmap("grandchild-1", [owned_by("child_1", "Secret")])),
    delete("delete_owner_1", CM + "/owner-1", BACKGROUND),
    get("owner_1_gone", CM + "/owner-1"),
    get("child_1_gone", SECRETS + "/child-1", until=gone),
    get("grandchild_1_gone", CM + "/grandchild-1", until=gone),
    # foreground, with a dependent that blocks and one that does not
    post("owner_2", CM, configmap("owner-2")),
    post("blocker_2", CM, configmap("blocker-2", [owned_by("owner_2", blockOwnerDeletion=True)], finalizers=["example.com/hold"])),
    post("bystander_2", CM, configmap("bystander-2", [owned_by("owner_2")], finalizers=["example.com/hold"])),
    delete("delete_owner_2", CM + "/owner-2", FOREGROUND),
    get("blocker_2_deleting", CM + "/blocker-2", until=has("metadata.deletionTimestamp")),
    get("bystander_2_deleting", CM + "/bystander-2", until=has("metadata.deletionTimestamp")),
    get("owner_2_waits", CM + "/owner-2"),
    merge("blocker_2_released", CM + "/blocker-2", {"metadata": {"finalizers": None}}, only=("metadata.name",)),
    get("owner_2_gone", CM + "/owner-2", until=gone),
    get("bystander_2_stays", CM + "/bystander-2", only=("metadata.name", "metadata.finalizers")),
    merge("bystander_2_released", CM + "/bystander-2", {"metadata": {"finalizers": None}}),
    # orphan
    post("owner_3", CM, configmap("owner-3")),
    post("child_3", CM, configmap("child-3", [owned_by("owner_3", controller=True, blockOwnerDeletion=True)])),
    delete("delete_owner_3", CM + "/owner-3?propagationPolicy=Orphan"),
    get("owner_3_gone", CM + "/owner-3", until=gone),
    get("child_3_free", CM + "/child-3"),
    # an owner of the same name but another UID counts as absent
    post("owner_4", CM, configmap("owner-4")),
    delete("delete_owner_4", CM + "/owner-4", ORPHAN),
    get("owner_4_gone", CM + "/owner-4", until=gone),
    post("owner_4_again", CM, configmap("owner-4")),
    post("late_child_4", CM, configmap("late-child-4", [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner-4", "uid": "${owner_4:metadata.uid}"}])),
    get("late_child_4_gone", CM + "/late-child-4", until=gone),
    get("owner_4_stays", CM + "/owner-4"),
    # one owner of two is gone: the reference to it is taken away
    post("owner_5a", CM, configmap("owner-5a")),
    post("owner_5b", CM, configmap("owner-5b")),
    post("child_5", CM, configmap("child-5", [owned_by("owner_5a"), owned_by("owner_5b")])),
    delete("delete_owner_5a", CM + "/owner-5a", BACKGROUND),
    get("child_5_has_one_owner", CM + "/child-5", until=lambda a: a.code == 200 and len(a.body["metadata"]["ownerReferences"]) == 1,
        only=("metadata.ownerReferences",)),
    delete("delete_owner_5b", CM + "/owner-5b", BACKGROUND),
    get("child_5_gone", CM + "/child-5", until=gone),
    # foreground without dependents
    post("owner_6", CM, configmap("owner-6")),
    delete("delete_owner_6", CM + "/owner-6", FOREGROUND),
    get("owner_6_gone", CM + "/owner-6", until=gone),
    # background while foreground is under way
    post("owner_7", CM, configmap("owner-7")),
    post("blocker_7", CM, configmap("blocker-7", [owned_by("owner_7", blockOwnerDeletion=True)], finalizers=["example.com/hold"])),
    delete("delete_owner_7", CM + "/owner-7", FOREGROUND),
    delete("delete_owner_7_background", CM + "/owner-7", BACKGROUND),
    get("owner_7_gone", CM + "/owner-7", until=gone),
    get("blocker_7_deleting", CM + "/blocker-7", until=has("metadata.deletionTimestamp"), only=("metadata.finalizers", "metadata.ownerReferences")),
    merge("blocker_7_released", CM + "/blocker-7", {"metadata": {"finalizers": None}}, only=("metadata.name",)),
    # custom resources own and are owned
    post("owner_8", GROUPS, {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "owner-8"}, "spec": {}}),
    post("child_8", CM, configmap("child-8", [owned_by("owner_8", "PodGroup", "scheduling.x-k8s.io/v1alpha1", controller=True, blockOwnerDeletion=True)])),
    delete("delete_owner_8", GROUPS + "/owner-8", FOREGROUND),
    get("owner_8_gone", GROUPS + "/owner-8", until=gone),
    get("child_8_gone", CM + "/child-8", until=gone),
    # deletecollection with a policy
    post("owner_9", CM, configmap("owner-9", labels={"set": "nine"})),
    post("child_9", CM, configmap("child-9", [owned_by("owner_9")])),
    delete("delete_collection_orphan", CM + "?labelSelector=set=nine", ORPHAN),
    get("owner_9_gone", CM + "/owner-9", until=gone),
    get("child_9_free", CM + "/child-9"),
])

NS = "/api/v1/namespaces"
OTHER = "diff-other-${run}"

NAMESPACES = Chapter("namespaces", "namespaces: creation, what appears in them, refused writes, termination", [
    watch("watched", NS + "?watch=true&timeoutSeconds=60&fieldSelector=metadata.name=" + OTHER),
    post("create", NS, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHER}}),
    post("create_again", NS, {"metadata": {"name": OTHER}}),
    post("create_bad_name", NS, {"metadata": {"name": "a.b"}}),
    get("get", f"{NS}/{OTHER}"),
    get("default_account", f"{NS}/{OTHER}/serviceaccounts/default", until=found),
    get("root_certificates", f"{NS}/{OTHER}/configmaps/kube-root-ca.crt", until=found, without=("data.ca\\.crt",)),
    get("default", NS + "/default"),
    get("system", NS + "/kube-system"),
    get("lease_namespace", NS + "/kube-node-lease", only=("metadata.labels", "spec", "status")),
    get("by_phase", f"{NS}?fieldSelector=status.phase=Active,metadata.name={OTHER}"),
    get("table", f"{NS}/{OTHER}", accept="application/json;as=Table;g=meta.k8s.io;v=v1"),
    merge("label", f"{NS}/{OTHER}", {"metadata": {"labels": {"team": "x"}}}),
    merge("label_name_removed", f"{NS}/{OTHER}", {"metadata": {"labels": {"kubernetes.io/metadata.name": None}}}),
    merge("status_ignored", f"{NS}/{OTHER}", {"status": {"phase": "Terminating"}}),
    merge("spec_finalizers_ignored", f"{NS}/{OTHER}", {"spec": {"finalizers": []}}),
    delete("delete_collection", NS),
    post("hold", f"{NS}/{OTHER}/configmaps", configmap("hold", finalizers=["example.com/hold"])),
    post("plain", f"{NS}/{OTHER}/configmaps", configmap("plain")),
    post("group", f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{OTHER}/podgroups",
         {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {}}),
    delete("delete", f"{NS}/{OTHER}"),
    events("watched_events", "watched", lambda event: follow(event, "object.metadata.deletionTimestamp") is not None),
    post("create_in_terminating", f"{NS}/{OTHER}/configmaps", configmap("late")),
    post("create_group_in_terminating", f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{OTHER}/podgroups",
         {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "late"}, "spec": {}}),
    get("plain_gone", f"{NS}/{OTHER}/configmaps/plain", until=gone),
    get("group_gone", f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{OTHER}/podgroups/g", until=gone),
    get("hold_deleting", f"{NS}/{OTHER}/configmaps/hold", until=has("metadata.deletionTimestamp")),
    merge("label_while_terminating", f"{NS}/{OTHER}/configmaps/hold", {"metadata": {"labels": {"x": "y"}}}),
    get("terminating", f"{NS}/{OTHER}", until=lambda a: a.code == 404 or any(
        c["type"] == "NamespaceFinalizersRemaining" and c["status"] == "True" for c in a.body["status"].get("conditions", [])),
        without=("metadata.resourceVersion",)),
    delete("delete_again", f"{NS}/{OTHER}", without=("metadata.resourceVersion",)),
    merge("release", f"{NS}/{OTHER}/configmaps/hold", {"metadata": {"finalizers": None}}),
    get("gone", f"{NS}/{OTHER}", until=gone),
    get("list_in_gone", f"{NS}/{OTHER}/configmaps"),
    post("create_anew", NS, {"metadata": {"name": OTHER}}),
    delete("delete_anew", f"{NS}/{OTHER}"),
    get("anew_gone", f"{NS}/{OTHER}", until=gone),
    post("create_gated", NS, {"metadata": {"name": OTHER + "-2"}, "spec": {"finalizers": ["example.com/own", "kubernetes"]}}),
    put("finalize", f"{NS}/{OTHER}-2/finalize", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHER + "-2"},
                                               "spec": {"finalizers": ["kubernetes"]}}),
    delete("delete_gated", f"{NS}/{OTHER}-2"),
    get("gated_gone", f"{NS}/{OTHER}-2", until=gone),
    delete("delete_default", NS + "/default"),
    delete("delete_kube_system", NS + "/kube-system"),
])

CHAPTERS = [FINALIZERS, GC, NAMESPACES]
