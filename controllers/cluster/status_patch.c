#include "controllers/cluster/status_patch.h"

#include "common/codec/json.h"
#include "controllers/runtime/controller.h"

void kar_write_status_patch(struct kar_buf *out, const struct kar_object *o, const struct kar_desc *table,
	const void *status, unsigned mask)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_write_preconditions(&w, o);
	kar_jw_key(&w, "status");
	kar_jw_begin_object(&w);
	kar_status_write(&w, table, status, mask);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}
