"""The differences between a real API server and the simulated one that are meant to be, each with its reason.

operations: names as chapter/operation, with * as in file names. path: where in {code, headers, body}, a regular expression. real,
simulated: regular expressions for the two values, both of which must fit (JSON text unless the value is a string; "(absent)" for
none). An entry that nothing needs any more is reported as a failure."""

import dataclasses
import fnmatch
import json
import re

import compare


@dataclasses.dataclass
class Tolerated:
    operations: str
    path: str
    reason: str
    real: str = ".*"
    simulated: str = ".*"
    used: int = 0

    def covers(self, name, path, real, simulated):
        """Counts the use."""
        fits = (any(fnmatch.fnmatchcase(name, o) for o in self.operations.split()) and re.fullmatch(self.path, path)
                and re.fullmatch(self.real, text(real), re.S) and re.fullmatch(self.simulated, text(simulated), re.S))
        self.used += bool(fits)
        return bool(fits)


def text(value):
    if value is compare.ABSENT:
        return repr(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


COLUMN = r"body(\.events\[\d+\]\.object)?\.columnDefinitions\[\d+\]\.description"
TABLES = "list/as_table* watch/as_table_all_events */table */*_table */table_terminating errors/accept_table_beta random-*/*_get"
MESSAGE = r"body\.(message|details\.causes\[\d+\]\.message)"
POD_UPDATE = r".*pod updates may not change fields other than .*"
DUPLICATES = "meta/duplicate_field meta/duplicate_field_strict queuejobs/duplicate_strict"

LIST = [
    Tolerated("*", COLUMN, "the columns that every kind has: the simulated server describes them in its own words",
              real=r"(Name must be unique within a namespace|CreationTimestamp is a timestamp).*", simulated=r"\w.*"),
    Tolerated(TABLES, COLUMN, "the columns of built-in kinds: the simulated server describes them in its own words", simulated=r"\w.*"),
    Tolerated("podcreate/smallest podcreate/clean_up", r"body\.(items\[\d+\]\.)?spec\.(volumes|containers\[0\]\.volumeMounts)",
              "no volume with a ServiceAccount token is added to pods: nothing in the simulated cluster would read it",
              real=r".*kube-api-access-.*", simulated=r"\(absent\)"),
    Tolerated("podchange/* strategicpatch/env_rejected apply/pod_invalid random-*/*", MESSAGE,
              "what exactly a pod update may not change is shown as a diff of Go structs, which the simulated server does not have",
              real=POD_UPDATE, simulated=POD_UPDATE),
    Tolerated("podchange/affinity_widened", MESSAGE, "a Go struct is shown, the simulated server shows its JSON",
              real=r".*\{\"MatchExpressions\":.*only additions are allowed \(no mutations or deletions\)",
              simulated=r".*\{\"matchExpressions\":.*only additions are allowed \(no mutations or deletions\)"),
    Tolerated("podchange/status_bad_type", MESSAGE, "names of Go types of texts are not known to the simulated server",
              real=r".*of type v1\.PodPhase", simulated=r".*of type string"),
    Tolerated(DUPLICATES, r".*", "of a key that is given twice the simulated server sees the last one only; no client sends such bodies"),
    Tolerated("watch/old_path", r"body|code", "the watch paths that were deprecated in 1.11 are not served", real=r"200|", simulated=r"404|.*NotFound.*"),
    Tolerated("finalizers/change_deletion_time finalizers/clear_deletion_time", r"body\.metadata\.resourceVersion",
              "a refused change of deletionTimestamp still changes managedFields, which the simulated server keeps for applied objects only",
              real=r"<version of c.*", simulated=r"<version of label_while_deleting .*"),
    Tolerated("discovery/* crd/discovery", r".*storageVersionHash", "serves storage migration only", simulated=r"\(absent\)|null"),
    Tolerated("discovery/version", r"body\.gitVersion", "the simulated server says that it is one", real=r"v1\.37\.1", simulated=r"v1\.37\.1\+kar-sim"),
    Tolerated("namespaces/root_certificates random-*/*_list", r"body\.(items\[\d+\]\.)?metadata\.annotations\.kubernetes\.io/description", "own words", simulated=r"\w.*"),
    Tolerated("strategicpatch/deployment_dry", r"body\.(spec\..*|status|metadata\.generation)",
              "workloads that no simulated controller acts upon are stored as they are, without defaults", simulated=r"\(absent\)"),
    Tolerated("podcreate/wrong_type", MESSAGE, "the width of Go's integers is not known to the simulated server",
              real=r".*of type int64", simulated=r".*of type int32"),
    Tolerated("strategicpatch/cm_wrong_type random-*/*_patch", MESSAGE, "Go converts the result of a strategic merge patch in a way of its own",
              real=r".*(cannot restore \w+ from|cannot convert \w+ to) \w+", simulated=r".*json: cannot unmarshal .*"),
    Tolerated("apply/by_post", r"body\.metadata\.managedFields", "managedFields are kept of objects that somebody has applied, to keep the others small",
              real=r".*poster.*", simulated=r"\(absent\)"),
    Tolerated("apply/onto_posted* apply/put_over_applied", MESSAGE + r"|body\.metadata\.managedFields\[\d\]\.manager",
              "who wrote an object before it was applied for the first time is not known, for the same reason", simulated=r".*before-first-apply.*"),
    Tolerated("random-*/*_apply", MESSAGE, "the same; so other managers may stand first", real=r".*conflicts? with .*", simulated=r".*conflicts? with .*"),
    Tolerated("apply/yaml_broken", r"body\.message", "where YAML is broken is said in the words of Go's parser",
              real=r"error encoding patch: yaml: .*", simulated=r"error .* YAML.*"),
    Tolerated("queuejobs/other_version", r"headers\.Warning", "of a version that does not exist no field is known to the real server", simulated=r"\(absent\)"),
    Tolerated("crd/widget_duration", r".*", "formats of texts beyond dates, times and names are not checked"),
    Tolerated("crd/no_storage crdrules/version_twice", MESSAGE, "a Go struct is shown, the simulated server shows its JSON",
              real=r".*\[\{\"Name\":.*must (have exactly one version marked as storage version|contain unique version names).*",
              simulated=r".*\[\{\"name\":.*must (have exactly one version marked as storage version|contain unique version names).*"),
    Tolerated("records/node_dry", r"body\.spec\.taints\[1\]", "new nodes are not tainted until something says that they are ready",
              real=r".*node\.kubernetes\.io/not-ready.*", simulated=r"\(absent\)"),
    Tolerated("records/limits", r"body\.spec\.limits\[0\]\.default.*", "LimitRanges are stored only", simulated=r"\(absent\)"),
    Tolerated("records/claim", r"body\.metadata\.finalizers", "PersistentVolumeClaims are stored only", simulated=r"\(absent\)"),
    Tolerated("discovery/openapi_index", r"headers\.Content-Type", "the real server guesses the type of this document", simulated="application/json"),
    Tolerated("errors/accept_html errors/accept_html_custom errors/accept_unknown_form", r"body\.(message|details)",
              "the simulated server answers in JSON and YAML only", real=r".*application/vnd\.kubernetes\.protobuf.*|\{\}",
              simulated=r"only the following media types are accepted: application/json, application/yaml|\(absent\)"),
    Tolerated("errors/accept_protobuf_custom", r"body|headers\.Content-Type", "the same; the real server refuses protobuf in protobuf", simulated=r".*NotAcceptable.*|application/json"),
    Tolerated("errors/accept_table_beta", r"body\.apiVersion", "tables have one version", real=r"meta\.k8s\.io/v1beta1", simulated=r"meta\.k8s\.io/v1"),
    Tolerated("errors/accept_list_for_one", r"body\.message", "the name of a Go type", real=r".*\(\*core\.ConfigMap\)", simulated=r".*\(ConfigMap\)"),
    Tolerated("errors/name_with_bad_escape", r"body|headers\.Content-Type", "an answer of Go's HTTP server, not of the API server", simulated=r".*BadRequest.*|application/json"),
    Tolerated("errors/post_on_custom_item errors/put_on_custom_collection", r"code|body\..*", "refused before the body is looked at", simulated=r"405|MethodNotAllowed|\{\}|.*does not allow this method.*"),
]
