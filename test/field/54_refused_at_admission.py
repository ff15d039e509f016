"""kubernetes/kubernetes#125579, #124345: after a reboot of its node a pod that ran is Failed with UnexpectedAdmissionError.

Input: a gang of 2 runs, with backoffLimit 0; one pod becomes Failed with that reason, as a kubelet does it.
Expected: no work has failed: no failure and no disruption is counted, and the gang runs again, although the limit is 0."""

from words import gang, set_status
from harness import expect_equal, wait_until


def case(s):
    s.apply(gang("gpu", replicas=2, backoffLimit=0))
    s.wait_phase("gpu", "Running", running=2)
    before = s.uids("gpu")
    set_status(s, "gpu-w-0", phase="Failed", reason="UnexpectedAdmissionError", containerStatuses=[],
               message="Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0")
    wait_until(lambda: s.uids("gpu").get("gpu-w-0", before["gpu-w-0"]) != before["gpu-w-0"], "the pod has been replaced")
    status = s.wait_phase("gpu", "Running", running=2)
    expect_equal([status.get(k, 0) for k in ("podFailures", "disruptions")], [0, 0], "failures and disruptions")
