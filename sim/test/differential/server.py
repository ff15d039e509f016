"""One API server: where it is, how it is asked, how its watches are read."""

import base64
import contextlib
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

TIMEOUT_SECONDS = 60
SETTLING_SECONDS = 30
COMPARED_HEADERS = ("Content-Type", "Warning", "Retry-After", "Allow")


class Answer:
    def __init__(self, code, headers, text):
        self.code = code
        self.headers = headers
        self.text = text
        try:
            self.body = json.loads(text)
        except ValueError:
            self.body = None


def once_settled(ask):
    """The answer of ask(). A real server that has just been started may say 429 until its caches are filled: it is asked again when it says."""
    deadline = time.monotonic() + SETTLING_SECONDS
    while True:
        answer = ask()
        if answer.code != 429 or "storage is (re)initializing" not in answer.text or time.monotonic() > deadline:
            return answer
        time.sleep(int(answer.headers["Retry-After"]))


class Server:
    def __init__(self, kubeconfig):
        view = subprocess.run(["kubectl", "config", "view", "--raw", "--minify", "-o", "json", "--kubeconfig", str(kubeconfig)],
                              capture_output=True, text=True)
        if view.returncode:
            raise OSError(f"{kubeconfig}: {view.stderr.strip()}")
        config = json.loads(view.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0].get("user") or {}
        self.url = urllib.parse.urlsplit(cluster["server"])
        self.token = user.get("token")
        self.tls = self.tls_of(cluster, pathlib.Path(kubeconfig).parent) if self.url.scheme == "https" else None
        self.connection = None

    @staticmethod
    def tls_of(cluster, folder):
        if "certificate-authority-data" in cluster:
            return ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        return ssl.create_default_context(cafile=str(folder / cluster["certificate-authority"]))

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=TIMEOUT_SECONDS, context=self.tls)
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=TIMEOUT_SECONDS)

    def send(self, connection, method, path, headers, body):
        headers = {"User-Agent": "differential", "Accept": "application/json"} | headers
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        data = body.encode() if isinstance(body, str) else body
        connection.request(method, urllib.parse.quote(path, safe="/?&=,:!()%"), data, headers)
        return connection.getresponse()

    def ask(self, method, path, headers=None, body=None):
        return once_settled(lambda: self.ask_once(method, path, headers, body))

    def ask_once(self, method, path, headers, body):
        """A kept connection may have been closed by the server meanwhile; it is then opened anew, once."""
        for last in (False, True):
            fresh = self.connection is None
            self.connection = self.connection or self.connect()
            try:
                response = self.send(self.connection, method, path, headers or {}, body)
                return Answer(response.status, compared(response), response.read().decode(errors="replace"))
            except (http.client.RemoteDisconnected, ConnectionError, http.client.CannotSendRequest):
                self.close()
                if last or fresh:
                    raise
            except Exception:
                self.close()
                raise

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


def compared(response):
    return {h: v for h in COMPARED_HEADERS for v in [", ".join(response.headers.get_all(h) or [])] if v}


class Watch:
    """A watch that is read in a thread of its own."""

    def __init__(self, server, path, headers):
        self.connection = server.connect()
        self.events = []
        self.changed = threading.Condition()
        self.answer = once_settled(lambda: self.begin(server, path, headers))
        if self.open:
            self.thread = threading.Thread(target=self.read, args=(self.response,), daemon=True)
            self.thread.start()

    def begin(self, server, path, headers):
        self.response = server.send(self.connection, "GET", path, headers, None)
        self.open = self.response.status == 200
        return Answer(self.response.status, compared(self.response), "" if self.open else self.response.read().decode(errors="replace"))

    def read(self, response):
        try:
            for line in response:
                self.add(json.loads(line))
        except (OSError, http.client.HTTPException, ValueError) as error:
            if self.open:
                self.add({"type": "BROKEN", "object": {"message": repr(error)}})
        with self.changed:
            self.open = False
            self.changed.notify_all()

    def add(self, event):
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def events_until(self, condition, seconds):
        """The events up to the one that fulfils the condition, and whether the watch ended before there was one."""
        def enough():
            return not self.open or any(map(condition, self.events))

        with self.changed:
            self.changed.wait_for(enough, seconds)
            last = next((i for i, e in enumerate(self.events) if condition(e)), None)
            return (self.events[:], not self.open) if last is None else (self.events[: last + 1], False)

    def close(self):
        self.open = False
        if self.connection.sock:
            with contextlib.suppress(OSError):  # it is closed already
                self.connection.sock.shutdown(socket.SHUT_RDWR)
