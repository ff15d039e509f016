"""Many jobs wait behind a full queue, and then there is room for some. Run by hack/bench/run."""

import collections

import harness
from common import Bench, manager_of, own_requests, queue_job, seconds
from lifecycle import Api, Ledger, QUEUEJOBS

QUEUE = "/apis/kube-arbitrator.io/v1alpha1/queues/narrow"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/bench/podgroups"
POSITIONS = 100  # of so many groups the position is shown


def admitted(api):
    return sum(any(c["type"] == "Admitted" and c["status"] == "True" for c in g.get("status", {}).get("conditions", []))
               for g in api("GET", GROUPS)["items"])


def set_limit(api, n):
    api("PATCH", QUEUE, {"spec": {"maxJobs": n}}, "application/merge-patch+json")


def first_pods(ledger, n):
    """When the last of the next @n pods was created."""
    harness.wait_until(lambda: len(ledger.pods()) >= n, f"{n} pods are created", 120)
    return ledger.pods()[n - 1][0]


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
                                                "spec": {"maxJobs": 1}})
        ledger = Ledger(bench)
        bench.post(QUEUEJOBS, queue_job(1, queue="narrow"), waiting + 1)
        wait_settled(ledger, "all of them are told that they wait")
        api, ledger = Api(bench), Ledger(bench)  # the server has closed the idle connection
        set_limit(api, places + 1)
        last = first_pods(ledger, places)
        begin = next(seconds(e["requestReceivedTimestamp"]) for e in ledger.events if e["verb"] == "patch" and e["objectRef"].get("resource") == "queues"
                     and e["user"]["username"] == "admin")
        harness.wait_until(lambda: admitted(api) == places + 1, "all of them are admitted", 30)
        wait_settled(ledger, "nothing more is written")
        own = own_requests(ledger.read(), begin)
        manager.stop()
    finally:
        bench.close()
    writes = collections.Counter({k: n for k, n in own.items() if k.split()[0] in ("create", "patch", "update", "delete")})
    report.line(bench="room", waiting=waiting, places=places, last_pod_s=last - begin, **{k.replace(" ", "_"): n for k, n in sorted(writes.items())})
    report.bar("room_to_last_pod_s", last - begin)
    report.bar("own_writes_per_admitted_job", (sum(writes.values()) - POSITIONS) / places)
