"""What must hold of a run. Pure: from what was wanted, what was recorded, and the audit log, to sentences about what was wrong.

Each function returns [] if its invariant holds."""

import collections

WRITES = ("create", "update", "patch", "delete", "deletecollection")
DEADLINE = 10  # s; --leader-elect-renew-deadline
GAP = 10  # s around an outage of which a record may lack a pod that was gone again
SLACK = 1  # s; the API server notes when it received a request, the manager counts from when it began one
FIRST_WRITE = {"stop": 2, "unclean": 17, "kill": 17, "freeze": 17}  # s from the end of a leader to the first write of its successor


def jobs_ended(wanted, record):
    """Each job has completed, with as many successes as it has pods."""
    wrong = []
    for name, job in wanted.items():
        status = record.jobs.get(name, {})
        got = status.get("phase"), status.get("succeeded", 0)
        if got != ("Completed", len(job.indexes())):
            wrong.append(f"{name} is {got[0]} with {got[1]} of {len(job.indexes())} pods succeeded")
    return wrong


def each_index_once(wanted, record):
    """Exactly the indexes of a job have succeeded, each in one pod: no work is lost, none done twice. A gang that was restarted as a whole
    does all of it again, once."""
    done = collections.defaultdict(collections.Counter)
    for pod in record.pods.values():
        if "Succeeded" in pod.was:
            again = record.jobs.get(pod.job, {}).get("restarts", 0)
            done[pod.job][(pod.task, pod.index, pod.incarnation if again else 0)] += 1
    wrong = []
    for name, job in wanted.items():
        found = {(task, index) for task, index, _ in done[name]}
        lost, twice = job.indexes() - found, sorted(i for i, n in done[name].items() if n > 1)
        foreign = found - job.indexes()
        wrong += [f"{name}: {what} {sorted(which)}" for what, which in (("nobody did", lost), ("done twice:", twice), ("nobody asked for", foreign)) if which]
    return wrong


def no_twins(record):
    """No index had two pods at a time."""
    return [f"{name} lived twice at a time: {a}, {b}" for name, a, b in record.twice]


def record_is_complete(record, creates):
    """What the audit log says was created has been seen, else the other invariants prove nothing. @creates: without those of the moments
    in which the API server was away, after which only a list says what there is; the log lacks what it had not written when it was killed."""
    seen = collections.Counter(pod.name for pod in record.pods.values())
    return [f"{name} was created {n} times, and seen {seen[name]} times" for name, n in creates.items() if n > seen[name]]


def restarts_have_a_cause(wanted, record, hit):
    """A job restarts, or makes a pod again, only if a node was lost that had a pod of it. @hit: names of these jobs."""
    made = collections.Counter(pod.job for pod in record.pods.values())
    wrong = []
    for name, job in wanted.items():
        status = record.jobs.get(name, {})
        restarts, again = status.get("restarts", 0), made[name] - len(job.indexes())
        if name not in hit and (restarts or again):
            wrong.append(f"{name}: {restarts} restarts, {again} pods made again, and no node of it was lost: {status.get('lastRestart')}")
    return wrong


class Ledger:
    """The part of the audit log that is about managers. @events: as Audit.events() returns them; @who: the id of a process by an event, or None."""

    def __init__(self, events, who, seconds):
        self.all = []  # (time, process, whether it wrote the lease, event)
        for event in events:
            process = who(event)
            if process is not None and event["verb"] in WRITES:
                lease = event.get("objectRef", {}).get("resource") == "leases"
                self.all.append((seconds(event["requestReceivedTimestamp"]), process, lease, event))
        self.all.sort(key=lambda one: one[0])

    def renewals(self):
        return [(at, process) for at, process, lease, e in self.all if lease and e["responseStatus"]["code"] < 300]

    def writes(self):
        return [(at, process, e) for at, process, lease, e in self.all if not lease]

    def creates(self, namespace, away=()):
        """name -> times; @away: [(begin, end)] that are left out."""
        return collections.Counter(e["objectRef"]["name"] for at, _, e in self.writes() if e["verb"] == "create" and e["responseStatus"]["code"] == 201
                                   and not any(begin - GAP < at < end + GAP for begin, end in away)
                                   and (e["objectRef"]["resource"], e["objectRef"].get("subresource", ""), e["objectRef"].get("namespace")) == ("pods", "", namespace)
                                   and "dryRun=All" not in e["requestURI"])


def only_the_holder_writes(ledger):
    """A write comes from the process that wrote the lease last, not later than its deadline after that."""
    wrong, holder, renewed = [], None, 0
    for at, process, lease, event in ledger.all:
        if lease and event["responseStatus"]["code"] < 300:
            holder, renewed = process, at
        elif not lease and process != holder:
            wrong.append(f"process {process} wrote {event['verb']} {event['requestURI']} while {holder} held the lease")
        elif not lease and at > renewed + DEADLINE + SLACK:
            wrong.append(f"process {process} wrote {event['verb']} {event['requestURI']} {at - renewed:.1f} s after it had renewed the lease")
    return wrong


def followed_in_time(ends, ledger):
    """@ends: [(what, process, when it ended, whether the API server answered all the time)]. One whose successor met the same before it
    wrote is left out. Returns ({what: [s]}, what was wrong)."""
    times, wrong = collections.defaultdict(list), []
    writes = ledger.writes()
    for what, process, when, undisturbed in ends:
        first = next((at for at, other, _ in writes if at > when - 0.05 and other != process), None)
        if first is None:
            wrong.append(f"nobody wrote after {what} of process {process}")
            continue
        if undisturbed and not any(when < other < first for _, _, other, _ in ends):
            times[what].append(first - when)
    return times, wrong + [f"the first write after {what} came after {max(found):.2f} s" for what, found in times.items() if max(found) > FIRST_WRITE[what]]


def nobody_ended_by_himself(exits):
    """@exits: [(process, status, its last line, what was done to it or None)]."""
    return [f"process {process} ended with status {status}: {line}" for process, status, line, why in exits if not why]


# --- memory and descriptors

def slope(samples):
    """Theil and Sen's: the median of the slopes between all pairs of [(t, value)], per s."""
    slopes = sorted((b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(samples) for b in samples[i + 1:] if b[0] > a[0])
    return slopes[len(slopes) // 2] if slopes else 0.0


def medians(samples, blocks):
    """The samples in so many equal parts, each as (middle, median)."""
    size = max(1, len(samples) // blocks)
    parts = [samples[i:i + size] for i in range(0, size * blocks, size)]
    return [(p[len(p) // 2][0], sorted(v for _, v in p)[len(p) // 2]) for p in parts if p]


def growth(samples, blocks=12):
    """(growth over the time of the samples, what of that is noise): of a value that is level the first is not above the second."""
    points = medians(samples, blocks)
    rate = slope(points)
    middle = sorted(v - rate * t for t, v in points)[len(points) // 2]
    off = sorted(abs(v - rate * t - middle) for t, v in points)
    return rate * (points[-1][0] - points[0][0]), 3 * off[len(off) // 2]


def level(name, samples, allowed):
    """Memory: the growth is within noise, or within @allowed."""
    if len(samples) < 24:
        return [f"{name}: only {len(samples)} samples of its memory"]
    grown, noise = growth(samples)
    return [f"{name} grew by {grown / 1024:.0f} KiB in {samples[-1][0] - samples[0][0]:.0f} s, noise is {noise / 1024:.0f} KiB"] if grown > max(noise, allowed) else []


def none_leaked(name, samples):
    """Descriptors: those that are always there are no more in the last third than in the first. More are open now and then, and
    fewer are left when the API server closes a connection that was idle."""
    third = max(1, len(samples) // 3)
    first, last = (min(v for _, v in part) for part in (samples[:third], samples[-third:]))
    return [f"{name} had {first} file descriptors, then {last}"] if last > first else []
