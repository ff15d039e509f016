from harness import SERVICE_ACCOUNT, USER_AGENT, expect, expect_equal, queuejob, task, wait_until


def story_rbac_as_shipped_is_enough(s):
    """A job from creation to removal by its TTL; nothing that the manager asked for in the whole run was forbidden."""
    s.apply(queuejob("short", task("worker", 2, outcome="succeed"), ttlSecondsAfterFinished=1))
    wait_until(lambda: not s.job("short"), "the job is removed after ttlSecondsAfterFinished", 60)
    wait_until(lambda: not s.pods("short"), "its pods are removed", 60)
    own = s.audit.events(user=SERVICE_ACCOUNT)
    expect(own, f"the manager must act as {SERVICE_ACCOUNT}")
    strangers = sorted({e.get("userAgent", "") for e in own if not e.get("userAgent", "").startswith(USER_AGENT)})
    expect_equal(strangers, [], "user agents of the manager's requests")
    refused = sorted({(verb, resource, sub) for moment, verb, resource, sub in s.cluster.audit.forbidden() if not s.cluster.excuses(moment)})
    expect_equal(refused, [], "requests of the manager that RBAC refused")
