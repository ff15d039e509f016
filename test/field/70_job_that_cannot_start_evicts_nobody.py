"""volcano-sh/volcano#5022, #4926: somebody is evicted for a job that then cannot start.

Input: 8 CPUs; queue lab, without a right, runs a gang of 8; queue studio, which deserves 8, submits a job whose template the API server
refuses (a request of GPUs without a limit).
Expected: nobody is evicted for it."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 1, capacity: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "8"}}]
queues:
- {name: lab, spec: {}}
- {name: studio, spec: {deserved: {cpu: 8, nvidia.com/gpu: 8}}}
jobs:
- {name: works, queue: lab, duration: 5h, replicas: 8, requests: {cpu: "1"}}
- name: refused
  queue: studio
  at: 10m
  duration: 5h
  spec:
    taskSpecs:
    - name: main
      replicas: 2
      template:
        spec: {containers: [{name: main, image: "busybox:1.36", resources: {requests: {cpu: "4", nvidia.com/gpu: "1"}}}]}
"""


def judge(run):
    yield "the gang that works is not stopped", run.evictions("works") == 0
    yield "the refused job never runs", not run.runs("refused")
