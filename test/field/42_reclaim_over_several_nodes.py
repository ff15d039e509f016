"""volcano-sh/volcano#5520, #4950, #4648: a gang gets room back on several nodes: too many are evicted, or it never starts.

Input: three nodes of 8 CPUs; queue dev has twelve gangs of 2 x 1; queue prod deserves 12 and submits a gang of 6 x 2.
Expected: prod starts within two minutes; six gangs of dev are evicted, each once."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 3, capacity: {cpu: "8", memory: 64Gi}}]
queues:
- {name: dev, spec: {deserved: {cpu: 12}}}
- {name: prod, spec: {deserved: {cpu: 12}}}
jobs:
- {name: dev, queue: dev, count: 12, every: 10s, duration: 5h, replicas: 2, requests: {cpu: "1"}}
- {name: prod, queue: prod, at: 10m, duration: 5h, replicas: 6, requests: {cpu: "2"}}
"""


def judge(run):
    yield "prod starts within two minutes", run.started("prod") <= 720
    yield "six gangs go, each once", sorted(run.evictions(f"dev-{i}") for i in range(12)) == [0] * 6 + [1] * 6
    yield "prod starts once", run.jobs["prod"]["restarts"] == 0 and len(run.runs("prod")) == 1
