"""kai-scheduler/KAI-Scheduler#1556, kubernetes/website#57244: a native sidecar counts beside the init containers that follow it.

Input: a sidecar of 20 CPUs, then an init container of 30, and a container of 10: a pod needs 50. Two nodes of 64 CPUs; gangs of 3 and 2.
Expected: the gang of 3 never runs, the gang of 2 runs at once."""

POD = """{initContainers: [{name: proxy, image: x, restartPolicy: Always, resources: {requests: {cpu: "20"}}},
    {name: setup, image: x, resources: {requests: {cpu: "30"}}}], containers: [{name: main, image: x, resources: {requests: {cpu: "10"}}}]}"""
SCENARIO = f"""
until: 1h
nodes: [{{name: n, count: 2, capacity: {{cpu: "64", memory: 64Gi}}}}]
jobs:
- {{name: three, duration: 5h, spec: {{taskSpecs: [{{replicas: 3, template: {{spec: {POD}}}}}]}}}}
- {{name: two, at: 1m, duration: 5h, spec: {{taskSpecs: [{{replicas: 2, template: {{spec: {POD}}}}}]}}}}
"""


def judge(run):
    yield "a node has room for one such pod only", not run.runs("three")
    yield "two of them run on two nodes", run.started("two") <= 70
