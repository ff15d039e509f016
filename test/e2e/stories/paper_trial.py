"""kar-sim run --from-cluster: what would happen on this cluster if something were changed."""

import json
import pathlib
import subprocess
import tempfile

from harness import expect, expect_equal, queuejob, task, wait_until
from stories.metrics import doors

HEAD = {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Scenario"}


def kar_sim(s, *args, begin=("--from-cluster",)):
    """(exit status, stdout, stderr) of kar-sim run, which is built beside the manager."""
    binary = pathlib.Path(s.manager.command[0]).parents[1] / "sim/kar-sim"
    done = subprocess.run([str(binary), "run", *map(str, begin), *map(str, args)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def play(s, change, *begin):
    """The report on what becomes of the cluster with this change; its jobs of our namespace by name."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({**HEAD, **change}, file)
        file.flush()
        status, out, said = kar_sim(s, file.name, "-o", "json", begin=begin or ("--from-cluster", "--kubeconfig", s.cluster.kubeconfig))
    expect_equal(status, 0, f"exit status of kar-sim run, which said {said!r}")
    report = json.loads(out)
    return report, {j["name"]: j for j in report["jobs"] if j["namespace"] == s.namespace}


def waited(job, low, high):
    seconds = None if job["running"] is None else job["running"] - job["submitted"]
    expect(seconds is not None and low <= seconds <= high, f"{job['name']} waits {low} to {high} s, not {seconds}; it is {job}")


def set_up(s):
    """One job runs, two wait for it (the younger one with a higher priority), one has ended; the last node takes no pods."""
    queue = {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": s.namespace}, "spec": {"maxJobs": 1}}
    s.apply(queue)
    s.apply(queuejob("ended", task("w", 1, outcome="succeed"), queue=s.namespace))
    s.wait_phase("ended", "Completed")
    for name, phase, priority in (("runs", "Running", 0), ("modest", "Pending", 0), ("urgent", "Pending", 7)):
        s.apply(queuejob(name, task("w", 2, outcome="succeed", after="3600s"), queue=s.namespace, sched={"priority": priority}))
        s.wait_phase(name, phase)
    wait_until(lambda: s.status("urgent").get("position") == 1 and s.status("modest").get("position") == 2, "both have their place in line")


def tidy_up(s, node):
    s.cluster.kubectl("uncordon", node)
    s.kubectl("delete", "queuejobs", "--all", "--wait=true")
    s.cluster.kubectl("delete", "queues.kube-arbitrator.io", s.namespace)


def story_paper_trial(s):
    """A change of a queue is tried on paper, from the cluster as it is, which does not notice."""
    node = sorted(n["metadata"]["name"] for n in s.kubectl.list("nodes"))[-1]
    try:
        set_up(s)
        s.cluster.kubectl("cordon", node)
        before = s.uids("runs")
        report, jobs = play(s, {})
        expect_equal(sorted(jobs), ["modest", "runs", "urgent"], "jobs on paper: those that have not ended")
        waited(jobs["runs"], 0, 10)
        waited(jobs["urgent"], 3590, 3700)
        waited(jobs["modest"], 7190, 7400)
        expect_equal(jobs["modest"]["phase"], "Completed", "phase of modest in the end")
        down = {n["name"]: [d["phase"] for d in n["down"]] for n in report["nodes"]}
        expect_equal(down, {n: ["Cordoned"] if n == node else [] for n in down}, "what is wrong with the nodes")
        expect(not any(p["node"] == node for p in report["pods"]), f"no pod on {node}")
        _, jobs = play(s, {"queues": [{"name": s.namespace, "spec": {"maxJobs": 2}}],
                           "jobs": [{"name": "idea", "namespace": s.namespace, "at": "2h", "duration": "5m"}]})
        waited(jobs["urgent"], 0, 10)
        waited(jobs["modest"], 3590, 3700)
        waited(jobs["idea"], 0, 10)
        expect_equal(s.uids("runs"), before, "pods of the cluster itself")
        expect_equal(s.job("idea"), None, "the job that was only on paper")
        expect_equal(s.kubectl.get("queues.kube-arbitrator.io", s.namespace)["spec"]["maxJobs"], 1, "maxJobs of the queue itself")
    finally:
        tidy_up(s, node)


def story_paper_trial_from_a_state(s):
    """The same from what the manager says of itself: nodes, room, queues and jobs, for who has no access to the cluster."""
    node = sorted(n["metadata"]["name"] for n in s.kubectl.list("nodes"))[-1]
    try:
        set_up(s)
        s.apply(queuejob("large", {**task("w", 2, outcome="succeed", after="3600s"), "template": {"spec": {
            "nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"key": "a", "operator": "Exists"}],
            "containers": [{"name": "main", "image": "busybox:1.36", "env": [{"name": "PASSWORD", "value": "very-secret"}],
                            "resources": {"requests": {"cpu": "40"}}}]}}}))
        s.cluster.kubectl("cordon", node)
        with tempfile.TemporaryDirectory() as folder, doors(s) as d:
            wait_until(lambda: s.status("large").get("reason") in ("NoFit", "Infeasible"), "large waits for room")
            state = pathlib.Path(folder) / "state.json"
            state.write_text(d.get("/debug/state")[1])
            expect("very-secret" not in state.read_text(), "the state has no environment of pods")
            report, jobs = play(s, {"events": [{"at": "30s", "uncordon": node}]}, "--from-state", state)
            expect_equal(sorted(jobs), ["large", "modest", "runs", "urgent"], "jobs on paper")
            waited(jobs["runs"], 0, 10)
            expect(jobs["large"]["phase"] != "Completed", f"two pods of 40 CPUs on one node of 64: {jobs['large']}")
            expect({n["name"] for n in report["nodes"]} == {n["metadata"]["name"] for n in s.kubectl.list("nodes")}, "nodes on paper")
            for text, words in (("{}", "there is no member cluster"), ("[", "unexpected end of JSON input")):
                state.write_text(text)
                status, out, said = kar_sim(s, begin=("--from-state", state))
                expect((status, out) == (1, "") and words in said and said.count("\n") == 1, f"of {text}: {status} {said!r}")
    finally:
        tidy_up(s, node)


def refused(s, words, kubeconfig):
    status, out, said = kar_sim(s, "--kubeconfig", kubeconfig)
    expect_equal((status, out), (1, ""), f"exit status and report of kar-sim run, which said {said!r}")
    for word in words:
        expect(word in said and said.startswith("kar-sim run: cannot read the cluster: ") and said.count("\n") == 1, f"{word!r} in {said!r}")


def story_paper_trial_of_a_cluster_that_is_not_there(s):
    """Who is not reached is named."""
    with tempfile.TemporaryDirectory() as folder:
        nobody = pathlib.Path(folder) / "kubeconfig"
        nobody.write_text("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                          "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n")
        refused(s, ["127.0.0.1"], nobody)
        refused(s, ["absent", "No such file or directory"], nobody.with_name("absent"))


def story_paper_trial_without_permission(s):
    """Who may not list the nodes is told so."""
    s.kubectl("create", "serviceaccount", "reader")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kubeconfig"
        file.write_text(s.cluster.token_kubeconfig(s.namespace, "reader"))
        file.chmod(0o600)
        refused(s, ["list nodes", "forbidden"], file)
