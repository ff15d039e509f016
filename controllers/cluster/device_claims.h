/*
 * device_claims - which devices are allocated to ResourceClaims that no extended resource stands for: nobody else can have them.
 *
 * The claims that kube-scheduler makes for pods which ask for an extended resource are left out: the requests of these pods count already.
 */
#ifndef KAR_DEVICE_CLAIMS_H
#define KAR_DEVICE_CLAIMS_H

#include "api/core/resourceclaim.h"

struct kar_device_claims;

/* @strings is borrowed, that of the cache. */
struct kar_device_claims *kar_device_claims_new(struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_device_claims_free(struct kar_device_claims *c); /* accepts NULL */

/* The devices of a claim that count. */
struct kar_claimed {
	const struct kar_claimed_device *items;
	uint32_t n;
};
struct kar_claimed kar_device_claims_of(const struct kar_object *claim); /* NULL: none */

/* A change, as a cache tells it. Returns whether other devices are taken now. */
bool kar_device_claims_change(struct kar_device_claims *c, const struct kar_object *old,
	const struct kar_object *new) __attribute__((nonnull(1)));
bool kar_device_claims_have(const struct kar_device_claims *c, const char *pool_key,
	const char *device) KAR_NONNULL;

#endif
