"""A node is cordoned while a gang runs on it: jobs that fit on the other nodes wait, or the gang is evicted for them.

Input: four nodes of 64 CPUs; a gang of 4 x 40 has one pod on each; a node is cordoned; then a gang of 3 x 20 of higher priority.
Expected: it starts at once beside the first gang, which loses nothing."""

SCENARIO = """
nodes: [{name: n, count: 4, capacity: {cpu: "64", memory: 64Gi}}]
queues: [{name: pre, spec: {preemptionPolicy: LowerPriority}}]
jobs:
- {name: runs, queue: pre, duration: 3h, replicas: 4, requests: {cpu: "40"}}
- {name: fits, queue: pre, priority: 10, at: 10m, duration: 30m, replicas: 3, requests: {cpu: "20"}}
events: [{at: 5m, cordon: n-3}]
"""


def judge(run):
    yield "the new gang starts at once", run.started("fits") <= 610
    yield "the gang that runs is not stopped", run.evictions("runs") == 0
