import json

from harness import expect, expect_equal, queuejob, task, wait_until
from stories.nodes import wait_until_alone


def story_creation_order(s):
    """Each job's minimum first, by task priority; then extras, which the queue allows both jobs."""
    s.manager.stop()
    for name, priority in (("first", 20), ("second", 10)):
        s.apply(queuejob(name, task("worker", 6, priority=1), task("leader", 2, priority=9),
                         sched={"minAvailable": 6, "priority": priority}))
    # One write after the other, so that the order in which the API server received them is the order of the manager.
    # The minimum of the first job lasts long enough for the second to be admitted.
    s.manager.start("--kube-api-qps=10", "--kube-api-burst=1")
    for name in ("first", "second"):
        s.wait_phase(name, "Running", running=8)
    minimum = ["leader-0", "leader-1", "worker-0", "worker-1", "worker-2", "worker-3"]
    want = [f"{job}-{pod}" for job in ("first", "second") for pod in minimum]
    extras = [f"{job}-worker-{i}" for i in (4, 5) for job in ("first", "second")]
    created = s.audit.pods_created(s.namespace)
    expect_equal((created[:len(want)], sorted(created[len(want):])), (want, sorted(extras)), "order of creation")


JOBS = [f"job{i}" for i in range(3)]


def ahead(created, begun=False):
    """The most by which a job was ahead of another one when it got an extra that the other wanted too. @begun: only of those that had one already."""
    counts, most = dict.fromkeys(JOBS, 0), 0
    wanted = {job: len([p for p in created if p.startswith(f"{job}-")]) for job in JOBS}
    for pod in created:
        own = pod.split("-")[0]
        counts[own] += 1
        most = max([most, *(counts[own] - counts[job] for job in JOBS if counts[job] < wanted[job] and (counts[job] or not begun))])
    return most


def story_minimum_by_priority_then_extras_in_turns(s):
    """With 20 requests a second: each job's minimum by priority before anybody's extras; jobs that want as many are not far apart."""
    def submit(replicas):
        for i, name in enumerate(JOBS):
            s.apply(queuejob(name, task("worker", replicas), sched={"minAvailable": 4, "priority": 30 - i}))

    s.manager.kill()
    submit(8)
    s.manager.start("--kube-api-qps=20")
    for name in JOBS:
        s.wait_phase(name, "Running", 60, running=8)
    created = s.audit.pods_created(s.namespace)
    expect_equal(created[:12], [f"{name}-worker-{i}" for name in JOBS for i in range(4)], "minima")
    s.manager.stop()
    submit(20)
    s.manager.start("--kube-api-qps=20")
    for name in JOBS:
        s.wait_phase(name, "Running", 60, running=20)
    extras = s.audit.pods_created(s.namespace)[24:]
    s.shown.append(f"extras at most {ahead(extras)} apart, {ahead(extras, begun=True)} when all had begun")
    expect(ahead(extras, begun=True) <= 2, f"extras in turns: {extras}")
    # Before the others have decided that they want extras too, the first to do so may have sent what its slow start allows.
    expect(ahead(extras) <= 6, f"extras in turns: {extras}")


def overtaken(s, name):
    """How many extras were created between the submission of that job and the last pod of its minimum, and how many after that."""
    submitted = next(e["requestReceivedTimestamp"] for e in s.audit.events(verb="create", resource="queuejobs", namespace=s.namespace, name=name))
    made = [(e["requestReceivedTimestamp"], e["objectRef"]["name"]) for e in s.audit.pod_creates(s.namespace) if e["responseStatus"]["code"] == 201]
    last = max(at for at, pod in made if pod.startswith(f"{name}-"))
    extras = [at for at, pod in made if pod.startswith("elastic-")]
    return len([at for at in extras if submitted < at < last]), len([at for at in extras if at > last])


def story_important_job_overtakes_waiting_extras(s):
    """300 extras wait for their creation, 20 requests a second: a job of higher priority has its minimum after at most 30 of them."""
    wait_until_alone(s)
    s.manager.kill()
    s.manager.start("--kube-api-qps=20")
    s.apply(queuejob("elastic", task("worker", 302), sched={"minAvailable": 2, "priority": 1}))
    wait_until(lambda: len(s.pods("elastic")) >= 12, "some extras exist", 60)
    s.kubectl("create", "-f", "-", stdin=json.dumps(queuejob("urgent", task("worker", 4), sched={"priority": 100})))
    s.wait_phase("urgent", "Running", 60, running=4)
    n, waited = overtaken(s, "urgent")[0], 302 - len(s.pods("elastic"))
    s.shown.append(f"{n} extras were created between its submission and its last pod; {waited} still waited then")
    expect(waited > 50, f"only {waited} extras still waited")
    expect(n <= 30, f"{n} extras were created before the minimum of the important job")


def story_important_job_overtakes_a_flood_of_extras(s):
    """No limit of requests: a job of higher priority that is submitted while 900 extras are being created has its minimum after at most 100 of them."""
    wait_until_alone(s)
    s.apply(queuejob("elastic", task("worker", 902), sched={"minAvailable": 2, "priority": 1}))
    wait_until(lambda: len(s.pods("elastic")) >= 12, "some extras exist", 60)
    s.kubectl("create", "-f", "-", stdin=json.dumps(queuejob("urgent", task("worker", 4), sched={"priority": 100})))
    s.wait_phase("urgent", "Running", 60, running=4)
    s.wait_phase("elastic", "Running", 120, running=902)
    n, waited = overtaken(s, "urgent")
    s.shown.append(f"{n} extras were created between its submission and its last pod; {waited} still waited then")
    expect(waited > 50, f"only {waited} extras still waited")
    expect(n <= 100, f"{n} extras were created before the minimum of the important job")
