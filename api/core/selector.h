/*
 * selector - a LabelSelector: requirements on labels, all of which must be met. An empty one selects everything. Pure.
 */
#ifndef KAR_API_SELECTOR_H
#define KAR_API_SELECTOR_H

#include "common/base/mem.h"
#include "common/codec/decode.h"

/* At most, as the CRDs say: labels and expressions of one selector, and values of one expression. */
enum { KAR_SELECTOR_MAX = 16 };

/* An element of matchExpressions. */
struct kar_selector_requirement {
	const char *key, *op;    /* NULL: absent */
	struct kar_array values; /* const char * */
};

struct kar_selector {
	struct kar_array labels;      /* matchLabels: struct kar_pair */
	struct kar_array expressions; /* struct kar_selector_requirement */
};
extern const struct kar_desc kar_selector_desc; /* decodes into struct kar_selector */

static inline bool kar_selector_is_empty(const struct kar_selector *s)
{
	return !s->labels.n && !s->expressions.n;
}

/* A copy of a @from without a problem, its texts bounded as those of labels are. */
struct kar_selector kar_selector_copy(const struct kar_selector *from, struct kar_arena *arena) KAR_NONNULL;
/* Why it means nothing, in @arena: "operator X of key a is not known"; NULL: it is valid. */
const char *kar_selector_problem(const struct kar_selector *s, struct kar_arena *arena) KAR_NONNULL;
/*
 * Do @labels (struct kar_pair) meet all requirements? If some of them were cut off (kar_copy_pairs()), a label that is not among the rest is
 * not known, and then they do not.
 */
bool kar_selector_selects(const struct kar_selector *s, const struct kar_array *labels) KAR_NONNULL;

#endif
