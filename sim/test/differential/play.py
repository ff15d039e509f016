"""Plays a script against one server and keeps what it answered."""

import http.client
import json
import re
import time

import script
import server as servers

POLL_SECONDS = 0.1
UNSEEN = {"metadata.resourceVersion": "1", "metadata.uid": "00000000-0000-4000-8000-000000000000"}  # of an object that was never there


class Record:
    """One operation as it was played. answer is None if it could not be asked; then problem says why."""

    def __init__(self, chapter, operation, answer=None, problem=None, path=None, body=None):
        self.chapter = chapter
        self.operation = operation
        self.answer = answer
        self.problem = problem
        self.path = path
        self.body = body

    @property
    def name(self):
        return f"{self.chapter}/{self.operation.name}"


class Player:
    def __init__(self, server, run, forget_history=None):
        self.server = server
        self.run = run
        self.forget_history = forget_history
        self.namespace = None
        self.answers = {}
        self.latest = {}  # "resource/name" -> the object in the last answer that had it
        self.watches = {}

    def look_up(self, name, path):
        if path is None:
            return {"ns": self.namespace, "run": self.run}[name]
        if name.startswith("latest "):
            return script.follow(self.latest.get(name.removeprefix("latest ")), path) or UNSEEN[path]
        value = script.follow(self.answers[name].body, path) if name in self.answers else None
        if value is None:
            raise script.Unresolved(f"{name} has no {path}")
        return value

    def play_chapter(self, chapter):
        self.namespace = f"diff-{chapter.name}-{self.run}"
        self.answers, self.watches, self.latest = {}, {}, {}
        self.enter_namespace()
        for operation in chapter.operations:
            yield self.play(chapter.name, operation)
        for watch in self.watches.values():
            watch.close()
        self.server.ask("DELETE", f"/api/v1/namespaces/{self.namespace}")

    def enter_namespace(self):
        """Creates the namespace of the chapter and waits for what the system puts into each."""
        body = {"metadata": {"name": self.namespace}}
        self.server.ask("POST", "/api/v1/namespaces", {"Content-Type": "application/json"}, json.dumps(body))
        for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            self.ask_until(script.found, "GET", f"/api/v1/namespaces/{self.namespace}/{path}", {}, None)

    def play(self, chapter, operation):
        path = body = None
        try:
            path = script.resolve(operation.path, self.look_up)
            body = script.resolve(operation.body, self.look_up)
            answer = self.do(operation, path, body)
            self.answers[operation.name] = answer
            self.remember(path, answer.body)
            return Record(chapter, operation, answer, None, path, body)
        except script.Unresolved as error:
            return Record(chapter, operation, None, f"not asked: {error}", path, body)
        except (OSError, http.client.HTTPException) as error:
            return Record(chapter, operation, None, f"no answer: {error!r}", path, body)

    def remember(self, path, body):
        metadata = script.follow(body, "metadata")
        if script.follow(metadata, "uid"):
            collection = re.search(r"/namespaces/[^/]+/([^/?]+)", path)
            if collection:
                self.latest[f"{collection.group(1)}/{metadata['name']}"] = body

    def do(self, operation, path, body):
        if operation.method == "EVENTS":
            return self.read_events(operation)
        if operation.method == "FORGET":
            self.forget_history()
            return servers.Answer(200, {}, "")
        headers = {"Accept": operation.accept} if operation.accept else {}
        if body is not None:
            headers["Content-Type"] = operation.content or "application/json"
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        if operation.method == "WATCH":
            self.watches[operation.name] = servers.Watch(self.server, path, headers)
            return self.watches[operation.name].answer
        if operation.until:
            return self.ask_until(operation.until, operation.method, path, headers, body)
        return self.server.ask(operation.method, path, headers, body)

    def ask_until(self, condition, method, path, headers, body):
        deadline = time.monotonic() + script.SETTLE_SECONDS
        while True:
            answer = self.server.ask(method, path, headers, body)
            if condition(answer) or time.monotonic() >= deadline:
                return answer
            time.sleep(POLL_SECONDS)

    def read_events(self, operation):
        if operation.watch not in self.watches:
            raise script.Unresolved(f"{operation.watch} is no open watch")
        seen, ended = self.watches[operation.watch].events_until(operation.until, script.SETTLE_SECONDS)
        return servers.Answer(200, {}, json.dumps({"events": seen, "ended": ended}))
