"""Several managers of which one leads, and what the audit log says of each: for stories, and for hack/soak."""

import base64
import contextlib
import datetime
import json
import os
import re
import signal
import time

from harness import Manager, expect, expect_equal, wait_until

NS, LEASE = "kar-system", "kar-controllers"
FLAGS = ("--leader-elect", f"--leader-elect-resource-namespace={NS}")
WRITES = ("create", "update", "patch", "delete", "deletecollection")


def seconds(moment):
    """Of a time as the audit log writes it, on the clock of time.time()."""
    return datetime.datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc).timestamp()


def id_of(config):
    """What the audit log calls a token by, so that processes with one ServiceAccount can be told apart."""
    token = json.loads(config)["users"][0]["user"]["token"] if config.lstrip().startswith("{") else re.search(r"token: (\S+)", config)[1]
    part = token.split(".")[1]
    return "JTI=" + json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["jti"]


class Replica(Manager):
    def __init__(self, s, number, *flags):
        config = s.cluster.token_kubeconfig(NS, "kar-controllers")
        base = s.cluster.dir / f"replica-{s.namespace}-{number}"
        path = base.with_suffix(".kubeconfig")
        path.write_text(config)
        path.chmod(0o600)
        super().__init__(s.manager.command[0], path, s.cluster.dir / f"log/{base.name}.log")
        self.id = id_of(config)
        self.start(*FLAGS, *flags)

    def requests(self, s):
        """What the API server received from it, in order."""
        return [e for e in s.audit.events() if self.id in e["user"].get("extra", {}).get("authentication.kubernetes.io/credential-id", [])]

    def writes(self, s):
        """Those that only a leader may send."""
        return [e for e in self.requests(s) if e["verb"] in WRITES and e.get("objectRef", {}).get("resource") != "leases"]

    def first_write(self, s, after):
        """When the first write after that time was received, or None."""
        return next((at for e in self.writes(s) if (at := seconds(e["requestReceivedTimestamp"])) > after), None)

    def leads(self):
        return self.alive() and self.said('"Leading"') is not None

    def ready(self):
        return self.said('"Caches synced"') and self.said('"Waiting for the lease"')


class Replicas:
    """The managers of a story; the manager that all stories share is stopped meanwhile."""

    def __init__(self, s, *flags):
        self.s, self.all, self.started, self.flags = s, [], 0, flags

    def add(self, *flags):
        one = Replica(self.s, self.started, *self.flags, *flags)
        self.started += 1
        self.all.append(one)
        wait_until(one.ready, "a new replica has its caches in sync")
        return one

    def leader(self):
        leaders = [r for r in self.all if r.leads()]
        return leaders[0] if len(leaders) == 1 else None

    def wait_leader(self, timeout=30):
        return wait_until(self.leader, "one replica leads", timeout)


@contextlib.contextmanager
def replicas(s, n, *flags):
    s.manager.stop()
    s.cluster.kubectl("delete", "lease", LEASE, "--namespace", NS, "--ignore-not-found")
    r = Replicas(s, *flags)
    try:
        for _ in range(n):
            r.add()
        r.wait_leader()
        yield r
        for one in [x for x in r.all if x.alive()]:
            one.stop()
    finally:
        for one in [x for x in r.all if x.alive()]:
            one.kill()
        s.manager.start()


def lease(s):
    return json.loads(s.cluster.kubectl("get", "lease", LEASE, "--namespace", NS, "-o", "json"))


def stop_in_time(one):
    """SIGTERM; returns when it had ended. At most 5 s, with status 0."""
    begin = time.time()
    one.stop()
    end = time.time()
    expect(end - begin < 5, f"the manager ended {end - begin:.1f} s after SIGTERM")
    return end


def freeze_until_followed(r, old):
    """SIGSTOP, and SIGCONT when another one leads: it must end with a reason. Returns when it was frozen."""
    os.kill(old.pid(), signal.SIGSTOP)
    end = time.time()
    others = [one for one in r.all if one is not old]
    wait_until(lambda: any(one.leads() for one in others), "another one leads", 20)
    os.kill(old.pid(), signal.SIGCONT)
    expect_equal(old.process.wait(timeout=10), 1, "exit status of the manager that lost the lease")
    last = old.log.read_text().splitlines()[-1]
    expect("lost the lease" in last, f"its last line: {last}")
    return end
