/*
 * cel - values of the small part of CEL that selectors of devices are read in, and what operators and functions make of them. Pure.
 *
 * Texts are borrowed, from the expression and from the device. Private to this folder.
 */
#ifndef KAR_DEVICE_CEL_H
#define KAR_DEVICE_CEL_H

#include "common/device/selector.h"

enum cel_kind {
	CEL_FAILED,  /* the value is not there */
	CEL_UNKNOWN, /* not read */
	CEL_BOOL,
	CEL_INT,
	CEL_STRING,
	CEL_VERSION,
	CEL_QUANTITY,
	CEL_DEVICE,     /* the variable */
	CEL_ATTRIBUTES, /* its map of domains */
	CEL_CAPACITY,
	CEL_DOMAIN_OF_ATTRIBUTES, /* .text: the domain */
	CEL_DOMAIN_OF_CAPACITY,
};

struct cel_value {
	enum cel_kind kind;
	int64_t number; /* of BOOL and INT */
	struct kar_str text;
};

static inline struct cel_value cel_of_kind(enum cel_kind kind)
{
	return (struct cel_value){ .kind = kind };
}

static inline struct cel_value cel_bool(bool b)
{
	return (struct cel_value){ .kind = CEL_BOOL, .number = b };
}

bool cel_is(struct kar_str s, const char *word) KAR_NONNULL;

/* of.name, and of[key] */
struct cel_value cel_member(const struct kar_device_view *device, const struct cel_value *of,
	struct kar_str name) KAR_NONNULL;
struct cel_value cel_subscript(const struct kar_device_view *device, const struct cel_value *of,
	const struct cel_value *key) KAR_NONNULL;
/* domain in map */
struct cel_value cel_in(const struct kar_device_view *device, const struct cel_value *domain,
	const struct cel_value *map) KAR_NONNULL;
/* @op: "==", "!=", "<", "<=", ">" or ">=" */
struct cel_value cel_compare(const struct cel_value *a, const struct cel_value *b,
	const char *op) KAR_NONNULL;
struct cel_value cel_not(const struct cel_value *v) KAR_NONNULL;
/* && and ||. @decides: the value of one side that decides, whatever the other one is. */
struct cel_value cel_join(const struct cel_value *a, const struct cel_value *b, bool decides) KAR_NONNULL;
/* of.name(arg), and name(arg) */
struct cel_value cel_method(const struct cel_value *of, struct kar_str name,
	const struct cel_value *arg) KAR_NONNULL;
struct cel_value cel_function(struct kar_str name, const struct cel_value *arg) KAR_NONNULL;

#endif
