"""What one writer puts into an object must not hide the objects of everybody else."""

import base64
import json
import ssl
import urllib.parse
import urllib.request

from harness import expect, expect_equal, queuejob, task, wait_until

YEAR_10000 = 253402300800
PROTOBUF = "application/vnd.kubernetes.protobuf"


def varint(n):
    out = b""
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """One field of a protobuf message: a number, a text, or another message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def amended(document, more):
    """The pod in a protobuf document, and more fields of it: those that come again are added to those before, or win."""
    at, fields = 4, {}
    while at < len(document):  # of runtime.Unknown
        number, at = document[at] >> 3, at + 1
        size = shift = 0
        while document[at] > 0x7f:
            size, shift, at = size | (document[at] & 0x7f) << shift, shift + 7, at + 1
        size, at = size | document[at] << shift, at + 1
        fields[number], at = document[at:at + size], at + size
    fields[2] += more
    return document[:4] + b"".join(field(number, value) for number, value in fields.items())


class ApiServer:
    """Requests that kubectl cannot make."""

    def __init__(self, cluster):
        config = json.loads(cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        self.server = config["clusters"][0]["cluster"]["server"]
        self.token = config["users"][0]["user"]["token"]
        self.context = ssl.create_default_context(cadata=base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode())

    def ask(self, method, path, body=None):
        headers = {"Accept": PROTOBUF, "Content-Type": PROTOBUF, "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(urllib.parse.urljoin(self.server, path), body, headers, method=method)
        with urllib.request.urlopen(request, context=self.context) as answer:
            return answer.read()


def expect_others_are_served(s, name):
    """A job is run to its end, by this manager and by one that has just been started."""
    for run in ("running", "restarted"):
        s.apply(queuejob(f"{name}-{run}", task("worker", 2, outcome="succeed")))
        s.wait_phase(f"{name}-{run}", "Completed")
        if run == "running":
            s.manager.stop()
            s.manager.ensure()


def story_time_in_a_pod_that_json_cannot_say(s):
    """A node writes a condition of the year 10000 into its pod: the pod's own job and all others go on."""
    s.apply(queuejob("poisoned", task("worker", 1)))
    s.wait_phase("poisoned", "Running")
    server = ApiServer(s.cluster)
    path = f"/api/v1/namespaces/{s.namespace}/pods/poisoned-worker-0"
    before = server.ask("GET", path)
    condition = field(1, "Poison") + field(2, "True") + field(4, field(1, YEAR_10000))
    server.ask("PUT", path + "/status", amended(before, field(3, field(2, condition))))
    expect("10000-01-01" in s.kubectl("get", "pod", "poisoned-worker-0", "-o", "json"), "the API server keeps what was written")
    expect_others_are_served(s, "other")
    server.ask("PUT", path + "/status", amended(before, field(1, field(6, ""))))  # of whatever version it is now
    s.kubectl("delete", "pod", "poisoned-worker-0", "--wait=false")
    wait_until(lambda: s.status("poisoned").get("restarts") == 1, "the loss of the pod is noticed")
    s.wait_phase("poisoned", "Running")


def story_time_of_another_writer_that_nobody_writes(s):
    """Somebody who may write the status of PodGroups uses a comma in a time, which the API server accepts."""
    s.kubectl.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "odd"}, "spec": {"minMember": 1}})
    wait_until(lambda: s.group("odd").get("status"), "the group has a status")
    s.kubectl("patch", "podgroups.scheduling.x-k8s.io", "odd", "--type=merge", "--subresource=status", "-p",
              json.dumps({"status": {"scheduleStartTime": "2020-01-01T00:00:00,5Z"}}))
    expect_equal(s.group("odd")["status"]["scheduleStartTime"], "2020-01-01T00:00:00,5Z", "what the API server keeps")
    expect_others_are_served(s, "other")
