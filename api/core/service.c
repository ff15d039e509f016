#include "api/core/service.h"

#include <stdlib.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/queuejob/queuejob.h"
#include "common/codec/json.h"

#define NO_ADDRESS "None"

struct wire_spec {
	const char *cluster_ip;
	struct kar_array selector; /* struct kar_pair */
	bool publish_not_ready;
};

struct wire_service {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, cluster_ip, "clusterIP", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, selector, "selector", KAR_F_MAP),
	KAR_FIELD(struct wire_spec, publish_not_ready, "publishNotReadyAddresses", KAR_F_BOOL),
};
static const struct kar_desc spec_desc = KAR_DESC("ServiceSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_service),
	KAR_FIELD_SUB(struct wire_service, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("Service", struct wire_service, fields);

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_service *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	const struct kar_wire_owner *owner = kar_wire_controller(m);
	struct kar_service *s = kar_xcalloc(1, sizeof(*s));

	kar_object_init(&s->o, &kar_service_type, &w->head, kar_copy_text(&s->mem, m->name),
		kar_copy_text(&s->mem, m->uid), strings);
	s->owner_uid = owner ? kar_copy_fit(&s->mem, owner->uid, KAR_COPY_UID) : NULL;
	s->owner = kar_owner_text(m, &s->mem);
	s->orphan = kar_queuejob_orphan(m);
	s->deletion = m->deletion;
	s->headless = kar_streq(w->spec.cluster_ip, NO_ADDRESS);
	if (w->spec.selector.n == 1) /* any other selector besides ours excludes pods */
		s->spec.job = kar_copy_fit(&s->mem, kar_pairs_get(&w->spec.selector, KAR_LABEL_QUEUEJOB),
			KAR_COPY_VALUE);
	s->spec.publish_not_ready = w->spec.publish_not_ready;
	return &s->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_service *s = kar_container_of(o, struct kar_service, o);

	kar_arena_release(&s->mem);
	free(s);
}

static const char *index_key(const struct kar_object *o KAR_UNUSED, int i KAR_UNUSED)
{
	return NULL;
}

const struct kar_type kar_service_type = {
	.res = { .group = "", .version = "v1", .plural = "services", .kind = "Service", .namespaced = true },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
};

bool kar_service_spec_equal(const struct kar_service_spec *a, const struct kar_service_spec *b)
{
	return kar_streq(a->job, b->job) && a->publish_not_ready == b->publish_not_ready;
}

bool kar_service_same_content(const struct kar_service *a, const struct kar_service *b)
{
	return kar_object_same(&a->o, &b->o) && kar_streq(a->owner_uid, b->owner_uid) &&
		a->orphan == b->orphan && a->headless == b->headless && a->deletion == b->deletion &&
		kar_service_spec_equal(&a->spec, &b->spec);
}

void kar_service_spec_write(struct kar_json_writer *w, const struct kar_service_spec *s)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "clusterIP", NO_ADDRESS);
	kar_jw_key(w, "selector");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_QUEUEJOB, s->job);
	kar_jw_end_object(w);
	kar_jw_kv_bool(w, "publishNotReadyAddresses", s->publish_not_ready);
	kar_jw_end_object(w);
}
