"""kubernetes/kubernetes#139028: the same as case 15, with the manager as the scheduler.

Input: as there, with schedulerName kar-scheduler.
Expected: both pods are on n-1."""

from words import beside_a_quiet_pod, none_beside_it as judge  # noqa: F401

SCENARIO = beside_a_quiet_pod("kar-scheduler")
