"""kubernetes-sigs/jobset#1083: containers with a restart rule that only newer nodes understand (Node.status.declaredFeatures).

Input: three nodes with room for both pods, one of which declares the feature; a gang of 2 whose containers have the rule.
Expected: both run on that node within a minute."""

import json

from words import gang, here, nodes
from harness import expect_equal

REAL = "the simulated scheduler does not know what nodes declare"


def case(s):
    with nodes(s, 3, cpu="8") as names:
        declared = {"status": {"declaredFeatures": ["RestartAllContainersOnContainerExits"]}}
        s.cluster.kubectl("patch", "node", names[2], "--subresource=status", "--type=merge", "-p", json.dumps(declared))
        job = here(s, gang("again", replicas=2), cpu="1")
        rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}
        job["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0].update(restartPolicy="Never", restartPolicyRules=[rule])
        s.apply(job)
        s.wait_phase("again", "Running", seconds=60, running=2)
        expect_equal({p["spec"]["nodeName"] for p in s.pods("again").values()}, {names[2]}, "their node")
