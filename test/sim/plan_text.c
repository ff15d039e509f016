/* Plans in words. */
#include "common/base/buf.h"
#include "test/sim/plan.h"

enum subject { JOB, TASK, POD, QUOTA, SCOPED, QUEUE, NODE, TRICK, GANG };

/* How each verb reads: the words before and after its subject; %d in `after` is the value. */
static const struct {
	const char *before;
	enum subject subject;
	const char *after;
} words[PLAN_VERBS] = {
	[PLAN_SUBMIT] = { "submit", JOB, "" },
	[PLAN_DELETE] = { "delete", JOB, "with propagation %d" },
	[PLAN_SUSPEND] = { "suspend", JOB, "" },
	[PLAN_RESUME] = { "resume", JOB, "" },
	[PLAN_SCALE] = { "scale", TASK, "to %d" },
	[PLAN_QUORUM] = { "set minAvailable of", JOB, "to %d" },
	[PLAN_TEMPLATE] = { "edit the template of", TASK, "(edit %d)" },
	[PLAN_LIMITS] = { "set backoffLimit of", JOB, "to %d" },
	[PLAN_TTL] = { "set ttlSecondsAfterFinished of", JOB, "to %d" },
	[PLAN_ORDER] = { "edit dependsOn of", TASK, "(edit %d)" },
	[PLAN_STATUS] = { "overwrite a counter in the status of", JOB, "(counter %d)" },
	[PLAN_CLEAR] = { "empty the status of", JOB, "" },
	[PLAN_DELETE_POD] = { "delete pod", POD, "" },
	[PLAN_KILL_POD] = { "delete pod", POD, "at once" },
	[PLAN_EVICT_POD] = { "evict pod", POD, "" },
	[PLAN_RELABEL_POD] = { "take the incarnation label off pod", POD, "" },
	[PLAN_RAISE_POD] = { "raise the incarnation label of pod", POD, "" },
	[PLAN_LOWER_POD] = { "lower the incarnation label of pod", POD, "" },
	[PLAN_STRIP_POD] = { "take all labels off pod", POD, "" },
	[PLAN_UNTRACK_POD] = { "take the finalizer off pod", POD, "" },
	[PLAN_DISOWN_POD] = { "take the ownerReference off pod", POD, "" },
	[PLAN_BLOCK_POD] = { "create a foreign pod", POD, "" },
	[PLAN_STEAL_POD] = { "kill and replace by a foreign one pod", POD, "" },
	[PLAN_CROWD_POD] = { "wait for the first pod of the task to create a foreign", POD, "" },
	[PLAN_HURRY_POD] = { "wait until the job is suspended to end pod", POD, "" },
	[PLAN_UNBLOCK_POD] = { "delete the foreign pod", POD, "" },
	[PLAN_DELETE_GROUP] = { "delete the PodGroup of", JOB, "" },
	[PLAN_EDIT_GROUP] = { "set minMember in the PodGroup of", JOB, "to %d" },
	[PLAN_DELETE_SPEC] = { "delete the SchedulingSpec of", JOB, "" },
	[PLAN_EDIT_SPEC] = { "set minAvailable in the SchedulingSpec of", JOB, "to %d" },
	[PLAN_LIMIT] = { "let the queue set desired in the PodGroup of", JOB, "to %d" },
	[PLAN_MAKE_GROUP] = { "create a PodGroup beside", JOB, "in queue %d" },
	[PLAN_MOVE_GROUP] = { "set the queue of a PodGroup of", JOB, "to %d" },
	[PLAN_NETWORK] = { "set enableDNSHostnames of", JOB, "to %d" },
	[PLAN_IMPOSSIBLE] = { "make impossible the template of", TASK, "" },
	[PLAN_MEND] = { "mend the template of", TASK, "" },
	[PLAN_EDIT_SERVICE] = { "edit the Service of", JOB, "(edit %d)" },
	[PLAN_TAKE_SERVICE] = { "create a foreign Service in the name of", JOB, "" },
	[PLAN_FREE_SERVICE] = { "delete the foreign Service in the name of", JOB, "" },
	[PLAN_SELECT] = { "set the selector of", JOB, "(selector %d)" },
	[PLAN_PLACE] = { "set the nodeSelector of", JOB, "(place %d)" },
	[PLAN_SCHEDULER] = { "set the schedulerName of", JOB, "(scheduler %d)" },
	[PLAN_RENAME_TASK] = { "change the name of", TASK, "(name %d)" },
	[PLAN_DROP_TASK] = { "drop", TASK, "" },
	[PLAN_DEADLINE] = { "set activeDeadlineSeconds of", JOB, "to %d" },
	[PLAN_KEEP] = { "take the TTL away when it is over from", JOB, "(%d ms later)" },
	[PLAN_SCOPED] = { "set the quota of", SCOPED, "to %d pods" },
	[PLAN_STEAL_ROOM] = { "wait until a gang is placed to steal the room of", JOB, "for %d s" },
	[PLAN_QUOTA] = { "set the quota of", QUOTA, "to %d pods" },
	[PLAN_QUEUE] = { "set maxJobs of", QUEUE, "to %d" },
	[PLAN_CORDON] = { "cordon", NODE, "" },
	[PLAN_UNCORDON] = { "uncordon", NODE, "" },
	[PLAN_DRAIN] = { "drain", NODE, "" },
	[PLAN_NODE_LOST] = { "lose", NODE, "" },
	[PLAN_NODE_BACK] = { "bring back", NODE, "" },
	[PLAN_NODE_GONE] = { "remove", NODE, "" },
	[PLAN_NODE_ADDED] = { "add", NODE, "" },
	[PLAN_PRESSURE] = { "memory pressure on", NODE, "" },
	[PLAN_HOSTILE] = { "let a hostile tenant", TRICK, "" },
	[PLAN_GANG_GROUP] = { "create the PodGroup of", GANG, "" },
	[PLAN_GANG_PODS] = { "set the number of pods of", GANG, "to %d" },
	[PLAN_GANG_UNGATE] = { "take the other gate off the pods of", GANG, "" },
	[PLAN_GANG_LOSE] = { "delete a pod of", GANG, "(number %d)" },
	[PLAN_GANG_ROB] = { "wait until a gang is placed to steal the room of", GANG, "for %d s" },
	[PLAN_GANG_END] = { "end", GANG, "(order %d)" },
	[PLAN_NEEDS] = { "edit the requests of", TASK, "to %d m of cpu" },
	[PLAN_RESIZE_POD] = { "double the requests of pod", POD, "" },
	[PLAN_RIGHTS] = { "set the rights of", QUEUE, "to those of the plan: %d" },
};

static void put_subject(const struct plan *p, const struct plan_action *a, struct kar_buf *out)
{
	const struct plan_job *j = p->n_jobs ? &p->jobs[a->job] : NULL;
	char name[PLAN_NAME];

	switch (words[a->verb].subject) {
	case QUOTA:
		kar_buf_puts(out, plan_ns_name(a->task));
		return;
	case SCOPED:
		kar_buf_printf(out, "%s for %s pods", plan_ns_name(a->task % PLAN_NAMESPACES),
			plan_scope_name((enum plan_scope)(a->task / PLAN_NAMESPACES)));
		return;
	case QUEUE:
		kar_buf_puts(out, plan_queue_name(a->task));
		return;
	case NODE:
		kar_buf_printf(out, "node %s", plan_node_name(a->value, name));
		return;
	case GANG:
		kar_buf_printf(out, PLAN_GANG_NS "/%s", plan_gang_name(a->value, name));
		return;
	default:
		break;
	}
	if (!j)
		return;
	if (words[a->verb].subject == TRICK) {
		kar_buf_printf(out, "%s in the name of ", plan_trick_name((enum plan_trick)a->value));
		kar_buf_printf(out, "%s (variant %d)", plan_job_name(j, name), a->task);
		return;
	}
	kar_buf_printf(out, "%s/", plan_ns_name(j->ns));
	if (words[a->verb].subject == POD)
		kar_buf_puts(out, plan_pod_name(j, a->task, a->value, name));
	else
		kar_buf_puts(out, plan_job_name(j, name));
	if (words[a->verb].subject == TASK)
		kar_buf_printf(out, " task %s", plan_task_name(a->task));
}

static void put_value(const char *text, int value, struct kar_buf *out)
{
	for (; *text; text++) {
		if (text[0] == '%' && text[1] == 'd') {
			kar_buf_printf(out, "%d", value);
			text++;
		} else {
			kar_buf_append(out, text, 1);
		}
	}
}

void plan_action_text(const struct plan *p, const struct plan_action *a, struct kar_buf *out)
{
	kar_buf_printf(out, "%s ", words[a->verb].before);
	put_subject(p, a, out);
	if (!*words[a->verb].after)
		return;
	kar_buf_puts(out, " ");
	put_value(words[a->verb].after, words[a->verb].subject == GANG ? a->task : a->value, out);
}

static void print_job(const struct plan *p, size_t i, FILE *out)
{
	const struct sim_value *spec;
	struct sim_value *object = plan_job_object(p, &p->jobs[i]);
	struct kar_buf text = { 0 };
	char name[PLAN_NAME];

	spec = sim_member(object, "spec");
	sim_print(spec, &text);
	fprintf(out, "  job %zu: %s/%s %s\n", i, plan_ns_name(p->jobs[i].ns),
		plan_job_name(&p->jobs[i], name), kar_buf_cstr(&text));
	kar_buf_release(&text);
	sim_unref(object);
}

static void print_gang(const struct plan *p, size_t i, FILE *out)
{
	const struct plan_gang *g = &p->others[i];
	struct sim_value *group = plan_gang_group(p, (int)i), *pod = plan_gang_pod(p, (int)i, 0, "");
	struct kar_buf text = { 0 };

	sim_print(sim_member(group, "spec"), &text);
	kar_buf_puts(&text, ", its pods ");
	sim_print(sim_member(pod, "spec"), &text);
	fprintf(out, "  gang %zu: %d pods, of which %d are bare, group %s\n", i, g->pods, g->bare,
		kar_buf_cstr(&text));
	kar_buf_release(&text);
	sim_unref(group);
	sim_unref(pod);
}

static void print_action(const struct plan *p, const struct plan_action *a, FILE *out)
{
	struct kar_buf text = { 0 };

	plan_action_text(p, a, &text);
	fprintf(out, "  %9.3f s  %3d  %s\n", (double)a->at / (double)KAR_SECOND, a->number,
		kar_buf_cstr(&text));
	kar_buf_release(&text);
}

static void print_rights(const struct plan *p, int queue, FILE *out)
{
	const struct plan_rights *r = &p->rights[queue];

	fprintf(out, "  queue %s: weight %d, guarantee %d, deserved %d, capability %d%s%s%s%s\n",
		plan_queue_name(queue), r->weight, r->guarantee, r->deserved, r->capability,
		r->preempts ? ", preempts" : "", r->keeps ? ", not reclaimable" : "",
		r->in_team ? ", in team" : "", r->drains ? ", drains" : "");
	if (r->ns_cpus || r->ns_jobs)
		fprintf(out, "    of each namespace: %d CPUs, %d jobs\n", r->ns_cpus, r->ns_jobs);
}

void plan_print(const struct plan *p, FILE *out)
{
	fprintf(out, "plan of seed %llu: %.1f h, %d nodes of %d CPUs%s%s%s%s%s, %d writes in flight\n",
		(unsigned long long)p->seed, (double)p->length / (double)(60 * KAR_MINUTE), p->nodes,
		p->node_cpu, p->other_user ? ", another user" : "", p->gangs ? ", a gang scheduler" : "",
		p->default_times ? ", default times" : "", p->topology ? ", a topology" : "",
		p->shares           ? ", elastic jobs alone"
			: p->bounds ? ", limits alone"
				    : "",
		p->max_in_flight);
	for (int q = 0; q < PLAN_QUEUES; q++) {
		if (p->max_jobs[q] != PLAN_UNSET || p->strict[q])
			fprintf(out, "  queue %s: maxJobs %d%s\n", plan_queue_name(q), p->max_jobs[q],
				p->strict[q] ? ", StrictFIFO" : "");
		if (p->has_rights)
			print_rights(p, q, out);
	}
	if (p->has_rights)
		fprintf(out, "  queue " PLAN_TEAM ": deserved %d, capability %d, half-life %d s\n",
			p->team_deserves, p->team_capability, p->team_half_life);
	if (p->half_life)
		fprintf(out, "  half-life %d s\n", p->half_life);
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].verb == PLAN_SUBMIT)
			print_job(p, (size_t)p->actions[i].job, out);
	}
	for (size_t i = 0; i < p->n_others; i++)
		print_gang(p, i, out);
	for (size_t i = 0; i < p->n_actions; i++)
		print_action(p, &p->actions[i], out);
	fputs("  faults:", out);
	for (enum sim_fault f = 0; f < SIM_FAULT_COUNT; f++) {
		if (p->faults.rate[f])
			fprintf(out, " %s=%u", sim_fault_name(f), p->faults.rate[f]);
	}
	fputs("\n", out);
}
