/*
 * service - the headless Service of a QueueJob (v1), which gives its pods the names <pod>.<job> in DNS.
 *
 * Only Services that carry our label (KAR_LABEL_QUEUEJOB) are read, and only the members that the manager sets.
 */
#ifndef KAR_API_SERVICE_H
#define KAR_API_SERVICE_H

#include <assert.h>

#include "common/base/mem.h"
#include "common/kube/object.h"

struct kar_json_writer;

/* The spec that the manager sets. The Service is headless as well. */
struct kar_service_spec {
	const char *
		job; /* it selects the pods whose label /queuejob has this value; NULL: it has another selector */
	bool publish_not_ready;
};

struct kar_service {
	struct kar_object o; /* first */
	struct kar_arena mem;
	const char *owner_uid; /* of its controller; NULL: none */
	const char *owner;     /* "CRDJob demo"; NULL: none */
	bool orphan;           /* see kar_queuejob_orphan() */
	bool headless;         /* has no address; the field is immutable */
	kar_time deletion;
	struct kar_service_spec spec;
};

extern const struct kar_type kar_service_type;

static inline const struct kar_service *kar_as_service(const struct kar_object *o)
{
	assert(o && o->type == &kar_service_type);
	return (const struct kar_service *)(const void *)o;
}

bool kar_service_spec_equal(const struct kar_service_spec *a, const struct kar_service_spec *b) KAR_NONNULL;
/* See kar_podgroup_same_content(). */
bool kar_service_same_content(const struct kar_service *a, const struct kar_service *b) KAR_NONNULL;
/* Writes the spec object value of a headless Service without ports. @s->job is not NULL. */
void kar_service_spec_write(struct kar_json_writer *w, const struct kar_service_spec *s) KAR_NONNULL;

#endif
