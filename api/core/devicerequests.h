/*
 * devicerequests - spec.devices of a ResourceClaim, and of a ResourceClaimTemplate (resource.k8s.io/v1): the devices that are asked for.
 *
 * Read is what asks for a number of devices of a class (ExactCount), which selectors of its own may narrow. What is asked for in another way
 * is named by .unread, and left out: then more is needed than .items say. Long selectors are left out likewise.
 */
#ifndef KAR_API_DEVICEREQUESTS_H
#define KAR_API_DEVICEREQUESTS_H

#include "common/codec/decode.h"

enum { KAR_DEVICE_REQUESTS = 32 /* of a claim that are kept, as many as the API allows */ };

struct kar_device_request {
	const char *class;          /* DeviceClass */
	struct kar_array selectors; /* const char *, in CEL, sorted: a device must match all */
	int64_t count;
};

struct kar_device_requests {
	struct kar_device_request *items;
	uint32_t n;
	const char *unread; /* static: "alternatives of a device request", ...; NULL: nothing */
};

/* As it is decoded. */
struct kar_wire_device_requests {
	struct kar_array requests, constraints;
};
extern const struct kar_desc kar_wire_device_requests_desc;

struct kar_device_requests kar_device_requests_read(const struct kar_wire_device_requests *w,
	struct kar_arena *mem) KAR_NONNULL;

#endif
