import copy
import json

from harness import expect, queuejob, task


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
    ("more minimum than pods", job(sched={"minAvailable": 3}), "schedSpec.minAvailable must be at most the sum of the replicas"),
    ("negative minimum", job(sched={"minAvailable": -1}), "should be greater than or equal to 0"),
    ("two tasks of one name", named("bad", task("a", 1), task("a", 1)), "the names of the tasks must be unique"),
    ("a task with a default name of another", queuejob("bad", task("task1", 1), {k: v for k, v in task("x", 1).items() if k != "name"}),
     "must differ from the default names"),
    ("no task", named("bad") | {"spec": {"taskSpecs": []}}, "should have at least 1 items"),
    ("no spec", without(["spec"]), "spec: Required value"),
    ("no template", without(["spec", "taskSpecs", 0, "template"]), "template: Required value"),
    ("no container", with_pod(containers=[]), "should have at least 1 items"),
    ("container without image", with_pod(containers=[{"name": "main"}]), "image: Required value"),
    ("a job name with a dot", named("bad.job"), "must be a DNS-1123 label"),
    ("names too long together", named("n" * 40, task("t" * 16, 1)), "must together have at most 55 characters"),
    ("a task name with capitals", named("bad", task("Worker", 1)), "the name of a task must be a DNS-1123 label"),
    ("negative replicas", with_task(replicas=-1), "should be greater than or equal to 0"),
    ("minimum of a task above its replicas", with_task(minAvailable=3), "minAvailable of a task must be at most its replicas"),
    ("restartPolicy Always", with_pod(restartPolicy="Always"), "restartPolicy"),
    ("an unknown mode", job(sched={"mode": "Loose"}), "Unsupported value: \"Loose\""),
    ("an unknown match policy", job(sched={"matchPolicy": "Always"}), "Unsupported value: \"Always\""),
    ("a gang group without namespace", job(sched={"gangGroups": ["other"]}), "must have the form <namespace>/<name>"),
    ("no schedule timeout", job(sched={"scheduleTimeoutSeconds": 0}), "should be greater than or equal to 1"),
    ("no deadline", job(activeDeadlineSeconds=0), "should be greater than or equal to 1"),
    ("negative back-off limit", job(backoffLimit=-1), "should be greater than or equal to 0"),
    ("a queue name with capitals", job(queue="Default"), "queue must be a DNS-1123 label"),
    ("more successes than pods", job(successPolicy={"minSucceeded": 3}), "successPolicy.minSucceeded must be at most"),
    ("success of an unknown task", job(successPolicy={"tasks": ["nobody"]}), "successPolicy.tasks must hold names of tasks"),
    ("a selector that the templates do not match", job(selector={"matchLabels": {"app": "x"}}), "must match selector.matchLabels"),
    ("a number as a name", with_pod(containers=[{"name": 7, "image": "busybox"}]), "must be of type string"),
    ("a misspelt field", job(taskspecs=[]), "unknown field \"spec.taskspecs\""),
]


def story_bad_objects_are_rejected(s):
    """The API server refuses what cannot be run, and says why."""
    wrong = []
    for what, bad, words in REJECTED:
        status, answer = s.kubectl("create", "-f", "-", stdin=json.dumps(bad), check=False)
        if status == 0 or words not in answer:
            wrong.append(f"{what}: expected {words!r}, got: {answer.strip()}")
            s.kubectl("delete", "queuejobs", "--all")
    expect(not wrong, "\n".join(wrong))


def story_queue_is_immutable(s):
    """A job cannot move to another queue."""
    s.apply(queuejob("stays", task("worker", 1), suspend=True))
    status, answer = s.kubectl("patch", "queuejob", "stays", "--type=merge", "-p", '{"spec":{"queue":"other"}}', check=False)
    expect(status and "queue is immutable" in answer, f"the API server answered: {answer}")
