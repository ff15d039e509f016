"""What the README and the examples promise to somebody who tries them."""

import contextlib
import pathlib
import re
import shlex
import subprocess
import tempfile

from harness import MANIFESTS, ROOT, Manager, SimulatedCluster, expect, expect_equal, wait_until

ENDS = {"failure-policy": ("Failed", "exit code 42 (Error); failurePolicy.rules[0] (FailJob)"), "sweep": ("Failed", "2 of 8 indexes have failed: unlucky 0-1")}  # the others: Completed
FIRST_JOB = re.compile(r"## The smallest job\n.*?```yaml\n(.*?)```\n.*?```sh\n(.*?)```", re.S)


@contextlib.contextmanager
def own_cluster(s, *options):
    """A simulated cluster as hack/quickstart.sh starts it, with the manager; other stories see nothing of it."""
    cluster = SimulatedCluster.open(s.cluster.binary, *options, pods_end=True)
    manager = Manager(s.manager.command[0], cluster.kubeconfig, cluster.dir / "log/kar-controllers.log")
    try:
        manager.start()
        yield cluster
        manager.stop()
    finally:
        if manager.alive():
            manager.kill()
        cluster.close()


def first_job():
    """The README's first job, the name of its file, and its commands."""
    found = FIRST_JOB.search((ROOT / "README.md").read_text())
    expect(found, "README.md has a section \"The smallest job\" with a block of yaml and one of sh")
    commands = [line.partition(" #")[0].strip() for line in found[2].splitlines() if line.strip()]
    expect(any(c.startswith("kubectl wait ") for c in commands), f"a command waits for the end of the job: {commands}")
    return found[1], re.search(r"-f (\S+)", "\n".join(commands))[1], commands


def run_commands(kubectl, folder, commands):
    """As typed in @folder, one after the other; a watch runs beside the others."""
    watches = []
    for command in commands:
        program, *args = shlex.split(command)
        expect_equal(program, "kubectl", f"program of {command}")
        typed = [*kubectl.base, *args]
        if {"-w", "--watch"} & set(args):
            watches.append(subprocess.Popen(typed, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            continue
        done = subprocess.run(typed, cwd=folder, capture_output=True, text=True, timeout=60)
        expect_equal((done.returncode, done.stderr), (0, ""), f"exit status and stderr of {command}, which printed {done.stdout}")
    for watch in watches:
        expect(watch.poll() is None, "the watch goes on until it is interrupted")
        watch.terminate()
        watch.wait()


def story_readme_first_job_ends(s):
    """The README's first job and its commands, word for word, in a simulated cluster as hack/quickstart.sh starts it: Completed."""
    text, file, commands = first_job()
    with own_cluster(s) as cluster, tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / file).write_text(text)
        run_commands(cluster.kubectl, folder, commands)
        phases = [j["status"]["phase"] for j in cluster.kubectl.list("queuejobs.kube-arbitrator.io")]
        expect_equal(phases, ["Completed"], "phase of the job when the commands are over")


def story_examples_end(s):
    """Every job of manifests/examples ends, as its comments and annotations say."""
    with own_cluster(s, "--speed", "20") as cluster:
        applied = [cluster.kubectl("apply", "-f", str(f), "-o", "name") for f in sorted((MANIFESTS / "examples").glob("*.yaml"))]
        names = re.findall(r"^queuejob\.\S+/(\S+)$", "".join(applied), re.M)
        expect(len(names) >= 6, f"jobs of manifests/examples: {names}")
        wait_until(lambda: all("completionTime" in j.get("status", {}) for j in cluster.kubectl.list("queuejobs.kube-arbitrator.io")),
                   f"the examples end: {', '.join(names)}", 60)
        for name in names:
            phase, message = ENDS.get(name, ("Completed", ""))
            status = cluster.kubectl.get("queuejobs.kube-arbitrator.io", name)["status"]
            expect_equal(status["phase"], phase, f"phase of example {name}, which says {status.get('message')}")
            expect(message in status.get("message", ""), f"{message!r} in the message of example {name}: {status.get('message')}")


def story_run_time_of_pods_is_chosen(s):
    """kar-sim serve --run: what is no time is refused; what has restartPolicy Always runs on."""
    for wrong in ("soon", "-1s", ""):
        done = subprocess.run([s.cluster.binary, "serve", "--run", wrong], capture_output=True, text=True, timeout=20)
        expect_equal((done.returncode, done.stderr), (2, f'kar-sim serve: --run: want a duration such as 10s or 1h30m, got "{wrong}"\n'), f"--run {wrong!r}")
    cluster = SimulatedCluster.open(s.cluster.binary, "--run", "10m", "--speed", "500", "--nodes", "1", pods_end=True)
    try:
        for name in ("Never", "Always"):
            cluster.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name.lower()},
                                   "spec": {"restartPolicy": name, "containers": [{"name": "a", "image": "x:1"}]}})
        wait_until(lambda: cluster.kubectl.get("pod", "never")["status"]["phase"] == "Succeeded", "the pod has run its time", 20)
        always = cluster.kubectl.get("pod", "always")["status"]
        expect_equal((always["phase"], always["containerStatuses"][0]["restartCount"]), ("Running", 0), "phase and restarts of the other pod")
    finally:
        cluster.close()
