"""Lists in pages, at a version and by selectors; watches from a version, with bookmarks and initial events."""

from script import (Chapter, PARTIAL, PARTIAL_LIST, TABLE, bookmark, delete, ended, events, forget_history, get, merge, named, post, put, watch)

CM = "/api/v1/namespaces/${ns}/configmaps"
QUERY = CM + "?labelSelector=set=x"


def configmap(name, value="v", **labels):
    return {"metadata": {"name": name, "labels": {"set": "x", **labels}}, "data": {"k": value}}


def select(name, selector):
    return get(name, CM + "?labelSelector=" + selector)


def by_field(name, selector):
    return get(name, CM + "?fieldSelector=" + selector)


LIST = Chapter("list", "lists: pages, versions, selectors", [
    get("empty", QUERY),
    *[post(f"create_{n}", CM, configmap(n, **labels)) for n, labels in (
        ("c", {"tier": "gold"}), ("a", {"tier": "silver"}), ("b", {"tier": "gold", "hot": ""}), ("e", {}), ("d", {"hot": "yes"}))],
    get("all", QUERY),
    get("page_1", QUERY + "&limit=2"),
    get("page_2", QUERY + "&limit=2&continue=${page_1:metadata.continue}"),
    get("page_3", QUERY + "&limit=2&continue=${page_2:metadata.continue}"),
    post("create_between", CM, configmap("ab")),
    get("page_2_again", QUERY + "&limit=2&continue=${page_1:metadata.continue}"),
    get("page_rest", QUERY + "&continue=${page_1:metadata.continue}"),
    get("page_exact_fit", QUERY + "&limit=6"),
    get("page_larger", QUERY + "&limit=100"),
    get("page_unselected", CM + "?limit=1", only=("kind", "metadata.continue", "metadata.remainingItemCount")),
    get("page_with_rv", QUERY + "&limit=2&continue=${page_1:metadata.continue}&resourceVersion=5"),
    get("page_with_rv_zero", QUERY + "&limit=2&continue=${page_1:metadata.continue}&resourceVersion=0"),
    get("continue_bogus", QUERY + "&limit=2&continue=bogus"),
    get("continue_not_json", QUERY + "&limit=2&continue=Ym9ndXM"),
    get("limit_negative", QUERY + "&limit=-1"),
    get("limit_word", QUERY + "&limit=many"),
    get("limit_zero", QUERY + "&limit=0"),
    get("rv_zero", QUERY + "&resourceVersion=0", only=("kind", "apiVersion")),
    get("rv_zero_limit", QUERY + "&resourceVersion=0&limit=1", only=("kind", "apiVersion")),
    get("rv_at_least", QUERY + "&resourceVersion=${create_d:metadata.resourceVersion}&resourceVersionMatch=NotOlderThan"),
    get("rv_at_least_implied", QUERY + "&resourceVersion=${create_d:metadata.resourceVersion}"),
    get("rv_exact", QUERY + "&resourceVersion=${create_b:metadata.resourceVersion}&resourceVersionMatch=Exact"),
    get("rv_exact_page", QUERY + "&resourceVersion=${create_b:metadata.resourceVersion}&resourceVersionMatch=Exact&limit=2"),
    get("rv_exact_page_2", QUERY + "&limit=2&continue=${rv_exact_page:metadata.continue}"),
    get("rv_limit_without_match", QUERY + "&resourceVersion=${create_b:metadata.resourceVersion}&limit=2"),
    get("rv_exact_zero", QUERY + "&resourceVersion=0&resourceVersionMatch=Exact"),
    get("rv_match_alone", QUERY + "&resourceVersionMatch=Exact"),
    get("rv_match_unknown", QUERY + "&resourceVersion=5&resourceVersionMatch=Newer"),
    get("rv_match_with_continue", QUERY + "&continue=${page_1:metadata.continue}&resourceVersionMatch=Exact&resourceVersion=5"),
    get("rv_future", QUERY + "&resourceVersion=99999999"),
    get("rv_future_exact", QUERY + "&resourceVersion=99999999&resourceVersionMatch=Exact"),
    get("rv_bad", QUERY + "&resourceVersion=new"),
    get("rv_negative", QUERY + "&resourceVersion=-1"),
    get("initial_events_without_watch", QUERY + "&sendInitialEvents=true"),
    select("label_equal", "tier=gold"),
    select("label_double_equal", "tier==gold"),
    select("label_not_equal", "set=x,tier!=gold"),
    select("label_in", "tier in (gold, silver)"),
    select("label_not_in", "set,tier notin (gold)"),
    select("label_exists", "hot"),
    select("label_not_exists", "set=x,!hot"),
    select("label_empty_value", "hot="),
    select("label_greater", "tier>5"),
    select("label_two", "tier=gold,hot"),
    select("label_bad_syntax", "tier in gold"),
    select("label_bad_key", "-x=y"),
    select("label_bad_value", "x=a b"),
    select("label_unclosed", "x in (a"),
    select("label_empty_in", "set=x,tier in ()"),
    by_field("field_name", "metadata.name=b"),
    by_field("field_name_not", "metadata.name!=kube-root-ca.crt,metadata.name!=b"),
    by_field("field_name_and_namespace", "metadata.name=b,metadata.namespace=${ns}"),
    by_field("field_other_namespace", "metadata.name=b,metadata.namespace=default"),
    by_field("field_unknown", "data.k=v"),
    by_field("field_bad_syntax", "metadata.name"),
    get("name_and_label", CM + "?fieldSelector=metadata.name=b&labelSelector=tier=gold"),
    get("all_namespaces", "/api/v1/configmaps?labelSelector=set=x&fieldSelector=metadata.namespace=${ns}"),
    get("missing_namespace", "/api/v1/namespaces/missing-${run}/configmaps"),
    get("as_metadata", QUERY + "&limit=2", accept=PARTIAL_LIST),
    get("one_as_metadata", CM + "/b", accept=PARTIAL),
    get("as_table", QUERY + "&limit=2", accept=TABLE),
    get("as_table_without_objects", QUERY + "&includeObject=None", accept=TABLE),
    get("as_table_with_objects", CM + "/b?includeObject=Object", accept=TABLE),
    get("as_table_bad_include", CM + "/b?includeObject=All", accept=TABLE),
    get("pretty", CM + "/b?pretty=true"),
    get("unknown_parameter", CM + "/b?colour=red"),
    delete("delete_collection_page", QUERY + "&limit=1"),
    delete("delete_collection_selected", CM + "?labelSelector=tier=gold"),
    get("after_delete_selected", QUERY),
    delete("delete_collection_by_name", CM + "?fieldSelector=metadata.name=a"),
    delete("delete_collection_dry", QUERY + "&dryRun=All"),
    get("after_delete_dry", QUERY),
    delete("delete_collection_none", CM + "?labelSelector=set=none"),
    delete("delete_collection_bad_selector", CM + "?labelSelector=-"),
    delete("delete_collection_rest", QUERY),
    get("after_delete_all", QUERY),
])

OPEN = QUERY + "&watch=true&timeoutSeconds=60"

WATCH = Chapter("watch", "watches: order of events, start, bookmarks, initial events, end", [
    post("before", CM, configmap("before")),
    get("list", QUERY),
    watch("from_version", OPEN + "&resourceVersion=${before:metadata.resourceVersion}"),
    watch("from_list", OPEN + "&resourceVersion=${list:metadata.resourceVersion}"),
    watch("from_now", OPEN),
    watch("from_any", OPEN + "&resourceVersion=0"),
    watch("gold_only", CM + "?watch=true&timeoutSeconds=60&labelSelector=tier=gold"),
    watch("one_name", CM + "?watch=true&timeoutSeconds=60&fieldSelector=metadata.name=b"),
    watch("whole_cluster", "/api/v1/configmaps?watch=true&timeoutSeconds=60&labelSelector=set=x&fieldSelector=metadata.namespace=${ns}"),
    watch("metadata_only", OPEN, accept=PARTIAL),
    watch("as_table", OPEN, accept=TABLE),
    watch("bookmarks", QUERY + "&watch=true&timeoutSeconds=4&allowWatchBookmarks=true&resourceVersion=${list:metadata.resourceVersion}"),
    watch("timeout", QUERY + "&watch=true&timeoutSeconds=2&resourceVersion=${list:metadata.resourceVersion}"),
    watch("initial", QUERY + "&watch=true&timeoutSeconds=60&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"),
    watch("initial_at", QUERY + "&watch=true&timeoutSeconds=60&sendInitialEvents=true&allowWatchBookmarks=true"
          "&resourceVersionMatch=NotOlderThan&resourceVersion=${before:metadata.resourceVersion}"),
    watch("initial_off", OPEN + "&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"),
    watch("initial_off_at", OPEN + "&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
          "&resourceVersion=${before:metadata.resourceVersion}"),
    events("initial_events", "initial", bookmark),
    events("initial_at_events", "initial_at", bookmark),
    post("create_b", CM, configmap("b", tier="gold")),
    merge("change_b", CM + "/b", {"data": {"k": "2"}}),
    merge("change_nothing", CM + "/b", {"data": {"k": "2"}}),
    merge("b_leaves", CM + "/b", {"metadata": {"labels": {"tier": "silver"}}}),
    merge("b_silver", CM + "/b", {"data": {"k": "3"}}),
    merge("b_returns", CM + "/b", {"metadata": {"labels": {"tier": "gold"}}}),
    merge("b_dry_run", CM + "/b?dryRun=All", {"data": {"k": "4"}}),
    merge("b_finalizer", CM + "/b", {"metadata": {"finalizers": ["example.com/wait"]}}),
    delete("delete_b", CM + "/b"),
    merge("release_b", CM + "/b", {"metadata": {"finalizers": None}}),
    post("create_b_again", CM, configmap("b")),
    delete("delete_all", QUERY),
    post("end", CM, configmap("zz", tier="gold")),
    watch("history", OPEN + "&resourceVersion=${create_b:metadata.resourceVersion}"),
    *[events(f"{name}_all_events", name, named("zz")) for name in (
        "from_version", "from_list", "from_now", "from_any", "gold_only", "whole_cluster", "metadata_only", "as_table",
        "history", "initial", "initial_off", "initial_off_at")],
    events("one_name_events", "one_name", named("b", "DELETED")),
    events("timeout_events", "timeout", ended),
    events("bookmarks_events", "bookmarks", ended),
    watch("of_one", CM + "/zz?watch=true&timeoutSeconds=1"),
    watch("old_path", "/api/v1/watch/namespaces/${ns}/configmaps?timeoutSeconds=60&labelSelector=set=x&resourceVersion=${end:metadata.resourceVersion}"),
    watch("future", QUERY + "&watch=true&timeoutSeconds=1&resourceVersion=99999999"),
    watch("bad_version", QUERY + "&watch=true&timeoutSeconds=5&resourceVersion=x"),
    watch("bad_timeout", QUERY + "&watch=true&timeoutSeconds=soon"),
    watch("bad_watch", QUERY + "&watch=maybe&timeoutSeconds=1"),
    watch("bad_selector", CM + "?watch=true&timeoutSeconds=5&labelSelector=-"),
    watch("bad_field", CM + "?watch=true&timeoutSeconds=5&fieldSelector=data=x"),
    watch("initial_without_match", OPEN + "&sendInitialEvents=true&allowWatchBookmarks=true"),
    watch("initial_without_bookmarks", QUERY + "&watch=true&timeoutSeconds=2&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
    events("initial_without_bookmarks_events", "initial_without_bookmarks", ended),
    watch("initial_exact", OPEN + "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=Exact"),
    watch("match_without_initial", OPEN + "&resourceVersionMatch=NotOlderThan&resourceVersion=5"),
    watch("with_continue", OPEN + "&continue=abc"),
    watch("with_limit", QUERY + "&watch=true&timeoutSeconds=1&limit=1"),
    watch("missing_resource", "/api/v1/namespaces/${ns}/gizmos?watch=true"),
    put("last_write", CM + "/zz", configmap("zz", value="last")),
])

GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${ns}/podgroups"

HISTORY = Chapter("history", "what is answered when the history is gone: 410", [
    *[post(f"create_{n}", CM, configmap(n)) for n in "abc"],
    post("create_group", GROUPS, {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {}}),
    get("page_1", QUERY + "&limit=1"),
    merge("change_b", CM + "/b", {"data": {"k": "2"}}),
    merge("change_group", GROUPS + "/g", {"spec": {"minMember": 2}}),
    watch("open_watch", OPEN + "&resourceVersion=${change_b:metadata.resourceVersion}"),
    forget_history("forget"),
    events("open_watch_events", "open_watch", ended),
    get("page_2", QUERY + "&limit=1&continue=${page_1:metadata.continue}"),
    get("page_2_inconsistent", QUERY + "&limit=1&continue=${page_2:metadata.continue}"),
    get("page_3", QUERY + "&limit=1&continue=${page_2_inconsistent:metadata.continue}"),
    get("exact", QUERY + "&resourceVersion=${create_a:metadata.resourceVersion}&resourceVersionMatch=Exact"),
    get("not_older", QUERY + "&resourceVersion=${create_a:metadata.resourceVersion}&resourceVersionMatch=NotOlderThan"),
    get("one", CM + "/b"),
    watch("old", OPEN + "&resourceVersion=${create_a:metadata.resourceVersion}"),
    events("old_events", "old", ended),
    watch("first", OPEN + "&resourceVersion=1"),
    events("first_events", "first", ended),
    watch("old_group", GROUPS + "?watch=true&timeoutSeconds=60&resourceVersion=${create_group:metadata.resourceVersion}"),
    events("old_group_events", "old_group", ended),
    watch("any", OPEN + "&resourceVersion=0"),
    watch("initial", OPEN + "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
          "&resourceVersion=${create_a:metadata.resourceVersion}"),
    merge("change_c", CM + "/c", {"data": {"k": "3"}}),
    events("any_events", "any", named("c", "MODIFIED")),
    events("initial_events", "initial", bookmark),
    put("stale", CM + "/b", {"metadata": {"name": "b", "resourceVersion": "${create_b:metadata.resourceVersion}"}}),
    get("list", QUERY),
], forgets=True)

CHAPTERS = [LIST, WATCH]
LAST_CHAPTERS = [HISTORY]
