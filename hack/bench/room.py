"""Many jobs wait behind a full queue, and then there is room for some. Run by hack/bench/run."""

import collections

import harness
from common import Bench, manager_of, own_requests, queue_job, seconds
from lifecycle import Api, Ledger, PODS, QUEUEJOBS

QUEUE = "/apis/kube-arbitrator.io/v1alpha1/queues/narrow"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/bench/podgroups"
POSITIONS = 100  # of so many groups the position is shown


def admitted(api):
    return sum(any(c["type"] == "Admitted" and c["status"] == "True" for c in g.get("status", {}).get("conditions", []))
               for g in api("GET", GROUPS)["items"])


def end_all(api, pods):
    """As kubelets report it, one after the other."""
    for name in pods:
        api("PATCH", f"{PODS}/{name}/status", {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")


def first_pods(ledger, n):
    """When the last of the next @n pods was created."""
    harness.wait_until(lambda: len(ledger.pods()) >= n, f"{n} pods are created", 120)
    return ledger.pods()[n - 1][0]


def ended_at(ledger):
    """When each end was written."""
    return [seconds(e["requestReceivedTimestamp"]) for e in ledger.events if e["verb"] == "patch" and e["user"]["username"] == "admin"
            and e["objectRef"].get("resource") == "pods"]


def wait_settled(ledger, what):
    """Waits until the manager has written nothing for a while."""
    def quiet():
        n = len(ledger.read())
        harness.stopped.wait(5)
        return len(ledger.read()) == n
    harness.wait_until(quiet, what, 300)


def room(report, waiting, places):
    bench = Bench(nodes=20)
    try:
        manager = manager_of(bench, bench.round())
        api = Api(bench)
        api("POST", QUEUE.rpartition("/")[0], {"apiVersion": "kube-arbitrator.io/v1alpha1", "kind": "Queue", "metadata": {"name": "narrow"},
                                                "spec": {"maxJobs": places}})
        ledger = Ledger(bench)
        bench.post(QUEUEJOBS, queue_job(1, queue="narrow"), places)
        first_pods(ledger, places)
        bench.wait_running(places)
        running = [name for _, name in ledger.pods("binding")]
        bench.post(QUEUEJOBS, queue_job(1, queue="narrow"), waiting)
        wait_settled(ledger, "all of them are told that they wait")
        api, ledger = Api(bench), Ledger(bench)  # the server has closed the idle connection
        end_all(api, running)
        last = first_pods(ledger, places)
        begin = ended_at(ledger)
        harness.wait_until(lambda: admitted(api) == 2 * places, "all of them are admitted", 30)
        wait_settled(ledger, "nothing more is written")
        own = own_requests(ledger.read(), min(begin))
        manager.stop()
    finally:
        bench.close()
    writes = collections.Counter({k: n for k, n in own.items() if k.split()[0] in ("create", "patch", "update", "delete")})
    after = last - max(begin)
    report.line(bench="room", waiting=waiting, places=places, last_pod_s=after, **{k.replace(" ", "_"): n for k, n in sorted(writes.items())})
    report.bar("room_to_last_pod_s", after)
    report.bar("own_writes_per_admitted_job", (sum(writes.values()) - POSITIONS) / places)
