"""Deliberate bugs, each a small edit of the product that the simulation has to find. Read by hack/sim-bugs.

An edit names its file, a text that occurs there exactly once, and what it becomes: an edit that no longer fits fails loudly."""

from collections import namedtuple

Bug = namedtuple("Bug", "name what file old new")

QJ = "controllers/queuejob/"
KUBE = "common/kube/"

BUGS = [
    Bug("latch_dropped", "a gang that has formed is not remembered", QJ + "gang.c",
        "	st->formed_min_available = r->min;", "	st->formed_min_available = 0;"),
    Bug("uid_check_dropped", "pods belong to a job by the name of their owner, not by its UID", QJ + "observe.c",
        "return job && kar_same(pod->owner_uid, job->o.uid);", "return job && kar_same(pod->owner_name, job->o.name);"),
    Bug("released_before_recorded", "the finalizer of a succeeded pod goes before its success is stored", QJ + "remove.c",
        "slot->state == QUEUEJOB_SLOT_DONE && slot->recorded && slot->pod", "slot->state == QUEUEJOB_SLOT_DONE && slot->pod"),
    Bug("success_not_kept", "a succeeded index counts only as long as its pod exists", QJ + "tally.c",
        "	if (keep_done && known &&", "	if (keep_done && known && !c->record &&"),
    Bug("barrier_dropped", "a key is decided before the cache shows its own writes", QJ + "sync.c",
        "	return kar_barrier_passed(c->barrier, key, s->queuejobs) &&", "	if (c)\n		return true;\n	return kar_barrier_passed(c->barrier, key, s->queuejobs) &&"),
    Bug("quorum_off_by_one", "a gang counts as whole with one pod less", QJ + "decide.c",
        "	if (r->t.running + r->t.done < (r->min > 0 ? r->min : 1))", "	if (r->t.running + r->t.done < (r->min > 1 ? r->min - 1 : 1))"),
    Bug("old_pods_not_awaited", "the next incarnation starts while pods of the last one exist", QJ + "gang.c",
        "	} else if (!r->v->n_pods && admitted) {", "	} else if (admitted) {"),
    Bug("incarnation_kept", "a restart does not begin a new incarnation", QJ + "start.c",
        "r->seen->incarnation > 0 ? r->seen->incarnation + 1", "r->seen->incarnation > 0 ? r->seen->incarnation"),
    Bug("restart_counted_twice", "a restart counts as two", QJ + "gang.c",
        "	r->st.restarts++;", "	r->st.restarts += 2;"),
    Bug("owner_not_checked", "a first pod is created without reading the job from the API server", QJ + "create.c",
        "	if (w.n && !r->v->owner_checked) {", "	if (w.n && !r->v->owner_checked && r->v->owner_check_in) {"),
    Bug("limit_off_by_one", "a job fails one failure late", QJ + "finish.c",
        "	return r->st.pod_failures > r->job->spec.backoff_limit;", "	return r->st.pod_failures > r->job->spec.backoff_limit + 1;"),
    Bug("suspend_ignored_while_running", "spec.suspend stops nothing that runs", QJ + "finish.c",
        '	queuejob_say(r, "Suspended", "%s", "spec.suspend is true");\n	queuejob_remove_live(r);', '	queuejob_say(r, "Suspended", "%s", "spec.suspend is true");'),
    Bug("terminal_not_sticky", "a finished job goes on when it is edited", QJ + "decide.c",
        "	if (kar_qj_phase_terminal(r.seen->phase))\n		queuejob_stay_finished(&r);", "	if (kar_qj_phase_terminal(r.seen->phase) && v->job->generation == r.seen->observed_generation)\n		queuejob_stay_finished(&r);"),
    Bug("loss_counted_twice", "a lost pod is counted again in every round", QJ + "lose.c",
        "		const struct kar_pod *pod = r->t.lost.items[i];\n\n		remember(r, pod);\n", "		const struct kar_pod *pod = r->t.lost.items[i];\n\n"),
    Bug("admission_ignored", "pods are created before the queue has admitted the job", QJ + "children.c",
        "	return mirror_admission(r) && ready;", "	(void)mirror_admission(r);\n	return ready;"),
    Bug("surplus_kept", "pods beyond a lowered replicas stay", QJ + "gang.c",
        "	queuejob_remove_surplus(r);\n", ""),
    Bug("template_change_ignored", "a new template does not restart the job", QJ + "gang.c",
        "	if (r->template_changed && !r->job->invalid) {", "	if (r->template_changed && r->job->invalid) {"),
    Bug("orphans_not_released", "pods of a deleted job keep our finalizer", QJ + "decide.c",
        "	queuejob_release_orphans(v, p);\n", ""),
    Bug("delete_without_uid", "a delete may hit another pod of the same name", QJ + "remove.c",
        "	a->uid = kar_keep(p->arena, pod->o.uid);\n", ""),
    Bug("relist_keeps_the_gone", "objects that a new list does not have stay in the cache", KUBE + "store.c",
        "		if (s->entries[e].o && s->entries[e].seen != s->replace)", "		if (s->entries[e].o && s->entries[e].seen != s->replace && !s->synced)"),
    Bug("deletions_dropped", "DELETED events are not applied", KUBE + "reflector_watch.c",
        "	kar_store_delete(r->store, m->ns, m->name, m->uid, kar_rv_parse(m->resource_version));\n", ""),
    Bug("gone_resumed", "a watch that is answered 410 is resumed at the same position", KUBE + "reflector_policy.c",
        "			list(err->http == HTTP_GATEWAY_TIMEOUT ? KAR_LIST_LATEST_PAGED : KAR_LIST_POSITION),\n			err);",
        "			watch(),\n			err);"),
    Bug("dirty_key_lost", "a change that arrives while its key is in work is forgotten", KUBE + "workqueue.c",
        "		i->dirty = false;\n		enter_line(q, i);", "		i->dirty = false;"),
    Bug("unknown_taken_for_done", "a write whose reply was lost counts as done", "controllers/apply.c",
        "	if (!err || is_moot(it->action, err)) {", "	if (!err || err->what == KAR_UNKNOWN || is_moot(it->action, err)) {"),
    Bug("status_in_every_round", "an unchanged status is written again and again", QJ + "decide.c",
        "	if (kar_queuejob_status_equal(r->recorded, &r->st))\n		return;", "	if (kar_queuejob_status_equal(r->recorded, &r->st) && r->v->n_pods == 0)\n		return;"),
    Bug("requeue_lost_after_failure", "a key whose write failed is not tried again", "controllers/manager.c",
        "		kar_workqueue_add_rate_limited(c->queue, s->key, now + o->err.retry_after);", "		kar_workqueue_forget(c->queue, s->key);"),
]
