"""What the API server refuses: when it is created, and when something good is replaced by it.

A row is a file of test/e2e/bad, whose first line says "# expect: WORDS", or one of REJECTED. The good object that is
replaced is the one of its kind in test/e2e/valid, under the same name. A file that is only bad as an update says
"# update: FILE", the object it must not replace."""

import copy
import json
import re

from harness import ROOT, expect, expect_equal, queuejob, task

BAD = ROOT / "test/e2e/bad"
VALID = ROOT / "test/e2e/valid"
LEAST = 80  # rows; fewer mean that a folder was not found
LONG = 50  # letters of a job's name that leave room for short names of tasks only
# The name itself is what is wrong, and a name cannot be changed by an update.
CREATE_ONLY = {"queue-name", "queue-named-root", "queuejob-job-name-with-dot", "a-job-name-with-a-dot"}


def job(**changes):
    return queuejob("bad", task("worker", 2), **changes)


def with_task(**fields):
    return queuejob("bad", {**task("worker", 2), **fields})


def with_pod(**fields):
    bad = job()
    bad["spec"]["taskSpecs"][0]["template"]["spec"].update(fields)
    return bad


def named(name, *tasks):
    return queuejob(name, *(tasks or [task("worker", 2)]))


def without(path):
    bad = copy.deepcopy(job())
    at = bad
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return bad


# what is wrong, the object, words of the API server's answer
REJECTED = [
    ("more minimum than pods", job(sched={"minAvailable": 3}), "schedSpec.minAvailable 3 is more than the 2 replicas of all tasks"),
    ("negative minimum", job(sched={"minAvailable": -1}), "should be greater than or equal to 0"),
    ("two tasks of one name", named("bad", task("a", 1), task("a", 1)), "two tasks have the name a"),
    ("a task with a default name of another", queuejob("bad", task("task1", 1), {k: v for k, v in task("x", 1).items() if k != "name"}),
     "must differ from the default names"),
    ("no task", named("bad") | {"spec": {"taskSpecs": []}}, "should have at least 1 items"),
    ("no spec", without(["spec"]), "spec: Required value"),
    ("no template", without(["spec", "taskSpecs", 0, "template"]), "template: Required value"),
    ("no container", with_pod(containers=[]), "should have at least 1 items"),
    ("container without image", with_pod(containers=[{"name": "main"}]), "image: Required value"),
    ("a job name with a dot", named("bad.job"), "must be a DNS-1123 label"),
    ("names too long together", named("n" * 40, task("t" * 16, 1)), "the longest here have 56"),
    ("a task name with capitals", named("bad", task("Worker", 1)), "the name of a task must be a DNS-1123 label"),
    ("negative replicas", with_task(replicas=-1), "should be greater than or equal to 0"),
    ("minimum of a task above its replicas", with_task(minAvailable=3), "minAvailable 3 of a task is more than its 2 replicas"),
    ("restartPolicy Always", with_pod(restartPolicy="Always"), "restartPolicy"),
    ("an unknown mode", job(sched={"mode": "Loose"}), "Unsupported value: \"Loose\""),
    ("an unknown match policy", job(sched={"matchPolicy": "Always"}), "Unsupported value: \"Always\""),
    ("a gang group with two slashes", job(sched={"gangGroups": ["a/b/c"]}), "an entry of gangGroups must"),
    ("a negative schedule timeout", job(sched={"scheduleTimeoutSeconds": -1}), "should be greater than or equal to 0"),
    ("no deadline", job(activeDeadlineSeconds=0), "should be greater than or equal to 1"),
    ("negative back-off limit", job(backoffLimit=-1), "should be greater than or equal to 0"),
    ("a queue name with capitals", job(queue="Default"), "queue must be a DNS-1123 label"),
    ("more successes than pods", job(successPolicy={"minSucceeded": 3}), "successPolicy.minSucceeded 3 is more than"),
    ("success of an unknown task", job(successPolicy={"tasks": ["nobody"]}), "successPolicy.tasks: there is no task nobody"),
    ("a selector that the templates do not match", job(selector={"matchLabels": {"app": "x"}}), "must match selector.matchLabels"),
    ("a number as a name", with_pod(containers=[{"name": 7, "image": "busybox"}]), "must be of type string"),
    ("a misspelt field", job(taskspecs=[]), "unknown field \"spec.taskspecs\""),
]


class Row:
    """One bad object in a file of its own; good is the text of what it must not replace."""

    def __init__(self, path, words, good, update_only=False):
        self.path, self.words, self.good, self.update_only = path, words, good, update_only

    def tried_at(self, verb):
        return not self.update_only if verb == "create" else self.path.stem not in CREATE_ONLY


def paused(text):
    """A QueueJob that is there to be replaced need not run."""
    return text.replace("\nspec:\n", "\nspec:\n  suspend: true\n", 1) if "\nkind: QueueJob\n" in text else text


def replaceable(name):
    return json.dumps(queuejob(name, task("w", 2), suspend=True))


def row_of_file(path):
    text = path.read_text()
    head = dict(re.findall(r"^# (expect|update): (.*)$", text, re.M))
    expect("expect" in head, f"{path} must begin with # expect: WORDS")
    name = re.search(r"^metadata:\n  name: (\S+)$", text, re.M)
    kind = re.search(r"^kind: (\w+)$", text, re.M)
    expect(name and kind, f"{path} must have a kind, and a name as the first line of metadata")
    if len(name[1]) > LONG:
        return Row(path, head["expect"], replaceable(name[1]), "update" in head)
    good = (VALID / f"{kind[1].lower()}.yaml").read_text()
    good = re.sub(r"^(metadata:\n  name: )\S+$", rf"\g<1>{name[1]}", good, count=1, flags=re.M)
    return Row(path, head["expect"], paused(good), "update" in head)


def row_of_table(folder, what, bad, words):
    path = folder / (re.sub(r"[^a-z0-9]+", "-", what.lower()) + ".json")
    path.write_text(json.dumps(bad))
    return Row(path, words, replaceable(bad["metadata"]["name"]))


def all_rows(s):
    folder = s.cluster.dir / s.namespace
    folder.mkdir()
    rows = [row_of_file(p) for p in sorted(BAD.glob("*.yaml"))] + [row_of_table(folder, *r) for r in REJECTED]
    expect(len(rows) >= LEAST, f"there must be at least {LEAST} rows, not {len(rows)}")
    return rows


def judge(verb, row, answer):
    """None if the refusal names a field and says what to do; else what is wrong with it."""
    if answer is None:
        return f"{row.path.name} ({verb}): was accepted"
    if row.words not in answer:
        return f"{row.path.name} ({verb}): expected {row.words!r}, got: {answer}"
    if not re.search(r"\b(spec|metadata)(\.\w+|\[\d+\]|\b)", answer):
        return f"{row.path.name} ({verb}): the answer names no field: {answer}"
    return None


MODIFIED = "the object has been modified"  # a status write came between kubectl's read and its write


def try_all(s, verb, command, rows, tries=5):
    """One kubectl for all rows, which names the file before each refusal; returns what is wrong."""
    files = [a for row in rows for a in ("-f", str(row.path))]
    code, output = s.kubectl(command, *files, check=False)
    parts = re.split(rf'error when (?:creating|replacing) "({re.escape(str(ROOT))}[^"]+|{re.escape(str(s.cluster.dir))}[^"]+)":', output)
    answers = dict(zip(parts[1::2], map(str.strip, parts[2::2])))
    if len(rows) == 1 and code and not answers:  # kubectl names the file only where there are several
        answers = {str(rows[0].path): output.strip()}
    again = [row for row in rows if MODIFIED in answers.get(str(row.path), "")] if tries > 1 else []
    if again:
        rows = [row for row in rows if row not in again]
        return try_all(s, verb, command, again, tries - 1) + [trouble for row in rows if (trouble := judge(verb, row, answers.get(str(row.path))))]
    return [trouble for row in rows if (trouble := judge(verb, row, answers.get(str(row.path))))]


def story_bad_objects_are_rejected(s):
    """The API server refuses what cannot be run, at create and at update, and says which field and why."""
    rows = all_rows(s)
    wrong = try_all(s, "create", "create", [r for r in rows if r.tried_at("create")])
    s.kubectl("delete", "queuejobs,podgroups.scheduling.x-k8s.io,schedulingspecs", "--all")
    updated = [r for r in rows if r.tried_at("update")]
    goods = sorted({r.good for r in updated})
    try:
        for good in goods:
            s.apply(good)
        wrong += try_all(s, "update", "replace", updated)
    finally:
        s.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin="\n---\n".join(goods))
    expect(not wrong, f"{len(wrong)} of {len(rows)} rows:\n" + "\n".join(wrong))


def story_limits_are_accepted(s):
    """What is at the edge of the allowed is accepted, so that a refusal above is for the reason it names."""
    for path in sorted(VALID.glob("*.yaml")):
        s.kubectl("create", "--dry-run=server", "-f", str(path))
    expect_equal(s.kubectl.list("queuejobs"), [], "jobs after a dry run")


def story_running_job_keeps_its_queue(s):
    """The queue of a job can be changed while it is suspended or waits, and removed always; one that runs cannot move to another queue."""
    def move(queue):
        return s.kubectl("patch", "queuejob", "stays", "--type=merge", "-p", json.dumps({"spec": {"queue": queue}}), check=False)

    s.apply(queuejob("stays", task("worker", 1), suspend=True))
    s.wait_phase("stays", "Suspended")
    for queue in ("other", "default"):
        failed, answer = move(queue)
        expect(not failed, f"a suspended job moves to {queue}: {answer}")
    s.kubectl("patch", "queuejob", "stays", "--type=merge", "-p", '{"spec":{"suspend":false}}')
    s.wait_phase("stays", "Running", 60, running=1)
    failed, answer = move("other")
    expect(failed and "queue can be changed only while the job waits" in answer, f"the API server answered: {answer}")
    failed, answer = move(None)
    expect(not failed, f"spec.queue can be removed: {answer}")
    failed, answer = move("other")
    expect(failed and "queue can be changed only while the job waits" in answer, f"the API server answered: {answer}")
    expect_equal(s.status("stays")["queue"], "default", "the queue in force")
