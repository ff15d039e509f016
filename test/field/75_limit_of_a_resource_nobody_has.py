"""volcano-sh/volcano#3220, #3426: a limit of a resource that no node has stops all jobs of the queue.

Input: a queue whose capability names far more CPUs than exist, 4 GPUs, and a resource of no node; jobs of one CPU, of 3 GPUs, and of 2 more.
Expected: the first two run; the third waits for the limit of 4 GPUs."""


def job(name, at, gpus):
    return f"""
- {{name: {name}, queue: odd, at: {at}, duration: 5h, spec: {{taskSpecs: [{{replicas: 1, template: {{spec: {{containers: [
    {{name: main, image: x, resources: {{limits: {{cpu: "1"{gpus}}}}}}}]}}}}}}]}}}}"""


SCENARIO = """
until: 1h
nodes: [{name: n, count: 1, capacity: {cpu: "16", memory: 64Gi, nvidia.com/gpu: "8"}}]
queues: [{name: odd, spec: {capability: {cpu: 9999, memory: 999999Gi, nvidia.com/gpu: 4, field.example/rdma: 9999}}}]
jobs:""" + job("plain", "1s", "") + job("three", "2s", ', nvidia.com/gpu: "3"') + job("two", "1m", ', nvidia.com/gpu: "2"') + "\n"


def judge(run):
    yield "jobs within the limits run", run.started("plain") <= 10 and run.started("three") <= 10
    yield "the job above the limit waits and names it", not run.runs("two") and "queue odd has capability 4" in run.why("two")
