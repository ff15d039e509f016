"""What queues have a right to: weights, deserved, guarantee, capability, parents, drain; and what a job that waits for it is told. Four nodes of 64 CPUs."""

import time

from harness import expect, expect_equal, wait_until
from stories.endings import seconds
from stories.nodes import gang, wait_until_alone


class Queues:
    """Queues of a story, which it removes; the manager evicts and scales at once meanwhile."""

    def __init__(self, s, **specs):
        self.s, self.specs = s, specs

    def name(self, part):
        return f"{self.s.namespace}-{part}"

    def __enter__(self):
        wait_until_alone(self.s)
        self.s.manager.stop()
        self.s.manager.start("--min-runtime=0s", "--freezing-window=0s", "--max-load-desired=1")
        for part, spec in self.specs.items():
            self.apply(part, spec)
        return self

    def apply(self, part, spec):
        spec = {k: self.name(v) if k == "parent" else v for k, v in spec.items()}
        self.s.apply({"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": self.name(part)}, "spec": spec})

    def __exit__(self, *_):
        self.s.kubectl("delete", "queuejobs", "--all", "--wait=true", "--cascade=foreground")
        self.s.kubectl("delete", "queues.kube-arbitrator.io", *(self.name(part) for part in reversed(self.specs)), "--wait=false")
        self.s.manager.stop()
        self.s.manager.start()

    def status(self, part):
        return self.s.kubectl.get("queues.kube-arbitrator.io", self.name(part)).get("status", {})

    def condition(self, part, kind):
        return next((c for c in self.status(part).get("conditions", []) if c["type"] == kind), {})


def elastic(name, queue, replicas, cpu="16"):
    return gang(name, replicas=replicas, cpu=cpu, sched={"minAvailable": 1}, queue=queue)


def running(s, name, pods, seconds=60):
    try:
        return s.wait_phase(name, "Running", seconds=seconds, running=pods)
    except Exception:
        s.shown.append(s.kubectl("get", "queues.kube-arbitrator.io", "-o", "yaml"))
        raise


def story_queues_share_by_weight(s):
    """Jobs of two queues grow until the nodes are full: the queue of three times the weight has three times as much, although it came later."""
    with Queues(s, one={"weight": 1}, two={"weight": 3}) as q:
        s.apply(elastic("first", q.name("one"), 16))
        running(s, "first", 16)
        s.apply(elastic("second", q.name("two"), 16))
        running(s, "second", 12)
        running(s, "first", 4)
        wait_until(lambda: (q.status("one").get("allocated", {}).get("cpu"), q.status("two").get("allocated", {}).get("cpu")) == ("64", "192"), "both queues say what they have")
        expect_equal((q.status("one")["share"], q.status("two")["share"]), (250, 250), "shares")


def story_queue_gets_back_what_it_deserves(s):
    """A queue borrows what another one deserves, and loses whole gangs as soon as that wants it: no more than its right, and none that is not needed."""
    with Queues(s, lends={"deserved": {"cpu": 128}}, borrows={"deserved": {"cpu": 128}}) as q:
        for i in range(4):
            s.apply(gang(f"b{i}", replicas=1, cpu="64", queue=q.name("borrows")))
            running(s, f"b{i}", 1)
        for i in range(2):
            s.apply(gang(f"l{i}", replicas=1, cpu="64", queue=q.name("lends")))
            running(s, f"l{i}", 1)
        s.apply(gang("l2", replicas=1, cpu="64", queue=q.name("lends")))
        words = f"insufficient cpu: 64 requested, 0 of 256 free (64 short); 1st of 1 in queue {q.name('lends')}"
        s.wait_phase("l2", "Pending", reason="InsufficientCapacity", message=words)
        waiting = sorted(n for n in ("b0", "b1", "b2", "b3") if s.status(n)["phase"] != "Running")
        expect_equal(len(waiting), 2, f"jobs that were evicted: {waiting}")
        for name in waiting:
            said = next(c for c in s.group(name)["status"]["conditions"] if c["type"] == "Preempted")
            expect_equal((said["status"], said["reason"]), ("True", "Reclaim"), "condition Preempted")
            expect(f"evicted: queue {q.name('lends')} reclaims its deserved share for {s.namespace}/l" in said["message"], said["message"])
            expect_equal({k: s.status(name).get(k, 0) for k in ("restarts", "podFailures", "disruptions")}, {"restarts": 0, "podFailures": 0, "disruptions": 0}, "what it has counted")


def story_guarantee_is_kept_free(s):
    """What is guaranteed to a queue is nobody else's, even while it has no job."""
    with Queues(s, sure={"guarantee": {"cpu": 64}, "deserved": {"cpu": 64}}, other={}) as q:
        s.apply(gang("three", replicas=3, cpu="64", queue=q.name("other")))
        running(s, "three", 3)
        s.apply(gang("fourth", replicas=1, cpu="64", queue=q.name("other")))
        words = f"insufficient cpu: 64 requested, 0 of 256 free (64 short), held for guarantees of other queues: 64 cpu are free but guaranteed to queue {q.name('sure')}; 1st of 1 in queue {q.name('other')}"
        s.wait_phase("fourth", "Pending", reason="GuaranteeReserved", message=words)
        s.apply(gang("whole", replicas=4, cpu="64", queue=q.name("other")))
        s.wait_phase("whole", "Pending", reason="GuaranteeReserved",
                     message=f"insufficient cpu: 256 requested, 192 of 256 free (64 short), held for guarantees of other queues: 64 cpu are free but guaranteed to queue {q.name('sure')}; 2nd of 2 in queue {q.name('other')}")
        s.apply(gang("mine", replicas=1, cpu="64", queue=q.name("sure")))
        running(s, "mine", 1)


def story_capability_is_a_limit(s):
    """A queue never has more than its capability, nor do all queues below a parent together."""
    with Queues(s, top={"capability": {"cpu": 128}}, leaf={"parent": "top", "capability": {"cpu": 64}}, sister={"parent": "top"}) as q:
        leaf, sister, top = (q.name(part) for part in ("leaf", "sister", "top"))
        s.apply(gang("one", replicas=1, cpu="64", queue=leaf))
        running(s, "one", 1)
        s.apply(gang("two", replicas=1, cpu="64", queue=leaf))
        s.wait_phase("two", "Pending", reason="QueueCapability", message=f"insufficient cpu: 64 requested, 0 of 64 free (64 short), queue {leaf} has capability 64; 1st of 1 in queue {leaf}")
        s.apply(gang("three", replicas=2, cpu="64", queue=sister))
        s.wait_phase("three", "Pending", reason="QueueCapability", message=f"insufficient cpu: 128 requested, 64 of 128 free (64 short), queue {top} has capability 128; 1st of 1 in queue {sister}")
        s.apply(gang("never", replicas=3, cpu="64", queue=sister))
        s.wait_phase("never", "Pending", reason="Infeasible", message=f"insufficient cpu: 192 requested, 128 of 128 free (64 short), queue {top} has capability 128")
        s.apply(gang("inner", replicas=1, queue=top))
        s.wait_phase("inner", "Pending", reason="QueueNotLeaf", message=f"queue {top} has child queues: name one of them")
        s.kubectl("delete", "queuejob", "one", "--wait=true", "--cascade=foreground")
        running(s, "two", 1)
        wait_until(lambda: q.status("top").get("allocated", {}).get("cpu") == "64", "the parent says that all below it have 64 CPUs")


def story_parents_must_be_valid(s):
    """A parent that does not exist: nothing is admitted, and both the queue and the job say why. A valid one stays in force while it is edited badly."""
    with Queues(s, top={}, leaf={"parent": "gone"}) as q:
        s.apply(gang("waits", replicas=1, cpu="1", queue=q.name("leaf")))
        s.wait_phase("waits", "Pending", reason="QueueInvalid", message=f"queue {q.name('leaf')} is invalid: parent {q.name('gone')} does not exist")
        said = q.condition("leaf", "Valid")
        expect_equal((said.get("status"), said.get("reason"), said.get("message")), ("False", "ParentNotFound", f"parent {q.name('gone')} does not exist"), "condition Valid")
        q.apply("leaf", {"parent": "top"})
        running(s, "waits", 1)
        wait_until(lambda: q.status("leaf").get("parent") == q.name("top"), "the parent is in force")
        q.apply("leaf", {"parent": "gone"})
        wait_until(lambda: q.condition("leaf", "Valid").get("status") == "False", "the queue is invalid again")
        expect_equal(q.status("leaf")["parent"], q.name("top"), "the parent in force")


def story_drained_queue_stops_its_jobs(s):
    """drain evicts what runs in a closed queue and below it; the jobs wait, and run when it is open again."""
    with Queues(s, top={}, leaf={"parent": "top"}) as q:
        s.apply(gang("runs", replicas=2, cpu="16", queue=q.name("leaf")))
        running(s, "runs", 2)
        q.apply("top", {"state": "Closed"})
        wait_until(lambda: q.status("leaf").get("state") == "Closing", "the queue below is closing")
        time.sleep(1)
        expect_equal(s.status("runs")["phase"], "Running", "phase in a closed queue")
        q.apply("top", {"state": "Closed", "drain": True})
        s.wait_phase("runs", "Pending", seconds=60, reason="QueueClosed", message=f"queue {q.name('leaf')} is closed: its parent {q.name('top')} is")
        wait_until(lambda: q.status("leaf").get("state") == "Closed", "the queue below is closed")
        said = next(c for c in s.group("runs")["status"]["conditions"] if c["type"] == "Preempted")
        expect_equal((said["reason"], said["message"]), ("Drain", f"queue {q.name('leaf')} is drained"), "condition Preempted")
        status = s.status("runs")
        expect_equal((status["evictions"], status["lastEviction"]["reason"], status["lastEviction"].get("by"), status["lastEviction"]["queue"], status.get("startTime")),
                     (1, "Drain", None, q.name("leaf"), None), "what the job says of its eviction")
        q.apply("top", {"state": "Open"})
        running(s, "runs", 2)


def story_short_jobs_use_the_room_of_a_large_one(s):
    """Room is kept for a gang that needs all nodes. It is known when it can start, so a job that has ended by then runs in that room; one that has not waits, and reads until when."""
    with Queues(s, one={"deserved": {"cpu": "256"}}) as q:
        s.manager.stop()
        s.manager.start("--starvation-timeout=2s")
        s.apply(gang("holds", replicas=1, queue=q.name("one"), activeDeadlineSeconds=40))
        running(s, "holds", 1)
        s.apply(gang("large", replicas=4, cpu="60", queue=q.name("one")))
        wait_until(lambda: q.status("one").get("reservation", {}).get("start"), "it is known when the large job can start", seconds=30)
        start = q.status("one")["reservation"]["start"]
        s.apply(gang("long", replicas=1, queue=q.name("one"), activeDeadlineSeconds=3600))
        status = s.wait_phase("long", "Pending", reason="HeadReserved")
        expect(f"jobs that end by {start} may use it" in status["message"], status["message"])
        s.apply(gang("short", replicas=1, queue=q.name("one"), activeDeadlineSeconds=8))
        running(s, "short", 1)
        expect_equal(s.status("large")["phase"], "Pending", "phase of the large job while the short one runs")
        s.wait_phase("short", "Failed", 60, reason="DeadlineExceeded")
        began = running(s, "large", 4)["startTime"]
        expect(seconds(began) <= seconds(start) + 10, f"the large job starts at {began}, and {start} was said")
        expect_equal(s.status("long")["phase"], "Pending", "phase of the job that would have held it up")
