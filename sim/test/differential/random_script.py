"""Random operations, valid and invalid, on a few objects. There is no model of what should come out: both servers must agree."""

import random

from script import (Chapter, JSON_PATCH, MERGE_PATCH, PARTIAL, PARTIAL_LIST, STRATEGIC_PATCH, TABLE, apply, delete, get, patch, post, put)

LENGTH = 40  # operations in a walk: after the first disagreement the states differ, and the rest of the walk says nothing

RESOURCES = {
    "configmaps": ("v1", "ConfigMap", "/api/v1/namespaces/${ns}/configmaps"),
    "secrets": ("v1", "Secret", "/api/v1/namespaces/${ns}/secrets"),
    "pods": ("v1", "Pod", "/api/v1/namespaces/${ns}/pods"),
    "podgroups": ("scheduling.x-k8s.io/v1alpha1", "PodGroup", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${ns}/podgroups"),
    "leases": ("coordination.k8s.io/v1", "Lease", "/apis/coordination.k8s.io/v1/namespaces/${ns}/leases"),
}
WITH_STATUS = ("pods", "podgroups")
WEIGHTS = {"configmaps": 35, "secrets": 8, "pods": 22, "podgroups": 27, "leases": 8}
NAMES = ["a", "b"]
SELECTORS = ["", "x=1", "x!=1", "x in (1,2)", "!x", "x,y", "y notin (2)", "x==2"]


class Walk:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.count = 0
        first = self.random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        self.resources = [first, self.random.choice([r for r in WEIGHTS if r != first])]

    def chapter(self):
        return Chapter(f"random-{self.seed}", "random operations", [self.operation() for _ in range(LENGTH)])

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def operation(self):
        self.count += 1
        verb = self.random.choices([self.create, self.update, self.patch, self.apply, self.delete, self.get, self.list, self.delete_many],
                                   [28, 14, 28, 8, 8, 5, 7, 2])[0]
        resource = self.random.choice([self.resources[0], *self.resources])
        return verb(f"{self.count:02}", resource, self.random.choice(NAMES))

    # --- parts of objects

    def metadata(self, name):
        metadata = {"name": name}
        if self.chance(60):
            metadata["labels"] = self.labels()
        if self.chance(20):
            metadata["annotations"] = {"note": self.random.choice(["", "text", "7"])}
        if self.chance(20):
            metadata["finalizers"] = self.finalizers()
        return metadata

    def labels(self):
        return {key: self.random.choice(["1", "2", "", "three"]) for key in self.random.sample(["x", "y", "example.com/z"], self.random.randrange(1, 3))}

    def finalizers(self):
        return self.random.sample(["example.com/a", "example.com/b"], self.random.randrange(0, 3))

    def data(self):
        return {key: str(self.random.randrange(4)) for key in self.random.sample("klm", self.random.randrange(0, 3))}

    def content(self, resource):
        """The members beside metadata of a valid object."""
        if resource == "configmaps":
            return {"data": self.data()}
        if resource == "secrets":
            return {"stringData": self.data()}
        if resource == "leases":
            return {"spec": {"holderIdentity": self.random.choice(["me", "you"]), "leaseDurationSeconds": self.random.randrange(1, 4)}}
        if resource == "podgroups":
            return {"spec": self.group_spec()}
        return {"spec": self.pod_spec()}

    def group_spec(self):
        spec = {}
        for key, values in (("minMember", [1, 2, 5]), ("queue", ["q"]), ("priority", [-1, 0, 7]), ("minResources", [{"cpu": "1"}, {"cpu": 2}])):
            if self.chance(50):
                spec[key] = self.random.choice(values)
        return spec

    def pod_spec(self):
        spec = {"schedulerName": "none", "automountServiceAccountToken": False,
                "containers": [{"name": "main", "image": self.random.choice(["i", "j"])}]}
        if self.chance(30):
            spec["schedulingGates"] = [{"name": "example.com/gate"}]
        elif self.chance(40):
            spec["nodeName"] = "node-x"
        if self.chance(30):
            spec["terminationGracePeriodSeconds"] = self.random.choice([0, 5])
        if self.chance(20):
            spec["containers"][0]["resources"] = {"requests": {"cpu": self.random.choice(["1", "500m", 2])}}
        return spec

    def whole(self, resource, name):
        version, kind, _ = RESOURCES[resource]
        body = {"apiVersion": version, "kind": kind, "metadata": self.metadata(name), **self.content(resource)}
        return self.spoiled(resource, body) if self.chance(15) else body

    def spoiled(self, resource, body):
        """The same with one mistake."""
        metadata = body["metadata"]
        mistake = self.random.randrange(8)
        if mistake == 0:
            metadata["labels"] = {"x": self.random.choice(["a b", "-", "a" * 64])}
        elif mistake == 1:
            metadata["name"] = self.random.choice(["A", "a_b", "", "-a"])
        elif mistake == 2:
            metadata["finalizers"] = ["unqualified name"]
        elif mistake == 3:
            body["kind"] = self.random.choice(["Node", "Thing", ""])
        elif mistake == 4:
            body["apiVersion"] = self.random.choice(["v2", "", "a/b/c"])
        elif mistake == 5:
            metadata["labels"] = self.random.choice([{"x": 1}, [], "text"])
        elif mistake == 6:
            metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "", "uid": ""}]
        elif resource == "podgroups":
            body["spec"]["minMember"] = self.random.choice([0, -1, "1", 1.5, None])
        else:
            metadata["namespace"] = "default"
        return body

    def latest(self, resource, name, path):
        return "${latest %s/%s:%s}" % (resource, name, path)

    def guarded(self, resource, name, metadata):
        """Adds a precondition in some cases, sometimes one that fails."""
        if self.chance(50):
            metadata["resourceVersion"] = self.latest(resource, name, "metadata.resourceVersion") if self.chance(80) else self.latest(resource, "a", "metadata.resourceVersion")
        if self.chance(10):
            metadata["uid"] = self.latest(resource, name, "metadata.uid")

    def query(self, *parts):
        parts = [p for p in parts if p] + ["dryRun=All"] * self.chance(8) + ["fieldValidation=" + self.random.choice(["Strict", "Warn", "Ignore"])] * self.chance(10)
        return "?" + "&".join(parts) if parts else ""

    def path(self, resource, name=None, status=True):
        path = RESOURCES[resource][2] + (f"/{name}" if name else "")
        return path + "/status" if name and status and resource in WITH_STATUS and self.chance(25) else path

    # --- operations

    def create(self, number, resource, name):
        body = self.whole(resource, name)
        if self.chance(8):
            body["status"] = {"phase": "Running"}
        return post(f"{number}_create", self.path(resource) + self.query(), body)

    def update(self, number, resource, name):
        body = self.whole(resource, name)
        if body["metadata"].get("name") == name:
            self.guarded(resource, name, body["metadata"])
        path = self.path(resource, name)
        if path.endswith("/status"):
            body["status"] = self.status(resource)
        query = self.query()
        if resource == "leases":  # an update that creates something does odd things in a dry run
            query = query.replace("dryRun=All", "")
        return put(f"{number}_update", path + query, body)

    def status(self, resource):
        status = {"phase": self.random.choice(["Pending", "Running", "Failed", "Succeeded"])}
        if self.chance(30):
            status["members" if resource == "podgroups" else "message"] = self.random.choice([1, 2]) if resource == "podgroups" else "text"
        if self.chance(10):
            status["colour"] = "red"
        return status

    def fragment(self, resource, status):
        """A merge patch."""
        body = {}
        if self.chance(50):
            key = self.random.choice(["labels", "annotations", "finalizers", "x"])
            value = {"labels": lambda: self.random.choice([self.labels(), {"x": None}, None]),
                     "annotations": lambda: self.random.choice([{"note": "new"}, {"note": None}, None]),
                     "finalizers": lambda: self.random.choice([self.finalizers(), None, []]), "x": lambda: 1}[key]()
            body["metadata"] = {key: value}
        if status:
            body["status"] = self.status(resource)
        elif resource == "configmaps" and self.chance(70):
            body["data"] = self.random.choice([self.data(), {"k": None}, None, {"k": 1}, "text"])
        elif resource == "podgroups" and self.chance(70):
            body["spec"] = self.random.choice([self.group_spec(), {"minMember": None}, {"queue": None, "minMember": 3}, {"colour": "red"}, None])
        elif resource == "pods" and self.chance(60):
            body["spec"] = self.random.choice([{"schedulingGates": None}, {"activeDeadlineSeconds": 9}, {"nodeSelector": {"a": "b"}},
                                               {"containers": [{"name": "main", "image": "k"}]}, {"restartPolicy": "Never"}])
        return body

    def patch(self, number, resource, name):
        path = self.path(resource, name)
        if self.chance(35):
            return patch(f"{number}_json_patch", path + self.query(), JSON_PATCH, self.json_patch(resource, name))
        body = self.fragment(resource, path.endswith("/status"))
        if self.chance(20):
            self.guarded(resource, name, body.setdefault("metadata", {}))
        content = STRATEGIC_PATCH if self.chance(40) else MERGE_PATCH
        return patch(f"{number}_patch", path + self.query(), content, body)

    def json_patch(self, resource, name):
        steps = []
        for _ in range(self.random.randrange(1, 4)):
            path = self.random.choice(["/metadata/labels/x", "/metadata/labels", "/metadata/finalizers", "/metadata/finalizers/0", "/metadata/finalizers/-",
                                       "/data/k", "/data", "/spec/minMember", "/spec/queue", "/metadata/annotations", "/nothing/x"])
            step = {"op": self.random.choice(["add", "add", "replace", "remove", "test"]), "path": path}
            if step["op"] != "remove":
                step["value"] = self.value_for(path)
            steps.append(step)
        if self.chance(15):
            steps.insert(0, {"op": "test", "path": "/metadata/uid", "value": self.latest(resource, name, "metadata.uid")})
        return steps

    def value_for(self, path):
        return {"/metadata/labels/x": "1", "/metadata/labels": self.labels(), "/metadata/finalizers": self.finalizers(),
                "/metadata/finalizers/0": "example.com/c", "/metadata/finalizers/-": "example.com/d", "/data/k": "1", "/data": self.data(),
                "/spec/minMember": self.random.choice([1, 2, 0]), "/spec/queue": "q", "/metadata/annotations": {"note": "n"}}.get(path, "v")

    def apply(self, number, resource, name):
        version, kind, _ = RESOURCES[resource]
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": self.labels()}, **self.content(resource)}
        operation = apply(f"{number}_apply", self.path(resource, name, status=False), body, self.random.choice(["alpha", "beta"]), self.chance(40))
        operation.managed = False  # of objects that were not applied from the beginning they differ
        return operation

    def delete(self, number, resource, name):
        options = {}
        if self.chance(20):
            options["preconditions"] = {"uid": self.latest(resource, name if self.chance(80) else "a", "metadata.uid")}
        if self.chance(15):
            options.setdefault("preconditions", {})["resourceVersion"] = self.latest(resource, name, "metadata.resourceVersion")
        if self.chance(20):
            options["gracePeriodSeconds"] = self.random.choice([0, 1, 60])
        if self.chance(10):
            options["propagationPolicy"] = self.random.choice(["Background", "Sideways"])
        query = "?dryRun=All" if self.chance(8) else ""
        return delete(f"{number}_delete", self.path(resource, name, status=False) + query, options or None)

    def get(self, number, resource, name):
        return get(f"{number}_get", self.path(resource, name), accept=self.random.choice([None, None, TABLE, PARTIAL]))

    def list(self, number, resource, _name):
        # Without a name to look for, the list would hold what the system puts into each namespace; its order and content are compared all the same.
        parts = [f"labelSelector={s}" for s in [self.random.choice(SELECTORS)] if s] + ["limit=2"] * self.chance(20)
        fields = ["fieldSelector=metadata.name=" + self.random.choice(NAMES)] * self.chance(15)
        query = "&".join(parts + fields)
        without = ("items[metadata.name=kube-root-ca.crt].data",)
        return get(f"{number}_list", self.path(resource) + ("?" + query if query else ""), accept=self.random.choice([None, None, None, PARTIAL_LIST]), without=without)

    def delete_many(self, number, resource, _name):
        return delete(f"{number}_delete_many", self.path(resource) + "?labelSelector=" + self.random.choice(["x=1", "x", "y", "x in (1,2)"]))


def chapters(operations, seed):
    """As many walks as it takes; walk i has the seed seed + i."""
    return [Walk(seed + i).chapter() for i in range((operations + LENGTH - 1) // LENGTH)]
