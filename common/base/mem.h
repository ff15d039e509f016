/*
 * mem - allocation that does not fail, and an arena for things that die together.
 *
 * Running out of memory aborts with a message: the manager keeps no state of its own and is started
 * again; everything that comes from outside is bounded before it is stored. Multiplications are
 * checked for overflow.
 */
#ifndef KAR_MEM_H
#define KAR_MEM_H

#include "common/base/base.h"

void *kar_xmalloc(size_t size) KAR_MUSTUSE KAR_RETNN;
void *kar_xcalloc(size_t n, size_t size) KAR_MUSTUSE KAR_RETNN;
void *kar_xrealloc(void *p, size_t n, size_t size) KAR_MUSTUSE KAR_RETNN; /* n * size bytes */
char *kar_xstrdup(const char *s) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
char *kar_xstrndup(const char *s, size_t n) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
char *kar_xasprintf(const char *fmt, ...) KAR_MUSTUSE KAR_RETNN KAR_PRINTF(1, 2);

/* As free(), of a string that nobody may find in memory afterwards: a token, a password, a key. Accepts NULL. */
void kar_wipe_free(char *secret);

/* For KAR_CLEANUP: frees the pointer that @p points at. */
void kar_cleanup_free(void *p);

/*
 * Arena: allocate many, free all at once. Zero-initialise it; the first allocation gets memory.
 * Memory is 16-byte aligned and zeroed. Not for objects that outlive the arena's owner.
 */
struct kar_arena {
	struct kar_arena_block *head; /* newest block first */
};

void *kar_arena_alloc(struct kar_arena *a, size_t n, size_t size) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
char *kar_arena_strndup(struct kar_arena *a, const char *s, size_t n) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
char *kar_arena_printf(struct kar_arena *a, const char *fmt, ...) KAR_MUSTUSE KAR_RETNN KAR_NONNULL
	KAR_PRINTF(2, 3);
/* Array growth by doubling: room for one more element after @n used ones in *@items (NULL at first). */
void *kar_arena_grow(struct kar_arena *a, void *items, size_t n, size_t size) KAR_MUSTUSE KAR_RETNN
	__attribute__((nonnull(1)));
/* Forgets all allocations but keeps one block of at most 64 KiB for the next round. */
void kar_arena_reset(struct kar_arena *a) KAR_NONNULL;
/* As kar_arena_release(), of an arena with secrets in it: overwrites all of it first. */
void kar_arena_wipe(struct kar_arena *a) KAR_NONNULL;
/* Frees everything; @a may be used again. */
void kar_arena_release(struct kar_arena *a) KAR_NONNULL;
/* Bytes obtained from malloc; for tests and limits. */
size_t kar_arena_bytes(const struct kar_arena *a) KAR_NONNULL;

#endif
