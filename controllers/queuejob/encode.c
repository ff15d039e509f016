#include "controllers/queuejob/encode.h"
#include "controllers/queuejob/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/names.h"
#include "api/new_object.h"
#include "api/pod/pod_renderer.h"
#include "common/codec/json.h"
#include "controllers/podset/podset.h"
#include "controllers/queuejob/queuejob.h"

static void write_spec(struct kar_json_writer *w, const struct kar_action *a)
{
	if (a->what == QUEUEJOB_CREATE_NATIVE)
		kar_native_spec_write(w, a->payload);
	else if (a->type == &kar_podgroup_type)
		kar_podgroup_spec_write(w, a->payload);
	else if (a->type == &kar_service_type)
		kar_service_spec_write(w, a->payload);
	else
		kar_schedspec_write(w, a->payload);
}

/* A new SchedulingSpec, PodGroup (ours, or that of Kubernetes) or Service, controlled by the job. */
static void write_child(struct kar_json_writer *w, const struct kar_sync *s, const struct kar_action *a)
{
	kar_jw_begin_object(w);
	kar_new_object_begin(w, &a->type->res, a->ns, a->name);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, s->object->name);
	kar_jw_end_object(w);
	kar_queuejob_write_owner(w, queuejob_of(s));
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	write_spec(w, a);
	kar_jw_end_object(w);
}

/* Begins an operation of a JSON patch; the caller writes its value. */
static void begin_operation(struct kar_json_writer *w, const char *op, const char *path)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "op", op);
	kar_jw_kv_string(w, "path", path);
	kar_jw_key(w, "value");
}

/* Begins a JSON patch. Its first operation fails if another object has the name by now. */
static void begin_patch(struct kar_json_writer *w, const struct kar_action *a)
{
	kar_jw_begin_array(w);
	begin_operation(w, "test", "/metadata/uid");
	kar_jw_string(w, a->uid);
	kar_jw_end_object(w);
}

/* Replaces the whole spec, because a merge would leave fields that somebody added. */
static void write_spec_patch(struct kar_json_writer *w, const struct kar_action *a)
{
	begin_patch(w, a);
	begin_operation(w, "add", "/spec");
	write_spec(w, a);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

/* Patches only two fields, because the API server fills in the others. */
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

/* Begins a merge patch of metadata. The API server refuses it if the uid is another one. */
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

/* The resourceVersion makes the API server refuse the patch if the object has changed, as it may have got another owner. */
static void write_adoption(struct kar_json_writer *w, const struct kar_sync *s, const struct kar_action *a)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	begin_metadata_patch(w, a);
	kar_jw_kv_string(w, "resourceVersion", version);
	kar_queuejob_write_owner(w, queuejob_of(s));
	end_metadata_patch(w);
}

static int encode_pod(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err)
{
	const struct queuejob_new_pod *pod = a->payload;
	const struct kar_pod_params params = {
		.job = queuejob_of(s),
		.task = pod->task,
		.index = pod->index,
		.incarnation = pod->incarnation,
		.template_hash = queuejob_of(s)->spec_template_hash,
		.pin = pod->pin,
		.domain = pod->domain,
		.flavor = pod->flavor,
		.bound = pod->bound,
		.native = pod->native,
	};

	return kar_pod_renderer_write(&queuejob_key(s)->renderer, &params, out, err);
}

int queuejob_encode(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err)
{
	struct kar_json_writer w;

	if (a->what == QUEUEJOB_CREATE_POD)
		return encode_pod(s, a, out, err);
	if (podset_encode(a, out))
		return 0;
	kar_json_writer_init(&w, out);
	switch (a->what) {
	case QUEUEJOB_CREATE_SCHEDULINGSPEC:
	case QUEUEJOB_CREATE_PODGROUP:
	case QUEUEJOB_CREATE_SERVICE:
	case QUEUEJOB_CREATE_NATIVE:
		write_child(&w, s, a);
		break;
	case QUEUEJOB_PATCH_SCHEDULINGSPEC:
	case QUEUEJOB_PATCH_PODGROUP:
		write_spec_patch(&w, a);
		break;
	case QUEUEJOB_PATCH_NATIVE:
		kar_native_patch_write(&w, a->payload);
		break;
	case QUEUEJOB_PATCH_SERVICE:
		write_service_patch(&w, a);
		break;
	default:
		assert(a->what == QUEUEJOB_ADOPT);
		write_adoption(&w, s, a);
		break;
	}
	kar_json_writer_release(&w);
	return 0;
}

const char *queuejob_encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_write_preconditions(&w, s->object);
	kar_jw_key(&w, "status");
	kar_queuejob_status_write(&w, s->plan.status);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return "status";
}
