"""kubernetes/kubernetes#120234 (KEP-753), kubernetes/kubectl#1739: a native sidecar is killed when the main container has ended, and its
exit code decides.

Input: main ends with 42; the sidecar is stopped in the same second, with 137. A rule fails the job on 137.
Expected: the rule does not match, and the events say exit code 42."""

from words import alive, ended, gang, set_status, wait_said
from harness import expect, wait_until


def case(s):
    s.apply(gang("side", init=["proxy"], backoffLimit=3,
                 failurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [137]}}]}))
    s.wait_phase("side", "Running")
    set_status(s, "side-w-0", phase="Failed", initContainerStatuses=[ended("proxy", 137)], containerStatuses=[ended("main", 42)])
    wait_said(s, "side", "exit code 42")
    wait_until(lambda: s.status("side").get("phase") == "Running" and s.status("side").get("podFailures", 0) + s.status("side").get("restarts", 0) > 0,
               "the pod has been replaced")
    expect(s.status("side")["phase"] != "Failed", "the exit code of the sidecar has not failed the job")
