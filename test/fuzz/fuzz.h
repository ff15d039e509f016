/*
 * fuzz - what the fuzz targets share. Each target is one file with LLVMFuzzerTestOneInput(), which must be a function of its
 * input alone; its first line says what must hold. corpus/TARGET/ has its seeds and, under the name of the bug, every input
 * that once broke it. See hack/fuzz.
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include "common/base/buf.h"
#include "common/base/err.h"

/* Called once per input, and once before the first. Return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Ends the program with a message; the fuzzer keeps the input. */
void fuzz_fail(const char *fmt, ...) KAR_NORETURN KAR_PRINTF(1, 2);
#define FUZZ_CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			fuzz_fail(__VA_ARGS__); \
	} while (0)

/* Fails, showing both, unless the texts are equal. @what: "the text after another reading". */
void fuzz_check_same(const char *what, const struct kar_buf *one, const struct kar_buf *other) KAR_NONNULL;
/* Fails unless a function that has refused its input says why. */
void fuzz_check_error(const struct kar_err *err) KAR_NONNULL;

/* The input as a string, up to its first NUL. Owned by the caller. */
char *fuzz_text(const uint8_t *data, size_t n) KAR_MUSTUSE KAR_RETNN;
/* Path of a file with these contents. There is one, in memory: valid until the next call. */
const char *fuzz_file(const uint8_t *data, size_t n) KAR_RETNN;
/* A number in [0, limit) that depends on the input: which way of several this one takes. */
size_t fuzz_choose(const uint8_t *data, size_t n, size_t limit);
/*
 * For what costs much: true if the input's number in [0, limit) is @i, that is for one input in @limit; for all if $KAR_FUZZ_ALL
 * is set, as when the corpus is replayed.
 */
bool fuzz_turn(const uint8_t *data, size_t n, size_t i, size_t limit);
/* True if the text occurs in the input. */
bool fuzz_mentions(const uint8_t *data, size_t n, const char *text);

#endif
