"""Draws scenes: a few nodes with something on them, and a gang that fits by a little or misses by a little.

A scene is a function of its seed and its number, and knows nothing of the others: all its pods ask for the label of its nodes."""

import dataclasses
import decimal
import random

import devices
import volumes

RUNTIME_CLASSES = [
    {"metadata": {"name": "heavy"}, "handler": "heavy", "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}}},
    {"metadata": {"name": "choosy"}, "handler": "choosy", "overhead": {"podFixed": {"memory": "33M"}},
     "scheduling": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "dedicated", "operator": "Exists"}]}},
]
CORDONED = "node.kubernetes.io/unschedulable"
LABELS = {
    "zone": ["a", "b", "c"],
    "disk": ["ssd", "hdd", ""],
    "size": ["0", "7", "8", "008", "64", "9223372036854775807", "9223372036854775808", "1_0", "8.0", "big"],
    "example.com/odd": ["", "A", "a"],
}
GROUPS = {"app": ["w", "v"], "tier": ["x", "y"]}  # labels of pods
TAINTS = {"dedicated": ["", "a", "b"], "maintenance": ["", "8"]}
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]
CPU = ["0", "100m", "0.25", "333m", "500m", "1", "1500m", "2"]
MEMORY = ["0", "64Mi", "100M", "0.25Gi", "300000000100m", "123456789500m", "1G"]
NODE_CPU = ["1", "3900m", "4", "6.5", "8", "12"]
NODE_MEMORY = ["512Mi", "2e9", "2999999999500m", "4Gi", "6Gi", "12Gi"]
UNITS = {"": 1, "m": decimal.Decimal("0.001"), "M": 10**6, "G": 10**9, "Mi": 2**20, "Gi": 2**30}
WITH_VOLUMES = 3  # of so many scenes one has volumes
WITH_DEVICES = 4  # likewise devices
PORTS = [80, 80, 443]
IPS = [None, None, "0.0.0.0", "127.0.0.1", "10.0.0.1"]


@dataclasses.dataclass
class Role:
    need: int
    want: int  # more, if there is room
    pod: dict  # without a name
    asks: str = ""  # how it asks for devices


@dataclasses.dataclass
class Scene:
    number: int
    nodes: list
    bound: list  # pods with spec.nodeName
    roles: list
    objects: list  # (path, object): what its pods name, and what that leads to: volumes, devices
    plan: list  # names of nodes, per role one for each pod that is needed: a way in which the gang may fit; empty: none is known


def amount(quantity):
    """Of CPU, MEMORY."""
    number = quantity.rstrip("mMGi")
    return decimal.Decimal(number) * UNITS[quantity[len(number):]]


def asked(resources):
    """What is limited and not requested is requested all the same."""
    return resources.get("limits", {}) | resources.get("requests", {})


def total(pod, resource):
    """What the containers request: all of it for most pods, which is enough to aim by."""
    return sum((amount(asked(c["resources"]).get(resource, "0")) for c in pod["spec"]["containers"]), decimal.Decimal())


class Draw:
    def __init__(self, seed, number):
        self.number = number
        self.random = random.Random(f"{seed}/{number}")
        self.has_devices = number % WITH_DEVICES == 1
        self.theme = self.random.choices(["any", "snug", "tight", "ports", "resized", "rules"], [20, 15, 45, 0, 0, 20] if self.has_devices else [20, 15, 15, 10, 10, 30])[0]
        self.names = [f"n{number}-{i}" for i in range(self.random.randint(2, 4) if self.theme == "tight" else self.random.randint(1, 10))]
        # Of a node that is not ready kube-scheduler sees the taints alone, and a pod that tolerates everything may go there; we never use it.
        self.all_ready = self.theme == "tight" or self.chance(80)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def some(self, percent, theme=None):
        """As chance(), but rather yes where that is the theme, and never where all that counts is how large things are."""
        return self.theme != "tight" and self.chance(80 if self.theme == theme else percent)

    def pick(self, items):
        return self.random.choice(items)

    def scene(self):
        """Themes. rules: what pods ask of each other. snug: each node is cut for some of the pods. tight: all of them are, for all of the pods. ports, resized: many of these."""
        roles = self.gang()
        objects = volumes.Volumes(self, self.number).add_to(roles, self.theme == "tight") if self.number % WITH_VOLUMES == 0 else []
        bound, plan = [], []
        if self.theme == "tight":
            plan = [[self.pick(self.names) for _ in range(role.need)] for role in roles]
            nodes = [self.node(name, self.room_for(role.pod for role, names in zip(roles, plan) for n in names if n == name)) for name in self.names]
        else:
            nodes = [self.node(name, self.room_for(self.pick(roles).pod for _ in range(self.random.randint(1, 6))) if self.theme == "snug" else {})
                     for name in self.names]
            count = self.pick([0, 0, 1, 2] if self.theme == "snug" else [1, 2, len(nodes), 2 * len(nodes)])
            bound = [self.bound(f"b{self.number}-{i}", self.pick(self.names)) for i in range(count)]
        if self.has_devices:
            objects += devices.Devices(self, self.number).add_to(roles, nodes, plan)
        return Scene(self.number, nodes, bound, roles, objects, plan)

    # --- nodes

    def node(self, name, room):
        """room: what it has in the place of what is drawn."""
        ready, taints = self.readiness()
        cordoned = self.some(7)
        if cordoned and self.chance(70):  # the taint comes a moment later
            taints.append({"key": CORDONED, "effect": "NoSchedule"})
        for key, effect in dict.fromkeys((self.pick(list(TAINTS)), self.pick(EFFECTS)) for _ in range(self.some(33) + self.some(33))):
            taints.append({"key": key, "value": self.pick(TAINTS[key]), "effect": effect})
        labels = {"scene": str(self.number)} | self.domains(name) | {k: self.pick(values) for k, values in LABELS.items() if self.chance(75)}
        room = self.allocatable() | room
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
                "spec": {"taints": taints, **({"unschedulable": True} if cordoned else {})},
                "status": {"capacity": room, "allocatable": room, "conditions": ready}}

    def domains(self, name):
        """Labels that no node of another scene has, but for the usual one: rules are about domains."""
        return {key: value for key, value, percent in (("kubernetes.io/hostname", name, 95), (f"host{self.number}", name, 95),
                                                       (f"rack{self.number}", self.pick("ab" if self.chance(50) else "abc"), 90)) if self.chance(percent)}

    def readiness(self):
        """(conditions, taints) as the kube-controller-manager keeps them"""
        state = "True" if self.all_ready or self.chance(60) else self.pick(["False", "Unknown"])
        key = {"True": None, "False": "node.kubernetes.io/not-ready", "Unknown": "node.kubernetes.io/unreachable"}[state]
        pressure = {"type": "MemoryPressure", "status": "False"}
        return [pressure, {"type": "Ready", "status": state}], [{"key": key, "effect": e} for e in ("NoSchedule", "NoExecute")] if key else []

    def allocatable(self):
        room = {"cpu": self.pick(NODE_CPU), "memory": self.pick(NODE_MEMORY), "pods": self.pick(["0", "1", "2", "3", "5"]) if self.some(33) else "110"}
        if self.chance(70):
            room["example.com/gpu"] = str(self.random.randint(0, 4))
        if self.chance(60):
            room["ephemeral-storage"] = self.pick(["1Gi", "5G", "20Gi"])
        if self.chance(40):
            room["hugepages-2Mi"] = self.pick(["0", "4Mi", "10Mi"])
        if self.some(3):
            del room[self.pick(list(room))]
        return room

    def room_for(self, pods):
        """Just enough for them, or a little less."""
        pods = list(pods)
        sums = {resource: sum((total(p, resource) for p in pods), decimal.Decimal()) - (unit if self.chance(7) else 0)
                for resource, unit in (("cpu", decimal.Decimal("0.001")), ("memory", 1))}
        return {resource: f"{n:f}" for resource, n in sums.items() if n > 0}

    # --- what pods are made of

    def pod(self):
        """Takes room, and asks for nothing else."""
        spec = {"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": self.chance(20),
                "containers": [self.container(f"c{i}") for i in range(self.pick([1, 1, 2]))]}
        if self.some(30):
            spec["initContainers"] = [self.container(f"i{i}", init=True) for i in range(self.pick([1, 1, 2, 3]))]
        if self.some(12, "ports"):
            self.add_ports(spec)
        if self.some(15):
            self.add_pod_resources(spec)
        if self.some(15):
            spec["runtimeClassName"] = self.pick(["heavy", "heavy", "choosy"])
        labels = {"scene": str(self.number)} | {key: self.pick(values) for key, values in GROUPS.items() if self.some(25, "rules")}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels}, "spec": spec}

    def container(self, name, init=False):
        container = {"name": name, "image": "none", "resources": self.resources()}
        if init and self.chance(50):
            container["restartPolicy"] = "Always"
        return container

    def resources(self):
        requests = {name: self.pick(amounts) for name, amounts, percent in (("cpu", CPU, 80), ("memory", MEMORY, 60)) if self.chance(percent)}
        limits = {}
        if self.some(8):
            limits["example.com/gpu"] = self.pick(["0", "1", "2"])
        if self.some(8):
            requests["ephemeral-storage"] = self.pick(["100Mi", "2G"])
        if self.some(4) and ("cpu" in requests or "memory" in requests):
            limits["hugepages-2Mi"] = "4Mi"
        if self.chance(15):
            limits, requests = limits | requests, {}
        return {"requests": requests | {k: limits[k] for k in limits if self.chance(50)}, "limits": limits}

    def add_ports(self, spec):
        if self.chance(15):
            spec["hostNetwork"] = True
        taken = set()
        for container in spec["containers"] + spec.get("initContainers", []):
            port, protocol, ip = self.pick(PORTS), self.pick(["TCP", "TCP", "UDP"]), self.pick(IPS)
            if self.chance(80) and (port, protocol) not in taken:
                taken.add((port, protocol))
                container["ports"] = [{"containerPort": port, "hostPort": port, "protocol": protocol, **({"hostIP": ip} if ip else {})}]

    def add_pod_resources(self, spec):
        """At least what all containers ask for together, as the API demands."""
        lists = [c["resources"][kind] for c in spec["containers"] + spec.get("initContainers", []) for kind in ("requests", "limits")]
        sums = {name: sum((amount(r.get(name, "0")) for r in lists), decimal.Decimal()) for name in ("cpu", "memory")}
        more = {"cpu": decimal.Decimal(self.pick(["0.1", "0.333", "1"])), "memory": decimal.Decimal(self.pick([10**6, 10**8]))}
        chosen = {name: f"{sums[name] + more[name]:f}" for name in self.pick([["cpu"], ["memory"], ["cpu", "memory"]])}
        spec["resources"] = {self.pick(["requests", "limits"]): chosen}

    def bound(self, name, node):
        pod = self.pod()
        pod["metadata"]["name"] = name
        pod["spec"]["nodeName"] = node
        if pod["spec"].get("runtimeClassName") == "choosy":  # a kubelet would not take it everywhere; here none is asked
            del pod["spec"]["runtimeClassName"]
        if self.some(6, "rules") and self.chance(50):
            self.add_affinity(pod, "podAntiAffinity", [self.pod_term()])
        if self.some(10, "resized"):
            pod["status"] = self.resized(pod["spec"])
        return pod

    def resized(self, spec):
        """What a kubelet says of a pod whose requests have been changed."""
        status = {"containerStatuses": [self.has(c) for c in spec["containers"] if self.chance(80)],
                  "initContainerStatuses": [self.has(c) for c in spec.get("initContainers", []) if self.chance(80)]}
        if self.chance(40):
            status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": self.pick(["Infeasible", "Deferred"])}]
        if "resources" in spec and self.chance(60):
            status |= self.amounts(spec["resources"])
        return status

    def has(self, container):
        return {"name": container["name"], "image": "none", "imageID": "", "ready": True, "restartCount": 0} | self.amounts(container["resources"])

    def amounts(self, resources):
        """Some of what was asked for, in other amounts: what is set aside, and what is in force."""
        wanted = asked(resources)

        def other():
            return wanted | {k: self.pick(amounts) for k, amounts in (("cpu", CPU), ("memory", MEMORY)) if k in wanted and self.chance(60)}

        return {k: v for k, v in (("allocatedResources", other()), ("resources", {"requests": other()})) if self.chance(75)}

    # --- the gang

    def gang(self):
        count = self.pick([2, 3] if self.theme == "tight" else [1, 1, 1, 2, 2, 3])
        left = min(self.random.randint(count, 12) for _ in range(1 if self.theme == "tight" else 3))
        roles = []
        for i in range(count):
            need = left if i == count - 1 else self.random.randint(1, left - (count - 1 - i))
            roles.append(Role(need, self.pick([1, 30, 30]) if self.some(50, "ports") else 0, self.member()))
            left -= need
        return roles

    def member(self):
        pod = self.pod()
        spec = pod["spec"]
        spec["nodeSelector"] = {"scene": str(self.number)}
        if self.some(10):
            key = self.pick(["zone", "example.com/odd"])
            spec["nodeSelector"][key] = self.pick(LABELS[key])
        if self.some(25):
            terms = [self.term() for _ in range(self.pick([1, 2, 2, 3]))] if self.chance(85) else [{"matchFields": [self.field("In")]}]
            spec.setdefault("affinity", {})["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        if self.some(6, "rules"):
            self.add_rules(pod)
        spec["tolerations"] = [self.toleration() for _ in range(self.pick([0, 1, 1, 2, 3]))]
        return pod

    # --- what pods ask of each other

    def add_rules(self, pod):
        if self.chance(50):
            self.add_affinity(pod, "podAntiAffinity", [self.pod_term(pod) for _ in range(self.pick([1, 1, 1, 2]))])
        if self.chance(25):
            terms = [self.pod_term(pod) for _ in range(self.pick([1, 1, 2]))]
            if len(terms) == 2:  # about one set of pods
                terms = [{k: v for k, v in term.items() if k in ("topologyKey", "labelSelector")} for term in terms]
            self.add_affinity(pod, "podAffinity", terms)
        if self.chance(35):
            pod["spec"]["topologySpreadConstraints"] = self.spread(pod)

    def add_affinity(self, pod, kind, terms):
        pod["spec"].setdefault("affinity", {})[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}

    def selector(self, pod=None):
        """Of pods of this scene, also as kube-scheduler sees it among those of others; pod: rather of its like."""
        labels = pod["metadata"]["labels"] if pod else {}
        if labels.keys() & GROUPS.keys() and self.chance(65):
            key = self.pick(sorted(labels.keys() & GROUPS.keys()))
            return {"matchLabels": {"scene": str(self.number), key: labels[key]}}
        key = self.pick(list(GROUPS))
        operator = self.pick(["In", "In", "NotIn", "Exists", "DoesNotExist"])
        values = {"values": self.random.sample(GROUPS[key], 1 if operator == "NotIn" else self.pick([1, 2]))} if operator in ("In", "NotIn") else {}
        return {"matchLabels": {"scene": str(self.number)}, "matchExpressions": [{"key": key, "operator": operator, **values}]}

    def pod_term(self, pod=None):
        term = {"topologyKey": self.pick(["kubernetes.io/hostname", f"rack{self.number}", f"host{self.number}"])}
        if self.chance(97):
            term["labelSelector"] = self.selector(pod)
        name = {"matchLabels": {"kubernetes.io/metadata.name": self.pick(["default", "default", "other"])}}
        where = self.pick([{}, {}, {}, {}, {"namespaces": ["default"]}, {"namespaces": ["other"]}, {"namespaceSelector": {}}, {"namespaceSelector": name}])
        return term | where

    def spread(self, pod):
        """A pod that is pinned sees its own node alone, if nodes count that its affinity allows: then kube-scheduler refuses it nowhere."""
        keys = self.random.sample([f"rack{self.number}", f"host{self.number}"], self.pick([1, 1, 2]))
        return [{"maxSkew": self.pick([1, 1, 2]), "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": self.selector(pod),
                 **({"nodeTaintsPolicy": "Honor"} if self.chance(30) else {}),
                 **({"nodeAffinityPolicy": "Ignore", **({"minDomains": self.pick([1, 2, 3])} if self.chance(25) else {})} if self.chance(85) else {})}
                for key in keys]

    def term(self):
        """May be empty, and matches nothing then."""
        term = {"matchExpressions": [self.requirement() for _ in range(self.pick([1, 1, 1, 2]))]} if self.chance(85) else {}
        if self.chance(20):
            term["matchFields"] = [self.field(self.pick(["In", "NotIn", "NotIn"]))]
        return term

    def field(self, operator):
        return {"key": "metadata.name", "operator": operator, "values": [self.pick(self.names)]}

    def requirement(self):
        key = self.pick([*LABELS, "size"])
        operator = self.pick([*2 * ["In", "NotIn", "Exists"], "DoesNotExist", "Gt"] if key != "size" else ["Gt", "Gt", "Lt", "Lt", "NotIn"])
        values = {"In": self.random.sample(LABELS[key], 2), "NotIn": self.random.sample(LABELS[key], self.pick([1, 2])), "Exists": None,
                  "DoesNotExist": None}.get(operator, [self.pick(LABELS[key][:5] if self.chance(80) else LABELS[key])])
        return {"key": key, "operator": operator, **({"values": values} if values else {})}

    def toleration(self):
        if self.all_ready and self.chance(10):
            return {"operator": "Exists", **self.maybe_effect()}
        if self.chance(15):
            return {"key": CORDONED, "operator": self.pick(["Exists", "Equal"]), **self.maybe_effect()}
        key = self.pick(list(TAINTS))
        if self.chance(50):
            return {"key": key, "operator": "Exists", **self.maybe_effect()}
        return {"key": key, "value": self.pick(TAINTS[key]), **self.maybe_effect()}

    def maybe_effect(self):
        return {"effect": self.pick(EFFECTS)} if self.chance(50) else {}
