/* Strategic merge patches of pods. The API server refuses them if the uid or resourceVersion in them does not match. */
#include "controllers/podset/podset.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/names.h"
#include "common/codec/json.h"

static void begin(struct kar_json_writer *w, const struct kar_action *a)
{
	char version[24];

	kar_jw_begin_object(w);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", a->uid);
	if (!a->rv)
		return;
	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	kar_jw_kv_string(w, "resourceVersion", version);
}

static void end(struct kar_json_writer *w)
{
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_finalizers(struct kar_json_writer *w, const char *key)
{
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	kar_jw_string(w, KAR_FINALIZER_POD_TRACKING);
	kar_jw_end_array(w);
}

/* Removes only our finalizer. */
static void write_release(struct kar_json_writer *w, const struct kar_action *a)
{
	begin(w, a);
	write_finalizers(w, "$deleteFromPrimitiveList/finalizers");
	end(w);
}

/* Removes only our gate, which is identified by its name. */
static void write_ungate(struct kar_json_writer *w, const struct kar_action *a)
{
	begin(w, a);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_key(w, "schedulingGates");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "$patch", "delete");
	kar_jw_kv_string(w, "name", KAR_GATE);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
	end(w);
}

static void write_relabel(struct kar_json_writer *w, const struct kar_action *a)
{
	const struct kar_array *labels = a->payload;
	const struct kar_pair *pairs = labels->items;

	begin(w, a);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	for (size_t i = 0; i < labels->n; i++)
		kar_jw_kv_string(w, pairs[i].key, pairs[i].value);
	kar_jw_end_object(w);
	write_finalizers(w, "finalizers");
	end(w);
}

void podset_write_disruption(struct kar_json_writer *w, const struct podset_disruption *d)
{
	kar_jw_key(w, "status");
	kar_jw_begin_object(w);
	kar_jw_key(w, "conditions");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "type", "DisruptionTarget");
	kar_jw_kv_string(w, "status", "True");
	kar_jw_kv_string(w, "reason", d->reason);
	kar_jw_kv_string(w, "message", d->message);
	kar_jw_kv_time(w, "lastTransitionTime", d->now);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

/* As kube-scheduler and the kubelet do before they end a pod that has done nothing wrong. */
static void write_disrupt(struct kar_json_writer *w, const struct kar_action *a)
{
	begin(w, a);
	kar_jw_end_object(w);
	podset_write_disruption(w, a->payload);
	kar_jw_end_object(w);
}

bool podset_encode(const struct kar_action *a, struct kar_buf *out)
{
	void (*const write)(struct kar_json_writer * w, const struct kar_action *a) =
		a->what == PODSET_RELEASE   ? write_release
		: a->what == PODSET_UNGATE  ? write_ungate
		: a->what == PODSET_RELABEL ? write_relabel
		: a->what == PODSET_DISRUPT ? write_disrupt
					    : NULL;
	struct kar_json_writer w;

	if (!write)
		return false;
	kar_json_writer_init(&w, out);
	write(&w, a);
	kar_json_writer_release(&w);
	return true;
}
