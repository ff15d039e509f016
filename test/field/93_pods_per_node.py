"""apache/yunikorn-core#527: the number of pods of a node is a resource too.

Input: two nodes with room for 3 pods each; gangs of 7 and of 6 pods without requests.
Expected: the gang of 7 waits and names pods; the gang of 6 runs at once."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 2, capacity: {cpu: "8", memory: 64Gi, pods: "3"}}]
jobs:
- {name: seven, duration: 5h, replicas: 7}
- {name: six, at: 1m, duration: 5h, replicas: 6}
"""


def judge(run):
    yield "seven pods have no room", not run.runs("seven")
    yield "the message names pods", "insufficient pods" in run.why("seven") or "lack pods" in run.why("seven")
    yield "six have it", run.started("six") <= 70
