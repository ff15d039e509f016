"""volcano-sh/volcano#5551, #1689: what a job waits for when pods that the batch system does not manage use the room.

Input: a node of 16 CPUs of pool a; pods of no queue use 12 of it for ten minutes. In a StrictFIFO queue: big (16 CPUs of pool a), then
small (4). There is another node, so that no sum is short.
Expected: big is not called Infeasible, small does not pass it, and big runs as soon as the other pods have ended."""


def job(name, at, replicas):
    return f"""
- {{name: {name}, queue: strict, at: {at}, duration: 5m, spec: {{taskSpecs: [{{replicas: {replicas}, template: {{spec: {{nodeSelector: {{pool: a}},
    containers: [{{name: main, image: x, resources: {{requests: {{cpu: "4"}}}}}}]}}}}}}]}}}}"""


OTHER = """
- {apiVersion: v1, kind: Pod, metadata: {name: other-%d, namespace: default, annotations: {test.kube-arbitrator.io/outcome: succeed,
    test.kube-arbitrator.io/after: 10m}}, spec: {restartPolicy: Never, nodeSelector: {pool: a}, containers: [{name: main, image: x, resources: {requests: {cpu: "4"}}}]}}"""
SCENARIO = """
nodes:
- {name: a, count: 1, capacity: {cpu: "16", memory: 64Gi}, labels: {pool: a}}
- {name: b, count: 1, capacity: {cpu: "64", memory: 64Gi}, labels: {pool: b}}
queues: [{name: strict, spec: {queueingStrategy: StrictFIFO}}]
objects:""" + "".join(OTHER % i for i in range(3)) + "\njobs:" + job("big", "1m", 4) + job("small", "2m", 1) + "\n"


def judge(run):
    reasons = {p.get("reason", "") for p in run.jobs["big"]["phases"]}
    yield "big is not called Infeasible", "Infeasible" not in reasons and "empty" not in run.why("big")
    yield "big runs when the other pods have ended", 600 <= run.started("big") <= 620
    yield "small waits behind it", run.started("small") > run.started("big")
    yield "small says behind whom", "default/big goes first" in run.why("small")
