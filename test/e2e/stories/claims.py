"""Devices of DRA by ResourceClaims, which kube-scheduler makes for each pod of a template. Four nodes of 8 devices."""

from harness import expect, expect_equal, wait_until
from stories.devices import EACH, Devices
from stories.nodes import expect_no_pod_was_made, gang, nodes_of, wait_until_alone
from stories.preemption import queue as preempting


def template(s, name, count, device_class=None, selector=None):
    """Of claims for so many devices."""
    asked = {"deviceClassName": device_class or s.namespace, "allocationMode": "ExactCount", "count": count}
    if selector:
        asked["selectors"] = [{"cel": {"expression": selector}}]
    s.apply({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name},
             "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": asked}]}}}})


def by_claims(s, name, replicas, claims, **kinds):
    made = gang(name, replicas=replicas, cpu="1", **kinds)
    spec = made["spec"]["taskSpecs"][0]["template"]["spec"]
    spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": claims}]
    spec["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    s.apply(made)


def story_gangs_by_claims_start_whole_or_not_at_all(s):
    """A gang of all 32 devices runs on distinct ones, one of 36 never will, and a second one waits until they are free."""
    nodes = nodes_of(s)
    with Devices(s) as d:
        for node in nodes:
            d.offer(node)
        by_claims(s, "first", len(nodes), "node")
        status = s.wait_phase("first", "Pending", reason="DevicesUnknown")
        expect_equal(status["message"], "ResourceClaimTemplate node does not exist", "what is said before there is a template")
        template(s, "node", EACH)
        d.starts("first", len(nodes), EACH * len(nodes))
        by_claims(s, "second", 2, "node")
        d.waits("second", "InsufficientCapacity", f"insufficient {d.resource}: 16 requested, 0 of 32 free (16 short)")
        by_claims(s, "many", len(nodes) + 1, "node")
        d.waits("many", "Infeasible", f"insufficient {d.resource}: 40 requested, 32 of 32 free (8 short)")
        template(s, "large", EACH + 1)
        by_claims(s, "large", 1, "large")
        d.waits("large", "Infeasible", f"a pod asks for {EACH + 1} {d.resource}, the largest node has {EACH}")
        template(s, "other", 1, device_class="nobody.example.com")
        by_claims(s, "other", 1, "other")
        d.waits("other", "DevicesUnknown", "DeviceClass nobody.example.com does not exist")
        by_claims(s, "direct", 1, "node", schedulerName="kar-scheduler")
        d.waits("direct", "Unsupported", "only kube-scheduler allocates devices", "use default-scheduler")
        s.kubectl("delete", "qj", "first", "--wait=false")
        d.starts("second", 2, 2 * EACH)


def story_two_gangs_by_claims_are_never_both_in_part(s):
    """Of two gangs that take more than half of the devices each one runs whole and the other has no pod; several times over."""
    wait_until_alone(s)
    with Devices(s) as d:
        for node in nodes_of(s):
            d.offer(node)
        template(s, "node", EACH)
        for turn in range(5):
            names = f"a{turn}", f"b{turn}"
            for name in names:
                by_claims(s, name, 3, "node")

            def one_runs(names=names):
                return [n for n in names if s.status(n).get("running", 0) == 3]
            wait_until(one_runs, "one of the two runs whole", seconds=60)
            runs = one_runs()[0]
            waits = next(n for n in names if n != runs)
            s.wait_phase(waits, "Pending", reason="InsufficientCapacity")
            expect_no_pod_was_made(s, waits)
            s.kubectl("delete", "qj", runs, "--wait=true", "--cascade=foreground")
            s.wait_phase(waits, "Running", running=3, seconds=60)
            s.kubectl("delete", "qj", waits, "--wait=true", "--cascade=foreground")


def story_gang_of_devices_makes_room(s):
    """The gang of lower priority goes whole for one of a higher priority that asks for devices by claims."""
    wait_until_alone(s)
    with Devices(s) as d:
        for node in nodes_of(s):
            d.offer(node)
        template(s, "node", EACH)
        name = preempting(s)
        by_claims(s, "low", 3, "node", sched={"priority": 1}, queue=name)
        d.starts("low", 3, 3 * EACH)
        s.wait_phase("low", "Running", running=3)
        by_claims(s, "high", 4, "node", sched={"priority": 10}, queue=name)
        s.wait_phase("high", "Running", running=4, seconds=60)
        expect_equal(len(set(d.allocated())), 4 * EACH, "devices of the gang")
        expect_equal(s.status("low").get("phase"), "Pending", "what became of the other")
        expect("evictions" in s.status("low"), "it was evicted")


def story_requests_choose_among_the_devices_of_a_class(s):
    """Only the devices that the selector of a request matches count for it."""
    nodes = nodes_of(s)
    with Devices(s) as d:
        for node in nodes[:2]:
            d.offer(node)
        for node in nodes[2:]:
            d.offer(node, size="small")
        template(s, "large", EACH, selector=f"device.attributes['{d.driver}'].size == 'large'")
        by_claims(s, "two", 2, "large")
        s.wait_phase("two", "Running", running=2, seconds=60)
        expect_equal({p["spec"]["nodeName"] for p in s.pods("two").values()}, set(nodes[:2]), "nodes of the pods")
        by_claims(s, "three", 3, "large")
        status = s.wait_phase("three", "Pending", reason="Infeasible")
        expect(f"insufficient {d.resource}{{device.attributes['{d.driver}'].size == 'large'}}: 24 requested, 16 of 16 free (8 short)" in status["message"], status["message"])
        expect_no_pod_was_made(s, "three")
        template(s, "any", EACH)
        by_claims(s, "rest", 2, "any")
        s.wait_phase("rest", "Running", running=2, seconds=60)
