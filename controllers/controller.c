#include "controllers/controller.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/keep.h"
#include "api/pod.h"
#include "api/priorityclass.h"
#include "common/json.h"

void kar_enqueue(struct kar_controller *c, const struct kar_store *store, const char *key)
{
	if (kar_store_synced(store))
		kar_workqueue_add(c->queue, key);
	else
		kar_workqueue_add_low(c->queue, key);
}

static bool same_membership(const struct kar_pod *a, const struct kar_pod *b)
{
	return kar_same(a->owner_uid, b->owner_uid) && kar_same(a->group, b->group);
}

/* Of one that is lost already only its end matters. */
static bool is_progress(const struct kar_pod *old, const struct kar_pod *new)
{
	if (!new || !old)
		return new && !kar_pod_lost(new);
	return kar_pod_lost(old) || (!kar_pod_lost(new) && same_membership(old, new));
}

void kar_enqueue_pod(struct kar_controller *c, const char *key, const struct kar_pod *old,
	const struct kar_pod *new)
{
	if (kar_store_synced(c->stores->pods) && is_progress(old, new))
		kar_workqueue_add_lazy(c->queue, key);
	else
		kar_enqueue(c, c->stores->pods, key);
}

const struct kar_priorityclass *kar_stores_priorityclass(const struct kar_stores *s, const char *name)
{
	const struct kar_object *o =
		kar_has_text(name) ? kar_store_get(s->priorityclasses, NULL, name) : NULL;

	return o ? kar_as_priorityclass(o) : NULL;
}

int32_t kar_stores_default_priority(const struct kar_stores *s)
{
	struct kar_iter it = kar_store_all(s->priorityclasses);
	const struct kar_object *o;
	int32_t lowest = INT32_MAX;
	bool found = false;

	/* Should there be several, the lowest counts, as for pods. */
	while (kar_iter_next(&it, &o)) {
		const struct kar_priorityclass *c = kar_as_priorityclass(o);

		if (c->global_default && c->value <= lowest) {
			lowest = c->value;
			found = true;
		}
	}
	return found ? lowest : 0;
}

void kar_write_preconditions(struct kar_json_writer *w, const struct kar_object *o)
{
	char version[24];

	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", o->uid);
	if (o->rv) {
		snprintf(version, sizeof(version), "%" PRIu64, o->rv);
		kar_jw_kv_string(w, "resourceVersion", version);
	}
	kar_jw_end_object(w);
}
