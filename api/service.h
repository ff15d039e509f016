/*
 * service - the headless Service of a QueueJob (v1), which gives its pods the names <pod>.<job> in DNS.
 *
 * Only Services that carry our label are read (KAR_LABEL_QUEUEJOB), and of them only what the manager sets itself.
 */
#ifndef KAR_API_SERVICE_H
#define KAR_API_SERVICE_H

#include <assert.h>

#include "common/kube/object.h"
#include "common/mem.h"

struct kar_json_writer;

/* What the manager wants of a Service; that it is headless goes without saying. */
struct kar_service_spec {
	const char *job; /* the pods with this value of our label are behind it; NULL: another selector */
	bool publish_not_ready;
};

struct kar_service {
	struct kar_object o; /* first */
	struct kar_arena mem;
	const char *owner_uid; /* controller's; NULL: none */
	bool orphan;           /* see kar_queuejob_orphan() */
	bool headless;         /* without an address; that cannot be edited */
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
/* Writes the spec object value of a headless Service without ports. @s->job is not NULL. */
void kar_service_spec_write(struct kar_json_writer *w, const struct kar_service_spec *s) KAR_NONNULL;

#endif
