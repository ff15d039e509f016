"""A table of tasks: what is typed, which command shows what came of it, and what that printed.

Each row is a function: its docstring has the number of the task and what is typed. It makes that, and yields commands, of kubectl unless
they are a Command, with a pattern that their answer fits in the end, and what they read from a file, if they do.
"""

import contextlib
import inspect
import json
import re
import shlex

from harness import Failure, expect, wait_until
from stories.obstacles import Scene


def job(name):
    return f"get qj {name} --no-headers -o custom-columns=PHASE:.status.phase,REASON:.status.reason,MESSAGE:.status.message"


def events(name):
    return f"get events --no-headers --field-selector involvedObject.name={name} -o custom-columns=TYPE:.type,REASON:.reason,MESSAGE:.message"


def groups(name):
    return f"get podgroups.scheduling.x-k8s.io {name} --no-headers -o wide"


def fields(kind, name, *paths):
    return f"get {kind} {name} -o jsonpath='{' '.join('{' + path + '}' for path in paths)}'"


def validity(name):
    path = '.status.conditions[?(@.type=="Valid")]'
    return fields("queue", name, f"{path}.status", f"{path}.reason", f"{path}.message")


class Command(str):
    """What is not of kubectl: as the table shows it, and what prints it."""

    def __new__(cls, shown, prints):
        made = super().__new__(cls, shown)
        made.prints = prints
        return made


class Tasks:
    def __init__(self, s):
        self.s, self.lines, self.wrong = s, [], []

    def play(self, row):
        number, typed = (part.strip() for part in row.__doc__.split(":", 1))
        try:
            with contextlib.ExitStack() as stack:
                try:
                    for step in row(Scene(self.s, stack)):
                        self.add(number, typed, *step)
                finally:
                    self.clear()
        except Failure as failure:
            self.wrong.append(f"{number} {typed}: {failure}")

    def add(self, number, typed, command, words, file=None):
        printed = []
        run = re.sub(r"-f \S+", "-f -", command) if file else command
        prints = command.prints if isinstance(command, Command) else lambda: self.s.kubectl(*shlex.split(run), stdin=json.dumps(file), check=False)[1]
        shown = command if isinstance(command, Command) else f"kubectl {command.split(' --no-headers')[0]}"

        def as_expected():
            printed[:] = [prints()]
            return re.search(words, printed[0])

        try:
            wait_until(as_expected, f"{shown} says {words}", 20)
            now = "as expected"
        except Failure:
            now = "NOT AS EXPECTED"
            self.wrong.append(f"{number} {typed}: expected {words!r}, {shown} printed:\n{printed[0]}")
        self.lines.append(f"| {number} | {typed} | `{shown}` | {part_that_fits(printed[0], words)} | {now} |")

    def clear(self):
        self.s.kubectl("delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
        self.s.kubectl("delete", "podgroups.scheduling.x-k8s.io,pods,events", "--all", "--wait=true")

    def show(self):
        self.s.shown += ["| task | what is typed | command | what it printed | now |", "|---|---|---|---|---|", *self.lines]


def part_that_fits(printed, words):
    """The line that was expected, or all, as a cell of a table."""
    line = next((line for line in printed.splitlines() if re.search(words, line)), printed)
    return " ".join(line.split()).replace("|", "\\|")[:400]


def play_all(s, rows):
    """Prints the table, and fails if a row is not as expected: one wrong row does not hide the others."""
    tasks = Tasks(s)
    try:
        for row in rows:
            tasks.play(row)
    finally:
        tasks.show()
    expect(not tasks.wrong, "\n".join(tasks.wrong))


def rows_of(module):
    return [f for f in module.values() if inspect.isgeneratorfunction(f)]
