/* The QueueJob that is made of a TrainingJob, and a patch of it. */
#include "controllers/trainingjob/trainingjob.h"

#include "api/names.h"
#include "api/new_object.h"
#include "api/trainingjob/trainingjob_queuejob.h"
#include "common/codec/json.h"

static void write_new(struct kar_json_writer *w, const struct trainingjob_make *m)
{
	char version[KAR_API_VERSION_LEN];
	const struct kar_wire_owner owner = { .api_version =
						      kar_api_version(&kar_trainingjob_type.res, version),
		.kind = kar_trainingjob_type.res.kind,
		.name = m->t->o.name,
		.uid = m->t->o.uid };

	kar_jw_begin_object(w);
	kar_new_object_begin(w, &kar_queuejob_type.res, m->t->o.ns, m->t->o.name);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_TRAINING_UID, m->t->o.uid);
	kar_jw_end_object(w);
	kar_jw_key(w, "annotations");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_ANNOTATION_MADE_OF, m->made_of);
	kar_jw_end_object(w);
	kar_new_object_owner(w, &owner, true);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_training_write_spec(w, m->t, m->trainers);
	kar_jw_end_object(w);
}

static void begin_operation(struct kar_json_writer *w, const char *op, const char *path)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "op", op);
	kar_jw_kv_string(w, "path", path);
	kar_jw_key(w, "value");
}

/* A JSON patch, which fails if another object has the name by now. */
static void write_patch(struct kar_json_writer *w, const struct trainingjob_make *m, const char *uid)
{
	kar_jw_begin_array(w);
	begin_operation(w, "test", "/metadata/uid");
	kar_jw_string(w, uid);
	kar_jw_end_object(w);
	if (m->annotated) {
		begin_operation(w, "add", "/metadata/annotations/kube-arbitrator.io~1made-of");
		kar_jw_string(w, m->made_of);
	} else { /* a member is not added to an object that is not there */
		begin_operation(w, "add", "/metadata/annotations");
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, KAR_ANNOTATION_MADE_OF, m->made_of);
		kar_jw_end_object(w);
	}
	kar_jw_end_object(w);
	begin_operation(w, "replace", "/spec");
	kar_training_write_spec(w, m->t, m->trainers);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

int trainingjob_encode(const struct kar_action *a, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	if (a->what == TRAININGJOB_MAKE)
		write_new(&w, a->payload);
	else
		write_patch(&w, a->payload, a->uid);
	kar_json_writer_release(&w);
	return 0;
}
