#include "controllers/asked.h"

#include <string.h>

#include "api/names.h"
#include "api/pg_members.h"
#include "common/str.h"

static const struct kar_namespace *namespace_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *o = kar_store_get(stores->namespaces, NULL, g->o.ns);

	return o ? kar_as_namespace(o) : NULL;
}

static bool is_older(const struct kar_pod *a, const struct kar_pod *b)
{
	return a->creation != b->creation ? a->creation < b->creation : strcmp(a->o.name, b->o.name) < 0;
}

/* Of those that are alive; NULL: none is. */
static const struct kar_pod *oldest_member(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_pod *oldest = NULL;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (kar_pod_alive(pod) && (!oldest || is_older(pod, oldest)))
			oldest = pod;
	}
	return oldest;
}

/* A Queue may have this name. An annotation may be any text, which the API server would refuse as a label. */
static bool is_queue_name(const char *s)
{
	size_t n = strlen(s);

	return n && n <= 63 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n && s[0] != '-' &&
		s[n - 1] != '-';
}

/* It names its queue itself, or has started where it was admitted. */
static bool is_settled(const struct kar_podgroup *g)
{
	return !kar_pg_of_others(g) || g->orphan || kar_has_text(g->spec.queue) ||
		kar_has_text(g->queue_label) || g->status.placement.state != KAR_PG_STATE_NONE ||
		kar_condition_is_true(&g->status.conditions, KAR_PG_SCHEDULED);
}

static bool has_bound_pods(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		if (kar_as_pod(o)->node && !kar_pod_finished(kar_as_pod(o)))
			return true;
	}
	return false;
}

/* What runs stays on the account of the queue that has admitted it, whatever its owner asks for since. NULL: it asks for no other, or has no pods. */
static const char *account_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const char *by = g->status.admitted_queue;
	bool started = g->status.placement.state != KAR_PG_STATE_NONE ||
		kar_condition_is_true(&g->status.conditions, KAR_PG_SCHEDULED);

	if (!started || !kar_has_text(by) || kar_streq(by, kar_podgroup_queue(g)) ||
		!kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED) ||
		!kar_store_get(stores->queues, NULL, by) || !has_bound_pods(stores, g))
		return NULL;
	return by;
}

struct kar_asked kar_asked_queue(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	struct kar_asked asked = { .queue = kar_podgroup_queue(g) };
	const char *account = account_of(stores, g);
	const struct kar_namespace *ns;
	const struct kar_pod *oldest;
	const char *named;

	if (account) {
		asked.next = asked.queue;
		asked.queue = account;
	}
	if (is_settled(g) || account)
		return asked;
	ns = namespace_of(stores, g);
	oldest = oldest_member(stores, g);
	named = oldest ? kar_pod_queue(oldest) : NULL;
	if (!named)
		named = ns ? ns->queue : NULL;
	if (!named || kar_streq(named, KAR_DEFAULT_QUEUE))
		return asked;
	asked.queue = named;
	asked.label = oldest && is_queue_name(named) ? named : NULL;
	return asked;
}

bool kar_asked_admits(const struct kar_stores *stores, const struct kar_queue *q,
	const struct kar_podgroup *g)
{
	static const struct kar_array none = { 0 };
	const struct kar_namespace *ns;

	if (kar_selector_is_empty(&q->spec.namespaces))
		return true;
	ns = namespace_of(stores, g);
	return kar_selector_selects(&q->spec.namespaces, ns ? &ns->labels : &none);
}

/* In force, or, of a queue whose status nobody writes (decision 032), what its spec says. NULL: none. */
static const char *parent_of(const struct kar_queue *q)
{
	const char *parent = kar_has_text(q->status.parent) ? q->status.parent : q->spec.parent;

	return kar_streq(parent, KAR_QUEUE_ROOT) ? NULL : parent;
}

size_t kar_asked_path(const struct kar_stores *stores, const char *name,
	const struct kar_queue *path[KAR_QUEUE_LEVELS])
{
	size_t n = 0;

	while (name && n < KAR_QUEUE_LEVELS) {
		const struct kar_object *o = kar_store_get(stores->queues, NULL, name);

		if (!o)
			break;
		path[n] = kar_as_queue(o);
		name = parent_of(path[n++]);
	}
	return n;
}

bool kar_asked_is_below(const struct kar_stores *stores, const char *name, const char *above)
{
	const struct kar_queue *path[KAR_QUEUE_LEVELS];
	size_t n = kar_asked_path(stores, name, path);

	if (strcmp(name, above) == 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		if (kar_streq(parent_of(path[i]), above))
			return true;
	}
	return false;
}

int32_t kar_asked_priority(const struct kar_stores *stores, const char *name, int32_t asked)
{
	const struct kar_queue *path[KAR_QUEUE_LEVELS];
	size_t n = kar_asked_path(stores, name, path);

	for (size_t i = 0; i < n; i++)
		asked = kar_queue_priority(path[i], asked);
	return asked;
}
