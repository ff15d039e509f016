/*
 * store - the objects of one resource, every version's place in the one history, lists and watches over it.
 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include "sim/apiserver/internal.h"
#include "sim/apiserver/selector.h"

/* One version of one object. Immutable, counted. */
struct sim_version {
	size_t refs;
	int64_t rv;
	struct sim_value *value; /* with metadata.resourceVersion set */
	struct sim_text *text;   /* compact JSON, made when first asked for */
	/* Where `spec`, mostly the largest member, is printed: here, or in an older version that has the very same value. */
	struct sim_text *spec_text;
	size_t spec_at, spec_n;
};

struct sim_collection;
struct sim_collection *sim_collection_new(void) KAR_MUSTUSE KAR_RETNN;
void sim_collection_free(struct sim_collection *c);
/* Borrowed until the next write of the object. @ns NULL or "": cluster-scoped. */
struct sim_version *sim_collection_get(const struct sim_collection *c, const char *ns, const char *name);
size_t sim_collection_count(const struct sim_collection *c) KAR_NONNULL;
/* In order of namespace, name; from just after @after ("ns/name", NULL: the start); only @ns unless NULL. NULL ends. */
struct sim_version *sim_collection_next(const struct sim_collection *c, const char *ns, const char *after_ns,
	const char *after_name) __attribute__((nonnull(1)));
struct sim_text *sim_version_text(struct sim_version *v) KAR_NONNULL KAR_RETNN; /* borrowed */

/*
 * Commits a write: gives it the next resourceVersion, stores (@consumed; NULL: removes), appends to the history, tells
 * watches and listeners. Returns the version (for a removal: the last state, with the resourceVersion of the removal),
 * borrowed until the next write.
 */
struct sim_version *sim_store_commit(struct sim_apiserver *s, struct sim_resource *r,
	const struct sim_request *rq, const char *ns, const char *name, struct sim_value *consumed) KAR_RETNN;

#endif
