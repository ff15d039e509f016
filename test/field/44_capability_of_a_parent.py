"""volcano-sh/volcano#3932: only the capability of the leaf was asked, so the children together had more than their parent may have.

Input: a parent and its two children have capability 4 each; each child has gangs of 2 CPUs; 64 are free.
Expected: never more than 4 CPUs of both together; the others say that the parent stops them."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 1, capacity: {cpu: "64", memory: 64Gi}}]
queues:
- {name: top, spec: {capability: {cpu: 4}}}
- {name: a, spec: {parent: top, capability: {cpu: 4}}}
- {name: b, spec: {parent: top, capability: {cpu: 4}}}
jobs:
- {name: a, queue: a, count: 3, every: 5s, duration: 5h, replicas: 2, requests: {cpu: "1"}}
- {name: b, queue: b, count: 3, every: 5s, duration: 5h, replicas: 2, requests: {cpu: "1"}}
- {name: elastic, queue: a, at: 10m, duration: 5h, replicas: 8, minAvailable: 1, requests: {cpu: "1"}}
"""


def judge(run):
    ran = [n for n in run.jobs if run.runs(n)]
    yield "two gangs run", len(ran) == 2 and "elastic" not in ran
    yield "the others name the parent", all("queue top" in run.why(n) for n in run.jobs if n not in ran)
