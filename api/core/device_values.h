/*
 * device_values - attributes and capacity of a device (resource.k8s.io/v1), from their JSON. Texts are interned, because devices of a
 * kind have nearly all in common.
 */
#ifndef KAR_API_DEVICE_VALUES_H
#define KAR_API_DEVICE_VALUES_H

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "common/device/selector.h"

enum { KAR_DEVICE_ATTRIBUTES = 32 /* of one device, capacity included, as many as the API allows */ };

/* At most @most (up to KAR_DEVICE_ATTRIBUTES) entries of @json, an object, in @mem; *@n is how many. An entry whose value cannot be read is KAR_DEVICE_OTHER. */
const char *const *kar_device_values_read(struct kar_str json, uint32_t most, struct kar_intern *strings,
	struct kar_arena *mem, uint32_t *n) KAR_NONNULL;
/* Gives the interned texts back. */
void kar_device_values_release(const char *const *values, uint32_t n, struct kar_intern *strings)
	__attribute__((nonnull(3)));
/* Both are of the same strings. */
bool kar_device_values_same(const char *const *a, uint32_t n_a, const char *const *b, uint32_t n_b);

#endif
