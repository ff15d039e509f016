"""Benchmarks of a QueueJob's life: repair, a full life, one large job, what a sync costs. Run by hack/bench/run."""

import collections
import http.client
import json
import math
import re
import ssl
import statistics
import subprocess
import time

import common
import harness
from common import Bench, kube_job, manager_of, own_requests, pod_spec, queue_job, raw_ceiling, seconds, submission_begins, usage_of

QUEUEJOBS = "/apis/kube-arbitrator.io/v1alpha1/namespaces/bench/queuejobs"
JOBS = "/apis/batch/v1/namespaces/bench/jobs"
PODS = "/api/v1/namespaces/bench/pods"
SIZE = 10  # of a gang in repair
PAUSE = 1  # s between one repair and the next: low load
HOUR = 3600


class Api:
    """Requests as admin on one connection."""

    def __init__(self, bench):
        server, self.token = bench.credentials()
        context = ssl.create_default_context(cafile=bench.cluster.dir / "certs/apiserver.crt")
        self.connection = http.client.HTTPSConnection(server.removeprefix("https://"), context=context)

    def __call__(self, verb, path, body=None, kind="application/json"):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        self.connection.request(verb, path, json.dumps(body) if body else None, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{verb} {path}: {answer.status} {text[:300]}")
        return json.loads(text)


class Ledger:
    """The audit log from now on, read as it grows."""

    def __init__(self, bench):
        self.log = bench.cluster.audit_log.open("rb")
        self.log.seek(0, 2)
        self.rest = b""
        self.events = []

    def read(self):
        text, _, self.rest = (self.rest + self.log.read()).rpartition(b"\n")
        self.events += [json.loads(line) for line in text.splitlines()]
        return self.events

    def pods(self, subresource=None):
        """(when it was answered, name) of pods created there, or bound with subresource binding."""
        return [(seconds(e["stageTimestamp"]), e["objectRef"].get("name", "")) for e in self.read()
                if e["verb"] == "create" and e["responseStatus"].get("code") == 201 and e["objectRef"].get("resource") == "pods"
                and e["objectRef"].get("namespace") == "bench" and e["objectRef"].get("subresource") == subresource]

    def failed(self, pod):
        """When the failure of the pod was written."""
        return next(seconds(e["stageTimestamp"]) for e in reversed(self.read()) if e["verb"] == "patch" and e["user"]["username"] == "admin"
                    and e["objectRef"].get("name") == pod)


def percentile(values, share):
    """The smallest value that so large a share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


# --- repair

def template(**notes):
    """Pods that go at once when they are deleted. What the nodes do must not take the time that is measured."""
    notes = {"stop-after": "1m"} | notes
    return {"metadata": {"annotations": {harness.TEST_KEY + k.replace("_", "-"): v for k, v in notes.items()}},
            "spec": pod_spec() | {"terminationGracePeriodSeconds": 0}}


def gangs(api, bench, resource, body, n):
    for i in range(n):
        body["metadata"] = {"name": f"gang-{i}"}
        api("POST", resource, body)
    bench.wait_running(n * SIZE)
    time.sleep(5)  # the last counters and events are out
    label = f"{harness.KEY}queuejob" if resource == QUEUEJOBS else "batch.kubernetes.io/job-name"
    pods = collections.defaultdict(list)
    for pod in api("GET", PODS)["items"]:
        pods[pod["metadata"]["labels"][label]].append(pod["metadata"]["name"])
    return [sorted(pods[f"gang-{i}"]) for i in range(n)]


def fail(api, pod, ago=0):
    """As a kubelet reports it. A kube Job counts its back-off from when the container ended: an hour ago means without one."""
    ended = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))
    state = {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": ended, "finishedAt": ended}}
    container = {"name": "main", "image": "busybox:1.36", "imageID": "", "ready": False, "started": False, "restartCount": 0, "state": state}
    api("PATCH", f"{PODS}/{pod}/status", {"status": {"phase": "Failed", "containerStatuses": [container]}}, "application/merge-patch+json")


def one_by_one(bench, api, victims, new_pods):
    """ms from each failure until the last of new_pods is created; no back-off."""
    took = []
    for pod in victims:
        ledger = Ledger(bench)
        fail(api, pod, ago=HOUR)
        harness.wait_until(lambda: len(ledger.pods()) >= new_pods, f"{pod} is replaced", 60)
        took.append(1000 * (ledger.pods()[new_pods - 1][0] - ledger.failed(pod)))
        time.sleep(PAUSE)
    return took


def side_by_side(bench, api, victims):
    """The same for repairs that take seconds: until a new pod of the same job is bound, which only then has a name."""
    ledger, begin = Ledger(bench), {}
    for pod in victims:
        fail(api, pod)
        begin[pod.rpartition("-")[0]] = ledger.failed(pod)
        time.sleep(0.1)
    harness.wait_until(lambda: len(ledger.pods("binding")) >= len(victims), "all are replaced", 120)
    return [1000 * (when - begin[name.rpartition("-")[0]]) for when, name in ledger.pods("binding")]


def told(report, who, how, took):
    figures = {"p50_ms": statistics.median(took), "p99_ms": percentile(took, 0.99), "max_ms": max(took)}
    report.line(bench="repair", who=who, lost=how, repairs=len(took), **figures)
    return figures


def repair_queuejobs(report, bench, n, repairs, loose):
    """Gangs of 10; with loose their quorum is 9, so that one pod is replaced alone."""
    manager = manager_of(bench, bench.round())
    api = Api(bench)
    body = queue_job(SIZE)
    body["spec"]["taskSpecs"][0]["template"] = template(start_after="500ms")
    if loose:
        body["spec"]["schedSpec"] = {"minAvailable": SIZE - 1}
    victims = [pods[i % SIZE] for i, pods in enumerate(gangs(api, bench, QUEUEJOBS, body, n)[:repairs])]
    took = one_by_one(bench, api, victims, 1 if loose else SIZE)
    manager.stop()
    how = "one pod, which is replaced" if loose else "one pod, the gang restarts"
    return told(report, "QueueJob", how, took)


def repair_jobs(report, bench, n, repairs):
    """A kube Job replaces single pods: by default after a back-off of 10 s, which a deletion has to wait for as well."""
    bench.round()
    api = Api(bench)
    body = kube_job(SIZE)
    body["spec"]["template"] = template(start_after="500ms")
    jobs = gangs(api, bench, JOBS, body, n)
    half = len(jobs) // 2  # a second failure of a job would be backed off
    slow = told(report, "Job", "one pod, replaced after the default back-off",
                side_by_side(bench, api, [pods[0] for pods in jobs[:half][:repairs]]))
    fast = told(report, "Job", "one pod, replaced without back-off", one_by_one(bench, api, [pods[0] for pods in jobs[half:][:repairs]], 1))
    return slow, fast


def repair(report, n, repairs):
    repairs = min(repairs, n)
    bench = Bench(nodes=max(4, n * SIZE // 200))
    try:
        slow, theirs = repair_jobs(report, bench, n, repairs)
        gang = repair_queuejobs(report, bench, n, repairs, False)
        ours = repair_queuejobs(report, bench, n, repairs, True)
    finally:
        bench.close()
    report.bar("gang_repair_p99_ms", gang["p99_ms"])
    report.bar("kube_job_backoff_to_gang_repair", slow["p50_ms"] / gang["p50_ms"])
    report.bar("pod_repair_of_kube_job", max(ours[k] / theirs[k] for k in ("p50_ms", "p99_ms")))


# --- life

def controller_manager(bench):
    """The pid of kube-controller-manager, which runs below a supervisor."""
    supervisor = (bench.cluster.dir / "pid/kube-controller-manager").read_text().strip()
    children = [int(p) for p in open(f"/proc/{supervisor}/task/{supervisor}/children").read().split()]
    return next(p for p in children if b"kube-controller-manager" in open(f"/proc/{p}/cmdline", "rb").read())


def gone(api, resource):
    return not any(api("GET", f"{path}?limit=1")["items"] for path in (resource, PODS))


def live(report, bench, kind, jobs, size, idle=20):
    kubeconfig = bench.round()
    manager = manager_of(bench, kubeconfig) if kind == "QueueJob" else None
    api = Api(bench)
    resource, body = (QUEUEJOBS, queue_job(size)) if kind == "QueueJob" else (JOBS, kube_job(size))
    spec = body["spec"]["taskSpecs"][0] if kind == "QueueJob" else body["spec"]
    spec["template"] = template(outcome="succeed", after="2s")
    body["spec"]["ttlSecondsAfterFinished"] = 0
    time.sleep(10)  # what starts with the cluster is over
    kcm = controller_manager(bench)
    before = usage_of(kcm)["cpu"]
    time.sleep(idle)
    idle_share = (usage_of(kcm)["cpu"] - before) / idle
    ours, theirs, begin = usage_of(manager.pid())["cpu"] if manager else 0, usage_of(kcm)["cpu"], time.monotonic()
    bench.post(resource, body, jobs)
    time.sleep(1)
    while not gone(api, resource):
        time.sleep(0.5)
        if time.monotonic() - begin > 300:
            raise SystemExit("not gone within 300 s")
    time.sleep(3)  # so are its traces
    span = time.monotonic() - begin
    figures = {"kcm_cpu_s": usage_of(kcm)["cpu"] - theirs - idle_share * span, "kcm_idle_share": idle_share, "gone_after_s": span - 3}
    if manager:
        events = bench.events()
        own = own_requests(events, submission_begins(events, "queuejobs"))
        figures |= {"cpu_s": usage_of(manager.pid())["cpu"] - ours, "own_requests_per_pod": sum(own.values()) / (jobs * size)}
        manager.stop()
    report.line(bench="life", kind=kind, jobs=jobs, size=size, **figures)
    if manager:
        report.line(bench="life", per_pod={kind: round(n / (jobs * size), 3) for kind, n in own.most_common()})
    return figures


def life(report, jobs, size):
    bench = Bench(nodes=max(4, jobs * size // 200))
    try:
        theirs = live(report, bench, "Job", jobs, size)
        ours = live(report, bench, "QueueJob", jobs, size)
    finally:
        bench.close()
    report.bar("own_requests_per_pod_of_a_life", ours["own_requests_per_pod"])
    report.bar("manager_cpu_s_per_1000_pods", 1000 * ours["cpu_s"] / (jobs * size))
    report.bar("kube_controller_manager_cpu_to_ours", theirs["kcm_cpu_s"] / ours["cpu_s"])


# --- big

def create_one(report, bench, kind, n):
    kubeconfig = bench.round()
    manager = manager_of(bench, kubeconfig) if kind == "QueueJob" else None
    api, ledger = Api(bench), Ledger(bench)
    resource, body = (QUEUEJOBS, queue_job(n)) if kind == "QueueJob" else (JOBS, kube_job(n))
    body["metadata"] = {"name": "big"}
    api("POST", resource, body)
    harness.wait_until(lambda: len(ledger.pods()) >= n, f"{n} pods are created", 600)
    begin = submission_begins(ledger.events, "queuejobs" if manager else "jobs")
    figures = {"create_rate": n / (ledger.pods()[-1][0] - begin)}
    if manager:
        bench.wait_running(n, 300)
        time.sleep(5)
        use = usage_of(manager.pid())
        status = api("GET", f"{resource}/big")["status"]
        figures |= {"cpu_s_until_running": use["cpu"], "rss_mib": use["rss_kib"] / 1024, "phase": status["phase"], "running": status["running"]}
        manager.stop()
    report.line(bench="big", kind=kind, pods=n, **figures)
    return figures


def big(report, n):
    bench = Bench(nodes=max(4, n // 200))
    try:
        ceiling = raw_ceiling(bench, report, n)
        ours = create_one(report, bench, "QueueJob", n)
        create_one(report, bench, "Job", n)
    finally:
        bench.close()
    report.bar("large_job_create_rate_of_b0", ours["create_rate"] / ceiling)


# --- sync

SCENES = ["idle", "creating", "lost", "succeeding", "shrinking", "restarting", "event"]


def instructions(program, scene, pods):
    out = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=world_sync", "--toggle-collect=world_change",
                          "--callgrind-out-file=/dev/null", program, scene, str(pods)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", out.stderr)[1])


def sync(report):
    target = "hack/bench/sync/sync_cost"
    subprocess.run(["ninja", "-C", common.BUILD, target], check=True, stdout=subprocess.DEVNULL)
    ratios = {}
    for scene in SCENES:
        small, large = (instructions(common.BUILD / target, scene, n) for n in (1000, 10000))
        ratios[scene] = large / small
        report.line(bench="sync", scene=scene, instructions_1k=small, instructions_10k=large, ratio=ratios[scene])
    report.bar("pod_event_instructions_10k_to_1k", ratios.pop("event"))
    report.bar("sync_instructions_10k_to_1k", max(ratios.values()))


def sched(report):
    target = "hack/bench/sched/sched_cost"
    subprocess.run(["ninja", "-C", common.BUILD, target], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([common.BUILD / target, "5000", "10000", "50000"], check=True, stdout=subprocess.PIPE, text=True).stdout
    small, twice, large = map(json.loads, out.splitlines())
    for figures in (small, twice, large):
        report.line(**figures)
    report.bar("gangs_of_10_pods_per_s", min(small["1000x10_pods_per_s"], large["1000x10_pods_per_s"]))
    report.bar("gangs_of_10_of_scan", small["1000x10_pods_per_s"] / small["scan_pods_per_s"])
    report.bar("reject_us", large["reject_us"])
    report.bar("node_update_us", small["node_update_us"])
    report.bar("node_update_when_nodes_double", twice["node_update_us"] / small["node_update_us"])
    report.bar("cold_class_ns_per_node", small["cold_class_ns_per_node"])
    report.bar("sched_bytes_per_node_16_hot", small["bytes_per_node"])


def racks(report):
    target = "hack/bench/sched/sched_cost"
    subprocess.run(["ninja", "-C", common.BUILD, target], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([common.BUILD / target, "--racks", "5000", "10000"], check=True, stdout=subprocess.PIPE, text=True).stdout
    small, twice = map(json.loads, out.splitlines())
    for figures in (small, twice):
        report.line(**figures)
    report.bar("racks_cold_10000_ms", small["cold_10000_ms"])
    report.bar("racks_pods_per_s", small["racks_pods_per_s"])
    report.bar("racks_pod_event_us", small["pod_event_us"])


def devices(report):
    target = "hack/bench/devices/devices_cost"
    subprocess.run(["ninja", "-C", common.BUILD, target], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([common.BUILD / target, "5000", "10000"], check=True, stdout=subprocess.PIPE, text=True).stdout
    small, twice = map(json.loads, out.splitlines())
    for figures in (small, twice):
        report.line(**figures)
    report.bar("class_of_40000_devices_ms", small["class_ms"])
    report.bar("slice_event_us", small["slice_event_us"])
    report.bar("slice_event_when_nodes_double", twice["slice_event_us"] / small["slice_event_us"])
    report.bar("bytes_per_device", small["bytes_per_device"])


def queue(report):
    target = "hack/bench/queue/queue_cost"
    subprocess.run(["ninja", "-C", common.BUILD, target], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([common.BUILD / target, "10000", "20000"], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = list(map(json.loads, out.splitlines()))
    for figures in lines:
        report.line(**figures)
    runs = {(f["waiting"], f["play"], f["shape"]): f for f in lines}
    pairs = [(runs[10000, play, shape], runs[20000, play, shape]) for play in ("full", "extras") for shape in ("flat", "3 levels")]
    report.bar("pass_ms", max(a["pass_ms"] for a, _ in pairs))
    report.bar("pass_when_groups_double", max(b["pass_ms"] / a["pass_ms"] for a, b in pairs))
    # What the queues and the cluster need is the same in both.
    report.bar("pass_bytes_per_group", max((b["bytes"] - a["bytes"]) / (b["waiting"] - a["waiting"]) for a, b in pairs))
