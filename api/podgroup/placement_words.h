/*
 * placement_words - the words of the API for what common/sched/needs.h has as numbers.
 */
#ifndef KAR_API_PLACEMENT_WORDS_H
#define KAR_API_PLACEMENT_WORDS_H

#include "common/sched/needs.h"

/* Of a requirement of node affinity. False: it is none that is known. */
bool kar_operator_read(const char *name, enum kar_operator *out) __attribute__((nonnull(2)));
const char *kar_operator_name(enum kar_operator op) KAR_RETNN;
/* Of a taint or a toleration; KAR_NO_EFFECT: absent. False: it is none that is known. */
bool kar_effect_read(const char *name, enum kar_effect *out) __attribute__((nonnull(2)));
/* NULL: KAR_NO_EFFECT. */
const char *kar_effect_name(enum kar_effect effect);

#endif
