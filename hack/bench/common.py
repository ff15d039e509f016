"""What the benchmarks of hack/bench share: the report, a cluster of their own, requests by h2load, and the reading of its audit log."""

import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
import harness  # noqa: E402

BUILD = ROOT / "build"  # --build
BARS = {
    "create_rate_of_b0": (0.8, "at least"),
    "last_bound_of_kube_job": (1.0, "at most"),
    "last_bound_of_kube_job_as_shipped": (1.0, "at most"),
    "own_requests_per_pod_at_20": (1.5, "at most"),
    "rss_mib_100k": (60, "at most"),
    "rss_below_client_go_100k": (15, "at least"),
    "wakeups_per_second": (2, "at most"),
    "gang_repair_p99_ms": (150, "at most"),
    "kube_job_backoff_to_gang_repair": (20, "at least"),
    "pod_repair_of_kube_job": (1.0, "at most"),
    "own_requests_per_pod_of_a_life": (2.3, "at most"),
    "manager_cpu_s_per_1000_pods": (0.6, "at most"),
    "kube_controller_manager_cpu_to_ours": (8, "at least"),
    "large_job_create_rate_of_b0": (0.8, "at least"),
    "first_pod_beside_a_noisy_tenant_s": (1.0, "at most"),  # p99; twice that of an idle manager is as good
    "room_to_last_pod_s": (1.0, "at most"),
    "own_writes_per_admitted_job": (3, "at most"),  # without those of positions
    "sync_instructions_10k_to_1k": (13.3, "at most"),  # n log n: the pods are sorted
    "pod_event_instructions_10k_to_1k": (1.1, "at most"),
    "gangs_of_10_pods_per_s": (2e6, "at least"),
    "gangs_of_10_of_scan": (40, "at least"),
    "reject_us": (1, "at most"),
    "node_update_us": (2, "at most"),
    "node_update_when_nodes_double": (1.1, "at most"),
    "cold_class_ns_per_node": (10, "at most"),
    "racks_cold_10000_ms": (20, "at most"), "racks_pods_per_s": (500000, "at least"), "racks_pod_event_us": (3, "at most"),
    "class_of_40000_devices_ms": (20, "at most"),
    "slice_event_us": (10, "at most"),
    "slice_event_when_nodes_double": (1.3, "at most"),
    "bytes_per_device": (210, "at most"),
    "sched_bytes_per_node_16_hot": (400 + 16 * 16, "at most"),
    "pass_ms": (20, "at most"),
    "pass_when_groups_double": (2.2, "at most"),
    "pass_bytes_per_group": (400, "at most"),
    **{f"usage_of_quota_{shape}": (0.9, "at least") for shape in ("baseline", "large")},
    **{f"admission_of_kueue_{shape}": (0.5, "at most") for shape in ("baseline", "large")},  # the worst class
    **{f"own_writes_per_workload_{shape}": (4, "at most") for shape in ("baseline", "large")},
}


class Report:
    def __init__(self, path):
        path.parent.mkdir(exist_ok=True)
        self.file = path.open("w")
        self.bars = []

    def line(self, **figures):
        self.file.write(json.dumps(figures) + "\n")
        self.file.flush()
        print("  " + "  ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in figures.items()), flush=True)

    def bar(self, name, value):
        limit, kind = BARS[name]
        met = value <= limit if kind == "at most" else value >= limit
        self.bars.append((name, value, f"{kind} {limit}", met))
        self.file.write(json.dumps({"bar": name, "value": value, "limit": limit, "kind": kind, "met": met}) + "\n")

    def table(self):
        print(f"\n{'bar':34} {'measured':>10}   {'wanted':16} met")
        for name, value, wanted, met in self.bars:
            print(f"{name:34} {value:10.3g}   {wanted:16} {'yes' if met else 'NO'}")


def usage_of(pid):
    """CPU seconds, context switches that were waits, resident KiB now and at most, of one process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    switches = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[1])
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    rss, peak = (int(re.search(rf"^{k}:\s+(\d+)", status, re.M)[1]) for k in ("VmRSS", "VmHWM"))
    return {"cpu": ticks / os.sysconf("SC_CLK_TCK"), "waits": switches, "rss_kib": rss, "peak_kib": peak}


def manager_of(bench, kubeconfig):
    """The manager as shipped, ready to work."""
    manager = harness.Manager(BUILD / "controllers/kar-controllers", kubeconfig, bench.cluster.dir / "log/manager.log")
    manager.command = manager.command[:3]  # without -v
    manager.start()
    harness.wait_until(lambda: "Caches synced" in manager.tail(""), "the manager has synced")
    return manager


def seconds(stamp):
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def pod_spec():
    return {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "3600"],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}


def bare_pod():
    """What h2load posts: the size and fields of the pods that both controllers make."""
    labels = {f"kube-arbitrator.io/{k}": "some-value" for k in ("queuejob", "task", "index", "incarnation")}
    env = [{"name": f"KAR_{k}", "value": "17"} for k in ("QUEUEJOB", "TASK", "INDEX", "RANK", "WORLD_SIZE")]
    spec = pod_spec()
    spec["containers"][0]["env"] = env
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "raw-", "labels": labels}, "spec": spec}


def queue_job(size, **spec):
    return {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "QueueJob", "metadata": {"generateName": "q-"},
            "spec": spec | {"taskSpecs": [{"name": "w", "replicas": size, "template": {"spec": pod_spec()}}]}}


def kube_job(size):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "j-"},
            "spec": {"parallelism": size, "completions": size, "template": {"spec": pod_spec()}}}


class Bench:
    """A cluster of its own, set back to empty before every round. Unless it is as shipped, nothing limits how many requests per second
    its controllers and scheduler make: that would favour us."""

    def __init__(self, nodes, as_shipped=False):
        self.name = f"bench-{os.getpid()}"
        os.environ["KAR_CLUSTER_BENCH"] = "shipped" if as_shipped else "1"
        harness.run_cluster(self.name, "up", "--nodes", str(nodes), "--crds", str(harness.MANIFESTS / "crds"))
        exports = dict(re.findall(r"export (\w+)=(\S+)", harness.run_cluster(self.name, "env")))
        self.cluster = harness.Cluster(self.name, exports["KAR_CLUSTER_DIR"], True)
        self.fresh = True

    def round(self):
        """An empty cluster, with the manager's credentials installed."""
        if not self.fresh:
            harness.run_cluster(self.name, "reset")
        self.fresh = False
        kubeconfig = self.cluster.install()
        self.cluster.kubectl("create", "namespace", "bench")
        harness.wait_until(lambda: self.cluster.kubectl_for("bench").get("serviceaccount", "default"), "the namespace is usable")
        return kubeconfig

    def post(self, path, body, n, streams=32):
        """n creates of body through h2load; returns pods per second as h2load saw them."""
        server, token = self.credentials()
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(body, f)
            f.flush()
            out = subprocess.run(["h2load", "-n", str(n), "-c", "1", "-m", str(streams), "-d", f.name, "-H", f"authorization: Bearer {token}",
                                  "-H", "content-type: application/json", server + path], capture_output=True, text=True, check=True).stdout
        if f"{n} succeeded" not in out or f"{n} 2xx" not in out:
            raise SystemExit(f"h2load could not create {n} objects:\n{out}")
        return float(re.search(r"([\d.]+) req/s", out)[1])

    def credentials(self):
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "-o", "json"))
        return config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]

    def events(self):
        with self.cluster.audit_log.open("rb") as log:
            return [json.loads(line) for line in log if line.endswith(b"\n")]

    def wait_running(self, n, deadline=600):
        """Waits until n pods have become Running, by reading on in the audit log: a poll of the pods would cost the API server."""
        status_of = re.compile(rb'"resource":"pods","namespace":"bench","name":"([^"]+)"[^}]*"subresource":"status"')
        seen, rest, end = set(), b"", time.monotonic() + deadline
        with self.cluster.audit_log.open("rb") as log:
            while len(seen) < n:
                text, _, rest = (rest + log.read()).rpartition(b"\n")
                seen.update(status_of.findall(text))
                if time.monotonic() > end:
                    raise SystemExit(f"{len(seen)} of {n} pods ran within {deadline} s")
                time.sleep(0.2)

    def close(self):
        self.cluster.close()


def figures_of(events, begin):
    """From the audit log: when the last pod was created and bound, counted from the first request for a job."""
    created, bound = [], []
    for e in events:
        about = e.get("objectRef", {})
        if about.get("resource") != "pods" or about.get("namespace") != "bench" or e["responseStatus"].get("code", 500) >= 300:
            continue
        if e["verb"] == "create" and about.get("subresource") == "binding":
            bound.append(seconds(e["stageTimestamp"]))
        elif e["verb"] == "create" and not about.get("subresource"):
            created.append(seconds(e["stageTimestamp"]))
    return {"created": created, "bound": bound, "own": own_requests(events, begin)}


def own_requests(events, begin):
    """How many of each kind the manager made."""
    own = collections.Counter()
    for e in events:
        if e.get("userAgent", "").startswith(harness.USER_AGENT) and seconds(e["requestReceivedTimestamp"]) >= begin:
            about = e.get("objectRef", {})
            own[f"{e['verb']} {about.get('resource')}{'/' if about.get('subresource') else ''}{about.get('subresource', '')}"] += 1
    return own


def raw_ceiling(bench, report, n=2000):
    """B0: the same pods posted without any controller, the scheduler binding them meanwhile as in B1."""
    bench.round()
    rate = bench.post("/api/v1/namespaces/bench/pods", bare_pod(), n)
    created = figures_of(bench.events(), 0)["created"]
    result = {"bench": "b0", "pods": n, "h2load_per_s": rate, "create_rate": n / (max(created) - min(created))}
    report.line(**result)
    return result["create_rate"]


def submission_begins(events, resource):
    return min(seconds(e["requestReceivedTimestamp"]) for e in events
               if e.get("objectRef", {}).get("resource") == resource and e["verb"] == "create")
