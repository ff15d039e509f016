"""Devices of DRA by an extended resource: a DeviceClass and ResourceSlices, as a driver writes them, on the nodes of the cluster.

No driver is needed: kube-scheduler allocates by these objects alone. Names are of the story, so that others are not concerned."""

import contextlib
import json

from harness import expect, queuejob, task, wait_until
from stories.nodes import expect_no_pod_was_made, nodes_of

EACH = 8  # devices of a node


class Devices:
    """The class example.com/NAMESPACE, and a slice of each node."""

    def __init__(self, s):
        self.s, self.resource, self.driver = s, f"example.com/{s.namespace}", f"{s.namespace}.example.com"

    def __enter__(self):
        self.offer_class()
        return self

    def __exit__(self, *_):
        for node in nodes_of(self.s):
            self.s.cluster.kubectl("delete", "resourceslice", f"{self.s.namespace}-{node}", "--ignore-not-found")
        self.s.cluster.kubectl("delete", "resourceslice", f"{self.s.namespace}-all", "--ignore-not-found")
        self.s.cluster.kubectl("delete", "deviceclass", self.s.namespace, "--ignore-not-found")

    def offer_class(self):
        self.s.apply({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": self.s.namespace},
                      "spec": {"extendedResourceName": self.resource,
                               "selectors": [{"cel": {"expression": f"device.driver == '{self.driver}' && device.attributes['{self.driver}'].type == 'gpu'"}}]}})

    def offer(self, node, n=EACH, tainted=0, size="large"):
        def device(i):
            made = {"name": f"gpu-{i}", "attributes": {"type": {"string": "gpu"}, "size": {"string": size}}}
            if i < tainted:
                made["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
            return made
        self.s.apply({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{self.s.namespace}-{node}"},
                      "spec": {"driver": self.driver, "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                               "devices": [device(i) for i in range(n)]}})

    def offer_to_all(self, n):
        """Devices behind a network: each node may have them."""
        self.s.apply({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{self.s.namespace}-all"},
                      "spec": {"driver": self.driver, "allNodes": True, "pool": {"name": "all", "generation": 1, "resourceSliceCount": 1},
                               "devices": [{"name": f"net-{i}", "attributes": {"type": {"string": "gpu"}}} for i in range(n)]}})

    def gang(self, name, replicas, each=EACH, **spec):
        made = queuejob(name, task("worker", replicas), sched={"minAvailable": replicas}, **spec)
        container = made["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]
        container["resources"] = {"limits": {self.resource: str(each)}}
        self.s.apply(made)

    def allocated(self):
        claims = self.s.kubectl.list("resourceclaims.resource.k8s.io")
        return [(r["pool"], r["device"]) for c in claims for r in c.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])]

    def starts(self, name, pods, devices):
        """All pods have a node, and the namespace has so many devices. When a node starts a pod is not of interest here."""
        def started():
            nodes = [p["spec"].get("nodeName") for p in self.s.pods(name).values()]
            return len(nodes) == pods and all(nodes) and len(set(self.allocated())) == devices
        wait_until(started, f"{pods} pods of {name} have nodes, and {devices} devices are allocated", seconds=60)

    def waits(self, name, reason, *words):
        status = self.s.wait_phase(name, "Pending", reason=reason)
        for word in words:
            expect(word in status["message"], f"{name} says {word}: {status['message']}")
        expect_no_pod_was_made(self.s, name)


def story_gangs_get_devices_of_a_class(s):
    """4 nodes of 8 devices: a gang of all 32 runs on 32 distinct ones, one of 36 never will, and a second one waits until they are free."""
    nodes = nodes_of(s)
    with Devices(s) as d:
        d.gang("first", len(nodes))
        d.waits("first", "DevicesUnknown", f"no node offers {d.resource}: no complete pool", f"DeviceClass {s.namespace}")
        for node in nodes:
            d.offer(node)
        d.starts("first", len(nodes), EACH * len(nodes))
        d.gang("second", 2)
        d.waits("second", "InsufficientCapacity", f"insufficient {d.resource}: 16 requested, 0 of 32 free (16 short)")
        d.gang("large", len(nodes), each=EACH + 1)
        d.waits("large", "Infeasible", f"a pod asks for {EACH + 1} {d.resource}, the largest node has {EACH}")
        d.gang("many", len(nodes) + 1)
        d.waits("many", "Infeasible", f"insufficient {d.resource}: 40 requested, 32 of 32 free (8 short)")
        d.gang("direct", 1, schedulerName="kar-scheduler")
        d.waits("direct", "Unsupported", f"only kube-scheduler allocates devices ({d.resource} of DeviceClass {s.namespace}): use default-scheduler")
        s.kubectl("delete", "qj", "first", "--wait=false")
        d.starts("second", 2, 2 * EACH)


def story_tainted_and_claimed_devices_are_not_offered(s):
    """A device with a taint and one of somebody's claim are one less each."""
    node = nodes_of(s)[0]
    with contextlib.ExitStack() as stack:
        d = stack.enter_context(Devices(s))
        d.offer(node, tainted=1)
        s.apply({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "mine"},
                 "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": s.namespace}}]}}})
        s.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine"},
                 "spec": {"containers": [{"name": "main", "image": "busybox:1.36", "resources": {"claims": [{"name": "gpu"}]}}],
                          "resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}]}})
        wait_until(lambda: len(d.allocated()) == 1, "the claim has its device")
        d.gang("seven", 1, each=7)
        d.waits("seven", "InsufficientCapacity", f"insufficient {d.resource}: 7 requested, 6 of 7 free (1 short), taken by pods of no queue: 1 {d.resource}")
        d.gang("six", 1, each=6)
        d.starts("six", 1, 7)
        s.kubectl("delete", "pod", "mine", "--wait=false")
        s.kubectl("delete", "resourceclaim", "mine", "--wait=false")
        s.kubectl("delete", "qj", "six", "--wait=false")
        d.starts("seven", 1, 7)


def story_devices_after_a_device_plugin_and_of_several_nodes(s):
    """A kubelet that goes on listing 0 of a resource has the devices of its slice; devices of all nodes are had by a gang, which is not pinned."""
    node = nodes_of(s)[0]
    with Devices(s) as d:
        listed = {"status": {"capacity": {d.resource: "0"}, "allocatable": {d.resource: "0"}}}
        s.cluster.kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p", json.dumps(listed))
        d.offer(node)
        d.gang("own", 1)
        s.wait_phase("own", "Running", running=1, seconds=60)
        d.gang("net", 2, each=2)
        d.waits("net", "InsufficientCapacity", f"insufficient {d.resource}")
        d.offer_to_all(4)
        s.wait_phase("net", "Running", running=2, seconds=60)
        expect(len({x for x in d.allocated() if x[0] == "all"}) == 4, f"4 distinct devices of all nodes: {d.allocated()}")
        unlisted = {"status": {"capacity": {d.resource: None}, "allocatable": {d.resource: None}}}
        s.cluster.kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p", json.dumps(unlisted))
