/*
 * log - klog's severities, verbosity and header; text or JSON lines on stderr.
 *
 *   I1121 13:46:27.123456    4711 manager.c:88] "Caches synced" duration="412ms" pods=2000
 *   {"ts":1795268787123.456,"caller":"manager.c:88","msg":"Caches synced","v":0,"duration":"412ms","pods":2000}
 *
 * In JSON, warnings and errors have "severity":"warning" or "error" where others have "v". Values are cut at 16 KiB.
 * A message is a fixed text; what varies goes into key/value pairs:
 *
 *   kar_info(0, KAR_MSG("Caches synced"), KAR_S("duration", d), KAR_I("pods", n));
 *
 * Library code does not log what it returns: an error is logged once, by whoever stops passing it
 * on. Tokens, Authorization headers and Secret data are never logged.
 * Errors are what an operator can correct; a mistake of a user, which a status shows, is information. Verbosity: 0 what an operator
 * must know; 2 also each change of a job's phase and what users are refused; 4 also plans and retries. docs/HOWTO.md has more.
 */
#ifndef KAR_LOG_H
#define KAR_LOG_H

#include "common/base/base.h"

enum kar_log_format { KAR_LOG_TEXT, KAR_LOG_JSON };

struct kar_kv {
	const char *key; /* "" for the message, which comes first; NULL ends the list */
	const char *s;   /* the value if it is a string; NULL prints as "" */
	int64_t i;       /* the value otherwise */
	bool is_int;
	bool optional; /* a string that is NULL or "" is left out, with its key */
};

/* clang-format would take each for a block. */
/* clang-format off */
#define KAR_MSG(text) { .key = "", .s = (text) }
#define KAR_S(key_, value_) { .key = (key_), .s = (value_) }
/* Left out if the value is NULL or "". */
#define KAR_S_IF(key_, value_) { .key = (key_), .s = (value_), .optional = true }
#define KAR_I(key_, value_) { .key = (key_), .i = (value_), .is_int = true }
/* clang-format on */

#define KAR_KVS(...) ((const struct kar_kv[]){ __VA_ARGS__, { .key = NULL } })
#define kar_info(v, ...) \
	do { \
		if (kar_log_enabled(v)) \
			kar_log_write('I', (v), __FILE__, __LINE__, KAR_KVS(__VA_ARGS__)); \
	} while (0)
#define kar_warn(...) kar_log_write('W', 0, __FILE__, __LINE__, KAR_KVS(__VA_ARGS__))
#define kar_error(...) kar_log_write('E', 0, __FILE__, __LINE__, KAR_KVS(__VA_ARGS__))

/* Call once at start; process-wide state, the one exception to "no globals". @verbosity as klog -v. */
void kar_log_init(enum kar_log_format format, int verbosity);
/* From now on, at run time. */
void kar_log_set_verbosity(int verbosity);
bool kar_log_enabled(int verbosity);
/* For tests: lines (ending in '\n') go to @write instead of stderr; NULL restores stderr. */
void kar_log_redirect(void (*write)(void *arg, const char *line, size_t n), void *arg);
/*
 * One line for whoever started the process, before it exits: "program: what is wrong". It has no header and is escaped like the
 * values of the log, for it may quote a file or an argument; and it goes to stderr, wherever the log goes.
 */
void kar_log_fatal(const char *fmt, ...) KAR_NONNULL KAR_PRINTF(1, 2);
/* Use the macros. @kv: the message, then pairs, ended by a NULL key; borrowed for the call. */
void kar_log_write(char severity, int verbosity, const char *file, int line, const struct kar_kv *kv);

#endif
