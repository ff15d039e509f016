"""The kubectl plug-in: what it shows of jobs and queues, and what it changes. kubectl finds it in the PATH, as users have it."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import KEY, ROOT, expect, expect_equal, queuejob, task, wait_until
from stories.custom_controller import queue
from stories.documents import Shell, blocks


def built(s):
    return pathlib.Path(s.manager.command[0]).parents[1] / "kubectl-qj"


def plugin(s, command, *args, kubeconfig=None, fails=False):
    """kubectl qj COMMAND ARGS: its output; with fails=True what it says on stderr."""
    env = {**os.environ, "PATH": f"{built(s)}:{os.environ['PATH']}", "KUBECONFIG": str(kubeconfig or s.cluster.kubeconfig)}
    done = subprocess.run(["kubectl", "qj", command, "--namespace", s.namespace, *args], env=env, capture_output=True, text=True, timeout=60)
    expect(bool(done.returncode) == fails, f"kubectl qj {command} {' '.join(args)}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr if fails else done.stdout


def story_documented_plugin(s):
    """docs/KUBECTL.md: its commands work in their order."""
    shell = Shell(s)
    shell(f"mkdir -p {s.cluster.dir}/bin && cp {built(s)}/kubectl-qj {s.cluster.dir}/bin/")
    commands = next(text for language, text in blocks("docs/KUBECTL.md", "Try it") if language == "sh")
    for line in commands.splitlines():
        shell(f'export PATH="{s.cluster.dir}/bin:$PATH"; {line}')
    wait_until(lambda: not s.job("elastic") and not s.pods("elastic"), "nothing is left of it", 60)


def comparable(text, namespace):
    """The text with one space between its words, and without what differs from one run to the next."""
    words = re.sub(r"[ \t]+", " ", text.replace(f"{namespace}/", "default/"))
    return re.sub(r"\b\d+[smh](\d+[smh])?\b", "AGE", re.sub(r"\b(node|kwok|n)-?\d+\b", "NODE", words)).strip()


def story_plugin_prints_what_its_document_shows(s):
    """docs/KUBECTL.md: each command of "What it prints" prints the text below it."""
    shell, command, wrong = Shell(s), None, []
    # Those of stories before, which have ended, have a right to a part, and default has been used: it comes again with the first job.
    s.kubectl("delete", "queues.kube-arbitrator.io", "--all", "--timeout=60s")
    path = f'export PATH="{s.cluster.dir}/bin-{s.namespace}:$PATH"; '
    shell(f"mkdir -p {s.cluster.dir}/bin-{s.namespace} && cp {built(s)}/kubectl-qj {s.cluster.dir}/bin-{s.namespace}/")
    for language, text in blocks("docs/KUBECTL.md", "From other tools") + blocks("docs/KUBECTL.md", "What it prints"):
        if language == "sh":
            command, shown = text, shell(path + text)
        elif command:
            for _ in range(20):  # what a queue uses is written after a while
                if comparable(shown, s.namespace) == comparable(text, s.namespace) or not re.search("qj (list|why|who|tree|queues|top)", command):
                    break
                time.sleep(0.5)
                shown = shell(path + command)
            if comparable(shown, s.namespace) != comparable(text, s.namespace):
                wrong.append(f"{command}{shown}")
            command = None  # what follows without a command is the text of another story
    expect(not wrong, "other than in docs/KUBECTL.md:\n" + "\n".join(wrong))


def rows(text):
    """Cells by row, without ages."""
    return [[re.sub(r"^\d+[smhd].*", "AGE", cell) for cell in line.split("\t")] for line in text.splitlines()]


def job(name, in_queue, replicas=2, **spec):
    made = queuejob(name, task("worker", replicas, outcome="run"), **spec)
    made["spec"]["queue"] = in_queue
    return made


def story_plugin_shows_jobs_and_why_they_wait(s):
    """Two jobs in a queue for one: list, why, tree and queues say so, of the job and of its pod; text for programs has tabs."""
    with queue(s, maxJobs=1) as name:
        s.apply(job("first", name))
        s.wait_phase("first", "Running", running=2)
        s.apply(job("second", name))
        waits = f"queue {name} has 1 of 1 jobs; 1st of 1 in queue {name}"
        s.wait_phase("second", "Pending", message=waits)
        expect_equal(rows(plugin(s, "list")), [
            ["NAME", "PHASE", "QUEUE", "POS", "PODS", "REASON", "STARTS-IN", "AGE", "MESSAGE"],
            ["first", "Running", name, "-", "2/2", "-", "-", "AGE", "-"],
            ["second", "Pending", name, "1", "0/2", "MaxJobsReached", "-", "AGE", waits]], "kubectl qj list")
        expect_equal(plugin(s, "list", "-o", "name", "--field-selector=status.phase=Pending"), f"queuejob.{KEY}second\n", "names of those that wait")
        why = plugin(s, "why", "second")
        for words in (f"QueueJob {s.namespace}/second is Pending in queue {name}, 1st of 1 that wait, for ", f"  MaxJobsReached: {waits}", "  jobs: 1 of at most 1",
                      "What the queue has admitted:", f"  {s.namespace}/first  2 pods, 2 run"):
            expect(words in why, f"why lacks \"{words}\":\n{why}")
        s.shown.append(why)
        expect(plugin(s, "why", "pod/first-worker-0").startswith(f"QueueJob {s.namespace}/first is Running in queue {name}: 2 of 2 pods run\n"), "why of a pod")
        tree = plugin(s, "tree", "first")
        expect([line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in tree.splitlines()] ==
               ["queuejob first", "podgroup first", "task worker", "pod first-worker-0", "pod first-worker-1"], f"tree:\n{tree}")
        shown = [r[:4] for r in rows(plugin(s, "queues")) if r[0] == name]
        expect(shown and shown[0] == [name, "Open", "1", "1"], f"queues: {shown}")
        expect_equal(plugin(s, "why", "nobody", fails=True), f"error: no QueueJob and no PodGroup is called nobody in namespace {s.namespace}\n", "why of nobody")


def story_plugin_changes_jobs(s):
    """Suspend, resume, scale, restart, move and cancel are one write each; a dry run and an empty name change nothing; a wrong task is named; a full disk fails."""
    with queue(s, maxJobs=1) as name:
        s.apply(job("j", name, sched={"minAvailable": 1}))
        s.wait_phase("j", "Running", running=2)
        expect_equal(plugin(s, "suspend", "j", "--dry-run=server"), f"queuejob.{KEY}j suspended (server dry run)\n", "a dry run")
        expect(not s.job("j")["spec"].get("suspend"), "nothing has changed")
        plugin(s, "suspend", "j")
        s.wait_phase("j", "Suspended")
        plugin(s, "resume", "j")
        s.wait_phase("j", "Running", running=2)
        plugin(s, "scale", "j", "3")
        s.wait_phase("j", "Running", running=3)
        before = {p["metadata"]["uid"] for p in s.pods("j").values()}
        plugin(s, "restart", "j")
        wait_until(lambda: not before & {p["metadata"]["uid"] for p in s.pods("j").values()} and s.status("j").get("phase") == "Running", "all its pods are new", 60)
        expect(plugin(s, "scale", "j", "3", "--task", "nope", fails=True).startswith("error: no task nope: name one of its tasks with --task: worker"), "a wrong task")
        s.apply(job("waits", name))
        s.wait_phase("waits", "Pending", reason="MaxJobsReached")
        plugin(s, "move", "waits", "default")
        s.wait_phase("waits", "Running", running=2)
        # Neither a dry run nor an empty name, which a shell makes of an unset variable, deletes: the second would be the whole namespace.
        uids = {name: s.job(name)["metadata"]["uid"] for name in ("j", "waits")}
        expect_equal(plugin(s, "cancel", "j", "--dry-run=server"), f"queuejob.{KEY}j deleted (server dry run)\n", "a dry run of cancel")
        for words in (("cancel", ""), ("suspend", ""), ("scale", "", "1"), ("restart", ""), ("move", "", "default"), ("move", "j", ""), ("tree", ""), ("why", ""),
                      ("why", "pod/"), ("why", "podgroup/")):
            said = plugin(s, *words, fails=True)
            expect(said.startswith("error: a name is empty; usage: "), f"{words}: {said}")
        expect_equal({name: s.job(name)["metadata"]["uid"] for name in uids if "deletionTimestamp" not in s.job(name)["metadata"]}, uids, "both are there")
        full = subprocess.run(["bash", "-c", f"{built(s)}/kubectl-qj list -n {s.namespace} > /dev/full"], env={**os.environ, "KUBECONFIG": str(s.cluster.kubeconfig)}, capture_output=True, text=True)
        expect(full.returncode == 1 and "could be written" in full.stderr, f"a full disk: {full}")
        plugin(s, "cancel", "j")
        wait_until(lambda: not s.job("j") and not s.pods("j"), "nothing is left of it", 60)


def story_plugin_makes_jobs_and_waits_for_them(s):
    """create makes a job, or prints one that kubectl takes; wait returns when it runs, ends, fails, or when its time is over; names are completed."""
    made = plugin(s, "create", "c", "--image", "busybox:1.36", "--replicas", "2", "--min", "1", "--cpu", "100m", "--dry-run=client", "-o", "yaml", "--", "sleep", "5")
    s.kubectl("create", "-f", "-", stdin=made)
    expect_equal(s.job("c")["spec"]["schedSpec"]["minAvailable"], 1, "minimum of the job that was printed")
    expect_equal(plugin(s, "create", "d", "--image", "busybox:1.36", "--", "true"), f"queuejob.{KEY}d created\n", "create")
    expect_equal(s.job("d")["spec"]["taskSpecs"][0]["template"]["spec"]["containers"][0]["command"], ["true"], "its command")
    said = plugin(s, "create", "d", "--image", "busybox:1.36", fails=True)
    expect(said.startswith("Error from server (AlreadyExists): "), said)
    said = plugin(s, "create", "d", "--image", "busybox:1.36", "--cpu", "lots", fails=True)
    expect_equal(said, "error: --cpu lots: want an amount, as in 500m, 4 or 2Gi\n", "an amount that is none")
    expect_equal(plugin(s, "wait", "c", "--for=running", "--timeout=60s"), f"queuejob.{KEY}c Running\n", "it runs")
    s.apply(queuejob("good", task("worker", 2, outcome="succeed", after="2s")))
    progress = plugin(s, "wait", "good", "--progress", "--timeout=60s").splitlines()
    expect(progress[-1] == f"queuejob.{KEY}good Completed" and any(line.startswith("2 running, 0 of 2 succeeded  Running") for line in progress), f"progress: {progress}")
    s.apply(queuejob("bad", task("worker", 2, outcome="fail", after="1s"), backoffLimit=0))
    said = plugin(s, "wait", "bad", "--timeout=60s", fails=True)
    expect(said.startswith(f"error: queuejob.{KEY}bad has ended: Failed, "), said)
    said = plugin(s, "wait", "c", "--timeout=1s", fails=True)
    expect(said.startswith(f"error: timed out waiting for queuejob.{KEY}c to end: it is Running"), said)
    said = plugin(s, "wait", "nobody", fails=True)
    expect(said.startswith("Error from server (NotFound): "), said)
    said = plugin(s, "logs", "c", fails=True)  # simulated pods have none: test/node reads those of real ones
    expect(said.startswith("[c-worker-0] error: "), said)
    env = {**os.environ, "KUBECONFIG": str(s.cluster.kubeconfig)}
    asked = subprocess.run([built(s) / "kubectl-qj", "__complete", "--namespace", s.namespace, "why", ""], env=env, capture_output=True, text=True, timeout=60)
    expect_equal(asked.stdout.split(), ["bad", "c", "d", "good", ":4"], "jobs that a shell may complete")
    programs = s.cluster.dir / f"programs-{s.namespace}"
    programs.mkdir()
    for program in ("kubectl-qj", "kubectl_complete-qj"):
        (programs / program).symlink_to(built(s) / "kubectl-qj")
    asked = subprocess.run(["kubectl", "__complete", "qj", "why", "--namespace", s.namespace, "g"], env={**env, "PATH": f"{programs}:{env['PATH']}"},
                           capture_output=True, text=True, timeout=60)
    expect_equal(asked.stdout.split(), ["good", ":4"], f"what kubectl itself completes; {asked.stderr}")


def on_terminal(s, seconds, *args):
    """What the plug-in draws on a terminal of 100 columns until it ends, or until Ctrl-C after so many seconds."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(["setsid", "--ctty", built(s) / "kubectl-qj", *args], stdin=its, stdout=its, stderr=its,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell ignores it for what runs behind it
                               env={**os.environ, "KUBECONFIG": str(s.cluster.kubeconfig)})
    os.close(its)
    drawn, end = b"", time.monotonic() + seconds
    try:
        while process.poll() is None and time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                drawn += os.read(ours, 65536)
        if process.poll() is None:
            os.write(ours, b"\x03")
        return drawn.decode(), process.wait(10)
    except OSError:  # the other end is closed
        return drawn.decode(), process.wait(10)
    finally:
        process.kill()
        os.close(ours)


def story_plugin_draws_on_a_terminal(s):
    """top is drawn again after five seconds, until Ctrl-C; the bar of wait --progress is drawn over itself, and the last line stays."""
    s.apply(queuejob("good", task("worker", 2, outcome="succeed", after="3s")))
    drawn, status = on_terminal(s, 60, "wait", "good", "--progress", "--namespace", s.namespace)
    expect_equal(status, 0, f"exit status of wait: {drawn!r}")
    lines = drawn.replace("\r\n", "\n").split("\r\x1b[K")
    expect(lines[0] == "" and any(line == f"[{24 * '-'}] 2 running, 0 of 2 succeeded  Running" for line in lines), f"its bar: {lines}")
    expect(lines[-1].endswith(f"\nqueuejob.{KEY}good Completed\n"), f"its last line: {lines[-1]!r}")
    drawn, status = on_terminal(s, 7, "top")
    expect_equal((status, drawn.count("\x1b[H\x1b[J")), (-signal.SIGINT, 2), f"top is drawn twice and ended by Ctrl-C: {drawn!r}")
    expect(re.search(r"^NODE +STATE +FREE-PODS", drawn, re.M), drawn)


def story_plugin_watches_jobs(s):
    """list -w: the jobs that there are, then a row for each phase of one that is made and deleted, and no row twice."""
    s.apply(queuejob("old", task("worker", 1, outcome="run")))
    s.wait_phase("old", "Running", running=1)
    process = subprocess.Popen([built(s) / "kubectl-qj", "list", "-w", "--namespace", s.namespace], stdout=subprocess.PIPE, bufsize=0,  # select() sees no buffers
                               env={**os.environ, "KUBECONFIG": str(s.cluster.kubeconfig)})
    try:
        expect_equal([process.stdout.readline().decode().split("\t")[0] for _ in range(2)], ["NAME", "old"], "what there is at first")
        s.apply(queuejob("new", task("worker", 2, outcome="succeed", after="2s")))
        s.wait_phase("new", "Completed")
        s.kubectl("delete", "queuejob", "new")
        seen = []
        while not seen or seen[-1][1] != "Gone":
            expect(select.select([process.stdout], [], [], 30)[0], f"a row comes within 30 s of {seen}")
            seen.append(rows(process.stdout.readline().decode())[0])
        s.shown.append("\n".join("  ".join(row) for row in seen))
        phases = [row[1] for row in seen]
        expect(all(row[0] == "new" for row in seen) and phases[-2:] == ["Completed", "Gone"] and "Running" in phases, f"rows: {seen}")
        expect(all(one != other for one, other in zip(seen, seen[1:])), f"no row is there twice: {seen}")
    finally:
        process.kill()
        process.wait()
    s.kubectl("delete", "queuejob", "old")


def sized(replicas, cpu):
    made = task("w", replicas)
    made["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made


def story_plugin_says_what_would_happen(s):
    """what-if: a job that would start, one that waits with its position, one that never starts. Nothing of the questions is left, and no pod came of them."""
    def ask(replicas, cpu):
        path = s.cluster.dir / f"{s.namespace}.json"
        path.write_text(json.dumps(queuejob("asked", sized(replicas, cpu), queue=s.namespace)))
        return plugin(s, "what-if", "-f", str(path))

    def expect_answer(pattern, said):
        expect(re.match(pattern, said), f"{pattern} is said: {said}")
    with queue(s, capability={"cpu": "4"}):
        expect_answer(f"FitsNow: it would start at once in queue {s.namespace}\n$", ask(2, "1"))
        expect_answer("Never: Infeasible: .*cpu: 5 requested.*capability 4", ask(5, "1"))
        s.apply(queuejob("runs", sized(3, "1"), queue=s.namespace))
        s.wait_phase("runs", "Running", running=3)
        expect_answer(rf"Waits: QueueCapability: .*cpu: 2 requested, 1 of 4 free.*\n  position 1 in queue {s.namespace}", ask(1, "2"))
        expect_equal([j["metadata"]["name"] for j in s.kubectl.list("queuejobs.kube-arbitrator.io")], ["runs"], "jobs")
        expect_equal(len(s.kubectl.list("pods")), 3, "pods")
        left = queuejob("left", sized(1, "1"), queue=s.namespace, suspend=True)
        left["metadata"]["annotations"] = {KEY + "what-if": "true"}
        s.apply(left)
        wait_until(lambda: s.status("left").get("whatIf", {}).get("answer") == "FitsNow", "it is answered without the plug-in")
        wait_until(lambda: not s.job("left"), "it is deleted a minute after its creation", seconds=90)
        s.kubectl("delete", "queuejob", "runs", "--wait=true")


def story_plugin_converts_objects_of_other_tools(s):
    """What convert makes of each example is accepted by the API server, no field unknown; the MPIJob runs, and one of Kueue is in the queue of its LocalQueue."""
    for path in sorted((ROOT / "test/unit/data/convert").glob("*.yaml")):
        made = re.sub("namespace: team$", f"namespace: {s.namespace}", plugin(s, "convert", "-f", str(path)), flags=re.M)
        made = re.sub("^  name: team$", f"  name: {s.namespace}", made, flags=re.M)
        made = re.sub("^  parent: .*\n", "", made, flags=re.M)  # it is made by whoever makes queues
        s.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=made)
        if path.name == "mpi.yaml":
            s.kubectl("apply", "-f", "-", stdin=made.replace("queue: research", "queue: default"))
            s.wait_phase("pi", "Running", running=3)
            s.kubectl("delete", "queuejob", "pi", "--wait=false")
    said = plugin(s, "convert", "-f", str(ROOT / "manifests/deployment.yaml"), fails=True)
    expect("is not converted: Job of batch or of Volcano, JobSet, MPIJob, ClusterQueue and LocalQueue are" in said, said)


ELSEWHERE = """apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://kar.invalid:6443"}}]
users: [{name: u, user: %s}]
"""


def story_plugin_goes_where_kubectl_goes(s):
    """A proxy of the environment is asked, but not for this machine or for what NO_PROXY names; what a plug-in for credentials says is shown at once, and it runs once."""
    def run(user=None, **env):
        config = s.cluster.kubeconfig
        if user is not None:
            config = s.cluster.dir / f"{s.namespace}.elsewhere"
            config.write_text(ELSEWHERE % user)
            config.chmod(0o600)
        done = subprocess.run([built(s) / "kubectl-qj", "list", "-n", s.namespace], env={**os.environ, "KUBECONFIG": str(config), **env}, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr
    dead = {"HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": ""}
    expect_equal(run(**dead), (0, f"No jobs found in namespace {s.namespace}\n"), "this machine, with a dead proxy")
    status, said = run("{token: t}", **dead)
    expect(status == 1 and "127.0.0.1 port 1" in said, f"another machine, with a dead proxy: {said}")
    status, said = run("{token: t}", **{**dead, "NO_PROXY": "example.org,.invalid"})
    expect(status == 1 and "resolve host" in said and "kar.invalid" in said, f"a machine of NO_PROXY: {said}")
    helper = s.cluster.dir / f"{s.namespace}.helper"
    helper.write_text(f"#!/bin/sh\necho asked >> {helper}.log\necho 'open a browser, enter CODE-1' >&2\nsleep 1\nexit 1\n")
    helper.chmod(0o700)
    status, said = run("{exec: {apiVersion: client.authentication.k8s.io/v1, command: %s, interactiveMode: IfAvailable}}" % helper)
    expect(status == 1 and said.startswith("open a browser, enter CODE-1\nerror: "), f"a plug-in for credentials: {said}")
    expect_equal(pathlib.Path(f"{helper}.log").read_text(), "asked\n", "how often it ran")


def story_plugin_has_the_rights_of_its_user(s):
    """Who may read nothing gets the words of the API server; who may read jobs but no queues and no groups of others sees what he may."""
    s.apply(job("j", "default"))
    s.wait_phase("j", "Running", running=2)
    s.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}})
    config = s.cluster.dir / f"{s.namespace}.kubeconfig"
    config.write_text(s.cluster.token_kubeconfig(s.namespace, "reader"))
    config.chmod(0o600)
    said = plugin(s, "list", kubeconfig=config, fails=True)
    expect(said.startswith("Error from server (Forbidden): ") and f'cannot list resource "queuejobs" in API group "{KEY[:-1]}" in the namespace "{s.namespace}"' in said, said)
    as_reader = plugin(s, "list", "--as", f"system:serviceaccount:{s.namespace}:reader", fails=True)
    expect(as_reader.startswith("Error from server (Forbidden): ") and "reader" in as_reader, as_reader)
    s.kubectl("create", "role", "reader", "--verb=get,list", "--resource=queuejobs.kube-arbitrator.io,podgroups.scheduling.x-k8s.io")
    s.kubectl("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={s.namespace}:reader")
    wait_until(lambda: subprocess.run(["kubectl", "--kubeconfig", str(config), "get", "qj", "-n", s.namespace], capture_output=True).returncode == 0, "the role is in force")
    expect_equal(rows(plugin(s, "list", kubeconfig=config))[1][:5], ["j", "Running", "default", "-", "2/2"], "his jobs")
    s.kubectl("create", "clusterrole", f"{s.namespace}-queues", "--verb=get,list", "--resource=queues.kube-arbitrator.io")
    s.kubectl("create", "clusterrolebinding", f"{s.namespace}-queues", f"--clusterrole={s.namespace}-queues", f"--serviceaccount={s.namespace}:reader")
    try:
        wait_until(lambda: subprocess.run(["kubectl", "--kubeconfig", str(config), "get", "queues.kube-arbitrator.io"], capture_output=True).returncode == 0, "he may read queues")
        top = plugin(s, "top", kubeconfig=config)
        expect(top.startswith("QUEUE\tRESOURCE\t") and top.endswith("NODE\tSTATE\tFREE-PODS\tFREE-CPU\tFREE-MEMORY\n-\t-\t-\t-\t-\n"), top)
    finally:
        s.kubectl("delete", "clusterrole,clusterrolebinding", f"{s.namespace}-queues")
        wait_until(lambda: subprocess.run(["kubectl", "--kubeconfig", str(config), "get", "queues.kube-arbitrator.io"], capture_output=True).returncode, "he may not read queues")
    why = plugin(s, "why", "j", kubeconfig=config)
    expect("Queue default: you may not read it" in why, why)
