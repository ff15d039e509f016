"""volcano-sh/volcano#4673, spotify/flink-on-k8s-operator#356: huge pages and ephemeral storage are left out of what a gang needs.

Input: two nodes with 64Mi of huge pages and 10Gi of storage; gangs of 5 and 3 pods that ask for half of one of them each.
Expected: the gangs of 5 wait, and their messages name the resource; the gangs of 3 run."""


def job(name, replicas, what):
    return f"""
- {{name: {name}, duration: 5h, spec: {{taskSpecs: [{{replicas: {replicas}, template: {{spec: {{containers: [
    {{name: main, image: x, resources: {{requests: {{{what}}}, limits: {{{what}}}}}}}]}}}}}}]}}}}"""


HUGE, DISK = 'cpu: "1", memory: 1Gi, hugepages-2Mi: 32Mi', 'cpu: "1", ephemeral-storage: 5Gi'
SCENARIO = """
until: 1h
nodes: [{name: n, count: 2, capacity: {cpu: "16", memory: 64Gi, hugepages-2Mi: 64Mi, ephemeral-storage: 10Gi}}]
jobs:""" + job("huge5", 5, HUGE) + job("disk5", 5, DISK) + job("huge3", 3, HUGE) + job("disk3", 3, DISK) + "\n"


def judge(run):
    for name, resource in (("huge", "hugepages-2Mi"), ("disk", "ephemeral-storage")):
        yield f"the gang of 5 waits for {resource} and says so", not run.runs(f"{name}5") and resource in run.why(f"{name}5")
        yield f"the gang of 3 has {resource} and runs", run.started(f"{name}3") <= 10
