"""Draws volumes for the pods of a scene: PersistentVolumeClaims, and what they lead to. In a bare cluster nobody binds a claim: its state is
written with it, and what the volume controller does after kube-scheduler has chosen a node is done here (bind_chosen).

What nobody else than kube-scheduler can know (class without a provisioner, ReadWriteOncePod, labels of a zone) is drawn too: of these
scenes only that is compared which is true all the same."""

NAMESPACE = "default"
CLAIMS = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
WORDS = {CLAIMS: b"claim", VOLUMES: b"volume", CLASSES: b"class", DRIVERS: b"driver"}  # for test/sched/scene
CHOSEN = "volume.kubernetes.io/selected-node"
BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
MERGE = {"Content_Type": "application/merge-patch+json"}
SIZE = {"storage": "1Gi"}
KINDS = {"shared": 40, "affine": 30, "first": 30, "at_once": 4, "without_class": 2, "class_gone": 2, "chosen_volume": 2, "lost": 2, "missing": 3, "going": 3,
         "no_provisioner": 4, "one_pod": 3, "zone_labels": 3, "free_elsewhere": 4, "capacity": 3}


class Volumes:
    """Of one scene; draw: how (draw.Draw)."""

    def __init__(self, draw, number):
        self.draw, self.number, self.objects, self.n = draw, number, [], 0

    def add_to(self, roles, tight):
        """[(path, object)], which the roles name from then on."""
        for role in roles:
            for _ in range(self.draw.pick([0, 1, 1, 2])):
                kind = self.draw.random.choices(list(KINDS), list(KINDS.values()))[0]
                if tight and kind == "first":  # one pod at a time waits for its volume, and here all have their places
                    kind = "affine"
                self.n += 1
                name = f"s{self.number}-{self.n}"
                getattr(self, kind)(name)
                if kind in ("first", "free_elsewhere", "capacity", "no_provisioner"):
                    role.need, role.want = 1, 0
                role.pod["spec"].setdefault("volumes", []).append({"name": f"v{self.n}", "persistentVolumeClaim": {"claimName": name}})
        return self.objects

    # --- kinds of claims

    def shared(self, name, modes=("ReadWriteMany",), **meta):
        self.volume(name, **meta)
        self.claim(name, "Bound", modes=modes, volumeName=name, storageClassName="")

    def affine(self, name):
        terms = [{"matchExpressions": [self.draw.requirement() for _ in range(self.draw.pick([1, 1, 2]))]} for _ in range(self.draw.pick([1, 1, 2, 3]))]
        self.volume(name, nodeAffinity={"required": {"nodeSelectorTerms": terms}})
        self.claim(name, "Bound", volumeName=name, storageClassName="")

    def first(self, name, **spec):
        topologies = [{"matchLabelExpressions": [{"key": key, "values": self.draw.random.sample(values, 2)}]}
                      for key, values in (("zone", ["a", "b", "c"]), ("disk", ["ssd", "hdd"])) if self.draw.chance(50)]
        self.storage_class(name, **({"allowedTopologies": topologies} if topologies else {}), **spec)
        self.claim(name, "Pending", storageClassName=name)

    def at_once(self, name):
        self.storage_class(name, volumeBindingMode="Immediate")
        self.claim(name, "Pending", storageClassName=name)

    def without_class(self, name):
        self.claim(name, "Pending", **self.draw.pick([{}, {"storageClassName": ""}]))

    def class_gone(self, name):
        self.claim(name, "Pending", storageClassName=name)

    def chosen_volume(self, name):
        self.storage_class(name)
        self.volume(name, storageClassName=name)
        self.claim(name, "Pending", storageClassName=name, volumeName=name)

    def lost(self, name):
        self.claim(name, "Lost", volumeName=name, storageClassName="")

    def missing(self, name):
        pass

    def going(self, name):
        self.shared(name)
        self.objects.append((CLAIMS, name))  # is deleted, and stays because it is protected

    def no_provisioner(self, name):
        self.first(name, provisioner="kubernetes.io/no-provisioner")

    def one_pod(self, name):
        self.shared(name, modes=("ReadWriteOncePod",))

    def zone_labels(self, name):
        self.shared(name, labels={"topology.kubernetes.io/zone": self.draw.pick(["a", "b"])})

    def free_elsewhere(self, name):
        self.first(name)
        self.volume(name, storageClassName=name)

    def capacity(self, name):
        driver = f"{name}.example.com"
        self.objects.append((DRIVERS, {"metadata": {"name": driver}, "spec": {"storageCapacity": True}}))
        self.first(name, provisioner=driver)

    # --- objects

    def volume(self, name, labels=None, storageClassName="", **spec):
        claimed = {} if storageClassName else {"claimRef": {"namespace": NAMESPACE, "name": name}}
        self.objects.append((VOLUMES, {"metadata": {"name": name, "labels": labels or {}}, "spec": {
            "capacity": SIZE, "accessModes": ["ReadWriteMany"], "nfs": {"server": "files.example.com", "path": "/"},
            "storageClassName": storageClassName, **claimed, **spec}, "status": {"phase": "Available" if storageClassName else "Bound"}}))

    def claim(self, name, phase, modes=("ReadWriteMany",), **spec):
        self.objects.append((CLAIMS, {"metadata": {"name": name, "annotations": BOUND if phase in ("Bound", "Lost") else {}},
                                      "spec": {"accessModes": list(modes), "resources": {"requests": SIZE}, **spec}, "status": {"phase": phase}}))

    def storage_class(self, name, **spec):
        self.objects.append((CLASSES, {"metadata": {"name": name}, "provisioner": "volumes.example.com", "volumeBindingMode": "WaitForFirstConsumer"} | spec))


def bind_chosen(cluster):
    """What the volume controller and a provisioner do when kube-scheduler has chosen a volume for a claim, or a node: then one is made, for all nodes."""
    taken = {v["spec"]["claimRef"]["name"]: v["metadata"]["name"] for v in cluster.reader.must_get(VOLUMES)["items"] if "claimRef" in v["spec"]}
    for claim in cluster.reader.must_get(CLAIMS)["items"]:
        meta, spec = claim["metadata"], claim["spec"]
        if claim["status"].get("phase") != "Pending" or "volumeName" in spec:
            continue
        if meta["name"] not in taken and CHOSEN in meta.get("annotations", {}):
            taken[meta["name"]] = f"made-{meta['name']}"
            cluster.write("POST", VOLUMES, {"metadata": {"name": taken[meta["name"]]}, "spec": {
                "capacity": SIZE, "accessModes": ["ReadWriteMany"], "nfs": {"server": "files.example.com", "path": "/"}, "storageClassName": spec.get("storageClassName", ""),
                "claimRef": {"namespace": NAMESPACE, "name": meta["name"], "uid": meta["uid"]}}})
        if meta["name"] in taken:
            path = f"{CLAIMS}/{meta['name']}"
            cluster.write("PATCH", path, {"metadata": {"annotations": BOUND}, "spec": {"volumeName": taken[meta["name"]]}}, **MERGE)
            cluster.write("PATCH", f"{path}/status", {"status": {"phase": "Bound"}}, **MERGE)
