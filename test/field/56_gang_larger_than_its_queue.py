"""kai-scheduler/KAI-Scheduler#500: of a gang that is larger than the limit of its queue a part is started.

Input: a queue with a capability of 4 CPUs on a node of 64; a gang of 5 pods of one CPU, and then one of 4.
Expected: the gang of 5 never runs and names the capability; it does not hold up the gang of 4."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 1, capacity: {cpu: "64", memory: 64Gi}}]
queues: [{name: small, spec: {capability: {cpu: 4}}}]
jobs:
- {name: five, queue: small, duration: 5h, replicas: 5, requests: {cpu: "1"}}
- {name: four, queue: small, at: 1m, duration: 5h, replicas: 4, requests: {cpu: "1"}}
"""


def judge(run):
    yield "the gang that the queue can never hold does not run", not run.runs("five")
    yield "it names the capability", "capability 4" in run.why("five")
    yield "the gang behind it runs at once", run.started("four") <= 70
