"""kubernetes-sigs/kueue#7101: a gang within the half of its queue is not admitted, and a smaller one begins an endless loop.

Input: 8 CPUs; queues p1 and p2 deserve 4 each; p1 runs four gangs of 2; p2 submits gangs of 6, 5, 4 and 3, one after the other.
Expected: the gang of 4 starts within two minutes; the two gangs of p1 that were admitted last are evicted for it, once; 6, 5 and 3 evict nobody."""

SCENARIO = """
until: 2h
nodes: [{name: n, count: 1, capacity: {cpu: "8", memory: 64Gi}}]
queues:
- {name: p1, spec: {deserved: {cpu: 4}}}
- {name: p2, spec: {deserved: {cpu: 4}}}
jobs:
- {name: a, queue: p1, count: 4, every: 1m, duration: 5h, replicas: 2, requests: {cpu: "1"}}
- {name: six, queue: p2, at: 10m, duration: 5h, replicas: 6, requests: {cpu: "1"}}
- {name: five, queue: p2, at: 11m, duration: 5h, replicas: 5, requests: {cpu: "1"}}
- {name: four, queue: p2, at: 12m, duration: 5h, replicas: 4, requests: {cpu: "1"}}
- {name: three, queue: p2, at: 40m, duration: 5h, replicas: 3, requests: {cpu: "1"}}
"""


def judge(run):
    yield "four starts within two minutes", run.started("four") <= 12 * 60 + 120
    yield "the last two of p1 go, once each", [run.evictions(f"a-{i}") for i in range(4)] == [0, 0, 1, 1]
    yield "six, five and three never run", not any(run.runs(n) for n in ("six", "five", "three"))
    yield "four is not stopped", run.evictions("four") == 0
