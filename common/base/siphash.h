/*
 * siphash - a keyed hash for tables whose keys strangers choose.
 *
 * SipHash-1-3 of Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012): without the key nobody can choose
 * texts that share a slot. For tables in memory only: the values differ from process to process, so nothing that is
 * written, compared between processes, or walked in order may depend on them.
 */
#ifndef KAR_SIPHASH_H
#define KAR_SIPHASH_H

#include "common/base/base.h"

struct kar_hash_key {
	uint64_t k0, k1;
};

/* A key from the system's random numbers. */
struct kar_hash_key kar_hash_key_new(void);
/* The hash of @n bytes at @p. */
uint64_t kar_siphash(const struct kar_hash_key *key, const void *p, size_t n) KAR_NONNULL;

#endif
