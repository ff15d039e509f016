/*
 * internal - what the parts of the API server know of each other. Private to sim/apiserver/.
 *
 *   apiserver.c  wiring; verbs.c  the generic registry: every verb, step by step      meta.c  ObjectMeta rules
 *   store.c      objects, history, watches, lists                                     status.c  metav1.Status
 *   resource.c   which resources are served: the built-in table and CRDs (crd.c)
 *   strategy_*.c what is special about built-in types; admission_*.c                  gc.c, namespaces.c  controllers
 *   patch_*.c apply.c selector.c schema*.c  pure functions on trees
 *   table.c discovery.c openapi.c http_*.c  what only HTTP clients need
 */
#ifndef SIM_APISERVER_INTERNAL_H
#define SIM_APISERVER_INTERNAL_H

#include "sim/apiserver/apiserver.h"

/* --- status.c: answers that are errors ---------------------------------------------------------------------- */

/* Causes of an Invalid answer, in order. Fixed texts as the API server writes them. */
struct sim_cause {
	char *reason;  /* "FieldValueInvalid" */
	char *message; /* "Invalid value: -1: spec.x in body should be greater than or equal to 0" */
	char *field;   /* "spec.taskSpecs[0].replicas" */
};
struct sim_causes {
	struct sim_cause *items; /* owned */
	size_t n;
};
/* @message is a printf text. */
void sim_cause_add(struct sim_causes *c, const char *reason, const char *field, const char *fmt, ...)
	KAR_PRINTF(4, 5);
void sim_causes_release(struct sim_causes *c) KAR_NONNULL;

struct sim_resource;
/*
 * Each fills @out with a metav1.Status (code, reason, message, details) worded as by k8s.io/apimachinery/pkg/api/errors, and
 * returns false, so that a step can `return sim_refuse_...(...)`.
 */
bool sim_refuse(struct sim_response *out, int code, const char *reason, const char *fmt, ...)
	KAR_PRINTF(4, 5);
bool sim_refuse_not_found(struct sim_response *out, const struct sim_resource *r, const char *name);
bool sim_refuse_exists(struct sim_response *out, const struct sim_resource *r, const char *name);
bool sim_refuse_conflict(struct sim_response *out, const struct sim_resource *r, const char *name,
	const char *why);
bool sim_refuse_forbidden(struct sim_response *out, const struct sim_resource *r, const char *name,
	const char *fmt, ...) KAR_PRINTF(4, 5);
bool sim_refuse_bad_request(struct sim_response *out, const char *fmt, ...) KAR_PRINTF(2, 3);
bool sim_refuse_invalid(struct sim_response *out, const struct sim_resource *r, const char *name,
	const struct sim_causes *causes);
bool sim_refuse_expired(struct sim_response *out, const char *fmt, ...) KAR_PRINTF(2, 3); /* 410 */
/* 405: @action is the verb ("create"). */
bool sim_refuse_method(struct sim_response *out, const struct sim_resource *r, const char *action);
/* 422 about something that is not a served resource: options, or a resource named in the place of its kind. */
bool sim_refuse_invalid_kind(struct sim_response *out, const char *group, const char *kind, const char *name,
	const struct sim_causes *causes);
/* Gives the Status in @out details with these causes; NULL: empty ones. */
void sim_status_add_causes(struct sim_response *out, const struct sim_causes *causes);
/* 504 with cause ResourceVersionTooLarge. */
bool sim_refuse_too_large(struct sim_response *out, int64_t asked, int64_t current);

/* --- resource.c: what is served ------------------------------------------------------------------------------ */

/* One write on its way through a strategy. */
struct sim_write {
	struct sim_apiserver *s;
	const struct sim_resource *resource;
	const struct sim_request *rq;
	const struct sim_value *old; /* NULL: create */
	struct sim_value **new;
	struct sim_causes causes; /* anything added refuses the write with 422 */
};

/*
 * What a built-in type does beyond the generic rules. Every member may be NULL. Order of a create: prepare, default_,
 * admit, validate; of an update: the same with w->old set (status updates: prepare_status instead of prepare).
 */
struct sim_strategy {
	/* Clears or carries over what the writer may not set: status on create and spec updates, spec on status updates. */
	void (*prepare)(struct sim_write *w);
	void (*prepare_status)(struct sim_write *w);
	void (*default_)(struct sim_write *w);
	/* Admission: false with @out filled refuses (403 quota ...). May edit *w->new. */
	bool (*admit)(struct sim_write *w, struct sim_response *out);
	void (*validate)(struct sim_write *w); /* fills w->causes */
	/* Seconds a graceful deletion takes, 0: at once. May edit *w->new (pods: deletionGracePeriodSeconds). */
	int64_t (*grace)(struct sim_write *w, int64_t asked /* -1: not asked */);
	/* Field selector values: the text of @field ("spec.nodeName"), "" if empty, NULL if the type has no such field label. */
	const char *(*field)(const struct sim_value *object, const char *field);
	/* Subresources beyond "status": true if handled, @out filled (pods/binding, pods/eviction, serviceaccounts/token). */
	bool (*subresource)(struct sim_apiserver *s, const struct sim_resource *r,
		const struct sim_request *rq, struct sim_response *out);
	/* Instead of the generic create (bindings, reviews) or delete (namespaces): true if handled, @out filled. */
	bool (*create)(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
		struct sim_response *out);
	bool (*delete_)(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
		struct sim_response *out);
	/* True: what is being deleted stays although it has no finalizers (namespaces: spec.finalizers). */
	bool (*keep)(const struct sim_value *object);
	/* After the write was committed (CRD installed, namespace deleted). */
	void (*committed)(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_value *old,
		const struct sim_value *new);
};

struct sim_schema; /* schema.h */
struct sim_type;   /* types.h */
struct sim_types;

enum sim_names {
	SIM_NAMES_SUBDOMAIN,
	SIM_NAMES_LABEL,
	SIM_NAMES_LABEL_1035,
	SIM_NAMES_PATH /* anything without / and % */
};

struct sim_resource {
	const char *group, *version, *plural, *singular, *kind, *list_kind;
	const char *const *short_names; /* NULL-terminated; may be NULL */
	const char *const *categories;  /* likewise */
	bool namespaced;
	bool has_status; /* the status subresource is separate */
	bool tracks_generation; /* metadata.generation: bumped when spec (anything but metadata and status) changes */
	bool custom;            /* from a CRD */
	bool create_on_update; /* PUT of what is missing creates it (leases, events, RBAC ...) */
	bool needs_version; /* PUT without metadata.resourceVersion is refused (custom resources, leases ...) */
	bool returns_deleted; /* DELETE answers the object, not a Status (pods, namespaces ...) */
	bool terminating;     /* its CRD is being deleted: nothing new may be created */
	bool unserved;        /* served no more, but its objects stay: HTTP clients do not see it */
	bool no_dependents;   /* propagationPolicy sets no finalizers (events) */
	enum sim_names names;
	unsigned verbs; /* 1u << KAR_GET | ...; 0: all */
	/*
	 * Another group or version of what @stored_as stores (events.k8s.io): no objects of its own.
	 * The two translate an object in place; metadata is common. NULL: only apiVersion and kind differ.
	 */
	struct sim_resource *stored_as;
	void (*to_stored)(struct sim_value **object);
	void (*from_stored)(struct sim_value **object);
	const struct sim_strategy *strategy; /* may be NULL */
	const struct sim_schema *schema;     /* of custom resources; NULL: none is enforced */
	const struct sim_type *type; /* of built-in ones, for sim_types_decode(); NULL: not looked into */
	const struct sim_value
		*columns; /* additionalPrinterColumns of a CRD; NULL: built-in (table.c) or Name, Age */
	const struct sim_value *selectable; /* selectableFields of a CRD; NULL: none */
	struct sim_collection *objects;     /* store.h */
};

enum { SIM_RESOURCE_NAME_MAX = 512 }; /* bytes of a resource and its group */
/* "deployments.apps", "pods": as error texts name it. @out is returned. */
const char *sim_resource_name(const struct sim_resource *r, char *out, size_t size) KAR_NONNULL KAR_RETNN;
/* NULL: not served. */
struct sim_resource *sim_resource_find(const struct sim_apiserver *s, const char *group, const char *version,
	const char *plural) KAR_NONNULL;
/* By kind, any version; NULL: none. For ownerReferences and CRDs. */
struct sim_resource *sim_resource_of_kind(const struct sim_apiserver *s, const char *group,
	const char *kind) KAR_NONNULL;
/* By plural, any version; NULL: none. */
struct sim_resource *sim_resource_of_group(const struct sim_apiserver *s, const char *group,
	const char *plural) KAR_NONNULL;
/* Takes a copy of @r (strings borrowed for the server's life, see sim_keep()). */
struct sim_resource *sim_resource_add(struct sim_apiserver *s,
	const struct sim_resource *r) KAR_NONNULL KAR_RETNN;
void sim_resource_remove(struct sim_apiserver *s, struct sim_resource *r) KAR_NONNULL;
/* Iteration in the order of registration; NULL ends. */
struct sim_resource *sim_resource_at(const struct sim_apiserver *s, size_t i) KAR_NONNULL;
/* A copy of @text that lives as long as the server. */
const char *sim_keep(struct sim_apiserver *s, const char *text) KAR_NONNULL KAR_RETNN;

/* The table of built-in types (builtin.c) with their strategies: registers all. */
void sim_builtin_register(struct sim_apiserver *s) KAR_NONNULL;
extern const struct sim_strategy sim_strategy_crd; /* crd.c */

/* --- table.c --------------------------------------------------------------------------------------------------- */

/*
 * The meta.k8s.io/v1 Table of @n objects of @r, without metadata of the list; new value. @include: "Metadata", "Object" or
 * "None" (what `object` of a row holds). @now: wall ms, for ages.
 */
struct sim_value *sim_table(const struct sim_resource *r, const struct sim_value *const *items, size_t n,
	const char *include, kar_time now) KAR_MUSTUSE KAR_RETNN;

/* --- apiserver.c ---------------------------------------------------------------------------------------------- */

/* Runs @rq as the system itself (GC, namespace controller); returns the HTTP code. */
int sim_apiserver_do(struct sim_apiserver *s, struct sim_request rq) KAR_NONNULL;
struct sim_random *sim_apiserver_random(struct sim_apiserver *s) KAR_NONNULL KAR_RETNN;
const struct sim_types *sim_apiserver_types(
	const struct sim_apiserver *s) KAR_NONNULL KAR_RETNN; /* types.h */

/* Background controllers inside the server (kube-controller-manager's part). Each listens and works by alarms. */
struct sim_gc *sim_gc_new(struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN;
void sim_gc_free(struct sim_gc *g);
struct sim_namespaces *sim_namespaces_new(struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN;
void sim_namespaces_free(struct sim_namespaces *n);
/*
 * ResourceQuotas (admission_quota.c). Called for every namespaced resource, custom ones too, after validation: on create, on
 * update (pods, services), not for subresources. Charges the write to the quotas it touches (their status.used is written at once,
 * so it must be the last step before the commit), but not when rq->dry_run. False with @out filled (403) refuses.
 */
bool sim_quota_admit(struct sim_write *w, struct sim_response *out) KAR_NONNULL;
struct sim_quota *sim_quota_new(
	struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN; /* keeps ResourceQuota.status.used */
void sim_quota_free(struct sim_quota *q);

#endif
