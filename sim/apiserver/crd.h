/*
 * crd - CustomResourceDefinitions: each makes the server serve its resource.
 *
 *   crd_strategy.c  what is stored                     crd.c  establishing, serving, cleaning up
 *   crd_validate.c  what is refused                    crd_names.c  who may have which name
 *   crd_resource.c  resources of one definition        crd_install.c  definitions from files
 */
#ifndef SIM_CRD_H
#define SIM_CRD_H

#include "sim/apiserver/internal.h"

struct sim_crds;
struct sim_crds *sim_crds_new(struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_crds_free(struct sim_crds *c); /* accepts NULL */
/* A definition was written; @new NULL: removed. */
void sim_crds_changed(struct sim_crds *c, const struct sim_value *old, const struct sim_value *new)
	__attribute__((nonnull(1)));
/* Does at once what otherwise happens a moment after the definition was created. */
void sim_crds_establish(struct sim_crds *c, const char *name) KAR_NONNULL;

/* What one definition makes the server serve; one resource per served version. */
struct sim_served;
struct sim_served *sim_served_new(struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Serves what @crd, which is valid, says now; objects stay. */
void sim_served_set(struct sim_served *served, const struct sim_value *crd) KAR_NONNULL;
/* From now on nothing new may be created. */
void sim_served_close(struct sim_served *served) KAR_NONNULL;
/* The resource that holds the objects; NULL before sim_served_set(). */
struct sim_resource *sim_served_storage(const struct sim_served *served) KAR_NONNULL;
void sim_served_free(struct sim_served *served); /* accepts NULL; nothing is served any more */

/*
 * Gives @crd the names of its spec that no other of its group has in status.acceptedNames, and says in condition NamesAccepted
 * whether these are all. @crds: all definitions as they are stored, @crd among them. False: a name is missing.
 */
bool sim_crd_accept_names(struct sim_value **crd, const struct sim_value *const *crds, size_t n, kar_time now)
	__attribute__((nonnull(1)));
/* strategy: fills w->causes. */
void sim_crd_validate(struct sim_write *w) KAR_NONNULL;
/* Sets a condition of status; the transition time changes with the status only. */
void sim_crd_condition(struct sim_value **crd, const char *type, const char *status, const char *reason,
	const char *message, kar_time now) KAR_NONNULL;

#endif
