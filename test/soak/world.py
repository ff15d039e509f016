"""The cluster under load: replicas that are started again as a kubelet would, jobs that come and go, and samples of memory."""

import collections
import json
import os
import pathlib
import signal
import threading
import time

import harness
from harness import Failure, wait_until
from reader import ReadError
from replicas import LEASE, NS, Replica

KIND = "queuejobs.kube-arbitrator.io"
LINGER = 3  # s for which an ended job stays
NODES = 4  # of test/cluster
SLOW = 1  # s for an answer of the API server
QUIET = "-v=2"  # all that is said of 1,500 jobs would be more than the audit log


class Process(Replica):
    """One life of a replica."""

    def __init__(self, world, number):
        self.number = number
        self.done = None  # to it, by us; then its end has a cause
        self.frozen = False
        self.samples = []  # (t, RSS in bytes, descriptors)
        super().__init__(world, number, QUIET)

    def sample(self, now):
        try:
            folder = pathlib.Path(f"/proc/{self.process.pid}")
            pages = int((folder / "statm").read_text().split()[1])
            self.samples.append((now, pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(folder / "fd"))))
        except (OSError, IndexError):  # it has ended
            pass

    def last_line(self):
        lines = self.log.read_text(errors="replace").splitlines()
        return lines[-1] if lines else ""


class World:
    """As a story sees it (harness.Story), for Replica."""

    def __init__(self, cluster, manager, namespace):
        self.cluster, self.manager, self.namespace = cluster, manager, namespace
        self.audit = harness.Audit(cluster.audit_log)
        cluster.kubectl("create", "namespace", namespace)
        self.reader = cluster.kubectl_for(namespace).reader
        self.processes, self.exits = [], []
        self.threads, self.stopped = [], threading.Event()
        self.trouble = []  # of threads
        self.wanted = {}
        self.away = []  # [begin, end], in which the API server was down
        self.slow = []  # (begin, end), in which it took too long to answer
        self.count = collections.Counter()

    # --- threads

    def spawn(self, function, *args):
        def guarded():
            try:
                function(*args)
            except Exception as error:
                self.trouble.append(f"{function.__name__}: {error!r}")

        self.threads.append(threading.Thread(target=guarded, daemon=True))
        self.threads[-1].start()

    def join(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(60)

    # --- replicas

    def alive(self):
        return [p for p in self.processes if p.alive()]

    def start_one(self):
        """Perhaps later: without the API server there is no token."""
        while not self.stopped.is_set():
            try:
                self.processes.append(Process(self, len(self.processes)))
                return
            except Failure:
                time.sleep(0.5)

    def supervise(self, replicas):
        """Starts what has ended again, after the second that a kubelet would take."""
        living = [p for p in self.processes if p.alive()]
        while not self.stopped.is_set():
            for process in [p for p in living if p.process.poll() is not None]:
                self.exits.append((process.number, process.process.returncode, process.last_line(), process.done))
            living = [p for p in living if p.process.poll() is None]
            if len(living) < replicas:
                time.sleep(1)
                self.start_one()
                living.append(self.processes[-1])
            for process in living:
                process.sample(time.monotonic())
            time.sleep(0.5)

    def leader(self):
        """The one that was elected last."""
        leaders = [p for p in self.alive() if not p.frozen and p.leads()]
        return leaders[0] if len(leaders) == 1 else None

    def probe(self):
        """An API server that has no time is one that a manager cannot write to."""
        path = f"{self.reader.path('leases.coordination.k8s.io', NS)}/{LEASE}"
        while not self.stopped.is_set():
            begin = time.time()
            try:
                self.reader.ask("GET", path)
            except ReadError:
                pass
            if time.time() > begin + SLOW:
                self.slow.append((begin, time.time()))
            time.sleep(0.5)

    # --- jobs

    def ask(self, method, path, data=None):
        """Repeated while the API server is away: (code, body)."""
        kind = {"Content_Type": "application/merge-patch+json"} if method == "PATCH" else {}
        while True:
            try:
                code, body = self.reader.ask(method, path, data, **kind)
                if code not in (429, 500, 503, 504, 401, 403):
                    return code, body
            except ReadError:
                pass
            if self.stopped.is_set():
                raise Failure(f"{method} {path}: no answer until the end")
            time.sleep(0.2)

    def submit(self, jobs, pause, until):
        path, due = self.reader.path(KIND, self.namespace), time.monotonic()
        for job in jobs:
            time.sleep(max(0.0, due - time.monotonic()))
            due += pause
            if time.monotonic() > until or self.stopped.is_set():
                return
            tasks = [harness.task(name, replicas, "succeed", after=f"{after}s") for name, replicas, after in job.tasks]
            sched = {"minAvailable": job.minimum} if job.minimum else None
            self.wanted[job.name] = job
            code, body = self.ask("POST", path, json.dumps(harness.queuejob(job.name, *tasks, sched=sched, backoffLimit=20)))
            if code not in (201, 409):  # 409: the answer to the first one was lost
                raise Failure(f"{job.name}: {code} {body[:300]}")
            self.count["submitted"] += 1

    def collect(self, record):
        """Deletes jobs that have ended a while ago."""
        path, deleted = self.reader.path(KIND, self.namespace), set()
        while not self.stopped.is_set():
            for name, at in list(record.ended.items()):
                if name not in deleted and time.time() > at + LINGER and record.may_be_collected(name):
                    deleted.add(name)
                    self.ask("DELETE", f"{path}/{name}", json.dumps({"propagationPolicy": "Background"}))
                    self.count["collected"] += 1
            time.sleep(0.3)


class Disturber:
    """Does to the world what was drawn. @ends: [(what, process, when it ended)], @hit: names of jobs that had a pod on a lost node."""

    def __init__(self, world, record, absences, say):
        self.world, self.record, self.absences, self.say = world, record, absences, say
        self.ends, self.hit, self.count = [], set(), collections.Counter()
        self.lost = {}  # node -> (when it comes back, when it went)

    def run(self, drawn, until):
        for pause, what in drawn:
            self.wait(pause, until)
            if time.monotonic() >= until:
                break
            self.say(what)
            getattr(self, what)()
            self.count[what] += 1
        for node in list(self.lost):
            self.bring_back(node)

    def wait(self, pause, until):
        """Meanwhile lost nodes come back, in time."""
        end = min(time.monotonic() + pause, until)
        while time.monotonic() < end and not self.world.stopped.is_set():
            for node, (when, _) in list(self.lost.items()):
                if time.monotonic() >= when:
                    self.bring_back(node)
            time.sleep(0.1)

    def leader(self):
        return wait_until(self.world.leader, "one replica leads", 60)

    def kill(self):
        one = self.leader()
        one.done = "kill"
        os.kill(one.pid(), signal.SIGKILL)
        self.ends.append(("kill", one.number, time.time()))
        one.process.wait()

    def stop(self):
        one = self.leader()
        one.done = "stop"
        os.kill(one.pid(), signal.SIGTERM)
        clean = one.process.wait(15) == 0  # else it did not wait any longer for answers, and left the lease to run out
        self.ends.append(("stop" if clean else "unclean", one.number, time.time()))

    def freeze(self):
        one = self.leader()
        one.done, one.frozen = "freeze", True
        os.kill(one.pid(), signal.SIGSTOP)
        self.ends.append(("freeze", one.number, time.time()))
        try:
            self.leader()
        finally:
            os.kill(one.pid(), signal.SIGCONT)
        one.process.wait(15)

    def thaw(self):
        """Shorter than the lease: nobody takes over."""
        one = self.leader()
        os.kill(one.pid(), signal.SIGSTOP)
        time.sleep(6)
        os.kill(one.pid(), signal.SIGCONT)

    def apiserver(self):
        self.world.away.append([time.time(), time.time() + 600])
        try:
            self.world.cluster.restart_apiserver("--kill")
        except Failure:  # on a busy machine it takes longer than test/cluster waits
            wait_until(self.answers, "the API server is back", 300)
        self.world.away[-1][1] = time.time()

    def answers(self):
        try:
            return self.world.reader.get("/readyz")[0] == 200
        except ReadError:
            return False

    def running_on(self, node):
        return [p for p in self.record.on_node(node) if p.phase == "Running"]

    def busiest(self):
        """Of the nodes on which pods run."""
        def found():
            nodes = sorted(n for n in (f"node-{i}" for i in range(NODES)) if n not in self.lost)
            most = max(nodes, key=lambda n: len(self.running_on(n)))
            return most if self.running_on(most) else None

        return wait_until(found, "pods run on a node", 60)

    def must(self, method, path, data=None):
        code, body = self.world.ask(method, path, data)
        if not 200 <= code < 300:
            raise Failure(f"{method} {path}: {code} {body[:300]}")

    def node(self):
        if len(self.lost) == NODES - 2:
            return  # the gangs need some room
        node = self.busiest()
        self.hit |= {p.job for p in self.record.on_node(node)}
        self.must("DELETE", f"/api/v1/nodes/{node}")
        self.lost[node] = time.monotonic() + next(self.absences), time.time()

    def bring_back(self, node):
        labels = {"kubernetes.io/hostname": node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        self.hit |= {p.job for p in self.record.on_node(node, self.lost[node][1] - 1)}  # what was bound to it as it went
        self.must("POST", "/api/v1/nodes", json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}}))
        del self.lost[node]

    def evict(self):
        node, begin = self.busiest(), time.time()
        self.hit |= {p.job for p in self.record.on_node(node)}
        victims = self.running_on(node)
        self.taint(node, [{"key": "test.kube-arbitrator.io/lost", "value": "yes", "effect": "NoExecute"}])
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not all(p.gone for p in victims):
            time.sleep(0.1)
        self.taint(node, None)
        self.hit |= {p.job for p in self.record.on_node(node, begin - 1)}

    def taint(self, node, taints):
        """They replace those that it has: none."""
        self.must("PATCH", f"/api/v1/nodes/{node}", json.dumps({"spec": {"taints": taints}}))

    def undisturbed(self, when):
        """The API server was there around that time, answered soon, and nobody waited for it."""
        return not any(begin - 1 < when + 17 and when < end + 20 for begin, end in self.world.away) and \
            not any(begin < when + 17 and when - 1 < end for begin, end in self.world.slow)
