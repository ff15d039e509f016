"""volcano-sh/volcano#3896: a port of the node is not asked for when a gang is placed.

Input: two nodes; on one runs a pod with hostPort 9100. Gang ports: 3 pods with hostPort 9000. Gang network: 2 pods with hostNetwork that
listen on 9100. After ten minutes there is a third node.
Expected: both wait without a pod and say that ports are in use; both run when the third node is there."""


def job(name, replicas, spec):
    return f"- {{name: {name}, at: 1m, duration: 5h, spec: {{taskSpecs: [{{replicas: {replicas}, template: {{spec: {spec}}}}}]}}}}\n"


SCENARIO = """
until: 1h
nodes:
- {name: n, count: 2, capacity: {cpu: "16", memory: 64Gi}}
- {name: third, capacity: {cpu: "16", memory: 64Gi}}
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: other, namespace: default, annotations: {test.kube-arbitrator.io/outcome: run}}, spec: {
    nodeSelector: {kubernetes.io/hostname: n-0}, containers: [{name: main, image: x, ports: [{containerPort: 80, hostPort: 9100}]}]}}
events: [{at: 0s, cordon: third}, {at: 10m, uncordon: third}]
jobs:
""" + job("ports", 3, "{containers: [{name: main, image: x, ports: [{containerPort: 80, hostPort: 9000}]}]}") \
    + job("network", 2, "{hostNetwork: true, containers: [{name: main, image: x, ports: [{containerPort: 9100}]}]}")


def judge(run):
    for name in ("ports", "network"):
        yield f"{name} has no pod before the third node", all(p["bound"] >= 600 for p in run.pods(name))
        yield f"{name} says that ports are in use", "port" in run.why(name)
        yield f"{name} runs with the third node", 600 <= run.started(name) <= 620
