/*
 * patch_strategic - what patch_strategic.c (objects) and patch_strategic_list.c (lists) share.
 */
#ifndef SIM_PATCH_STRATEGIC_H
#define SIM_PATCH_STRATEGIC_H

#include "sim/apiserver/patch.h"
#include "sim/apiserver/types.h"

/* kar_fail() with the HTTP status; returns -1. */
int smp_fail(struct kar_err *err, int http, const char *fmt, ...) KAR_PRINTF(3, 4);
/* "[]interface {}": as Go calls it in error texts. */
const char *smp_go_type(const struct sim_value *v) KAR_RETNN;
/* "map: %v does not contain declared merge key: %s". */
int smp_fail_key(struct kar_err *err, const struct sim_value *object, const char *key);

/* Merges @patch into the object *@target; @type NULL: no list in it is merged. As deep as the patch. */
int smp_merge_object(struct sim_value **target, const struct sim_value *patch, const struct sim_type *type,
	struct kar_err *err) __attribute__((nonnull(1, 2, 4)));

/*
 * Merges the list @patch into the list *@target by @key ("": scalars as a set); @type: of the items. @order: the value of
 * $setElementOrder, or NULL: that of the patch.
 */
struct smp_list {
	const struct sim_value *patch, *order;
	const char *key;
	const struct sim_type *type;
};
int smp_merge_list(struct sim_value **target, const struct smp_list *l, struct kar_err *err) KAR_NONNULL;
/* What the patch holds must be in $setElementOrder, in the same order. */
int smp_check_order(const struct smp_list *l, struct kar_err *err) KAR_NONNULL;
/* $deleteFromPrimitiveList. */
void smp_remove_items(struct sim_value **target, const struct sim_value *unwanted) KAR_NONNULL;

#endif
