/*
 * base - compiler contracts and the few scalar types that every file uses.
 *
 * The attributes turn what a comment would only promise into what the compiler checks.
 */
#ifndef KAR_BASE_H
#define KAR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KAR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define KAR_NONNULL __attribute__((nonnull))
#define KAR_RETNN __attribute__((returns_nonnull))
#define KAR_MUSTUSE __attribute__((warn_unused_result))
#define KAR_NORETURN __attribute__((noreturn))
#define KAR_UNUSED __attribute__((unused))
#define KAR_CLEANUP(fn) __attribute__((cleanup(fn)))

#define KAR_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* @n, but at least @min and at most @max. */
static inline int64_t kar_clamp(int64_t n, int64_t min, int64_t max)
{
	return n < min ? min : n > max ? max : n;
}

/* The struct of type @type that embeds *@ptr as its member @member. */
/* Versions of clang-format disagree about the spaces around the minus. */
/* clang-format off */
#define kar_container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))
/* clang-format on */

/*
 * Milliseconds. Two clocks exist and are never mixed:
 *  - wall: since the Unix epoch, what API timestamps mean (decide functions, status, events);
 *  - mono: monotonic since some start, what delays mean (work queue, timers, back-off).
 * A parameter or member says which one in its name or its comment. KAR_NEVER: no such moment.
 */
typedef int64_t kar_time;
#define KAR_NEVER INT64_MAX
#define KAR_SECOND ((kar_time)1000)
#define KAR_MINUTE (60 * KAR_SECOND)

/* A borrowed run of bytes; not NUL-terminated. Who owns the bytes is said where it is handed over. */
struct kar_str {
	const char *p;
	size_t n;
};

#endif
