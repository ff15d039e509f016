"""kubernetes/kubernetes#129319: pods with required affinity to their own group are bound in part.

Input: zones a and b with room for two pods each; a gang of 3 that must all be in one zone, time-out 10 s, and then a gang of 2.
Expected: the gang of 3 never runs and holds a part for no longer than its time-out; the gang of 2 runs in one zone within 30 s."""


def job(name, at, replicas):
    return f"""
- {{name: {name}, at: {at}, duration: 5h, spec: {{schedSpec: {{scheduleTimeoutSeconds: 10}}, taskSpecs: [{{replicas: {replicas}, template: {{
    metadata: {{labels: {{own: {name}}}}}, spec: {{containers: [{{name: main, image: x, resources: {{requests: {{cpu: "1"}}}}}}], affinity: {{podAffinity: {{
    requiredDuringSchedulingIgnoredDuringExecution: [{{labelSelector: {{matchLabels: {{own: {name}}}}}, topologyKey: zone}}]}}}}}}}}}}]}}}}"""


SCENARIO = """
until: 10m
nodes:
- {name: a, count: 2, capacity: {cpu: "1", memory: 64Gi}, labels: {zone: a}}
- {name: b, count: 2, capacity: {cpu: "1", memory: 64Gi}, labels: {zone: b}}
jobs:""" + job("three", "1m", 3) + job("two", "2m", 2) + "\n"


def judge(run):
    held = [p["ended"] - p["bound"] if p["ended"] else 600 for p in run.pods("three")]
    yield "the gang of 3 never runs", not run.runs("three")
    yield f"it holds no part for longer than its time-out: {held}", all(seconds <= 16 for seconds in held)
    yield "the gang of 2 runs within 30 s", run.started("two") <= 150
    yield "in one zone", len({node[0] for node in run.nodes("two")}) == 1
