"""Compares two records operation by operation and says in words where they differ."""

import dataclasses
import json

import compare
import tolerated

SHOWN_DIFFERENCES = 8
SHOWN_CHARACTERS = 230


@dataclasses.dataclass
class Verdict:
    name: str
    request: str
    differences: list  # (path, real, simulated) that nothing tolerates
    listed: list  # the tolerated.Tolerated that cover others

    @property
    def agrees(self):
        return not self.differences and not self.listed


def judge(real, simulated, runs):
    """One Verdict per operation of a chapter. runs: the letters of the run on either server."""
    symbols = [compare.Symbols(run) for run in runs]
    return [judge_operation(a, b, symbols) for a, b in zip(real, simulated, strict=True)]


def judge_operation(a, b, symbols):
    request = f"{a.operation.method} {a.path or a.operation.path}".replace(symbols[0].run, "RUN")
    if a.problem or b.problem:
        return Verdict(a.name, request, [("", a.problem or "answered", b.problem or "answered")], [])
    found = list(compare.differences(compare.normalised(a, symbols[0]), compare.normalised(b, symbols[1])))
    orders = [compare.order_problem(r, s) for r, s in zip((a, b), symbols)]
    if bool(orders[0]) != bool(orders[1]):
        found.append(("order", orders[0] or "in order", orders[1] or "in order"))
    verdict = Verdict(a.name, request, [], [])
    for path, real, simulated in found:
        entry = next((t for t in tolerated.LIST if t.covers(a.name, path, real, simulated)), None)
        if entry is None:
            verdict.differences.append((path, real, simulated))
        elif entry not in verdict.listed:
            verdict.listed.append(entry)
    return verdict


def lines(verdict):
    """The differences as a table."""
    yield f"{verdict.name}: {short(verdict.request)}"
    for path, real, simulated in verdict.differences[:SHOWN_DIFFERENCES]:
        yield f"    {path or 'answer'}"
        yield f"        real       {short(tolerated.text(real), simulated)}"
        yield f"        simulated  {short(tolerated.text(simulated), real)}"
    if len(verdict.differences) > SHOWN_DIFFERENCES:
        yield f"    and {len(verdict.differences) - SHOWN_DIFFERENCES} more"


def short(text, other=None):
    """Begins shortly before the place where long texts begin to differ."""
    other = tolerated.text(other) if other is not None else ""
    same = next((i for i, (x, y) in enumerate(zip(text, other)) if x != y), 0)
    begin = max(0, same - 60) if len(text) > SHOWN_CHARACTERS else 0
    cut = text[begin:begin + SHOWN_CHARACTERS]
    return json.dumps(("..." if begin else "") + cut + ("..." if begin + SHOWN_CHARACTERS < len(text) else ""), ensure_ascii=False)[1:-1]


def unused():
    """What only random operations may need is not missed."""
    return [t for t in tolerated.LIST if not t.used and not all(o.startswith("random-") for o in t.operations.split())]
