#include "controllers/queuejob/encode.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/names.h"
#include "api/pod_stencil.h"
#include "common/json.h"
#include "controllers/queuejob/queuejob.h"

static const struct kar_queuejob *job_of(const struct kar_sync *s)
{
	return kar_as_queuejob(s->object);
}

static void write_spec(struct kar_json_writer *w, const struct kar_action *a)
{
	if (a->type == &kar_podgroup_type)
		kar_podgroup_spec_write(w, a->payload);
	else if (a->type == &kar_service_type)
		kar_service_spec_write(w, a->payload);
	else
		kar_schedspec_write(w, a->payload);
}

/* A new SchedulingSpec, PodGroup or Service, controlled by the job. */
static void write_child(struct kar_json_writer *w, const struct kar_sync *s, const struct kar_action *a)
{
	const struct kar_resource *res = &a->type->res;
	char api_version[128];

	snprintf(api_version, sizeof(api_version), "%s%s%s", res->group, res->group[0] ? "/" : "",
		res->version);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "apiVersion", api_version);
	kar_jw_kv_string(w, "kind", res->kind);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", a->name);
	kar_jw_kv_string(w, "namespace", a->ns ? a->ns : "");
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, s->object->name);
	kar_jw_end_object(w);
	kar_queuejob_write_owner(w, job_of(s));
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	write_spec(w, a);
	kar_jw_end_object(w);
}

/* Of a JSON patch, up to its value. */
static void begin_operation(struct kar_json_writer *w, const char *op, const char *path)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "op", op);
	kar_jw_kv_string(w, "path", path);
	kar_jw_key(w, "value");
}

/* A JSON patch that fails unless the object is the one that was looked at. */
static void begin_patch(struct kar_json_writer *w, const struct kar_action *a)
{
	kar_jw_begin_array(w);
	begin_operation(w, "test", "/metadata/uid");
	kar_jw_string(w, a->uid);
	kar_jw_end_object(w);
}

/* JSON patch: the spec as a whole, so that what was added to it goes too. */
static void write_spec_patch(struct kar_json_writer *w, const struct kar_action *a)
{
	begin_patch(w, a);
	begin_operation(w, "add", "/spec");
	write_spec(w, a);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

/* The rest of a Service's spec is the API server's business. */
static void write_service_patch(struct kar_json_writer *w, const struct kar_action *a)
{
	const struct kar_service_spec *want = a->payload;

	begin_patch(w, a);
	begin_operation(w, "add", "/spec/selector");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, want->job);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	begin_operation(w, "add", "/spec/publishNotReadyAddresses");
	kar_jw_bool(w, want->publish_not_ready);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

/* A merge patch, or a strategic one, of metadata. A wrong uid makes the API server refuse it. */
static void begin_metadata_patch(struct kar_json_writer *w, const struct kar_action *a)
{
	kar_jw_begin_object(w);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", a->uid);
}

static void end_metadata_patch(struct kar_json_writer *w)
{
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_service_label(struct kar_json_writer *w, const struct kar_sync *s,
	const struct kar_action *a)
{
	begin_metadata_patch(w, a);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, s->object->name);
	kar_jw_end_object(w);
	end_metadata_patch(w);
}

/* Merge patch of an object without owners, and only as it was read. */
static void write_adoption(struct kar_json_writer *w, const struct kar_sync *s, const struct kar_action *a)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	begin_metadata_patch(w, a);
	kar_jw_kv_string(w, "resourceVersion", version);
	kar_queuejob_write_owner(w, job_of(s));
	end_metadata_patch(w);
}

static void write_finalizers(struct kar_json_writer *w, const char *key)
{
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	kar_jw_string(w, KAR_FINALIZER_POD_TRACKING);
	kar_jw_end_array(w);
}

/* Strategic merge patch: removes our finalizer and no other. */
static void write_release(struct kar_json_writer *w, const struct kar_action *a)
{
	begin_metadata_patch(w, a);
	write_finalizers(w, "$deleteFromPrimitiveList/finalizers");
	end_metadata_patch(w);
}

/* Strategic merge patch: removes our gate, by its name, and no other. */
static void write_ungate(struct kar_json_writer *w, const struct kar_action *a)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	kar_jw_begin_object(w);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", a->uid);
	kar_jw_kv_string(w, "resourceVersion", version);
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
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_number(struct kar_json_writer *w, const char *key, int32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRId32, n);
	kar_jw_kv_string(w, key, text);
}

static void write_repair(struct kar_json_writer *w, const struct kar_sync *s, const struct kar_action *a)
{
	const struct queuejob_new_pod *as = a->payload;

	begin_metadata_patch(w, a);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, s->object->name);
	kar_jw_kv_string(w, KAR_LABEL_TASK, job_of(s)->spec.tasks[as->task].name);
	write_number(w, KAR_LABEL_INDEX, as->index);
	write_number(w, KAR_LABEL_INCARNATION, as->incarnation);
	kar_jw_kv_string(w, KAR_LABEL_POD_GROUP, s->object->name);
	kar_jw_end_object(w);
	write_finalizers(w, "finalizers");
	end_metadata_patch(w);
}

static int encode_pod(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err)
{
	const struct queuejob_new_pod *pod = a->payload;
	const struct kar_pod_params params = {
		.job = job_of(s),
		.task = pod->task,
		.index = pod->index,
		.incarnation = pod->incarnation,
		.template_hash = job_of(s)->spec_template_hash,
		.gated = pod->gated,
	};

	return kar_pod_stencil_write(&s->state->stencil, &params, out, err);
}

int queuejob_encode(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err)
{
	struct kar_json_writer w;

	if (a->what == QUEUEJOB_CREATE_POD)
		return encode_pod(s, a, out, err);
	kar_json_writer_init(&w, out);
	switch (a->what) {
	case QUEUEJOB_CREATE_SCHEDULINGSPEC:
	case QUEUEJOB_CREATE_PODGROUP:
	case QUEUEJOB_CREATE_SERVICE:
		write_child(&w, s, a);
		break;
	case QUEUEJOB_PATCH_SCHEDULINGSPEC:
	case QUEUEJOB_PATCH_PODGROUP:
		write_spec_patch(&w, a);
		break;
	case QUEUEJOB_PATCH_SERVICE:
		write_service_patch(&w, a);
		break;
	case QUEUEJOB_LABEL_SERVICE:
		write_service_label(&w, s, a);
		break;
	case QUEUEJOB_ADOPT:
		write_adoption(&w, s, a);
		break;
	case QUEUEJOB_REPAIR_POD:
		write_repair(&w, s, a);
		break;
	case QUEUEJOB_UNGATE_POD:
		write_ungate(&w, a);
		break;
	default:
		assert(a->what == QUEUEJOB_RELEASE_POD);
		write_release(&w, a);
		break;
	}
	kar_json_writer_release(&w);
	return 0;
}

void queuejob_encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_write_preconditions(&w, s->object);
	kar_jw_key(&w, "status");
	kar_queuejob_status_write(&w, s->plan.status);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}
