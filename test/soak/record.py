"""What becomes of each job and each pod, from watches; when the API server has been away, from a list and a new watch."""

import http.client
import json
import threading
import time

from reader import ReadError
from stories.nodes import pin_of


class Gap(Exception):
    """The API server does not know any more what has happened since: one that was started again never does."""


class Follower:
    """One kind of one namespace: calls @seen(type, object) in the order of the changes, from a thread of its own. Of a gap it says what is different."""

    def __init__(self, reader, kind, namespace, seen):
        self.reader, self.seen = reader, seen
        self.path = reader.path(kind, namespace)
        self.known = {}  # UID -> object
        self.version = None  # None: to be listed
        self.trouble = None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.stopped.is_set():
                try:
                    if self.version is None:
                        self.list()
                    self.watch()
                except Gap:
                    self.version = None
                except (OSError, ReadError, http.client.HTTPException, ValueError):  # it is away, or was cut off in the middle of a line
                    time.sleep(0.2)
        except Exception as error:
            self.trouble = f"{self.path}: {error!r}"

    def list(self):
        answer = self.reader.must_get(self.path)
        there = {o["metadata"]["uid"]: o for o in answer["items"]}
        for uid in set(self.known) - set(there):
            self.note("DELETED", self.known[uid])
        for uid, obj in there.items():
            before = self.known.get(uid)
            if not before or before["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
                self.note("MODIFIED" if before else "ADDED", obj)
        self.version = answer["metadata"]["resourceVersion"]

    def note(self, kind, obj):
        if kind == "DELETED":
            self.known.pop(obj["metadata"]["uid"], None)
        else:
            self.known[obj["metadata"]["uid"]] = obj
        self.seen(kind, obj)

    def watch(self):
        address = self.reader.address
        connection = http.client.HTTPSConnection(address.hostname, address.port, timeout=5, context=self.reader.context)
        try:
            connection.request("GET", f"{self.path}?watch=1&timeoutSeconds=300&resourceVersion={self.version}&allowWatchBookmarks=true",
                               headers={"Authorization": f"Bearer {self.reader.token}", "Accept": "application/json", "User-Agent": "soak"})
            connection.sock.settimeout(5)
            answer = connection.getresponse()
            if answer.status == 410:
                raise Gap("410")
            if answer.status != 200:
                raise OSError(f"status {answer.status}")
            while line := answer.readline():
                self.take(json.loads(line))
        finally:
            connection.close()

    def take(self, event):
        if event["type"] == "ERROR":
            if event["object"].get("code") == 410:
                raise Gap(event["object"].get("message"))
            raise OSError(event["object"].get("message"))
        self.version = event["object"]["metadata"]["resourceVersion"]
        if event["type"] != "BOOKMARK":
            self.note(event["type"], event["object"])

    def stop(self):
        self.stopped.set()
        self.thread.join(10)


KEY = "kube-arbitrator.io/"


class Pod:
    """One UID. Times are those of this process: only their order with other events of the record counts."""

    def __init__(self, pod):
        labels = pod["metadata"].get("labels", {})
        self.uid, self.name = pod["metadata"]["uid"], pod["metadata"]["name"]
        self.job, self.task = labels.get(KEY + "queuejob"), labels.get(KEY + "task")
        self.index, self.incarnation = int(labels.get(KEY + "index", -1)), int(labels.get(KEY + "incarnation", 0))
        self.node = self.phase = None  # node: bound to, or pinned to
        self.gone = False
        self.born = time.time()
        self.was = []  # phases, in order

    def update(self, kind, pod):
        self.node = pod["spec"].get("nodeName") or self.node or pin_of(pod)
        phase = pod["status"].get("phase")
        if phase != self.phase:
            self.phase = phase
            self.was.append("Stopped" if phase == "Succeeded" and "deletionTimestamp" in pod["metadata"] else phase)  # no success
        self.gone |= kind == "DELETED"


class Record:
    def __init__(self, reader, namespace):
        self.pods = {}  # UID -> Pod
        self.jobs = {}  # name -> its status as it was last
        self.ended = {}  # name -> when its end was seen
        self.deleted = set()  # names of jobs
        self.twice = []  # what lived at the same time
        self.followers = [Follower(reader, "pods", namespace, self.pod), Follower(reader, "queuejobs.kube-arbitrator.io", namespace, self.job)]

    def pod(self, kind, obj):
        uid = obj["metadata"]["uid"]
        if uid not in self.pods:
            new = Pod(obj)
            self.twice += [(p.name, p.uid, uid) for p in self.living(new.job) if (p.task, p.index) == (new.task, new.index)]
            self.pods[uid] = new
        self.pods[uid].update(kind, obj)

    def living(self, job):
        return [p for p in list(self.pods.values()) if p.job == job and not p.gone]

    def on_node(self, node, since=None):
        """Pods that are there, or that have been there since that time."""
        return [p for p in list(self.pods.values()) if p.node == node and (not p.gone or (since and p.born >= since))]

    def may_be_collected(self, job):
        """Its pods have been seen to end, too."""
        return all(p.phase in ("Succeeded", "Failed") for p in self.living(job))

    def job(self, kind, obj):
        name = obj["metadata"]["name"]
        if kind == "DELETED":
            self.deleted.add(name)
        else:
            self.jobs[name] = obj.get("status", {})
            if "completionTime" in self.jobs[name]:
                self.ended.setdefault(name, time.time())

    def trouble(self):
        return [f.trouble for f in self.followers if f.trouble]

    def settled(self):
        """Nothing is left."""
        return set(self.jobs) == self.deleted and all(p.gone for p in list(self.pods.values()))

    def stop(self):
        for follower in self.followers:
            follower.stop()
