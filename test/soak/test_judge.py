#!/usr/bin/env python3
"""Does the soak test see what is wrong? Each row spoils a run that is well, and names the invariant that must complain, no other."""

import pathlib
import random
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import draw  # noqa: E402
import judge  # noqa: E402
import record  # noqa: E402


def pod(uid, index, phases=("Pending", "Running", "Succeeded"), task="worker", incarnation=1):
    labels = {record.KEY + k: str(v) for k, v in (("queuejob", "a"), ("task", task), ("index", index), ("incarnation", incarnation))}
    meta = {"uid": uid, "name": f"a-{task}-{index}", "labels": labels}
    return [(kind, {"metadata": meta, "spec": {"nodeName": "node-1"}, "status": {"phase": phase}})
            for kind, phase in [*(("MODIFIED", p) for p in phases), ("DELETED", phases[-1])]]


def stopped(uid, index):
    """It ends with exit code 0 because it is told to."""
    events = pod(uid, index)
    for _, obj in events[2:]:
        obj["metadata"] = {**obj["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    return events


def request(at, process, verb, resource, code=200, name="a-worker-0"):
    ref = {"resource": resource, "namespace": "soak", "name": name}
    return {"requestReceivedTimestamp": at, "process": process, "verb": verb, "objectRef": ref, "requestURI": f"/{resource}/{name}", "responseStatus": {"code": code}}


class Run:
    """Job a has two pods; process 1 leads, is killed after 20 s, and process 2 follows."""

    def __init__(self):
        self.wanted = {"a": draw.Job("a", [("worker", 2, 3)], None)}
        self.pods = [*pod("u0", 0), *pod("u1", 1)]
        self.status = {"phase": "Completed", "succeeded": 2}
        self.hit = set()
        self.requests = [request(0, 1, "patch", "leases"), *(request(1 + i, 1, "create", "pods", 201, f"a-worker-{i}") for i in range(2)),
                         request(9, 1, "patch", "leases"), request(18, 1, "patch", "pods"), request(34, 2, "patch", "leases"), request(34.1, 2, "patch", "pods")]
        self.ends = [("kill", 1, 20.0, True)]
        self.exits = [(1, -9, "", "kill")]
        self.memory = [(t, (20 << 20) + 4096 * (t % 3)) for t in range(60)]
        self.descriptors = [(t, 12 + (t % 7 == 0)) for t in range(60)]

    def record(self):
        r = record.Record.__new__(record.Record)
        r.pods, r.jobs, r.ended, r.deleted, r.twice, r.followers = {}, {"a": self.status}, {}, {"a"}, [], []
        for kind, obj in self.pods:
            r.pod(kind, obj)
        return r

    def complaints(self):
        """The invariants that did not hold."""
        r = self.record()
        ledger = judge.Ledger(self.requests, lambda e: e["process"], lambda at: at)
        found = {
            "jobs_ended": judge.jobs_ended(self.wanted, r), "each_index_once": judge.each_index_once(self.wanted, r), "no_twins": judge.no_twins(r),
            "record_is_complete": judge.record_is_complete(r, ledger.creates("soak")), "restarts_have_a_cause": judge.restarts_have_a_cause(self.wanted, r, self.hit),
            "only_the_holder_writes": judge.only_the_holder_writes(ledger), "followed_in_time": judge.followed_in_time(self.ends, ledger)[1],
            "nobody_ended_by_himself": judge.nobody_ended_by_himself(self.exits), "level": judge.level("one", self.memory, 1 << 16),
            "none_leaked": judge.none_leaked("one", self.descriptors)}
        return {name for name, wrong in found.items() if wrong}


def late_first_write(run):
    run.requests = [r for r in run.requests if r["process"] == 1] + [request(37, 2, "patch", "leases"), request(37.5, 2, "patch", "pods")]


def leak(per_second):
    draws = random.Random(1)
    return [(t, (20 << 20) + int(per_second * t) + draws.randrange(3) * 4096) for t in range(120)]


ROWS = [  # (what is spoiled, how, who complains)
    ("nothing", lambda r: None, set()),
    ("a job that runs on", lambda r: r.status.update(phase="Running", succeeded=1), {"jobs_ended"}),
    ("an index that nobody did", lambda r: r.pods.__setitem__(slice(4, 8), pod("u1", 1, ("Pending", "Running"))), {"each_index_once"}),
    ("a success of a pod that was being deleted", lambda r: (r.pods.__setitem__(slice(4, 8), stopped("u1", 1)), None), {"each_index_once"}),
    ("an index that was done twice", lambda r: (r.pods.extend(pod("u2", 1)), r.hit.add("a")), {"each_index_once"}),
    ("done twice in one life of a gang that was restarted", lambda r: (r.pods.extend(pod("u2", 1)), r.hit.add("a"), r.status.update(restarts=1)), {"each_index_once"}),
    ("done again by a gang that was restarted", lambda r: (r.pods.extend(pod("u2", 1, incarnation=2)), r.hit.add("a"), r.status.update(restarts=1)), set()),
    ("done again by a gang that was not restarted", lambda r: (r.pods.extend(pod("u2", 1, incarnation=2)), r.hit.add("a")), {"each_index_once"}),
    ("an index that nobody asked for", lambda r: (r.pods.extend(pod("u2", 7)), r.hit.add("a")), {"each_index_once"}),
    ("two pods of an index at a time", lambda r: (r.pods.insert(3, pod("u2", 0, ("Pending", "Failed"))[0]), r.hit.add("a")), {"no_twins"}),
    ("a pod that was made again", lambda r: r.pods.extend(pod("u2", 0, ("Pending", "Failed"), incarnation=2)), {"restarts_have_a_cause"}),
    ("the same after a lost node", lambda r: (r.pods.extend(pod("u2", 0, ("Pending", "Failed"), incarnation=2)), r.hit.add("a")), set()),
    ("a restart", lambda r: r.status.update(restarts=1), {"restarts_have_a_cause"}),
    ("a pod that the record lacks", lambda r: r.requests.insert(3, request(3, 1, "create", "pods", 201, "a-worker-5")), {"record_is_complete"}),
    ("a write of a candidate", lambda r: r.requests.append(request(10, 2, "patch", "pods")), {"only_the_holder_writes"}),
    ("a write after the deadline", lambda r: r.requests.append(request(21, 1, "patch", "pods")), {"only_the_holder_writes"}),
    ("a lease that is not given", lambda r: r.requests.append(request(10, 2, "patch", "leases", 409)), set()),
    ("a late successor", late_first_write, {"followed_in_time"}),
    ("a late successor whose predecessor's successor was killed first", lambda r: (late_first_write(r), r.ends.append(("kill", 3, 30.0, False))), set()),
    ("no successor", lambda r: r.requests.__setitem__(slice(5, 7), []), {"followed_in_time"}),
    ("a manager that ended", lambda r: r.exits.append((2, 139, "", None)), {"nobody_ended_by_himself"}),
    ("memory that grows", lambda r: setattr(r, "memory", leak(2048)), {"level"}),
    ("memory that falls", lambda r: setattr(r, "memory", leak(-2048)), set()),
    ("a single step at the begin", lambda r: setattr(r, "memory", [(t, (20 << 20) + (t > 4) * 65536) for t in range(120)]), set()),
    ("too few samples", lambda r: setattr(r, "memory", leak(0)[:9]), {"level"}),
    ("a connection that was idle is closed", lambda r: setattr(r, "descriptors", [(t, 13 - (t > 30)) for t in range(60)]), set()),
    ("a descriptor that is not closed", lambda r: setattr(r, "descriptors", [(t, 12 + (t > 30)) for t in range(60)]), {"none_leaked"}),
]


def draws_are_sound():
    """The same seed gives the same, every kind of disturbance comes within the first deck."""
    first, again = ([next(d) for _ in range(40)] for d in (draw.disturbances(7), draw.disturbances(7)))
    a, b = ([vars(next(j)) for _ in range(40)] for j in (draw.jobs(7), draw.jobs(7)))
    return first == again and a == b and {what for _, what in first[:len(draw.HOW_OFTEN)]} == set(draw.HOW_OFTEN) == set(draw.MEANS)


def main():
    bad = [] if draws_are_sound() else ["draws"]
    for name, spoil, want in ROWS:
        run = Run()
        spoil(run)
        got = run.complaints()
        if got != want:
            bad.append(f"{name}: {sorted(got)} complain, not {sorted(want)}")
    print("\n".join(bad) or f"{len(ROWS)} rows hold")
    return 1 if bad else 0


sys.exit(main())
