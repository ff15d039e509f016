#include "controllers/queuejob/quota_gate.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "controllers/queuejob/memory.h"
#include "controllers/stores.h"

/* A quota limits as "requests.nvidia.com/gpu" what a container requests as "nvidia.com/gpu". */
static const char *container_resource(const char *resource)
{
	static const char *const prefixes[] = { "requests.", "limits." };

	for (size_t i = 0; i < KAR_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(resource, prefixes[i], n) == 0)
			return resource + n;
	}
	return resource;
}

/* Does any template of @job contain @resource? A search in its text is enough: a wrong yes only makes the job wait. */
static bool mentions(const struct kar_queuejob *job, const char *resource)
{
	char quoted[KAR_KEY_LEN];
	size_t n = (size_t)snprintf(quoted, sizeof(quoted), "\"%s\"", resource);

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		struct kar_str raw = job->spec.tasks[i].template_raw;

		if (raw.n && memmem(raw.p, raw.n, quoted, n))
			return true;
	}
	return false;
}

static bool has_scopes(const struct kar_sync *s, const char *quota)
{
	const struct kar_object *o = quota[0] && s->object
		? kar_store_get(s->controller->stores->resourcequotas, s->object->ns, quota)
		: NULL;

	return o && kar_as_resourcequota(o)->scoped;
}

/*
 * Every pod counts as a pod, and must request cpu and memory where a quota limits them. For other resources the templates decide. If
 * an admission plug-in adds a request to a pod, the create is refused, and the job waits from then on. The same holds for a quota
 * with scopes, because we do not know which pods its scopes select.
 */
static bool may_need(const void *arg, const char *quota, const char *resource)
{
	const struct kar_sync *s = arg;
	static const char *const always[] = { "", "pods", "count/pods", "cpu", "memory" };
	const char *name = container_resource(resource);

	if (!s->object)
		return true; /* without its job nothing is known of the pods */
	if (has_scopes(s, quota))
		return false;
	return kar_streq_any(name, always, KAR_LEN(always)) || mentions(kar_as_queuejob(s->object), name);
}

/* Only a refusal by a quota has an entry: it ends when pods of others end. Other refusals wait for their back-off alone. */
static void *refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	void *old)
{
	char quota[KAR_QUOTA_NAME_LEN];

	if (err->cause != KAR_CAUSE_QUOTA) {
		kar_quota_line_leave(old);
		return NULL;
	}
	kar_quota_read_name(err->msg, quota);
	return kar_quota_line_join(queuejob_shared(s->controller)->quotas, old, a->ns, s->key, &a->rank,
		err->msg, has_scopes(s, quota));
}

/* A job that was not refused itself waits too, if a job of higher rank lacks a resource that its pods may need. */
static void *behind(const struct kar_sync *s, const struct kar_action *a, void *old, struct kar_err *why)
{
	const struct kar_quota_place *ahead = kar_quota_line_ahead(queuejob_shared(s->controller)->quotas,
		a->ns, s->key, &a->rank, may_need, s);

	if (!ahead)
		return NULL;

	const char *requested = kar_quota_place_requested(ahead), *quota = kar_quota_place_quota(ahead);

	/* No request was sent. KAR_RETRY marks it, because the API server never refuses with that class. */
	kar_fail(why, KAR_RETRY, "%s goes first and lacks %s: exceeded quota%s%s", kar_quota_place_key(ahead),
		requested[0] ? requested : "what the quota refused", quota[0] ? " " : "", quota);
	why->cause = KAR_CAUSE_QUOTA;
	return kar_quota_line_stand_behind(ahead, old, s->key, &a->rank);
}

static enum kar_gate_state state(const void *entry)
{
	if (!kar_quota_place_is_head(entry))
		return KAR_GATE_WAITS;
	return kar_quota_place_is_woken(entry) ? KAR_GATE_EARLY : KAR_GATE_MAY_TRY;
}

static void try_now(void *entry)
{
	kar_quota_place_try(entry);
}

static void move(void *entry, const struct kar_rank *rank)
{
	kar_quota_place_move(entry, rank);
}

static void leave(void *entry)
{
	kar_quota_line_leave(entry);
}

const struct kar_create_gate queuejob_quota_gate = {
	.refused = refused,
	.behind = behind,
	.state = state,
	.try = try_now,
	.move = move,
	.leave = leave,
};
