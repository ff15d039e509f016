#include "common/base/siphash.h"

#include <endian.h>
#include <string.h>

#include <bsd/stdlib.h>

enum { WORD = sizeof(uint64_t), LENGTH_SHIFT = 56, LAST_ROUNDS = 3 };

struct state {
	uint64_t v0, v1, v2, v3;
};

struct kar_hash_key kar_hash_key_new(void)
{
	struct kar_hash_key key;

	arc4random_buf(&key, sizeof(key));
	return key;
}

static inline uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

/* The rotations are those of the paper, figure 2.1. */
static inline void sip_round(struct state *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 = rotate(s->v2, 32);
}

static inline void add_word(struct state *s, uint64_t m)
{
	s->v3 ^= m;
	sip_round(s);
	s->v0 ^= m;
}

static inline uint64_t read_word(const unsigned char *p, size_t n)
{
	uint64_t w = 0;

	memcpy(&w, p, n);
	return le64toh(w);
}

uint64_t kar_siphash(const struct kar_hash_key *key, const void *p, size_t n)
{
	const unsigned char *bytes = p;
	size_t whole = n - n % WORD;
	/* "somepseudorandomlygeneratedbytes" */
	struct state s = { .v0 = key->k0 ^ 0x736f6d6570736575u,
		.v1 = key->k1 ^ 0x646f72616e646f6du,
		.v2 = key->k0 ^ 0x6c7967656e657261u,
		.v3 = key->k1 ^ 0x7465646279746573u };

	for (size_t i = 0; i < whole; i += WORD)
		add_word(&s, read_word(bytes + i, WORD));
	add_word(&s, read_word(bytes + whole, n - whole) | (uint64_t)n << LENGTH_SHIFT);
	s.v2 ^= 0xff;
	for (int i = 0; i < LAST_ROUNDS; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
