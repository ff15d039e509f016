"""kubeflow/mpi-operator#868, #615: a launcher that waits for its workers starts too early when the job is resumed.

Input: task launcher depends on task worker (Running, two pods); the job is created suspended, resumed, suspended and resumed again.
Expected: each time the launcher's pod is younger than both workers run, and the job runs whole."""

from harness import expect, queuejob, task, wait_until


def case(s):
    s.apply(queuejob("mpi", {**task("launcher", 1), "dependsOn": [{"name": "worker"}]}, task("worker", 2), suspend=True))
    for _ in range(2):
        s.kubectl("patch", "queuejob", "mpi", "--type=merge", "-p", '{"spec":{"suspend":false}}')
        s.wait_phase("mpi", "Running", running=3)
        made = {p["metadata"]["name"]: p["metadata"]["creationTimestamp"] for p in s.kubectl.list("pods")}
        begun = [p["status"]["startTime"] for p in s.kubectl.list("pods") if "worker" in p["metadata"]["name"]]
        expect(made["mpi-launcher-0"] >= max(begun), f"the launcher is made after its workers run: {made} {begun}")
        s.kubectl("patch", "queuejob", "mpi", "--type=merge", "-p", '{"spec":{"suspend":true}}')
        wait_until(lambda: not s.pods("mpi"), "a suspended job has no pods")
