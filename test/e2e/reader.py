"""Asks the API server without kubectl: stories ask again and again, and to start kubectl takes 50 ms of a processor each time."""

import base64
import http.client
import json
import ssl
import threading
import urllib.parse


class ReadError(Exception):
    """The API server did not answer, or not with what was asked for."""


class Reader:
    """Requests under the user of a kubeconfig. Each thread has a connection of its own, which is kept open."""

    def __init__(self, config):
        """config: a kubeconfig as a dictionary, with its files in it (kubectl config view --raw --flatten -o json)."""
        cluster = config["clusters"][0]["cluster"]
        self.address = urllib.parse.urlparse(cluster["server"])
        self.token = config["users"][0]["user"]["token"]
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self.own = threading.local()
        self.types = {}  # every name that kubectl understands -> (path of the group and version, resource, has namespaces)

    def get(self, path):
        return self.ask("GET", path)

    def ask(self, method, path, data=None, **headers):
        """(code, body) of the answer; data: JSON, if no header says otherwise. The connection may have been closed since it was used last."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", "Content-Type": "application/json",
                   "User-Agent": "kubectl/reader", **{name.replace("_", "-"): value for name, value in headers.items()}}
        for again in (True, False):
            fresh = getattr(self.own, "connection", None) is None
            if fresh:
                self.own.connection = http.client.HTTPSConnection(self.address.hostname, self.address.port, timeout=60, context=self.context)
            try:
                self.own.connection.request(method, path, data, headers)
                answer = self.own.connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.own.connection.close()
                self.own.connection = None
                if fresh or not again:
                    raise ReadError(f"{method} {path}: {error}") from None

    def must_get(self, path):
        code, body = self.get(path)
        if code != 200:
            raise ReadError(f"GET {path}: {code} {body.decode(errors='replace')[:1000]}")
        return json.loads(body)

    def learn_types(self):
        paths = ["/api/v1", *(f"/apis/{g['preferredVersion']['groupVersion']}" for g in self.must_get("/apis")["groups"])]
        for path in paths:
            group = path.split("/")[2] if path.startswith("/apis/") else ""
            for r in self.must_get(path)["resources"]:
                if "/" not in r["name"]:
                    for name in (r["name"], r["kind"].lower(), *r.get("shortNames", [])):
                        self.types.setdefault(name, (path, r["name"], r["namespaced"]))
                        self.types[f"{name}.{group}"] = (path, r["name"], r["namespaced"])

    def path(self, kind, namespace):
        """Of the objects of a kind, by any of its names; namespace None: of all of them."""
        if kind not in self.types:
            self.learn_types()
        if kind not in self.types:
            raise ReadError(f'the server doesn\'t have a resource type "{kind}"')
        base, resource, namespaced = self.types[kind]
        return f"{base}/namespaces/{namespace}/{resource}" if namespaced and namespace else f"{base}/{resource}"

    def object(self, kind, namespace, name):
        """The object as kubectl prints it, or None."""
        path = f"{self.path(kind, namespace)}/{name}"
        code, body = self.get(path)
        answer = json.loads(body) if body.startswith(b"{") else {}
        if code == 404 and answer.get("details", {}).get("name") == name:
            return None
        if code != 200:
            raise ReadError(f"GET {path}: {code} {body.decode(errors='replace')[:1000]}")
        return shown(answer)

    def objects(self, kind, namespace, labels=None, fields=None):
        query = urllib.parse.urlencode({k: v for k, v in (("labelSelector", labels), ("fieldSelector", fields)) if v})
        answer = self.must_get(self.path(kind, namespace) + (f"?{query}" if query else ""))
        kind = answer["kind"].removesuffix("List")
        return [shown({"apiVersion": answer["apiVersion"], "kind": kind, **item}) for item in answer["items"]]


def shown(obj):
    obj["metadata"].pop("managedFields", None)
    return obj
