/*
 * lease - coordination.k8s.io/v1 Lease as JSON: what is read of one, and the bodies of our writes.
 *
 * A member that is missing or cannot be read counts as absent. Changes are merge patches that name the version they are based on: they
 * leave alone whatever else others put into the object.
 */
#ifndef KAR_LEASE_H
#define KAR_LEASE_H

#include "common/base/buf.h"
#include "common/kube/election.h"
#include "common/kube/object.h"

extern const struct kar_resource kar_lease_resource;

struct kar_lease_spec {
	const char *holder;
	int32_t duration_seconds, transitions;
};

struct kar_lease_wire {
	struct kar_wire_object head;
	struct kar_lease_spec spec;
};

/* What an event of a watch says. */
struct kar_lease_event {
	const char *type; /* "ADDED" ... */
	struct kar_lease_wire object;
};
extern const struct kar_desc kar_lease_event_desc;

/* KAR_INVALID if @w has no resourceVersion, or one that is too long. @identity: our own. */
int kar_lease_record_of(const struct kar_lease_wire *w, const char *identity, struct kar_lease_record *out,
	struct kar_err *err) KAR_NONNULL;
/* The same for the object in an answer. */
int kar_lease_decode(struct kar_str body, const char *identity, struct kar_lease_record *out,
	struct kar_err *err) KAR_NONNULL;

struct kar_lease_write {
	const char *identity;
	kar_time duration; /* ms; rounded up to seconds */
	kar_time now;      /* wall */
	const char *app;   /* for the label app.kubernetes.io/name, by which uninstall finds it */
};
/* Append the body of a write to @out: a new Lease, or the change of @before. */
void kar_lease_create_body(const struct kar_lease_write *w, const char *ns, const char *name,
	struct kar_buf *out) KAR_NONNULL;
void kar_lease_take_body(const struct kar_lease_write *w, const struct kar_lease_record *before,
	struct kar_buf *out) KAR_NONNULL;
void kar_lease_renew_body(const struct kar_lease_write *w, const struct kar_lease_record *before,
	struct kar_buf *out) KAR_NONNULL;
/* Nobody holds it any more. */
void kar_lease_release_body(const struct kar_lease_write *w, const struct kar_lease_record *before,
	struct kar_buf *out) KAR_NONNULL;

#endif
