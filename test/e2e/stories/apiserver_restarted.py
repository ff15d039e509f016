import contextlib
import json
import socket
import subprocess
import threading

from harness import SimulatedCluster, expect, expect_equal, queuejob, task, wait_until


def story_apiserver_restarted(s):
    """The API server dies while pods are created: the manager goes on by itself, without a duplicate."""
    pid = s.manager.pid()
    s.apply(queuejob("old", task("worker", 5), sched={"minAvailable": 4}))
    s.wait_phase("old", "Running", running=5)
    before = s.uids("old")
    s.apply(queuejob("new", task("worker", 100)))
    s.cluster.restart_apiserver("--kill")
    status = s.wait_phase("new", "Running", seconds=90, running=100)
    expect_equal(sorted(s.pods("new")), sorted(f"new-worker-{i}" for i in range(100)), "pods of the new job")
    expect_equal((status["restarts"], status["incarnation"]), (0, 1), "restarts and incarnation of the new job")
    expect_equal(s.uids("old"), before, "pods of the old job")
    made = s.audit.pods_created(s.namespace)
    expect_equal(len(made), len(set(made)), "creates, and names created")

    s.cluster.restart_apiserver()  # in good order this time
    # A pod that is bound proves that kube-scheduler watches again. It ends itself if a pod is deleted and created anew under
    # its name before that: it takes the new one for an update that moved to another node.
    s.apply(queuejob("probe", task("worker", 1)))
    s.wait_phase("probe", "Running", seconds=60)
    s.kubectl("delete", "pod", "old-worker-0", "--wait=false")
    wait_until(lambda: s.uids("old").get("old-worker-0") not in (None, before["old-worker-0"]), "old-worker-0 is replaced", 60)
    expect(s.manager.alive() and s.manager.pid() == pid, "the manager must have survived as the same process")


class Door:
    """A port of 127.0.0.1 that leads to another one, or to none: the API server behind it goes away and is exchanged."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = []
        self.target = None
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.target is None:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            self.open += [client, server]
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=ends, daemon=True).start()

    @staticmethod
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while chunk := source.recv(65536):
                sink.sendall(chunk)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def lead_to(self, port):
        """Connections to the former end."""
        self.target = port
        for end in self.open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.open = []

    def close(self):
        self.lead_to(None)
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


def config_of(cluster):
    return json.loads(cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))


def port_of(cluster):
    return int(config_of(cluster)["clusters"][0]["cluster"]["server"].rsplit(":", 1)[1])


def story_api_outage_is_told_once(s):
    """The API server goes away, is another one with another CA, and comes back: one line for all resources each time, none of a sync."""
    folder = s.cluster.dir / s.namespace
    folder.mkdir()
    log, kubeconfig, door = folder / "manager.log", folder / "kubeconfig", Door()
    good = SimulatedCluster.open(s.cluster.binary)
    other = SimulatedCluster.open(s.cluster.binary)
    config = config_of(good)
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{door.port}"
    kubeconfig.write_text(json.dumps(config))
    door.lead_to(port_of(good))
    with log.open("w") as out:
        manager = subprocess.Popen([s.manager.command[0], "--kubeconfig", str(kubeconfig), "--health-probe-bind-address=0", "-v=2"], stdout=out, stderr=out)

    def said(severity, *words):
        return [line for line in log.read_text().splitlines() if line.startswith(severity) and all(w in line for w in words)]

    try:
        wait_until(lambda: said("I", "Caches synced"), "the manager works", 20)
        door.lead_to(None)
        wait_until(lambda: said("E", "API server unreachable"), "the log says that the API server is away", 20)
        door.lead_to(port_of(other))
        wait_until(lambda: said("E", "API server unreachable", "certificate"), "the log has the TLS error", 60)
        door.lead_to(port_of(good))
        back = wait_until(lambda: said("I", "API server reachable again"), "the log says that it is back", 90)
        good.kubectl.apply(queuejob("after", task("worker", 1)))
        wait_until(lambda: good.kubectl.get("queuejob", "after").get("status", {}).get("phase") == "Running", "the caches are read again", 10)
        expect_equal((len(said("E", "unreachable", "certificate")), len(said("I", "reachable again"))), (1, 1), f"lines in {log.read_text()}")
        expect(all("API server unreachable" in line for line in said("E")), f"no other error in {log.read_text()}")
        expect(len(said("E")) <= 4, f"a line for all resources, not one for each: {log.read_text()}")
        expect('after="' in back[0], f"how long it took: {back}")
    finally:
        manager.terminate()
        status = manager.wait(timeout=15)
        door.close()
        good.close()
        other.close()
    expect_equal(status, 0, "exit status of the manager")
