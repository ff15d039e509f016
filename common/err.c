#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

int kar_fail(struct kar_err *e, enum kar_class what, const char *fmt, ...)
{
	char msg[sizeof(e->msg)]; /* the arguments may point into @e */
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	memset(e, 0, sizeof(*e));
	e->what = what;
	strlcpy(e->msg, msg, sizeof(e->msg));
	return -1;
}

int kar_wrap(struct kar_err *e, const char *fmt, ...)
{
	char msg[sizeof(e->msg)]; /* the arguments may point into @e */
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	strlcat(msg, ": ", sizeof(msg));
	strlcat(msg, e->msg, sizeof(msg));
	strlcpy(e->msg, msg, sizeof(e->msg));
	return -1;
}

const char *kar_err_class_name(enum kar_class what)
{
	static const char *const names[] = {
		[KAR_OK] = "OK",
		[KAR_RETRY] = "Retry",
		[KAR_UNKNOWN] = "Unknown",
		[KAR_CONFLICT] = "Conflict",
		[KAR_EXISTS] = "AlreadyExists",
		[KAR_NOTFOUND] = "NotFound",
		[KAR_GONE] = "Gone",
		[KAR_UNAUTHORIZED] = "Unauthorized",
		[KAR_DENIED] = "Denied",
		[KAR_INVALID] = "Invalid",
		[KAR_FATAL] = "Fatal",
	};

	return (size_t)what < KAR_LEN(names) ? names[what] : "Unknown";
}
