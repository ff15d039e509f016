"""What the manager shows of itself: probes, metrics, its state; to whom; and that Prometheus understands it."""

import contextlib
import http.client
import json
import pathlib
import re
import resource
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.parse

from harness import MANIFESTS, ROOT, Failure, Manager, expect, expect_equal, queuejob, task, wait_until

CROWD = 5000  # connections to either address
WORDS = (b"", b"GET /metr", b"\x16\x03\x01\xff\xff\x00rubbish")  # what one of three says, each
LEADER = "--leader-elect", "--leader-elect-resource-namespace=kar-system"
ANY = ssl._create_unverified_context()  # the certificate is made at each start


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Doors:
    def __init__(self, insecure):
        self.metrics, self.health, self.insecure = free_port(), free_port(), insecure
        self.flags = [f"--metrics-bind-address=127.0.0.1:{self.metrics}", f"--health-probe-bind-address=127.0.0.1:{self.health}",
                      *(["--metrics-insecure"] if insecure else [])]

    def probe(self, path):
        """(status, text)"""
        return self.ask(http.client.HTTPConnection("127.0.0.1", self.health, timeout=5), "GET", path, {})

    def get(self, path, token=None, method="GET", body=None, context=ANY, **headers):
        to = http.client.HTTPConnection if self.insecure else http.client.HTTPSConnection
        options = {} if self.insecure else {"context": context}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return self.ask(to("127.0.0.1", self.metrics, timeout=15, **options), method, path, headers, body)

    @staticmethod
    def ask(connection, method, path, headers, body=None):
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def value(self, sample, token=None):
        """The number behind a sample, as it is printed; None: there is none."""
        status, text = self.get("/metrics", token)
        expect_equal(status, 200, "status of /metrics")
        found = re.search(rf"^{re.escape(sample)} (\S+)$", text, re.M)
        return float(found[1]) if found else None


@contextlib.contextmanager
def doors(s, insecure=True, *flags):
    """The manager, started anew, with both doors open."""
    d = Doors(insecure)
    s.manager.stop()
    s.manager.forget_log()
    s.manager.start(*d.flags, *flags)
    try:
        wait_until(lambda: is_ready(d), "the manager is ready")
        yield d
    finally:
        s.manager.stop()
        s.manager.start()


def is_ready(d):
    try:
        return d.probe("/readyz") == (200, "ok")
    except OSError:
        return False


def promtool(*args, text=None):
    expect(shutil.which("promtool"), "promtool is needed: hack/deps.sh test")
    done = subprocess.run(["promtool", *args], input=text, capture_output=True, text=True)
    expect_equal((done.returncode, done.stdout + done.stderr), (0, ""), f"promtool {' '.join(args)}")


def story_metrics_count_what_happened(s):
    """Probes say that the manager is alive and ready; a job of 3 pods with one restart has created 6; promtool has nothing to say."""
    with doors(s) as d:
        expect_equal(d.probe("/livez?verbose"), (200, "[+]loop ok\nlivez check passed\n"), "/livez?verbose")
        expect_equal(d.probe("/readyz?verbose"), (200, "[+]caches-synced ok\n[+]informers ok\nreadyz check passed\n"), "/readyz?verbose")
        expect_equal(d.value("kar_pods_created_total"), 0, "pods created before the job")
        s.apply(queuejob("gang", task("worker", 3)))
        s.wait_phase("gang", "Running", running=3)
        s.fail_pod("gang-worker-1", exit_code=7)
        s.wait_phase("gang", "Running", 60, running=3, restarts=1)
        s.apply(queuejob("waits", task("worker", 1), queue="nowhere"))
        wait_until(lambda: d.value('kar_pending_groups{queue="other",reason="QueueNotFound"}') == 1, "the group that waits is counted")
        wait_until(lambda: (d.value('kar_queue_usage{queue="default",resource="pods"}') or 0) >= 3, "what the queue holds is shown")
        for sample, want in (("kar_pods_created_total", 6), ("kar_queue_passes_unsettled_total", 0), ('kar_gang_restarts_total{cause="Failure"}', 1), ("kar_pods_replaced_total", 0),
                             ('kar_queuejobs{phase="Running"}', len([j for j in jobs(s) if j.get("phase") == "Running"])),
                             ("kar_caches_synced", 1), ('kar_informer_unreadable_objects{kind="QueueJob"}', 0),
                             ('leader_election_master_status{name="kar-controllers"}', 1)):
            expect_equal(d.value(sample), want, sample)
        for sample in ("kar_pods_deleted_total", 'kar_admission_attempts_total{result="admitted"}', "kar_admission_wait_seconds_count",
                       'workqueue_adds_total{name="queuejob"}', 'controller_runtime_reconcile_time_seconds_count{controller="queuejob"}',
                       "process_resident_memory_bytes", "process_cpu_seconds_total", 'kar_informer_objects{kind="Node"}'):
            expect((d.value(sample) or 0) > 0, f"{sample} is {d.value(sample)}")
        promtool("check", "metrics", text=d.get("/metrics")[1])
        expect(d.get("/metrics", Accept="application/openmetrics-text")[1].endswith("\n# EOF\n"), "OpenMetrics has an end")
        state = json.loads(d.get("/debug/state")[1])
        waits = [g for g in state["groups"] if g["group"] == f"{s.namespace}/waits"]
        expect_equal([(g["queue"], g["waits"]) for g in waits], [("nowhere", "QueueNotFound")], "what /debug/state says of the group that waits")
        unserved = {"JobSet", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "RayCluster", "RayJob", *(["Job"] if s.cluster.simulated else [])}
        expect_equal({c["kind"] for c in state["caches"] if not c["synced"]} - unserved, set(), "caches that are not synced, of kinds that the cluster serves")


def jobs(s):
    return [j.get("status", {}) for j in s.cluster.kubectl.list("queuejobs.kube-arbitrator.io", "--all-namespaces")]


def story_metrics_are_for_those_who_may(s):
    """401 without a valid token, 403 without the right, 200 with it; each path needs its own; no TLS before 1.2; no token in the log."""
    for account in ("reader", "debugger", "stranger"):
        s.kubectl("create", "serviceaccount", account)
    s.cluster.kubectl("apply", "-f", str(MANIFESTS / "metrics.yaml"))
    debug = f"debug-{s.namespace}"
    try:
        s.cluster.kubectl("create", "clusterrolebinding", f"metrics-{s.namespace}", "--clusterrole=kar-metrics-reader", f"--serviceaccount={s.namespace}:reader")
        s.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": debug},
                 "rules": [{"nonResourceURLs": ["/debug/state"], "verbs": ["get"]}, {"nonResourceURLs": ["/debug/flags/v"], "verbs": ["put"]}]})
        s.cluster.kubectl("create", "clusterrolebinding", debug, f"--clusterrole={debug}", f"--serviceaccount={s.namespace}:debugger")
        reader, debugger, stranger = (s.kubectl("create", "token", a).strip() for a in ("reader", "debugger", "stranger"))
        with doors(s, insecure=False) as d:
            check_rights(s, d, reader, debugger, stranger)
    finally:
        for kind, name in (("clusterrolebinding", f"metrics-{s.namespace}"), ("clusterrolebinding", debug), ("clusterrole", debug)):
            s.cluster.kubectl("delete", kind, name, "--ignore-not-found")


def check_rights(s, d, reader, debugger, stranger):
    wait_until(lambda: d.get("/metrics", reader)[0] == 200, "the reader may read metrics", 30)
    wait_until(lambda: d.get("/debug/state", debugger)[0] == 200, "the debugger may read the state", 30)
    for who, token, path, method, body, want in (
            ("nobody", None, "/metrics", "GET", None, 401), ("a bad token", "nonsense", "/metrics", "GET", None, 401),
            ("a stranger", stranger, "/metrics", "GET", None, 403), ("the reader", reader, "/metrics", "GET", None, 200),
            ("the reader", reader, "/debug/state", "GET", None, 403), ("the reader", reader, "/debug/flags/v", "PUT", "9", 403),
            ("the debugger", debugger, "/metrics", "GET", None, 403), ("the debugger", debugger, "/debug/flags/v", "PUT", "5", 200),
            ("the debugger", debugger, "/debug/flags/v", "PUT", "many", 400), ("anybody", reader, "/debug/pprof", "GET", None, 404)):
        expect_equal(d.get(path, token, method, body)[0], want, f"{method} {path} by {who}")
    wait_until(lambda: s.manager.said("Verbosity of the log set", "v=5"), "the log says that its verbosity was set")
    for version, works in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)):
        expect_equal(speaks(d, version), works, f"does it speak {version.name}?")
    log = s.manager.log.read_text()
    expect(not any(t in log for t in (reader, debugger, stranger)), "no token is in the log")
    left = d.value("kar_certificate_expiration_timestamp_seconds", reader) - time.time()
    expect(364 < left / 86400 <= 365, f"days for which the certificate that was made is valid: {left / 86400:.1f}")
    asked = len(s.audit.events(resource="tokenreviews"))
    for _ in range(20):
        d.get("/metrics", reader)
    expect_equal(len(s.audit.events(resource="tokenreviews")), asked, "questions to the API server after 20 more scrapes")


def speaks(d, version):
    context = ssl._create_unverified_context()
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = min(version, ssl.TLSVersion.TLSv1_1)
    context.maximum_version = version
    try:
        return d.get("/nothing", context=context)[0] == 404
    except ssl.SSLError:
        return False


def story_crowd_of_idle_connections_keeps_nobody_out(s):
    """10,000 connections that say nothing, half a request, or rubbish: probes answer within a second, a scrape too, and a job starts as before."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    expect(hard > 2 * CROWD + 200, f"the hard limit of open files is {hard}: ulimit -Hn {2 * CROWD + 1000}")
    with doors(s) as d, contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * CROWD + 1000), hard))
        for i, port in enumerate([d.health, d.metrics] * CROWD):
            one = stack.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=10)))
            with contextlib.suppress(OSError):  # it may be closed already, in favour of a newer one
                one.send(WORDS[i // 2 % len(WORDS)])
        slowest = 0
        for _ in range(20):
            begin = time.monotonic()
            expect_equal(d.probe("/livez"), (200, "ok"), "/livez in the crowd")
            expect_equal(d.get("/metrics")[0], 200, "status of /metrics in the crowd")
            slowest = max(slowest, time.monotonic() - begin)
        expect(slowest < 1, f"probe and scrape took up to {slowest:.1f} s")
        begin = time.monotonic()
        s.apply(queuejob("gang", task("worker", 3)))
        s.wait_phase("gang", "Running", 10, running=3)
        started = time.monotonic() - begin
        lag = dict(re.findall(r'^kar_loop_lag_seconds_(count|bucket\{le="1"\}) (\d+)$', d.get("/metrics")[1], re.M))
        turns = int(lag["count"]) - int(lag['bucket{le="1"}'])
        s.shown.append(f"probe and scrape took at most {slowest * 1000:.0f} ms, the start of a job {started:.1f} s; {turns} turns of the loop took longer than 1 s")
        expect(d.value("process_open_fds") < 1000, "descriptors are bounded")


def story_unread_answers_close_no_door(s):
    """330 connections that send 280 requests each and read no answer: a probe is answered within 3 s, and from then on within a second."""
    with doors(s) as d, contextlib.ExitStack() as stack:
        for _ in range(330):
            one = stack.enter_context(contextlib.closing(socket.socket()))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            one.settimeout(10)
            one.connect(("127.0.0.1", d.health))
            with contextlib.suppress(OSError):  # it may be closed already
                one.sendall(b"GET /livez?verbose HTTP/1.1\r\nHost: x\r\n\r\n" * 280)
        took = []
        for _ in range(20):
            begin = time.monotonic()
            expect_equal(d.probe("/livez"), (200, "ok"), "/livez beside answers that nobody reads")
            took.append(time.monotonic() - begin)
            time.sleep(0.2)
        s.shown.append(f"the first probe took {took[0] * 1000:.0f} ms, the slowest of the others {max(took[1:]) * 1000:.0f} ms")
        expect(took[0] < 3 and max(took[1:]) < 1, f"probes took {took}")


@contextlib.contextmanager
def replica(s, name):
    """A manager that wants to lead, with doors that ask for a token."""
    d = Doors(insecure=False)
    manager = Manager(s.manager.command[0], s.cluster.account_kubeconfig("kar-controllers"), s.cluster.dir / f"log/{s.namespace}-{name}.log", *d.flags)
    manager.start(*LEADER)
    try:
        wait_until(lambda: is_ready(d), f"replica {name} is ready")
        yield manager, d
        manager.stop()
    finally:
        if manager.alive():
            manager.kill()


def story_candidate_shows_that_it_waits(s):
    """Of two replicas both are ready and answer; one says that it leads, and counts; when it stops, the other one does."""
    s.kubectl("create", "serviceaccount", "reader")
    s.cluster.kubectl("apply", "-f", str(MANIFESTS / "metrics.yaml"))
    binding = f"metrics-{s.namespace}"
    s.cluster.kubectl("create", "clusterrolebinding", binding, "--clusterrole=kar-metrics-reader", f"--serviceaccount={s.namespace}:reader")
    token = s.kubectl("create", "token", "reader").strip()
    s.manager.stop()
    try:
        with replica(s, "one") as (first, one), replica(s, "two") as (_, two):
            values = [lambda sample, d=d: d.value(sample, token) for d in (one, two)]
            leads = 'leader_election_master_status{name="kar-controllers"}'
            wait_until(lambda: [v(leads) for v in values] == [1, 0], "the first one says that it leads, the second that it waits", 30)
            s.apply(queuejob("gang", task("worker", 2)))
            s.wait_phase("gang", "Running", running=2)
            expect_equal([v("kar_pods_created_total") for v in values], [2, 0], "pods that either has created")
            wait_until(lambda: values[1]('kar_queuejobs{phase="Running"}') == values[0]('kar_queuejobs{phase="Running"}'), "both have the same jobs")
            first.stop()
            wait_until(lambda: values[1](leads) == 1, "the second one says that it leads", 10)
    finally:
        s.cluster.kubectl("delete", "clusterrolebinding", binding)
        s.manager.start()


# ---- Prometheus ----

CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [rules.yaml]
scrape_configs:
- job_name: kar-controllers
  scheme: http
  static_configs: [{{targets: ["127.0.0.1:{port}"], labels: {{pod: kar-controllers-0}}}}]
"""


class Prometheus:
    def __init__(self, folder, metrics_port):
        expect(shutil.which("prometheus"), "prometheus is needed: hack/deps.sh test")
        self.port = free_port()
        folder = pathlib.Path(folder)
        text = (MANIFESTS / "monitoring/rules.yaml").read_text().split("\nspec:\n")[1]
        (folder / "rules.yaml").write_text(re.sub(r"^  ", "", text, flags=re.M))
        (folder / "prometheus.yaml").write_text(CONFIG.format(port=metrics_port))
        self.log = open(folder / "log", "w")
        self.process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def api(self, path, **query):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(query)}")
            answer = json.loads(connection.getresponse().read())
        if answer["status"] != "success":
            raise Failure(f"{path} {query}: {answer}")
        return answer["data"]

    def is_up(self):
        try:
            targets = self.api("targets")["activeTargets"]
        except (OSError, ValueError):
            return False
        return [t["health"] for t in targets] == ["up"]


def story_prometheus_reads_and_judges(s):
    """A real Prometheus scrapes the manager, evaluates the alerts, of which none fires, and every query of the dashboard."""
    with doors(s) as d, tempfile.TemporaryDirectory() as folder, contextlib.closing(Prometheus(folder, d.metrics)) as prometheus:
        wait_until(prometheus.is_up, "Prometheus has scraped the manager")
        gang = queuejob("gang", task("worker", 2))
        gang["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
        s.apply(gang)
        s.wait_phase("gang", "Running", running=2)

        def created():
            found = prometheus.api("query", query="kar_pods_created_total")["result"]
            return found and float(found[0]["value"][1]) == 2

        def evaluated():
            rules = [r for g in prometheus.api("rules")["groups"] for r in g["rules"]]
            return rules if rules and all(r["lastEvaluation"] > "0002" for r in rules) else None

        wait_until(created, "Prometheus knows that two pods were created")
        rules = wait_until(evaluated, "the alerts are evaluated")
        expect_equal({r["name"]: (r["health"], r["state"]) for r in rules},
                     {r["name"]: ("ok", "inactive") for r in rules}, "alerts")

        def empty():
            panels = json.loads((MANIFESTS / "monitoring/dashboard.json").read_text())["panels"]
            return {p["title"] for p in panels if not any(prometheus.api("query", query=t["expr"])["result"] for t in p["targets"])}

        # Nothing waits, unless Prometheus has looked in the moment before the gang was admitted; and nobody has used a device.
        quiet = {"Groups that wait, by queue and reason", "Longest wait by queue", "Device hours of a day by queue"}
        wait_until(lambda: empty() <= quiet, "all other panels have data")
        expect((ROOT / "docs/METRICS.md").is_file(), "the document that the dashboard is about")
