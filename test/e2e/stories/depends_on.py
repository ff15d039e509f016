"""taskSpecs[].dependsOn: tasks start in order, the gang never waits for one that may not start yet, and it can be seen why."""

import re

from harness import TEST_KEY, Watch, condition, expect, expect_equal, queuejob, task, wait_until


def after(name, status=None):
    return {"name": name, **({"status": status} if status else {})}


def succeed(s, *pods):
    for name in pods:
        s.kubectl("annotate", "pod", name, "--overwrite", f"{TEST_KEY}outcome=succeed")


def started(status):
    return {t["name"]: t["started"] for t in status["tasks"]}


def min_member(s, name):
    return s.group(name)["spec"]["minMember"]


def pipeline(name, **spec):
    """prepare, then server when that has succeeded, then worker as soon as server runs; listed the other way round."""
    return queuejob(name, task("worker", 3, dependsOn=[after("server")]),
                    task("server", 2, dependsOn=[after("prepare", "Succeeded")]), task("prepare", 1), **spec)


def story_tasks_start_in_order(s):
    """Each task starts when those before it are there; quorum and PodGroup grow with it; the phase never goes back."""
    watch = Watch(s.kubectl, s.cluster.dir / f"get-{s.namespace}.log", "queuejobs")
    try:
        s.apply(pipeline("steps"))
        status = s.wait_phase("steps", "Running", running=1, reason="TaskWaiting")
        expect_equal(status["message"], "task server waits until task prepare has succeeded: 0 of 1; 1 more task waits", "message")
        expect_equal((status["minAvailable"], min_member(s, "steps")), (1, 1), "quorum of the first task, and of the PodGroup")
        expect_equal(started(status), {"worker": False, "server": False, "prepare": True}, "tasks that have started")
        described = s.kubectl("describe", "queuejob", "steps")
        expect(re.search(r"Message:\s+task server waits until task prepare has succeeded: 0 of 1", described), f"kubectl describe must say it:\n{described}")
        succeed(s, "steps-prepare-0")
        status = s.wait_phase("steps", "Running", running=5, reason=None)
        expect_equal((status["minAvailable"], status["record"]["formedMinAvailable"], min_member(s, "steps")), (6, 6, 5), "quorum of all tasks; of the PodGroup, of what still runs")
        expect_equal(s.group("steps")["spec"]["succeededMembers"], 1, "what minMember leaves out")
        succeed(s, *(f"steps-server-{i}" for i in range(2)), *(f"steps-worker-{i}" for i in range(3)))
        status = s.wait_phase("steps", "Completed", succeeded=6, restarts=0)
        wait_until(lambda: "Completed" in watch.text(), "the watch shows Completed")
    finally:
        lines = watch.stop().splitlines()
    phases = [line.split()[1] for line in lines[1:]]
    expect("Running" in phases, f"phases: {phases}")
    expect("Starting" not in phases[phases.index("Running"):], f"a job that runs must not be called Starting again: {phases}")
    made = [name.split("-")[1] for name in s.audit.pods_created(s.namespace)]
    expect_equal(made, ["prepare"] + ["server"] * 2 + ["worker"] * 3, "tasks of the pods created")
    wait_until(lambda: "task worker starts: creating 3 pods" in s.kubectl("get", "events"), "the events tell the start of a task")


def story_restart_begins_with_the_first_task(s):
    """A gang that breaks goes through its order again."""
    s.apply(queuejob("again", task("server", 2), task("worker", 2, dependsOn=[after("server")])))
    s.wait_phase("again", "Running", running=4)
    s.fail_pod("again-server-0")
    s.wait_phase("again", "Running", 60, running=4, restarts=1, incarnation=2)
    made = s.audit.pods_created(s.namespace)
    expect_equal([name.split("-")[1] for name in made], ["server"] * 2 + ["worker"] * 2 + ["server"] * 2 + ["worker"] * 2, "tasks of the pods created")


def story_dependency_that_fails_later_takes_nothing_away(s):
    """Above the quorum a lost pod of a dependency is replaced alone; its dependents keep their pods."""
    s.apply(queuejob("loose", task("server", 1), task("worker", 3, dependsOn=[after("server")]), sched={"minAvailable": 2}))
    s.wait_phase("loose", "Running", running=4)
    before = s.uids("loose")
    s.fail_pod("loose-server-0")
    s.wait_phase("loose", "Running", running=4, podFailures=1, restarts=0)
    now = s.uids("loose")
    expect(now.pop("loose-server-0") != before.pop("loose-server-0"), "the failed pod must have been replaced")
    expect_equal(now, before, "pods of the task that depends on it")


def story_resume_keeps_the_stages_that_have_succeeded(s):
    """After a suspension the prepared data are there, the servers start anew, and the workers wait for them."""
    s.apply(pipeline("pause"))
    s.wait_phase("pause", "Running", running=1)
    succeed(s, "pause-prepare-0")
    s.wait_phase("pause", "Running", running=5)
    s.kubectl("patch", "qj", "pause", "--type=merge", "-p", '{"spec": {"suspend": true}}')
    s.wait_phase("pause", "Suspended", running=0, terminating=0)
    s.kubectl("patch", "qj", "pause", "--type=merge", "-p", '{"spec": {"suspend": false}}')
    status = s.wait_phase("pause", "Running", running=5, succeeded=1, incarnation=2)
    expect_equal(status["restarts"], 0, "restarts")
    made = [name.split("-")[1] for name in s.audit.pods_created(s.namespace)]
    expect_equal(made, ["prepare"] + (["server"] * 2 + ["worker"] * 3) * 2, "tasks of the pods created")


def story_tasks_that_wait_for_each_other(s):
    """A cycle: condition Invalid names it, no pod is created, and an edit mends it."""
    ring = [task(a, 1, dependsOn=[after(b)]) for a, b in (("first", "second"), ("second", "third"), ("third", "first"))]
    s.apply(queuejob("ring", task("free", 1), *ring))
    job = wait_until(lambda: (j := s.job("ring")) and condition(j, "Invalid") == "True" and j, "the job is Invalid")
    want = "dependsOn: tasks wait for each other: first -> second -> third -> first"
    invalid = next(c for c in job["status"]["conditions"] if c["type"] == "Invalid")
    expect_equal((job["status"]["message"], invalid["message"]), (want, want), "message of the status and of the condition")
    expect_equal(s.audit.pods_created(s.namespace), [], "pods created")
    del ring[0]["dependsOn"]
    s.apply(queuejob("ring", task("free", 1), *ring))
    s.wait_phase("ring", "Running", running=4)
    expect(condition(s.job("ring"), "Invalid") != "True", "it must not be called invalid any more")
    expect_equal(s.audit.pods_created(s.namespace)[2:], ["ring-third-0", "ring-second-0"], "the last two pods created")


def story_edits_of_the_order(s):
    """A dependency that is scaled to nothing, or taken away, holds nobody up."""
    tasks = [task("base", 1), task("extra", 2, outcome="pending", dependsOn=[after("base")]), task("end", 1, dependsOn=[after("extra", "Succeeded")])]
    s.apply(queuejob("edited", *tasks, sched={"minAvailable": 1}))
    s.wait_phase("edited", "Running", running=1, pending=2, reason="TaskWaiting")
    tasks[1]["replicas"] = 0
    s.apply(queuejob("edited", *tasks, sched={"minAvailable": 1}))
    s.wait_phase("edited", "Running", running=2, pending=0, restarts=0)
    s.apply(queuejob("freed", *[{**t, "replicas": 1} for t in tasks], sched={"minAvailable": 1}))
    s.wait_phase("freed", "Running", running=1, pending=1, reason="TaskWaiting")
    s.kubectl("patch", "qj", "freed", "--type=json", "-p", '[{"op": "remove", "path": "/spec/taskSpecs/2/dependsOn"}]')
    s.wait_phase("freed", "Running", running=2, pending=1, restarts=0)


def story_job_starts_after_others(s):
    """spec.after: the job has no PodGroup, so no place in a queue, until the others have ended as asked; then it runs, although one of them is gone by its TTL."""
    s.apply(queuejob("train", task("worker", 2), after=[{"name": "fetch"}, {"name": "clean", "status": "Ended"}]))
    status = s.wait_phase("train", "Pending", reason="WaitingForJob")
    expect_equal(status["message"], "fetch does not exist, clean does not exist", "message")
    s.apply(queuejob("fetch", task("worker", 1), ttlSecondsAfterFinished=0))
    s.apply(queuejob("clean", task("worker", 1), backoffLimit=0))
    wait_until(lambda: s.status("train")["message"] == "fetch is Running, clean is Running", "the message follows")
    expect("WaitingForJob" in s.kubectl("describe", "qj", "train"), "describe says it")
    succeed(s, "fetch-worker-0")
    wait_until(lambda: not s.job("fetch"), "the first is gone by its TTL")
    status = wait_until(lambda: (t := s.status("train")) and t["message"] == "clean is Running" and t, "one is left")
    expect_equal(status["after"], [{"name": "fetch", "phase": "Completed"}], "what is recorded")
    expect(not s.group("train"), "it has no PodGroup yet")
    expect_equal([p for p in s.audit.pods_created(s.namespace) if p.startswith("train-")], [], "pods of it")
    s.fail_pod("clean-worker-0", exit_code=3)
    s.wait_phase("train", "Running", running=2)


def story_job_fails_with_the_one_that_it_follows(s):
    """A job of spec.after that ends otherwise than asked fails the job, which never had a pod; a circle is Invalid until an edit opens it."""
    s.apply(queuejob("train", task("worker", 2), after=[{"name": "fetch"}]))
    s.apply(queuejob("fetch", task("worker", 1), backoffLimit=0))
    s.wait_phase("fetch", "Running")
    s.fail_pod("fetch-worker-0", exit_code=3)
    status = s.wait_phase("train", "Failed", reason="DependencyFailed")
    expect_equal(status["message"], "job fetch is Failed, and this job starts only after it has completed (spec.after)", "message")
    expect_equal([p for p in s.audit.pods_created(s.namespace) if p.startswith("train-")], [], "pods of it")
    s.apply(queuejob("a", task("worker", 1), after=[{"name": "b"}]))
    s.apply(queuejob("b", task("worker", 1), after=[{"name": "a"}]))
    status = s.wait_phase("a", "Pending", reason="Invalid")
    expect_equal(status["message"], "spec.after is a circle: each of a, b, a waits for the next", "message")
    if not s.cluster.simulated:  # which evaluates no CEL
        refused = s.kubectl("patch", "qj", "a", "--type=merge", "-p", '{"spec":{"after":[{"name":"b"},{"name":"c"}]}}', check=False)[1]
        expect("cannot get more jobs to wait for" in refused, f"no entry can be added: {refused}")
    s.kubectl("patch", "qj", "b", "--type=merge", "-p", '{"spec":{"after":null}}')
    s.wait_phase("b", "Running")
    s.wait_phase("a", "Pending", reason="WaitingForJob")
