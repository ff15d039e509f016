/*
 * crd - CustomResourceDefinitions: each makes the server serve its resource.
 *
 *   crd_strategy.c  what is stored                     crd.c  establishing, serving, cleaning up
 *   crd_validate.c  what is refused                    crd_install.c  definitions from files
 *   crd_resource.c  the resource of one definition
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

/* What one definition makes the server serve: one resource, for a definition has one version here. */
struct sim_served;
struct sim_served *sim_served_new(struct sim_apiserver *s) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Serves what @crd, which is valid, says now; objects stay. */
void sim_served_set(struct sim_served *served, const struct sim_value *crd) KAR_NONNULL;
/* From now on nothing new may be created. */
void sim_served_close(struct sim_served *served) KAR_NONNULL;
/* NULL before sim_served_set(). */
struct sim_resource *sim_served_resource(const struct sim_served *served) KAR_NONNULL;
void sim_served_free(struct sim_served *served); /* accepts NULL; nothing is served any more */

/* strategy: fills w->causes. */
void sim_crd_validate(struct sim_write *w) KAR_NONNULL;
/* Sets a condition of status; the transition time changes with the status only. */
void sim_crd_condition(struct sim_value **crd, const char *type, const char *status, const char *reason,
	const char *message, kar_time now) KAR_NONNULL;

#endif
