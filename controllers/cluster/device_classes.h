/*
 * device_classes - which extended resources DeviceClasses serve (KEP-5004), which devices are of them, and how sure their amounts are.
 *
 * What requests of ResourceClaims choose among the devices of a class by selectors of their own is counted as a resource besides:
 * "nvidia.com/gpu{device.attributes[...].model == 'h100'}". Whoever asks for it asks for the resource of the class as well.
 *
 * Each class has an implicit name. It is counted only when somebody has asked by it: the placement engine has few numbers for resources,
 * and whoever reads the status of a queue would find each device twice.
 */
#ifndef KAR_DEVICE_CLASSES_H
#define KAR_DEVICE_CLASSES_H

#include "api/core/deviceclass.h"
#include "api/core/resourceslice.h"
#include "common/kube/store.h"
#include "common/sched/sched.h"

/* Why an amount is an upper bound only. */
enum kar_device_doubt {
	KAR_DOUBT_SELECTOR, /* one is not read, or fails */
	KAR_DOUBT_COUNTERS, /* devices share them */
	KAR_DOUBT_OVERLAP,  /* a device is of several resources */
	KAR_DOUBT_NODES,    /* a device is of several nodes */
	KAR_DOUBT_PART,     /* others may be given what a selector of a request chooses */
	KAR_N_TOLD,         /* so many the engine is told of */
	KAR_DOUBT_LISTED =
		KAR_N_TOLD, /* a node lists the resource itself; only of claims, which cannot have that */
	KAR_N_DOUBTS
};

struct kar_device_resource {
	const char *resource;                /* interned, one reference */
	const struct kar_deviceclass *class; /* of the cache; NULL: it is served no more */
	const char *base;                    /* interned, one reference: of the class; NULL: it is this one */
	const char *ns;                /* interned, one reference: that was the first to ask; NULL: a class */
	struct kar_array selectors;    /* char *, owned: a device of .base must match all */
	bool second;                   /* the class has another name of its own */
	bool asked;                    /* it is counted */
	uint32_t amounts;              /* that are published; it stays while there is one */
	uint32_t doubts[KAR_N_DOUBTS]; /* of these, those with each doubt */
	int64_t claimed;               /* of usable nodes, that claims have */
};

struct kar_device_classes {
	struct kar_intern *strings;
	struct kar_sched *sched;
	struct kar_device_resource *items; /* by name */
	uint32_t n;
};

/* Reads all classes anew. */
void kar_device_classes_read(struct kar_device_classes *c, const struct kar_store *classes) KAR_NONNULL;
void kar_device_classes_release(struct kar_device_classes *c) KAR_NONNULL;
/* NULL: no class serves it. */
struct kar_device_resource *kar_device_classes_find(const struct kar_device_classes *c,
	const char *resource) KAR_NONNULL;
/*
 * What devices of the class of @base are counted as that match all of @selectors (const char *, CEL); NULL: there are too many such
 * resources, in all or that namespace @ns was the first to ask for. If it is new, *@added becomes true, and it counts from the next kar_device_classes_count() on.
 */
const char *kar_device_classes_part(struct kar_device_classes *c, const char *ns, const char *base,
	const struct kar_array *selectors, bool *added) KAR_NONNULL;
/* Adds the device to the amount, and bits 1 << enum kar_device_doubt to the doubts, of each resource that it may serve. */
void kar_device_classes_count(const struct kar_device_classes *c, const struct kar_device *device,
	int64_t *amounts, uint8_t *doubts) KAR_NONNULL;
/* When all devices of a node are counted: what is only a part of its class is in doubt. */
void kar_device_classes_compare(const struct kar_device_classes *c, const int64_t *amounts,
	uint8_t *doubts) KAR_NONNULL;
/* An amount is published, of which claims have @claimed, or (@sign -1) no longer. */
void kar_device_classes_note(const struct kar_device_classes *c, const char *resource, uint8_t doubts,
	int64_t claimed, int sign) KAR_NONNULL;
/* Tells the engine which amounts are upper bounds. */
void kar_device_classes_tell(const struct kar_device_classes *c) KAR_NONNULL;

#endif
