/*
 * core - the server's own state; seen only by the files that are its core (apiserver, store, watch, list, verbs, crd).
 */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "sim/apiserver/store.h"

struct sim_listener {
	sim_change_fn *fn;
	void *arg;
};

struct sim_kept {
	SLIST_ENTRY(sim_kept) link;
	char text[];
};

TAILQ_HEAD(sim_watches, sim_watch);

/* One write in the history of a collection. */
struct sim_event {
	struct sim_version *old; /* NULL: created; counted */
	struct sim_version
		*new; /* of a removal: the last state, with the resourceVersion of the removal; counted */
	bool removed;
};

/* Place of one object in its collection. */
struct sim_slot {
	RB_ENTRY(sim_slot) link;
	struct sim_version *version;
	char key[]; /* "namespace/name" or "name": the order of lists */
};
RB_HEAD(sim_slots, sim_slot);

struct sim_collection {
	struct sim_slots slots;
	size_t count;
	/* Event number i (first <= i < end) is ring[i % room]; room is a power of two that grows up to the limit. */
	struct sim_event *ring;
	size_t room, limit;
	uint64_t first, end;
	int64_t forgotten; /* history begins after this resourceVersion */
	struct sim_watches watches;
	bool retired; /* no longer served: freed with its last watch */
};

struct sim_apiserver {
	struct sim_timeline *timeline;
	bool no_initial_events;
	size_t history;
	struct sim_random uids, names, timeouts;
	int64_t rv;
	struct sim_resource **resources; /* in the order of registration; owned */
	size_t n_resources;
	struct sim_resource **buckets; /* open addressing by group, version and plural; owned */
	size_t n_buckets;              /* a power of two, more than twice n_resources */
	struct sim_resource **retired; /* unregistered: what borrowed from them may still be there */
	size_t n_retired;
	struct sim_listener *listeners;
	size_t n_listeners;
	SLIST_HEAD(, sim_kept) kept;
	struct sim_types *types;
	struct sim_random system; /* of the controllers inside */
	struct sim_crds *crds;
	struct sim_gc *gc;
	struct sim_namespaces *namespaces;
	struct sim_quota *quota;
};

/* --- version.c --- */
/* @old: the version before, from whose text parts may be taken; NULL: none. */
struct sim_version *sim_version_new(struct sim_value *consumed, int64_t rv,
	const struct sim_version *old) KAR_RETNN __attribute__((nonnull(1)));
struct sim_version *sim_version_ref(struct sim_version *v) KAR_RETNN KAR_NONNULL;
void sim_version_unref(struct sim_version *v); /* accepts NULL */

/* --- store.c --- */
enum { SIM_KEY_MAX = 512 };
/* "ns/name"; false: longer than any stored key can be. */
bool sim_key_make(char out[SIM_KEY_MAX], const char *ns, const char *name) __attribute__((nonnull(1, 3)));
/* First slot whose key is not less than @key, and the one after a slot; NULL ends. */
struct sim_slot *sim_slot_from(const struct sim_collection *c, const char *key) KAR_NONNULL;
struct sim_slot *sim_slot_after(struct sim_slot *slot) KAR_NONNULL;
struct sim_event *sim_event_at(const struct sim_collection *c, uint64_t number) KAR_NONNULL KAR_RETNN;
/* Number of the first event after @rv; c->end if there is none. */
uint64_t sim_event_after(const struct sim_collection *c, int64_t rv) KAR_NONNULL;
/* Forgets all events of @c. */
void sim_collection_compact(struct sim_collection *c, int64_t rv) KAR_NONNULL;

/* --- watch.c --- */
/* Event number @number was appended to @c. */
void sim_watches_tell(struct sim_collection *c, uint64_t number) KAR_NONNULL;
/* The resource is no longer served: what is in the history is the end. */
void sim_watches_end(struct sim_collection *c) KAR_NONNULL;

/* --- options.c: what lists and watches may ask for --- */
struct sim_selection {
	const struct sim_resource *resource;
	struct sim_selector *labels, *fields;
	const char *ns, *name; /* NULL: any; borrowed from request and selectors */
};
/* False with @out filled: a selector is malformed, or names an unknown field. */
bool sim_selection_init(struct sim_selection *l, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out) KAR_NONNULL;
void sim_selection_release(struct sim_selection *l) KAR_NONNULL;
bool sim_selection_matches(const struct sim_selection *l, const struct sim_value *object) KAR_NONNULL;
/* "" and "0" are 0; -1 if it is no such number. */
int64_t sim_rv_parse(const char *text);
/* The checks of metav1.ListOptions; false with @out filled. */
bool sim_list_options_check(const struct sim_request *rq, bool watch, bool no_initial_events,
	struct sim_response *out) KAR_NONNULL;

/* --- list.c --- */
void sim_verb_list(struct sim_apiserver *s, struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out) KAR_NONNULL;

/* --- form.c: how objects are given back --- */
/* {"kind":@kind,"apiVersion":@version}; new value. */
struct sim_value *sim_form_typed(const char *kind, const char *version) KAR_RETNN KAR_NONNULL;
/* The stored object as @r and @form show it; new reference. @include: as sim_request.include_object. */
struct sim_value *sim_form_of(const struct sim_apiserver *s, const struct sim_resource *r, enum sim_form form,
	const char *include, const struct sim_value *stored) KAR_RETNN __attribute__((nonnull(1, 2, 5)));
/* True if what is stored can be given back as it is, so that its text can be shared. */
bool sim_form_is_plain(const struct sim_resource *r, enum sim_form form) KAR_NONNULL;
/* Answers with a version of an object, or with one that was not stored (dry run). */
void sim_answer(const struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	int code, struct sim_version *v, struct sim_response *out) KAR_NONNULL;
void sim_answer_value(const struct sim_apiserver *s, const struct sim_resource *r,
	const struct sim_request *rq, int code, const struct sim_value *v,
	struct sim_response *out) KAR_NONNULL;
/* Answers with a list. @meta: its metadata (consumed). @versions: its items; the array and the references are taken over. */
void sim_answer_list(const struct sim_apiserver *s, const struct sim_resource *r,
	const struct sim_request *rq, struct sim_value *meta, struct sim_version **versions, size_t n,
	struct sim_response *out) __attribute__((nonnull(1, 2, 3, 4, 7)));

#endif
