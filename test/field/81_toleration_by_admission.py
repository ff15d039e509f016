"""ray-project/kuberay#1914, kubernetes-sigs/kueue#170: clusters on which the API server adds the toleration for the taint of GPU nodes.

Input: a tainted node with 4 of field.example/gpu; a MutatingAdmissionPolicy that tolerates the taint in each pod that asks for one; a plain
pod as a control, and a job of 2 pods, each asking for one.
Expected: the plain pod runs, so the job runs too."""

from words import gang, here, nodes, pod
from harness import wait_until

REAL = "admission policies are not evaluated by the simulated API server"
GPU = "field.example/gpu"
ADDED = f"[JSONPatch{{op: 'add', path: '/spec/tolerations/-', value: Object.spec.tolerations{{key: '{GPU}', operator: 'Exists'}}}}]"


def policy(s):
    asks = f"request.namespace == '{s.namespace}' && object.spec.containers.exists(c, has(c.resources) && has(c.resources.limits) && '{GPU}' in c.resources.limits)"
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    kinds = {"MutatingAdmissionPolicy": {"matchConstraints": {"resourceRules": rules}, "matchConditions": [{"name": "gpu", "expression": asks}],
                                         "reinvocationPolicy": "Never", "failurePolicy": "Ignore",
                                         "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": ADDED}}]},
             "MutatingAdmissionPolicyBinding": {"policyName": "field81"}}
    return [{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "field81"}, "spec": spec} for kind, spec in kinds.items()]


def control(s, number):
    made = pod(s, f"control-{number}", asks={GPU: "1"})
    made["spec"]["containers"][0]["resources"]["limits"] = {GPU: "1"}
    return made


def runs_a_pod(s, number):
    """A policy is in force a moment after it exists: a new pod each time."""
    name = f"control-{number}"
    s.apply(control(s, number))
    if any(t["key"] == GPU for t in s.kubectl.get("pod", name)["spec"]["tolerations"]):
        return True
    s.kubectl("delete", "pod", name, "--wait=false")
    return False


def case(s):
    objects = policy(s)
    with nodes(s, 1, cpu="16", **{GPU: "4"}) as (node,):
        s.cluster.kubectl("taint", "node", node, f"{GPU}=present:NoSchedule")
        for obj in objects:
            s.cluster.kubectl.apply(obj)
        try:
            tries = iter(range(100))
            wait_until(lambda: runs_a_pod(s, next(tries)), "the policy is in force", every=0.5)
            s.apply(here(s, gang("gpu", replicas=2), **{GPU: "1"}))
            s.wait_phase("gpu", "Running", seconds=40, running=2)
        finally:
            for obj in reversed(objects):
                s.cluster.kubectl("delete", obj["kind"], "field81", "--wait=false")
