"""TrainingJobs of Paddle: a QueueJob is made of each, and their status mirrors it. Four nodes of 64 CPUs."""

from harness import KEY, TEST_KEY, expect, expect_equal, wait_until
from stories.nodes import gang, wait_until_alone
from stories.queue_rights import Queues, running

TRAININGS = "trainingjobs.paddlepaddle.org"


class Trainings(Queues):
    """Queues of a story of trainings, which are removed first: a training makes its QueueJob again."""

    def __exit__(self, *error):
        self.s.kubectl("delete", TRAININGS, "--all", "--wait=true", "--cascade=foreground", "--timeout=60s")
        super().__exit__(*error)


def training(name, low, high, cpu="8", metadata=None, **spec):
    return {"apiVersion": "paddlepaddle.org/v1", "kind": "TrainingJob", "metadata": {"name": name, **(metadata or {})},
            "spec": {"image": "example.com/paddle", "trainer": {"entrypoint": "python train.py", "workspace": "/workspace", "min-instance": low, "max-instance": high,
                                                                "resources": {"requests": {"cpu": cpu}}}, **spec}}


def elastic_training(name, low, high, **more):
    return training(name, low, high, fault_tolerant=True, pserver={"min-instance": 2, "resources": {"requests": {"cpu": "4"}}}, master={"resources": {"requests": {"cpu": "1"}}}, **more)


def status(s, name):
    return (s.kubectl.get(TRAININGS, name) or {}).get("status", {})


def wait_phase(s, name, phase, seconds=60, **fields):
    return wait_until(lambda: (lambda st: st if st.get("phase") == phase and all(st.get(k) == v for k, v in fields.items()) else None)(status(s, name)), f"training {name} is {phase} {fields or ''}", seconds=seconds)


def end(s, name, how):
    s.kubectl("annotate", "pod", name, "--overwrite", f"{TEST_KEY}outcome={how}")


def story_training_runs_to_its_end(s):
    """Master, pservers and trainers start together, with the labels by which Paddle's programs find each other; when the trainers have succeeded the others stop, and the training has succeeded. kubectl says so at each step."""
    wait_until_alone(s)
    s.apply(elastic_training("t", 2, 2))
    wait_phase(s, "t", "running", trainers=2, runningTrainers=2)
    expect_equal(sorted(s.pods("t")), ["t-master-0", "t-pserver-0", "t-pserver-1", "t-trainer-0", "t-trainer-1"], "pods")
    for label, n in (("paddle-job-master", 1), ("paddle-job-pserver", 2), ("paddle-job", 2)):
        expect_equal(len(s.kubectl.list("pods", "-l", f"{label}=t")), n, f"pods with the label {label}")
    env = {e["name"]: e.get("value") for e in s.pods("t")["t-trainer-0"]["spec"]["containers"][0]["env"]}
    expect_equal((env["PADDLE_JOB_NAME"], env["TRAINERS"], env["PSERVERS"], env["ENTRY"]), ("t", "2", "2", "python train.py"), "environment")
    s.shown.append(s.kubectl("get", "tj"))
    shown = s.kubectl("describe", "tj", "t")
    for words in ("Phase:", "running", "training_resource_type", "trainer"):
        expect(words.lower() in shown.lower().replace(" ", "_") or words in shown, f"describe has no {words}: {shown}")
    for i in range(2):
        end(s, f"t-trainer-{i}", "succeed")
    st = wait_phase(s, "t", "succeeded")
    expect(st.get("completionTime"), "it has a completionTime")
    wait_until(lambda: sorted(s.pods("t")) == ["t-trainer-0", "t-trainer-1"], "master and pservers have stopped")
    s.kubectl("delete", "tj", "t", "--wait=true", "--timeout=60s")
    wait_until(lambda: not s.job("t") and not s.pods("t") and not s.group("t"), "nothing is left of it")


def story_training_grows_and_shrinks(s):
    """It starts with its minimum beside an online service, gets the rest of the room when that goes, and gives trainers back when a job with a right comes; each change is in its scale records."""
    with Trainings(s, research={"weight": 1}, service={"weight": 1, "deserved": {"cpu": "128"}}) as q:
        s.apply(gang("online", replicas=8, cpu="16", queue=q.name("service")))
        running(s, "online", 8)
        s.apply(elastic_training("t", 2, 20, metadata={"labels": {f"{KEY}queue": q.name("research")}}))
        st = wait_phase(s, "t", "running")
        expect(2 <= st["trainers"] < 20, f"trainers beside the service: {st['trainers']}")
        before = st["trainers"] - sum(r["additional"] for r in st.get("scale_records", {}).get("ScaleRecords", []))
        s.kubectl("delete", "queuejob", "online", "--wait=true")
        st = wait_phase(s, "t", "running", trainers=20, runningTrainers=20)
        s.apply(gang("again", replicas=8, cpu="16", queue=q.name("service")))
        running(s, "again", 8)
        st = wait_until(lambda: (lambda x: x if x.get("phase") == "running" and x["trainers"] < 20 else None)(status(s, "t")), "it has given trainers back", seconds=60)
        records = st["scale_records"]["ScaleRecords"]
        expect_equal(before + sum(r["additional"] for r in records), st["trainers"], "sum of the scale records")
        expect(any(r["additional"] > 0 for r in records) and any(r["additional"] < 0 for r in records), f"records: {records}")
        s.shown.append(s.kubectl("get", "tj", "-o", "wide"))


def story_training_without_room_says_why(s):
    """No pod exists before there is room for all; the reason of its queue stands in its status. A spec that its design calls invalid is failed, with words, until it is edited."""
    wait_until_alone(s)
    s.apply(elastic_training("big", 2, 2, metadata={}) | {"spec": elastic_training("big", 300, 300)["spec"]})
    st = wait_until(lambda: status(s, "big") if "Infeasible" in status(s, "big").get("reason", "") else None, "it says why it waits")
    expect_equal((st["phase"], s.pods("big")), ("creating", {}), "phase and pods")
    s.apply(training("odd", 2, 6))
    st = wait_phase(s, "odd", "failed")
    expect_equal(st["reason"], "Invalid: trainer.max-instance must equal min-instance while fault_tolerant is false", "reason")
    expect(not s.job("odd"), "there is no QueueJob of it")
    s.kubectl("patch", "tj", "odd", "--type=merge", "-p", '{"spec":{"trainer":{"max-instance":2}}}')
    wait_phase(s, "odd", "running", runningTrainers=2)


def story_first_failure_ends_a_training_that_is_not_fault_tolerant(s):
    """Without fault_tolerant the first trainer that fails ends it; with it a trainer comes again, and nobody else stops."""
    wait_until_alone(s)
    s.apply(training("strict", 2, 2))
    s.apply(elastic_training("kind", 2, 2))
    for name in ("strict", "kind"):
        wait_phase(s, name, "running", runningTrainers=2)
    before = s.uids("kind")
    s.fail_pod("strict-trainer-1", exit_code=3)
    s.fail_pod("kind-trainer-1", exit_code=3)
    st = wait_phase(s, "strict", "failed")
    expect("strict-trainer-1" in st["reason"] and "exit code 3" in st["reason"], st["reason"])
    wait_until(lambda: s.uids("kind").get("kind-trainer-1") not in (None, before["kind-trainer-1"]), "the trainer comes again")
    wait_phase(s, "kind", "running", runningTrainers=2)
    after = s.uids("kind")
    expect_equal({k: v for k, v in after.items() if k != "kind-trainer-1"}, {k: v for k, v in before.items() if k != "kind-trainer-1"}, "the others")


def story_no_trainer_comes_after_the_first_success(s):
    """The work comes to an end when the first trainer succeeds: the trainers that there are finish it, also if there is room for more."""
    with Trainings(s, research={"weight": 1}) as q:
        s.apply(elastic_training("t", 2, 6, metadata={"labels": {f"{KEY}queue": q.name("research")}}))
        wait_phase(s, "t", "running", trainers=6, runningTrainers=6)
        s.apply(gang("other", replicas=13, cpu="16", queue=q.name("research")))
        running(s, "other", 13)
        wait_until(lambda: status(s, "t").get("phase") == "running" and status(s, "t")["trainers"] < 6, "it has given trainers back")
        end(s, "t-trainer-0", "succeed")
        n = wait_until(lambda: (lambda r: r if r < 6 else None)(next(t for t in s.job("t")["spec"]["taskSpecs"] if t["name"] == "trainer")["replicas"]), "its QueueJob asks for fewer trainers")
        s.kubectl("delete", "queuejob", "other", "--wait=true")
        wait_until(lambda: len([k for k in s.pods("t") if "trainer" in k]) == n, f"there are {n} trainers")
        for i in range(1, n):
            end(s, f"t-trainer-{i}", "succeed")
        wait_phase(s, "t", "succeeded")
        expect_equal(sorted(k for k in s.pods("t") if "trainer" in k), [f"t-trainer-{i}" for i in range(n)], "trainers")
