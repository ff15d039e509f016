"""armadaproject/armada#5071: when several gangs go for one, the order is not the one that is documented.

Input: 16 CPUs; queue lab, which deserves 4, has gangs of 4, a minute apart; queue studio, which deserves 12, wants 4, then 8.
Expected: the last admitted goes first, d, then c and b; a stays; none goes twice."""

SCENARIO = """
until: 1h
nodes: [{name: n, count: 4, capacity: {cpu: "4", memory: 64Gi}}]
queues:
- {name: lab, spec: {deserved: {cpu: 4}}}
- {name: studio, spec: {deserved: {cpu: 12}}}
jobs:
- {name: a, queue: lab, at: 0s, duration: 5h, replicas: 4, requests: {cpu: "1"}, priority: 1}
- {name: b, queue: lab, at: 1m, duration: 5h, replicas: 4, requests: {cpu: "1"}, priority: 1}
- {name: c, queue: lab, at: 2m, duration: 5h, replicas: 4, requests: {cpu: "1"}, priority: 1}
- {name: d, queue: lab, at: 3m, duration: 5h, replicas: 4, requests: {cpu: "1"}, priority: 1}
- {name: four, queue: studio, at: 20m, duration: 5h, replicas: 4, requests: {cpu: "1"}}
- {name: eight, queue: studio, at: 22m, duration: 5h, replicas: 8, requests: {cpu: "1"}}
"""


def judge(run):
    yield "d goes first", [run.ran_at(n, 1260) for n in "abcd"] == [True, True, True, False]
    yield "then b and c", [run.ran_at(n, 1500) for n in "abcd"] == [True, False, False, False]
    yield "each once", [run.evictions(n) for n in "abcd"] == [0, 1, 1, 1]
