#include "controllers/runtime/controller.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/codec/json.h"

void kar_enqueue(struct kar_controller *c, const struct kar_store *store, const char *key)
{
	if (kar_store_synced(store))
		kar_workqueue_add(c->queue, key);
	else
		kar_workqueue_add_low(c->queue, key);
}

void kar_write_precondition_members(struct kar_json_writer *w, const struct kar_object *o)
{
	char version[24];

	kar_jw_kv_string(w, "uid", o->uid);
	if (o->rv) {
		snprintf(version, sizeof(version), "%" PRIu64, o->rv);
		kar_jw_kv_string(w, "resourceVersion", version);
	}
}

void kar_write_preconditions(struct kar_json_writer *w, const struct kar_object *o)
{
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_write_precondition_members(w, o);
	kar_jw_end_object(w);
}
