"""volcano-sh/volcano#4492: pods that only wait for their queue use up the quota of the namespace.

Input: a queue with a capability of 10 CPUs; a quota of 15 CPUs; an elastic job of 10 pods of 2 CPUs that each run for a minute.
Expected: at most 5 of its pods exist at once, all ten have run, and the job is Completed within ten minutes."""

SCENARIO = """
nodes: [{name: n, count: 1, capacity: {cpu: "64", memory: 64Gi}}]
queues: [{name: ten, spec: {capability: {cpu: 10}}}]
objects: [{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, spec: {hard: {requests.cpu: "15"}}}]
jobs: [{name: many, queue: ten, at: 1m, duration: 1m, replicas: 10, minAvailable: 1, requests: {cpu: "2"}}]
"""


def judge(run):
    yield f"at most 5 pods at once: {run.most('many')}", run.most("many") <= 5
    yield "each pod has run once", len({p["name"] for p in run.pods("many")}) == len(run.pods("many")) == 10
    yield "Completed within ten minutes", run.jobs["many"]["phase"] == "Completed" and run.jobs["many"]["ended"] <= 660
