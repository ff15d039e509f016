/*
 * selector - does a device match a selector of a DeviceClass or of a request? Pure.
 *
 * A selector is an expression in CEL (https://kubernetes.io/docs/reference/using-api/cel/; KEP-4381) over the variable "device". Read are
 * what drivers and their users write: && || ! == != < <= > >= in, parentheses, device.driver, device.attributes["domain"].name,
 * device.capacity["domain"].name, "domain" in device.attributes, .compareTo(), .startsWith(), .endsWith(), .contains(), .matches() with
 * simple patterns, quantity(), semver(), has() of these. All else is *unknown*, and never guessed: whoever asks learns it.
 *
 * As in CEL, what fails (an attribute that the device does not have) makes no match, unless && or || is decided by its other side.
 */
#ifndef KAR_DEVICE_SELECTOR_H
#define KAR_DEVICE_SELECTOR_H

#include "common/base/base.h"

enum { KAR_SELECTOR_BYTES = 10 * 1024 /* of an expression, at most, as the API server allows */ };

enum kar_device_kind {
	KAR_DEVICE_TEXT,
	KAR_DEVICE_NUMBER,
	KAR_DEVICE_FLAG,
	KAR_DEVICE_VERSION,
	KAR_DEVICE_QUANTITY,
	KAR_DEVICE_OTHER /* it is there, and not read: a list, for example */
};

/* An attribute or a capacity of a device. */
struct kar_device_value {
	const char *name; /* "domain/name"; "name": of the domain of its driver */
	union {
		const char *text; /* of a text, a version and a quantity; NULL: "" */
		int64_t number;   /* of a number; of a flag: 0 or 1 */
	};
	enum kar_device_kind kind;
};

static inline bool kar_device_has_text(const struct kar_device_value *v)
{
	return v->kind == KAR_DEVICE_TEXT || v->kind == KAR_DEVICE_VERSION || v->kind == KAR_DEVICE_QUANTITY;
}

/* What a selector sees. All is borrowed. */
struct kar_device_view {
	const char *driver;
	const struct kar_device_value *attributes, *capacity;
	uint32_t n_attributes, n_capacity;
};

enum kar_match { KAR_NO_MATCH, KAR_MATCH, KAR_MATCH_UNKNOWN };

enum kar_match kar_selector_match(const char *expression, const struct kar_device_view *device) KAR_NONNULL;

#endif
