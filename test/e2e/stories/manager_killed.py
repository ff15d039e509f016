"""SIGKILL of the manager, at any step: what it has begun ends whole, and nothing is done twice."""

from harness import USER_AGENT, expect, expect_equal, queuejob, task, wait_until
from stories.members import GATE, apart, group, members, owned_pod, runs, template
from stories.members import owner as owner_of
from stories.nodes import Cordon, bound_nodes, expect_nothing_counted, gang, nodes_of, placement, plan_of, thief, wait_until_alone

PODS = 200
GANG = 8
FEW = 3  # of which two find a node
SLOWLY = "--kube-api-qps=10", "--kube-api-burst=1"
STEPS = {"placed": 0, "first": 1, "half": GANG // 2, "all": GANG}  # pods that were created, or released


def story_manager_killed_while_creating(s):
    """SIGKILL in the middle of creating 200 pods: afterwards exactly 200, none twice."""
    s.manager.stop()
    s.apply(queuejob("big", task("worker", PODS)))
    s.manager.start("--kube-api-qps=50", "--kube-api-burst=1")
    wait_until(lambda: len(s.pods("big")) >= PODS // 5, "a part of the pods exists")
    s.manager.kill()
    before = s.uids("big")
    expect(len(before) < PODS, f"killed too late to tell: {len(before)} pods existed")
    s.manager.start()
    status = s.wait_phase("big", "Running", seconds=60, running=PODS)
    names = [f"big-worker-{i}" for i in range(PODS)]
    after = s.uids("big")
    expect_equal(sorted(after), sorted(names), "pods")
    expect_equal({n: after[n] for n in before}, before, "pods that existed when the manager was killed")
    made = s.audit.pods_created(s.namespace)  # without the creates whose answer the killed manager did not wait for
    expect_equal(len(made), len(set(made)), "creates, and names created")
    expect_equal((status["restarts"], status["incarnation"]), (0, 1), "restarts and incarnation")


def kill_at(s, name, step, count):
    """When the gang is placed and count() says that the step is reached. A new manager, as slow, takes over."""
    wait_until(lambda: placement(s, name).get("state") in ("Placed", "Satisfied") and count() >= STEPS[step], f"{name}: {step}", every=0.01)
    s.manager.kill()
    there = count()
    s.shown.append(f"{name} killed with {there} of {GANG}, {placement(s, name)['state']}")
    expect(step == "all" or there < GANG, f"killed too late to tell: {there} of {GANG}")
    s.manager.start(*SLOWLY)


def expect_one_attempt(s, name):
    expect_equal((placement(s, name)["state"], placement(s, name)["attempt"]), ("Satisfied", 1), f"state and attempt of {name}")


def story_manager_killed_at_each_step_of_a_job(s):
    """SIGKILL when the gang is placed, after its first pod, half of them, all: it starts whole, on the plan, no pod twice."""
    wait_until_alone(s)
    s.manager.stop()
    s.manager.start(*SLOWLY)
    for step in STEPS:
        s.apply(gang(step, replicas=GANG, cpu="1"))
        wait_until(lambda: plan_of(s, step), f"{step} is placed", every=0.01)
        plan = plan_of(s, step)
        kill_at(s, step, step, lambda: len(s.pods(step)))
        s.wait_phase(step, "Running", running=GANG)
        expect_equal(bound_nodes(s, step), plan, "nodes of the pods")
        wait_until(lambda: placement(s, step)["state"] == "Satisfied", "its minimum is bound")
        expect_one_attempt(s, step)
        expect_nothing_counted(s, step, 1)
    made = s.audit.pods_created(s.namespace)
    expect_equal(sorted(made), sorted(f"{step}-worker-{i}" for step in STEPS for i in range(GANG)), "pods that were created")


def gated_pods(name, numbers, owner, **spec):
    """Of another controller, which makes no more of them."""
    pods = [template(name, "1", **spec) for _ in numbers]
    for number, pod in zip(numbers, pods):
        pod["metadata"] |= {"name": f"{name}-{number}", "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in pods]}


def is_released(pod):
    return GATE not in [g["name"] for g in pod["spec"].get("schedulingGates", [])]


def story_manager_killed_at_each_step_of_a_gang_of_others(s):
    """The same of gated pods: when the gang is placed, and after the first, half, all of its gates are gone. Each is released once, to its place."""
    wait_until_alone(s)
    by = owner_of(s, "by")
    s.manager.stop()
    s.manager.start(*SLOWLY)
    for step in STEPS:
        group(s, step, GANG)
        s.apply(gated_pods(step, range(GANG), by))
        kill_at(s, step, step, lambda: sum(map(is_released, members(s, step).values())))
        wait_until(lambda: runs(s, step), f"{step} runs")
        wait_until(lambda: placement(s, step)["state"] == "Satisfied", "its minimum is bound")
        expect_one_attempt(s, step)
    patched = s.audit.events(verb="patch", resource="pods", subresource="", namespace=s.namespace, agent=USER_AGENT, code=200)
    expect_equal(sorted(e["objectRef"]["name"] for e in patched), sorted(f"{step}-{i}" for step in STEPS for i in range(GANG)), "pods that were released")


def story_taken_place_costs_one_pod_of_others(s):
    """Somebody takes a node of the plan while the manager is dead, which has released a part of the gang. What is released to it afterwards does not fit: it goes alone, and the pod that comes in its stead gets another node."""
    wait_until_alone(s)
    by, spare = owner_of(s, "by"), nodes_of(s)[3]
    s.manager.stop()
    s.manager.start(*SLOWLY)
    with Cordon(s, spare):
        group(s, "g", 3)
        for i in range(3):
            owned_pod(s, "g", i, owner=by)
        wait_until(lambda: any(map(is_released, members(s, "g").values())), "the first is released", every=0.01)
        s.manager.kill()
        gated = [name for name, pod in sorted(members(s, "g").items()) if not is_released(pod)]
        expect(gated, "killed too late to tell: all are released")
        plan = {p["role"]: p["nodes"] for p in placement(s, "g")["plan"]}
        s.apply(thief(plan[gated[-1]]))
    s.manager.start()
    wait_until(lambda: placement(s, "g").get("repairs") == 1, "another node is found", seconds=30)
    wait_until(lambda: gated[-1] not in members(s, "g"), "the pod that does not fit is gone")
    owned_pod(s, "g", 3, owner=by)
    wait_until(lambda: runs(s, "g"), "it runs")
    where = {name: pod["spec"].get("nodeName") for name, pod in members(s, "g").items()}
    expect_equal(where, {**{name: node for name, node in plan.items() if name != gated[-1]}, "g-3": spare}, "nodes")
    wait_until(lambda: placement(s, "g")["state"] == "Satisfied", "its minimum is bound")
    expect_one_attempt(s, "g")
    deleted = s.audit.events(verb="delete", resource="pods", namespace=s.namespace, agent=USER_AGENT, code=200)
    expect_equal([e["objectRef"]["name"] for e in deleted], gated[-1:], "pods that the manager has deleted")
    s.kubectl("delete", "pod", "thief", "--wait=true")


def is_rolling_back(s, name, pods):
    """Some of its pods are on their way out already, and some are not."""
    left = sum("deletionTimestamp" not in p["metadata"] for p in pods.values())
    return placement(s, name).get("state") == "RollingBack" and left < FEW


def kill_while_rolling_back(s, name, pods):
    wait_until(lambda: is_rolling_back(s, name, pods()), f"{name} is being rolled back", every=0.01)
    s.manager.kill()
    left = len([p for p in pods().values() if "deletionTimestamp" not in p["metadata"]])
    s.shown.append(f"{name} killed with {left} of {FEW} pods that stay, {placement(s, name)['state']}")
    s.manager.start(*SLOWLY)


def story_manager_killed_while_rolling_back(s):
    """A job and pods of others that cannot all be bound, SIGKILL while their pods are being taken back: all go, nothing is counted, and both start whole later."""
    wait_until_alone(s)
    by = owner_of(s, "by")
    s.manager.stop()
    s.manager.start(*SLOWLY)
    job = gang("job", replicas=FEW, cpu="1", sched={"scheduleTimeoutSeconds": 1})
    pod = job["spec"]["taskSpecs"][0]["template"]
    pod["metadata"]["labels"] = {"app": "job"}
    pod["spec"]["affinity"] = apart("app", "job")
    with Cordon(s, *nodes_of(s)[2:]):
        s.apply(job)
        group(s, "others", FEW, scheduleTimeoutSeconds=3)
        s.apply(gated_pods("others", range(FEW), by, affinity=apart("app", "others")))
        kill_while_rolling_back(s, "job", lambda: s.pods("job"))
        kill_while_rolling_back(s, "others", lambda: members(s, "others"))
        for name in ("job", "others"):
            wait_until(lambda: placement(s, name)["state"] == "Waiting", f"{name} is rolled back")
        expect_equal([placement(s, name)["failures"] for name in ("job", "others")], [1, 1], "attempts that failed")
        wait_until(lambda: not s.pods("job") and not members(s, "others"), "all pods are gone")
    s.apply(gated_pods("others", range(FEW, 2 * FEW), by, affinity=apart("app", "others")))
    s.wait_phase("job", "Running", running=FEW)
    wait_until(lambda: runs(s, "others"), "the others run")
    expect_nothing_counted(s, "job", 2)
    expect_equal([placement(s, name)["attempt"] for name in ("job", "others")], [2, 2], "attempts")
