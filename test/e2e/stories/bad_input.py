"""What is wrong around the manager: said in words that name the remedy, waited for where waiting helps, nothing lost."""

import base64
import contextlib
import json
import os
import signal
import subprocess

from harness import MANIFESTS, audit_time, condition, expect, expect_equal, queuejob, task, wait_until

CRD = MANIFESTS / "crds/schedulingspecs.yaml"
CRD_NAME = "schedulingspecs.kube-arbitrator.io"


def read_fault(s, *words):
    """Waits for the log line about a resource that cannot be read; it says which, why, and what to do."""
    return wait_until(lambda: s.manager.said("Cannot list or watch a resource", *words), f"the log names {' '.join(words)}")


def install_crd(s):
    s.cluster.kubectl("apply", "--server-side", "-f", str(CRD))
    s.cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", str(CRD))


def story_missing_crd_is_waited_for(s):
    """A CRD is missing at the start, and later vanishes under the running manager: named, waited for, nothing lost."""
    try:
        s.manager.stop()
        s.manager.forget_log()
        s.cluster.kubectl("delete", "crd", CRD_NAME, "--timeout=60s")
        s.manager.start()
        line = read_fault(s, 'resource="schedulingspecs"', 'group="kube-arbitrator.io"')
        expect("kubectl apply -f manifests/crds/" in line, f"the log must say what to do: {line}")
        s.apply(queuejob("early", task("worker", 2)))
        install_crd(s)
        s.wait_phase("early", "Running", 60, running=2)

        pid = s.manager.pid()
        s.manager.forget_log()
        s.cluster.kubectl("delete", "crd", CRD_NAME, "--timeout=60s")
        read_fault(s, 'resource="schedulingspecs"')
        s.apply(queuejob("late", task("worker", 2)))
    finally:
        install_crd(s)
    s.wait_phase("late", "Running", 60, running=2)
    expect(s.manager.alive() and s.manager.pid() == pid, "the manager must have waited as the same process")
    expect_equal(s.status("early")["restarts"], 0, "restarts of the job that ran meanwhile")
    expect_equal(len(s.pods("early")), 2, "pods of the job that ran meanwhile")


def story_crd_of_a_former_version_is_named(s):
    """An old CRD drops status.record: the log names the remedy, the job is tried now and then, and runs once the CRD is there."""
    crd = MANIFESTS / "crds/queuejobs.yaml"
    record = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/record"
    s.manager.forget_log()
    try:
        s.cluster.kubectl("patch", "crd", "queuejobs.kube-arbitrator.io", "--type=json", "-p", json.dumps([{"op": "remove", "path": record}]))
        wait_until(lambda: drops_record(s), "the server drops the record")
        s.apply(queuejob("early", task("worker", 2)))
        line = wait_until(lambda: s.manager.said("drops a field of the status"), "the log names the cause")
        expect("kubectl apply -f manifests/crds/" in line, f"the log must say what to do: {line}")
    finally:
        s.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(crd))
    wait_until(lambda: s.status("early").get("record"), "the record is stored", 60)
    s.wait_phase("early", "Running", running=2)
    s.manager.stop()  # it names the cause only once
    s.manager.forget_log()
    s.manager.start()
    expect_equal(len(s.audit.pods_created(s.namespace)), 2, "number of pods created")


def drops_record(s):
    """The server serves a changed CRD a moment after it has accepted it."""
    name = "probe"
    s.apply(queuejob(name, task("worker", 1), suspend=True))
    s.kubectl("patch", "queuejob", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"record": {"digest": "0"}}}))
    dropped = "record" not in (s.job(name).get("status") or {})
    s.kubectl("delete", "queuejob", name)
    return dropped


@contextlib.contextmanager
def rules_changed(s, change):
    """The manager's ClusterRole without some rules; what it asks for meanwhile may be refused."""
    role = json.loads(s.cluster.kubectl("get", "clusterrole", "kar-controllers", "-o", "json"))
    begin = audit_time()
    try:
        s.cluster.kubectl("patch", "clusterrole", "kar-controllers", "--type=merge", "-p", json.dumps({"rules": change(role["rules"])}))
        yield
    finally:
        s.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(MANIFESTS / "rbac.yaml"))
        s.cluster.excused.append((begin, s.cluster.rbac_settled()))


def without(rules, resource, *verbs):
    """The rules without these verbs on the resource."""
    return [{**r, "verbs": [v for v in r["verbs"] if v not in verbs]} if r["resources"] == [resource] else r for r in rules]


def story_forbidden_verb_is_named(s):
    """RBAC lacks a verb: job and log name verb, resource and group; with the rule back the job runs."""
    s.manager.forget_log()
    with rules_changed(s, lambda rules: without(without(rules, "pods", "create"), "events", "create")):
        s.apply(queuejob("waits", task("worker", 2)))
        status = s.wait_phase("waits", "Pending", reason="Forbidden")
        expect('cannot create resource "pods" in API group ""' in status["message"], f"the job must name the rule: {status['message']}")
        wait_until(lambda: s.manager.said('cannot create resource \\"pods\\" in API group'), "the log names the rule")
        wait_until(lambda: s.manager.said("Events cannot be recorded", 'cannot create resource \\"events\\" in API group \\"events.k8s.io\\"'),
                   "the log says why there are no events")
    s.wait_phase("waits", "Running", 90, running=2, restarts=0)


def story_forbidden_list_is_named(s):
    """RBAC lacks list or watch when the manager starts: the log names them, and it goes on when they are granted."""
    s.manager.stop()
    s.manager.forget_log()
    for verb in ("list", "watch"):
        with rules_changed(s, lambda rules: without(rules, "priorityclasses", verb)):
            s.manager.start()
            line = read_fault(s, f'cannot {verb} resource \\"priorityclasses\\" in API group \\"scheduling.k8s.io\\"')
            expect("rbac.yaml" in line, f"the log must say what to do: {line}")
        wait_until(lambda: s.manager.said("Caches synced") and s.manager.said("Resource is readable again"), "the manager works", 60)
        s.manager.stop()
        s.manager.forget_log()
    s.manager.start()
    s.apply(queuejob("runs", task("worker", 1)))
    s.wait_phase("runs", "Running", 60, running=1)


def broken(name, **fields):
    """A job that the schema cannot refuse and nobody can run."""
    job = queuejob(name, task("worker", 2))
    spec = job["spec"]["taskSpecs"][0]["template"]["spec"]
    for field, value in fields.items():
        (spec["containers"][0] if field == "volumeMounts" else spec)[field] = value
    return job


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"x": value}
    return value


# name, what is wrong with the template, status.reason, words of status.message
UNRUNNABLE = [
    ("volume", {"volumeMounts": [{"name": "nowhere", "mountPath": "/data"}]}, "InvalidTemplate", 'Not found: "nowhere"'),
    ("class", {"priorityClassName": "nobody"}, "PriorityClassNotFound", "not in the queue until PriorityClass nobody exists"),
    ("affinity", {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}}, "InvalidTemplate", "nodeSelectorTerms"),
    ("deep", {"unknown": nested(300)}, "SpecInvalid", "nested deeper than"),
]


def why(s, name):
    """Reason and message, wherever they are shown first."""
    job = s.job(name) or {}
    shown = [(c["reason"], c["message"]) for c in job.get("status", {}).get("conditions", []) if c["type"] == "Invalid" and c["status"] == "True"]
    status = job.get("status", {})
    return [*shown, (status.get("reason"), status.get("message", ""))]


def story_unrunnable_job_says_why(s):
    """Jobs that the schema cannot refuse and nobody can run: each says why, disturbs nobody, and runs once it is mended."""
    rows = [row for row in UNRUNNABLE if row[0] != "deep" or not s.cluster.simulated]  # there the server refuses it already
    for name, fields, _, _ in rows:
        s.apply(broken(name, **fields))
    for name, _, reason, words in rows:
        wait_until(lambda: any(r == reason and words in m for r, m in why(s, name)), f"{name} says {reason}: ... {words} ...")
    s.apply(queuejob("sound", task("worker", 3, outcome="succeed")))
    s.wait_phase("sound", "Completed")
    for name, _, _, _ in rows:
        expect_equal(s.pods(name), {}, f"pods of {name}")
        s.apply(broken(name))
    for name, _, _, _ in rows:
        s.wait_phase(name, "Running", 90, running=2, restarts=0)
        expect(condition(s.job(name), "Invalid") != "True", f"{name} must not be called invalid any more")


def token(claims):
    return ".".join(["e30", base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("="), "x"])


def certificate(folder, name, days):
    """A certificate of its own and its key, valid until days from now; as base64."""
    key, request, cert = (folder / f"{name}.{kind}" for kind in ("key", "csr", "crt"))
    for command in (["req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request],
                    ["x509", "-req", "-in", request, "-signkey", key, "-days", str(days), "-out", cert]):
        subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)
    return tuple(base64.b64encode(p.read_bytes()).decode() for p in (cert, key))


def kubeconfig(good, cluster=None, user=None, **top):
    """The good one with other settings; None removes a setting."""
    def merged(old, new):
        return {k: v for k, v in {**old, **(new or {})}.items() if v is not None}

    config = json.loads(json.dumps(good))
    config["clusters"][0]["cluster"] = merged(config["clusters"][0]["cluster"], cluster)
    config["users"][0]["user"] = merged(config["users"][0]["user"], user)
    return json.dumps(merged(config, top))


def unusable(s, good, folder):
    """(what is wrong, the file's text, words of the message)"""
    expired, key = certificate(folder, "expired", -1)
    ca = good["clusters"][0]["cluster"].get("certificate-authority-data")
    return [
        ("empty", "", "current-context is not set"),
        ("not YAML", "a: [", "line"),
        ("binary", "\x7fELF\x02\x01\x01\x00", "control characters are not allowed"),
        ("a list", "- a", "want an object"),
        ("another kind", json.dumps({"kind": "Pod", "apiVersion": "v1"}), "Pod"),
        ("nested without end", "[" * 100000, "nested"),
        ("anchors that multiply", "a: &a [x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)), "alias"),
        ("no context chosen", kubeconfig(good, **{"current-context": None}), "current-context is not set"),
        ("an unknown context", kubeconfig(good, **{"current-context": "mars"}), 'context "mars" is not in'),
        ("no server", kubeconfig(good, {"server": None}), "has no server"),
        ("no URL", kubeconfig(good, {"server": "mars"}), "is no URL"),
        ("CA and insecure", kubeconfig(good, {"certificate-authority-data": ca or expired, "insecure-skip-tls-verify": True}), "remove one of them"),
        ("CA not base64", kubeconfig(good, {"certificate-authority-data": "%%%", "insecure-skip-tls-verify": None}), "not valid base64"),
        ("CA file missing", kubeconfig(good, {"certificate-authority": "/nonexistent/ca", "certificate-authority-data": None, "insecure-skip-tls-verify": None}),
         "/nonexistent/ca: No such file"),
        ("token and password", kubeconfig(good, user={"username": "u", "password": "p"}), "both token and username/password"),
        ("certificate without key", kubeconfig(good, user={"client-certificate-data": expired}), "no client-key"),
        ("expired certificate", kubeconfig(good, user={"client-certificate-data": expired, "client-key-data": key}), "client certificate expired at"),
        ("expired token", kubeconfig(good, user={"token": token({"exp": 1000000000})}), "token expired at 2001-09-09T01:46:40Z"),
        ("token with a line break", kubeconfig(good, user={"token": "a\nb"}), "token"),
    ]


def run_to_the_end(s, *args, **env):
    """Exit status and output of a manager that must not go on. What it has not freed by then is no leak."""
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **env}
    done = subprocess.run([s.manager.command[0], *args], capture_output=True, timeout=20, env=env)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


FLAGS = [
    (["--no-such-flag"], "unknown flag --no-such-flag; see --help"),
    (["-x"], "unknown flag -x"),
    (["run"], 'unexpected argument "run"'),
    (["--max-in-flight"], "flag --max-in-flight needs a value"),
    (["--max-in-flight=many"], 'want a whole number from 1 to 10000, got "many"'),
    (["--max-in-flight=0"], 'want a whole number from 1 to 10000, got "0"'),
    (["-v=99"], '-v: want a whole number from 0 to 10, got "99"'),
    (["--namespace", "Bad_NS"], '--namespace: want the name of a namespace: lower-case letters, digits and \'-\', at most 63, got "Bad_NS"'),
    (["--schedule-timeout=soon"], "want a duration"),
    (["--logging-format=xml"], "want text or json"),
    (["--config=/nonexistent/file"], "/nonexistent/file"),
    (["--keep-crds"], "unknown flag --keep-crds"),
    (["uninstall"], "uninstall is a command of the kubectl plug-in: kubectl qj uninstall"),
    (["--kubeconfig=/nonexistent/file"], "cannot read /nonexistent/file: No such file"),
    (["--kubeconfig=/"], "/"),
]


def story_unusable_configuration_ends_the_manager(s):
    """Flags and kubeconfigs that nobody can go on with: exit status 2 or 1, and one line that says what to change."""
    folder = s.cluster.dir / s.namespace
    folder.mkdir()
    good = json.loads(s.cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json", "--kubeconfig", s.manager.command[2]))
    runs = [(" ".join(args), args, words, {}, 1 if args[0].startswith("--kubeconfig") else 2) for args, words in FLAGS]
    config = folder / "config.yaml"
    config.write_text("apiVersion: config.kube-arbitrator.io/v1alpha1\nkind: KarControllersConfiguration\nkubeApiQsp: 20\n")
    runs.append(("unknown key", [f"--config={config}"], f"{config}: line 3, column 1: unknown key", {}, 2))
    runs.append(("no configuration", [], "no cluster is configured", {"HOME": "/nonexistent", "KUBECONFIG": ""}, 1))
    runs.append(("a list of files that are missing", [], "no file named by $KUBECONFIG exists", {"KUBECONFIG": "/nonexistent/a:/nonexistent/b"}, 1))
    for what, text, words in unusable(s, good, folder):
        path = folder / what.replace(" ", "-")
        path.write_text(text)
        runs.append((what, [f"--kubeconfig={path}"], words, {}, 1))
    wrong = []
    for what, args, words, env, want in runs:
        status, output = run_to_the_end(s, *args, **env)
        if status != want or words not in output or len(output.splitlines()) != 1:
            wrong.append(f"{what}: wanted status {want} and {words!r}, got status {status}: {output.strip()[:400]}")
    expect(not wrong, "\n".join(wrong))


def tls_faults(good, folder):
    """(what is wrong, the file's text, words of the log)"""
    other, _ = certificate(folder, "other", 30)
    server = good["clusters"][0]["cluster"]["server"]
    verify = {"insecure-skip-tls-verify": None}
    return [
        ("wrong CA", kubeconfig(good, {**verify, "certificate-authority": None, "certificate-authority-data": other}), "certificate"),
        ("wrong host name", kubeconfig(good, {"tls-server-name": "mars.example"}), "mars.example"),
        ("http to the https port", kubeconfig(good, {**verify, "certificate-authority-data": None, "certificate-authority": None,
                                                      "server": server.replace("https", "http")}), "HTTP request to an HTTPS server"),
        ("no server", kubeconfig(good, {"server": "https://127.0.0.1:1"}), "onnect"),
        ("unknown token", kubeconfig(good, user={"token": "stranger"}), "the credentials are not accepted"),
    ]


def story_connection_faults_are_named(s):
    """TLS and addresses that do not fit: the log says why, the process tries on and still stops in good order."""
    folder = s.cluster.dir / s.namespace
    folder.mkdir()
    good = json.loads(s.cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json", "--kubeconfig", s.manager.command[2]))
    for what, text, words in tls_faults(good, folder):
        path, log = folder / what.replace(" ", "-"), folder / f"{what.replace(' ', '-')}.log"
        path.write_text(text)
        with log.open("w") as out:
            process = subprocess.Popen([s.manager.command[0], "--kubeconfig", str(path)], stdout=out, stderr=out)
        try:
            told = ("Cannot list or watch", "API server unreachable", "API server not usable")
            wait_until(lambda: any(t in log.read_text() for t in told) and words in log.read_text(), f"{what}: the log says {words!r}", 20)
            expect(process.poll() is None, f"{what}: the manager must try on")
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(timeout=15)
        expect_equal(status, 0, f"{what}: exit status after SIGTERM")
        expect(len(log.read_text().splitlines()) < 60, f"{what}: the log must not be flooded:\n{log.read_text()}")
