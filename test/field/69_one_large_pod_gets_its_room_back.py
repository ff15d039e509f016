"""volcano-sh/volcano#4794, #3738: a pod is larger than any victim, and what comes free lies on different nodes.

Input: two nodes of 8 GPUs, used by jobs of one pod with 4 GPUs that started on them in turns; queue high deserves 8: one pod of 5 GPUs.
Expected: it starts within two minutes, and two jobs go, both of one node."""

POD = "spec: {taskSpecs: [{replicas: 1, template: {spec: {containers: [{name: m, image: x, resources: {limits: {cpu: '1', nvidia.com/gpu: '%d'}}}]}}}]}"
SCENARIO = f"""
until: 1h
nodes: [{{name: n, count: 2, capacity: {{cpu: "64", memory: 64Gi, nvidia.com/gpu: "8"}}}}]
queues:
- {{name: low, spec: {{}}}}
- {{name: high, spec: {{deserved: {{nvidia.com/gpu: 8}}}}}}
jobs:
- {{name: small, queue: low, count: 4, every: 10s, duration: 5h, {POD % 4}}}
- {{name: large, queue: high, at: 10m, duration: 5h, {POD % 5}}}
"""


def judge(run):
    yield "it starts within two minutes", run.started("large") <= 720
    yield "two jobs go", sum(run.evictions(f"small-{i}") for i in range(4)) == 2
