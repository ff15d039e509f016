/*
 * selector - does a device match a selector of a DeviceClass or of a request? Pure.
 *
 * A selector is an expression in CEL (https://kubernetes.io/docs/reference/using-api/cel/; KEP-4381) over the variable "device". Read are
 * what drivers and their users write: && || ! == != < <= > >= in, parentheses, device.driver, device.attributes["domain"].name,
 * device.capacity["domain"].name, "domain" in device.attributes, .compareTo(), .startsWith(), .endsWith(), .contains(), .matches() with
 * simple patterns, quantity(), semver(), has() of these. All else is *unknown*, and never guessed: whoever asks learns it.
 *
 * As in CEL, what fails (an attribute that the device does not have) makes the whole fail, unless && or || is decided by its other side.
 * kube-scheduler then gives the pod no node at all that has such a device among those it looks at.
 */
#ifndef KAR_DEVICE_SELECTOR_H
#define KAR_DEVICE_SELECTOR_H

#include "common/base/base.h"

enum { KAR_SELECTOR_BYTES = 10 * 1024 /* of an expression, at most, as the API server allows */ };

/*
 * An attribute or a capacity of a device is a text, so that those which many devices have in common are shared: "domain/name=" ("name=": of
 * the domain of its driver), one of these letters, and the value. "type=sgpu", "memory=q80Gi", "ecc=btrue".
 */
enum {
	KAR_DEVICE_TEXT = 's',
	KAR_DEVICE_NUMBER = 'i',
	KAR_DEVICE_FLAG = 'b',
	KAR_DEVICE_VERSION = 'v',
	KAR_DEVICE_QUANTITY = 'q',
	KAR_DEVICE_OTHER = '?' /* it is there, and not read: a list, for example */
};

/* What a selector sees. All is borrowed. */
struct kar_device_view {
	const char *driver;
	const char *const *attributes, *const *capacity;
	uint32_t n_attributes, n_capacity;
};

enum kar_match { KAR_NO_MATCH, KAR_MATCH, KAR_MATCH_FAILED, KAR_MATCH_UNKNOWN };

enum kar_match kar_selector_match(const char *expression, const struct kar_device_view *device) KAR_NONNULL;

#endif
