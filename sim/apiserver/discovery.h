/*
 * discovery - which groups, versions and resources are served, as /api, /apis and what is below them say it.
 *
 * Documents are made anew for each request from the resources that are registered at that moment.
 */
#ifndef SIM_DISCOVERY_H
#define SIM_DISCOVERY_H

#include "sim/apiserver/internal.h"

/* One version of one group that has resources. Strings are borrowed from the server. */
struct sim_group_version {
	const char *group, *version;
	bool custom; /* all its resources come from CRDs */
};
struct sim_group_versions {
	struct sim_group_version *items; /* owned */
	size_t n;
};

/* In the order in which the API server lists them: core, built-in groups, custom ones by name. */
struct sim_group_versions sim_group_versions_of(const struct sim_apiserver *s) KAR_NONNULL;
void sim_group_versions_release(struct sim_group_versions *l) KAR_NONNULL;
bool sim_group_is_served(const struct sim_apiserver *s, const char *group,
	const char *version /* NULL: any */) __attribute__((nonnull(1, 2)));

/*
 * The document at @path ("/api", "/apis", "/apis/GROUP", "/apis/GROUP/VERSION", "/api/v1", "/"). New value, NULL: there
 * is none. @aggregated: "/api" and "/apis" as APIGroupDiscoveryList. @address: "host:port" of the server.
 */
struct sim_value *sim_discovery(const struct sim_apiserver *s, const char *path, bool aggregated,
	const char *address) KAR_NONNULL;
/* /version. New value. */
struct sim_value *sim_version_info(void) KAR_RETNN;

/* A subresource that clients may use, beside "status". */
struct sim_subresource {
	const char *group, *plural, *name;
	const char *kind_group, *kind_version,
		*kind; /* of what is sent or answered; NULL: those of the resource */
	enum kar_verb verb;
};
/* Subresource number @i of @r without "status"; NULL past the end. */
const struct sim_subresource *sim_subresource_at(const struct sim_resource *r, size_t i) KAR_NONNULL;
/* True if @r has a subresource with this name, "status" included. */
bool sim_resource_has(const struct sim_resource *r, const char *subresource) KAR_NONNULL;

#endif
