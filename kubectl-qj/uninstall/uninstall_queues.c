/* Queues have our finalizer. With nobody who removes it they would stay, and their CRD with them. */
#include "kubectl-qj/uninstall/uninstall_impl.h"

#include "api/names.h"
#include "api/queue.h"
#include "common/base/str.h"
#include "common/codec/json.h"

static void write_body(const struct kar_wire_meta *m, struct kar_buf *out)
{
	const char *const *items = m->finalizers.items;
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "uid", m->uid ? m->uid : "");
	kar_jw_kv_string(&w, "resourceVersion", m->resource_version ? m->resource_version : "");
	kar_jw_key(&w, "finalizers");
	kar_jw_begin_array(&w);
	for (size_t i = 0; i < m->finalizers.n; i++) {
		if (!kar_streq(items[i], KAR_FINALIZER_QUEUE))
			kar_jw_string(&w, items[i]);
	}
	kar_jw_end_array(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

/* A queue that has changed since, or is gone, is seen in the next list. */
static int release(struct uninstall *u, const struct uninstall_item *queue)
{
	const struct kar_resource *res = &kar_queue_type.res;
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
	char name[KAR_UNINSTALL_NAME], what[KAR_UNINSTALL_NAME + 96];

	uninstall_name(res, queue, name);
	write_body(&queue->meta, &body);
	switch (uninstall_ask(u,
		kar_client_patch(res, NULL, queue->meta.name, KAR_PATCH_MERGE,
			(struct kar_str){ body.p, body.n }))) {
	case KAR_OK:
		fprintf(u->o->out, "Took the finalizer " KAR_FINALIZER_QUEUE " off %s\n", name);
		return 0;
	case KAR_NOTFOUND:
	case KAR_CONFLICT:
		return 0;
	default:
		snprintf(what, sizeof(what), "cannot take the finalizer " KAR_FINALIZER_QUEUE " off %s",
			name);
		return uninstall_give_up(u, what);
	}
}

int uninstall_release_queues(struct uninstall *u)
{
	struct uninstall_patience patience = { 0 };
	char name[KAR_UNINSTALL_NAME] = "";

	for (;;) {
		struct kar_array found;
		const struct uninstall_item *items;
		size_t left = 0;

		if (uninstall_list(u, &kar_queue_type.res, NULL, &found))
			return -1;
		items = found.items;
		for (size_t i = 0; i < found.n; i++) {
			if (!kar_strings_have(&items[i].meta.finalizers, KAR_FINALIZER_QUEUE))
				continue;
			if (!left++)
				uninstall_name(&kar_queue_type.res, &items[i], name);
			if (release(u, &items[i]))
				return -1;
		}
		if (!left)
			return 0;
		if (uninstall_wait_for_fewer(u, &patience, left, name))
			return -1;
	}
}
