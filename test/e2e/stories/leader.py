"""Several managers, of which one leads: who takes over when, and that nobody writes who does not hold the lease."""

import contextlib
import json
import os
import signal
import time

from harness import audit_time, expect, expect_equal, queuejob, task, wait_until
from replicas import FLAGS, LEASE, NS, Replicas, freeze_until_followed, lease, replicas, seconds, stop_in_time
from stories.metrics import Doors

LEADS = f'leader_election_master_status{{name="{LEASE}"}}'


def expect_no_new_list(s, one, since):
    """But for kinds that this cluster does not serve: they are asked for now and then, since they may come."""
    lists = [e["requestURI"] for e in one.requests(s)
             if e["verb"] == "list" and e.get("responseStatus", {}).get("code") != 404 and seconds(e["requestReceivedTimestamp"]) > since]
    expect_equal(lists, [], "lists of the successor since it leads")


def job_after(s, name, pods=2):
    """A job that only the next leader sees work for."""
    s.apply(queuejob(name, task("worker", pods)))


def story_stopped_leader_is_followed_at_once(s):
    """SIGTERM to the leader while it creates 200 pods: it ends within 5 s, the successor's first write follows within 2 s, no pod twice, no new list."""
    with replicas(s, 2) as r:
        old = r.leader()
        new = next(x for x in r.all if x is not old)
        expect_equal(new.writes(s), [], "writes of the candidate")
        s.apply(queuejob("big", task("worker", 200)))
        wait_until(lambda: len(s.pods("big")) >= 20, "a part of the pods exists")
        end = stop_in_time(old)
        first = wait_until(lambda: new.first_write(s, 0), "the successor writes", 20)
        s.shown.append(f"first write of the successor {first - end:.2f} s after the old leader had ended")
        expect(first - end < 2, f"the successor's first write came {first - end:.2f} s after the end of the old leader")
        late = [e["requestURI"] for e in old.writes(s) if seconds(e["requestReceivedTimestamp"]) > first]
        expect_equal(late, [], "writes of the old leader after the first of the new one")
        s.wait_phase("big", "Running", 60, running=200, restarts=0)
        made = s.audit.pods_created(s.namespace)
        expect_equal(len(made), len(set(made)), "creates, and names created")
        expect_no_new_list(s, new, end)


def story_killed_leader_is_followed_within_17_seconds(s):
    """SIGKILL to the leader: the successor writes within 17 s, and not before 14.9 s after the last renewal."""
    with replicas(s, 2) as r:
        old = r.leader()
        new = next(x for x in r.all if x is not old)
        before = lease(s)["spec"]["renewTime"]
        wait_until(lambda: lease(s)["spec"]["renewTime"] != before, "the leader has just renewed")
        old.kill()
        killed = time.time()
        job_after(s, "next")
        first = wait_until(lambda: new.first_write(s, 0), "the successor writes", 30)
        renewed = max(seconds(e["requestReceivedTimestamp"]) for e in old.requests(s) if e.get("objectRef", {}).get("resource") == "leases")
        s.shown.append(f"first write of the successor {first - killed:.2f} s after SIGKILL, {first - renewed:.2f} s after the last renewal")
        expect(first - killed < 17, f"the successor's first write came {first - killed:.2f} s after SIGKILL")
        expect(first - renewed > 14.9, f"the successor's first write came {first - renewed:.2f} s after the last renewal")
        s.wait_phase("next", "Running", running=2)
        expect_no_new_list(s, new, killed)


def story_frozen_leader_writes_nothing_when_it_thaws(s):
    """SIGSTOP to the leader while it creates pods, SIGCONT when another leads: not one more write of it, and it ends with a reason."""
    with replicas(s, 2) as r:
        old = r.leader()
        new = next(x for x in r.all if x is not old)
        s.apply(queuejob("big", task("worker", 300)))
        wait_until(lambda: len(s.pods("big")) >= 20, "a part of the pods exists")
        os.kill(old.pid(), signal.SIGSTOP)
        frozen = time.time() + 0.5  # what it had sent is still under way
        wait_until(new.leads, "the other leads", 20)
        s.wait_phase("big", "Running", 60, running=300)
        s.kubectl("delete", "pod", "big-worker-7", "--wait=false")  # something to do for whoever leads
        os.kill(old.pid(), signal.SIGCONT)
        expect_equal(old.process.wait(timeout=10), 1, "exit status of the manager that lost the lease")
        expect("lost the lease" in old.log.read_text().splitlines()[-1], f"its last line: {old.log.read_text().splitlines()[-1]}")
        late = [(e["requestReceivedTimestamp"], e["verb"], e["requestURI"]) for e in old.writes(s) if seconds(e["requestReceivedTimestamp"]) > frozen]
        expect_equal(late, [], "writes of the frozen manager")
        expect_equal(len(set(s.audit.pods_created(s.namespace))), 300, "pods created")


@contextlib.contextmanager
def apiserver_hangs(s):
    pid = int((s.cluster.dir / "pid/kube-apiserver").read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def story_manager_ends_in_time_when_nobody_answers(s):
    """SIGTERM to leader and candidate while the API server hangs with writes in flight: both end within 5 s, and the lease stays with the leader until it is over."""
    with replicas(s, 2) as r:
        leader, before = r.leader(), lease(s)["spec"]
        s.apply(queuejob("big", task("worker", 300)))
        wait_until(lambda: len(s.pods("big")) >= 20, "a part of the pods exists")
        with apiserver_hangs(s):
            for one in r.all:
                one.process.send_signal(signal.SIGTERM)
            begin = time.time()
            for one in r.all:
                one.process.wait(timeout=10)
            expect(time.time() - begin < 5, f"they ended {time.time() - begin:.1f} s after SIGTERM")
        expect_equal(leader.process.returncode, 1, "exit status of the leader, whose writes were not answered")
        expect_equal(lease(s)["spec"]["holderIdentity"], before["holderIdentity"], "holder of the lease")
    s.wait_phase("big", "Running", 60, running=300)
    made = s.audit.pods_created(s.namespace)
    expect_equal(len(made), len(set(made)), "creates, and names created")


def story_nobody_gives_up_in_a_short_outage(s):
    """The API server hangs for 12 s: afterwards the same replica leads, both have run on, and the leader was silent, and said so in its metrics, when it could not renew."""
    with replicas(s, 1) as r:
        leader, d = r.leader(), Doors(insecure=True)
        leader.stop()
        leader.forget_log()
        leader.start(*FLAGS, *d.flags)
        r.wait_leader()
        r.add()
        before = lease(s)["spec"]
        expect_equal(d.value(LEADS), 1, "metric of the leader")
        with apiserver_hangs(s):
            time.sleep(12)
            expect_equal(d.value(LEADS), 0, "metric of a leader that may not write")
        wait_until(lambda: d.value(LEADS) == 1, "the leader may write again", 10)
        job_after(s, "next")
        s.wait_phase("next", "Running", running=2)
        time.sleep(8)
        expect(all(one.alive() for one in r.all), "both replicas still run")
        after = lease(s)["spec"]
        expect_equal((after["holderIdentity"], after["leaseTransitions"]), (before["holderIdentity"], before["leaseTransitions"]), "holder")
        expect(leader.said("could not be renewed in time"), "the leader says that it writes nothing")


def story_missing_right_to_leases_is_named(s):
    """Without the right to leases a manager says so once, with verb, resource and namespace, writes nothing, and leads within 40 s of the right being given."""
    binding = s.cluster.kubectl.list("rolebindings.rbac.authorization.k8s.io", "--all-namespaces")
    binding = next(b for b in binding if b["metadata"]["namespace"] == NS and b["metadata"]["name"] == "kar-controllers")
    s.manager.stop()
    begin = audit_time()
    s.cluster.kubectl("delete", "rolebinding", "kar-controllers", "--namespace", NS)
    r = Replicas(s)
    try:
        one = r.add()
        line = wait_until(lambda: one.said("obstacle"), "the manager says what it lacks")
        for word in ('verb="get"', "leases.coordination.k8s.io", f'namespace="{NS}"'):
            expect(word in line, f"{word} in the line: {line}")
        job_after(s, "waits")
        time.sleep(12)
        expect(one.alive(), "the manager still runs")
        expect_equal(one.writes(s), [], "its writes")
        expect_equal(one.log.read_text().count("obstacle"), 1, "lines about what it lacks")
        s.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({k: binding[k] for k in ("apiVersion", "kind", "roleRef", "subjects")} | {
            "metadata": {k: binding["metadata"][k] for k in ("name", "namespace", "labels")}}))
        wait_until(one.leads, "it leads", 40)
        s.wait_phase("waits", "Running", running=2)
        one.stop()
    finally:
        s.cluster.excused.append((begin, audit_time()))
        for one in [x for x in r.all if x.alive()]:
            one.kill()
        s.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "manifests/rbac.yaml")
        s.manager.start()


HOWS = "stop", "kill", "stop", "kill", "freeze", "kill", "stop", "kill", "stop", "kill"  # half of them without a warning, a tenth frozen
BARS = {"stop": 2, "kill": 17, "freeze": 17}  # s from the end of the old leader to the first write of the new one


def fail_over(s, r, how, number):
    """One; returns the s from the end of the old leader, or from the moment in which it froze, to the first write of the new one."""
    old = r.wait_leader()
    job_after(s, f"during-{number}", 20)
    wait_until(lambda: s.pods(f"during-{number}"), "the job has begun")
    if how == "stop":
        end = stop_in_time(old)
    elif how == "kill":
        old.kill()
        end = time.time()
    job_after(s, f"after-{number}")
    if how == "freeze":
        end = freeze_until_followed(r, old)
    new = r.wait_leader()
    first = wait_until(lambda: new.first_write(s, end - 1), "the new leader writes", 20)
    r.all.remove(old)
    r.add()
    for name in (f"during-{number}", f"after-{number}"):
        s.wait_phase(name, "Running", 60, restarts=0)
        s.kubectl("delete", "qj", name, "--wait=false")
    late = [e["requestURI"] for e in old.writes(s) if seconds(e["requestReceivedTimestamp"]) > first]
    expect_equal(late, [], f"writes of the old leader after the first of the new one, fail-over {number}")
    return first - end


def story_fail_overs_under_load(s):
    """One fail-over after the other while jobs come and go: KAR_FAILOVERS of them (1), half by SIGKILL, a tenth by SIGSTOP and SIGCONT; no pod is made twice, no gang restarted."""
    n = int(os.environ.get("KAR_FAILOVERS", "1"))
    times = {how: [] for how in BARS}
    with replicas(s, 3) as r:
        for number in range(n):
            how = HOWS[number % len(HOWS)]
            times[how].append(fail_over(s, r, how, number))
    made = s.audit.pods_created(s.namespace)
    for how, found in times.items():
        found.sort()
        if found:
            s.shown.append(f"{len(found):3} x {how:6} median {found[len(found) // 2]:6.2f} s, longest {found[-1]:6.2f} s to the first write of the successor (bar {BARS[how]} s)")
    s.shown.append(f"{n} fail-overs, {len(made)} pods created, {len(made) - len(set(made))} of them twice, 0 gangs restarted")
    expect_equal(len(made), len(set(made)), "creates, and names created")
    for how, found in times.items():
        expect(not found or found[-1] < BARS[how], f"longest time to the first write of a successor after {how}: {found[-1:]} s")
