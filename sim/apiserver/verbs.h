/*
 * verbs - the generic registry: one request on its way. Private to verbs*.c, body.c, meta*.c and crd*.c.
 */
#ifndef SIM_VERBS_H
#define SIM_VERBS_H

#include "sim/apiserver/core.h"

/* What wants to be written: errors and managedFields differ. */
enum sim_origin { SIM_FROM_BODY, SIM_FROM_PATCH, SIM_FROM_APPLY };

struct sim_call {
	struct sim_apiserver *s;
	struct sim_resource *r;      /* as asked for */
	struct sim_resource *stored; /* that holds the objects: r, or r->stored_as */
	const struct sim_request *rq;
	struct sim_response *out;
	struct kar_buf warnings; /* one per line */
};

/* Each fills c->out. */
void sim_verb_create(struct sim_call *c) KAR_NONNULL;
void sim_verb_update(struct sim_call *c) KAR_NONNULL;
void sim_verb_patch(struct sim_call *c) KAR_NONNULL;
void sim_verb_delete(struct sim_call *c) KAR_NONNULL;
void sim_verb_delete_collection(struct sim_call *c) KAR_NONNULL;

/* The status subresource was asked for. */
bool sim_call_is_status(const struct sim_call *c) KAR_NONNULL;

/* --- steps: false (or NULL) with c->out filled if they refuse --- */

/* body.c: the body as an object (or null) whose kind and apiVersion, if they are there, are strings; new reference. */
struct sim_value *sim_body_json(struct sim_call *c) KAR_NONNULL;
/* As Go names the kinds of JSON: "number". Static. */
const char *sim_body_kind_name(const struct sim_value *v) KAR_RETNN;
/* The body as a decoded object of c->r in stored form: kind and apiVersion are checked and come first. New reference. */
struct sim_value *sim_body_object(struct sim_call *c) KAR_NONNULL;
/* kind and apiVersion of what c->stored keeps, as first members, as lists count on (form.c). */
void sim_body_order(struct sim_call *c, struct sim_value **object) KAR_NONNULL;
/*
 * What the decoder of a real server makes of an object in stored form: values of a wrong type are refused; unknown members are
 * removed, reported or refused, as the request's fieldValidation says. Parts shared with @old (may be NULL) went through this.
 */
bool sim_body_decode(struct sim_call *c, struct sim_value **object, const struct sim_value *old,
	enum sim_origin origin) __attribute__((nonnull(1, 2)));
/* False if a patch made another kind of an object of a built-in type. */
bool sim_body_check_patched_type(struct sim_call *c, const struct sim_value *object) KAR_NONNULL;

/* meta.c */
/* The object has the name and the namespace of the request; what is missing of the namespace is filled in. */
bool sim_meta_check_place(struct sim_call *c, struct sim_value **object) KAR_NONNULL;
bool sim_meta_check_name(struct sim_call *c, const struct sim_value *object) KAR_NONNULL;
/* What only the server may set is removed; then set, with a name if only generateName is given. */
void sim_meta_wipe(struct sim_value **object) KAR_NONNULL;
void sim_meta_fill(struct sim_call *c, struct sim_value **object) KAR_NONNULL;
/* Of several ownerReferences with one uid the first stays; warned of. */
void sim_meta_dedup_owners(struct sim_call *c, struct sim_value **object) KAR_NONNULL;
/*
 * Metadata of a custom resource as the API server's ObjectMeta would print it. -1 with its text if a member has a wrong type.
 * Paths of unknown members are appended to the array *@removed.
 */
int sim_meta_canonical(struct sim_value **object, struct sim_value **removed,
	struct kar_err *err) KAR_NONNULL;
/* meta_validate.c: rules of ObjectMeta; what is wrong is added to w->causes. */
void sim_meta_validate(struct sim_write *w) KAR_NONNULL;

/* pass.c: the hooks of the strategy, the schema and the rules of ObjectMeta, in their order. */
bool sim_write_pass(struct sim_call *c, struct sim_write *w) KAR_NONNULL;
/* managedFields after an update or patch: kept only of objects that somebody applies. */
void sim_write_track(struct sim_call *c, const struct sim_value *old, struct sim_value **new) KAR_NONNULL;
/*
 * A write after which all is as it was, but for when managers wrote, is none: *new gets the times of @old. Apply cannot know:
 * what it removes, admission may put back.
 */
void sim_write_keep_times(const struct sim_value *old, struct sim_value **new) KAR_NONNULL;

/* verbs_create.c: stores @consumed as a new object; answers 201. */
void sim_create_object(struct sim_call *c, struct sim_value *consumed, enum sim_origin origin) KAR_NONNULL;
/* verbs_update.c: replaces @old by @consumed; answers 200. */
void sim_update_object(struct sim_call *c, struct sim_version *old, struct sim_value *consumed,
	enum sim_origin origin) KAR_NONNULL;
/* 409 in the words of the storage layer. @uid: of the object there, "" if there is none. */
bool sim_refuse_uid(struct sim_call *c, const char *name, const char *asked, const char *uid) KAR_NONNULL;

#endif
