"""volcano-sh/volcano#4292, #4673, #4349: rights that contradict each other crash the scheduler, or stop all queues.

Input: a child with more capability than its parent; deserved and guarantee above the capability of their queue.
Expected: jobs of a healthy queue run; in each odd queue a gang within its capability runs, and one above it says why it waits."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 2, capacity: {cpu: "32", memory: 64Gi}}]
queues:
- {name: top, spec: {capability: {cpu: 60}}}
- {name: child, spec: {parent: top, capability: {cpu: 61}}}
- {name: greedy, spec: {capability: {cpu: 4}, deserved: {cpu: 8}}}
- {name: kept, spec: {capability: {cpu: 4}, guarantee: {cpu: 6}}}
- {name: fine, spec: {}}
jobs:
- {name: child, queue: child, duration: 5m, replicas: 2, requests: {cpu: "1"}}
- {name: greedy, queue: greedy, duration: 5m, replicas: 4, requests: {cpu: "1"}}
- {name: greedy5, queue: greedy, duration: 5m, replicas: 5, requests: {cpu: "1"}}
- {name: kept, queue: kept, duration: 5m, replicas: 4, requests: {cpu: "1"}}
- {name: kept5, queue: kept, duration: 5m, replicas: 5, requests: {cpu: "1"}}
- {name: fine, queue: fine, duration: 5m, replicas: 16, requests: {cpu: "1"}}
"""


def judge(run):
    yield "jobs within the limits run", all(run.runs(n) for n in ("child", "greedy", "kept", "fine"))
    yield "jobs above them say why not", all(not run.runs(n) and "capability" in run.why(n) for n in ("greedy5", "kept5"))
