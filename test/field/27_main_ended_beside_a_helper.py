"""kubeflow/trainer#2269, #2000: one process has failed, and the job goes on as if nothing were.

Input: a pod of two ordinary containers: main is killed for memory (137), the helper runs on, so the pod stays Running.
Expected: the status or an event of the job says it."""

from words import alive, ended, gang, set_status, wait_said


def case(s):
    s.apply(gang("half", containers=["main", "helper"]))
    s.wait_phase("half", "Running")
    set_status(s, "half-w-0", phase="Running", containerStatuses=[ended("main", 137, "OOMKilled"), alive("helper")])
    wait_said(s, "half", "OOMKilled")
