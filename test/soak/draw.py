"""What a run consists of, drawn from its seed: jobs, and what is done to the managers, the API server and the nodes."""

import random

# What is done, and how often of 20 times. All but the last three are done to the leader.
HOW_OFTEN = {"kill": 5, "stop": 4, "freeze": 3, "thaw": 2, "apiserver": 2, "node": 2, "evict": 2}
MEANS = {
    "kill": "leader: SIGKILL",
    "stop": "leader: SIGTERM",
    "freeze": "leader: SIGSTOP, SIGCONT when another leads",
    "thaw": "leader: SIGSTOP, SIGCONT within the lease",
    "apiserver": "API server: SIGKILL, started again",
    "node": "node: removed, comes back in time or too late",
    "evict": "node: its pods are evicted (taint NoExecute)",
}


class Job:
    """@tasks: [(name, replicas, s that its pods run)]; minimum None: all."""

    def __init__(self, name, tasks, minimum):
        self.name, self.tasks, self.minimum = name, tasks, minimum

    def indexes(self):
        return {(name, index) for name, replicas, _ in self.tasks for index in range(replicas)}


def jobs(seed):
    """Without end."""
    draw = random.Random(f"jobs {seed}")
    number = 0
    while True:
        tasks = [(name, draw.randint(1, 4), draw.randint(2, 20)) for name in ("worker", "server")[:draw.choice((1, 1, 2))]]
        pods = sum(replicas for _, replicas, _ in tasks)
        yield Job(f"job-{number:05}", tasks, draw.randint(1, pods) if draw.random() < 0.25 else None)
        number += 1


def absences(seed):
    """s for which a removed node is away, without end: its pods are deleted after some 40 to 60 s."""
    draw = random.Random(f"absences {seed}")
    while True:
        yield draw.choice((15, 75))


def disturbances(seed):
    """(s to wait before, what), without end: a shuffled deck after the other, of which the first holds each kind once."""
    draw = random.Random(f"disturbances {seed}")
    deck = list(HOW_OFTEN)
    while True:
        draw.shuffle(deck)
        yield from ((draw.uniform(2, 15), what) for what in deck)
        deck = [what for what, times in HOW_OFTEN.items() for _ in range(times)]
