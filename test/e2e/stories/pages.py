"""The pages that teach (docs/start, tutorials, cookbook, move): their files are written, their commands run, and what these print is compared."""

import pathlib
import re
import time

from harness import ROOT, TEST_KEY, Failure, expect, expect_equal
from stories.documents import Shell
from stories.plugin import built, comparable

BLOCK = re.compile(r'^```(\w+)(?: title="([\w.-]+)")?\n(.*?)^```$', re.M | re.S)
PATIENCE = 30  # seconds until what a command prints is what the page shows
ENDS = ("succeed", "4s")  # what becomes of a simulated pod; nodes of users do not know these words
OUTCOMES = {  # of the tasks of a page for which that is not so
    "first-job": {"worker": ("succeed", "8s")},
    "elastic-job": {"worker": ("run", "0s")},
    "torchrun-job": {"worker": ("run", "0s")},
    "torchrun": {"worker": ("run", "0s")},
    "mpi": {"worker": ("run", "0s")},
    "sweep": {"run": ("succeed", "1s")},
    "jax": {"worker": ("run", "0s")},
    "ray": {"head": ("succeed", "12s"), "worker": ("run", "0s")},
    "notebook": {"server": ("run", "0s")},
    "inference": {"worker": ("run", "0s"), "server": ("run", "0s")},
}
UNTOLD = {  # bash without a title: commands that have tests of their own, or change the machine
    "hack/quickstart.sh",
    "export KUBECONFIG=$HOME/.cache/kar-controllers/quickstart/simulated.kubeconfig",
    'install -D build/kubectl-qj/kubectl-qj "$HOME/.local/bin/kubectl-qj"',
}
ELSEWHERE = {"install.md"}  # it changes the cluster: stories documented_uninstall, namespaced_manager_needs_no_more, and test/chart
NO_LOGS = re.compile(r"^kubectl (qj )?logs .*$", re.M)  # simulated containers print nothing; test/node reads those of real ones


def with_outcomes(text, outcomes):
    """A file of a page with the annotations that simulated nodes obey, in each template."""
    lines, task = [], None
    for line in text.splitlines():
        lines.append(line)
        named = re.match(r" *- name: (\S+)$", line)
        task = named[1] if named else task
        if re.match(r" *template:$", line):
            outcome, after = outcomes.get(task, ENDS)
            space = re.match(" *", line)[0]
            lines.append(f"{space}  metadata: {{annotations: {{{TEST_KEY}outcome: {outcome}, {TEST_KEY}after: {after}}}}}")
    return "\n".join(lines) + "\n"


class Page:
    """A page, told in a folder of its own by a shell that finds the plug-in."""

    def __init__(self, s, path):
        self.s, self.path, self.name = s, path, pathlib.Path(path).stem
        self.folder = s.cluster.dir / f"page-{s.namespace}-{self.name}"
        self.folder.mkdir()
        self.shell = Shell(s, self.folder)
        self.search = f'export PATH="{built(s)}:{built(s).parent / "sim"}:$PATH"; '

    def write(self, title, text):
        ours = "kube-arbitrator.io" in text
        (self.folder / title).write_text(with_outcomes(text, OUTCOMES.get(self.name, {})) if ours else text)

    def compare(self, command, shown, text):
        """What the last line prints begins, sooner or later, as the page shows."""
        want = comparable(text, self.s.namespace)
        deadline = time.monotonic() + PATIENCE
        while not comparable(shown, self.s.namespace).startswith(want):
            last = command.strip().splitlines()[-1]
            if time.monotonic() > deadline or not re.match(r"kubectl (qj (list|tree|why)|get) ", last + " "):
                raise Failure(f"{self.path}: {command}prints\n{shown}\nand not\n{text}")
            time.sleep(0.5)
            shown = self.shell(self.search + last)

    def tell(self):
        """Returns how many blocks were run and compared."""
        ran = compared = 0
        command = shown = None
        for language, title, text in BLOCK.findall((ROOT / self.path).read_text()):
            if title:
                self.write(title, text)
            elif language == "sh":
                command, shown, ran = text, self.shell(self.search + NO_LOGS.sub("", text)), ran + 1
            elif language == "text":
                expect(command, f"{self.path}: a text without a command before it")
                self.compare(command, shown, text)
                compared += 1
            else:
                expect(language == "bash" and set(text.splitlines()) <= UNTOLD, f"{self.path}: a block {language} that nobody runs: {text}")
        return ran, compared


def tell_all(s, folder, least):
    """The pages of the folder, which leave nothing in the cluster: the next one would see it."""
    pages = [page for page in sorted((ROOT / "docs" / folder).glob("*.md")) if page.name not in ELSEWHERE]
    expect(len(pages) >= least, f"{len(pages)} pages in docs/{folder}")
    for page in pages:
        ran, compared = Page(s, page.relative_to(ROOT)).tell()
        expect(ran, f"{page.name} has commands")
        expect_equal(s.kubectl.list("queuejobs.kube-arbitrator.io"), [], f"jobs that {page.name} leaves")
        s.shown.append(f"{page.name}: {ran} blocks run, {compared} compared")


def clean(s, *queues):
    s.cluster.kubectl("delete", "namespace", "team-blue", "--ignore-not-found", "--wait=false")
    s.cluster.kubectl("delete", "queues.kube-arbitrator.io", *queues, "--ignore-not-found", "--wait=false")


def story_documented_start(s):
    """docs/start: what a user types first."""
    tell_all(s, "start", 1)


def story_documented_tutorials(s):
    """docs/tutorials: a first job, a queue for a team, an elastic job, a job for torchrun."""
    try:
        tell_all(s, "tutorials", 4)
    finally:
        clean(s, "team-blue", "stretch")


def story_documented_cookbook(s):
    """docs/cookbook: torchrun that goes on with less, MPI with keys, JAX, a Ray cluster, a sweep of 200 jobs, an array job, inference beside training, notebooks."""
    try:
        tell_all(s, "cookbook", 8)
    finally:
        clean(s, "sweep", "serving", "training", "lab", "notebooks")


def story_documented_capacity(s):
    """docs/operate/capacity.md: days of a cluster, with one node more and without."""
    expect_equal(Page(s, pathlib.Path("docs/operate/capacity.md")).tell(), (2, 2), "blocks that were run, and compared")


def story_documented_moves(s):
    """docs/move: jobs and queues of Volcano, Kueue, batch Job, JobSet and Slurm become ours, and run."""
    try:
        tell_all(s, "move", 5)
    finally:
        clean(s, "vision-lab")
