"""kubernetes/kubernetes#139028: a pod that runs refuses to have certain neighbours, and a gang is planned beside it.

Input: node n-0 has a pod with required anti-affinity to pods with label app=noisy; n-1 is empty; a gang of two such pods.
Expected: both are on n-1, and run within 30 s. kube-scheduler decides, as the manager does not know the rule."""

from words import beside_a_quiet_pod, none_beside_it as judge  # noqa: F401

SCENARIO = beside_a_quiet_pod("default-scheduler")
