"""volcano-sh/volcano#4492, #1860: the limit of a queue does not hold for jobs that are no gang.

Input: a queue with a capability of 4 pods; a job of 10 pods with minAvailable 0; a gang of 10 for a scheduler of another name.
Expected: four pods of the first exist, and none of the second."""

from words import gang, queue, stays
from harness import wait_until


def case(s):
    queue(s, "field79", capability={"pods": 4})
    s.apply(gang("loose", queue="field79", replicas=10, sched={"minAvailable": 0}))
    wait_until(lambda: len(s.pods("loose")) == 4, "four pods of the job exist")
    stays(lambda: len(s.pods("loose")) == 4, "four pods", 3)
    s.kubectl("delete", "queuejob", "loose")
    s.apply(gang("other", queue="field79", replicas=10, schedulerName="somebody"))
    s.wait_phase("other", "Pending")
    stays(lambda: not s.pods("other"), "no pod", 3)
    s.kubectl("delete", "queuejob", "other")
    s.cluster.kubectl("delete", "queue", "field79", "--wait=false")
