"""kubeflow/trainer#2044: an exit code that must not be retried leaves the job restarting for ever.

Input: two pods, backoffLimit 5, a rule FailJob for exit code 1 of container main; one pod ends with 1.
Expected: Failed by the rule at once, no restart is counted, and the other pod is stopped."""

from words import ended, gang, set_status
from harness import expect_equal, wait_until

RULE = {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [1]}}


def case(s):
    s.apply(gang("torch", replicas=2, backoffLimit=5, failurePolicy={"rules": [RULE]}))
    s.wait_phase("torch", "Running", running=2)
    set_status(s, "torch-w-0", phase="Failed", containerStatuses=[ended("main", 1)])
    status = s.wait_phase("torch", "Failed", reason="PodFailurePolicy")
    expect_equal(status.get("restarts", 0), 0, "restarts")
    wait_until(lambda: not [p for p in s.kubectl.list("pods") if p["status"].get("phase") == "Running"], "nothing of the job runs")
