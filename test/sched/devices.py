"""Draws devices (DRA) for the pods of a scene: DeviceClasses, ResourceSlices of its nodes, and claims. No driver is needed: kube-scheduler
allocates by these objects alone. In a bare cluster nobody makes the claims of templates: that is done here (make_claims).

Names are of the scene, so that no class has devices of another. What the engine cannot know (selectors beyond its part of CEL, devices
that several requests may have, alternatives) is drawn too: of these scenes only that is compared which is true all the same."""

import json

NAMESPACE = "default"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
TEMPLATES = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaimtemplates"
CLAIMS = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
WORDS = {CLASSES: b"deviceclass", SLICES: b"slice", TEMPLATES: b"template", CLAIMS: b"resourceclaim"}  # for test/sched/scene
MERGE = {"Content_Type": "application/merge-patch+json"}
MODELS = {"h100": "80Gi", "h200": "141Gi", "a100": "40Gi"}
KINDS = {"nothing": 12, "by_name": 40, "by_template": 45, "shared": 6, "undecided": 2, "class_gone": 2}
ODD = {"alternatives": 1, "all": 1, "constraint": 2, "tolerations": 1}  # requests that are not counted


def driver(kind, number):
    return f"{kind}{number}.example.com"


class Devices:
    """Of one scene; draw: how (draw.Draw)."""

    def __init__(self, draw, number):
        self.draw, self.number, self.objects, self.n = draw, number, [], 0
        self.kinds = ["gpu", "gpu", "gpu", "nic"] if draw.chance(50) else ["gpu"]
        self.mixed = draw.some(15)  # devices of one node differ
        self.free = {}  # by node: (kind, name) of its devices
        self.resources = {}  # by kind: the name of its own that the class has

    def add_to(self, roles, nodes, plan):
        """[(path, object)]: what the roles ask for from then on. plan: where their pods are to have just enough; none: anywhere."""
        for kind in sorted(set(self.kinds)):
            self.add_class(kind)
        asked = [self.ask(role, plan) for role in roles]
        for node in nodes:
            name = node["metadata"]["name"]
            for kind in sorted(set(self.kinds)):
                planned = sum(a.get(kind, 0) * names.count(name) for a, names in zip(asked, plan)) - self.draw.chance(7) if plan else None
                if not self.list_some(node, kind, any(role.asks == "by_template" for role in roles)):
                    self.add_slices(node, kind, self.draw.pick([0, 2, 3, 4, 6, 8]) if planned is None else max(planned, 0), bool(plan))
        if self.draw.some(5):
            self.add_slice("everywhere", "gpu", [self.device("gpu", "any-0", "h100")],
                           nodeSelector={"nodeSelectorTerms": [{"matchExpressions": [{"key": "scene", "operator": "In", "values": [str(self.number)]}]}]})
        for role in roles:
            self.name_claim(role, nodes)
        if not plan:
            self.take_some()
        return self.objects

    # --- classes and devices

    def add_class(self, kind):
        d = driver(kind, self.number)
        is_typed = f"device.attributes['{d}'].type == '{kind}'"
        selectors = self.draw.pick([[f"device.driver == '{d}'"], [f"device.driver == '{d}' && {is_typed}"], [f'device.driver == "{d}"', is_typed]])
        if self.draw.some(6):  # fails for devices of another kind, which are on the nodes, too
            selectors = [is_typed]
        if self.draw.some(3):
            selectors = [f"[device.driver].exists(d, d == '{d}')"]
        spec = {"selectors": [{"cel": {"expression": s}} for s in selectors]}
        if self.draw.chance(80 if kind == "gpu" else 30):
            self.resources[kind] = f"example.com/{kind}{self.number}"
            spec["extendedResourceName"] = self.resources[kind]
        self.objects.append((CLASSES, {"metadata": {"name": f"{kind}{self.number}"}, "spec": spec}))
        if self.draw.some(4):  # whoever asks by the name gets devices of the younger one, or of the first by name
            spec = spec | {"selectors": [*spec["selectors"], {"cel": {"expression": f"device.driver == '{d}' && device.attributes['{d}'].model != 'a100'"}}]}
            self.objects.append((CLASSES, {"metadata": {"name": self.draw.pick([f"a-{kind}{self.number}", f"z-{kind}{self.number}"])}, "spec": spec}))

    def device(self, kind, name, model):
        attributes = {"type": {"string": kind}, "model": {"string": model}, "index": {"int": len(name)}}
        if self.draw.some(5):
            del attributes["model"]  # a selector that asks for it fails
        device = {"name": name, "attributes": attributes, "capacity": {"memory": {"value": MODELS[model]}}}
        if self.draw.some(8):
            device["taints"] = [{"key": "broken", "effect": self.draw.pick(["NoSchedule", "NoExecute", "None"])}]
        return device

    def add_slices(self, node, kind, n, exact):
        name = node["metadata"]["name"]
        model = self.draw.pick(list(MODELS))
        devices = [self.device(kind, f"{kind}-{i}", self.draw.pick(list(MODELS)) if self.mixed else model) for i in range(n)]
        complete = exact or self.draw.chance(93)
        if complete:
            self.free.setdefault(name, []).extend((kind, d["name"]) for d in devices)
        cut = self.draw.pick([n, n, n // 2])
        parts = [devices[:cut], devices[cut:]] if cut < n else [devices]
        for i, part in enumerate(parts):
            self.add_slice(f"{name}-{i}", kind, part, pool=name, generation=2, slices=len(parts) + (not complete), nodeName=name)
        if self.draw.some(6):  # of before; it counts no more
            self.add_slice(f"{name}-old", kind, [self.device(kind, f"{kind}-old", model)], pool=name, generation=1, slices=1, nodeName=name)

    def list_some(self, node, kind, claimed):
        """The node lists the resource itself, as a device plugin does it, or (0) did. Returns whether it has no slices: claims would have these besides."""
        if kind not in self.resources or not self.draw.some(6):
            return False
        n = self.draw.pick(["0", "2"])
        node["status"] = node["status"] | {what: node["status"][what] | {self.resources[kind]: n} for what in ("capacity", "allocatable")}
        return claimed and n != "0"

    def add_slice(self, name, kind, devices, pool=None, generation=1, slices=1, **where):
        self.objects.append((SLICES, {"metadata": {"name": f"{kind}{self.number}-{name}"}, "spec": {
            "driver": driver(kind, self.number), "pool": {"name": pool or name, "generation": generation, "resourceSliceCount": slices},
            "devices": devices, **where}}))

    def take_some(self):
        """Some devices are of claims of others."""
        for node, devices in self.free.items():
            if devices and self.draw.some(15):
                taken = self.draw.random.sample(devices, self.draw.pick([1, 1, 2]) if len(devices) > 1 else 1)
                self.claim(f"others-{node}", node, [d for d in taken if d[0] == taken[0][0]])

    # --- what pods ask for

    def ask(self, role, plan):
        """Returns how many devices of each kind a pod needs."""
        kinds = {k: n for k, n in KINDS.items() if not plan or k in ("nothing", "by_name", "by_template")}
        kind = self.draw.random.choices(list(kinds), list(kinds.values()))[0]
        role.asks = kind
        return getattr(self, kind)(role) or {}

    def nothing(self, role):
        pass

    def by_name(self, role):
        asked = {}
        spec = role.pod["spec"]
        for container in spec["containers"][: self.draw.pick([1, 1, 2])] + (spec.get("initContainers", []) if self.draw.some(15) else []):
            kind, n = self.draw.pick(self.kinds), self.draw.pick([1, 1, 2])
            own = self.resources.get(kind) if self.draw.chance(95) else None
            name = own or f"deviceclass.resource.kubernetes.io/{kind}{self.number}"
            for what in ("limits", "requests"):
                container["resources"][what] = container["resources"].get(what, {}) | {name: str(n)}
            asked[kind] = asked.get(kind, 0) + n
        return asked

    def by_template(self, role):
        asked = {}
        requests = [self.request(f"r{i}", asked) for i in range(self.draw.pick([1, 1, 1, 2]))]
        spec = {"devices": {"requests": requests}}
        if self.draw.some(5):
            self.make_odd(spec["devices"])
        self.claim_of_template(role, spec)
        return asked

    def request(self, name, asked):
        kind, n = self.draw.pick(self.kinds), self.draw.pick([1, 1, 1, 2])
        d = driver(kind, self.number)
        exactly = {"deviceClassName": f"{kind}{self.number}", "count": n}
        if self.draw.some(30):
            model = f"device.attributes['{d}'].model"
            exactly["selectors"] = [{"cel": {"expression": e}} for e in self.draw.random.sample([
                f"{model} == '{self.draw.pick(list(MODELS))}'", f"{model} in ['h100', 'h200']", f"{model}.startsWith('h')",
                f"device.capacity['{d}'].memory.compareTo(quantity('60Gi')) >= 0", f"{model} != 'a100' || device.driver == 'other'",
                f"{model}.lowerAscii() == 'h100'"], self.draw.pick([1, 1, 2]))]
        asked[kind] = asked.get(kind, 0) + n
        return {"name": name, "exactly": exactly}

    def make_odd(self, devices):
        first = devices["requests"][0]
        odd = self.draw.random.choices(list(ODD), list(ODD.values()))[0]
        if odd == "alternatives":
            devices["requests"][0] = {"name": first["name"], "firstAvailable": [{"name": f"a{i}", **first["exactly"], "count": i} for i in (2, 1)]}
        elif odd == "all":
            first["exactly"] |= {"allocationMode": "All"}
            del first["exactly"]["count"]
        elif odd == "constraint":
            devices["constraints"] = [{"matchAttribute": f"{driver('gpu', self.number)}/model"}]
        else:
            first["exactly"]["tolerations"] = [{"key": "broken", "operator": "Exists"}]

    def class_gone(self, role):
        self.claim_of_template(role, {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": f"gone{self.number}"}}]}})

    def claim_of_template(self, role, spec):
        self.n += 1
        name = f"t{self.number}-{self.n}"
        self.objects.append((TEMPLATES, {"metadata": {"name": name}, "spec": {"spec": spec}}))
        self.add_claim(role, {"resourceClaimTemplateName": name})

    def add_claim(self, role, source):
        spec = role.pod["spec"]
        spec["resourceClaims"] = [{"name": "devices", **source}]
        if self.draw.chance(80):
            spec["containers"][0]["resources"]["claims"] = [{"name": "devices"}]

    def shared(self, role):
        """Its devices are chosen in name_claim(), when there are some."""

    undecided = shared

    def name_claim(self, role, nodes):
        """A claim by name: one that has its devices, or one of which the first pod decides."""
        if role.asks not in ("shared", "undecided"):
            return
        self.n += 1
        name, node = f"c{self.number}-{self.n}", self.draw.pick(nodes)["metadata"]["name"]
        devices = self.free.get(node, []) if role.asks == "shared" else []
        self.claim(name, node, self.draw.random.sample(devices, min(len(devices), 1)))
        self.add_claim(role, {"resourceClaimName": name})

    def claim(self, name, node, devices):
        """devices: of one kind, which are allocated to it; none: it has not been allocated."""
        kind = devices[0][0] if devices else "gpu"
        obj = {"metadata": {"name": name}, "spec": {"devices": {"requests": [
            {"name": "r", "exactly": {"deviceClassName": f"{kind}{self.number}", "count": max(len(devices), 1)}}]}}}
        if devices:
            self.free[node] = [d for d in self.free[node] if d not in devices]
            obj["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]  # as kube-scheduler does before it allocates
            obj["status"] = {
                "allocation": {
                    "allocationTimestamp": "2026-01-01T00:00:00Z",  # kube-scheduler cannot share one without
                    "devices": {"results": [{"request": "r", "driver": driver(kind, self.number), "pool": node, "device": d} for _, d in devices]},
                    "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}},
                # Of one that no pod has kube-scheduler may choose the devices again.
                "reservedFor": [{"resource": "pods", "name": "other", "uid": name}] if self.draw.chance(80) else []}
        self.objects.append((CLAIMS, obj))


def make_claims(cluster, pods, templates):
    """What the controller of ResourceClaims does for new pods. templates: the specs of claims by the names of templates."""
    def make(pod):
        meta, statuses = pod["metadata"], []
        for claim in pod["spec"].get("resourceClaims", []):
            if "resourceClaimTemplateName" in claim:
                name = f"{meta['name']}-{claim['name']}"
                owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True, "blockOwnerDeletion": True}
                cluster.write("POST", CLAIMS, {"metadata": {"name": name, "ownerReferences": [owner], "annotations": {"resource.kubernetes.io/pod-claim-name": claim["name"]}},
                                               "spec": templates[claim["resourceClaimTemplateName"]]})
                statuses.append({"name": claim["name"], "resourceClaimName": name})
        if statuses:
            cluster.write("PATCH", f"{PODS}/{meta['name']}/status", {"status": {"resourceClaimStatuses": statuses}}, **MERGE)

    list(cluster.pool.map(make, (json.loads(body) for body in pods)))


def templates_of(scenes):
    return {obj["metadata"]["name"]: obj["spec"]["spec"] for s in scenes for path, obj in s.objects if path == TEMPLATES}
