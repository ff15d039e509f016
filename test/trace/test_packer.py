#!/usr/bin/env python3
"""Does hack/packer plan and measure what it says? Jobs are (name, submitted, seconds, pods of one node each, cpu of a pod) on two nodes of 4 cpu."""

import importlib.machinery
import importlib.util
import pathlib
import sys

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("packer", str(pathlib.Path(__file__).resolve().parents[2] / "hack/packer"))
packer = importlib.util.module_from_spec(importlib.util.spec_from_loader("packer", LOADER))
LOADER.exec_module(packer)

LONG, GANG, SMALL, BRIEF = ("long", 0, 100, 1, 4), ("gang", 1, 10, 2, 4), ("small", 2, 200, 1, 1), ("brief", 3, 90, 1, 1)
PLANS = [  # name, jobs, order, keeps, when each starts
    ("gang_starts_whole", [LONG, GANG], "first come", False, {"long": 0, "gang": 100}),
    ("others_pass_it", [LONG, GANG, SMALL], "first come", False, {"long": 0, "gang": 202, "small": 2}),
    ("nobody_delays_it", [LONG, GANG, SMALL], "first come", True, {"long": 0, "gang": 100, "small": 110}),
    ("who_is_gone_by_then_passes_it", [LONG, GANG, BRIEF], "first come", True, {"long": 0, "gang": 100, "brief": 3}),
    ("who_fits_beside_it_then_passes_it", [LONG, ("half", 1, 10, 2, 3), SMALL], "first come", True, {"long": 0, "half": 100, "small": 2}),
    ("largest_is_first", [LONG, ("full", 1, 10, 2, 4), ("one", 1, 10, 1, 4), ("other", 0, 100, 1, 4)], "largest", False, {"long": 0, "other": 0, "full": 100, "one": 110}),
    ("shortest_is_first", [LONG, ("other", 0, 100, 1, 4), ("day", 1, 50, 2, 3), ("hour", 2, 5, 2, 3)], "shortest", False, {"long": 0, "other": 0, "hour": 100, "day": 105}),
]
AMOUNTS = [("250m", 250), ("4", 4000), ("1Ki", 1024000), ("1.5", 1500)]


def nodes():
    return packer.Nodes([{"cpu": 4000}, {"cpu": 4000}])


def job(name, submitted, seconds, pods, cpu):
    return packer.Job(name, submitted, seconds, [{"cpu": cpu * 1000}] * pods)


def report():
    """a is evicted after 10 s, waits for 20 s, and runs for 30 s; b is submitted at 40 s."""
    def pod(name, bound, ended):
        return {"job": name, "bound": bound, "ended": ended, "requests": {"cpu": "4"}}
    phases = [{"phase": "Running", "from": 0}, {"phase": "Restarting", "from": 10}, {"phase": "Running", "from": 30}]
    a = {"name": "a", "submitted": 0, "phase": "Completed", "phases": phases}
    b = {"name": "b", "submitted": 40, "phase": "Completed", "phases": []}
    allocatable = {"cpu": "4", "pods": "10"}
    return {"nodes": [{"allocatable": allocatable}, {"allocatable": allocatable}], "jobs": [a, b],
            "pods": [pod("a", 0, 10), pod("a", 30, 60), pod("b", 40, 50)]}


def failures():
    for name, jobs, order, keeps, expected in PLANS:
        got = {j.name: at for j, at in packer.Plan(nodes(), [job(*j) for j in jobs], order, keeps).runs}
        if got != expected:
            yield f"{name}: {got}, not {expected}"
    for text, expected in AMOUNTS:
        if packer.amount(text) != expected:
            yield f"amount {text}: {packer.amount(text)}, not {expected}"
    if packer.covered([(5, 7), (0, 2), (1, 3), (9, 9)]) != [[0, 3], [5, 7]]:
        yield "covered"
    _, jobs, runs = packer.read(report())
    if [(j.submitted, j.seconds, packer.covered(j.waits)) for j in jobs] != [(0, 30, [[10, 30]]), (40, 10, [])] or runs != [(30, 60, 4000), (40, 50, 4000)]:
        yield f"read: {[(j.submitted, j.seconds, j.waits) for j in jobs]} {runs}"
    hours, rows = packer.compare(report())
    if round(hours * 3600) != 20 or rows[0]["use"] != 0 or rows[0]["of all"] != 0.125 or rows[1]["use"] != 0.5:
        yield f"compare: {hours} {rows[:2]}"


if __name__ == "__main__":
    wrong = list(failures())
    print("\n".join(wrong) or "ok")
    sys.exit(bool(wrong))
