"""kar-sim serve against clients that do not mean it well, and at other speeds."""

import contextlib
import datetime
import os
import random
import socket
import ssl
import time
import urllib.parse

from harness import SimulatedCluster, expect, expect_equal, wait_until

SEED = 20261121
GOOD = "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{more}\r\n"


class Target:
    """Where to knock: address, certificate and token of a cluster."""

    def __init__(self, cluster):
        config = cluster.kubectl("config", "view", "--raw", "-o", "jsonpath={.clusters[0].cluster.server} {.users[0].user.token}")
        server, self.token = config.split()
        self.address = (urllib.parse.urlparse(server).hostname, urllib.parse.urlparse(server).port)
        self.context = ssl.create_default_context()
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE

    def plain(self):
        s = socket.create_connection(self.address, timeout=20)
        return s

    def connect(self):
        return self.context.wrap_socket(self.plain())

    def request(self, path, more=""):
        return GOOD.format(path=path, token=self.token, more=more).encode()

    def ask(self, data):
        """The first bytes of the answer; empty if the server only closes."""
        with self.connect() as s, contextlib.suppress(ConnectionError, ssl.SSLError):
            s.sendall(data)
            return s.recv(4096)
        return b""

    def ready(self):
        return self.ask(self.request("/readyz", "Connection: close\r\n")).startswith(b"HTTP/1.1 200")


def memory(pid):
    """Resident bytes."""
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def bad_requests(target, rng):
    """Bytes that are no proper request, or too much of one."""
    yield b""
    yield b"\r\n" * 1000
    yield b"GET\r\n\r\n"
    yield b"GET / HTTP/9.9\r\n\r\n"
    yield b"\x16\x03\x01\x00" * 100
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield target.request("/" + "a" * 200_000)
    yield target.request("/api/v1/pods?" + "&".join(f"a{i}=b" for i in range(20_000)))
    yield target.request("/api/v1/pods", "X: " + "y" * 200_000 + "\r\n")
    yield target.request("/api/v1/pods", "".join(f"X{i}: y\r\n" for i in range(5000)))
    yield target.request("/api/v1/pods", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + b"zz\r\n"
    yield target.request("/api/v1/pods", "Content-Length: -1\r\n")
    yield target.request("/api/v1/pods", "Content-Length: 99999999999999999999\r\n")
    yield target.request("/%00%ff%zz")
    yield target.request("/api/v1/pods", "Authorization: Bearer \x80\xff\r\n".encode("latin-1").decode("latin-1"))
    for _ in range(50):
        yield bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400)))
    good = target.request("/api/v1/namespaces/default/pods?limit=1", "Accept: application/json\r\nConnection: close\r\n")
    for _ in range(50):  # a good one with a few bytes changed
        damaged = bytearray(good)
        for _ in range(rng.randrange(1, 5)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield bytes(damaged) + b"\r\n\r\n"


def survive_bad_requests(target):
    rng = random.Random(SEED)
    for data in bad_requests(target, rng):
        with target.connect() as s, contextlib.suppress(ConnectionError, ssl.SSLError, TimeoutError):
            s.settimeout(0.05)
            s.sendall(data)
            s.recv(1)
    for _ in range(50):  # no TLS at all
        with target.plain() as s, contextlib.suppress(ConnectionError):
            s.sendall(bytes(rng.randrange(256) for _ in range(100)))


def survive_large_bodies(target):
    def post(length, body):
        return target.ask(f"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {target.token}\r\n"
                          f"Content-Type: application/json\r\n{length}\r\n\r\n".encode() + body)

    expect(post("Content-Length: 4000000", b"[" * 4_000_000).startswith(b"HTTP/1.1 413"), "a body that is announced as too large is refused")
    chunk = b"100000\r\n" + b"[" * 0x100000 + b"\r\n"
    expect(post("Transfer-Encoding: chunked", chunk * 4 + b"0\r\n\r\n").startswith(b"HTTP/1.1 413"), "one that turns out too large is refused")
    deep = b"[" * 3_000_000
    expect(post(f"Content-Length: {len(deep)}", deep).startswith(b"HTTP/1.1 400"), "a body that is nested without end is refused")


def survive_many(target):
    """Connections that say nothing, say half, or leave in the middle of a watch; others must not wait for them."""
    idle = [target.plain() for _ in range(200)]
    half = [target.connect() for _ in range(50)]
    for s in half:
        s.sendall(b"GET /api/v1/po")
    watches = []
    for _ in range(50):
        s = target.connect()
        s.sendall(target.request("/api/v1/pods?watch=1"))
        watches.append(s)
    begin = time.monotonic()
    expect(target.ready(), "the server answers beside them")
    expect(time.monotonic() - begin < 5, "and at once")
    for s in idle + half + watches:
        s.close()


def story_hostile_requests_are_survived(s):
    """Malformed, huge, slow and many requests: the server neither ends nor hangs nor grows, and serves the others."""
    target, pid = Target(s.cluster), s.cluster.process.pid
    expect(target.ready(), "the server answers")
    before, connections = memory(pid), descriptors(pid)
    for attack in (survive_bad_requests, survive_large_bodies, survive_many):
        attack(target)
        expect(s.cluster.alive(), f"{attack.__name__}: kar-sim serve has ended: {s.cluster.log()}")
        expect(target.ready(), f"{attack.__name__}: the server answers afterwards")
    wait_until(lambda: descriptors(pid) < connections + 20, "the connections are closed", 20)
    expect(memory(pid) - before < 100 << 20, f"memory: {before >> 20} MiB before, {memory(pid) >> 20} MiB after")


def story_pace_is_chosen(s):
    """--speed 100: what takes a minute is over in a second, and timestamps are still those of the wall clock."""
    cluster = SimulatedCluster.open(s.cluster.binary, "--speed", "100", "--nodes", "1")
    try:
        begin = datetime.datetime.now(datetime.timezone.utc)
        cluster.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {
            "test.kube-arbitrator.io/outcome": "succeed", "test.kube-arbitrator.io/after": "2m"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "x:1"}]}})
        wait_until(lambda: cluster.kubectl.get("pod", "p")["status"]["phase"] == "Succeeded", "the pod is over", 20)
        ended = cluster.kubectl.get("pod", "p")["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
        late = datetime.datetime.fromisoformat(ended.replace("Z", "+00:00")) - begin
        expect(datetime.timedelta(seconds=-2) < late < datetime.timedelta(seconds=20), f"the pod ended {late} after it was made")
        expect_equal(cluster.kubectl("get", "nodes", "-o", "name").split(), ["node/node-0"], "nodes")
    finally:
        cluster.close()
