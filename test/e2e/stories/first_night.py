"""What an operator meets in the first night: the manager is away, has other flags, is there twice, and what its log says: the table of
stories/tasks.py. Four nodes of 64 CPUs."""

import json
import re

from harness import Audit, Manager, queuejob, task, wait_until
from stories.nodes import add_node, gang, wait_until_alone
from stories.tasks import Command, fields, job, play_all, rows_of


def restarted(x, *flags):
    x.s.manager.stop()
    x.s.manager.forget_log()
    x.s.manager.start(*flags)
    wait_until(lambda: x.s.manager.said("Caches synced"), "the manager works")


def log(x, words):
    """The lines of the manager's log, since it was started for this row, that hold the words."""
    def grep():
        with x.s.manager.log.open() as lines:
            lines.seek(x.s.manager.seen)
            return "".join(line for line in lines if re.search(words, line))

    return Command(f"grep -E '{words}' kar-controllers.log", grep)


def manager_is_away(x):
    """1: a job is submitted while no manager runs; then one is started"""
    x.s.manager.stop()
    x.s.apply(gang("row", cpu="1"))
    yield "get qj row --no-headers", r"^row +\d+s$"
    restarted(x)
    yield job("row"), "^Running"


def native_backend(x):
    """N10: --gang-backend=Native, and the API server has no PodGroups of its own"""
    restarted(x, "--gang-backend=Native")
    x.s.apply(gang("row", cpu="1"))
    yield job("row"), r"BackendUnavailable +.*backend Native was asked for: the API server has no PodGroups of scheduling\.k8s\.io"


def automatic_backend(x):
    """N12: --gang-backend=Auto, and the API server has no PodGroups of its own"""
    restarted(x, "--gang-backend=Auto")
    x.s.apply(gang("row", cpu="1"))
    yield job("row"), "^Running"
    yield fields("podgroups.scheduling.x-k8s.io", "row", ".status.backend"), "^Gates$"


def mistakes_in_the_log(x):
    """51, 52: a job that runs to its end, and three mistakes of users, with -v=2: one line for each change of a phase, no line of an error"""
    restarted(x, "-v=2")
    x.s.apply(queuejob("good", task("worker", 3, "succeed", "1s")))
    typo = gang("typo", cpu="1")
    typo["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"request": {"cpu": "1"}}
    x.s.apply(typo)
    x.s.apply(gang("nowhere", queue=f"{x.s.namespace}-none"))
    x.s.apply(gang("large", cpu="9999"))
    yield job("good"), "^Completed"
    yield job("typo"), "InvalidTemplate"
    yield job("nowhere"), "QueueNotFound"
    yield job("large"), "Infeasible"
    yield log(x, "/good"), r'^I.*"Job runs" job="\S+/good" phase="Running" restarts=0\nI.*"Job completed" job="\S+/good" .*cause="3 of 3 pods succeeded"\n$'
    yield log(x, "^[EW]"), "^$"


def log_of_json(x):
    """53: --logging-format=json"""
    restarted(x, "--logging-format=json", "-v=2")
    x.s.apply(queuejob("good", task("worker", 3, "succeed", "1s")))
    yield job("good"), "^Completed"
    yield log(x, "/good"), r'"msg":"Job completed","v":2,"job":"\S+/good","phase":"Completed","reason":"Completed","restarts":0,"cause":"3 of 3 pods succeeded"}'
    yield Command("jq .msg kar-controllers.log", lambda: "\n".join(json.loads(line)["msg"] for line in log(x, ".").prints().splitlines())), "(?s)Starting kar-controllers.*Job completed"


def two_managers(x):
    """57: two managers without --leader-elect"""
    audit = Audit(x.s.cluster.audit_log)
    second = Manager(x.s.manager.command[0], x.s.manager.command[2], x.s.cluster.dir / "log/second.log")
    second.start()
    x.stack.callback(second.stop)
    wait_until(lambda: second.said("Caches synced"), "the second one works")
    x.s.apply(gang("row", cpu="1"))
    yield job("row"), "^Running"
    yield fields("qj", "row", ".status.running", ".status.restarts", ".status.podFailures"), "^3 0 0$"
    yield Command("pods created, by the audit log", lambda: " ".join(sorted(audit.pods_created(x.s.namespace)))), "^row-worker-0 row-worker-1 row-worker-2$"


def two_answers_about_room(x):
    """N40: three jobs of higher priority wait for the room of one that may not be evicted yet, and has a deadline"""
    restarted(x)
    name = x.queue("a", preemptionPolicy="LowerPriority")
    x.runs(gang("low", replicas=4, cpu="60", queue=name, activeDeadlineSeconds=3600))
    for number in (1, 2, 3):
        x.s.apply(gang(f"high-{number}", cpu="40", queue=name, sched={"priority": 10}))
    yield job("high-1"), r"WaitingForReclaim +.*, can be taken from others at 20\S+Z; 1st of 3"
    yield job("high-3"), r"WaitingForReclaim +.*, what can be taken from others goes to \S+/high-1 first; 3rd of 3"


def node_is_deleted(x):
    """N23: a node is deleted under an elastic job"""
    x.runs(gang("row", replicas=4, cpu="40", sched={"minAvailable": 1}))
    x.cluster("delete", "node", x.nodes[3])
    # The pod garbage collector looks every 20 s, and waits for 40 s before it believes that a node is gone.
    wait_until(lambda: all(p["spec"].get("nodeName") != x.nodes[3] for p in x.s.pods("row").values()), "the pod of the node is gone", 120)
    yield job("row"), r"^Running +Scaled +queue default allows 3 of 4 pods at once: no node has room for one more pod: .*3 nodes lack cpu \(short 16\)"
    yield fields("qj", "row", ".status.running", ".status.restarts", ".status.podFailures"), "^3 0 0$"
    add_node(x.s, x.nodes[3])  # stories after this one need it


ROWS = rows_of(globals())


def story_first_night(s):
    """What operators meet on their first night: each flag, each line of the log and each absence says what happens."""
    wait_until_alone(s)
    play_all(s, ROWS)
